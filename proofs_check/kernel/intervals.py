"""Outward-rounded dyadic intervals: every function returns an interval that contains every exact value.

A number is a pair ``(m, e)``, meaning ``m * 2**e``. Exponents of finite numbers stay below ``_CAP``; the infinities carry
the exponent ``_BIG`` beyond it, so that comparisons and products need no special cases. An interval ``(lo, hi)`` stands
for the *finite* reals between its ends, which is why ``0 * [1, inf] = 0`` is sound. ``p`` is the precision in bits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

Num = tuple[int, int]
Interval = tuple[Num, Num]

_CAP, _BIG = 1 << 40, 1 << 60
ZERO: Num = (0, 0)
ONE: Num = (1, 0)
INF: Num = (1, _BIG)
NEG_INF: Num = (-1, _BIG)
WHOLE: Interval = (NEG_INF, INF)


def down(m: int, e: int, p: int) -> Num:
    """A number of at most p bits that is <= m * 2**e."""
    excess = m.bit_length() - p
    if excess > 0:
        m >>= excess
        e += excess
    if -_CAP < e < _CAP:
        return (m, e)
    if m == 0:
        return ZERO
    if m > 0:  # too large: a huge finite number is still below; too small: zero is
        return (1, _CAP - 1) if e > 0 else ZERO
    return NEG_INF if e > 0 else (-1, 4096 - _CAP)  # |m| has at most p <= 1200 bits


def up(m: int, e: int, p: int) -> Num:
    """A number of at most p bits that is >= m * 2**e."""
    m, e = down(-m, e, p)
    return (-m, e)


def compare(a: Num, b: Num) -> int:
    """Negative, zero or positive as a < b, a = b or a > b."""
    m, e = a
    n, f = b
    if e == f or (m <= 0 <= n) or (n <= 0 <= m):
        return m - n
    size, other = m.bit_length() + e, n.bit_length() + f
    if size != other:
        return size - other if m > 0 else other - size
    return (m << (e - f)) - n if e > f else m - (n << (f - e))


def _sum(a: Num, b: Num, p: int, rounding: Callable[[int, int, int], Num]) -> Num:
    """a + b, rounded; a far smaller summand is replaced by one unit far below the last bit, on its outward side."""
    if a[1] < b[1]:
        a, b = b, a
    (m, e), (n, f) = a, b
    if m == 0 or n == 0:
        return rounding(n, f, p) if m == 0 else rounding(m, e, p)
    if e - f > 4096:  # |b| < 2**(f + 2000) < 2**(e - 2000), since mantissas have at most 2000 bits
        unit = min(n, 0) if rounding is down else max(n, 0)
        return rounding((m << 2000) + (unit > 0) - (unit < 0), e - 2000, p)
    return rounding((m << (e - f)) + n, f, p)


def add(x: Interval, y: Interval, p: int) -> Interval:
    """x + y."""
    return _sum(x[0], y[0], p, down), _sum(x[1], y[1], p, up)


def negate(x: Interval) -> Interval:
    """-x."""
    (m, e), (n, f) = x
    return (-n, f), (-m, e)


def mul(x: Interval, y: Interval, p: int) -> Interval:
    """x * y."""
    (a, e), (b, f) = x
    (c, g), (d, h) = y
    if a >= 0 and c >= 0:
        return down(a * c, e + g, p), up(b * d, f + h, p)
    products = [(a * c, e + g), (a * d, e + h), (b * c, f + g), (b * d, f + h)]
    low = high = products[0]
    for product in products[1:]:
        if compare(product, low) < 0:
            low = product
        if compare(product, high) > 0:
            high = product
    return down(*low, p), up(*high, p)


def _quotient(n: int, d: int, p: int) -> Num:
    """A number of about p bits that is <= n / d, for d > 0."""
    shift = max(0, p + 2 + d.bit_length() - n.bit_length())
    return down((n << shift) // d, -shift, p)


def from_fraction(q: Fraction, p: int) -> Interval:
    """The number q; a point if it is dyadic and short."""
    m, e = _quotient(-q.numerator, q.denominator, p)
    return _quotient(q.numerator, q.denominator, p), (-m, e)


def to_fraction(a: Num) -> Fraction:
    """The exact value of a finite number of moderate exponent."""
    return Fraction(a[0] << a[1]) if a[1] >= 0 else Fraction(a[0], 1 << -a[1])


def reciprocal(x: Interval, p: int) -> Interval:
    """1 / x for the non-zero values of x."""
    (m, e), (n, f) = x
    if n <= 0 and m < 0:
        return negate(reciprocal(negate(x), p))
    if m < 0 or n == 0:
        return WHOLE
    (a, g), (b, h) = _quotient(1, n, p), _quotient(-1, m, p) if m else (0, 0)
    return down(a, g - f, p), up(-b, h - e, p) if m else INF


def join(x: Interval, y: Interval) -> Interval:
    """The smallest interval around both."""
    return (x[0] if compare(x[0], y[0]) <= 0 else y[0]), (x[1] if compare(x[1], y[1]) >= 0 else y[1])


def meet(x: Interval, y: Interval) -> Interval:
    """The intersection of two intervals that both contain the value."""
    return (x[0] if compare(x[0], y[0]) >= 0 else y[0]), (x[1] if compare(x[1], y[1]) <= 0 else y[1])


def absolute(x: Interval) -> Interval:
    """|x|."""
    if x[0][0] >= 0:
        return x
    minus = negate(x)
    return minus if x[1][0] <= 0 else (ZERO, join(x, minus)[1])


def maximum(x: Interval, y: Interval) -> Interval:
    """max(x, y)."""
    return meet(x, y)[0], join(x, y)[1]


@lru_cache(maxsize=64)
def _ln2(wp: int) -> int:
    """L with L <= ln(2) * 2**wp <= L + 1, from ln 2 = 2 artanh(1/3), a series of positive terms."""
    power, n, total = (2 << (wp + 32)) // 3, 1, 0
    while power:
        total += power // n
        power, n = power // 9, n + 2
    # each of fewer than wp + 64 terms lost less than 3 units, the tail less than 3: true value in [total, total + 2**30]
    return total >> 32 if total >> 32 == (total + (1 << 30)) >> 32 else _ln2(wp + 32) >> 32


@lru_cache(maxsize=64)
def _pi(wp: int) -> int:
    """P with P <= pi * 2**wp <= P + 1, from Machin's 16 atan(1/5) - 4 atan(1/239)."""
    total = 0
    for factor, x in ((16, 5), (-4, 239)):
        power, n = (factor << (wp + 32)) // x, 1
        while power not in (0, -1):
            total += power // n if n % 4 == 1 else -(power // n)
            power, n = power // (x * x), n + 2
    # fewer than 2 (wp + 64) terms, each off by at most 3 units in either direction: less than 2**30 units in all
    low, high = (total - (1 << 30)) >> 32, (total + (1 << 30)) >> 32
    return low if low == high else _pi(wp + 32) >> 32


