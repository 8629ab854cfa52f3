"""The other side of ``proofs_check.audit.adapters.in_processes``: a process that runs a mechanism and watches it.

Starting a worker imports NumPy and little else. What goes wrong is sent back as an error; the parent raises it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from profiles.errors import PDPError
from profiles.private import locate_failure, quote_failure
from proofs_check.audit.calls import call_watched, collect_outputs, global_state, require_unchanged, require_unused
from proofs_check.audit.errors import MechanismRaised
from proofs_check.audit.memory import copy_mechanism
from proofs_check.audit.outputs import require_outputs
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


def serve(connection: Connection) -> None:
    """Run chunks as they come until the parent closes the connection or ends."""
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C is for the parent, which ends this process and all that it has started
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # standard output belongs to the parent
    sys.stdout = sys.stderr
    made = _attempt(lambda: _set_up(pickle.loads(connection.recv_bytes())))  # noqa: S301 - the parent sent it
    if isinstance(made, PDPError):
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
        connection.send_bytes(pickle.dumps(outcome) if isinstance(outcome, PDPError) else outcome)


def run_chunk(mechanism: Callable[..., Any], task: Task, pickled: bytes, checked: set[int], *, own_randomness: bool) -> bytes:
    """Return the pickled outputs of one chunk. The data set is read anew and the mechanism copied: nothing done to them stays.

    Raises :class:`SharedGenerator`, :class:`UnusableOutputs`, :class:`MechanismRaised` for outputs that cannot be sent.
    """
    dataset = pickle.loads(pickled)  # noqa: S301 - the parent sent it
    rng = np.random.default_rng(np.random.SeedSequence(task.entropy, spawn_key=(task.chunk,)))
    before = global_state()
    fresh = mechanism if own_randomness else copy_mechanism(mechanism)
    returned = collect_outputs(fresh(dataset, rng, task.size), task.size)
    if not own_randomness:
        require_unused(before)
    if task.dataset not in checked:
        checked.add(task.dataset)
        require_unchanged(pickle.loads(pickled), dataset)  # noqa: S301 - the parent sent it
    require_outputs(returned, task.size)
    try:
        return pickle.dumps(returned)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise MechanismRaised(
            f"the outputs cannot be sent from a worker process ({type(error).__name__}); return numbers or texts",
            private=quote_failure(error),
        ) from None


def _set_up(setup: Setup) -> tuple[Callable[..., Any], bool]:
    made = load_object(setup.reference, "a mechanism") if setup.pickled is None else pickle.loads(setup.pickled)  # noqa: S301 - the parent sent it
    return (OneAtATime(made) if setup.one_at_a_time else made), setup.own_randomness


def _attempt(run: Callable[[], Any]) -> Any:
    """Return what the call returns, or the error to be raised in the parent: one of the project's, which the parent can read."""
    try:
        return call_watched(run, None)
    except BaseException as error:
        if isinstance(error, PDPError) and type(error).__module__ in ("profiles.errors", "proofs_check.audit.errors"):
            return error
        return MechanismRaised(f"the mechanism raised {locate_failure(error)}; correct it, or its data set", private=quote_failure(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
