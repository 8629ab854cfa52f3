"""Samples in memory: drawn as planned, used once, released with a guarantee that carries what it rests on."""

from __future__ import annotations

import copy
import pickle
import threading
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from accountant import draw_sample, plan_sample
from accountant.data import parse_statistic
from accountant.data.specs import describe_spec
from accountant.guarantees import ARITHMETIC, EXACT_REALS, INDEPENDENT, ONE_ANALYSIS, PROBABILITY, STATISTICS, Guarantee
from profiles import Infeasible, InvalidArgument, InvalidData, InvalidSampling, SampleUsed, UnreadableFile
from profiles.hypotheses import (
    FIXED_IN_ADVANCE,
    NOT_REDRAWN,
    ONE_RECORD_EACH,
    ONLY_OUTPUT,
    ONLY_RELEASE,
    PUBLIC_CENTRES,
    RANDOMNESS,
    RECORD_STATISTICS,
    SECURE_BITS,
    SEEDED_BITS,
    TARGET_FIXED,
    TARGET_FROM_DATA,
    WEIGHT_AS_GIVEN,
    name_declaration,
    name_range,
)
from profiles.mechanisms import LaplaceSum, WeightedCount, WeightedLloyd
from profiles.mechanisms.interface import EXACT_MODE
from profiles.randomness.bernoulli import PoissonSampler

SUM = LaplaceSum(b=20, radius=4)
COUNT = WeightedCount(beta_count=50)
POINTS = np.random.default_rng(1).uniform(-4, 4, 3000)
SPECS = [parse_statistic("z=l1")]


@pytest.fixture(scope="module")
def plan():
    return plan_sample(SUM, target_epsilon="1/2")


def draw(plan, source=7, data=POINTS, **options):
    return draw_sample(plan, data, specs=SPECS, source=source, **options)


def test_a_sample_has_the_planned_pairs_and_draws(plan):
    records = draw(plan).consume()
    pairs = plan.selector.select({"z": np.abs(POINTS)})
    rows = np.flatnonzero(PoissonSampler(7).select(pairs.probabilities))
    assert records.points()[:, 0].tolist() == POINTS[rows].tolist()
    assert records.weights.tolist() == pairs.weights[rows].tolist()
    assert records.q.tolist() == pairs.probabilities[rows].tolist()
    assert stats.binomtest(rows.size, POINTS.size, float(pairs.probabilities.mean())).pvalue > 1e-9


def test_the_batches_do_not_matter(plan):
    expected = draw(plan).consume()
    for batch_rows in (13, 999, 10_000):
        found = draw(plan, batch_rows=batch_rows).consume()
        assert found.table.equals(expected.table)
        assert found.weights.tolist() == expected.weights.tolist()


def test_a_sample_is_used_once(plan):
    sample = draw(plan)
    assert not sample.used
    sample.consume()
    assert sample.used
    for again in (sample.consume, lambda: sample.release(SUM, np.random.default_rng(99))):
        with pytest.raises(SampleUsed, match=r"composed and then amplified once, or draw a fresh sample for each and add up"):
            again()
    other = draw(plan)
    other.release(SUM, np.random.default_rng(99))
    with pytest.raises(SampleUsed):
        other.release(SUM, np.random.default_rng(99))


def test_a_sample_cannot_be_copied(plan):
    sample = draw(plan)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(SampleUsed, match="cannot be copied"):
            attempt(sample)
    assert not sample.used


def test_of_many_threads_one_gets_the_records(plan):
    sample, got = draw(plan), []

    def work():
        try:
            got.append(sample.consume())
        except SampleUsed:
            got.append(None)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([item for item in got if item is not None]) == 1


def test_the_guarantee_says_what_it_rests_on(plan):
    sample = draw(plan, source=None)
    guarantee = sample.guarantee
    assert isinstance(guarantee, Guarantee)
    assert guarantee.bound.upper == Fraction(1, 2)
    declared = {name_declaration(SUM.profile), name_range(SUM.profile), TARGET_FIXED, ONE_RECORD_EACH, NOT_REDRAWN}
    read = RECORD_STATISTICS.about(names=describe_spec(SPECS[0]))
    always = {*declared, read, FIXED_IN_ADVANCE, ONLY_RELEASE, ONLY_OUTPUT, STATISTICS, ARITHMETIC, SECURE_BITS}
    assert set(guarantee.hypotheses) == {*always, EXACT_REALS, RANDOMNESS, ONE_ANALYSIS, WEIGHT_AS_GIVEN}
    assert not {INDEPENDENT, PROBABILITY, SEEDED_BITS} & set(guarantee.hypotheses)
    assert SEEDED_BITS in draw(plan, source=np.random.default_rng(1)).guarantee.hypotheses
    released = sample.release(SUM, np.random.default_rng(99))
    always |= set(EXACT_MODE)  # in place of exact real arithmetic
    assert released.output.shape == (1,)
    assert set(released.guarantee.hypotheses) == (always | {SEEDED_BITS}) - {name_declaration(SUM.profile)}
    closed = {item.hypothesis for item in released.guarantee.discharged}
    assert {ONE_ANALYSIS, WEIGHT_AS_GIVEN, RANDOMNESS} <= closed
    assert not any(item.id == RECORD_STATISTICS.id for item in closed)  # said of what is read, and open
    secure = draw(plan, source=None).release(SUM).guarantee
    assert set(secure.hypotheses) == always - {name_declaration(SUM.profile)}
    assert released.guarantee.bound == guarantee.bound


