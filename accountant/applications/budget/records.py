"""The records of a private fit: what is released about them, exactly, and charged to one budget.

Every pass over the data computes exact sums of integers (docs/exact-noise.md, Theorem 1) of functions of one row each, and what leaves a
pass is their correctly rounded noisy value. Memory does not grow with the number of rows.

A row x is used as y = x − center, moved into the ball of the declared radius, and after the statistics as v = y − mean, moved into the ball
of :attr:`PrivateRecords.radius`. Both are functions of the row, of public constants and of released numbers
(:mod:`profiles.mechanisms.ball`); their norms are at most r (1 + 2⁻³⁰), which the noise is made for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.applications.budget.protocols import Assign, Cells, Statistics
from accountant.applications.budget.rows import Blocks, KeptBlocks
from accountant.applications.budget.spending import Payment, PricedNoise, Purpose, Spending, to_share
from profiles import InvalidArgument
from profiles.arrays import Floats, ignore_flags
from profiles.mechanisms.ball import project_records, widen
from profiles.mechanisms.datasets import LEAST_RADIUS
from profiles.mechanisms.exact import OpenedRelease
from profiles.mechanisms.lloyd_runs import total_labelled
from profiles.mechanisms.quantised import Totals, quantise, require_within, total_units
from profiles.numbers import round_down
from profiles.randomness.bits import BitSource

_LARGEST_RADIUS = 2.0**500


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The public ball: ``center`` of shape (d,), ``radius`` r > 0; rows outside are moved onto it along the ray to the center."""

    center: Floats
    radius: Fraction

    @property
    def reach(self) -> Fraction:
        """The largest norm that a row has afterwards: r (1 + 2⁻³⁰)."""
        return widen(self.radius)

    def enter(self, rows: Floats) -> Floats:
        """Return y = x − center, moved into the ball, each row by itself."""
        return project_records(rows - self.center, 2, self.radius)


