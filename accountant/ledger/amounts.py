"""Amounts of the ledger: integers of 2^-40 nat, of δ of 2^-62. Costs are rounded up, budgets down (docs/ledger.md, L5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from profiles import InvalidArgument, decimal_text
from profiles.arrays import Integers
from profiles.numbers import shorten

#: One nat is 2^40 steps.
BITS = 40
#: A δ of 1 is 2^62 steps.
DELTA_BITS = 62
#: The largest amount that is kept: 2^22 nats, so that two of them add up without overflow.
MOST = (1 << 62) - 1


def to_budget(value: Fraction) -> int:
    """Return a budget in steps, rounded down, at most ``MOST``.

    >>> to_budget(Fraction(1, 10))
    109951162777
    """
    return min(math.floor(value * (1 << BITS)), MOST)


def to_cost(value: Fraction) -> int:
    """Return a cost in steps, rounded up.

    >>> to_cost(Fraction(1, 10))
    109951162778
    """
    return math.ceil(value * (1 << BITS))


def to_nats(amount: int) -> Fraction:
    """Return an amount as an exact number of nats."""
    return Fraction(amount, 1 << BITS)


def amount_text(amount: int, digits: int = 12) -> str:
    """Return an amount in nats, rounded up: what was spent is never shown too small.

    >>> amount_text(to_cost(Fraction(1, 10)))
    '0.100000000001'
    """
    return decimal_text(to_nats(amount), digits, round_up=True)


def floor_text(amount: int, digits: int = 12) -> str:
    """Return an amount in nats, rounded down: what is left is never shown too large."""
    return decimal_text(to_nats(amount), digits, round_up=False)


@dataclass(frozen=True, slots=True)
class CostGrid:
    """The multiples of 2^(``shift`` − 40) nat, to which all costs of one release are rounded up.

    It is fixed by the public worst case of the release: the worst cost has at most 32 bits. A coarse grid makes the cost of a record a
    function of the record alone: floating point finds it for all but a few records in a million, and balls for those.
    """

    shift: int

    @property
    def step(self) -> Fraction:
        """The distance of the grid's points, in nats."""
        return Fraction(2) ** (self.shift - BITS)

    def round_up(self, value: Fraction) -> int:
        """Return the number of steps that is at least ``value`` ≥ 0."""
        return math.ceil(value / self.step)

    def amounts(self, steps: Integers) -> Integers:
        """Return steps of the grid as amounts; the largest amount for more steps than it has."""
        if steps.size and int(steps.max()) > MOST >> self.shift:
            return np.where(steps > MOST >> self.shift, MOST, np.left_shift(np.minimum(steps, MOST >> self.shift), self.shift))
        return np.left_shift(steps, self.shift)


def choose_grid(worst: Fraction, bits: int = 32) -> CostGrid:
    """Return the finest grid, not below the step of the ledger, on which the public worst cost has at most ``bits`` bits.

    >>> choose_grid(Fraction(1, 300)).shift, choose_grid(Fraction(1)).shift
    (0, 9)
    """
    if worst > to_nats(MOST):
        raise InvalidArgument(f"a charge of at most 2^22 nats was expected, but {shorten(worst)} was found; it promises nothing")
    shift = max(0, to_cost(worst).bit_length() - bits)
    return CostGrid(shift + (CostGrid(shift).round_up(worst) >> bits))
