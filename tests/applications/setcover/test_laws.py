"""Exact laws of tiny instances, in fractions: the losses never exceed the theorems, and the theorems are attained."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from accountant.applications.setcover import CoverageInstance, NoisyGreedy, OneSampleScaling, PrivateSetCover
from accountant.applications.setcover.private import _run_group
from accountant.applications.setcover.program import CoverProgram, GreedyStage, Group, ThresholdPass
from profiles import InvalidArgument
from profiles.randomness.bernoulli import PoissonSampler
from proofs_check.exact import exact_epsilon
from tests.targets.laws.setcover import enumerate_noise, find_law, sample_law

A = Fraction(1, 3)  # e^-epsilon0
STAGES = {
    "pass": (ThresholdPass(2),),
    "passes": (ThresholdPass(3), ThresholdPass(2), ThresholdPass(1)),
    "greedy": (GreedyStage(),),
    "greedy with a floor": (GreedyStage(2),),
    "passes and greedy": (ThresholdPass(2), GreedyStage()),
}
ROWS = [row for size in range(4) for row in itertools.combinations(range(3), size)]


def group(stages, p=0.5):
    return Group(p, Fraction(11, 10), stages, float(A))  # 1.1 > log 3


def losses(program, rows, sets, decays):
    """The largest ratios P_D/P_D' and P_D'/P_D over permutations and all neighbors D' = D minus a row."""
    whole, remove, add = find_law(program, rows, sets, decays=decays), Fraction(0), Fraction(0)
    assert sum(whole.values()) == 1
    for index in range(len(rows)):
        less = find_law(program, rows[:index] + rows[index + 1 :], sets, decays=decays)
        for order in whole:
            remove, add = max(remove, whole[order] / less[order]), max(add, less[order] / whole[order])
    return remove, add


@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
@given(sample=st.lists(st.sampled_from(ROWS), max_size=2), row=st.sampled_from(ROWS), taken=st.sampled_from([(), (1,), (2, 0)]))
@settings(deadline=None, max_examples=12)
def test_theorem_1_on_one_sample(stages, sample, row, taken):
    """A group costs e^epsilon0 where it covers x, nothing where it does not, and does not see x where x was covered before."""
    before = [frozenset(item) for item in sample]
    less = sample_law(group(stages), before, 3, taken, A)
    more = sample_law(group(stages), [*before, frozenset(row)], 3, taken, A)
    assert sum(more.values()) == 1
    for order, chance in more.items():
        if set(row) & set(taken):
            assert chance == less[order]
        elif set(row) & set(order[len(taken) :]):
            assert chance <= less[order] / A
        else:
            assert chance <= less[order]


PROGRAMS = {
    "one sample, greedy": [((GreedyStage(),), 0.5)],
    "one sample, passes": [(STAGES["passes"], 0.5)],
    "fresh samples": [((ThresholdPass(2),), 0.25), ((ThresholdPass(1),), 0.5)],
    "fresh samples, then greedy": [((ThresholdPass(2),), 0.25), ((GreedyStage(),), 0.5)],
}


@pytest.mark.parametrize("shape", PROGRAMS.values(), ids=PROGRAMS)
@given(rows=st.lists(st.sampled_from([(0,), (1,), (0, 1), ()]), min_size=1, max_size=3))
@settings(deadline=None, max_examples=10)
def test_theorem_2_on_all_neighbors(shape, rows):
    program = CoverProgram("tiny", tuple(group(*item) for item in shape))
    decays = [Fraction(1, 3 + index) for index in range(len(shape))]
    remove, add = losses(program, rows, 2, decays)
    assert remove <= max(1 + Fraction(p) * (1 / a - 1) for (_, p), a in zip(shape, decays, strict=True))
    product = Fraction(1)
    for _, p in shape:
        product /= 1 - Fraction(p)
    assert add <= product


def test_three_sets_and_three_samples():
    program = CoverProgram("tiny", (group((ThresholdPass(3),), 0.125), group((ThresholdPass(2),), 0.25), group((GreedyStage(),), 0.5)))
    decays = [Fraction(1, 9), Fraction(1, 5), Fraction(1, 3)]  # every round may spend the whole: 1 + p (1/a − 1) = 2
    remove, add = losses(program, [(0, 1), (2,)], 3, decays)
    assert remove <= 2
    assert add <= 1 / (Fraction(7, 8) * Fraction(3, 4) * Fraction(1, 2))


