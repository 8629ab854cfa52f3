"""Exact ε, δ of two laws on finitely many outcomes, in both directions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from profiles.balls import working_precision
from profiles.errors import InvalidArgument
from profiles.numbers import ExactLike, to_number
from proofs_check.exact.enclosed import Bounds, Enclosed
from proofs_check.exact.exponentials import Exact, ExpRational, Nats, log_of, near, raise_to
from proofs_check.exact.probabilities import Law, LawTable, to_table

_ZERO, _ONE = Fraction(0), Fraction(1)
_BITS = 128


@dataclass(frozen=True, slots=True)
class DirectionEpsilon:
    """One direction of indistinguishability: the smallest ε ≥ 0 with P(S) ≤ e^ε Q(S) + δ for all events S.

    * ``epsilon``: bounds in nats; both ends are ∞ where no ε suffices.
    * ``ratio``: e^ε exactly; None where it is infinite or the laws are known by enclosures only.
    * ``event``: outcomes S with P(S) = e^ε Q(S) + δ, or P(S) > δ and Q(S) = 0 where ε is infinite; one outcome where δ = 0; empty where
      ε = 0. Between enclosures, the event that proves the lower end.
    """

    epsilon: Bounds
    ratio: Exact | None
    event: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class ExactEpsilon:
    """ε of two laws: ``removing`` bounds P by Q, ``adding`` bounds Q by P, where P is the law on the larger data set.

    One-sided notions need one of them; (ε, δ)-indistinguishability needs both, which is ``symmetric``.
    """

    removing: DirectionEpsilon
    adding: DirectionEpsilon
    delta: Fraction

    @property
    def symmetric(self) -> Bounds:
        """Bounds of the larger one of the two."""
        return larger_bounds(self.removing.epsilon, self.adding.epsilon)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A direction before logarithms: e^ε between ``low`` and ``high``, None for ∞; ``exact`` where the two are one number."""

    low: Exact | None
    high: Exact | None
    event: tuple[Hashable, ...]
    exact: bool

    def direction(self) -> DirectionEpsilon:
        """Return log of the largest ratio, in nats, exactly or between two bounds, with the event at which it is attained."""
        if self.exact:
            bounds = Bounds(math.inf, math.inf) if self.low is None else log_of(self.low)
            return DirectionEpsilon(bounds, self.low, self.event)
        lower = math.inf if self.low is None else log_of(self.low).lower
        upper = math.inf if self.high is None else log_of(self.high).upper
        return DirectionEpsilon(Bounds(lower, upper), None, self.event)


def epsilon_of_tables(p: Law, q: Law, delta: ExactLike = 0) -> ExactEpsilon:
    """Return the smallest ε ≥ 0 with P(S) ≤ e^ε Q(S) + δ for all events S, and the same with P and Q exchanged.

    Formula: e^ε = max(1, max over S of (P(S) − δ)/Q(S)), where S runs over the sets of the k outcomes of largest P/Q.
    *Proof.* For a given t = e^ε the largest P(S) − t Q(S) over all S is h(t) = Σ (P(y) − t Q(y))₊, attained at {y: P(y) > t Q(y)}, which
    is such a set or empty. So P(S) − t Q(S) ≤ δ holds for all S if and only if it holds for such sets, and for each of them it says
    t ≥ (P(S) − δ)/Q(S); where Q(S) = 0, no t suffices if P(S) > δ, and every t otherwise. ∎

    For δ = 0 the maximum is attained at a single outcome: P(S)/Q(S) = Σ (P(y)/Q(y))·Q(y)/Q(S) over y in S is an average of the ratios
    P(y)/Q(y) (and infinite only if one of them is), so that no event has a larger ratio than the best of its outcomes.

    ``p`` and ``q`` map outcomes to probabilities: exact numbers, sums of exponentials (:func:`~proofs_check.exact.exponentials.exp`), or
    :class:`Enclosed` ones, as quadrature returns them. An outcome that is missing has probability 0. ``p`` is the law on the larger data
    set. With enclosures the two ends of ε come from the exact algorithm on (lower ends of P, upper ends of Q) and the reverse: h grows
    with P and falls with Q, outcome by outcome.
    Source: hockey-stick divergence, Barthe and Olmedo 2013.
    Raises :class:`InvalidArgument` for negative numbers and totals other than 1, :class:`InvalidNumber` for what is not a number.

    >>> exact = epsilon_of_tables({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> exact.removing
    DirectionEpsilon(epsilon=Bounds(lower=1.0986122886681096, upper=1.0986122886681098), ratio=Fraction(3, 1), event=('yes',))
    >>> epsilon_of_tables({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"}, "1/4").removing.ratio
    Fraction(2, 1)
    """
    exact_delta = to_delta(delta)
    left, right = to_table(p, "the first law"), to_table(q, "the second law")
    removing, adding = ratio_of(left, right, exact_delta), ratio_of(right, left, exact_delta)
    return ExactEpsilon(removing.direction(), adding.direction(), exact_delta)


