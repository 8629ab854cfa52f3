"""Laws of privacy curves for all mechanisms: closed forms, finite pairs in fractions, finer grids, order, noise, sampling."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.curves import Direction, compose, curve_of, make_event
from profiles.balls import ball, working_precision
from tests.targets.losses import closed

_SLACK = Fraction(1, 10**12)
_RATES = st.sampled_from(["1", "1/2", "1/10", "1/1000"])
_EVENTS = st.one_of(
    st.builds(lambda s, q, n: make_event("gaussian", {"noise_multiplier": s}, sampling_probability=q, count=n),
              st.decimals("0.8", "20", places=1), _RATES, st.integers(1, 20)),
    st.builds(lambda b, q, n: make_event("laplace", {"scale": b}, sampling_probability=q, count=n),
              st.decimals("0.5", "20", places=1), _RATES, st.integers(1, 10)),
    st.builds(lambda b, q, n: make_event("discrete-laplace", {"scale": b}, sampling_probability=q, count=n),
              st.decimals("0.5", "20", places=1), _RATES, st.integers(1, 10)),
    st.builds(lambda s, q, n: make_event("discrete-gaussian", {"noise_multiplier": s}, sampling_probability=q, count=n),
              st.decimals("0.1", "20", places=1), _RATES, st.integers(1, 10)),
    st.builds(lambda e, d, q, n: make_event("approximate", {"epsilon": e, "delta": d}, sampling_probability=q, count=n),
              st.decimals("0", "3", places=2), st.sampled_from(["0", "1e-7"]), _RATES, st.integers(1, 10)),
)  # fmt: skip
_EPSILONS = st.decimals("0", "4", places=2)
_WIDE = "1e-1"


def is_above(larger, smaller):
    """The enclosure of a number that is at least another one does not say the opposite, in either direction."""
    return all(larger.sides[side].upper >= smaller.sides[side].lower for side in Direction)


@pytest.mark.thorough
@settings(max_examples=40)
@given(st.sampled_from(["gaussian", "laplace"]), st.decimals("0.3", "30", places=2), _RATES, st.decimals("0", "6", places=3))
def test_one_use_holds_the_closed_form_in_balls(kind, noise, q, epsilon):
    name = "noise_multiplier" if kind == "gaussian" else "scale"
    found = curve_of(make_event(kind, {name: noise}, sampling_probability=q)).delta(epsilon)
    with working_precision(200):
        for direction, side in found.sides.items():
            remove, e = direction is Direction.REMOVE, ball(Fraction(epsilon))
            if kind == "gaussian":
                truth = closed.sampled_gaussian_once(Fraction(noise), Fraction(q), e, remove=remove)
            else:
                truth = closed.laplace_once(1 / Fraction(noise), Fraction(q), e, remove=remove)
            assert not ball(side.lower) > truth
            assert not ball(side.upper) < truth
            assert side.upper - side.lower <= Fraction(1, 10**6) * side.upper + Fraction(1, 10**90)


@pytest.mark.thorough
@settings(max_examples=10)
@given(_EVENTS, _EVENTS, _EPSILONS)
def test_composition_commutes_and_leaving_out_an_event_never_costs(one, other, epsilon):
    """To leave an answer out is post-processing."""
    both, turned = (compose(*pair).delta(epsilon, gap=_WIDE) for pair in ((one, other), (other, one)))
    assert is_above(both, turned)
    assert is_above(turned, both)
    for part in (one, other):
        assert is_above(both, curve_of(part).delta(epsilon, gap=_WIDE))


@pytest.mark.thorough
@settings(max_examples=15)
@given(_EVENTS, _EPSILONS, st.decimals("0.01", "3", places=2))
def test_delta_falls_in_epsilon(event, epsilon, more):
    curve = curve_of(event)
    assert is_above(curve.delta(epsilon, gap=_WIDE), curve.delta(epsilon + more, gap=_WIDE))


@pytest.mark.thorough
@settings(max_examples=15)
@given(
    st.sampled_from(["gaussian", "laplace", "discrete-laplace"]),
    st.decimals("0.8", "10", places=1),
    st.decimals("0.1", "10", places=1),
    _RATES,
    st.integers(1, 10),
    _EPSILONS,
)
def test_more_noise_and_fewer_uses_never_cost_more(kind, noise, more, q, count, epsilon):
    name = "noise_multiplier" if kind == "gaussian" else "scale"

    def delta(value, uses):
        return curve_of(make_event(kind, {name: value}, sampling_probability=q, count=uses)).delta(epsilon, gap=_WIDE)

    loud = delta(noise, count)
    assert is_above(loud, delta(noise + more, count))
    assert is_above(delta(noise, count + 1), loud)


@pytest.mark.thorough
@settings(max_examples=15)
@given(_EVENTS, st.sampled_from(["1/2", "1/10"]), _EPSILONS)
def test_sampling_never_costs_more_and_with_one_changes_nothing(event, rate, epsilon):
    once = make_event(event.mechanism, dict(event.parameters), sampling_probability=event.sampling_probability)
    curve = curve_of(once)
    assert is_above(curve.delta(epsilon, gap=_WIDE), curve.subsample(rate).delta(epsilon, gap=_WIDE))
    assert curve.subsample(1).composition.events == curve.composition.events


@pytest.mark.thorough
@settings(max_examples=10)
@given(_EVENTS, _EPSILONS)
def test_enclosures_of_finer_grids_meet_those_of_wider_ones_and_are_no_wider(event, epsilon):
    wide, narrow = (curve_of(event).delta(epsilon, gap=gap) for gap in ("3e-1", "3e-2"))
    for direction in Direction:
        one, other = wide.sides[direction], narrow.sides[direction]
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
        assert other.upper - other.lower <= max(one.upper - one.lower, Fraction(3, 100) * other.upper) * (1 + _SLACK) + Fraction(1, 10**80)


# --- finite pairs in fractions -----------------------------------------------------------------------------------------------------------


def response(odds, rate):
    """Randomised response with e^ε = odds, and discrete Laplace noise with r = 1/odds: (first, second) where a record goes."""
    p, q = (odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))
    return [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)], list(q)


def enumerate_delta(pairs, ratio):
    total = Fraction(0)
    for outcome in itertools.product((0, 1), repeat=len(pairs)):
        first = second = Fraction(1)
        for (p, q), place in zip(pairs, outcome, strict=True):
            first, second = first * p[place], second * q[place]
        total += max(first - ratio * second, Fraction(0))
    return total


def logarithms(x):
    """Return a number below and one above log x, 10^−40 apart."""
    with mpmath.workdps(60):
        value = mpmath.log(mpmath.mpf(x.numerator) / x.denominator)
        near = Fraction(mpmath.nstr(value, 50))
    return near - Fraction(1, 10**40), near + Fraction(1, 10**40)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("rate", "count"), [("1/4", 3), ("1", 4)])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(7, 5), Fraction(4)])
def test_finite_mechanisms_hold_sums_of_fractions(rate, count, ratio):
    """Randomised response with odds 3 and discrete Laplace noise with r = 1/2 together: the curves rise in the odds and fall in ε."""
    q = Fraction(rate)
    pairs = [response(Fraction(3), q)] * count + [response(Fraction(2), q)] * 2
    (down, up), (less, more), (low, high) = logarithms(Fraction(3)), logarithms(Fraction(2)), logarithms(ratio)

    def curve(epsilon, scale):
        return compose(
            make_event("randomized-response", {"epsilon": epsilon}, sampling_probability=q, count=count),
            make_event("discrete-laplace", {"scale": scale}, sampling_probability=q, count=2),
        )

    smaller, larger = curve(down, 1 / more).delta(max(high, 0)), curve(up, 1 / less).delta(max(low, 0))
    for direction in Direction:
        exact = enumerate_delta(pairs if direction is Direction.REMOVE else [(b, a) for a, b in pairs], ratio)
        assert smaller.sides[direction].lower <= exact + Fraction(1, 10**38)
        assert exact <= larger.sides[direction].upper + Fraction(1, 10**38)
        assert larger.sides[direction].upper - smaller.sides[direction].lower <= exact / 100 + _SLACK


# --- borders -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pure", "randomized-response"])
def test_an_epsilon_of_nothing_loses_nothing(kind):
    for curve in (curve_of(make_event(kind, {"epsilon": 0}, count=count)) for count in (1, 7)):
        assert curve.delta(0).upper <= _SLACK
        assert curve.epsilon("1e-9").upper == 0


def test_one_use_of_everything_at_the_borders():
    """ε = 0: the total variation distance, the same in both directions; q = 1 is the mechanism itself."""
    for kind, numbers in (("gaussian", {"noise_multiplier": 2}), ("laplace", {"scale": 2}), ("pure", {"epsilon": "1/2"})):
        whole = curve_of(make_event(kind, numbers)).delta(0)
        assert whole.remove.upper - whole.add.lower <= _SLACK >= whole.add.upper - whole.remove.lower
        half = curve_of(make_event(kind, numbers, sampling_probability="1/2")).delta(0)
        for side in (half.remove, half.add):
            assert abs(side.upper - whole.remove.upper / 2) <= _SLACK
        explicit = curve_of(make_event(kind, numbers, sampling_probability=1))
        assert explicit.composition == curve_of(make_event(kind, numbers)).composition