def test_the_hypotheses_of_the_mechanism_are_kept():
    centres = np.array([[-1.0, 0], [1, 0]])
    mechanism = WeightedLloyd(initial_centres=centres, iterations=2, beta_count=10, beta_sum=20, p=2, radius=2)
    points = np.random.default_rng(3).normal(size=(500, 2)).clip(-1, 1)
    sample = draw_sample(mechanism, points, target_epsilon=1, specs=[parse_statistic("z=l2")], source=5)
    released = sample.release(mechanism, np.random.default_rng(99))
    assert released.output.shape == (2, 2)
    assert PUBLIC_CENTRES in released.guarantee.hypotheses


def test_several_mechanisms_are_planned_together():
    sample = draw_sample([COUNT, SUM], POINTS, rule="uniform", constants={"rate": "1/10"}, specs=SPECS, source=5)
    alone = plan_sample(SUM, rule="uniform", constants={"rate": "1/10"})
    assert sample.plan.epsilon > alone.epsilon
    with pytest.raises(InvalidArgument, match="planned for 2 mechanisms, but 1 were given"):
        sample.release(SUM, np.random.default_rng(99))
    with pytest.raises(InvalidArgument, match="was planned for"):
        sample.release([SUM, COUNT], np.random.default_rng(99))
    assert not sample.used
    released = sample.release([COUNT, SUM], np.random.default_rng(99))
    assert [np.shape(output) for output in released.output] == [np.shape(COUNT.run(POINTS, None, np.random.default_rng(1))), (1,)]


class Careless:
    """A mechanism that changes the arrays it is given."""

    profile = SUM.profile

    def run(self, data, weights, _):
        seen = float(data.sum()), float(weights.sum())
        data *= 0
        weights[:] = 1
        return seen


def test_a_mechanism_cannot_change_the_records_of_the_next_one():
    sample = draw_sample([Careless(), Careless()], POINTS, q="1/10", specs=SPECS, source=5)
    first, second = sample.release([Careless(), Careless()], np.random.default_rng(99)).output
    assert first == second
    assert first[1] > 1_000


def test_another_mechanism_is_refused_and_nothing_is_used_up(plan):
    sample = draw(plan)
    for other in (LaplaceSum(b=19, radius=4), LaplaceSum(b=20, radius=3), COUNT, "text", lambda: None):
        with pytest.raises(InvalidArgument):
            sample.release(other, np.random.default_rng(99))
    assert not sample.used


def test_columns_with_a_larger_statistic_are_refused(plan):
    table = pa.table({"small": POINTS / 2, "large": POINTS, "name": [str(x) for x in POINTS]})
    sample = draw_sample(plan, table, specs=[parse_statistic("z=l1(small)")], source=3)
    with pytest.raises(InvalidData, match="cost more than the one that the weights were computed from"):
        sample.release(SUM, np.random.default_rng(99), columns=["large"])
    with pytest.raises(InvalidData, match="columns of numbers"):
        sample.release(SUM, np.random.default_rng(99), columns=["name"])
    with pytest.raises(InvalidData, match="name one"):
        sample.release(SUM, np.random.default_rng(99), columns=["tiny"])
    assert not sample.used
    sample.release(SUM, np.random.default_rng(99), columns=["small"])


def test_a_sample_may_be_empty():
    sample = draw_sample(SUM, POINTS[:5], q="10**(-9)", specs=SPECS, source=1)
    records = sample.consume()
    assert records.table.num_rows == records.weights.size == records.points().shape[0] == 0
    again = draw_sample(SUM, POINTS[:5], q="10**(-9)", specs=SPECS, source=1)
    assert again.release(SUM, np.random.default_rng(99)).output.shape == (1,)


def test_a_target_size_is_no_public_number():
    sample = draw_sample(SUM, POINTS, target_size=100, specs=SPECS, source=1)
    assert TARGET_FROM_DATA in sample.guarantee.hypotheses
    assert 60 < sample.consume().weights.size < 150


def test_unusable_requests(plan):
    for options in ({"target_epsilon": 1}, {"target_size": 5}, {"rule": "uniform"}):
        with pytest.raises(InvalidArgument, match="a plan has its rule"):
            draw_sample(plan, POINTS, specs=SPECS, **options)
    with pytest.raises(InvalidArgument, match="together with"):
        draw_sample(SUM, POINTS, target_size=5, target_epsilon=1)
    with pytest.raises(InvalidArgument, match="sampling rule is needed"):
        draw_sample(SUM, POINTS, specs=SPECS)
    with pytest.raises(InvalidSampling, match="> 1"):
        draw_sample(SUM, POINTS, q="1 + z", specs=SPECS)
    with pytest.raises(Infeasible, match="assumption-8"):
        draw_sample(SUM, POINTS, target_epsilon="1/100", specs=SPECS)
    with pytest.raises(InvalidData, match="row 1 is outside"):
        draw(plan, data=np.array([1.0, 5.0]))
    with pytest.raises(InvalidData, match="finite"):
        draw(plan, data=np.array([1.0, np.nan]))
    with pytest.raises(UnreadableFile):
        draw(plan, data="nothing.parquet")
    with pytest.raises(InvalidArgument, match="no record statistic"):
        plan_sample(COUNT, q="1/2")
