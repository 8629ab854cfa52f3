"""The weights of one record that keep both directions within a target: an interval, with a lower end above 1 in general."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from accountant.amplification import BITS, MOST_EPSILON, round_outward
from accountant.weights.precise import optimal_weight, specialise
from profiles import Infeasible, Profile, Undecided, decimal_text, exact_text
from profiles.balls import ball, working_precision
from profiles.numbers import bisect, shorten, to_target
from profiles.terms import Term, number, substitute, to_text
from profiles.variables import WEIGHT
from proofs_check.admission import admit
from proofs_check.enclosures import Enclosure
from proofs_check.statements.judge import examine
from proofs_check.statements.sentences import Goals, Status

#: Relative width of the bracket in which the least weight is left.
_TOLERANCE = Fraction(1, 2**60)


@dataclass(frozen=True, slots=True)
class FeasibleWeights:
    """Every w in [``least``, ``most``] keeps ψ⁺ and ψ⁻ of the record within ``target``; ``most`` None: there is no upper end.

    ``least`` is within 2^−59 relatively of the smallest such weight, ``most`` is the optimal weight of the first direction, rounded down.
    """

    target: Fraction
    least: Fraction
    most: Fraction | None

    def least_text(self, digits: int = 12) -> str:
        """Return the lower end, rounded up (into the interval) to ``digits`` digits."""
        return decimal_text(self.least, digits, round_up=True)

    def most_text(self, digits: int = 12) -> str:
        """Return the upper end, rounded down (into the interval) to ``digits`` digits, or ``inf``."""
        return "inf" if self.most is None else decimal_text(self.most, digits, round_up=False)


def feasible_weights(
    remove: Profile, add: Profile | None, target_epsilon: object, record: Mapping[str, object], *, digits: int = 30
) -> FeasibleWeights:
    """Return the weights w ≥ 1 with log(1 + (e^ε⁺(w) − 1)/w) ≤ ε* and −log(1 − (1 − e^−ε⁻(w))/w) ≤ ε* for one record.

    The first constraint bounds w from above (Fay et al. 2024, Problem 7), the second from below: w ≥ 1/(1 − e^−ε*) where ε⁻ = ∞
    (``add`` None), and in general (1 − e^−ε⁻(w))/w ≤ 1 − e^−ε*. Side conditions, proved here for the record: exp∘ε⁺ is strongly convex
    in w, and (1 − e^−ε⁻(w))/w does not increase in w; then each feasible set is an interval.

    Source: docs/one-sided.md, Theorem 4. Raises :class:`profiles.Infeasible` where no weight serves both, :class:`profiles.Undecided` where
    a side condition is not proved, and what :func:`accountant.optimal_weight` raises.

    >>> from profiles import declare
    >>> sum_ = declare("exponential noise", "w*z", record={"z": [0, 4]})
    >>> found = feasible_weights(sum_, None, 3, {"z": 1})
    >>> found.least_text(), found.most_text()
    ('1.0523956965', '4.45455066055')
    """
    target = to_target(target_epsilon, f"(0, {MOST_EPSILON}]")
    least = _least_weight(add, target, record)
    best = optimal_weight(remove, target, record, digits)
    if best.infinite:
        _require_all(remove, _at_record(remove, record), target)
    elif best.mu is None:
        raise Undecided(
            f"the feasible weights of {remove.name!r} are an interval where exp(epsilon) is strongly convex in w, not proved at this "
            "record; use 'pdp weight' for its largest weight"
        )
    most = None if best.infinite else best.lower
    if most is not None and most < least:
        raise Infeasible(
            f"no weight keeps both directions within {shorten(target)} nats: the record may not weigh more than "
            f"{decimal_text(most, 12, round_up=False)}, nor less than {decimal_text(least, 12, round_up=True)}; raise the target"
        )
    return FeasibleWeights(target, least, most)


def _least_weight(add: Profile | None, target: Fraction, record: Mapping[str, object]) -> Fraction:
    with working_precision(BITS):
        lost = -(-ball(target)).expm1()
        bound = round_outward(lost, up=False)
        if add is None:
            return max(Fraction(1), round_outward(1 / lost))
    epsilon = _at_record(add, record)
    if _is_feasible(epsilon, Fraction(1), bound):
        low = high = Fraction(1)
    else:
        low, high = Fraction(1), 1 / bound  # feasible whatever ε⁻ is, because 1 − e^−ε⁻ ≤ 1
    _require_falling(add, epsilon)
    return bisect(lambda weight: _is_feasible(epsilon, weight, bound), low, high, lambda lo, hi: hi - lo <= _TOLERANCE * lo)[1]


def _at_record(add: Profile, record: Mapping[str, object]) -> Term:
    given = {statistic.name: record[statistic.name] for statistic in add.record if statistic.name in record}
    return admit(specialise(add, given)).term


def _is_feasible(epsilon: Term, weight: Fraction, bound: Fraction) -> bool:
    """Tell whether 1 − e^−ε⁻(w) ≤ w (1 − e^−ε*) is certain."""
    with working_precision(BITS):
        value = Enclosure(substitute(epsilon, {WEIGHT: number(weight)})).evaluate({})
        return bool(-(-value).expm1() <= ball(weight * bound))


def _require_falling(add: Profile, epsilon: Term) -> None:
    """Prove d/dw (1 − e^−ε⁻(w))/w ≤ 0 for all w ≥ 1, so that what is feasible at one weight is feasible above it."""
    status = examine(Goals(f"(1 - exp(-({to_text(epsilon)})))/w <= 0", "w in [1, oo)", derive=("w",))).status
    if status is not Status.PROVED:
        raise Undecided(
            f"the least weight needs (1 - exp(-epsilon_add))/w not to increase in w, which is {status.value} for {add.name!r} at this "
            "record; check single weights with amplify_add"
        )


def _require_all(remove: Profile, epsilon: Term, target: Fraction) -> None:
    """Prove e^ε⁺(w) − 1 ≤ w (e^ε* − 1) for all w ≥ 1, where no largest feasible weight exists."""
    with working_precision(64):
        odds = round_outward(ball(target).expm1(), up=False)
    status = examine(Goals(f"exp({to_text(epsilon)}) - 1 <= {exact_text(odds)}*w", "w in [1, oo)")).status
    if status is not Status.PROVED:
        raise Undecided(
            f"every weight from some point on is feasible for {remove.name!r} at this record, but that all weights are is {status.value}; "
            "check single weights with amplify_remove"
        )
