"""Privacy curves of single events: how much either law of a dominating pair gives to the losses above a point, with a proved error."""
# Proofs: docs/composition-bounds.md, whose sections are named below. P and Q are the laws with and without the record. A base mechanism
# maps b > 0 to (V, S) with V = P(L > log b), S = Q(L > log b) for L = log dP/dQ, so that its curve is V - b S, or to V, S of another line
# that touches the curve at b. The arithmetic is in the current decimal context, which rounds to nearest; u is 10^(1 - its precision).

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, isqrt

from ...core.documents import KEPT, Meter, require
from ...core.intervals import MOST_PLACES

Base = Callable[[Decimal], tuple[Decimal, Decimal]]
POINT = 14  # nanoseconds that a point takes, times 2400 and the square of its digits
GUARD = 16  # of the digits that are worked with, those that are not claimed
_ONE, _ZERO = Decimal(1), Decimal(0)
_NODES, _FAR = 8, 64  # Mills' ratio: Taylor polynomials around the multiples of 1/8 up to 64, a continued fraction beyond


def context(digits: int) -> Context:
    """Return a context that rounds to nearest, with exponents that no number here leaves."""
    traps = [InvalidOperation, DivisionByZero, Overflow]
    return Context(digits, ROUND_HALF_EVEN, -MOST_PLACES, MOST_PLACES, 1, 0, [], traps)


def decimal(q: Fraction) -> Decimal:
    """Return q with a relative error below 2 u."""
    return Decimal(q.numerator) / Decimal(q.denominator)


def gaussian(m: Fraction, meter: Meter) -> Base:
    """N(1, 1/m) against N(0, 1/m): V = 1 - Phi(z), S = 1 - Phi(z + mu) with mu^2 = m, z = log(b)/mu - mu/2 (section 7)."""
    mu, far, mills, height = normal(m, 10**9, meter)

    def upper(x: Decimal, density: Decimal) -> Decimal:
        return density * mills(x) if x >= 0 else 1 - density * mills(-x)

    def base(b: Decimal) -> tuple[Decimal, Decimal]:
        z = b.ln() / mu - mu / 2
        if z > far or z + mu < -far:
            return (_ZERO, _ZERO) if z > 0 else (_ONE, _ONE)
        density = height * (z * z / -2).exp()
        return upper(z, density), upper(z + mu, density / b)

    return base


def gaussian_delta(m: Fraction, meter: Meter) -> Callable[[Fraction], Decimal]:
    """V - e^epsilon S of that pair for epsilon >= 0, as 1 - Phi(z) - phi(z) M(z + mu): without the exponential (section 7)."""
    mu, far, mills, height = normal(m, 10**10, meter)

    def delta(epsilon: Fraction) -> Decimal:
        z = decimal(epsilon) / mu - mu / 2
        if z > far:
            return _ZERO
        density = height * (z * z / -2).exp()
        return (density * mills(z) if z >= 0 else 1 - density * mills(-z)) - density * mills(z + mu)

    return delta


def normal(m: Fraction, most: int, meter: Meter) -> tuple[Decimal, int, Callable[[Decimal], Decimal], Decimal]:
    """Return mu, a point whose density is below all digits, Mills' ratio, and the density at 0."""
    require(Fraction(1, 10**30) <= m <= most, "the noise of a Gaussian event is out of range")
    digits, mu = getcontext().prec, decimal(m).sqrt()
    far = 3 * isqrt(digits) + 3  # exp(-far^2/2) < 10^-digits
    end = min(_FAR, far + ceil(mu))
    meter.once((end, digits), end * digits * (4_000 + 6 * digits))
    mills = _mills(end, digits)
    return mu, far, mills, 1 / (2 * mills(_ZERO))


def normal_tail(m: Fraction, meter: Meter) -> tuple[Callable[[Decimal], Decimal], int]:
    """Return 1 - Phi, to relative digits however small it is, as slopes multiply it; and a place beyond which it is below all digits."""
    _, far, mills, height = normal(m, 10**5, meter)
    work = POINT // 2 * (2400 + getcontext().prec ** 2)

    def tail(x: Decimal) -> Decimal:
        meter.work(work if abs(x) <= far else 2 * work)
        density = height * (x * x / -2).exp()
        return density * mills(x) if x >= 0 else 1 - density * mills(-x)

    return tail, far


@lru_cache(maxsize=KEPT)
def _mills(end: int, digits: int) -> Callable[[Decimal], Decimal]:
    # M(x) = (1 - Phi(x))/phi(x): at the end by the continued fraction 1/(x + 1/(x + 2/(x + ...))), whose convergents lie on either side,
    # and from each node to the next one below by the Taylor polynomial; M' = x M - 1, and the n-th coefficient is at most 1.26/n!!
    nodes = list[tuple[Decimal, ...]]()
    terms = ((2 * _NODES, digits), (_NODES, digits + 9))
    short, long = (next(n for n in range(2, 400) if k**n * _double_factorial(n) > 10**p) for k, p in terms)
    with localcontext(context(digits + 20)):
        value, step = _fraction(Decimal(end)), Decimal(-1) / _NODES
        for k in range(_NODES * end, -1, -1):
            x, total = Decimal(k) / _NODES, _ZERO
            c = [value, x * value - 1]
            for n in range(1, long):
                c.append((x * c[n] + c[n - 1]) / (n + 1))
            for a in reversed(c):
                total = total * step + a
            nodes.append(tuple(reversed(c[: short + 1])))
            value = total
    nodes.reverse()

    def ratio(x: Decimal) -> Decimal:
        if x > end:
            return _fraction(x)
        k = int(x * _NODES + Decimal("0.5"))
        d, total = x - Decimal(k) / _NODES, _ZERO
        for a in nodes[k]:
            total = d.fma(total, a)
        return total

    return ratio


