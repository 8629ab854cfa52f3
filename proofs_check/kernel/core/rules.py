"""The rules: a proof tree proves that a term is >= 0 (or > 0) on a box; and side conditions: definedness, branches, differentiability."""
# Each function in RULES is a rule: its keyword parameters are its fields in a proof tree, and its docstring is the axiom it rests on.

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from inspect import signature

from ..procedures.boxes import Search
from ..procedures.normal import Normaliser
from ..reading import read_choice, read_fields, read_integer, read_list, read_name, read_number, read_term, variables
from .terms import (
    BRANCHING,
    ROUGH,
    Meter,
    Rejected,
    Term,
    conditions,
    differentiate,
    make,
    num,
    postorder,
    require,
    smoothness,
    substitute,
    text,
)
from .theorems import Box, Goal, Range, Theorem, derive, rule

MOST_STEPS, _MOST_NESTED = 60, 20
Json = object  # a value as it was read: text, number, list or object
_DEFAULT_TREES: tuple[dict[str, object], ...] = ({"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 2000})
SIDE_CONDITIONS = {  # what is relied on beside the rules, and why it is enough
    "definedness": "log, roots and negative powers are real where their arguments are > 0, >= 0, or of one sign without zero",
    "differentiability": "sums, products, exp, log, sin, cos, and powers of terms that are > 0, of smooth functions are smooth",
    "resolved branches": "Abs, Max and Piecewise equal one branch where the sign that decides about it is known",
}


@dataclass(slots=True)
class Session:
    """What the steps of one certificate share: the work meter, numeric parameters, its own proofs of side conditions, and records."""

    meter: Meter = field(default_factory=Meter)
    constants: dict[str, Term] = field(default_factory=dict)
    obligations: dict[Term, object] = field(default_factory=dict)
    used: set[Term] = field(default_factory=set)  # of the obligations
    path: list[str] = field(default_factory=list)  # where we are
    nested: int = 0  # in how many proofs of side conditions
    rules: dict[str, None] = field(default_factory=dict)  # that were applied
    failure: str = ""  # of the last side condition that was not shown
    relied: dict[str, None] = field(default_factory=dict)  # kinds of side conditions that were shown
    held: list[Theorem] = field(default_factory=list)  # that the rule which is being applied was given so far
    proved: list[tuple[str, Goal, str]] = field(default_factory=list)  # every goal that a rule proved: where, what, and which rule

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Enter a step; leaving it by an exception keeps the path for the report."""
        self.path.append(step)
        yield
        self.path.pop()

    def rely(self, kind: str) -> None:
        """Note what is relied on, for the report."""
        require(kind in SIDE_CONDITIONS, kind)
        self.relied[kind] = None

    def read(self, source: object, box: Box) -> Term:
        """Read a term that the certificate brings, over the variables of the box; it must be defined there."""
        self.meter.spend(len(source) if isinstance(source, str) else 1)
        term = read_term(source, {**self.constants, **variables(box)})
        self.define(term, box)
        return term

    def define(self, term: Term, box: Box) -> None:
        """Show that the term, as it is written, is defined at every point of the box."""
        for kind, fact in conditions(term):
            self.rely("definedness")
            if kind != "nonzero" or not self.shows(Goal(fact, box, strict=True)):
                self.discharge(Goal(-fact if kind == "nonzero" else fact, box, kind != "nonnegative"))

    def shows(self, goal: Goal) -> bool:
        """Whether a side condition is shown, by the certificate's own tree if it has one, else by manifest, zero or boxes."""
        self.used |= {goal.term} & self.obligations.keys()
        for tree in [self.obligations[goal.term]] if goal.term in self.obligations else _DEFAULT_TREES:
            depth, nested, held = len(self.path), self.nested, len(self.held)
            require(nested < _MOST_NESTED, "side conditions are nested too deeply")
            try:
                self.nested += 1
                prove(self, goal, tree)
                return True
            except Rejected as problem:
                self.failure = "".join([*self.path[depth:], ": ", str(problem)])
                del self.path[depth:], self.held[held:]
            finally:
                self.nested = nested
        return False

    def discharge(self, goal: Goal) -> None:
        """Show a side condition, or reject."""
        if not self.shows(goal):
            raise Rejected(f"{text(goal.term)} {'>' if goal.strict else '>='} 0 is needed and not shown{self.failure}")

    def require_inside(self, value: Term, values: Range) -> None:
        """Show that a term without variables lies in a range, or reject."""
        if value.op == "num":
            require(values.contains(value.value), "the point is outside the declared ranges")
            return
        self.discharge(Goal(value - num(values.lo), {}, values.open))
        if values.hi is not None:
            self.discharge(Goal(num(values.hi) - value, {}))

    def smooth(self, term: Term, v: str, box: Box) -> Term:
        """Return the term with its branches on v resolved, after showing its differentiability in v on the box."""
        resolved = self.resolve(term, v, lambda gap, strict: self.shows(Goal(gap, box, strict)))
        self.check_smooth(resolved, v, box)
        return resolved

    def check_smooth(self, term: Term, v: str, box: Box) -> None:
        """Show that the resolved term is differentiable in v at every point of the box."""
        self.rely("differentiability")
        for base in smoothness(term, v):
            self.discharge(Goal(base, box, strict=True))

    def is_zero(self, term: Term, box: Box) -> bool:
        """Whether the normal form of the term, denominators cleared, is zero."""
        for level in (False, True):
            normaliser = Normaliser(box, self.meter, level=level)
            if not normaliser.cleared(normaliser.poly(term), signed=False):
                return True
        return False

    def resolve(self, term: Term, v: str, shows: Callable[[Term, bool], bool]) -> Term:
        """Return the term with Abs, Max and Piecewise of v replaced by the branch taken; ``shows`` says term >= 0 (> 0 if True)."""
        new, order = dict[Term, Term](), postorder(term)
        self.meter.spend(5 * len(order))
        for node in order:
            args = tuple(new[a] for a in node.args)
            if v in node.free and node.op in BRANCHING:
                self.rely("resolved branches")
                new[node] = _branch(node, args, shows)
            else:
                new[node] = make(node.op, *args, value=node.value)
        return new[term]


def _branch(node: Term, args: tuple[Term, ...], shows: Callable[[Term, bool], bool]) -> Term:
    if node.op != "piecewise":  # the same choice as (a, a >= b), (b, True)
        args = (args[0], *args, args[1]) if node.op == "max" else (args[0], args[0], num(0), -args[0])
    for i, sign in enumerate(node.value or (">=",)):
        value, left, right = args[3 * i : 3 * i + 3]
        gap, weak = right - left if sign[0] == "<" else left - right, sign[-1] == "="
        if shows(gap, not weak):
            return value
        # Abs and Max are continuous, so that at a tie both branches are right
        if not shows(-gap, weak and node.op == "piecewise"):
            raise Rejected(f"the sign of {text(gap)} is not shown, so {node.op} is not resolved")
    return args[-1]


@cache
def fields_of(function: Callable[..., None]) -> tuple[Mapping[str, str], set[str]]:
    """Return the names of a rule's or claim's keyword parameters by the names of their fields, and the required fields."""
    taken = {p.name.rstrip("_").replace("_", "-"): p for p in signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY}
    return {name: p.name for name, p in taken.items()}, {name for name, p in taken.items() if p.default is p.empty}


def apply(function: Callable[..., None], session: Session, subject: object, given: Mapping[str, object], statement: object) -> Theorem:
    """Derive a statement by a rule or a claim about a subject, with exactly the fields that it takes."""
    names, required = fields_of(function)
    fields = read_fields(given, required, frozenset(names))
    return derive(session.held, statement, function, session, subject, **{names[name]: value for name, value in fields.items()})


def prove(session: Session, goal: Goal, tree: object) -> Theorem:
    """Prove the goal by the rule at the root of the tree; reject otherwise."""
    session.meter.spend(5 * len(postorder(goal.term)))
    require(len(session.path) <= MOST_STEPS, "the proof is nested too deeply")
    fields = dict(read_fields(tree))
    name = fields.pop("rule", None)
    if not isinstance(name, str) or name not in RULES:
        raise Rejected("expected a proof tree with a known rule")
    theorem = apply(RULES[name], session, goal, fields, goal)
    session.rules[name] = None
    session.proved.append(("".join(session.path), goal, name))
    return theorem


def show(session: Session, step: str, goal: Goal, tree: object) -> None:
    """Prove a goal at a step of this name."""
    with session.at(step):
        prove(session, goal, tree)


def _fix(goal: Goal) -> Term:
    # the goal's term with numbers for the variables that have one value only
    return substitute(goal.term, {v: r.lo for v, r in goal.box.items() if r.lo == r.hi})


def _range(name: Json, goal: Goal) -> tuple[str, Range]:
    if not isinstance(name, str) or name not in goal.box:
        raise Rejected("there is no such variable in the goal's box")
    return name, goal.box[name]


@rule
def zero(session: Session, goal: Goal) -> None:
    """A term whose normal form is 0 is 0 wherever it is defined."""
    require(not goal.strict, "the goal is strict")
    require(session.is_zero(goal.term, goal.box), "the normal form is not zero")


@rule
def manifest(session: Session, goal: Goal) -> None:
    """A sum of products of non-negative factors is >= 0, and > 0 if one of them is; as it stands, or after x = lo + u, or x = hi - u."""
    term = _fix(goal)
    used = {v: goal.box[v] for v in sorted(term.free)}
    for downwards in (None, False, True) if any(r.hi is not None for r in used.values()) else (None, False):
        shift, box = ({}, goal.box) if downwards is None else _measured_from_ends(used, downwards=downwards)
        normaliser = Normaliser(box, session.meter)
        poly = normaliser.poly(substitute(term, shift))
        if max(normaliser.manifest(poly), normaliser.manifest(normaliser.cleared(poly, signed=True))) > int(goal.strict):
            return
    raise Rejected("the sign is not manifest")


def _measured_from_ends(box: Box, *, downwards: bool) -> tuple[dict[str, Term], Box]:
    # x = lo + u, or x = hi - u where that is asked for and hi is finite, for every variable x; and the ranges of u
    shift, moved = dict[str, Term](), dict[str, Range]()
    for v, r in box.items():
        x, width = make("var", value=v), None if r.hi is None else r.hi - r.lo
        down = downwards and r.hi is not None
        shift[v] = num(r.hi or 0) - x if down else x + num(r.lo)
        moved[v] = Range(Fraction(0), width) if down else replace(r, lo=Fraction(0), hi=width)
    return shift, moved


@rule
def boxes(session: Session, goal: Goal, *, budget: Json, form: Json = "natural", precision: Json = 64) -> None:
    """Finitely many pieces cover the box, and on each an interval enclosure (centred: by the mean value theorem) is >= 0 (> 0)."""
    pieces, p = read_integer(budget, 1, 50_000), read_integer(precision, 53, 1024)
    centred, term = read_choice(form, "centred", "natural"), _fix(goal)
    for v in sorted(term.free) if centred else ():
        term = session.smooth(term, v, goal.box)
    steered = centred or (len(term.free) > 1 and not any(node.op in ROUGH and node.free for node in postorder(term)))
    slopes = {v: differentiate(term, v) for v in sorted(term.free)} if steered else {}
    Search(_forms(session, term, goal), slopes, goal.box, p, session.meter).prove(strict=goal.strict, budget=pieces, centred=centred)


def _forms(session: Session, term: Term, goal: Goal) -> list[Term]:
    # the term, and its normal form as a term if there is one that is not much larger
    try:
        normaliser = Normaliser(goal.box, session.meter)
        other = normaliser.term(normaliser.poly(term))
    except Rejected:
        return [term]
    return [term, other] if other is not term and len(postorder(other)) <= 3 * len(postorder(term)) + 50 else [term]


@rule
def split(session: Session, goal: Goal, *, variable: Json, at: Json, below: Json, above: Json) -> None:
    """What holds on both parts of a range holds on the range."""
    (v, old), cut = _range(variable, goal), read_number(at)
    require(old.contains(cut) and cut not in (old.lo, old.hi), "the range must be split strictly inside")
    show(session, ".below", replace(goal, box={**goal.box, v: replace(old, hi=cut)}), below)
    show(session, ".above", replace(goal, box={**goal.box, v: Range(cut, old.hi)}), above)


@rule
def monotone(session: Session, goal: Goal, *, variable: Json, direction: Json, slope: Json, end: Json) -> None:
    """A function with a slope >= 0 (<= 0) in a variable is at least its value at the lower (upper) end of the variable's range."""
    (v, old), rising = _range(variable, goal), read_choice(direction, "increasing", "decreasing")
    last, is_open = old.lo if rising else old.hi, rising and old.open
    if last is None:
        raise Rejected(f"the range of {v} has no end to reduce to")
    term = session.smooth(goal.term, v, goal.box)
    if is_open:  # defined, hence continuous at the end too: above its value there, strictly so if the slope is > 0
        session.define(term, {**goal.box, v: replace(old, open=False)})
    derivative = differentiate(term, v)
    show(session, ".slope", Goal(derivative if rising else -derivative, goal.box, goal.strict and is_open), slope)
    left = {u: r for u, r in goal.box.items() if u != v}
    show(session, ".end", Goal(substitute(term, {v: last}), left, goal.strict and not is_open), end)


@rule
def scale(session: Session, goal: Goal, *, factor: Json, positive: Json, product: Json) -> None:
    """A term is >= 0 (> 0) if its product with a term > 0 is."""
    f = session.read(factor, goal.box)
    show(session, ".positive", Goal(f, goal.box, strict=True), positive)
    show(session, ".product", replace(goal, term=f * goal.term), product)


@rule
def sum_(session: Session, goal: Goal, *, parts: Json, proofs: Json, strict: Json = None) -> None:
    """A sum of terms >= 0 is >= 0, and > 0 if one of them is."""
    terms = [session.read(part, goal.box) for part in read_list(parts)]
    require(goal.strict == (strict is not None), "a field strict is needed for a strict goal, and for no other")
    chosen = read_integer(strict, 0, len(terms) - 1) if goal.strict else -1
    require(session.is_zero(sum((-term for term in terms), goal.term), goal.box), "the parts do not add up to the goal")
    for i, (term, proof) in enumerate(zip(terms, read_list(proofs, len(terms)), strict=True)):
        show(session, f".proofs[{i}]", Goal(term, goal.box, i == chosen), proof)


@rule
def generalise(
    session: Session,
    goal: Goal,
    *,
    name: Json,
    term: Json,
    low: Json,
    lower: Json,
    general: Json,
    proof: Json,
    high: Json = None,
    upper: Json = None,
    open_: Json = None,
) -> None:
    """What holds for all y in a range that contains all values of a term holds for that term in place of y."""
    y, a, values = range_of(session, goal.box, name=name, term=term, low=low, lower=lower, high=high, upper=upper, open_=open_)
    _show_general(session, goal, y, a, values, session.read(general, {**goal.box, y: values}), proof)


def range_of(
    session: Session, box: Box, *, name: Json, term: Json, low: Json, lower: Json, high: Json = None, upper: Json = None, open_: Json = None
) -> tuple[str, Term, Range]:
    """Read a new name and a term, and a range in which the values of the term are shown to lie."""
    y, a = _new_name(session, box, name), session.read(term, box)
    require((high is None) == (upper is None), "the fields high and upper belong together")
    values = Range(read_number(low), None if high is None else read_number(high), open=open_ is not None)
    show(session, ".lower", Goal(a - num(values.lo), box, values.open), lower)
    if values.hi is not None:
        show(session, ".upper", Goal(num(values.hi) - a, box), upper)
    return y, a, values


def _new_name(session: Session, box: Box, name: Json) -> str:
    y = read_name(name)
    require(y not in box and y not in session.constants, "the name is not new")
    return y


def _show_general(session: Session, goal: Goal, y: str, a: Term, values: Range, general: Term, proof: Json) -> None:
    require(session.is_zero(substitute(general, {y: a}) - goal.term, goal.box), "the goal is not an instance of the general one")
    show(session, ".proof", Goal(general, {**goal.box, y: values}, goal.strict), proof)


@rule
def turn(session: Session, goal: Goal, *, name: Json, term: Json, general: Json, proof: Json) -> None:
    """Sin and cos of any number are those of one in [0, 7]: what holds for all y in [0, 7], which is in sin(y), cos(y) only, holds."""
    y, a, values = _new_name(session, goal.box, name), session.read(term, goal.box), Range(Fraction(0), Fraction(7))
    whole = session.read(general, {**goal.box, y: values})
    bare = (a for node in postorder(make("abs", whole)) if node.op not in ("sin", "cos") for a in node.args)
    require(all(a.op != "var" or a.value != y for a in bare), "the new variable is not under sin or cos everywhere")
    _show_general(session, goal, y, a, values, whole, proof)


@rule
def ceiling(session: Session, goal: Goal, *, argument: Json) -> None:
    """Each number a is at most its ceiling c, and above c - 1: the goal is c - a >= 0, or a + 1 - c > 0."""
    a = session.read(argument, goal.box)
    above = make("ceiling", a) - a
    facts = [num(1) - above, *([] if goal.strict else [above])]
    require(any(session.is_zero(goal.term - fact, goal.box) for fact in facts), "the goal is none of the facts about a ceiling")


@rule
def branches(session: Session, goal: Goal, *, cases: Json) -> None:
    """Max(a, b) is a, with a - b >= 0, or b, with b - a >= 0: t >= 0 if t less a multiple of that is >= 0 in both cases; so for others."""
    given = [read_fields(case, {"value", "proof"}, frozenset({"share"})) for case in read_list(cases)]
    values = [session.read(case["value"], goal.box) for case in given]
    for node in (node for node in postorder(goal.term) if node.op in BRANCHING):
        choices = _choices(node)
        found = [next((i for i, v in enumerate(values) if session.is_zero(v - choice, goal.box)), None) for choice, _ in choices]
        if None not in found:
            break
    else:
        raise Rejected("the cases are not those of an Abs, Max or Piecewise of the goal")
    for i, (choice, gap) in zip(found, choices, strict=True):
        case, chosen = given[i or 0], substitute(goal.term, {node: choice})
        share = session.read(case.get("share", "0"), goal.box)
        session.discharge(Goal(share, goal.box))
        session.define(chosen, goal.box)
        show(session, f".cases[{i}].proof", replace(goal, term=chosen - share * gap), case["proof"])


def _choices(node: Term) -> list[tuple[Term, Term]]:
    # what the node may be, and what is >= 0 where it is that
    if node.op == "piecewise":
        sides = zip(node.value, node.args[1::3], node.args[2::3], strict=True)
        gaps = [right - left if sign[0] == "<" else left - right for sign, left, right in sides]
        return list(zip((*node.args[:-1:3], node.args[-1]), (*gaps, -gaps[-1]), strict=True))
    a, b = (node.args[0], -node.args[0]) if node.op == "abs" else node.args
    return [(a, a - b), (b, b - a)]


@rule
def exp_tangent(session: Session, goal: Goal, *, exponent: Json, coefficient: Json, nonnegative: Json, rest: Json) -> None:
    """exp(m) >= 1 + m: a term is >= 0 (> 0) if it is after subtraction of c (exp(m) - 1 - m) for some c >= 0."""
    m, c = session.read(exponent, goal.box), session.read(coefficient, goal.box)
    show(session, ".nonnegative", Goal(c, goal.box), nonnegative)
    show(session, ".rest", replace(goal, term=goal.term - c * (make("exp", m) - num(1) - m)), rest)


@rule
def log_tangent(
    session: Session, goal: Goal, *, argument: Json, coefficient: Json, argument_positive: Json, nonnegative: Json, rest: Json
) -> None:
    """log(a) <= a - 1 for a > 0: a term is >= 0 (> 0) if it is after subtraction of c (a - 1 - log(a)) for some c >= 0."""
    a, c = session.read(argument, goal.box), session.read(coefficient, goal.box)
    show(session, ".argument-positive", Goal(a, goal.box, strict=True), argument_positive)
    show(session, ".nonnegative", Goal(c, goal.box), nonnegative)
    show(session, ".rest", replace(goal, term=goal.term - c * (a - num(1) - make("log", a))), rest)


_ALL = (zero, manifest, boxes, split, monotone, scale, sum_, generalise, turn, ceiling, branches, exp_tangent, log_tangent)
RULES: dict[str, Callable[..., None]] = {each.__name__.rstrip("_").replace("_", "-"): each for each in _ALL}
