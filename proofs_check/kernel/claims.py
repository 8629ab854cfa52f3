"""The claims: each derives its goals from the profile's own text; a proof can only say how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from .errors import Rejected
from .ranges import Box, Range
from .rules import Tree, show
from .session import Goal, Session
from .slopes import WEIGHTS, show_kink, slope_at
from .syntax import read_choice, read_fields, read_mapping, read_name, read_number, read_term, variables
from .terms import Term, differentiate, exp, log, num, substitute, var

_ONE, _W, _AT_ONE = num(1), var("w"), Range(Fraction(1), Fraction(1))


@dataclass(frozen=True, slots=True)
class Statement:
    """What the claims are about: the profile, its records, and the target and sampling rule if there are any."""

    epsilon: Term
    records: Box
    target: Fraction | None
    q: Term | None

    @property
    def domain(self) -> Box:
        """Records and weights w >= 1."""
        return {**self.records, "w": WEIGHTS}

    def epsilon_at(self, w: Term) -> Term:
        """Return epsilon(w, x)."""
        return substitute(self.epsilon, {"w": w})

    def goal_target(self) -> Term:
        """Return the target epsilon, which this claim needs."""
        if self.target is None:
            raise Rejected("this claim needs a target_epsilon")
        return num(self.target)

    def above(self, epsilon: Term, w: Term, form: object) -> Term:
        """Return a term that is > 0 exactly where epsilon > log(1 + E w), E = exp(target) - 1 > 0."""
        line = _ONE + (exp(self.goal_target()) - _ONE) * w
        return epsilon - log(line) if read_choice(form, "log", "exp") else exp(epsilon) - line

    def sampled(self) -> tuple[Term, Term, Term]:
        """Return q, e = epsilon(1/q, x) and psi = e + log(q + (1 - q) exp(-e)) = log(1 + q (exp(e) - 1))."""
        if self.q is None:
            raise Rejected("this claim needs a sampling rule")
        e = self.epsilon_at(_ONE / self.q)
        return self.q, e, e + log(self.q + (_ONE - self.q) * exp(-e))


def read_statement(session: Session, whole: Tree) -> Statement:
    """Read the statement of a certificate; numeric parameters go to the session, to be substituted everywhere."""
    with session.at("profile"):
        profile = read_fields(whole["profile"], {"name", "epsilon", "record", "parameters"})
        if not isinstance(profile["name"], str) or len(profile["name"]) > 1000:
            raise Rejected("the name must be a string of moderate length")
        records = {read_name(v): _read_range(ends) for v, ends in read_mapping(profile["record"]).items()}
        for name, value in read_mapping(profile["parameters"]).items():
            if read_name(name) in records:
                raise Rejected(f"the name {name} is used twice")
            if value == "positive":
                records[name] = Range(Fraction(0), None, open=True)
            elif isinstance(value, list):
                records[name] = _read_range(value)
                if records[name].lo <= 0:
                    raise Rejected(f"the range of the parameter {name} must be positive")
            else:
                session.constants[name] = num(read_number(value))
        names = {**session.constants, **variables(records)}
        epsilon = read_term(profile["epsilon"], {**names, "w": var("w")})
    with session.at("target_epsilon"):
        target = read_number(whole["target_epsilon"]) if "target_epsilon" in whole else None
        if target is not None and target <= 0:
            raise Rejected("the target epsilon must be positive")
    with session.at("sampling"):
        q = read_term(read_fields(whole["sampling"], {"q"})["q"], names) if "sampling" in whole else None
    return Statement(epsilon, records, target, q)


def _read_range(value: object) -> Range:
    if not isinstance(value, list) or len(value) != 2:
        raise Rejected("a range must be a list of two numbers")
    return Range(read_number(value[0]), read_number(value[1]))


def _point(session: Session, proof: Tree, box: Box) -> dict[str, Fraction]:
    # a number inside its range for every variable of the box, and for nothing else
    with session.at(".at"):
        point = {v: read_number(q) for v, q in read_fields(proof["at"], set(box)).items()}
        for v, q in point.items():
            if not box[v].contains(q):
                raise Rejected(f"{v} is outside its range")
    return point


def _local(session: Session, s: Statement, point: Mapping[str, Fraction]) -> tuple[Term, Term]:
    # epsilon and its derivative in w near the weight of a point, for the record of the point: terms in w alone
    epsilon = substitute(s.epsilon, {v: q for v, q in point.items() if v != "w"})
    return epsilon, slope_at(session, epsilon, {"w": Range(point["w"], point["w"])}, {"w": WEIGHTS})


def _well_defined(session: Session, s: Statement, proof: Tree) -> None:
    session.define(s.epsilon, s.domain)
    show(session, proof, "nonnegative", Goal(s.epsilon, s.domain))


def _assumption_8(session: Session, s: Statement, proof: Tree) -> None:
    show(session, proof, "bound", Goal(s.goal_target() - s.epsilon_at(_ONE), s.records))


def _not_assumption_8(session: Session, s: Statement, proof: Tree) -> None:
    excess = substitute(s.epsilon_at(_ONE) - s.goal_target(), _point(session, proof, s.records))
    show(session, proof, "bound", Goal(excess, {}, strict=True))


def _assumption_9(session: Session, s: Statement, proof: Tree) -> None:
    with session.at(".threshold"):
        threshold = session.read(proof["threshold"], s.records)
    show(session, proof, "threshold-proof", Goal(threshold - _ONE, s.records))
    offset = "s"
    while offset in s.records or offset in session.constants:
        offset += "_"
    weight, box = threshold + var(offset), {**s.records, offset: Range(Fraction(0), None)}
    epsilon = s.epsilon_at(weight)
    if "direct" in proof:
        show(session, proof, "direct", Goal(s.above(epsilon, weight, proof["form"]), box, strict=True))
        return
    show(session, proof, "start", Goal(s.above(s.epsilon_at(threshold), threshold, "log"), s.records, strict=True))
    # d/dw (epsilon - log(1 + E w)) >= 1/w - E/(1 + E w) > 0 from the threshold on
    slope = differentiate(session.smooth(epsilon, offset, box), offset)
    show(session, proof, "slope", Goal(weight * slope - _ONE, box))


def _not_assumption_9(session: Session, s: Statement, proof: Tree) -> None:
    epsilon, threshold = substitute(s.epsilon, _point(session, proof, s.records)), read_number(proof["threshold"])
    if threshold < 1:
        raise Rejected("the threshold must be at least 1")
    show(session, proof, "tail", Goal(-s.above(epsilon, _W, proof["form"]), {"w": Range(threshold, None)}))


def _curvature(slope: Term) -> Term:
    # K with (exp epsilon)'' = K exp(epsilon)
    return differentiate(slope, "w") + slope * slope


def _strongly_convex(session: Session, s: Statement, proof: Tree) -> None:
    with session.at(".floor"):
        floor = session.read(proof["floor"], s.records)
    show(session, proof, "positive", Goal(floor, s.records, strict=True))
    curvature = _curvature(slope_at(session, s.epsilon, s.domain, s.domain))
    # epsilon >= 0, so K >= floor implies K exp(epsilon) >= floor
    curvature = curvature if read_choice(proof["form"], "log", "exp") else curvature * exp(s.epsilon)
    show(session, proof, "curvature", Goal(curvature - floor, s.domain))


def _not_assumption_11(session: Session, s: Statement, proof: Tree) -> None:
    point = _point(session, proof, s.domain)
    _, slope = _local(session, s, point)
    show(session, proof, "curvature", Goal(-substitute(_curvature(slope), point), {}))


def _not_smooth(session: Session, s: Statement, proof: Tree) -> None:
    point = _point(session, proof, s.domain)
    with session.at(".kink"):
        if proof["kink"] is not True:
            raise Rejected("kink must be true")
        show_kink(session, substitute(s.epsilon, {v: q for v, q in point.items() if v != "w"}), point["w"])


def _proposition_16(session: Session, s: Statement, proof: Tree) -> None:
    slope = substitute(slope_at(session, s.epsilon, {**s.records, "w": _AT_ONE}, s.domain), {"w": _ONE})
    show(session, proof, "bound", Goal(_ONE - exp(-s.epsilon_at(_ONE)) - slope, s.records, strict=True))


def _not_proposition_16(session: Session, s: Statement, proof: Tree) -> None:
    point = {**_point(session, proof, s.records), "w": Fraction(1)}
    epsilon, slope = _local(session, s, point)
    show(session, proof, "bound", Goal(substitute(slope - (_ONE - exp(-epsilon)), point), {}))


def _proposition_17(session: Session, s: Statement, proof: Tree) -> None:
    slope = slope_at(session, s.epsilon, s.domain, s.domain)
    show(session, proof, "bound", Goal(_W * slope - s.epsilon, s.domain))


def _not_proposition_17(session: Session, s: Statement, proof: Tree) -> None:
    point = _point(session, proof, s.domain)
    epsilon, slope = _local(session, s, point)
    show(session, proof, "bound", Goal(substitute(epsilon - _W * slope, point), {}, strict=True))


def _epsilon_upper(session: Session, s: Statement, proof: Tree) -> None:
    q, e, psi = s.sampled()
    session.define(q, s.records)
    show(session, proof, "q-positive", Goal(q, s.records, strict=True))
    show(session, proof, "q-at-most-one", Goal(_ONE - q, s.records))
    bound = num(read_number(proof["claimed"]))
    log_form = read_choice(proof["form"], "log", "exp")
    show(session, proof, "bound", Goal(bound - psi if log_form else exp(bound) - _ONE - q * (exp(e) - _ONE), s.records))


def _epsilon_lower(session: Session, s: Statement, proof: Tree) -> None:
    q, _, psi = s.sampled()
    point, claimed = _point(session, proof, s.records), num(read_number(proof["claimed"]))
    value = substitute(q, point)
    session.define(value, {})
    session.discharge(Goal(value, {}, strict=True))
    session.discharge(Goal(_ONE - value, {}))
    show(session, proof, "bound", Goal(substitute(psi, point) - claimed, {}))


_FLOOR, _THRESHOLD, _KINK = {"floor", "positive", "form", "curvature"}, {"threshold", "threshold-proof"}, {"at", "kink"}
_CLAIMS: dict[tuple[object, object], list[tuple[set[str], Callable[[Session, Statement, Tree], None]]]] = {
    ("well-defined", "proved"): [({"nonnegative"}, _well_defined)],
    ("assumption-8", "proved"): [({"bound"}, _assumption_8)],
    ("assumption-8", "refuted"): [({"at", "bound"}, _not_assumption_8)],
    ("assumption-9", "proved"): [(_THRESHOLD | {"start", "slope"}, _assumption_9), (_THRESHOLD | {"direct", "form"}, _assumption_9)],
    ("assumption-9", "refuted"): [({"at", "threshold", "form", "tail"}, _not_assumption_9)],
    ("assumption-11", "proved"): [(_FLOOR, _strongly_convex)],
    ("assumption-11", "refuted"): [({"at", "curvature"}, _not_assumption_11), (_KINK, _not_smooth)],
    ("proposition-16", "proved"): [({"bound"}, _proposition_16)],
    ("proposition-16", "refuted"): [({"at", "bound"}, _not_proposition_16)],
    ("proposition-17", "proved"): [({"bound"}, _proposition_17)],
    ("proposition-17", "refuted"): [({"at", "bound"}, _not_proposition_17), (_KINK, _not_smooth)],
    ("strong-convexity", "proved"): [(_FLOOR, _strongly_convex)],
    ("epsilon-upper", "proved"): [({"q-positive", "q-at-most-one", "form", "bound"}, _epsilon_upper)],
    ("epsilon-lower", "proved"): [({"bound"}, _epsilon_lower)],
}
_OWN_FIELDS = {"epsilon-upper": {"bound"}, "epsilon-lower": {"bound", "at"}}


def check_claim(session: Session, s: Statement, claim: Tree) -> str | None:
    """Check one claim; return the bound that it states, as text, if it states one."""
    name = claim.get("claim")
    if not isinstance(name, str) or not isinstance(claim.get("verdict"), str) or (name, claim["verdict"]) not in _CLAIMS:
        raise Rejected("unknown claim or verdict")
    own = _OWN_FIELDS.get(name, set())
    fields, choices = read_fields(claim, {"claim", "verdict", "proof", *own}), _CLAIMS[name, claim["verdict"]]
    with session.at(".proof"):
        proof = read_mapping(fields["proof"])
        required, body = next((choice for choice in choices if choice[0] <= proof.keys()), choices[0])
        proof = {**read_fields(proof, required, frozenset({"obligations"}))}
        _read_obligations(session, s, proof.pop("obligations", {}))
        body(session, s, {**proof, **({"claimed": fields["bound"]} if own else {}), **({"at": fields["at"]} if "at" in own else {})})
        if len(session.used) < len(session.obligations):
            raise Rejected("an obligation is given that the claim does not have")
    return str(fields["bound"]) if own else str(proof["floor"]) if name == "strong-convexity" else None


def _read_obligations(session: Session, s: Statement, trees: object) -> None:
    # the certificate's own proofs of side conditions, by the text of their terms; s and s_ are offsets of assumption-9
    names = {**variables({"s": 0, "s_": 0, "s__": 0}), **variables(s.domain), **session.constants}
    session.obligations, session.used, session.proved = {}, set(), set()
    for source, tree in read_mapping(trees).items():
        if session.obligations.setdefault(read_term(source, names), tree) is not tree:
            raise Rejected("an obligation is given twice")
