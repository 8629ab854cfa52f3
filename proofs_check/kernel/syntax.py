"""Reading: JSON text, its fields, exact numbers, and the profile grammar. Nothing here is ever evaluated as Python."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from fractions import Fraction

from .errors import Rejected
from .terms import Term, make, num, postorder, var

MAX_TEXT, MAX_EXPRESSION, MAX_DEPTH, MAX_EXPRESSION_NODES = 5_000_000, 20_000, 200, 5_000
_LETTERS, _DIGITS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"), frozenset("0123456789")
_CHARACTERS = _LETTERS | _DIGITS | frozenset(" .,+-*/()<>=")
_ONE_ARGUMENT = {"exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "Abs": "abs", "abs": "abs"}
_SEVERAL_ARGUMENTS = {"Min": -1, "min": -1, "Max": 1, "max": 1}
RESERVED = frozenset({*_ONE_ARGUMENT, *_SEVERAL_ARGUMENTS, "sqrt", "tan", "Piecewise", "True", "False", "None", "w", "pi"})
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise Rejected("a JSON object has the same key twice")
    return dict(pairs)


def _literal(word: str) -> int:
    if len(word) > 20 or not set(word) <= _DIGITS | {"-"}:
        raise Rejected(f"{word[:20]} is not allowed: exact numbers are strings")
    return int(word)


def read_json(document: str) -> object:
    """Read a JSON value of bounded size, with distinct keys and without binary floats."""
    if len(document) > MAX_TEXT:
        raise Rejected("the text is too long")
    return json.loads(document, object_pairs_hook=_pairs, parse_constant=_literal, parse_float=_literal, parse_int=_literal)


def read_fields(value: object, required: set[str], optional: frozenset[str] = frozenset()) -> Mapping[str, object]:
    """Read a JSON object with exactly the required keys, and possibly optional ones."""
    fields = read_mapping(value)
    missing, unknown = sorted(required - fields.keys()), sorted(fields.keys() - required - optional)
    if missing or unknown:
        raise Rejected(f"missing field {missing[0]}" if missing else f"unknown field {unknown[0][:40]}")
    return fields


def read_mapping(value: object) -> Mapping[str, object]:
    """Read a JSON object of moderate size."""
    if not isinstance(value, dict) or len(value) > 1000:
        raise Rejected("expected an object of moderate size")
    return value


def read_list(value: object) -> list[object]:
    """Read a JSON list of moderate length."""
    if not isinstance(value, list) or len(value) > 1000:
        raise Rejected("expected a list of moderate length")
    return value


def read_integer(value: object, low: int, high: int) -> int:
    """Read a JSON integer within bounds; a boolean is not an integer."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Rejected(f"expected an integer from {low} to {high}")
    return value


def read_choice(value: object, yes: str, no: str) -> bool:
    """Read one of two words; whether it is the first."""
    if value not in (yes, no):
        raise Rejected(f"expected {yes} or {no}")
    return value == yes


def read_name(word: str) -> str:
    """Read an ASCII identifier that is not reserved."""
    if not word or len(word) > 100 or word[0] in _DIGITS or not set(word) <= _LETTERS | _DIGITS or word in RESERVED:
        raise Rejected(f"{word[:40]!r} is reserved or not an ASCII identifier")
    return word


def _decimal(word: str) -> Fraction:
    mantissa, marker, tail = word.replace("E", "e").partition("e")
    whole, _, digits = mantissa.partition(".")
    exponent = tail[1:] if tail[:1] in ("+", "-") else tail
    fine = set(whole + digits + exponent) <= _DIGITS and whole + digits and bool(marker) == bool(exponent)
    if not fine or len(whole + digits) > 2000 or len(exponent) > 6 or int(exponent or "0") > 10_000:
        raise Rejected(f"{word[:40]!r} is not an exact number of moderate size")
    value, scale = Fraction(int(whole + digits), 10 ** len(digits)), 10 ** int(exponent or "0")
    return value / scale if tail[:1] == "-" else value * scale


def read_number(word: object) -> Fraction:
    """Read an exact number: [sign] decimal [/ decimal]."""
    if not isinstance(word, str) or len(word) > 4100:
        raise Rejected("a number must be a string of moderate length")
    upper, slash, lower = (word[1:] if word[:1] in ("+", "-") else word).partition("/")
    value, divisor = _decimal(upper), _decimal(lower) if slash else Fraction(1)
    if not divisor:
        raise Rejected("a number has the denominator zero")
    return -value / divisor if word[0] == "-" else value / divisor


