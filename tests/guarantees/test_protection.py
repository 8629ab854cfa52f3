"""Units and neighbors: nothing combines different ones, conversions are what enumeration gives, hypotheses name the unit."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import compose, declare
from accountant.curves import Composition, curve_of, make_event
from accountant.guarantees import (
    CurveBound,
    Guarantee,
    Losses,
    Neighbors,
    Unit,
    base_profile,
    change_neighbors,
    declare_add_dp,
    declare_directions,
    declare_events,
    discharge,
    group,
    point_of_curve,
    post_processing,
    realise_draws,
    subsample,
)
from accountant.guarantees.statements import RULES
from profiles import InvalidArgument
from profiles.hypotheses import INDEPENDENT, SECURE_BITS, restore
from profiles.protection import RECORDS, USERS, Protection, read_protection


def _ids(guarantee: Guarantee) -> set[str]:
    return {item.id for item in guarantee.hypotheses}


# --- a unit is never taken for another --------------------------------------------------------------------------------------------------


def test_a_sample_of_users_is_drawn_by_a_coin_for_each_user() -> None:
    """Randomised response on "has the user a row in the sample", 50 rows: a coin for each row loses 0.9967, where 0.1586 was printed."""
    users = declare_directions("has the user a row in the sample", 1, 1, source="Warner 1965", unit=Unit.USER)
    sampled = subsample(users, "0.1")
    said = [item.sentence for item in sampled.hypotheses if item.id == INDEPENDENT.id]
    assert said == [
        "each user is selected by a coin of its own, with all of its records or none, independently and with probability exactly q"
    ]
    kept = 1 - 0.9**50
    yes, no = math.e / (1 + math.e), 1 / (1 + math.e)
    by_rows = math.log((kept * yes + (1 - kept) * no) / no)
    assert by_rows > 0.99 > float(sampled.bound.upper)
    assert INDEPENDENT not in realise_draws(sampled, SECURE_BITS).hypotheses
    assert restore("independent-draws", said[0], INDEPENDENT.head.value) in sampled.hypotheses


@pytest.mark.parametrize("unit", ["user", "event", "user-period"])
def test_units_are_not_mixed(unit: str) -> None:
    one, other = (declare_directions("a", 1, 1, source="s", unit=name) for name in ("record", unit))
    for pair in ((one, other), (other, one)):
        with pytest.raises(InvalidArgument, match="different units"):
            compose(*pair)


def test_neighbors_are_not_mixed() -> None:
    kinds = [declare_directions("a", 1, 1, source="s", neighbors=item) for item in Neighbors]
    for pair in itertools.permutations(kinds, 2):
        with pytest.raises(InvalidArgument, match="different neighbors"):
            compose(*pair)
    assert compose(kinds[1], kinds[1]).bound == Losses(Fraction(2), Fraction(2))


@pytest.mark.parametrize("neighbors", ["replace-one", "zero-out"])
def test_poisson_sampling_is_for_a_unit_more_or_less(neighbors: str) -> None:
    losses = declare_directions("survey", 1, 1, source="s", neighbors=neighbors)
    for found in (losses, curve_of(losses).guarantee):
        with pytest.raises(InvalidArgument, match="holds for neighbors add-remove"):
            subsample(found, "0.01")
    events = Composition("tool", (make_event("pure", {"epsilon": 1}, sampling_probability="0.01"),))
    with pytest.raises(InvalidArgument, match="Poisson samples"):
        declare_events(events, neighbors=neighbors)


def test_what_is_told_without_its_neighbors_says_so() -> None:
    told = {
        "pure": {"epsilon": 1},
        "approximate": {"epsilon": 1, "delta": "1e-6"},
        "zcdp": {"rho": "0.1"},
        "randomized-response": {"epsilon": 1},
    }
    for kind, numbers in told.items():
        composition = Composition("tool", (make_event(kind, numbers),))
        assert "neighbors-assumed" in _ids(declare_events(composition))
        for neighbors in Neighbors:
            stated = declare_events(composition, neighbors=neighbors)
            assert "neighbors-assumed" not in _ids(stated)
            assert stated.protection == Protection(Unit.RECORD, neighbors)
    noise = declare_events(Composition("noise", (make_event("gaussian", {"noise_multiplier": 1}),)), neighbors="replace-one")
    (said,) = [item.sentence for item in noise.hypotheses if item.id == "sensitivity-one"]
    assert said.startswith("one record in place of another changes what each noise is added to by at most 1")
    assert point_of_curve(noise, at_delta="1e-5").bound.is_symmetric


def test_neighbors_without_a_direction_have_one_number() -> None:
    with pytest.raises(InvalidArgument, match="has no direction"):
        declare_directions("survey", 1, 2, source="s", neighbors="replace-one")
    with pytest.raises(InvalidArgument, match='says neighbors = "add-remove" or'):
        declare_directions("survey", 1, 1, source="s", neighbors="swap")
    with pytest.raises(InvalidArgument, match='says unit = "record" or'):
        declare_directions("survey", 1, 1, source="s", unit="household")


def test_every_rule_says_for_which_neighbors_it_holds() -> None:
    for name, basis in RULES.items():
        assert basis.neighbors, name
        if "Poisson" in name or "sampling" in name:
            assert basis.neighbors == (Neighbors.ADD_REMOVE,), name


def test_post_processing_keeps_the_protection() -> None:
    for neighbors in Neighbors:
        made = declare_directions("a", 1, 1, source="s", unit="user", neighbors=neighbors)
        assert post_processing(made, "rounding").protection == made.protection == read_protection("user", neighbors)


# --- conversions, against all pairs of laws -----------------------------------------------------------------------------------------------

_LAWS = st.lists(st.integers(1, 12), min_size=3, max_size=3).map(lambda ws: [Fraction(w, sum(ws)) for w in ws])


def _delta(left: list[Fraction], right: list[Fraction], epsilon: float) -> float:
    return sum(max(0.0, float(p) - math.exp(epsilon) * float(q)) for p, q in zip(left, right, strict=True))


def _loss(left: list[Fraction], right: list[Fraction]) -> Fraction:
    """A rational number at or above the largest log ratio."""
    return Fraction(math.log(max(p / q for p, q in zip(left, right, strict=True)))) + Fraction(1, 10**9)


@settings(max_examples=200, deadline=None)
@given(st.lists(_LAWS, min_size=2, max_size=5), st.fractions(0, 1, max_denominator=20))
def test_groups_of_any_chain_of_laws_are_bounded(laws: list[list[Fraction]], share: Fraction) -> None:
    """Laws with 0, 1, ..., k records; the losses of one step, at an ε that may be too small for pure privacy, give those of all k."""
    pairs = list(itertools.pairwise(laws))
    going = max(_loss(more, less) for less, more in pairs) * share
    coming = max(_loss(less, more) for less, more in pairs) * share
    going, coming = max(going, Fraction(0)), max(coming, Fraction(0))
    deltas = [
        Fraction(max(_delta(more, less, float(going)) for less, more in pairs)) + Fraction(1, 10**9),
        Fraction(max(_delta(less, more, float(coming)) for less, more in pairs)) + Fraction(1, 10**9),
    ]
    one = declare_directions("chain", going, coming, source="s", delta_remove=min(deltas[0], 1), delta_add=min(deltas[1], 1))
    found = group(one, len(pairs)).bound
    assert _delta(laws[-1], laws[0], float(found.remove)) <= float(found.delta_remove) + 1e-12
    assert _delta(laws[0], laws[-1], float(found.add)) <= float(found.delta_add) + 1e-12


@settings(max_examples=200, deadline=None)
@given(_LAWS, _LAWS, _LAWS, st.fractions(0, 1, max_denominator=20))
def test_an_exchange_is_bounded_by_going_and_coming(
    without: list[Fraction], one: list[Fraction], other: list[Fraction], share: Fraction
) -> None:
    going = max(max(_loss(law, without) for law in (one, other)) * share, Fraction(0))
    coming = max(max(_loss(without, law) for law in (one, other)) * share, Fraction(0))
    deltas = [
        min(Fraction(1), Fraction(max(_delta(law, without, float(going)) for law in (one, other))) + Fraction(1, 10**9)),
        min(Fraction(1), Fraction(max(_delta(without, law, float(coming)) for law in (one, other))) + Fraction(1, 10**9)),
    ]
    declared = declare_directions("mechanism", going, coming, source="s", delta_remove=deltas[0], delta_add=deltas[1])
    found = change_neighbors(declared, "replace-one").bound
    for left, right in ((one, other), (other, one)):  # only the way through `without` is bounded here
        most = declared.bound.delta_remove + Fraction(math.exp(going)) * declared.bound.delta_add
        assert _delta(left, right, float(going + coming)) <= float(most) + 1e-9
    assert found.remove == going + coming
    assert float(found.delta_remove) <= float(most) + 1e-9


def test_groups_of_curves() -> None:
    noise = curve_of(Composition("noise", (make_event("gaussian", {"noise_multiplier": 4}, count=9),))).guarantee
    found = group(noise, 2)
    assert found.protection == USERS
    assert isinstance(found.bound, CurveBound)
    assert found.bound.composition.events == (make_event("gaussian", {"noise_multiplier": 2}, count=9),)
    assert {"at-most-records", "one-user"} <= _ids(found)
    assert "one-record-each" not in _ids(found)
    assert "one-record-each" in {item.hypothesis.id for item in found.discharged}
    laplace = group(declare_events(Composition("n", (make_event("laplace", {"scale": 3}),))), 3)
    assert laplace.bound.composition.events == (make_event("laplace", {"scale": 1}),)  # type: ignore[union-attr]
    several = group(declare_events(Composition("n", (make_event("laplace", {"scale": 3}, count=2),))), 3)
    assert several.bound.composition.events == (make_event("pure", {"epsilon": 2}),)  # type: ignore[union-attr]
    for event in (make_event("zcdp", {"rho": 1}), make_event("gaussian", {"noise_multiplier": 1}, sampling_probability="1/2")):
        for convert in (lambda made: group(made, 2), lambda made: change_neighbors(made, "replace-one")):
            with pytest.raises(InvalidArgument, match="take a point of the curve first"):
                convert(declare_events(Composition("n", (event,))))


def test_what_cannot_be_converted_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="unbounded"):
        change_neighbors(declare_add_dp("one way", 1, source="s"), "replace-one")
    with pytest.raises(InvalidArgument, match="take its worst case first"):
        group(base_profile(declare("sum", "w*z", record={"z": [0, 1]})), 2)
    with pytest.raises(InvalidArgument, match="start with one for records"):
        group(declare_directions("a", 1, 1, source="s", unit="user"), 2)
    for size in (0, -1, "x", 2.5):
        with pytest.raises(InvalidArgument):
            group(declare_directions("a", 1, 1, source="s"), size)
    same = declare_directions("a", 1, 1, source="s")
    assert change_neighbors(same, RECORDS.neighbors) is same


def test_an_empty_record_is_a_hypothesis() -> None:
    replaced = declare_directions("survey", 1, 1, source="s", neighbors="replace-one")
    found = change_neighbors(replaced, "add-remove")
    assert found.bound == replaced.bound
    assert "null-record" in _ids(found) - _ids(replaced)
    assert _ids(replaced) <= _ids(found)


def test_an_exchange_through_empty_records_has_no_way_through_both() -> None:
    """Laws with ⊥, x and y in the place of one record: the losses hold between ⊥ and each, and δ(log 2) of x against y is 0.2."""
    empty, one, other = ([Fraction(share, 10) for share in law] for law in ((1, 9), (2, 8), (0, 10)))
    going = Fraction(math.log(2)) + Fraction(1, 10**12)
    for record in (one, other):
        assert _delta(record, empty, float(going)) <= 1e-9
        assert _delta(empty, record, 0.0) <= 0.1 + 1e-9
    found = change_neighbors(declare_directions("m", going, 0, source="p", delta_add="0.1", neighbors="zero-out"), "replace-one").bound
    assert isinstance(found, Losses)
    assert _delta(one, other, float(going)) > 0.19
    assert _delta(one, other, float(found.remove)) <= float(found.delta_remove) < 0.2 + 1e-9


def test_exchanges_say_nothing_of_users_with_different_numbers_of_records() -> None:
    """The number of rows, published as it is, has ε = 0 where one row is replaced by another."""
    rows = declare_directions("number of rows", 0, 0, source="publishes n", neighbors="replace-one", hypotheses=())
    with pytest.raises(InvalidArgument, match="holds for neighbors add-remove and zero-out"):
        group(rows, 3)
    users = change_neighbors(group(declare_directions("sum", 1, 1, source="s", neighbors="zero-out"), 3), "add-remove")
    (said,) = [item.sentence for item in users.hypotheses if item.id == "null-record"]
    assert said.startswith("there is an empty user, one of those that the neighbors compare")


def test_words_about_one_sample_say_nothing_of_two() -> None:
    """Each of two guarantees says in words that its sample had one analysis: they may have been analyses of one sample."""
    sampled = subsample(declare_directions("answer", 1, 1, source="x"), "0.1")
    (one,) = [item for item in sampled.hypotheses if item.id == "one-analysis"]
    told = discharge(sampled, one, "the sample is used for this alone")
    assert "fresh-samples" in _ids(compose(told, told))
    assert "fresh-samples" in _ids(compose(told, declare_directions("b", 1, 1, source="x"), sampled))
    assert "fresh-samples" not in _ids(compose(told, declare_directions("b", 1, 1, source="x")))


@pytest.mark.thorough
@pytest.mark.parametrize("make", ["declare_directions('m', 1, 1, source='x')", "group(declare_directions('m', 1, 1, source='x'), 2)"])
def test_files_are_read_in_a_process_that_has_used_no_rule(make: str, tmp_path: Path) -> None:
    path = tmp_path / "guarantee.json"
    written = f"from accountant.guarantees import *; from accountant.interop import write_guarantee; print(write_guarantee({make}))"
    path.write_text(subprocess.run([sys.executable, "-c", written], capture_output=True, text=True, check=True).stdout, encoding="utf-8")
    read = "import sys; from pathlib import Path; from accountant.interop import read_guarantee, replay; "
    read += "print(replay(read_guarantee(Path(sys.argv[1]).read_text())).bound.epsilon)"
    done = subprocess.run([sys.executable, "-c", read, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == ("2" if "group" in make else "1"), done.stderr
    for command in ("check", "compose"):
        done = subprocess.run([sys.executable, "-m", "accountant.cli", command, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    whole = json.loads(path.read_text(encoding="utf-8"))
    whole["protection"]["neighbors"] = "replace-one"
    path.write_text(json.dumps(whole), encoding="utf-8")
    for command in ("check", "compose"):
        done = subprocess.run([sys.executable, "-m", "accountant.cli", command, str(path)], capture_output=True, check=False)
        assert done.returncode == 1
