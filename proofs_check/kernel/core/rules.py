"""The rules about goals, that a term is >= 0 (or > 0) on a box; and side conditions: definedness, branches, differentiability."""
# The parameters of a rule that are proofs belong to its premises, and are passed on unread; all others are its own.

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal, NewType

from .documents import Rejected, require
from .terms import BRANCHING, Term, conditions, differentiate, make, num, pay, postorder, smoothness, substitute
from .theorems import Box, Choice, Goal, Identity, Premise, Premises, Proof, Range, T, rule

Name = NewType("Name", str)  # of a new variable
Flag = NewType("Flag", bool)  # is there, or is not


Signs = Callable[..., Premises[bool]]  # whether a term is >= 0 (> 0 if strict), or else <= 0 (< 0 if otherwise)
ZERO = Proof({"rule": "zero"})
SIDE_CONDITIONS = {  # what is relied on beside the rules, and why it is enough
    "definedness": "log, roots and negative powers are real where their arguments are > 0, >= 0, or of one sign without zero",
    "differentiability": "sums, products, exp, log, sin, cos, and powers of terms that are > 0, of smooth functions are smooth",
    "resolved branches": "Abs, Max and Piecewise equal one branch where the sign that decides about it is known",
}


@rule
def side_condition(kind: str) -> None:
    """What is relied on beside the rules has a name."""
    require(kind in SIDE_CONDITIONS, kind)


def at_step(step: str, premises: Callable[[], Premises[T]]) -> Premises[T]:
    """Put premises at a step of their own."""
    _, value = yield Choice((premises,), step)
    return value  # type: ignore[no-any-return]


def define(term: Term, box: Box) -> Premises[None]:
    """A term over the variables of the box is defined, as it is written, at every point of it."""
    require(term.free <= box.keys(), "a variable is not known here")
    for kind, fact in conditions(term):
        yield Premise("definedness")
        if kind == "nonzero":
            yield from signs_on(box)(fact, strict=True, otherwise=True)
        else:
            yield Premise(Goal(fact, box, kind == "positive"))


def equal(one: Term, other: Term, box: Box, reason: str) -> Premises[None]:
    """Two terms are equal at every point of the box."""
    yield Premise(Identity(one - other, box), ZERO, reason=reason)


def is_first(holds: Callable[..., Premises[None]], term: Term, *, strict: bool, otherwise: bool) -> Premises[bool]:
    """A term is >= 0 (> 0 if strict), or else <= 0 (< 0 if otherwise), by what it needs for that. Whether the first was shown."""
    place, _ = yield Choice((partial(holds, term, strict=strict), partial(holds, -term, strict=otherwise)))
    return bool(place == 0)


def holds_on(box: Box, term: Term, *, strict: bool = False) -> Premises[None]:
    """A side condition: a term is >= 0 (> 0) on a box."""
    yield Premise(Goal(term, box, strict))


def signs_on(box: Box) -> Signs:
    """Signs that a term has on all of a box."""
    return partial(is_first, partial(holds_on, box))


def resolve(term: Term, v: str, signs: Signs) -> Premises[Term]:
    """A term equals the one that is returned, in which Abs, Max and Piecewise of v are replaced by the branch taken."""
    new, order = dict[Term, Term](), postorder(term)
    pay(5 * len(order))
    for node in order:
        args = tuple(new[a] for a in node.args)
        if v in node.free and node.op in BRANCHING:
            yield Premise("resolved branches")
            new[node] = yield from _branch(node, args, signs)
        else:
            new[node] = make(node.op, *args, value=node.value)
    return new[term]


def _branch(node: Term, args: tuple[Term, ...], signs: Signs) -> Premises[Term]:
    if node.op != "piecewise":  # the same choice as (a, a >= b), (b, True)
        args = (args[0], *args, args[1]) if node.op == "max" else (args[0], args[0], num(0), -args[0])
    for i, sign in enumerate(node.value or (">=",)):
        value, left, right = args[3 * i : 3 * i + 3]
        gap, weak = right - left if sign[0] == "<" else left - right, sign[-1] == "="
        # Abs and Max are continuous, so that at a tie both branches are right
        if (yield from signs(gap, strict=not weak, otherwise=weak and node.op == "piecewise")):
            return value
    return args[-1]


def smooth(term: Term, v: str, box: Box) -> Premises[None]:
    """A term without branches on v is differentiable in v at every point of the box."""
    yield Premise("differentiability")
    for base in smoothness(term, v):
        yield Premise(Goal(base, box, strict=True))


