"""Loaders say how they draw, or are refused; random allocation puts each record into one uniform step. PyTorch: make test-interop."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from accountant import training
from accountant.interop.loaders import AllocatedBatches, find_batches
from profiles import InvalidArgument, InvalidNumber
from profiles.errors import OverBudget
from profiles.randomness import open_bits

HAS_TORCH = importlib.util.find_spec("torch") is not None


def like(name, /, base=object, **values):
    """An object of a class that has the name of one of PyTorch's, and these attributes."""
    module, kind = name.rsplit(".", 1)
    return type(kind, (base,), {"__module__": f"torch.utils.data.{module}", **values})()


def loader(size=10, records=100, *, drop_last=False, sampler="RandomSampler", replacement=False, length=None):
    drawn = like(
        f"sampler.{sampler}",
        data_source=range(records),
        replacement=replacement,
        __len__=lambda _: records if length is None else length,
    )
    batches = like("sampler.BatchSampler", sampler=drawn, batch_size=size, drop_last=drop_last)
    return like("dataloader.DataLoader", batch_sampler=batches, sampler=drawn)


def test_a_loader_that_shuffles_is_told_as_one():
    assert find_batches(loader()) == {"sampling": "shuffle", "steps_per_epoch": 10}
    assert find_batches(loader(records=101)) == {"sampling": "shuffle", "steps_per_epoch": 11}
    assert find_batches(loader(drop_last=True)) == {"sampling": "shuffle", "steps_per_epoch": 10}
    assert find_batches(loader(size=100)) == {"sampling": "none"}


def test_draws_with_replacement_are_told_as_such():
    told = {"sampling": "with-replacement", "records": 100, "batch_size": 10}
    assert find_batches(loader(replacement=True)) == told
    assert find_batches(loader(replacement=True, length=500)) == told
    assert find_batches(loader(replacement=True, length=55, drop_last=True)) == told


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (loader(sampler="SequentialSampler"), "in their order"),
        (loader(sampler="SubsetRandomSampler"), "SubsetRandomSampler"),
        (loader(sampler="WeightedRandomSampler"), "WeightedRandomSampler"),
        (loader(sampler="DistributedSampler"), "DistributedSampler"),
        (loader(length=50), "takes 50 of 100 records"),
        (loader(records=105, drop_last=True), "drops the last 5 records"),
        (loader(replacement=True, length=55), "smaller last batch"),
        (like("dataloader.DataLoader", batch_sampler=None, sampler=None), "does not say"),
        (like("other.DataLoader", batch_sampler=loader().batch_sampler, sampler=None), "does not say"),
        (SimpleNamespace(batch_sampler=loader().batch_sampler), "does not say"),
        ([[1, 2], [3]], "does not say"),
        (iter([]), "does not say"),
    ],
)
def test_others_are_refused_by_name(wrong, why):
    with pytest.raises(InvalidArgument, match=why) as caught:
        training(noise_multiplier=2, batches=wrong, delta="1e-5")
    assert "AllocatedBatches" in str(caught.value)


def test_a_subclass_of_a_sampler_is_not_taken_for_it():
    """It may draw by any law: one that keeps its first permutation is a subclass, too."""
    made = loader()
    kept = type("Kept", (type(made.sampler),), {})()
    made.batch_sampler.__class__.sampler = kept
    with pytest.raises(InvalidArgument, match="has a Kept"):
        find_batches(made)


def test_a_loader_that_gives_batches_in_its_own_way_is_not_taken_for_pytorchs():
    """It may give each batch twice, of which a record moves two steps; with functions that change no order it is what it was."""
    kind = type(loader())
    twice = type("Twice", (kind,), {"__iter__": lambda self: (batch for batch in range(10) for _ in range(2))})
    with pytest.raises(InvalidArgument, match="a Twice gives its batches in a way of its own"):
        find_batches(twice())
    assert find_batches(type("Named", (kind,), {"describe": str})()) == find_batches(loader())


def test_a_subclass_of_allocated_batches_is_not_taken_for_them():
    same = type("Same", (AllocatedBatches,), {"__iter__": lambda self: iter([[0, 1]] * self.steps_per_epoch)})(60, 6)
    for given in (same, like("dataloader.DataLoader", batch_sampler=same)):
        with pytest.raises(InvalidArgument, match="does not say how it draws"):
            find_batches(given)


