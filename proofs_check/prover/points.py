"""Points at which an inequality between terms is tried first: ends and simple values, and where parts of an expression vanish or turn.

Nothing is decided here: whoever looks at a point decides by balls, or by exact arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import sympy

from profiles.symbolic import to_rational
from profiles.variables import Variable
from proofs_check.prover.algebra import critical_centres, put_in, rational_roots
from proofs_check.prover.effort import until_failure

#: Narrow bumps and dips are looked for around this many zeros and extrema of polynomials of this degree at most, at these distances.
MOST_CENTRES, MAX_DEGREE = 8, 6
SCALES = tuple(Fraction(1, 10**power) for power in range(8))
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 5))


def candidates(box: Sequence[Variable], limit: int = 1500) -> list[dict[str, Fraction]]:
    """Return points worth trying first: ends, simple interior points, and widely spread values on infinite ranges."""
    names, choices = [variable.name for variable in box], [_values(variable) for variable in box]
    return [
        {name: values[place] for name, values, place in zip(names, choices, places, strict=True)}
        for places in _spread(tuple(map(len, choices)), limit)
    ]


def _values(variable: Variable) -> list[Fraction]:
    lo, hi = variable.lo, variable.hi
    if hi is None and lo == 0 and variable.open_below:
        return [Fraction(1), Fraction(1, 10), Fraction(10), Fraction(1, 1000), Fraction(1000), Fraction(1, 10**6), Fraction(10**6)]
    if hi is None:
        offsets = (0, 1, Fraction(1, 2), 2, 4, 9, Fraction(1, 100), 99, 999, *(10**power for power in range(6, 31, 3)), 10**100, 10**301)
        return [lo + offset for offset in offsets]
    shares = (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(3, 4), Fraction(1, 100), Fraction(99, 100))
    middle = [Fraction(0)] if lo < 0 < hi else []
    values = dict.fromkeys([*middle, *(lo + share * (hi - lo) for share in shares)])
    return [value for value in (*values, lo + (hi - lo) / 10**6) if value != lo] if variable.open_below else list(values)


@lru_cache(maxsize=256)
def _spread(sizes: tuple[int, ...], limit: int) -> tuple[tuple[int, ...], ...]:
    """Return the places in lists of ``sizes`` values whose points are tried: half of them first of all, the others spread over the rest."""
    ranked = sorted(itertools.islice(itertools.product(*map(range, sizes)), 40 * limit), key=sum)
    first, rest = ranked[: limit // 2], ranked[limit // 2 :]
    step = -(-len(rest) // max(1, limit - limit // 2))
    return (*first, *rest[::step]) if rest else tuple(first)


def telling_points(expression: sympy.Expr, box: Sequence[Variable], limit: int) -> list[dict[str, Fraction]]:
    """Return candidates, and points at which parts of an expression are zero or least: an equality may hold at such a point only."""
    return [*candidates(box, limit), *until_failure(_critical_points(expression, box))]


def _critical_points(expression: sympy.Expr, box: Sequence[Variable]) -> Iterator[dict[str, Fraction]]:
    for variable in box:
        others = candidates([other for other in box if other is not variable], 8)
        values = _critical_values(expression, variable)
        yield from ({**point, variable.name: value} for point in others for value in values)


def _critical_values(expression: sympy.Expr, variable: Variable) -> list[Fraction]:
    """Return short numbers in the range of a variable at and around which a narrow bump or dip of an expression may lie.

    First come the centres (:func:`critical_centres`), then points around each at all scales down to 1e-7.
    """
    symbol = next((symbol for symbol in expression.free_symbols if symbol.name == variable.name), None)
    if symbol is None:
        return []
    found = critical_centres(expression, symbol, MAX_DEGREE)
    centres = dict.fromkeys(root for root in found if variable.contains(root) and root != variable.lo)
    values: dict[Fraction, None] = {}
    for offset in (Fraction(0), *(scale * share for scale in SCALES for share in SHARES)):
        for centre in list(centres)[:MOST_CENTRES]:
            for value in (centre + offset, centre - offset):
                if variable.contains(value):
                    values[value] = None
    return list(values)


def roots(expression: sympy.Expr, box: tuple[Variable, ...]) -> Iterator[dict[str, Fraction]]:
    """Yield points of the box at which an expression vanishes because one variable is a rational root of it, the others being simple."""
    by_name = {symbol.name: symbol for symbol in expression.free_symbols}
    for variable in box:
        symbol = by_name.get(variable.name)
        if symbol is None:
            continue
        others = tuple(other for other in box if other.name != variable.name)
        for point in candidates(others, 12):
            fixed = put_in(expression, {by_name[name]: to_rational(value) for name, value in point.items() if name in by_name})
            for root in rational_roots(fixed, symbol):
                if variable.contains(root):
                    yield {**point, variable.name: root}