def delta_of_tables(p: Law, q: Law, epsilon: Nats) -> tuple[Exact | Enclosed, Exact | Enclosed]:
    """Return the smallest δ with P(S) ≤ e^ε Q(S) + δ for all events S, and the one with P and Q exchanged; exact where the laws are.

    Formula: δ = Σ (P(y) − e^ε Q(y))₊, the hockey-stick divergence (attained at {y: P(y) > e^ε Q(y)}). ``epsilon``: nats ≥ 0, a number
    or a :class:`~proofs_check.exact.exponentials.Log`. Source: Barthe and Olmedo 2013. Raises like :func:`epsilon_of_tables`.

    >>> delta_of_tables({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"}, 0)
    (Fraction(1, 2), Fraction(1, 2))
    """
    threshold = to_threshold(epsilon)
    left, right = to_table(p, "the first law"), to_table(q, "the second law")
    return hockey_stick(left, right, threshold), hockey_stick(right, left, threshold)


def to_delta(delta: object) -> Fraction:
    """Return δ. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    return to_number(delta, "δ", "[0, 1]", "give a probability")


def to_threshold(epsilon: Nats) -> Exact:
    """Return e^ε for ε ≥ 0. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    threshold = raise_to(epsilon, _ONE)
    if threshold < 1:
        raise InvalidArgument(f"ε must be at least 0, but {epsilon!s:.40} was found; give a number of nats")
    return threshold


def larger_bounds(one: Bounds, other: Bounds) -> Bounds:
    """Return bounds of the larger one of two numbers."""
    return Bounds(max(one.lower, other.lower), max(one.upper, other.upper))


def hockey_stick(p: LawTable, q: LawTable, threshold: Exact) -> Exact | Enclosed:
    """Return Σ (P(y) − t Q(y))₊ for t = ``threshold``."""
    if p.exact is not None and q.exact is not None:
        total: Exact = _ZERO
        for outcome, value in p.exact.items():
            gap = value - threshold * q.exact.get(outcome, _ZERO)
            total = total + gap if gap > 0 else total
        return total
    low, high, zero = _ZERO, _ZERO, Enclosed(_ZERO, _ZERO)
    ends = threshold.enclose() if isinstance(threshold, ExpRational) else Enclosed(threshold, threshold)
    other = q.as_enclosed()
    for outcome, wide in p.as_enclosed().items():
        against = other.get(outcome, zero)
        low += max(wide.lower - ends.upper * against.upper, _ZERO)
        high += max(wide.upper - ends.lower * against.lower, _ZERO)
    return Enclosed(min(low, _ONE), min(high, _ONE))


