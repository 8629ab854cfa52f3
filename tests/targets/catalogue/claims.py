"""What the accountant claims for a record: after sampling, after several uses, and in the worst case."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from accountant.amplification import amplify
from accountant.guarantees import Losses, amplify_by_importance_sampling, derive_profile, worst_case
from accountant.rules import SamplingRule
from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.mechanisms import Mechanism
from profiles.numbers import exact_text
from profiles.profile import Profile
from proofs_check.audit import Claim, claim_of_record
from proofs_check.suprema.bound import EpsilonBound
from tests.targets.catalogue.running import exact_probability, exact_statistics, prepare


def base_claim(mechanism: Mechanism, record: Floats, weight: float) -> Claim:
    """Return ε(w, x) of one record, shape (d,), rounded up. Raises what :func:`proofs_check.audit.claim_of_record` raises."""
    return claim_of_record(mechanism.profile, exact_statistics(mechanism, record[np.newaxis])[0], weight)


def sampled_claim(mechanism: Mechanism, rule: SamplingRule, record: Floats) -> Claim:
    """Return ψ(x) = log(1 + q(x)(e^ε(1/q(x), x) − 1)) of one record, shape (d,), for the exact q(x), rounded up to a binary64 number.

    It holds for the rounded pair (q̂, ŵ) that is drawn with, which is checked: log(1 + q̂(e^ε(ŵ, x) − 1)) is not above it.
    Source: Fay et al. 2024, Theorem 6. Raises :class:`InvalidArgument` where the check fails, :class:`InvalidSampling`.
    """
    values = exact_statistics(mechanism, record[np.newaxis])[0]
    q = exact_probability(rule, values)
    epsilon = claim_of_record(mechanism.profile, values, 1 / q).epsilon
    bound = amplify(epsilon, q).upper
    used = prepare(mechanism.profile, rule).select(mechanism.statistic(record[np.newaxis]) or {"number": np.zeros(1)})
    weight, chance = float(used.weights[0]), Fraction(float(used.probabilities[0]))
    if chance and amplify(claim_of_record(mechanism.profile, values, weight).epsilon, chance).lower > bound:
        raise InvalidArgument(
            f"the numbers that a sample for {mechanism.profile.name!r} is drawn with cost more than psi of the exact rule; this is "
            "a mistake of the selector, please report it"
        )
    text = f"psi(x) = log(1 + q*(exp(epsilon(1/q, x)) - 1)), {mechanism.profile.name}, {rule.name} rule, q = {exact_text(q)[:40]}"
    return Claim(bound, source=text)


def times_claim(claim: Claim, times: int) -> Claim:
    """Return the claim for ``times`` uses: ``times``·ε. Source: Ebadi et al. 2015 (composition). Raises :class:`InvalidArgument`."""
    if claim.delta or times < 1:
        raise InvalidArgument("a composition needs a claim without delta and a positive number of uses; give both")
    return Claim(times * claim.epsilon, one_sided=claim.one_sided, source=f"{times} uses of: {claim.source}")


def certified_bound(profile: Profile, rule: SamplingRule) -> EpsilonBound:
    """Return the evidence of the certified worst case of ψ: its bounds and the worst record.

    Derivation: declared or composed profile → amplification → worst case, by :mod:`accountant.guarantees`.
    Raises what these raise, :class:`InvalidArgument` where the bound is not a number.
    """
    guarantee = worst_case(amplify_by_importance_sampling(derive_profile(profile), rule))
    if not isinstance(guarantee.bound, Losses):
        raise InvalidArgument(f"the worst case of {profile.name!r} is not a number; give all parameters numbers")
    return guarantee.bound.evidence


def worst_case_claim(profile: Profile, rule: SamplingRule) -> tuple[Claim, dict[str, Fraction]]:
    """Return the certified worst case sup ψ, rounded up, as a claim for every pair, and the worst record's statistics."""
    evidence = certified_bound(profile, rule)
    return Claim(evidence.upper, source=f"certified sup of psi over records, {profile.name}, {rule.name} rule"), dict(evidence.at)