def test_both_directions_are_attained():
    """A threshold that one record cannot reach alone costs 1 + p (e^epsilon0 − 1) exactly; a threshold of 1 shows that nobody came."""
    p = Fraction(1, 2)
    high, low = (CoverProgram("one pass", (group((ThresholdPass(value),)),)) for value in (2, 1))
    assert losses(high, [(1,)], 2, [A])[0] == 1 + p * (1 / A - 1)
    assert losses(low, [(0,)], 2, [A])[1] == 1 / (1 - p)
    twice = CoverProgram("two samples", (group((ThresholdPass(1),)), group((ThresholdPass(1),))))
    assert losses(twice, [(0,)], 3, [A, A])[1] == 1 / (1 - p) ** 2


def test_a_budget_for_each_pass_is_not_needed_but_for_the_other_direction():
    """Without the sample the passes cost e^epsilon0 in one direction, and more than any number of passes allows in the other."""
    free = group(tuple(ThresholdPass(2) for _ in range(6)))
    more, less = (sample_law(free, rows, 2, (), A) for rows in ([frozenset([0])], []))
    assert max(more[order] / less[order] for order in less) <= 1 / A
    assert max(less[order] / more[order] for order in less if more[order]) > 1 / A  # six refusals: (1 − a²)^6/(1 − a)^6


@given(
    cap=st.integers(1, 4),
    shifts=st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3)),
)
@settings(deadline=None, max_examples=20)
def test_representatives_of_the_noise(cap, shifts):
    """Against a truncated sum: P[G_0 + s_0 > G_1 + s_1, G_2 >= s_2]; what is cut off is below 3·(1/3)^12."""
    inside = tuple(max(-(cap - 1) // 2, min((cap - 1) // 2, value)) for value in shifts)

    def holds(g):
        return g[0] + inside[0] > g[1] + inside[1] and g[2] >= inside[2]

    exact = sum(weight for noise, weight in enumerate_noise([0, 1, 2], cap, A) if holds(noise))
    cut = sum((1 - A) ** 3 * A ** sum(g) for g in itertools.product(range(12), repeat=3) if holds(g))
    assert cut <= exact <= cut + 3 * A**12
    assert sum(weight for _, weight in enumerate_noise([0, 1, 2], cap, A)) == 1


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["greedy", "passes", "passes and greedy"])
def test_what_runs_has_the_exact_law(name):
    """Chi-square against the exact law, 1500 runs; a false alarm has probability below 1e-7."""
    rows, size = [[0, 1], [1], [2], [1, 2]], 1500
    system = CoverageInstance.from_sets(rows, candidates=3)
    chosen = group(STAGES[name])
    law = find_law(CoverProgram("tiny", (chosen,)), rows, 3, decays=[A])
    sampler, found = PoissonSampler(11), dict.fromkeys(law, 0)
    for _ in range(size):
        taken = np.zeros(3, dtype=bool)
        order = _run_group(chosen, system, np.arange(3), taken, sampler)
        found[(*order, *(item for item in range(3) if not taken[item]))] += 1
    expected = [float(chance) * size for chance in law.values()]
    assert stats.chisquare(list(found.values()), expected).pvalue > 1e-7


@pytest.mark.parametrize("algorithm", [NoisyGreedy(), OneSampleScaling(4, beta="0.9")], ids=lambda a: type(a).__name__)
def test_no_neighbors_exceed_the_guarantee(algorithm):
    """The very binary64 numbers that run, all data sets of at most three elements: the exact epsilon of both directions."""
    plan = PrivateSetCover(1, sets=2, algorithm=algorithm)
    worst = exact_epsilon(lambda data: find_law(plan.program, data, 2), [(0,), (1,), (0, 1)], max_size=3)
    for found in (worst.remove, worst.add):
        assert 1 < found.ratio <= Fraction("2.718281828459045")  # below e
    assert plan.guarantee.bound.epsilon <= 1


def test_a_group_has_no_less_noise_than_its_budget_allows():
    for decay in (0.36, 0.36787944117144228, 1.0, 0.0):
        with pytest.raises(InvalidArgument, match="decay"):
            Group(0.5, Fraction(1), (GreedyStage(),), decay)
