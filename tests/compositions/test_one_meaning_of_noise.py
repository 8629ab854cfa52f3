"""The noise multiplier is the noise over the norm of a record: for every scheme and all neighbors, against formulas of their own."""

from __future__ import annotations

import json
from fractions import Fraction
from math import erfc, exp, sqrt

import pytest

from accountant.calibration.events import find_least_noise, find_most_uses
from accountant.cli.main import invoke
from accountant.compositions.batches import draw_batches
from accountant.compositions.bounds import bound_delta
from accountant.compositions.events import Composition, Direction, Event, make_event
from accountant.curves import DeclaredEvents, account, curve_of, read_composition, write_composition
from accountant.guarantees import change_neighbors, declare_events, point_of_curve, subsample
from accountant.interop import replay
from accountant.interop.files import read_guarantee, write_guarantee
from accountant.ledger.charges import _spend_on, _square_of_event
from accountant.ledger.menus import to_menu
from profiles import InvalidArgument, PDPError
from profiles.protection import Neighbors, Unit
from tests.soundness.batches_sweep import find_truth

#: All schemes that have replaced records, and the other neighbors that they have.
_SCHEMES: dict[str, dict[str, int]] = {
    "fixed-size": {"records": 60, "batch_size": 6},
    "with-replacement": {"records": 60, "batch_size": 6},
    "truncated-poisson": {"records": 60, "batch_size": 6, "limit": 9},
    "poisson": {"group_size": 1},
    "shuffle": {"steps_per_epoch": 5},
    "random-allocation": {"steps_per_epoch": 5},
    "none": {},
}


def drawn(how: str, neighbors: str, sigma: object = "3/2", count: int = 1) -> Event:
    batches, rate = draw_batches(how, neighbors, **_SCHEMES[how]), "1/10" if how == "poisson" else 1
    return make_event("gaussian", {"noise_multiplier": sigma}, sampling_probability=rate, count=count, batches=batches)


def gaussian(mu: float, epsilon: float) -> float:
    """δ of N(μ, 1) against N(0, 1) at ε."""
    tail = lambda x: erfc(x / sqrt(2)) / 2  # noqa: E731
    return tail(epsilon / mu - mu / 2) - exp(epsilon) * tail(epsilon / mu + mu / 2)


def delta(event: Event, epsilon: object = "0.7") -> tuple[float, float]:
    """Both ends of δ of what goes."""
    ends = bound_delta(Composition("x", (event,)), Fraction(str(epsilon)), Direction.REMOVE)
    return float(ends.lower), float(ends.upper)


@pytest.mark.parametrize("neighbors", ["add-remove", "zero-out", "replace-one"])
@pytest.mark.parametrize("how", [how if how != "random-allocation" else pytest.param(how, marks=pytest.mark.thorough) for how in _SCHEMES])
def test_one_step_is_that_of_densities_in_units_of_the_norm(how: str, neighbors: str) -> None:
    try:
        event = drawn(how, neighbors)
    except InvalidArgument:
        assert (how, neighbors) == ("with-replacement", "zero-out")
        return
    if how == "none" and neighbors != "replace-one":
        assert delta(event) == pytest.approx((gaussian(2 / 3, 0.7),) * 2, rel=1e-9)
        return
    realised, most = find_truth(event, 0.7, Direction.REMOVE)
    lower, upper = delta(event)
    assert lower <= realised * (1 + 1e-3)
    assert lower >= realised * (1 - 1e-2)
    assert upper == pytest.approx(most, rel=1e-2)


