from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from accountant.applications.submodular import CoverageInstance, WeightedCoverage
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.matroids import Coverage, PerUser, Tracked
from profiles import InvalidArgument, InvalidData

from .instances import covers, multilinear

M = 4
USERS = st.lists(st.sets(st.integers(0, M - 1)), max_size=5)
SEED = st.integers(0, 2**32)


def walk(seed, rounds, length=9):
    """Elements in a random order, each at most ``rounds`` times."""
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(M), rounds))[:length].tolist()


def drawn_value(value, bins, steps):
    return sum((value(frozenset(u for u in range(M) if row[u] < steps[u])) for row in bins.tolist()), Fraction(0)) / len(bins)


@settings(max_examples=20, deadline=None)
@given(USERS, SEED, st.integers(1, 5))
def test_closed_form_against_definition_d1(users, seed, rounds):
    """Within j/UNIT a user after j steps, and never above what is left."""
    function, value, steps = Coverage(M), covers(users), [0] * M
    scores = function.start(function.read(users), rounds, None)
    for moved, element in enumerate(walk(seed, rounds)):
        for u in range(M):
            if steps[u] == rounds:
                continue
            y = [Fraction(step, rounds) for step in steps]
            up = [c + Fraction(1, rounds) if v == u else c for v, c in enumerate(y)]
            exact = multilinear(value, up) - multilinear(value, y)
            found = Fraction(int(scores.gains(np.array([u]))[0]), scores.unit)
            assert abs(found - exact) * UNIT <= len(users) * (moved + 1)
        scores.advance(element)
        steps[element] += 1


@settings(max_examples=60, deadline=None)
@given(USERS, SEED, st.integers(1, 4), st.integers(1, 6))
def test_draws_against_the_definition_of_g(users, seed, rounds, draws):
    """Algorithm 5's G^z, exactly, for the coverage scores and for the same function given by its values (up to rounding down there)."""
    function, value, steps = Coverage(M), covers(users), [0] * M
    bins = np.random.default_rng(seed).integers(rounds, size=(draws, M))
    general = PerUser(M, lambda data, sets: np.array([[s[list(user)].any() for s in sets] for user in data]))
    scores, slow = function.start(function.read(users), rounds, bins), general.start(list(users), rounds, bins)
    for moved, element in enumerate(walk(seed, rounds)):
        free = np.array([u for u in range(M) if steps[u] < rounds])
        now = drawn_value(value, bins, steps)
        exact = [drawn_value(value, bins, [s + (v == u) for v, s in enumerate(steps)]) - now for u in free]
        assert [Fraction(int(gain), scores.unit) for gain in scores.gains(free)] == exact
        for gain, wanted in zip(slow.gains(free).tolist(), exact, strict=True):
            assert 0 <= wanted * UNIT - gain <= len(users) * (moved + 1)
        scores.advance(element)
        slow.advance(element)
        steps[element] += 1


def contributions(function, data, rounds, bins, path):
    scores, gained = function.start(data, rounds, bins), 0
    every = []
    for element in path:
        gains = scores.gains(np.arange(M))
        every.append(gains)
        gained += int(gains[element])
        scores.advance(element)
    return np.array(every), gained, scores.unit


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.integers(1, 3))
def test_assumptions_4_1_and_4_2_hold_for_the_computed_scores(seed, arbitrary, rounds):
    """A user more raises no gain below what it was, and the gains of what is chosen by at most one unit in all: also for functions that are
    not monotone, not in [0, 1], or not numbers, because each user is clipped."""
    rng = np.random.default_rng(seed)
    path = walk(seed, rounds, length=M * rounds)  # to the end: y = (1, ..., 1)
    bins = rng.integers(rounds, size=(3, M))
    if arbitrary:
        table = rng.choice([-1.0, 0.0, 0.3, 0.7, 1.0, 5.0, np.nan, np.inf], size=(3, 2**M))
        function = PerUser(M, lambda data, sets: table[np.array(data)][:, sets @ (1 << np.arange(M))])
        large, small = [0, 1, 2], [0, 2]
    else:
        function = Coverage(M)
        users = [np.flatnonzero(rng.random(M) < 0.5).tolist() for _ in range(3)]
        large, small = function.read(users), function.read([users[0], users[2]])
    for drawn in (bins,) if arbitrary else (bins, None):
        found = [contributions(function, data, rounds, drawn, path) for data in (large, small)]
        # an element that was taken in every round is no candidate, so that its score does not count
        taken = np.array([[path[:i].count(u) for u in range(M)] for i in range(len(path))])
        assert (found[0][0] >= found[1][0])[taken < rounds].all()
        assert 0 <= found[0][1] - found[1][1] <= found[0][2]
    sets = np.array([[bool(x >> u & 1) for u in range(M)] for x in range(2**M)])
    difference = function.totals(large, sets) - function.totals(small, sets)
    assert (difference >= 0).all()
    assert (difference <= function.unit).all()