def make_smooth(term: Term, v: str, box: Box) -> Premises[Term]:
    """A term equals the one that is returned, which has no branches on v and is differentiable in v at every point of the box."""
    resolved = yield from resolve(term, v, signs_on(box))
    yield from smooth(resolved, v, box)
    return resolved


@rule
def split(goal: Goal, *, variable: str, at: Fraction, below: Proof, above: Proof) -> Premises[None]:
    """What holds on both parts of a range holds on the range."""
    old = _range(goal, variable)
    require(old.contains(at) and at not in (old.lo, old.hi), "the range must be split strictly inside")
    yield Premise(replace(goal, box={**goal.box, variable: replace(old, hi=at)}), below)
    yield Premise(replace(goal, box={**goal.box, variable: Range(at, old.hi)}), above)


def _range(goal: Goal, v: str) -> Range:
    require(v in goal.box, "there is no such variable in the goal's box")
    return goal.box[v]


@rule
def monotone(goal: Goal, *, variable: str, direction: Literal["increasing", "decreasing"], slope: Proof, end: Proof) -> Premises[None]:
    """A function with a slope >= 0 (<= 0) in a variable is at least its value at the lower (upper) end of the variable's range."""
    old, rising = _range(goal, variable), direction == "increasing"
    last, is_open = old.lo if rising else old.hi, rising and old.open
    if last is None:
        raise Rejected(f"the range of {variable} has no end to reduce to")
    term = yield from make_smooth(goal.term, variable, goal.box)
    if is_open:  # defined, hence continuous at the end too: above its value there, strictly so if the slope is > 0
        yield from define(term, {**goal.box, variable: replace(old, open=False)})
    derivative = differentiate(term, variable)
    yield Premise(Goal(derivative if rising else -derivative, goal.box, goal.strict and is_open), slope)
    left = {u: r for u, r in goal.box.items() if u != variable}
    yield Premise(Goal(substitute(term, {variable: last}), left, goal.strict and not is_open), end)


@rule
def scale(goal: Goal, *, factor: Term, positive: Proof, product: Proof) -> Premises[None]:
    """A term is >= 0 (> 0) if its product with a term > 0 is."""
    yield from define(factor, goal.box)
    yield Premise(Goal(factor, goal.box, strict=True), positive)
    yield Premise(replace(goal, term=factor * goal.term), product)


@rule
def sum_(goal: Goal, *, parts: list[Term], proofs: list[Proof], strict: int | None = None) -> Premises[None]:
    """A sum of terms >= 0 is >= 0, and > 0 if one of them is."""
    require(len(parts) == len(proofs), "each part needs a proof")
    require(strict in range(len(parts)) if goal.strict else strict is None, "strict is a part for a strict goal, and for no other")
    for part in parts:
        yield from define(part, goal.box)
    yield from equal(goal.term, sum(parts, num(0)), goal.box, "the parts do not add up to the goal")
    for i, (part, proof) in enumerate(zip(parts, proofs, strict=True)):
        yield Premise(Goal(part, goal.box, i == strict), proof)


@rule
def generalise(
    goal: Goal, *, name: Name, term: Term, low: Fraction, lower: Proof, general: Term, proof: Proof,
    high: Fraction | None = None, upper: Proof | None = None, open_: Flag | None = None,
) -> Premises[None]:  # fmt: skip
    """What holds for all y in a range that contains all values of a term holds for that term in place of y."""
    values = Range(low, high, open=open_ is not None)
    yield from lie_in(goal.box, term, values, lower, upper)
    yield from _instance(goal, name, term, values, general, proof)


def lie_in(box: Box, term: Term, values: Range, lower: Proof, upper: Proof | None) -> Premises[None]:
    """The values of a term lie in a range."""
    yield from define(term, box)
    require((values.hi is None) == (upper is None), "the fields high and upper belong together")
    yield Premise(Goal(term - num(values.lo), box, values.open), lower)
    if values.hi is not None and upper is not None:
        yield Premise(Goal(num(values.hi) - term, box), upper)


def _instance(goal: Goal, y: str, term: Term, values: Range, general: Term, proof: Proof) -> Premises[None]:
    require(y not in goal.box, "the name is not new")
    box = {**goal.box, y: values}
    yield from define(general, box)
    yield from equal(substitute(general, {y: term}), goal.term, goal.box, "the goal is not an instance of the general one")
    yield Premise(Goal(general, box, goal.strict), proof)


