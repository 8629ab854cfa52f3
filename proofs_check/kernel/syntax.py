"""Reading: JSON text, exact numbers, identifiers, and the profile grammar. Nothing here is ever evaluated as Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction

from .errors import Rejected
from .terms import Term, apply, divide, make, negate, num, postorder, power

MAX_TEXT, MAX_EXPRESSION, MAX_DEPTH, MAX_EXPRESSION_NODES = 5_000_000, 20_000, 200, 5_000
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_DIGITS = frozenset("0123456789")
_ONE_ARGUMENT = {"exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "Abs": "abs", "abs": "abs"}
_TWO_ARGUMENTS = {"Min": "min", "min": "min", "Max": "max", "max": "max"}
RESERVED = frozenset({*_ONE_ARGUMENT, *_TWO_ARGUMENTS, "sqrt", "tan", "Piecewise", "True", "False", "w", "pi"})
_COMPARISONS = ("<=", ">=", "<", ">")
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object whose keys are distinct."""
    if len(dict(pairs)) != len(pairs):
        raise Rejected("a JSON object has the same key twice")
    return dict(pairs)


def _not_a_number(literal: str) -> object:
    """No JSON literal but a short integer: exact numbers are strings."""
    raise Rejected(f"{literal[:20]} is not allowed: numbers are strings")


def _integer(literal: str) -> object:
    """A short JSON integer."""
    return int(literal) if len(literal) <= 20 else _not_a_number(literal)


def read_json(document: str) -> object:
    """The JSON value of a text of bounded size, with distinct keys and without binary floats."""
    if len(document) > MAX_TEXT:
        raise Rejected("the text is too long")
    return json.loads(
        document, object_pairs_hook=_pairs, parse_constant=_not_a_number, parse_float=_not_a_number, parse_int=_integer
    )


def read_name(word: object) -> str:
    """An ASCII identifier that is not reserved."""
    if not isinstance(word, str) or not word or len(word) > 100 or word[0] in _DIGITS or not set(word) <= _LETTERS | _DIGITS:
        raise Rejected("a name must be an ASCII identifier")
    if word in RESERVED:
        raise Rejected(f"the name {word} is reserved")
    return word


def _decimal(word: str) -> Fraction:
    """An unsigned decimal with optional fraction and exponent, digit by digit."""
    mantissa, marker, tail = word.replace("E", "e").partition("e")
    whole, point, digits = mantissa.partition(".")
    sign, exponent = (tail[0], tail[1:]) if tail[:1] in ("+", "-") else ("+", tail)
    fine = set(whole + digits + exponent) <= _DIGITS and whole + digits and bool(marker) == bool(exponent)
    if not fine or len(whole + digits) > 2000 or len(exponent) > 6 or int(exponent or "0") > 10_000:
        raise Rejected(f"{word[:40]!r} is not an exact number of moderate size")
    value = Fraction(int(whole + digits), 10 ** len(digits))
    scale = 10 ** int(exponent or "0")
    return value * scale if sign == "+" else value / scale


def read_number(word: object) -> Fraction:
    """An exact number: [sign] decimal [/ decimal]."""
    if not isinstance(word, str) or len(word) > 4100:
        raise Rejected("a number must be a string of moderate length")
    body = word.strip(" ")
    negative, body = body[:1] == "-", body[1:] if body[:1] in ("+", "-") else body
    upper, slash, lower = body.partition("/")
    value, divisor = _decimal(upper), _decimal(lower) if slash else Fraction(1)
    if not divisor:
        raise Rejected("a number has the denominator zero")
    return -value / divisor if negative else value / divisor


def _tokens(source: str) -> list[str]:
    """Numbers, names and operators; anything else is rejected."""
    tokens, i = [], 0
    while i < len(source):
        c, start = source[i], i
        if c in " \t\r\n":
            i += 1
            continue
        if c in _DIGITS or (c == "." and source[i + 1 : i + 2] in _DIGITS):
            while i < len(source) and (source[i] in _DIGITS or source[i] == "."):
                i += 1
            if source[i : i + 1] in ("e", "E"):
                i += 2 if source[i + 1 : i + 2] in ("+", "-") else 1
                while i < len(source) and source[i] in _DIGITS:
                    i += 1
        elif c in _LETTERS:
            while i < len(source) and source[i] in _LETTERS | _DIGITS:
                i += 1
        elif source[i : i + 2] in ("**", "<=", ">="):
            i += 2
        elif c in "+-*/(),<>":
            i += 1
        else:
            raise Rejected(f"unexpected character {c!r}")
        tokens.append(source[start:i])
    return tokens


