"""The optimal importance weight of one record to any number of digits (Fay et al. 2024, Problem 7 for one record).

Statement: the result is the largest w ≥ 1 with ψ = log(1 + (e^{ε(w,x)} − 1)/w) ≤ ε*. Under strong convexity of exp∘ε (Assumption
11) and ε(1, x) ≤ ε* the constraint e^ε − 1 − E w is convex in w and ≤ 0 at w = 1, so the feasible set is [1, w*] and the root is
found by bisection in the derived bracket; otherwise all of [1, v] is searched, v from a proof of Assumption 9 at this record. Signs
at the ends that are reported are certified in ball arithmetic: the weight is feasible, the upper end of the enclosure is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath

from accountant.weights.bracket import evaluation_bound, upper_bracket
from accountant.weights.constraint import Constraint, to_mpf
from accountant.weights.isolation import RootInterval, UndecidedPiece, isolate_largest
from profiles.balls import upper_fraction, working_precision
from profiles.errors import Infeasible, InvalidData, InvalidProfile, Undecided
from profiles.grammar import parse_expression
from profiles.numbers import decimal_text, exact_text, to_exact, to_integer, to_target
from profiles.profile import Profile
from profiles.suggestions import suggest
from profiles.symbolic import from_sympy
from profiles.variables import Parameter
from profiles.views import show_html, show_picture, show_text
from proofs_check.admission import admit
from proofs_check.conditions import assumption_9, assumption_11
from proofs_check.conditions.context import Context
from proofs_check.conditions.strong_convexity import bound_constant
from proofs_check.enclosures import Enclosure
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.results import Verdict
from proofs_check.verify import decide_in_time

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture

MAX_DIGITS = 2000
#: Work for a proof of strong convexity at one record, in nominal seconds; without it the roots are isolated.
SECONDS = 2.0
INFINITY = "inf"
#: Ratio R of the ends of a bracket above which it is halved on the logarithmic scale. Halving takes log2((R - 1)/tolerance) evaluations in
#: the worst case; after one step to the ratio sqrt(R) it is 1 + log2((sqrt(R) - 1)/tolerance) at most, which is less since sqrt(R) + 1 > 2.
_FAR = 16


@dataclass(frozen=True, slots=True)
class OptimalWeight:
    """The largest feasible weight of one record.

    ``lower`` is feasible; the true optimum lies in [``lower``, ``upper``] (``upper`` infeasible unless equal to ``lower``). An
    ``infinite`` weight means that every w ≥ 1 is feasible from some point on: the record may be dropped (q = 0). ``mu`` is a proved
    lower bound of the best μ_x, ``mu_above`` an upper bound of it, ``bracket`` what was searched, ``evaluations`` how often ε was
    evaluated by the bisection, and ``evaluation_bound`` how often at most by Proposition 12 as corrected (None where its hypotheses are
    not proved). ``profile`` is that of this record alone, its statistics fixed, and ``target`` is ε*.
    """

    lower: Fraction
    upper: Fraction
    digits: int
    infinite: bool
    mu: Fraction | None
    bracket: tuple[Fraction, Fraction] | None
    method: str
    evaluations: int
    evaluation_bound: int | None = None
    mu_above: Fraction | None = None
    profile: Profile | None = field(default=None, repr=False, compare=False)
    target: Fraction | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return show_text(self)

    def _repr_html_(self) -> str:
        return show_html(self)

    def plot(self) -> Picture:
        """Return a picture of the loss against the weight, with the target and the weight that reaches it.

        Raises :class:`profiles.InvalidArgument` for an infinite weight, :class:`profiles.MissingExtra` without Matplotlib.
        """
        return show_picture(self)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp weight``; every decimal is rounded to its safe side."""
        if self.infinite:
            shown, enclosure = INFINITY, [INFINITY, INFINITY]
        else:
            shown = decimal_text(self.lower, self.digits, round_up=False)
            enclosure = [shown, decimal_text(self.upper, self.digits, round_up=True)]
        bracket = None
        if self.bracket is not None:
            bracket = [exact_text(self.bracket[0]), decimal_text(self.bracket[1], max(20, self.digits), round_up=True)]
        return {
            "weight": shown,
            "enclosure": enclosure,
            "strong_convexity": None if self.mu is None else decimal_text(self.mu, 20, round_up=False),
            "strong_convexity_above": None if self.mu_above is None else decimal_text(self.mu_above, 20, round_up=True),
            "bracket": bracket,
            "method": self.method,
            "evaluations": self.evaluations,
            "evaluation_bound": self.evaluation_bound,
        }


