"""Running a mechanism under watch: what an audit can notice of a broken experiment is refused here, before it could look like evidence."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from profiles.arrays import Booleans
from profiles.errors import InvalidArgument, PDPError
from proofs_check.audit.calls import (
    call_watched,
    collect_outputs,
    global_state,
    require_time_limit,
    require_unchanged,
    require_unused,
)
from proofs_check.audit.errors import (
    ConstantOutputs,
    DifferentConstants,
    SharedGenerator,
    StatefulMechanism,
    UnusableOutputs,
)
from proofs_check.audit.memory import Copies, ForkedCall, NoAnswer, can_fork
from proofs_check.audit.outputs import Outputs, Reader, join

#: Outputs and seeds of the checks before an audit.
TRIAL, _SEEDS = 64, 4
#: So many outputs beside the commonest one make it impossible that independent calls return the same by chance.
_VARIED = 8
#: So many different outputs, or fewer, among those of the checks are few: counting them needs no learning.
_FEW = 32
#: Places that are compared between calls, and the chance that a correct mechanism is refused for one of them.
_PLACES_COMPARED, _CHANCE = 64, 1e-9
#: Seconds for which a copy of the process is waited for, after the same number of calls has ended here.
_PATIENCE = 10.0
_NAMES = ("D", "D'")
_WITHOUT_MEMORY = "make each call depend on its data set and generator alone (fit inside the call, and clear caches)"


class AuditedMechanism(Protocol):
    """What an audit judges: a callable that returns ``size`` independent outputs, stacked along the first axis."""

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Any:
        """Return ``size`` independent outputs on ``dataset``; all randomness comes from ``rng``."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledBatch:
    """Outputs with their hidden labels: ``is_first`` tells which of them the first data set D made."""

    outputs: Outputs
    is_first: Booleans

    def take(self, rows: Any) -> LabelledBatch:
        """Return some of the outputs with their labels."""
        return LabelledBatch(self.outputs.take(rows), self.is_first[rows])


@dataclass(frozen=True, slots=True)
class Kind:
    """What outputs look like at first sight: the number of places, whether the same ones come again and again, whether any has symbols."""

    width: int
    few_values: bool
    symbols: bool = False


