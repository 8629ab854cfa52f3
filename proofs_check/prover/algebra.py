"""The one door to SymPy's algebra: each call is bounded before it is made, by the size of what goes in and of what may come out.

Claim: no function here takes memory or time out of proportion to the bounds of :mod:`proofs_check.prover.sizes`, whatever the expression.
Powers with long exponents are taken as symbols of their own, sums of many terms are not multiplied out, and what is too large stays as
it is. Everything is charged to the search (:func:`proofs_check.prover.effort.spend`), by its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import sympy

from profiles.errors import InvalidExpression
from profiles.symbolic import limit_exp, limit_power
from proofs_check.prover.effort import spend
from proofs_check.prover.sizes import (
    LARGEST,
    LARGEST_FACTORED,
    MAX_FACTORED,
    MAX_TERMS,
    count_terms,
    count_terms_of_fraction,
    has_long_ratios,
    has_towers,
    high_powers,
    is_modest,
    is_small,
    limit_polynomial,
    limit_size,
    shelter,
    size,
)

#: What a step on one node of an expression costs: one that rebuilds it, differentiates it, multiplies out, factors, and gathers powers.
REBUILD, DIFFERENTIATE, MULTIPLY, FACTOR, GATHER = 10, 30, 40, 100, 400


def _count(step: int, expression: sympy.Expr) -> None:
    """Count a step on each node of an expression as work of the search."""
    spend(step * size(expression))


def _count_limited(step: int, expression: sympy.Expr) -> None:
    """Count the same for an expression that may be long. Raises :class:`InvalidExpression` where it is too large."""
    limit_size(expression)
    _count(step, expression)


def tidy(expression: sympy.Expr) -> sympy.Expr:
    """Return a factored form of a small rational function, if that is not longer (a sum of squares would be lost); else as it is."""
    plain, back = shelter(expression)
    if not is_small(plain) or plain.has(sympy.Function) or not plain.is_rational_function(*plain.free_symbols):
        return expression
    product = _factor(plain)
    return product.xreplace(back) if product.count_ops() <= plain.count_ops() else expression


def expand(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression multiplied out, or as it is where that might explode."""
    if not is_small(expression):
        return expression
    _count(MULTIPLY, expression)
    return _expand(expression)


@lru_cache(maxsize=4096)
def _expand(expression: sympy.Expr) -> sympy.Expr:
    return sympy.expand(expression) if count_terms(expression) <= MAX_TERMS else expression


def expand_plainly(expression: sympy.Expr, *, powers: bool = True, largest: int = LARGEST) -> sympy.Expr:
    """Return the expression multiplied out but for logarithms, and for sums in exponents unless ``powers``; or as it is.

    So it stays with a number above ``largest``.
    """
    if not is_small(expression, largest):
        return expression
    _count(MULTIPLY, expression)
    return sympy.expand(expression, log=False, power_exp=powers) if count_terms(expression) <= MAX_TERMS else expression


