"""Outward-rounded intervals of decimal floating-point numbers: every function returns an interval that contains every exact value."""
# The numbers are those of the standard library's decimal module, whose sums, products and quotients are correctly rounded in the direction
# that is asked for, and whose exp, ln and sqrt are correctly rounded to nearest: the neighbors of such a result are on either side of the
# exact value. An interval (lo, hi) stands for the *finite* reals between its ends, which is why 0 * [1, inf] = 0 is sound; a lower end is
# never +inf and an upper end never -inf, because a result beyond the largest number rounds back to that number on its inner side. p is
# the precision in bits, at most about 1,200.

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal  # unary minus would round: copy_negate does not
from fractions import Fraction
from functools import lru_cache

Interval = tuple[Decimal, Decimal]
ZERO, ONE, INF = Decimal(0), Decimal(1), Decimal("Infinity")
WHOLE, UNIT = (-INF, INF), (-ONE, ONE)
MOST_PLACES = 4 * 10**8  # the largest exponent of a number: every build of decimal has room for it, 64 or 32 bits wide


@lru_cache(maxsize=64)
def _contexts(p: int) -> tuple[Context, Context]:
    # rounding down and up, to at least p bits; nothing is trapped
    down = Context(p * 31 // 100 + 3, ROUND_FLOOR, -MOST_PLACES, MOST_PLACES, 1, 0, [], [])
    up = down.copy()
    up.rounding = ROUND_CEILING
    return down, up


def add(x: Interval, y: Interval, p: int) -> Interval:
    down, up = _contexts(p)
    return down.add(x[0], y[0]), up.add(x[1], y[1])


def negate(x: Interval) -> Interval:
    return x[1].copy_negate(), x[0].copy_negate()


def mul(x: Interval, y: Interval, p: int) -> Interval:
    (a, b), (c, d), (down, up) = x, y, _contexts(p)
    if a < 0 < b:
        if c < 0 < d:
            return min(down.multiply(a, d), down.multiply(b, c)), max(up.multiply(a, c), up.multiply(b, d))
        (a, b), (c, d) = y, x  # so that a and b are of one sign
    least, largest = ((b if c < 0 else a, c), (a if d < 0 else b, d)) if a >= 0 else ((b if d < 0 else a, d), (a if c < 0 else b, c))
    return down.multiply(*least) if all(least) else ZERO, up.multiply(*largest) if all(largest) else ZERO


def from_fraction(q: Fraction, p: int) -> Interval:
    n, d, (down, up) = Decimal(q.numerator), Decimal(q.denominator), _contexts(p)
    return down.divide(n, d), up.divide(n, d)


def reciprocal(x: Interval, p: int) -> Interval:
    # for the non-zero values of x
    (lo, hi), (down, up) = x, _contexts(p)
    if lo < 0 < hi or lo == hi == 0:
        return WHOLE
    return down.divide(ONE, hi) if hi else -INF, up.divide(ONE, lo) if lo else INF


def join(x: Interval, y: Interval) -> Interval:
    return min(x[0], y[0]), max(x[1], y[1])


def meet(x: Interval, y: Interval) -> Interval:
    # of two intervals that both contain the value
    return max(x[0], y[0]), min(x[1], y[1])


def maximum(x: Interval, y: Interval, _p: int = 0) -> Interval:
    return max(x[0], y[0]), max(x[1], y[1])


def absolute(x: Interval, _p: int = 0) -> Interval:
    return maximum(maximum(x, negate(x)), (ZERO, ZERO)) if x[0] < 0 else x


def exp(x: Interval, p: int) -> Interval:
    down, up = _contexts(p)
    lo, hi = (down.next_minus(down.exp(x[0])) if x[0] else ONE), (up.next_plus(up.exp(x[1])) if x[1] else ONE)
    return max(lo, ZERO), hi


def log(x: Interval, p: int) -> Interval:
    # of the positive values of x
    down, up = _contexts(p)
    if x[1] <= 0:
        return WHOLE
    lo = -INF if x[0] <= 0 else ZERO if x[0] == 1 else down.next_minus(down.ln(x[0]))
    return lo, ZERO if x[1] == 1 else up.next_plus(up.ln(x[1]))


@lru_cache(maxsize=64)
def pi(p: int) -> Interval:
    # Machin: 16 atan(1/5) - 4 atan(1/239), whose alternating series are off by less than the first term left out
    total = (ZERO, ZERO)
    for factor, x in ((16, 5), (-4, 239)):
        for n in range(1, p + 20, 2):  # the term n = p + 20 is below 5**-p
            total = add(total, from_fraction(Fraction(factor * (2 - n % 4), n * x**n), p + 32), p + 32)
    tail = from_fraction(Fraction(20, 5**p), p)[1]
    return add(total, (tail.copy_negate(), tail), p)


def ceiling(x: Interval, _p: int) -> Interval:
    # exact, whatever the size; infinite ends stay
    return x[0].to_integral_value(ROUND_CEILING), x[1].to_integral_value(ROUND_CEILING)


def _cos_point(a: Decimal, p: int) -> Interval:
    # the Taylor series after subtraction of whole turns; it is off by less than its last term as soon as r**2 <= (n + 1) (n + 2)
    wp = p + 32 + (4 * max(a.adjusted(), 0) if a else 0)  # a zero may carry any exponent
    turns = round(Fraction(a) / (2 * Fraction(pi(wp)[0])))
    r = add((a, a), mul(from_fraction(Fraction(-2 * turns), wp), pi(wp), wp), wp)
    square, total, term, n = power(r, Fraction(2), wp), (ONE, ONE), (ONE, ONE), 0
    while term[1] > Decimal((0, (1,), -(p // 3))) or square[1] > (n + 1) * (n + 2):
        n += 2
        term = mul(term, mul(square, from_fraction(Fraction(1, n * (n - 1)), wp), wp), wp)
        total = add(total, negate(term) if n % 4 else term, wp)
    return add(total, (term[1].copy_negate(), term[1]), p)


def middle(x: Interval, p: int) -> Decimal:
    # a point near the middle of a bounded interval
    down, _ = _contexts(p)
    return down.divide(down.add(x[0], x[1]), Decimal(2))


def cos(x: Interval, p: int) -> Interval:
    # cosines differ by no more than their arguments do; cos x >= 1 - x**2
    largest = absolute(x)[1]
    if largest > 10**20:
        return UNIT
    if largest.adjusted() < -p:
        return _contexts(p)[0].subtract(ONE, Decimal((0, (1,), -p))), ONE
    c = middle(x, p)
    radius = absolute(add(x, negate((c, c)), p))[1]
    return meet(add(_cos_point(c, p), (radius.copy_negate(), radius), p), UNIT)


def sin(x: Interval, p: int) -> Interval:
    # sines are cosines a quarter turn later
    return cos(add(x, mul(pi(p + 8), from_fraction(Fraction(-1, 2), p), p + 8), p + 8), p)


def _natural_power(a: Decimal, n: int, context: Context) -> Decimal:
    # a**n for a >= 0, n >= 1, by squaring; all factors are >= 0, so that one rounding direction suffices
    result = context.multiply(a, a) if n > 1 else a
    result = _natural_power(result, n // 2, context) if n > 3 else result
    return context.multiply(result, a) if n % 2 and n > 1 else result


def power(x: Interval, c: Fraction, p: int) -> Interval:
    # x**c for a rational constant c, for the values of x at which it is defined
    if c <= 0:
        return reciprocal(power(x, -c, p + 8), p) if c else (ONE, ONE)
    whole, even, (down, up) = c.denominator == 1, c.numerator % 2 == 0, _contexts(p)
    if whole and x[0] >= 0:
        return _natural_power(x[0], c.numerator, down), _natural_power(x[1], c.numerator, up)
    if whole and (even or x[1] <= 0):
        return power(absolute(x), c, p) if even else negate(power(negate(x), c, p))
    if whole:
        return negate(power((ZERO, negate(x)[1]), c, p))[0], power((ZERO, x[1]), c, p)[1]
    if x[1] < 0:
        return WHOLE
    if c.denominator == 2:
        lo, hi = down.sqrt(max(x[0], ZERO)), up.sqrt(x[1])  # to nearest
        lo, hi = lo if up.multiply(lo, lo) <= x[0] else down.next_minus(lo), hi if down.multiply(hi, hi) >= x[1] else up.next_plus(hi)
        return power((max(lo, ZERO), hi), Fraction(c.numerator), p)
    exponent, q = from_fraction(c, p + 16), p + 16
    ends = [exp(mul(exponent, log((end, end), q), q), p) if end > 0 else (ZERO, ZERO) for end in x]
    return ends[0][0], ends[1][1]


OPERATIONS: dict[str, Callable[..., Interval]] = {  # by their names in terms
    **{f.__name__: f for f in (add, mul, exp, log, sin, cos, pi, ceiling)},
    "abs": absolute,
    "max": maximum,
}