@rule
def periodicity(goal: Goal, *, name: Name, term: Term, general: Term, proof: Proof) -> Premises[None]:
    """Sin and cos of any number are those of one in [0, 7]: what holds for all y in [0, 7], which is in sin(y), cos(y) only, holds."""
    bare = (a for node in postorder(make("abs", general)) if node.op not in ("sin", "cos") for a in node.args)
    require(all(a.op != "var" or a.value != name for a in bare), "the new variable is not under sin or cos everywhere")
    yield from define(term, goal.box)
    yield from _instance(goal, name, term, Range(Fraction(0), Fraction(7)), general, proof)


@rule
def ceiling(goal: Goal, *, argument: Term) -> Premises[None]:
    """Each number a is at most its ceiling c, and above c - 1: the goal is c - a >= 0, or a + 1 - c > 0."""
    yield from define(argument, goal.box)
    above = make("ceiling", argument) - argument
    facts = [num(1) - above] if goal.strict else [above, num(1) - above]
    yield Choice(tuple(partial(equal, goal.term, fact, goal.box, "the goal is none of the facts about a ceiling") for fact in facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One of the values that the rule ``branches`` distinguishes, and the proof for it."""

    value: Term
    proof: Proof
    share: Term | None = None


@rule
def branches(goal: Goal, *, cases: list[Case]) -> Premises[None]:
    """Max(a, b) is a, with a - b >= 0, or b, with b - a >= 0: t >= 0 if t less a multiple of that is >= 0 in both cases; so for others."""
    for case in cases:
        yield from define(case.value, goal.box)
    nodes = [node for node in postorder(goal.term) if node.op in BRANCHING]
    place, taken = yield Choice(tuple(partial(_find_cases, goal, node, cases) for node in nodes))
    for i, (choice, gap) in zip(taken, _choices(nodes[place]), strict=True):
        chosen, share = substitute(goal.term, {nodes[place]: choice}), cases[i].share or num(0)
        yield from define(share, goal.box)
        yield from holds_on(goal.box, share)
        yield from define(chosen, goal.box)
        yield Premise(replace(goal, term=chosen - share * gap), cases[i].proof)


def _find_cases(goal: Goal, node: Term, cases: list[Case]) -> Premises[list[int]]:
    # for each value that the node may have, the case that has it
    places = list[int]()
    for choice, _ in _choices(node):
        unknown = "the cases are not those of an Abs, Max or Piecewise of the goal"
        place, _ = yield Choice(tuple(partial(equal, case.value, choice, goal.box, unknown) for case in cases))
        places.append(place)
    return places


def _choices(node: Term) -> list[tuple[Term, Term]]:
    # what the node may be, and what is >= 0 where it is that
    if node.op == "piecewise":
        sides = zip(node.value, node.args[1::3], node.args[2::3], strict=True)
        gaps = [right - left if sign[0] == "<" else left - right for sign, left, right in sides]
        return list(zip((*node.args[:-1:3], node.args[-1]), (*gaps, -gaps[-1]), strict=True))
    a, b = (node.args[0], -node.args[0]) if node.op == "abs" else node.args
    return [(a, a - b), (b, b - a)]


@rule
def exp_tangent(goal: Goal, *, exponent: Term, coefficient: Term, nonnegative: Proof, rest: Proof) -> Premises[None]:
    """exp(m) >= 1 + m: a term is >= 0 (> 0) if it is after subtraction of c (exp(m) - 1 - m) for some c >= 0."""
    yield from define(exponent, goal.box)
    yield from define(coefficient, goal.box)
    yield from _less(goal, coefficient, make("exp", exponent) - num(1) - exponent, nonnegative, rest)


@rule
def log_tangent(
    goal: Goal, *, argument: Term, coefficient: Term, argument_positive: Proof, nonnegative: Proof, rest: Proof
) -> Premises[None]:
    """log(a) <= a - 1 for a > 0: a term is >= 0 (> 0) if it is after subtraction of c (a - 1 - log(a)) for some c >= 0."""
    yield from define(argument, goal.box)
    yield from define(coefficient, goal.box)
    yield Premise(Goal(argument, goal.box, strict=True), argument_positive)
    yield from _less(goal, coefficient, argument - num(1) - make("log", argument), nonnegative, rest)


def _less(goal: Goal, coefficient: Term, gap: Term, nonnegative: Proof, rest: Proof) -> Premises[None]:
    # the goal holds without a multiple of what is >= 0
    yield Premise(Goal(coefficient, goal.box), nonnegative)
    yield Premise(replace(goal, term=goal.term - coefficient * gap), rest)


CORE = (split, monotone, scale, sum_, generalise, periodicity, ceiling, branches, exp_tangent, log_tangent)
