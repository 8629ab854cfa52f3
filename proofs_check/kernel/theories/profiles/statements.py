"""What claims are about: a profile, its records, and the terms that are derived from it at a record, near a weight, or restated."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal, NewType, TypeVar

from ...core.documents import Rejected, read_fields, require
from ...core.rules import at_step, define, equal, holds_on, resolve, signs_on, smooth
from ...core.terms import Term, differentiate, exp, log, make, num, number, postorder, power, smoothness, substitute, var
from ...core.theorems import Box, Choice, Premises, Range, within
from ...reading import read_name, read_number, read_range, read_term, variables

T = TypeVar("T")
_WEIGHTS = Range(Fraction(1))
Form = Literal["log", "exp"]
Point = NewType("Point", Mapping[str, Term])  # a term without variables for each of some variables
OfCount = NewType("OfCount", Term)  # a term over n
_NUMBERS = {"pure": "epsilon", "gaussian": "mu", "renyi": "rdp", "zcdp": "rho"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a theorem states: of a profile with these records, target and sampling rule, if any, the claim of this name holds."""

    epsilon: Term  # what is promised: in another notion than the pure one it is no epsilon, and few claims may be made of it
    records: Box
    target: Term | None
    q: Term | None
    notion: str
    constants: Mapping[str, Term]  # parameters that are numbers, which stand in place of their names everywhere
    name: str = "well-defined"
    verdict: str = "proved"
    bound: Term | None = None  # that the claim states

    @property
    def box(self) -> Box:
        """All records and weights."""
        return {**self.records, "w": _WEIGHTS}

    def above(self, epsilon: Term, w: Term, form: Form) -> Term:
        """Return a term that is > 0 exactly where epsilon > log(1 + E w), with E = exp(target) - 1 > 0."""
        line = num(1) + (exp(given(self.target)) - num(1)) * w
        return epsilon - log(line) if form == "log" else exp(epsilon) - line

    def scaled(self) -> Term:
        """Return w^d epsilon(1), with d = 2 for rdp and rho."""
        return power(var("w"), 2 if self.notion in {"renyi", "zcdp"} else 1) * substitute(self.epsilon, {"w": num(1)})

    def spare(self) -> Term:
        """Return the target minus epsilon at w = 1."""
        return given(self.target) - substitute(self.epsilon, {"w": num(1)})


def given(term: Term | None) -> Term:
    """Return a term that a claim needs. Raises where the certificate has none."""
    if term is None:
        raise Rejected("this claim needs a target_epsilon, or a sampling rule")
    return term


def read_claim(path: list[str], whole: Mapping[str, object]) -> Claim:
    """Read what the claims of a certificate are about; the first of them."""
    constants = dict[str, Term]()
    with within(path, "profile"):
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
                constants[name] = num(read_number(value))
        names = {**constants, **variables(records)}
        if notion == "renyi":  # the order alpha is 1 + a, for all a > 0
            require(not names.keys() & {"alpha", "alpha_above_one"}, "the order is declared as something else")
            records["alpha_above_one"] = Range(Fraction(0), open=True)
            names |= {"alpha": num(1) + var("alpha_above_one"), "alpha_above_one": var("alpha_above_one")}
        epsilon = read_term(profile[_NUMBERS[notion]], {**names, "w": var("w")})
        require(notion == "pure" or not whole.keys() & {"target_epsilon", "sampling"}, "these are for a pure epsilon only")
    with within(path, "target_epsilon"):
        target = read_number(whole["target_epsilon"]) if "target_epsilon" in whole else None
        require(target is None or target > 0, "the target epsilon must be positive")
    with within(path, "sampling"):
        q = read_term(read_fields(whole["sampling"], {"q"})["q"], names) if "sampling" in whole else None
    return Claim(epsilon, records, None if target is None else num(target), q, notion, constants)


def at_record(s: Claim, at: Point, box: Box) -> Premises[tuple[Claim, Fraction]]:
    """The record is a point of the box, and its weight a number. The statement about it, and the weight, which is 1 where there is none."""
    return at_step(".at", partial(_at_record, s, at, box))


def _at_record(s: Claim, at: Point, box: Box) -> Premises[tuple[Claim, Fraction]]:
    # the record is a term without variables for every variable of the box, inside its range
    require(at.keys() == box.keys(), "a point has a number for each of its variables, and nothing else")
    w = number(at.get("w", num(1)))
    if w is None or w < 1:
        raise Rejected("the weight must be a number that is at least 1")
    for v, q in at.items():
        if q.op == "num":
            require(box[v].contains(q.value), "the point is outside the declared ranges")
            continue
        yield from define(q, {})
        yield from holds_on({}, q - num(box[v].lo), strict=box[v].open)
        if (hi := box[v].hi) is not None:
            yield from holds_on({}, num(hi) - q)
    point = {v: q for v, q in at.items() if v != "w"}
    rule = None if s.q is None else substitute(s.q, point)
    return replace(s, epsilon=substitute(s.epsilon, point), q=rule, records={}), w


def slope_of(s: Claim, box: Box) -> Premises[tuple[Term, Term]]:
    """Epsilon is one term without branches near the points of a box; that term, and its derivative in w (one-sided at w = 1)."""

    # branches are resolved on the whole domain, or by strict signs of what is continuous (smoothness rejects a ceiling), which persist in a
    # neighborhood of each point; so do the signs that differentiability needs
    def persists(gap: Term, *, strict: bool, otherwise: bool) -> Premises[bool]:  # noqa: ARG001
        smoothness(gap, "w")
        return signs_on(box)(gap, strict=True, otherwise=True)

    resolved = yield from resolve((yield from branch_free(s, "w")), "w", persists)
    yield from smooth(resolved, "w", box)
    return resolved, differentiate(resolved, "w")


def restate(s: Claim, term: Term, roots: list[Term], at: Point | None) -> Premises[Claim]:
    """Epsilon equals another term; the statement with that in its place."""
    # the difference of the two has the normal form 0, once (r**2)**c is written as |r|**(2 c) for each
    # root r that is given; at a record this is shown for that record only
    point = {v: number(q) for v, q in (at or {}).items() if v in s.records}
    for each in (term, *roots):
        yield from define(each, s.box)
    numbers = {v: q for v, q in point.items() if q is not None}
    require(
        len(numbers) == len(point) and all(s.records[v].contains(q) for v, q in numbers.items()), "the point is outside the declared ranges"
    )
    s = replace(s, epsilon=substitute(s.epsilon, numbers), records={**s.records, **{v: Range(q, q) for v, q in numbers.items()}})
    epsilon = s.epsilon
    for root in (substitute(each, numbers) for each in roots):
        for node in postorder(epsilon):
            if node.op == "pow":
                place, _ = yield Choice((partial(equal, node.args[0], root * root, s.box, "no root"), partial(leave, None)))
                epsilon = epsilon if place else substitute(epsilon, {node: power(make("abs", root), 2 * node.args[1].value)})
    term = substitute(term, numbers)
    yield from equal(epsilon, term, s.box, "the term that epsilon is restated as is not shown to equal it")
    return replace(s, epsilon=term)


def branch_free(s: Claim, v: str) -> Premises[Term]:
    """Epsilon equals a term for all records and weights, without the branches on v if all of them can be resolved."""
    _, term = yield Choice((partial(resolve, s.epsilon, v, signs_on(s.box)), partial(leave, s.epsilon)))
    return term  # type: ignore[no-any-return]


def leave(value: T) -> Premises[T]:
    """A way that needs nothing."""
    yield from ()
    return value
