"""The claims: each derives its goals from the profile's own text; a proof can only say how they are shown."""
# Each function in CLAIMS is one way to prove or refute a claim: its keyword parameters are the fields of the claim's proof.

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from .boxes import Box, Range, enclose
from .rules import MOST_STEPS, Goal, Json, Session, apply, fields_of, range_of, show
from .syntax import read_choice, read_fields, read_list, read_name, read_number, read_term, variables
from .terms import Rejected, Term, differentiate, exp, log, make, num, postorder, power, require, smoothness, substitute, var

_WEIGHTS = Range(Fraction(1))
_NUMBERS = {"pure": "epsilon", "gaussian": "mu", "renyi": "rdp", "zcdp": "rho"}


@dataclass(frozen=True, slots=True)
class Statement:
    """What the claims are about: the profile, its records, and the target and sampling rule if there are any."""

    epsilon: Term  # what is promised: in another notion than the pure one it is no epsilon, and few claims may be made of it
    records: Box
    target: Term | None
    q: Term | None
    notion: str

    @property
    def domain(self) -> Box:
        """All records and weights."""
        return {**self.records, "w": _WEIGHTS}

    def above(self, epsilon: Term, w: Term, form: Json) -> Term:
        """Return a term that is > 0 exactly where epsilon > log(1 + E w), with E = exp(target) - 1 > 0."""
        line = num(1) + (exp(_given(self.target)) - num(1)) * w
        return epsilon - log(line) if read_choice(form, "log", "exp") else exp(epsilon) - line

    def spare(self) -> Term:
        """Return the target minus epsilon at w = 1."""
        return _given(self.target) - substitute(self.epsilon, {"w": num(1)})


def _given(term: Term | None) -> Term:
    if term is None:
        raise Rejected("this claim needs a target_epsilon, or a sampling rule")
    return term


def read_statement(session: Session, whole: Mapping[str, object]) -> Statement:
    """Read the statement of a certificate; numeric parameters go to the session, to be substituted everywhere."""
    with session.at("profile"):
        notion = str(read_fields(whole["profile"]).get("notion", "pure"))
        require(notion in _NUMBERS, "unknown notion")
        profile = read_fields(whole["profile"], {"name", _NUMBERS[notion], "record", "parameters"}, frozenset({"notion"}))
        require(isinstance(profile["name"], str) and len(profile["name"]) <= 1000, "the name must be a string of moderate length")
        records = {read_name(v): _read_range(ends) for v, ends in read_fields(profile["record"]).items()}
        for name, value in read_fields(profile["parameters"]).items():
            require(read_name(name) not in records, "a name is used twice")
            if isinstance(value, list) or value == "positive":
                records[name] = _read_range(value) if isinstance(value, list) else Range(Fraction(0), open=True)
                require(records[name].sign == 2, "the range of a parameter must be positive")
            else:
                session.constants[name] = num(read_number(value))
        names = {**session.constants, **variables(records)}
        if notion == "renyi":  # the order alpha is 1 + a, for all a > 0
            require(not names.keys() & {"alpha", "alpha_above_one"}, "the order is declared as something else")
            records["alpha_above_one"] = Range(Fraction(0), open=True)
            names |= {"alpha": num(1) + var("alpha_above_one"), "alpha_above_one": var("alpha_above_one")}
        epsilon = read_term(profile[_NUMBERS[notion]], {**names, "w": var("w")})
        require(notion == "pure" or not whole.keys() & {"target_epsilon", "sampling"}, "these are for a pure epsilon only")
    with session.at("target_epsilon"):
        target = read_number(whole["target_epsilon"]) if "target_epsilon" in whole else None
        require(target is None or target > 0, "the target epsilon must be positive")
    with session.at("sampling"):
        q = read_term(read_fields(whole["sampling"], {"q"})["q"], names) if "sampling" in whole else None
    return Statement(epsilon, records, None if target is None else num(target), q, notion)


def _read_range(ends: object) -> Range:
    lo, hi = map(read_number, read_list(ends, 2))
    return Range(lo, hi)


