"""The claims: each derives its goals from the profile's own text; a proof can only say how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from .errors import Rejected
from .intervals import Interval, compare
from .ranges import Box, Range, enclose
from .rules import Goal, Session, Tree, prove, read_choice, read_fields
from .syntax import read_name, read_number, read_term
from .terms import Term, add, apply, at, differentiate, divide, mul, negate, num, postorder, rebuild, smoothness, substitute, subtract, var

ONE, W = num(1), "w"
_WEIGHTS = Range(Fraction(1), None)
_KINK_PRECISION = 256


@dataclass(frozen=True, slots=True)
class Statement:
    """What a certificate is about: the profile, its records, and the target and sampling rule if there are any."""

    epsilon: Term
    records: Box
    target: Fraction | None
    sampling: object

    @property
    def domain(self) -> Box:
        """Records and weights w >= 1."""
        return {**self.records, W: _WEIGHTS}

    def at_one(self) -> Term:
        """epsilon(1, x)."""
        return at(self.epsilon, {W: Fraction(1)})

    def goal_target(self) -> Fraction:
        """The target epsilon, which this claim needs."""
        if self.target is None:
            raise Rejected("this claim needs a target_epsilon")
        return self.target

    def growth(self) -> Term:
        """E = exp(target) - 1 > 0."""
        return subtract(apply("exp", num(self.goal_target())), ONE)


def read_statement(session: Session, profile: object, target: object, sampling: object) -> Statement:
    """The statement of a certificate; numeric parameters go to the session, to be substituted everywhere."""
    with session.at("profile"):
        fields = read_fields(profile, {"name", "epsilon", "record", "parameters"})
        if not isinstance(fields["name"], str) or len(fields["name"]) > 1000:
            raise Rejected("the name must be a string of moderate length")
        records = {read_name(v): _read_range(r) for v, r in _mapping(fields["record"]).items()}
        for word, value in _mapping(fields["parameters"]).items():
            name = read_name(word)
            if name in records:
                raise Rejected(f"the name {name} is used twice")
            if value == "positive":
                records[name] = Range(Fraction(0), None, open=True)
            elif isinstance(value, list):
                records[name] = _read_range(value)
                if records[name].lo <= 0:
                    raise Rejected(f"the range of the parameter {name} must be positive")
            else:
                session.constants[name] = num(read_number(value))
        epsilon = read_term(fields["epsilon"], {**session.constants, **{v: var(v) for v in records}, W: var(W)})
    with session.at("target_epsilon"):
        bound = None if target is None else read_number(target)
        if bound is not None and bound <= 0:
            raise Rejected("the target epsilon must be positive")
    return Statement(epsilon, records, bound, sampling)


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict) or len(value) > 100:
        raise Rejected("expected an object of moderate size")
    return value


def _read_range(value: object) -> Range:
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - two ends
        raise Rejected("a range must be a list of two numbers")
    return Range(read_number(value[0]), read_number(value[1]))


def _read_point(value: object, box: Box) -> dict[str, Fraction]:
    """A number inside its range for every variable of the box, and for nothing else."""
    fields = read_fields(value, set(box))
    point = {v: read_number(fields[v]) for v in box}
    for v, q in point.items():
        if not box[v].contains(q):
            raise Rejected(f"{v} is outside its range")
    return point


def _show(session: Session, field: str, proof: Tree, goal: Goal) -> None:
    with session.at("." + field):
        prove(session, goal, proof[field])


def _point(session: Session, proof: Tree, box: Box) -> dict[str, Fraction]:
    with session.at(".at"):
        return _read_point(proof["at"], box)


def _slope_at(session: Session, term: Term, box: Box, whole: Box) -> Term:
    """The derivative in w of a term at the points of a box, one-sided at the border of the whole box.

    Operations on w are resolved on the whole box, or strictly and hence in a neighbourhood of every point.
    """
    depth = len(session.path)
    try:
        resolved = session.resolve(term, W, whole)
    except Rejected:
        del session.path[depth:]
        resolved = session.resolve(term, W, box, strict=True)
    session.check_smooth(resolved, W, box)
    return differentiate(resolved, W)


def _curvature(slope: Term) -> Term:
    """K = epsilon'' + epsilon'**2."""
    return add(differentiate(slope, W), mul(slope, slope))


