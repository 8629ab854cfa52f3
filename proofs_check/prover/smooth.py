"""Abs, Min, Max and Piecewise in w: replaced where one branch is taken on a whole box or near a point, found out as kinks elsewhere.

So are jumps of floor and ceiling, which are never replaced.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import sympy
from sympy.core.relational import Relational

from profiles.errors import InvalidExpression
from profiles.symbolic import from_sympy, single_branches, to_rational
from profiles.variables import Variable
from proofs_check.prover.algebra import approximate, cancelled, derivative, expand, factored, put_in, rational_roots, vanishes
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import exact_numbers
from proofs_check.prover.points import candidates
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import prove


class Shows(Protocol):
    """Says whether a gap is known to be ≥ 0, or > 0 if ``strict``."""

    def __call__(self, gap: sympy.Expr, *, strict: bool = False) -> bool:
        """Tell whether it is known."""


_STEPPED = (sympy.floor, sympy.ceiling)
_KINKED = (sympy.Abs, sympy.Min, sympy.Max, sympy.Piecewise, *_STEPPED)
#: Jumps of one floor or ceiling that are looked for: of the first whole numbers above its argument at w = 1.
_JUMPS = 3
#: Zeros of one gap that are looked at.
_MOST_ZEROS = 4

#: How far on either side of an exact border the range lies in which the kernel is shown the kink.
MARGIN = Fraction(1, 2**12)
#: Width of the range around an irrational border.
WIDTH = Fraction(1, 10**9)


def resolve(expression: sympy.Expr, box: tuple[Variable, ...], weight: sympy.Symbol) -> tuple[sympy.Expr, bool]:
    """Return the expression with decided branches put in, and whether no undecided branch depends on ``weight``."""
    return _replace(expression, weight, lambda node: _decide(node, partial(_holds, box=box)))


def resolve_at(expression: sympy.Expr, records: tuple[Variable, ...], weight: sympy.Symbol, at: int) -> tuple[sympy.Expr, bool]:
    """The same in a neighborhood of one weight, which may depend on the record: by what is > 0 there for all records."""

    def shows(gap: sympy.Expr, *, strict: bool = False) -> bool:  # noqa: ARG001
        return _holds(put_in(gap, {weight: at}), box=records, strict=True)

    return _replace(expression, weight, lambda node: _decide(node, shows))


def resolve_inside(expression: sympy.Expr, box: tuple[Variable, ...], weight: sympy.Symbol) -> tuple[sympy.Expr, bool]:
    """The same for the inside of the box only: a strict comparison may fail at the ends of the range of ``weight``."""

    def shows(gap: sympy.Expr, *, strict: bool = False) -> bool:  # noqa: ARG001
        return _holds(gap, box=box)

    return _replace(expression, weight, lambda node: _decide(node, shows))


def resolve_along(
    expression: sympy.Expr, box: tuple[Variable, ...], weight: sympy.Symbol, ways: Sequence[sympy.Expr]
) -> tuple[sympy.Expr, bool]:
    """The same on a piece of the weights that is given in one or two ways as an expression in the variables of a box."""

    def shows(gap: sympy.Expr, *, strict: bool = False) -> bool:  # noqa: ARG001
        return any(_holds(expand(put_in(gap, {weight: way})), box=box) for way in ways)

    return _replace(expression, weight, lambda node: _decide(node, shows))


def resolve_near(expression: sympy.Expr, point: Mapping[str, Fraction], weight: sympy.Symbol) -> sympy.Expr | None:
    """Return the expression that is taken in a neighborhood of an exact point, None where a border runs through the point."""

    def shows(gap: sympy.Expr, *, strict: bool = False) -> bool:  # noqa: ARG001
        return bool(as_ball(value_at(from_sympy(gap), point)) > 0)

    try:
        near, resolved = _replace(expression, weight, lambda node: _decide(node, shows))
    except (UndefinedAtPoint, InvalidExpression):
        return None
    return near if resolved else None


def _replace(expression: sympy.Expr, weight: sympy.Symbol, decide: Callable[[Any], sympy.Expr | None]) -> tuple[sympy.Expr, bool]:
    changed = True
    while changed:
        changed = False
        for node in _nodes(expression, weight):
            replacement = decide(node)
            if replacement is not None:
                expression, changed = expression.xreplace({node: replacement}), True
                break
    return expression, not any(True for _ in _nodes(expression, weight))


def _nodes(expression: sympy.Expr, weight: sympy.Symbol) -> Iterator[Any]:
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, _KINKED) and weight in node.free_symbols:
            yield node


def _holds(gap: sympy.Expr, *, box: tuple[Variable, ...], strict: bool = False) -> bool:
    if gap.is_positive or (gap.is_nonnegative and not strict):
        return True
    return prove(Goal(gap, box, strict), 2) is not None


def _decide(node: Any, shows: Shows) -> sympy.Expr | None:
    """Return the branch that is taken, None if that is not known."""
    if isinstance(node, sympy.Abs):
        inner = node.args[0]
        return inner if shows(inner) else -inner if shows(-inner) else None
    if isinstance(node, sympy.Piecewise):
        return _decide_piecewise(node, shows)
    if isinstance(node, _STEPPED):
        return None
    sign = 1 if isinstance(node, sympy.Max) else -1
    for argument in node.args:
        if all(other is argument or shows(sign * (argument - other)) for other in node.args):
            return argument
    if len(node.args) > 2:  # of many arguments, one that another one beats can go
        for argument in node.args:
            if any(other is not argument and shows(sign * (other - argument)) for other in node.args):
                return node.func(*(other for other in node.args if other is not argument))
    return None


def _decide_piecewise(node: Any, shows: Shows) -> sympy.Expr | None:
    for value, condition in single_branches(node):
        if condition == sympy.true:
            return value
        if not isinstance(condition, Relational):
            return None
        gap = condition.rhs - condition.lhs if condition.rel_op in ("<", "<=") else condition.lhs - condition.rhs
        strict = condition.rel_op in ("<", ">")
        if shows(gap, strict=strict):
            return value
        if not shows(-gap, strict=not strict):
            return None
    return None


@dataclass(frozen=True, slots=True)
class Border:
    """A weight > 1 at which two branches meet for one record, and a range around it; ``exact`` if ``weight`` is the border itself."""

    record: dict[str, Fraction]
    weight: Fraction
    around: tuple[Fraction, Fraction]
    exact: bool


def borders(expression: sympy.Expr, records: Sequence[Variable], weight: sympy.Symbol) -> Iterator[Border]:
    """Yield borders, rational ones first; the kernel decides whether there is a kink."""
    choices = candidates(records, 60)
    for record, gap in _gaps(expression, choices, weight):
        for root in rational_roots(gap, weight):
            if root > 1:
                margin = min(MARGIN, (root - 1) / 2)
                yield Border(record, root, (root - margin, root + margin), exact=True)
    for record, gap in _gaps(expression, choices[:12], weight):
        for lo, hi in _sign_changes(gap, weight):
            yield Border(record, (lo + hi) / 2, (lo, hi), exact=False)


def _gaps(
    expression: sympy.Expr, choices: Sequence[dict[str, Fraction]], weight: sympy.Symbol
) -> Iterator[tuple[dict[str, Fraction], sympy.Expr]]:
    for record in choices:
        values = {symbol: to_rational(record[symbol.name]) for symbol in expression.free_symbols if symbol.name in record}
        for gap in dict.fromkeys(gaps(expression, weight)):
            at_record = put_in(gap, values)
            if at_record.free_symbols == {weight}:
                yield record, at_record
        for node in _nodes(expression, weight):
            if isinstance(node, _STEPPED):
                yield from ((record, gap) for gap in _jumps(put_in(node.args[0], values), weight))


def _jumps(argument: sympy.Expr, weight: sympy.Symbol) -> Iterator[sympy.Expr]:
    """Yield the argument of a floor or ceiling less the whole numbers that it reaches first as the weight grows from 1."""
    if argument.free_symbols != {weight}:
        return
    start, far = (sympy.floor(put_in(argument, {weight: w})) for w in (1, 1000))
    if not (start.is_Integer and far.is_Integer):
        return
    step = 1 if far >= start else -1
    for k in range(_JUMPS):
        yield argument - (start + k * step + (1 if step > 0 else 0))


def gaps(expression: sympy.Expr, weight: sympy.Symbol) -> Iterator[sympy.Expr]:
    """Yield the expressions whose signs decide which branch of an Abs, Max, Min or Piecewise of the weight is taken."""
    for node in _nodes(expression, weight):
        if isinstance(node, sympy.Abs):
            yield node.args[0]
        elif isinstance(node, sympy.Piecewise):
            yield from (condition.lhs - condition.rhs for _, condition in single_branches(node) if isinstance(condition, Relational))
        elif isinstance(node, _STEPPED):
            continue  # its borders depend on the record
        else:
            arguments = list(node.args)
            yield from (first - second for index, first in enumerate(arguments) for second in arguments[index + 1 :])


def _sign_changes(gap: sympy.Expr, weight: sympy.Symbol) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield narrow ranges of short decimals, above 1, at whose ends a function of the weight has opposite certain signs."""
    try:
        term = from_sympy(gap)
    except InvalidExpression:
        return
    grid = [1 + Fraction(k, 20) for k in range(200)] + [Fraction(10) * Fraction(5, 4) ** k for k in range(120)]

    def sign(w: Fraction) -> int:
        try:
            value = as_ball(value_at(term, {weight.name: w}))
        except UndefinedAtPoint:
            return 0
        return 1 if value > 0 else -1 if value < 0 else 0

    signed = [(w, s) for w in grid if (s := sign(w))]  # a zero may lie on the grid
    for (left, before), (right, after) in itertools.pairwise(signed):
        if before * after < 0:
            yield _narrow(left, right, sign)


