"""A function that is given by its values: a user's value must not depend on the others, whatever the function does with a matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular.matroids import PerUser, PrivateMatroidGreedy, UniformMatroid, find_dependence
from profiles import InvalidArgument, InvalidData
from profiles.hypotheses import JUDGED_TOGETHER, RECORDWISE


def step(level):
    """1 where a matrix product reaches a level: BLAS rounds a row by the rows beside it, and a step makes a whole user of the last bit."""
    return lambda data, sets: (data @ sets.T >= level) * 1.0


def equal_users(seed):
    """Users with one and the same record, sets, and the level that the first of them reaches when all are asked together."""
    rng = np.random.default_rng(seed)
    size, users = int(rng.integers(4, 33)), int(rng.integers(2, 12))
    data, sets = np.tile(rng.random(size) / size, (users, 1)), rng.random((5, size)) < 0.5
    return data, sets, (data @ sets.T)[0, 0]


def find_breach():
    """A data set of which the removal of one user moves a total by more than one user, where all are asked together."""
    for seed in range(4000):
        data, sets, level = equal_users(seed)
        values = step(level)
        if abs(int(values(data, sets)[:, 0].sum()) - int(values(data[:-1], sets)[:, 0].sum())) > 1:
            return data, sets, values
    return pytest.skip("the BLAS of this machine rounds a row without regard to the rows beside it")


def test_one_user_more_moves_a_total_by_one_user_at_most_where_a_matrix_product_moves_it_by_two():
    data, sets, values = find_breach()
    function = PerUser(sets.shape[1], values)
    moved = function.totals(data, sets) - function.totals(data[:-1], sets)
    assert (moved >= 0).all()
    assert (moved <= function.unit).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_a_users_value_is_that_of_the_user_alone(seed):
    """Subsets, orders and places in memory: all bits of a user's values are the same."""
    rng = np.random.default_rng(seed)
    size, users = int(rng.integers(3, 40)), int(rng.integers(1, 30))
    data, sets = rng.random((users, size)), rng.random((int(rng.integers(1, 7)), size)) < 0.5
    function = PerUser(size, lambda data, sets: data @ sets.T / 40)
    whole = function.evaluate(data, sets)
    chosen = rng.permutation(users)[: int(rng.integers(1, users + 1))]
    assert np.array_equal(function.evaluate(data[chosen], sets), whole[chosen])
    turned = np.asfortranarray(data)  # the rows of another layout in memory
    shifted = np.empty(data.size + 3)[3:].reshape(data.shape)
    shifted[:] = data
    for other in (turned, shifted):
        assert np.array_equal(function.evaluate(other, sets), whole)