class LabelledStream:
    """Labelled outputs of a mechanism on a pair of data sets: fair independent labels, then one call for each data set and batch.

    ``rng`` is split into independent streams for the labels and for the mechanism. Every call gets a fresh copy of its data set. Every
    second batch comes from a fresh copy of the mechanism for each call, the others from one copy that has made all calls before; and
    the data sets take turns in being first. ``change`` maps what the mechanism returned to what is judged. ``time_limit`` is in seconds
    for one call; it needs the main thread of a Unix process and interrupts Python code (run a mechanism that hangs in compiled code in a
    process of its own: see ``adapters``). Raises the errors of :mod:`proofs_check.audit.errors`.
    """

    __slots__ = (
        "_batches", "_calls", "_change", "_copies", "_datasets", "_first", "_labels", "_mechanism", "_seeds", "_seen", "_time_limit",
        "drawn", "memory", "own_randomness", "reader", "same_on_both",
    )  # fmt: skip

    def __init__(
        self,
        mechanism: AuditedMechanism,
        datasets: tuple[Any, Any],
        rng: np.random.Generator,
        *,
        time_limit: float | None = None,
        own_randomness: bool = False,
        change: Callable[[Any], Any] | None = None,
    ) -> None:
        if not callable(mechanism):
            raise InvalidArgument(f"a mechanism must be callable, but {type(mechanism).__name__} is not; give a callable")
        if change is not None and not callable(change):
            raise InvalidArgument(f"a statistic must be a function of the outputs, but an object of type {type(change).__name__} was found")
        require_time_limit(time_limit)
        self._mechanism, self._datasets, self._time_limit, self._change = mechanism, datasets, time_limit, change
        self._copies = Copies(mechanism, datasets, own_randomness=own_randomness)
        self._labels, self._calls = split(rng, 2)
        self._seeds: list[list[int]] = []
        self._first: list[Outputs] = []
        self._seen: list[set[bytes]] = [set(), set()]
        self._batches = 0
        self.own_randomness = own_randomness
        self.reader = Reader()
        self.drawn = 0
        #: Why it is not known whether the mechanism remembers earlier calls; empty where runs in the other order gave the same.
        self.memory = "nothing was looked at"
        #: Whether D and D′ gave the same outputs for equal generators in the trials; None where generators do not tell.
        self.same_on_both: bool | None = None

    def draw(self, count: int) -> LabelledBatch:
        """Return ``count`` labelled outputs in random order of labels."""
        is_first = self._labels.random(count) < 0.5
        wanted = int(is_first.sum()), count - int(is_first.sum())
        parts: list[Outputs | None] = [None, None]
        turned = self._batches % 2 == 1
        for which in (1, 0) if turned else (0, 1):
            if wanted[which]:
                parts[which] = self._run(which, self._calls, wanted[which], fresh=turned)
                self._remember(which, parts[which])
        self._batches += 1
        self.drawn += count
        return LabelledBatch(_interleave(parts[0], parts[1], is_first), is_first)

    def require_variation(self) -> None:
        """Refuse a mechanism that has returned one value only on each data set. Raises :class:`ConstantOutputs`."""
        if all(len(seen) == 1 for seen in self._seen):
            equal = self._seen[0] == self._seen[1]
            same, kind = ("the same one on both", ConstantOutputs) if equal else ("another one on each", DifferentConstants)
            raise kind(
                f"the mechanism returned a single value on each data set ({same}) in {self.drawn} outputs: it is deterministic or ignores "
                "its generator, which is not statistical evidence; check the mechanism"
            )

    def check(self, *, memory: bool = True) -> Kind:
        """Run the mechanism a few times and refuse it where its outputs cannot be independent draws from the generator it is given.

        With ``memory`` D′ is also run before D, by something that has seen nothing yet: a copy of this process, or new workers.
        Returns what the outputs look like.
        Raises :class:`SharedGenerator`, :class:`StatefulMechanism`, :class:`UnusableOutputs`, and the errors of a call.
        """
        self._seeds = [[int(seed) for seed in self._calls.integers(0, 2**62, size=_SEEDS)] for _ in self._datasets]
        forked = self._fork() if memory else None
        try:
            kind, outputs = self._check_both()
            if memory:
                self._compare_orders(forked, outputs)
        finally:
            if forked is not None:
                forked.end()
        return kind

    def _check_both(self) -> tuple[Kind, list[list[Outputs]]]:
        width, rows_seen, symbols, made = 0, [], False, []
        for which, seeds in enumerate(self._seeds):
            outputs = [self._run_unchanged(which, seed) for seed in seeds]
            again = self._run_unchanged(which, seeds[-1])
            keys = [table.keys().tolist() for table in outputs]
            if not self.own_randomness and again.keys().tolist() != keys[-1]:
                raise SharedGenerator(
                    "the mechanism gave different outputs for equal generators, so it draws from somewhere else or counts its calls; use "
                    "only the generator passed to it (or allow own randomness, if you know that it is independent in every call)"
                )
            if all(len(set(rows)) == 1 for rows in keys) and len({rows[0] for rows in keys}) > 1:
                raise UnusableOutputs(f"all {TRIAL} outputs of a call are copies of one another; return independent outputs")
            _require_alike(outputs)
            varied = all(len(rows) - max(map(rows.count, set(rows))) >= _VARIED for rows in keys)
            if varied and all(rows == keys[0] for rows in keys):
                raise SharedGenerator("the mechanism gives the same outputs for different generators; draw from the generator passed to it")
            width = max(width, *(table.width for table in outputs))
            rows_seen += [row for rows in keys for row in rows]
            for table in outputs:
                self._remember(which, table)
            symbols = symbols or any(table.symbols is not None for table in outputs)
            made.append(outputs)
        self._first = [outputs[-1] for outputs in made]
        if not self.own_randomness:
            self.same_on_both = same_outputs(self._run_unchanged(1, self._seeds[0][-1]), self._first[0])
        return Kind(width, few_values=len(set(rows_seen)) <= _FEW, symbols=symbols), made

    def _run_unchanged(self, which: int, seed: int) -> Outputs:
        """Return the outputs of a trial. Raises :class:`UnusableOutputs` for a mechanism that changes its data set."""
        dataset = self._copies.dataset(which)
        outputs = self._run(which, np.random.default_rng(seed), TRIAL, dataset=dataset)
        require_unchanged(self._datasets[which], dataset)
        return outputs

    def require_no_memory(self) -> None:
        """Refuse a mechanism that gives other outputs after all of its calls than before, for equal generators.

        Raises :class:`StatefulMechanism`.
        """
        for which, first in enumerate(() if self.own_randomness else self._first):
            if not same_outputs(self._run(which, np.random.default_rng(self._seeds[which][-1]), TRIAL), first):
                raise StatefulMechanism(
                    f"the mechanism remembers earlier calls: for equal generators it gave other outputs on {_NAMES[which]} after "
                    f"{self.drawn} outputs than before; {_WITHOUT_MEMORY}"
                )

    def _fork(self) -> ForkedCall | None:
        """Start D′ before D in a copy of this process."""
        self.memory = ""
        if hasattr(self._mechanism, "anew"):
            return None  # it has processes of its own
        if not can_fork():
            self.memory = "" if self._copies.of_mechanism else "this system cannot run it in a copy of the process"
            return None
        try:
            return ForkedCall(self._turned)
        except NoAnswer as reason:
            self.memory = str(reason)
            return None

    def _turned(self, mechanism: Callable[..., Any] | None = None) -> list[bytes]:
        """Return, pickled, what the mechanism returns on D and D′ where D′ comes first; at once, because a buffer may be used again."""
        runs = self._copies.mechanism(fresh=True) if mechanism is None else mechanism
        size = _SEEDS * TRIAL if self.own_randomness else TRIAL
        made = [
            pickle.dumps(collect_outputs(runs(self._copies.dataset(which), np.random.default_rng(self._seeds[which][-1]), size), size))
            for which in (1, 0)
        ]
        return made[::-1]

    def _compare_orders(self, forked: ForkedCall | None, outputs: list[list[Outputs]]) -> None:
        """Refuse a mechanism that answers from what it saw first. Raises :class:`StatefulMechanism`."""
        if self.memory:
            return
        try:
            if forked is not None:
                turned = forked.result(_PATIENCE)
            elif hasattr(self._mechanism, "anew"):
                with self._mechanism.anew() as pool:
                    turned = self._turned(pool)
            else:
                turned = call_watched(self._turned, self._time_limit)
            tables = [self._read(pickle.loads(returned)) for returned in turned]  # noqa: S301 - pickled in _turned
        except (NoAnswer, PDPError) as reason:
            self.memory = f"D' could not be run before D ({reason})"
            return
        for which, table in enumerate(tables):
            unlike = _find_unlike([join(outputs[which]), table]) if self.own_randomness else not same_outputs(table, outputs[which][-1])
            if unlike:
                raise StatefulMechanism(
                    f"the mechanism remembers earlier calls: on {_NAMES[which]} it gave other outputs when D' came before D than when D "
                    f"came first{'' if self.own_randomness else ', for equal generators'}; {_WITHOUT_MEMORY}"
                )

    def _read(self, returned: Any) -> Outputs:
        return self.reader.read(returned if self._change is None else self._change(returned), len(returned))

    def _run(self, which: int, rng: np.random.Generator, size: int, *, fresh: bool = False, dataset: Any = None) -> Outputs:
        state = global_state()
        runs = self._copies.mechanism(fresh=fresh)
        given = self._copies.dataset(which) if dataset is None else dataset
        returned = call_watched(lambda: self._judged(collect_outputs(runs(given, rng, size), size), size), self._time_limit)
        if not self.own_randomness:
            require_unused(state)
        return self.reader.read(returned, size)

    def _judged(self, returned: Any, size: int) -> Any:
        """Return what is judged of what a call returned."""
        if self._change is None:
            return returned
        judged = self._change(returned)
        if size == TRIAL and isinstance(returned, (np.ndarray, list)):
            _require_rowwise(self._change, returned, judged)
        return judged

    def _remember(self, which: int, outputs: Outputs | None) -> None:
        if outputs is not None and len(self._seen[which]) < 2:
            first = outputs.take(slice(0, 1)).keys().tolist()
            self._seen[which].update(first)
            varied = (outputs.values != outputs.values[0]).any() or (
                outputs.symbols is not None and bool((outputs.symbols != outputs.symbols[0]).any())
            )
            if varied:
                self._seen[which].add(b"another")


