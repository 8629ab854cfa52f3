"""Which centre is nearest to a record: one definition in binary64, and a fast search that returns the same labels.

**Why the definition matters.** One iteration of DP-Lloyd costs one count and one sum, not k of each, because the cluster of a record
is a function of that record and of the centres alone (parallel composition over disjoint clusters). A matrix product breaks this in
floating point: BLAS uses other kernels for the last rows of a block, so that the rounding of a row depends on where the row stands, and
adding a record could move another one to a different cluster.

**Definition.** label(x, c) is the least j that minimises δ_j(x), computed with the operations below in binary64, each rounded to nearest:

    g_l = x_l − c_jl,    δ_j(x) = (...((g_1² + g_2²) + g_3²) + ...) + g_d²    (an overflow counts as ∞)

Elementwise NumPy operations round every entry by itself, so that :func:`label_by_definition` is a function of the record and the centres.

**Theorem (screening).** Let ‖x‖₂ ≤ R, ‖c_j‖₂ ≤ C, S = R + C and u the unit roundoff of a format (2⁻²⁴ or 2⁻⁵³), d ≤ 2²⁰. Let
ŝ_j be s_j = |c_j|² − 2 c_j·x as computed in that format from the rounded x, −2c_j and |c_j|², the d + 1 products being added in any
order, fused or not. If ŝ_j > fl(min ŝ + τ) for all j but one, with τ = 5 (d + 8) u S², that one is label(x, c).

Proof. The three inputs are rounded by at most u, u and 3u, relatively (|c_j|² is a correctly rounded sum of rounded squares), and a sum of
d + 1 products in any order by at most γ_{d+1}, γ_n = n u/(1 − n u) (Higham 2002, Section 3.1). Hence |ŝ_j − s_j| ≤ γ_{d+4} (2C R + C²) ≤
γ_{d+4} S². A δ_j has d + 2 roundings at most on the way from a coordinate: |δ_j − ‖x − c_j‖²| ≤ γ'_{d+2} S² with γ' for 2⁻⁵³. Let m be
the one that is left. For j ≠ m, with 2u S² for the rounding of min ŝ + τ,

    δ_j − δ_m ≥ ‖x − c_j‖² − ‖x − c_m‖² − 2γ'_{d+2} S² = s_j − s_m − 2γ'_{d+2} S² ≥ τ(1 − u) − 2(γ_{d+4} + γ'_{d+2} + u) S² > 0.

The last step: in single precision γ_{d+4} ≤ 1.07 (d + 4) u and γ'_{d+2} < u, so that the terms to subtract are below (2.2 d + 13) u S²; in
double precision they are below (4.1 d + 16) u S². Both leave more than S² u d/2 + 20 S² u for the rounding of R, C and τ themselves.
Underflow (also where it is flushed to 0) adds at most 2²¹ (S + 2) times the least normal number, which is below u S² for the S that are
let in, and products stay finite for them. ∎

Rows that the screen leaves open go to the next format and in the end to the definition. So **every label is that of the definition**, and
neither the block, nor the position in it, nor the threads, nor the BLAS have an influence, as long as the BLAS multiplies and adds in the
conventional way (not Strassen's, not in a lower precision).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Floats, Positions, ignore_flags
from profiles.mechanisms.datasets import find_reach

Labels = NDArray[np.int32]

_LEAST_WIDTH = 2.0**-400
#: A format for screening, its unit roundoff, and the S for which neither underflow nor overflow matters.
_FORMATS: tuple[tuple[Any, float, float, float], ...] = (
    (np.float32, 2.0**-24, 2.0**-30, 2.0**60),
    (np.float64, 2.0**-53, _LEAST_WIDTH, 2.0**500),
)
_MOST_COLUMNS = 2**20
_ENTRIES = 2**18  # entries of one temporary array of :func:`label_by_definition` and of one block of scores
_LEAST_ROWS = 64
#: From so many centres on the scores of a row are one after the other in memory, and the least is searched for in them.
_MANY = 64
#: Rows are screened again in the next format where more than this share is left open; fewer go to the definition at once.
_SHARE = 1 / 16
_WIDER = 1 + 2.0**-20  # what a computed norm is multiplied with to be an upper bound


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """One format: ``matrix`` has the rows (−2c_j, |c_j|²), shape (k, d + 1); ``slack`` is τ."""

    matrix: NDArray[np.floating[Any]]
    slack: float

    def label(self, points: Floats) -> tuple[Labels, Positions]:
        """Return labels of rows and which rows are left open (their labels mean nothing)."""
        rows, columns = points.shape
        extended = np.empty((rows, columns + 1), dtype=self.matrix.dtype)
        extended[:, :columns] = points
        extended[:, columns] = 1
        if len(self.matrix) >= _MANY:
            return self._label_rows(extended @ self.matrix.T)
        scores = self.matrix @ extended.T
        limit = scores.min(axis=0)
        limit += self.matrix.dtype.type(self.slack)
        near = (scores <= limit).view(np.uint8)
        small = _smallest_type(len(scores))
        labels = np.multiply(near, np.arange(len(scores), dtype=small)[:, np.newaxis], dtype=small).max(axis=0)
        if np.count_nonzero(near) == rows:  # every column has its minimum, so that this means one each
            return labels.astype(np.int32), np.empty(0, dtype=np.intp)
        return labels.astype(np.int32), np.flatnonzero(near.sum(axis=0, dtype=_smallest_type(len(scores) + 1)) > 1)

    def _label_rows(self, scores: NDArray[np.floating[Any]]) -> tuple[Labels, Positions]:
        """Return the same from scores of shape (rows, k), which are overwritten: the least of a row, and whether the second is above τ."""
        at = np.arange(len(scores))
        labels = scores.argmin(axis=1)
        limit = scores[at, labels]
        limit += self.matrix.dtype.type(self.slack)
        scores[at, labels] = np.inf
        return labels.astype(np.int32), np.flatnonzero(scores[at, scores.argmin(axis=1)] <= limit)


@dataclass(frozen=True, slots=True, eq=False)
class CentreSearch:
    """Centres prepared for records of l2 norm at most R; made by :func:`prepare_search`.

    ``kept``: the numbers of the centres that can be nearest to such a record, in ascending order; ``centres``: these, shape (k', d).
    """

    centres: Floats
    kept: Positions
    screens: tuple[Screen, ...]

    @property
    def block(self) -> int:
        """How many rows to label at once, so that a block of scores has about ``_ENTRIES`` entries, whatever n is."""
        clusters, dimension = self.centres.shape
        return max(_LEAST_ROWS, _ENTRIES // int(max(clusters, dimension)))

    def label(self, points: Floats) -> Labels:
        """Return for each row the position in ``kept`` of its label; extra memory is that of the rows that a screen leaves open."""
        if len(self.kept) == 1:
            return np.zeros(len(points), dtype=np.int32)
        labels = np.zeros(len(points), dtype=np.int32)
        todo: Positions | None = None  # all rows
        for screen in self.screens:
            screened, left = self._screen(screen, points if todo is None else points[todo])
            if todo is None:
                labels, todo = screened, left
            else:
                labels[todo] = screened
                todo = todo[left]
            if todo.size <= _SHARE * len(points):
                break
        if todo is None:
            return label_by_definition(points, self.centres)
        if todo.size:
            labels[todo] = label_by_definition(points[todo], self.centres)
        return labels

    def _screen(self, screen: Screen, points: Floats) -> tuple[Labels, Positions]:
        """Return what one format finds, block by block."""
        parts = [(start, *screen.label(points[start : start + self.block])) for start in range(0, max(1, len(points)), self.block)]
        if len(parts) == 1:
            return parts[0][1], parts[0][2]
        left = [start + labels for start, _, labels in parts]
        return np.concatenate([labels for _, labels, _ in parts]), np.concatenate(left)


def prepare_search(centres: Floats, reach: float) -> CentreSearch:
    """Return the search for records x with ‖x‖₂ ≤ ``reach``; centres have shape (k, d).

    Centres that cannot be nearest to any such record are left out: noise throws centres far away, and their norms would widen τ.
    With b a centre of least norm, ‖x − c_j‖² − ‖x − c_b‖² = |c_j|² − |c_b|² − 2x·(c_j − c_b) ≥ |c_j|² − |c_b|² − 2R‖c_j − c_b‖. Where
    this is above 2⁻²⁰ (R + ‖c_j‖)², which is more than all roundings here and in the definition, δ_b < δ_j for every record.
    (Underflow is out of the question for R + ‖c_j‖ ≥ 2⁻⁴⁰⁰.)
    """
    with np.errstate(all="ignore"):
        norms = np.sqrt((centres * centres).sum(axis=1))
        least = int(norms.argmin())
        distances = np.sqrt(((centres - centres[least]) ** 2).sum(axis=1))
        gaps = (norms - norms[least]) * (norms + norms[least]) - 2 * reach * distances
        never = (gaps > 2.0**-20 * (reach + norms) ** 2) & (reach + norms >= _LEAST_WIDTH)
        kept = np.flatnonzero(~never)
        width = (reach + float(norms[kept].max())) * _WIDER
        remaining = np.ascontiguousarray(centres[kept])
        screens = []
        formats = [item for item in _FORMATS if item[2] <= width <= item[3] and centres.shape[1] <= _MOST_COLUMNS]
        if formats:
            squares = [math.fsum(row) for row in (remaining * remaining).tolist()]
            for dtype, unit, _, _ in formats:
                matrix = np.column_stack([-2 * remaining, squares]).astype(dtype)
                screens.append(Screen(matrix, 5 * (centres.shape[1] + 8) * unit * width * width))
    return CentreSearch(remaining, kept, tuple(screens))


def label_by_definition(points: Floats, centres: Floats) -> Labels:
    """Return label(x, c) of each row, by the definition on this page: (n, d) and (k, d) → (n,)."""
    labels = np.empty(len(points), dtype=np.int32)
    block = max(1, _ENTRIES // centres.size)
    with np.errstate(all="ignore"):
        for start in range(0, len(points), block):
            gaps = points[start : start + block, np.newaxis, :] - centres
            gaps *= gaps
            # accumulate is r[l] = r[l - 1] + a[l], in this order; a sum would be free to choose another one
            distances = np.add.accumulate(gaps, axis=2)[:, :, -1]
            labels[start : start + block] = distances.argmin(axis=1)
    return labels


@ignore_flags
def find_nearest(points: Floats, centres: Floats) -> Labels:
    """Return label(x, c) of each row, fast and in bounded extra memory: (n, d) and (k, d) → (n,).

    >>> find_nearest(np.array([[0.9], [-2.0], [0.0]]), np.array([[1.0], [-1.0]])).tolist()
    [0, 1, 0]
    """
    search = prepare_search(centres, find_reach(points))
    labels = np.empty(len(points), dtype=np.int32)
    for start in range(0, len(points), search.block):
        labels[start : start + search.block] = search.kept[search.label(points[start : start + search.block])]
    return labels


def _smallest_type(values: int) -> Any:
    """Return the shortest unsigned type that holds the numbers 0, ..., ``values`` − 1."""
    return np.min_scalar_type(max(1, values - 1))
