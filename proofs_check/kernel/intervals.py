"""Outward-rounded dyadic intervals: every function returns an interval that contains every exact value."""
# A number is a pair (m, e), meaning m * 2**e. Exponents of finite numbers stay below _CAP; the infinities carry the exponent _BIG
# beyond it, so that comparisons and products need no special cases. An interval (lo, hi) stands for the *finite* reals between its
# ends, which is why 0 * [1, inf] = 0 is sound. p is the precision in bits, at most about 1,200.

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

Num = tuple[int, int]
Interval = tuple[Num, Num]
Rounding = Callable[[int, int, int], Num]

_CAP, _BIG = 1 << 40, 1 << 60
ZERO, ONE, INF, _NEG_INF, _NEG_ONE = (0, 0), (1, 0), (1, _BIG), (-1, _BIG), (-1, 0)
WHOLE: Interval = (_NEG_INF, INF)


def down(m: int, e: int, p: int) -> Num:
    """Return a number of at most p bits that is <= m * 2**e."""
    excess = m.bit_length() - p
    if excess > 0:
        m, e = m >> excess, e + excess
    if -_CAP < e < _CAP:
        return (m, e)
    if m >= 0:  # too large: a huge finite number is still below; too small: zero is
        return (1, _CAP - 1) if m and e > 0 else ZERO
    return _NEG_INF if e > 0 else (-1, 4096 - _CAP)


def up(m: int, e: int, p: int) -> Num:
    """Return a number of at most p bits that is >= m * 2**e."""
    m, e = down(-m, e, p)
    return (-m, e)


def compare(a: Num, b: Num) -> int:
    """Return something negative, zero or positive as a < b, a = b or a > b."""
    (m, e), (n, f) = a, b
    if e == f or (m <= 0 <= n) or (n <= 0 <= m):
        return m - n
    size, other = m.bit_length() + e, n.bit_length() + f
    if size != other:
        return size - other if m > 0 else other - size
    return (m << (e - f)) - n if e > f else m - (n << (f - e))


def _sum(a: Num, b: Num, p: int, rounding: Rounding) -> Num:
    (m, e), (n, f) = (a, b) if a[1] >= b[1] else (b, a)
    if m == 0 or n == 0:
        return rounding(n, f, p) if m == 0 else rounding(m, e, p)
    if e - f <= 4096:
        return rounding((m << (e - f)) + n, f, p)
    # mantissas have at most 2000 bits, so the small summand is below 2**(e - 2000): zero or one such unit on its outward side replaces it
    unit = min(n, 0) if rounding is down else max(n, 0)
    return rounding((m << 2000) + (unit > 0) - (unit < 0), e - 2000, p)


def add(x: Interval, y: Interval, p: int) -> Interval:
    """Enclose x + y."""
    return _sum(x[0], y[0], p, down), _sum(x[1], y[1], p, up)


def negate(x: Interval) -> Interval:
    """Enclose -x."""
    return (-x[1][0], x[1][1]), (-x[0][0], x[0][1])


def mul(x: Interval, y: Interval, p: int) -> Interval:
    """Enclose x * y."""
    ((a, e), (b, f)), ((c, g), (d, h)) = x, y
    if a >= 0 and c >= 0:
        return down(a * c, e + g, p), up(b * d, f + h, p)
    low = high = (a * c, e + g)
    for product in ((a * d, e + h), (b * c, f + g), (b * d, f + h)):
        low = product if compare(product, low) < 0 else low
        high = product if compare(product, high) > 0 else high
    return down(*low, p), up(*high, p)


