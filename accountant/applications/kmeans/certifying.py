"""The guarantee of one run of DP-Lloyd, made by the accountant's rules before anything is released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from accountant.applications.kmeans.weighing import let_records_weigh
from accountant.guarantees import AnyGuarantee, Run, assume, conclude_run, prove_run, realise_pairs
from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from accountant.rules import SamplingRule
from accountant.rules.named import PUBLIC_RATE
from accountant.selection.select import METHODS
from profiles import Declaration, InvalidTarget, Profile, exact_text
from profiles.hypotheses import (
    ARITHMETIC,
    DECLARED_PROFILE,
    OWN_WEIGHTS,
    PARTS_RUN,
    RECORD_STATISTICS,
    STATISTICS,
    Hypothesis,
    name_statistics,
)
from profiles.mechanisms import WeightedLloyd
from profiles.mechanisms.catalogue import describe_proof

#: Hypotheses that hold by construction, each with the reason.
Evidence = Mapping[Hypothesis, str]
#: What the run computes itself is a function of the row; that the row is one of the record is not its to say.
GIVEN_ROW = RECORD_STATISTICS.about(names="each row that is given to fit")
_COMPUTED = "the run computes the norm of each row by itself"


@lru_cache(maxsize=64)
def _derive(profile: Profile, hypotheses: tuple[Hypothesis, ...], rule: SamplingRule | None) -> DerivedEpsilon:
    """Return the bound of all records (None) or of a sample by a rule: the same for every fit with these constants."""
    declared = Declaration(profile, hypotheses=hypotheses)
    if rule is None:
        return derive_epsilon(declared, rule="uniform", constants={"rate": 1})
    return derive_epsilon(declared, rule=rule)


def certify_all_records(mechanism: WeightedLloyd, run: Run, epsilon: Fraction, largest: Fraction | None) -> AnyGuarantee:
    """Return the ε-DP guarantee for all records, used as they are, with a certified worst case of at most ``epsilon``.

    ``largest`` bounds the weight that a record has by itself; None: it has none. Raises :class:`InvalidTarget` where the bound is larger.
    """
    profile = mechanism.profile if largest is None else let_records_weigh(mechanism.profile, largest)
    derived = _derive(profile, mechanism.hypotheses, None)
    if derived.bound.upper > epsilon:
        raise InvalidTarget(f"epsilon = {exact_text(epsilon)} was asked for, but the certified bound is larger; ask for another number")
    proved = {PUBLIC_RATE: "the rate is the constant 1"}
    if largest is None:
        return _conclude(derived.guarantee, mechanism, run, proved)
    proved[name_statistics(profile)] = f"{_COMPUTED}; the weight has a hypothesis of its own"
    proof = describe_proof(mechanism)
    if proof is not None:
        whole = (item for item in derived.guarantee.hypotheses if item.id in (DECLARED_PROFILE.id, PARTS_RUN.id))
        proved.update(dict.fromkeys(whole, f"{proof}; for records with weights docs/dp-kmeans.md, Theorem 3"))
    return assume(_conclude(derived.guarantee, mechanism, run, proved), (OWN_WEIGHTS,))


def certify_sample(mechanism: WeightedLloyd, run: Run, rule: SamplingRule, method: str) -> AnyGuarantee:
    """Return the ε-DP guarantee of one run on a sample of its own by ``rule``, drawn with exact draws or by the user's selector.

    ``method``, of the selection, is why the bound holds for the numbers used. Raises :class:`Infeasible` where a target is too small.
    """
    derived = _derive(mechanism.profile, mechanism.hypotheses, rule)
    if run.selector:
        return _conclude(assume(derived.guarantee, (STATISTICS, ARITHMETIC)), mechanism, run)
    return _conclude(realise_pairs(derived.guarantee, pairs=METHODS[method], claims=()), mechanism, run)


def _conclude(guarantee: AnyGuarantee, mechanism: WeightedLloyd, run: Run, proved: Evidence | None = None) -> AnyGuarantee:
    computed = {item: _COMPUTED for item in guarantee.hypotheses if item.id == RECORD_STATISTICS.id}
    if not run.known:  # a class of one's own may run something else: what the mechanism would have is nothing that is known of it
        return assume(conclude_run(guarantee, run), (GIVEN_ROW,))
    whole = replace(run, proved={**run.proved, **computed, **(proved or {})})
    return assume(conclude_run(prove_run(guarantee, mechanism), whole), (GIVEN_ROW,))