def _at(session: Session, s: Statement, at: Json, box: Box) -> tuple[Statement, Fraction]:
    # the statement about one record, and the weight, a number: a term without variables for every variable of the box, inside its range
    with session.at(".at"):
        point = {v: session.read(q, {}) for v, q in read_fields(at, set(box)).items()}
        w = point.pop("w", num(1))
        require(w.op == "num" and _WEIGHTS.contains(w.value), "the weight must be a number that is at least 1")
        for v, q in point.items():
            session.require_inside(q, box[v])
    rule = None if s.q is None else substitute(s.q, point)
    return replace(s, epsilon=substitute(s.epsilon, point), q=rule, records={}), w.value


def _slope(session: Session, s: Statement, box: Box) -> tuple[Term, Term]:
    # a branch-free term that equals epsilon near the points of a box, and its derivative in w (one-sided at w = 1): branches are resolved
    # on the whole domain, or by strict signs of what is continuous (smoothness rejects a ceiling), which persist in a neighborhood of each
    # point; so do the signs that differentiability needs
    def persists(gap: Term) -> bool:
        smoothness(gap, "w")
        return session.shows(Goal(gap, box, strict=True))

    resolved = session.resolve(_branch_free(session, s, "w"), "w", lambda gap, _: persists(gap))
    session.check_smooth(resolved, "w", box)
    return resolved, differentiate(resolved, "w")


def restated(session: Session, s: Statement, value: object, at: object = None) -> Statement:
    """Return the statement with another term for epsilon, which is shown to equal it."""
    # the difference of the two has the normal form 0, once (r**2)**c is written as |r|**(2 c) for each
    # root r that is given; at a record this is shown for that record only
    with session.at(".restated"):
        fields = read_fields(value, {"term"}, frozenset({"term", "roots"}))
        point = {v: read_number(q) for v, q in read_fields(at).items() if v in s.records} if at is not None else {}
        require(all(s.records[v].contains(q) for v, q in point.items()), "the point is outside the declared ranges")
        s = replace(s, epsilon=substitute(s.epsilon, point), records={**s.records, **{v: Range(q, q) for v, q in point.items()}})
        term, epsilon = substitute(session.read(fields["term"], s.domain), point), s.epsilon
        for source in read_list(fields.get("roots", [])):
            root = substitute(session.read(source, s.domain), point)
            for node in postorder(epsilon):
                if node.op == "pow" and session.is_zero(node.args[0] - root * root, s.domain):
                    epsilon = substitute(epsilon, {node: power(make("abs", root), 2 * node.args[1].value)})
        session.define(term, s.domain)
        require(session.is_zero(epsilon - term, s.domain), "the term that epsilon is restated as is not shown to equal it")
    return replace(s, epsilon=term)


def _at_weight(session: Session, s: Statement, w: Fraction, t: Callable[[Term, Term], Term]) -> Term:
    # t(epsilon, epsilon') at one weight
    return substitute(t(*_slope(session, s, {**s.records, "w": Range(w, w)})), {"w": w})


def _curvature(slope: Term) -> Term:
    # K with (exp epsilon)'' = K exp(epsilon)
    return differentiate(slope, "w") + slope * slope


def _gap_16(epsilon: Term, slope: Term) -> Term:
    return num(1) - exp(-epsilon) - slope


def _gap_17(epsilon: Term, slope: Term) -> Term:
    return var("w") * slope - epsilon


def well_defined(session: Session, s: Statement, *, nonnegative: Json) -> None:
    """Epsilon is defined and >= 0 for all records and weights."""
    session.define(s.epsilon, s.domain)
    show(session, ".nonnegative", Goal(s.epsilon, s.domain), nonnegative)


def assumption_8(session: Session, s: Statement, *, bound: Json) -> None:
    """Target - epsilon(1) >= 0 for all records."""
    show(session, ".bound", Goal(s.spare(), s.records), bound)


