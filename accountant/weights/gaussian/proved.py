"""What the weights of a data set rest on under Gaussian noise: μ(w, x) = w μ(1, x) is proved, and μ(1, x) is bounded on the declared range.

Both are about the declared domain, not the data: the weights must be defined for any record that a neighboring data set may add.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.compositions.events import MOST_EPSILON
from accountant.weights.gaussian.one_step import OneStep
from accountant.weights.gaussian.table import WeightTable, make_table
from accountant.weights.gaussian.weight import MAX_STEPS, require_gaussian, require_homogeneous, to_target_delta
from profiles.errors import Infeasible, InvalidProfile, Undecided
from profiles.numbers import decimal_text, exact_text, to_integer, to_target
from profiles.profile import Profile
from profiles.terms import Term, number, substitute
from profiles.variables import WEIGHT
from proofs_check.branch_and_bound import minimum_enclosure
from proofs_check.certificates import check_text, profile_json
from proofs_check.conditions import homogeneous
from proofs_check.suprema.ceilings import certify_at_most, enclose_term, proves_at_most

Point = Mapping[str, Fraction]
_BOXES = 1_000


@dataclass(frozen=True, slots=True)
class ProvedGaussian:
    """Claim: μ(w, x) = w ζ(x) on the declared domain of ``profile``, with 0 ≤ ζ(x) = μ(1, x) ≤ ``reach`` for every record.

    ``promise`` and ``ceiling`` are the certificates of the two. ``worst``: a record whose ζ is at, or just below, ``reach``; ``least``:
    about the smallest ζ, beyond which a table needs no rows.
    """

    profile: Profile
    reach: Fraction
    worst: Point
    promise: Mapping[str, Any]
    ceiling: Mapping[str, Any]
    least: Fraction = Fraction(0)

    @property
    def zeta(self) -> Term:
        """The term of ζ in the statistics."""
        return zeta_term(self.profile)


def zeta_term(profile: Profile) -> Term:
    """Return the term of μ(1, x), with numbers in place of the parameters."""
    return substitute(profile.stand_in().numeric_epsilon(), {WEIGHT: number(1)})


def prove_gaussian(profile: Profile) -> ProvedGaussian:
    """Return what is proved of a profile in the notion ``gaussian``.

    Raises :class:`profiles.OtherNotion`, :class:`InvalidProfile` (a parameter without a number, no statistic, a μ that is no multiple of w,
    or 0 everywhere), :class:`Undecided`.
    """
    require_gaussian(profile)
    free = [parameter.name for parameter in profile.free_parameters]
    if free:
        raise InvalidProfile(f"weights need numbers for all parameters, but {', '.join(free)} has none; set it in the profile")
    if not profile.record:
        raise InvalidProfile(f"the profile {profile.name[:60]!r} declares no record statistic, so no data can be read for it; declare one")
    promise = require_homogeneous(profile).certificate()
    term = zeta_term(profile)
    enclosed = enclose_term(term, profile.record)
    if enclosed is None:
        raise Undecided("mu(1, x) could not be bounded over the declared domain; narrow the ranges and clip each record to them")
    _, reach, worst = enclosed
    if not reach:
        raise InvalidProfile(
            f"weights were asked for, but every record of {profile.name[:60]!r} has mu = 0 and loses nothing; use all records"
        )
    ceiling = certify_at_most(term, profile.record, reach)
    if ceiling is None:
        raise Undecided(f"mu(1, x) <= {decimal_text(reach, 9, round_up=True)} could not be proved for every record; write mu more simply")
    ends = minimum_enclosure(term, profile.record_variables(), _BOXES)
    least = Fraction(0) if ends is None else max(Fraction(decimal_text(max(ends[0], Fraction(0)), 9, round_up=False)), Fraction(0))
    return ProvedGaussian(profile, reach, worst, promise, ceiling, least)


def recheck_promise(profile: Profile, promise: object) -> bool:
    """Tell whether the kernel accepts a certificate, and it says that μ of this very profile is a multiple of w."""
    if not isinstance(promise, Mapping) or promise.get("profile") != profile_json(profile):
        return False
    report = check_text(json.dumps(promise))
    return report.accepted and any((claim.claim, claim.verdict) == (homogeneous.ID, "proved") for claim in report.claims)


def recheck_proved(profile: Profile, reach: Fraction, promise: object, ceiling: object) -> bool:
    """Tell whether the kernel accepts now what a file gives as its certificates of ``profile`` and ``reach``."""
    return recheck_promise(profile, promise) and proves_at_most(ceiling, zeta_term(profile), profile.record, reach)


@dataclass(frozen=True, slots=True)
class GaussianTarget:
    """What weights are for: δ(``epsilon``) ≤ ``delta`` after ``steps`` steps, each on a fresh sample."""

    epsilon: Fraction
    delta: Fraction
    steps: int

    def describe(self) -> str:
        """Return "epsilon = ... and delta = ..." with exact numbers, and the steps where there are several."""
        after = "" if self.steps == 1 else f" after {self.steps} steps"
        return f"epsilon = {exact_text(self.epsilon)} and delta = {exact_text(self.delta)}{after}"


def to_gaussian_target(epsilon: object, delta: object, steps: object = 1) -> GaussianTarget:
    """Return a target that a user gave. Raises :class:`InvalidTarget`, :class:`profiles.InvalidArgument`.

    Numbers that are none are refused as everywhere.
    """
    return GaussianTarget(to_target(epsilon, f"[1e-300, {MOST_EPSILON}]"), to_target_delta(delta), to_steps(steps))


def to_steps(value: object) -> int:
    """Return a number of steps. Raises :class:`profiles.InvalidArgument`."""
    return to_integer(value, "the number of steps", 1, MAX_STEPS, hint="choose one in this range", any_form=True)


def tabulate_weights(proved: ProvedGaussian, target: GaussianTarget, *, whole: bool = False) -> WeightTable:
    """Return the table of weights for every record of the declared domain (:func:`make_table`).

    Raises :class:`Infeasible` where w = 1 exceeds the target at a record, which it names: one of the declared domain, not of the data.
    """
    step = OneStep(target.epsilon, target.delta)
    try:
        return make_table(step, proved.reach, target.steps, least=proved.least, whole=whole)
    except Infeasible as error:
        raise Infeasible(
            f"weights for {target.describe()} were asked for, but w = 1 already exceeds them at the record "
            f"{describe_record(proved.worst)} of the declared domain; raise the target or the noise, or narrow the range and clip "
            "each record to it"
        ) from error


def describe_record(at: Point) -> str:
    """Return the statistics of a record of the declared domain, long ones rounded."""
    return ", ".join(
        f"{name} = {exact_text(value) if len(exact_text(value)) <= 20 else decimal_text(value, 12, round_up=False)}"
        for name, value in at.items()
    )
