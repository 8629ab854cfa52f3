"""The accountant "pdp" in Opacus: its own example with one line changed, its searches and checkpoints, against ``account``."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

pytest.importorskip("opacus")

import torch
from opacus import PrivacyEngine
from opacus.accountants import create_accountant
from opacus.accountants.utils import get_noise_multiplier
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from accountant.curves import Composition, account, draw_batches, make_event
from accountant.interop.loaders import AllocatedBatches
from accountant.interop.opacus import OpacusAccountant
from profiles import InvalidArgument, InvalidNumber

DELTA = 1e-5
pytestmark = pytest.mark.filterwarnings("default")  # Opacus warns of its generator and of PyTorch's hooks


def _upper(history, delta=DELTA, gap="1e-3"):
    events = (make_event("gaussian", {"noise_multiplier": noise}, sampling_probability=rate, count=steps) for noise, rate, steps in history)
    return account(Composition("the same steps", tuple(events)), delta=delta, gap=gap).point


def _train(steps=12, drawn=None, **options):
    torch.manual_seed(7)
    data = DataLoader(TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,))), **(drawn or {"batch_size": 8}))
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = PrivacyEngine(accountant="pdp")
    if "target_epsilon" in options:
        model, optimizer, data = engine.make_private_with_epsilon(
            module=model, optimizer=optimizer, data_loader=data, max_grad_norm=1.0, **options
        )
    else:
        model, optimizer, data = engine.make_private(
            module=model, optimizer=optimizer, data_loader=data, noise_multiplier=1.1, max_grad_norm=1.0, **options
        )
    done = 0
    while done < steps:
        for inputs, labels in data:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            done += 1
    return engine, model, optimizer


def test_the_example_of_opacus_with_one_word_changed():
    engine, _, _ = _train()
    assert isinstance(engine.accountant, OpacusAccountant)
    ((noise, rate, steps),) = engine.accountant.history
    assert (noise, rate, steps) == (1.1, 1 / 8, len(engine.accountant))
    truth = _upper(engine.accountant.history)
    assert truth.lower <= engine.get_epsilon(DELTA) <= float(truth.upper) * 1.002


def test_a_guarantee_with_hypotheses_comes_of_it():
    engine, _, _ = _train(steps=8)
    made = engine.accountant.guarantee(DELTA)
    assert {"independent-draws", "fresh-samples", "sensitivity-one", "hypotheses-unknown"} <= {item.id for item in made.hypotheses}
    assert set(engine.accountant.hypotheses) <= {item.sentence for item in made.hypotheses}


def test_make_private_with_epsilon_keeps_its_target():
    engine, _, optimizer = _train(steps=16, target_epsilon=4.0, target_delta=DELTA, epochs=2)
    assert len(engine.accountant) == 16
    assert 3.9 <= engine.get_epsilon(DELTA) <= 4.0
    assert optimizer.noise_multiplier > 0.4


@pytest.mark.parametrize("target", [0.05, 3.0, 40.0])
def test_the_search_ends_and_what_it_finds_is_enough(target):
    noise = get_noise_multiplier(target_epsilon=target, target_delta=DELTA, sample_rate=0.01, steps=500, accountant="pdp")
    truth = _upper([(noise, 0.01, 500)], gap="1e-5")
    assert target - 0.02 <= truth.lower <= truth.upper <= target


def test_a_checkpoint_goes_on_where_it_was(tmp_path):
    engine, model, optimizer = _train(steps=8)
    engine.save_checkpoint(path=tmp_path / "at8.pt", module=model, optimizer=optimizer)
    other = PrivacyEngine(accountant="pdp")
    other.accountant.load_state_dict(torch.load(tmp_path / "at8.pt", weights_only=False)["privacy_accountant_state_dict"])
    assert other.get_epsilon(DELTA) == engine.get_epsilon(DELTA)
    other.accountant.step(noise_multiplier=1.1, sample_rate=1 / 8)
    assert len(other.accountant) == len(engine.accountant) + 1
    assert other.get_epsilon(DELTA) > engine.get_epsilon(DELTA)


def test_states_of_other_accountants_and_bad_histories_change_nothing():
    made = OpacusAccountant()
    made.step(noise_multiplier=1.0, sample_rate=0.5)
    for state in (
        {"history": [(1.0, 0.1, 1)], "mechanism": "rdp"}, {"history": [(1.0, 2.0, 1)], "mechanism": "pdp"},
        {"history": [(1.0, 0.1)], "mechanism": "pdp"}, {"history": [(-1.0, 0.1, 1)], "mechanism": "pdp"},
        {"history": "abc", "mechanism": "pdp"}, {}, None,
    ):  # fmt: skip
        with pytest.raises((ValueError, InvalidArgument, InvalidNumber)):
            made.load_state_dict(state)
        assert made.history == [(1.0, 0.5, 1)]


def test_the_border():
    made = create_accountant("pdp")
    assert made.get_epsilon(DELTA) == 0.0  # nothing was released
    made.step(noise_multiplier=0, sample_rate=0.01)
    assert made.get_epsilon(DELTA) == math.inf
    made.history = [(1.0, 1.0, 1)]
    assert made.get_epsilon(DELTA) <= float(_upper(made.history).upper)
    assert made.get_epsilon(0) == math.inf  # Gaussian noise has no epsilon without delta
    for bad in ([(math.nan, 0.1, 1)], [(1.0, -0.1, 1)], [(1.0, 1.5, 1)], [(-2.0, 0.1, 1)], [(1.0, 0.1, 1.5)]):
        made.history = bad
        with pytest.raises((InvalidArgument, InvalidNumber)):
            made.get_epsilon(DELTA)
    for delta in (-1e-5, 1, math.nan):
        made.history = [(1.0, 0.1, 1)]
        with pytest.raises((InvalidArgument, InvalidNumber)):
            made.get_epsilon(delta)


def test_accumulated_batches_are_no_poisson_sample():
    engine = PrivacyEngine(accountant="pdp")
    data = DataLoader(TensorDataset(torch.randn(16, 3), torch.zeros(16, dtype=torch.long)), batch_size=4, shuffle=True)
    model = torch.nn.Linear(3, 2)
    model, optimizer, data = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=data, noise_multiplier=1.0, max_grad_norm=1.0,
        poisson_sampling=False,
    )  # fmt: skip
    batches = iter(data)
    for _ in range(2):
        inputs, labels = next(batches)
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    with pytest.raises(InvalidArgument, match="2 batches were accumulated"):
        optimizer.step()
    assert len(engine.accountant) == 0


# --- batches that are no Poisson samples ------------------------------------------------------------------------------------------------

SHUFFLED = {"batch_size": 8, "shuffle": True}


def _epochs(sampling, uses, delta=DELTA, noise="1.1", **sizes):
    event = make_event("gaussian", {"noise_multiplier": noise}, count=uses, batches=draw_batches(sampling, "add-remove", **sizes))
    return account(Composition("the same", (event,)), delta=delta).point


def test_shuffled_batches_have_the_number_of_shuffled_batches():
    """It was that of Poisson samples with the same rate, which is half of what one epoch loses."""
    engine, _, _ = _train(steps=8, drawn=SHUFFLED, poisson_sampling=False)
    truth, poisson = _epochs("shuffle", 1, steps_per_epoch=8), _upper([(1.1, 1 / 8, 8)])
    assert float(truth.upper) <= engine.get_epsilon(DELTA) <= float(truth.upper) * 1.002
    assert engine.get_epsilon(DELTA) > 2 * float(poisson.upper)
    made = engine.accountant.guarantee(DELTA)
    assert {"batches-drawn", "steps-public", "whole-epochs"} <= {item.id for item in made.hypotheses}
    assert len(engine.accountant) == 8


def test_an_epoch_that_was_begun_counts():
    engine, model, optimizer, data = _private(SHUFFLED)
    for steps, epochs in ((1, 1), (7, 1), (1, 2), (7, 2)):
        for _, (inputs, labels) in zip(range(steps), data, strict=False):
            _step(engine, model, optimizer, inputs, labels)
        (event,) = engine.accountant.curve.composition.events
        assert event.count == epochs
    assert len(engine.accountant) == 16
    assert float(_epochs("shuffle", 2, steps_per_epoch=8).upper) * 0.998 <= engine.get_epsilon(DELTA)


def test_random_allocation_in_place_of_shuffling():
    drawn = {"batch_sampler": AllocatedBatches(64, 8, source=5)}
    engine, _, _ = _train(steps=16, drawn=drawn, poisson_sampling=False)
    truth = _epochs("random-allocation", 2, steps_per_epoch=8)
    assert truth.lower <= engine.get_epsilon(DELTA) <= float(truth.upper) * 1.002
    assert engine.get_epsilon(DELTA) < float(_epochs("shuffle", 2, steps_per_epoch=8).upper) / 1.5
    assert "whole-epochs" not in {item.id for item in engine.accountant.guarantee(DELTA).hypotheses}


def _step(engine, model, optimizer, inputs, labels):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()


def _private(drawn, noise=1.1, **options):
    engine, model = PrivacyEngine(accountant="pdp"), torch.nn.Linear(3, 2)
    data = DataLoader(TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,))), **drawn)
    return engine, *engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=data, noise_multiplier=noise, max_grad_norm=1.0,
        **({"poisson_sampling": False} | options),
    )  # fmt: skip


def test_allocated_epochs_that_are_left_in_the_middle_are_counted():
    """Eight steps, each the first of an epoch that is drawn anew, are eight epochs."""
    engine, model, optimizer, data = _private({"batch_sampler": AllocatedBatches(64, 8, source=6)})
    for _ in range(3):
        _step(engine, model, optimizer, *next(iter(data)))
    assert len(engine.accountant) == 3
    (event,) = engine.accountant.curve.composition.events
    assert event.count == 3


def test_passes_that_are_begun_together_all_count():
    """Steps of two passes in turn looked like those of one."""
    engine, model, optimizer, data = _private({"batch_sampler": AllocatedBatches(64, 8, source=8)})
    for batch in (next(one) for one in [iter(data), iter(data)]):
        _step(engine, model, optimizer, *batch)
    (event,) = engine.accountant.curve.composition.events
    assert (len(engine.accountant), event.count) == (2, 2)


def test_an_epoch_has_the_least_noise_of_its_steps():
    engine, model, optimizer, data = _private({"batch_sampler": AllocatedBatches(64, 8, source=7)})
    for place, (inputs, labels) in enumerate(data):
        optimizer.noise_multiplier = 2.0 if place != 3 else 1.0
        _step(engine, model, optimizer, inputs, labels)
    (event,) = engine.accountant.curve.composition.events
    assert (event["noise_multiplier"], event.count) == (1, 1)


def test_a_checkpoint_of_shuffled_batches_goes_on_in_a_new_epoch():
    engine, _, _ = _train(steps=8, drawn=SHUFFLED, poisson_sampling=False)
    other, model, optimizer, data = _private(SHUFFLED)
    other.accountant.load_state_dict(engine.accountant.state_dict())
    assert other.get_epsilon(DELTA) == engine.get_epsilon(DELTA)
    _step(other, model, optimizer, *next(iter(data)))
    assert len(other.accountant) == 9
    assert other.accountant.curve.composition.events[0].count == 2
    for bad in ({}, {"sampling": "shuffle"}, {"sampling": "shuffle", "steps_per_epoch": 8, "epochs": 0}, "shuffle", None):
        with pytest.raises((InvalidArgument, InvalidNumber)):
            other.accountant.load_state_dict({"history": [(1.1, 0.125, 8, bad)], "mechanism": "pdp"})
        assert len(other.accountant) == 9


def test_draws_with_replacement_and_samplers_of_opacus_are_read():
    rows = TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,)))
    many = {"batch_size": 8, "sampler": RandomSampler(rows, replacement=True)}
    engine, model, optimizer, data = _private(many)
    for inputs, labels in data:
        _step(engine, model, optimizer, inputs, labels)
    (event,) = engine.accountant.curve.composition.events
    assert (event.batches.describe(), event.count) == ("8 draws with replacement from 64 records (add-remove)", 8)
    poisson = {"batch_sampler": UniformWithReplacementSampler(num_samples=64, sample_rate=0.25, steps=8)}
    engine, model, optimizer, data = _private(poisson)
    inputs, labels = next(iter(data))
    _step(engine, model, optimizer, inputs, labels)
    assert engine.accountant.history == [(1.1, 0.25, 1)]  # and not 1/8, as the length of the loader says


@pytest.mark.parametrize(
    "drawn", [{"batch_size": 8}, {"batch_size": 10, "shuffle": True, "drop_last": True}, {"sampler": range(64), "batch_size": 8}]
)
def test_loaders_whose_law_is_not_known_are_refused(drawn):
    with pytest.raises(InvalidArgument, match="AllocatedBatches"):
        _private(drawn)


def test_a_search_for_the_noise_of_poisson_samples_is_not_used_for_others():
    with pytest.raises(InvalidArgument, match="Poisson samples, but the batches are shuffle"):
        _train(drawn=SHUFFLED, poisson_sampling=False, target_epsilon=4.0, target_delta=DELTA, epochs=2)


def test_two_loaders_of_one_engine_are_counted_each():
    engine, model, optimizer, data = _private(SHUFFLED)
    rows = TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,)))
    other = torch.nn.Linear(3, 2)
    other, second, more = engine.make_private(
        module=other, optimizer=torch.optim.SGD(other.parameters(), lr=0.1), data_loader=DataLoader(rows, batch_size=8),
        noise_multiplier=2.0, max_grad_norm=1.0,
    )  # fmt: skip
    for (inputs, labels), (some, words) in zip(data, more, strict=False):
        _step(engine, model, optimizer, inputs, labels)
        _step(engine, other, second, some, words)
    events = engine.accountant.curve.composition.events
    assert [event.count for event in events] == [1, 8]


def test_steps_by_hand_rest_on_what_is_said():
    made = create_accountant("pdp")
    hook = made.get_optimizer_hook_fn(sample_rate=0.25)
    hook(SimpleNamespace(accumulated_iterations=1, noise_multiplier=2.0))
    assert made.history == [(2.0, 0.25, 1)]
    assert any("independently" in sentence for sentence in made.hypotheses)