def test_ways_to_give_users():
    function = Coverage(3)
    lists = function.read([[0, 0, 2], (), {1}])
    matrix = function.read(sparse.coo_matrix(([1, 5, 1, 1, -1], ([0, 0, 2, 1, 1], [0, 2, 1, 1, 1])), shape=(3, 3)))
    for one, other in zip((lists.starts, lists.items), (matrix.starts, matrix.items), strict=True):
        assert one.tolist() == other.tolist()
    twice = sparse.csr_matrix((np.ones(4, dtype=np.int8), [2, 2, 0, 0], [0, 4, 4, 4]), shape=(3, 3))  # the same item twice: no second vote
    read = function.read(twice)
    assert (read.starts.tolist(), read.items.tolist()) == ([0, 2, 2, 2], [0, 2])
    assert twice.nnz == 4
    kept = function.keep(lists, np.array([False, True, True]))
    assert (kept.starts.tolist(), kept.items.tolist()) == ([0, 0, 1], [1])
    empty = function.read([])
    assert function.count(empty) == 0
    assert function.totals(empty, np.ones((2, 3), dtype=bool)).tolist() == [0, 0]
    assert function.start(empty, 2, None).gains(np.arange(3)).tolist() == [0, 0, 0]
    assert function.read(lists) is lists


@pytest.mark.parametrize("data", [[[3]], [[-1]], [[0.5]], 7, "ab", sparse.eye(2), np.eye(3), [[True, "a"]]])
def test_unusable_users_are_refused(data):
    with pytest.raises(InvalidData):
        Coverage(3).read(data)


def test_unusable_functions_are_refused():
    with pytest.raises(InvalidArgument):
        Coverage(0)
    with pytest.raises(InvalidArgument, match="draws"):
        PerUser(2, lambda data, sets: None).start([1], 2, None)
    with pytest.raises(InvalidArgument, match="shape"):
        PerUser(2, lambda data, sets: np.zeros(1)).totals([1], np.zeros((2, 2), dtype=bool))
    with pytest.raises(InvalidData):
        PerUser(2, lambda data, sets: None).read(3)
    with pytest.raises(InvalidData):
        Coverage(4).read(Coverage(3).read([[1]]))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["max", "sum"]), st.integers(1, 3))
def test_weighted_coverage_against_its_values(seed, combine, rounds):
    """Facility location and capped sums by trackers: the same scores as from the values, which are exact in units of 2^-32."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, size=(4, M)) / 4
    users, bins = WeightedCoverage.from_matrix(table, combine=combine), rng.integers(rounds, size=(3, M))

    def values(data, sets):
        shown = sets[None] * data[:, None]
        return shown.max(axis=2) if combine == "max" else np.minimum(shown.sum(axis=2), 1)

    slow = PerUser(M, values)
    function = Tracked(M)
    scores, wanted = function.start(function.read(users), rounds, bins), slow.start(table, rounds, bins)
    for element in walk(seed, rounds):
        free = np.array([u for u in range(M) if np.count_nonzero(scores._steps[u] < rounds)])
        for found, other in zip(scores.gains(free).tolist(), wanted.gains(free).tolist(), strict=True):
            assert abs(Fraction(found, scores.unit) - Fraction(other, wanted.unit)) <= Fraction(4 * 10, UNIT)
        scores.advance(element)
        wanted.advance(element)
    sets = rng.random((3, M)) < 0.5
    assert (function.totals(users, sets) * (UNIT // function.unit) == slow.totals(table, sets)).all()


def test_tracked_functions_of_another_form_are_refused():
    users = WeightedCoverage.from_matrix([[0.5, 1.0]])
    function = Tracked(2)
    for wrong in (Tracked(3), Tracked(2, resolution=1), Tracked(2, kind=CoverageInstance)):
        with pytest.raises(InvalidData):
            wrong.read(users)
    with pytest.raises(InvalidArgument, match="draws"):
        function.start(users, 2, None)
    counted = Tracked(2, kind=CoverageInstance, resolution=1)
    assert counted.totals(counted.read(CoverageInstance.from_sets([[0], [0, 1]], candidates=2)), np.array([[True, False]])).tolist() == [2]
    assert function.hypotheses == counted.hypotheses == ()
    assert len(Tracked(2, kind=int).hypotheses) == 2


def test_what_a_user_adds_does_not_depend_on_how_many_there_are():
    """Found with sums over the rows of an array: NumPy adds up a lone row, which is contiguous, in another order than one of many."""
    rng = np.random.default_rng(8)
    steps = np.round(rng.random((40, 64)), 1)
    steps[:, ::2] = 1 - steps[:, 1::2]  # means of exactly 1/2, a multiple of the unit that rounding may miss from below
    steps = rng.permuted(steps, axis=1)
    bins = np.zeros((64, 1), dtype=np.uint8)

    def values(data, membership):  # the draws are told apart by their order; sets first, as a list comprehension gives them
        return np.array([data[:, place] * members[0] for place, members in enumerate(membership)]).T

    function = PerUser(1, values)
    together = function.start(steps, 1, bins)._judge([0])[0][0]
    alone = [int(function.start(steps[user : user + 1], 1, bins)._judge([0])[0][0][0]) for user in range(40)]
    assert together.tolist() == alone
