"""The hand-derived truths of cases.toml against samples at 100 digits: no part of the package takes part.

A condition that holds may not fail at any sampled point, and has no kink; one that fails must be seen to fail at a sampled or stated
point, at a kink, or as w grows. Derivatives are quotients of differences to the right.
"""

from __future__ import annotations

import ast
import itertools
import random
import tomllib
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from mpmath import mpf

PROFILES = [
    profile
    for name in ("cases.toml", "borders.toml", "borders_again.toml", "joins_and_surcharges.toml", "joins_and_surcharges_again.toml")
    for profile in tomllib.loads((Path(__file__).parent / name).read_text())["profile"]
]

DIGITS = 100  # unless the profile has a field "digits", for what is far beyond 1e-15 in size
MORE_DIGITS = 800  # for ε(1) ≤ ε*: a spike may add exp(-1600)
MOST_RECORDS = 24
KINKS = ("Max", "Min", "Abs", "Piecewise", "floor", "f(w)")

CONDITIONS = {8, 9, 11, 16, 17}


def step():
    """A power of two near 10**(-0.3 digits): what cancels does so without rounding."""
    return mpf(2) ** -mpmath.mp.dps


def level():
    """What counts as zero beside the larger summands."""
    return mpf(10) ** -(mpmath.mp.dps * 3 // 20)


def number(text):
    fraction = Fraction(text)
    return mpf(fraction.numerator) / fraction.denominator


class _Exact(ast.NodeTransformer):
    """Wrap numbers, so that 1/3 is a quotient at full precision."""

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            return node
        return ast.Call(ast.Name("number", ast.Load()), [ast.Constant(str(node.value))], [])


def exp(x):
    """e^x, and 0 far below what any number of digits here can hold: there mpmath raises e to a power of 10,000 digits, for minutes."""
    return mpf(0) if x < -(10**9) else mpmath.exp(x)


def piecewise(*branches):
    return next(value for value, condition in branches if condition)


NAMES = {
    "number": number, "pi": mpmath.pi, "exp": exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos,
    "floor": mpmath.floor, "Max": max, "Min": min, "Abs": abs, "Piecewise": piecewise,
}  # fmt: skip


def read_table(given):
    """Return a table as a function; the first and last line go on beyond its points."""
    points = [(number(x), number(y)) for x, y in (given["points"] if isinstance(given, dict) else given)]

    def value(x):
        (x0, y0), (x1, y1) = next((pair for pair in itertools.pairwise(points) if x <= pair[1][0]), points[-2:])
        return y0 + (y1 - y0) / (x1 - x0) * (x - x0)

    return value


def compiled(text, tables):
    """Return ε as a function of w and a dictionary of the other values."""
    tree = ast.fix_missing_locations(_Exact().visit(ast.parse(text, mode="eval")))
    code = compile(tree, "epsilon", "eval")
    known = NAMES | {name: read_table(given) for name, given in tables.items()}
    return lambda w, values: eval(code, known, {**values, "w": w})


def stated(profile):
    return {number(point["w"]) for point in profile.get("points", []) if "w" in point}


def weights(profile):
    quarters = [1 + mpf(k) / 4 for k in range(25)]
    beside = [1 + mpf(10) ** -k for k in (6, 3, 2, 1)]
    decades = [mpf(10) ** (mpf(k) / 3) for k in range(3, 28)]
    return sorted({*quarters, *beside, *decades, *stated(profile)})


def choices(profile):
    """Return values of records and parameters: ends, middles, orders of magnitude (all or a random selection), and stated points."""
    ranges = {}
    for name, (lo, hi) in profile.get("record", {}).items():
        ranges[name] = sorted({number(lo), (number(lo) + number(hi)) / 2, number(hi), *([mpf(0)] if number(lo) < 0 < number(hi) else [])})
    for name, given in profile.get("parameters", {}).items():
        positive = [mpf(10) ** -3, mpf(1) / 10, mpf(1), mpf(10), mpf(10) ** 3]
        ranges[name] = positive if given == "positive" else [number(given[0]), (number(given[0]) + number(given[1])) / 2, number(given[1])]
    everything = list(itertools.product(*ranges.values()))
    if len(everything) > MOST_RECORDS:
        everything = random.Random(1).sample(everything, MOST_RECORDS)
    for point in profile.get("points", []):
        everything += [tuple(number(point[name]) if name in point else middle for name, middle in zip(ranges, chosen, strict=True))
                       for chosen in everything[:6]]  # fmt: skip
    return [dict(zip(ranges, chosen, strict=True)) for chosen in dict.fromkeys(everything)]


def derivatives(f, w, values):
    """Return ε, ε′ and ε″ at w, from the right."""
    at, near, far = (f(w + k * step(), values) for k in range(3))
    return at, (4 * near - 3 * at - far) / (2 * step()), (far - 2 * near + at) / step() ** 2


def bends(f, values, grid, stated):
    """Tell whether ε jumps or has a kink between two neighbors of the grid."""
    found = [derivatives(f, w, values)[:2] for w in grid]
    for part in (0, 1):
        change = [abs(b[part] - a[part]) / (1 + abs(a[part]) + abs(b[part])) for a, b in itertools.pairwise(found)]
        beside_stated = {k + j for k, w in enumerate(grid) if w in stated for j in (-1, 0) if k + j >= 0}
        for index in {*sorted(range(len(change)), key=change.__getitem__)[-4:], *beside_stated}:
            lo, hi = grid[index], grid[index + 1]
            left, right = found[index][part], found[index + 1][part]
            for _ in range(70):
                middle = (lo + hi) / 2
                between = derivatives(f, middle, values)[part]
                if abs(between - left) > abs(right - between):
                    hi, right = middle, between
                else:
                    lo, left = middle, between
            if abs(right - left) > mpf(10) ** -6 * (1 + abs(left)):
                return True
    return False


def sign(value, size):
    return 0 if abs(value) <= level() * size else (1 if value > 0 else -1)


def fades(f, values):
    """Tell whether K·e^ε, positive, falls by six powers of e between w = 1 and w = 1e12."""
    logs = []
    for w in (mpf(1), mpf(10) ** 12):
        at, first, second = derivatives(f, w, values)
        logs.append(mpmath.log(second + first**2) + at)
    return logs[1] < logs[0] - 6


def exceeds(f, values, target):
    """Tell whether ε > log(1 + E w) for large w, which is seen at 1e20 where it is a tie at 10^10000."""
    if f(mpf(10) ** 20, values) < mpf(10) ** -(mpmath.mp.dps // 2):  # zero but for rounding
        return False
    for w in (mpf(10) ** 10_000, mpf(10) ** 20):
        gap = f(w, values) - mpmath.log(1 + mpmath.expm1(target) * w)
        if abs(gap) > mpf(10) ** (20 - mpmath.mp.dps):
            return gap > 0
    return False


def failures(profile):
    """Return the conditions that fail somewhere in the sample."""
    f, failed = compiled(profile["epsilon"], profile.get("tables", {})), set()
    with mpmath.workdps(max(MORE_DIGITS, mpmath.mp.dps)):
        target = number(profile["target"])
        if any(f(mpf(1), values) > target + mpf(10) ** (20 - MORE_DIGITS) for values in choices(profile)):
            failed.add(8)
    grid = weights(profile)
    for values in choices(profile):
        at, first, _ = derivatives(f, mpf(1), values)
        below_one = -mpmath.expm1(-at)
        if not exceeds(f, values, target):
            failed.add(9)
        if sign(below_one - first, abs(first) + abs(below_one)) <= 0:
            failed.add(16)
        bent = any(name in profile["epsilon"] for name in KINKS) and bends(f, values, grid, stated(profile))
        failed |= {11, 17} if bent else set()
        for w in grid:
            at, first, second = derivatives(f, w, values)
            assert at >= -(mpf(10) ** (20 - mpmath.mp.dps)), "the profile is negative"
            if sign(second + first**2, abs(second) + first**2) <= 0:
                failed.add(11)
            if sign(w * first - at, abs(at) + abs(w * first)) < 0:
                failed.add(17)
        if 11 not in failed and fades(f, values):
            failed.add(11)
    return failed


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("index", range(len(PROFILES)), ids=lambda index: f"{PROFILES[index]['kind']}-{index}")
def test_a_sample_agrees_with_the_derivation(index):
    profile = PROFILES[index]
    assert set(profile["holds"]) | set(profile["fails"]) == CONDITIONS
    assert not set(profile["holds"]) & set(profile["fails"])
    with mpmath.workdps(profile.get("digits", DIGITS)):
        assert sorted(failures(profile)) == profile["fails"], profile