@pytest.mark.thorough
def test_scores_of_a_run_keep_what_privacy_needs():
    """Gains of D are at least those of D', and those of what is chosen exceed them by a unit in all at most, for steps as well."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        size, users = 12, 9
        data = np.tile(rng.random(size) / size, (users, 1))
        bins = rng.integers(2, size=(6, size))
        level = float((data @ (rng.random((3, size)) < 0.4).T)[0, 0])
        function = PerUser(size, step(level))
        larger, smaller, gained = function.start(data, 2, bins), function.start(data[1:], 2, bins), 0
        for element in rng.permutation(size):
            gap = larger.gains(np.arange(size)) - smaller.gains(np.arange(size))
            assert (gap >= 0).all()
            gained += int(gap[element])
            larger.advance(int(element))
            smaller.advance(int(element))
        assert gained <= function.unit


@pytest.mark.parametrize("together", [False, True])
def test_what_a_user_has_left_falls_by_the_gain_that_was_counted(together):
    """Also where the value of a set depends on the other sets of a call, which are public: gains add up to one unit at most."""
    rng = np.random.default_rng(6)

    def values(data, sets):
        return np.tile(np.minimum(1, sets.sum(axis=1) * (1 + len(sets)) / 40), (len(data), 1))

    function, bins = PerUser(30, values, together=together), rng.integers(3, size=(12, 30))
    scores, counted = function.start(np.zeros((1, 2)), 3, bins), 0
    for element in rng.permutation(np.repeat(np.arange(30), 3)):
        offered = np.flatnonzero(scores._steps < 3)
        gains = scores.gains(offered)
        counted += int(gains[offered == element][0])
        left = int(scores._left[0])
        scores.advance(int(element))
        assert left - int(scores._left[0]) == gains[offered == element][0]
    assert 0 < counted <= function.unit


def test_what_a_function_writes_into_its_arguments_reaches_no_other_user():
    def careless(data, sets):
        data *= 0.5
        sets[:] = data.sum() > 0.6  # the next user would be judged on these sets
        return sets.any(axis=1)[None] * 1.0

    sets = np.array([[False, False], [True, False]])
    data = np.array([[0.1, 0.1], [0.9, 0.9], [0.1, 0.1]])
    before = data.copy(), sets.copy()
    whole = PerUser(2, careless).evaluate(data, sets)
    assert whole.tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    assert all(np.array_equal(now, then) for now, then in zip((data, sets), before, strict=True))


def test_every_call_has_one_user():
    seen = []

    def values(data, sets):
        seen.append(len(data))
        return np.zeros((len(data), len(sets)))

    for data in (np.zeros((5, 2)), [{0}, {1}, set()], np.array([{0}, {1}], dtype=object)):
        seen.clear()
        PerUser(2, values).totals(data, np.ones((3, 2), dtype=bool))
        assert seen == [1] * len(data)


def test_together_is_asked_for_by_name_and_leaves_its_hypothesis_open():
    mechanism = {"matroid": UniformMatroid(3, 1), "epsilon": 1, "draws": 2}
    alone = PrivateMatroidGreedy(objective=PerUser(3, lambda data, sets: data @ sets.T), **mechanism)
    faster = PrivateMatroidGreedy(objective=PerUser(3, lambda data, sets: data @ sets.T, together=True), **mechanism)
    assert RECORDWISE in alone.guarantee.hypotheses
    assert JUDGED_TOGETHER not in alone.guarantee.hypotheses
    assert {RECORDWISE, JUDGED_TOGETHER} <= set(faster.guarantee.hypotheses)
    assert "the other users" in JUDGED_TOGETHER


def test_a_function_that_mixes_users_is_refused_together():
    """Each of these is found by a subset, an order or a single row."""
    rng = np.random.default_rng(3)
    users, sets = rng.random((40, 8)), rng.random((4, 8)) < 0.5
    mixing = {
        "number": lambda data, sets: np.full((len(data), len(sets)), min(1.0, len(data) / 100)),
        "mean": lambda data, sets: np.clip((data - data.mean(axis=0))[:, None] * sets, 0, 1).max(axis=2),
        "largest": lambda data, sets: (data[:, None] * sets).max(axis=2) / data.max(),
        "first": lambda data, sets: np.tile((data[0] * sets).max(axis=1), (len(data), 1)),
        "place": lambda data, sets: np.outer(np.arange(len(data)) / 100, np.ones(len(sets))),
        "before": lambda data, sets: np.cumsum((data[:, None] * sets).max(axis=2), axis=0) / 100,
    }
    for name, values in mixing.items():
        function = PerUser(8, values, together=True)
        assert find_dependence(function, users, np.random.default_rng(1)) is not None, name
        with pytest.raises(InvalidArgument, match="together"):
            function.read(users)
        with pytest.raises(InvalidArgument, match="together"):
            [function.evaluate(users, sets) for _ in range(60)]  # each call is looked at again, with other subsets


def test_a_refusal_says_nothing_of_the_records():
    users = np.full((40, 1), 0.3125)
    function = PerUser(1, lambda data, sets: np.full((len(data), len(sets)), data[0, 0] * len(data) / 40), together=True)
    with pytest.raises(InvalidArgument) as refused:
        function.read(users)
    assert "0.3125" not in str(refused.value)
    assert "40" not in str(refused.value)


def test_a_product_of_matrices_is_refused_together_where_the_blas_mixes_rows():
    find_breach()
    rng = np.random.default_rng(4)
    with pytest.raises(InvalidArgument, match="one user at a time"):
        PerUser(22, lambda data, sets: data @ sets.T / 22, together=True).read(rng.random((61, 22)))


@pytest.mark.parametrize("users", [0, 1, 2, 30])
def test_a_function_that_judges_each_user_alone_is_taken_together(users):
    data, sets = np.random.default_rng(2).random((users, 8)), np.random.default_rng(3).random((4, 8)) < 0.5

    def values(data, sets):
        return (data[:, None] * sets).max(axis=2)

    faster, slow = PerUser(8, values, together=True), PerUser(8, values)
    assert find_dependence(faster, data, np.random.default_rng(1)) is None
    assert faster.read(data) is data
    assert np.array_equal(faster.totals(data, sets), slow.totals(data, sets))
    lists = PerUser(
        3, lambda data, sets: np.array([[float(s[list(u)].any()) for s in sets] for u in data]).reshape(len(data), -1), together=True
    )
    assert lists.totals(lists.read([{0}] * users), np.eye(3, dtype=bool)).tolist() == [users * lists.unit, 0, 0]


def test_unusable_options_are_refused():
    with pytest.raises(InvalidArgument, match="together"):
        PerUser(2, lambda data, sets: None, together="yes")
    with pytest.raises(InvalidData, match="masked"):
        PerUser(2, lambda data, sets: None).read(np.ma.masked_equal([[1, 2]], 2))
    with pytest.raises(InvalidArgument, match="PerUser"):
        find_dependence(lambda data, sets: None, [1], np.random.default_rng(1))
    with pytest.raises(InvalidArgument, match="Generator"):
        find_dependence(PerUser(2, lambda data, sets: np.zeros((1, 1))), [1], 3)
