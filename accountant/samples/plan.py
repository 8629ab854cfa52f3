"""What is public about a sample, and fixed before any record is read: the mechanisms, the rule, the certified ε, the numbers q and w."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accountant.guarantees import Guarantee, Hypothesis, assume, realise_pairs, realise_sampling
from accountant.guarantees.derive import CONSTRAINED, DerivedEpsilon, derive_epsilon
from accountant.guarantees.derive_gaussian import DerivedDelta, derive_delta, derive_weights
from accountant.guarantees.rules import name_readings
from accountant.rules import SamplingRule
from accountant.samples.once import Mechanisms
from accountant.selection.select import METHODS, Selector, prepare_dominated, prepare_selection, prepare_tabulated
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import ProvedConvexity
from accountant.weights.gaussian.target import GaussianTarget, to_gaussian_target
from profiles import InvalidArgument, OtherNotion, Profile
from profiles.hypotheses import RECORD_STATISTICS, as_hypotheses, as_hypothesis
from profiles.notions import ProfileNotion
from profiles.randomness.bits import BitSource
from profiles.views import show_picture
from proofs_check.certificates import complete
from proofs_check.kernel import check

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """A sampler with its guarantee; make one with :func:`plan_sample`.

    ``profiles`` are the mechanisms to be run on one sample, in order, ``profile`` is their composition. ``derived`` is the guarantee of the
    exact rule, ``selector`` computes the binary64 numbers used, its ``method`` says why the bound holds for these. ``proof`` is the
    kernel's certificate, ``checked`` whether the kernel accepted all that it is to prove. ``assumed`` are further open hypotheses.
    """

    profiles: tuple[Profile, ...]
    profile: Profile
    derived: DerivedEpsilon | DerivedDelta
    selector: Selector
    proof: Mapping[str, Any] | None
    checked: bool
    assumed: tuple[Hypothesis, ...] = ()

    def plot(self) -> Picture:
        """Return a picture of the probabilities of selection against the statistics of a record.

        Raises :class:`profiles.InvalidArgument` where no statistic has a range, :class:`profiles.MissingExtra` without Matplotlib.
        """
        return show_picture(self)

    @property
    def rule(self) -> SamplingRule:
        return self.derived.rule

    @property
    def method(self) -> str:
        """Why the bound holds for the numbers used, a key of :data:`accountant.selection.select.METHODS`."""
        return self.selector.method

    @property
    def epsilon(self) -> Fraction:
        """The certified bound, in nats."""
        return self.derived.bound.upper if isinstance(self.derived, DerivedEpsilon) else self.derived.target.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ at which ``epsilon`` is bounded; 0 for pure profiles."""
        return Fraction(0) if isinstance(self.derived, DerivedEpsilon) else self.derived.target.delta

    @property
    def steps(self) -> int:
        """How many steps, each on a fresh sample, the bound is for in all; one for pure profiles."""
        return 1 if isinstance(self.derived, DerivedEpsilon) else self.derived.target.steps

    def guarantee(self, source: BitSource | None = None) -> Guarantee:
        """Return the guarantee of one run of the mechanisms on a sample that somebody draws with these (q, w), such as an engine.

        That the draws are independent, have exactly the probabilities q and are made once (a lazy plan that is evaluated twice draws
        twice) is a hypothesis: we do not see them. ``source``: where their random bits come from, if that is known.
        """
        return assume(self._realise(None), () if source is None else (as_hypothesis(source.hypothesis),))

    def drawn_guarantee(self, source: BitSource) -> Guarantee:
        """Return the guarantee of one run of the mechanisms on a sample that our own sampler draws with the bits of ``source``."""
        return self._realise(source)

    def _realise(self, source: BitSource | None) -> Guarantee:
        known = () if self.proof is None or not isinstance(self.derived, DerivedEpsilon) else self.proof["claims"]
        claims = tuple(str(claim["claim"]) for claim in known)
        stated: dict[str, Any] = {
            "pairs": METHODS[self.method],
            "claims": claims if self.checked else (),
            "defined": "claim well-defined, checked by the kernel" if self.checked else None,
        }
        base = self.derived.guarantee
        realised = realise_pairs(base, **stated) if source is None else realise_sampling(base, bits=source.hypothesis, **stated)
        read = tuple(item for item in self.assumed if item.id == RECORD_STATISTICS.id)
        return name_readings(assume(realised, self.assumed), read)