def _exp_point(a: Num, p: int) -> Interval:
    """exp(a), by a = k ln 2 + r with 0 <= r < ln 2 and the Taylor series of r.

    With R <= r + d units and every term rounded down, a term is at most 2 units too small (2 r / n + 1 <= 2), the tail
    after the first term that vanished is below 4 units, and moving r by d units (k and x are off by |k| + 1 units)
    moves exp(r) < 2.1 by at most 4 d units.
    """
    m, e = a
    size = m.bit_length() + e
    if m == 0:
        return ONE, ONE
    if size > 24:  # |a| >= 2**24, and exp(a) >= 2**a for a > 0
        return ((1, 1 << 24), INF) if m > 0 else (ZERO, (1, -(1 << 24)))
    wp = p + 16 + max(size, 0)
    x = m << (e + wp) if e + wp >= 0 else m >> -(e + wp)
    ln2 = _ln2(wp)
    k = x // ln2
    r = x - k * ln2
    total, term, n = 0, 1 << wp, 0
    while term:
        total += term
        n += 1
        term = (term * r >> wp) // n
    slack = 4 * (abs(k) + 1)
    return down(total - slack, k - wp, p), up(total + 2 * n + 4 + slack, k - wp, p)


def _log_point(a: Num, p: int) -> Interval:
    """log(a) for finite a > 0: a = 2**k y with 3/4 <= y < 3/2 and log y = 2 artanh(u), u = (y - 1)/(y + 1), |u| <= 1/5.

    Powers of u rounded down are at most 2 units too small, so a term at most 3 units, and the tail after the first power
    that vanished is below 3 units; k ln 2 is off by at most |k| units.
    """
    m, e = a
    s = m.bit_length()
    s -= 4 * m < 3 << s
    k, d = e + s, m - (1 << s)
    wp = p + 16 + k.bit_length() + (min(s - abs(d).bit_length(), 2 * p) if k == 0 else 0)
    u = (abs(d) << wp) // (m + (1 << s))
    square, power, n, total = u * u >> wp, u, 0, 0
    while power:
        total += power // (2 * n + 1)
        power, n = power * square >> wp, n + 1
    low, high = 2 * total, 2 * (total + 3 * n + 3) if d else 0
    if d < 0:
        low, high = -high, -low
    ln2 = _ln2(wp)
    return down(low + k * ln2 + min(k, 0), -wp, p), up(high + k * ln2 + max(k, 0), -wp, p)


