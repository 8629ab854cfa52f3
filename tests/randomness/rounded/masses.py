"""What an enumeration of all words says of a law: certain mass of every output, and mass that may go to any output of a box.

A *row* is one word for each uniform number. Where the words alone decide the output, its mass is certain; a row that would draw more bits
has a box of outputs that these may give, and its mass goes to some of them. So for every event S

    certain(S) ≤ P(S) ≤ certain(S) + mass of the rows whose box meets S,

whatever the law of the further bits is; no statistics. From both data sets of a pair follow bounds of ε (below) and of δ at ε (both sides).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, fmpq

Output = tuple[int, ...]
Box = tuple[tuple[int, int], ...]
#: Ends of a box without a bound.
FAR = 10**9


def ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


@dataclass(frozen=True)
class Masses:
    """``certain``: rows of each output; ``undecided``: rows of each box; ``rows`` in all, each of the same probability."""

    certain: Counter[Output]
    undecided: Counter[Box]
    rows: int

    @classmethod
    def of(cls, lowest: np.ndarray, highest: np.ndarray) -> Masses:
        """Return the masses of rows whose outputs lie between two integer arrays of shape (rows, d), equal where decided."""
        decided = (lowest == highest).all(axis=1)
        certain = Counter(map(tuple, lowest[decided].tolist()))
        boxes = zip(lowest[~decided].tolist(), highest[~decided].tolist(), strict=True)
        return cls(certain, Counter(tuple(zip(lo, hi, strict=True)) for lo, hi in boxes), len(lowest))

    def shift(self, by: Output) -> Masses:
        """Return the masses of outputs that are ``by`` larger."""
        moved = Counter({tuple(a + b for a, b in zip(key, by, strict=True)): mass for key, mass in self.certain.items()})
        boxes = Counter(
            {tuple((lo + b, hi + b) for (lo, hi), b in zip(box, by, strict=True)): mass for box, mass in self.undecided.items()}
        )
        return Masses(moved, boxes, self.rows)

    @cached_property
    def open_mass(self) -> Fraction:
        """The mass that the words do not decide."""
        return Fraction(sum(self.undecided.values()), self.rows)

    def bounds(self, event: Iterable[Output]) -> tuple[Fraction, Fraction]:
        """Return certified bounds of P(event)."""
        wanted = set(event)
        certain = sum(self.certain[output] for output in wanted)
        touching = sum(mass for box, mass in self.undecided.items() if any(_inside(output, box) for output in wanted))
        return Fraction(certain, self.rows), Fraction(certain + touching, self.rows)


def _inside(output: Output, box: Box) -> bool:
    return all(lo <= entry <= hi for entry, (lo, hi) in zip(output, box, strict=True))


def bound_epsilon(first: Masses, second: Masses) -> float:
    """Return a certified lower bound of ε = sup_S |log P(S)/P′(S)|, nats: every implementation with these masses loses as much.

    Events are the single outputs, and the unions of those with the largest ratios, with all of the other's undecided mass against them.
    """
    return max(bound_one_way(first, second), bound_one_way(second, first))


def bound_one_way(first: Masses, second: Masses) -> float:
    """Return a certified lower bound of sup_S log P(S)/P′(S)."""
    single = [(first.bounds([key])[0], second.bounds([key])[1]) for key in first.certain]
    order = sorted(first.certain, key=lambda key: Fraction(first.certain[key] * second.rows, (second.certain[key] + 1) * first.rows))
    unions, mine, theirs = [], Fraction(0), second.open_mass
    for key in reversed(order):
        mine += Fraction(first.certain[key], first.rows)
        theirs += Fraction(second.certain[key], second.rows)
        unions.append((mine, theirs))
    found = 0.0
    for more, less in (*single, *unions):
        if not less and more:
            return float("inf")
        if more > less:
            found = max(found, float((ball(more) / ball(less)).log().lower()))
    return found


def bound_delta(first: Masses, second: Masses, epsilon: Fraction) -> tuple[float, float]:
    """Return certified bounds of δ(ε) = Σ_k (P(k) − e^ε P′(k))⁺ in the direction from ``first`` to ``second``.

    Writing P = L + a and P′ = L′ + a′ for certain mass L and the shares a, a′ of what is undecided:
    Σ (L − e^ε L′)⁺ − e^ε Σ a′ ≤ δ(ε) ≤ Σ (L − e^ε L′)⁺ + Σ a.
    """
    factor, total = ball(epsilon).exp(), arb(0)
    for key, mass in first.certain.items():
        gap = ball(Fraction(mass, first.rows)) - factor * ball(Fraction(second.certain[key], second.rows))
        if not gap < 0:
            total += gap.max(arb(0))
    lower = total - factor * ball(second.open_mass)
    return max(0.0, float(lower.lower())), float((total + ball(first.open_mass)).upper())
