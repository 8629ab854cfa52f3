"""Rules: against random finite laws with exact probabilities, and what they carry and refuse."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import derive_epsilon
from accountant.guarantees import (
    EXACT_REALS,
    INDEPENDENT,
    ONE_ANALYSIS,
    discharge,
    post_processing,
    render,
    to_json,
)
from accountant.guarantees.combining import compose_parts
from accountant.guarantees.measures import Notion
from accountant.guarantees.statements import may_close
from accountant.onesided import (
    Losses,
    both_directions,
    calibrate_one_sided,
    declare_add_dp,
    declare_directions,
    realise_draws,
    subsample,
)
from profiles import InvalidArgument, InvalidNumber, declare
from profiles.hypotheses import DECLARED_LOSSES, OF_MECHANISMS, OF_SAMPLES, ONE_RECORD_EACH, SECURE_BITS, attribute

Law = tuple[Fraction, ...]
rates = st.fractions(0, 1, max_denominator=40)
exponents = st.fractions(0, 3, max_denominator=20)


@st.composite
def laws(draw: st.DrawFn, size: int = 4) -> Law:
    weights = draw(st.lists(st.integers(0, 30), min_size=size, max_size=size).filter(any))
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def _exp(value: Fraction, *, up: bool) -> Fraction:
    """A fraction on the given side of e^value: 80 digits, moved by 10^−60 relatively."""
    with mpmath.workdps(80):
        number = mpmath.exp(mpmath.mpf(value.numerator) / value.denominator)
        return Fraction(mpmath.nstr(number, 75)) * (1 + Fraction(1 if up else -1, 10**60))


def _delta(p: Sequence[Fraction], q: Sequence[Fraction], factor: Fraction) -> Fraction:
    """sup over S of P(S) − factor·Q(S)."""
    return sum((max(Fraction(0), a - factor * b) for a, b in zip(p, q, strict=True)), Fraction(0))


@pytest.mark.thorough
@given(laws(), laws(), exponents, exponents, rates)
def test_sampling_covers_every_finite_law(without: Law, present: Law, remove: Fraction, add: Fraction, rate: Fraction) -> None:
    """For any two laws and any losses, the smallest deltas are computed exactly; then the sampled laws satisfy the rule's numbers."""
    delta_remove = _delta(present, without, _exp(remove, up=False))
    delta_add = _delta(without, present, _exp(add, up=False))
    start = declare_directions("two laws", remove, add, source="here", delta_remove=delta_remove, delta_add=delta_add)
    bound = subsample(start, rate).bound
    assert isinstance(bound, Losses)
    assert bound.remove is not None
    assert bound.add is not None
    sampled = tuple((1 - rate) * a + rate * b for a, b in zip(without, present, strict=True))
    assert _delta(sampled, without, _exp(bound.remove, up=True)) <= bound.delta_remove
    assert _delta(without, sampled, _exp(bound.add, up=True)) <= bound.delta_add


@pytest.mark.thorough
@given(laws(3), laws(3), laws(3), laws(3), exponents, exponents)
def test_composition_covers_products(first0: Law, first1: Law, second0: Law, second1: Law, remove: Fraction, add: Fraction) -> None:
    parts, pairs = [], ((first0, first1), (second0, second1))
    for without, present in pairs:
        parts.append(
            declare_directions(
                "part", remove, add, source="here",
                delta_remove=_delta(present, without, _exp(remove, up=False)), delta_add=_delta(without, present, _exp(add, up=False)),
            )
        )  # fmt: skip
    bound = compose_parts("both", parts).bound
    assert isinstance(bound, Losses)
    assert bound.remove == 2 * remove
    assert bound.add == 2 * add
    without = tuple(a * b for a in first0 for b in second0)
    present = tuple(a * b for a in first1 for b in second1)
    assert _delta(present, without, _exp(2 * remove, up=True)) <= bound.delta_remove
    assert _delta(without, present, _exp(2 * add, up=True)) <= bound.delta_add


def test_one_sided_becomes_two_sided() -> None:
    plan = calibrate_one_sided(1)
    start = declare_add_dp("noise", plan.epsilon0, source="somewhere")
    assert start.notion is Notion.ADD_DP
    assert isinstance(start.bound, Losses)
    assert start.bound.epsilon is None
    sampled = subsample(start, plan.p)
    assert sampled.notion is Notion.ADD_REMOVE_DP
    assert isinstance(sampled.bound, Losses)
    assert sampled.bound.epsilon is not None
    assert Fraction(1) - Fraction(1, 2**50) < sampled.bound.epsilon <= 1
    declared = DECLARED_LOSSES.about(name="noise", source=attribute("somewhere"))
    assert set(sampled.hypotheses) == {*OF_SAMPLES, *OF_MECHANISMS, ONE_RECORD_EACH, declared, EXACT_REALS}
    assert {INDEPENDENT, ONE_ANALYSIS} < set(OF_SAMPLES)
    drawn = realise_draws(sampled, SECURE_BITS)
    assert INDEPENDENT not in drawn.hypotheses
    assert SECURE_BITS in drawn.hypotheses
    everything = subsample(start, 1)
    assert everything.notion is Notion.ADD_DP


def test_deltas_make_it_approximate() -> None:
    found = subsample(declare_add_dp("noise", 1, source="somewhere", delta="0.01"), "1/2")
    assert found.notion is Notion.APPROXIMATE_DP
    assert isinstance(found.bound, Losses)
    assert (found.bound.delta_remove, found.bound.delta_add) == (Fraction(1, 200), 0)
    assert "delta <= 0.005" in render(found)
    assert to_json(found)["epsilon"]["delta"] == "0.005"


def test_one_unbounded_part_is_enough() -> None:
    found = compose_parts("both", [declare_add_dp("a", 1, source="x"), declare_directions("b", 1, 1, source="y")])
    assert isinstance(found.bound, Losses)
    assert found.bound.add is None
    assert found.bound.remove == 2
    assert "unbounded" in render(found)


def test_from_add_remove_privacy() -> None:
    derived = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}), rule="uniform", constants={"rate": "1/2"}).guarantee
    both = both_directions(derived)
    assert isinstance(both.bound, Losses)
    assert both.bound.remove == both.bound.add
    assert both.hypotheses == derived.hypotheses
    assert subsample(both, "1/2").bound == subsample(derived, "1/2").bound
    with pytest.raises(InvalidArgument, match="another"):
        both_directions(declare_add_dp("one way", 1, source="x"))


def test_rules_without_a_source_or_with_bad_numbers() -> None:
    assert any("declared for it" in text for text in declare_add_dp("mine", 1, source="").hypotheses)
    for bad in (-1, "nan", "inf", 20_000):
        with pytest.raises(InvalidNumber):
            declare_add_dp("mine", bad, source="x")
    for bad in (-1, 2, "nan"):
        with pytest.raises(InvalidNumber):
            declare_add_dp("mine", 1, source="x", delta=bad)
    with pytest.raises(InvalidArgument):
        declare_add_dp(" ", 1, source="x")
    with pytest.raises(InvalidArgument):
        compose_parts("none", [])


def test_post_processing_and_discharge_keep_both_directions() -> None:
    start = declare_add_dp("noise", 1, source="somewhere")
    assert post_processing(start, "rounding").bound == start.bound
    closed = start
    for hypothesis in start.hypotheses:
        if may_close(hypothesis, "integers only"):
            closed = discharge(closed, hypothesis, "integers only")
    assert {item.id for item in closed.hypotheses} == {"fixed-in-advance", "only-release", "one-record-each"}
    assert closed.bound == start.bound
