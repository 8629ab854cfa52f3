"""The least noise for a target ε* under an explicit sampling rule: searched, then certified (docs/sampling.md, section 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from accountant.calibration.template import Template, make_template
from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from accountant.rules import SamplingRule, make_rule, refuse_oracle
from profiles import Declaration, Infeasible, InvalidArgument, Profile, Undecided, exact_text
from profiles.balls import working_precision
from profiles.hypotheses import Hypothesis
from profiles.numbers import decimal_above, to_number, to_target
from profiles.terms import Term
from proofs_check.branch_and_bound import Point, SearchedTerm
from proofs_check.suprema.bound import least_value
from proofs_check.suprema.search import guess_maximiser
from proofs_check.suprema.terms import odds_term, sampled_term

DEFAULT_TOLERANCE = "1e-6"
_BITS = 192
_FARTHEST = 400.0
_FAR_BITS = 2048
_LEAST_GAP = Fraction(1, 10**18)
_ROUNDS = 8
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Calibration:
    """A noise scale with the guarantee that it gives, and a slightly smaller one that is certainly too small.

    ``scale``: s, an exact decimal, rounded up; ``parameters``: the noise parameters, each its proportion times s. ``profile``: with
    these numbers. ``derived``: its guarantee, ε ≤ target. ``too_small``: a scale with ψ > target at the record ``at`` (for a target size:
    with an expected size above it), None where none was found; ``falling``: the proof that the loss does not rise with s, None
    without one. With both, no scale up to ``too_small`` will do. ``size``: the expected size, where the data was used.
    """

    scale: Fraction
    parameters: Mapping[str, Fraction]
    profile: Profile
    derived: DerivedEpsilon
    too_small: Fraction | None
    at: Mapping[str, Fraction]
    falling: str | None
    size: float | None = field(default=None, repr=False)

    @property
    def smallest(self) -> bool:
        """Whether every scale up to ``too_small`` is proved to be too small."""
        return self.falling is not None and self.too_small is not None

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return self.derived.guarantee.hypotheses

    def render(self) -> str:
        """Return scales, guarantee and hypotheses as text for people."""
        lines = [f"{name} = {exact_text(value)}" for name, value in self.parameters.items()]
        if self.too_small is not None:
            lines += [f"a common scale of {exact_text(self.too_small)} in place of {exact_text(self.scale)} is too small"]
        return "\n".join([*lines, "", self.derived.render()])


def calibrate_noise(
    template: Profile,
    rule: str | SamplingRule,
    target_epsilon: object,
    *,
    constants: Mapping[str, object] | None = None,
    proportions: Mapping[str, object] | None = None,
    tolerance: object = DEFAULT_TOLERANCE,
    hypotheses: Sequence[Hypothesis] = (),
) -> Calibration:
    """Claim: with the returned noise the mechanism after sampling is ε*-DP under the hypotheses of ``derived``; and a scale smaller by the
    relative ``tolerance`` is not enough for this derivation (``too_small``).

    ``template``: a profile whose noise scales have no number (``"positive"``), each ``proportions[name]`` times a common s (one
    parameter needs no proportions). ``rule``: its name with ``constants``, or one made by ``make_rule`` or ``rule_from_expression``; it
    must be explicit (for ``privacy-constrained`` the noise follows from a sample size: :func:`calibrate_noise_for_size`).

    The search is not trusted: what it proposes goes through ``derive_epsilon``. That smaller scales are worse is proved where it can be
    (``falling``). ``hypotheses`` are those that the profile was declared under.

    Source: docs/sampling.md, section 6; Fay et al. 2024, Section 5 chooses B in this way, with 100 points in place of
    a supremum.

    Raises :class:`InvalidTarget`, :class:`InvalidArgument`, :class:`InvalidSampling`, :class:`NotPrivate`; :class:`Infeasible` where no
    noise reaches the target; :class:`Undecided` where no scale could be certified.

    >>> from profiles import declare
    >>> template = declare("sum", "w*z/b", record={"z": [0, 1]}, parameters={"b": "positive"})
    >>> found = calibrate_noise(template, "uniform", 2, constants={"rate": 1})
    >>> float(found.scale), found.smallest
    (0.50000015, True)
    """
    refuse_oracle(rule)
    made = rule if isinstance(rule, SamplingRule) else make_rule(rule, template, constants, target_epsilon)
    if isinstance(rule, SamplingRule) and constants:
        raise InvalidArgument("a sampling rule that was made has its constants; give none beside it")
    if made.q is None:
        raise InvalidArgument(
            f"the noise for {made.name!r} was asked for, but any noise meets its target with weights of its own; give a sample size as "
            "well, with calibrate_noise_for_size"
        )
    target, exact_tolerance = to_target(target_epsilon, "(0, 1000000]"), to_tolerance(tolerance)
    family = make_template(template, proportions)
    falling = family.prove_falling()
    gap = min(Fraction(1, 10**9), exact_tolerance / 1_000)
    known: list[Point] = []
    floor = Fraction(0)
    for attempt in range(_ROUNDS):
        crossing = find_crossing(_excess(family, made.q, target, known), template.name, exact_text(target))
        scale = round_scale(max(Fraction(crossing) * (1 + exact_tolerance * Fraction(3, 10)), floor), exact_tolerance)
        profile = family.at(scale)
        derived = derive_epsilon(Declaration(profile, None, tuple(hypotheses)), rule=made, relative_gap=gap)
        if derived.bound.upper <= target:
            at, small = derived.bound.evidence.at, _too_small(family, made.q, target, derived, scale * (1 - exact_tolerance))
            return Calibration(scale, _parameters(family, scale), profile, derived, small, at, falling)
        known.append(dict(derived.bound.evidence.at))
        # where epsilon hardly depends on the scale, the bound has to be closer and the steps longer
        gap = max(gap / 1_000, _LEAST_GAP) if derived.bound.evidence.lower <= target else gap
        floor = scale * (1 + exact_tolerance / 4 * 4**attempt)
    if falling is not None and any(_is_above(family, made.q, target, point, Fraction(2) ** int(_FARTHEST), _FAR_BITS) for point in known):
        raise Infeasible(
            f"noise for the target {exact_text(target)} was asked for, but no noise of {template.name!r} reaches it, except perhaps in the "
            "limit; raise the target slightly"
        )
    raise Undecided(
        f"noise for epsilon <= {exact_text(target)} was to be found for {template.name!r}, but none of {_ROUNDS} proposals could be "
        "certified; raise the tolerance or the target slightly"
    )


def to_tolerance(value: object) -> Fraction:
    """Return a relative tolerance. Raises :class:`InvalidArgument` outside [1e-12, 0.1]."""
    return to_number(value, "the tolerance", "[1e-12, 0.1]", "give for example 1e-6")


def round_scale(scale: Fraction, tolerance: Fraction) -> Fraction:
    """Return a decimal just above ``scale``, short beside the tolerance."""
    return decimal_above(scale, 2 + math.ceil(-math.log10(tolerance)))


def find_crossing(excess: Callable[[float], float], name: str, target: str, enough: float = 0.0) -> float:
    """Return a scale where a falling ``excess`` is about 0, by bracketing and safeguarded secants on the logarithm; not trusted.

    It may stop where |excess| ≤ ``enough``.

    Raises :class:`Infeasible` where it stays above 0 up to 2^400, :class:`InvalidArgument` where it stays below down to 2^-400.
    """
    low = high = 0.0
    at_low = at_high = excess(1.0)
    step = 1.0
    while at_high > 0:
        low, at_low, high, step = high, at_high, high + step, step * 2
        if high > _FARTHEST:
            raise Infeasible(
                f"noise for the target {target} was asked for, but no noise of {name!r} reaches it; raise the target, or check that "
                "more noise is a larger parameter"
            )
        at_high = excess(2.0**high)
    step = 1.0
    while at_low <= 0:
        high, at_high, low, step = low, at_low, low - step, step * 2
        if low < -_FARTHEST:
            raise InvalidArgument(
                f"noise for the target {target} was asked for, but {name!r} meets it without any; choose the noise by other means"
            )
        at_low = excess(2.0**low)
    side = 0
    for _ in range(_STEPS):
        if high - low < 1e-14 * max(1.0, abs(high)):
            break
        share = at_low / (at_low - at_high) if math.isfinite(at_low) and math.isfinite(at_high) else 0.5
        middle = low + (high - low) * min(max(share, 0.001), 0.999)
        above = excess(2.0**middle)
        if abs(above) <= enough:
            return float(2.0**middle)
        if above > 0:
            low, at_low, at_high, side = middle, above, at_high / 2 if side > 0 else at_high, 1
        else:
            high, at_high, at_low, side = middle, above, at_low / 2 if side < 0 else at_low, -1
    return float(2.0**high)


def _excess(family: Template, q: Term, target: Fraction, known: list[Point]) -> Callable[[float], float]:
    """Return s ↦ about log(sup ψ/ε*), by the heuristic of the worst case and the records that it missed before."""

    def excess(scale: float) -> float:
        profile = family.at(Fraction(scale))
        log, odds = sampled_term(profile, q), odds_term(profile, q)
        box = {variable.name: (variable.lo, variable.hi) for variable in profile.record_variables() if variable.hi is not None}
        names = tuple(box)
        with working_precision(_BITS):
            objective, other = SearchedTerm(log, names), SearchedTerm(odds, names)
            points = [guess_maximiser(other if target < 1 else objective, box), *known]
            worst = max(_number(other.at(point).log1p() if target < 1 else objective.at(point)) for point in points)
        return math.log(max(worst, 1e-300)) - math.log(target)

    return excess


def _number(value: object) -> float:
    end = float(getattr(value, "mid", lambda: math.nan)())
    return end if math.isfinite(end) else math.inf


def _too_small(family: Template, q: Term, target: Fraction, derived: DerivedEpsilon, scale: Fraction) -> Fraction | None:
    """Return ``scale`` if ψ is certainly above the target there, at the worst record that is known."""
    return scale if _is_above(family, q, target, derived.bound.evidence.at, scale, _BITS) else None


def _is_above(family: Template, q: Term, target: Fraction, at: Mapping[str, Fraction], scale: Fraction, bits: int) -> bool:
    """Tell whether ψ is certainly above the target at a record."""
    profile = family.at(scale)
    with working_precision(bits):
        attained = least_value(SearchedTerm(sampled_term(profile, q), ()), SearchedTerm(odds_term(profile, q), ()), at)
    return attained is not None and attained > target


def _parameters(family: Template, scale: Fraction) -> dict[str, Fraction]:
    return {name: factor * scale for name, factor in family.proportions.items()}
