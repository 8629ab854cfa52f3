"""A public grid in a box: candidates for clustering in ℝ^d under an l_p norm (docs/metric-clustering.md, section 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from profiles import InvalidArgument
from profiles.arrays import Floats, Positions
from profiles.numbers import to_integer

#: A matrix of distances of so many candidates takes 800 MB.
MOST_CELLS = 10_000
_REACH = 1e150
_OUTWARD = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class CellGrid:
    """Claim: every point of the box is within ``radius`` of the centre of its cell, in the l_p norm.

    ``lower``, ``upper``: the corners of the public box, d numbers each; ``cells``: how many cells each axis has; ``norm``: p ≥ 1 or
    infinity.
    The candidates are the centres of the cells, numbered with the last axis running fastest.

    >>> grid = CellGrid((0.0, 0.0), (1.0, 2.0), (2, 4), 3.0)
    >>> grid.size, grid.snap(np.array([[0.1, 0.1], [9.0, 0.9]])).tolist()
    (8, [0, 5])
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    cells: tuple[int, ...]
    norm: float
    steps: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < len(self.lower) == len(self.upper) == len(self.cells):
            raise InvalidArgument("the box needs two ends and a number of cells for each axis, but their numbers differ; give one of each")
        if not all(-_REACH <= low < high <= _REACH for low, high in zip(self.lower, self.upper, strict=True)):
            raise InvalidArgument(f"each side of the box must run from a smaller to a larger number within {_REACH}; correct the box")
        for count in self.cells:
            to_integer(count, "the number of cells of an axis", 1, MOST_CELLS)
        if self.size > MOST_CELLS:
            raise InvalidArgument(f"the grid has {self.size} cells, but distances of at most {MOST_CELLS} are kept; take fewer per axis")
        if not self.norm >= 1:
            raise InvalidArgument(
                f"the norm must be at least 1, but {str(self.norm)[:40]} was found: below 1 the triangle inequality fails; give p >= 1"
            )
        sides = tuple((high - low) / count for low, high, count in zip(self.lower, self.upper, self.cells, strict=True))
        if not all(low + step > low and high - step < high for low, high, step in zip(self.lower, self.upper, sides, strict=True)):
            raise InvalidArgument("the cells of the grid are too small for binary64 numbers of the size of the box; take fewer cells")
        object.__setattr__(self, "steps", sides)

    @property
    def size(self) -> int:
        return math.prod(self.cells)

    @property
    def radius(self) -> float:
        """ρ = ‖half a cell‖_p, rounded up: how far a point of the box may be from its candidate."""
        return float(measure_norm([np.array([step / 2]) for step in self.steps], self.norm)[0]) * _OUTWARD

    def list_candidates(self) -> Floats:
        """Return the centres of the cells, shape (m, d)."""
        axes = [low + (np.arange(count) + 0.5) * step for low, count, step in zip(self.lower, self.cells, self.steps, strict=True)]
        centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return np.asarray(np.clip(centres, self.lower, self.upper), dtype=np.float64)

    def measure(self) -> Floats:
        """Return the distances of all pairs of candidates, shape (m, m): symmetric, 0 on the diagonal."""
        candidates = self.list_candidates()
        gaps = [np.abs(column[:, np.newaxis] - column) for column in candidates.T]
        half = np.triu(measure_norm(gaps, self.norm), 1)
        return np.asarray(half + half.T)

    def snap(self, points: Floats) -> Positions:
        """Return the number of the cell of each finite point, shape (n, d) → (n,); points outside of the box are moved to its boundary.

        Elementwise operations that IEEE 754 fixes: each number depends on its row alone. The centre of its cell is a nearest candidate in
        every l_p norm (up to rounding at the borders of cells), because a norm does not fall when a coordinate's gap grows.
        """
        number = np.zeros(len(points), dtype=np.intp)
        for axis, count in enumerate(self.cells):
            inside = np.clip(points[:, axis], self.lower[axis], self.upper[axis])
            cell = np.floor((inside - self.lower[axis]) / self.steps[axis])
            number *= count
            number += np.clip(cell, 0, count - 1).astype(np.intp)
        return number


def measure_norm(gaps: Sequence[Floats], norm: float) -> Floats:
    """Return (Σ_j |gap_j|^p)^(1/p), elementwise over arrays of gaps ≥ 0, one an axis; the largest gap is taken out, so that none overflows.

    >>> measure_norm([np.array([3.0]), np.array([4.0])], 2.0).tolist()
    [5.0]
    """
    largest = np.maximum.reduce(list(gaps))
    if math.isinf(norm):
        return np.asarray(largest)
    scale = np.where(largest > 0, largest, 1.0)
    total = np.zeros_like(scale)
    for gap in gaps:
        total += (gap / scale) ** norm
    return np.asarray(largest * total ** (1 / norm))


def read_grid(box: Sequence[tuple[float, float]], cells: int | Sequence[int], norm: float) -> CellGrid:
    """Return the grid of a box with ``cells`` an axis (one number for all, or one for each). Raises :class:`InvalidArgument`."""
    try:
        ends = [(float(low), float(high)) for low, high in box]
        counts = [cells] * len(ends) if isinstance(cells, int) else list(cells)
        exponent = float(norm)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument("the box must be pairs of numbers, the cells integers and the norm a number; give them so") from None
    return CellGrid(tuple(low for low, _ in ends), tuple(high for _, high in ends), tuple(counts), exponent)
