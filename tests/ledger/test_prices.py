"""docs/ledger.md, Lemma 1 and Theorem M: what releases cost, each price exactly rounded up, and what three components promise together."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, cosh, exp, log, tanh

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.ledger.amounts import BITS, DELTA_BITS, MOST, CostGrid
from accountant.ledger.prices import Free, PriceShape, RowCost, RowsPrice, ShiftPrice, group_delta


def tanh_exact(total: Fraction, *, digits: int = 60) -> Fraction:
    with mpmath.workdps(digits):
        value = mpmath.mpf(total.numerator) / total.denominator
        found = value * mpmath.tanh(value / 2) * mpmath.mpf(2) ** 120
        return Fraction(int(mpmath.floor(found)), 2**120)


# --- Lemma 1 --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 5.0, 20.0])
def test_a_pure_mechanism_has_the_rho_of_randomised_response_and_no_less(epsilon):
    """D_α of randomised response is log(cosh((α − ½)ε)/cosh(ε/2))/(α − 1) ≤ α ε tanh(ε/2), and α → 1 attains it."""
    for alpha in [1 + 10.0**-k for k in range(1, 8)] + [1 + k / 7 for k in range(1, 200)]:
        with mpmath.workdps(40):
            a, e = mpmath.mpf(alpha), mpmath.mpf(epsilon)
            divergence = mpmath.log(mpmath.cosh((a - 0.5) * e) / mpmath.cosh(e / 2)) / (a - 1)
            p = mpmath.e**e / (1 + mpmath.e**e)
            assert abs(divergence - mpmath.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)) < mpmath.mpf(10) ** -20
            assert divergence <= a * e * mpmath.tanh(e / 2) * (1 + mpmath.mpf(10) ** -25)
    kl = (exp(epsilon) - 1) / (exp(epsilon) + 1) * epsilon
    assert kl == pytest.approx(epsilon * tanh(epsilon / 2))
    assert cosh(epsilon / 2) > 1


@given(st.integers(0, 2**33), st.integers(0, 25), st.integers(0, 12))
def test_the_price_of_a_pure_total_is_the_least_step_above_it(total, shift, more):
    shifts, costs = CostGrid(shift), CostGrid(shift + more)
    (found,) = PriceShape.TANH.steps(np.array([total]), shifts, costs).tolist()
    below = tanh_exact(total * shifts.step)
    above = min(below + Fraction(1, 2**119), total * shifts.step)  # tanh < 1
    assert ceil(below / costs.step) <= found <= ceil(above / costs.step)
    assert PriceShape.TANH.bound(total * shifts.step) >= tanh_exact(total * shifts.step)


def test_prices_do_not_depend_on_the_totals_beside_them():
    rng = np.random.default_rng(5)
    totals = rng.integers(0, 2**40, 3000)
    shifts, costs = CostGrid(3), CostGrid(4)
    whole = PriceShape.TANH.steps(totals, shifts, costs)
    assert whole.tolist() == [int(PriceShape.TANH.steps(np.array([item]), shifts, costs)[0]) for item in totals.tolist()]
    assert (np.diff(whole[np.argsort(totals)]) >= 0).all()
    large = np.array([2**60, 2**61])  # more than binary64 holds exactly
    assert PriceShape.TANH.steps(large, CostGrid(0), CostGrid(0)).tolist() == large.tolist()


@pytest.mark.parametrize("size", [2, 3, 7])
def test_losses_within_an_interval_of_length_epsilon_have_a_rho_of_epsilon_squared_over_8(size):
    """Lemma 1d, for exponential mechanisms with scores that move by at most 1: weights e^(ε u/2). Randomised response has no such range."""
    rng = np.random.default_rng(size)
    for _ in range(200):
        epsilon = float(rng.uniform(0.01, 6))
        scores = rng.integers(0, 4, size)
        moved = scores + rng.uniform(-1, 1, size) if rng.random() < 0.5 else scores + rng.choice([-1, 1], size)
        p, q = (np.exp(epsilon * given / 2) / np.exp(epsilon * given / 2).sum() for given in (scores, moved))
        losses = np.log(p / q)
        assert losses.max() - losses.min() <= epsilon * (1 + 1e-9)
        for order in (1.001, 1.5, 2, 4, 16, 64):
            assert (
                np.logaddexp.reduce(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)
                <= order * epsilon**2 / 8 * (1 + 1e-6) + 1e-11
            )
    assert tanh_exact(Fraction(1)) > Fraction(1, 8)


def test_a_price_on_its_own_grid():
    price = ShiftPrice.make(PriceShape.TANH, CostGrid(9), Fraction(1))
    (found,) = price.amounts(np.array([CostGrid(9).round_up(Fraction(1))])).tolist()
    assert 0 <= Fraction(found, 2**BITS) - tanh_exact(Fraction(1)) < Fraction(1, 2**30)


# --- Theorem M, in fractions ----------------------------------------------------------------------------------------------------------

Law = tuple[Fraction, ...]


def respond(ratio: Fraction) -> tuple[Law, Law]:
    return (ratio / (1 + ratio), 1 / (1 + ratio)), (1 / (1 + ratio), ratio / (1 + ratio))


def reveal(delta: Fraction) -> tuple[Law, Law]:
    return (1 - delta, delta, Fraction(0)), (1 - delta, Fraction(0), delta)


def both(one: tuple[Law, Law], other: tuple[Law, Law]) -> tuple[Law, Law]:
    p, q = (tuple(a * b for a, b in product(x, y)) for x, y in zip(one, other, strict=True))
    return p, q


def stick(gamma: Fraction, p: Law, q: Law) -> Fraction:
    return sum((max(a - gamma * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


UNEVEN = ((Fraction(9, 16), Fraction(6, 16), Fraction(1, 16)), (Fraction(7, 16), Fraction(9, 16), Fraction(0)))  # no product


def worst_case(menu: list[tuple[tuple[Law, Law], tuple[int, ...]]], budget: tuple[int, ...], gamma: Fraction, rounds: int) -> Fraction:
    """The largest δ at factor γ of an adversary who chooses each step in view of earlier outputs, while it fits every component."""
    known: dict[tuple[Fraction, tuple[int, ...], int], Fraction] = {}

    def go(ratio: Fraction, left: tuple[int, ...], more: int) -> Fraction:
        key = (ratio, left, more)
        if key not in known:
            best = max(ratio - gamma, Fraction(0))
            for (p, q), cost in menu if more else ():
                rest = tuple(have - need for have, need in zip(left, cost, strict=True))
                if min(rest) >= 0:
                    parts = (b * go(ratio * a / b, rest, more - 1) if b else a * ratio for a, b in zip(p, q, strict=True))
                    best = max(best, sum(parts, Fraction(0)))
            known[key] = best
        return known[key]

    return go(Fraction(1), budget, rounds)


R, D = Fraction(3, 2), Fraction(1, 16)
MENU = [
    (respond(R), (1, 0)),
    (respond(R**2), (2, 0)),
    (reveal(D), (0, 1)),
    (both(respond(R), reveal(D)), (1, 1)),
    (UNEVEN, (1, max(ceil(stick(R, *UNEVEN) / D), ceil(stick(R, *UNEVEN[::-1]) / D)))),
]


@pytest.mark.parametrize("budget", [(0, 1), (1, 1), (2, 1), (3, 2), (2, 3)])
def test_no_adaptive_adversary_exceeds_the_pair_of_the_budgets(budget):
    pair = both(respond(R ** budget[0]), reveal(budget[1] * D))
    for gamma in (Fraction(1), R, R**2, R**3, Fraction(4, 5), Fraction(8, 5), Fraction(7, 2)):
        assert worst_case(MENU, budget, gamma, 3) <= stick(gamma, *pair)
        assert worst_case(MENU, budget, gamma, sum(budget)) == stick(gamma, *pair) or budget[1] > 1  # Reveal(a) ⊗ Reveal(b) is below


def test_the_choices_of_l3_are_within_the_budgets_that_theorem_m_asks_for():
    """log 3 and then log 3, or a δ of 1/16: 5/64 where (log 8, 1/16) was hoped for; with components the promise is 5/32."""
    pair = both(respond(Fraction(9)), reveal(D))
    assert stick(Fraction(8), *pair) == Fraction(5, 32)
    menu = [(respond(Fraction(3)), (1, 0)), (reveal(D), (0, 1))]
    assert D < Fraction(5, 64) <= worst_case(menu, (2, 1), Fraction(8), 3) <= Fraction(5, 32)


@given(
    st.lists(st.fractions(0, 1, max_denominator=12), min_size=4, max_size=4),
    st.lists(st.fractions(0, 1, max_denominator=12), min_size=4, max_size=4),
)
def test_every_epsilon_delta_pair_is_a_mixture_of_a_pure_one_and_what_tells_all(ps, qs):
    """Lemma 2: P = (1 − δ)P′ + δP″, Q = (1 − δ)Q′ + δQ″ with P′, Q′ within e^±ε; the proof's own parts, in fractions."""
    if not (sum(ps) and sum(qs)):
        return
    p, q = [item / sum(ps) for item in ps], [item / sum(qs) for item in qs]
    for ratio in (Fraction(1), Fraction(3, 2), Fraction(4)):
        if stick(ratio, tuple(p), tuple(q)) > stick(ratio, tuple(q), tuple(p)):
            p, q = q, p
        first = [min(a, ratio * b) for a, b in zip(p, q, strict=True)]
        second = [min(b, ratio * a) for a, b in zip(p, q, strict=True)]
        delta = stick(ratio, tuple(q), tuple(p))  # the larger one: 1 − the mass of second
        assert 1 - sum(second) == delta >= 1 - sum(first)
        if delta == 1:
            continue
        low, high = sum(second) / ratio, sum(first)
        share = Fraction(1) if high == low else (sum(second) - low) / (high - low)
        assert 0 <= share <= 1
        made = [share * a + (1 - share) * b / ratio for a, b in zip(first, second, strict=True)]
        assert sum(made) == sum(second) == 1 - delta
        assert all(m <= a and s <= b for m, a, s, b in zip(made, p, second, q, strict=True))
        assert all(m <= ratio * s and s <= ratio * m for m, s in zip(made, second, strict=True))