def read_term(source: object, names: Mapping[str, Term]) -> Term:
    """Read an expression over the given names, each node exactly as it is written."""
    if not isinstance(source, str) or len(source) > MAX_EXPRESSION or not set(source) <= _CHARACTERS:
        raise Rejected(f"an expression must be at most {MAX_EXPRESSION} ASCII characters of the grammar")
    try:
        tree = ast.parse(source.strip(" "), mode="eval").body
    except (SyntaxError, ValueError) as problem:
        raise Rejected("an expression does not follow the grammar") from problem
    term = _Reader(source.strip(" "), names).read(tree, MAX_DEPTH)
    if len(postorder(term)) > MAX_EXPRESSION_NODES:
        raise Rejected("an expression is too large")
    return term


class _Reader:
    def __init__(self, source: str, names: Mapping[str, Term]) -> None:
        self.source, self.names = source, {**names, "pi": make("pi")}

    def read(self, node: ast.expr, depth: int) -> Term:
        if depth == 0:
            raise Rejected("an expression is nested too deeply")
        chain: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp):  # long sums are deep on the left: no recursion there
            chain.append(node)
            node = node.left
        result = self.leaf(node, depth - 1)
        for link in reversed(chain):
            result = self.binary(link.op, result, self.read(link.right, depth - 1))
        return result

    def binary(self, operator: ast.operator, a: Term, b: Term) -> Term:
        if isinstance(operator, ast.Add | ast.Sub):
            return make("add", a, -b if isinstance(operator, ast.Sub) else b)
        if isinstance(operator, ast.Mult | ast.Div):
            return make("mul" if isinstance(operator, ast.Mult) else "div", a, b)
        if isinstance(operator, ast.Pow):
            return a**b
        raise Rejected("an operator does not belong to the grammar")

    def leaf(self, node: ast.expr, depth: int) -> Term:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
            argument = self.read(node.operand, depth)
            return -argument if isinstance(node.op, ast.USub) else argument
        if isinstance(node, ast.Constant):  # read the digits that are written, not the binary float that Python made of them
            return num(_decimal(self.source[node.col_offset : node.end_col_offset]))
        if isinstance(node, ast.Name) and node.id in self.names:
            return self.names[node.id]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords and node.args:
            return self.call(node.func.id, node.args, depth)
        raise Rejected(f"{self.source[node.col_offset : node.end_col_offset][:40]!r} does not belong to the grammar or is not known here")

    def call(self, name: str, nodes: list[ast.expr], depth: int) -> Term:
        if name == "Piecewise":
            return self.piecewise(nodes, depth)
        args = [self.read(node, depth) for node in nodes]
        if name in _SEVERAL_ARGUMENTS and len(args) >= 2:
            sign = num(_SEVERAL_ARGUMENTS[name])
            result = sign * args[0]
            for other in args[1:]:
                result = make("max", result, sign * other)
            return sign * result
        if len(args) == 1 and name in _ONE_ARGUMENT:
            return make(_ONE_ARGUMENT[name], args[0])
        if len(args) == 1 and name == "sqrt":
            return args[0] ** num(Fraction(1, 2))
        if len(args) == 1 and name == "tan":
            return make("sin", args[0]) / make("cos", args[0])
        raise Rejected(f"{name[:40]} is not a function of {len(args)} arguments")

    def piecewise(self, nodes: list[ast.expr], depth: int) -> Term:
        args, comparisons = list[Term](), list[str]()
        for i, pair in enumerate(nodes):
            if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
                raise Rejected("Piecewise takes pairs (value, condition)")
            value, condition = pair.elts
            args.append(self.read(value, depth))
            if i == len(nodes) - 1 and isinstance(condition, ast.Constant) and condition.value is True:
                return make("piecewise", *args, value=tuple(comparisons))
            if not isinstance(condition, ast.Compare) or len(condition.ops) != 1 or type(condition.ops[0]) not in _COMPARISONS:
                raise Rejected("a condition must be one comparison < <= > >=")
            comparisons.append(_COMPARISONS[type(condition.ops[0])])
            args.extend(self.read(side, depth) for side in (condition.left, condition.comparators[0]))
        raise Rejected("the last condition of a Piecewise must be True")


def variables(names: Mapping[str, object]) -> dict[str, Term]:
    """Return the variables of these names."""
    return {v: var(v) for v in names}
