"""Laws of mechanisms: against programs that are enumerated, densities that are integrated, and brute force over samples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from proofs_check.exact import (
    Enclosed,
    Log,
    enumerate_outputs,
    exp,
    exponential,
    exponential_law,
    probability,
    repeated_above_threshold_law,
    repeated_exponential_law,
    sample_first,
    sequence_law,
    subsampled_law,
)
from tests.exact.instances import RandomInstance, coverage

SETS = {"A": {1, 2}, "B": {2, 3}, "C": {3}}


def test_exponential_mechanism_by_hand():
    law = exponential_law({"a": "1/2", "b": -1, "c": 0}, 2)
    total = exp(1) + exp(-2) + 1
    assert law == {"a": exp(1) / total, "b": exp(-2) / total, "c": 1 / total}
    assert sum(law.values()) == 1


def test_repeated_exponential_mechanism_is_the_enumerated_program():
    data, step = (1, 2, 2, 3), Fraction(3, 2)

    def program(dataset, choose):
        outputs, covered = (), set()
        for _ in range(2):
            weights = {c: step ** sum(x in SETS[c] - covered for x in dataset) for c in SETS if c not in outputs}
            outputs += (choose({c: weight / sum(weights.values()) for c, weight in weights.items()}),)
            covered |= SETS[outputs[-1]]
        return outputs

    assert repeated_exponential_law(coverage(SETS, 2), data, Log(step)) == enumerate_outputs(program, data)
    assert repeated_exponential_law(coverage(SETS, 2), data, Log(step**2), 2) == enumerate_outputs(program, data)


@pytest.mark.parametrize("gap", [Fraction(-1), Fraction(0), Fraction(1, 3), Fraction(2)])
def test_above_threshold_is_the_tail_of_the_noise(gap):
    """P(h + θ > τ) with h = 2, τ = 2 + gap; at gap 0 it is 1, because θ > 0 almost surely."""
    law = repeated_above_threshold_law(lambda answers: None if answers else (len, 2 + gap), ("x", "y"), "1/2", "1/4")
    assert law == ({(True,): exp(-2 * gap), (False,): 1 - exp(-2 * gap)} if gap > 0 else {(True,): 1})
    integrated = probability(exponential("1/2", 2), [(2 + gap, math.inf)])
    assert integrated.lower <= Fraction(law[(True,)] if gap <= 0 else law[(True,)].enclose().upper)
    assert integrated.upper >= Fraction(law[(True,)] if gap <= 0 else law[(True,)].enclose().lower)
    assert integrated.upper - integrated.lower < Fraction(1, 10**12)


def test_samples_are_weighed_one_by_one():
    rates = {"a": Fraction(1, 3), "b": Fraction(3, 4)}
    data = ("a", "b", "b")

    def law(sample):
        return {(len(sample), sample.count("a")): Fraction(1, 2), "other": Fraction(1, 2)}

    expected = {}
    for kept in itertools.product((False, True), repeat=3):
        weight = Fraction(1)
        for keep, x in zip(kept, data, strict=True):
            weight *= rates[x] if keep else 1 - rates[x]
        for y, value in law(tuple(x for keep, x in zip(kept, data, strict=True) if keep)).items():
            expected[y] = expected.get(y, 0) + weight * value
    assert subsampled_law(law, data, rates.__getitem__) == expected
    assert sample_first(law, rates.__getitem__)(data) == expected
    assert subsampled_law(law, data, 1) == law(data)
    assert subsampled_law(law, data, 0) == law(())


def test_enclosed_laws_pass_through():
    half = Enclosed(Fraction(49, 100), Fraction(51, 100))
    law = sequence_law(lambda outputs: {0: half, 1: half} if len(outputs) < 2 else None)
    assert law[0, 1].lower == Fraction(49, 100) ** 2
    mixed = subsampled_law(lambda data: {0: half, 1: half} if data else {0: 1}, ("x",), "1/2")
    assert mixed[0] == Enclosed(Fraction(745, 1000), Fraction(755, 1000))


def test_numbers_of_one_law_add_up_to_one():
    for seed in range(20):
        instance = RandomInstance(seed, rounds=3, budget=2)
        assert sum(repeated_exponential_law(instance.select, ("a", "b"), "1/3", 2).values()) == 1
        assert sum(repeated_above_threshold_law(instance.query, ("a", "b"), "1/3", 2).values()) == 1


def test_unusable_arguments_are_named():
    with pytest.raises(InvalidArgument, match="needs a candidate"):
        repeated_exponential_law(lambda outputs: ((), None), (), 1)
    for epsilon in ("-1", Log(Fraction(1, 2))):
        with pytest.raises(InvalidArgument, match="ε must be at least 0"):
            repeated_exponential_law(coverage(SETS, 1), (), epsilon)
        with pytest.raises(InvalidArgument, match="ε must be at least 0"):
            repeated_above_threshold_law(lambda answers: (len, 1), (), epsilon)
    with pytest.raises(InvalidArgument, match="must be positive"):
        repeated_exponential_law(coverage(SETS, 1), (), 1, 0)
    with pytest.raises(InvalidNumber):
        repeated_above_threshold_law(lambda answers: (lambda data: float("nan"), 1), (), 1)
    with pytest.raises(InvalidArgument, match=r"lie in \[0, 1\]"):
        subsampled_law(lambda data: {0: 1}, ("x",), exp("1/2"))
    with pytest.raises(InvalidArgument, match="add up to 1"):
        sequence_law(lambda outputs: {0: "1/2"})
    with pytest.raises(Undecided, match="more than 100 outputs"):
        sequence_law(lambda outputs: {0: "1/2", 1: "1/2"}, max_outputs=100)
