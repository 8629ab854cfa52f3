"""Exact laws on tiny instances: the probability of every permutation as a fraction, by enumeration. Written apart from what runs.

A decay of the noise is an exact number a: noise G has P[G ≥ j] = a^j, and e^epsilon0 is 1/a. For instances of at most four sets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from accountant.applications.setcover.program import CoverProgram, GreedyStage, Group, ThresholdPass
from profiles import InvalidArgument

Rows = Sequence[frozenset[int]]
Law = dict[tuple[int, ...], Fraction]

MOST_SETS, MOST_ROWS = 4, 6


def find_law(program: CoverProgram, rows: Sequence[Sequence[int]], sets: int, *, decays: Sequence[Fraction] | None = None) -> Law:
    """Return P[permutation] for the public order 0, 1, ..., exactly; ``rows`` are the sets of each element.

    ``decays`` replaces the decays of the groups, such as by numbers with small denominators; probabilities p are the program's.
    Raises :class:`InvalidArgument` for more than four sets or six elements.
    """
    if sets > MOST_SETS or len(rows) > MOST_ROWS or (decays is not None and len(decays) != len(program.groups)):
        raise InvalidArgument("exact laws are for at most 4 sets, 6 elements, and one decay for each group; use a smaller instance")
    universe = [frozenset(row) for row in rows]
    law: Law = {(): Fraction(1)}
    for index, group in enumerate(program.groups):
        decay = Fraction(group.decay) if decays is None else decays[index]
        law = _combine(law, partial(group_law, group, universe, sets, decay=decay))
    found: Law = {}
    for taken, chance in law.items():
        whole = (*taken, *(item for item in range(sets) if item not in taken))
        found[whole] = found.get(whole, Fraction(0)) + chance
    return found


def group_law(group: Group, universe: Rows, sets: int, taken: tuple[int, ...], decay: Fraction) -> Law:
    """Return the law of the sets taken after a group, given those taken before it: the mean over all samples of its rate."""
    p, law = Fraction(group.p), Law()
    for size in range(len(universe) + 1):
        for sample in itertools.combinations(universe, size):
            weight = p**size * (1 - p) ** (len(universe) - size)
            for after, chance in sample_law(group, sample, sets, taken, decay).items():
                law[after] = law.get(after, Fraction(0)) + weight * chance
    return law


def sample_law(group: Group, sample: Rows, sets: int, taken: tuple[int, ...], decay: Fraction) -> Law:
    """Return the law of the sets taken after a group, given those taken before it, on one fixed sample."""
    law: Law = {taken: Fraction(1)}
    for stage in group.stages:
        law = _combine(law, partial(_stage_law, stage, sample, sets, decay=decay))
    return law


def _combine(law: Law, step: Callable[[tuple[int, ...]], Law]) -> Law:
    found: Law = {}
    for before, chance in law.items():
        for after, more in step(before).items():
            found[after] = found.get(after, Fraction(0)) + chance * more
    return found


def _count(sample: Rows, taken: Sequence[int], item: int) -> int:
    return sum(item in row and not row.intersection(taken) for row in sample)


def _stage_law(stage: object, sample: Rows, sets: int, taken: tuple[int, ...], decay: Fraction) -> Law:
    remaining = [item for item in range(sets) if item not in taken]
    if isinstance(stage, ThresholdPass):
        law: Law = {taken: Fraction(1)}
        for item in remaining:
            law = _combine(law, partial(_answer, stage, sample, item, decay=decay))
        return law
    if not isinstance(stage, GreedyStage):
        raise InvalidArgument(f"a stage of a known kind is needed, but {type(stage).__name__} was found; use one of the two")
    law = {}
    largest = max([stage.floor, *(_count(sample, taken, item) for item in remaining)])
    for noise, chance in enumerate_noise(remaining, largest + 1, decay):
        after = _greedy(stage.floor, sample, taken, remaining, noise)
        law[after] = law.get(after, Fraction(0)) + chance
    return law


def _answer(stage: ThresholdPass, sample: Rows, item: int, before: tuple[int, ...], decay: Fraction) -> Law:
    high = decay ** max(0, stage.threshold - _count(sample, before, item))
    return {(*before, item): high, before: 1 - high}


def _greedy(floor: int, sample: Rows, taken: tuple[int, ...], remaining: Sequence[int], noise: Mapping[int, int]) -> tuple[int, ...]:
    chosen, rest = list(taken), list(remaining)
    while rest:
        best = max(rest, key=lambda item: (_count(sample, chosen, item) + noise[item], -item))
        if _count(sample, chosen, best) + noise[best] < floor:
            break
        chosen.append(best)
        rest.remove(best)
    return tuple(chosen)


def enumerate_noise(items: Sequence[int], cap: int, decay: Fraction) -> Iterator[tuple[dict[int, int], Fraction]]:
    """Yield finitely many noise vectors with exact weights that sum to 1, for functions that compare values shifted by less than ``cap``.

    Sort the values; let level v_1 < v_2 < ... be shared by the items of the blocks of an ordered partition. If a gap (v_1 itself, or
    v_j − v_j−1) is at least ``cap``, its exact size changes no comparison of two values, or of a value and 0, shifted by less than ``cap``;
    so all such vectors are represented by the gap ``cap``, whose weight is the geometric sum. A gap g under k items has the weight a^(k g).
    """
    for blocks in _ordered_partitions(tuple(items)):
        above = [sum(len(block) for block in blocks[index:]) for index in range(len(blocks))]
        ranges = [range(0 if index == 0 else 1, cap + 1) for index in range(len(blocks))]
        for gaps in itertools.product(*ranges):
            weight, level, noise = (1 - decay) ** len(items), 0, {}
            for gap, block, count in zip(gaps, blocks, above, strict=True):
                level += gap
                weight *= decay ** (gap * count) / (1 - decay**count if gap == cap else 1)
                noise.update(dict.fromkeys(block, level))
            yield noise, weight


def _ordered_partitions(items: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    if not items:
        yield ()
        return
    for size in range(1, len(items) + 1):
        for block in itertools.combinations(items, size):
            for rest in _ordered_partitions(tuple(item for item in items if item not in block)):
                yield (block, *rest)


__all__ = ["Law", "enumerate_noise", "find_law", "group_law", "sample_law"]
