"""How the loader of a training loop draws its batches, in the terms of a composition file; and batches of random allocation for any loader.

A loader is recognised by its class, and PyTorch is not needed: samplers whose law is that of a theorem (docs/batches.md) are known, and all
others, also subclasses of known ones, are refused with an error that names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from math import ceil
from typing import Any

import numpy as np

from accountant.compositions.batches import KEYS, Sampling, draw_batches
from profiles import InvalidArgument
from profiles.numbers import to_integer
from profiles.protection import Neighbors
from profiles.randomness import open_bits
from profiles.randomness.bits import BitSource, read_words

_SAID = ("sampling_probability", *(key for key in KEYS if key != "epochs"))
_MOST_RECORDS = 10**9
_SAMPLERS, _LOADER = "torch.utils.data.sampler.", "torch.utils.data.dataloader.DataLoader"
#: What gives batches that are Poisson samples of the rate that it says.
_POISSON = {
    "opacus.data_loader.DPDataLoader",
    "opacus.utils.uniform_sampler.UniformWithReplacementSampler",
    "opacus.utils.uniform_sampler.DistributedUniformWithReplacementSampler",
}


class AllocatedBatches:
    """Batches of random allocation (balls and bins): each record, by itself, is in one uniform step of each epoch.

    Iterating over it begins an epoch, which is drawn anew, and yields the positions of the records of each step; a step may have none, and
    an empty batch is a step with noise like any other. For PyTorch it is a batch sampler, in place of ``batch_size=256, shuffle=True``:

        DataLoader(data, batch_sampler=AllocatedBatches(len(data), steps_per_epoch=235))

    ``epochs``: how many were begun. ``records``: how many there are; ``steps_per_epoch``: at least 2, public, and not computed from the
    number of records. ``source``: None draws from the operating system, exactly; a seed or a NumPy generator is for tests, or has to be
    secret. Raises :class:`profiles.InvalidArgument` for other numbers.

    >>> [len(batch) for batch in AllocatedBatches(10, 3, source=1)]
    [3, 5, 2]
    """

    def __init__(self, records: object, steps_per_epoch: object, *, source: object = None) -> None:
        self.records = to_integer(records, "the number of records", 1, _MOST_RECORDS, hint="give that of the data")
        self.steps_per_epoch = draw_batches(Sampling.RANDOM_ALLOCATION, Neighbors.ADD_REMOVE, steps_per_epoch=steps_per_epoch)[
            "steps_per_epoch"
        ]
        self.epochs = 0  # that were begun
        self._source = open_bits(source)

    def __len__(self) -> int:
        return self.steps_per_epoch

    def __iter__(self) -> Iterator[list[int]]:
        """Begin an epoch: the steps of all records are drawn at once, before the first batch is given."""
        self.epochs += 1
        steps = _draw_steps(self.records, self.steps_per_epoch, self._source)
        order, ends = np.argsort(steps, kind="stable"), np.cumsum(np.bincount(steps, minlength=self.steps_per_epoch))
        return (part.tolist() for part in np.split(order, ends[:-1]))


def _draw_steps(records: int, steps: int, source: BitSource) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return a uniform step for each record: words below a multiple of ``steps`` fall into equal shares, others are drawn again."""
    last = np.uint64(2**64 - 2**64 % steps - 1)
    words = read_words(source, records)
    while len(places := np.flatnonzero(words > last)):
        words[places] = read_words(source, len(places))
    return (words % np.uint64(steps)).astype(np.intp)


def find_allocated(batches: object) -> AllocatedBatches | None:
    """Return the batches of random allocation that a loader has, or is; None elsewhere, and for those of a subclass."""
    for item in (batches, getattr(batches, "batch_sampler", None)):
        if type(item) is AllocatedBatches:  # a subclass may draw by any law
            return item
    return None


def find_batches(batches: object) -> Mapping[str, object]:
    """Return how batches are drawn, in the terms of an ``[[event]]``, from a probability, from these terms themselves, or from a loader.

    A loader of PyTorch that shuffles gives shuffled batches, one that draws with replacement gives such draws. Loaders of Opacus with a
    ``sample_rate`` (``DPDataLoader``, ``UniformWithReplacementSampler``) give Poisson samples, as does an object that has a rate and yields
    no batches itself; :class:`AllocatedBatches` gives random allocation. Raises :class:`InvalidArgument` for other keys, and for loaders
    whose law is none of these, or not known.
    """
    if isinstance(batches, Mapping):
        other = [str(key)[:40] for key in batches if key not in _SAID]
        if other or not batches:
            raise InvalidArgument(
                f"batches say {', '.join(_SAID)}, but {repr(other[0]) if other else 'nothing'} was found; steps and epochs are counted as "
                "they are run"
            )
        return batches
    allocated, drawn = find_allocated(batches), getattr(batches, "batch_sampler", None)
    if allocated is not None:
        return {"sampling": Sampling.RANDOM_ALLOCATION.value, "steps_per_epoch": allocated.steps_per_epoch}
    for item in (batches, drawn):
        if getattr(item, "sample_rate", None) is not None and (_name(type(item)) in _POISSON or not hasattr(type(item), "__iter__")):
            return {"sampling_probability": getattr(item, "sample_rate")}  # noqa: B009 - of an object of any class
    if isinstance(batches, str) or not any(hasattr(batches, name) for name in ("batch_sampler", "sampler", "__next__", "__iter__")):
        return {"sampling_probability": batches}
    if not any(_name(kind) == _LOADER for kind in type(batches).__mro__) or _name(type(drawn)) != _SAMPLERS + "BatchSampler":
        raise _refuse(batches, "does not say how it draws")
    if any("__iter__" in vars(kind) for kind in takewhile(lambda kind: _name(kind) != _LOADER, type(batches).__mro__)):
        raise _refuse(batches, "gives its batches in a way of its own")
    return _read_sampler(batches, drawn)


def _read_sampler(loader: object, drawn: Any) -> Mapping[str, object]:
    """Return what a batch sampler of PyTorch draws, which cuts what its sampler gives into batches."""
    sampler, size = drawn.sampler, drawn.batch_size
    if _name(type(sampler)) == _SAMPLERS + "SequentialSampler":
        raise _refuse(loader, "takes the records in their order, the same in each epoch")
    if _name(type(sampler)) != _SAMPLERS + "RandomSampler":
        raise _refuse(loader, f"has a {type(sampler).__name__}, whose batches have a law that is not known here")
    records, length = len(sampler.data_source), len(sampler)
    if sampler.replacement:
        if length % size and not drawn.drop_last:
            raise _refuse(loader, f"draws {length} records with replacement, which leaves a smaller last batch")
        return {"sampling": Sampling.WITH_REPLACEMENT.value, "records": records, "batch_size": size}
    if length != records:
        raise _refuse(loader, f"takes {length} of {records} records in an epoch")
    if records % size and drawn.drop_last:
        raise _refuse(loader, f"drops the last {records % size} records of each epoch")
    if size >= records:
        return {"sampling": Sampling.NONE.value}
    return {"sampling": Sampling.SHUFFLE.value, "steps_per_epoch": ceil(records / size)}


def _refuse(loader: object, why: str) -> InvalidArgument:
    return InvalidArgument(
        f"a loader whose batches have a known law was expected, but a {type(loader).__name__} {why}; give it "
        "batch_sampler=AllocatedBatches(records, steps_per_epoch), or say by hand how its batches are drawn"
    )


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


__all__ = ["AllocatedBatches", "find_allocated", "find_batches"]
