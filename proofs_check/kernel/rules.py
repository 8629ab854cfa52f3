"""The rules: a proof tree proves that a term is >= 0 (or > 0) on a box. Invariant: a goal's term is defined on its box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import TracebackType

from .boxes import Search, decides, single_points
from .errors import Meter, Rejected
from .normal import Normaliser
from .ranges import Box, Range, enclose
from .syntax import read_number, read_term
from .terms import (
    Term, add, apply, at, conditions, differentiate, mul, negate, num, postorder, rebuild, smoothness, substitute,
    subtract, text, var,
)  # fmt: skip

Tree = Mapping[str, object]
MAX_BUDGET, DEFAULT_BUDGET, DEFAULT_PRECISION, MAX_TREE_DEPTH = 50_000, 2_000, 64, 60


@dataclass(frozen=True, slots=True)
class Goal:
    """For all points of the box: term >= 0, or term > 0 if strict."""

    term: Term
    box: Box
    strict: bool = False


def read_fields(value: object, required: set[str], optional: frozenset[str] = frozenset()) -> Tree:
    """A JSON object with exactly the required keys, and possibly optional ones."""
    if not isinstance(value, dict):
        raise Rejected("expected an object")
    missing, unknown = sorted(required - value.keys()), sorted(value.keys() - required - optional)
    if missing or unknown:
        raise Rejected(f"missing field {missing[0]}" if missing else f"unknown field {unknown[0][:40]}")
    return value


def read_integer(value: object, low: int, high: int) -> int:
    """A JSON integer within bounds; a boolean is not an integer."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Rejected(f"expected an integer from {low} to {high}")
    return value


def read_list(value: object) -> list[object]:
    """A JSON list of moderate length."""
    if not isinstance(value, list) or len(value) > 1000:
        raise Rejected("expected a list of moderate length")
    return value


def read_choice(value: object, *choices: str) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise Rejected(f"expected one of: {', '.join(choices)}")
    return value


