"""What the weights of a data set rest on under Gaussian noise: μ(w, x) = w μ(1, x) is proved, and μ(1, x) is bounded on the declared range.

Both are about the declared domain, not the data: the weights must be defined for any record that a neighboring data set may add.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from profiles.errors import InvalidProfile, OtherNotion, Undecided
from profiles.notions import ProfileNotion
from profiles.numbers import decimal_below, decimal_text, exact_text
from profiles.profile import Profile
from profiles.terms import Term
from proofs_check.certificates import check_text, profile_json
from proofs_check.conditions import homogeneous
from proofs_check.results import Verdict
from proofs_check.suprema.ceilings import RecordTerm
from proofs_check.verify_notion import NotionVerification, verify_notion

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
        return self.profile.at_weight_one()


def prove_gaussian(profile: Profile) -> ProvedGaussian:
    """Return what is proved of a profile in the notion ``gaussian``.

    Raises :class:`profiles.OtherNotion`, :class:`InvalidProfile` (a parameter without a number, no statistic, a μ that is not a multiple
    of w, or 0 everywhere), :class:`Undecided`.
    """
    require_gaussian(profile)
    free = [parameter.name for parameter in profile.free_parameters]
    if free:
        raise InvalidProfile(f"weights need numbers for all parameters, but {', '.join(free)} has none; set it in the profile")
    if not profile.record:
        raise InvalidProfile(f"the profile {profile.name[:60]!r} declares no record statistic, so no data can be read for it; declare one")
    promise = require_homogeneous(profile).certificate()
    zeta = RecordTerm(profile.at_weight_one(), profile.record)
    enclosed = zeta.enclose()
    if enclosed is None:
        raise Undecided("mu(1, x) could not be bounded over the declared domain; narrow the ranges and clip each record to them")
    _, reach, worst = enclosed
    if not reach:
        raise InvalidProfile(
            f"weights were asked for, but every record of {profile.name[:60]!r} has mu = 0 and loses nothing; use all records"
        )
    ceiling = zeta.certify_at_most(reach)
    if ceiling is None:
        raise Undecided(f"mu(1, x) <= {decimal_text(reach, 9, round_up=True)} could not be proved for every record; write mu more simply")
    ends = zeta.enclose_least(budget=_BOXES)
    least = Fraction(0) if ends is None else max(decimal_below(max(ends[0], Fraction(0)), 9), Fraction(0))
    return ProvedGaussian(profile, reach, worst, promise, ceiling, least)


def require_gaussian(profile: Profile) -> None:
    """Refuse a profile of another notion, in one sentence. Raises :class:`OtherNotion`."""
    if profile.notion is ProfileNotion.PURE:
        raise OtherNotion(
            f"a target delta was given, but {profile.name[:60]!r} is a profile of pure epsilon-differential privacy, which needs none; "
            'leave it out, or declare mu in the notion "gaussian"'
        )
    if profile.notion is not ProfileNotion.GAUSSIAN:
        raise OtherNotion(
            f'weights for a target delta need the notion "gaussian", but {profile.name[:60]!r} declares {profile.notion.number} in '
            f'the notion "{profile.notion.value}", of which nothing is proved that sampling would gain; declare mu'
        )


@lru_cache(maxsize=256)
def require_homogeneous(profile: Profile) -> NotionVerification:
    """Return the proof that a record enters by one number, times its weight; refuse a profile without one."""
    verified = verify_notion(profile, [homogeneous.ID])
    decision = verified.decisions[homogeneous.ID]
    if decision.verdict is Verdict.REFUTED:
        raise InvalidProfile(
            f"a weight needs mu(w, x) = w*mu(1, x), but that is refuted for {profile.name[:60]!r} (pdp verify tells where); declare the mu "
            "of a mechanism whose noise does not depend on the weight"
        )
    if decision.verdict is Verdict.UNKNOWN:
        raise Undecided(
            f"a weight needs mu(w, x) = w*mu(1, x), but that could not be proved for {profile.name[:60]!r}; write mu more simply"
        )
    return verified


def recheck_promise(profile: Profile, promise: object) -> bool:
    """Tell whether the kernel accepts a certificate, and it says that μ of this very profile is a multiple of w."""
    if not isinstance(promise, Mapping) or promise.get("profile") != profile_json(profile):
        return False
    report = check_text(json.dumps(promise))
    return report.accepted and any((claim.claim, claim.verdict) == (homogeneous.ID, "proved") for claim in report.claims)


def recheck_proved(profile: Profile, reach: Fraction, promise: object, ceiling: object) -> bool:
    """Tell whether the kernel accepts now what a file gives as its certificates of ``profile`` and ``reach``."""
    return recheck_promise(profile, promise) and RecordTerm(profile.at_weight_one(), profile.record).is_at_most(reach, ceiling)


def describe_record(at: Point) -> str:
    """Return the statistics of a record of the declared domain, long ones rounded."""
    return ", ".join(
        f"{name} = {exact_text(value) if len(exact_text(value)) <= 20 else decimal_text(value, 12, round_up=False)}"
        for name, value in at.items()
    )
