"""What claims are about: a profile, its records, and the terms that are derived from it at a record, near a weight, or restated."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from ...core.rules import Json, Session
from ...core.terms import Rejected, Term, differentiate, exp, log, make, num, postorder, power, require, smoothness, substitute, var
from ...core.theorems import Box, Goal, Range
from ...reading import read_choice, read_fields, read_list, read_name, read_number, read_term, variables

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
        line = num(1) + (exp(given(self.target)) - num(1)) * w
        return epsilon - log(line) if read_choice(form, "log", "exp") else exp(epsilon) - line

    def spare(self) -> Term:
        """Return the target minus epsilon at w = 1."""
        return given(self.target) - substitute(self.epsilon, {"w": num(1)})


def given(term: Term | None) -> Term:
    """Return a term that a claim needs. Raises where the certificate has none."""
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
        records = {read_name(v): read_range(ends) for v, ends in read_fields(profile["record"]).items()}
        for name, value in read_fields(profile["parameters"]).items():
            require(read_name(name) not in records, "a name is used twice")
            if isinstance(value, list) or value == "positive":
                records[name] = read_range(value) if isinstance(value, list) else Range(Fraction(0), open=True)
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


def read_range(ends: object) -> Range:
    """Read a closed range: two numbers."""
    lo, hi = map(read_number, read_list(ends, 2))
    return Range(lo, hi)


def at_record(session: Session, s: Statement, at: Json, box: Box) -> tuple[Statement, Fraction]:
    """Return the statement about one record, and a weight that is a number."""
    # the record is a term without variables for every variable of the box, inside its range
    with session.at(".at"):
        point = {v: session.read(q, {}) for v, q in read_fields(at, set(box)).items()}
        w = point.pop("w", num(1))
        require(w.op == "num" and _WEIGHTS.contains(w.value), "the weight must be a number that is at least 1")
        for v, q in point.items():
            session.require_inside(q, box[v])
    rule = None if s.q is None else substitute(s.q, point)
    return replace(s, epsilon=substitute(s.epsilon, point), q=rule, records={}), w.value


def slope_of(session: Session, s: Statement, box: Box) -> tuple[Term, Term]:
    """Return a branch-free term that equals epsilon near the points of a box, and its derivative in w (one-sided at w = 1)."""

    # branches are resolved on the whole domain, or by strict signs of what is continuous (smoothness rejects a ceiling), which persist in a
    # neighborhood of each point; so do the signs that differentiability needs
    def persists(gap: Term) -> bool:
        smoothness(gap, "w")
        return session.shows(Goal(gap, box, strict=True))

    resolved = session.resolve(branch_free(session, s, "w"), "w", lambda gap, _: persists(gap))
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
        require(session.is_zero(epsilon - term, s.domain), "the term that epsilon is restated as is not shown to equal it")
    return replace(s, epsilon=term)


def branch_free(session: Session, s: Statement, v: str) -> Term:
    """Return a term that equals epsilon for all records and weights, with the branches on v resolved if all of them can be."""
    depth = len(session.path)
    try:
        return session.resolve(s.epsilon, v, lambda gap, strict: session.shows(Goal(gap, s.domain, strict)))
    except Rejected:
        del session.path[depth:]
        return s.epsilon
