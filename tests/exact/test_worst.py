"""The worst case over all neighbors: brute force over events, orders and sizes, infinities, enclosures, and laws that are refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from proofs_check.exact import Bounds, Enclosed, Log, delta_of_tables, epsilon_of_tables, exact_delta, exact_epsilon, exp

RECORDS = ("a", "b")
DATASETS = [(), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "b")]
PAIRS = [(d, d[:i] + d[i + 1 :]) for d in DATASETS for i in range(len(d))]


@st.composite
def laws(draw):
    def table():
        parts = draw(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any))
        return {y: Fraction(part, sum(parts)) for y, part in enumerate(parts) if part}

    return {dataset: table() for dataset in DATASETS}


def events():
    return itertools.chain.from_iterable(itertools.combinations(range(3), size) for size in (1, 2, 3))


def probability(table, event):
    return sum(table.get(y, Fraction(0)) for y in event)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(laws(), st.fractions(0, 1, max_denominator=10), st.fractions(1, 4, max_denominator=5))
def test_all_events_of_all_pairs(table, delta, threshold):
    worst = exact_epsilon(table.__getitem__, RECORDS, max_size=2, delta=delta)
    remove, add = exact_delta(table.__getitem__, RECORDS, Log(threshold), max_size=2)
    for found, gap, turn in ((worst.remove, remove, 1), (worst.add, add, -1)):
        ratios, gaps = [Fraction(1)], [Fraction(0)]
        for pair in PAIRS:
            p, q = [table[d] for d in pair][::turn]
            for event in events():
                above, below = probability(p, event) - delta, probability(q, event)
                ratios.append(above / below if below else math.inf if above > 0 else 1)
                gaps.append(probability(p, event) - threshold * below)
        assert (math.inf if found.ratio is None else found.ratio) == max(ratios)
        assert gap.value == max(gaps)
        if found.larger is not None:
            assert (found.larger, found.smaller) in PAIRS
            p, q = [table[d] for d in (found.larger, found.smaller)][::turn]
            assert probability(p, found.event) - delta == (found.ratio or 0) * probability(q, found.event) or found.ratio is None
    assert (worst.datasets, worst.pairs) == (6, 6)
    assert worst.symmetric.upper == max(worst.remove.epsilon.upper, worst.add.epsilon.upper)
    assert worst.remove.epsilon.upper == max(both[0].epsilon.upper for both in worst.records.values())


def test_each_record_has_its_own_worst_case():
    def law(data):
        low = Fraction(1, 2 ** (1 + data.count("a") + 2 * data.count("b")))
        return {"low": low, "high": 1 - low}

    worst = exact_epsilon(law, RECORDS, max_size=3)
    assert {x: add.ratio for x, (_, add) in worst.records.items()} == {"a": 2, "b": 4}
    assert worst.add.ratio == 4
    assert (worst.add.larger, worst.add.smaller, worst.add.record, worst.add.event) == (("b",), (), "b", ("low",))
    assert worst.remove.record == "b"


def test_orders_and_repetitions():
    seen = []

    def law(data):
        seen.append(data)
        return {0: 1}

    for flags, expected in (
        ({}, [(), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "b")]),
        ({"distinct": True}, [(), ("a",), ("b",), ("a", "b")]),
        ({"ordered": True}, [(), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]),
        ({"ordered": True, "distinct": True}, [(), ("a",), ("b",), ("a", "b"), ("b", "a")]),
    ):
        seen.clear()
        worst = exact_epsilon(law, RECORDS, max_size=2, **flags)
        assert sorted(set(seen)) == sorted(expected)
        assert worst.datasets == len(expected)
        assert worst.remove.epsilon == worst.add.epsilon == Bounds(0.0, 0.0)
        assert worst.remove.larger is None


def test_order_can_matter():
    def last(data):
        return {"yes": "3/4", "no": "1/4"} if data and data[-1] == "a" else {"yes": "1/4", "no": "3/4"}

    assert exact_epsilon(last, RECORDS, max_size=2, ordered=True).remove.ratio == 3
    pairs = exact_epsilon(last, RECORDS, max_size=2, ordered=True).pairs
    assert pairs == 2 + 1 + 1 + 2 + 2


def test_infinity_only_where_the_support_differs():
    worst = exact_epsilon(lambda data: {len(data): 1}, ["a"], max_size=2)
    assert worst.remove.epsilon == Bounds(math.inf, math.inf)
    assert worst.remove.ratio is None
    assert worst.remove.event == (1,)
    tiny = {"x": exp(-500_000), "y": 1 - exp(-500_000)}
    worst = exact_epsilon(lambda data: tiny if data else {"x": "1/2", "y": "1/2"}, ["a"], max_size=1)
    assert 499_999 < worst.add.epsilon.lower <= worst.add.epsilon.upper < 500_000
    wide = {"x": Enclosed(Fraction(0), Fraction(1, 10)), "y": ("9/10", 1)}
    worst = exact_epsilon(lambda data: wide if data else {"x": "1/10", "y": "9/10"}, ["a"], max_size=1)
    assert worst.add.epsilon == Bounds(0.0, math.inf)


def test_rational_exponents_and_balls_agree():
    exact = exact_epsilon(lambda data: {1: 1 / (1 + exp(len(data))), 0: exp(len(data)) / (1 + exp(len(data)))}, ["a"], max_size=2)
    balls = exact_epsilon(lambda data: {1: 1 / (1 + arb(len(data)).exp()), 0: 1 / (1 + arb(-len(data)).exp())}, ["a"], max_size=2)
    assert exact.add.ratio == (1 + exp(2)) / (1 + exp(1))
    assert balls.add.ratio is None
    assert balls.add.larger == exact.add.larger == ("a", "a")
    for one, other in ((exact.remove, balls.remove), (exact.add, balls.add)):
        assert other.epsilon.lower <= one.epsilon.lower <= one.epsilon.upper <= other.epsilon.upper + 1e-15
        assert other.epsilon.upper - other.epsilon.lower < 1e-12
    value, bounds = [exact_delta(law, ["a"], "1/4", max_size=2)[1] for law in (exact_law, ball_law)]
    assert bounds.bounds.lower <= value.bounds.upper
    assert value.bounds.lower <= bounds.bounds.upper
    assert value.bounds.upper - bounds.bounds.lower < 1e-12


def exact_law(data):
    return {1: 1 / (1 + exp(len(data))), 0: exp(len(data)) / (1 + exp(len(data)))}


def ball_law(data):
    return {1: 1 / (1 + arb(len(data)).exp()), 0: 1 / (1 + arb(-len(data)).exp())}


def test_pairs_alone():
    p, q = {"x": exp("1/3") / 2, "y": 1 - exp("1/3") / 2}, {"x": "1/2", "y": "1/2"}
    assert epsilon_of_tables(p, q).removing.ratio == exp("1/3")
    assert delta_of_tables(p, q, "1/3") == (Fraction(0), Fraction(1, 2) - exp("1/3") + exp("2/3") / 2)


@pytest.mark.parametrize(
    ("law", "error", "words"),
    [
        (lambda data: {"x": "1/2"}, InvalidArgument, "add up to 1"),
        (lambda data: {"x": 0.1, "y": 0.9}, InvalidArgument, "add up to 1"),
        (lambda data: {"x": exp(-1), "y": "0.632120558828557678404476229839"}, InvalidArgument, "add up to 1"),
        (lambda data: {"x": "3/2", "y": "-1/2"}, InvalidArgument, "negative"),
        (lambda data: {"x": exp(1), "y": 1 - exp(1)}, InvalidArgument, "negative"),
        (lambda data: {"x": float("nan"), "y": 1}, InvalidNumber, "finite"),
        (lambda data: {float("nan"): 1}, InvalidArgument, "NaN"),
        (lambda data: {(1, float("nan")): 1}, InvalidArgument, "NaN"),
        (lambda data: [1], InvalidArgument, "mapping"),
        (lambda data: {"x": arb("nan"), "y": 1}, Undecided, "enclosed"),
        (lambda data: {"x": (0, 1, 2)}, InvalidNumber, "tuple"),
        (lambda data: {"x": (1, 0)}, InvalidNumber, "swap"),
        (lambda data: {"x": (0, float("inf"))}, InvalidNumber, "finite"),
        (lambda data: {"x": ("1/4", "1/2"), "y": ("1/8", "1/4")}, InvalidArgument, "add up to 1"),
        (lambda data: {"x": True}, InvalidNumber, "boolean"),
        (lambda data, calls=[]: {calls.append(1) or len(calls): 1}, InvalidArgument, "two results"),
    ],
)
def test_unusable_laws_are_named(law, error, words):
    with pytest.raises(error, match=words):
        exact_epsilon(law, ["a"], max_size=1)
    with pytest.raises(error, match=words):
        exact_delta(law, ["a"], 1, max_size=1)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((None, ["a"], {"max_size": 1}), InvalidArgument, "function"),
        ((exact_law, [], {"max_size": 1}), InvalidArgument, "at least one record"),
        ((exact_law, ["a", "a"], {"max_size": 1}), InvalidArgument, "none twice"),
        ((exact_law, [["a"]], {"max_size": 1}), InvalidArgument, "hashable"),
        ((exact_law, ["a"], {"max_size": 0}), InvalidArgument, "must be an integer of at least 1"),
        ((exact_law, ["a"], {"max_size": True}), InvalidArgument, "must be an integer of at least 1"),
        ((exact_law, ["a"], {"max_size": 10**9}), Undecided, "more than 20000 data sets"),
        ((exact_law, range(100), {"max_size": 100}), Undecided, "max_datasets"),
        ((exact_law, ["a"], {"max_size": 1, "delta": 2}), InvalidArgument, "lie in"),
    ],
)
def test_unusable_arguments_are_named(arguments, error, words):
    law, records, options = arguments
    with pytest.raises(error, match=words):
        exact_epsilon(law, records, **options)


def test_negative_epsilon_is_refused():
    with pytest.raises(InvalidArgument, match="at least 0"):
        exact_delta(exact_law, ["a"], "-1", max_size=1)