class PrivateRecords:
    """Rows, a domain, and what may be spent on them: the one way in which a method sees data (:class:`DataAccess`).

    Statement (docs/private-kmeans.md, Theorem 2): whatever is called here, in whatever order, all that is returned is private as the
    budget of ``spending`` says. ``bits`` draws the noise.
    """

    def __init__(self, rows: Blocks, domain: Domain, spending: Spending, bits: BitSource) -> None:
        self._rows, self._domain, self._spending, self._bits = rows, domain, spending, bits
        self._statistics: Statistics | None = None
        self._clip = domain.radius
        self._centred = KeptBlocks()

    @property
    def statistics(self) -> Statistics:
        """What was released before the method began. Raises :class:`InvalidArgument` before :meth:`centre`."""
        if self._statistics is None:
            raise InvalidArgument("the statistics of the records were asked for before they were released; release them first")
        return self._statistics

    @property
    def radius(self) -> float:
        """The radius of the ball about the mean into which rows are moved now."""
        return round_down(self._clip)

    @property
    def left(self) -> Fraction:
        return self._spending.left / self._spending.law.budget

    @property
    def sum_noise(self) -> float:
        """About ‖ζ‖₂/radius of a sum that gets the whole budget."""
        return self._spending.law.sum_noise(self._rows.dimension)

    @property
    def normal(self) -> bool:
        return self._spending.law.normal

    @property
    def law(self) -> PricedNoise:
        return self._spending.law

    @property
    def budget(self) -> Fraction:
        """What may be spent in all: ε, or μ²."""
        return self._spending.law.budget

    @property
    def unspent(self) -> Fraction:
        return self._spending.left

    @property
    def dimension(self) -> int:
        return self._rows.dimension

    @property
    def count_share(self) -> Fraction:
        """The share of counts with the least first-order error of a centre."""
        return self._spending.law.count_share(self._rows.dimension)

    def energy_of(self, charge: Payment, dimension: int) -> float:
        """Return E ‖ζ‖₂² of the noise that a charge of a vector of ``dimension`` numbers bought."""
        return self._spending.law.energy(charge, dimension)

    @property
    def domain(self) -> Domain:
        """The public ball."""
        return self._domain

    @property
    def charges(self) -> tuple[Payment, ...]:
        """All releases so far, with what they cost."""
        return tuple(self._spending)

    def centre(self, statistics: Statistics) -> None:
        """Take over released statistics: rows are seen around this mean from now on. Costs nothing, because they are released."""
        self._statistics = statistics
        self._clip = Fraction(
            math.nextafter(float(self._domain.radius) + float(np.linalg.norm(statistics.mean - statistics.center)), math.inf)
        )
        self._centred.forget()

    def clip(self, radius: float) -> None:
        """Move rows into the ball of ``radius`` about the mean from now on."""
        if not LEAST_RADIUS <= radius <= _LARGEST_RADIUS:
            raise InvalidArgument(f"records were to be clipped to the radius {radius:g}; give a positive one within the range of floats")
        self._clip = Fraction(float(radius))
        self._centred.forget()

    def release(self, assign: Assign, share: Fraction | float, cells: int, *, sums: bool = True, count_share: float | None = None) -> Cells:
        """Return noisy counts and sums of cells: see :class:`DataAccess`."""
        dimension, reach = self._rows.dimension, widen(self._clip)
        cost = to_share(share) * self._spending.left
        if not sums:
            count = self._charge(Purpose.CELL_COUNTS, cost, Fraction(1))
            counted = self._spending.law.open(count, self._bits)
            totals = self._total(assign, cells, counted, None)
            noisy = counted.draw(totals[:, -1:])[:, 0]
            return Cells(noisy, None, self._spending.law.energy(count, 1), 0.0)
        part = self._spending.law.count_share(dimension) if count_share is None else Fraction(count_share)
        if not 0 < part < 1:
            raise InvalidArgument(f"the share of the counts lies in (0, 1), but {float(part):g} was found; correct it")
        count = self._charge(Purpose.CELL_COUNTS, part * cost, Fraction(1))
        total = self._charge(Purpose.CELL_SUMS, cost - count.cost, reach)
        counted, summed = self._spending.law.open(count, self._bits), self._spending.law.open(total, self._bits)
        totals = self._total(assign, cells, counted, summed)
        return Cells(
            counted.draw(totals[:, -1:])[:, 0],
            summed.draw(totals[:, :-1]),
            self._spending.law.energy(count, 1),
            self._spending.law.energy(total, dimension),
        )

    def count(self, cost: Fraction) -> float:
        release = self._spending.law.open(self._charge(Purpose.RECORDS, cost, Fraction(1)), self._bits)
        rows = self.measure_rows()
        return float(release.draw(np.array([[rows * int(quantise(np.ones((1, 1)), None, release.unit)[0, 0])]], dtype=object))[0, 0])

    def measure_rows(self) -> int:
        """Return the exact number of rows, which is not private."""
        return sum(len(block) for block in self._rows.blocks())

    def add_up(self, cost: Fraction) -> tuple[Floats, Payment]:
        """Return the noisy Σ y over all rows, shape (d,), with its charge."""
        charge = self._charge(Purpose.SUM, cost, self._domain.reach)
        return self._add(charge)[0], charge

    def add_squares(self, cost: Fraction) -> tuple[float, Payment]:
        """Return the noisy Σ ‖y‖₂² over all rows, with its charge."""
        charge = self._charge(Purpose.SQUARES, cost, self._domain.reach**2)
        return float(self._add(charge)[0][0]), charge

    def add_both(self, of_sum: Fraction, of_squares: Fraction) -> tuple[tuple[Floats, Payment], tuple[float, Payment]]:
        """Return what :meth:`add_up` and :meth:`add_squares` return, of one pass over the rows."""
        first, second = (
            self._charge(Purpose.SUM, of_sum, self._domain.reach),
            self._charge(Purpose.SQUARES, of_squares, self._domain.reach**2),
        )
        total, squares = self._add(first, second)
        return (total, first), (float(squares[0]), second)

    def _charge(self, part: Purpose, cost: Fraction, reach: Fraction) -> Payment:
        return self._spending.charge(part, cost, reach)

    def _add(self, *charges: Payment) -> list[Floats]:
        """Return the noisy totals of Σ y or Σ ‖y‖₂², as each charge says, of one pass."""
        opened = [(charge, self._spending.law.open(charge, self._bits)) for charge in charges]
        totals: list[Totals] = [np.zeros(1 if charge.part is Purpose.SQUARES else self._rows.dimension, dtype=object) for charge in charges]
        for block in self._rows.blocks():
            inside = self._domain.enter(block)
            for place, (charge, release) in enumerate(opened):
                squares = charge.part is Purpose.SQUARES
                values = square_norms(inside, round_down(charge.reach))[:, np.newaxis] if squares else inside
                totals[place] = totals[place] + total_units(values, None, release.unit).astype(object)
        return [release.draw(total[np.newaxis])[0] for (_, release), total in zip(opened, totals, strict=True)]

    def _total(self, assign: Assign, cells: int, counted: OpenedRelease, summed: OpenedRelease | None) -> NDArray[Any]:
        """Return the exact totals of cells in units: sums in the first columns (none without ``summed``), counts in the last."""
        columns = 1 if summed is None else self._rows.dimension + 1
        totals = np.zeros((cells, columns), dtype=object)
        one = quantise(np.ones((1, 1)), None, counted.unit)[0, 0]
        for block in self.centred():
            labels = check_labels(assign(block), len(block), cells)
            units = np.empty((columns, len(block))).T  # a column after the other, as they are added up
            most = max(1.0, float(one))
            if summed is not None:
                units[:, :-1] = quantise(block, None, summed.unit)
                most = max(most, require_within(units[:, :-1], summed.unit, 0))
            units[:, -1] = one
            totals += total_labelled(units, most, labels[np.newaxis], cells)[0].astype(object)
        return totals

    def centred(self) -> Iterator[Floats]:
        """Yield blocks of rows in centred coordinates: private, not to be released, and not to be changed."""
        return self._centred.keep(self._centre_blocks())

    def _centre_blocks(self) -> Iterator[Floats]:
        shift = self.statistics.mean - self._domain.center
        for block in self._rows.blocks():
            yield project_records(self._domain.enter(block) - shift, 2, self._clip)


