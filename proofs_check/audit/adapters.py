"""Adapters from users' functions to the interface of an audit: one output at a time, and runs in worker processes."""

from __future__ import annotations

import contextlib
import hashlib
import math
import multiprocessing
import os
import pickle
import signal
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any, NoReturn

import numpy as np

from profiles.errors import InvalidArgument, PDPError
from profiles.numbers import to_integer
from profiles.private import quote_failure
from proofs_check.audit.calls import require_time_limit
from proofs_check.audit.errors import MechanismHangs, MechanismRaised, UnusableOutputs
from proofs_check.audit.runs import AuditedMechanism
from proofs_check.audit.worker import KEPT, OneAtATime, Setup, Task, serve

_MOST_WORKERS = 256
#: Chunks of a call: a number that does not depend on the number of workers, and no less than so many outputs in one of a batch function.
_CHUNKS, _LEAST_IN_CHUNK = 32, 64
#: Seconds that a worker gets for importing what it runs.
_START_LIMIT = 120.0
_WORDS = 4


def one_at_a_time(function: Callable[[Any, np.random.Generator], Any]) -> AuditedMechanism:
    """Return the mechanism that calls ``function(dataset, rng)`` once for each output and returns a list of them.

    The outputs of one call are drawn one after the other from the same generator. Raises :class:`InvalidArgument`.

    >>> one_at_a_time(lambda dataset, rng: sum(dataset) + round(rng.uniform()))([1, 2], np.random.default_rng(0), 3)
    [4, 3, 3]
    """
    if not callable(function):
        raise InvalidArgument(f"a function of a data set and a generator was expected, but {type(function).__name__} is not callable")
    return OneAtATime(function)


def in_processes(
    mechanism: Callable[..., Any] | str,
    *,
    workers: int = 2,
    time_limit: float | None = None,
    one_at_a_time: bool = False,
    own_randomness: bool = False,
) -> ProcessPool:
    """Return ``mechanism`` as one that runs in ``workers`` processes of their own: a context manager, to be closed after use.

    Claim: the outputs of a call are a function of the data set, of the state of ``rng`` and of ``size`` alone; the number of workers, their
    speed and the order in which they finish change nothing.

    ``mechanism`` is a callable that can be pickled (a function at the top level of a module, or an object made of such things) or a
    reference ``package.module:object`` or ``path/to/file.py:object``. With ``one_at_a_time`` it is called as ``mechanism(dataset, rng)``
    for each output, otherwise as ``mechanism(dataset, rng, size)`` for chunks of at least 64 outputs, so that copies within a call
    are still seen. ``time_limit`` is in seconds for one call: then all processes are killed, also in the middle of compiled code.
    ``own_randomness`` accepts a mechanism that draws from a global generator; each process has its own, seeded by the system.

    Streams: a call draws 256 bits from ``rng`` and gives every chunk the stream of its number, by NumPy's ``SeedSequence`` with that spawn
    key. It never passes ``rng`` itself to the workers: each of them would unpickle the same state and draw the same noise, so that outputs
    would come in identical copies. A fixed-sample bound assumes independent outputs; if each were counted once for every worker, its
    intervals would be too narrow, and a private mechanism would be declared a violation.

    A call raises :class:`MechanismHangs`; :class:`MechanismRaised` for what a worker raised, with its text, and for a worker that crashed;
    :class:`SharedGenerator`; :class:`UnusableOutputs`; and what the mechanism raised if it is one of the project's errors. Every error, and
    Ctrl-C, ends all processes; the next call starts new ones. What a mechanism prints goes to standard error. A script that uses this needs
    ``if __name__ == "__main__":`` around its main part, as all Python programs that start processes do.

    Raises :class:`InvalidArgument`.
    """
    to_integer(workers, "the number of workers", 1, _MOST_WORKERS)
    require_time_limit(time_limit)
    if isinstance(mechanism, str):
        return ProcessPool(Setup(mechanism, None, one_at_a_time, own_randomness), int(workers), time_limit)
    if not callable(mechanism):
        raise InvalidArgument(f"a mechanism must be callable, but {type(mechanism).__name__} is not; give a callable or a reference")
    try:
        pickled = pickle.dumps(mechanism)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InvalidArgument(
            f"a mechanism for other processes must be picklable, but it is not ({type(error).__name__}); define it at the "
            "top level of a module",
            private=quote_failure(error),
        ) from None
    return ProcessPool(Setup("", pickled, one_at_a_time, own_randomness), int(workers), time_limit)


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    connection: Connection
    datasets: set[int] = field(default_factory=set)

    def send(self, message: object) -> None:
        try:
            self.connection.send_bytes(pickle.dumps(message))
        except OSError:
            self.report_end()

    def receive(self) -> Any:
        """Return what the worker sent; its failures are raised."""
        try:
            sent = self.connection.recv_bytes()
        except (EOFError, OSError):
            self.report_end()
        try:
            reply = pickle.loads(sent)  # noqa: S301 - our own worker sent it
        except Exception as error:
            raise UnusableOutputs(
                f"the outputs cannot be read outside of the worker process ({type(error).__name__}); return numbers or texts"
            ) from None
        if isinstance(reply, PDPError):
            raise reply
        return reply

    def report_end(self) -> NoReturn:
        self.process.join(1.0)
        code = self.process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        raise MechanismRaised(
            f"a worker process ended while it ran the mechanism ({how}); correct the mechanism (or, in a script of your own, put the main "
            "part under if __name__ == '__main__')"
        )


