"""StatDP on a case: the largest ε that its test rejects, by bisection on the same outputs; see the package's docstring for the rules."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from statdp.hypotest import hypothesis_test, test_statistics
from statdp.selectors import select_event

from benchmarks.auditors.cases import Case, by_name
from benchmarks.auditors.workers.protocol import Answer, Stopwatch, rows, serve, summary

SELECTION = 0.1
PRECISION = 0.0005
FIRST = 0.02
CORES = 2
BATCH = 10_000
_streams: dict[int, Iterator[Any]] = {}
_place: list[Any] = []


def postprocess(name: str, outputs: NDArray[Any], case: Case) -> list[Any]:
    """The numbers (or tuples) that StatDP looks at. ``left`` and ``right`` before a name restrict it to one half of the columns."""
    table = rows(outputs)
    half, _, rest = name.partition(" ")
    if half in ("left", "right"):
        middle = table.shape[1] // 2
        return postprocess(rest, table[:, :middle] if half == "left" else table[:, middle:], case)
    if name == "count and last":
        return _count_and_last(table, case)
    return _scalar(name, table, case).tolist()


def _scalar(name: str, table: NDArray[np.float64], case: Case) -> NDArray[Any]:
    kind, _, argument = name.partition(" ")
    match kind:
        case "value":
            return table[:, 0].astype(int) if case.discrete else table[:, 0]
        case "entry":
            return np.where(np.isin(table[:, int(argument)], case.flags), 0.0, table[:, int(argument)])
        case "count":
            return (table == float(argument)).sum(axis=1)
        case "hamming":
            reference = case.reference or (1,) * (table.shape[1] // 2) + (0,) * (table.shape[1] - table.shape[1] // 2)
            return (table != np.array(reference)).sum(axis=1)
    masked = np.ma.masked_array(table, np.isin(table, case.flags))
    return {"average": masked.mean, "least": masked.min, "largest": masked.max}[kind](axis=1).filled(0.0)


def _count_and_last(table: NDArray[np.float64], case: Case) -> list[Any]:
    below, aborted = case.flags[-2:]
    last = table[np.arange(len(table)), (table != aborted).sum(axis=1) - 1]
    return list(zip((table == below).sum(axis=1).tolist(), np.where(last == below, 0.0, last).tolist(), strict=True))


def algorithm(prng: np.random.Generator, queries: int, case: str, post: str) -> Any:  # noqa: ARG001 - StatDP's signature
    """One output on a data set, named by its number in the pair, from the stream of the process's present place."""
    if queries not in _streams:
        _streams[queries] = _stream(queries, case, post)
    return next(_streams[queries])


def _stream(queries: int, case: str, post: str) -> Iterator[Any]:
    case_ = by_name(case)
    rng = np.random.default_rng([*_place, queries])
    while True:
        yield from postprocess(post, case_.mechanism(case_.pair[queries], rng, BATCH), case_)


def _at(place: list[int], call: Callable[[Any], Any], item: Any) -> Any:
    _streams.clear()
    _place[:] = place
    return call(item)


class Replaying:
    """A pool of processes in which the same outputs are drawn once: what was counted is remembered."""

    def __init__(self, pool: Any, seed: list[int]) -> None:
        self.pool, self.seed = pool, seed
        self.counted: dict[str, Any] = {}
        self._processes = CORES  # StatDP asks a pool for this

    def imap_unordered(self, call: Any, items: Iterable[Any]) -> list[Any]:
        """What the processes return, in order."""
        waiting = []
        for index, item in enumerate(items):
            selecting = isinstance(item, tuple)
            key = repr((item, call.args, call.keywords, None if selecting else index))
            if key not in self.counted:
                place = [*self.seed, 0, 0] if selecting else [*self.seed, 1, index]
                self.counted[key] = self.pool.apply_async(_at, (place, call, item))
            waiting.append(key)
        return [self.counted[key].get() for key in waiting]


class Bisection:
    """StatDP's answers on one sample."""

    def __init__(self, case: Case, samples: int, level: float, pool: Replaying) -> None:
        self.samples, self.selection, self.level, self.pool = samples, int(SELECTION * samples), level, pool
        self.inputs = [(0, 1, {"case": case.name, "post": post}) for post in case.postprocessing]
        self.probes: list[Answer] = []

    def rejected(self, epsilon: float) -> bool:
        """Whether StatDP's p-value for ε is below the level."""
        d, d_prime, kwargs, event = select_event(algorithm, self.inputs, epsilon, self.selection, self.pool, quiet=True)
        rest = self.samples - self.selection
        p = hypothesis_test(algorithm, d, d_prime, kwargs, event, epsilon, rest, self.pool, report_p2=False)
        self.probes.append({"epsilon": epsilon, "p": float(p), "post": kwargs["post"], "event": repr(event)})
        return bool(p < self.level)

    def bound(self) -> float:
        """The largest ε found that is rejected."""
        low, high = 0.0, FIRST
        while self.rejected(high):
            low, high = high, 2 * high
        while high - low > PRECISION:
            middle = (low + high) / 2
            low, high = (middle, high) if self.rejected(middle) else (low, middle)
        return low


def run(case: Case, task: dict[str, Any]) -> Answer:
    """The median bound of several runs."""
    if not case.postprocessing:
        return {"problem": "not applicable"}
    test_statistics(10, 5, 0.1, 100)  # compiled before the time starts
    runs = []
    for repeat in range(task["repeats"]):
        with multiprocessing.get_context("fork").Pool(CORES) as processes:
            processes.map(abs, range(CORES))
            watch = Stopwatch()
            bisection = Bisection(case, task["samples"], 1 - task["confidence"], Replaying(processes, [task["seed"], repeat]))
            runs.append({"bound": bisection.bound(), "seconds": watch.seconds(), "probes": bisection.probes})
    return summary(runs)


if __name__ == "__main__":
    serve(run)