class _Parser:
    """Precedence climbing with Python's precedences: + - below * / below unary + - below ** (to the right)."""

    def __init__(self, tokens: list[str], names: Mapping[str, Term]) -> None:
        self.tokens, self.names, self.i, self.depth = [*tokens, ""], names, 0, 0

    def take(self, *expected: str) -> str:
        """The next token, which must be one of those expected (if any are given)."""
        token = self.tokens[self.i]
        if not token or (expected and token not in expected):
            raise Rejected(f"expected {' or '.join(expected) or 'an expression'}, found {token[:40] or 'the end'}")
        self.i += 1
        return token

    def expression(self, level: int) -> Term:
        """An expression whose binary operators bind at least as tightly as level."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Rejected("an expression is nested too deeply")
        token = self.take()
        if token in ("+", "-"):
            left = self.expression(3)
            left = negate(left) if token == "-" else left
        elif token == "(":
            left = self.expression(1)
            self.take(")")
        elif token[0] in _DIGITS or token[0] == ".":
            left = num(_decimal(token))
        elif token[0] in _LETTERS:
            left = self.word(token)
        else:
            raise Rejected(f"unexpected {token}")
        while _LEVELS.get(self.tokens[self.i], 0) >= level:
            operator = self.take()
            right = self.expression(3 if operator == "**" else _LEVELS[operator] + 1)
            left = _binary(operator, left, right)
        self.depth -= 1
        return left

    def word(self, name: str) -> Term:
        """A name, or a call of a known function."""
        if self.tokens[self.i] != "(":
            if name == "pi":
                return make("pi")
            if name not in self.names:
                raise Rejected(f"the name {name[:40]} is not known here")
            return self.names[name]
        self.take("(")
        if name == "Piecewise":
            return self.piecewise()
        args = [self.expression(1)]
        while self.take(",", ")") == ",":
            args.append(self.expression(1))
        return _call(name, args)

    def piecewise(self) -> Term:
        """(value, condition), ..., (value, True))"""
        args: list[Term] = []
        comparisons: list[str] = []
        while True:
            self.take("(")
            args.append(self.expression(1))
            self.take(",")
            if self.tokens[self.i] == "True":
                self.i += 1
                self.take(")")
                self.take(")")
                return make("piecewise", tuple(args), tuple(comparisons))
            args.append(self.expression(1))
            comparisons.append(self.take(*_COMPARISONS))
            args.append(self.expression(1))
            self.take(")")
            self.take(",")


def _binary(operator: str, a: Term, b: Term) -> Term:
    """a operator b, kept as it is written: definedness is judged on what was written."""
    if operator == "**":
        return power(a, b)
    if operator == "/":
        return divide(a, b)
    return make("mul" if operator == "*" else "add", (a, negate(b) if operator == "-" else b))


def _call(name: str, args: list[Term]) -> Term:
    """A function of the grammar with the number of arguments that it takes."""
    if name in _TWO_ARGUMENTS and len(args) >= 2:
        result = args[0]
        for other in args[1:]:
            result = make(_TWO_ARGUMENTS[name], (result, other))
        return result
    if len(args) == 1 and name in _ONE_ARGUMENT:
        return apply(_ONE_ARGUMENT[name], args[0])
    if len(args) == 1 and name == "sqrt":
        return power(args[0], num(Fraction(1, 2)))
    if len(args) == 1 and name == "tan":
        return divide(apply("sin", args[0]), apply("cos", args[0]))
    raise Rejected(f"{name[:40]} is not a function of {len(args)} arguments")


def read_term(source: object, names: Mapping[str, Term]) -> Term:
    """The term of an expression over the given names."""
    if not isinstance(source, str) or len(source) > MAX_EXPRESSION:
        raise Rejected(f"an expression must be a string of at most {MAX_EXPRESSION} characters")
    parser = _Parser(_tokens(source), names)
    term = parser.expression(1)
    if parser.tokens[parser.i]:
        raise Rejected(f"unexpected {parser.tokens[parser.i][:40]} after the expression")
    if len(postorder(term)) > MAX_EXPRESSION_NODES:
        raise Rejected("an expression is too large")
    return term

