"""The guarantee of one run of DP-Lloyd, made by the accountant's rules before anything is released."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from accountant.epsilon import derive_epsilon
from accountant.guarantees import (
    ARITHMETIC,
    INDEPENDENT,
    ONE_ANALYSIS,
    STATISTICS,
    AnyGuarantee,
    assume,
    discharge,
    realise_sampling,
)
from accountant.sampler import BitSource
from accountant.sampling import SamplingRule
from accountant.sampling.selection import METHODS
from profiles import Declaration, InvalidTarget, Profile, exact_text

PRIVATE_NUMBERS = "The random numbers are independent and uniform, and nobody else knows them"
PRIVATE_SEED = "The seed is secret, unpredictable and serves one release only"
#: Hypotheses that hold by construction, each with the reason.
Evidence = tuple[tuple[str, str], ...]
_PUBLIC_RATE = "n and m (or the rate) are public"


@lru_cache(maxsize=64)
def certify_all_records(profile: Profile, hypotheses: tuple[str, ...], evidence: Evidence, epsilon: Fraction) -> AnyGuarantee:
    """Return the ε-DP guarantee for all records, used as they are (w = 1), with a certified worst case of at most ``epsilon``.

    ``hypotheses`` are those of the implementation; those that ``evidence`` names are discharged with its reason.
    Raises :class:`InvalidTarget` where the certified bound is larger.
    """
    derived = derive_epsilon(Declaration(profile, hypotheses=hypotheses), rule="uniform", constants={"rate": 1})
    if derived.bound.upper > epsilon:
        raise InvalidTarget(f"epsilon = {exact_text(epsilon)} was asked for, but the certified bound is larger; ask for another number")
    every = ((_PUBLIC_RATE, "the rate is the constant 1"), (INDEPENDENT, "q = 1: every record is used, and 1/q = 1"))
    return _settle(derived.guarantee, (*every, *evidence))


@lru_cache(maxsize=64)
def certify_sample(profile: Profile, hypotheses: tuple[str, ...], evidence: Evidence, rule: SamplingRule) -> AnyGuarantee:
    """Return the ε-DP guarantee after sampling by ``rule``. Raises :class:`Infeasible` where its target is too small."""
    derived = derive_epsilon(Declaration(profile, hypotheses=hypotheses), rule=rule)
    return _settle(derived.guarantee, evidence)


def certify_draws(guarantee: AnyGuarantee, method: str, source: BitSource) -> AnyGuarantee:
    """Return the guarantee of a sample that :class:`accountant.sampler.PoissonSampler` draws and one run of the mechanism uses up.

    ``method``, of the selection, is why the bound holds for the numbers used.
    """
    realised = realise_sampling(guarantee, pairs=METHODS[method], claims=(), bits=source.hypothesis)
    return discharge(realised, ONE_ANALYSIS, "the sample is drawn, used by this run and dropped in one call")


def certify_given_draws(guarantee: AnyGuarantee) -> AnyGuarantee:
    """Return the guarantee of a sample that somebody else's selector draws: the weights are numbers of binary64 there as well."""
    return assume(guarantee, (STATISTICS, ARITHMETIC))


def _settle(guarantee: AnyGuarantee, evidence: Iterable[tuple[str, str]]) -> AnyGuarantee:
    for hypothesis, reason in evidence:
        if hypothesis in guarantee.hypotheses:
            guarantee = discharge(guarantee, hypothesis, reason)
    return guarantee
