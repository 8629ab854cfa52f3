"""Guarantees as events of dp_accounting (extra dp-accounting; make test-interop)."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import pytest

dp_accounting = pytest.importorskip("dp_accounting", exc_type=ImportError)

from accountant import derive_epsilon  # noqa: E402
from accountant.curves import compose, curve_of  # noqa: E402
from accountant.guarantees import Unit, base_profile  # noqa: E402
from accountant.interop.dp_accounting import CertifiedAccountant, CertifiedDpEvent, make_event  # noqa: E402
from accountant.onesided import declare_directions  # noqa: E402
from profiles import InvalidArgument, InvalidNumber, OpenHypotheses, declare  # noqa: E402
from profiles.hypotheses import FIXED_IN_ADVANCE  # noqa: E402
from tests.hypotheses import say  # noqa: E402

Relation = dp_accounting.NeighboringRelation
PLDAccountant = dp_accounting.pld.PLDAccountant
LAPLACE = dp_accounting.LaplaceDpEvent(2.0)


def event(remove: object, add: object | None, delta_remove: object = 0, delta_add: object = 0) -> Any:
    """An event with these losses, and the hypotheses of every declared mechanism."""
    made = declare_directions("m", remove, add, source="a proof", delta_remove=delta_remove, delta_add=delta_add)
    return make_event(made, accept_hypotheses=True)


def test_one_event_costs_its_certified_bound() -> None:
    found = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}, source="s"), rule="uniform", constants={"rate": "1/2"})
    made = make_event(found.guarantee, accept_hypotheses=True)
    assert Fraction(made.epsilon_remove) >= found.bound.upper
    assert math.nextafter(made.epsilon_remove, 0) < found.bound.upper
    assert made.epsilon_remove <= CertifiedAccountant().compose(made).get_epsilon(0) <= made.epsilon_remove * (1 + 1e-14)
    assert made.hypotheses == tuple(say(found.guarantee.hypotheses))


def test_hypotheses_stay_readable() -> None:
    guarantee = declare_directions("m", 1, 1, source="a proof", hypotheses=("n is public",))
    with pytest.raises(OpenHypotheses, match="n is public"):
        make_event(guarantee)
    made = make_event(guarantee, accept_hypotheses=True)
    accountant = CertifiedAccountant().compose(dp_accounting.ComposedDpEvent([LAPLACE, dp_accounting.SelfComposedDpEvent(made, 2)]))
    assert set(say(guarantee.hypotheses)) <= set(accountant.hypotheses)
    assert "n is public" in accountant.hypotheses
    assert FIXED_IN_ADVANCE.sentence in accountant.hypotheses
    assert not CertifiedAccountant().hypotheses


@pytest.mark.parametrize("numbers", [("0.5", "0.5"), ("1", "0.1"), ("0.51234", "0.3", "1e-6", "1e-7"), ("0", "0", "1e-5", "1e-5")])
@pytest.mark.parametrize("uses", [1, 7])
def test_compositions_are_the_worst_of_both_directions(numbers: tuple[str, ...], uses: int) -> None:
    made = event(*numbers)
    accountant, curve = CertifiedAccountant(gap="1e-6").compose(made, uses), curve_of(made.losses.to_event())
    whole = compose(*[curve] * uses)
    for delta in (1e-4, 1e-3, 0.2):
        exact = whole.epsilon(delta, gap="1e-6")
        assert exact.lower is not None
        assert exact.lower <= Fraction(accountant.get_epsilon(delta)) <= exact.lower + Fraction(1, 10**5)
    for epsilon in (0.0, 0.3, 2.0):
        found = whole.delta(epsilon, gap="1e-6")
        assert found.lower is not None
        assert found.lower <= Fraction(accountant.get_delta(epsilon)) <= found.lower * (1 + Fraction(1, 10**5)) + Fraction(1, 10**12)


def test_both_directions_are_kept() -> None:
    """Losses (1, 0.1) twenty times cost far less than (1, 1); a maximum of the two would forget that."""
    small, large = (CertifiedAccountant().compose(event("1", add), 20).get_epsilon(1e-5) for add in ("0.1", "1"))
    assert 9.643 < small < 9.6434
    assert 19 < large <= 20
    assert CertifiedAccountant().compose(event("0.7", None), 2).get_epsilon(1e-5) == math.inf


USERS = declare_directions("by user", 5, 5, source="s", unit=Unit.USER)
ROWS = declare_directions("by row", 1, 1, source="s")
GAUSSIAN = dp_accounting.GaussianDpEvent(2.0)


def together(*parts: Any) -> Any:
    return dp_accounting.ComposedDpEvent(list(parts))


def nested(part: Any) -> Any:
    return together(dp_accounting.NoOpDpEvent(), dp_accounting.SelfComposedDpEvent(together(part), 2))


@pytest.mark.parametrize("shape", [lambda part: part, nested, lambda part: dp_accounting.PoissonSampledDpEvent(0.5, part)])
@pytest.mark.parametrize(
    ("one", "other"),
    [("users", "rows"), ("rows", "users"), ("users", "noise"), ("noise", "users"), ("rows", "replaced"), ("noise", "replaced")],
)
def test_different_protections_are_refused_in_any_order(one: str, other: str, shape: Any) -> None:
    """An event for rows and one for users in one tree gave the epsilon of the rows; a user's event before a Gaussian one gave 2.70."""
    replaced = declare_directions("x", 1, 1, source="s", neighbors="replace-one")
    made = {
        "users": make_event(USERS, accept_hypotheses=True),
        "rows": make_event(ROWS, accept_hypotheses=True),
        "noise": GAUSSIAN,
        "replaced": make_event(replaced, accept_hypotheses=True),
    }
    first, second = made[one], made[other]
    accountant = CertifiedAccountant()
    assert not accountant.supports(together(shape(first), second))
    for tree in (together(shape(first), second), together(second, shape(first)), together(first, nested(shape(second)))):
        with pytest.raises(dp_accounting.UnsupportedEventError, match=r"one unit|one kind of neighbors"):
            accountant.compose(tree)
        with pytest.raises(InvalidArgument):
            accountant.compose(tree, 3)
    assert (accountant.ledger, accountant.get_epsilon(0), accountant.hypotheses) == (dp_accounting.NoOpDpEvent(), 0, ())
    if one != "replaced" and other != "replaced":
        accountant.compose(first)
        before = accountant.get_epsilon(1e-5), accountant.ledger, accountant.hypotheses
        for tree in (second, shape(second), together(first, second)):
            with pytest.raises(dp_accounting.UnsupportedEventError, match="one unit"):
                accountant.compose(tree)
        assert (accountant.get_epsilon(1e-5), accountant.ledger, accountant.hypotheses) == before