def _fraction(x: Decimal) -> Decimal:
    with localcontext(context(getcontext().prec + 5)):
        a, b, c, d, k, least = _ZERO, _ONE, _ONE, x, 0, Decimal((0, (1,), -getcontext().prec))
        while abs(a / b - c / d) > least:
            k += 1
            a, b, c, d = c, d, x * c + k * a, x * d + k * b
        return c / d


def _double_factorial(n: int) -> int:
    return 1 if n < 2 else n * _double_factorial(n - 2)


def laplace(c: Fraction, _meter: Meter) -> Base:
    """Laplace noise of scale 1/c around 1 against the same around 0 (section 8)."""
    require(Fraction(1, 10**12) <= c <= 10**5, "the noise of a Laplace event is out of range")
    top, half = decimal(c).exp(), (decimal(c) / -2).exp() / 2

    def base(b: Decimal) -> tuple[Decimal, Decimal]:
        if b >= top or b * top <= 1:
            return (_ZERO, _ZERO) if b > 1 else (_ONE, _ONE)
        root = b.sqrt()
        return 1 - half * root, half / root

    return base


def discrete_gaussian(variance: Fraction, meter: Meter) -> Base:
    """An integer K with weights exp(-k^2/(2 variance)), K + 1 against K (section 9)."""
    require(Fraction(1, 10**8) <= variance <= 10**8, "the noise of a discrete Gaussian event is out of range")
    meter.work(500 * isqrt(ceil(variance)) * getcontext().prec)
    ratio, weight = (decimal(1 / variance) / -2).exp(), _ONE
    step, factor, weights = ratio * ratio, ratio, list[Decimal]()
    while not weights or weights[-1] > Decimal((0, (1,), -getcontext().prec)):
        weights.append(weight)  # the last one is below: a loss multiplies those left out by up to the ratio of two neighbors
        weight, factor = weight * factor, factor * step
    tails = [_ZERO]
    for weight in reversed(weights):
        tails.append(tails[-1] + weight)
    tails.reverse()  # the sum of the weights from k on, for k = 0, 1, ...
    whole = tails[0] * 2 - 1

    def tail(k: int) -> Decimal:
        return tails[min(k, len(weights))] / whole if k > 0 else 1 - tails[min(1 - k, len(weights))] / whole

    def base(b: Decimal) -> tuple[Decimal, Decimal]:
        k = floor(decimal(variance) * b.ln() + Decimal("0.5"))
        return tail(k), tail(k + 1)

    return base


def two_sided(e: Fraction | None, d: Fraction, back_e: Fraction | None, back_d: Fraction, _meter: Meter) -> Base:
    """The worst of the pairs with H(P, Q) <= d at exp(e) and H(Q, P) <= back_d at exp(back_e); None says nothing (section 10)."""
    loss = (e or Fraction(0)) + (back_e or Fraction(0))
    require(loss <= 10**5 and (not loss or loss >= Fraction(1, 10**12)), "the loss of an event is out of range")
    rest, back = decimal(1 - d), decimal(1 - back_d)
    high, low = decimal(e or Fraction(0)).exp(), (-decimal(back_e or Fraction(0))).exp()
    lines: list[tuple[Decimal, Decimal]]
    if e is None:
        lines = [(_ONE, back), (1 - low * back, _ZERO)]
    elif back_e is None:
        lines = [(_ONE, rest / high), (decimal(d), _ZERO)]
    elif not loss:
        lines = [(_ONE, max(rest, back)), (decimal(min(d, back_d)), _ZERO)]
    else:
        bottom = 1 - low * back
        slope = (rest - low * back) / (high - low)
        kinked = [(_ONE, back), (decimal(d) + high * slope, slope), (decimal(d), _ZERO)]
        lines = [(_ONE, back), (bottom, _ZERO)] if slope <= 0 else [(_ONE, rest / high), (decimal(d), _ZERO)] if slope > back else kinked

    def base(b: Decimal) -> tuple[Decimal, Decimal]:
        values = [line[0] - b * line[1] for line in lines]
        return lines[values.index(max(values))]

    return base


def renyi(rho: Fraction, order: Fraction) -> Base:
    """The worst of the pairs with a Renyi divergence of at most order rho at this order (section 10)."""
    require(order >= Fraction(1001, 1000) and order**2 * max(rho, Fraction(1)) <= 5 * 10**8, "an order is out of range")
    require(rho >= Fraction(1, 10**12), "a rho is out of range")
    a, less = decimal(order), decimal(order - 1)
    height = (less * (less / a).ln() + decimal(order * (order - 1) * rho)).exp()  # a times the bound at 1
    touch = (height.ln() / less).exp()

    def base(b: Decimal) -> tuple[Decimal, Decimal]:
        if b <= touch:
            return _ONE, less / a / touch
        above = ((touch / b).ln() * less).exp()
        return above, above * less / a / b

    return base


def sampled(base: Base, q: Fraction, *, remove: bool) -> Base:
    """Return the map from a > 0 to V, S of ((1 - q) Q + q P, Q) if remove, else of (Q, (1 - q) Q + q P) (section 6)."""
    # base is that of (P, Q) if remove, else that of (Q, P)
    rate, rest = decimal(q), decimal(1 - q)

    def at(a: Decimal) -> tuple[Decimal, Decimal]:
        w, b = (rate, a - rest) if remove else (1 - a * rest, a * rate)
        if w <= 0 or b <= 0:
            return (_ZERO, _ZERO) if w <= 0 else (_ONE, _ONE)
        v, s = base(b / w)
        return (rest * s + rate * v, s) if remove else (v, rest * v + rate * s)

    return at
