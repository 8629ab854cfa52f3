"""Certificates of worst-case bounds: proof trees, found by trying and decided by the kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from profiles import Profile, exact_text
from profiles.balls import ball, interval
from profiles.evaluation import exact_value
from profiles.terms import Term, children, free_symbols
from proofs_check.branch_and_bound import Box, Point, SearchedTerm, prove_at_most
from proofs_check.certificates import assemble, check_text, complete, profile_json
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.feasibility import domains

Tree = dict[str, Any]

MANIFEST: Tree = {"rule": "manifest"}
ZERO: Tree = {"rule": "zero"}
_ATTEMPTS = 16
#: Of kinks that a range is split at; parts of it whose ends are looked at for one; halvings of such a part.
_MOST_KINKS, _SCAN, _HALVINGS = 6, 64, 45


@dataclass(frozen=True, slots=True)
class Checked:
    """A certificate, whether the kernel accepted it, and what it said if not."""

    certificate: dict[str, Any] | None
    accepted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ProofTrees:
    """Trees to try, best first, for each step of the two claims."""

    positive: Sequence[Tree]
    at_most_one: Sequence[Tree]
    bound: Sequence[tuple[str, Tree]]
    lower: Sequence[Tree]


@dataclass(frozen=True, slots=True)
class BoundClaim:
    """lower ≤ ψ(at), and ψ ≤ upper at every record."""

    lower: Fraction
    upper: Fraction
    at: Point


def boxes(budget: int, precision: int = 64, *, centred: bool = False) -> Tree:
    """Return a proof step that has the kernel subdivide the ranges."""
    tree: Tree = {"rule": "boxes", "budget": budget, "precision": precision}
    return {**tree, "form": "centred"} if centred else tree


def well_defined_tree(profile: Profile, given: Mapping[str, Any] | None) -> Tree:
    """Return the well-definedness claim: the given one, else that of the prover, which raises where the profile is not well defined."""
    if given is not None:
        return dict(given)
    from proofs_check.admission import admit  # noqa: PLC0415 - the prover is slow to load

    return dict(admit(profile).claim)


def probability_trees(q: SearchedTerm, box: Box, *, slope: int, worst: Point) -> list[Tree]:
    """Return trees for q > 0 (``slope`` = 1) or 1 − q ≥ 0 (``slope`` = −1): sign of the normal form, monotone to an end, subdivision.

    ``worst`` is a record where q is extreme; where q is exactly 1 there, inside a range, each side is tried by itself.
    """
    reduced = _monotone(q, box, box, slope, precision=64)
    trees_ = [] if reduced is None else [reduced]
    split = _split_at_touch(q, box, worst) if slope < 0 and reduced is None else None
    trees_ += [] if split is None else [split]
    many = [boxes(2_000), boxes(2_000, centred=True)]
    return [MANIFEST, *trees_, *many] if slope > 0 else [*trees_, boxes(200), MANIFEST, *many]


def _split_at_touch(q: SearchedTerm, box: Box, worst: Point) -> Tree | None:
    wide = [name for name, (lo, hi) in box.items() if lo < hi]
    if len(wide) != 1:
        return None
    (name,) = wide
    lo, hi = box[name]
    for digits in (1, 100, 10**4, 10**8):
        at = worst[name].limit_denominator(digits)
        if lo < at < hi and exact_value(q.term, {**worst, name: at}) == 1:
            sides = [_monotone(q, half, half, -1, precision=64) for half in ({**box, name: (lo, at)}, {**box, name: (at, hi)})]
            if None not in sides:
                return {"rule": "split", "variable": name, "at": exact_text(at), "below": sides[0], "above": sides[1]}
    return None


def _monotone(objective: SearchedTerm, box: Box, face: Box, slope: int, *, precision: int, rest: Tree | None = None) -> Tree | None:
    """Reduce slope·f to the ends at which it is smallest, one variable after the other; None if no variable reduces."""
    for name, (lo, hi) in face.items():
        if lo == hi:
            continue
        sign = monotone_sign(objective, face, name)
        if sign == 0:
            continue
        increasing = sign * slope > 0
        end = {**face, name: (lo, lo) if increasing else (hi, hi)}
        inner = _monotone(objective, box, end, slope, precision=precision, rest=rest)
        last: Tree = inner or rest or MANIFEST
        return {
            "rule": "monotone",
            "variable": name,
            "direction": "increasing" if increasing else "decreasing",
            "slope": boxes(2_000, precision),
            "end": last,
        }
    return None


def monotone_sign(objective: SearchedTerm, box: Box, name: str, budget: int = 64) -> int:
    """Return 1 or −1 where the objective seems increasing or decreasing in ``name`` on the box by its gradient balls, else 0."""
    index = objective.names.index(name)
    pending, sign, count = [box], 0, 0
    while pending:
        current = pending.pop()
        count += 1
        slope = objective.gradient(current)[index]
        if slope is None:
            return 0
        leaning = _leaning(slope)
        if leaning:
            if sign and leaning != sign:
                return 0
            sign = leaning
            continue
        if count > budget:
            return 0
        widest = max(current, key=lambda key: current[key][1] - current[key][0])
        lo, hi = current[widest]
        if lo == hi:
            return 0
        pending += [{**current, widest: (lo, (lo + hi) / 2)}, {**current, widest: ((lo + hi) / 2, hi)}]
    return sign


def _leaning(slope: arb) -> int:
    """Return the sign of a slope; ends that miss 0 by rounding alone count as 0, because the kernel decides."""
    if not slope.is_finite():
        return 0
    noise = abs(slope).upper() * arb(2) ** -25
    return 1 if slope >= -noise else -1 if slope <= noise else 0


@dataclass(frozen=True, slots=True)
class Subgoal:
    """One form of the goal U − ψ ≥ 0: the objective that has to stay at or below ``target``."""

    form: str
    objective: SearchedTerm
    target: arb


def bound_trees(goals: Sequence[Subgoal], box: Box, *, precision: int, estimate: int) -> list[tuple[str, Tree]]:
    """Return (form, tree) pairs for U − ψ ≥ 0: reductions along monotone variables, then centred boxes, then natural ones.

    ``estimate`` is the number of boxes that our own branch and bound needed.
    """
    budget = min(50_000, max(2_000, 40 * estimate))
    natural = boxes(min(budget, 5_000), precision)
    several = sum(lo < hi for lo, hi in box.values()) > 1
    trees_: list[tuple[str, Tree]] = []
    for goal in goals:
        smooth = boxes(budget, precision, centred=True)
        centred = _without_rough_ends(goal, box, _with_splits(smooth, natural, find_kinks(goal.objective.term, box)), natural)
        if several:
            reduced = _monotone(goal.objective, box, box, -1, precision=precision, rest=centred)
            trees_ += [(goal.form, reduced)] if reduced is not None else []
        trees_.append((goal.form, centred))
    trees_ += [("exp", ZERO), ("exp", MANIFEST)]
    for goal in goals:
        reduced = _monotone(goal.objective, box, box, -1, precision=precision, rest=boxes(200, precision))
        trees_ += [(goal.form, reduced)] if reduced is not None else []
    return [*trees_, *((goal.form, natural) for goal in goals)]


def _without_rough_ends(goal: Subgoal, box: Box, tree: Tree, natural: Tree) -> Tree:
    """Cut off ends of a range where a derivative is infinite (as of sqrt at 0), or where the kernel does not differentiate (as z**(3/2)
    at 0, because it asks for a base above 0), if the goal is clear there without derivatives.
    """
    for name, (lo, hi) in box.items():
        for end, inward in ((lo, hi - lo), (hi, lo - hi)):
            tip = tuple(sorted((end, end + inward / 2**20)))
            if lo == hi or not _is_rough(goal.objective, {**box, name: (tip[0], tip[1])}):
                continue
            cut = _clear_until(goal, box, name, (end, inward))
            if cut is not None:
                pieces = {"below": natural, "above": tree} if inward > 0 else {"below": tree, "above": natural}
                tree = {"rule": "split", "variable": name, "at": exact_text(cut), **pieces}
    return tree


def _is_rough(objective: SearchedTerm, tip: Box) -> bool:
    if any(slope is not None and not slope.is_finite() for slope in objective.gradient(tip)):
        return True
    values = {name: interval(lo, hi) for name, (lo, hi) in tip.items()}
    return any(not Enclosure(base).evaluate(values) > 0 for _, base, allows_zero in domains(objective.term) if allows_zero)


def _clear_until(goal: Subgoal, box: Box, name: str, ray: tuple[Fraction, Fraction]) -> Fraction | None:
    end, inward = ray
    for halvings in (12, 30, 70, 110):
        cut = end + inward / 2**halvings
        slab = {**box, name: (min(end, cut), max(end, cut))}
        if prove_at_most(goal.objective, slab, goal.target, 50).proved:
            return cut
    return None


def _with_splits(smooth: Tree, across: Tree, kinks: Sequence[Kink]) -> Tree:
    """Use ``smooth`` between the kinks and ``across`` on the narrow pieces that contain one, variable after variable."""
    if not kinks:
        return smooth
    name = kinks[0].name
    here, rest = [kink for kink in kinks if kink.name == name], [kink for kink in kinks if kink.name != name]
    piece = _with_splits(smooth, across, rest)
    tree = piece
    for kink in sorted(here, key=lambda kink: kink.lo, reverse=True):
        if kink.lo != kink.hi:
            tree = {"rule": "split", "variable": name, "at": exact_text(kink.hi), "below": across, "above": tree}
        tree = {"rule": "split", "variable": name, "at": exact_text(kink.lo), "below": piece, "above": tree}
    return tree


@dataclass(frozen=True, slots=True)
class Kink:
    """A branch changes at ``lo`` = ``hi``, or between them where the place is not found exactly."""

    name: str
    lo: Fraction
    hi: Fraction


def find_kinks(term: Term, box: Box) -> Sequence[Kink]:
    """Return where Abs, Min, Max or Piecewise in one statistic change their branch, so that a proof has to split its range.

    These are places inside ``box``, in order and apart, where a difference of branches is 0 or changes its sign; nothing here is trusted.
    """
    kinks: list[Kink] = []
    for difference in _differences(term):
        names = free_symbols(difference)
        if len(names) != 1 or not names <= set(box):
            continue
        (name,) = names
        for lo, hi in _roots(difference, name, box[name]):
            if not any(kink.name == name and kink.lo <= hi and lo <= kink.hi for kink in kinks):
                kinks.append(Kink(name, lo, hi))
    return sorted(kinks[:_MOST_KINKS], key=lambda kink: (kink.name, kink.lo))


def _differences(term: Term) -> Iterator[Term]:
    stack, seen = [term], set()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if current[0] == "abs":
            yield current[1]
        elif current[0] in ("min", "max"):
            yield from (("add", current[1], ("neg", other)) for other in current[2:])
        elif current[0] == "piecewise":
            yield from (("add", c[1], ("neg", c[2])) for _, c in current[1:] if c[0] != "true")
        stack.extend(children(current))


def _roots(difference: Term, name: str, bounds: tuple[Fraction, Fraction]) -> Iterator[tuple[Fraction, Fraction]]:
    lo, hi = bounds
    points = [lo + (hi - lo) * Fraction(k, _SCAN) for k in range(_SCAN + 1)]
    signs = [_sign(difference, name, point) for point in points]
    for index, sign in enumerate(signs):
        if sign == 0 and lo < points[index] < hi:
            yield points[index], points[index]
    for index in range(_SCAN):
        left, right = signs[index], signs[index + 1]
        if left is not None and right is not None and left * right < 0:
            yield _bisect(difference, name, (points[index], points[index + 1]), left)


def _bisect(difference: Term, name: str, bracket: tuple[Fraction, Fraction], left: int) -> tuple[Fraction, Fraction]:
    lo, hi = bracket
    for _ in range(_HALVINGS):
        simple = ((lo + hi) / 2).limit_denominator(10**6)
        for point in (simple, (lo + hi) / 2):
            sign = _sign(difference, name, point) if lo < point < hi else None
            if sign == 0:
                return point, point
            if sign is not None:
                lo, hi = (point, hi) if sign == left else (lo, point)
    return lo, hi


def _sign(term: Term, name: str, value: Fraction) -> int | None:
    exact = exact_value(term, {name: value})
    if exact is not None:
        return (exact > 0) - (exact < 0)
    ball_value = Enclosure(term).evaluate({name: ball(value)})
    return 1 if ball_value > 0 else -1 if ball_value < 0 else None


def certify(profile: Profile, q: Term, claim: BoundClaim, trees: ProofTrees, well_defined: Mapping[str, Any]) -> Checked:
    """Return the first certificate of the claim that the kernel accepts, or the last one it rejected with its reason."""
    choice = {"q-positive": 0, "q-at-most-one": 0, "upper": 0, "lower": 0}
    options: dict[str, int] = {
        "q-positive": len(trees.positive), "q-at-most-one": len(trees.at_most_one), "upper": len(trees.bound), "lower": len(trees.lower),
    }  # fmt: skip
    certificate: dict[str, Any] = {}
    reason = ""
    for _ in range(_ATTEMPTS):
        form, tree = trees.bound[choice["upper"]]
        proof = {
            "q-positive": trees.positive[choice["q-positive"]],
            "q-at-most-one": trees.at_most_one[choice["q-at-most-one"]],
            "form": form,
            "bound": tree,
        }
        claims = [
            dict(well_defined),
            {"claim": "epsilon-upper", "verdict": "proved", "bound": exact_text(claim.upper), "proof": proof},
            {
                "claim": "epsilon-lower",
                "verdict": "proved",
                "bound": exact_text(claim.lower),
                "at": {name: exact_text(value) for name, value in claim.at.items()},
                "proof": {"bound": trees.lower[choice["lower"]]},
            },
        ]
        certificate = assemble(profile_json(profile), claims, q=q)
        report = check_text(json.dumps(certificate))
        if report.accepted:
            return Checked(complete(certificate), accepted=True, reason="")
        reason = f"{report.step}: {report.reason}"
        step = _failed_part(str(report.step), [claim["claim"] for claim in claims])
        if step is None or choice[step] + 1 >= options[step]:
            break
        choice[step] += 1
    return Checked(certificate, accepted=False, reason=reason)


def _failed_part(step: str, claims: Sequence[str]) -> str | None:
    """Return which of the choices the kernel's step, such as ``claims[1].proof.q-positive``, belongs to; None where it is another part."""
    names = step.split(".")
    failed = next((claim for place, claim in enumerate(claims) if f"claims[{place}]" in names), None)
    if failed == "epsilon-lower":
        return "lower"
    if failed != "epsilon-upper":
        return None
    return next((name for name in ("q-positive", "q-at-most-one") if name in names), "upper")