def check_labels(given: object, rows: int, cells: int) -> NDArray[np.intp]:
    """Return numbers of cells as they are counted. Raises :class:`InvalidArgument` for others than integers in [0, cells), one a row."""
    labels = np.asarray(given)
    if labels.shape != (rows,) or labels.dtype.kind not in "iu" or (rows and not 0 <= int(labels.min()) <= int(labels.max()) < cells):
        raise InvalidArgument("cells are numbered by one integer per row, from 0 on and below their number; correct what assigns them")
    return labels.astype(np.intp)


@ignore_flags
def square_norms(rows: Floats, most: float) -> Floats:
    """Return ‖y‖₂² of each row by elementwise operations, column after column, at most ``most``: a function of the row alone.

    >>> square_norms(np.array([[3.0, -4.0], [0.0, 1.0]]), 16.0).tolist()
    [16.0, 1.0]
    """
    total = np.zeros(len(rows))
    for column in np.ascontiguousarray(rows.T):
        total += column * column
    return np.minimum(total, most)


def as_vector(values: object, dimension: int, what: str) -> Floats:
    """Return a public point as an array of shape (d,); None is 0. Raises :class:`InvalidArgument`."""
    if values is None:
        return np.zeros(dimension)
    try:
        vector = np.array(values, dtype=np.float64 if np.asarray(values).dtype.kind != "c" else None)
        usable = vector.dtype.kind == "f" and vector.shape == (dimension,) and bool(np.isfinite(vector).all())
    except (TypeError, ValueError, OverflowError):
        usable = False
    if not usable or np.abs(vector).max(initial=0.0) > _LARGEST_RADIUS:
        raise InvalidArgument(f"{what} must have {dimension} finite numbers, one per column; correct it")
    return vector
