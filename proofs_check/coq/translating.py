"""The kernel's proofs as proofs of the verified checker (``proofs_check/coq/verified/checker.v``): rule by rule. They only propose."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce

from proofs_check.coq.encoding import (
    ZERO,
    Tree,
    encode,
    encode_number,
    encode_sum,
    find_equations,
    put,
    write,
    write_flag,
    write_pair,
    write_range,
)
from proofs_check.coq.goals import ProvedGoal, find_generalised, find_split, fix
from proofs_check.coq.scripts import find_manifest, group_monomials
from proofs_check.coq.syntax import NotWritable
from proofs_check.kernel.core import intervals as iv
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.terms import ROUGH, Term, conditions, differentiate, postorder, substitute
from proofs_check.kernel.core.theorems import Goal
from proofs_check.kernel.procedures.boxes import Piece, Program
from proofs_check.kernel.procedures.normal import Normaliser

_MOST_BOXES, _PRECISION = 3000, 60
_AGAIN = 3  # bisections that the checker may do by itself below each piece


def list_variables(number: int, goals: Sequence[ProvedGoal]) -> list[str]:
    """Return the variables that a goal's proof is about: those of its box that occur in it or below, with many values."""
    box, seen, waiting = goals[number].goal.box, set[int](), [number]
    names = set[str]()
    while waiting:
        place = waiting.pop()
        if place not in seen:
            seen.add(place)
            names |= goals[place].goal.term.free
            waiting += goals[place].parts.values()
    return [v for v in sorted(names) if v in box and box[v].lo != box[v].hi]


class Translation:
    """The proof of one goal of a list, with the names of its variables by their places in the checker's box."""

    def __init__(self, goals: Sequence[ProvedGoal], names: list[str]) -> None:
        self.goals, self.names = goals, names

    def prove(self, number: int, expected: Tree | None = None) -> str:
        """Return a proof of a goal, written as the tree that is expected. Raises :class:`NotWritable`."""
        proved = self.goals[number]
        goal = Goal(fix(proved.goal.term, proved.goal.box), proved.goal.box, proved.goal.strict)
        tree = encode(goal.term, self.names)
        rule = _RULES.get(proved.rule)
        if rule is None:
            raise NotWritable(f"not covered (rule {proved.rule})")
        text = rule(self, proved, goal, tree)
        if expected is not None and expected != tree:
            text = self.rewrite(expected, tree, text, goal)
        return text

    def rewrite(self, old: Tree, new: Tree, rest: str, goal: Goal) -> str:
        """Return a proof about one term from a proof about another one that equals it."""
        return self.with_equations([old, new], goal, f"(Rewrite {write(new)} {rest})")

    def with_equations(self, trees: Sequence[Tree], goal: Goal, text: str) -> str:
        """Return a proof with equations between exponentials, logarithms and roots of the trees known in it."""
        known = [(write(left), write(right), why) for left, right, why in find_equations(trees, self.names, goal.box)]
        return reduce(lambda rest, item: f"(Equal {item[0]} {item[1]} {item[2]} {rest})", reversed(known), text)

    def part(self, proved: ProvedGoal, name: str, expected: Tree | None = None) -> str:
        """Return the proof of a part of a rule."""
        return self.prove(proved.parts[name], expected)

    def part_tree(self, proved: ProvedGoal, name: str) -> Tree:
        """Return the tree of the goal of a part."""
        goal = self.goals[proved.parts[name]].goal
        return encode(fix(goal.term, goal.box), self.names)


def _zero(t: Translation, _found: ProvedGoal, goal: Goal, tree: Tree) -> str:
    return t.rewrite(tree, ZERO, "Sign", goal)


def _manifest(t: Translation, _found: ProvedGoal, goal: Goal, tree: Tree) -> str:
    form = find_manifest(goal)
    if form is None:
        return "Sign"
    factor, total = (encode_sum(group_monomials(form.normaliser, p, form.back), t.names) for p in (form.factor, form.product))
    one = form.factor == {(): Fraction(1)}
    rest = t.rewrite(tree if one else ("Mul", factor, tree), total, "Sign", goal)
    return f"(First Sign {rest if one else f'(Scale {write(factor)} Sign {rest})'})"


def _boxes(t: Translation, _found: ProvedGoal, goal: Goal, tree: Tree) -> str:
    ways = ["Sign", _Pieces(goal, t.names).prove(), f"(Enclose {_PRECISION} {6 if len(goal.term.free) > 1 else 10})"]
    with contextlib.suppress(Rejected, NotWritable):
        normaliser = Normaliser(goal.box, Meter())
        other = normaliser.term(normaliser.poly(goal.term))
        if other is not goal.term:
            inner = f"(First Sign {_Pieces(Goal(other, goal.box, goal.strict), t.names).prove()})"
            ways.append(t.rewrite(tree, encode(other, t.names), inner, goal))
    return reduce(lambda rest, way: f"(First {way} {rest})", reversed(ways))