def _local_slope(session: Session, s: Statement, point: dict[str, Fraction]) -> Term:
    """epsilon' near the weight of a point, for the record of the point: a term in w alone."""
    record = {v: q for v, q in point.items() if v != W}
    weight = point.get(W, Fraction(1))
    return _slope_at(session, at(s.epsilon, record), {W: Range(weight, weight)}, {W: _WEIGHTS})


def well_defined(session: Session, s: Statement, proof: Tree) -> None:
    """epsilon is defined and >= 0 on records x [1, inf)."""
    session.define(s.epsilon, s.domain)
    _show(session, "nonnegative", proof, Goal(s.epsilon, s.domain))


def assumption_8(session: Session, s: Statement, proof: Tree) -> None:
    """epsilon(1, x) <= target for all records."""
    _show(session, "bound", proof, Goal(subtract(num(s.goal_target()), s.at_one()), s.records))


def not_assumption_8(session: Session, s: Statement, proof: Tree) -> None:
    """epsilon(1, x) > target at a record."""
    point = _point(session, proof, s.records)
    _show(session, "bound", proof, Goal(at(subtract(s.at_one(), num(s.goal_target())), point), {}, strict=True))


def _above(s: Statement, epsilon: Term, w: Term, form: object) -> Term:
    """A term that is > 0 exactly where epsilon > log(1 + E w)."""
    line = add(ONE, mul(s.growth(), w))
    if read_choice(form, "log", "exp") == "log":
        return subtract(epsilon, apply("log", line))
    return subtract(apply("exp", epsilon), line)


def assumption_9(session: Session, s: Statement, proof: Tree) -> None:
    """From a threshold on, epsilon > log(1 + E w): directly, or at the threshold and with w epsilon' >= 1 beyond it."""
    with session.at(".threshold"):
        threshold = session.read(proof["threshold"], s.records)
    _show(session, "threshold-proof", proof, Goal(subtract(threshold, ONE), s.records))
    offset = "s"
    while offset in s.records or offset in session.constants:
        offset += "_"
    weight, box = add(threshold, var(offset)), {**s.records, offset: Range(Fraction(0), None)}
    epsilon = substitute(s.epsilon, {W: weight})
    if "direct" in proof:
        _show(session, "direct", proof, Goal(_above(s, epsilon, weight, proof["form"]), box, strict=True))
        return
    start = _above(s, substitute(s.epsilon, {W: threshold}), threshold, "log")
    _show(session, "start", proof, Goal(start, s.records, strict=True))
    slope = differentiate(session.smooth(epsilon, offset, box), offset)
    _show(session, "slope", proof, Goal(subtract(mul(weight, slope), ONE), box))


def not_assumption_9(session: Session, s: Statement, proof: Tree) -> None:
    """At a record epsilon <= log(1 + E w) for all large w."""
    point = _point(session, proof, s.records)
    with session.at(".threshold"):
        threshold = read_number(proof["threshold"])
        if threshold < 1:
            raise Rejected("the threshold must be at least 1")
    tail = negate(_above(s, at(s.epsilon, point), var(W), proof["form"]))
    _show(session, "tail", proof, Goal(tail, {W: Range(threshold, None)}))


def strongly_convex(session: Session, s: Statement, proof: Tree) -> None:
    """exp(epsilon) has a second derivative in w, at least the floor, which is > 0; epsilon >= 0 makes both forms do."""
    with session.at(".floor"):
        floor = session.read(proof["floor"], s.records)
    _show(session, "positive", proof, Goal(floor, s.records, strict=True))
    curvature = _curvature(_slope_at(session, s.epsilon, s.domain, s.domain))
    if read_choice(proof["form"], "log", "exp") == "exp":
        curvature = mul(curvature, apply("exp", s.epsilon))
    _show(session, "curvature", proof, Goal(subtract(curvature, floor), s.domain))


