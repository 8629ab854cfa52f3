"""The sampling rule of a table of weights: q = min(1, ζ/μ) with the μ that serves ζ = μ(1, x), for a target (ε*, δ*) after T steps."""

from __future__ import annotations

from fractions import Fraction

from accountant.rules.named import SamplingRule
from profiles import InvalidSampling
from profiles.hypotheses import IN_RANGE, SCALE_FROM_DATA, TARGET_FIXED

NAME = "gaussian-constrained"
_SOURCE = "docs/gaussian-weights.md, Theorem 9"


def make_gaussian_rule(epsilon: Fraction, delta: Fraction, steps: int, scale: Fraction | None = None) -> SamplingRule:
    """Return the rule for the target δ(``epsilon``) ≤ ``delta`` after ``steps`` steps; ``scale``: weights are at most λ/ζ.

    A scale is computed from the data, for a sample size, and the rule assumes what that needs.
    """
    constants = {"target_delta": delta, "steps": Fraction(steps)} | ({} if scale is None else {"scale": scale})
    supposes = (IN_RANGE, TARGET_FIXED) + (() if scale is None else (SCALE_FROM_DATA,))
    return SamplingRule(NAME, None, tuple(sorted(constants.items())), supposes, _SOURCE, epsilon)


def read_gaussian_rule(rule: SamplingRule) -> tuple[Fraction, Fraction, int, Fraction | None]:
    """Return (ε*, δ*, T, λ) of such a rule. Raises :class:`InvalidSampling` for another one, or one that says something else."""
    constants = dict(rule.constants)
    delta, steps = constants.get("target_delta"), constants.get("steps")
    if rule.name == NAME and rule.target_epsilon is not None and delta is not None and steps is not None and steps.denominator == 1:
        scale = constants.get("scale")
        if rule == make_gaussian_rule(rule.target_epsilon, delta, int(steps), scale):
            return rule.target_epsilon, delta, int(steps), scale
    raise InvalidSampling(f"the sampling rule {rule.name[:60]!r} is not one of a table of weights; make it with make_gaussian_rule")