@dataclass(slots=True)
class Session:
    """What the steps of one certificate share: work meter, numeric parameters, own obligations, where we are."""

    meter: Meter
    constants: dict[str, Term] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    rules: dict[str, None] = field(default_factory=dict)
    obligations: dict[Term, object] = field(default_factory=dict)
    used: set[Term] = field(default_factory=set)
    proved: set[tuple[object, ...]] = field(default_factory=set)

    def at(self, step: str) -> Session:
        """Enter a step; leaving it by an exception keeps the path for the report."""
        self.path.append(step)
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.path.pop()

    def read(self, source: object, box: Box) -> Term:
        """A term that the certificate brings, over the variables of the box; it must be defined there."""
        term = read_term(source, {**self.constants, **{v: var(v) for v in box}})
        self.define(term, box)
        return term

    def define(self, term: Term, box: Box) -> None:
        """The term, as it is written, is defined at every point of the box."""
        for kind, fact in conditions(term):
            if kind == "nonzero":
                self.discharge_sign(fact, box)
            else:
                self.discharge(Goal(fact, box, kind == "positive"))

    def discharge_sign(self, term: Term, box: Box) -> None:
        """term > 0 throughout, or term < 0 throughout."""
        minus = negate(term)
        likely = enclose(term, box, DEFAULT_PRECISION, self.meter)[1][0] <= 0 or minus in self.obligations
        first, second = (minus, term) if likely else (term, minus)
        if not self.attempt(Goal(first, box, strict=True)):
            self.discharge(Goal(second, box, strict=True))

    def attempt(self, goal: Goal) -> bool:
        """Whether ``discharge`` succeeds."""
        depth = len(self.path)
        try:
            self.discharge(goal)
        except Rejected:
            del self.path[depth:]
            return False
        return True

    def discharge(self, goal: Goal) -> None:
        """A side condition: by the certificate's own tree if it has one, else by zero, manifest or boxes."""
        key = (goal.term, goal.strict, frozenset((v, goal.box[v]) for v in goal.term.free))
        own = goal.term in self.obligations
        if own:
            self.used.add(goal.term)
        if key in self.proved:
            return
        if own:
            with self.at(".obligations"):
                prove(self, goal, self.obligations[goal.term])
        else:
            self._discharge_by_default(goal)
        self.proved.add(key)

    def _discharge_by_default(self, goal: Goal) -> None:
        if decides(enclose(goal.term, goal.box, DEFAULT_PRECISION, self.meter), strict=goal.strict):
            self.rules["boxes"] = None
            return
        failures = []
        for rule in (_manifest, _zero, _boxes):
            try:
                rule(self, goal, {})
            except Rejected as failure:
                failures.append(failure)
            else:
                self.rules[rule.__name__.strip("_")] = None
                return
        sign = "> 0" if goal.strict else ">= 0"
        raise Rejected(f"the side condition {text(goal.term)} {sign} is not shown ({failures[-1]})")

    def resolve(self, term: Term, v: str, box: Box, *, strict: bool = False) -> Term:
        """The same function on the box with Abs, Min, Max and Piecewise of v replaced by one branch.

        Strict signs at a point persist in a neighbourhood; weak ones hold on the box only.
        """
        new: dict[Term, Term] = {}
        for node in postorder(term):
            args = tuple(new[a] for a in node.args)
            if v in node.free and node.op in ("abs", "min", "max", "piecewise"):
                new[node] = self._branch(node, args, box, strict)
            else:
                new[node] = rebuild(node, args)
        return new[term]

    def _branch(self, node: Term, args: tuple[Term, ...], box: Box, strict: bool) -> Term:
        if node.op == "piecewise":
            return self._case(node, args, box, strict)
        if node.op == "abs":
            upper, lower, difference = args[0], negate(args[0]), args[0]
        else:
            (upper, lower), difference = args, subtract(args[0], args[1])
        if node.op == "min":
            upper, lower = lower, upper
        if self.attempt(Goal(difference, box, strict)):
            return upper
        if self.attempt(Goal(negate(difference), box, strict)):
            return lower
        raise Rejected(f"{node.op}: the sign of {text(difference)} is not shown, so there is no derivative")

    def _case(self, node: Term, args: tuple[Term, ...], box: Box, strict: bool) -> Term:
        """The value whose condition holds on the whole box after conditions that hold nowhere in it."""
        for i, sign in enumerate(node.value if isinstance(node.value, tuple) else ()):
            value, left, right = args[3 * i : 3 * i + 3]
            gap = subtract(right, left) if sign in ("<", "<=") else subtract(left, right)
            weak = sign in ("<=", ">=")
            if self.attempt(Goal(gap, box, strict or not weak)):
                return value
            if not self.attempt(Goal(negate(gap), box, strict or weak)):
                raise Rejected(f"piecewise: the sign of {text(gap)} is not shown, so there is no derivative")
        return args[-1]

    def smooth(self, term: Term, v: str, box: Box) -> Term:
        """The term with operations on v resolved, after its differentiability in v on the box has been shown."""
        resolved = self.resolve(term, v, box)
        self.check_smooth(resolved, v, box)
        return resolved

    def check_smooth(self, term: Term, v: str, box: Box) -> None:
        """The resolved term is differentiable in v at every point of the box."""
        for _, fact in smoothness(term, v):
            self.discharge(Goal(fact, box, strict=True))

    def normaliser(self, box: Box, names: frozenset[str]) -> Normaliser:
        """Normal forms over the box."""
        signs = {v: 2 if box[v].lo > 0 or (box[v].lo == 0 and box[v].open) else int(box[v].lo >= 0) for v in names}
        return Normaliser(signs, lambda t: enclose(t, box, DEFAULT_PRECISION, self.meter), self.meter)

    def is_zero(self, term: Term, box: Box) -> bool:
        """Whether the normal form of the term, denominators cleared, is zero."""
        normaliser = self.normaliser(box, term.free)
        form = normaliser.poly(term)
        return not form or not normaliser.cleared(form, signed=False)


def _zero(session: Session, goal: Goal, _: Tree) -> None:
    """t >= 0 because t = 0."""
    if goal.strict:
        raise Rejected("zero never proves a strict goal")
    if not session.is_zero(goal.term, goal.box):
        raise Rejected("the normal form is not zero")