def not_assumption_11(session: Session, s: Statement, proof: Tree) -> None:
    """exp(epsilon) has a second derivative <= 0 at a point, or no derivative there."""
    point = _point(session, proof, s.domain)
    if "kink" in proof:
        _kink(session, s, point, proof["kink"])
        return
    curvature = _curvature(_local_slope(session, s, point))
    _show(session, "curvature", proof, Goal(negate(at(curvature, point)), {}))


def _proposition_16(epsilon: Term, slope: Term) -> Term:
    return subtract(subtract(ONE, apply("exp", negate(epsilon))), slope)


def proposition_16(session: Session, s: Statement, proof: Tree) -> None:
    """epsilon'(1, x) < 1 - exp(-epsilon(1, x)) for all records; at the border w = 1 the right derivative counts."""
    one = Range(Fraction(1), Fraction(1))
    slope = at(_slope_at(session, s.epsilon, {**s.records, W: one}, s.domain), {W: Fraction(1)})
    _show(session, "bound", proof, Goal(_proposition_16(s.at_one(), slope), s.records, strict=True))


def not_proposition_16(session: Session, s: Statement, proof: Tree) -> None:
    """epsilon'(1, x) >= 1 - exp(-epsilon(1, x)) at a record."""
    point = {**_point(session, proof, s.records), W: Fraction(1)}
    slope = at(_local_slope(session, s, point), point)
    _show(session, "bound", proof, Goal(negate(_proposition_16(at(s.epsilon, point), slope)), {}))


def proposition_17(session: Session, s: Statement, proof: Tree) -> None:
    """w epsilon' >= epsilon on records x [1, inf)."""
    slope = _slope_at(session, s.epsilon, s.domain, s.domain)
    _show(session, "bound", proof, Goal(subtract(mul(var(W), slope), s.epsilon), s.domain))


def not_proposition_17(session: Session, s: Statement, proof: Tree) -> None:
    """w epsilon' < epsilon at a point, or no derivative there."""
    point = _point(session, proof, s.domain)
    if "kink" in proof:
        _kink(session, s, point, proof["kink"])
        return
    slope = _local_slope(session, s, point)
    _show(session, "bound", proof, Goal(at(subtract(s.epsilon, mul(var(W), slope)), point), {}, strict=True))


def _kink(session: Session, s: Statement, point: dict[str, Fraction], flag: object) -> None:
    """epsilon of the record is not differentiable in w at the point.

    Just left and right of the point epsilon equals two smooth terms. Were epsilon differentiable there, it would be
    continuous, so both terms would take its value and its derivative at the point.
    """
    with session.at(".kink"):
        if flag is not True:
            raise Rejected("kink must be true")
        if point[W] <= 1:
            raise Rejected("a kink must lie at w > 1")
        epsilon = at(s.epsilon, {v: q for v, q in point.items() if v != W})
        weight = {W: point[W]}
        left, right = _beside(session, epsilon, weight, -1), _beside(session, epsilon, weight, 1)
        values = _enclose(session, at(left, weight)), _enclose(session, at(right, weight))
        slopes = [_enclose(session, at(differentiate(side, W), weight)) for side in (left, right)]
        if not _disjoint(*values) and not _disjoint(*slopes):
            raise Rejected("the one-sided derivatives are not shown to differ")


def _enclose(session: Session, closed: Term) -> Interval:
    return enclose(closed, {}, _KINK_PRECISION, session.meter)


def _disjoint(x: Interval, y: Interval) -> bool:
    return compare(x[1], y[0]) < 0 or compare(y[1], x[0]) < 0


