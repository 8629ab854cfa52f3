"""What of a guarantee another library may use, and the worst pair of laws where one record is replaced by another, composed exactly.

Where a record is added or removed, the worst pair is an event of a privacy curve, and the kernel composes it. Where one is replaced, a
chain of two such steps has less than the sum of its losses: the laws share more. Proof and numbers: docs/interoperability.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from flint import arb, arb_poly

from accountant.guarantees.measures import Losses
from accountant.guarantees.theorem import Guarantee, require_guarantee
from profiles import InvalidArgument, OpenHypotheses, Undecided
from profiles.balls import ball, upper_fraction, working_precision

BITS = 320
MOST_TERMS = 4_000


def spend(guarantee: Guarantee, library: str, *, accept_hypotheses: bool) -> Losses:
    """Return the numbers of a guarantee that ``library`` may use.

    Raises :class:`OpenHypotheses` where hypotheses are open and not accepted: the library cannot carry them, so that they would be lost;
    :class:`InvalidArgument` for what no rule made, and for bounds that are not ε (a profile, a sampled profile).
    """
    require_guarantee(guarantee)
    bound = guarantee.bound
    if not isinstance(bound, Losses):
        raise InvalidArgument(
            f"{library} needs an epsilon, but the guarantee of {guarantee.subject!r} has none; take its worst case, or a point of its curve"
        )
    if guarantee.hypotheses and not accept_hypotheses:
        listed = "; ".join(item.sentence for item in guarantee.hypotheses)
        raise OpenHypotheses(
            f"the guarantee of {guarantee.subject!r} has open hypotheses, which {library} would lose ({listed}); "
            "discharge them, or pass accept_hypotheses=True"
        )
    return bound


@dataclass(frozen=True, slots=True)
class Atoms:
    """One direction of a pair: the mass of each finite privacy loss (exact nats → ball), and an upper bound of that of the loss ∞."""

    finite: Mapping[Fraction, arb]
    infinite: Fraction


def replacing_atoms(spent: Losses) -> Atoms:
    """Return the losses of a pair that is worst where one record is replaced by another: it goes, then the other comes.

    The trade-off function of the chain is at least g(1 − f(α)), f that of the record that goes and g that of the one that comes:

        max(0, a − e^s α, c − α, e^−s (a − α)),   s = plus + minus,   a = 1 − δ⁺ − e^remove δ⁻,
        c = max(e^−add (1 − 2δ⁻), 2 (1 − δ⁺) − e^remove).

    It is its own inverse, so that the losses of both directions are the same: s, 0 and −s, with masses e^s l, c − 2l and
    l = (a − c)/(e^s − 1). A line that cannot be told to count is left out, which makes the pair worse. Source: docs/interoperability.md;
    Dong, Roth, Su 2022, Theorem 2.14, for equal directions. To be called like :func:`dominating_atoms`.
    """
    middle = 2 * (1 - ball(spent.delta_remove)) - ball(spent.remove).exp()
    if spent.add is None:
        return _alone(middle)
    middle = middle.max((-ball(spent.add)).exp() * (1 - 2 * ball(spent.delta_add)))
    lost = spent.delta_remove
    if spent.delta_add:
        lost += spent.delta_add if spent.remove == 0 else _upper(ball(spent.remove).exp() * ball(spent.delta_add))
    kept, loss = 1 - lost, spent.remove + spent.add
    if loss == 0:
        return _alone(middle.max(ball(kept)))
    if middle >= ball(kept):
        return _alone(middle)
    ratio = ball(loss).exp()
    low = (ball(kept) - middle) / ball(loss).expm1()
    if not (low > 0 and 2 * low < middle):
        low = ball(kept) / (1 + ratio)
        return Atoms({loss: ratio * low, -loss: low}, lost)
    return Atoms({loss: ratio * low, Fraction(0): middle - 2 * low, -loss: low}, lost)


def _alone(mass: arb) -> Atoms:
    """Return the losses of a pair of laws with the common part ``mass``, and nothing else in common."""
    kept = mass.max(arb(0)).min(arb(1))
    return Atoms({Fraction(0): kept}, min(Fraction(1), max(Fraction(0), _upper(1 - kept))))


@dataclass(frozen=True, slots=True)
class AtomCurve:
    """δ(ε) = infinite + max over j of (upper[j] − e^ε lower[j]): P and Q masses of the losses above each place, as balls.

    ``top``: the largest finite loss; ε(δ) is never above it, where it is finite.
    """

    upper: tuple[arb, ...]
    lower: tuple[arb, ...]
    infinite: Fraction
    top: Fraction

    @classmethod
    def of(cls, atoms: Atoms) -> AtomCurve:
        """Return the curve of a law of losses."""
        upper, lower, tops, bottoms = arb(0), arb(0), [], []
        losses = sorted((loss for loss, mass in atoms.finite.items() if mass != 0), reverse=True)
        for loss in losses:
            upper, lower = upper + atoms.finite[loss], lower + atoms.finite[loss] * (-ball(loss)).exp()
            tops.append(upper)
            bottoms.append(lower)
        return cls(tuple(tops), tuple(bottoms), atoms.infinite, max([Fraction(0), *losses[:1]]))

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound of δ(ε) for ε ≥ 0, at most 1. Within the working precision, like :meth:`epsilon`."""
        factor = ball(epsilon).exp()
        values = [upper - factor * lower for upper, lower in zip(self.upper, self.lower, strict=True)]
        return min(Fraction(1), self.infinite + max([Fraction(0), *map(_upper, values)]))

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """Return an upper bound of the smallest ε ≥ 0 with δ(ε) ≤ delta; None where there is none."""
        if self.infinite > delta:
            return None
        least = Fraction(0)
        for upper, lower in zip(self.upper, self.lower, strict=True):
            over = upper - ball(delta - self.infinite)
            if not over <= lower:  # else e^0 lower covers it
                least = max(least, _upper((over / lower).log()))
        return min(least, self.top)


