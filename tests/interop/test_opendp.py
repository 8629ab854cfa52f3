"""Guarantees as measurements of OpenDP (extra opendp; make test-interop)."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

dp = pytest.importorskip("opendp.prelude", exc_type=ImportError)

from accountant import derive_epsilon  # noqa: E402
from accountant.guarantees import AnyGuarantee, settle  # noqa: E402
from accountant.interop import opendp as interop  # noqa: E402
from accountant.interop import read_guarantee, replay, write_guarantee  # noqa: E402
from accountant.onesided import compose_directions, declare_add_dp, declare_directions  # noqa: E402
from profiles import InvalidArgument, OpenHypotheses, declare  # noqa: E402
from tests.premises import say  # noqa: E402


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


def losses(plus: object, minus: object | None, delta: object = 0, hypotheses: tuple[str, ...] = ()) -> AnyGuarantee:
    """A guarantee with these losses and open hypotheses: what every declared mechanism supposes is discharged."""
    made = declare_directions("m", plus, minus, source="a proof", hypotheses=hypotheses, delta_plus=delta, delta_minus=delta)
    return settle(made, {item: "for a test" for item in made.hypotheses if item.sentence not in hypotheses})


def domain() -> Any:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False))


def make_measurement(guarantee: AnyGuarantee, function: Any, *places: Any, **options: Any) -> Any:
    return interop.plan_measurement(guarantee, function, **options).make(*places)


def test_a_certified_bound_is_a_measurement() -> None:
    found = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}, source="s"), rule="uniform", constants={"rate": "1/3"})
    with pytest.raises(OpenHypotheses):
        make_measurement(found.guarantee, count_rows, domain())
    made = make_measurement(found.guarantee, count_rows, domain(), accept_hypotheses=True)
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
        make_measurement(declare_add_dp("m", 1, source="s", hypotheses=()), count_rows, domain())
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
    ours = compose_directions("two", [losses("0.3", "0.3"), losses("0.5", "0.5")])  # sensitivity 1, scale 2
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
    plan = interop.plan_measurement(losses(1, 1), count_rows)
    atom = dp.atom_domain(T=float, nan=False)
    for wrong in (atom, dp.option_domain(dp.atom_domain(T=int)), dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))):
        with pytest.raises(InvalidArgument, match="data sets of records"):
            plan.make(wrong)
    assert plan.make(dp.vector_domain(atom, size=3)).map(2) == 2.0


def test_metrics_other_than_add_and_remove_are_refused() -> None:
    plan = interop.plan_measurement(losses(1, 1), count_rows)
    assert plan.make(domain(), dp.insert_delete_distance()).map(1) == 1.0
    for metric in (dp.change_one_distance(), dp.hamming_distance()):
        with pytest.raises(InvalidArgument, match="added or removed"):
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
    assert interop.plan_measurement(guarantee, Holder.count).make(domain())([1.0]) == 1.0
    assert interop.plan_measurement(guarantee, f"{__name__}:Holder.count").function == f"{__name__}:Holder.count"

    def inside(data: list[float]) -> float:
        return 0.0 * len(data)

    for wrong in (lambda data: data, inside, "nowhere:f", f"{__name__}:nothing", "no name", f"{__name__}:__doc__", pickle.dumps(1)):
        with pytest.raises(InvalidArgument):
            interop.plan_measurement(guarantee, wrong)  # type: ignore[arg-type]


def test_opendp_asks_for_its_features() -> None:
    dp.disable_features("honest-but-curious")
    with pytest.raises(dp.OpenDPException if hasattr(dp, "OpenDPException") else Exception, match="honest-but-curious"):
        make_measurement(losses(1, 1), count_rows, domain())
