"""Guarantees as measurements of OpenDP (extra opendp; make test-interop)."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

dp = pytest.importorskip("opendp.prelude", exc_type=ImportError)

from accountant import derive_epsilon  # noqa: E402
from accountant.guarantees import Guarantee  # noqa: E402
from accountant.guarantees.combining import compose_parts  # noqa: E402
from accountant.interop import opendp as interop  # noqa: E402
from accountant.interop import read_guarantee, replay, write_guarantee  # noqa: E402
from accountant.onesided import declare_add_dp, declare_directions  # noqa: E402
from profiles import InvalidArgument, OpenHypotheses, declare  # noqa: E402
from profiles.protection import RECORDS  # noqa: E402
from tests.hypotheses import say  # noqa: E402


def count_rows(data: list[float]) -> float:
    """A function that stands for a mechanism; it is not private, and the tests only run it."""
    return float(len(data))


class Holder:
    """A place for a function that has a name with a dot."""

    @staticmethod
    def count(data: list[float]) -> float:
        return float(len(data))


@pytest.fixture(autouse=True)
def features() -> Iterator[None]:
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("honest-but-curious")


def losses(remove: object, add: object | None, delta: object = 0, hypotheses: tuple[str, ...] = (), **protection: str) -> Guarantee:
    """A guarantee with these losses, and the hypotheses of every declared mechanism."""
    return declare_directions("m", remove, add, source="a proof", hypotheses=hypotheses, delta_remove=delta, delta_add=delta, **protection)  # type: ignore[arg-type]


def domain() -> Any:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False))


def make_measurement(guarantee: Guarantee, function: Any, *places: Any) -> Any:
    return interop.plan_measurement(guarantee, function, accept_hypotheses=True).make(*places)


def test_a_certified_bound_is_a_measurement() -> None:
    found = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}, source="s"), rule="uniform", constants={"rate": "1/3"})
    with pytest.raises(OpenHypotheses):
        interop.plan_measurement(found.guarantee, count_rows)
    made = make_measurement(found.guarantee, count_rows, domain())
    assert made([1.0, 2.0]) == 2.0
    assert made.output_measure == dp.max_divergence()
    assert made.input_metric == dp.symmetric_distance()
    assert made.pdp_plan.hypotheses == tuple(say(found.guarantee.hypotheses))
    for distance in (0, 1, 2, 7, 2**32 - 1):
        spent = made.map(distance)
        assert Fraction(spent) >= distance * found.bound.upper
        assert Fraction(spent) <= distance * found.bound.upper * (1 + Fraction(1, 2**52))


@pytest.mark.parametrize("epsilon", ["1/3", "0.1", "1e-9", "2/3", "7", "0"])
def test_the_privacy_map_rounds_up(epsilon: str) -> None:
    made = make_measurement(losses(epsilon, "0"), count_rows, domain())
    for distance in range(50):
        exact = distance * Fraction(epsilon)
        assert exact <= Fraction(made.map(distance)) <= exact * (1 + Fraction(1, 2**52))


def test_the_larger_direction_counts() -> None:
    assert make_measurement(losses("0.25", "0.5"), count_rows, domain()).map(2) == 1.0
    assert make_measurement(losses("0.5", "0.25"), count_rows, domain()).map(2) == 1.0
    one_sided = losses(1, None)
    with pytest.raises(OpenHypotheses):
        interop.plan_measurement(declare_add_dp("m", 1, source="s", hypotheses=()), count_rows)
    with pytest.raises(InvalidArgument, match="one-sided"):
        make_measurement(one_sided, count_rows, domain())


def test_deltas_grow_with_the_group() -> None:
    made = make_measurement(losses("1/2", "1/2", Fraction(1, 2**20)), count_rows, domain())
    assert made.output_measure == dp.approximate(dp.max_divergence())
    epsilon, delta = made.map(1)
    assert (epsilon, delta) == (0.5, 2.0**-20)
    epsilon, delta = made.map(3)
    chain = 2.0**-20 * (1 + 2.718281828459045**0.5 + 2.718281828459045)  # each step of the chain pays for those before it
    assert epsilon == 1.5
    assert delta == pytest.approx(chain, rel=1e-12)
    assert made.map(100)[1] == 1.0
    assert make_measurement(losses(0, 0, "0.25"), count_rows, domain()).map(3) == (0.0, 0.75)
    assert made.map(0) == (0.0, 0.0)


def test_it_composes_with_a_laplace_mechanism_of_opendp() -> None:
    certified = make_measurement(losses("0.3", "0.3"), count_rows, domain())
    space = domain(), dp.symmetric_distance()
    laplace = space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=2.0)
    both = dp.c.make_composition([certified, laplace])
    assert len(both([1.0, 0.5])) == 2
    for distance in (1, 5):
        total = certified.map(distance) + laplace.map(distance)
        assert total <= both.map(distance) <= total * (1 + 1e-12)
    ours = compose_parts("two", [losses("0.3", "0.3"), losses("0.5", "0.5")])  # sensitivity 1, scale 2
    assert both.map(1) >= ours.bound.epsilon  # type: ignore[union-attr, operator]
    assert both.map(1) == pytest.approx(0.8, rel=1e-7)  # OpenDP adds 5e-9 for the noise that it really draws
    assert both.check(1, 0.8 + 1e-6)
    assert not both.check(1, 0.8 - 1e-6)


def test_a_privacy_map_is_for_numbers_of_records() -> None:
    for delta in (Fraction(0), Fraction(1, 10**6)):
        loss = interop.PrivacyMap(Fraction(1, 3), delta)
        for wrong in (-1, True, 1.5, Fraction(1, 2), "1", None, float("nan")):
            with pytest.raises(InvalidArgument, match="number of records"):
                loss(wrong)  # type: ignore[arg-type]
    for epsilon, probability in ((Fraction(-1), Fraction(0)), (Fraction(1), Fraction(-1)), (Fraction(1), Fraction(2)), (0.5, Fraction(0))):
        with pytest.raises(InvalidArgument, match="fractions"):
            interop.PrivacyMap(epsilon, probability)  # type: ignore[arg-type]


def test_domains_without_records_are_refused() -> None:
    plan = interop.plan_measurement(losses(1, 1), count_rows, accept_hypotheses=True)
    atom = dp.atom_domain(T=float, nan=False)
    for wrong in (atom, dp.option_domain(dp.atom_domain(T=int)), dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))):
        with pytest.raises(InvalidArgument, match="data sets of records"):
            plan.make(wrong)
    assert plan.make(dp.vector_domain(atom, size=3)).map(2) == 2.0


def test_metrics_other_than_add_and_remove_are_refused() -> None:
    plan = interop.plan_measurement(losses(1, 1), count_rows, accept_hypotheses=True)
    assert plan.make(domain(), dp.insert_delete_distance()).map(1) == 1.0
    for metric in (dp.change_one_distance(), dp.hamming_distance()):
        with pytest.raises(InvalidArgument, match="one record is added or removed"):
            plan.make(domain(), metric)
    assert plan.make(dp.user_domain("records", lambda _: True)).map(2) == 2.0


def test_plans_are_pickled_and_stored() -> None:
    plan = interop.plan_measurement(losses("1/3", "1/3", hypotheses=("n is public",)), count_rows, accept_hypotheses=True)
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert again.make(domain()).map(2) == plan.make(domain()).map(2)
    assert again.make(domain())([1.0]) == 1.0
    stored = write_guarantee(losses("1/3", "1/3"))
    replayed = interop.plan_measurement(replay(read_guarantee(stored)), plan.function, accept_hypotheses=True)
    assert replayed.privacy_map == plan.privacy_map
    assert any("on the word of the file" in item for item in replayed.hypotheses)
    with pytest.raises(InvalidArgument):
        interop.plan_measurement(read_guarantee(stored), count_rows)  # type: ignore[arg-type]


def test_functions_must_be_found_again_by_their_name() -> None:
    guarantee = losses(1, 1)
    plan = partial(interop.plan_measurement, guarantee, accept_hypotheses=True)
    assert plan(Holder.count).make(domain())([1.0]) == 1.0
    assert plan(f"{__name__}:Holder.count").function == f"{__name__}:Holder.count"

    def inside(data: list[float]) -> float:
        return 0.0 * len(data)

    for wrong in (lambda data: data, inside, "nowhere:f", f"{__name__}:nothing", "no name", f"{__name__}:__doc__", pickle.dumps(1)):
        with pytest.raises(InvalidArgument):
            plan(wrong)  # type: ignore[arg-type]


def test_opendp_asks_for_its_features() -> None:
    dp.disable_features("honest-but-curious")
    with pytest.raises(dp.OpenDPException if hasattr(dp, "OpenDPException") else Exception, match="honest-but-curious"):
        make_measurement(losses(1, 1), count_rows, domain())


def test_a_replaced_record_has_the_metrics_of_replaced_records() -> None:
    plan = interop.plan_measurement(losses(1, 1, neighbors="replace-one"), count_rows, accept_hypotheses=True)
    assert plan.make(domain()).input_metric == dp.change_one_distance()
    assert plan.make(domain(), dp.hamming_distance()).map(3) == 3.0
    for metric in (dp.symmetric_distance(), dp.insert_delete_distance()):
        with pytest.raises(InvalidArgument, match=r"replaced by another.*change_one_distance"):
            plan.make(domain(), metric)
    for protection, said in (({"neighbors": "zero-out"}, "no distance"), ({"unit": "user"}, "one row")):
        with pytest.raises(InvalidArgument, match=said):
            interop.plan_measurement(losses(1, 1, **protection), count_rows, accept_hypotheses=True)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace-one"])
def test_what_goes_to_a_measurement_comes_back(neighbors: str) -> None:
    made = losses("1/3", "1/3", "1e-6", ("n is public",), neighbors=neighbors)
    back = interop.read_measurement(make_measurement(made, count_rows, domain()), name="m")
    assert back.protection == made.protection
    assert set(made.hypotheses) <= set(back.hypotheses)
    assert not [item for item in back.hypotheses if item.id == "hypotheses-unknown"]
    assert made.bound.upper <= back.bound.upper <= made.bound.upper * (1 + Fraction(1, 2**52))  # type: ignore[union-attr]
    assert made.bound.delta <= back.bound.delta  # type: ignore[union-attr]


def test_measurements_of_opendp_have_unknown_hypotheses_and_the_neighbors_of_their_metric() -> None:
    space = domain(), dp.symmetric_distance()
    total = space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum()
    laplace = interop.read_measurement(total >> dp.m.then_laplace(scale=2.0))
    assert Fraction(1, 2) <= laplace.bound.upper <= Fraction("0.5001")  # type: ignore[union-attr]
    gaussian = interop.read_measurement(total >> dp.m.then_gaussian(scale=2.0))
    assert Fraction(1, 8) <= gaussian.bound.composition.events[0]["rho"] <= Fraction("0.1251")  # type: ignore[union-attr]
    sized = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=5), dp.change_one_distance()
    replaced = interop.read_measurement(make_measurement(losses(1, 1, neighbors="replace-one"), count_rows, *sized))
    assert replaced.protection.neighbors.value == "replace-one"
    both = dp.c.make_composition([make_measurement(losses(1, 1), count_rows, domain()), total >> dp.m.then_laplace(scale=2.0)])
    for found in (laplace, gaussian, interop.read_measurement(both)):
        assert found.protection == RECORDS
        assert "hypotheses-unknown" in [item.id for item in found.hypotheses]
    told = interop.read_measurement(both, hypotheses=["the bounds are public"])
    assert "hypotheses-unknown" not in [item.id for item in told.hypotheses]
    number = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    smoothed = dp.c.make_zCDP_to_approxDP(total >> dp.m.then_gaussian(scale=2.0))
    for wrong, said in ((number, "AbsoluteDistance"), (smoothed, "SmoothedMaxDivergence"), (3, "type int")):
        with pytest.raises(InvalidArgument, match=said):
            interop.read_measurement(wrong)
    fixed = interop.read_measurement(dp.c.make_fix_delta(smoothed, 1e-6))
    assert fixed.bound.delta == Fraction(1e-6)  # type: ignore[union-attr]
