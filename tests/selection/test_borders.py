"""Probabilities and weights at the ends of their ranges, as docs/sampling.md, section 4, defines them."""

import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from accountant import draw_sample, make_rule, plan_sample, prepare_selection, sample_file
from accountant.rules import rule_from_expression
from accountant.selection.explicit import round_rule
from accountant.selection.select import Selection
from profiles import InvalidSampling, declare, parse_expression

SUM = declare("sum", "w*z", record={"z": [0, 1]})
BELOW_ONE = float(np.nextafter(1, 0))


def select_explicit(q, statistics):
    return Selection(*round_rule(q, statistics))


@pytest.mark.parametrize("q", ["1", "z", "z**(1/3)", "sqrt(z)*sqrt(z)", "Min(1, 2*z)", "exp(z - 1)", "Piecewise((1, z > 0.5), (0, True))"])
def test_a_sure_record_has_weight_one(q):
    """q(x) = 1 also where no arithmetic finds that it is exactly 1: then q̂ may be one step lower, and the weight is still 1."""
    found = select_explicit(parse_expression(q), {"z": [1.0]})
    assert found.weights.tolist() == [1]
    assert 1 - 2.0**-35 <= found.probabilities[0] <= 1
    assert q == "sqrt(z)*sqrt(z)" or found.probabilities[0] == 1


def test_just_below_a_sure_record():
    found = select_explicit(parse_expression("z"), {"z": [BELOW_ONE, 1 - 2.0**-35, 1 - 2.0**-37]})
    assert found.probabilities.tolist() == [1 - 2.0**-36, 1 - 2.0**-35, 1 - 2.0**-36]
    assert found.weights.tolist() == [1, 1 + 2.0**-35, 1]


@pytest.mark.parametrize(
    ("q", "chance"),
    [
        ("2**(-900)", 2.0**-900), ("2**(-901)", 0), ("3*2**(-902)", 0), ("10**(-320)", 0), ("exp(-10**6)", 0), ("exp(-10**15)", 0),
        ("exp(-1000*(1 + z))", 0), ("2**(-900)*(1 - z)", 2.0**-900), ("2**(-901)*exp(z)", 0),
    ],
)  # fmt: skip
def test_a_record_below_the_least_probability_is_never_selected(q, chance):
    found = select_explicit(parse_expression(q), {"z": [0.0]})
    assert found.probabilities.tolist() == [chance]
    assert found.weights.tolist() == [2.0**900]


@pytest.mark.thorough
def test_a_rule_that_reaches_below_the_least_probability_has_a_plan():
    plan = plan_sample(declare("p", "z/w", record={"z": ["1e-300", 1]}), q="z**4", relative_gap="1/10")
    found = plan.selector.select({"z": [1e-300, 0.5, 1.0]})
    assert found.probabilities.tolist() == [0, 0.0625, 1]
    assert found.weights.tolist() == [2.0**900, 16, 1]


def test_what_is_no_probability_is_refused():
    for q in ("z", "-z", "z - sqrt(z)*sqrt(z)", "2 - z", "log(z)"):
        with pytest.raises(InvalidSampling, match=r"\(0, 1\]"):
            select_explicit(parse_expression(q), {"z": [0.0]})


def test_records_that_cost_nothing_are_in_no_sample(tmp_path):
    """epsilon(w, x) = 0 for all w: every weight is feasible, q = 0, and no row of a sample has an infinite weight."""
    plan = plan_sample(SUM, target_epsilon=2)
    z = np.tile([0.0, -0.0, 1.0], 400)
    chosen = plan.selector.select({"z": z})
    assert set(chosen.weights[z == 0]) == {math.inf}
    assert set(chosen.probabilities[z == 0]) == {0}
    records = draw_sample(plan, pa.table({"z": z}), source=1).consume()
    assert records.weights.size > 50
    assert np.isfinite(records.weights).all()
    assert (records.points() == 1).all()
    for kind in ("parquet", "csv", "npy"):
        summary = sample_file(plan, pa.table({"z": z}), tmp_path / f"out.{kind}", source=1)
        assert summary.private.sample_size == records.weights.size
    assert pq.read_table(tmp_path / "out.parquet")["weight"].to_pylist() == records.weights.tolist()
    assert "inf" not in (tmp_path / "out.csv").read_text()
    nobody = draw_sample(plan, pa.table({"z": np.zeros(50)}), source=1).consume()
    assert nobody.table.num_rows == 0


def test_a_record_whose_weight_is_beyond_binary64_has_the_largest_one_rounded_down():
    """By hand: z = 1.1e-320 and epsilon* = 1 give w* = (log(1 + (e - 1) w*))/z, about 6.8e322."""
    profile = declare("p", "w*z", record={"z": ["1e-320", 1]})
    found = prepare_selection(profile, make_rule("privacy-constrained", profile, target_epsilon=1)).select({"z": [1.1e-320]})
    assert found.weights.tolist() == [(2 - 2.0**-27) * 2.0**1023]
    assert 0 < Fraction(float(found.probabilities[0])) <= 1 / Fraction(float(found.weights[0]))


@pytest.mark.parametrize("text", ["w*(1/2 + z/2)", "w*(3/4 + z/4)", "w**2*(1/2 + z/2)", "w*(1 + z**2)/2"])
def test_a_record_that_costs_the_target_at_weight_one(text):
    """epsilon* = epsilon(1, x), and epsilon'(1) is large: w* = 1 and q = 1."""
    profile = declare("p", text, record={"z": [0, 1]})
    chosen = prepare_selection(profile, make_rule("privacy-constrained", profile, target_epsilon=1)).select({"z": [1.0, BELOW_ONE, 0.0]})
    assert chosen.weights[0] == 1
    assert chosen.probabilities[0] == 1
    assert chosen.weights[1] == 1
    assert chosen.weights[2] > 1


def test_a_record_that_costs_the_target_may_have_a_larger_weight():
    """By hand: epsilon = z (w + 3)/4 with z = 1 and epsilon* = 1: epsilon'(1) = 1/4 < 1 - 1/e, so w* > 1."""
    profile = declare("p", "z*(w + 3)/4", record={"z": [0, 1]})
    found = prepare_selection(profile, make_rule("privacy-constrained", profile, target_epsilon=1)).select({"z": [1.0]})
    with mpmath.workdps(40):
        exact = mpmath.findroot(lambda w: (w + 3) / 4 - mpmath.log(1 + (mpmath.e - 1) * w), 8)
        assert exact * (1 - mpmath.mpf(2) ** -27) < mpmath.mpf(float(found.weights[0])) <= exact


def test_minus_zero_is_zero():
    profile = declare("p", "w*(1 + z)", record={"z": [-1, 1]})
    selector = prepare_selection(profile, rule_from_expression("Piecewise((1/3, z < 0), (1/2, True))", profile))
    both = selector.select({"z": [0.0, -0.0]})
    assert both.probabilities.tolist() == [0.5, 0.5]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("options", [{"target_epsilon": 2}, {"q": "1/9 + z**(4/3)/9"}, {"q": "1/3"}])
@pytest.mark.parametrize("text", ["w*z", "w*z + log(1 + w*z)/9"])
def test_plans_can_be_sent_to_other_processes(text, options):
    plan = plan_sample(declare("p", text, record={"z": [0, 1]}), **options)
    again = pickle.loads(pickle.dumps(plan))
    z = np.random.default_rng(1).random(100)
    mine, its = plan.selector.select({"z": z}), again.selector.select({"z": z})
    assert np.array_equal(mine.probabilities, its.probabilities)
    assert np.array_equal(mine.weights, its.weights)
    assert again.epsilon == plan.epsilon