class _Pieces:
    # bisection as the kernel does it, on record
    def __init__(self, goal: Goal, names: Sequence[str]) -> None:
        self.goal, self.names = goal, names
        self.used = sorted(goal.term.free)
        meter = Meter()
        self.forms = Program([goal.term], 64, meter)
        rough = any(node.op in ROUGH and node.free for node in postorder(goal.term))
        self.slopes = Program([differentiate(goal.term, v) for v in self.used], 64, meter) if len(self.used) > 1 and not rough else None
        self.left = _MOST_BOXES

    def prove(self) -> str:
        return self._prove({v: self.goal.box[v].hull(64) for v in self.used}, dict.fromkeys(self.used, 0))

    def _prove(self, piece: Piece, depth: Mapping[str, int]) -> str:
        self.left -= 1
        low, _ = self.forms.run(piece)[0]
        if low > 0 or (low == 0 and not self.goal.strict) or self.left < 0 or not self.used or sum(depth.values()) > 60:
            return f"(Enclose {_PRECISION} {_AGAIN})"
        effects = dict.fromkeys(self.used, iv.UNIT) if self.slopes is None else dict(zip(self.used, self.slopes.run(piece), strict=True))
        widths = {
            v: iv.mul(iv.absolute(effects[v]), iv.add(x, iv.negate((x[0], x[0])), 64), 64)[1] for v, x in piece.items() if x[0] < x[1]
        }
        if not widths:
            return f"(Enclose {_PRECISION} 0)"
        v = max(widths, key=lambda v: (widths[v], -depth[v]))
        lo, hi = piece[v]
        if hi == iv.INF:
            at = max(Fraction(1), 2 * Fraction(lo)) if lo != 0 or depth[v] else Fraction(1)
        elif lo == 0 and self.goal.box[v].open:
            at = Fraction(hi) / 4
        else:
            at = Fraction(iv.middle((lo, hi), 64))
        below, above = ({**piece, v: half} for half in ((lo, _decimal(at)), (_decimal(at), hi)))
        deeper = {**depth, v: depth[v] + 1}
        return f"(Split {self.names.index(v)} {write_pair(at)} {self._prove(below, deeper)} {self._prove(above, deeper)})"


def _decimal(q: Fraction) -> Decimal:
    return iv.from_fraction(q, 200)[0]


def _split(t: Translation, proved: ProvedGoal, _goal: Goal, _tree: Tree) -> str:
    v, at = find_split(t.goals, proved)
    if v not in t.names:
        return t.part(proved, "below")
    return f"(Split {t.names.index(v)} {write_pair(at)} {t.part(proved, 'below')} {t.part(proved, 'above')})"


def _scale(t: Translation, proved: ProvedGoal, _goal: Goal, tree: Tree) -> str:
    factor = t.part_tree(proved, "positive")
    return f"(Scale {write(factor)} {t.part(proved, 'positive')} {t.part(proved, 'product', ('Mul', factor, tree))})"


def _sum(t: Translation, proved: ProvedGoal, goal: Goal, tree: Tree) -> str:
    names = sorted(proved.parts, key=lambda name: int(name[7:-1]))
    trees = [t.part_tree(proved, name) for name in names]
    stricts = [t.goals[proved.parts[name]].goal.strict for name in names]
    total, proof, strict = trees[0], t.part(proved, names[0]), stricts[0]
    for part, name, more in zip(trees[1:], names[1:], stricts[1:], strict=True):
        total = ("Add", total, part)
        proof = f"(Sum {write_flag(strict)} {write_flag(more)} {proof} {t.part(proved, name)})"
        strict = strict or more
    return t.rewrite(tree, total, proof, goal)


def _tangent(t: Translation, proved: ProvedGoal, goal: Goal, tree: Tree) -> str:
    rest, share, minus_one = t.part_tree(proved, "rest"), t.part_tree(proved, "nonnegative"), encode_number(Fraction(-1))
    above: Tree
    below: Tree
    if proved.rule == "log-tangent":
        above = t.part_tree(proved, "argument-positive")
        below, rule = ("Ln", above), f"(LnTangent {write(above)})"
    else:
        below = _exponent(t.goals[proved.parts["rest"]].goal, goal, t.names)
        above, rule = ("Exp", below), f"(ExpTangent {write(below)})"
    fact = ("Add", ("Add", above, minus_one), ("Mul", minus_one, below))
    total = ("Add", rest, ("Mul", share, fact))
    proof = f"(Sum {write_flag(goal.strict)} false {t.part(proved, 'rest')} (Times {t.part(proved, 'nonnegative')} {rule}))"
    return t.rewrite(tree, total, proof, goal)


