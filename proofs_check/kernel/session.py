"""What the steps of one certificate share, and the discharge of side conditions: definedness, branches, differentiability."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .errors import Meter, Rejected
from .normal import Normaliser
from .ranges import Box, enclose
from .syntax import read_term, variables
from .terms import BRANCHING, Term, conditions, make, num, postorder, smoothness, text


@dataclass(frozen=True, slots=True)
class Goal:
    """For all points of the box: term >= 0, or term > 0 if strict."""

    # Invariant: the term is defined at every point of the box. Every rule keeps it, and so do the claims that make goals.
    term: Term
    box: Box
    strict: bool = False


_DEFAULT_TREES: tuple[dict[str, object], ...] = ({"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 2000})


@dataclass(slots=True)
class Session:
    """Work meter, numeric parameters, the certificate's own proofs of side conditions, the rules used, and where we are."""

    prove: "Callable[[Session, Goal, object], None]"
    meter: Meter = field(default_factory=Meter)
    constants: dict[str, Term] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    rules: dict[str, None] = field(default_factory=dict)
    obligations: dict[Term, object] = field(default_factory=dict)
    used: set[Term] = field(default_factory=set)

    def at(self, step: str) -> "Session":
        """Enter a step; leaving it by an exception keeps the path for the report."""
        self.path.append(step)
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *_: object) -> None:
        del self.path[len(self.path) - (kind is None) :]

    def read(self, source: object, box: Box) -> Term:
        """Read a term that the certificate brings, over the variables of the box; it must be defined there."""
        term = read_term(source, {**self.constants, **variables(box)})
        self.define(term, box)
        return term

    def define(self, term: Term, box: Box) -> None:
        """Show that the term, as it is written, is defined at every point of the box."""
        for kind, fact in conditions(term):
            if kind != "nonzero" or not self.shows(Goal(-fact, box, strict=True)):
                self.discharge(Goal(fact, box, kind != "nonnegative"))

    def shows(self, goal: Goal) -> bool:
        """Whether ``discharge`` succeeds."""
        depth = len(self.path)
        try:
            self.discharge(goal)
        except Rejected:
            del self.path[depth:]
            return False
        return True

    def discharge(self, goal: Goal) -> None:
        """Show a side condition by the certificate's own tree if it has one, else by manifest, zero or boxes."""
        if goal.term in self.obligations:
            self.used.add(goal.term)
            with self.at(".obligations"):
                return self.prove(self, goal, self.obligations[goal.term])
        failure: object = None
        for tree in _DEFAULT_TREES:
            try:
                return self.prove(self, goal, tree)
            except Rejected as problem:
                failure = problem
        raise Rejected(f"{text(goal.term)} {'>' if goal.strict else '>='} 0 is needed and not shown: {failure}")

    def smooth(self, term: Term, v: str, box: Box) -> Term:
        """Return the term with its branches on v resolved, after showing its differentiability in v on the box."""
        resolved = resolve(term, v, lambda gap, strict: self.shows(Goal(gap, box, strict)))
        self.check_smooth(resolved, v, box)
        return resolved

    def check_smooth(self, term: Term, v: str, box: Box) -> None:
        """Show that the resolved term is differentiable in v at every point of the box."""
        for base in smoothness(term, v):
            self.discharge(Goal(base, box, strict=True))

    def normaliser(self, term: Term, box: Box) -> Normaliser:
        """Return an empty table of normal forms over the box."""
        signs = {v: 2 if box[v].lo > 0 or (box[v].lo == 0 and box[v].open) else int(box[v].lo >= 0) for v in term.free}
        return Normaliser(signs, lambda t: enclose(t, box, self.meter), self.meter)

    def is_zero(self, term: Term, box: Box) -> bool:
        """Whether the normal form of the term, denominators cleared, is zero."""
        normaliser = self.normaliser(term, box)
        return not normaliser.cleared(normaliser.poly(term), signed=False)


def resolve(term: Term, v: str, shows: Callable[[Term, bool], bool]) -> Term:
    """Return the term with Abs, Max and Piecewise of v replaced by the branch that is taken; ``shows`` says term >= 0 (> 0 if True)."""
    new: dict[Term, Term] = {}
    for node in postorder(term):
        args = tuple(new[a] for a in node.args)
        branching = v in node.free and node.op in BRANCHING
        new[node] = _branch(node, args, shows) if branching else make(node.op, *args, value=node.value)
    return new[term]


def _branch(node: Term, args: tuple[Term, ...], shows: Callable[[Term, bool], bool]) -> Term:
    if node.op != "piecewise":  # the same choice as (a, a >= b), (b, True)
        args = (args[0], *args, args[1]) if node.op == "max" else (args[0], args[0], num(0), -args[0])
    for i, sign in enumerate(node.value if isinstance(node.value, tuple) else (">=",)):
        value, left, right = args[3 * i : 3 * i + 3]
        gap, weak = right - left if sign[0] == "<" else left - right, sign[-1] == "="
        if shows(gap, not weak):
            return value
        # Abs and Max are continuous, so that at a tie both branches are right
        if not shows(-gap, weak and node.op == "piecewise"):
            raise Rejected(f"the sign of {text(gap)} is not shown, so {node.op} is not resolved")
    return args[-1]