def _beside(session: Session, term: Term, weight: dict[str, Fraction], side: int) -> Term:
    """A term that is smooth at the weight and equals the given one just right (side 1) or left (-1) of it."""
    new: dict[Term, Term] = {}
    for node in postorder(term):
        args = tuple(new[a] for a in node.args)
        if W not in node.free or node.op not in ("abs", "min", "max", "piecewise"):
            new[node] = rebuild(node, args)
        elif node.op == "abs":
            new[node] = args[0] if _sign_beside(session, args[0], weight, side) >= 0 else negate(args[0])
        elif node.op == "piecewise":
            new[node] = _case_beside(session, node, args, weight, side)
        else:
            first = _sign_beside(session, subtract(args[0], args[1]), weight, side) >= 0
            new[node] = args[0] if first == (node.op == "max") else args[1]
    _check_smooth_at(session, new[term], weight)
    return new[term]


def _case_beside(session: Session, node: Term, args: tuple[Term, ...], weight: dict[str, Fraction], side: int) -> Term:
    """The value of a Piecewise just beside the weight."""
    for i, sign in enumerate(node.value if isinstance(node.value, tuple) else ()):
        value, left, right = args[3 * i : 3 * i + 3]
        gap = subtract(right, left) if sign in ("<", "<=") else subtract(left, right)
        found = _sign_beside(session, gap, weight, side)
        if found > 0 or (found == 0 and sign in ("<=", ">=")):
            return value
    return args[-1]


def _sign_beside(session: Session, term: Term, weight: dict[str, Fraction], side: int) -> int:
    """The sign of a term just beside the weight: its sign there, else that of its slope, or 0 if it is zero altogether."""
    _check_smooth_at(session, term, weight)
    value = at(term, weight)
    for candidate, direction in ((value, 1), (at(differentiate(term, W), weight), side)):
        low, high = _enclose(session, candidate)
        if low[0] > 0 or high[0] < 0:
            return direction if low[0] > 0 else -direction
        if not session.is_zero(candidate, {}):
            break
        if session.is_zero(term, {W: _WEIGHTS}):
            return 0
    raise Rejected("the sign of an argument beside the point is not decided")


def _check_smooth_at(session: Session, term: Term, weight: dict[str, Fraction]) -> None:
    session.check_smooth(term, W, {W: Range(weight[W], weight[W])}) if smoothness(term, W) else None


def _sampled(session: Session, s: Statement) -> Term:
    """The sampling rule q, over records."""
    if s.sampling is None:
        raise Rejected("this claim needs a sampling rule")
    with session.at(".sampling"):
        fields = read_fields(s.sampling, {"q"})
        return read_term(fields["q"], {**session.constants, **{v: var(v) for v in s.records}})


def _sampled_profile(s: Statement, q: Term) -> tuple[Term, Term]:
    """e = epsilon(1/q, x) and psi = e + log(q + (1 - q) exp(-e)) = log(1 + q (exp(e) - 1))."""
    e = substitute(s.epsilon, {W: divide(ONE, q)})
    inner = add(q, mul(subtract(ONE, q), apply("exp", negate(e))))
    return e, add(e, apply("log", inner))


def epsilon_upper(session: Session, s: Statement, proof: Tree, bound: Fraction) -> None:
    """psi <= bound for all records."""
    q = _sampled(session, s)
    session.define(q, s.records)
    _show(session, "q-positive", proof, Goal(q, s.records, strict=True))
    _show(session, "q-at-most-one", proof, Goal(subtract(ONE, q), s.records))
    e, psi = _sampled_profile(s, q)
    if read_choice(proof["form"], "log", "exp") == "log":
        goal = subtract(num(bound), psi)
    else:
        goal = subtract(subtract(apply("exp", num(bound)), ONE), mul(q, subtract(apply("exp", e), ONE)))
    _show(session, "bound", proof, Goal(goal, s.records))


def epsilon_lower(session: Session, s: Statement, proof: Tree, bound: Fraction, point: dict[str, Fraction]) -> None:
    """psi >= bound at a record."""
    q = at(_sampled(session, s), point)
    session.define(q, {})
    session.discharge(Goal(q, {}, strict=True))
    session.discharge(Goal(subtract(ONE, q), {}))
    _, psi = _sampled_profile(s, q)
    _show(session, "bound", proof, Goal(subtract(at(psi, point), num(bound)), {}))


