"""Homogeneous in the weight: μ(w, x) = w μ(1, x), rdp(α, w, x) = w² rdp(α, 1, x), ρ(w, x) = w² ρ(1, x) (docs/gaussian-weights.md).

It is what an additive mechanism has whose record counts w times, under noise that does not depend on w; with it a record enters by one
number, ζ = μ(1, x). The kernel proves the identity by a normal form, or refutes it at a point.
"""

from __future__ import annotations

from fractions import Fraction

from profiles.errors import InvalidExpression
from profiles.notions import ProfileNotion
from profiles.profile import Profile
from profiles.terms import number, substitute, symbol
from profiles.variables import WEIGHT
from proofs_check.admission import AdmittedProfile
from proofs_check.certificates import point_json
from proofs_check.conditions.decide import AT_ONCE, FINELY
from proofs_check.conditions.restating import restate
from proofs_check.prover.effort import apart
from proofs_check.prover.points import candidates
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.results import Decision, Tree, Verdict

ID = "homogeneous"
MEANING = "the cost of a record scales with its weight"
STATEMENTS = {
    ProfileNotion.GAUSSIAN: "for all records x and all w >= 1: mu(w, x) = w * mu(1, x)",
    ProfileNotion.RENYI: "for all records x, all w >= 1 and all alpha > 1: rdp(alpha, w, x) = w**2 * rdp(alpha, 1, x)",
    ProfileNotion.ZCDP: "for all records x and all w >= 1: rho(w, x) = w**2 * rho(1, x)",
}

#: Points that are looked at for a violation, and work for another way of writing the promise, in nominal seconds.
_POINTS, _SECONDS = 400, 1.0


def degree(notion: ProfileNotion) -> int:
    """Return the power of w: losses of the pair N(0, 1), N(w ζ, 1) grow as w ζ, its Rényi divergences as its square."""
    return 2 if notion in (ProfileNotion.RENYI, ProfileNotion.ZCDP) else 1


def decide_homogeneous(admitted: AdmittedProfile) -> Decision:
    """Decide whether the promise is a power of w times its value at w = 1."""
    profile = admitted.profile
    for told in _ways_of_writing(profile):
        claim: Tree = {"claim": ID, "verdict": "proved", "proof": told}
        if admitted.proves([claim]):
            return Decision(ID, Verdict.PROVED, "identity of normal forms", claim=claim, checked=True)
    stand_in = profile.stand_in()
    term = stand_in.numeric_epsilon()
    scaled = ("mul", ("pow", symbol(WEIGHT), number(degree(profile.notion))), substitute(term, {WEIGHT: number(1)}))
    gap = ("add", term, ("neg", scaled))
    for point in candidates(stand_in.variables(), _POINTS):
        try:
            vanishes = bool(as_ball(value_at(gap, point, 256)).contains(0))
        except UndefinedAtPoint:
            continue
        refuted = None if vanishes else _refute(admitted, point)
        if refuted is not None:
            return refuted
    reason = "it holds at all points that were looked at, but no normal form shows it everywhere"
    return Decision(ID, Verdict.UNKNOWN, "none", reason=reason)


def _ways_of_writing(profile: Profile) -> list[Tree]:
    pure = profile.stand_in()
    try:
        other = apart(_SECONDS, lambda: restate(pure, pure.expression()))
    except InvalidExpression:
        other = None
    return [{}] if other is None else [{}, {"restated": other.field()}]


def _refute(admitted: AdmittedProfile, point: dict[str, Fraction]) -> Decision | None:
    for tree in (AT_ONCE, FINELY):
        claim: Tree = {"claim": ID, "verdict": "refuted", "proof": {"at": point_json(point), "bound": tree}}
        if admitted.proves([claim]):
            return Decision(ID, Verdict.REFUTED, "witness", witness=point, claim=claim, checked=True)
    return None