def _exponent(rest: Goal, goal: Goal, names: Sequence[str]) -> Tree:
    # the rest is the goal's term less c (exp(m) - 1 - m), as the kernel writes it
    last = fix(rest.term, rest.box)
    candidates = [node.args[0] for node in postorder(last) if node.op == "exp"]
    before = {node for node in postorder(fix(goal.term, goal.box)) if node.op == "exp"}
    fresh = [a for a in candidates if all(a is not node.args[0] for node in before)] or candidates
    if not fresh:
        raise NotWritable("not covered (rule exp-tangent of a number)")
    return encode(fresh[-1], names)


def _monotone(t: Translation, proved: ProvedGoal, goal: Goal, tree: Tree) -> str:
    slope, end = (t.goals[proved.parts[name]].goal for name in ("slope", "end"))
    (v,) = (v for v in proved.goal.box if v not in end.box)
    if v not in t.names:
        return t.part(proved, "end")
    values, derivative = proved.goal.box[v], fix(differentiate(proved.goal.term, v), proved.goal.box)
    if values.hi is None or fix(slope.term, slope.box) is derivative:
        rising = True
    elif fix(slope.term, slope.box) is fix(-derivative, slope.box):
        rising = False
    else:
        rising = _is_value(end, proved.goal, v, values.lo)
    last = values.lo if rising else values.hi
    if last is None:
        raise NotWritable("not covered (rule monotone at an open end)")
    place, expected = t.names.index(v), put(tree, t.names.index(v), encode_number(last))
    below = t.part(proved, "slope")
    text = f"(Monotone {place} {write_flag(rising)} {write(t.part_tree(proved, 'slope'))} {below} {t.part(proved, 'end', expected)})"
    return t.with_equations([tree, t.part_tree(proved, "slope")], goal, text)


def _is_value(end: Goal, goal: Goal, v: str, at: Fraction) -> bool:
    return substitute(fix(goal.term, goal.box), {v: at}) is fix(end.term, end.box)


def _generalise(t: Translation, proved: ProvedGoal, goal: Goal, tree: Tree) -> str:
    inner = t.goals[proved.parts["proof"]].goal
    y, replaced = find_generalised(t.goals, proved)
    values, value = inner.box[y], encode(replaced, t.names)
    low = ("Add", value, ("Mul", encode_number(Fraction(-1)), encode_number(values.lo)))
    upper = "Sign"
    if values.hi is not None:
        upper = t.part(proved, "upper", ("Add", encode_number(values.hi), ("Mul", encode_number(Fraction(-1)), value)))
    within = Translation(t.goals, [*t.names, y])
    general = encode(fix(inner.term, inner.box), within.names)
    text = (
        f"(General {write(value)} {write_range(values)} {t.part(proved, 'lower', low)} {upper} {write(general)} "
        f"{within.prove(proved.parts['proof'])})"
    )
    return t.with_equations([tree, put(general, len(t.names), value)], goal, text)


_RULES: dict[str, Callable[[Translation, ProvedGoal, Goal, Tree], str]] = {
    "zero": _zero,
    "manifest": _manifest,
    "boxes": _boxes,
    "split": _split,
    "scale": _scale,
    "sum": _sum,
    "exp-tangent": _tangent,
    "log-tangent": _tangent,
    "monotone": _monotone,
    "generalise": _generalise,
}


def translate(number: int, goals: Sequence[ProvedGoal], names: list[str]) -> str:
    """Return a proof of a goal, with what its term needs to be defined proved before it where the list has a goal that says it.

    Raises :class:`NotWritable` for what the checker does not know, and :class:`proofs_check.kernel.core.documents.Rejected`.
    """
    translation, goal = Translation(goals, names), goals[number].goal
    text = translation.prove(number)
    needed = {fact: None for kind, fact in conditions(fix(goal.term, goal.box)) if kind != "nonnegative" and fact.free}
    known = list[tuple[str, str]]()
    for place, other in enumerate(goals):
        if other.goal.strict and place != number and dict(other.goal.box) == dict(goal.box) and _needed(other.goal, needed):
            known.append((write(encode(fix(other.goal.term, goal.box), names)), translation.prove(place)))
    if not known:
        return text
    return f"(First {text} {reduce(lambda rest, item: f'(Positive {item[0]} {item[1]} {rest})', reversed(known), text)})"


def _needed(goal: Goal, needed: Mapping[Term, None]) -> bool:
    return fix(goal.term, goal.box) in needed
