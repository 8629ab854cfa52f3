"""The law that the package computes of itself: equal to the one by definition, and within the target for every way to run."""

from __future__ import annotations

import itertools
import math

import mpmath
import pytest
from flint import arb

from accountant.applications.clustering import PrivateMetricClustering, read_distances
from profiles import InvalidArgument
from profiles.balls import ball, working_precision
from proofs_check.exact import exact_epsilon, repeated_exponential_law, sample_first
from tests.applications.clustering.test_exact_law import MOST, SPACES, joint_law, sampled
from tests.targets.laws.clustering import release_law

LINE = SPACES["line"]


def losses(law_of, size: int, most: int) -> tuple[arb, arb]:
    """Return balls of the largest log ratios over all neighbors of at most ``most`` records; a missing outcome has probability 0."""
    remove = add = arb(0)
    with working_precision(256):
        laws = {data: law_of(data) for n in range(most + 1) for data in itertools.combinations_with_replacement(range(size), n)}
        for larger, law in laws.items():
            for i in range(len(larger)):
                smaller = laws[larger[:i] + larger[i + 1 :]]
                for outcome in law.keys() | smaller.keys():
                    p, q = law.get(outcome, arb(0)), smaller.get(outcome, arb(0))
                    remove = remove.max((p / q).log() if q > 0 else arb("inf")) if p > 0 else remove
                    add = add.max((q / p).log() if p > 0 else arb("inf")) if q > 0 else add
    return remove, add


def test_it_is_the_law_of_the_definition():
    model = PrivateMetricClustering(LINE, 1, "3/4", power=2, rounds=2)
    budget = model.budget
    data = (0, 2, 2)
    law = release_law(model, data, most=MOST)
    with mpmath.workdps(60):
        expected = sampled(lambda kept: joint_law(LINE, kept, 2, 2, budget.selection, budget.histogram), data, budget.plan.p)
        inner = {(chosen, cells): value for (_, chosen, cells), value in law.items() if max(cells) < MOST}
        assert len(inner) == 6 * MOST**2
        for outcome, value in inner.items():
            assert abs(mpmath.mpf(value.str(50, radius=False)) - expected[outcome]) < 1e-45
    with working_precision(256):
        assert sum(law.values(), arb(0)).contains(arb(1))


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize(
    "options",
    [
        {"rounds": 1, "split": "1/3"},
        {"rounds": 2, "histogram": "full"},
        {"rounds": 3},
        {"rounds": 3, "histogram": "full"},
        {"size_share": "1/3"},
        {"rounds": 2, "calibration": "corollary", "power": 2},
    ],
)
def test_every_way_to_run_keeps_its_target(options):
    model = PrivateMetricClustering(LINE, 1, "4/5", **options)
    remove, add = losses(lambda data: release_law(model, data, most=2), 3, 2)
    with working_precision(256):
        target = ball(model.guarantee.bound.epsilon)
        slack = arb(2) ** -200
        assert remove <= target + slack
        assert add <= target + slack
        assert remove > target / 4
        assert add > target / 4


def test_one_sided_parts_are_not_two_sided():
    model = PrivateMetricClustering(LINE, 1, 1, rounds=2)
    remove, add = losses(lambda data: release_law(model, data, most=2, sampling=False), 3, 2)
    with working_precision(256):
        assert remove <= ball(model.budget.plan.epsilon0) + arb(2) ** -200
    assert not add.is_finite()


def test_refusals():
    model = PrivateMetricClustering(LINE, 1, 1, rounds=2)
    with pytest.raises(InvalidArgument, match="cut at 1"):
        release_law(model, [0, 0], most=1)
    many = PrivateMetricClustering(read_distances([[0.0] * 6] * 6), 1, 1, rounds=6)
    with pytest.raises(InvalidArgument, match=r"10\^6"):
        release_law(many, [0] * 11, most=11)


def test_the_public_function_agrees():
    """exact_epsilon on the law of the package: the target is kept, and nearly reached in the direction that sampling alone protects."""
    model = PrivateMetricClustering(LINE, 1, 1, rounds=1)
    worst = exact_epsilon(lambda data: release_law(model, data, most=2), [0, 1, 2], max_size=2)
    assert worst.remove.epsilon.upper <= 1
    assert 1 - 1e-9 < worst.add.epsilon.lower <= 1


def printed(data):
    """Theorem G.1 as printed for k = 1, ε = 1 and five candidates at distance 1: ⌈2 ln n⌉ rounds, as 2 ln n < 5 for these n."""
    rounds = math.ceil(2 * math.log(len(data))) if data else 0

    def select(outputs):
        if len(outputs) >= rounds:
            return None
        return [c for c in range(5) if c not in outputs], lambda c, records: records.count(c)

    return repeated_exponential_law(select, data, 1)


def test_the_printed_algorithm_has_no_finite_epsilon():
    worst = exact_epsilon(printed, [0], max_size=3)
    assert math.isinf(worst.remove.epsilon.lower)
    assert math.isinf(worst.add.epsilon.lower)
    after = exact_epsilon(sample_first(printed, "1/2"), [0], max_size=3)
    assert math.isinf(after.remove.epsilon.lower)  # sampling does not help: three candidates tell that there are three records
    assert after.add.epsilon.upper <= 0.694
