"""The other side of ``proofs_check.audit.adapters.in_processes``: a process that runs a mechanism and watches it.

It stands outside of ``proofs_check.audit`` so that starting a worker imports NumPy and little else. What goes wrong is sent back as the
name of an error and its text; the parent raises it.
"""

from __future__ import annotations

import contextlib
import copy
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from profiles.private import locate_failure, quote_failure
from proofs_check.references import load_object

#: Data sets that a worker keeps; the parent numbers them and sends one again after so many others.
KEPT = 8


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker runs: a pickled callable, or a reference if there is no pickle."""

    reference: str
    pickled: bytes | None
    one_at_a_time: bool
    own_randomness: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One chunk: its number, its stream (entropy and spawn key), its size, and the data set, which is sent along where it is new."""

    chunk: int
    entropy: tuple[int, ...]
    size: int
    dataset: int
    pickled: bytes | None


@dataclass(frozen=True, slots=True)
class Failure:
    """An error to be raised in the parent: the name of its class, its message, and what it says of the data (:mod:`profiles.private`)."""

    error: str
    message: str
    private: str = ""


@dataclass(frozen=True, slots=True)
class OneAtATime:
    """``function(dataset, rng)``, called once for each output. An array is copied, so that a reused buffer does no harm."""

    function: Callable[[Any, np.random.Generator], Any]

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> list[Any]:
        """Return a list of ``size`` outputs."""
        outputs = []
        for _ in range(size):
            output = self.function(dataset, rng)
            outputs.append(output.copy() if isinstance(output, np.ndarray) else output)
        return outputs


def copy_mechanism(mechanism: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy that shares no state with a mechanism; itself where it cannot be copied, as functions and what holds a lock."""
    try:
        made = copy.deepcopy(mechanism)
    except Exception:
        return mechanism
    return made if callable(made) else mechanism


def serve(connection: Connection) -> None:
    """Run chunks as they come until the parent closes the connection or ends."""
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C is for the parent, which ends this process and all that it has started
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # standard output belongs to the parent
    sys.stdout = sys.stderr
    made = _attempt(lambda: _set_up(pickle.loads(connection.recv_bytes())))  # noqa: S301 - the parent sent it
    if isinstance(made, Failure):
        connection.send_bytes(pickle.dumps(made))
        return
    mechanism, own_randomness = made
    connection.send_bytes(pickle.dumps("ready"))
    datasets: dict[int, bytes] = {}
    checked: set[int] = set()
    while True:
        try:
            task: Task = pickle.loads(connection.recv_bytes())  # noqa: S301 - the parent sent it
        except EOFError:
            return
        if task.pickled is not None:
            datasets = {number: kept for number, kept in datasets.items() if number > task.dataset - KEPT}
            datasets[task.dataset] = task.pickled
        pickled = datasets[task.dataset]
        outcome = _attempt(lambda task=task, pickled=pickled: run_chunk(mechanism, task, pickled, checked, own_randomness=own_randomness))  # type: ignore[misc]
        connection.send_bytes(pickle.dumps(outcome) if isinstance(outcome, Failure) else outcome)


def run_chunk(mechanism: Callable[..., Any], task: Task, pickled: bytes, checked: set[int], *, own_randomness: bool) -> bytes | Failure:
    """Return the pickled outputs of one chunk. The data set is read anew and the mechanism copied: nothing done to them stays."""
    dataset = pickle.loads(pickled)  # noqa: S301 - the parent sent it
    rng = np.random.default_rng(np.random.SeedSequence(task.entropy, spawn_key=(task.chunk,)))
    before = global_state()
    fresh = mechanism if own_randomness else copy_mechanism(mechanism)
    returned = fresh(dataset, rng, task.size)
    if not own_randomness and global_state() != before:
        return Failure(
            "SharedGenerator",
            "the mechanism draws from a global generator (numpy.random or random), which other code and processes share; draw from the "
            "generator passed to it",
        )
    if task.dataset not in checked:
        checked.add(task.dataset)
        if not _same(pickle.loads(pickled), dataset):  # noqa: S301 - the parent sent it
            return Failure("UnusableOutputs", "the mechanism changes its data set, so that runs depend on each other; copy it first")
    problem = _find_problem(returned, task.size)
    if problem is not None:
        return problem
    try:
        return pickle.dumps(returned)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        return Failure(
            "MechanismRaised",
            f"the outputs cannot be sent from a worker process ({type(error).__name__}); return numbers or texts",
            quote_failure(error),
        )


def global_state() -> tuple[Any, ...]:
    """Return the state of the global generators of NumPy and Python."""
    name, key, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - the global generator is what is watched
    return (name, key.tobytes() if isinstance(key, np.ndarray) else key, *rest, random.getstate())


def _set_up(setup: Setup) -> tuple[Callable[..., Any], bool]:
    made = load_object(setup.reference, "a mechanism") if setup.pickled is None else pickle.loads(setup.pickled)  # noqa: S301 - the parent sent it
    return (OneAtATime(made) if setup.one_at_a_time else made), setup.own_randomness


def _attempt(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except MemoryError:
        return Failure("MechanismRaised", "the mechanism ran out of memory; ask for fewer samples")
    except BaseException as error:
        if type(error).__module__ in ("profiles.errors", "proofs_check.audit.errors"):
            return Failure(type(error).__name__, str(error), getattr(error, "private", ""))
        return Failure(
            "MechanismRaised", f"the mechanism raised {locate_failure(error)}; correct it, or its data set", quote_failure(error)
        )


def _find_problem(returned: Any, size: int) -> Failure | None:
    if isinstance(returned, np.ma.MaskedArray):
        return Failure("UnusableOutputs", "the mechanism must return plain arrays, but a masked array was found; fill missing entries")
    try:
        found = len(returned)
    except TypeError:
        return Failure(
            "UnusableOutputs",
            f"the mechanism must return {size} outputs along the first axis, but an object of type {type(returned).__name__} was found",
        )
    if found == size:
        return None
    return Failure("UnusableOutputs", f"the mechanism was asked for {size} outputs, but returned {found}; return one row an output")


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, np.ndarray) or isinstance(after, np.ndarray):
        return type(before) is type(after) and np.array_equal(before, after)
    if isinstance(before, Sequence) and isinstance(after, Sequence) and not isinstance(before, (str, bytes)):
        return len(before) == len(after) and all(_same(a, b) for a, b in zip(before, after, strict=True))
    try:
        return bool(before == after)
    except (TypeError, ValueError):
        return True


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
