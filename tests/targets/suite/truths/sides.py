"""One direction of ε, both of them, and how they are written down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from profiles.balls import lower_fraction, upper_fraction
from tests.targets.suite.case import Nats

#: Truths are written with this many decimals, rounded outward.
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Side:
    """Claim: lower ≤ sup over events S of log P(S)/Q(S) ≤ upper, in nats; both ends are ∞ where the supremum is."""

    lower: Nats
    upper: Nats

    @staticmethod
    def exactly(value: Nats) -> Side:
        """Return a supremum that is known exactly."""
        return Side(value, value)

    @staticmethod
    def of_ball(value: arb) -> Side:
        """Return the ends of a ball; an infinite one bounds nothing."""
        lower, upper = lower_fraction(value), upper_fraction(value)
        return Side(-math.inf if lower is None else lower, math.inf if upper is None else upper)

    def reduced(self, loss: Fraction) -> Side:
        """Return the side for outputs that are rounded to a grid, which costs at most ``loss``."""
        return Side(self.lower - loss, self.upper)

    def __add__(self, other: Side) -> Side:
        """Return the supremum for two independent outputs."""
        return Side(self.lower + other.lower, self.upper + other.upper)


def largest(sides: Iterable[Side]) -> Side:
    """Return the maximum of several suprema, and of 0, which the event of all outputs has."""
    known = [Side(0, 0), *sides]
    return Side(max(side.lower for side in known), max(side.upper for side in known))


@dataclass(frozen=True, slots=True)
class Directions:
    """``toward``: sup log P/Q with P the law on the data set and Q that on the neighbor; ``away``: sup log Q/P."""

    toward: Side
    away: Side

    @staticmethod
    def symmetric(side: Side) -> Directions:
        """Return directions that are equal."""
        return Directions(side, side)

    def __add__(self, other: Directions) -> Directions:
        """Return the directions for two independent outputs."""
        return Directions(self.toward + other.toward, self.away + other.away)

    @property
    def epsilon(self) -> Side:
        """The larger direction."""
        return largest((self.toward, self.away))


def of_table(pairs: Iterable[tuple[arb, arb]]) -> Directions:
    """Return the directions of two laws on finitely many outcomes, given as pairs of positive probabilities.

    The ratio of the probabilities of an event is at most the largest ratio of those of its outcomes.
    """
    balls = [(p / q).log() for p, q in pairs]
    return Directions(largest(map(Side.of_ball, balls)), largest(Side.of_ball(-value) for value in balls))


def written(side: Side) -> tuple[Nats, Nats]:
    """Return both ends as decimals, rounded outward to :data:`DIGITS` places."""
    unit = 10**DIGITS

    def rounded(value: Nats, towards: Callable[[Fraction], int]) -> Nats:
        return value if isinstance(value, float) and math.isinf(value) else Fraction(towards(Fraction(value) * unit), unit)

    return rounded(side.lower, math.floor), rounded(side.upper, math.ceil)