def test_samplers_that_say_their_rate_are_poisson_samples():
    sampler = SimpleNamespace(sample_rate=0.125)
    for said in (sampler, like("dataloader.DataLoader", batch_sampler=sampler)):
        assert find_batches(said) == {"sampling_probability": 0.125}
    for plain in ("1/8", 0.125, Fraction(1, 8), np.float64(0.125), 1, None):
        assert find_batches(plain) == {"sampling_probability": plain}


def test_batches_of_another_class_that_says_a_rate_are_refused():
    """It may say a rate and draw by any law: batches of a fixed size, one order for all epochs."""
    fixed = type("Fixed", (), {"sample_rate": 0.125, "__iter__": lambda self: iter([[0, 1]])})()
    for given in (fixed, like("dataloader.DataLoader", batch_sampler=fixed)):
        with pytest.raises(InvalidArgument, match="does not say how it draws"):
            find_batches(given)
    name, module = "UniformWithReplacementSampler", "opacus.utils.uniform_sampler"
    known = type(name, (), {"sample_rate": 0.125, "__iter__": lambda self: iter([[0]]), "__module__": module})
    assert find_batches(known()) == {"sampling_probability": 0.125}


def test_a_rate_that_is_none_is_refused():
    for rate in ("often", 2, -1):
        with pytest.raises((InvalidArgument, InvalidNumber)):
            training(noise_multiplier=2, batches=SimpleNamespace(sample_rate=rate), delta="1e-5")


# --- random allocation ----------------------------------------------------------------------------------------------------------------


def test_each_epoch_has_each_record_once_and_is_drawn_anew():
    batches = AllocatedBatches(1000, 7)
    epochs = [list(batches) for _ in range(3)]
    assert len(batches) == 7
    for epoch in epochs:
        assert len(epoch) == 7
        assert sorted(place for batch in epoch for place in batch) == list(range(1000))
        assert all(isinstance(place, int) for batch in epoch for place in batch)
    assert epochs[0] != epochs[1] != epochs[2]  # equal with a probability of 7^-1000


def test_an_epoch_is_drawn_whole_when_it_begins():
    batches = AllocatedBatches(50, 5, source=3)
    first, second = iter(batches), iter(batches)
    parts = [(next(first), next(second)) for _ in range(5)]
    again = AllocatedBatches(50, 5, source=3)
    assert [one for one, _ in parts] == list(again)
    assert [other for _, other in parts] == list(again)


def test_steps_may_be_empty_and_there_may_be_more_of_them_than_records():
    epoch = list(AllocatedBatches(2, 9, source=1))
    assert len(epoch) == 9
    assert epoch.count([]) >= 7


class Given:
    """A source that gives prescribed words."""

    name, hypothesis, seed = "given", "given", None

    def __init__(self, *words):
        self.left = list(words)

    def words(self, count):
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint64)

    def block(self):
        raise NotImplementedError

    def digit(self):
        raise NotImplementedError


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("steps", [2, 3, 5, 10, 2**16 + 1, 10**6])
def test_words_that_would_make_shares_unequal_are_drawn_again(steps):
    """The words from 0 to the last multiple of ``steps`` fall into equal shares; the rest of them, fewer than ``steps``, are not used."""
    whole = 2**64 // steps * steps
    words = [0, steps - 1, whole - 1, *((whole, 2**64 - 1) if whole < 2**64 else ()), *([7, whole - steps] if whole < 2**64 else [])]
    used = [word for word in words if word < whole]
    source = Given(*words[:3], *words[3:])
    asked = 5 if whole < 2**64 else 3
    epoch = list(AllocatedBatches(asked, steps, source=source))
    where = {place: step for step, batch in enumerate(epoch) for place in batch}
    assert [where[place] for place in range(asked)] == [word % steps for word in used][:asked]
    assert source.left == []


def test_records_are_independent_and_uniform():
    """All pairs of steps of two records are about as frequent: the chance of a worse χ² is below 1e-9."""
    counts, batches = np.zeros((4, 4)), AllocatedBatches(2, 4, source=open_bits(11))
    for _ in range(4000):
        where = {place: step for step, batch in enumerate(batches) for place in batch}
        counts[where[0], where[1]] += 1
    assert ((counts - 250) ** 2 / 250).sum() < 80  # 15 degrees of freedom


