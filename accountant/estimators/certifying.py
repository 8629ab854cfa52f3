"""The guarantee of one run of DP-Lloyd, made by the accountant's rules before anything is released."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from accountant.epsilon import DerivedEpsilon, derive_epsilon
from accountant.guarantees import AnyGuarantee, Run, assume, conclude_run, derive_profile, prove_run, realise_pairs
from accountant.sampling.rules import PUBLIC_RATE
from accountant.sampling.selection import CERTIFIED, METHODS
from profiles import Declaration, InvalidTarget, Profile, exact_text
from profiles.hypotheses import ARITHMETIC, RECORD_STATISTICS, STATISTICS, Hypothesis
from profiles.mechanisms import WeightedLloyd

#: Hypotheses that hold by construction, each with the reason.
Evidence = Mapping[Hypothesis, str]
#: What the run computes itself is a function of the row; that the row is one of the record is not its to say.
_ROW = RECORD_STATISTICS.about(names="each row that is given to fit")
_COMPUTED = "the run computes the norm of each row by itself"


@lru_cache(maxsize=64)
def _derive(profile: Profile, hypotheses: tuple[Hypothesis, ...], target: Fraction | None) -> DerivedEpsilon:
    """Return the bound of all records (None) or of a privacy-constrained sample: the same for every fit with these constants."""
    declared = Declaration(profile, hypotheses=hypotheses)
    if target is None:
        return derive_epsilon(declared, rule="uniform", constants={"rate": 1})
    return derive_epsilon(declared, rule="privacy-constrained", target_epsilon=target)


def certify_profile(mechanism: WeightedLloyd, run: Run) -> AnyGuarantee:
    """Return the PDP guarantee on weighted data sets, to be amplified by the rule of the sampler that made the weights."""
    found = prove_run(derive_profile(mechanism.profile, mechanism.hypotheses), mechanism)
    return conclude_run(assume(found, (_ROW,)), run)


def certify_all_records(mechanism: WeightedLloyd, run: Run, epsilon: Fraction) -> AnyGuarantee:
    """Return the ε-DP guarantee for records of weight 1, with a certified worst case of at most ``epsilon``.

    Raises :class:`InvalidTarget` where the certified bound is larger.
    """
    derived = _derive(mechanism.profile, mechanism.hypotheses, None)
    if derived.bound.upper > epsilon:
        raise InvalidTarget(f"epsilon = {exact_text(epsilon)} was asked for, but the certified bound is larger; ask for another number")
    return _conclude(derived.guarantee, mechanism, run, {PUBLIC_RATE: "the rate is the constant 1"})


def certify_sample(mechanism: WeightedLloyd, run: Run, target: Fraction) -> AnyGuarantee:
    """Return the ε*-DP guarantee of one run on a privacy-constrained sample of its own, drawn with exact draws or by the user's selector.

    Raises :class:`Infeasible` where ``target`` is too small.
    """
    derived = _derive(mechanism.profile, mechanism.hypotheses, target)
    if run.selector:
        return _conclude(assume(derived.guarantee, (STATISTICS, ARITHMETIC)), mechanism, run)
    return _conclude(realise_pairs(derived.guarantee, pairs=METHODS[CERTIFIED], claims=()), mechanism, run)


def _conclude(guarantee: AnyGuarantee, mechanism: WeightedLloyd, run: Run, proved: Evidence | None = None) -> AnyGuarantee:
    computed = {item: _COMPUTED for item in guarantee.hypotheses if item.id == RECORD_STATISTICS.id}
    whole = Run(run.noise, run.draws, selector=run.selector, proved={**run.proved, **computed, **(proved or {})})
    return assume(conclude_run(prove_run(guarantee, mechanism), whole), (_ROW,))