Claim = Callable[[Session, Statement, Tree], None]
_FLOOR = {"floor", "positive", "form", "curvature"}
_KINK = {"at", "kink"}
_THRESHOLD = {"threshold", "threshold-proof"}
CLAIMS: dict[tuple[str, str], tuple[Claim, tuple[set[str], ...]]] = {
    ("well-defined", "proved"): (well_defined, ({"nonnegative"},)),
    ("assumption-8", "proved"): (assumption_8, ({"bound"},)),
    ("assumption-8", "refuted"): (not_assumption_8, ({"at", "bound"},)),
    ("assumption-9", "proved"): (assumption_9, (_THRESHOLD | {"start", "slope"}, _THRESHOLD | {"direct", "form"})),
    ("assumption-9", "refuted"): (not_assumption_9, ({"at", "threshold", "form", "tail"},)),
    ("assumption-11", "proved"): (strongly_convex, (_FLOOR,)),
    ("assumption-11", "refuted"): (not_assumption_11, ({"at", "curvature"}, _KINK)),
    ("proposition-16", "proved"): (proposition_16, ({"bound"},)),
    ("proposition-16", "refuted"): (not_proposition_16, ({"at", "bound"},)),
    ("proposition-17", "proved"): (proposition_17, ({"bound"},)),
    ("proposition-17", "refuted"): (not_proposition_17, ({"at", "bound"}, _KINK)),
    ("strong-convexity", "proved"): (strongly_convex, (_FLOOR,)),
}


def _read_obligations(session: Session, s: Statement, trees: object) -> None:
    """The certificate's own proofs of side conditions, by the text of their terms."""
    extra = {f"s{'_' * i}" for i in range(4)} - session.constants.keys()
    names = {**{v: var(v) for v in [*extra, *s.records, W]}, **session.constants}
    session.obligations, session.used = {}, set()
    for source, tree in _mapping(trees).items():
        session.obligations[read_term(source, names)] = tree


def check_claim(session: Session, s: Statement, claim: Tree) -> str | None:
    """Check one claim; returns the bound that it states, as text, if it states one."""
    name, verdict = claim.get("claim"), claim.get("verdict")
    bound: str | None = None
    body: Claim
    if (name, verdict) == ("epsilon-upper", "proved"):
        fields = read_fields(claim, {"claim", "verdict", "bound", "proof"})
        limit, choices = read_number(fields["bound"]), ({"q-positive", "q-at-most-one", "form", "bound"},)
        bound = str(fields["bound"])

        def body(session: Session, s: Statement, proof: Tree) -> None:
            epsilon_upper(session, s, proof, limit)

    elif (name, verdict) == ("epsilon-lower", "proved"):
        fields = read_fields(claim, {"claim", "verdict", "bound", "at", "proof"})
        limit, choices = read_number(fields["bound"]), ({"bound"},)
        point = _point(session, fields, s.records)
        bound = str(fields["bound"])

        def body(session: Session, s: Statement, proof: Tree) -> None:
            epsilon_lower(session, s, proof, limit, point)

    else:
        fields = read_fields(claim, {"claim", "verdict", "proof"})
        if not isinstance(name, str) or not isinstance(verdict, str) or (name, verdict) not in CLAIMS:
            raise Rejected("unknown claim or verdict")
        body, found = CLAIMS[name, verdict]
        choices = found
    proof = fields["proof"]
    with session.at(".proof"):
        keys = set(proof) if isinstance(proof, dict) else set()
        required = next((c for c in choices if c <= keys), choices[0])
        tree = read_fields(proof, required, frozenset({"obligations"}))
        _read_obligations(session, s, tree.get("obligations", {}))
        body(session, s, tree)
        if len(session.used) < len(session.obligations):
            raise Rejected("an obligation is given that the claim does not have")
    return str(tree["floor"]) if name == "strong-convexity" else bound