@pytest.mark.parametrize(
    "given", [(0, 3), (10, 1), (10, 0), (10, 2.5), (-1, 3), ("many", 3), (10**10, 3), (10, None), (True, 3), (10, 10**7)]
)
def test_other_numbers_are_refused(given):
    with pytest.raises((InvalidArgument, InvalidNumber)):
        AllocatedBatches(*given)


def test_a_loop_with_allocated_batches_counts_its_epochs():
    rows, batches = np.ones((60, 2)), AllocatedBatches(60, 6)
    seen = np.zeros(60, dtype=int)
    with training(noise_multiplier=2, batches=batches, delta="1e-5") as loop:
        for _ in range(2):
            loop.epoch()
            for batch in batches:
                loop.step()
                rows[batch].sum(0)
                seen[batch] += 1
    (event,) = loop.curve.composition.events
    assert (loop.steps, event.count, event.batches.describe()) == (12, 2, "random allocation to 6 steps per epoch (add-remove)")
    assert list(seen) == [2] * 60


@pytest.mark.thorough
def test_epochs_that_a_loader_begins_are_counted_where_nobody_says_so():
    """A loop that leaves its loader and draws anew without a word: three epochs, of which each step told one."""
    batches = AllocatedBatches(60, 6)
    list(batches)  # before the account, which is none of its epochs
    with training(noise_multiplier=2, batches=batches, delta="1e-5", budget=4) as loop:
        for _ in range(3):
            for _ in batches:
                loop.step()
                break
        assert (loop.steps, loop.curve.composition.events[0].count) == (3, 3)
        one, other = iter(batches), iter(batches)
        for batch in (next(one), next(other)):  # of two passes together
            assert isinstance(batch, list)
            loop.step()
        assert (loop.steps, loop.curve.composition.events[0].count) == (5, 5)
        loop.epoch()
        for _ in batches:
            loop.step()
        assert (loop.steps, loop.curve.composition.events[0].count) == (11, 6)
        for _ in range(100):
            list(batches)
        with pytest.raises(OverBudget):
            loop.step()
        assert loop.steps == 11


# --- PyTorch's own --------------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not HAS_TORCH, reason="needs PyTorch: make test-interop")
def test_loaders_of_pytorch_are_what_they_are_taken_for():
    torch = importlib.import_module("torch")
    data = importlib.import_module("torch.utils.data")
    rows = data.TensorDataset(torch.arange(24.0))
    assert find_batches(data.DataLoader(rows, batch_size=5, shuffle=True)) == {"sampling": "shuffle", "steps_per_epoch": 5}
    many = data.RandomSampler(rows, replacement=True, num_samples=40)
    assert find_batches(data.DataLoader(rows, batch_size=5, sampler=many))["sampling"] == "with-replacement"
    for made in (
        data.DataLoader(rows, batch_size=5),
        data.DataLoader(rows, batch_size=None),
        data.DataLoader(rows, batch_size=5, shuffle=True, drop_last=True),
        data.DataLoader(rows, batch_size=5, sampler=data.RandomSampler(rows, num_samples=10)),
        data.DataLoader(rows, batch_size=5, sampler=data.SubsetRandomSampler(range(10))),
        data.DataLoader(rows, batch_size=5, sampler=data.WeightedRandomSampler([1.0] * 24, 24)),
        data.DataLoader(rows, batch_size=5, sampler=data.DistributedSampler(rows, num_replicas=2, rank=0)),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match="AllocatedBatches"):
            find_batches(made)


@pytest.mark.skipif(not HAS_TORCH, reason="needs PyTorch: make test-interop")
@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_of_pytorch_takes_allocated_batches(workers):
    torch = importlib.import_module("torch")
    data = importlib.import_module("torch.utils.data")
    made = data.DataLoader(
        data.TensorDataset(torch.arange(600.0)), batch_sampler=AllocatedBatches(600, 4), num_workers=workers,
    )  # fmt: skip
    assert find_batches(made) == {"sampling": "random-allocation", "steps_per_epoch": 4}
    epochs = [[batch.tolist() for (batch,) in made] for _ in range(2)]
    assert all(sorted(place for batch in epoch for place in batch) == list(range(600)) for epoch in epochs)
    assert epochs[0] != epochs[1]
