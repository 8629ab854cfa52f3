"""Strategies give what they say, and shrink to something that a person reads at a glance."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from accountant.testing import (
    NeighboringPair,
    RecordBall,
    adversarial_datasets,
    adversarial_records,
    neighboring_pairs,
    parameters,
    points,
    profiles,
    records,
    sampling_rules,
    unchecked_profiles,
    weighted_datasets,
    weights,
)
from accountant.testing.strategies.declared import FAMILIES
from accountant.testing.strategies.records import borders
from profiles import InvalidArgument, InvalidData, InvalidNumber, InvalidProfile, Undecided, declare
from profiles.evaluation import exact_value
from profiles.mechanisms import KNormSum, WeightedLloyd
from profiles.mechanisms.datasets import compute_norms
from proofs_check.admission import admit

QUICK = settings(
    derandomize=True, max_examples=25, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow]
)
SMALL = settings(max_examples=500, deadline=None, database=None)
FIRST = settings(SMALL, phases=[Phase.generate])


def find_small(strategy, wanted, **options):
    """Return the example that Hypothesis ends with, the same in every run."""
    return find(strategy, wanted, random=random.Random(3), **options)


SUM = declare("sum", "w*z/b", record={"z": [0, 4]}, parameters={"b": 3})


@settings(QUICK, max_examples=6)
@given(profiles(max_terms=1))
def test_profiles_are_admitted(profile):
    admit(profile)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_term_of_a_family_is_admitted(family):
    for term in FAMILIES[family]:
        text = term.replace("{c}", "3/2" if "Piecewise" not in term else "(3/2)").replace("{p}", "p")
        admit(declare("term", f"0*w + {text}", parameters={"p": ["1", "3"]} if "{p}" in term else {}))


def test_unchecked_profiles_are_sometimes_refused():
    def refused(profile):
        try:
            admit(profile)
        except (InvalidProfile, Undecided):
            return True
        return False

    assert refused(find_small(unchecked_profiles(), refused, settings=FIRST))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (lambda p: "Max" in p.text, "Max(w, 2)"),
        (lambda p: "Piecewise" in p.text, "Piecewise((w, w < 2), (w**2/2, True))"),
        (lambda p: bool(p.record), "z*w"),
    ],
    ids=["kink", "pieces", "record"],
)
def test_profiles_shrink(wanted, text):
    found = find_small(profiles(), wanted, settings=SMALL)
    assert found.text == text
    assert not found.parameters
    assert [(s.lo, s.hi) for s in found.record] in ([], [(0, 1)])


def test_parameters_shrink_to_numbers_and_can_be_kept_to_them():
    assert find_small(parameters(), lambda _: True, settings=SMALL).value == 1
    assert find_small(parameters(), lambda p: p.bounds is not None, settings=SMALL).bounds == (1, 2)
    with pytest.raises(NoSuchExample):
        find_small(parameters(free=False), lambda p: p.value is None, settings=settings(SMALL, max_examples=50))


def test_an_unknown_family_is_named():
    with pytest.raises(InvalidArgument, match="'quadratic' is not known; known are linear"):
        find_small(profiles(families=["quadratic"]), lambda _: True, settings=FIRST)
    assert "exp" in find_small(profiles(families=["exponential"], max_terms=1), lambda _: True, settings=FIRST).text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: weighted_datasets(min_size=-5), "min_size must be an integer of at least 0"),
        (lambda: weighted_datasets(min_size=5, max_size=3), "data sets of 5 to 3 records"),
        (lambda: adversarial_datasets(max_size=-1), "max_size must be"),
        (lambda: neighboring_pairs(max_size="3"), "max_size must be"),
        (lambda: neighboring_pairs(RecordBall(2), datasets=weighted_datasets(RecordBall(3))), "points of shape .n, 2."),
        (lambda: weighted_datasets(3), "a domain must be a RecordBall or a mechanism"),
        (lambda: points(SUM), "a domain must be a RecordBall or a mechanism"),
        (lambda: points(KNormSum), "a domain must be a RecordBall or a mechanism"),
        (lambda: weights(most="0.5"), "weights are at least 1"),
        (lambda: weights(most=math.inf), "the largest weight must be finite"),
        (lambda: profiles(max_terms=0), "max_terms must be an integer of at least 1"),
        (lambda: profiles(families=[]), "families must be a list"),
        (lambda: profiles(families="linear"), "families must be a list"),
        (lambda: parameters(low=-1), "parameters are positive"),
        (lambda: records(3), "a profile, or a mechanism of the catalogue, was expected"),
        (lambda: sampling_rules(3), "a profile, or a mechanism of the catalogue, was expected"),
        (lambda: points(RecordBall(0)), "the dimension must be"),
    ],
)  # fmt: skip
def test_misuse_of_a_strategy_is_an_error_in_words(make, words):
    with pytest.raises((InvalidArgument, InvalidNumber), match=words):
        find_small(make(), lambda _: True, settings=FIRST)


RANGES = st.tuples(st.fractions(-5, 5), st.fractions(0, 5)).map(lambda ends: (ends[0], ends[0] + ends[1]))


@QUICK
@given(RANGES, st.data())
def test_records_lie_in_the_domain(ends, data):
    profile = declare("any", "w*(6 + z)", record={"z": ends})
    try:
        values = [data.draw(records(profile))["z"], data.draw(adversarial_records(profile))["z"]]
    except InvalidArgument:
        nearest = float(ends[0])
        assert not any(ends[0] <= Fraction(v) <= ends[1] for v in (nearest, math.nextafter(nearest, 9), math.nextafter(nearest, -9)))
        return
    assert all(ends[0] <= Fraction(value) <= ends[1] for value in values)


def test_borders_have_the_ends_zero_and_subnormal_numbers():
    found = borders(0.0, 4.0)
    assert found[:2] == [0.0, 4.0]
    assert {5e-324, 2.0, math.nextafter(4.0, 0.0)} <= set(found)
    assert math.copysign(1.0, found[2]) == -1.0  # -0.0
    assert 1e300 in borders(0.0, 1e301)


BALLS = st.builds(
    RecordBall, st.integers(1, 4), st.sampled_from([1, "0.1", 1e-300, 1e300, 2**1000]), st.sampled_from([1, 1.5, 2, math.inf])
)


@QUICK
@given(BALLS, st.data())
def test_points_and_adversarial_data_lie_in_the_ball(ball, data):
    x = data.draw(points(ball))
    table, weights = data.draw(adversarial_datasets(ball))
    assert x.shape == (ball.dimension,)
    for row in (x, *table):
        assert np.isfinite(row).all()
        assert ball.contains(row)
    assert ((weights >= 1) & np.isfinite(weights)).all()


@QUICK
@given(neighboring_pairs(RecordBall(2, 4, 1)))
def test_pairs_differ_by_the_record_that_they_name(pair):
    larger, smaller = pair.larger, pair.smaller
    assert (pair.dataset, pair.neighbor)[0 if pair.removed else 1] is larger
    rows = [(*x, w) for x, w in zip(*larger, strict=True)]
    rest = [(*x, w) for x, w in zip(*smaller, strict=True)]
    assert rows.pop(pair.row) == (*pair.record, pair.weight)
    assert rows == rest


@pytest.mark.thorough
def test_pairs_shrink_and_can_be_pasted():
    found = find_small(neighboring_pairs(KNormSum(beta_sum=1)), lambda _: True, settings=SMALL)
    assert repr(found) == "NeighboringPair(([[0.0, 0.0]], [1.0]), row=0, removed=True)"
    again = eval(repr(found))
    assert isinstance(again, NeighboringPair)


def test_one_sided_pairs_have_the_larger_data_set_first():
    with pytest.raises(NoSuchExample):
        find_small(neighboring_pairs(larger_first=True), lambda pair: not pair.removed, settings=settings(SMALL, max_examples=50))


def test_the_claim_of_a_pair_is_that_of_its_record():
    pair = NeighboringPair(([[3.0, 4.0], [1.0, 0.0]], [2.0, 1.0]), row=0)
    assert pair.claim(KNormSum(beta_sum=10, radius=5)).epsilon == 1
    with pytest.raises(InvalidArgument, match="a row of 2, but 2"):
        NeighboringPair(([[3.0], [1.0]], [2.0, 1.0]), row=2)
    with pytest.raises(InvalidData):
        NeighboringPair(([[3.0]], [0.5]), row=0)


def test_domains_are_those_of_the_mechanisms():
    lloyd = WeightedLloyd(initial_centres=((0.0, 0.0, 0.0),), radius=2, p=1)
    assert RecordBall.of(lloyd) == RecordBall(3, 2, 1)
    for data in (weighted_datasets(lloyd, min_size=2), adversarial_datasets(lloyd)):
        table, _ = find_small(data, lambda found: len(found[0]) >= 2, settings=FIRST)
        assert (compute_norms(table, 1) <= 2).all()


@pytest.mark.parametrize(
    "wanted",
    [
        lambda d: len(d[0]) > 1 and (d[0][0] == d[0][1]).all() and d[0][0].any(),
        lambda d: len(d[0]) > 1 and (d[0][0] == -d[0][1][::-1]).all() and d[0][0].any(),
        lambda d: (d[1] > 1e300).any(),
        lambda d: bool(((d[0] != 0) & (np.abs(d[0]) < 1e-307)).any()),
        lambda d: math.nextafter(1.0, 2.0) in d[1],
    ],
    ids=["duplicates", "ties", "huge weights", "subnormal", "next to 1"],
)
def test_adversarial_data_have_every_border(wanted):
    find_small(adversarial_datasets(RecordBall(2, 4, 2)), wanted, settings=FIRST)


@QUICK
@given(st.sampled_from([SUM, declare("count", "w"), declare("centred", "w*(3 + z)", record={"z": [-1, 1]})]), st.data())
def test_rules_give_probabilities(profile, data):
    rule = data.draw(sampling_rules(profile))
    for record in (data.draw(records(profile)), data.draw(adversarial_records(profile))):
        q = exact_value(rule.q, {name: Fraction(value) for name, value in record.items()})
        assert q is not None
        assert 0 < q <= 1
