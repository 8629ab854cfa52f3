"""Draws from tables are exact: boundaries inside a 64-bit word are decided by further bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from profiles.errors import InvalidArgument
from proofs_check.exact import program_mechanism, sample_table
from proofs_check.exact import sampling as module

THIRD = Fraction(1, 3)


def feed(monkeypatch, *batches):
    words = iter(batches)
    monkeypatch.setattr(module, "_draw_words", lambda rng, size: np.array(next(words), dtype=np.uint64))


def test_words_are_the_binary_digits_of_a_uniform_number(monkeypatch):
    sampler = sample_table({"a": THIRD, "b": THIRD, "c": THIRD})
    boundary = 2**64 // 3  # 1/3 lies inside the cell of this word
    feed(monkeypatch, [0, boundary - 1, boundary + 1, 2 * 2**64 // 3 - 1, 2**64 - 1])
    assert sampler(np.random.default_rng(0), 5).tolist() == ["a", "a", "b", "b", "c"]


def test_a_boundary_inside_a_word_is_decided_by_more_words(monkeypatch):
    sampler = sample_table({"a": THIRD, "b": 2 * THIRD})
    word = 2**64 // 3
    feed(monkeypatch, [word], [word - 1])
    assert sampler(np.random.default_rng(0), 1).tolist() == ["a"]
    feed(monkeypatch, [word], [word], [word], [word + 1])
    assert sampler(np.random.default_rng(0), 1).tolist() == ["b"]


def test_a_dyadic_boundary_needs_no_more_words(monkeypatch):
    sampler = sample_table({"a": Fraction(1, 2), "b": Fraction(1, 2)})
    feed(monkeypatch, [2**63 - 1, 2**63])
    assert sampler(np.random.default_rng(0), 2).tolist() == ["a", "b"]


def test_many_boundaries_inside_one_word(monkeypatch):
    tiny = Fraction(1, 2**70)
    sampler = sample_table({**dict.fromkeys(range(5), tiny), "rest": 1 - 5 * tiny})
    for second, expected in ((0, 0), (2**58 - 1, 0), (2**58, 1), (4 * 2**58, 4), (5 * 2**58, "rest")):
        feed(monkeypatch, [0], [second])
        assert sampler(np.random.default_rng(0), 1).tolist() == [expected]


def test_frequencies_follow_the_table():
    table = {"a": Fraction(1, 7), "b": Fraction(2, 7), "c": Fraction(4, 7), "never": Fraction(0)}
    draws = sample_table(table)(np.random.default_rng(5), 70_000)
    for outcome, p in table.items():
        assert abs(int((draws == outcome).sum()) - 70_000 * p) <= 5 * (70_000 * float(p * (1 - p))) ** 0.5


def test_types_of_outputs():
    rng = np.random.default_rng(0)
    half = Fraction(1, 2)
    assert sample_table({1: half, 2: half})(rng, 3).dtype == np.int64
    assert sample_table({0.5: half, 2.0: half})(rng, 3).dtype == np.float64
    assert sample_table({True: half, False: half})(rng, 3).dtype == object
    tuples = sample_table({(1, 2): half, (1,): half})(rng, 3)
    assert tuples.shape == (3,)
    assert all(isinstance(output, tuple) for output in tuples)
    assert sample_table({None: Fraction(1)})(rng, 2).tolist() == [None, None]
    assert sample_table({2**70: half, 1: half})(rng, 0).shape == (0,)


@pytest.mark.parametrize("table", [{}, {1: Fraction(1, 2)}, {1: Fraction(2), 2: Fraction(-1)}, {1: 0.5, 2: 0.5}])
def test_unusable_tables_are_named(table):
    with pytest.raises(InvalidArgument):
        sample_table(table)


@pytest.mark.parametrize("dataset", [(1, 0, 1), [1, 0, 1]])
def test_mechanisms_of_programs(dataset):
    runs = []

    def program(bits, choose):
        runs.append(bits)
        return sum(bit ^ choose.coin("1/4") for bit in bits)

    mechanism = program_mechanism(program)
    first = mechanism(dataset, np.random.default_rng(3), 40_000)
    count = len(runs)
    again = mechanism(dataset, np.random.default_rng(3), 40_000)
    assert (first == again).all()
    assert (len(runs) == count) == isinstance(dataset, tuple)
    assert abs(first.mean() - 1.75) < 0.02


def test_calls_are_checked():
    mechanism = program_mechanism(lambda data, choose: 0)
    for rng, size in ((None, 3), (np.random.default_rng(0), -1), (np.random.default_rng(0), 1.5)):
        with pytest.raises(InvalidArgument):
            mechanism(0, rng, size)
