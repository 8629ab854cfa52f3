"""The curves of single events against mpmath at 60 digits and against sums and cases written out here."""

import random
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

import mpmath
import pytest

from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.theories.compositions import curves

DIGITS = 40
TABLES = {}
CLAIMED = mpmath.mpf(10) ** -DIGITS


@pytest.fixture(autouse=True)
def _precise():
    with mpmath.workdps(90), localcontext(curves.context(DIGITS + curves.GUARD)):
        yield


def to_mp(x):
    if isinstance(x, Decimal):  # whose exponent may be too large for a fraction
        return mpmath.mpf(str(x))
    return mpmath.mpf(x.numerator) / x.denominator


def gaussian(m, x):
    """P(L > x) and Q(L > x)."""
    mu = mpmath.sqrt(to_mp(m))
    return mpmath.ncdf(mu / 2 - x / mu), mpmath.ncdf(-mu / 2 - x / mu)


def laplace(c, x):
    # L = c (|y| - |y - 1|) > x, where y is above (1 + x/c)/2 if |x| < c
    c = to_mp(c)
    if abs(x) >= c:
        return (0, 0) if x > 0 else (1, 1)
    y = (1 + x / c) / 2
    return 1 - mpmath.exp((y - 1) * c) / 2, mpmath.exp(-y * c) / 2


def discrete_gaussian(variance, x):
    v = to_mp(variance)
    if variance not in TABLES:
        TABLES[variance] = _weights(v)
    weights, total = TABLES[variance]
    p = mpmath.fsum(w for k, w in weights.items() if 2 * (k + 1) - 1 > 2 * v * x)
    return p / total, mpmath.fsum(w for k, w in weights.items() if 2 * k - 1 > 2 * v * x) / total


def _weights(v):
    reach = int(mpmath.sqrt(v * 2 * 200)) + 3
    weights = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * v)) for k in range(-reach, reach + 1)}
    return weights, mpmath.fsum(weights.values())


def made(make, *numbers):
    """The curve; what makes a table for it has a meter pay for that."""
    return make(*numbers, Meter())


BASES = [
    *((curves.gaussian, gaussian, Fraction(m)) for m in ("1", "1/9", "1e-8", "400", "12345.6", "1e7", "1e-24")),
    *((curves.laplace, laplace, Fraction(c)) for c in ("1", "1/50", "7", "1e-9")),
    *((curves.discrete_gaussian, discrete_gaussian, Fraction(v)) for v in ("1", "1/50", "30.5", "400", "1/100", "1/400", "1e-8")),
]