def plan_sample(
    profiles: object,
    *,
    rule: str | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    target_epsilon: object | None = None,
    target_delta: object | None = None,
    delta: object | None = None,
    steps: object | None = None,
    convexity: ProvedConvexity | None = None,
    assumed: Sequence[Hypothesis | str] = (),
    relative_gap: object = "1e-9",
) -> SamplingPlan:
    """Return the plan for a sample on which ``profiles`` are run, in order, once.

    ``profiles``: a profile file or ``package.module:object``, what :func:`profiles.load` made of one, a profile, a mechanism, or a list of
    profiles and mechanisms. The rule is privacy-constrained for a ``target_epsilon`` alone, a named ``rule`` with its ``constants``, an
    expression ``q``, or the profile file's.
    Under Gaussian noise (the notion ``gaussian``) ``target_delta`` goes with ``target_epsilon``, and ``delta``, at which ε is bounded, with
    a rule or q; the guarantee is then of ``steps`` samples, one by default, each drawn anew by this plan, with an analysis each.
    ``convexity`` is what the weights rest on, where it is proved already.

    Raises what :func:`accountant.derive_epsilon`, :func:`accountant.prove_convexity` and :func:`compose_on_one_sample` raise.
    """
    mechanisms = Mechanisms.of(profiles)
    profile = mechanisms.profile
    if target_delta is not None:
        if rule is not None or q is not None or constants:
            raise InvalidArgument(
                "a target delta was given together with a rule or its constants; with a rule, give the delta at which epsilon is bounded"
            )
        if delta is not None:
            raise InvalidArgument("a delta belongs to a sampling rule, and was given together with a target delta; give one of the two")
        if target_epsilon is None:
            raise InvalidArgument("a target delta was given, but no target epsilon; give both")
        return plan_weights(mechanisms, to_gaussian_target(target_epsilon, target_delta, 1 if steps is None else steps), assumed=assumed)
    more = tuple(dict.fromkeys((*mechanisms.supposed, *as_hypotheses(assumed, "a sample"))))
    if delta is not None:
        if target_epsilon is not None:
            raise InvalidArgument("a target epsilon was given together with a delta, which belongs to a sampling rule; give a target delta")
        at_delta = derive_delta(mechanisms.reference, delta, rule=rule, q=q, constants=constants, steps=1 if steps is None else steps)
        selector = prepare_dominated(profile, at_delta.rule)
        return SamplingPlan(mechanisms.profiles, profile, at_delta, selector, at_delta.certificate(), checked=True, assumed=more)
    if steps is not None:
        raise InvalidArgument("a number of steps was given, but it belongs to a delta; give one, or leave it out")
    if profile.notion is ProfileNotion.GAUSSIAN:
        raise OtherNotion(
            f'{profile.name[:60]!r} declares mu in the notion "gaussian", and an epsilon of it is one at a delta: no Gaussian mechanism is '
            "purely epsilon-private; give a target delta beside a target epsilon, or a delta beside a rule, for example 1e-6"
        )
    named = "privacy-constrained" if rule is None and q is None and target_epsilon is not None else rule
    if named == "privacy-constrained" and target_epsilon is not None and convexity is None:
        convexity = prove_convexity(profile, target_epsilon)  # refuses an unusable target with its reason
    asked: dict[str, Any] = {"rule": named, "q": q, "constants": constants, "target_epsilon": target_epsilon}
    derived = derive_epsilon(mechanisms.reference, **asked, relative_gap=relative_gap)
    if not profile.record:
        raise InvalidArgument(f"the profile {profile.name!r} declares no record statistic, so no data can be read for it; declare one")
    selector = prepare_selection(profile, derived.rule, convexity=convexity, bound=derived.bound.upper)
    proof = find_proof(derived, selector)
    checked = proof is not None and check(json.dumps(proof)).accepted
    return SamplingPlan(mechanisms.profiles, profile, derived, selector, proof if checked else None, checked, more)


def plan_weights(
    mechanisms: Mechanisms, target: GaussianTarget, *, scale: Fraction | None = None, assumed: Sequence[Hypothesis | str] = ()
) -> SamplingPlan:
    """Return the plan of weighted samples under Gaussian noise for a target.

    ``scale``: see :func:`accountant.guarantees.derive_gaussian.derive_weights`. Raises what that raises, and :class:`InvalidArgument`.
    """
    derived = derive_weights(mechanisms.reference, target.epsilon, target.delta, steps=target.steps, scale=scale)
    more = tuple(dict.fromkeys((*mechanisms.supposed, *as_hypotheses(assumed, "a sample"))))
    selector = prepare_tabulated(derived.weights.proved, derived.weights.table, derived.rule, scale)
    return SamplingPlan(mechanisms.profiles, derived.profile, derived, selector, derived.certificate(), checked=True, assumed=more)


def find_proof(derived: DerivedEpsilon, selector: Selector) -> Mapping[str, Any] | None:
    """Return what the kernel is to check, None where the bound rests on ball arithmetic alone."""
    conditions, evidence = derived.conditions, derived.bound.evidence
    if derived.rule.q is None:
        least = CONSTRAINED[0]
        usable = conditions is not None and conditions.proved(least) and conditions.decisions[least].checked
        return conditions.certificate() if conditions is not None and usable else None
    if evidence.certificate is None or not evidence.checked_by_kernel or selector.claim is None:
        return evidence.certificate if evidence.checked_by_kernel else None
    return complete({**evidence.certificate, "claims": [*evidence.certificate["claims"], selector.claim]})