def test_events_of_the_library_protect_whom_the_accountant_says() -> None:
    accountant = (
        CertifiedAccountant(unit="user", hypotheses=["clipped for each user"])
        .compose(GAUSSIAN)
        .compose(make_event(USERS, accept_hypotheses=True))
    )
    assert accountant.curve.guarantee.unit is Unit.USER
    assert "clipped for each user" in accountant.hypotheses
    assert not any("which a DpEvent" in item for item in accountant.hypotheses)
    assert set(say(USERS.hypotheses)) <= set(accountant.hypotheses)
    with pytest.raises(InvalidArgument, match="one unit"):
        CertifiedAccountant(unit="record").compose(make_event(USERS, accept_hypotheses=True))


def test_ordinary_events_are_answered_from_the_certified_curve() -> None:
    accountant = CertifiedAccountant().compose(dp_accounting.GaussianDpEvent(100.0), 10_000)
    assert 7.5601 < accountant.get_epsilon(1e-13) < 7.568
    assert accountant.curve.epsilon("1e-13").checked_by_kernel
    assert {"sensitivity-one", "exact-reals", "declared-events", "hypotheses-unknown"} <= {item.id for item in accountant.curve.hypotheses}
    sampled = dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.1)), 100)
    ours, theirs = CertifiedAccountant().compose(sampled), PLDAccountant().compose(sampled).get_epsilon(1e-5)
    assert theirs * 0.999 < ours.get_epsilon(1e-5) < theirs * 1.01
    assert any("selects each record independently" in item for item in ours.hypotheses)
    assert ours.get_delta(1.0) == pytest.approx(PLDAccountant().compose(sampled).get_delta(1.0), rel=1e-2)


@pytest.mark.parametrize(
    "wrong",
    [
        dp_accounting.SampledWithoutReplacementDpEvent(100, 10, LAPLACE),
        dp_accounting.dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.1, 20, 1.0),
        dp_accounting.UnsupportedDpEvent(),
        dp_accounting.RandomizedResponseDpEvent(0.5, 2),
        dp_accounting.dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0], [1.0]),
        dp_accounting.GaussianDpEvent(-1.0),
    ],
    ids=lambda item: type(item).__name__,
)
def test_other_events_are_refused_by_name_and_nothing_is_composed(wrong: Any) -> None:
    accountant = CertifiedAccountant().compose(GAUSSIAN)
    before = accountant.get_epsilon(1e-5), accountant.ledger
    for tree in (wrong, nested(wrong), together(GAUSSIAN, wrong)):
        assert not accountant.supports(tree)
        with pytest.raises(dp_accounting.UnsupportedEventError, match=type(wrong).__name__):
            accountant.compose(tree)
    assert (accountant.get_epsilon(1e-5), accountant.ledger) == before