@pytest.mark.parametrize("sigma", [1, 4])
def test_samples_that_take_nearly_all_records_are_all_records(sigma: int) -> None:
    """What a replaced record loses does not jump where sampling begins: the review's complaint of an earlier version."""
    whole = delta(drawn("none", "replace-one", sigma))
    assert whole[1] == pytest.approx(gaussian(2 / sigma, 0.7), rel=1e-9)
    event = make_event(
        "gaussian",
        {"noise_multiplier": sigma},
        sampling_probability="0.9999999",
        batches=draw_batches("poisson", "replace-one", group_size=1),
    )
    assert delta(event) == pytest.approx(whole, rel=1e-4)
    most = make_event(
        "gaussian", {"noise_multiplier": sigma}, batches=draw_batches("fixed-size", "replace-one", records=10**7, batch_size=10**7 - 1)
    )
    assert delta(most) == pytest.approx(whole, rel=1e-4)
    plain = make_event("gaussian", {"noise_multiplier": sigma}, sampling_probability="0.9999999")
    assert delta(plain) == pytest.approx((gaussian(1 / sigma, 0.7),) * 2, rel=1e-4)


def test_the_command_line_has_the_same_unit_with_and_without_samples(capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for more in (
        (),
        ("--sampling", "1"),
        ("--sampling", "0.9999999"),
        ("--batches", "none"),
        ("--neighbors", "add-remove", "--sampling", "1"),
    ):
        replaced = () if "--neighbors" in more else ("--neighbors", "replace-one")
        assert invoke(["account", "--gaussian", "2", "--epsilon", "0.7", "--json", *replaced, *more]) == 0
        found[more] = float(json.loads(capsys.readouterr().out)["delta"]["upper"])
    one = found.pop(("--neighbors", "add-remove", "--sampling", "1"))
    assert one == pytest.approx(gaussian(1 / 2, 0.7), rel=1e-6)
    for more, value in found.items():
        assert value == pytest.approx(gaussian(1, 0.7), rel=1e-4), more


def test_a_file_means_what_the_command_line_means_or_is_refused() -> None:
    text = 'name = "x"\nneighbors = "{}"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 2\n'
    with pytest.raises(PDPError, match='sampling = "none"'):
        read_composition(text.format("replace-one"))
    for neighbors, mu in (("add-remove", 0.5), ("zero-out", 0.5), ("replace-one", 1.0)):
        for more in ('sampling = "none"\n', 'sampling = "poisson"\nsampling_probability = 1\n'):
            declared = read_composition(text.format(neighbors) + more)
            upper = account(declared, epsilon="0.7").point.upper
            assert float(upper or 0) == pytest.approx(gaussian(mu, 0.7), rel=1e-6)
            again = read_composition(write_composition(declared))
            assert (again.composition, again.neighbors) == (declared.composition, declared.neighbors)


def test_python_asks_for_the_unit_and_old_guarantees_keep_theirs() -> None:
    plain = make_event("gaussian", {"noise_multiplier": 2})
    for asked in (plain, Composition("x", (plain,))):
        with pytest.raises(InvalidArgument, match='draw_batches\\("none", "replace-one"\\)'):
            curve_of(asked, neighbors="replace-one")
    old = point_of_curve(declare_events(Composition("x", (plain,)), neighbors="replace-one"), at_epsilon="0.7")
    assert any("changes what each noise is added to by at most 1" in item.sentence for item in old.hypotheses)
    assert float(old.bound.delta) == pytest.approx(gaussian(0.5, 0.7), rel=1e-6)
    again = replay(read_guarantee(write_guarantee(old)))
    assert (again.bound, again.protection) == (old.bound, old.protection)
    with pytest.raises(PDPError, match="cannot be written"):
        write_composition(curve_of(declare_events(Composition("x", (plain,)), neighbors="replace-one")).declared)


def test_no_way_into_a_curve_counts_noise_on_all_records_without_saying_what_in() -> None:
    """Beside batches of replaced records, and in declared events: ε would be of twice the noise that was meant."""
    plain, replaced = make_event("gaussian", {"noise_multiplier": 2}), drawn("none", "replace-one", 2)
    mixed = Composition("x", (plain, replaced))
    for neighbors in (None, Neighbors.REPLACE_ONE):
        asked = DeclaredEvents(mixed, Unit.RECORD, neighbors, ())
        with pytest.raises(InvalidArgument, match='draw_batches\\("none", "replace-one"\\)'):
            curve_of(mixed, neighbors=neighbors)
        with pytest.raises(InvalidArgument, match='draw_batches\\("none", "replace-one"\\)'):
            curve_of(asked)
        with pytest.raises(InvalidArgument, match='draw_batches\\("none", "replace-one"\\)'):
            account(asked, delta="1e-5")
    given = DeclaredEvents(Composition("x", (plain,)), Unit.RECORD, Neighbors.REPLACE_ONE, ())
    with pytest.raises(InvalidArgument, match='draw_batches\\("none", "replace-one"\\)'):
        find_least_noise(given, 1, "1e-5")
    with pytest.raises(InvalidArgument, match='draw_batches\\("none", "replace-one"\\)'):
        find_most_uses(given, 9, "1e-5")
    twice = curve_of(Composition("x", (replaced, replaced))).delta("0.7").upper
    assert float(twice or 0) == pytest.approx(gaussian(sqrt(2), 0.7), rel=1e-6)


def test_a_change_of_neighbors_and_batches_of_them_agree() -> None:
    """Two ways to a replaced record: the group of two of an unsampled event, and the event that says its neighbors."""
    one = declare_events(Composition("x", (make_event("gaussian", {"noise_multiplier": 2}, count=3),)))
    changed = point_of_curve(change_neighbors(one, "replace-one"), at_epsilon="0.7").bound.delta
    event = make_event("gaussian", {"noise_multiplier": 2}, count=3, batches=draw_batches("none", "replace-one"))
    assert point_of_curve(declare_events(Composition("x", (event,))), at_epsilon="0.7").bound.delta == changed
    assert float(changed) == pytest.approx(gaussian(sqrt(3), 0.7), rel=1e-6)


def test_the_ledger_charges_a_replaced_record_by_twice_the_norm() -> None:
    plain, replaced = make_event("gaussian", {"noise_multiplier": 2}, count=3), drawn("none", "replace-one", 2, 3)
    assert (_square_of_event(plain), _square_of_event(replaced)) == (Fraction(3, 4), Fraction(3))
    spent = _spend_on(replaced, None)
    assert spent is not None
    assert spent.square == 3
    for how in ("fixed-size", "poisson", "shuffle"):
        assert _square_of_event(drawn(how, "replace-one")) is None
        assert _spend_on(drawn(how, "replace-one"), None) is None
        step = make_event("gaussian", {"noise_multiplier": 1}, sampling_probability="1/2", count=9)  # more of a Poisson sample, less noise
        assert _spend_on(make_event("gaussian", {"noise_multiplier": 2}, sampling_probability="1/10"), (step,)) is not None
        assert _spend_on(drawn(how, "add-remove", 2), (step,)) is None
        with pytest.raises(InvalidArgument, match="noise on Poisson samples"):
            to_menu([drawn(how, "add-remove")])


@pytest.mark.parametrize("how", [how for how in _SCHEMES if how not in ("none", "random-allocation")])
def test_rules_that_know_nothing_of_batches_refuse_them(how: str) -> None:
    made = declare_events(Composition("x", (drawn(how, "add-remove"),)))
    with pytest.raises(InvalidArgument, match="batches of a law of their own"):
        change_neighbors(made, "replace-one")
    with pytest.raises(InvalidArgument, match="batches of a law of their own"):
        change_neighbors(made, "zero-out")
    with pytest.raises(InvalidArgument):
        subsample(made, "1/2")


def test_pure_losses_keep_theirs() -> None:
    """An ε holds between the data sets that it is said of, whatever noise is counted in."""
    told = make_event("pure", {"epsilon": 1})
    bound = point_of_curve(declare_events(Composition("x", (told,)), neighbors="replace-one"), at_epsilon="0.7").bound
    assert float(bound.delta) == pytest.approx((exp(1) - exp(0.7)) / (1 + exp(1)), rel=1e-6)
