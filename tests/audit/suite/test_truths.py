"""The written truths are those that are computed from the parameters, and refusals where nothing is known."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from accountant.curves import curve_of, make_event
from profiles.errors import InvalidArgument
from profiles.mechanisms import WeightedCount
from proofs_check.exact import epsilon_of_tables
from tests.targets.suite import standard_suite
from tests.targets.suite.truths import compute_directions, compute_epsilon
from tests.targets.suite.truths.sides import Directions, Side, largest, written

CASES = {case.name: case for case in standard_suite()}


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", CASES)
def test_written_truths_are_the_computed_ones(name):
    case = CASES[name]
    computed = compute_epsilon(case)
    assert written(computed) == written(Side(case.truth.lower, case.truth.upper))


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", ["svt-1", "svt-4", "gap-svt", "noisy-max-1", "noisy-max-4", "rappor"])
def test_exchanging_the_data_sets_exchanges_the_directions(name):
    case = CASES[name]
    there, back = compute_directions(case), compute_directions(replace(case, dataset=case.neighbor, neighbor=case.dataset))
    assert (written(there.toward), written(there.away)) == (written(back.away), written(back.toward))


def test_equal_data_sets_have_no_epsilon():
    for name in ("laplace", "noisy-max-1", "svt-1", "svt-3", "numerical-svt", "smart-sum", "rappor", "k-norm-5"):
        case = CASES[name]
        lower, upper = written(compute_directions(replace(case, neighbor=case.dataset)).epsilon)
        assert lower == 0
        assert upper <= Fraction(1, 10**8)


def test_figures_that_are_known():
    assert float(CASES["svt-1"].truth.lower) == pytest.approx(0.0885, abs=5e-5)
    assert float(CASES["svt-4"].truth.lower) == pytest.approx(0.1725, abs=5e-5)
    assert CASES["svt-4"].truth.upper <= Fraction(7, 4) / 10, "(1 + 6c)/4 * epsilon, Lyu, Su, Li 2017"
    assert CASES["parallel-svt"].truth.upper <= Fraction(1, 4) + Fraction(13, 40)
    assert float(CASES["rappor"].truth.lower) == pytest.approx(4 * math.log(0.5125**2 / 0.4875**2), abs=2e-9)
    assert float(CASES["one-time-rappor"].truth.lower) == pytest.approx(8 * math.log(0.525 / 0.475), abs=2e-9)
    assert float(CASES["truncated-geometric"].truth.lower) == pytest.approx(math.log(9 / 8), abs=2e-9)


def test_finite_tables_against_the_exact_module():
    for name in ("truncated-geometric", "truncated-geometric-base-2"):
        mechanism = CASES[name].mechanism
        tables = []
        for count in (2, 1):
            cumulated = mechanism.cumulate(count)
            masses = np.diff([0, *cumulated])
            tables.append({z: Fraction(int(mass), cumulated[-1]) for z, mass in enumerate(masses)})
        exact = epsilon_of_tables(*tables).symmetric
        assert CASES[name].truth.lower <= exact.lower <= exact.upper <= CASES[name].truth.upper


@pytest.mark.parametrize("name", ["rappor", "one-time-rappor"])
def test_rappor_against_the_table_of_all_reports_on_the_bits_that_differ(name):
    mechanism = CASES[name].mechanism
    q_star, p_star = mechanism.chances()
    bits = mechanism.filter(1), mechanism.filter(2)
    differing = sorted(bits[0] ^ bits[1])
    assert len(differing) == 8

    def table(own):
        made = {}
        for code in range(2**8):
            report = [(code >> i) & 1 for i in range(8)]
            chances = [(q_star if place in own else p_star) for place in differing]
            made[code] = math.prod((c if bit else 1 - c for bit, c in zip(report, chances, strict=True)), start=Fraction(1))
        assert sum(made.values()) == 1
        return made

    exact = epsilon_of_tables(table(bits[0]), table(bits[1])).symmetric
    assert CASES[name].truth.lower <= exact.lower <= exact.upper <= CASES[name].truth.upper


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("noisy-max-3", {"neighbor": np.array([1.0, 1, 1, 1, 0])}),
        ("noisy-max-4", {"neighbor": np.array([1.0, 1, 1, 1, 0])}),
        ("svt-5", {"neighbor": np.ones(10)}),
        ("floating-point-laplace", {"neighbor": np.array(2.0)}),
        ("snapping-laplace", {"neighbor": np.array(2.0)}),
        ("k-norm-2", {"dataset": np.array([[1.0, 1.0]])}),
        ("bad-lloyd", {"dataset": np.zeros((1, 5))}),
        ("same-sample-twice", {"neighbor": np.ones(1)}),
        ("lloyd-two-clusters", {"neighbor": np.zeros((0, 2))}),
        ("lloyd-two-clusters", {"dataset": np.array([[1.0, 0.0], [-1.0, 0.0]])}),
        ("lloyd-ten-iterations", {"neighbor": np.zeros((0, 2))}),
        ("exponential-up", {"dataset": np.ones(2)}),
        ("laplace", {"mechanism": WeightedCount(beta_count=1)}),
        ("gaussian-sum", {"dataset": np.ones(2)}),
        ("fixed-size-gaussian", {"neighbor": np.ones(1)}),
        ("laplace", {"delta": Fraction(1, 100)}),
    ],
)
def test_nothing_is_said_of_pairs_and_mechanisms_without_a_derivation(name, changes):
    with pytest.raises(InvalidArgument):
        compute_directions(replace(CASES[name], **changes))


def test_smart_sums_count_answers_and_block_totals():
    case = CASES["smart-sum"]
    first = np.zeros(12)  # two full blocks, and two answers of a third one

    def epsilon(**changes):
        second = first.copy()
        for place, value in changes.items():
            second[int(place[1:])] = value
        return compute_directions(replace(case, dataset=first, neighbor=second)).epsilon.upper * 10

    assert epsilon(x0=1) == 2
    assert epsilon(x4=1) == 1, "the last answer of a block is in its total only"
    assert epsilon(x0=1, x1=-1) == 2, "the total is the same"
    assert epsilon(x0=1, x5=1) == 4
    assert epsilon(x11=1) == 1, "a block that is not full has no total"


def test_ends_are_written_outward():
    assert written(Side(Fraction(1, 3), Fraction(1, 3))) == (Fraction("0.333333333"), Fraction("0.333333334"))
    assert written(Side.exactly(Fraction(1, 10))) == (Fraction(1, 10), Fraction(1, 10))
    assert written(Side.exactly(math.inf)) == (math.inf, math.inf)


def test_sides_add_up_and_the_largest_is_at_least_nothing():
    one, two = Side(Fraction(1), Fraction(2)), Side(Fraction(-3), Fraction(-1))
    assert one + two == Side(Fraction(-2), Fraction(1))
    assert largest([two]) == Side(0, 0)
    assert (Directions(one, two) + Directions.symmetric(one)).epsilon == Side(Fraction(2), Fraction(4))


@pytest.mark.thorough
def test_gaussian_truths_lie_in_the_enclosures_of_the_accountant():
    """The one sample that is used 100 times has 7.70, and 100 fresh ones the 0.876 that is claimed."""
    shared, fresh = curve_of(make_event("gaussian", {"noise_multiplier": 5}, count=100)).subsample("1/10"), Fraction("0.876")
    found = shared.epsilon("1e-6")
    truth = CASES["same-sample-gaussian"].truth
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    claimed = curve_of(make_event("gaussian", {"noise_multiplier": 5}, count=100, sampling_probability="1/10")).epsilon("1e-6", gap="1e-2")
    assert claimed.lower <= fresh <= claimed.upper + Fraction(1, 100)
    single = curve_of(make_event("gaussian", {"noise_multiplier": 1}, sampling_probability="1/2")).epsilon("1/100")
    assert single.lower <= CASES["sampled-gaussian"].truth.upper <= single.upper + Fraction(1, 10**8)
