"""Assumption 11 (Fay et al. 2024): ε is differentiable in w and exp∘ε is μ_x-strongly convex in w, with some μ_x > 0, for every record x.

For a twice differentiable ε this is inf over w ≥ 1 of (e^ε)″ = K·e^ε being positive, K = ε″ + ε′². The best constant is that infimum. Where
K·e^ε is non-decreasing in w it is attained at w = 1, which gives the formula μ_x = K(1, x)·exp ε(1, x).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import sympy

from profiles.symbolic import from_sympy, to_rational
from profiles.terms import fresh_name
from profiles.variables import WEIGHT, Variable
from proofs_check.certificates import point_json
from proofs_check.conditions.branches import Pieces, PiecesApart, are_apart, find_pieces, refute_beside_kinks, refute_by_kink, undecided
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import accept_proof, accept_refutation, refute_by_point, unknown
from proofs_check.conditions.tight_floor import ANY, enclose_infimum
from proofs_check.prover import trees
from proofs_check.prover.algebra import derivative, expand, gather_powers, put_in, tidy
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.effort import one_way, until_failure
from proofs_check.prover.explore import explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import fraction_below, least_of
from proofs_check.prover.points import telling_points
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import prove, prove_by
from proofs_check.prover.tactics.fading import fades, name_exponent
from proofs_check.prover.tactics.generalisation import through_logarithm
from proofs_check.results import Decision, Tree

ID = "assumption-11"
MEANING = "exp(ε) strongly convex"
STATEMENT = (
    "epsilon is differentiable in w, and for all records x there is mu > 0 such that exp(epsilon(., x)) is mu-strongly convex on [1, oo)"
)


#: Weights w(n) ≥ 1 along which the second derivative of exp(ε) may fall below 1/n.
LIMIT_WEIGHTS: tuple[Callable[[sympy.Symbol], sympy.Expr], ...] = (
    *(lambda n, power=power: n**power for power in (1, 2, 4, 10)),
    *(lambda n, power=power: 1000 * n**power for power in (1, 4)),
    *(lambda n, rate=rate: sympy.exp(rate * (n + 9)) for rate in (1, 10, 100)),
)


#: Work (nominal seconds) for each kind of floor that is tried, at first and again.
QUICK, SLICE = 0.75, 2.5
#: The same for a number below the smallest sampled value, at first: it either helps at once or hardly at all.
GLANCE = 0.2
#: The same for the formula at w = 1, where no point speaks against it, and for a number below the infimum: they are what proves most.
FIRST, NEAR = 1.5, 0.95

#: A floor that is less than this is tried last, after all work on the others.
LEAST = Fraction(1, 10**12)

#: Records at which a refutation in the limit is tried.
MOST_RECORDS = 60


@dataclass(frozen=True, slots=True)
class StrongConvexity:
    """A proved lower bound of the strong convexity constant: μ_x ≥ ``floor`` for every record x; equality if ``exact``."""

    floor: sympy.Expr
    proof: Tree
    exact: bool
    checked: bool


def derive_strong_convexity(context: Context) -> StrongConvexity | None:
    """Return a proved lower bound of μ_x, positive for every record; the exact formula where the infimum is at w = 1; else None."""
    if not context.smooth_from_one:
        return _floor_in_pieces(context)
    for floor, proof, exact in until_failure(_floors(context)):
        claim = context.claim("strong-convexity", "proved", proof)
        if context.forms.admit().proves([claim], target=context.target):
            return StrongConvexity(floor, proof, exact, checked=True)
    return None


#: What a floor is and why: the floor, the proof for the claim, and whether it is the best constant.
Floor = tuple[sympy.Expr, Tree, bool]


def _floors(context: Context) -> Iterator[Floor]:
    """Yield floors: the formula at w = 1, the curvature alone at w = 1, a number just below the infimum, then terms and numbers."""
    bent = context.bent
    formula = tidy(context.at_one(context.curvature)) * sympy.exp(context.at_one(context.epsilon))
    formula_holds, below = partial(_from_one, context, bent, formula, "exp"), partial(_just_below, context)
    attempts: list[Callable[[], Floor | None]] = [
        formula_holds,
        lambda: _from_one(context, context.curvature, tidy(context.at_one(context.curvature)), "log"),
        lambda: _from_convexity(context),
        below,
    ]
    fading = fades(context.for_all(context.curvature))
    if fading:
        attempts[1:1] = [partial(_from_fading, context, floor) for floor in _terms_below(context)]
    attempts += [partial(_from_term, context, context.curvature, floor, "log") for floor in _terms_below(context)]
    forms = (("log", context.curvature), ("exp", bent))
    numbers: list[Callable[[], Floor | None]] = []
    last: list[Callable[[], Floor | None]] = []
    for form, expression in forms:
        for number in _numbers_below(expression, context.domain):
            (numbers if number >= LEAST else last).append(partial(_from_term, context, expression, to_rational(number), form))
    firsts: dict[Callable[[], Floor | None], float] = {below: NEAR} | ({} if fading else {formula_holds: FIRST})
    passes = ((QUICK, attempts), (GLANCE, numbers), (SLICE, [*attempts, *numbers]), (QUICK, last), (SLICE, last))
    for slice_, chosen in passes:
        for attempt in chosen:
            longer = firsts.get(attempt, slice_) if slice_ == QUICK else slice_
            floor_found = one_way(longer, attempt)
            if floor_found is not None:
                yield floor_found


def _just_below(context: Context) -> Floor | None:
    """Return a number below the infimum over all records and weights, and not far below it."""
    infimum = enclose_infimum(context, SLICE, shares=ANY)
    return None if infimum is None else (to_rational(infimum.lower), infimum.proof, False)


def _terms_below(context: Context) -> Iterator[sympy.Expr]:
    """Yield shares of what K tends to as w grows, and of its value at w = 1, as terms in records and parameters."""
    constant, _ = expand(context.curvature).as_independent(context.weight, as_Add=True)
    at_one = tidy(context.at_one(context.curvature))
    whole = [tidy(constant)] if constant != 0 else []
    for share in (1, sympy.Rational(1, 4), sympy.Rational(1, 2), sympy.Rational(1, 10)):  # the tightest, then one with room
        yield from (share * floor for floor in (*whole, at_one) if share != 1 or floor is not at_one)


def _from_convexity(context: Context) -> Floor | None:
    """Return ε′(1)² for a convex ε with ε′(1) = b > 0: K = ε″ + ε′², and ε′² − b² = (ε′ − b)² + 2 b (ε′ − b), where ε′ rises from b."""
    start = tidy(context.at_one(context.first))
    likely = looks_true(context.for_all(context.second)) and looks_true(context.for_records(start, strict=True))
    positive = prove(context.for_records(start, strict=True)) if likely else None
    convex = None if positive is None else prove(context.for_all(context.second))
    if positive is None or convex is None:
        return None
    excess = context.first - start
    rising = trees.monotone(WEIGHT, trees.restated(context.for_all(context.second), convex), trees.ZERO, increasing=True)
    y, x = (fresh_name(name, context.names) for name in "yx")
    scaled = trees.generalise(x, excess, trees.ProvedRange((0, rising)), f"2*{y}*{x}", trees.MANIFEST)
    product = trees.generalise(y, start, trees.ProvedRange((0, positive), open_below=True), f"2*{y}*({trees.text(excess)})", scaled)
    curvature = trees.add_up([excess**2, 2 * start * excess, context.second], [trees.boxes(20), product, convex])
    shown = trees.generalise(y, start, trees.ProvedRange((0, positive), open_below=True), f"{y}**2", trees.MANIFEST)
    return start**2, {"floor": trees.text(start**2), "positive": shown, "form": "log", "curvature": curvature}, False


def _from_one(context: Context, expression: sympy.Expr, floor: sympy.Expr, form: str) -> Floor | None:
    positive = _positive_at_one(context, floor, form) if looks_true(context.for_all(expression - floor)) else None
    if positive is None:
        return None
    curvature = _rising_with_its_slope(context, expression, floor) if form == "exp" and context.bent_is_simpler else None
    if curvature is None:
        slope = _slope_of_bent(context) if form == "exp" else prove(context.for_all(derivative(expression, context.weight)))
        curvature = None if slope is None else trees.monotone("w", slope, trees.ZERO, increasing=True)
    curvature = curvature or _restated(context.for_all(expression - floor))
    if curvature is None:
        return None
    return floor, {"floor": trees.text(floor), "positive": positive, "form": form, "curvature": curvature}, form == "exp"


def _positive_at_one(context: Context, floor: sympy.Expr, form: str) -> Tree | None:
    """Prove that a floor, the value at w = 1 of K or of K·e^ε, is positive: K is."""
    if form == "log":
        return prove(context.for_records(floor, strict=True))
    curvature = context.for_records(tidy(context.at_one(context.curvature)), strict=True)
    tree = prove(curvature)
    return None if tree is None else trees.scale(sympy.exp(-context.at_one(context.epsilon)), trees.restated(curvature, tree))


def _rising_with_its_slope(context: Context, bent: sympy.Expr, floor: sympy.Expr) -> Tree | None:
    """Prove that (e^ε)″, as it is without the logarithms in ε, is at least its value at w = 1, because it rises."""
    slope = prove(context.for_all(derivative(bent, context.weight)))
    return (
        None if slope is None else trees.restated(context.for_all(bent - floor), trees.monotone(WEIGHT, slope, trees.ZERO, increasing=True))
    )


def _restated(goal: Goal) -> Tree | None:
    tree = prove_by(through_logarithm, goal) or prove(goal)
    return None if tree is None else trees.restated(goal, tree)


def _from_term(context: Context, expression: sympy.Expr, floor: sympy.Expr, form: str) -> Floor | None:
    positive = prove(context.for_records(floor, strict=True), 2) if looks_true(context.for_all(expression - floor)) else None
    goal = context.for_all(expression - floor)
    if positive is None:
        return None
    curvature = _restated(goal) if form == "exp" else prove(goal)
    if curvature is None:
        return None
    return floor, {"floor": trees.text(floor), "positive": positive, "form": form, "curvature": curvature}, False


def _from_fading(context: Context, floor: sympy.Expr) -> Floor | None:
    """Return a floor of K in which exponentials of products of the weight and a parameter fade, where it is seen by their names."""
    goal = context.for_all(context.curvature - floor)
    positive = prove(context.for_records(floor, strict=True), 2) if looks_true(goal) else None
    curvature = None if positive is None else prove_by(name_exponent, goal, 1)
    if positive is None or curvature is None:
        return None
    return floor, {"floor": trees.text(floor), "positive": positive, "form": "log", "curvature": curvature}, False


def _slope_of_bent(context: Context) -> Tree | None:
    """Prove that K·e^ε is non-decreasing in w: its derivative is (K′ + K·ε′)·e^ε."""
    product = prove(context.for_all(expand(derivative(context.curvature, context.weight) + context.curvature * context.first)))
    return None if product is None else trees.scale(sympy.exp(-context.epsilon), product)


def _floor_in_pieces(context: Context) -> StrongConvexity | None:
    """Return a number, or a term, below K or K·e^ε on all pieces of an ε whose pieces meet smoothly, or that is one piece."""
    pieces = find_pieces(context)
    if pieces is None:
        return None
    try:
        quick = _floor_of(context, pieces, QUICK)
        if quick is not None:
            return quick
        tight = enclose_infimum(context, SLICE, shares=ANY)
        if tight is not None:
            return StrongConvexity(to_rational(tight.lower), tight.proof, exact=False, checked=True)
        return one_way(4 * SLICE, lambda: _floor_of(context, pieces, 2 * SLICE))
    except PiecesApart:
        return None


def _floor_of(context: Context, pieces: Pieces, seconds: float) -> StrongConvexity | None:
    """Return the first floor that is proved with some work (in nominal seconds) for each piece. Raises :class:`PiecesApart`."""
    for form in ("log", "exp"):
        sides = []
        for piece in pieces.pieces:
            curvature = context.curvature_of(piece.epsilon)
            sides.append(piece.goal(curvature if form == "log" else curvature * sympy.exp(piece.epsilon), context.weight))
        for floor in _floors_of_pieces(context, pieces, sides):
            goals = [replace(side, expression=expand(side.expression - floor)) for side in sides]
            positive = prove(context.for_records(floor, strict=True)) if all(map(looks_true, goals)) else None
            if positive is None:
                continue
            proofs: list[Tree] = []
            for goal in goals:
                tree = one_way(seconds, partial(prove, goal))
                if tree is None:
                    break
                proofs.append(tree)
            if len(proofs) < len(goals):
                continue
            proof: Tree = {"floor": trees.text(floor), "positive": positive, "form": form, "curvature": proofs}
            proof |= pieces.fields()
            claim = context.claim("strong-convexity", "proved", proof)
            report = context.forms.admit().report([claim], target=context.target)
            if report.accepted:
                return StrongConvexity(floor, proof, exact=False, checked=True)
            if are_apart(report):
                raise PiecesApart
    return None


def _floors_of_pieces(context: Context, pieces: Pieces, sides: Sequence[Goal]) -> Iterator[sympy.Expr]:
    """Yield numbers below all pieces; then shares of what K, or ε′², is at the beginning of one of them."""
    choices = [list(_numbers_below(side.expression, side.box)) for side in sides]
    yield from (to_rational(min(numbers)) for numbers in zip(*choices, strict=False))
    starts: dict[sympy.Expr, None] = {}
    for piece in pieces.pieces:
        for whole in (context.curvature_of(piece.epsilon), derivative(piece.epsilon, context.weight) ** 2):
            start = tidy(put_in(whole, {context.weight: piece.lo}))
            if start.is_finite is not False and start.free_symbols:
                starts[start] = None
    yield from (share * start for share in (1, sympy.Rational(1, 2)) for start in starts)


def _numbers_below(expression: sympy.Expr, box: Sequence[Variable]) -> Iterator[Fraction]:
    """Yield short numbers below the smallest sampled value of an expression, if that is positive."""
    if any(variable.hi is None and variable.name != WEIGHT for variable in box):
        return
    least = least_of(expression, box)
    smallest = None if least is None else fraction_below(least.value)
    if smallest is None or smallest <= 0:
        return
    for share in (Fraction(9, 10), Fraction(1, 2), Fraction(1, 100)):
        yield smallest * share


def decide(context: Context) -> Decision:
    """Decide it: refuted at a kink or at a point with K ≤ 0, proved by a positive floor of K or K·e^ε."""
    return decide_with_constant(context)[0]


def decide_with_constant(context: Context) -> tuple[Decision, StrongConvexity | None]:
    """Return the decision and, where it is proved, the lower bound of μ_x that proves it."""
    refutation = _refute_early(context)
    if refutation is not None:
        return refutation, None
    fading = context.smooth_from_one and _fades(context)
    if fading:
        limit = one_way(2 * SLICE, lambda: _refute_in_the_limit(context))
        if limit is not None:
            return limit, None
    convexity = derive_strong_convexity(context)
    if convexity is not None:
        method = "second derivative of exp(epsilon) at w = 1 and " if convexity.exact else "positive floor of the curvature and "
        return accept_proof(context, ID, convexity.proof, method=method + trees.describe(convexity.proof["curvature"])), convexity
    if not context.smooth:
        return undecided(ID), None
    goal = context.for_all(context.curvature, strict=True)
    limit = None if fading else one_way(QUICK if context.smooth_from_one else SLICE, lambda: _refute_in_the_limit(context))
    return limit or unknown(ID, explore(goal).status), None


def _refute_early(context: Context) -> Decision | None:
    """Refute it at a kink or at a point, which is quick."""
    if not context.smooth:
        return refute_by_kink(context, ID) or refute_beside_kinks(context, ID, context.curvature_of, strict=True, field="curvature")
    goal = context.for_all(context.curvature, strict=True)
    return refute_by_point(context, ID, goal, field="curvature")


def _fades(context: Context) -> bool:
    """Tell whether K·e^ε seems to go to 0 as w grows, at some record."""
    term = from_sympy(context.curvature * sympy.exp(context.epsilon))
    for record in telling_points(context.epsilon, context.records, 24)[:MOST_RECORDS]:
        try:
            near, far = (as_ball(value_at(term, {**record, WEIGHT: Fraction(10) ** power}, 128)) for power in (3, 12))
        except UndefinedAtPoint:
            continue
        if near > 0 and far < near / 1000:
            return True
    return False


def _logarithmic_weights(bent: sympy.Expr, weight: sympy.Symbol, count: sympy.Symbol) -> Iterator[sympy.Expr]:
    """Yield weights at which the slowest of the decaying exponentials of w is 1/(c n)."""
    exponents = [node.args[0] for node in bent.atoms(sympy.exp)] + [sympy.log(node.base) * node.exp for node in bent.atoms(sympy.Pow)]
    rates = {-rate for exponent in exponents if exponent.has(weight) and not (rate := derivative(exponent, weight)).has(weight)}
    positive = sorted((rate for rate in rates if rate.is_positive), key=lambda rate: (float(rate), sympy.default_sort_key(rate)))
    for rate in positive[:1]:
        least = max(4, int(sympy.ceiling(sympy.exp(min(rate, 20)))))
        yield from (sympy.log(factor * count) / rate for factor in (least, 100 * least, 10_000 * least))


def _refute_in_the_limit(context: Context) -> Decision | None:
    """Refute it at a record where K·e^ε comes as close to 0 as one likes as w grows: K·e^ε ≤ 1/n at some w(n), for all n ≥ 1."""
    bent = context.curvature * sympy.exp(context.epsilon)
    count = sympy.Symbol("n", positive=True)
    for record in telling_points(context.epsilon, context.records, 24)[:MOST_RECORDS]:
        values = {symbol: to_rational(record[symbol.name]) for symbol in bent.free_symbols if symbol.name in record}
        at_record = put_in(bent, values)
        weights = [[sympy.sympify(weight(count)) for weight in LIMIT_WEIGHTS], _logarithmic_weights(at_record, context.weight, count)]
        powers = any(context.weight in node.exp.free_symbols for node in at_record.atoms(sympy.Pow))
        for along in itertools.chain(*(reversed(weights) if powers else weights)):
            flat = Goal(1 - count * put_in(at_record, {context.weight: along}), (Variable("n", Fraction(1), None),))
            if not looks_true(flat):
                continue
            short = Goal(gather_powers(expand(flat.expression) if along.has(sympy.log) else flat.expression), flat.box)
            tree = prove(short, 3)
            at_least_one = None if tree is None else prove(Goal(along - 1, flat.box), 1)
            if tree is None or at_least_one is None:
                continue
            shown = {"weight": trees.text(along), "weight-proof": at_least_one, "flat": trees.restated(short, tree)}
            proof: Tree = {"at": point_json(record), **shown}
            reason = "at this record the second derivative of exp(epsilon) comes as close to 0 as one likes as w grows"
            decision = accept_refutation(context, ID, proof, method="limit at one record", witness=record)
            if decision.checked:
                return replace(decision, reason=reason)
    return None