def optimal_weight(profile: Profile, target_epsilon: object, record: Mapping[str, object], digits: int = 30) -> OptimalWeight:
    """Return the largest feasible weight of the record with the given statistics, to ``digits`` significant digits.

    Raises :class:`profiles.Infeasible` (no w ≥ 1 is feasible), :class:`profiles.Undecided` (honest refusal),
    :class:`profiles.InvalidData` (record outside its range), :class:`profiles.InvalidTarget`, :class:`profiles.InvalidProfile`
    (parameters without a number).

    >>> from profiles import declare
    >>> sum_ = declare("sum", "w*z", record={"z": [0, 4]})
    >>> optimal_weight(sum_, 3, {"z": 1}, digits=10).to_json()["weight"]
    '4.45455066'
    """
    digits = to_integer(digits, "digits", 1, MAX_DIGITS, hint="choose one in this range")
    admit(profile)
    context = Context(admit(specialise(profile, record)), to_target(target_epsilon))
    constraint = Constraint(context)
    convexity = decide_in_time(context, assumption_11.ID, SECONDS)[1]
    mu, above = (None, None) if convexity is None else bound_constant(context, convexity)
    if convexity is not None and mu is not None:
        weight = replace(_by_convexity(context, constraint, mu, digits), mu_above=above)
    else:
        weight = _by_isolation(context, constraint, digits)
    return replace(weight, profile=context.profile, target=context.target)


def specialise(profile: Profile, record: Mapping[str, object]) -> Profile:
    """Return the profile of one record: every statistic fixed at an exact number inside its range, every parameter a number."""
    free = [parameter.name for parameter in profile.free_parameters]
    if free and profile.shares:  # the statistics of the record are not those that were declared
        raise InvalidProfile(f"a weight needs numbers for all parameters, but {', '.join(free)} has none; set it in the profile")
    missing = [statistic.name for statistic in profile.record if statistic.name not in record]
    unknown = [name for name in record if name not in {statistic.name for statistic in profile.record}]
    if missing or unknown:
        names = ", ".join(statistic.name for statistic in profile.record) or "none"
        raise InvalidData(
            f"the statistics of {profile.name!r} are {names}, but {_faults(missing, unknown)}; give each exactly once (z=1.5)"
            + "".join(suggest(name, missing) for name in unknown[:1])
        )
    if free:
        raise InvalidProfile(f"a weight needs numbers for all parameters, but {', '.join(free)} has none; set it in the profile")
    values: dict[str, Fraction] = {}
    for statistic in profile.record:
        value = to_exact(record[statistic.name], f"the statistic {statistic.name}")
        if not statistic.lo <= value <= statistic.hi:
            raise InvalidData(
                f"the record has {statistic.name} = {exact_text(value)}, outside the declared range [{exact_text(statistic.lo)}, "
                f"{exact_text(statistic.hi)}]; give one inside, or declare a range that was chosen without looking at the data"
            )
        values[statistic.name] = value
    fixed = tuple(Parameter(name, value) for name, value in values.items())
    return replace(profile, record=(), parameters=(*profile.parameters, *fixed), parts=(), written=None)


def _faults(missing: list[str], unknown: list[str]) -> str:
    parts = [f"{', '.join(missing)} is missing"] if missing else []
    return " and ".join([*parts, *([f"{', '.join(unknown)} is not one of them"] if unknown else [])])


def _by_convexity(context: Context, constraint: Constraint, mu: Fraction, digits: int) -> OptimalWeight:
    with working_precision(192):
        at_one = Enclosure(from_sympy(context.at_one(context.epsilon))).evaluate({})
        slope = Enclosure(from_sympy(context.at_one(context.first))).evaluate({})
    top = upper_bracket(at_one, slope, mu, context.target or Fraction(0))
    if top is None:
        return _by_isolation(context, constraint, digits)
    method = "bisection in the derived bracket (exp(epsilon) strongly convex)"
    sign = constraint.sign(Fraction(1))
    if sign == -1 and constraint.sign(top) in (0, 1):
        root = RootInterval(Fraction(1), top)
    else:
        root = _isolate(context, constraint, top, digits)
        method = "certified isolation in the derived bracket (the target is epsilon(1, x), or below it)"
    weight = _finish(constraint, root, digits, mu=mu, top=top, method=method)
    bound = evaluation_bound(at_one, slope, mu, context.target or Fraction(0), relative_tolerance(digits))
    return replace(weight, evaluation_bound=bound)


def relative_tolerance(digits: int) -> Fraction:
    """Return the width of the last bracket in units of the weight, which is at least 1."""
    return Fraction(1, 10 ** (digits + 3))