def gather_powers(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression with powers of one base or of one exponent put together; or as it is where it is large."""
    plain, back = shelter(expression)
    if not is_small(plain):
        return expression
    _count(GATHER, plain)
    return _gather(plain).xreplace(back)


@lru_cache(maxsize=4096)
def _gather(expression: sympy.Expr) -> sympy.Expr:
    return sympy.powsimp(expression)


def split_powers(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression with (a·b)**c as a**c·b**c and (a**b)**c as a**(b·c), which needs positive bases; or as it is."""
    if not is_small(expression):
        return expression
    _count(MULTIPLY, expression)
    return sympy.powdenest(sympy.expand_power_base(expression, force=True), force=True)


def over_one_denominator(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression as one fraction, or as it is where that is too much."""
    plain, back = shelter(expression)
    if not is_small(plain) or count_terms_of_fraction(plain) > MAX_TERMS:
        return expression
    _count(FACTOR, plain)
    return sympy.together(plain).xreplace(back)


def numerator_and_denominator(expression: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Return the two sides of the expression as one fraction, the second 1 where it could not be written as one."""
    top, bottom = sympy.fraction(over_one_denominator(expression))
    return top, bottom


def cancelled(expression: sympy.Expr) -> sympy.Expr | None:
    """Return a quotient with common factors divided out; None where it is too large for that."""
    plain, back = shelter(expression)
    if not is_modest(expression) or not is_small(plain) or count_terms_of_fraction(plain) > MAX_FACTORED:
        return None
    _count(FACTOR, plain)
    return sympy.cancel(plain).xreplace(back)


def derivative(expression: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Return the derivative. Raises :class:`InvalidExpression` where it, or the expression, is too large."""
    _count_limited(DIFFERENTIATE, expression)
    result = _diff(expression, symbol)
    limit_size(result)
    return result


@lru_cache(maxsize=4096)
def _diff(expression: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    return sympy.diff(expression, symbol)


def put_in(expression: sympy.Expr, values: Mapping[sympy.Symbol, Any]) -> sympy.Expr:
    """Return the expression with symbols replaced. Raises :class:`InvalidExpression` where a number would come out that is too long."""
    values = {symbol: sympy.sympify(value) for symbol, value in values.items() if symbol in expression.free_symbols}
    if not values:
        return expression
    _count_limited(REBUILD, expression)
    known: dict[sympy.Basic, sympy.Basic] = dict(values)

    def replaced(node: sympy.Basic) -> sympy.Basic:
        result = known.get(node)
        if result is None:
            result = node
            if node.args:
                new = [replaced(argument) for argument in node.args]
                if any(one is not other for one, other in zip(new, node.args, strict=True)):
                    if isinstance(node, sympy.Pow):
                        limit_power(*new)
                    elif isinstance(node, sympy.exp):
                        limit_exp(new[0])
                    result = node.func(*new)
            known[node] = result
        return result

    return replaced(expression)


def part_named(expression: sympy.Expr, part: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Return the expression with a symbol for a part of it, also for some of the summands or factors of one."""
    _count_limited(REBUILD, expression)
    return expression.subs(part, symbol)


def even_power_replaced(expression: sympy.Expr, symbol: sympy.Symbol, square: sympy.Expr) -> sympy.Expr:
    """Return a small polynomial multiplied out with an expression for the square of a symbol."""
    return expand(remainder(expression, symbol**2 - square, symbol))


def remainder(expression: sympy.Expr, modulus: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Return what is left of a small polynomial divided by another one. Raises :class:`InvalidExpression` where one is too large."""
    spend(FACTOR * (limit_polynomial(expression) + limit_polynomial(modulus)))
    return sympy.rem(sympy.expand(expression), modulus, symbol)


def quotient(expression: sympy.Expr, divisor: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Return a small polynomial divided by another one, without the remainder. Raises :class:`InvalidExpression` where one is too large."""
    spend(FACTOR * (limit_polynomial(expression) + limit_polynomial(divisor)))
    return sympy.quo(sympy.expand(expression), sympy.expand(divisor), symbol)


def inverse(expression: sympy.Expr, modulus: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Return p with p·expression = 1 up to multiples of the other polynomial, as a numerator.

    Raises :class:`InvalidExpression` where one is too large.
    """
    spend(10 * FACTOR * (limit_polynomial(expression) + limit_polynomial(modulus)))
    return numerator_and_denominator(sympy.gcdex(expression, modulus, symbol)[0])[0]


def prime_powers(number: sympy.Rational) -> list[tuple[sympy.Expr, int]]:
    """Return primes and exponents whose product is a positive rational number; the number itself where its primes may be hard to find."""
    if max(int(number.p), int(number.q)) > LARGEST_FACTORED:
        return [(number, 1)]
    spend(FACTOR)
    return [(sympy.Integer(prime), int(n)) for prime, n in sympy.factorrat(number).items()]


def approximate(number: sympy.Expr, digits: int) -> sympy.Expr:
    """Return a small number to some digits. Raises :class:`InvalidExpression` for one that may take any time."""
    limit_size(number)
    if has_towers(number):
        raise InvalidExpression("a number is too nested to be computed; simplify epsilon")
    _count(FACTOR, number)
    return sympy.N(number, digits)


def polynomial(expression: sympy.Expr, *symbols: sympy.Symbol) -> sympy.Poly | None:
    """Return a small expression as a polynomial in symbols, None where it is none."""
    if high_powers(expression) or not is_small(expression) or count_terms(expression) > MAX_TERMS or not expression.is_polynomial(*symbols):
        return None
    _count(MULTIPLY, expression)
    return sympy.Poly(expression, *symbols)


def vanishes(expression: sympy.Expr) -> bool:
    """Tell whether SymPy finds that the expression is 0; False says nothing, as for one that is too large to look at."""
    if expression == 0:
        return True
    plain, _ = shelter(expression)
    if not is_small(plain) or count_terms_of_fraction(plain) > MAX_TERMS:
        return False
    _count(FACTOR, plain)
    return bool(sympy.expand(plain) == 0) or (_seems_to_vanish(plain) and bool(sympy.simplify(plain) == 0))


def _seems_to_vanish(expression: sympy.Expr) -> bool:
    """Tell whether the expression is about 0 at a few points: SymPy may take long over what is not."""
    symbols = sorted(expression.free_symbols, key=str)
    function: Callable[..., Any] = sympy.lambdify(symbols, expression, modules=["mpmath"])
    for place in (mpmath.mpf("0.37"), mpmath.mpf("1.93")):
        with mpmath.workdps(40):
            try:
                value = function(*(place + mpmath.mpf(index) / 7 for index in range(len(symbols))))
                if abs(value) > mpmath.mpf(10) ** -20:
                    return False
            except (ArithmeticError, ValueError, TypeError):
                continue
    return True


def _factor(expression: sympy.Expr) -> sympy.Expr:
    """Return a small rational function factored, or as it is."""
    terms = count_terms_of_fraction(expression)
    if terms > MAX_FACTORED or has_long_ratios(expression):
        return expression
    spend(FACTOR * (size(expression) + terms))
    return _factor_at_once(expression)


@lru_cache(maxsize=4096)
def _factor_at_once(expression: sympy.Expr) -> sympy.Expr:
    return sympy.factor(expression)


def factored(expression: sympy.Expr) -> sympy.Expr | None:
    """Return a small rational function of symbols and atoms as a product of several factors or of powers, None where it is not one."""
    if not is_modest(expression):
        return None
    _count(MULTIPLY, shelter(expression)[0])
    rational, back = _as_rational_function(expression)
    if not is_small(rational) or rational.has(sympy.Function) or not rational.is_rational_function(*rational.free_symbols):
        return None
    product = _factor(rational)
    while any(symbol in back for symbol in product.free_symbols):
        product = product.xreplace(back)
    return product if product.is_Mul or product.is_Pow else None


@lru_cache(maxsize=4096)
def _as_rational_function(expression: sympy.Expr) -> tuple[sympy.Expr, Mapping[sympy.Symbol, sympy.Expr]]:
    """Return the expression with symbols for its atoms, the same ones each time, and what they stand for."""
    plain, sheltered = shelter(expression)
    rational, back = sympy.expand_power_exp(sympy.powsimp(plain)), dict(sheltered)
    for index, atom in enumerate(transcendental_atoms(rational)):
        fresh = sympy.Dummy(f"a{index}", positive=True)
        rational, back[fresh] = with_atom_replaced(rational, atom, fresh), atom
    return rational, back


def transcendental_atoms(expression: sympy.Expr) -> list[sympy.Expr]:
    """Return powers, roots, exponentials and logarithms, with primitive exponents: x**p for x**(3*p), exp(m) for exp(2*m)."""
    atoms: dict[sympy.Expr, None] = {}
    for node in sorted(expression.atoms(sympy.Pow, sympy.exp, sympy.log), key=sympy.default_sort_key):
        if isinstance(node, sympy.log):
            atoms[node] = None
        elif not node.free_symbols:
            continue
        elif isinstance(node, sympy.exp):
            atoms[sympy.exp(_primitive(node.args[0]))] = None
        elif node.exp.free_symbols:
            atoms[node.base ** _primitive(node.exp)] = None
        elif node.exp.is_Rational and node.exp.q > 1 and node.free_symbols:
            atoms[node.base ** sympy.Rational(1, node.exp.q)] = None
    return list(atoms)


def _primitive(exponent: sympy.Expr) -> sympy.Expr:
    return exponent.as_coeff_Mul()[1]


def with_atom_replaced(expression: sympy.Expr, atom: sympy.Expr, fresh: sympy.Symbol) -> sympy.Expr:
    """Return the expression with whole powers of an atom replaced by powers of a symbol."""

    def power_of(node: sympy.Expr) -> sympy.Expr | None:
        if isinstance(node, sympy.log) or isinstance(atom, sympy.log):
            return sympy.S.One if node == atom else None
        if isinstance(node, sympy.exp) and isinstance(atom, sympy.exp):
            ratio = node.args[0] / atom.args[0]
        elif node.is_Pow and not isinstance(atom, sympy.exp) and node.base == atom.base:
            ratio = node.exp / atom.exp
        else:
            return None
        return ratio if ratio.is_Integer else None

    mapping = {}
    for node in expression.atoms(sympy.Pow, sympy.exp, sympy.log):
        power = power_of(node)
        if power is not None:
            mapping[node] = fresh**power
    return expression.xreplace(mapping)


def quadratics(expression: sympy.Expr) -> Iterator[tuple[sympy.Expr, tuple[sympy.Expr, sympy.Expr, sympy.Expr]]]:
    """Yield (y, (a, b, c)) with the small expression = a y² + b y + c, y a variable or an atom that occurs to the powers 1 and 2 only."""
    if not is_small(expression):
        return
    summands = sympy.Add.make_args(expand(expression))
    for atom in sorted({base for summand in summands for base, _ in _factors(summand)}, key=sympy.default_sort_key):
        parts: dict[int, sympy.Expr] = {0: sympy.S.Zero, 1: sympy.S.Zero, 2: sympy.S.Zero}
        for summand in summands:
            power = sum((exponent for base, exponent in _factors(summand) if base == atom), sympy.S.Zero)
            rest = summand / atom**power
            if power not in parts or any(symbol in rest.free_symbols for symbol in atom.free_symbols & atom.atoms(sympy.Symbol)):
                break
            parts[int(power)] += rest
        else:
            if parts[2] != 0 and parts[1] != 0:
                yield atom, (parts[2], parts[1], parts[0])


def _factors(summand: sympy.Expr) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    return (part.as_base_exp() for part in sympy.Mul.make_args(summand) if part.free_symbols)


def rational_roots(expression: sympy.Expr, symbol: sympy.Symbol) -> list[Fraction]:
    """Return the rational zeros of the numerator of a small rational function of one symbol; nothing for other expressions."""
    if expression.free_symbols != {symbol} or not is_small(expression) or expression.has(sympy.Function):
        return []
    if not expression.is_rational_function(symbol):
        return []
    numerator = polynomial(numerator_and_denominator(expression)[0], symbol)
    if numerator is None or numerator.is_zero or not all(coefficient.is_Rational for coefficient in numerator.all_coeffs()):
        return []
    return sorted(Fraction(int(root.p), int(root.q)) for root in numerator.ground_roots())


def critical_centres(expression: sympy.Expr, symbol: sympy.Symbol, degree: int) -> Iterator[Fraction]:
    """Yield numbers around which an expression may have narrow bumps or dips in one symbol; none for one that is not modest.

    They are zeros and extrema, rational ones or else short numbers near them, of the polynomials with rational coefficients up to a degree,
    in that symbol alone, that are arguments of functions, bases of powers, denominators, or the whole.
    """
    for inner in _inner_expressions(expression, symbol) if is_modest(expression) else ():
        slope = polynomial(inner, symbol)
        if slope is not None and 1 <= slope.degree() <= degree and all(c.is_Rational for c in slope.all_coeffs()):
            for one in (slope, slope.diff()):
                yield from _real_roots(one)


def _inner_expressions(expression: sympy.Expr, symbol: sympy.Symbol) -> Iterator[sympy.Expr]:
    seen: set[sympy.Expr] = set()
    for node in (None, *sympy.preorder_traversal(expression)):
        inner = expression if node is None else node.args[0] if isinstance(node, (sympy.Pow, sympy.Function)) and node.args else None
        if isinstance(inner, sympy.Expr) and inner not in seen and inner.free_symbols == {symbol}:
            seen.add(inner)
            yield inner


def _real_roots(polynomial: sympy.Poly) -> list[Fraction]:
    if polynomial.degree() < 1:
        return []
    spend(FACTOR * 10 * polynomial.degree())
    exact = sorted(Fraction(int(root.p), int(root.q)) for root in polynomial.ground_roots())
    if exact:
        return exact
    try:
        roots = polynomial.nroots(n=15, maxsteps=30)
    except (sympy.polys.polyerrors.PolynomialError, mpmath.libmp.NoConvergence):
        return []
    return [Fraction(f"{float(root):.12g}") for root in roots if root.is_real]


def clearing_factor(expression: sympy.Expr, positive: Sequence[sympy.Symbol]) -> sympy.Expr | None:
    """Return exp(−g)·Π x^k ≠ 1 with g the exponent of the first exponential of a small expression, −k the least power of x; else None."""
    if not is_small(expression) or not expression.free_symbols or has_towers(expression):
        return None
    exponentials = sorted((node for node in expression.atoms(sympy.exp) if node.free_symbols), key=sympy.default_sort_key)
    factor = sympy.exp(-exponentials[0].args[0]) if exponentials else sympy.S.One
    cleared = gather_powers(expand(expression * factor))
    for symbol in positive:
        least = min((_power_of(symbol, summand) for summand in sympy.Add.make_args(cleared)), default=sympy.S.Zero)
        if least < 0:
            factor *= symbol**-least
    return None if factor == 1 else factor


def _power_of(symbol: sympy.Symbol, summand: sympy.Expr) -> sympy.Rational:
    powers = (part.as_base_exp() for part in sympy.Mul.make_args(summand))
    return sum((exponent for base, exponent in powers if base == symbol and exponent.is_Rational), sympy.S.Zero)


def is_algebraic(expression: sympy.Expr, symbol: sympy.Symbol) -> bool:
    """Tell whether a small expression is built from the symbol by arithmetic and rational powers only."""
    if not is_small(expression):
        return False
    for node in sympy.preorder_traversal(expression):
        if symbol not in node.free_symbols:
            continue
        if not (node.is_Add or node.is_Mul or node == symbol or (node.is_Pow and node.exp.is_Rational)):
            return False
    return True