def exp(x: Interval, p: int) -> Interval:
    """exp(x)."""
    if x[0] == x[1]:
        return _exp_point(x[0], p)
    low = ZERO if x[0] == NEG_INF else _exp_point(x[0], p)[0]
    return low, INF if x[1] == INF else _exp_point(x[1], p)[1]


def log(x: Interval, p: int) -> Interval:
    """log of the positive values of x."""
    if x[1][0] <= 0:
        return WHOLE
    low = NEG_INF if x[0][0] <= 0 else _log_point(x[0], p)[0]
    return low, INF if x[1][1] >= _CAP else _log_point(x[1], p)[1]


def _cos_point(a: Num, p: int) -> Interval:
    """cos(a) by reduction modulo 2 pi to |r| <= 3.2 and the Taylor series.

    A term is off by at most 5 units (floors of the term and of r**2), the tail after the first vanished term by at most
    16 units, and moving r by d units moves cos by at most d units (here d = 2 |q| + 1, plus one for x).
    """
    m, e = a
    size = m.bit_length() + e
    if size > 64:
        return (-1, 0), ONE
    wp = p + 24 + max(size, 0)
    x = m << (e + wp) if e + wp >= 0 else m >> -(e + wp)
    pi = _pi(wp)
    q = (x + pi) // (2 * pi)
    square = (x - 2 * q * pi) ** 2 >> wp
    total, term, n = 0, 1 << wp, 0
    while term:
        total += -term if n % 2 else term
        term = (term * square >> wp) // ((2 * n + 1) * (2 * n + 2))
        n += 1
    slack = 8 * n + 18 + 2 * abs(q)
    return meet((down(total - slack, -wp, p), up(total + slack, -wp, p)), ((-1, 0), ONE))


def cos(x: Interval, p: int) -> Interval:
    """cos(x): the values at the ends, and 1 or -1 if a multiple of pi may lie between."""
    (m, e), (n, f) = x
    if max(m.bit_length() + e, n.bit_length() + f) > 64:
        return (-1, 0), ONE
    wp = p + 70
    a = m << (e + wp) if e + wp >= 0 else m >> -(e + wp)
    b = (n << (f + wp) if f + wp >= 0 else n >> -(f + wp)) + 1
    pi = _pi(wp)
    first = -(-a // (pi + 1 if a >= 0 else pi))  # the least k with k pi >= x[0], or smaller
    last = b // (pi if b >= 0 else pi + 1)
    result = join(_cos_point(x[0], p), _cos_point(x[1], p))
    if first < last:
        return (-1, 0), ONE
    if first == last:
        result = join(result, ((-1, 0), (-1, 0)) if first % 2 else (ONE, ONE))
    return result


def pi(p: int) -> Interval:
    """pi."""
    value = _pi(p)
    return down(value, -p, p), up(value + 1, -p, p)


def sin(x: Interval, p: int) -> Interval:
    """sin(x) = cos(x - pi/2)."""
    (a, e), (b, f) = negate(pi(p + 8))
    return cos(add(x, ((a, e - 1), (b, f - 1)), p + 8), p)


def _natural_power(a: Num, n: int, p: int, rounding: Callable[[int, int, int], Num]) -> Num:
    """a**n for a >= 0, n >= 1, by squaring; all factors are >= 0, so that one rounding direction suffices."""
    result, base = ONE, a
    while n:
        if n & 1:
            result = rounding(result[0] * base[0], result[1] + base[1], p)
        n >>= 1
        if n:
            base = rounding(base[0] * base[0], 2 * base[1], p)
    return result


def _integer_power(x: Interval, n: int, p: int) -> Interval:
    """x**n for n >= 1: monotone on x >= 0; even or odd under x -> -x."""
    if x[0][0] >= 0:
        return _natural_power(x[0], n, p, down), _natural_power(x[1], n, p, up)
    if n % 2 == 0:
        return _integer_power(absolute(x), n, p)
    low = (-x[0][0], x[0][1])
    m, e = _natural_power(low, n, p, up)
    if x[1][0] > 0:
        return (-m, e), _natural_power(x[1], n, p, up)
    k, f = _natural_power((-x[1][0], x[1][1]), n, p, down)
    return (-m, e), (-k, f)


def power(x: Interval, c: Fraction, p: int) -> Interval:
    """x**c for a rational constant c, for the values of x at which it is defined."""
    if c == 0:
        return ONE, ONE
    if c < 0:
        return reciprocal(power(x, -c, p + 8), p)
    if c.denominator == 1:
        return _integer_power(x, c.numerator, p)
    if x[1][0] < 0:
        return WHOLE
    q = p + 16
    exponent = from_fraction(c, q)
    low = ZERO if x[0][0] <= 0 else exp(mul(exponent, log((x[0], x[0]), q), q), p)[0]
    high = exp(mul(exponent, log((x[1], x[1]), q), q), p)[1] if x[1][0] else ZERO
    return low, high
