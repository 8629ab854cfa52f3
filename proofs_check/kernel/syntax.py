"""Reading: JSON text, its fields, exact numbers, and the profile grammar. Nothing here is ever evaluated as Python."""

import ast
import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial, reduce

from .terms import Rejected, Term, make, num, postorder, power, require, var

_MAX_DEPTH, _MAX_ITEMS = 200, 1_000
_EXPRESSION, _NAME = re.compile(r"[A-Za-z0-9_ .,+\-*/()<>=]{0,100000}"), re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_DECIMAL = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?([0-9]{1,6}))?")
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_OPERATORS: dict[type, Callable[[Term, Term], Term]] = {  # each as it is written: 0*a is defined only where a is
    ast.Add: partial(make, "add"),
    ast.Sub: lambda a, b: make("add", a, -b),
    ast.Mult: partial(make, "mul"),
    ast.Div: lambda a, b: make("mul", a, power(b, -1)),
    ast.Pow: partial(make, "pow"),
}
_FUNCTIONS: dict[str, Callable[[Term], Term]] = {
    **{name: partial(make, name.lower()) for name in ("exp", "log", "sin", "cos", "abs", "Abs")},
    "sqrt": lambda a: power(a, Fraction(1, 2)),
    "tan": lambda a: make("mul", make("sin", a), power(make("cos", a), -1)),
    "tanh": lambda a: make("add", make("mul", num(2), power(make("add", num(1), _exp_of(-2, a)), -1)), num(-1)),
    "sinh": lambda a: make("mul", num(Fraction(1, 2)), make("add", _exp_of(1, a), -_exp_of(-1, a))),
    "cosh": lambda a: make("mul", num(Fraction(1, 2)), make("add", _exp_of(1, a), _exp_of(-1, a))),
    "floor": lambda a: -make("ceiling", -a),
    "ceiling": partial(make, "ceiling"),
    "ceil": partial(make, "ceiling"),
}


def _exp_of(factor: int, a: Term) -> Term:
    return make("exp", make("mul", num(factor), a))


_EXTREMA = {"Max": 1, "max": 1, "Min": -1, "min": -1}
_RESERVED = {*_FUNCTIONS, *_EXTREMA, "Piecewise", "True", "False", "None", "w", "pi"}


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    require(len(dict(pairs)) == len(pairs), "a JSON object has the same key twice")
    return dict(pairs)


def _literal(word: str) -> int:
    require(re.fullmatch("-?[0-9]{1,19}", word), f"{word[:20]} is not allowed: exact numbers are strings")
    return int(word)


def read_json(document: str) -> object:
    """Read a JSON value of bounded size, with distinct keys and without binary floats."""
    require(len(document) <= 1_000_000, "the text is too long")
    return json.loads(document, object_pairs_hook=_pairs, parse_constant=_literal, parse_float=_literal, parse_int=_literal)


def read_fields(value: object, required: set[str] | None = None, optional: frozenset[str] = frozenset()) -> Mapping[str, object]:
    """Read a JSON object of moderate size; with exactly the required keys, if any, and possibly optional ones."""
    if not isinstance(value, dict) or len(value) > _MAX_ITEMS:
        raise Rejected("expected an object of moderate size")
    if required is not None and (
        not required <= value.keys() <= required | optional or any(value[key] is None for key in value.keys() - required)
    ):
        raise Rejected(f"missing, unknown or null fields: {', '.join(sorted((required ^ value.keys()) - optional))[:200]}")
    return value


def read_list(value: object, length: int | None = None) -> list[object]:
    """Read a JSON list of moderate or the given length."""
    if not isinstance(value, list) or len(value) > _MAX_ITEMS or length not in (None, len(value)):
        raise Rejected("expected a list of moderate length" if length is None else f"expected a list of {length}")
    return value


