"""Terms to SymPy expressions and back.

SymPy is where users declare profiles and where formulas are simplified and printed; definedness is never decided on a SymPy
expression, because SymPy simplifies on construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

import sympy
from sympy.core.relational import Relational

from profiles.errors import InvalidExpression, InvalidNumber
from profiles.sympy_spelling import exact_float
from profiles.tables import Table, spell_out_table
from profiles.terms import Term, children, free_symbols, number, spell_out, symbol

MAX_BITS = 14_000  # Python prints integers of up to 4,300 digits
MAX_ROOT_BITS = 1_000  # SymPy factors what it takes a root of
MAX_CHOICES = 64  # SymPy compares the arguments of Min and Max pairwise

_TO_SYMPY: dict[str, Any] = {
    "exp": sympy.exp, "log": sympy.log, "sqrt": sympy.sqrt, "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan,
    "abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max, "floor": sympy.floor, "ceiling": sympy.ceiling,
}  # fmt: skip
_FROM_SYMPY: dict[Any, str] = {
    sympy.exp: "exp", sympy.log: "log", sympy.sin: "sin", sympy.cos: "cos", sympy.tan: "tan",
    sympy.Abs: "abs", sympy.Min: "min", sympy.Max: "max", sympy.floor: "floor", sympy.ceiling: "ceiling",
    sympy.tanh: "tanh", sympy.sinh: "sinh", sympy.cosh: "cosh",
}  # fmt: skip
_RELATIONS: dict[str, Any] = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge}


def to_rational(value: Fraction) -> sympy.Rational:
    """Return an exact fraction as a SymPy rational."""
    return sympy.Rational(value.numerator, value.denominator)


def to_sympy(term: Term, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """Return ``term`` as a SymPy expression over ``symbols`` (name → symbol or value), simplified as SymPy does on construction.

    Raises :class:`InvalidExpression` where SymPy meets an undefined constant (such as ``1/0`` or ``log(0)``).
    """
    if _count_choices(term) > MAX_CHOICES:
        raise InvalidExpression(
            f"the expression has more than {MAX_CHOICES} arguments of Min and Max, which is too many to compare; simplify it"
        )
    try:
        result = _convert(term, symbols)
        large = any(_bits(value) > MAX_BITS for value in result.atoms(sympy.Rational))
    except (ArithmeticError, ValueError, TypeError, RecursionError, MemoryError):
        raise InvalidExpression(
            "the expression cannot be put together (its constants are too large or not comparable); simplify it"
        ) from None
    if large:
        raise _too_long()
    if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I):
        raise InvalidExpression("the expression is undefined or not real where its constants are put together; check it")
    return result


def _convert(term: Term, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    term = spell_out(term)
    head = term[0]
    if head == "num":
        return to_rational(term[1])
    if head == "sym":
        return symbols[term[1]]
    if head == "pi":
        return sympy.pi
    if head == "table":
        if "w" in free_symbols(term[2]):  # its lines matter where ε is differentiated
            return _convert(spell_out_table(term), symbols)
        return table_function(term[1])(_convert(term[2], symbols))
    if head == "piecewise":
        return sympy.Piecewise(*((_convert(value, symbols), _condition(condition, symbols)) for value, condition in term[1:]))
    arguments = [_convert(part, symbols) for part in term[1:]]
    if head == "add":
        return sympy.Add(*arguments)
    if head == "mul":
        return sympy.Mul(*arguments)
    if head == "neg":
        return -arguments[0]
    if head == "div":
        return arguments[0] / arguments[1]
    if head == "pow":
        limit_power(*arguments)
        return arguments[0] ** arguments[1]
    if head == "sqrt":
        limit_power(arguments[0], sympy.Rational(1, 2))
    if head == "exp":
        limit_exp(arguments[0])
    return _TO_SYMPY[head](*arguments)


class TableFunction(sympy.Function):  # type: ignore[misc]
    """A table as an opaque function of SymPy: one class a table, so that hundreds of lines are one node. It has no derivative here."""

    table: Table
    nargs = 1
    is_real = True

    @classmethod
    def eval(cls, argument: Any) -> Any:
        """Return the exact value at a rational number."""
        if argument.is_Rational:
            return to_rational(cls.table.value(Fraction(int(argument.p), int(argument.q))))
        return None


@lru_cache(maxsize=256)
def table_function(table: Table) -> type[TableFunction]:
    """Return the SymPy function of a table."""
    least = min(y for _, y in table.points)
    signs = {"is_nonnegative": True} if least >= 0 and not table.continues else {}
    return type(f"{table.name}", (TableFunction,), {"table": table, **signs})


def _count_choices(term: Term) -> int:
    total, stack = 0, [term]
    while stack:
        current = stack.pop()
        total += len(current) - 1 if current[0] in ("min", "max") else 0
        stack.extend(children(current))
    return total


def limit_power(base: Any, exponent: Any) -> None:
    """Refuse a power whose numbers SymPy would multiply out (integer exponent) or factor (any other) for minutes."""
    if not exponent.is_Rational:
        return
    bits = _bits(base.as_coeff_Mul()[0])
    if not exponent.is_Integer:
        bits = max([bits, *map(_bits, base.atoms(sympy.Rational))])
    if abs(exponent) * bits > MAX_BITS or (not exponent.is_Integer and bits > MAX_ROOT_BITS):
        raise _too_long()


def limit_exp(argument: Any) -> None:
    """Refuse exp(c·log a) where SymPy would compute a huge a**c."""
    for part in sympy.Add.make_args(argument):
        coefficient = part.as_coeff_Mul()[0]
        for logarithm in part.atoms(sympy.log):
            limit_power(logarithm.args[0], coefficient)


def _bits(value: Any) -> int:
    if not value.is_Rational or value in (-1, 0, 1):
        return 0
    return max(int(value.p).bit_length(), int(value.q).bit_length())


def _too_long() -> InvalidExpression:
    return InvalidExpression("the expression contains a power or a number with too many digits; use shorter numbers")


def _condition(condition: Term, symbols: Mapping[str, sympy.Expr]) -> Any:
    if condition[0] == "true":
        return sympy.true
    return _RELATIONS[condition[0]](_convert(condition[1], symbols), _convert(condition[2], symbols))


def from_sympy(expression: object) -> Term:
    """Return a SymPy expression (or a number) as a term; SymPy floats stand for their exact binary value.

    Raises :class:`InvalidExpression` for functions outside the grammar.
    """
    try:
        return _term(sympy.sympify(expression, strict=True))
    except RecursionError:
        raise InvalidExpression("the expression is nested too deeply; flatten it") from None
    except (sympy.SympifyError, TypeError, AttributeError):
        raise InvalidExpression(
            f"a SymPy expression was expected, but an object of type {type(expression).__name__} was found; declare ε with sympy symbols"
        ) from None


def _term(node: Any) -> Term:
    if node.is_Rational:
        return number(Fraction(int(node.p), int(node.q)))
    if node.is_Float:
        return number(_exact(node))
    if node is sympy.pi:
        return ("pi",)
    if node is sympy.E:
        return ("exp", number(1))
    if node.is_Symbol:
        return symbol(node.name)
    if node.is_Add:
        ordered = sorted(node.args, key=sympy.default_sort_key)  # as_ordered_terms would evaluate constants, at any cost
        return _sum([_term(part) for part in ordered])
    if node.is_Mul:
        return _product(node)
    if node.is_Pow:
        return _power(node)
    if isinstance(node, sympy.Piecewise):
        return _piecewise(node)
    if isinstance(node, TableFunction):
        return ("table", node.table, _term(node.args[0]))
    head = _FROM_SYMPY.get(node.func)
    if head is None:
        raise InvalidExpression(
            f"the expression contains {str(node)[:60]!r}, which is outside the profile grammar; use + - * / **, exp, log, sqrt, "
            "Abs, Min, Max, Piecewise, floor, ceiling, hyperbolic and trigonometric functions"
        )
    return (head, *(_term(part) for part in node.args))


def _exact(value: Any) -> Fraction:
    try:
        return exact_float(value, "a float of the expression")
    except InvalidNumber as error:
        raise InvalidExpression(str(error)) from None


def _sum(parts: list[Term]) -> Term:
    return reduce(lambda left, right: ("add", left, right), parts)


def _product(node: Any) -> Term:
    """Return a product as numerator over denominator, with a leading minus sign for a negative coefficient."""
    coefficient, factors = node.as_coeff_mul()
    if coefficient.is_Float:
        coefficient = to_rational(_exact(coefficient))
    below = [factor for factor in factors if factor.is_Pow and factor.exp.is_Rational and factor.exp < 0 and factor.base is not sympy.E]
    above = [_term(factor) for factor in sympy.Mul(*(f for f in factors if f not in below)).as_ordered_factors() if factor != 1]
    under = [_term(1 / factor) for factor in below]
    if abs(coefficient.p) != 1:
        above.insert(0, number(abs(int(coefficient.p))))
    if coefficient.q != 1:
        under.insert(0, number(int(coefficient.q)))
    top = _multiply(above)
    magnitude = ("div", top, _multiply(under)) if under else top
    return ("neg", magnitude) if coefficient < 0 else magnitude


def _multiply(parts: list[Term]) -> Term:
    return reduce(lambda left, right: ("mul", left, right), parts) if parts else number(1)


def _power(node: Any) -> Term:
    base, exponent = node.base, node.exp
    if base is sympy.E:
        return ("exp", _term(exponent))
    if exponent == sympy.Rational(1, 2):
        return ("sqrt", _term(base))
    if exponent.is_Rational and exponent < 0:
        return ("div", number(1), _term(base) if exponent == -1 else _power_of(base, -exponent))
    return _power_of(base, exponent)


def _power_of(base: Any, exponent: Any) -> Term:
    if exponent == sympy.Rational(1, 2):
        return ("sqrt", _term(base))
    return ("pow", _term(base), _term(exponent))


def single_branches(node: Any) -> list[tuple[Any, Any]]:
    """Return the values and conditions of a Piecewise. SymPy joins neighbors with one value: (v, a or b) is (v, a), (v, b) here."""
    pairs = [(value, condition.args if isinstance(condition, sympy.Or) else (condition,)) for value, condition in node.args]
    return [(value, each) for value, conditions in pairs for each in conditions]


def _piecewise(node: Any) -> Term:
    branches: list[tuple[Term, Term]] = []
    for value, condition in single_branches(node):
        if condition == sympy.true:
            branches.append((_term(value), ("true",)))
        elif isinstance(condition, Relational) and condition.rel_op in _RELATIONS:
            branches.append((_term(value), (condition.rel_op, _term(condition.lhs), _term(condition.rhs))))
        else:
            raise InvalidExpression(
                f"a Piecewise condition {str(condition)[:60]!r} was found; use single comparisons < <= > >= and a last True"
            )
    if branches[-1][1] != ("true",):
        raise InvalidExpression("a Piecewise without a last condition True was found; add (value, True) so that ε is defined everywhere")
    return ("piecewise", *branches)
