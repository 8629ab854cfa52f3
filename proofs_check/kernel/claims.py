"""The claims: each derives its goals from the profile's own text; a proof can only say how they are shown."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from .errors import Rejected
from .ranges import Box, Range
from .rules import Tree, show
from .session import Goal, Session
from .slopes import WEIGHTS, show_kink, slope_at, smooth_pieces
from .syntax import read_choice, read_fields, read_list, read_name, read_number, read_term, variables
from .terms import Term, differentiate, exp, log, num, substitute, var

_ONE, _W, _AT_ONE = num(1), var("w"), Range(Fraction(1), Fraction(1))
_FLOOR, _THRESHOLD = {"floor", "positive", "form", "curvature"}, {"threshold", "threshold-proof"}
_FLAT = {"at", "weight", "weight-proof", "flat"}


@dataclass(frozen=True, slots=True)
class Statement:
    """What the claims are about: the profile, its records, and the target and sampling rule if there are any."""

    epsilon: Term
    records: Box
    target: Fraction | None
    q: Term | None


def read_statement(session: Session, whole: Tree) -> Statement:
    """Read the statement of a certificate; numeric parameters go to the session, to be substituted everywhere."""
    with session.at("profile"):
        profile = read_fields(whole["profile"], {"name", "epsilon", "record", "parameters"})
        if not isinstance(profile["name"], str) or len(profile["name"]) > 1000:
            raise Rejected("the name must be a string of moderate length")
        records = {read_name(v): _read_range(ends) for v, ends in read_fields(profile["record"]).items()}
        for name, value in read_fields(profile["parameters"]).items():
            if read_name(name) in records:
                raise Rejected(f"the name {name} is used twice")
            if isinstance(value, list) or value == "positive":
                records[name] = _read_range(value) if isinstance(value, list) else Range(Fraction(0), open=True)
                if not records[name].open and records[name].lo <= 0:
                    raise Rejected(f"the range of the parameter {name} must be positive")
            else:
                session.constants[name] = num(read_number(value))
        names = {**session.constants, **variables(records)}
        epsilon = read_term(profile["epsilon"], {**names, "w": _W})
    with session.at("target_epsilon"):
        target = read_number(whole["target_epsilon"]) if "target_epsilon" in whole else None
        if target is not None and target <= 0:
            raise Rejected("the target epsilon must be positive")
    with session.at("sampling"):
        q = read_term(read_fields(whole["sampling"], {"q"})["q"], names) if "sampling" in whole else None
    return Statement(epsilon, records, target, q)


def _read_range(value: object, least: Fraction | int | None = None) -> Range:
    lo, hi = map(read_number, read_list(value, 2))
    if least is not None and lo < least:
        raise Rejected(f"the range must not start below {least}")
    return Range(lo, hi)


def _point(session: Session, proof: Tree, box: Box) -> dict[str, Fraction]:
    # a number inside its range for every variable of the box, and for nothing else
    with session.at(".at"):
        point = {v: read_number(q) for v, q in read_fields(proof["at"], set(box)).items()}
        if not all(box[v].contains(q) for v, q in point.items()):
            raise Rejected("the point is outside the declared ranges")
    return point


def _target(s: Statement) -> Term:
    if s.target is None:
        raise Rejected("this claim needs a target_epsilon")
    return num(s.target)


def _condition(session: Session, s: Statement, proof: Tree, claim: tuple[str, str]) -> None:
    # t >= 0 (> 0) for all records and weights, or w = 1 only; refuted: -t > 0 (>= 0) at one of these points
    at_one, refuted = claim[0] in ("assumption-8", "proposition-16"), claim[1] == "refuted"
    epsilon, whole = s.epsilon, {**s.records, "w": WEIGHTS}
    box = {**s.records, "w": _AT_ONE} if at_one else whole
    point: dict[str, Fraction] = {"w": Fraction(1)} if at_one else {}
    if refuted:
        point |= _point(session, proof, s.records if at_one else box)
        epsilon, whole = _at_record(s, point), {"w": WEIGHTS}
        box = {"w": Range(point["w"], point["w"])}
    if claim[0] == "assumption-8":
        term, strict = _target(s) - epsilon, False
    else:
        epsilon, slope = slope_at(session, epsilon, box, whole)
        term = {"assumption-11": _curvature(slope), "proposition-16": _ONE - exp(-epsilon) - slope}.get(claim[0], _W * slope - epsilon)
        strict = claim[0] != "proposition-17"
    term, left = substitute(term, point), {v: r for v, r in box.items() if v not in point}
    field = "curvature" if claim[0] == "assumption-11" else "bound"
    show(session, proof, field, Goal(-term if refuted else term, left, strict != refuted))


def _at_record(s: Statement, point: dict[str, Fraction]) -> Term:
    return substitute(s.epsilon, {v: q for v, q in point.items() if v != "w"})


def _curvature(slope: Term) -> Term:
    # K with (exp epsilon)'' = K exp(epsilon)
    return differentiate(slope, "w") + slope * slope


def _kink(session: Session, s: Statement, proof: Tree, _: tuple[str, str]) -> None:
    point = _point(session, proof, s.records)
    with session.at(".kink"):
        show_kink(session, _at_record(s, point), _read_range(proof["kink"], 1))


def _in_pieces(session: Session, s: Statement, proof: Tree, field: str, goal: Callable[[Term, Term], Term]) -> None:
    # goal(epsilon, epsilon') >= 0 on every piece of the weights, for an epsilon that is continuously differentiable over all of them
    with session.at(".cuts"):
        pieces = smooth_pieces(session, s.epsilon, s.records, [read_number(cut) for cut in read_list(proof["cuts"])])
    with session.at("." + field):
        trees = read_list(proof[field], len(pieces))
        for i, (tree, (epsilon, slope, box)) in enumerate(zip(trees, pieces, strict=True)):
            show(session, {f"[{i}]": tree}, f"[{i}]", Goal(goal(epsilon, slope), box))


def _piecewise_17(session: Session, s: Statement, proof: Tree, _: tuple[str, str]) -> None:
    _in_pieces(session, s, proof, "bound", lambda epsilon, slope: _W * slope - epsilon)


def _well_defined(session: Session, s: Statement, proof: Tree, _: tuple[str, str]) -> None:
    domain = {**s.records, "w": WEIGHTS}
    session.define(s.epsilon, domain)
    show(session, proof, "nonnegative", Goal(s.epsilon, domain))


def _above(s: Statement, epsilon: Term, w: Term, form: object) -> Term:
    # a term that is > 0 exactly where epsilon > log(1 + E w), with E = exp(target) - 1 > 0
    line = _ONE + (exp(_target(s)) - _ONE) * w
    return epsilon - log(line) if read_choice(form, "log", "exp") else exp(epsilon) - line


def _assumption_9(session: Session, s: Statement, proof: Tree, _: tuple[str, str]) -> None:
    with session.at(".threshold"):
        threshold = session.read(proof["threshold"], s.records)
    show(session, proof, "threshold-proof", Goal(threshold - _ONE, s.records))
    offset = "s"
    while offset in s.records or offset in session.constants:
        offset += "_"
    weight, box = threshold + var(offset), {**s.records, offset: Range(Fraction(0))}
    epsilon = substitute(s.epsilon, {"w": weight})
    if "direct" in proof:
        show(session, proof, "direct", Goal(_above(s, epsilon, weight, proof["form"]), box, strict=True))
    else:  # d/dw (epsilon - log(1 + E w)) >= 1/w - E/(1 + E w) > 0 from the threshold on
        start = _above(s, substitute(s.epsilon, {"w": threshold}), threshold, "log")
        show(session, proof, "start", Goal(start, s.records, strict=True))
        slope = differentiate(session.smooth(epsilon, offset, box), offset)
        show(session, proof, "slope", Goal(weight * slope - _ONE, box))


def _not_assumption_9(session: Session, s: Statement, proof: Tree, _: tuple[str, str]) -> None:
    epsilon, threshold = _at_record(s, _point(session, proof, s.records)), read_number(proof["threshold"])
    if threshold < 1:
        raise Rejected("the threshold must be at least 1")
    show(session, proof, "tail", Goal(-_above(s, epsilon, _W, proof["form"]), {"w": Range(threshold)}))


def _strongly_convex(session: Session, s: Statement, proof: Tree, _: tuple[str, str]) -> None:
    with session.at(".floor"):
        floor = session.read(proof["floor"], s.records)
    show(session, proof, "positive", Goal(floor, s.records, strict=True))
    log = read_choice(proof["form"], "log", "exp")

    def goal(epsilon: Term, slope: Term) -> Term:
        # epsilon >= 0, so K >= floor implies K exp(epsilon) >= floor
        return (_curvature(slope) if log else _curvature(slope) * exp(epsilon)) - floor

    domain = {**s.records, "w": WEIGHTS}
    if "cuts" in proof:
        _in_pieces(session, s, proof, "curvature", goal)
    else:
        show(session, proof, "curvature", Goal(goal(*slope_at(session, s.epsilon, domain, domain)), domain))


def _flattening(session: Session, s: Statement, proof: Tree, _: tuple[str, str]) -> None:
    # K exp(epsilon) <= 1/n at a weight given as a term in n, for all n >= 1, so that no constant mu > 0 is below all of it
    epsilon, slope = slope_at(session, _at_record(s, _point(session, proof, s.records)), {"w": WEIGHTS}, {"w": WEIGHTS})
    counts = {"n": WEIGHTS}
    with session.at(".weight"):
        weight = session.read(proof["weight"], counts)
    show(session, proof, "weight-proof", Goal(weight - _ONE, counts))
    bent = substitute(_curvature(slope) * exp(epsilon), {"w": weight})
    show(session, proof, "flat", Goal(_ONE - var("n") * bent, counts))


def _sampled(session: Session, s: Statement, proof: Tree, claim: tuple[str, str]) -> None:
    if s.q is None:
        raise Rejected("this claim needs a sampling rule")
    lower, bound = claim[0] == "epsilon-lower", num(read_number(proof["claimed"]))
    point = _point(session, proof, s.records) if lower else {}
    q, box = substitute(s.q, point), {v: r for v, r in s.records.items() if v not in point}
    session.define(q, box)
    for field, goal in (("q-positive", Goal(q, box, strict=True)), ("q-at-most-one", Goal(_ONE - q, box))):
        session.discharge(goal) if lower else show(session, proof, field, goal)
    e = substitute(substitute(s.epsilon, {"w": _ONE / q}), point)
    psi = e + log(q + (_ONE - q) * exp(-e))  # log(1 + q (exp(e) - 1))
    exact = not lower and not read_choice(proof["form"], "log", "exp")
    term = exp(bound) - _ONE - q * (exp(e) - _ONE) if exact else bound - psi
    show(session, proof, "bound", Goal(-term if lower else term, box))


_Check = Callable[[Session, Statement, Tree, tuple[str, str]], None]
_CLAIMS: dict[tuple[object, object], list[tuple[set[str], _Check]]] = {
    ("well-defined", "proved"): [({"nonnegative"}, _well_defined)],
    ("assumption-8", "proved"): [({"bound"}, _condition)],
    ("assumption-8", "refuted"): [({"at", "bound"}, _condition)],
    ("assumption-9", "proved"): [(_THRESHOLD | {"start", "slope"}, _assumption_9), (_THRESHOLD | {"direct", "form"}, _assumption_9)],
    ("assumption-9", "refuted"): [({"at", "threshold", "form", "tail"}, _not_assumption_9)],
    ("assumption-11", "proved"): [(_FLOOR | {"cuts"}, _strongly_convex), (_FLOOR, _strongly_convex)],
    ("assumption-11", "refuted"): [({"at", "curvature"}, _condition), ({"at", "kink"}, _kink), (_FLAT, _flattening)],
    ("proposition-16", "proved"): [({"bound"}, _condition)],
    ("proposition-16", "refuted"): [({"at", "bound"}, _condition)],
    ("proposition-17", "proved"): [({"cuts", "bound"}, _piecewise_17), ({"bound"}, _condition)],
    ("proposition-17", "refuted"): [({"at", "bound"}, _condition), ({"at", "kink"}, _kink)],
    ("strong-convexity", "proved"): [(_FLOOR | {"cuts"}, _strongly_convex), (_FLOOR, _strongly_convex)],
    ("epsilon-upper", "proved"): [({"q-positive", "q-at-most-one", "form", "bound"}, _sampled)],
    ("epsilon-lower", "proved"): [({"bound"}, _sampled)],
}
_OWN_FIELDS = {"epsilon-upper": {"bound"}, "epsilon-lower": {"bound", "at"}}


def check_claim(session: Session, s: Statement, value: object) -> tuple[str, str, str | None]:
    """Check one claim; return its name, its verdict, and the bound that it states, as text, if it states one."""
    claim = read_fields(value)
    name, verdict = str(claim.get("claim")), str(claim.get("verdict"))
    if (name, verdict) not in _CLAIMS:
        raise Rejected("unknown claim or verdict")
    own, choices = _OWN_FIELDS.get(name, set[str]()), _CLAIMS[name, verdict]
    fields = read_fields(claim, {"claim", "verdict", "proof", *own})
    with session.at(".proof"):
        proof = dict(read_fields(fields["proof"]))
        required, body = next((choice for choice in choices if choice[0] <= proof.keys()), choices[0])
        read_fields(proof, required, frozenset({"obligations"}))
        # the certificate's own proofs of side conditions, by the text of their terms; s, s_, s__ and n are variables of claims
        names = {**variables({"s": 0, "s_": 0, "s__": 0, "n": 0, **s.records, "w": 0}), **session.constants}
        trees = [(read_term(source, names), tree) for source, tree in read_fields(proof.pop("obligations", {})).items()]
        session.obligations, session.used = dict(trees), set()
        body(session, s, {**proof, **{"claimed" if key == "bound" else key: fields[key] for key in own}}, (name, verdict))
        if len(session.used) < len(trees):
            raise Rejected("an obligation is given twice, or one that the claim does not have")
    return name, verdict, str(fields["bound"]) if own else str(proof["floor"]) if name == "strong-convexity" else None