def _narrow(lo: Fraction, hi: Fraction, sign: Callable[[Fraction], int]) -> tuple[Fraction, Fraction]:
    start = sign(lo)
    while hi - lo > WIDTH * hi:
        middle = (lo + hi) / 2
        middle = Fraction(round(middle * 10**12), 10**12)
        here = sign(middle)
        if here == 0 or not lo < middle < hi:
            break
        lo, hi = (middle, hi) if here == start else (lo, middle)
    return lo, hi


def moving_borders(expression: sympy.Expr, records: Sequence[Variable], weight: sympy.Symbol) -> list[sympy.Expr]:
    """Return the weights > 1 at which branches meet, as expressions in the records, rising at a record in the middle.

    Where a branch depends on the weight alone they are short exact numbers, such as sqrt(2) or e, which need not be rational.
    """
    middle = {
        variable.name: sympy.Rational(1) if variable.hi is None else to_rational((variable.lo + variable.hi) / 2) for variable in records
    }
    places: dict[sympy.Expr, Fraction] = {}
    for gap in dict.fromkeys(gaps(expression, weight)):
        for factor in sympy.Mul.make_args(factored(gap) or gap):
            for border in _borders_of(expand(factor.base if factor.is_Pow else factor), weight):
                place = put_in(border, {symbol: middle[symbol.name] for symbol in border.free_symbols if symbol.name in middle})
                if not place.free_symbols and place.is_real and place.is_finite:
                    about = Fraction(str(approximate(place, 40)))
                    if about > 1:
                        places[border] = about
    return sorted(places, key=places.__getitem__)


def _borders_of(gap: sympy.Expr, weight: sympy.Symbol) -> Iterator[sympy.Expr]:
    """Yield the weights at which a gap is zero: of a line in the weight, or near a change of sign of what depends on the weight alone."""
    rate = derivative(gap, weight)
    if rate == 0:
        return
    if not rate.has(weight):
        border = cancelled(-put_in(gap, {weight: 0}) / rate)
        if border is not None:
            yield border
        return
    if gap.free_symbols == {weight}:
        for lo, hi in itertools.islice(_sign_changes(gap, weight), _MOST_ZEROS):
            numbers = exact_numbers((lo + hi) / 2, Variable(weight.name, Fraction(1), None))
            exact = next((number for number in numbers if vanishes(put_in(gap, {weight: number}))), None)
            if exact is not None:
                yield exact
