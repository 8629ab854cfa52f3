"""Guarantees as events of dp_accounting (extra dp-accounting; make test-interop)."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import pytest

dp_accounting = pytest.importorskip("dp_accounting", exc_type=ImportError)

from accountant import derive_epsilon  # noqa: E402
from accountant.guarantees import AnyGuarantee, Unit, base_profile, settle  # noqa: E402
from accountant.interop.dominating import BITS, Spending, compose  # noqa: E402
from accountant.interop.dp_accounting import CertifiedAccountant, CertifiedDpEvent, make_event, make_pld  # noqa: E402
from accountant.onesided import declare_directions, subsample  # noqa: E402
from profiles import InvalidArgument, InvalidNumber, OpenHypotheses, declare  # noqa: E402
from profiles.hypotheses import FIXED_IN_ADVANCE  # noqa: E402
from proofs_check.enclosures import working_precision  # noqa: E402
from tests.premises import say  # noqa: E402

Relation = dp_accounting.NeighboringRelation
PLDAccountant = dp_accounting.pld.PLDAccountant
LAPLACE = dp_accounting.LaplaceDpEvent(2.0)


def losses(plus: object, minus: object | None, delta_plus: object = 0, delta_minus: object = 0) -> AnyGuarantee:
    """A guarantee with these losses, and without open hypotheses: what every declared mechanism supposes is discharged."""
    made = declare_directions("m", plus, minus, source="a proof", hypotheses=(), delta_plus=delta_plus, delta_minus=delta_minus)
    return settle(made, dict.fromkeys(made.hypotheses, "for a test"))


def event(*numbers: object) -> Any:
    return make_event(losses(*numbers))  # type: ignore[arg-type]


def mixed(composed: Any) -> CertifiedAccountant:
    """An accountant that takes the way of mixtures, on the grid of dp_accounting."""
    accountant = CertifiedAccountant().compose(composed)
    accountant._has_others = True
    return accountant


def test_one_event_costs_its_certified_bound() -> None:
    found = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}, source="s"), rule="uniform", constants={"rate": "1/2"})
    made = make_event(found.guarantee, accept_hypotheses=True)
    assert Fraction(made.epsilon_plus) >= found.bound.upper
    assert math.nextafter(made.epsilon_plus, 0) < found.bound.upper
    assert CertifiedAccountant().compose(made).get_epsilon(0) == made.epsilon_plus
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


@pytest.mark.parametrize(
    "numbers", [("0.5", "0.5"), ("1", "0.1"), ("1", None), ("0.51234", "0.3", "1e-6", "1e-7"), ("0", "0", "1e-5", "1e-5")]
)
@pytest.mark.parametrize("uses", [1, 7])
def test_compositions_are_the_exact_ones_rounded_up(numbers: tuple[str, ...], uses: int) -> None:
    made = event(*numbers)
    curves = compose([(made.spending, uses)])
    assert curves is not None
    accountant = CertifiedAccountant().compose(made, uses)
    with working_precision(BITS):
        for delta in (0.0, 1e-5, 1e-3, 0.2):
            exact = [curve.epsilon(Fraction(delta)) for curve in curves]
            if None in exact:
                assert accountant.get_epsilon(delta) == math.inf
                continue
            found = Fraction(accountant.get_epsilon(delta))
            largest = max(value for value in exact if value is not None)
            assert largest <= found <= largest * (1 + Fraction(1, 2**52))
        for epsilon in (0.0, 0.3, 2.0):
            largest = max(curve.delta(Fraction(epsilon)) for curve in curves)
            found = Fraction(accountant.get_delta(epsilon))
            assert largest <= found <= largest * (1 + Fraction(1, 2**52))


@pytest.mark.parametrize("numbers", [("0.51234", "0.51234"), ("1", "0.1"), ("0.7", None), ("0.51234", "0.3", "1e-6", "1e-7")])
def test_mixtures_are_never_below_and_hardly_above(numbers: tuple[str, ...]) -> None:
    """On the grid of dp_accounting: at least the exact value but for the accuracy of binary64 sums, at most a part of the grid above."""
    made = event(*numbers)
    exact, grid = CertifiedAccountant().compose(made, 10), mixed(dp_accounting.SelfComposedDpEvent(made, 10))
    for epsilon in (0.0, 0.5, 2.0, 4.0):
        assert -1e-13 <= grid.get_delta(epsilon) - exact.get_delta(epsilon) < 1e-4
    for delta in (1e-2, 1e-4, 1e-5):
        if math.isinf(exact.get_epsilon(delta)):
            assert math.isinf(grid.get_epsilon(delta))
        else:
            assert -1e-9 <= grid.get_epsilon(delta) - exact.get_epsilon(delta) <= 10 * 1e-4


def test_tighter_than_the_library_s_own_translation() -> None:
    """`from_privacy_parameters` moves the loss up to the next grid point in every use; the split pair does not."""
    from dp_accounting.pld import common, privacy_loss_distribution  # noqa: PLC0415

    theirs = privacy_loss_distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(0.51234, 0)).self_compose(50)
    ours = make_pld(Spending(Fraction(0.51234), Fraction(0.51234)), 1e-4).self_compose(50)
    exact = CertifiedAccountant().compose(event(0.51234, 0.51234), 50).get_epsilon(1e-5)
    assert exact - 1e-9 <= ours.get_epsilon_for_delta(1e-5) < exact + 1e-5
    assert theirs.get_epsilon_for_delta(1e-5) > exact + 1e-3


def test_both_directions_are_kept() -> None:
    """Losses (1, 0.1) twenty times cost far less than (1, 1), in both ways of computing; a maximum of the two would forget that."""
    for account in (lambda item: CertifiedAccountant().compose(item), mixed):
        small = account(dp_accounting.SelfComposedDpEvent(event("1", "0.1"), 20)).get_epsilon(1e-5)
        large = account(dp_accounting.SelfComposedDpEvent(event("1", "1"), 20)).get_epsilon(1e-5)
        assert small < 10 < 19 < large
    removing = make_pld(Spending(Fraction(1), None), 1e-4)
    assert removing._pmf_remove.get_epsilon_for_delta(0) == pytest.approx(1)
    assert removing._pmf_add.get_delta_for_epsilon(50.0) == pytest.approx(1 - math.exp(-1))


def test_direction_agrees_with_the_library_s_own() -> None:
    """Poisson-sampled Laplace noise has different losses in the two directions: ours, from its bounds, is above theirs in each."""
    rate, scale = 0.3, 1.0
    sampled = subsample(losses("1", "1"), rate)
    ours = make_pld(make_event(sampled, accept_hypotheses=True).spending, 1e-4)
    from dp_accounting.pld import privacy_loss_distribution  # noqa: PLC0415

    theirs = privacy_loss_distribution.from_laplace_mechanism(scale, sampling_prob=rate)
    for epsilon in (0.0, 0.1, 0.2, 0.3, 0.4):
        for mine, other in ((ours._pmf_remove, theirs._pmf_remove), (ours._pmf_add, theirs._pmf_add)):
            assert mine.get_delta_for_epsilon(epsilon) >= other.get_delta_for_epsilon(epsilon) - 1e-9


def test_laplace_and_certified_compose_like_two_laplaces_from_above() -> None:
    both = CertifiedAccountant().compose(LAPLACE).compose(event("0.5", "0.5"))
    twice = CertifiedAccountant().compose(LAPLACE, 2)
    for delta in (1e-6, 1e-3):
        assert twice.get_epsilon(delta) <= both.get_epsilon(delta) <= 1.0002
    assert both.ledger == dp_accounting.ComposedDpEvent([LAPLACE, event("0.5", "0.5")])
    assert both.compose(dp_accounting.NonPrivateDpEvent()).get_epsilon(0.1) == math.inf
    assert both.get_delta(3) == 1


def test_many_different_events_go_to_the_grid() -> None:
    accountant = CertifiedAccountant(value_discretization_interval=1e-3)
    for index in range(1, 14):
        accountant.compose(event(f"0.{index:02}", f"0.{index:02}"))
    total = sum(Fraction(index, 100) for index in range(1, 14))
    assert accountant.get_epsilon(1e-9) < total + Fraction(1, 50)
    assert accountant.supports(event(1, 1))
    assert not accountant.supports(dp_accounting.PoissonSampledDpEvent(0.1, event(1, 1)))
    assert accountant.get_epsilon(1e-9) > 0.8


def test_a_record_that_is_replaced_costs_both_losses() -> None:
    """The relation is that of the accountant, as it is in dp_accounting: taking it for add/remove would halve what is spent."""
    made = event("0.5", "0.1")
    alone = CertifiedAccountant(Relation.REPLACE_ONE).compose(made, 10)
    assert alone.get_epsilon(0) == pytest.approx(6, rel=1e-12)
    assert CertifiedAccountant().compose(made, 10).get_epsilon(0) == 5
    grid = CertifiedAccountant(Relation.REPLACE_ONE, 1e-3).compose(dp_accounting.SelfComposedDpEvent(made, 10))
    grid._has_others = True
    for delta in (1e-2, 1e-5):
        assert -1e-9 <= grid.get_epsilon(delta) - alone.get_epsilon(delta) <= 1e-3
    gaussian = dp_accounting.GaussianDpEvent(2.0)
    theirs = PLDAccountant(Relation.REPLACE_ONE, 1e-2).compose(gaussian).get_epsilon(1e-5)
    both = CertifiedAccountant(Relation.REPLACE_ONE, 1e-2).compose(gaussian).compose(made)
    assert theirs < both.get_epsilon(1e-5) < theirs + 0.601
    for wrong in (Relation.REPLACE_SPECIAL, 1e-3, None):
        with pytest.raises(InvalidArgument, match="REPLACE_ONE"):
            CertifiedAccountant(wrong)
    for wrong_interval in (0, -1, math.nan, math.inf, "wide"):
        with pytest.raises((InvalidArgument, InvalidNumber)):
            CertifiedAccountant(value_discretization_interval=wrong_interval)  # type: ignore[arg-type]


@pytest.mark.parametrize("uses", [2, 10])
def test_randomised_response_is_counted_as_often_as_it_is_used(uses: int) -> None:
    response = dp_accounting.RandomizedResponseDpEvent(0.5, 2)
    for composed in (dp_accounting.SelfComposedDpEvent(response, uses), dp_accounting.ComposedDpEvent([response] * uses)):
        found = CertifiedAccountant(Relation.REPLACE_ONE).compose(composed).get_epsilon(1e-9)
        assert uses * math.log(3) - 1e-6 <= found <= uses * (math.log(3) + 1e-4)


def test_a_number_of_uses_that_is_none_is_refused_inside_other_events() -> None:
    for uses in (-5, 0, 2.5, "3"):
        inside = dp_accounting.ComposedDpEvent([LAPLACE, dp_accounting.SelfComposedDpEvent(event(1, 1), uses)])  # type: ignore[arg-type]
        with pytest.raises(dp_accounting.UnsupportedEventError):
            CertifiedAccountant().compose(inside)


def test_hopeless_losses_are_no_error() -> None:
    for relation in (Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE):
        accountant = CertifiedAccountant(relation, 0.1).compose(event(1, 1, 1, 1)).compose(dp_accounting.GaussianDpEvent(1.0))
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
    with pytest.raises(InvalidArgument):
        make_event(base_profile(declare("sum", "w", source="s"), ()))
    for wrong_delta in (-0.1, -1):
        with pytest.raises(InvalidArgument):
            CertifiedAccountant().get_epsilon(wrong_delta)