def not_assumption_8(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """epsilon(1) - target > 0 at a record."""
    show(session, ".bound", Goal(-_at(session, s, at, s.records)[0].spare(), {}, strict=True), bound)


def _from(session: Session, s: Statement, threshold: Json, proof: object) -> tuple[Term, str, Term, Box]:
    # the threshold, shown to be at least 1, a new variable for the weight's excess over it, the weight, and the box of both
    with session.at(".threshold"):
        v = session.read(threshold, s.records)
    show(session, ".threshold-proof", Goal(v - num(1), s.records), proof)
    excess = "s"
    while excess in s.records or excess in session.constants:
        excess += "_"
    return v, excess, v + var(excess), {**s.records, excess: Range(Fraction(0))}


def assumption_9(session: Session, s: Statement, *, threshold: Json, threshold_proof: Json, start: Json, slope: Json) -> None:
    """Epsilon > log(1 + E w) at a threshold v >= 1, and w epsilon' >= 1 from there on, where (log(1 + E w))' < 1/w."""
    v, excess, w, box = _from(session, s, threshold, threshold_proof)
    show(session, ".start", Goal(s.above(substitute(s.epsilon, {"w": v}), v, "log"), s.records, strict=True), start)
    derivative = differentiate(session.smooth(substitute(s.epsilon, {"w": w}), excess, box), excess)
    show(session, ".slope", Goal(w * derivative - num(1), box), slope)


def assumption_9_directly(session: Session, s: Statement, *, threshold: Json, threshold_proof: Json, direct: Json, form: Json) -> None:
    """Epsilon > log(1 + E w), or exp(epsilon) > 1 + E w, for all w from a threshold v >= 1 on."""
    _, _, w, box = _from(session, s, threshold, threshold_proof)
    show(session, ".direct", Goal(s.above(substitute(s.epsilon, {"w": w}), w, form), box, strict=True), direct)


def not_assumption_9(session: Session, s: Statement, *, at: Json, threshold: Json, form: Json, tail: Json) -> None:
    """Epsilon <= log(1 + E w), or exp(epsilon) <= 1 + E w, at a record for all w from a threshold >= 1 on."""
    (s, _), weights = _at(session, s, at, s.records), Range(read_number(threshold))
    require(weights.lo >= 1, "the threshold must be at least 1")
    show(session, ".tail", Goal(-s.above(s.epsilon, var("w"), form), {"w": weights}), tail)


def vanishing(session: Session, s: Statement, *, vanishing: Json) -> None:
    """Epsilon <= 0, hence epsilon = 0, for all records and weights."""
    show(session, ".vanishing", Goal(-s.epsilon, s.domain), vanishing)


def not_assumption_9_nonzero(
    session: Session, s: Statement, *, at: Json, weight: Json, positive: Json, threshold: Json, form: Json, tail: Json
) -> None:
    """Epsilon > 0 at a record and a weight >= 1; and epsilon <= log(1 + E w) at that record for all w from a threshold >= 1 on."""
    w = read_number(weight)
    require(w >= 1, "the weight must be at least 1")
    here = substitute(_at(session, s, at, s.records)[0].epsilon, {"w": w})
    show(session, ".positive", Goal(here, {}, strict=True), positive)
    not_assumption_9(session, s, at=at, threshold=threshold, form=form, tail=tail)


def strong_convexity(
    session: Session, s: Statement, *, floor: Json, positive: Json, form: Json, curvature: Json, cuts: Json = None
) -> None:
    """K >= floor, or K exp(epsilon) >= floor, for a floor > 0 without w and all w, where (exp epsilon)'' = K exp(epsilon); epsilon >= 0."""
    with session.at(".floor"):
        least = session.read(floor, s.records)
    show(session, ".positive", Goal(least, s.records, strict=True), positive)
    is_log = read_choice(form, "log", "exp")
    _on_pieces(session, s, ".curvature", curvature, cuts, lambda e, slope: _curvature(slope) * (num(1) if is_log else exp(e)) - least)


def not_assumption_11(session: Session, s: Statement, *, at: Json, curvature: Json) -> None:
    """-K >= 0 at a record and weight around which epsilon is twice differentiable."""
    s, w = _at(session, s, at, s.domain)
    show(session, ".curvature", Goal(-_at_weight(session, s, w, lambda _, slope: _curvature(slope)), {}), curvature)


def flattening(session: Session, s: Statement, *, at: Json, weight: Json, weight_proof: Json, flat: Json) -> None:
    """K exp(epsilon) <= 1/n at a record and a weight given as a term in n, for all n >= 1: no constant > 0 is below all of it."""
    (s, _), counts = _at(session, s, at, s.records), {"n": _WEIGHTS}
    epsilon, slope = _slope(session, s, s.domain)
    with session.at(".weight"):
        w = session.read(weight, counts)
    show(session, ".weight-proof", Goal(w - num(1), counts), weight_proof)
    show(session, ".flat", Goal(num(1) - var("n") * substitute(_curvature(slope) * exp(epsilon), {"w": w}), counts), flat)


def proposition_16(session: Session, s: Statement, *, bound: Json) -> None:
    """1 - exp(-epsilon(1)) - epsilon'(1) > 0 for all records."""
    show(session, ".bound", Goal(_at_weight(session, s, Fraction(1), _gap_16), s.records, strict=True), bound)


def not_proposition_16(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """1 - exp(-epsilon(1)) - epsilon'(1) <= 0 at a record."""
    s, w = _at(session, s, at, s.records)
    show(session, ".bound", Goal(-_at_weight(session, s, w, _gap_16), {}), bound)


def proposition_17(session: Session, s: Statement, *, bound: Json, cuts: Json = None) -> None:
    """For all records and weights, w epsilon' - epsilon >= 0."""
    _on_pieces(session, s, ".bound", bound, cuts, _gap_17)


def not_proposition_17(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """At a record and weight, epsilon - w epsilon' > 0."""
    s, w = _at(session, s, at, s.domain)
    show(session, ".bound", Goal(-_at_weight(session, s, w, _gap_17), {}, strict=True), bound)


def homogeneous(session: Session, s: Statement) -> None:
    """For all records and weights, epsilon = w^d epsilon(1), with d = 1 for epsilon and mu, and d = 2 for rdp and rho."""
    require(session.is_zero(_excess(s), s.domain), "epsilon is not shown to be a power of w times its value at w = 1")


def not_homogeneous(session: Session, s: Statement, *, at: Json, bound: Json) -> None:
    """At a record and weight, (epsilon - w^d epsilon(1))^2 > 0."""
    s, w = _at(session, s, at, s.domain)
    show(session, ".bound", Goal(power(substitute(_excess(s), {"w": w}), 2), {}, strict=True), bound)


def _excess(s: Statement) -> Term:
    degree = 2 if s.notion in {"renyi", "zcdp"} else 1
    return s.epsilon - power(var("w"), degree) * substitute(s.epsilon, {"w": num(1)})


def _sampled(session: Session, s: Statement, bound: Term, form: Json, proofs: tuple[object, ...]) -> Term:
    # a term that is >= 0 if and only if psi <= bound, after showing 0 < q <= 1 by the proofs or, without any, by the usual ones
    q = _given(s.q)
    session.define(q, s.records)
    goals = {".q-positive": Goal(q, s.records, strict=True), ".q-at-most-one": Goal(num(1) - q, s.records)}
    for i, (step, goal) in enumerate(goals.items()):
        show(session, step, goal, proofs[i]) if proofs else session.discharge(goal)
    e = substitute(s.epsilon, {"w": power(q, -1)})
    if read_choice(form, "log", "exp"):
        return bound - (e + log(q + (num(1) - q) * exp(-e)))  # = log(1 + q (exp(e) - 1))
    return exp(bound) - num(1) - q * (exp(e) - num(1))


def epsilon_upper(session: Session, s: Statement, *, claimed: Json, q_positive: Json, q_at_most_one: Json, form: Json, bound: Json) -> None:
    """0 < q <= 1 and log(1 + q (exp(epsilon(1/q)) - 1)) <= the claimed number, for all records."""
    term = _sampled(session, s, num(read_number(claimed)), form, (q_positive, q_at_most_one))
    show(session, ".bound", Goal(term, s.records), bound)


def epsilon_lower(session: Session, s: Statement, *, claimed: Json, at: Json, bound: Json) -> None:
    """0 < q <= 1 and log(1 + q (exp(epsilon(1/q)) - 1)) >= the claimed number, at a record."""
    s, _ = _at(session, s, at, s.records)
    show(session, ".bound", Goal(-_sampled(session, s, num(read_number(claimed)), "log", ()), {}), bound)


def _on_pieces(session: Session, s: Statement, step: str, tree: Json, cuts: Json, t: Callable[[Term, Term], Term]) -> None:
    # t(epsilon, epsilon') >= 0 for all records and weights: at once, or on every piece of the weights between cuts
    if cuts is None:
        show(session, step, Goal(t(*_slope(session, s, s.domain)), s.domain), tree)
        return
    with session.at(".cuts"):
        pieces = _smooth_pieces(session, s, [session.read(cut, s.records) for cut in read_list(cuts)])
    with session.at(step):
        for i, (proof, (epsilon, slope, weight, box)) in enumerate(zip(read_list(tree, len(pieces)), pieces, strict=True)):
            show(session, f"[{i}]", Goal(substitute(t(epsilon, slope), {"w": weight}), box), proof)


def _smooth_pieces(session: Session, s: Statement, cuts: list[Term]) -> list[tuple[Term, Term, Term, Box]]:
    # (term, derivative, weight, box) for each piece of [1, oo): values and derivatives of pieces that meet agree at the cut between them,
    # so epsilon is continuously differentiable
    pieces, ends = list[tuple[Term, Term, Term, Box]](), [num(1), *cuts]
    for i, lo in enumerate(ends):
        pieces.append(_piece(session, s, lo, ends[i + 1] if i < len(cuts) else None))
        zeros = [substitute(pieces[i][1] - before, {"w": lo}) for _, before, _, _ in pieces[:i][-1:]]
        require(all(session.is_zero(zero, s.records) for zero in zeros), "two pieces do not meet with equal slopes")
    return pieces


def _piece(session: Session, s: Statement, lo: Term, hi: Term | None) -> tuple[Term, Term, Term, Box]:
    # the weights from lo to hi are lo + (hi - lo) w, or hi - (hi - lo) w, for w in [0, 1]; without hi they are lo + w for w >= 0. Inside,
    # epsilon is one term that is smooth for w > 0. The term and its derivative are defined, hence continuous, at the ends too, where
    # epsilon has the term's value: so the derivative there, from this side, is the one of the term, which is its limit
    at, box = var("w"), {**s.records, "w": Range(Fraction(0), None if hi is None else Fraction(1))}
    weights = [lo + at] if hi is None else [lo + (hi - lo) * at, hi - (hi - lo) * at]
    if hi is not None:
        session.discharge(Goal(hi - lo, s.records))
    term = session.resolve(s.epsilon, "w", lambda gap, strict: _is_signed_inside(session, gap, weights, box, strict=strict))
    slope = differentiate(term, "w")
    for part in (term, slope):
        _define_on(session, part, weights, box)
    for end in (lo,) if hi is None else (lo, hi):
        zero = substitute(term, {"w": end}) - substitute(session.resolve(s.epsilon, "w", _signs_at(session, s, end)), {"w": end})
        require(session.is_zero(zero, s.records), "epsilon jumps at the end of a piece")
    session.rely("differentiability")
    for here in (box, {**box, "w": replace(box["w"], open=True)}):
        for weight in weights:
            bases = [substitute(base, {"w": weight}) for base in smoothness(term, "w")]
            if all(session.shows(Goal(base, here, strict=True)) for base in bases):
                return term, slope, weight, here
    raise Rejected("epsilon is not shown to be smooth inside a piece")


def _define_on(session: Session, term: Term, weights: list[Term], box: Box) -> None:
    depth = len(session.path)
    for weight in weights[:-1]:
        try:
            return session.define(substitute(term, {"w": weight}), box)
        except Rejected:
            del session.path[depth:]
    return session.define(substitute(term, {"w": weights[-1]}), box)


def _signs_at(session: Session, s: Statement, w: Term) -> Callable[[Term, bool], bool]:
    return lambda gap, strict: session.shows(Goal(substitute(gap, {"w": w}), s.records, strict))


def _is_signed_inside(session: Session, gap: Term, weights: list[Term], box: Box, *, strict: bool) -> bool:
    # gap >= 0 on the piece; > 0 but for the ends of the range of w if strict, because it is strictly monotone too
    gaps = [substitute(gap, {"w": weight}) for weight in weights]
    shown = any(session.shows(Goal(g, box)) for g in gaps)
    if not shown or not strict:
        return shown
    session.check_smooth(gaps[0], "w", box)
    slope = substitute(differentiate(gap, "w"), {"w": weights[0]})
    return session.shows(Goal(slope, box, strict=True)) or session.shows(Goal(-slope, box, strict=True))


def kink(session: Session, s: Statement, *, at: Json, kink: Json) -> None:
    """Epsilon is not differentiable at a record and some w > 1: beside it epsilon is two smooth terms with other values or slopes."""
    # The one argument whose sign changes on the range has a single zero there. On either side of it the term equals a smooth term. Were it
    # differentiable at the zero, it would be continuous there, so both terms would take its value and its derivative at the zero.
    s, _ = _at(session, s, at, s.records)
    with session.at(".kink"):
        between = _read_range(kink)
        require(between.lo >= 1 and between.lo != between.hi, "a kink lies strictly inside a range that does not start below 1")
        box, crossing, sides = {"w": between}, list[Term](), list[Term]()
        epsilon = _stepwise(session, s.epsilon, box)
        for i in (0, 1):
            side = session.resolve(epsilon, "w", lambda gap, strict, i=i: _signs(session, gap, box, crossing)[i] >= strict)  # type: ignore[misc]
            session.define(side, box)
            session.check_smooth(side, "w", box)
            sides.append(side)
        value, slope = sides[0] - sides[1], differentiate(sides[0], "w") - differentiate(sides[1], "w")
        require(_sign_on(session, value, box) or _sign_on(session, slope, box), "the one-sided derivatives are not shown to differ")


def _stepwise(session: Session, term: Term, box: Box) -> Term:
    # the term with each ceiling of w as a choice between the two whole numbers that it is on the box, n where n - 1 < a <= n
    new = dict[Term, Term]()
    for node in postorder(term):
        if node.op == "ceiling" and "w" in node.free:
            low, high = enclose(node.args[0], box, session.meter, 256)
            require(-(10**15) < low <= high < 10**15, "the argument of a ceiling is too large")
            n = ceil(low)
            require(high <= n + 1, "a ceiling takes more than two values on the range")
            new[node] = make("piecewise", num(n), node.args[0], num(n), num(n + 1), value=("<=",))
    return substitute(term, new)


def _sign_on(session: Session, term: Term, box: Box) -> int:
    # 1 or -1 if the term is > 0 or < 0 at all points of the box, else 0
    low, high = enclose(term, box, session.meter, 256)
    return int(low > 0) - int(high < 0)


def _signs(session: Session, gap: Term, box: Box, crossing: list[Term]) -> list[int]:
    # the signs of a term on either side of its zero, or twice the sign that it has on all of the range
    session.check_smooth(gap, "w", box)
    if _sign_on(session, gap, box) or session.is_zero(gap, box):
        return [_sign_on(session, gap, box)] * 2
    crossing.append(gap)
    one = session.is_zero(gap - crossing[0], box) or session.is_zero(gap + crossing[0], box)
    signs = [_sign_on(session, substitute(gap, {"w": end}), {}) for end in (box["w"].lo, box["w"].hi or Fraction(0))]
    if not one or sum(signs) != 0 or not signs[0] or not _sign_on(session, differentiate(gap, "w"), box):
        raise Rejected("an argument changes its sign, and not just once, or more than one does")
    return signs


CLAIMS: dict[str, Callable[..., None]] = {  # by claim and verdict; the words after that tell several ways apart
    "well-defined proved": well_defined,
    "assumption-8 proved": assumption_8,
    "assumption-8 refuted": not_assumption_8,
    "assumption-9 proved by slope": assumption_9,
    "assumption-9 proved directly": assumption_9_directly,
    "assumption-9 refuted": not_assumption_9,
    "assumption-9-nonzero proved where epsilon is zero": vanishing,
    "assumption-9-nonzero proved by slope": assumption_9,
    "assumption-9-nonzero proved directly": assumption_9_directly,
    "assumption-9-nonzero refuted": not_assumption_9_nonzero,
    "assumption-11 proved": strong_convexity,
    "assumption-11 refuted at a point": not_assumption_11,
    "assumption-11 refuted at a kink": kink,
    "assumption-11 refuted in the limit": flattening,
    "proposition-16 proved": proposition_16,
    "proposition-16 refuted": not_proposition_16,
    "proposition-17 proved": proposition_17,
    "proposition-17 refuted at a point": not_proposition_17,
    "proposition-17 refuted at a kink": kink,
    "homogeneous proved": homogeneous,
    "homogeneous refuted": not_homogeneous,
    "strong-convexity proved": strong_convexity,
    "epsilon-upper proved": epsilon_upper,
    "epsilon-lower proved": epsilon_lower,
}


def _apply(session: Session, s: Statement, choices: list[Callable[..., None]], proof: Mapping[str, object], *, divisible: bool) -> None:
    require(len(session.path) <= MOST_STEPS, "the proof is nested too deeply")
    if "restated" in proof and choices[0] is not well_defined:
        s, proof = restated(session, s, proof["restated"], proof.get("at")), {k: v for k, v in proof.items() if k != "restated"}
    if vanishing in choices and "sides" in proof:
        _apply_beside(session, s, choices, proof)
        return
    # a claim about all records, shown for cases of them, or for what their values in one term may be; or shown as it stands
    for step, way in (("cases", _in_cases), ("statistic", _by_statistic)):
        if divisible and step in proof:
            with session.at(f".{step}"):
                way(session, s, choices, read_fields(read_fields(proof, {step})[step]))
            return
    function = next((choice for choice in choices if fields_of(choice)[1] <= proof.keys()), choices[0])
    apply(function, session, s, proof)


def _in_cases(session: Session, s: Statement, choices: list[Callable[..., None]], given: Mapping[str, object]) -> None:
    # what holds for all records with v <= c and for all with v > c (v >= c, if closed) holds for all records
    cases = read_fields(given, {"variable", "at", "below", "above"}, frozenset({"closed"}))
    v, old, c = _cut(s, cases)
    require(c not in (old.lo, old.hi), "the range must be split strictly inside")
    for step, half in (("below", replace(old, hi=c)), ("above", Range(c, old.hi, open="closed" not in cases))):
        with session.at(f".{step}"):
            _apply(session, replace(s, records={**s.records, v: half}), choices, read_fields(cases[step]), divisible=True)


def _by_statistic(session: Session, s: Statement, choices: list[Callable[..., None]], given: Mapping[str, object]) -> None:
    # epsilon is f(w, a) for a term a of the records: what holds for f(w, y), for all y in a range that contains all values of a, holds
    require(well_defined not in choices, "epsilon has to be defined as it is written")
    fields = dict(read_fields(given, {"name", "term", "low", "lower", "epsilon", "proof"}, frozenset({"high", "upper", "open"})))
    f_text, proof, open_ = fields.pop("epsilon"), read_fields(fields.pop("proof")), fields.pop("open", None)
    y, a, values = range_of(session, s.records, **fields, open_=open_)
    f = session.read(f_text, {**s.domain, y: values})
    require(session.is_zero(substitute(f, {y: a}) - s.epsilon, s.domain), "epsilon is not this function of the term")
    records = {v: r for v, r in {**s.records, y: values}.items() if v in f.free}
    with session.at(".proof"):
        _apply(session, replace(s, epsilon=f, records=records), choices, proof, divisible=True)


def _apply_beside(session: Session, s: Statement, choices: list[Callable[..., None]], proof: Mapping[str, object]) -> None:
    # what holds for all records with v = c, for all with v = c + d, and for all with v = c - d, where d > 0, holds for all records
    sides = read_fields(read_fields(proof, {"sides"})["sides"], {"variable", "at", "on"}, frozenset({"above", "below"}))
    v, old, c = _cut(s, sides)
    require(not old.open, "a range that is open already has no sides")
    others = {u: r for u, r in s.records.items() if u != v}
    parts = {"on": replace(s, epsilon=substitute(s.epsilon, {v: c}), records=others)}
    for step, sign, end in (("above", 1, old.hi), ("below", -1, old.lo)):
        if end != c:
            beside = {**others, v: Range(Fraction(0), None if end is None else abs(end - c), open=True)}
            parts[step] = replace(s, epsilon=substitute(s.epsilon, {v: num(c) + num(sign) * var(v)}), records=beside)
            parts[step] = replace(parts[step], epsilon=_branch_free(session, parts[step], v))
    require(parts.keys() == sides.keys() - {"variable", "at"}, "the sides are not those of the range")
    for step, part in parts.items():
        with session.at(f".sides.{step}"):
            _apply(session, part, choices, read_fields(sides[step]), divisible=True)


def _branch_free(session: Session, s: Statement, v: str) -> Term:
    # a term that equals epsilon for all records and weights, with the branches on v resolved if all of them can be
    depth = len(session.path)
    try:
        return session.resolve(s.epsilon, v, lambda gap, strict: session.shows(Goal(gap, s.domain, strict)))
    except Rejected:
        del session.path[depth:]
        return s.epsilon


def _cut(s: Statement, fields: Mapping[str, object]) -> tuple[str, Range, Fraction]:
    # a variable of the records, its range, and a number in it
    v, c = fields["variable"], read_number(fields["at"])
    if not isinstance(v, str) or v not in s.records:
        raise Rejected("there is no such variable in the records")
    require(s.records[v].contains(c), "the number is outside the range")
    return v, s.records[v], c


_OF_ALL_NOTIONS = {"well-defined", "homogeneous"}  # all others are about an epsilon
_OWN_FIELDS = {
    "epsilon-upper": {"bound": "claimed"},
    "epsilon-lower": {"bound": "claimed", "at": "at"},
}  # and what they are called in a proof


def check_claim(session: Session, s: Statement, value: object) -> tuple[str, str, str | None]:
    """Check one claim; return its name, its verdict, and the bound that it states, as text, if it states one."""
    claim = read_fields(value)
    name, verdict = str(claim.get("claim")), str(claim.get("verdict"))
    choices = [function for key, function in CLAIMS.items() if key.split(" ")[:2] == [name, verdict]]
    require(choices, "unknown claim or verdict")
    require(s.notion == "pure" or name in _OF_ALL_NOTIONS, "this claim is about a pure epsilon, which is not what the profile declares")
    own = _OWN_FIELDS.get(name, {})
    fields = read_fields(claim, {"claim", "verdict", "proof", *own})
    with session.at(".proof"):
        proof, stated = dict(read_fields(fields["proof"])), {new: fields[key] for key, new in own.items()}
        # the certificate's own proofs of side conditions, by the text of their terms; s, s_, s__ and n are variables of claims
        names = {**variables({"s": 0, "s_": 0, "s__": 0, "n": 0, **s.records, "w": 0}), **session.constants}
        trees = [(read_term(source, names), tree) for source, tree in read_fields(proof.pop("obligations", {})).items()]
        session.obligations, session.used = dict(trees), set()
        require(not proof.keys() & stated.keys(), "unknown fields")
        _apply(session, s, choices, proof | stated, divisible=verdict == "proved" and name not in {"strong-convexity", *_OWN_FIELDS})
        require(len(session.used) == len(trees), "an obligation is given twice, or one that the claim does not have")
    return name, verdict, str(fields["bound"]) if own else str(proof["floor"]) if "floor" in proof else None
