"""Enumeration gives the exact law; the errors name what a program did."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from proofs_check.exact import Choices, enumerate_outputs, epsilon_of_tables

HALF = Fraction(1, 2)


def test_randomised_response_on_three_bits_is_the_product_law():
    def program(bits, choose):
        return tuple(bit if choose.coin("3/4") else 1 - bit for bit in bits)

    table = enumerate_outputs(program, (0, 1, 1))
    for output in itertools.product((0, 1), repeat=3):
        wrong = sum(a != b for a, b in zip(output, (0, 1, 1), strict=True))
        assert table[output] == Fraction(3 ** (3 - wrong), 64)
    other = enumerate_outputs(program, (0, 1, 0))
    exact = epsilon_of_tables(table, other)
    assert exact.removing.ratio == exact.adding.ratio == 3
    assert sum(table.values()) == 1


def truncated_geometric(count, choose, top=5, alpha=Fraction(1, 2)):
    law = {k: alpha ** abs(k - count) * (1 - alpha) / (1 + alpha) for k in range(1, top)}
    law |= {0: alpha**count / (1 + alpha), top: alpha ** (top - count) / (1 + alpha)}
    return choose(law)


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(2, 3), Fraction(99, 100)])
def test_truncated_geometric_is_tight_at_one_over_alpha(alpha):
    tables = [enumerate_outputs(lambda x, choose: truncated_geometric(x, choose, alpha=alpha), x) for x in (3, 2)]
    exact = epsilon_of_tables(*tables)
    assert exact.removing.ratio == exact.adding.ratio == 1 / alpha
    assert exact.removing.event[0] >= 3
    assert exact.adding.event[0] <= 2


def test_choices_may_depend_on_choices_before():
    def program(dataset, choose):
        n = 1 + choose.uniform(3)
        return (n, choose.uniform(n))

    table = enumerate_outputs(program, None)
    assert table == {(n, k): Fraction(1, 3 * n) for n in (1, 2, 3) for k in range(n)}


def test_values_of_probability_zero_are_not_run():
    def program(dataset, choose):
        if choose({"never": 0, "always": 1}) == "never":
            raise ZeroDivisionError
        return choose.coin(1), choose.coin(0)

    assert enumerate_outputs(program, None) == {(True, False): 1}


def test_a_program_without_choices_has_one_outcome():
    assert enumerate_outputs(lambda data, choose: data, "x") == {"x": 1}


@settings(max_examples=60, deadline=None)
@given(weights=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any), min_size=1, max_size=4))
def test_the_law_of_independent_choices_is_the_product(weights):
    laws = [{value: Fraction(w, sum(row)) for value, w in enumerate(row)} for row in weights]
    table = enumerate_outputs(lambda _, choose: tuple(map(choose, laws)), None)
    expected = {}
    for output in itertools.product(*laws):
        p = Fraction(1)
        for value, law in zip(output, laws, strict=True):
            p *= law[value]
        if p:
            expected[output] = p
    assert table == expected


@settings(max_examples=60, deadline=None)
@given(weights=st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), data=st.data())
def test_the_law_of_a_function_of_choices_is_the_image(weights, data):
    law = {value: Fraction(w, sum(weights)) for value, w in enumerate(weights)}
    image = data.draw(st.lists(st.integers(0, 2), min_size=len(law), max_size=len(law)))
    table = enumerate_outputs(lambda _, choose: image[choose(law)], None)
    assert table == {k: v for k in set(image) if (v := sum(p for value, p in law.items() if image[value] == k))}


@pytest.mark.parametrize(
    ("distribution", "error", "words"),
    [
        ({1: 0.1, 2: 0.9}, InvalidArgument, "add up to exactly 1"),
        ({1: HALF}, InvalidArgument, "add up to exactly 1"),
        ({}, InvalidArgument, "add up to exactly 1"),
        ({1: Fraction(3, 2), 2: -HALF}, InvalidArgument, "at least 0"),
        ({1: float("nan"), 2: 1}, InvalidNumber, "finite"),
        ({1: float("inf")}, InvalidNumber, "finite"),
        ({1: "one"}, InvalidNumber, "number"),
        ({1: True}, InvalidNumber, "boolean"),
        ([HALF, HALF], InvalidArgument, "mapping"),
    ],
)
def test_unusable_distributions_are_named(distribution, error, words):
    with pytest.raises(error, match=words):
        enumerate_outputs(lambda _, choose: choose(distribution), None)


@pytest.mark.parametrize("p", [-1, "1.5", "nan", None, float("nan")])
def test_unusable_coins_are_named(p):
    with pytest.raises((InvalidArgument, InvalidNumber)):
        enumerate_outputs(lambda _, choose: choose.coin(p), None)


@pytest.mark.parametrize("n", [0, -1, 1.0, True, "3"])
def test_unusable_uniform_choices_are_named(n):
    with pytest.raises(InvalidArgument, match="must be an integer of at least 1"):
        enumerate_outputs(lambda _, choose: choose.uniform(n), None)


@pytest.mark.parametrize("output", [[1], {}, set()])
def test_outputs_must_be_hashable(output):
    with pytest.raises(InvalidArgument, match="hashable"):
        enumerate_outputs(lambda _, choose: output, None)


@pytest.mark.parametrize("output", [float("nan"), (1, float("nan")), ((float("nan"),),)])
def test_outputs_must_equal_themselves(output):
    with pytest.raises(InvalidArgument, match="NaN"):
        enumerate_outputs(lambda _, choose: output, None)


def test_a_changing_distribution_is_noticed():
    calls = itertools.count(2)
    with pytest.raises(InvalidArgument, match="after the same choices"):
        enumerate_outputs(lambda _, choose: choose.coin(Fraction(1, next(calls))), None)


def test_a_changing_number_of_choices_is_noticed():
    calls = itertools.count()

    def program(_, choose):
        return choose.coin(HALF) if next(calls) == 0 else 0

    with pytest.raises(InvalidArgument, match="made 0 choices where it had made 1"):
        enumerate_outputs(program, None)


def test_a_changing_data_set_is_noticed():
    with pytest.raises(InvalidArgument, match="data set unchanged"):
        enumerate_outputs(lambda data, choose: choose.uniform(data.pop()), [3, 4, 5, 6])


def test_a_changing_output_is_noticed():
    calls = itertools.count()
    with pytest.raises(InvalidArgument, match="two outputs"):
        enumerate_outputs(lambda _, choose: next(calls), None)


def test_an_error_that_the_program_catches_is_not_lost():
    def program(_, choose):
        try:
            choose({1: "0.1"})
        except Exception:
            return 0

    with pytest.raises(InvalidArgument, match="add up"):
        enumerate_outputs(program, None)


def test_a_choice_after_the_end_is_refused():
    kept = []
    enumerate_outputs(lambda _, choose: kept.append(choose) or 0, None)
    with pytest.raises(InvalidArgument, match="returned"):
        kept[0].coin(HALF)


def test_endless_and_exploding_programs_stop():
    def endless(_, choose):
        while choose.coin(HALF):
            pass
        return 0

    with pytest.raises(Undecided, match="more than 100 choices"):
        enumerate_outputs(endless, None, max_choices=100)
    with pytest.raises(Undecided, match="more than 1000 branches"):
        enumerate_outputs(lambda _, choose: tuple(choose.coin(HALF) for _ in range(40)), None, max_branches=1000)


def test_errors_of_the_program_pass_through():
    with pytest.raises(ZeroDivisionError):
        enumerate_outputs(lambda _, choose: 1 // choose.uniform(2), None)


def test_choices_are_public():
    seen = []
    enumerate_outputs(lambda _, choose: seen.append(type(choose)) or 0, None)
    assert seen[0] is Choices