def _require_rowwise(change: Callable[[Any], Any], outputs: Any, judged: Any) -> None:
    """Refuse a statistic that mixes outputs: they would depend on one another then."""
    half = len(outputs) // 2
    reader = Reader()
    whole = reader.read(judged, len(outputs)).take(slice(half, None))
    if not same_outputs(reader.read(change(outputs[half:]), len(outputs) - half), whole):
        raise InvalidArgument("a statistic must map each output by itself, but its values changed with the other outputs; do not mix rows")


def split(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """Return independent generators made from one, also from a bit generator that cannot spawn. Raises :class:`InvalidArgument`."""
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(f"a numpy.random.Generator was expected, but {type(rng).__name__} was found; pass default_rng()")
    try:
        return list(rng.spawn(count))
    except TypeError:
        return [np.random.default_rng([int(word) for word in rng.integers(0, 2**63, size=4)]) for _ in range(count)]


def _interleave(first: Outputs | None, second: Outputs | None, is_first: Booleans) -> Outputs:
    """Return the outputs of both data sets in the order of the labels."""
    made = [part for part in (first, second) if part is not None]
    width = max(part.width for part in made)
    values = np.empty((len(is_first), width))
    with_symbols = any(part.symbols is not None or part.width < width for part in made)
    symbols = np.zeros((len(is_first), width), dtype=np.int32) if with_symbols else None
    for part, rows in ((first, is_first), (second, ~is_first)):
        if part is None:
            continue
        wide = part.widen(width)
        values[rows] = wide.values
        if symbols is not None and wide.symbols is not None:
            symbols[rows] = wide.symbols
    return Outputs(values, symbols)


def same_outputs(first: Outputs, second: Outputs) -> bool:
    """Tell whether two tables hold the same outputs, up to the rounding of sums in another order."""
    width = max(first.width, second.width)
    one, other = first.widen(width), second.widen(width)
    marks = [np.zeros(t.values.shape, dtype=np.int32) if t.symbols is None else t.symbols for t in (one, other)]
    return np.array_equal(marks[0], marks[1]) and np.allclose(one.values, other.values, rtol=1e-9, atol=0.0)


def _require_alike(calls: Sequence[Outputs]) -> None:
    """Refuse calls whose outputs differ from call to call: then the outputs of a call share noise, and are not independent draws."""
    place = _find_unlike(calls)
    if place:
        raise UnusableOutputs(
            f"place {place} of the outputs differs between calls more than within them, so that the outputs of a call share noise; "
            "draw all noise anew for every output"
        )


def _find_unlike(groups_of_outputs: Sequence[Outputs]) -> int:
    """Return the number of a place, from 1, whose numbers do not have one law in all groups; 0 where none is found.

    Kruskal and Wallis's rank test on each place, at an error of 1e-9: a correct mechanism is not refused by chance.
    """
    from scipy.stats import kruskal  # noqa: PLC0415 - what reads a result alone runs nothing

    for j in range(min(*(table.width for table in groups_of_outputs), _PLACES_COMPARED)):
        groups = [table.values[:, j] for table in groups_of_outputs if table.symbols is None]
        together = np.concatenate(groups) if groups else np.empty(0)
        if len(groups) < 2 or not np.isfinite(together).all() or (together == together[0]).all():
            continue
        if kruskal(*groups).pvalue < _CHANCE:
            return j + 1
    return 0
