"""From the text of a claim to the prover's goals: relations, boxes, and reals written as differences of non-negative variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.grammar import parse_expression
from profiles.numbers import to_exact
from profiles.symbolic import to_sympy
from profiles.terms import Term
from profiles.variables import Variable
from proofs_check.prover.algebra import derivative
from proofs_check.prover.goals import Goal
from proofs_check.statements.sentences import Goals

_RELATION = re.compile(r"(>=|<=|==|>|<)")
_RANGE = re.compile(r"\s*(\w+) in (?:(R)|([\[(])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])]))\s*\Z")
PLUS, MINUS = "_plus", "_minus"


@dataclass(frozen=True, slots=True)
class Question:
    """*For all points of ``box``: the derivative of ``left`` in ``derive``, minus ``right``, is ≥ 0 (> 0 if strict).*

    ``sign`` −1 asks for the negative of that difference. Texts are in the profile grammar over the box.
    """

    left: str
    right: str
    derive: tuple[str, ...]
    sign: int
    box: tuple[Variable, ...]
    strict: bool

    @property
    def difference(self) -> Term:
        """The difference as a term, for a question without derivatives."""
        text = f"({self.left}) - ({self.right})" if self.sign > 0 else f"({self.right}) - ({self.left})"
        return parse_expression(text, "a claim")

    def goal(self) -> Goal:
        """Return the prover's goal (SymPy differentiates; the kernel will differentiate by itself)."""
        symbols = {variable.name: make_symbol(variable) for variable in self.box}
        left = to_sympy(parse_expression(self.left, "a claim"), symbols)
        for name in self.derive:
            left = derivative(left, symbols[name])
        return Goal(self.sign * (left - to_sympy(parse_expression(self.right, "a claim"), symbols)), self.box, self.strict)


def make_symbol(variable: Variable) -> sympy.Symbol:
    """Return the symbol with the assumptions that the range justifies."""
    if variable.lo > 0 or (variable.lo == 0 and variable.open_below):
        return sympy.Symbol(variable.name, positive=True)
    return sympy.Symbol(variable.name, nonnegative=True) if variable.lo == 0 else sympy.Symbol(variable.name, real=True)


def read(goals: Goals) -> tuple[Question, ...]:
    """Return the questions that a claim's text asks: two for an equality, else one. Raises :class:`InvalidExpression`."""
    left, relation, right = _split(goals.relation)
    box: list[Variable] = []
    for part in goals.box.split(";") if goals.box else ():
        variables = tuple(_read_range(part))
        if len(variables) == 2:
            name = variables[0].name.removesuffix(PLUS)
            left, right = (re.sub(rf"\b{name}\b", f"({name}{PLUS} - {name}{MINUS})", text) for text in (left, right))
        box.extend(variables)
    signs = {">=": (1,), ">": (1,), "<=": (-1,), "<": (-1,), "==": (1, -1)}[relation]
    return tuple(Question(left, right, goals.derive, sign, tuple(box), relation in (">", "<")) for sign in signs)


def _split(text: str) -> tuple[str, str, str]:
    depth = 0
    for match in re.finditer(r"[()]|>=|<=|==|>|<", text):
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0 and _RELATION.match(match[0]):
            return text[: match.start()].strip(), match[0], text[match.end() :].strip()
    raise InvalidExpression(f"the claim {text!r} has no relation; write lhs >= rhs")


def _read_range(text: str) -> Iterator[Variable]:
    match = _RANGE.match(text)
    if match is None:
        raise InvalidExpression(f"the range {text!r} cannot be read; write for example w in [1, oo)")
    name, real, opening, lo, hi, _ = match.groups()
    if real:
        yield Variable(name + PLUS, Fraction(0), None)
        yield Variable(name + MINUS, Fraction(0), None)
        return
    yield Variable(name, to_exact(lo, text), None if hi == "oo" else to_exact(hi, text), open_below=opening == "(")


def read_point(text: str) -> dict[str, Fraction]:
    """Return a point written as ``"a = 1, t = 3/2"``."""
    pairs = (item.split("=") for item in text.split(",") if item.strip())
    return {name.strip(): to_exact(value.strip(), name) for name, value in pairs}


def split_reals(point: Mapping[str, Fraction], box: tuple[Variable, ...]) -> dict[str, Fraction]:
    """Return a point of the claim's variables as a point of the box."""
    made = {}
    for variable in box:
        name = variable.name
        if name in point:
            made[name] = point[name]
        elif name.endswith(PLUS) and name.removesuffix(PLUS) in point:
            made[name] = max(point[name.removesuffix(PLUS)], Fraction(0))
        elif name.endswith(MINUS) and name.removesuffix(MINUS) in point:
            made[name] = max(-point[name.removesuffix(MINUS)], Fraction(0))
    return made


def join_reals(point: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return a point of the box as a point of the claim's variables."""
    made: dict[str, Fraction] = {}
    for name, value in point.items():
        if name.endswith(PLUS):
            made[name.removesuffix(PLUS)] = value - point[name.removesuffix(PLUS) + MINUS]
        elif not name.endswith(MINUS):
            made[name] = value
    return made
