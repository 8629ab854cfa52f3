"""Laws of optimal weights, judged by ball arithmetic at 60 digits and more on the exact binary64 values."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import profiles
from accountant.weights.fast import ProvedConvexity, WeightsResult, optimal_weights, probabilities
from profiles.balls import ball, working_precision
from proofs_check.enclosures import Enclosure

TARGETS = ["1e-12", "1e-6", "1e-3", "1", "50", "800", "5000"]
FORMS = [
    "w*z",
    "T*w*(1/a + z/b)",
    "w*(z + z**2)/2",
    "w*z*sqrt(z)",
    "w**2*z/3 + w*z/20",
    "w**(3/2)*z",
    "z*w + z*log(w)/10",
    "Max(w*z, w**2*z/2)",
    "exp(w*z/10) - 1",
    "Piecewise((w**2*z, z < 1/2), (2*w**2*z, True))",
]
PARAMETERS = {"T": 10, "a": "20.5", "b": "30"}


def make(text: str, high: object) -> profiles.Profile:
    names = {key: value for key, value in PARAMETERS.items() if key in text}
    return profiles.declare("law", text, record={"z": [0, high]}, parameters=names)


def weigh(profile: profiles.Profile, target: object, z: list[float]) -> WeightsResult:
    convexity = ProvedConvexity(profile, Fraction(0), "by hand")
    return optimal_weights(profile, target, {"z": np.array(z)}, convexity=convexity)


def sampled_excess(profile: profiles.Profile, target: Fraction, w: Fraction, z: float) -> arb:
    """ψ-constraint h(w)/w = (exp ε − 1)/w − (exp ε* − 1), scaled by exp(−ε*)."""
    with working_precision(600):
        box = {p.name: ball(p.value) for p in profile.parameters} | {"z": arb(z), "w": ball(w)}
        eps = Enclosure(profile.epsilon).evaluate(box)
        return eps.expm1() / ball(w) / ball(target).exp() - ball(target).expm1() / ball(target).exp()


def largest_statistic(profile: profiles.Profile, target: Fraction) -> float:
    """Return (nearly) the largest binary64 z with ε(1, z) ≤ ε*."""
    compiled, box = Enclosure(profile.epsilon), {p.name: ball(p.value) for p in profile.parameters} | {"w": arb(1)}
    low, high = 0.0, 1e4
    with working_precision(200):
        for _ in range(1200):
            middle = (low + high) / 2 if high < 4 * low else math.sqrt(max(low, 1e-30)) * math.sqrt(high)
            if not low < middle < high:
                break
            low, high = (middle, high) if compiled.evaluate(box | {"z": arb(middle)}) <= ball(target) else (low, middle)
    return low


def check(profile: profiles.Profile, target: Fraction, z: float, w: float) -> None:
    if math.isinf(w):
        with working_precision(200):
            box = {p.name: ball(p.value) for p in profile.parameters} | {"z": arb(z), "w": arb(7)}
            assert Enclosure(profile.epsilon).evaluate(box) == 0
        return
    assert w >= 1
    exact = Fraction(w)
    if w > 1:
        assert not sampled_excess(profile, target, exact, z) > 0
        assert sampled_excess(profile, target, exact, z) < 0
    if w < np.finfo(float).max:
        assert sampled_excess(profile, target, exact * (1 + Fraction(11, 10**13)), z) > 0


@pytest.mark.thorough
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=st.sampled_from(FORMS),
    target=st.sampled_from(TARGETS),
    shares=st.lists(st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1e-9, 1e-300, 5e-324, 1 - 2**-53, 0.5]), min_size=1, max_size=4),
)
@example(text="w*z", target="1e-12", shares=[1.0, 0.5, 1e-5])
@example(text="w**2*z/3 + w*z/20", target="1e-12", shares=[1.0, 0.5])
@example(text="T*w*(1/a + z/b)", target="5000", shares=[0.0, 1.0])
def test_every_weight_is_feasible_and_cannot_be_improved(text: str, target: str, shares: list[float]) -> None:
    exact = Fraction(target)
    profile = make(text, 10**6)
    low = largest_statistic(profile, exact)
    if low == 0:
        return  # ε(1, x) is above ε* for every record
    z = [low * share for share in shares]
    result = weigh(profile, exact, z)
    assert result.fast_rows + result.refined_rows + result.infinite_rows == len(z)
    for value, weight in zip(z, result.weights.tolist(), strict=True):
        check(profile, exact, value, weight)


@pytest.mark.parametrize("target", TARGETS)
def test_border_where_the_target_is_the_cost_of_weight_one(target: str) -> None:
    z = float(Fraction(target))
    profile = make("w*z", 10**4)
    result = weigh(profile, Fraction(z), [z, math.nextafter(z, 0), z / 2, 0.0])
    assert result.weights[0] == 1.0
    assert result.infinite_rows == 1
    for value, weight in zip([z, math.nextafter(z, 0), z / 2, 0.0], result.weights.tolist(), strict=True):
        check(profile, Fraction(z), value, weight)


def test_border_with_a_small_slope_has_a_weight_above_one() -> None:
    # ε = z (w/2 + 1/(2w)) has ε'(1) = 0 < 1 − exp(−ε(1)): the published if-condition (ε'(1) < 0) would return w = 1
    profile = profiles.declare("slow", "z*(w**2/2 - w + 1)", record={"z": [0, 1]})
    convexity = ProvedConvexity(profile, Fraction(1), "by hand")
    weight = optimal_weights(profile, 1, {"z": np.array([1.0])}, convexity=convexity).weights[0]
    assert weight > 1.5
    check(profile, Fraction(1), 1.0, weight)


def test_a_denormal_statistic_saturates_at_the_largest_number() -> None:
    result = weigh(make("w*z", 1), 1, [5e-324])
    assert result.weights[0] == np.finfo(float).max
    assert result.saturated_rows == 1


def test_records_above_the_target_are_named() -> None:
    profile = make("w*z", 4)
    with pytest.raises(profiles.Infeasible, match="assumption-8 fails at rows 1, 3 "):
        weigh(profile, 2, [1.0, 2.5, 2.0, math.nextafter(2, 3)])


@pytest.mark.parametrize(
    ("z", "error"),
    [
        ([math.nan], "row 0 is outside"),
        ([math.inf], "row 0 is outside"),
        ([0.5, -1e-300, 4.1, 7], "rows 1, 2, 3 are outside"),
        ([], "no rows"),
    ],
)
def test_data_outside_the_declared_range_is_refused(z: list[float], error: str) -> None:
    with pytest.raises(profiles.InvalidData, match=error):
        weigh(make("w*z", 4), 5, z)


def test_wrong_inputs_are_refused() -> None:
    profile = make("w*z", 4)
    convexity = ProvedConvexity(profile, Fraction(4), "by hand")
    with pytest.raises(profiles.InvalidData, match=r"did you mean 'zz'"):
        optimal_weights(profile, 4, {"zz": np.ones(2)}, convexity=convexity)
    with pytest.raises(profiles.InvalidData, match="one-dimensional array of real numbers"):
        optimal_weights(profile, 4, {"z": np.array(["a"])}, convexity=convexity)
    with pytest.raises(profiles.InvalidTarget, match="positive"):
        optimal_weights(profile, 0, {"z": np.ones(2)}, convexity=convexity)
    with pytest.raises(profiles.InvalidArgument, match="assumption-8 is proved"):
        optimal_weights(profile, 3, {"z": np.ones(2)}, convexity=convexity)
    with pytest.raises(profiles.InvalidArgument, match="convexity was proved of"):
        optimal_weights(make("w*z", 5), 4, {"z": np.ones(2)}, convexity=convexity)
    free = profiles.declare("free", "w*z/b", record={"z": [0, 1]}, parameters={"b": "positive"})
    with pytest.raises(profiles.InvalidArgument, match="b is unspecified"):
        optimal_weights(free, 3, {"z": np.ones(2)}, convexity=ProvedConvexity(free, Fraction(1), "by hand"))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(1, 1.7976931348623157e308), min_size=1, max_size=20))
def test_probabilities_are_rounded_down(weights: list[float]) -> None:
    for weight, q in zip(weights, probabilities(np.array(weights)).tolist(), strict=True):
        assert Fraction(q) * Fraction(weight) <= 1
        if q > 2.0**-1000:
            assert Fraction(math.nextafter(q, 2)) * Fraction(weight) > 1


def test_an_infinite_weight_is_never_sampled() -> None:
    assert probabilities(np.array([math.inf, 1.0, 2.0])).tolist() == [0.0, 1.0, 0.5]
