"""The accountant of Flower's strategies: rounds of a strategy with one argument more, its state, and its refusals, against ``account``."""

from __future__ import annotations

import json
import math

import pytest

pytest.importorskip("flwr")

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import (
    DifferentialPrivacyClientSideFixedClipping,
    DifferentialPrivacyServerSideFixedClipping,
    FedAvg,
)
from flwr.supercore.privacy_accounting import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, SamplingMethod
from flwr.supercore.task_identity import TaskIdentity

from accountant.curves import Composition, account, make_event
from accountant.interop.carriers import carry, list_lost, take
from accountant.interop.flower import FlowerAccountant
from profiles import InvalidArgument

pytestmark = pytest.mark.filterwarnings("default")  # Flower's own
CLIENTS, ROUND = 10, 4
RELEASE = GaussianPrivacyEvent(noise_multiplier=4.0, sample_size=ROUND, population_size=CLIENTS)


def configure(sampling=SamplingMethod.NO_AMPLIFICATION, relation=NeighboringRelation.ADD_OR_REMOVE_ONE, **more):
    return PrivacyConfig(target_delta=1e-5, population_size=CLIENTS, neighboring_relation=relation, sampling_method=sampling, **more)


def upper(noise, count, rate=1):
    event = make_event("gaussian", {"noise_multiplier": noise}, sampling_probability=rate, count=count)
    return account(Composition("the same releases", (event,)), delta=1e-5).point


@pytest.fixture(autouse=True)
def as_in_a_run(monkeypatch):
    """Messages of Flower belong to a run."""
    monkeypatch.setattr(TaskIdentity, "_run_id", 1)
    monkeypatch.setattr(TaskIdentity, "_node_id", 1)
    monkeypatch.setattr(TaskIdentity, "_task_id", 1)


class Clients:
    """A grid with so many clients and no network."""

    def get_node_ids(self):
        return list(range(1, CLIENTS + 1))


def run_round(strategy, number, weights=None):
    arrays = ArrayRecord({"w": Array(np.zeros(3))})
    messages = list(strategy.configure_train(number, arrays, ConfigRecord(), Clients()))
    replies = []
    for place, message in enumerate(messages):
        metrics = MetricRecord({"num-examples": 1 if weights is None else weights[place], "loss": 0.5})
        content = RecordDict({"arrays": ArrayRecord({"w": Array(np.full(3, float(place + 1)))}), "metrics": metrics})
        replies.append(Message(content, reply_to=message))
    return strategy.aggregate_train(number, replies)


def strategy_of(kind, accountant):
    inner = FedAvg(fraction_train=ROUND / CLIENTS, min_train_nodes=ROUND, min_available_nodes=CLIENTS)
    return kind(inner, noise_multiplier=4.0, clipping_norm=1.0, num_sampled_clients=ROUND, accountant=accountant)


@pytest.mark.parametrize("kind", [DifferentialPrivacyServerSideFixedClipping, DifferentialPrivacyClientSideFixedClipping])
def test_rounds_of_a_strategy_are_counted_with_the_noise_that_a_client_in_place_of_another_sees(kind):
    accountant = FlowerAccountant(configure())
    strategy = strategy_of(kind, accountant)
    for number in (1, 2, 3):
        arrays, _ = run_round(strategy, number)
        assert arrays is not None
    assert accountant.num_releases == 3
    spent, truth = strategy.privacy_spent(), upper(2, 3)
    assert truth.lower <= spent.epsilon <= float(truth.upper) * 1.002
    assert (spent.num_releases, spent.accounting_method) == (3, "pdp")
    told = accountant.guarantee()
    assert told.unit.word == "user"
    assert {"declared-events", "hypotheses-unknown", "sensitivity-one"} <= {item.id for item in told.hypotheses}
    assert set(accountant.hypotheses) <= {item.sentence for item in told.hypotheses}


def test_two_clients_are_told_apart_by_twice_the_norm_over_n():
    """The largest difference of two means of n clipped updates, one of which is another client's: 2 C/n, and the noise is z C/n."""
    updates = np.array([[1.0, 0, 0], [0.3, 0.4, 0], [0, 0, 1.0]])
    other = np.vstack([-updates[:1], updates[1:]])
    assert np.linalg.norm(updates.mean(0) - other.mean(0)) == pytest.approx(2 / 3)