# --- rows of mixed ledgers ------------------------------------------------------------------------------------------------------------


def test_rows_of_a_unit_are_charged_by_component():
    prices = RowCost(Fraction(1, 2), Fraction(0), Fraction(1, 10**6)).prices()
    rows = np.array([0, 1, 2, 3, 2])
    found = [price.amounts(rows).tolist() for price in prices]
    assert found[0] == [ceil(item * Fraction(1, 2) * 2**BITS) for item in rows.tolist()]
    assert found[1] == [0] * 5
    for count, amount in zip(rows.tolist(), found[2], strict=True):
        exact = sum(exp(0.5 * step) for step in range(count)) / 10**6
        assert 0 <= amount / 2**DELTA_BITS - exact <= 1e-15
        assert amount == 0 or Fraction(amount, 2**DELTA_BITS) >= count * Fraction(1, 10**6)
    squares = RowCost(square=Fraction(1, 4)).prices()[1].amounts(rows)
    assert squares.tolist() == [item * item << (BITS - 2) for item in rows.tolist()]
    assert Free().amounts(rows).tolist() == [0] * 5
    assert RowsPrice(lambda rows: 2**70).amounts(rows).tolist() == [MOST] * 5


def test_groups_of_rows_with_a_delta_are_those_of_the_definition():
    """Two neighbors in a row, each (ε, δ): P(S) ≤ e^ε(e^ε R(S) + δ) + δ; a pair that attains it."""
    assert group_delta(Fraction(0), D, 3) == 3 * D * 2**DELTA_BITS
    two = Fraction(group_delta(Fraction(1), D, 2), 2**DELTA_BITS)
    assert float(two) == pytest.approx(float(D) * (1 + exp(1)))
    assert group_delta(Fraction(1), Fraction(1, 2), 9) == MOST  # above 1, and above every budget
    assert group_delta(Fraction(10**4), Fraction(1, 2), 10**6) == MOST


@pytest.mark.parametrize(
    ("spending", "most"),
    [
        (RowCost(Fraction(1)), None),
        (RowCost(square=Fraction(1)), None),
        (RowCost(Fraction(1), delta=D), None),
        (RowCost(Fraction(1), Fraction(1)), 1),
        (RowCost(square=Fraction(1), delta=D), 1),
    ],
)
def test_mixtures_with_gaussian_noise_are_for_units_with_one_row(spending, most):
    assert spending.most_rows == most
    assert (spending + spending) == spending.times(2)


def test_a_log_of_two_costs_what_the_answer_loses():
    assert PriceShape.LINEAR.bound(Fraction(1)) == PriceShape.SQUARE.bound(Fraction(1)) == 1
    assert float(PriceShape.TANH.bound(Fraction(log(2)))) == pytest.approx(log(2) / 3)
