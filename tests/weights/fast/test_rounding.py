"""The assumptions and bounds behind the fast paths: NumPy's functions, double-double, running errors, and a target for a size."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import profiles
from accountant.weights.fast import ProvedConvexity, epsilon_for_size, optimal_weights, probabilities
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.rounding import LIBRARY, TINY, U, make_target, split
from accountant.weights.fast.small import make_pair
from profiles import parse_expression
from profiles.balls import ball, working_precision
from profiles.evaluation import exact_value
from profiles.structure import affine_in_one, split_weight
from proofs_check.enclosures import Enclosure


def points(function: str, count: int) -> np.ndarray:
    rng = np.random.default_rng(20240601)
    sign = rng.choice([-1.0, 1.0], count)
    wide = 10.0 ** rng.uniform(-300, 2.8, count)
    near = 1 + sign * 10.0 ** rng.uniform(-16, -0.31, count)
    borders = 2.0 ** rng.integers(-60, 9, count) * (1 + rng.integers(-3, 4, count) * 2.0**-52)
    if function in ("log", "log1p"):
        return np.abs(np.concatenate([wide, 10.0 ** rng.uniform(0, 300, count), near, borders]))
    return np.concatenate([sign * wide, borders, -borders, rng.uniform(-5, 5, count)])


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("function", ["exp", "expm1", "log", "log1p", "sqrt"])
def test_numpy_keeps_the_assumed_accuracy(function: str) -> None:
    x = points(function, 12_000)
    x = np.abs(x) if function == "sqrt" else x
    with np.errstate(all="ignore"):
        got = getattr(np, function)(x)
        # the same numbers one by one take NumPy's other loops (no full vectors)
        odd = np.array([getattr(np, function)(x[index : index + 1])[0] for index in range(0, x.size, 97)])
    assert np.array_equal(odd, got[::97])
    worst = 0.0
    with working_precision(90):
        for value, result in zip(x.tolist(), got.tolist(), strict=True):
            if math.isfinite(result) and abs(result) > 2.0**-1022:
                exact = getattr(arb(value), function)()
                worst = max(worst, float((arb(result) / exact - 1).mid()), -float((arb(result) / exact - 1).mid()))
    assert worst <= LIBRARY / 2, f"{function} is off by {worst / U / 2:.2f} ulp; docs/rounding.md assumes 8 and expects 4"


TERMS = [
    "w*z", "w**2*z/10 + w*z/20", "w*z - z + log(1 + w*z)", "sqrt(w*z + 1/3)", "exp(w*z/7) - 1", "w**(3/2)*z - z**3/7",
    "(w - 1/w)*z/(z + 1/3)",
    "Max(w*z, z**2*w)", "Min(w, 3*z)", "Abs(z - w)", "Piecewise((w*z, z < 1/3), (w*z + (z - 1/3), True))", "pi*w*z", "sin(w*z) + cos(z)",
    "w**-3*z", "w**z", "0.1*w + 0.2*z",
]  # fmt: skip


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(text=st.sampled_from(TERMS), w=st.floats(1, 1e6) | st.floats(1, 1.001), z=st.floats(0, 50) | st.floats(0, 1e-300))
def test_running_errors_enclose_the_exact_value(text: str, w: float, z: float) -> None:
    term = parse_expression(text)
    inputs = {"w": np.array([w]), "z": np.array([z])}
    with np.errstate(all="ignore"):
        value, error = CompiledTerm(term).bounded(inputs)
        plain = CompiledTerm(term).values(inputs)
    value, error = float(np.ravel(value)[0]), float(np.ravel(error)[0])
    if not math.isfinite(error):
        return
    assert float(np.ravel(plain)[0]) == value
    with working_precision(400):
        exact = Enclosure(term).evaluate({"w": arb(w), "z": arb(z)})
        assert not abs(exact - arb(value)) > arb(error)


@pytest.mark.thorough
@given(st.fractions(min_value=0, max_value=10**6), st.fractions(min_value=0, max_value=10**6), st.floats(0, 1e6))
def test_double_double_coefficients_are_within_their_bound(constant: Fraction, slope: Fraction, z: float) -> None:
    if min(value for value in (constant, slope, Fraction(z), Fraction(1)) if value) < Fraction(1, 2**200):
        return
    high, low = make_pair(constant, slope, "z").evaluate(np.array([z]))
    exact = constant + slope * Fraction(z)
    assert abs(Fraction(float(high[0])) + Fraction(float(low[0])) - exact) <= exact * Fraction(2) ** -100


@pytest.mark.parametrize("text", ["1e-12", "1e-6", "1", "39", "50", "699", "800", "5000"])
def test_the_target_constants(text: str) -> None:
    target = make_target(Fraction(text))
    assert Fraction(target.below) <= Fraction(text)
    if target.growth < math.inf:
        with working_precision(400):
            exact = ball(Fraction(text)).expm1()
            assert abs(arb(target.growth) + arb(target.growth_low) - exact) < exact * arb(2) ** -105
    assert split(Fraction(1, 3))[0] == 1 / 3
    assert TINY > 0


@pytest.mark.parametrize(
    ("text", "coefficient"),
    [
        ("w*z", True),
        ("T*w*(1/a + z/b)", True),
        ("-(-w*z) + w/2", True),
        ("w*w*z", False),
        ("w*z + 1", False),
        ("w/w", False),
        ("z/w", False),
    ],
)
def test_linear_profiles_are_recognised_exactly(text: str, coefficient: bool) -> None:
    assert (split_weight(parse_expression(text)) is not None) is coefficient


def test_affine_forms_and_exact_values() -> None:
    assert affine_in_one(parse_expression("10*(1/20.5 + z/30)")) == (Fraction(20, 41), Fraction(1, 3), "z")
    assert affine_in_one(parse_expression("(z - 2*z)/4 + 3")) == (3, Fraction(-1, 4), "z")
    for text in ("z*z", "1/z", "x + z", "sqrt(z)", "z*x"):
        assert affine_in_one(parse_expression(text)) is None
    zero = {"z": Fraction(0)}
    for text in ("w*z", "w**2*z + Abs(z)*w", "log(1 + w*z)", "exp(w*z) - 1", "sqrt(w*z)", "(w*z)**(3/2)", "Max(w*z, sin(z))",
                 "Piecewise((w*z, z < 1), (w, True))"):  # fmt: skip
        assert exact_value(parse_expression(text), zero, defined=True) == 0
    for text in ("w*z + w", "w - w", "exp(w)"):
        assert exact_value(parse_expression(text), zero, defined=True) is None


LINEAR = profiles.declare("sum", "w*z", record={"z": [0, 1]})
CONVEXITY = ProvedConvexity(LINEAR, Fraction(1), "by hand")


@pytest.mark.parametrize("target", ["1e-12", "1e-6", "0.001", "0.02", "0.3", "1", "39.9", "40", "700", "5000"])
def test_whole_columns_stay_on_the_fast_path(target: str) -> None:
    z = np.random.default_rng(3).uniform(1e-3, 1, 20_000) * min(1.0, float(target))
    convexity = ProvedConvexity(LINEAR, Fraction(target) if Fraction(target) < 1 else Fraction(1), "by hand")
    result = optimal_weights(LINEAR, target, {"z": z}, convexity=convexity)
    assert result.refined_rows <= 2
    with working_precision(300):
        goal = ball(Fraction(target))
        for value, weight in zip(z[::40].tolist(), result.weights[::40].tolist(), strict=True):
            excess = [arb(value) * w - (goal.expm1() * w).log1p() for w in (arb(weight), arb(weight) * (1 + arb(10) ** -12))]
            assert excess[0] < 0 or weight == 1
            assert excess[1] > 0


def test_a_clipped_column_is_refined_once() -> None:
    z = np.full(100_000, 0.7)
    z[::2] = 1.0
    result = optimal_weights(LINEAR, 1, {"z": z}, convexity=CONVEXITY)
    assert set(result.weights[::2].tolist()) == {1.0}
    assert len(set(result.weights.tolist())) == 2


def batches(z: np.ndarray) -> Iterator[Mapping[str, np.ndarray]]:
    for start in range(0, z.size, 700):
        yield {"z": z[start : start + 700]}


@pytest.mark.parametrize("size", ["0.5", 10, "333.25", 600])
def test_a_size_is_met_within_the_tolerance(size: object) -> None:
    z = np.random.default_rng(4).uniform(0, 1, 2000)
    found = epsilon_for_size(LINEAR, size, lambda: batches(z), convexity=CONVEXITY)
    weights = optimal_weights(LINEAR, found.epsilon, {"z": z}, convexity=CONVEXITY).weights
    total = sum((Fraction(q) for q in probabilities(weights).tolist()), Fraction(0))
    goal = Fraction(str(size))
    assert goal * (1 - Fraction(2, 10**9)) <= total <= goal
    assert found.rows == 2000
    smaller = optimal_weights(LINEAR, found.epsilon * (1 + Fraction(1, 10**6)), {"z": z}, convexity=CONVEXITY).weights
    assert probabilities(smaller).sum() < total


def test_a_size_without_private_records_is_not_reachable() -> None:
    with pytest.raises(profiles.InvalidTarget, match="not reachable"):
        epsilon_for_size(LINEAR, 1, lambda: batches(np.zeros(5)), convexity=CONVEXITY)


@pytest.mark.parametrize("text", ["w*(x + 2*y)", "w**2*x/4 + w*y", "w*sqrt(x**2 + y**2)"])
@pytest.mark.parametrize("target", ["0.5", "4", "60"])
def test_several_statistics(text: str, target: str) -> None:
    profile = profiles.declare("two", text, record={"x": [0, 1], "y": [0, 1]})
    rng = np.random.default_rng(6)
    x, y = rng.uniform(0, min(1, float(target) / 4), (2, 400))
    x[:3] = y[:3] = 0
    result = optimal_weights(profile, target, {"x": x, "y": y}, convexity=ProvedConvexity(profile, Fraction(0), "by hand"))
    assert result.infinite_rows == 3
    with working_precision(300):
        goal, compiled = ball(Fraction(target)).expm1(), Enclosure(profile.epsilon)
        for a, b, weight in zip(x[3:].tolist(), y[3:].tolist(), result.weights[3:].tolist(), strict=True):
            for w, below in ((arb(weight), True), (arb(weight) * (1 + arb(10) ** -12), False)):
                excess = compiled.evaluate({"x": arb(a), "y": arb(b), "w": w}) - (goal * w).log1p()
                assert excess < 0 if below else excess > 0