def _manifest(session: Session, goal: Goal, _: Tree) -> None:
    """t >= 0 because every monomial of its normal form is, as it stands or after x = lo + u."""
    fixed = {v: r.lo for v, r in single_points(goal.box).items()}
    term = at(goal.term, fixed)
    moved = {v: replace(r, lo=Fraction(0), hi=None if r.hi is None else r.hi - r.lo) for v, r in goal.box.items() if v in term.free}
    shift = {v: add(var(v), num(goal.box[v].lo)) for v in moved if goal.box[v].lo}
    for form, box in ((term, goal.box), (substitute(term, shift), moved)):
        normaliser = session.normaliser(box, form.free)
        poly = normaliser.poly(form)
        if normaliser.manifest(poly) > goal.strict or normaliser.manifest(normaliser.cleared(poly, signed=True)) > goal.strict:
            return
    raise Rejected("the sign is not manifest")


def _boxes(session: Session, goal: Goal, tree: Tree) -> None:
    """t >= 0 because interval enclosures are, on every piece of a bisection."""
    budget = read_integer(tree.get("budget", DEFAULT_BUDGET), 1, MAX_BUDGET)
    precision = read_integer(tree.get("precision", DEFAULT_PRECISION), 53, 1024)
    centred = read_choice(tree.get("form", "natural"), "natural", "centred") == "centred"
    term = at(goal.term, {v: r.lo for v, r in single_points(goal.box).items()})
    slopes: dict[str, Term] = {}
    for v in sorted(term.free):
        if centred:
            term = session.smooth(term, v, goal.box)
    try:
        slopes = {v: differentiate(term, v) for v in sorted(term.free)} if centred or len(term.free) > 1 else {}
    except Rejected:
        if centred:
            raise
    search = Search(_forms(session, term, goal.box), slopes, goal.box, precision, session.meter)
    search.prove(strict=goal.strict, budget=budget, centred=centred)


def _forms(session: Session, term: Term, box: Box) -> list[Term]:
    """The term, and its normal form as a term if there is one that is not larger than a few times the term."""
    try:
        normaliser = session.normaliser(box, term.free)
        other = normaliser.term(normaliser.poly(term))
    except Rejected:
        return [term]
    fits = other is not term and len(postorder(other)) <= 3 * len(postorder(term)) + 50
    return [term, other] if fits else [term]


def _split(session: Session, goal: Goal, tree: Tree) -> None:
    """t >= 0 on both closed halves of a range."""
    v = read_variable(tree["variable"], goal.box)
    cut, old = read_number(tree["at"]), goal.box[v]
    if not old.contains(cut) or cut in (old.lo, old.hi):
        raise Rejected("the range must be split strictly inside")
    for part, half in (("below", replace(old, hi=cut)), ("above", Range(cut, old.hi))):
        with session.at("." + part):
            prove(session, replace(goal, box={**goal.box, v: half}), tree[part])


def _monotone(session: Session, goal: Goal, tree: Tree) -> None:
    """t is monotone in one variable and has the right sign at the end point with its least values."""
    v = read_variable(tree["variable"], goal.box)
    rising = read_choice(tree["direction"], "increasing", "decreasing") == "increasing"
    old = goal.box[v]
    end = old.lo if rising else old.hi
    if end is None or (rising and old.open):
        raise Rejected(f"the range of {v} has no closed end to reduce to")
    slope = differentiate(session.smooth(goal.term, v, goal.box), v)
    with session.at(".slope"):
        prove(session, Goal(slope if rising else negate(slope), goal.box), tree["slope"])
    rest = {name: r for name, r in goal.box.items() if name != v}
    with session.at(".end"):
        prove(session, Goal(at(goal.term, {v: end}), rest, goal.strict), tree["end"])


def _scale(session: Session, goal: Goal, tree: Tree) -> None:
    """factor > 0 and factor t >= 0."""
    factor = session.read(tree["factor"], goal.box)
    with session.at(".positive"):
        prove(session, Goal(factor, goal.box, strict=True), tree["positive"])
    with session.at(".product"):
        prove(session, replace(goal, term=mul(factor, goal.term)), tree["product"])


