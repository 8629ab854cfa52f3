"""What a unit is charged for the total shift of its rows: one amount for each component of its account (docs/ledger.md, L2 and M).

Every amount is the least whole number of steps that is not below the exact price: a function of the total alone, never of how it was
computed (docs/ledger.md, L5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from operator import mul
from typing import Protocol

import numpy as np
from flint import arb

from accountant.ledger.amounts import BITS, DELTA_BITS, MOST, CostGrid, choose_grid, list_components, to_cost
from profiles import Undecided
from profiles.arrays import Integers
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.numbers import decimal_above

#: Squares of fewer bits than this fit into 64 bits; integers below the other are exact in binary64.
_HALF, _EXACT = 2**31, 2**53
_FIRST_BITS, _MOST_BITS = 128, 4_096
#: Far above the error of NumPy's tanh and of two products.
_ERROR = 2.0**-46
#: Digits of bounds that are written down.
_DIGITS = 30


class PriceShape(Enum):
    """How the price of a total shift S ≥ 0 depends on it."""

    #: S: ε of pure mechanisms, whose losses add up over the rows of a unit.
    LINEAR = "S"
    #: S²: μ² of Gaussian ones, whose μ add up.
    SQUARE = "S^2"
    #: S²/2: ρ of shifts √(2ρ).
    HALF_SQUARE = "S^2/2"
    #: S tanh(S/2): ρ of a mechanism with ε = S, and of none is it less (docs/ledger.md, Lemma 1).
    TANH = "S tanh(S/2)"

    def bound(self, total: Fraction) -> Fraction:
        """Return a number that is at least the price of a total ≥ 0: the price itself but for the last shape.

        >>> PriceShape.HALF_SQUARE.bound(Fraction(1, 2)), 0.4621171 < PriceShape.TANH.bound(Fraction(1)) < 0.4621172
        (Fraction(1, 8), True)
        """
        match self:
            case PriceShape.LINEAR:
                return total
            case PriceShape.SQUARE:
                return total * total
            case PriceShape.HALF_SQUARE:
                return total * total / 2
        with working_precision(_FIRST_BITS):
            price = upper_fraction(_tanh_price(total))
        return total if price is None else min(decimal_above(price, _DIGITS), total)

    def steps(self, totals: Integers, shifts: CostGrid, costs: CostGrid) -> Integers:
        """Return the prices of ``totals`` of ``shifts`` in steps of ``costs``, rounded up, and at most 2^62."""
        match self:
            case PriceShape.LINEAR if shifts == costs:
                return totals
            case PriceShape.LINEAR:
                return _round_up(totals, 1, shifts.shift - costs.shift)
            case PriceShape.SQUARE:
                return _round_up(totals, 2, 2 * shifts.shift - BITS - costs.shift)
            case PriceShape.HALF_SQUARE:
                return _round_up(totals, 2, 2 * shifts.shift - BITS - costs.shift - 1)
        return _tanh_steps(totals, shifts, costs)


def _round_up(totals: Integers, power: int, exponent: int) -> Integers:
    """Return ⌈totals^power · 2^exponent⌉, at most 2^62."""
    most = int(totals.max(initial=0))
    if exponent <= 0 and (power == 1 or most < _HALF):
        raised = totals * totals if power == 2 else totals
        charged: Integers = -np.right_shift(-raised, min(-exponent, 63))
        return charged
    exact = [-((-(value**power)) >> -exponent) if exponent < 0 else value**power << exponent for value in totals.tolist()]
    return np.array([min(value, 2**62) for value in exact], dtype=np.int64)


def _tanh_price(total: Fraction) -> arb:
    value = ball(total)
    return value * (value / 2).tanh()


def _tanh_steps(totals: Integers, shifts: CostGrid, costs: CostGrid) -> Integers:
    with np.errstate(all="ignore"):
        loss = totals.astype(np.float64) * float(shifts.step)  # a power of two: exact below 2^53
        value = loss * np.tanh(loss / 2) / float(costs.step)
        high, low = np.ceil(value * (1 + _ERROR)), np.ceil(value * (1 - _ERROR))
    decided = (high == low) & (totals < _EXACT) & (high < 2.0**62)
    steps = np.where(decided, high, 0.0).astype(np.int64)
    rows = np.flatnonzero(~decided)
    if rows.size:
        distinct, places = np.unique(totals[rows], return_inverse=True)
        settled = [_settle(int(total) * shifts.step, costs) for total in distinct.tolist()]
        steps[rows] = np.array(settled, dtype=np.int64)[places]
    return steps


def _settle(total: Fraction, costs: CostGrid) -> int:
    """Return the steps of one total, by balls. Raises :class:`Undecided` where none are narrow enough."""
    if not total:
        return 0
    bits = _FIRST_BITS
    while bits <= _MOST_BITS:
        with working_precision(bits):
            value = _tanh_price(total)
            low, high = lower_fraction(value), upper_fraction(value)
        if low is not None and high is not None:
            top = costs.round_up(min(high, total))  # tanh < 1
            if costs.round_up(max(low, Fraction(0))) == top:
                return min(top, 2**62)
        bits *= 2
    raise Undecided(f"a price was needed, but no number could be found in {_MOST_BITS} bits; ask for another budget of the mechanism")


class Price(Protocol):
    """The amounts that units are charged for their total shifts, whole steps of one component, at most ``MOST``."""

    def amounts(self, totals: Integers) -> Integers:
        """Return them in the shape of ``totals``."""


@dataclass(frozen=True, slots=True)
class ShiftPrice:
    """The price of a shape: totals are steps of ``shifts``, amounts multiples of the step of ``costs``."""

    shape: PriceShape
    shifts: CostGrid
    costs: CostGrid

    @classmethod
    def make(cls, shape: PriceShape, shifts: CostGrid, worst: Fraction) -> ShiftPrice:
        """Return the price on the finest grid for records whose shift is at most ``worst``. Raises :class:`InvalidArgument`."""
        most = shifts.round_up(worst) * shifts.step
        return cls(shape, shifts, shifts if shape is PriceShape.LINEAR else choose_grid(shape.bound(most)))

    def amounts(self, totals: Integers) -> Integers:
        return self.costs.amounts(self.shape.steps(totals, self.shifts, self.costs))


@dataclass(frozen=True, slots=True)
class RowsPrice:
    """The price of rows that all cost the same: ``of`` their number, whose totals count them."""

    of: Callable[[int], int]

    def amounts(self, totals: Integers) -> Integers:
        distinct, places = np.unique(totals, return_inverse=True)
        made = np.array([min(self.of(int(rows)), MOST) for rows in distinct.tolist()], dtype=np.int64)
        priced: Integers = made[places]
        return priced


@dataclass(frozen=True, slots=True)
class Free:
    """The price of what a release does not touch."""

    def amounts(self, totals: Integers) -> Integers:
        return np.zeros(totals.shape, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class RowCost:
    """What one row costs in a ledger of mixed releases: ``epsilon`` of pure parts and of those with a δ, ``square``, the μ² of Gaussian
    ones, and ``delta`` (docs/ledger.md, Theorem M); ``rho`` of those with a ρ alone, and ``steps``, how many of each kind of a menu
    (Theorem R), none where there is no menu.
    """

    epsilon: Fraction = Fraction(0)
    square: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    steps: tuple[int, ...] = ()

    @property
    def most_rows(self) -> int | None:
        """How many rows of one unit can be charged: one where different parts meet, since bounds for groups are known of each, and one
        where there are steps of a menu, whose pairs are those of one record.
        """
        parts = (self.epsilon or self.delta, self.square, self.rho, any(self.steps))
        return 1 if any(self.steps) or sum(map(bool, parts)) > 1 else None

    def parts(self, width: int) -> dict[str, Fraction]:
        """Return the numbers by the names of the ``width`` components of a mixed account."""
        numbers = (self.epsilon, self.square, self.delta, self.rho, *map(Fraction, self.steps))
        return {name: number for (name, _), number in zip(list_components(width), numbers, strict=False)}

    def __add__(self, other: RowCost) -> RowCost:
        """Return the cost of both, one after the other."""
        steps = tuple(one + another for one, another in zip_longest(self.steps, other.steps, fillvalue=0))
        return RowCost(self.epsilon + other.epsilon, self.square + other.square, self.delta + other.delta, self.rho + other.rho, steps)

    def times(self, count: int) -> RowCost:
        """Return the cost of doing it ``count`` times."""
        steps = tuple(count * step for step in self.steps)
        return RowCost(count * self.epsilon, count * self.square, count * self.delta, count * self.rho, steps)

    def prices(self, width: int = 3) -> tuple[Price, ...]:
        """Return the prices of n rows: nε, (nμ)², δ(1 + e^ε + ... + e^((n−1)ε)), which is that of (ε, δ) n times in a row, and n²ρ, that
        of shifts √(2ρ) which add up; of one row its steps. ``width``: how many components the account has.
        """
        three: tuple[Price, ...] = (
            RowsPrice(lambda rows: to_cost(rows * self.epsilon)),
            RowsPrice(lambda rows: to_cost(rows * rows * self.square)),
            RowsPrice(lambda rows: group_delta(self.epsilon, self.delta, rows)),
        )
        further: tuple[Price, ...] = (
            RowsPrice(lambda rows: to_cost(rows * rows * self.rho)),
            *(RowsPrice(partial(mul, count)) for count in self.steps),
        )
        made = (*three, *further)
        return made[:width] + (Free(),) * (width - len(made))


def group_delta(epsilon: Fraction, delta: Fraction, rows: int) -> int:
    """Return δ(1 + e^ε + ... + e^((n−1)ε)) as an amount of 2^-62, rounded up, at most ``MOST``: with nε this holds for n rows.

    >>> group_delta(Fraction(0), Fraction(1, 4), 3) * 4 == 3 << DELTA_BITS
    True
    """
    if not rows or not delta:
        return 0
    if rows == 1 or not epsilon:
        return min(math.ceil(rows * delta * (1 << DELTA_BITS)), MOST)
    with working_precision(_FIRST_BITS):
        ratio = ball(epsilon).exp()
        end: Fraction | None = upper_fraction((ball(rows * epsilon).exp() - 1) / (ratio - 1) * ball(delta))
    return MOST if end is None else min(math.ceil(end * (1 << DELTA_BITS)), MOST)