class ProcessPool:
    """A mechanism that runs in worker processes; made by :func:`in_processes`."""

    __slots__ = ("__weakref__", "_finalizer", "_known", "_numbered", "_setup", "_time_limit", "_workers", "workers")

    def __init__(self, setup: Setup, workers: int, time_limit: float | None) -> None:
        self._setup, self.workers, self._time_limit = setup, workers, time_limit
        self._workers: list[_Worker] = []
        self._known: OrderedDict[bytes, int] = OrderedDict()
        self._numbered = 0
        self._finalizer = weakref.finalize(self, _end, self._workers)

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> ProcessPool:
        """Return the pool itself: its workers copy the mechanism for every chunk."""
        return self

    def anew(self) -> ProcessPool:
        """Return a pool of one process that has run nothing yet, for the same mechanism."""
        return ProcessPool(self._setup, 1, self._time_limit)

    def close(self) -> None:
        """End all worker processes; a later call would start new ones."""
        _end(self._workers)

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Any:
        """Return ``size`` independent outputs: an array where every chunk is one, a list otherwise. Raises: see :func:`in_processes`."""
        try:
            self._start()
            entropy = tuple(int(word) for word in rng.integers(0, 2**63, size=_WORDS))
            return _join(self._run(pickle.dumps(dataset), entropy, _cut(size, one_at_a_time=self._setup.one_at_a_time)))
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        if self._workers and all(worker.process.is_alive() for worker in self._workers):
            return
        self.close()
        context = multiprocessing.get_context("spawn")
        for _ in range(self.workers):
            ours, theirs = context.Pipe()
            with _without_interrupts():
                process = context.Process(target=serve, args=(theirs,), daemon=True)
                process.start()
                self._workers.append(_Worker(process, ours))
            theirs.close()
        for worker in self._workers:
            worker.send(self._setup)
        deadline = time.monotonic() + _START_LIMIT
        waiting = list(self._workers)
        while waiting:
            ready = _wait(waiting, deadline)
            if not ready:
                raise MechanismHangs(
                    f"a worker process was not ready within {_START_LIMIT:g} seconds; make the import of the mechanism faster"
                )
            for worker in ready:
                worker.receive()
                waiting.remove(worker)

    def _number(self, pickled: bytes) -> int:
        """Return the number of a data set; equal ones have the same, until the workers have forgotten it."""
        key = hashlib.sha256(pickled).digest()
        number = self._known.get(key)
        if number is None or number <= self._numbered - KEPT:
            self._numbered += 1
            number = self._known[key] = self._numbered
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return number

    def _run(self, pickled: bytes, entropy: tuple[int, ...], sizes: Sequence[int]) -> list[Any]:
        deadline = math.inf if self._time_limit is None else time.monotonic() + self._time_limit
        number = self._number(pickled)
        results: dict[int, Any] = {}
        pending, idle = deque(enumerate(sizes)), list(self._workers)
        busy: dict[int, tuple[_Worker, int]] = {}
        while len(results) < len(sizes):
            while idle and pending:
                worker, (chunk, size) = idle.pop(), pending.popleft()
                worker.send(Task(chunk, entropy, size, number, None if number in worker.datasets else pickled))
                worker.datasets.add(number)
                busy[id(worker)] = (worker, chunk)
            ready = _wait([worker for worker, _ in busy.values()], deadline)
            if not ready:
                raise MechanismHangs(
                    f"a call of the mechanism did not end within {self._time_limit:g} seconds; give a longer time limit or fewer samples"
                )
            for worker in ready:
                results[busy.pop(id(worker))[1]] = worker.receive()
                idle.append(worker)
        return [results[chunk] for chunk in range(len(sizes))]


def _cut(size: int, *, one_at_a_time: bool) -> list[int]:
    """Return the sizes of the chunks of a call. They depend on ``size`` alone, and so does every stream."""
    least = 1 if one_at_a_time else _LEAST_IN_CHUNK
    each = max(least, -(-size // _CHUNKS))
    return [min(each, size - start) for start in range(0, max(size, 1), each)]


def _join(parts: Sequence[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    arrays = [isinstance(part, np.ndarray) for part in parts]
    if any(arrays) and not (all(arrays) and len({part.shape[1:] for part in parts}) == 1):
        raise UnusableOutputs(
            "the mechanism must return one kind of container, but arrays of different shape, or arrays and sequences of objects, were "
            "found in different calls; return a list of outputs always"
        )
    return np.concatenate(parts) if all(arrays) else [output for part in parts for output in part]


def _wait(workers: Sequence[_Worker], deadline: float) -> list[_Worker]:
    """Return the workers that have sent something or ended; none where the deadline passed."""
    timeout = None if deadline == math.inf else max(0.0, deadline - time.monotonic())
    ready = wait([handle for worker in workers for handle in (worker.connection, worker.process.sentinel)], timeout)
    return [worker for worker in workers if worker.connection in ready or worker.process.sentinel in ready]


def _end(workers: list[_Worker]) -> None:
    """Kill all workers with everything that they have started."""
    while workers:
        worker = workers[-1]
        process = worker.process
        if process.pid is not None and process.exitcode is None:
            with contextlib.suppress(OSError, AttributeError):
                if os.getpgid(process.pid) == process.pid:
                    os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                process.kill()
        process.join()
        with contextlib.suppress(ValueError):
            process.close()
        worker.connection.close()
        workers.pop()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while a process starts: the process inherits that, and the parent notices it right after."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
