"""How large expressions are, and what algebra could make of them: measured before SymPy is asked for anything.

The danger is in numbers: to a polynomial w**1.4426950408889634, 2**(1/3 + 1e-16) or exp(1.0000001*w) is the millionth and more power of
some root, written out term by term. Such powers are found here (:func:`high_powers`) and taken as symbols of their own (:func:`shelter`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

import sympy

from profiles.errors import InvalidExpression

MAX_OPERATIONS = 300
#: Of a power, its exponent's numerator and denominator.
MAX_DEGREE = 24
#: Terms that a sum may have when it is multiplied out, and numerators may have before they are factored.
MAX_TERMS, MAX_FACTORED = 1500, 400
#: Of a coefficient of what is factored, after the content is divided out.
MAX_BITS = 256
#: Nodes of an expression that is differentiated or substituted in, and of a derivative.
MAX_SIZE = 20_000
#: The largest number in what is small.
LARGEST = 10**30
#: Numbers that are factored, and nodes of a polynomial that is divided.
LARGEST_FACTORED, MAX_DIVIDED = 10**12, 1500


@lru_cache(maxsize=4096)
def size(expression: sympy.Basic) -> int:
    """Return how many nodes an expression has, as it would be written, with long numbers counting more."""
    total, stack = 0, [expression]
    while stack:
        node = stack.pop()
        total += 1 + (max(int(node.p).bit_length(), int(node.q).bit_length()) // 64 if isinstance(node, sympy.Rational) else 0)
        stack.extend(node.args)
        if total > 4 * MAX_SIZE:
            break
    return total


def limit_size(expression: sympy.Expr) -> None:
    """Refuse an expression that is too large to be differentiated or substituted in. Raises :class:`InvalidExpression`."""
    if size(expression) > MAX_SIZE:
        raise InvalidExpression("an expression became too large (of more than 20,000 operations); simplify epsilon")


def limit_polynomial(expression: sympy.Expr) -> int:
    """Return the size of a polynomial. Raises :class:`InvalidExpression` where it is too large to be divided."""
    if size(expression) > MAX_DIVIDED or count_terms(expression) > MAX_TERMS or high_powers(expression):
        raise InvalidExpression("a number has too many roots in it to be compared by their conjugates; simplify epsilon")
    return size(expression)


@lru_cache(maxsize=4096)
def is_small(expression: sympy.Expr, largest: int = LARGEST) -> bool:
    """Tell whether an expression has few operations, no number above ``largest`` and no high power."""
    if size(expression) > 3 * MAX_OPERATIONS or expression.count_ops() > MAX_OPERATIONS:
        return False
    if any(number.is_Rational and abs(number) > largest for number in expression.atoms(sympy.Number)):
        return False
    powers = (abs(power.exp) for power in expression.atoms(sympy.Pow) if power.exp.is_Rational)
    return all(exponent <= MAX_DEGREE for exponent in powers)


def is_modest(expression: sympy.Expr) -> bool:
    """Tell whether an expression is small enough for symbolic steps, and free of towers of functions."""
    return is_small(expression) and not has_towers(expression)


def has_towers(expression: sympy.Expr) -> bool:
    """Tell whether functions of constants, waves of functions, or large numbers occur: SymPy may evaluate sin(exp(10**9)) at any cost."""
    nested = [node for node in expression.atoms(sympy.Function) if node.args[0].has(sympy.Function)]
    risky = any(not inner.free_symbols for node in nested for inner in node.args[0].atoms(sympy.Function))
    waves = any(node.has(sympy.sin, sympy.cos, sympy.tan) for node in nested)
    return risky or waves or any(number.is_Rational and abs(number) > 10**7 for number in expression.atoms(sympy.Number))


def has_long_ratios(expression: sympy.Expr) -> bool:
    """Tell whether coefficients are long beside each other, so that factoring looks for large primes: 1e-300*z - 1, not 1e-300*(z - 1)."""
    parts = (part.primitive()[1] for part in sympy.Mul.make_args(expression))
    longest = (max(abs(int(c.p)), int(c.q)).bit_length() for part in parts for c in part.atoms(sympy.Rational))
    return max(longest, default=0) > MAX_BITS


@lru_cache(maxsize=4096)
def shelter(expression: sympy.Expr) -> tuple[sympy.Expr, Mapping[sympy.Symbol, sympy.Expr]]:
    """Return the expression with a symbol for each power that would be a polynomial of a high degree, and what the symbols stand for.

    The same symbols for the same expression: what is computed from it and remembered is found again.
    """
    back: dict[sympy.Symbol, sympy.Expr] = {}
    for power in sorted(high_powers(expression), key=sympy.default_sort_key):
        fresh = sympy.Dummy(f"h{len(back)}", positive=True) if power.is_positive else sympy.Dummy(f"h{len(back)}", real=True)
        back[fresh] = power
    return (expression.xreplace({power: fresh for fresh, power in back.items()}) if back else expression), back


def high_powers(expression: sympy.Expr) -> set[sympy.Expr]:
    """Return the outermost powers and exponentials whose exponents have long numerators or denominators."""
    powers, stack = set[sympy.Expr](), [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, (sympy.Pow, sympy.exp)) and _is_high(node.exp):
            powers.add(node)
        else:
            stack.extend(node.args)
    return powers


def _is_high(exponent: sympy.Expr) -> bool:
    """Tell whether the rational factor of an exponent, or of a summand of it, has a long numerator or denominator."""
    coefficients = (part.as_coeff_Mul()[0] for part in sympy.Add.make_args(exponent))
    return any(c.is_Rational and max(abs(int(c.p)), int(c.q)) > MAX_DEGREE for c in coefficients)


def count_terms(expression: sympy.Basic) -> int:
    """Return a bound on the summands of the expression multiplied out, beyond ``MAX_TERMS`` any such number."""
    if expression.is_Add:
        return sum(count_terms(part) for part in expression.args)
    if expression.is_Mul:
        return math.prod(count_terms(part) for part in expression.args)
    if expression.is_Pow and expression.exp.is_Rational:
        inner, times = count_terms(expression.base), min(math.ceil(abs(expression.exp)), MAX_TERMS)
        if inner > MAX_TERMS:
            return inner
        return 1 if inner == 1 else math.comb(inner + times - 1, times)
    return max((1, *(count_terms(part) for part in expression.args if isinstance(part, sympy.Expr))))


def count_terms_of_fraction(expression: sympy.Expr) -> int:
    """Return a bound on the summands of the numerator over one denominator: each summand is multiplied by the other denominators.

    Of powers of one base, the common denominator has the highest.
    """
    if expression.is_Add:
        highest: dict[sympy.Expr, sympy.Expr] = {}
        for base, power in (d.as_base_exp() for part in expression.args for d in _denominators(part)):
            highest[base] = max(highest.get(base, power), power)
        below = math.prod(count_terms(base**power) for base, power in highest.items())
        return below * sum(count_terms_of_fraction(part) for part in expression.args)
    if expression.is_Mul:
        return math.prod(count_terms_of_fraction(part) for part in expression.args)
    if expression.is_Pow and expression.exp.is_Rational:
        inner, times = count_terms_of_fraction(expression.base), min(math.ceil(abs(expression.exp)), MAX_TERMS)
        return inner if inner == 1 or inner > MAX_TERMS else math.comb(inner + times - 1, times)
    return 1


def _denominators(summand: sympy.Expr) -> Iterator[sympy.Expr]:
    for part in sympy.Mul.make_args(summand):
        if part.is_Pow and part.exp.is_Rational and part.exp < 0:
            yield 1 / part
