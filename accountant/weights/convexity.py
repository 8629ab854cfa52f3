"""What the fast weights rest on: exp∘ε convex in w and ε(1, x) ≤ ε* on the whole declared domain, proved before any record is read.

Convexity is the goal K = ε″ + ε′² ≥ 0 on records × [1, ∞) (Assumption 11 asks for more: a positive floor). With ε(1, x) ≤ ε* it
makes the feasible weights of every record an interval [1, w*]. Both are about the domain, not the data: the weight map must be
defined for any record that a neighboring data set may add.
"""

from __future__ import annotations

from fractions import Fraction

from accountant.weights.fast import ProvedConvexity
from profiles.errors import Infeasible, InvalidProfile, Undecided
from profiles.numbers import decimal_above, exact_text, to_target
from profiles.profile import Profile
from profiles.structure import affine_in_one, split_weight
from profiles.symbolic import from_sympy
from proofs_check.admission import admit
from proofs_check.branch_and_bound import minimum_enclosure
from proofs_check.conditions import assumption_8
from proofs_check.conditions.context import Context
from proofs_check.prover.effort import within
from proofs_check.prover.search import prove
from proofs_check.prover.trees import describe
from proofs_check.results import Verdict

#: Work for the proof of convexity, in nominal seconds.
SECONDS = 8.0


def prove_convexity(profile: Profile, target_epsilon: object | None = None) -> ProvedConvexity:
    """Return what is proved for a target ε*, or (None) for every target from the certified worst ε(1, x) on.

    Raises :class:`profiles.Infeasible` (assumption-8 is refuted, with the record), :class:`profiles.Undecided` (convexity or
    assumption-8 not proved), :class:`profiles.InvalidProfile` (a parameter without a number).
    """
    free = [parameter.name for parameter in profile.free_parameters]
    if free:
        raise InvalidProfile(f"weights need numbers for all parameters, but {', '.join(free)} has none; set it in the profile")
    target = None if target_epsilon is None else to_target(target_epsilon)
    admitted = admit(profile)
    direct = None if target is None else _prove_affine(profile, target)
    if direct is not None:
        return direct
    context = Context(admitted, target)
    tree = within(SECONDS, lambda: prove(context.for_all(context.curvature))) if context.smooth else None
    if tree is None:
        raise Undecided(
            "weights for a data set need exp(epsilon) to be convex in w on the declared domain, but that could not be proved; "
            "compute single records with 'pdp weight', which isolates roots, or use a profile that satisfies assumption-11"
        )
    evidence = f"exp(epsilon) convex in w: {describe(tree)}"
    if target is None:
        return ProvedConvexity(profile, _worst_at_one(context), evidence + "; worst epsilon(1, x) bounded by branch and bound")
    decision = assumption_8.decide(context)
    if decision.verdict is Verdict.REFUTED and decision.witness is not None:
        where = ", ".join(f"{name} = {exact_text(value)}" for name, value in decision.witness.items())
        raise Infeasible(
            f"weights for the target {exact_text(target)} were asked for, but assumption-8 is refuted: epsilon(1, x) is larger at the "
            f"record {where or '(any)'} of the declared domain; raise the target, or narrow the range and clip each record to it"
        )
    if decision.verdict is not Verdict.PROVED:
        raise Undecided(f"assumption-8 could not be decided for the target {exact_text(target)} ({decision.reason}); change it slightly")
    return ProvedConvexity(profile, target, f"{evidence}; assumption-8: {decision.method}")


def _prove_affine(profile: Profile, target: Fraction) -> ProvedConvexity | None:
    """Return the convexity where ε is visibly w·(c + d·z) and small enough at both ends of z, in exact arithmetic; None otherwise.

    exp(a w) is convex in w for every real a, since its second derivative is a² exp(a w) ≥ 0. An affine function of z is largest at an end.
    """
    coefficient = split_weight(profile.numeric_epsilon())
    form = None if coefficient is None else affine_in_one(coefficient)
    if form is None:
        return None
    constant, slope, name = form
    ends = [(Fraction(0),)] if name is None else [(item.lo, item.hi) for item in profile.record if item.name == name]
    if len(ends) != 1 or any(constant + slope * end > target for end in ends[0]):
        return None
    evidence = "exp(epsilon) convex in w: epsilon = a(x)*w; assumption-8: a(x) is affine and at most the target at both ends, exactly"
    return ProvedConvexity(profile, target, evidence)


def _worst_at_one(context: Context) -> Fraction:
    ends = minimum_enclosure(from_sympy(-context.at_one(context.epsilon)), context.records)
    if ends is None:
        raise Undecided(
            "the worst epsilon(1, x) over the declared domain could not be bounded; narrow the ranges and clip each record to them"
        )
    return decimal_above(-ends[0], 15)
