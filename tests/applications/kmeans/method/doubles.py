"""Access to records without accounting: with chosen noise, or with nothing behind it but made-up outputs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from accountant.applications.budget.protocols import Cells, Statistics


class Loose:
    """Records in memory, ``noise`` times the noise of ε = 1 in binary64; keeps every call. Statistics are exact."""

    def __init__(self, points, noise=1.0, seed=0, **changes):
        points = np.asarray(points, dtype=float)
        mean = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
        self.centred = points - mean
        norms = np.linalg.norm(self.centred, axis=1)
        rms = float(np.sqrt(np.square(norms).mean())) if len(points) else 0.0
        given = {"count": max(1.0, float(len(points))), "mean": mean, "rms": rms or 1e-6, "radius": 1.0, "center": mean * 0, **changes}
        self.statistics = Statistics(**given)
        self.radius = float(norms.max(initial=0.0)) or 1e-6
        self.noise, self.rng, self.left, self.calls = noise, np.random.default_rng(seed), Fraction(1), []

    normal = False

    @property
    def sum_noise(self):
        return self.noise * self.statistics.dimension

    def clip(self, radius):
        assert np.isfinite(radius)
        assert radius > 0
        self.radius = float(radius)

    def release(self, assign, share, cells, *, sums=True, count_share=None):
        assert 0 < share <= 1
        assert self.left > 0
        spent = float(Fraction(share) * self.left)
        self.left -= Fraction(share) * self.left
        self.calls.append((Fraction(share), cells, sums, self.radius))
        norms = np.linalg.norm(self.centred, axis=1, keepdims=True)
        rows = self.centred * np.minimum(1, self.radius / np.where(norms > 0, norms, 1))
        labels = assign(rows)
        assert labels.shape == (len(rows),)
        assert not len(labels) or 0 <= labels.min() <= labels.max() < cells
        # a row's cell does not depend on which rows come with it
        cut = len(rows) // 3
        assert np.array_equal(np.concatenate([assign(rows[:cut]), assign(rows[cut:])]), labels)
        scale = self.noise / spent
        counts = np.bincount(labels, minlength=cells) + scale * self.rng.laplace(size=cells)
        if not sums:
            return Cells(counts, None, 2 * scale**2, 0.0)
        totals = np.zeros((cells, rows.shape[1]))
        np.add.at(totals, labels, rows)
        dimension = rows.shape[1]
        deviation = scale * self.radius * np.sqrt(dimension + 1)
        return Cells(counts, totals + deviation * self.rng.normal(size=totals.shape), 2 * scale**2, dimension * deviation**2)


class Blind:
    """Nobody's records: what is released was made up before. ``assign`` is asked about rows that are nobody's, and must answer alike."""

    normal = False

    def __init__(self, outputs_seed, *, dimension, count=1000.0, rms=0.5, radius=1.0):
        self.statistics = Statistics(count, np.zeros(dimension), rms, radius, np.zeros(dimension))
        self.radius, self.sum_noise, self.left = radius, float(dimension), Fraction(1)
        self.rng, self.calls, self.asked = np.random.default_rng(outputs_seed), [], []

    def clip(self, radius):
        self.radius = radius

    def release(self, assign, share, cells, *, sums=True, count_share=None):
        self.left -= Fraction(share) * self.left
        self.calls.append((Fraction(share), cells, sums, self.radius))
        rows = np.random.default_rng(5).normal(size=(50, self.statistics.dimension)) * self.radius / 5
        self.asked.append(assign(rows))
        assert len(assign(rows[:0])) == 0
        counts = self.rng.normal(self.statistics.count / cells, self.statistics.count / cells, size=cells)
        shape = (cells, self.statistics.dimension)
        return Cells(counts, self.rng.normal(size=shape) * 20 if sums else None, 4.0, 9.0)
