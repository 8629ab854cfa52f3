"""The exact law of the whole algorithm over all neighbors of small universes, and draws against that law."""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import arb

from accountant.applications.submodular.matroids import (
    GraphicMatroid,
    OracleMatroid,
    PartitionMatroid,
    PerUser,
    PrivateMatroidGreedy,
    UniformMatroid,
)
from profiles.balls import ball, working_precision
from profiles.randomness.bits import open_bits
from proofs_check.exact import exact_epsilon, subsampled_law
from tests.targets.laws.matroids import enclose_greedy_law, enclose_law, finish_law

from .instances import powerset_types

#: f(∅), f({0}), f({1}), f({0, 1}) of three kinds of users: neither monotone nor in [0, 1].
TABLE = np.array([[0.0, 1.0, 1.0, 0.0], [-1.0, 0.4, 2.0, np.nan], [1.0, 0.0, 0.0, 1.0]])
ODD = PerUser(2, lambda data, sets: TABLE[np.array(data)][:, sets @ np.array([1, 2])])
CASES = {
    "uniform, closed form": (PrivateMatroidGreedy(matroid=UniformMatroid(3, 2), epsilon=1, rounds=2, roundings=2), None, 2),
    "uniform, k = 1, three rounds": (PrivateMatroidGreedy(matroid=UniformMatroid(2, 1), epsilon=2, rounds=3, roundings=3), None, 3),
    "partition, one draw": (
        PrivateMatroidGreedy(matroid=PartitionMatroid([0, 0, 1], [1, 1]), epsilon=1, rounds=2, roundings=2, draws=1),
        np.array([[0, 1, 0]]),
        2,
    ),
    "triangle, two draws, half of the budget for the choice": (
        PrivateMatroidGreedy(
            matroid=GraphicMatroid(3, [(0, 1), (1, 2), (2, 0)]), epsilon=1, rounds=1, roundings=1, draws=2, selection_share="1/2"
        ),
        np.array([[0, 0, 0], [0, 0, 0]]),
        3,
    ),
    "no matroid": (
        PrivateMatroidGreedy(matroid=OracleMatroid(3, lambda s: s <= {0, 2} or s == {1}, check="none"), epsilon=1, rounds=2, roundings=2),
        None,
        2,
    ),
    "not monotone": (
        PrivateMatroidGreedy(matroid=UniformMatroid(2, 1), objective=ODD, epsilon=1, rounds=2, roundings=2, draws=2),
        np.array([[0, 1], [1, 0]]),
        3,
    ),
}


def universe(mechanism, most):
    types = range(3) if mechanism.function is ODD else powerset_types(mechanism.matroid.size)
    return [data for size in range(most + 1) for data in combinations_with_replacement(types, size)]


def losses(laws):
    """Return the largest log ratio over all neighbors and outputs, for a user who goes and for one who comes."""
    remove = add = arb(0)
    for data, law in laws.items():
        for i in range(len(data)):
            other = laws[data[:i] + data[i + 1 :]]
            for output in set(law) | set(other):
                ratio = (law[output] / other[output]).log()
                remove, add = remove.max(ratio), add.max(-ratio)
    return remove, add


@lru_cache
def greedy_laws_of(name):
    mechanism, bins, most = CASES[name]
    return {data: enclose_greedy_law(mechanism, mechanism.function.read(list(data)), bins) for data in universe(mechanism, most)}


@lru_cache
def laws_of(name):
    mechanism = CASES[name][0]
    return {data: finish_law(mechanism, mechanism.function.read(list(data)), law) for data, law in greedy_laws_of(name).items()}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", CASES)
