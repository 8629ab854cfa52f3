"""The worst pair for what a guarantee spends: it keeps the guarantee, no other pair that keeps it is worse, compositions are exact."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accountant.guarantees import EXACT_REALS, base_profile, discharge
from accountant.interop.dominating import BITS, AtomCurve, Spending, compose, spend
from accountant.onesided import declare_add_dp, declare_directions
from profiles import InvalidArgument, OpenHypotheses, declare
from proofs_check.enclosures import working_precision
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


def _require_not_below(
    curves: tuple[AtomCurve, ...] | None, p: dict[Any, Any], q: dict[Any, Any], uses: int, epsilons: list[Fraction]
) -> None:
    """So many uses of the laws p and q have no delta above the curves at any of the epsilons."""
    assert curves is not None
    for epsilon in epsilons:
        exact = delta_of_tables(_times([p] * uses), _times([q] * uses), epsilon)
        with working_precision(BITS):
            for curve, theirs in zip(curves, exact, strict=True):
                assert curve.delta(epsilon) >= _number(theirs) - 3 * TINY


@pytest.mark.parametrize(
    ("plus", "minus"), [("1/2", "1/2"), ("1/2", "1/5"), ("1", None), ("1/3", "2"), ("0", "1"), ("1", "0"), ("0", None), ("2", "1/10")]
)
@pytest.mark.parametrize("uses", [1, 3])
def test_composition_of_the_worst_pair_is_exact(plus: str, minus: str | None, uses: int) -> None:
    spent = Spending(Fraction(plus), None if minus is None else Fraction(minus))
    p, q = extremal_pair(spent.plus, spent.minus)
    curves = compose([(spent, uses)])
    assert curves is not None
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(9, 10), Fraction(5, 2)):
        exact = delta_of_tables(_times([p] * uses), _times([q] * uses), epsilon)
        with working_precision(BITS):
            found = [curve.delta(epsilon) for curve in curves]
        for ours, theirs in zip(found, exact, strict=True):
            assert -TINY <= ours - _number(theirs) <= TINY


def test_different_losses_compose_exactly() -> None:
    spent = [(Spending(Fraction(1, 2), Fraction(1, 5)), 2), (Spending(Fraction(1), None), 1), (Spending(Fraction(1, 3), Fraction(1)), 1)]
    laws = [extremal_pair(item.plus, item.minus) for item, uses in spent for _ in range(uses)]
    curves = compose(spent)
    assert curves is not None
    exact = delta_of_tables(_times([p for p, _ in laws]), _times([q for _, q in laws]), Fraction(1, 2))
    with working_precision(BITS):
        for curve, theirs in zip(curves, exact, strict=True):
            assert abs(curve.delta(Fraction(1, 2)) - _number(theirs)) <= TINY


@settings(max_examples=60, deadline=None)
@given(_LOSSES, st.none() | _LOSSES, *[st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 5), Fraction(1)])] * 2)
def test_the_worst_pair_keeps_the_guarantee(plus: Fraction, minus: Fraction | None, delta_plus: Fraction, delta_minus: Fraction) -> None:
    curves = compose([(Spending(plus, minus, delta_plus, delta_minus), 1)])
    assert curves is not None
    with working_precision(BITS):
        assert curves[0].delta(plus) <= delta_plus + TINY
        epsilon = curves[0].epsilon(delta_plus)
        assert epsilon is not None
        assert epsilon <= plus
        if minus is not None:
            assert curves[1].delta(minus) <= delta_minus + TINY
            assert (curves[1].epsilon(delta_minus) or Fraction(0)) <= minus


@pytest.mark.thorough
@settings(max_examples=80, deadline=None)
@given(*[st.lists(_MASS, min_size=4, max_size=4)] * 2, _LOSSES, _LOSSES, st.lists(_LOSSES, min_size=1, max_size=3))
def test_no_pair_with_the_same_guarantee_is_worse(
    left: list[int], right: list[int], plus: Fraction, minus: Fraction, epsilons: list[Fraction]
) -> None:
    """Any two laws, with the deltas that they really have at plus and minus: their curve is below that of the worst pair, also twice."""
    assume(sum(left) and sum(right))
    p = {place: Fraction(mass, sum(left)) for place, mass in enumerate(left)}
    q = {place: Fraction(mass, sum(right)) for place, mass in enumerate(right)}
    one, other = (_number(delta) for delta in (delta_of_tables(p, q, plus)[0], delta_of_tables(p, q, minus)[1]))
    spent = Spending(plus, minus, min(Fraction(1), one + TINY) if one else one, min(Fraction(1), other + TINY) if other else other)
    for uses in (1, 2):
        curves = compose([(spent, uses)])
        _require_not_below(curves, p, q, uses, epsilons)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(*[st.lists(_MASS, min_size=3, max_size=3)] * 3, _LOSSES, st.none() | _LOSSES, st.lists(_LOSSES, min_size=1, max_size=2))
def test_no_replacement_with_the_same_guarantee_is_worse(
    left: list[int], middle: list[int], right: list[int], plus: Fraction, minus: Fraction | None, epsilons: list[Fraction]
) -> None:
    """The laws with x, with neither, and with y: the curve between the first and the last is below that of the pair, also twice."""
    assume(sum(left) and sum(middle) and sum(right))
    p, r, q = ({place: Fraction(mass, sum(law)) for place, mass in enumerate(law)} for law in (left, middle, right))
    going = max(_number(delta_of_tables(law, r, plus)[0]) for law in (p, q))
    coming = Fraction(0) if minus is None else max(_number(delta_of_tables(law, r, minus)[1]) for law in (p, q))
    one, other = (min(Fraction(1), delta + TINY) if delta else delta for delta in (going, coming))
    for uses in (1, 2):
        curves = compose([(Spending(plus, minus, one, other), uses)], replacing=True)
        _require_not_below(curves, p, q, uses, epsilons)


@pytest.mark.parametrize(("plus", "minus"), [("1/2", "1/2"), ("1", "1/10"), ("1/10", "1"), ("1", "0"), ("0", "0"), ("0", "1")])
def test_replacing_costs_both_losses_and_no_more_than_the_chain(plus: str, minus: str) -> None:
    """Without a loss in one direction the two laws are equal, and so are those of a record and of the one that replaces it."""
    spent = Spending(Fraction(plus), Fraction(minus))
    one, other = float(Fraction(plus)), float(Fraction(minus))
    total = Fraction(plus) + Fraction(minus) if one and other else Fraction(0)
    thrice, once = (compose([(spent, uses)], replacing=True) for uses in (3, 1))
    assert thrice is not None
    assert once is not None
    with working_precision(BITS):
        assert thrice[0].epsilon(Fraction(0)) == thrice[1].epsilon(Fraction(0)) == 3 * total
        apart = 1 - max(math.exp(-other), 2 - math.exp(one))
        least = math.expm1(one + other) / (math.exp(one + other) + 1)  # of the sum of the losses alone
        assert float(once[0].delta(Fraction(0))) == pytest.approx(min(apart, least), abs=1e-12)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(_LOSSES, st.none() | _LOSSES, st.integers(1, 30), st.fractions(0, 1))
def test_epsilon_and_delta_are_inverse(plus: Fraction, minus: Fraction | None, uses: int, delta: Fraction) -> None:
    curves = compose([(Spending(plus, minus, Fraction(1, 10**6), Fraction(1, 10**7)), uses)])
    assert curves is not None
    with working_precision(BITS):
        for curve in curves:
            epsilon = curve.epsilon(delta)
            if epsilon is None:
                assert curve.delta(Fraction(10_000)) > delta
            else:
                assert curve.delta(epsilon) <= delta + TINY
                assert epsilon <= max(Fraction(0), curve.top)


def test_pure_losses_add_up_to_the_last_digit() -> None:
    curves = compose([(Spending(Fraction(1, 10), Fraction(1, 20)), 100)])
    assert curves is not None
    with working_precision(BITS):
        assert [curve.epsilon(Fraction(0)) for curve in curves] == [10, 5]
        assert curves[0].epsilon(Fraction(1, 10**6)) < Fraction(15, 2)


def test_too_many_terms_are_refused() -> None:
    assert compose([(Spending(Fraction(1, index), Fraction(1)), 20) for index in range(1, 5)]) is None
    empty = compose([])
    assert empty is not None
    with working_precision(BITS):
        assert empty[0].epsilon(Fraction(0)) == 0


def test_hypotheses_are_never_lost_silently() -> None:
    made = declare_directions("svt", 1, 2, source="a proof", hypotheses=(EXACT_REALS, "the universe is public"))
    with pytest.raises(OpenHypotheses) as caught:
        spend(made, "OpenDP", accept_hypotheses=False)
    assert EXACT_REALS.sentence in str(caught.value)
    assert "the universe is public" in str(caught.value)
    assert spend(made, "OpenDP", accept_hypotheses=True) == Spending(Fraction(1), Fraction(2))
    closed = discharge(discharge(made, EXACT_REALS, "integers"), "the universe is public", "it is")
    with pytest.raises(OpenHypotheses, match="the only release about these records"):
        spend(closed, "OpenDP", accept_hypotheses=False)
    for hypothesis in closed.hypotheses:
        closed = discharge(closed, hypothesis, "said in the data sheet")
    assert spend(closed, "OpenDP", accept_hypotheses=False) == Spending(Fraction(1), Fraction(2))
    one_sided = declare_add_dp("x", 1, source="s", hypotheses=())
    with pytest.raises(OpenHypotheses, match="has the losses that are declared for it"):
        spend(one_sided, "OpenDP", accept_hypotheses=False)
    assert spend(one_sided, "OpenDP", accept_hypotheses=True).minus is None


def test_only_guarantees_with_an_epsilon_are_spent() -> None:
    with pytest.raises(InvalidArgument, match="worst case"):
        spend(base_profile(declare("sum", "w", source="s"), ()), "OpenDP", accept_hypotheses=True)
    with pytest.raises(InvalidArgument, match="made by the accountant's rules"):
        spend(Spending(Fraction(1), None), "OpenDP", accept_hypotheses=True)  # type: ignore[arg-type]
