"""Samples as a map over Arrow record batches: each record is kept by a Bernoulli draw of its own probability q (docs/engines.md).

The draws come from outside: a :data:`Draw` is any function from a float64 array of probabilities to a bool array, such as
``accountant.samples.PoissonSampler().select``. The sample is as random as these draws are; they must be independent over all records of
all workers, and select with probability exactly q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Floats
from profiles.numbers import to_integer

#: Takes selection probabilities (float64, shape (n,)), returns which are selected (bool, shape (n,)).
Draw = Callable[[Floats], Booleans]
#: Takes a record batch, returns it with the column ``q`` (and ``weight``): :class:`accountant.engines.ArrowPairs`, or another map.
WeighBatch = Callable[[Any], Any]


def select_rows(batch: Any, draw: Draw) -> Any:
    """Return the rows of a record batch that ``draw`` selects with the probabilities in its column ``q``, in their order.

    Raises :class:`InvalidData` (no column ``q`` of float64 in [0, 1]), :class:`InvalidArgument` (``draw`` returns anything but one bool
    for each row).

    >>> batch = pa.record_batch({"name": ["a", "b"], "q": [0.0, 1.0]})
    >>> select_rows(batch, lambda q: q == 1.0).to_pylist()
    [{'name': 'b', 'q': 1.0}]
    """
    q = _probabilities(batch)
    selected = draw(q) if q.size else np.zeros(0, dtype=np.bool_)
    if not isinstance(selected, np.ndarray) or selected.dtype != np.bool_ or selected.shape != q.shape:
        described = f"{selected.dtype} of shape {selected.shape}" if isinstance(selected, np.ndarray) else type(selected).__name__
        raise InvalidArgument(
            f"draw must return a bool array of shape {q.shape}, but {described} was found; return one decision for each record"
        )
    return batch.filter(pa.array(selected))


def _probabilities(batch: Any) -> Floats:
    names = batch.schema.names
    if names.count("q") != 1 or batch.schema.field("q").type != pa.float64():
        kind = batch.schema.field("q").type if names.count("q") == 1 else f"{names.count('q')} such columns"
        raise InvalidData(f"a sample needs one column 'q' of float64, but {kind} was found; apply the map of arrow_pairs first")
    column = batch.column("q")
    q: Floats = np.array(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    if column.null_count or not bool(((q >= 0.0) & (q <= 1.0)).all()):
        raise InvalidData("the column 'q' must hold probabilities in [0, 1], but another value (or none) was found; correct it")
    return q


@dataclass(frozen=True, slots=True)
class ArrowSample:
    """A function from the record batches of one partition to its selected rows; made by :func:`arrow_sample`."""

    weigh: WeighBatch
    open_draw: Callable[[], Draw]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the selected rows of each batch with ``weight`` and ``q``, also where there are none. One batch is held at a time.

        ``open_draw`` is called once, when the first batch is asked for, in the process that asks. Raises what the weights and
        :func:`select_rows` raise.
        """
        draw = self.open_draw()
        if not callable(draw):
            raise InvalidArgument(
                f"open_draw must return a function from probabilities to decisions, but {type(draw).__name__} was found; return one"
            )
        for batch in batches:
            yield select_rows(self.weigh(batch), draw)


def arrow_sample(weigh: WeighBatch, open_draw: Callable[[], Draw]) -> ArrowSample:
    """Return the map from the record batches of a partition to a Poisson sample of it, for ``mapInArrow`` and the like.

    Statement: if the draws of all partitions are independent and each selects with probability exactly q, the union of the results is a
    Poisson sample of the whole data set with the pairs (weight, q) of ``weigh``, however the engine cuts the data into partitions and
    batches, if each record is in one partition and the result of one run over each partition is used. ``weigh`` is a map of
    :func:`accountant.engines.arrow_pairs`: its pairs are functions of the record alone, as amplification asks.

    ``open_draw`` opens the random source **in the worker, anew for each partition**. It must not return a draw that was made before: each
    worker would get a copy of it, and records in different partitions the same random numbers. For repeatable runs see
    :func:`spawn_generator`.

    Raises :class:`InvalidArgument`.
    """
    if not callable(weigh) or not callable(open_draw):
        raise InvalidArgument("a sample needs a map of weights and a function that opens a random source; give two functions")
    return ArrowSample(weigh, open_draw)


def spawn_generator(seed: int, partition: int) -> np.random.Generator:
    """Return the generator of one partition: ``SeedSequence(seed, spawn_key=(partition,))``, independent streams for different partitions.

    Reproducible from the seed: the sample of a partition, given the partition's number, its records and their order. Not: a sample of data
    that is partitioned or ordered in another way, which Spark does as it likes. Not a secure source: who knows the seed knows who was
    selected, and the guarantee is then worth nothing.

    Raises :class:`InvalidArgument`.
    """
    entropy, place = to_integer(seed, "the seed", 0), to_integer(partition, "the partition number", 0)
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(place,)))