def test_add_dp_on_all_neighbors(name):
    mechanism = CASES[name][0]
    remove, _ = losses(laws_of(name))
    bases_plus, _ = losses(greedy_laws_of(name))
    with working_precision(192):
        assert all(abs(sum(law.values(), arb(0)) - 1) < 1e-40 for law in laws_of(name).values())
        assert 0 < remove <= ball(mechanism.plan.epsilon0)
        assert 0 < bases_plus <= ball(mechanism.budgets[0])


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["uniform, closed form", "no matroid", "not monotone"])
def test_sampled_users_make_it_private_in_both_directions(name):
    mechanism, p = CASES[name][0], CASES[name][0].plan.p
    sampled = {}
    with working_precision(192):
        rate = ball(Fraction(p))
        for data in laws_of(name):
            law = {}
            for mask in range(2 ** len(data)):
                kept = tuple(user for i, user in enumerate(data) if mask >> i & 1)
                weight = rate ** len(kept) * (1 - rate) ** (len(data) - len(kept))
                for output, probability in laws_of(name)[kept].items():
                    law[output] = law.get(output, arb(0)) + weight * probability
            sampled[data] = law
        remove, add = losses(sampled)
        assert 0 < remove <= ball(mechanism.plan.target)
        assert 0 < add <= ball(mechanism.plan.target)


def test_the_public_exact_epsilon_agrees():
    """The same data sets through ``exact_epsilon``, which reads the balls: both directions, with and without the sample."""
    name = "uniform, k = 1, three rounds"
    mechanism, _, most = CASES[name]
    laws = laws_of(name)
    worst = exact_epsilon(laws.__getitem__, powerset_types(2), max_size=most)
    with working_precision(192):
        remove, add = losses(laws)
    for found, wanted in ((worst.remove, remove), (worst.add, add)):
        assert found.epsilon.lower <= float(wanted) <= found.epsilon.upper
        assert found.epsilon.upper - found.epsilon.lower < 1e-12
    assert worst.remove.epsilon.upper <= mechanism.plan.epsilon0
    sampled = exact_epsilon(lambda data: subsampled_law(laws.__getitem__, data, Fraction(mechanism.plan.p)), powerset_types(2), max_size=2)
    assert 0.4 < sampled.symmetric.lower <= sampled.symmetric.upper <= mechanism.plan.target


def test_without_sampling_it_is_not_private():
    """Appendix C's instance in this algorithm (T = 1, k = 2): one user whom 20 of 22 elements cover, and the other two are chosen."""
    mechanism = PrivateMatroidGreedy(matroid=UniformMatroid(22, 2), epsilon="0.01", calibration="corollary", rounds=1, roundings=1)
    user, nobody = mechanism.function.read([range(20)]), mechanism.function.read([])
    output = (frozenset({20, 21}),)
    with working_precision(192):
        add = (enclose_greedy_law(mechanism, nobody)[output] / enclose_greedy_law(mechanism, user)[output]).log()
        assert add > ball(mechanism.plan.epsilon0) * 1.6
        assert add < 2 * ball(mechanism.plan.epsilon0)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("size", "rounds", "least"), [(400, 1, 0.98), (40, 2, 0.9)])
def test_the_loss_of_greedy_comes_near_its_budget(size, rounds, least):
    """One user with one of many items, which is chosen in every round: an exponent that is a tenth too large would show."""
    mechanism = PrivateMatroidGreedy(matroid=UniformMatroid(size, 1), epsilon=1, rounds=rounds, roundings=1)
    user, nobody = (enclose_greedy_law(mechanism, mechanism.function.read(users)) for users in ([[0]], []))
    output = (frozenset({0}),) * rounds
    with working_precision(192):
        remove = (user[output] / nobody[output]).log()
        assert remove <= ball(mechanism.budgets[0])
        assert remove > ball(mechanism.budgets[0]) * least


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["uniform, closed form", "no matroid"])
def test_draws_follow_the_law(name):
    """Each frequency of 1,000 runs within 5.5 standard deviations (false alarm below 1e-6)."""
    mechanism, _, _ = CASES[name]
    bits, runs = open_bits(11), 1_000
    sample = mechanism.function.read([(0,), (0, 2), (2,)])
    found = Counter(tuple(sorted(mechanism.run_on_sample(sample, bits))) for _ in range(runs))
    law = enclose_law(mechanism, sample)
    assert set(found) <= set(law)
    for members, probability in law.items():
        p = float(probability)
        assert abs(found[members] - runs * p) <= 5.5 * (runs * p * (1 - p)) ** 0.5 + 1