def read_integer(value: object, low: int, high: int) -> int:
    """Read a JSON integer within bounds; a boolean is not an integer."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Rejected(f"expected an integer from {low} to {high}")
    return value


def read_choice(value: object, yes: str, no: str) -> bool:
    """Read one of two words; whether it is the first."""
    require(value in (yes, no), f"expected {yes} or {no}")
    return value == yes


def read_name(word: object) -> str:
    """Read an ASCII identifier that is not reserved."""
    require(isinstance(word, str) and _NAME.fullmatch(word) and word not in _RESERVED, "a name is reserved or not an ASCII identifier")
    return str(word)


def _decimal(word: str) -> Fraction:
    match = _DECIMAL.fullmatch(word)
    if not match or len(match[1]) > 2000 + ("." in word) or int(match[3] or 0) > 10_000:
        raise Rejected(f"{word[:40]!r} is not an exact number of moderate size")
    return Fraction(word)


def read_number(word: object) -> Fraction:
    """Read an exact number: [sign] decimal [/ decimal]."""
    if not isinstance(word, str) or len(word) > 4100:
        raise Rejected("a number must be a string of moderate length")
    upper, slash, lower = (word[1:] if word[:1] in ("+", "-") else word).partition("/")
    value, divisor = _decimal(upper), _decimal(lower) if slash else Fraction(1)
    require(divisor, "a number has the denominator zero")
    return -value / divisor if word[0] == "-" else value / divisor


def variables(names: Mapping[str, object]) -> dict[str, Term]:
    """Return the variables of these names."""
    return {v: var(v) for v in names}


def read_term(source: object, names: Mapping[str, Term]) -> Term:
    """Read an expression over the given names, each node exactly as it is written."""
    if not isinstance(source, str) or not _EXPRESSION.fullmatch(source):
        raise Rejected("an expression must be at most 100000 characters of the grammar")
    try:
        tree = ast.parse(source.strip(" "), mode="eval").body
    except (SyntaxError, ValueError) as problem:
        raise Rejected("an expression does not follow the grammar") from problem
    term = _Reader(source.strip(" "), names).read(tree, _MAX_DEPTH)
    require(len(postorder(term)) <= 5_000, "an expression is too large")
    return term


class _Reader:
    def __init__(self, source: str, names: Mapping[str, Term]) -> None:
        self.source, self.names = source, {**names, "pi": make("pi")}

    def read(self, node: ast.expr, depth: int) -> Term:
        chain: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and depth:  # long sums are deep on the left: no recursion
            chain.append(node)
            node = node.left
        result = self.leaf(node, depth - 1)
        for link in reversed(chain):
            result = _OPERATORS[type(link.op)](result, self.read(link.right, depth - 1))
        return result

    def leaf(self, node: ast.expr, depth: int) -> Term:
        word = self.source[node.col_offset : node.end_col_offset]
        match node:
            case ast.Constant():  # the digits that are written, not the binary float that Python made of them
                return num(_decimal(word))
            case ast.Name() if node.id in self.names:
                return self.names[node.id]
            case ast.UnaryOp(op=ast.UAdd()) if depth > 0:
                return self.read(node.operand, depth)
            case ast.UnaryOp(op=ast.USub()) if depth > 0:
                return -self.read(node.operand, depth)
            case ast.Call(func=ast.Name(id="Piecewise"), keywords=[]) if depth > 0:
                return self.piecewise(node.args, depth)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS and depth > 0:
                return _FUNCTIONS[name](self.read(argument, depth))
            case ast.Call(func=ast.Name(id=name), args=[_, _, *_], keywords=[]) if name in _EXTREMA and depth > 0:
                sign = num(_EXTREMA[name])
                return sign * reduce(lambda a, b: make("max", a, b), [sign * self.read(a, depth) for a in node.args])
        raise Rejected(f"{word[:40]!r} does not belong to the grammar, is nested too deeply, or is not known here")

    def piecewise(self, pairs: list[ast.expr], depth: int) -> Term:
        args, comparisons = list[Term](), list[str]()
        for pair in pairs:
            value, condition = pair.elts if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else (pair, pair)
            args.append(self.read(value, depth))
            if pair is pairs[-1] and isinstance(condition, ast.Constant) and condition.value is True:
                return make("piecewise", *args, value=tuple(comparisons)) if comparisons else args[0]
            if not isinstance(condition, ast.Compare) or len(condition.ops) != 1 or type(condition.ops[0]) not in _COMPARISONS:
                break
            comparisons.append(_COMPARISONS[type(condition.ops[0])])
            args += [self.read(side, depth) for side in (condition.left, condition.comparators[0])]
        raise Rejected("Piecewise takes pairs (value, one comparison), the last one (value, True)")