@pytest.mark.thorough(quick=15)
@pytest.mark.parametrize(("make", "law", "number"), BASES, ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.parametrize("q", [Fraction(1), Fraction(1, 3), Fraction(1, 10**4)], ids=str)
def test_the_curve_has_the_digits_that_it_claims(make, law, number, q):
    # H of ((1-q) Q + q P, Q) at a is q H(P, Q) at (a - 1 + q)/q; that of (Q, (1-q) Q + q P) is the same after exchange: written out by laws
    rng, base, rate = random.Random(f"{make.__name__} {number} {q}"), made(make, number), to_mp(q)
    for _ in range(12):
        scale = float(number) if make is curves.laplace else float(number if make is curves.gaussian else 1 / number) ** 0.5
        centre = scale**2 / 2 if make is not curves.laplace else 0
        inner = to_mp(Fraction(rng.uniform(-8, 8) * scale + centre))  # the loss of the pair itself
        outer = mpmath.log(1 - rate + rate * mpmath.exp(inner))  # that of the mixture against Q
        for remove in (True, False):
            loss = Fraction(str(mpmath.nstr(outer if remove else -outer, 30)))
            a = curves.decimal(loss).exp()
            v, s = curves.sampled(base, q, remove=remove)(a)
            exact = mpmath.exp(to_mp(loss))
            b = (exact - 1 + rate) / rate if remove else (1 / exact - 1 + rate) / rate
            if b <= 0:
                assert (v, s) == ((1, 1) if remove else (0, 0))
                continue
            p, reference = law(number, mpmath.log(b))
            above_mixture, above_q = (1 - rate) * reference + rate * p, reference
            truth = above_mixture - exact * above_q if remove else (1 - above_q) - exact * (1 - above_mixture)
            found = to_mp(v) - to_mp(a) * to_mp(s)
            assert abs(found - truth) < CLAIMED, (loss, remove)


@pytest.mark.parametrize("end", [1, 7, 24, 64])
def test_mills_ratio(end):
    ratio = curves._mills(end, getcontext().prec)
    for k in range(90):
        x = Fraction(k * end, 60) + Fraction(k, 997)
        z = to_mp(x)
        truth = mpmath.exp(z * z / 2) * mpmath.erfc(z / mpmath.sqrt(2)) * mpmath.sqrt(mpmath.pi / 2)
        assert abs(to_mp(ratio(curves.decimal(x))) - truth) < mpmath.mpf(10) ** (-DIGITS - curves.GUARD + 2)


def hull_of_cases(e, d, back_e, back_d, b):
    """The largest value at b of a convex, falling function that is 1 at 0, at least 1 - b, and keeps both conditions."""
    points = [(mpmath.mpf(0), mpmath.mpf(1))]
    if back_e is not None:
        points.append((mpmath.exp(-to_mp(back_e)), 1 - mpmath.exp(-to_mp(back_e)) * (1 - to_mp(back_d))))
    if e is not None:
        points.append((mpmath.exp(to_mp(e)), to_mp(d)))
    last = max(points)[0]
    values = [min(y for x, y in points if x <= b)]  # falling
    values += [y0 + (y1 - y0) * (b - x0) / (x1 - x0) for x0, y0 in points for x1, y1 in points if x0 <= b <= x1 and x0 < x1]
    return min(values) if b <= last else min(y for _, y in points)


@pytest.mark.parametrize(
    "numbers",
    [
        ("1", "0", "1", "0"),
        ("1/2", "1e-5", "1/2", "1e-5"),
        ("1/3", "1e-2", "2", "1/4"),
        ("0", "0", "0", "0"),
        ("0", "1/10", "0", "1/5"),
        ("0", "1/10", "1", "1/2"),
        (None, "0", "1", "1/9"),
        ("2", "1/7", None, "0"),
        ("9000", "0", "1/1000", "1e-9"),
    ],
)
def test_the_worst_pair_of_two_conditions(numbers):
    e, d, back_e, back_d = (None if x is None else Fraction(x) for x in numbers)
    base = curves.two_sided(e, d, back_e, back_d, Meter())
    for k in range(-40, 41):
        b = curves.decimal(Fraction(k, 10)).exp()
        v, s = base(b)
        assert abs(to_mp(v - b * s) - hull_of_cases(e, d, back_e, back_d, to_mp(b))) < CLAIMED


@pytest.mark.parametrize(
    ("make", "numbers"),
    [
        (curves.gaussian, ["1e11"]),
        (curves.gaussian, ["1e-31"]),
        (curves.laplace, ["1e6"]),
        (curves.discrete_gaussian, ["1e9"]),
        (curves.two_sided, ["1e-13", "0", "0", "0"]),
        (curves.two_sided, ["1e6", "0", "0", "0"]),
    ],
)
def test_what_is_out_of_range_is_rejected(make, numbers):
    with pytest.raises(Rejected, match="out of range"):
        made(make, *map(Fraction, numbers))


def largest_curve(e, d, back_e, back_d):
    """The points whose lower hull is the largest curve with H(P, Q) <= d at e^e, H(Q, P) <= d' at e^e': convex, falling, 1 at 0."""
    low, high = mpmath.exp(-mpmath.mpf(back_e.numerator) / back_e.denominator), mpmath.exp(mpmath.mpf(e.numerator) / e.denominator)
    below, above = 1 - low * (1 - mpmath.mpf(back_d.numerator) / back_d.denominator), mpmath.mpf(d.numerator) / d.denominator
    return [(mpmath.mpf(0), mpmath.mpf(1)), (low, below), (high, above), (mpmath.mpf(10) ** 60, min(below, above))]


def hull_at(points, place):
    """The lower hull of points at a place: the smallest of all chords, and of the points there."""
    chords = [
        q[1] + (p[1] - q[1]) * (q[0] - place) / (q[0] - p[0]) for p in points for q in points if p[0] <= place <= q[0] and p[0] < q[0]
    ]
    return min(chords + [y for x, y in points if x == place])


@pytest.mark.parametrize(
    ("e", "d", "back_e", "back_d"),
    [("1", ".9", "1", "0"), ("1", ".001", ".000001", "0"), ("1", ".00001", ".000001", "0"), ("2", ".1", "1", ".05"), (".5", "0", "2", ".3"),
     ("1", "0", "1", "0"), ("3", ".999", "0", ".001"), ("0", ".5", "2", ".1"), (".1", ".2", "4", ".7")],
)  # fmt: skip
def test_two_conditions_have_the_largest_curve_which_falls(e, d, back_e, back_d):
    numbers = [Fraction(text) for text in (e, d, back_e, back_d)]
    with localcontext(curves.context(60)), mpmath.workdps(60):
        base, points, last = curves.two_sided(*numbers, Meter()), largest_curve(*numbers), mpmath.mpf(1)
        for place in ("0.001", "0.2", "0.37", "0.9999995", "1", "1.7", "2.71", "3", "20", "1000"):
            v, s = base(Decimal(place))
            found = mpmath.mpf(str(v - Decimal(place) * s))
            assert s >= 0
            assert abs(found - hull_at(points, mpmath.mpf(place))) < mpmath.mpf(10) ** -45
            assert found <= last
            last = found