def _by_isolation(context: Context, constraint: Constraint, digits: int) -> OptimalWeight:
    decision, _ = decide_in_time(context, assumption_9.ID)
    if decision.verdict is Verdict.REFUTED:
        one = Fraction(1)
        method = "every weight from some point on is feasible: " + decision.method
        return OptimalWeight(one, one, digits, infinite=True, mu=None, bracket=None, method=method, evaluations=0)
    threshold = decision.details.get("threshold")
    if decision.verdict is not Verdict.PROVED or threshold is None:
        raise Undecided(
            "the largest feasible weight was asked for, but no explicit bound on feasible weights could be proved "
            f"({decision.reason or decision.method}); use a profile that satisfies assumption-11, or one that grows provably"
        )
    top = _number_above(threshold)
    method = "certified isolation of the largest root (assumption-11 not proved)"
    return _finish(constraint, _isolate(context, constraint, top, digits), digits, mu=None, top=top, method=method)


def _number_above(threshold: str) -> Fraction:
    """Return a number at or above a threshold, which is an expression without variables."""
    with working_precision(192):
        top = upper_fraction(as_ball(value_at(parse_expression(threshold, "the threshold"), {}, 192)))
    if top is None:
        raise Undecided("the proved bound on feasible weights is too large to search below it; lower the target")
    return top


def _isolate(context: Context, constraint: Constraint, top: Fraction, digits: int) -> RootInterval:
    try:
        root = isolate_largest(constraint, top, digits)
    except UndecidedPiece as piece:
        raise Undecided(
            "the largest feasible weight was asked for, but the sign of psi - target could not be certified between "
            f"{decimal_text(piece.lo, 12, round_up=False)} and {decimal_text(piece.hi, 12, round_up=True)} (it may touch zero there); "
            "change the target slightly"
        ) from None
    if root is None:
        raise Infeasible(
            f"a weight with psi <= {exact_text(context.target or Fraction(0))} was asked for, but none is feasible: assumption-8 is "
            "refuted at this record; raise the target to at least epsilon(1, x)"
        )
    return root


def _finish(constraint: Constraint, root: RootInterval, digits: int, *, mu: Fraction | None, top: Fraction, method: str) -> OptimalWeight:
    if root.jump:
        lower, upper, evaluations = _certify(constraint, root, root.lo, digits)[0], root.hi, 0
    else:
        lower, upper, evaluations = (root.lo, root.hi, 0) if root.lo == root.hi else bisect(constraint, root, digits)
    bracket = (Fraction(1), top)
    return OptimalWeight(lower, upper, digits, infinite=False, mu=mu, bracket=bracket, method=method, evaluations=evaluations)


def bisect(constraint: Constraint, root: RootInterval, digits: int) -> tuple[Fraction, Fraction, int]:
    """Narrow a root interval to decimals of ``digits`` significant digits by mpmath bisection, and certify both ends in ball arithmetic.

    Returns (lower, upper, evaluations): F(lower) ≤ 0 < F(upper), upper − lower at most two units of the last digit.
    """
    evaluate = constraint.in_mpmath()
    target = constraint.context.target or Fraction(1)
    guard = 25 + 2 * abs(len(str(target.numerator)) - len(str(target.denominator)))
    evaluations = 0
    with mpmath.workdps(digits + guard):
        lo, hi = to_mpf(root.lo), to_mpf(root.hi)
        tolerance = to_mpf(relative_tolerance(digits))
        while hi - lo > tolerance * lo:
            # far apart ends are halved on the logarithmic scale: the bracket's upper end is about exp(target)
            middle = mpmath.sqrt(lo * hi) if hi > _FAR * lo else (lo + hi) / 2
            if middle in (lo, hi):
                break
            evaluations += 1
            # the sign of F at distance (hi − lo) from its root needs only as many digits as the bracket has already
            with mpmath.workprec(max(0, -int(mpmath.mag((hi - lo) / lo))) + 4 * guard):
                feasible = evaluate(middle) <= 0
            lo, hi = (middle, hi) if feasible else (lo, middle)
        near = Fraction(int(mpmath.floor(mpmath.ldexp(lo, 4 * (digits + guard)))), 2 ** (4 * (digits + guard)))
    lower, upper = _certify(constraint, root, near, digits)
    return lower, upper, evaluations


def _certify(constraint: Constraint, root: RootInterval, near: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return decimals around ``near`` with certified signs, moving outward by units of the last digit until they are certain."""
    unit = Fraction(10) ** (_exponent(near) - digits + 1)
    bits = 4 * digits + 256
    base = near // unit
    lower = next((w for k in range(3) if (w := max(root.lo, (base - k) * unit)) and constraint.sign(w, bits) in (-1, 0)), root.lo)
    upper = next((w for k in range(1, 4) if (w := min(root.hi, (base + k) * unit)) and constraint.sign(w, bits) == 1), root.hi)
    return lower, upper


def _exponent(value: Fraction) -> int:
    return len(str(value.numerator // value.denominator)) - 1
