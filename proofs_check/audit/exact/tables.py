"""Exact ε and (ε, δ) of two laws on finitely many outcomes, in both directions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from profiles.errors import InvalidArgument
from profiles.numbers import ExactLike, to_exact
from proofs_check.audit.exact.enclosed import Bounds, Enclosed, log_bounds, read_enclosed


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of indistinguishability: the smallest ε ≥ 0 with P(S) ≤ e^ε Q(S) + δ for all events S.

    ``epsilon``  bounds in nats; both ends are ∞ where no ε suffices.
    ``ratio``    e^ε exactly; None where it is infinite or the laws are known by enclosures only.
    ``event``    outcomes S with P(S) = e^ε Q(S) + δ, or P(S) > δ and Q(S) = 0 where ε is infinite; one outcome where δ = 0; empty where
                 ε = 0. Between enclosures, the event that proves the lower end.
    """

    epsilon: Bounds
    ratio: Fraction | None
    event: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class ExactEpsilon:
    """ε of two laws: ``removing`` bounds P by Q, ``adding`` bounds Q by P, where P is the law on the larger data set.

    One-sided notions need one of them; (ε, δ)-indistinguishability needs both, which is ``symmetric``.
    """

    removing: Direction
    adding: Direction
    delta: Fraction

    @property
    def symmetric(self) -> Bounds:
        """Bounds of the larger one of the two."""
        one, other = self.removing.epsilon, self.adding.epsilon
        return Bounds(max(one.lower, other.lower), max(one.upper, other.upper))


def epsilon_of_tables(
    p: Mapping[Hashable, ExactLike | Enclosed], q: Mapping[Hashable, ExactLike | Enclosed], delta: ExactLike = 0
) -> ExactEpsilon:
    """Return the smallest ε ≥ 0 with P(S) ≤ e^ε Q(S) + δ for all events S, and the same with P and Q exchanged.

    Formula: e^ε = max(1, max over S of (P(S) − δ)/Q(S)), where S runs over the sets of the k outcomes of largest P/Q.
    *Proof.* For a given t = e^ε the largest P(S) − t Q(S) over all S is h(t) = Σ (P(y) − t Q(y))₊, attained at {y: P(y) > t Q(y)}, which
    is such a set or empty. So P(S) − t Q(S) ≤ δ holds for all S if and only if it holds for such sets, and for each of them it says
    t ≥ (P(S) − δ)/Q(S); where Q(S) = 0, no t suffices if P(S) > δ, and every t otherwise. ∎

    For δ = 0 the maximum is attained at a single outcome: P(S)/Q(S) = Σ (P(y)/Q(y))·Q(y)/Q(S) over y in S is an average of the ratios
    P(y)/Q(y) (and infinite only if one of them is), so that no event has a larger ratio than the best of its outcomes.

    ``p`` and ``q`` map outcomes to probabilities: exact numbers, or :class:`Enclosed` ones, as quadrature returns them. An outcome that is
    missing has probability 0. ``p`` is the law on the larger data set. With enclosures the two ends of ε come from the exact
    algorithm on (lower ends of P, upper ends of Q) and the reverse: h grows with P and falls with Q, outcome by outcome.
    Source: hockey-stick divergence, Barthe and Olmedo 2013.
    Raises :class:`InvalidArgument` for negative numbers and totals other than 1, :class:`InvalidNumber` for what is not a number.

    >>> exact = epsilon_of_tables({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> exact.removing
    Direction(epsilon=Bounds(lower=1.0986122886681096, upper=1.0986122886681098), ratio=Fraction(3, 1), event=('yes',))
    >>> epsilon_of_tables({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"}, "1/4").removing.ratio
    Fraction(2, 1)
    """
    exact_delta = to_exact(delta, "δ")
    if not 0 <= exact_delta <= 1:
        raise InvalidArgument(f"δ must lie in [0, 1], but {exact_delta!s:.40} was found; give a probability")
    left, right = _read_table(p, "the first law"), _read_table(q, "the second law")
    outcomes = tuple(dict.fromkeys((*left, *right)))
    zero = Enclosed(Fraction(0), Fraction(0))
    ps, qs = [left.get(outcome, zero) for outcome in outcomes], [right.get(outcome, zero) for outcome in outcomes]
    return ExactEpsilon(_direct(ps, qs, exact_delta, outcomes), _direct(qs, ps, exact_delta, outcomes), exact_delta)


def _read_table(table: Mapping[Hashable, ExactLike | Enclosed], what: str) -> dict[Hashable, Enclosed]:
    if not isinstance(table, Mapping):
        raise InvalidArgument(f"{what} must map outcomes to probabilities, but {type(table).__name__} was found; give a mapping")
    read = {outcome: read_enclosed(value, f"a probability of {what}") for outcome, value in table.items()}
    if any(value.upper < 0 for value in read.values()):
        raise InvalidArgument(f"the probabilities of {what} must be at least 0, but a negative one was found; correct the table")
    if not sum(value.lower for value in read.values()) <= 1 <= sum(value.upper for value in read.values()):
        raise InvalidArgument(f"the probabilities of {what} must add up to 1, but they do not; give them all, as fractions or enclosures")
    return {outcome: Enclosed(max(value.lower, Fraction(0)), min(value.upper, Fraction(1))) for outcome, value in read.items()}


def _direct(p: Sequence[Enclosed], q: Sequence[Enclosed], delta: Fraction, outcomes: Sequence[Hashable]) -> Direction:
    low, indices = _smallest_ratio([x.lower for x in p], [x.upper for x in q], delta)
    exact = all(x.is_exact for x in (*p, *q))
    high = low if exact else _smallest_ratio([x.upper for x in p], [x.lower for x in q], delta)[0]
    lower = math.inf if low is None else log_bounds(low).lower
    upper = math.inf if high is None else log_bounds(high).upper
    return Direction(Bounds(lower, upper), low if exact else None, tuple(outcomes[index] for index in indices))


def _smallest_ratio(p: Sequence[Fraction], q: Sequence[Fraction], delta: Fraction) -> tuple[Fraction | None, tuple[int, ...]]:
    """Return max(1, max over S of (P(S) − δ)/Q(S)), None for ∞, and the S that attains it; P and Q need not add up to 1."""
    never = [index for index, value in enumerate(q) if value == 0 and p[index] > 0]
    rest = sorted(
        (index for index, value in enumerate(q) if value > 0 and p[index] > 0), key=lambda index: p[index] / q[index], reverse=True
    )
    p_sum = sum((p[index] for index in never), Fraction(0))
    if p_sum > delta:
        return None, tuple(never) if delta else (never[0],)
    best, best_count, q_sum = Fraction(1), 0, Fraction(0)
    for count, index in enumerate(rest, start=1):
        p_sum, q_sum = p_sum + p[index], q_sum + q[index]
        if p_sum - delta > best * q_sum:
            best, best_count = (p_sum - delta) / q_sum, count
        elif p[index] <= best * q[index]:
            break  # adding outcomes of a ratio below the quotient only lowers it
    return best, tuple(never + rest[:best_count]) if best_count else ()
