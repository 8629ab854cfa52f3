"""Where an expression is least: a pattern search in ball arithmetic, and exact numbers near the place that it finds.

Nothing here is trusted: a point is a suggestion, and what is said about it is proved elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import arb

from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.errors import InvalidExpression
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import Term
from profiles.variables import Variable
from proofs_check.enclosures import Enclosure
from proofs_check.prover.effort import remembered, spend
from proofs_check.prover.points import candidates
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at

#: Values looked at, places that the search starts from, and its last step, as a share of the range.
MOST_VALUES, MOST_STARTS, LAST_STEP = 1000, 3, 1e-11
#: Of variables for which slanted directions are tried, and of these directions.
MOST_AXES, MOST_SLANTED = 3, 32
BITS = 192
#: What looking at one value costs, beside two units for each step of the term.
POINT = 15
#: Steps of Newton's method, for at most so many coordinates, and the difference in a coordinate, as a share of what is left of its range.
NEWTON_STEPS, MOST_NEWTON, DIFFERENCE = 4, 4, Fraction(1, 2**30)
#: A coordinate this near to a short number (as a share of one) is taken for it.
NEAR = Fraction(2, 10**8)
#: Only numbers of a moderate size are compared with closed terms.
LARGEST = 10**9
MOST_DENOMINATOR = 120
ROUGH, MOST_ROUGH = Fraction(1, 10**5), 30


@dataclass(frozen=True, slots=True)
class Least:
    """A point of a box (binary fractions), and the value there (a ball), the smallest of those that were looked at."""

    point: dict[str, Fraction]
    value: arb


def find_least(term: Term, box: tuple[Variable, ...]) -> Least | None:
    """Return where a term is smallest, as far as a local search from several places sees; None where no value is finite."""
    return remembered("least", (term, box), lambda: _search_least(term, box))


def _search_least(term: Term, box: tuple[Variable, ...]) -> Least | None:
    names, enclosure = [variable.name for variable in box], Enclosure(term)
    count = 0

    def at(point: Sequence[Fraction]) -> arb:
        nonlocal count
        count += 1
        spend(POINT + 2 * enclosure.steps)
        return enclosure.evaluate({name: ball(value) for name, value in zip(names, point, strict=True)})

    with working_precision(BITS):
        seen = []
        for choice in candidates(box, 120):
            point = tuple(choice[name] for name in names)
            value = at(point)
            if value.is_finite():
                seen.append((value.mid(), point, value))
        if not seen:
            return None
        seen.sort(key=lambda entry: _Order(entry[0]))
        best = min(
            (_descend(at, box, point, value, lambda: count) for _, point, value in seen[:MOST_STARTS]), key=lambda e: _Order(e[1].mid())
        )
    return Least(dict(zip(names, best[0], strict=True)), best[1])


class _Order:
    """Balls compare as sets; their midpoints, which are exact, in order."""

    def __init__(self, value: arb) -> None:
        self.value = value

    def __lt__(self, other: _Order) -> bool:
        return bool(self.value < other.value)


def _descend(
    at: Callable[[Sequence[Fraction]], arb], box: Sequence[Variable], point: tuple[Fraction, ...], value: arb, count: Callable[[], int]
) -> tuple[tuple[Fraction, ...], arb]:
    """Go in steps along the axes and the diagonals, double a step that helps, halve the steps where none does."""
    size = len(box)
    if not size:
        return point, value
    steps = [d for d in itertools.product((0, 1, -1, 2, -2), repeat=size) if any(d) and math.gcd(*d) == 1] if size <= MOST_AXES else []
    axes = [tuple(sign * (i == j) for j in range(size)) for i in range(size) for sign in (1, -1)]
    slanted = sorted(
        (d for d in steps if d not in axes), key=lambda d: (sum(map(bool, d)) if max(map(abs, d)) == 1 else size + 1, sum(map(abs, d)))
    )
    directions, step, last = [*axes, *slanted[:MOST_SLANTED]], 0.25, count()
    while step > LAST_STEP and count() - last < MOST_VALUES // MOST_STARTS:
        for direction in directions:
            moved = tuple(_move(variable, x, step * d) for variable, x, d in zip(box, point, direction, strict=True))
            there = at(moved) if moved != point else value
            if there.is_finite() and there.mid() < value.mid():
                point, value, step = moved, there, min(0.25, 2 * step)
                directions.remove(direction)
                directions.insert(0, direction)
                break
        else:
            step /= 4
    try:
        return _polish(at, box, point, value)
    except OverflowError:  # of a float
        return point, value


def _polish(
    at: Callable[[Sequence[Fraction]], arb], box: Sequence[Variable], point: tuple[Fraction, ...], value: arb
) -> tuple[tuple[Fraction, ...], arb]:
    """Take steps of Newton's method, with quotients of differences, in the coordinates that are inside of their ranges."""
    inside = [i for i, (v, x) in enumerate(zip(box, point, strict=True)) if x > v.lo and (v.hi is None or x < v.hi)]
    for _ in range(NEWTON_STEPS if len(inside) <= MOST_NEWTON else 0):
        h = {i: min(x - box[i].lo, x + 1 if (hi := box[i].hi) is None else hi - x) * DIFFERENCE for i in inside for x in (point[i],)}

        def beside(*steps: tuple[int, int], point: tuple[Fraction, ...] = point, h: dict[int, Fraction] = h) -> arb:
            return at([x + sum((k * h[i] for i, k in steps if i == j), Fraction(0)) for j, x in enumerate(point)])

        slopes = [float((beside((i, 1)) - beside((i, -1))).mid()) / 2 for i in inside]
        bends = [
            [
                float((beside((i, 1), (j, 1)) - beside((i, 1), (j, -1)) - beside((i, -1), (j, 1)) + beside((i, -1), (j, -1))).mid()) / 4
                for j in inside
            ]
            for i in inside
        ]
        moves = _solve(bends, slopes)
        if moves is None:
            break
        shift = dict(zip(inside, moves, strict=True))
        moved = tuple(Fraction(round((x - Fraction(shift[i]) * h[i]) * 2**80), 2**80) if i in shift else x for i, x in enumerate(point))
        if not all(variable.contains(x) for variable, x in zip(box, moved, strict=True)):
            break
        there = at(moved)
        if not (there.is_finite() and there.mid() < value.mid()):
            break
        point, value = moved, there
    return point, value


