"""Privacy-constrained sampling for an expected size: the target ε* of given noise, or the noise of a given ε*. Both look at the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from numpy.typing import ArrayLike

from accountant.calibration.noise import DEFAULT_TOLERANCE, Calibration, calibrate_noise, find_crossing, to_tolerance
from accountant.calibration.template import Template, make_template
from accountant.columns.values import Column
from accountant.guarantees.derive import derive_epsilon
from accountant.rules import SamplingRule, make_rule
from accountant.selection.select import prepare_selection
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import ProvedConvexity, epsilon_for_size
from profiles import Declaration, InvalidTarget, Profile, decimal_text, exact_text
from profiles.hypotheses import NOISE_FROM_DATA, TARGET_FIXED, TARGET_FROM_DATA, Hypothesis
from profiles.numbers import decimal_above, to_number, to_target

#: Called once a step; yields the statistics of all records, in batches.
Batches = Callable[[], Iterable[Mapping[str, ArrayLike | Column]]]

_DIGITS = 12


def constrained_rule_for_size(
    profile: Profile, size: object, batches: Batches, *, convexity: ProvedConvexity | None = None
) -> SamplingRule:
    """Return the privacy-constrained rule whose expected size over the records of ``batches`` is M = ``size``, up to 1e-9 and not above.

    Its target ε* depends on the data, which its hypotheses say. Source: Fay et al. 2024, Section 3.3; docs/rounding.md, section 8.
    Raises :class:`InvalidTarget` (an M that no target reaches), :class:`Undecided`, :class:`InvalidData`.
    """
    epsilon = epsilon_for_size(profile, size, batches, convexity=convexity or prove_convexity(profile))
    rule = make_rule("privacy-constrained", profile, target_epsilon=epsilon.epsilon)
    return replace(rule, hypotheses=(*(item for item in rule.hypotheses if item != TARGET_FIXED), TARGET_FROM_DATA))


def calibrate_noise_for_size(
    template: Profile,
    target_epsilon: object,
    size: object,
    batches: Batches,
    *,
    proportions: Mapping[str, object] | None = None,
    tolerance: object = DEFAULT_TOLERANCE,
    hypotheses: Sequence[Hypothesis] = (),
) -> Calibration:
    """Claim: privacy-constrained sampling for ε* with the returned noise is ε*-DP under the hypotheses of ``derived``, and the expected
    size Σ q̂ over the records of ``batches`` lies in [M (1 − tolerance), M], M = ``size``.

    More noise allows larger weights, so the size falls as the scale s rises; the least s is the one for which ε(1, x) ≤ ε* at every
    declared record (assumption-8), and has the largest size. The scale is a function of the data: ``NOISE_FROM_DATA`` is among
    the hypotheses. ``proportions`` as in :func:`calibrate_noise`. Source: docs/sampling.md, section 6; Fay et al. 2024, Section 5.

    Raises :class:`InvalidTarget` (M ≤ 0, M > n, an M that no noise reaches), :class:`Infeasible`, :class:`Undecided`,
    :class:`InvalidData`, :class:`InvalidArgument`.
    """
    target, exact_tolerance = to_target(target_epsilon, "(0, 1000000]"), to_tolerance(tolerance)
    goal = to_number(size, "the sample size", "(0, inf)", "give a positive number", InvalidTarget)
    family = make_template(template, proportions)
    least = calibrate_noise(template, "uniform", target, constants={"rate": 1}, proportions=proportions, tolerance=Fraction(1, 10**9))
    rule = make_rule("privacy-constrained", template, target_epsilon=target)
    rule = replace(rule, hypotheses=(*rule.hypotheses, NOISE_FROM_DATA))
    most, rows = _measure(family, rule, least.scale, batches)
    if goal > rows:
        raise InvalidTarget(
            f"the sample size {exact_text(goal)} is above the number of records; give at most that", private=f"there are {rows} records"
        )
    if most < goal * (1 - exact_tolerance):
        raise InvalidTarget(
            f"the sample size {exact_text(goal)} is not reachable: the least noise for which a record of weight 1 costs at most "
            f"{exact_text(target)} (scale {decimal_text(least.scale, 9, round_up=True)}) already has a smaller expected "
            "size; use that noise, or sample uniformly",
            private=f"the expected size is {decimal_text(most, 9, round_up=False)}",
        )
    scale, reached, above = _search(
        lambda scale: _measure(family, rule, scale, batches)[0], family.profile.name, {least.scale: most}, goal, exact_tolerance
    )
    profile = family.at(scale)
    derived = derive_epsilon(Declaration(profile, None, tuple(hypotheses)), rule=rule)
    parameters = {name: factor * scale for name, factor in family.proportions.items()}
    return Calibration(scale, parameters, profile, derived, above, {}, least.falling, float(reached))


def _search(
    measure: Callable[[Fraction], Fraction], name: str, sizes: dict[Fraction, Fraction], goal: Fraction, tolerance: Fraction
) -> tuple[Fraction, Fraction, Fraction | None]:
    """Return (scale, its size, a scale whose size is above the goal); ``sizes`` knows the size of the least scale."""
    ((least, most),) = sizes.items()
    if most <= goal:
        return least, most, None

    def excess(factor: float) -> float:
        scale = max(least, decimal_above(least * Fraction(factor), _DIGITS))
        if scale not in sizes:
            sizes[scale] = measure(scale)
        return math.log(sizes[scale]) - math.log(goal * (1 - tolerance / 2))

    find_crossing(excess, name, f"size {exact_text(goal)}", enough=float(tolerance) / 3)
    fitting = [scale for scale, size in sizes.items() if goal * (1 - tolerance) <= size <= goal]
    above = max(scale for scale, size in sizes.items() if size > goal)
    if not fitting:
        raise InvalidTarget(f"no noise gives the sample size {exact_text(goal)} within the tolerance; raise the tolerance")
    scale = min(fitting)
    return scale, sizes[scale], above


def _measure(family: Template, rule: SamplingRule, scale: Fraction, batches: Batches) -> tuple[Fraction, int]:
    """Return Σ q̂ for the numbers that a sampler uses, rounded up within 2^-50 relatively, and the number of records."""
    profile = family.at(scale)
    selector, sums, rows = prepare_selection(profile, rule), list[float](), 0
    for batch in batches():
        chances = selector.select(batch, first_row=rows).probabilities
        rows += chances.size
        sums.append(math.fsum(chances.tolist()))
    return Fraction(math.fsum(sums)) * (1 + Fraction(1, 2**51)), rows