def ratio_of(p: LawTable, q: LawTable, delta: Fraction) -> Ratio:
    """Return the smallest e^ε ≥ 1 with P(S) ≤ e^ε Q(S) + δ for all events S."""
    outcomes = tuple(dict.fromkeys((*p.values, *q.values)))
    if p.exact is not None and q.exact is not None:
        ps, qs = [p.exact.get(outcome, _ZERO) for outcome in outcomes], [q.exact.get(outcome, _ZERO) for outcome in outcomes]
        ratio, indices = _largest_ratio(ps, qs) if delta == 0 else _smallest_ratio(ps, qs, delta)
        return Ratio(ratio, ratio, tuple(outcomes[index] for index in indices), exact=True)
    zero, left, right = Enclosed(_ZERO, _ZERO), p.as_enclosed(), q.as_enclosed()
    wide_p, wide_q = [left.get(outcome, zero) for outcome in outcomes], [right.get(outcome, zero) for outcome in outcomes]
    low, indices = _smallest_ratio([x.lower for x in wide_p], [x.upper for x in wide_q], delta)
    exact = all(x.is_exact for x in (*wide_p, *wide_q))
    high = low if exact else _smallest_ratio([x.upper for x in wide_p], [x.lower for x in wide_q], delta)[0]
    return Ratio(low, high, tuple(outcomes[index] for index in indices), exact)


def _largest_ratio(p: Sequence[Exact], q: Sequence[Exact]) -> tuple[Exact | None, tuple[int, ...]]:
    """Return max(1, max of P(y)/Q(y)) and the y that attains it: balls decide what they can, exact products the rest."""
    best: tuple[Exact, Exact] = (_ONE, _ONE)
    best_index: tuple[int, ...] = ()
    if not any(isinstance(value, ExpRational) for value in (*p, *q)):
        return _largest_quotient(cast(Sequence[Fraction], p), cast(Sequence[Fraction], q))
    with working_precision(_BITS):
        best_ball = near(_ONE, _BITS)
        for index, (top, bottom) in enumerate(zip(p, q, strict=True)):
            if top == 0:
                continue
            if bottom == 0:
                return None, (index,)
            ratio = near(top, _BITS) / near(bottom, _BITS)
            if ratio > best_ball or (not ratio < best_ball and top * best[1] > best[0] * bottom):
                best, best_index, best_ball = (top, bottom), (index,), ratio
    return best[0] / best[1], best_index


def _largest_quotient(p: Sequence[Fraction], q: Sequence[Fraction]) -> tuple[Fraction | None, tuple[int, ...]]:
    """Return the same for rational numbers, in integers."""
    best_top, best_bottom, best_index = 1, 1, -1
    for index, (above, below) in enumerate(zip(p, q, strict=True)):
        top, bottom = above.numerator * below.denominator, above.denominator * below.numerator
        if top > 0 and bottom == 0:
            return None, (index,)
        if top * best_bottom > best_top * bottom:
            best_top, best_bottom, best_index = top, bottom, index
    return Fraction(best_top, best_bottom), () if best_index < 0 else (best_index,)


def _smallest_ratio(p: Sequence[Exact], q: Sequence[Exact], delta: Fraction) -> tuple[Exact | None, tuple[int, ...]]:
    """Return max(1, max over S of (P(S) − δ)/Q(S)), None for ∞, and the S that attains it; P and Q need not add up to 1."""
    never = [index for index, value in enumerate(q) if value == 0 and p[index] > 0]
    quotients = {index: p[index] / value for index, value in enumerate(q) if value > 0 and p[index] > 0}
    rest = sorted(quotients, key=quotients.__getitem__, reverse=True)
    p_sum: Exact = _ZERO
    for index in never:
        p_sum = p_sum + p[index]
    if p_sum > delta:
        return None, tuple(never) if delta else (never[0],)
    best: Exact = _ONE
    q_sum: Exact = _ZERO
    best_count = 0
    for count, index in enumerate(rest, start=1):
        p_sum, q_sum = p_sum + p[index], q_sum + q[index]
        if p_sum - delta > best * q_sum:
            best, best_count = (p_sum - delta) / q_sum, count
        elif p[index] <= best * q[index]:
            break  # adding outcomes of a ratio below the quotient only lowers it
    return best, tuple(never + rest[:best_count]) if best_count else ()
