"""The safe expression grammar of profile files: text → term, by a whitelist over Python's ``ast``, never by evaluation.

Accepted: decimal literals (read digit by digit from the text, so 0.1 is one tenth), names, ``pi``, ``+ - * / **``, unary signs,
``exp log sqrt sin cos tan tanh sinh cosh Abs Min Max floor ceiling`` and ``Piecewise((value, condition), ..., (value, True))`` whose
conditions are single comparisons. Everything else is refused with one sentence that says what was found and where.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping

from profiles.errors import InvalidExpression, InvalidNumber
from profiles.evaluation import constant_value
from profiles.numbers import to_exact
from profiles.suggestions import suggest
from profiles.tables import Table
from profiles.terms import FUNCTIONS, MAX_EXPONENT, VARIADIC, Term, is_long_power, number, symbol

MAX_CHARACTERS = 20_000
MAX_NESTING = 100
MAX_NODES = 5_000

_BINARY: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
_COMPARE: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_KNOWN = "exp log sqrt sin cos tan tanh sinh cosh Abs Min Max floor ceiling Piecewise"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z", re.ASCII)
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


def is_name(text: str) -> bool:
    """Tell whether ``text`` can name a statistic, parameter or constant: an ASCII identifier of at most 64 characters."""
    return _NAME.match(text) is not None


def parse_expression(text: str, what: str = "the expression", tables: Mapping[str, Table] | None = None) -> Term:
    """Return the term that ``text`` writes, unsimplified; ``tables`` are functions that it may call beside those of the grammar.

    Raises :class:`InvalidExpression` for anything outside the grammar or its limits (20,000 characters, nesting 100, 5,000
    nodes, constant exponents up to 1,000).

    >>> parse_expression("w*z/2")
    ('div', ('mul', ('sym', 'w'), ('sym', 'z')), ('num', Fraction(2, 1)))
    """
    if not isinstance(text, str):
        raise InvalidExpression(f"{what} must be text, but an object of type {type(text).__name__} was found; put it in quotes")
    stripped = text.strip()
    if not stripped:
        raise InvalidExpression(f"{what} is empty; write one in w and the declared statistics and parameters")
    if len(stripped) > MAX_CHARACTERS:
        raise InvalidExpression(f"{what} has {len(stripped)} characters, but at most {MAX_CHARACTERS} are accepted; shorten it")
    if not stripped.isascii() or any(ord(character) < 32 and character not in "\t\n\r" for character in stripped):
        raise InvalidExpression(f"{what} has characters outside printable ASCII; write it in plain ASCII")
    if "#" in stripped:
        raise InvalidExpression(f"{what} has a comment sign #, which could hide a part of it; write comments outside the quotes")
    _limit_nesting(stripped, what)
    return _Reader(" ".join(stripped.split()), what, tables or {}).read()


def _limit_nesting(text: str, what: str) -> None:
    depth = deepest = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    if deepest > MAX_NESTING:
        raise InvalidExpression(f"{what} nests {deepest} parentheses, but at most {MAX_NESTING} are accepted; flatten it")


class _Reader:
    """Turns one syntax tree into a term; keeps the text because literals are read from it, not from their binary value."""

    def __init__(self, text: str, what: str, tables: Mapping[str, Table]) -> None:
        self._text, self._what, self._nodes, self._tables = text, what, 0, tables

    def read(self) -> Term:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self._text, mode="eval")
        except (MemoryError, RecursionError):
            raise InvalidExpression(f"{self._what} is nested too deeply in {_shorten(self._text)}; flatten it") from None
        except (SyntaxError, ValueError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else type(error).__name__
            raise InvalidExpression(
                f"{self._what} cannot be read ({reason}) in {_shorten(self._text)}; use + - * / **, names and listed functions"
            ) from None
        try:
            return self._term(tree.body, 0)
        except RecursionError:
            raise InvalidExpression(f"{self._what} is nested too deeply; flatten it") from None

    def _refuse(self, node: ast.AST, reason: str) -> InvalidExpression:
        shown = _shorten(ast.get_source_segment(self._text, node) or self._text)
        return InvalidExpression(f"{self._what} contains {shown}, which is {reason}")

    def _refuse_sign(self, node: ast.AST, sign: str, advice: str) -> InvalidExpression:
        shown = _shorten(ast.get_source_segment(self._text, node) or self._text)
        return InvalidExpression(f"{self._what} contains the sign {sign} in {shown}, which is not read; {advice}")

    def _term(self, node: ast.expr, depth: int) -> Term:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise InvalidExpression(f"{self._what} has more than {MAX_NODES} operations; shorten it")
        if depth > 4 * MAX_NESTING:
            return self._too_deep()
        match node:
            case ast.Constant():
                return self._literal(node)
            case ast.Name():
                return self._name(node)
            case ast.UnaryOp(op=ast.UAdd()):
                return self._term(node.operand, depth + 1)
            case ast.UnaryOp(op=ast.USub()):
                return ("neg", self._term(node.operand, depth + 1))
            case ast.BinOp() if type(node.op) in _BINARY:
                return self._binary(node, depth)
            case ast.Call():
                return self._call(node, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
            raise self._refuse_sign(node, "^", "powers are written **, as in w**2")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            raise self._refuse_sign(node, "//", "write floor(a/b)")
        raise self._refuse(node, "not allowed in a profile; use + - * / **, names and the listed functions")

    def _too_deep(self) -> Term:
        raise InvalidExpression(f"{self._what} is nested too deeply; flatten it")

    def _literal(self, node: ast.Constant) -> Term:
        source = ast.get_source_segment(self._text, node) or ""
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)) or not _NUMBER.match(source):
            raise self._refuse(node, "not a decimal number")
        try:
            return number(to_exact(source, "a number in " + self._what))
        except InvalidNumber as error:
            raise InvalidExpression(str(error)) from None

    def _name(self, node: ast.Name) -> Term:
        if node.id == "pi":
            return ("pi",)
        if node.id in FUNCTIONS or node.id in VARIADIC or node.id == "Piecewise" or node.id in self._tables:
            raise self._refuse(node, "a function without its argument")
        if not is_name(node.id) or node.id.startswith("__"):
            raise self._refuse(node, "not an accepted name")
        return symbol(node.id)

    def _binary(self, node: ast.BinOp, depth: int) -> Term:
        head = _BINARY[type(node.op)]
        left, right = self._term(node.left, depth + 1), self._term(node.right, depth + 1)
        if head == "sub":
            return ("add", left, ("neg", right))
        if head == "pow":
            value = constant_value(right)
            if value is not None and abs(value) > MAX_EXPONENT:
                raise self._refuse(node, f"a power with an exponent above {MAX_EXPONENT}; use a smaller one")
            base = constant_value(left)
            if value is not None and base is not None and is_long_power(base, value):
                raise self._refuse(node, "a power of numbers with too many digits; use a shorter one")
            if value is not None and value.denominator > 10**9:
                raise self._refuse(node, "a power whose exponent has too many digits; use a shorter one")
        return (head, left, right)

    def _call(self, node: ast.Call, depth: int) -> Term:
        if not isinstance(node.func, ast.Name):
            raise self._refuse(node, "a call of something else than a listed function")
        name = node.func.id
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self._refuse(node, "a call with named or starred arguments")
        if name == "Piecewise":
            if not node.args:
                raise self._refuse(node, "a Piecewise without branches")
            return ("piecewise", *(self._branch(branch, depth, last=index == len(node.args) - 1) for index, branch in enumerate(node.args)))
        arguments = [self._term(argument, depth + 1) for argument in node.args]
        if name in FUNCTIONS:
            if len(arguments) != 1:
                raise self._refuse(node, f"a call of {name} with {len(arguments)} arguments instead of 1")
            return (FUNCTIONS[name], arguments[0])
        if name in VARIADIC:
            if not arguments:
                raise self._refuse(node, f"a call of {name} without arguments")
            return (VARIADIC[name], *arguments)
        if name in self._tables:
            if len(arguments) != 1:
                raise self._refuse(node, f"a call of the table {name} with {len(arguments)} arguments instead of 1")
            return ("table", self._tables[name], arguments[0])
        hint = suggest(name, (*FUNCTIONS, *VARIADIC, "Piecewise", *self._tables))
        raise self._refuse(node, f"a call of an unknown function; known are {_KNOWN}{hint}")

    def _branch(self, node: ast.expr, depth: int, *, last: bool) -> tuple[Term, Term]:
        if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
            raise self._refuse(node, "not a (value, condition) pair of Piecewise")
        value, condition = self._term(node.elts[0], depth + 1), node.elts[1]
        if isinstance(condition, ast.Constant) and condition.value is True:
            if not last:
                raise self._refuse(condition, "a condition True before the last branch of Piecewise")
            return value, ("true",)
        if last:
            raise self._refuse(node, "the last branch of Piecewise, whose condition must be True")
        if not isinstance(condition, ast.Compare) or len(condition.ops) != 1 or type(condition.ops[0]) not in _COMPARE:
            raise self._refuse(condition, "not a single comparison < <= > >=")
        left, right = self._term(condition.left, depth + 1), self._term(condition.comparators[0], depth + 1)
        return value, (_COMPARE[type(condition.ops[0])], left, right)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