def compose_replaced(spent: Iterable[tuple[Losses, int]]) -> AtomCurve | None:
    """Return the curve of an adaptive composition, each part with its number of uses, where one record is replaced by another.

    Both directions have this one. None where it takes too many terms: their number is at most the product of (2 uses + 1).
    Source: dominating pairs compose (docs/interoperability.md).
    """
    listed = list(spent)
    if prod(2 * count + 1 for _, count in listed) > MOST_TERMS:
        return None
    with working_precision(BITS):
        whole = Atoms({Fraction(0): arb(1)}, Fraction(0))
        for item, count in listed:
            whole = _join(whole, _power_symmetric(replacing_atoms(item), count))
        return AtomCurve.of(whole)


def _power_symmetric(atoms: Atoms, count: int) -> Atoms:
    """Return the law of the sum of ``count`` independent losses that are s, 0 or −s."""
    loss = max(atoms.finite)
    masses = arb_poly([atoms.finite.get(place * loss, arb(0)) for place in (-1, 0, 1)] if loss else [0, atoms.finite[loss]]) ** count
    finite = {(place - count) * loss: masses[place] for place in range(masses.degree() + 1)} if loss else {loss: masses[count]}
    return Atoms(finite, _infinite_of(atoms, count))


def _infinite_of(atoms: Atoms, count: int) -> Fraction:
    infinite, square = Fraction(0), atoms.infinite
    for bit in reversed(f"{count:b}"):
        infinite = _either(infinite, square) if bit == "1" else infinite
        square = _either(square, square)
    return infinite


def _join(left: Atoms, right: Atoms) -> Atoms:
    finite: dict[Fraction, arb] = {}
    for loss, mass in left.finite.items():
        for other, factor in right.finite.items():
            finite[loss + other] = finite.get(loss + other, arb(0)) + mass * factor
    return Atoms(finite, _either(left.infinite, right.infinite))


def _either(left: Fraction, right: Fraction) -> Fraction:
    """Return a + b − ab, exactly where that is short, else rounded up."""
    exact = left + right - left * right
    return exact if exact.denominator.bit_length() <= 8 * BITS else min(Fraction(1), _upper(ball(exact)))


def _upper(value: arb) -> Fraction:
    end = upper_fraction(value)
    if end is None:
        raise Undecided("a composition could not be enclosed at the working precision; round its numbers up to fewer digits")
    return end


__all__ = ["BITS", "MOST_TERMS", "AtomCurve", "Atoms", "compose_replaced", "replacing_atoms", "spend"]
