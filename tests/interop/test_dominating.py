"""The worst pair for the losses of a guarantee: no other pair that keeps them is worse, also where one record is replaced by another."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accountant.curves import curve_of
from accountant.guarantees import EXACT_REALS, base_profile, discharge
from accountant.guarantees.measures import Losses
from accountant.guarantees.statements import may_close
from accountant.interop.dominating import BITS, compose_replaced, spend
from accountant.onesided import declare_add_dp, declare_directions
from profiles import InvalidArgument, OpenHypotheses, declare
from profiles.balls import working_precision
from proofs_check.exact import delta_of_tables, extremal_pair
from proofs_check.exact.exponentials import near

TINY = Fraction(1, 10**60)
_LOSSES = st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(1, 10**9), Fraction(1, 10**90)])
_MASS = st.integers(0, 20)


def _number(value: Any) -> Fraction:
    """A number near an exact δ."""
    if isinstance(value, Fraction):
        return value
    mid = near(value, 300).mid().man_exp()
    return Fraction(int(mid[0])) * Fraction(2) ** int(mid[1])


def _times(laws: list[dict[Any, Any]]) -> dict[Any, Any]:
    made = {}
    for combination in product(*(law.items() for law in laws)):
        made[tuple(outcome for outcome, _ in combination)] = reduce(lambda left, right: left * right, (mass for _, mass in combination))
    return made


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("remove", "add"), [("1/2", "1/2"), ("1/2", "1/5"), ("1", None), ("1/3", "2"), ("0", "1"), ("1", "0"), ("0", None), ("2", "1/10")]
)
@pytest.mark.parametrize("uses", [1, 3])
def test_composition_of_the_worst_pair_is_enclosed(remove: str, add: str | None, uses: int) -> None:
    spent = Losses(Fraction(remove), None if add is None else Fraction(add))
    p, q = extremal_pair(spent.remove, spent.add)
    curve = curve_of(replace(spent.to_event(), count=uses))
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(9, 10), Fraction(5, 2)):
        exact = delta_of_tables(_times([p] * uses), _times([q] * uses), epsilon)
        for side, theirs in zip(curve.delta(epsilon).sides.values(), exact, strict=True):
            assert side.lower is not None
            assert side.upper is not None
            assert side.lower - TINY <= _number(theirs) <= side.upper + TINY


@pytest.mark.thorough
@settings(max_examples=80, deadline=None)
@given(*[st.lists(_MASS, min_size=4, max_size=4)] * 2, _LOSSES, _LOSSES, st.lists(_LOSSES, min_size=1, max_size=3))
def test_no_pair_with_the_same_guarantee_is_worse(
    left: list[int], right: list[int], remove: Fraction, add: Fraction, epsilons: list[Fraction]
) -> None:
    """Any two laws, with the deltas that they really have at plus and minus: their curve is below that of the worst pair, also twice."""
    assume(sum(left) and sum(right))
    p = {place: Fraction(mass, sum(left)) for place, mass in enumerate(left)}
    q = {place: Fraction(mass, sum(right)) for place, mass in enumerate(right)}
    one, other = (_number(delta) for delta in (delta_of_tables(p, q, remove)[0], delta_of_tables(p, q, add)[1]))
    spent = Losses(remove, add, one + TINY if one else one, other + TINY if other else other)
    assume(spent.delta < 1)
    for uses, epsilon in product((1, 2), epsilons):
        point = curve_of(replace(spent.to_event(), count=uses)).delta(epsilon)
        exact = delta_of_tables(_times([p] * uses), _times([q] * uses), epsilon)
        for side, theirs in zip(point.sides.values(), exact, strict=True):
            assert side.upper is not None
            assert side.upper >= _number(theirs) - 3 * TINY


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(*[st.lists(_MASS, min_size=3, max_size=3)] * 3, _LOSSES, st.none() | _LOSSES, st.lists(_LOSSES, min_size=1, max_size=2))
def test_no_replacement_with_the_same_guarantee_is_worse(
    left: list[int], middle: list[int], right: list[int], remove: Fraction, add: Fraction | None, epsilons: list[Fraction]
) -> None:
    """The laws with x, with neither, and with y: the curve between the first and the last is below that of the pair, also twice."""
    assume(sum(left) and sum(middle) and sum(right))
    p, r, q = ({place: Fraction(mass, sum(law)) for place, mass in enumerate(law)} for law in (left, middle, right))
    going = max(_number(delta_of_tables(law, r, remove)[0]) for law in (p, q))
    coming = Fraction(0) if add is None else max(_number(delta_of_tables(law, r, add)[1]) for law in (p, q))
    one, other = (min(Fraction(1), delta + TINY) if delta else delta for delta in (going, coming))
    for uses, epsilon in product((1, 2), epsilons):
        curve = compose_replaced([(Losses(remove, add, one, other), uses)])
        assert curve is not None
        with working_precision(BITS):
            found = curve.delta(epsilon)
        assert all(found >= _number(theirs) - 3 * TINY for theirs in delta_of_tables(_times([p] * uses), _times([q] * uses), epsilon))


@pytest.mark.parametrize(("remove", "add"), [("1/2", "1/2"), ("1", "1/10"), ("1/10", "1"), ("1", "0"), ("0", "0"), ("0", "1")])
def test_replacing_costs_both_losses_and_no_more_than_the_chain(remove: str, add: str) -> None:
    """Without a loss in one direction the two laws are equal, and so are those of a record and of the one that replaces it."""
    spent = Losses(Fraction(remove), Fraction(add))
    one, other = float(Fraction(remove)), float(Fraction(add))
    total = Fraction(remove) + Fraction(add) if one and other else Fraction(0)
    thrice, once = (compose_replaced([(spent, uses)]) for uses in (3, 1))
    assert thrice is not None
    assert once is not None
    with working_precision(BITS):
        assert thrice.epsilon(Fraction(0)) == 3 * total
        apart = 1 - max(math.exp(-other), 2 - math.exp(one))
        least = math.expm1(one + other) / (math.exp(one + other) + 1)  # of the sum of the losses alone
        assert float(once.delta(Fraction(0))) == pytest.approx(min(apart, least), abs=1e-12)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(_LOSSES, st.none() | _LOSSES, st.integers(1, 30), st.fractions(0, 1))
def test_epsilon_and_delta_are_inverse(remove: Fraction, add: Fraction | None, uses: int, delta: Fraction) -> None:
    curve = compose_replaced([(Losses(remove, add, Fraction(1, 10**6), Fraction(1, 10**7)), uses)])
    assert curve is not None
    with working_precision(BITS):
        epsilon = curve.epsilon(delta)
        if epsilon is None:
            assert curve.delta(Fraction(10_000)) > delta
        else:
            assert curve.delta(epsilon) <= delta + TINY
            assert epsilon <= max(Fraction(0), curve.top)


def test_too_many_terms_are_refused() -> None:
    assert compose_replaced([(Losses(Fraction(1, index), Fraction(1)), 20) for index in range(1, 5)]) is None
    empty = compose_replaced([])
    assert empty is not None
    with working_precision(BITS):
        assert empty.epsilon(Fraction(0)) == 0


def test_hypotheses_are_never_lost_silently() -> None:
    made = declare_directions("svt", 1, 2, source="a proof", hypotheses=(EXACT_REALS, "the universe is public"))
    with pytest.raises(OpenHypotheses) as caught:
        spend(made, "OpenDP", accept_hypotheses=False)
    assert EXACT_REALS.sentence in str(caught.value)
    assert "the universe is public" in str(caught.value)
    assert spend(made, "OpenDP", accept_hypotheses=True) == Losses(Fraction(1), Fraction(2))
    closed = discharge(discharge(made, EXACT_REALS, "integers"), "the universe is public", "it is")
    with pytest.raises(OpenHypotheses, match="the only release about these records"):
        spend(closed, "OpenDP", accept_hypotheses=False)
    for hypothesis in closed.hypotheses:
        if may_close(hypothesis, "said in the data sheet"):
            closed = discharge(closed, hypothesis, "said in the data sheet")
    with pytest.raises(OpenHypotheses, match="fixed without looking at the data"):
        spend(closed, "OpenDP", accept_hypotheses=False)
    one_sided = declare_add_dp("x", 1, source="s", hypotheses=())
    with pytest.raises(OpenHypotheses, match="has the losses that are declared for it"):
        spend(one_sided, "OpenDP", accept_hypotheses=False)
    assert spend(one_sided, "OpenDP", accept_hypotheses=True).add is None


def test_only_guarantees_with_an_epsilon_are_spent() -> None:
    with pytest.raises(InvalidArgument, match="worst case"):
        spend(base_profile(declare("sum", "w", source="s"), ()), "OpenDP", accept_hypotheses=True)
    with pytest.raises(InvalidArgument, match="made by the accountant's rules"):
        spend(Losses(Fraction(1), None), "OpenDP", accept_hypotheses=True)  # type: ignore[arg-type]