def test_laplace_and_certified_compose_like_two_laplaces_from_above() -> None:
    both = CertifiedAccountant().compose(LAPLACE).compose(event("0.5", "0.5"))
    twice = CertifiedAccountant().compose(LAPLACE, 2)
    for delta in (1e-6, 1e-3):
        assert twice.get_epsilon(delta) <= both.get_epsilon(delta) * 1.001
        assert both.get_epsilon(delta) <= 1.0002
    assert both.ledger == dp_accounting.ComposedDpEvent([LAPLACE, event("0.5", "0.5")])
    assert both.compose(dp_accounting.NonPrivateDpEvent()).get_epsilon(0.1) == math.inf
    assert both.get_delta(3) == 1


def test_certified_events_are_sampled() -> None:
    sampled = CertifiedAccountant().compose(dp_accounting.PoissonSampledDpEvent(0.1, event(1, 1)))
    assert sampled.get_epsilon(0) == pytest.approx(math.log(1 + 0.1 * math.expm1(1)), rel=1e-9)
    assert any("selects each record independently" in item for item in sampled.hypotheses)


def test_a_record_that_is_replaced_costs_both_losses() -> None:
    """The relation is that of the accountant, as it is in dp_accounting: taking it for add/remove would halve what is spent."""
    made = event("0.5", "0.1")
    alone = CertifiedAccountant(Relation.REPLACE_ONE).compose(made, 10)
    assert alone.get_epsilon(0) == pytest.approx(6, rel=1e-12)
    assert CertifiedAccountant().compose(made, 10).get_epsilon(0) == 5
    assert 11.12 < CertifiedAccountant(Relation.REPLACE_ONE).compose(event("1", "0.1"), 20).get_epsilon(1e-5) < 11.14
    gaussian = dp_accounting.GaussianDpEvent(2.0)
    theirs = PLDAccountant(Relation.REPLACE_ONE, 1e-2).compose(gaussian).get_epsilon(1e-5)
    both = CertifiedAccountant(Relation.REPLACE_ONE).compose(gaussian).compose(made)
    assert theirs < both.get_epsilon(1e-5) < theirs + 0.601
    itself = make_event(declare_directions("x", 1, 1, source="s", neighbors="replace-one"), accept_hypotheses=True)
    assert CertifiedAccountant(Relation.REPLACE_ONE).compose(itself, 3).get_epsilon(0) == 3
    sampled = dp_accounting.PoissonSampledDpEvent(0.1, gaussian)  # Theorem 7 of docs/batches.md is the pair that dp_accounting has
    low, high = CertifiedAccountant(Relation.REPLACE_ONE).compose(sampled, 10).enclosure(target_delta=1e-5)
    assert 0 < low < high < low + 0.002
    assert low < PLDAccountant(Relation.REPLACE_ONE, 1e-3).compose(sampled, 10).get_epsilon(1e-5) < high + 0.01
    with pytest.raises(InvalidArgument, match="Poisson sample"):
        CertifiedAccountant(Relation.REPLACE_ONE).compose(dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.LaplaceDpEvent(2.0)))
    for wrong in ("REPLACE_ONE", 1e-3, None):
        with pytest.raises(InvalidArgument, match="REPLACE_ONE"):
            CertifiedAccountant(wrong)


def test_both_sides_of_a_number() -> None:
    tree = dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(2.0)), 50)
    for relation in (Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_SPECIAL):
        made = CertifiedAccountant(relation).compose(tree)
        low, high = made.enclosure(target_delta=1e-5)
        assert 0 < low < high <= made.get_epsilon(1e-5) <= high * 1.02
        least, most = made.enclosure(target_epsilon=high)
        assert 0 < least <= most <= 1e-5 * 1.0001
        assert low <= PLDAccountant(relation).compose(tree).get_epsilon(1e-5) * (1 + 1e-6)
    assert CertifiedAccountant().enclosure(target_delta=0.1) == (0.0, 0.0)
    low, high = CertifiedAccountant(Relation.REPLACE_ONE).compose(event("0.5", "0.1"), 10).enclosure(target_delta=1e-6)
    assert low == 0.0
    assert high < 6
    assert CertifiedAccountant().compose(dp_accounting.GaussianDpEvent(1.0)).enclosure(target_delta=0) == (math.inf, math.inf)
    for wrong in ({}, {"target_delta": 0.1, "target_epsilon": 1}):
        with pytest.raises(InvalidArgument, match="not both"):
            CertifiedAccountant().enclosure(**wrong)  # type: ignore[arg-type]