def _sum(session: Session, goal: Goal, tree: Tree) -> None:
    """t is the sum of parts that are >= 0, one of them > 0 for a strict goal."""
    parts = [session.read(source, goal.box) for source in read_list(tree["parts"])]
    proofs = read_list(tree["proofs"])
    if len(parts) != len(proofs) or not parts:
        raise Rejected("there must be as many proofs as parts, and at least one")
    if goal.strict != ("strict" in tree):
        raise Rejected("the field strict belongs to strict goals, and only to them")
    strict = read_integer(tree["strict"], 0, len(parts) - 1) if goal.strict else -1
    difference = goal.term
    for part in parts:
        difference = subtract(difference, part)
    if not session.is_zero(difference, goal.box):
        raise Rejected("the parts do not add up to the goal")
    for i, (part, proof) in enumerate(zip(parts, proofs, strict=True)):
        with session.at(f".proofs[{i}]"):
            prove(session, Goal(part, goal.box, i == strict), proof)


def _tangent(session: Session, goal: Goal, tree: Tree, remainder: Term) -> None:
    """c >= 0 and t - c remainder >= 0, for a remainder that is >= 0."""
    c = session.read(tree["coefficient"], goal.box)
    with session.at(".nonnegative"):
        prove(session, Goal(c, goal.box), tree["nonnegative"])
    with session.at(".rest"):
        prove(session, replace(goal, term=subtract(goal.term, mul(c, remainder))), tree["rest"])


def _exp_tangent(session: Session, goal: Goal, tree: Tree) -> None:
    """exp(m) - 1 - m >= 0."""
    m = session.read(tree["exponent"], goal.box)
    _tangent(session, goal, tree, subtract(subtract(apply("exp", m), num(1)), m))


def _log_tangent(session: Session, goal: Goal, tree: Tree) -> None:
    """a - 1 - log a >= 0 for a > 0."""
    a = session.read(tree["argument"], goal.box)
    with session.at(".argument-positive"):
        prove(session, Goal(a, goal.box, strict=True), tree["argument-positive"])
    _tangent(session, goal, tree, subtract(subtract(a, num(1)), apply("log", a)))


Rule = Callable[[Session, Goal, Tree], None]
RULES: dict[str, tuple[Rule, set[str], frozenset[str]]] = {
    "zero": (_zero, set(), frozenset()),
    "manifest": (_manifest, set(), frozenset()),
    "boxes": (_boxes, {"budget"}, frozenset({"form", "precision"})),
    "split": (_split, {"variable", "at", "below", "above"}, frozenset()),
    "monotone": (_monotone, {"variable", "direction", "slope", "end"}, frozenset()),
    "scale": (_scale, {"factor", "positive", "product"}, frozenset()),
    "sum": (_sum, {"parts", "proofs"}, frozenset({"strict"})),
    "exp-tangent": (_exp_tangent, {"exponent", "coefficient", "nonnegative", "rest"}, frozenset()),
    "log-tangent": (_log_tangent, {"argument", "coefficient", "argument-positive", "nonnegative", "rest"}, frozenset()),
}


def read_variable(name: object, box: Box) -> str:
    """A variable of the goal's box."""
    if not isinstance(name, str) or name not in box:
        raise Rejected("there is no such variable in the goal's box")
    return name


def prove(session: Session, goal: Goal, tree: object) -> None:
    """The goal holds, by the rule at the root of the tree; rejects otherwise."""
    session.meter.spend(10)
    if len(session.path) > MAX_TREE_DEPTH:
        raise Rejected("the proof is nested too deeply")
    name = tree.get("rule") if isinstance(tree, dict) else None
    if not isinstance(name, str) or name not in RULES:
        raise Rejected("expected a proof tree with a known rule")
    rule, required, optional = RULES[name]
    rule(session, goal, read_fields(tree, {"rule", *required}, optional))
    session.rules[name] = None
