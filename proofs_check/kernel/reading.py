"""Reading: names, exact numbers, and the profile grammar. Nothing here is ever evaluated as Python."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce

from .core.documents import Rejected, read_list, require
from .core.terms import Term, bits, make, num, pay, postorder, power, var
from .core.theorems import Range

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_DECIMAL = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?([0-9]{1,6}))?")
_WORD = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*|\*\*|[<>]=?|[-+*/(),]| +")
_SIGNS, _MOST_WAITING = {"+": "+ ", "-": "- "}, 400  # before an operand; what waits for one
_BINDING = {"(": 0, "<": 1, "<=": 1, ">": 1, ">=": 1, "+": 2, "-": 2, "*": 3, "/": 3, "+ ": 4, "- ": 4, "**": 5}
_OPERATORS: dict[str, Callable[[Term, Term], Term]] = {  # each as it is written: 0*a is defined only where a is
    "+": partial(make, "add"),
    "-": lambda a, b: make("add", a, -b),
    "*": partial(make, "mul"),
    "/": lambda a, b: make("mul", a, power(b, -1)),
    "**": partial(make, "pow"),
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


def read_name(word: object) -> str:
    """Read an ASCII identifier that is not reserved."""
    require(isinstance(word, str) and _NAME.fullmatch(word) and word not in _RESERVED, "a name is reserved or not an ASCII identifier")
    return str(word)


def _decimal(word: str) -> Fraction:
    match = _DECIMAL.fullmatch(word)
    if not match or len(match[1]) > 2000 + ("." in word) or int(match[3] or 0) > 10_000:
        raise Rejected(f"{word[:40]!a} is not an exact number of moderate size")
    return Fraction(Decimal(word))  # no limit that a process may change holds for a Decimal


def read_number(word: object) -> Fraction:
    """Read an exact number: [sign] decimal [/ decimal]."""
    if not isinstance(word, str) or len(word) > 4100:
        raise Rejected("a number must be a string of moderate length")
    upper, slash, lower = (word[1:] if word[:1] in ("+", "-") else word).partition("/")
    value, divisor = _decimal(upper), _decimal(lower) if slash else Fraction(1)
    require(divisor, "a number has the denominator zero")
    pay(1 + (bits(value) + bits(divisor)) // 200)
    return -value / divisor if word[0] == "-" else value / divisor


def read_range(ends: object) -> Range:
    """Read a closed range: two numbers."""
    lo, hi = map(read_number, read_list(ends, 2))
    return Range(lo, hi)


def variables(names: Mapping[str, object]) -> dict[str, Term]:
    """Return the variables of these names."""
    return {v: var(v) for v in names}


def read_term(source: object, names: Mapping[str, Term]) -> Term:
    """Read an expression over the given names, each node exactly as it is written."""
    if not isinstance(source, str) or len(source) > 100_000:
        raise Rejected("an expression must be a string of at most 100000 characters")
    pay(len(source) // 4)
    words = _WORD.findall(source)
    require(sum(map(len, words)) == len(source), "an expression has characters or numbers that are not of the grammar")
    term = _Reader({**names, "pi": make("pi")}).read(["(", *(word for word in words if word[0] != " "), ")"])
    require(len(postorder(term)) <= 5_000, "an expression is too large")
    return term


class _Reader:
    # What waits for an operand or a parenthesis is on a stack, each with the values there were: no recursion, for which interpreters have
    # more or less room. A value is a term, a comparison (sign, left, right), a list of what stood between parentheses, or True.
    def __init__(self, names: Mapping[str, Term]) -> None:
        self.names, self.values, self.waiting = names, list[object](), list[tuple[str, str, int]]()

    def read(self, words: list[str]) -> Term:
        called, complete = "", False
        for word, following in zip(words, [*words[1:], ""], strict=True):
            require(len(self.waiting) <= _MOST_WAITING, "an expression is nested too deeply")
            if complete:
                complete = self.join(word)
            elif word == "(" or word in _SIGNS:
                self.waiting.append((_SIGNS.get(word, word), called, len(self.values)))
                called = ""
            elif following == "(":
                called = word
            else:
                self.values.append(self.leaf(word))
                complete = True
        require(complete and not self.waiting, "an expression does not follow the grammar")
        return _term(self.values.pop())

    def leaf(self, word: str) -> object:
        if word[0].isdecimal() or word[0] == ".":
            number = _decimal(word)
            require(not number or word[0] != "0" or not word.isdecimal(), "a whole number starts with 0")
            return num(number)
        require(word in self.names or word == "True", f"{word[:40]} is not known here, or not an operand")
        return self.names.get(word, True)

    def join(self, word: str) -> bool:
        # after an operand; whether it is still complete after the word
        require(word in {",", ")"} or word in _BINDING.keys() - {"("}, f"an operator is expected before {word[:40]}")
        least = _BINDING.get(word, 0)
        while self.waiting and _BINDING[self.waiting[-1][0]] >= max(least + (word == "**"), 1):
            self.operate(self.waiting.pop()[0])
        require(self.waiting, "a parenthesis is not opened")
        if word == ")":
            _, called, start = self.waiting.pop()
            inside, self.values[start:] = self.values[start:], []
            self.values.append(self.call(called, inside) if called else inside[0] if len(inside) == 1 else inside)
        elif word != ",":
            self.waiting.append((word, "", 0))
        return word == ")"

    def operate(self, sign: str) -> None:
        right = _term(self.values.pop())
        if sign in _SIGNS.values():
            self.values.append(-right if sign == "- " else right)
        else:
            left = _term(self.values.pop())
            self.values.append(_OPERATORS[sign](left, right) if sign in _OPERATORS else (sign, left, right))

    def call(self, name: str, arguments: list[object]) -> Term:
        if name == "Piecewise":
            return _piecewise(arguments)
        terms = [_term(argument) for argument in arguments]
        if name in _EXTREMA and len(terms) > 1:
            sign = num(_EXTREMA[name])
            return sign * reduce(lambda a, b: make("max", a, b), [sign * term for term in terms])
        require(name in _FUNCTIONS and len(terms) == 1, f"{name[:40]} is not a function of the grammar, or not of so many arguments")
        return _FUNCTIONS[name](terms[0])


def _term(value: object) -> Term:
    if not isinstance(value, Term):
        raise Rejected("a comparison, a list or True stands where a number belongs")
    return value


def _piecewise(pairs: list[object]) -> Term:
    args, comparisons = list[Term](), list[str]()
    for i, pair in enumerate(pairs):
        value, condition = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        if condition is True and i == len(pairs) - 1:
            return make("piecewise", *args, _term(value), value=tuple(comparisons)) if comparisons else _term(value)
        if not isinstance(condition, tuple):
            break
        sign, left, right = condition
        comparisons.append(sign)
        args += [_term(value), left, right]
    raise Rejected("Piecewise takes pairs (value, one comparison), the last one (value, True)")
