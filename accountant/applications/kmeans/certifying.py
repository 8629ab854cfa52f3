"""The guarantee of one run of DP-Lloyd, made by the accountant's rules before anything is released; and what it costs that records bring a
weight of their own, such as a survey weight.

Statement. Let M be ε-PDP on weighted data sets, ε(w, x). Let M' be M after the map (w, (s, x)) ↦ (w s, x), applied to every record by
itself, for records that consist of their data x and their own weight s ∈ [1, W]. Then M' is PDP with ε'(w, (s, x)) = ε(w s, x).

Proof. The map sends S ∪ {(w, (s, x))} to the image of S with (w s, x) more, and w s ≥ 1. ∎

So a record of weight s that is used without sampling (w = 1) costs ε(s, x), and all records cost at most sup ε(s, x) over s ≤ W. The bound
W must be public: the largest weight of the data would depend on them. Where s is not a function of the record alone, as n/|S| is not, a
record that goes changes the weights of the others, and nothing holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from accountant.guarantees import (
    Guarantee,
    Losses,
    Run,
    assume,
    conclude_run,
    curve_of_profile,
    point_of_curve,
    point_of_weights,
    realise_pairs,
    update_hypotheses,
)
from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from accountant.guarantees.mechanism_proofs import prove_promises
from accountant.guarantees.rules import name_readings
from accountant.rules import SamplingRule
from accountant.rules.named import PUBLIC_RATE
from accountant.selection.select import METHODS
from profiles import Declaration, InvalidArgument, InvalidData, InvalidTarget, Part, Profile, Statistic, decimal_text, exact_text, to_exact
from profiles.arrays import Floats
from profiles.hypotheses import (
    ARITHMETIC,
    DECLARED_PROFILE,
    EXACT_REALS,
    OWN_WEIGHTS,
    PARTS_RUN,
    PROBABILITY,
    RECORD_STATISTICS,
    STATISTICS,
    Hypothesis,
)
from profiles.mechanisms import GaussianLloyd, WeightedLloyd
from profiles.mechanisms.catalogue import describe_proof
from profiles.mechanisms.interface import is_exact, whole_number
from profiles.mechanisms.quantised import MOST_RATIO
from profiles.numbers import round_down, to_number
from profiles.private import list_values
from profiles.terms import substitute, symbol
from profiles.variables import WEIGHT

#: Hypotheses that hold by construction, each with the reason.
Evidence = Mapping[Hypothesis, str]
#: What the run computes itself is a function of the row; that the row is one of the record is not its to say.
GIVEN_ROW = RECORD_STATISTICS.about(names="each row that is given to fit")
OWN_WEIGHT = "s"


@lru_cache(maxsize=64)
def _derive(profile: Profile, hypotheses: tuple[Hypothesis, ...], rule: SamplingRule | None) -> DerivedEpsilon:
    """Return the bound of all records (None) or of a sample by a rule: the same for every fit with these constants."""
    declared = Declaration(profile, hypotheses=hypotheses)
    if rule is None:
        return derive_epsilon(declared, rule="uniform", constants={"rate": 1})
    return derive_epsilon(declared, rule=rule)


def certify_all_records(mechanism: WeightedLloyd, profile: Profile, run: Run, epsilon: Fraction) -> Guarantee:
    """Return the ε-DP guarantee for all records, used as they are, with a certified worst case of at most ``epsilon``.

    ``profile``: that of ``mechanism``, or what :func:`let_records_weigh` makes of it where records have weights of their own.
    Raises :class:`InvalidTarget` where the bound is larger.
    """
    derived = _derive(profile, mechanism.hypotheses, None)
    if derived.bound.upper > epsilon:
        raise InvalidTarget(f"epsilon = {exact_text(epsilon)} was asked for, but the certified bound is larger; ask for another number")
    taken = replace(run, proved={**run.proved, PUBLIC_RATE: "the rate is the constant 1"})
    return _conclude_all(derived.guarantee, mechanism, profile, taken)


def certify_sample(mechanism: WeightedLloyd, run: Run, rule: SamplingRule, method: str) -> Guarantee:
    """Return the ε-DP guarantee of one run on a sample of its own by ``rule``, drawn with exact draws or by the user's selector.

    ``method``, of the selection, is why the bound holds for the numbers used. Raises :class:`Infeasible` where a target is too small, and
    :class:`InvalidArgument` where exact noise might refuse a record of the sample.
    """
    derived = _derive(mechanism.profile, mechanism.hypotheses, rule)
    _require_light(mechanism, derived.bound.upper)
    if run.selector:
        return _conclude(assume(derived.guarantee, (STATISTICS, ARITHMETIC)), mechanism, run)
    return _conclude(realise_pairs(derived.guarantee, pairs=METHODS[method], claims=()), mechanism, run)


def certify_curve(
    mechanism: GaussianLloyd, profile: Profile, run: Run, epsilon: Fraction | None, delta: Fraction
) -> tuple[Guarantee, Guarantee]:
    """Return the privacy curve of all records, used as they are, and its point at ``epsilon``, or at ``delta`` where that is None.

    ``profile``: as for :func:`certify_all_records`. Raises :class:`InvalidTarget` where the certified δ at ε is larger than ``delta``.
    """
    curve = _conclude_all(curve_of_profile(profile, _suppose(mechanism)), mechanism, profile, run)
    point = point_of_curve(curve, at_delta=delta) if epsilon is None else point_of_curve(curve, at_epsilon=epsilon)
    if isinstance(point.bound, Losses) and point.bound.delta > delta:
        raise InvalidTarget(
            f"delta = {decimal_text(delta, 6, round_up=False)} was asked for at this epsilon, but the certified bound is larger; ask for "
            "another number"
        )
    return curve, point


def certify_weights(
    mechanism: GaussianLloyd, run: Run, epsilon: Fraction, delta: Fraction, pairs: Sequence[tuple[Fraction, Fraction]]
) -> Guarantee:
    """Return the (ε, δ) guarantee of one run on a sample whose records have the weights of ``pairs`` (ζ, w), which the kernel checks.

    Raises what :func:`point_of_weights` raises.
    """
    made = point_of_weights(mechanism.profile, _suppose(mechanism), at_epsilon=epsilon, at_delta=delta, weight_pairs=pairs)
    draws = "q is 1/w rounded down to a binary64 number, and w the weight of a row whose zeta is at least that of the record"
    settled = update_hypotheses(made, {PROBABILITY: draws}, (STATISTICS, ARITHMETIC))
    return _conclude(settled, mechanism, run)


def _suppose(mechanism: GaussianLloyd) -> tuple[Hypothesis, ...]:
    """Exact real arithmetic as well, which is discharged for the run of a mechanism that releases correctly rounded values."""
    return tuple(dict.fromkeys((EXACT_REALS, *mechanism.hypotheses)))


def _require_light(mechanism: WeightedLloyd, bound: Fraction) -> None:
    """Refuse a rule, before any record is looked at, for which an exact run might refuse a selected record as too large for the noise.

    ``bound``: a certified ε of the sampled run. What is not refused holds no such record: docs/private-kmeans.md, Theorem 7. The logarithm
    is that of binary64, and 1 more than enough for its error. Raises :class:`InvalidArgument`.
    """
    if not is_exact(mechanism):
        return
    most = 2 * MOST_RATIO * to_exact(mechanism.beta_count)
    if whole_number(mechanism.iterations, "the number of iterations") * MOST_RATIO <= bound + Fraction(
        math.log(most.numerator) - math.log(most.denominator) + 1
    ):
        raise InvalidArgument(
            f"exact noise was asked for that weights of the sample may exceed {MOST_RATIO} times, which protects nobody; ask for a smaller "
            'epsilon or larger probabilities, or take arithmetic="binary64" for a study'
        )


def _conclude_all(guarantee: Guarantee, mechanism: WeightedLloyd | GaussianLloyd, profile: Profile, run: Run) -> Guarantee:
    """Return what the run on all records makes of a derived guarantee of ``profile``, which records with weights may have."""
    if all(statistic.name != OWN_WEIGHT for statistic in profile.record):
        return _conclude(guarantee, mechanism, run)
    whole = (item for item in guarantee.hypotheses if item.id in (DECLARED_PROFILE.id, PARTS_RUN.id))
    proof = describe_proof(mechanism)
    weighed = {} if proof is None else dict.fromkeys(whole, f"{proof}; for records with weights docs/private-kmeans.md, Theorem 6")
    return assume(_conclude(guarantee, mechanism, run, weighed), (OWN_WEIGHTS,))


def _conclude(guarantee: Guarantee, mechanism: WeightedLloyd | GaussianLloyd, run: Run, weighed: Evidence | None = None) -> Guarantee:
    """Return what the run makes of a derived guarantee; ``weighed`` is why it has the profile for records with weights."""
    if not run.known:  # a class of one's own may run something else: what the mechanism would have is nothing that is known of it
        return assume(conclude_run(guarantee, run), (GIVEN_ROW,))
    return name_readings(conclude_run(prove_promises(guarantee, (mechanism,), weighed or {}), run), (GIVEN_ROW,))


def let_records_weigh(profile: Profile, largest: Fraction) -> Profile:
    """Return ε(w s, x), or μ(w s, x), with the statistic s ∈ [1, ``largest``], for a profile in w, z without a statistic s, composed as
    that one is.

    >>> from profiles.mechanisms import WeightedCount
    >>> let_records_weigh(WeightedCount(beta_count=2).profile, Fraction(9)).text
    'w*s/beta_count'
    """
    return replace(
        profile,
        promise=substitute(profile.promise, {WEIGHT: ("mul", symbol(WEIGHT), symbol(OWN_WEIGHT))}),
        record=(*profile.record, Statistic(OWN_WEIGHT, Fraction(1), largest)),
        source=f"{profile.source}; docs/private-kmeans.md, Theorem 6",
        parts=tuple(Part(let_records_weigh(part.profile, largest), part.times) for part in profile.parts),
    )


def to_largest(largest: object) -> Fraction:
    """Return a declared bound of the weights of records. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    return to_number(largest, "largest_weight", "[1, inf)", "give a public bound of all weights")


def bound_weights(weights: Floats, largest: Fraction, *, lower: bool) -> Floats:
    """Return the weights where all are in [1, ``largest``]; with ``lower`` those above are lowered to it, each by itself.

    Raises :class:`InvalidData`.
    """
    bad = ~(np.isfinite(weights) & (weights >= 1))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidData(
            f"sample_weight must be finite and at least 1, but that of row {row} is not; drop such "
            "records, each by itself, or multiply all weights by a public constant",
            private=list_values([(row, float(weights[row]))]),
        )
    most = round_down(largest)
    above = weights > most
    if lower:
        return np.where(above, most, weights)
    if above.any():
        row = int(above.argmax())
        raise InvalidData(
            f"sample_weight must be at most the declared largest_weight = {exact_text(largest)}, but that of row {row} is "
            'larger; lower such weights one by one with outside="project", or declare a bound that is known without looking at them',
            private=list_values([(row, float(weights[row]))]),
        )
    return weights