def _solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Return the solution of linear equations, None where there is none that is finite."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if rows[i][i] == 0 or not math.isfinite(rows[i][i]):
            return None
        for k in range(len(rows)):
            if k != i:
                ratio = rows[k][i] / rows[i][i]
                rows[k] = [a - ratio * b for a, b in zip(rows[k], rows[i], strict=True)]
    solution = [row[-1] / row[i] for i, row in enumerate(rows)]
    return solution if all(map(math.isfinite, solution)) and max(map(abs, solution), default=0.0) < 2 / float(DIFFERENCE) else None


def _move(variable: Variable, value: Fraction, step: float) -> Fraction:
    """Return a value shifted by a share of a finite range, or multiplied where the range is infinite; a short binary fraction."""
    if variable.hi is None:
        moved = variable.lo + (value - variable.lo) * Fraction(1 + step) if value > variable.lo else variable.lo + Fraction(abs(step))
    else:
        moved = value + Fraction(step) * (variable.hi - variable.lo)
    size = max(1, moved.numerator.bit_length() - moved.denominator.bit_length() if moved else 1)
    scale = 2 ** max(0, 60 - size)
    moved = Fraction(round(moved * scale), scale) if moved.denominator > scale else moved
    lowest = variable.lo if not variable.open_below else value / 2
    return min(max(moved, lowest), variable.hi) if variable.hi is not None else max(moved, lowest)


def least_of(expression: sympy.Expr, box: Sequence[Variable]) -> Least | None:
    """Return where an expression is least; None outside the grammar or where nothing is finite."""
    try:
        return find_least(from_sympy(expression), tuple(box))
    except (InvalidExpression, OverflowError):
        return None


def exact_points(expression: sympy.Expr, box: Sequence[Variable]) -> Iterator[dict[str, sympy.Expr]]:
    """Yield points near the place where an expression is least whose coordinates are short exact numbers, rational ones first."""
    least = least_of(expression, box)
    if least is None:
        return
    choices = [list(itertools.islice(exact_numbers(least.point[variable.name], variable), 4)) for variable in box]
    if all(choices):
        for numbers in itertools.islice(itertools.product(*choices), 8):
            yield dict(zip(least.point, numbers, strict=True))


