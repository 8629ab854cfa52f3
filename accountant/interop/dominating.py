"""What a guarantee spends in each direction, the worst pair of laws for that, and the exact (ε, δ) curve of any number of them composed.

Claim: let P = M(D), Q = M(D'), D = D' with one record more, with P ≤ e^plus Q + δ⁺ and Q ≤ e^minus P + δ⁻ on all events. The trade-off
function of (P, Q) is at least f(α) = max(0, e^−plus (1 − δ⁺ − α), 1 − δ⁻ − e^minus α), which is convex; so the pair of laws with the
trade-off function f dominates (P, Q), also after adaptive composition with others. That pair has two outcomes of finite loss,

    P: r on "low" (loss −minus), p = 1 − δ⁺ − r on "high" (loss plus), the rest where Q has nothing;   Q: r e^minus, p e^−plus, the rest
    where P has nothing;   r = ((1 − δ⁻) − e^−plus (1 − δ⁺)) / (e^minus − e^−plus),

with r = 0 or p = 0 where one of the lines of f lies below the other everywhere. For plus = minus and equal deltas this is Kairouz, Oh
and Viswanath 2015; without deltas it is `proofs_check.exact.extremal_pair`. Proof and numbers: docs/interoperability.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly

from accountant.guarantees.theorem import AnyGuarantee, EpsilonDP, TwoSidedDP, require_guarantee
from profiles import InvalidArgument, OpenHypotheses, Undecided
from proofs_check.enclosures import ball, upper_fraction, working_precision

BITS = 320
MOST_TERMS = 4_000


@dataclass(frozen=True, slots=True)
class Spending:
    """For D = D' with one record more: P[M(D) ∈ S] ≤ e^plus P[M(D') ∈ S] + delta_plus, and with minus and delta_minus the other way.

    Upper bounds in nats, exact; ``minus`` None is ∞.
    """

    plus: Fraction
    minus: Fraction | None
    delta_plus: Fraction = Fraction(0)
    delta_minus: Fraction = Fraction(0)


def spend(guarantee: AnyGuarantee, library: str, *, accept_hypotheses: bool) -> Spending:
    """Return the numbers of a guarantee that ``library`` may use.

    Raises :class:`OpenHypotheses` where hypotheses are open and not accepted: the library cannot carry them, so that they would be lost;
    :class:`InvalidArgument` for what no rule made, and for bounds that are no ε (a profile, a sampled profile).
    """
    require_guarantee(guarantee)
    bound = guarantee.bound
    if isinstance(bound, EpsilonDP):
        found = Spending(bound.upper, bound.upper)
    elif isinstance(bound, TwoSidedDP):
        found = Spending(bound.plus, bound.minus, bound.delta_plus, bound.delta_minus)
    else:
        raise InvalidArgument(
            f"{library} needs an epsilon, but the guarantee of {guarantee.subject!r} has none; take its worst case, or a point of its curve"
        )
    if guarantee.hypotheses and not accept_hypotheses:
        listed = "; ".join(item.sentence for item in guarantee.hypotheses)
        raise OpenHypotheses(
            f"the guarantee of {guarantee.subject!r} has open hypotheses, which {library} would lose ({listed}); "
            "discharge them, or pass accept_hypotheses=True"
        )
    return found


@dataclass(frozen=True, slots=True)
class Atoms:
    """One direction of a pair: the mass of each finite privacy loss (exact nats → ball), and an upper bound of that of the loss ∞."""

    finite: Mapping[Fraction, arb]
    infinite: Fraction


@dataclass(frozen=True, slots=True)
class DominatingPair:
    """The two laws: ``low`` and ``high`` are masses of P, ``only_p`` and ``only_q`` what one law has at most where the other has none."""

    low: arb
    high: arb
    only_p: Fraction
    only_q: Fraction


def dominating_atoms(spent: Spending) -> tuple[Atoms, Atoms]:
    """Return the losses of the worst pair: of P against Q (a record goes), and of Q against P (one comes), as balls.

    To be called within :func:`proofs_check.enclosures.working_precision`. Raises :class:`Undecided` where the cases cannot be told apart.
    """
    pair = _pair(spent)
    going: dict[Fraction, arb] = {spent.plus: pair.high}
    coming: dict[Fraction, arb] = {-spent.plus: pair.high * (-ball(spent.plus)).exp()}
    if spent.minus is not None:
        going[-spent.minus] = going.get(-spent.minus, arb(0)) + pair.low
        coming[spent.minus] = coming.get(spent.minus, arb(0)) + pair.low * ball(spent.minus).exp()
    return Atoms(going, pair.only_p), Atoms(coming, pair.only_q)


def _pair(spent: Spending) -> DominatingPair:
    kept_plus, kept_minus = 1 - spent.delta_plus, 1 - spent.delta_minus
    gone = -(-ball(spent.plus)).expm1()
    if spent.minus is None:
        return _without_low(spent, gone)
    lost, come = -(-ball(spent.minus)).expm1(), ball(spent.minus).expm1()
    if spent.plus == 0 and spent.minus == 0:
        least = min(spent.delta_plus, spent.delta_minus)
        return DominatingPair(arb(0), ball(1 - least), least, least)
    more = ball(kept_minus - kept_plus)
    first_below = kept_minus <= kept_plus if spent.plus == 0 else not _is_positive(more + gone * ball(kept_plus))
    second_below = kept_plus <= kept_minus if spent.minus == 0 else not _is_positive(come * ball(kept_plus) - more)
    if first_below:
        return _without_low(spent, gone)
    if second_below:
        low = (arb(1) - lost) * ball(kept_minus)
        only_p = spent.delta_minus if spent.minus == 0 else _upper(lost + (arb(1) - lost) * ball(spent.delta_minus))
        return DominatingPair(low, arb(0), only_p, spent.delta_minus)
    low = (gone * ball(kept_plus) + ball(spent.delta_plus - spent.delta_minus)) / (come + gone)
    return DominatingPair(low.max(arb(0)), (ball(kept_plus) - low).max(arb(0)), spent.delta_plus, spent.delta_minus)


def replacing_atoms(spent: Spending) -> Atoms:
    """Return the losses of a pair that is worst where one record is replaced by another: it goes, then the other comes.

    The trade-off function of the chain is at least g(1 − f(α)), f that of the record that goes and g that of the one that comes:

        max(0, a − e^s α, c − α, e^−s (a − α)),   s = plus + minus,   a = 1 − δ⁺ − e^plus δ⁻,
        c = max(e^−minus (1 − 2δ⁻), 2 (1 − δ⁺) − e^plus).

    It is its own inverse, so that the losses of both directions are the same: s, 0 and −s, with masses e^s l, c − 2l and
    l = (a − c)/(e^s − 1). A line that cannot be told to count is left out, which makes the pair worse. Source: docs/interoperability.md;
    Dong, Roth, Su 2022, Theorem 2.14, for equal directions. To be called like :func:`dominating_atoms`.
    """
    middle = 2 * (1 - ball(spent.delta_plus)) - ball(spent.plus).exp()
    if spent.minus is None:
        return _alone(middle)
    middle = middle.max((-ball(spent.minus)).exp() * (1 - 2 * ball(spent.delta_minus)))
    lost = spent.delta_plus
    if spent.delta_minus:
        lost += spent.delta_minus if spent.plus == 0 else _upper(ball(spent.plus).exp() * ball(spent.delta_minus))
    kept, loss = 1 - lost, spent.plus + spent.minus
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


def _is_positive(value: arb) -> bool:
    """Decide the sign of a number that is 0 only where it is exactly 0: e^plus and e^minus are irrational."""
    if not (value > 0 or value <= 0):
        raise Undecided("the worst pair of a guarantee could not be told at the working precision; round its numbers up")
    return bool(value > 0)


def _without_low(spent: Spending, gone: arb) -> DominatingPair:
    only_q = spent.delta_plus if spent.plus == 0 else _upper(gone + (arb(1) - gone) * ball(spent.delta_plus))
    return DominatingPair(arb(0), ball(1 - spent.delta_plus), spent.delta_plus, only_q)


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
        found = Fraction(0)
        for upper, lower in zip(self.upper, self.lower, strict=True):
            over = upper - ball(delta - self.infinite)
            if not over <= lower:  # else e^0 lower covers it
                found = max(found, _upper((over / lower).log()))
        return min(found, self.top)


def compose(spent: Iterable[tuple[Spending, int]], *, replacing: bool = False) -> tuple[AtomCurve, AtomCurve] | None:
    """Return the curves of both directions for an adaptive composition, each with its number of uses; None where that takes too many terms.

    ``replacing``: a record is replaced by another, not added or removed. Source: dominating pairs compose (docs/interoperability.md). The
    number of terms is at most the product of (uses + 1), of (2 uses + 1) where a record is replaced.
    """
    terms = 1
    listed = [(item, count) for item, count in spent if count > 0]
    for _, count in listed:
        terms *= (2 * count if replacing else count) + 1
    if terms > MOST_TERMS:
        return None
    with working_precision(BITS):
        one = Atoms({Fraction(0): arb(1)}, Fraction(0))
        going, coming = one, one
        for item, count in listed:
            if replacing:
                going = _join(going, _power_symmetric(replacing_atoms(item), count))
                continue
            sides = dominating_atoms(item)
            going, coming = _join(going, _power(sides[0], count)), _join(coming, _power(sides[1], count))
        return AtomCurve.of(going), AtomCurve.of(going if replacing else coming)


def _power(atoms: Atoms, count: int) -> Atoms:
    """Return the law of the sum of ``count`` independent losses: binomial, since a pair has at most two finite losses."""
    (one, mass), (other, rest) = (*atoms.finite.items(), (Fraction(0), arb(0)))[:2]
    ups, downs = [arb(1)], [arb(1)]
    for _ in range(count):
        ups.append(ups[-1] * mass)
        downs.append(downs[-1] * rest)
    finite: dict[Fraction, arb] = {}
    ways = 1
    for uses in range(count, -1, -1):
        if len(atoms.finite) > 1 or uses == count:
            finite[uses * one + (count - uses) * other] = ball(Fraction(ways)) * ups[uses] * downs[count - uses]
        ways = ways * uses // (count - uses + 1)
    return Atoms(finite, _infinite_of(atoms, count))


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


__all__ = ["BITS", "MOST_TERMS", "AtomCurve", "Atoms", "Spending", "compose", "dominating_atoms", "replacing_atoms", "spend"]
