"""What is public about a sample, and fixed before any record is read: the mechanisms, the rule, the certified ε, the pairs (q, w)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.epsilon import CONSTRAINED, DerivedEpsilon, derive_epsilon
from accountant.guarantees import AnyGuarantee
from accountant.guarantees.realised import assume, realise_sampling
from accountant.sampler.bits import BitSource
from accountant.sampler.once import SAME_STATISTICS, compose_on_one_sample, read_profiles
from accountant.sampler.pairs import ConstrainedPairs, PairMap, map_rule
from accountant.sampling import SamplingRule
from accountant.weights.premise import prove_premise
from accountant.weights.vectorised import ConvexityPremise, prepare_solver
from profiles import InvalidArgument, InvalidProfile, Profile, load
from proofs_check.admission import admit
from proofs_check.conditions.context import Context
from proofs_check.kernel import check
from proofs_check.results import Verdict
from proofs_check.verify import decide_in_time

MONOTONE = "proposition-17"

PAIRS = {
    "certified-weights": "w is a certified weight, psi_w(x) <= epsilon*, and q = 1/w is rounded down",
    "directed-rounding": "q <= q(x) <= 1/w with directed rounding, and epsilon does not fall in w (w*epsilon' >= epsilon >= 0)",
    "checked": "q <= q(x) <= 1/w with directed rounding, and log(1 + q*(exp(epsilon(w, x)) - 1)) <= epsilon is enforced for every record",
}


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """A sampler with its guarantee; make one with :func:`plan_sample`.

    ``profiles`` are the mechanisms to be run on one sample, in order, ``profile`` is their composition. ``derived`` is the guarantee of the
    exact rule, ``pairs`` the binary64 numbers used, ``method`` (a key of ``PAIRS``) why the bound holds for these. ``proof`` is the
    kernel's certificate, ``checked`` whether the kernel accepted all that it is to prove. ``assumed`` are further open hypotheses.
    """

    profiles: tuple[Profile, ...]
    profile: Profile
    derived: DerivedEpsilon
    pairs: PairMap
    method: str
    proof: Mapping[str, Any] | None
    checked: bool
    assumed: tuple[str, ...] = ()

    @property
    def rule(self) -> SamplingRule:
        """The sampling rule."""
        return self.derived.rule

    @property
    def epsilon(self) -> Fraction:
        """The certified bound, in nats."""
        return self.derived.bound.upper

    def guarantee(self, source: BitSource) -> AnyGuarantee:
        """Return the guarantee of one run of the mechanisms on a sample that is drawn with the bits of ``source``."""
        claims = () if self.proof is None else tuple(str(claim["claim"]) for claim in self.proof["claims"])
        realised = realise_sampling(
            self.derived.guarantee,
            pairs=PAIRS[self.method],
            claims=claims if self.checked else (),
            bits=source.hypothesis,
            defined="claim well-defined, checked by the kernel" if self.checked else None,
        )
        return assume(realised, self.assumed)


def plan_sample(
    profiles: object,
    *,
    rule: str | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    target_epsilon: object | None = None,
    premise: ConvexityPremise | None = None,
    assumed: Sequence[str] = (),
    relative_gap: object = "1e-9",
) -> SamplingPlan:
    """Return the plan for a sample on which ``profiles`` are run, in order, once.

    ``profiles``: a profile file or ``package.module:object``, a profile, a mechanism, or a list of profiles and mechanisms. The rule is
    privacy-constrained for a ``target_epsilon`` alone, a named ``rule`` with its ``constants``, an expression ``q``, or the profile file's.
    ``premise`` is what the weights rest on, where it is proved already.

    Raises what :func:`accountant.derive_epsilon`, :func:`accountant.prove_premise` and :func:`compose_on_one_sample` raise.
    """
    reference: str | Profile
    listed: tuple[Profile, ...]
    if isinstance(profiles, str):
        reference, listed = profiles, (load(profiles).profile,)
        profile = listed[0]
    else:
        listed = read_profiles(profiles)
        reference = profile = compose_on_one_sample(listed)
    named = "privacy-constrained" if rule is None and q is None and target_epsilon is not None else rule
    if named == "privacy-constrained" and target_epsilon is not None and premise is None:
        premise = prove_premise(profile, target_epsilon)  # refuses an unusable target with its reason
    derived = derive_epsilon(reference, rule=named, q=q, constants=constants, target_epsilon=target_epsilon, relative_gap=relative_gap)
    if not profile.record:
        raise InvalidArgument(f"the profile {profile.name!r} declares no record statistic, so no data can be read for it; declare one")
    more = (*((SAME_STATISTICS,) if len(listed) > 1 else ()), *assumed)
    if derived.rule.q is None:
        return _constrained(listed, profile, derived, premise, more)
    monotone, claim = _decide_monotone(profile)
    if not monotone and profile.free_parameters:
        names = ", ".join(parameter.name for parameter in profile.free_parameters)
        raise InvalidProfile(
            f"a sampler for an epsilon that may fall in w needs numbers for all parameters, but {names} has none; set it in the profile"
        )
    pairs = map_rule(profile, derived.rule.q, derived.bound.upper, monotone=monotone)
    proof = derived.bound.evidence.certificate if derived.bound.evidence.checked_by_kernel else None
    if proof is not None and claim is not None:
        proof = {**proof, "claims": [*proof["claims"], claim]}
    checked = proof is not None and check(json.dumps(proof)).accepted
    method = "directed-rounding" if monotone else "checked"
    return SamplingPlan(listed, profile, derived, pairs, method, proof if checked else None, checked, more)


def _constrained(
    listed: tuple[Profile, ...], profile: Profile, derived: DerivedEpsilon, premise: ConvexityPremise | None, assumed: tuple[str, ...]
) -> SamplingPlan:
    target = derived.bound.upper
    solver = prepare_solver(profile, target, premise=prove_premise(profile, target) if premise is None else premise)
    conditions = derived.conditions
    checked = conditions is not None and all(conditions.proved(name) and conditions.decisions[name].checked for name in CONSTRAINED[:1])
    proof = conditions.certificate() if conditions is not None and checked else None
    checked = proof is not None and check(json.dumps(proof)).accepted
    pairs = ConstrainedPairs(solver)
    return SamplingPlan(listed, profile, derived, pairs, "certified-weights", proof if checked else None, checked, assumed)


def _decide_monotone(profile: Profile) -> tuple[bool, Mapping[str, Any] | None]:
    """Tell whether w·ε′ ≥ ε ≥ 0, hence ε′ ≥ 0, is proved and checked by the kernel for all records and all w ≥ 1, with the claim."""
    decision, _ = decide_in_time(Context(admit(profile), Fraction(1)), MONOTONE)
    proved = decision.verdict is Verdict.PROVED and decision.checked
    return proved, decision.claim if proved else None