def test_noise_of_scale_zero_promises_nothing() -> None:
    for none in (dp_accounting.GaussianDpEvent(0.0), dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.LaplaceDpEvent(0))):
        made = CertifiedAccountant().compose(none)
        assert (made.get_epsilon(1e-5), made.get_delta(1)) == (math.inf, 1.0)


def test_dp_accounting_calibrates_with_it() -> None:
    def make(noise: float) -> Any:
        return dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(noise)), 200)

    noise = dp_accounting.calibrate_dp_mechanism(
        CertifiedAccountant, make, 1.0, 1e-6, dp_accounting.ExplicitBracketInterval(0.5, 3.0), tol=1e-2
    )
    assert 0.99 < CertifiedAccountant().compose(make(noise)).get_epsilon(1e-6) <= 1.0


@pytest.mark.parametrize("uses", [2, 10])
def test_randomised_response_is_counted_as_often_as_it_is_used(uses: int) -> None:
    response = dp_accounting.RandomizedResponseDpEvent(0.5, 2)
    for composed in (dp_accounting.SelfComposedDpEvent(response, uses), dp_accounting.ComposedDpEvent([response] * uses)):
        found = CertifiedAccountant(Relation.REPLACE_ONE).compose(composed).get_epsilon(1e-9)
        assert uses * math.log(3) - 1e-6 <= found <= uses * (math.log(3) + 1e-4)


def test_a_number_of_uses_that_is_none_is_refused_inside_other_events() -> None:
    for uses in (-5, 0, 2.5, "3"):
        with pytest.raises(dp_accounting.UnsupportedEventError):
            CertifiedAccountant().compose(LAPLACE, uses)  # type: ignore[arg-type]
        inside = dp_accounting.ComposedDpEvent([LAPLACE, dp_accounting.SelfComposedDpEvent(event(1, 1), uses)])  # type: ignore[arg-type]
        with pytest.raises(dp_accounting.UnsupportedEventError):
            CertifiedAccountant().compose(inside)


def test_hopeless_losses_are_no_error() -> None:
    for relation in (Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE):
        accountant = CertifiedAccountant(relation).compose(event(1, 1, 1, 1)).compose(dp_accounting.GaussianDpEvent(1.0))
        assert accountant.get_epsilon("0.1") == math.inf  # type: ignore[arg-type]
        assert accountant.get_delta("0.1") == 1.0  # type: ignore[arg-type]


def test_accountants_that_do_not_know_the_event_refuse_it() -> None:
    for accountant in (PLDAccountant(), dp_accounting.rdp.RdpAccountant()):
        with pytest.raises(dp_accounting.UnsupportedEventError):
            accountant.compose(event(1, 1))


def test_events_are_values() -> None:
    made = make_event(declare_directions("m", 1, None, source="s", hypotheses=("a", "b")), accept_hypotheses=True)
    assert pickle.loads(pickle.dumps(made)) == made
    assert dp_accounting.DpEvent.from_named_tuple(made.to_named_tuple()) == made
    for wrong in ((-1.0, 1.0), (math.inf, 1.0), (math.nan, 1.0), (1.0, 1.0, 2.0), (1, 1)):
        with pytest.raises(InvalidNumber):
            CertifiedDpEvent(*wrong)
    with pytest.raises(InvalidArgument, match="tuples"):
        CertifiedDpEvent(1.0, 1.0, 0.0, 0.0, ("m",), "n is public")
    for units in ("user", (), ("user", "record")):
        with pytest.raises(InvalidArgument, match="tuples"):
            CertifiedDpEvent(1.0, 1.0, 0.0, 0.0, ("m",), (), units)
    users = make_event(declare_directions("m", 1, 1, source="s", unit=Unit.USER), accept_hypotheses=True)
    assert dp_accounting.DpEvent.from_named_tuple(users.to_named_tuple()).unit == "user"
    assert dp_accounting.DpEvent.from_named_tuple(users.to_named_tuple()).open_hypotheses == users.open_hypotheses
    with pytest.raises(InvalidArgument, match="neighbors"):
        CertifiedDpEvent(1.0, 1.0, 0.0, 0.0, (), (), ("record",), ("replaced",))
    with pytest.raises(InvalidArgument, match="larger one"):
        CertifiedDpEvent(1.0, 0.5, 0.0, 0.0, (), (), ("record",), ("replace-one",))
    with pytest.raises(InvalidArgument):
        make_event(base_profile(declare("sum", "w", source="s"), ()))
    for wrong_delta in (-0.1, -1):
        with pytest.raises(InvalidArgument):
            CertifiedAccountant().get_epsilon(wrong_delta)
