"""From a profile in the notion ``gaussian`` and a target to a guarantee: what ``pdp weights`` and ``pdp sample`` rest on for a target delta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.curves.points import CurvePoint, lower_text, point_at_delta, upper_text
from accountant.guarantees.gaussian import bound_by_table, premise_of, table_of
from accountant.guarantees.proved import prove_run
from accountant.guarantees.theorem import AnyGuarantee, TwoSidedDP
from accountant.rules import SamplingRule
from accountant.rules.gaussian import make_gaussian_rule
from accountant.weights.gaussian.premise import GaussianTarget, to_gaussian_target
from accountant.weights.gaussian.stored import TabulatedWeights
from accountant.weights.gaussian.table import compose_pair
from profiles import Declaration, InvalidSampling, Profile, decimal_text
from profiles.files import to_declaration
from profiles.hypotheses import EXACT_REALS


@dataclass(frozen=True, slots=True)
class DerivedWeights:
    """A guarantee of weighted samples under Gaussian noise, with the table that the weights are read from.

    ``scale``: weights are at most λ/ζ, for a sample size; None for the largest ones.
    """

    guarantee: AnyGuarantee
    bound: TwoSidedDP
    rule: SamplingRule
    profile: Profile
    target: GaussianTarget
    weights: TabulatedWeights
    scale: Fraction | None = None

    @property
    def unsampled(self) -> CurvePoint:
        """Certified bounds of ε at δ* after the same steps where every record is used with weight 1."""
        return bound_unsampled(self.profile, self.target)

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of the table, which ``pdp check`` checks."""
        return self.weights.to_object()

    def compare_with_unsampled(self) -> dict[str, Any]:
        """Return ε without sampling and which of the two is smaller as JSON: the keys ``without_sampling`` and ``smaller``."""
        found = self.unsampled
        told = {"epsilon": {"lower": lower_text(found), "upper": upper_text(found)}, "checked_by_kernel": found.checked_by_kernel}
        return {"without_sampling": told, "smaller": self._smaller()}

    def describe_unsampled(self) -> tuple[str, ...]:
        """Return ε without sampling in words, and which of the two is smaller."""
        found, delta = self.unsampled, decimal_text(self.target.delta, 12, round_up=False)
        said = f"without sampling, every record with weight 1: epsilon <= {upper_text(found)} at delta = {delta}"
        return (said, "neither is shown to be smaller" if self._smaller() == "neither" else "this sampling saves work, not privacy")

    def _smaller(self) -> str:
        upper = self.unsampled.upper
        return "without sampling" if upper is not None and upper < self.target.epsilon else "neither"


def bound_unsampled(profile: Profile, target: GaussianTarget) -> CurvePoint:
    """Return certified bounds of ε at δ* after all steps without sampling: T steps of the record with the largest ζ."""
    return point_at_delta(compose_pair(premise_of(profile).reach, Fraction(1), target.steps, "no sampling"), target.delta)


def derive_weights(
    reference: str | Profile | Declaration | Any,
    target_epsilon: object,
    target_delta: object,
    *,
    steps: object = 1,
    scale: Fraction | None = None,
) -> DerivedWeights:
    """Return the (ε*, δ*) guarantee of ``steps`` steps on fresh weighted samples, and the table of weights that it holds for.

    Claim: a record that is kept with probability at most 1/w, and counts at most w times, where w is read off the table, has δ(ε*) ≤ δ*
    after all steps, when it goes and when it comes (docs/gaussian-weights.md, Theorem 9). The table does not depend on any data.

    Raises :class:`profiles.Infeasible` (w = 1 exceeds the target at a record of the declared domain, which it names),
    :class:`profiles.InvalidTarget`, :class:`profiles.OtherNotion`, :class:`profiles.InvalidProfile`, :class:`profiles.Undecided`.

    >>> from profiles import declare
    >>> noisy_sum = declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [3, 4]}, parameters={"sigma": 30})
    >>> found = derive_weights(noisy_sum, 1, "1e-5")
    >>> float(found.weights.table.shift_at(found.weights.premise.reach) / found.weights.premise.reach)
    4.3350042
    """
    declaration = to_declaration(reference)
    profile = declaration.profile
    target = to_gaussian_target(target_epsilon, target_delta, steps)
    if scale is not None and scale <= 0:
        raise InvalidSampling("the scale of weights must be positive, but another number was found; give a positive number")
    rule = make_gaussian_rule(target.epsilon, target.delta, target.steps, scale)
    hypotheses = tuple(dict.fromkeys((EXACT_REALS, *declaration.hypotheses)))
    guarantee = prove_run(bound_by_table(profile, hypotheses, rule=rule), declaration.mechanism)
    bound = TwoSidedDP(target.epsilon, target.epsilon, target.delta, target.delta)
    weights = table_of(profile, target, whole=scale is not None)
    return DerivedWeights(guarantee, bound, rule, profile, target, weights, scale)


__all__ = ["DerivedWeights", "bound_unsampled", "derive_weights"]