def _quotient(n: int, d: int, p: int) -> Num:
    # a number of at most p bits that is <= n / d, for d > 0
    shift = max(0, p + 2 + d.bit_length() - n.bit_length())
    return down((n << shift) // d, -shift, p)


def from_fraction(q: Fraction, p: int) -> Interval:
    """Enclose the number q; a point if it is dyadic and short."""
    return _quotient(q.numerator, q.denominator, p), negate((_quotient(-q.numerator, q.denominator, p), ZERO))[1]


def reciprocal(x: Interval, p: int) -> Interval:
    """Enclose 1 / x for the non-zero values of x."""
    (m, e), (n, f) = x
    if n <= 0 and m < 0:
        return negate(reciprocal(negate(x), p))
    if m < 0 or n == 0:
        return WHOLE
    low, high = _quotient(1, n, p), _quotient(-1, m, p) if m else ZERO
    return down(low[0], low[1] - f, p), up(-high[0], high[1] - e, p) if m else INF


def join(x: Interval, y: Interval) -> Interval:
    """Return the smallest interval around both."""
    return (x[0] if compare(x[0], y[0]) <= 0 else y[0]), (x[1] if compare(x[1], y[1]) >= 0 else y[1])


def meet(x: Interval, y: Interval) -> Interval:
    """Return the intersection of two intervals that both contain the value."""
    return (x[0] if compare(x[0], y[0]) >= 0 else y[0]), (x[1] if compare(x[1], y[1]) <= 0 else y[1])


def maximum(x: Interval, y: Interval) -> Interval:
    """Enclose max(x, y)."""
    return meet(x, y)[0], join(x, y)[1]


def absolute(x: Interval) -> Interval:
    """Enclose |x|."""
    return maximum(maximum(x, negate(x)), (ZERO, ZERO)) if x[0][0] < 0 else x


@lru_cache(maxsize=64)
def _ln2(wp: int) -> int:
    # L with L <= ln(2) * 2**wp <= L + 1, from ln 2 = 2 artanh(1/3), a series of positive terms: each of fewer than wp + 64 terms
    # loses less than 3 units of the 32 bits longer sum, the tail less than 3, so the true value is in [total, total + 2**30]
    power, n, total = (2 << (wp + 32)) // 3, 1, 0
    while power:
        total, power, n = total + power // n, power // 9, n + 2
    return total >> 32 if total >> 32 == (total + (1 << 30)) >> 32 else _ln2(wp + 32) >> 32


@lru_cache(maxsize=64)
def _pi(wp: int) -> int:
    # P with P <= pi * 2**wp <= P + 1, from Machin's 16 atan(1/5) - 4 atan(1/239): fewer than 2 (wp + 64) terms, each off by at most
    # 3 units of the 32 bits longer sum in either direction, so by less than 2**30 in all
    total = 0
    for factor, x in ((16, 5), (-4, 239)):
        power, n = (factor << (wp + 32)) // x, 1
        while power not in (0, -1):
            total += power // n if n % 4 == 1 else -(power // n)
            power, n = power // (x * x), n + 2
    low, high = (total - (1 << 30)) >> 32, (total + (1 << 30)) >> 32
    return low if low == high else _pi(wp + 32) >> 32


def _fixed(a: Num, wp: int) -> int:
    # floor(a * 2**wp)
    return a[0] << (a[1] + wp) if a[1] + wp >= 0 else a[0] >> -(a[1] + wp)


def _exp_point(a: Num, p: int) -> Interval:
    # exp(a), by a = k ln 2 + r with 0 <= r < ln 2 and the Taylor series of r. Every term is rounded down and at most 2 units too
    # small (2 r / n + 1 <= 2), the tail after the first term that vanished is below 4 units, and k ln 2 and the fixed-point a are
    # off by |k| + 1 units, which moves exp(r) < 2.1 by at most 4 (|k| + 1) units.
    size = a[0].bit_length() + a[1]
    if a[0] == 0:
        return ONE, ONE
    if size > 24:  # |a| >= 2**24, and exp(a) >= 2**a for a > 0
        return ((1, 1 << 24), INF) if a[0] > 0 else (ZERO, (1, -(1 << 24)))
    wp = p + 16 + max(size, 0)
    k, r = divmod(_fixed(a, wp), _ln2(wp))
    total, term, n = 0, 1 << wp, 0
    while term:
        total, n = total + term, n + 1
        term = (term * r >> wp) // n
    slack = 4 * (abs(k) + 1)
    return down(total - slack, k - wp, p), up(total + 2 * n + 4 + slack, k - wp, p)


def _log_point(a: Num, p: int) -> Interval:
    # log(a) for finite a > 0: a = 2**k y with 3/4 <= y < 3/2 and log y = 2 artanh(u), u = (y - 1)/(y + 1), |u| <= 1/5. Powers of u
    # rounded down are at most 2 units too small, so a term at most 3 units, and the tail after the first power that vanished is
    # below 3 units; k ln 2 is off by at most |k| units. Near a = 1 more bits keep the relative accuracy.
    m, s = a[0], a[0].bit_length()
    s -= 4 * m < 3 << s
    k, d = a[1] + s, m - (1 << s)
    wp = p + 16 + k.bit_length() + (min(s - abs(d).bit_length(), 2 * p) if k == 0 else 0)
    u = (abs(d) << wp) // (m + (1 << s))
    square, power, n, total = u * u >> wp, u, 0, 0
    while power:
        total, power, n = total + power // (2 * n + 1), power * square >> wp, n + 1
    low, high = 2 * total, 2 * (total + 3 * n + 3) if d else 0
    low, high = (low, high) if d >= 0 else (-high, -low)
    base = k * _ln2(wp)
    return down(low + base + min(k, 0), -wp, p), up(high + base + max(k, 0), -wp, p)


def exp(x: Interval, p: int) -> Interval:
    """Enclose the values of exp."""
    if x[0] == x[1]:
        return _exp_point(x[0], p)
    return ZERO if x[0] == _NEG_INF else _exp_point(x[0], p)[0], INF if x[1] == INF else _exp_point(x[1], p)[1]


def log(x: Interval, p: int) -> Interval:
    """Enclose log of the positive values of x."""
    if x[1][0] <= 0:
        return WHOLE
    return _NEG_INF if x[0][0] <= 0 else _log_point(x[0], p)[0], INF if x[1][1] >= _CAP else _log_point(x[1], p)[1]


def _cos_point(a: Num, p: int) -> Interval:
    # cos(a) for |a| < 2**k by k doublings, cos 2t = 2 cos(t)**2 - 1, from the Taylor series at |t| <= 1. t**2 is off by at most 4 units, a
    # term of the series by 4, the tail by 8; a doubling turns an error of d units into at most 4 d + 2 d**2 / 2**wp + 1 <= 8 d units.
    k = max(a[0].bit_length() + a[1], 0)
    wp = p + 16 + 3 * k
    square, total, term, n = _fixed((a[0], a[1] - k), wp) ** 2 >> wp, 0, 1 << wp, 0
    while term:
        total += -term if n % 2 else term
        term, n = (term * square >> wp) // ((2 * n + 1) * (2 * n + 2)), n + 1
    for _ in range(k):
        total = (total * total >> (wp - 1)) - (1 << wp)
    slack = (4 * n + 8) << (3 * k)
    return down(total - slack, -wp, p), up(total + slack, -wp, p)


def middle(x: Interval, p: int) -> Num:
    """Return a point near the middle of a bounded interval."""
    m, e = add((x[0], x[0]), (x[1], x[1]), p)[0]
    return m, e - 1


def cos(x: Interval, p: int) -> Interval:
    """Enclose cosines, which differ by no more than their arguments do."""
    if max(m.bit_length() + e for m, e in x) > 64:
        return _NEG_ONE, ONE
    c = middle(x, p)
    radius = absolute(add(x, negate((c, c)), p))[1]
    return meet(add(_cos_point(c, p), ((-radius[0], radius[1]), radius), p), (_NEG_ONE, ONE))


def pi(p: int) -> Interval:
    """Enclose pi."""
    return down(_pi(p), -p, p), up(_pi(p) + 1, -p, p)


def sin(x: Interval, p: int) -> Interval:
    """Enclose sines, which are cosines a quarter turn later."""
    return cos(add(x, mul(pi(p + 8), ((-1, -1), (-1, -1)), p + 8), p + 8), p)


def _natural_power(a: Num, n: int, p: int, rounding: Rounding) -> Num:
    # a**n for a >= 0, n >= 1, by squaring; all factors are >= 0, so that one rounding direction suffices
    result, base = ONE, a
    while n:
        result = rounding(result[0] * base[0], result[1] + base[1], p) if n & 1 else result
        n >>= 1
        base = rounding(base[0] * base[0], 2 * base[1], p) if n else base
    return result


def power(x: Interval, c: Fraction, p: int) -> Interval:
    """Enclose x**c for a rational constant c, for the values of x at which it is defined."""
    if c <= 0:
        return reciprocal(power(x, -c, p + 8), p) if c else (ONE, ONE)
    if c.denominator == 1 and x[0][0] >= 0:
        return _natural_power(x[0], c.numerator, p, down), _natural_power(x[1], c.numerator, p, up)
    if c.denominator == 1 and (c.numerator % 2 == 0 or x[1][0] <= 0):
        return power(absolute(x), c, p) if c.numerator % 2 == 0 else negate(power(negate(x), c, p))
    if c.denominator == 1:
        return negate(power((ZERO, negate(x)[1]), c, p))[0], power((ZERO, x[1]), c, p)[1]
    if x[1][0] < 0:
        return WHOLE
    exponent, q = from_fraction(c, p + 16), p + 16
    ends = [exp(mul(exponent, log((end, end), q), q), p) if end[0] > 0 else (ZERO, ZERO) for end in x]
    return ends[0][0], ends[1][1]
