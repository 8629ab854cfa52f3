"""Amounts of the ledger: integers of 2^-40 nat, of δ of 2^-62. Costs are rounded up, budgets down (docs/ledger.md, L5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from profiles import InvalidArgument, UnreadableFile, decimal_text
from profiles.arrays import Integers
from profiles.numbers import shorten
from profiles.strict_json import read_count

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


#: The components of a mixed account, with the bits of their steps: three, or those with rho and as many counts of steps.
_MIXED = (("epsilon", BITS), ("mu2", BITS), ("delta", DELTA_BITS))
_FURTHER = (("rho", BITS), *((f"step{number}", 0) for number in range(1, 9)))
#: By how many there are.
_SCALES = {1: (("", BITS),), 3: _MIXED} | {len(_MIXED) + more: _MIXED + _FURTHER[:more] for more in range(1, len(_FURTHER) + 1)}
#: The most kinds of steps that a menu has (docs/ledger.md, Theorem R).
MOST_STEPS = len(_FURTHER) - 1


def list_components(width: int) -> tuple[tuple[str, int], ...]:
    """Return the names of the components of an account that has so many, and of each the bits of its steps. One alone has no name.

    >>> [name for name, _ in list_components(6)]
    ['epsilon', 'mu2', 'delta', 'rho', 'step1', 'step2']
    """
    return _SCALES[width]


@dataclass(frozen=True, slots=True)
class Amounts:
    """What one account has, may spend or is charged: a whole number of steps for each component of the ledger's notion.

    >>> one = Amounts((1 << BITS, 0, 1 << 61))
    >>> one.tell(up=True), (one + one).within(one), one.less(one + one).to_body()
    ({'epsilon': '1', 'mu2': '0', 'delta': '0.5'}, False, [0, 0, 0])
    """

    values: tuple[int, ...]

    def __add__(self, other: Amounts) -> Amounts:
        """Return the sums, by component."""
        return Amounts(tuple(one + another for one, another in zip(self.values, other.values, strict=True)))

    def less(self, other: Amounts) -> Amounts:
        """Return what is left after ``other``, at least 0, by component."""
        return Amounts(tuple(max(one - another, 0) for one, another in zip(self.values, other.values, strict=True)))

    def least(self, other: Amounts) -> Amounts:
        """Return the smaller of both, by component."""
        return Amounts(tuple(min(one, another) for one, another in zip(self.values, other.values, strict=True)))

    def within(self, other: Amounts) -> bool:
        """Whether no component exceeds that of ``other``."""
        return all(one <= another for one, another in zip(self.values, other.values, strict=True))

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The exact numbers: in nats, of μ², or a δ."""
        return tuple(Fraction(value, 1 << bits) for value, (_, bits) in zip(self.values, _SCALES[len(self.values)], strict=True))

    def tell(self, *, up: bool) -> str | dict[str, str]:
        """Return the numbers as texts, rounded up (what was spent) or down (what is left): one, or several by their names."""
        texts = [decimal_text(number, 12, round_up=up) for number in self.numbers]
        names = [name for name, _ in _SCALES[len(texts)]]
        return texts[0] if len(texts) == 1 else dict(zip(names, texts, strict=True))

    def say(self, *, up: bool, notion: str = "pure") -> str:
        """Return the same in words: one number of nats, or of rho in the ``notion`` zcdp, or several with their names."""
        return say_amounts(self.tell(up=up), notion)

    def to_body(self) -> int | list[int]:
        """Return them as an entry of the log has them."""
        return self.values[0] if len(self.values) == 1 else list(self.values)

    @classmethod
    def read(cls, value: object, where: str) -> Amounts:
        """Return the amounts of :meth:`to_body`. Raises :class:`UnreadableFile`."""
        if not isinstance(value, list):
            return cls((read_count(value, where),))
        if len(value) not in _SCALES or len(value) == 1:
            raise UnreadableFile(f"{where} has one number, or three and more, but {len(value)} were found; restore it from a backup")
        return cls(tuple(read_count(item, where) for item in value))


def say_amounts(told: str | dict[str, str], notion: str = "pure") -> str:
    """Return what :meth:`Amounts.tell` tells in words; ``notion``: that of the ledger, in files and prints. A rho has no unit.

    >>> say_amounts("2"), say_amounts("2", "zcdp"), say_amounts({"epsilon": "1", "delta": "0"})
    ('2 nats', 'rho 2', 'epsilon 1, delta 0')
    """
    if not isinstance(told, str):
        return ", ".join(f"{name} {text}" for name, text in told.items())
    return f"{told} nats" if notion != "zcdp" or not told else f"rho {told}"


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
