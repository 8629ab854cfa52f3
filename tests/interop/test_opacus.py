"""The accountant "pdp" in Opacus: its own example with one line changed, its searches and checkpoints, against ``account``."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("opacus")

import torch
from opacus import PrivacyEngine
from opacus.accountants import create_accountant
from opacus.accountants.utils import get_noise_multiplier
from torch.utils.data import DataLoader, TensorDataset

from accountant.curves import Composition, account, make_event
from accountant.interop.opacus import OpacusAccountant
from profiles import InvalidArgument, InvalidNumber

DELTA = 1e-5
pytestmark = pytest.mark.filterwarnings("default")  # Opacus warns of its generator and of PyTorch's hooks


def _upper(history, delta=DELTA, gap="1e-3"):
    events = (make_event("gaussian", {"noise_multiplier": noise}, sampling_probability=rate, count=steps) for noise, rate, steps in history)
    return account(Composition("the same steps", tuple(events)), delta=delta, gap=gap).point


def _train(steps=12, **options):
    torch.manual_seed(7)
    data = DataLoader(TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,))), batch_size=8)
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
    data = DataLoader(TensorDataset(torch.randn(16, 3), torch.zeros(16, dtype=torch.long)), batch_size=4)
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
