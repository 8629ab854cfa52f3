"""From a profile in the notion ``gaussian`` to a guarantee: of weights for a target (ε*, δ*), and of any sampling rule at a δ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.curves.points import CurvePoint, lower_text, point_at_delta, to_gap, upper_text
from accountant.guarantees.derive import choose_rule
from accountant.guarantees.gaussian_samples import (
    DEFAULT_CELLS,
    DEFAULT_COVER_GAP,
    bound_by_cover,
    bound_by_table,
    cover_of,
    premise_of,
    table_of,
)
from accountant.guarantees.proved import prove_run
from accountant.guarantees.render import render, to_json
from accountant.guarantees.theorem import AnyGuarantee, TwoSidedDP
from accountant.rules import SamplingRule
from accountant.rules.gaussian import make_gaussian_rule
from accountant.weights.gaussian.covers import CoveredRule, lower_number
from accountant.weights.gaussian.many_steps import compose_pair
from accountant.weights.gaussian.premise import GaussianTarget, to_gaussian_target, to_steps
from accountant.weights.gaussian.stored import TabulatedWeights
from accountant.weights.gaussian.weight import require_gaussian, to_target_delta
from profiles import Declaration, InvalidSampling, Profile, decimal_text, exact_text
from profiles.files import to_declaration
from profiles.hypotheses import EXACT_REALS
from profiles.terms import number


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

    @property
    def lower(self) -> Fraction:
        """ε of the pair of the record with the largest ζ is at least this at δ*: the table gives no less."""
        table = self.weights.table
        return point_at_delta(table.compose_row(table.rows[0]), self.target.delta).lower or Fraction(0)

    def compare_with_unsampled(self) -> dict[str, Any]:
        """Return ε without sampling and which of the two is smaller as JSON: the keys ``without_sampling`` and ``smaller``."""
        return _compare(self.unsampled, self.target.epsilon, self.target.epsilon)

    def describe_unsampled(self) -> tuple[str, ...]:
        """Return ε without sampling in words, and which of the two is smaller."""
        return _describe(self.unsampled, self.target, self.target.epsilon, self.target.epsilon)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp epsilon`` for these weights."""
        told = to_json(self.guarantee)
        told["epsilon"] = {"lower": decimal_text(self.lower, 12, round_up=False), **told["epsilon"]}
        return {
            **told,
            "steps": self.target.steps,
            "rule": self.rule.name,
            "at": {name: exact_text(value) for name, value in self.weights.premise.worst.items()},
            "method": f"a table of weights with {len(self.weights.table.rows)} rows",
            "checked_by_kernel": True,
            "gap_reached": True,
            "relative_gap": decimal_text((self.target.epsilon - self.lower) / self.target.epsilon, 3, round_up=True),
            **self.compare_with_unsampled(),
        }

    def render(self, *, everything: bool = True) -> str:
        """Return the guarantee as text for people, with ε without sampling beside it."""
        lines = [f"after {self.target.steps} steps, each on a fresh sample, together"] if self.target.steps > 1 else []
        lines += [f"the table of weights has {len(self.weights.table.rows)} rows", "checked by kernel: yes", *self.describe_unsampled()]
        return render(self.guarantee, everything=everything, beside=lines)


@dataclass(frozen=True, slots=True)
class DerivedDelta:
    """(ε, δ) of a profile in the notion ``gaussian`` under a sampling rule with an explicit q, with both sides of ε at δ.

    ``covered``: the evidence. The lower side is that of the pair of a record, so that no analysis by these pairs gives less.
    """

    guarantee: AnyGuarantee
    rule: SamplingRule
    profile: Profile
    target: GaussianTarget
    covered: CoveredRule
    gap: Fraction

    @property
    def upper(self) -> Fraction:
        """ε is at most this, in nats."""
        return self.covered.cover.epsilon

    @property
    def lower(self) -> Fraction:
        """ε of the worst record is at least this, in nats."""
        return lower_number(self.covered.cover.lower)

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of both sides, which ``pdp check`` checks."""
        return self.covered.to_object()

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp epsilon`` for a δ."""
        lower, told = self.covered.cover.lower, to_json(self.guarantee)
        told["epsilon"] = {"lower": decimal_text(self.lower, 12, round_up=False), **told["epsilon"]}
        return {
            **told,
            "steps": self.target.steps,
            "rule": self.rule.name,
            "at": {} if lower is None else {name: exact_text(value) for name, value in lower.at.items()},
            "method": f"branch and bound with dominating pairs: {len(list(self.covered.cover.cells(self.profile.record)))} cells",
            "checked_by_kernel": True,
            "gap_reached": self.covered.cover.reached,
            "relative_gap": decimal_text((self.upper - self.lower) / self.upper, 3, round_up=True),
            **self.compare_with_unsampled(),
        }

    def compare_with_unsampled(self) -> dict[str, Any]:
        """Return ε without sampling and which of the two is smaller as JSON: the keys ``without_sampling`` and ``smaller``."""
        return _compare(self.unsampled, self.lower, self.upper)

    def describe_unsampled(self) -> tuple[str, ...]:
        """Return ε without sampling in words, and which of the two is smaller."""
        return _describe(self.unsampled, self.target, self.lower, self.upper)

    @property
    def unsampled(self) -> CurvePoint:
        """Certified bounds of ε at δ after the same steps where every record is used with weight 1."""
        return bound_unsampled(self.profile, self.target)

    def render(self, *, everything: bool = True) -> str:
        """Return the guarantee as text for people, with the lower side, and ε without sampling beside it."""
        cover = self.covered.cover
        lines = [f"after {self.target.steps} steps, each on a fresh sample, together"] if self.target.steps > 1 else []
        if cover.lower is not None:
            at = ", ".join(f"{name} = {_brief(value)}" for name, value in cover.lower.at.items())
            lines.append(
                f"the pair of the record {at} has epsilon of at least {decimal_text(self.lower, 12, round_up=False)} at this delta"
            )
        lines += ["checked by kernel: yes", *self.describe_unsampled()]
        if not cover.reached:
            lines.append(
                "gap: both sides are proved, but they are farther apart than was asked for; raise --budget, or narrow the ranges without "
                "looking at the data"
            )
        return render(self.guarantee, everything=everything, beside=lines)


