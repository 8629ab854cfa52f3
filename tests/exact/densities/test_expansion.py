"""Patterns of the sparse vector technique, against an expansion of the integrand into exponentials that is integrated term by term."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from proofs_check.exact import expectation_over_laplace, laplace_cdf, laplace_sf

MOST_BITS = 200_000
answer = st.fractions(-5, 5, max_denominator=20)
scale = st.builds(
    lambda mantissa, power: mantissa * Fraction(10) ** power, st.fractions(Fraction(1, 20), 3, max_denominator=20), st.integers(-1, 2)
)


def times_law(terms, rate, offset, *, negative):
    """Multiply Σ v·e^(slope·r + c), as {(slope, c): v}, by the distribution function of Laplace(1) at rate·r + offset."""
    product = {}
    for (slope, c), v in terms.items():
        sign = 1 if negative else -1
        key = (slope + sign * rate, c + sign * offset)
        product[key] = product.get(key, arb(0)) + sign * v / 2
        if not negative:
            product[slope, c] = product.get((slope, c), arb(0)) + v
    return product


def expand(queries, threshold, rho, nu):
    """Return a ball around ∫ f_ρ(r) Π F_ν(±(r + T − x)) dr at the working precision."""
    total = arb(0)
    ends = [None, *sorted({Fraction(0), *(x - threshold for x, _ in queries)}), None]
    for low, high in itertools.pairwise(ends):
        inside = high - 1 if low is None else low + 1 if high is None else (low + high) / 2
        terms = {((1 if inside < 0 else -1) / rho, Fraction(0)): 1 / (2 * ball(rho))}
        for x, above in queries:
            side = -1 if above else 1
            negative = side * (inside + threshold - x) < 0
            terms = times_law(terms, side / nu, side * (threshold - x) / nu, negative=negative)
        for (slope, c), v in terms.items():
            at_ends = [arb(0) if end is None else ball(slope * end + c).exp() for end in (low, high)]
            total += v * (at_ends[1] - at_ends[0]) / ball(slope) if slope else v * ball(c).exp() * ball(high - low)
    return total


@settings(max_examples=25, deadline=None)
@given(
    queries=st.lists(st.tuples(answer, st.booleans()), min_size=1, max_size=6),
    threshold=answer,
    rho=scale,
    nu=scale,
)
def test_patterns_agree_with_their_expansion(queries, threshold, rho, nu):
    found = expectation_over_laplace(
        rho,
        lambda r: math.prod(laplace_sf(r + threshold - x, nu) if above else laplace_cdf(r + threshold - x, nu) for x, above in queries),
    )
    bits = 300
    while True:
        with working_precision(bits):
            truth = expand(queries, threshold, rho, nu)
        if truth.rel_accuracy_bits() > 80 or bits > MOST_BITS:
            break
        bits *= 4
    lower, upper = lower_fraction(truth), upper_fraction(truth)
    assert found.lower <= upper
    assert lower <= found.upper
    assert found.upper - found.lower <= max(Fraction(1, 2**44) * found.upper, Fraction(1, 2**49_000))
