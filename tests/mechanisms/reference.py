"""Algorithm 2 of Fay et al. 2024, line by line."""

from __future__ import annotations


def follow_algorithm_2(data, weights, centres, counts, sums, min_count):
    """One run, in plain Python loops over rows, clusters and coordinates; ``counts`` (T, k), ``sums`` (T, k, d)."""
    current = [list(map(float, centre)) for centre in centres]
    for t in range(len(counts)):
        clusters = [[] for _ in current]
        for row, record in enumerate(data):
            distances = [sum((a - b) ** 2 for a, b in zip(record, centre, strict=True)) for centre in current]
            clusters[distances.index(min(distances))].append(row)
        for j, members in enumerate(clusters):
            count = counts[t][j] + sum(weights[row] for row in members)
            total = [sums[t][j][i] + sum(weights[row] * data[row][i] for row in members) for i in range(len(current[j]))]
            if min_count is None or count >= min_count:
                current[j] = [value / count for value in total]
    return current