def derive_delta(
    reference: str | Profile | Declaration | Any,
    delta: object,
    *,
    rule: str | SamplingRule | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    steps: object = 1,
    gap: object = DEFAULT_COVER_GAP,
    budget: int = DEFAULT_CELLS,
) -> DerivedDelta:
    """Return the (ε, δ) guarantee of ``steps`` steps on fresh samples by a ``rule``, an expression ``q`` or the file's own rule.

    ``gap``: how far both sides of ε may be apart, relatively, or in nats below 1. Raises what loading, making the rule and
    :func:`bound_by_cover` raise.

    >>> from profiles import declare
    >>> noisy_sum = declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [0, 4]}, parameters={"sigma": 30})
    >>> found = derive_delta(noisy_sum, "1e-5", q="1/4")
    >>> found.to_json()["epsilon"]["upper"], found.to_json()["at"]
    ('0.925141026', {'z': '4'})
    """
    declaration = to_declaration(reference)
    require_gaussian(declaration.profile)
    chosen = choose_rule(declaration, rule, q, constants or {}, None)
    width, times, exact = to_gap(gap), to_steps(steps), to_target_delta(delta)
    hypotheses = tuple(dict.fromkeys((EXACT_REALS, *declaration.hypotheses)))
    made = bound_by_cover(declaration.profile, hypotheses, rule=chosen, at_delta=exact, steps=times, gap=width, budget=budget)
    guarantee = prove_run(made, declaration.mechanism)
    covered = cover_of(declaration.profile, chosen.q or number(1), exact, times, width, budget)
    target = GaussianTarget(covered.cover.epsilon, exact, times)
    return DerivedDelta(guarantee, chosen, declaration.profile, target, covered, width)


def _compare(unsampled: CurvePoint, lower: Fraction, upper: Fraction) -> dict[str, Any]:
    ends = {"lower": lower_text(unsampled), "upper": upper_text(unsampled)}
    told = {"epsilon": ends, "checked_by_kernel": unsampled.checked_by_kernel}
    return {"without_sampling": told, "smaller": _smaller(unsampled, lower, upper)}


def _describe(unsampled: CurvePoint, target: GaussianTarget, lower: Fraction, upper: Fraction) -> tuple[str, str]:
    delta = decimal_text(target.delta, 12, round_up=False)
    said = {
        "with sampling": "sampling lowers epsilon",
        "without sampling": "without sampling epsilon is smaller: this sampling saves work, not privacy",
        "neither": "neither is shown to be smaller",
    }
    first = f"without sampling, every record with weight 1: epsilon <= {upper_text(unsampled)} at delta = {delta}"
    return first, said[_smaller(unsampled, lower, upper)]


def _smaller(unsampled: CurvePoint, lower: Fraction, upper: Fraction) -> str:
    if unsampled.lower is not None and upper < unsampled.lower:
        return "with sampling"
    return "without sampling" if unsampled.upper is not None and unsampled.upper < lower else "neither"


def _brief(value: Fraction) -> str:
    return exact_text(value) if len(exact_text(value)) <= 20 else decimal_text(value, 12, round_up=False)


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


__all__ = ["DerivedDelta", "DerivedWeights", "bound_unsampled", "derive_delta", "derive_weights"]