def test_a_budget_stops_the_round_before_it_is_run():
    most = float(upper(2, 2).upper) * 1.01
    strategy = strategy_of(DifferentialPrivacyServerSideFixedClipping, FlowerAccountant(configure(max_epsilon=most)))
    run_round(strategy, 1)
    run_round(strategy, 2)
    with pytest.raises(PrivacyBudgetExhausted):
        run_round(strategy, 3)
    assert strategy.accountant.num_releases == 2


def test_weighted_averages_are_refused_by_the_strategy():
    strategy = strategy_of(DifferentialPrivacyServerSideFixedClipping, FlowerAccountant(configure()))
    with pytest.raises(ValueError, match="equal client weights"):
        run_round(strategy, 1, weights=[1, 2, 3, 4])
    assert strategy.accountant.num_releases == 0


def test_clients_that_send_nothing_see_all_of_the_noise_and_poisson_samples_their_rate():
    zero_out, poisson = FlowerAccountant(configure(), neighbors="zero-out"), FlowerAccountant(configure(SamplingMethod.POISSON))
    for made, truth in ((zero_out, upper(4, 5)), (poisson, upper(4, 5, "2/5"))):
        made.compose(RELEASE, 5)
        assert truth.lower <= made.get_epsilon(1e-5) <= float(truth.upper) * 1.002
        assert made.get_delta(float(truth.upper) * 1.01) <= 1e-5


def test_states_are_taken_up_again():
    first = FlowerAccountant(configure())
    assert (first.get_epsilon(1e-5), first.get_delta(1.0), first.hypotheses, first.num_releases) == (0, 0, (), 0)
    first.compose(RELEASE, 2)
    second = FlowerAccountant(configure())
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert second.get_epsilon(1e-5) == first.get_epsilon(1e-5)
    second.compose(RELEASE)
    assert second.num_releases == 3
    for wrong in (
        {},
        {"backend": "rdp"},
        first.state_dict() | {"neighbors": "zero-out"},
        first.state_dict() | {"releases": [{"count": 1}]},
        3,
    ):
        with pytest.raises(InvalidArgument):
            second.load_state_dict(wrong)
    assert second.num_releases == 3


def test_what_is_not_accounted_for_is_refused():
    without = configure(SamplingMethod.WITHOUT_REPLACEMENT, NeighboringRelation.REPLACE_ONE)
    for act in (lambda: FlowerAccountant(without), lambda: FlowerAccountant(None), lambda: FlowerAccountant(configure(), neighbors="all")):
        with pytest.raises(InvalidArgument, match=";"):
            act()
    made = FlowerAccountant(configure())
    other = GaussianPrivacyEvent(noise_multiplier=1.0, sample_size=2, population_size=99)
    for event, count in ((other, 1), (RELEASE, 0), (RELEASE, 1.5), (None, 1)):
        with pytest.raises(InvalidArgument):
            made.compose(event, count)
    with pytest.raises(InvalidArgument, match="limit"):
        made.would_exceed(RELEASE)
    assert made.num_releases == 0
    assert not made.would_exceed(RELEASE, 100.0)
    assert made.would_exceed(RELEASE, 0.01)
    assert math.isfinite(made.get_epsilon(1e-5))


@pytest.mark.parametrize("neighbors", ["add-remove", "zero-out", "replace-one"])
def test_nothing_is_lost_of_the_rounds_in_the_carriers_that_have_room_for_users(neighbors):
    made = FlowerAccountant(configure(), neighbors=neighbors, hypotheses=("clients are people",))
    made.compose(RELEASE, 3)
    for before, carriers in ((made.curve.guarantee, ("pdp-guarantee", "composition file")), (made.guarantee(), ("pdp-guarantee",))):
        for name in carriers:
            after = take(carry(before, name), out_of=name)
            assert list_lost(before, after) == ()
            assert after.protection == before.protection
            assert after.bound == before.bound
            assert "clients are people" in {item.sentence for item in after.hypotheses}