def exact_numbers(value: Fraction, variable: Variable) -> Iterator[sympy.Expr]:
    """Yield exact numbers near a value, inside the range: ends, fractions, roots, multiples of pi, logarithms, exponentials."""
    width = variable.hi - variable.lo if variable.hi is not None else max(abs(value), Fraction(1, 10**9))
    for end in (variable.lo, variable.hi):
        if end is not None and abs(value - end) <= NEAR * width and variable.contains(end):
            yield to_rational(end)
    short = value.limit_denominator(MOST_DENOMINATOR)
    if abs(value - short) <= NEAR * max(Fraction(1), abs(value)) and variable.contains(short) and short not in (variable.lo, variable.hi):
        yield to_rational(short)
        return
    rough = value.limit_denominator(MOST_ROUGH)
    if abs(value - rough) <= ROUGH and variable.contains(rough):  # where it is flat, the place is not seen sharply
        yield to_rational(rough)
    if not 1 <= abs(value) * LARGEST <= LARGEST**2:
        return
    for made in dict.fromkeys(_closed_forms(float(value))):
        if variable.lo < made and (variable.hi is None or made < variable.hi):
            yield made


def _closed_forms(x: float) -> Iterator[sympy.Expr]:
    sign = -1 if x < 0 else 1
    for n in (2, 3, 4):
        power = _short(abs(x) ** n, 64, n * abs(x) ** (n - 1))
        if power:
            yield sign * sympy.root(power, n)
    multiple = _short(x / math.pi, 24, 1 / math.pi)
    if multiple:
        yield multiple * sympy.pi
    if -30 < x < 30:
        exponential = _short(math.exp(x), 40, math.exp(x))
        if exponential:
            yield sympy.log(exponential)
    logarithm = _short(math.log(abs(x)), 12, 1 / abs(x)) if x else None
    if logarithm:
        yield sign * sympy.exp(logarithm)
    for k in (1, -1):  # rational multiples of e and 1/e
        multiple = _short(x * math.exp(-k), 12, math.exp(-k))
        if multiple:
            yield multiple * sympy.exp(k)
    for b in (2, 3, 5, 6, 7):  # a + c sqrt(b), with a and c short
        for c in (1, -1, 2, -2, Half, -Half):
            rest = _short(x - float(c) * math.sqrt(b), 4, 1.0)
            if rest is not None:
                yield rest + c * sympy.sqrt(b)


Half = sympy.Rational(1, 2)


def _short(value: float, most: int, slope: float) -> sympy.Rational | None:
    """Return a fraction with a short denominator that a value, known as well as a coordinate times the slope, may be."""
    fraction = Fraction(value).limit_denominator(most)
    return to_rational(fraction) if abs(value - fraction) <= float(NEAR) * (slope + abs(value)) else None


def rational_point(point: Mapping[str, sympy.Expr] | Mapping[str, Fraction]) -> dict[str, Fraction] | None:
    """Return a point with fractions, None if a coordinate is not rational."""
    point_found: dict[str, Fraction] = {}
    for name, value in point.items():
        if isinstance(value, Fraction):
            point_found[name] = value
        elif value.is_Rational:
            point_found[name] = Fraction(int(value.p), int(value.q))
    return point_found if len(point_found) == len(point) else None


def fraction_below(value: arb, digits: int = 3) -> Fraction | None:
    """Return a decimal of a few digits below a ball, however small or large it is; None where it is not finite."""
    with working_precision(BITS):
        exact = lower_fraction(value)
    if not exact:
        return exact
    magnitude = len(str(abs(exact.numerator))) - len(str(exact.denominator))
    scale = Fraction(10) ** (digits - magnitude)
    return math.floor(exact * scale) / scale


def smallest_value(term: Term, box: Sequence[Variable]) -> Fraction | None:
    """Return a number just above the smallest of the values of a term at some points of a box: not below the infimum."""
    values = []
    for point in candidates(box, 600):
        with suppress(UndefinedAtPoint):
            values.append(as_ball(value_at(term, point, 128)))
    smallest = min((value for value in values if value.is_finite()), key=lambda value: float(value.upper()), default=None)
    return None if smallest is None else upper_fraction(smallest)
