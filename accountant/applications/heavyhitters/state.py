"""A pass that survives a restart: its state is a file, written atomically before a report leaves, and bound to one run of the noise.

The noise of a report is drawn, the state with the step after it is written and on disk, then the report leaves. So what was seen is never
drawn again: a pass that ends between the two loses reports that nobody saw, and goes on after them. Records that came after the last
write are lost, too, unless they are given again: records of steps that are over are skipped, and those of the step at hand count once.
A process that goes on holds a lock and writes the state anew at once, so that two processes never go on from one state. That the file was
not copied or put back nobody can check: it is a hypothesis. Digits read ahead are not in the file. Proof: docs/heavy-hitters.md, Theorem 6.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from accountant.applications.heavyhitters.domain import OUTSIDE, PublicDomain, to_integers
from accountant.applications.heavyhitters.watching import PassState, StepReport, Watch
from accountant.files import check_writable, replace_file
from accountant.guarantees import Guarantee
from profiles import InvalidArgument, InvalidData, UnreadableFile
from proofs_check.documents.entries import Document

_KIND = "pdp pass state 1"
_ARRAYS = ("slots", "left", "pending_slots", "pending_places")
_BROKEN = "{name} is not the state of a pass, or is damaged; a pass cannot go on without it: start another one, which spends epsilon again"


PASS_STATE: Document[PassState] = Document("pass state", "lets pdp monitor --state go on and claims nothing; check what --guarantee wrote")


class KeptPass:
    """Claim: all reports that leave :meth:`push` and :meth:`finish`, in all processes that use the file, have ``guarantee`` together.

    Made by ``HeavyHitterMonitor.start_kept``. Use it as a context manager: the lock is given back at the end.
    """

    __slots__ = ("_belongs", "_generation", "_ids", "_lock", "_path", "_run", "_skipping", "_spent", "_times", "_watch", "guarantee")

    def __init__(self, path: Path, watch: Watch, guarantee: Guarantee, belongs: str, times: PublicDomain) -> None:
        self.guarantee = guarantee
        self._path, self._watch, self._belongs, self._times = Path(path), watch, belongs, times
        self._run, self._generation, self._skipping = secrets.token_hex(16), 0, False
        self._ids, self._spent = _TextIds(), 0.0
        check_writable(self._path)
        self._lock = _lock(self._path)
        try:
            if self._path.exists():
                self._resume()
            self._write()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> KeptPass:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def over(self) -> int:
        return self._watch.step

    @property
    def spent(self) -> float:
        """How long the last write took, in seconds: whoever pushes less often than that spends little time on writing."""
        return self._spent

    def push(self, times: Any, users: Any, items: Any) -> tuple[StepReport, ...]:
        """Take records in the order of their times, as ``Watch.push``; after a restart those of steps that are over are skipped.

        The reports are on disk, as done, when this returns them.
        """
        if self._skipping:
            times, users, items = self._skip(times, users, items)
        before = self._watch.step
        reports = self._watch.push(times, users, items) if len(users) else ()
        if self._watch.step != before:
            self._write()
        return reports

    def finish(self, until: int | None = None) -> tuple[StepReport, ...]:
        """Return the reports of the remaining time steps, and end the pass for good."""
        reports = self._watch.finish(until)
        self._write()
        return reports

    def save(self) -> None:
        """Write the state with the records so far of the step at hand."""
        self._write()

    def close(self) -> None:
        """Give the lock back. Records since the last report are lost, unless :meth:`save` was called or they are given again."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _skip(self, times: Any, users: Any, items: Any) -> tuple[Any, Any, Any]:
        """Leave out records at the start of the stream whose steps are over, a public number of them."""
        numbers = to_integers(np.full(len(users), times) if isinstance(times, (int, np.integer)) else times, "a time")
        least = int(self._times[self._watch.step])
        late = np.flatnonzero(numbers >= least)
        if not late.size:
            return numbers[:0], users[:0], items[:0]
        self._skipping = False
        first = int(late[0])
        return numbers[first:], users[first:], items[first:]

    def _resume(self) -> None:
        header, state = _read(self._path)
        if header["belongs"] != self._belongs:
            raise InvalidArgument(f"{self._path.name} is the state of a pass with other public constants; name another file for a new pass")
        if header["path"] != str(self._path.resolve()):
            raise InvalidArgument(
                f"{self._path.name} was made at another place; a copied state would make the same noise twice: use the first"
            )
        if state.step > state.last:
            raise InvalidArgument(f"the pass of {self._path.name} is over; name another file for a new one, which spends epsilon again")
        self._watch.restore(state)
        self._run, self._generation, self._skipping = header["run"], header["generation"] + 1, True

    def _write(self) -> None:
        if self._lock is None:
            raise InvalidArgument("a pass was used after it was closed; go on from its state")
        began = time.monotonic()
        state = self._watch.export()
        texts = isinstance(state.users, list)
        header = {
            "kind": _KIND, "run": self._run, "generation": self._generation, "belongs": self._belongs, "path": str(self._path.resolve()),
            "step": state.step, "last": state.last, "texts": texts,
        }  # fmt: skip
        ids = self._ids.write(state.users) if isinstance(state.users, list) else np.asarray(state.users, dtype=np.int64)
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {name: getattr(state, name) for name in _ARRAYS}
        np.savez(buffer, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), users=ids, **arrays)
        with replace_file(self._path, private=True) as stream:
            stream.write(buffer.getbuffer())
        self._spent = time.monotonic() - began


class _TextIds:
    """Ids as one JSON list: only what is new is written again, as a pass adds users at the end and forgets none."""

    __slots__ = ("_count", "_text")

    def __init__(self) -> None:
        self._count, self._text = 0, bytearray(b"[")

    def write(self, users: list[str]) -> np.ndarray[Any, np.dtype[np.uint8]]:
        new = json.dumps(users[self._count :])[1:-1].encode()
        if new:
            self._text += b"," + new if self._count else new
        self._count = len(users)
        return np.frombuffer(bytes(self._text) + b"]", dtype=np.uint8)


def _read(path: Path) -> tuple[dict[str, Any], PassState]:
    """Return the header and the state of a file. Raises :class:`UnreadableFile`."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            users = json.loads(arrays["users"].tobytes()) if header["texts"] else arrays["users"].astype(np.int64)
            parts = [arrays[name] for name in _ARRAYS]
        state = PassState(int(header["step"]), int(header["last"]), users, *parts)
        _check(header, state)
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, RuntimeError, InvalidData) as error:
        if isinstance(error, PermissionError):
            raise UnreadableFile(f"{path.name} could not be read ({error.strerror}); check the rights") from None
        raise UnreadableFile(_BROKEN.format(name=path.name)) from None
    except Exception as error:  # a broken archive raises an error of zipfile or zlib
        if type(error).__module__ not in ("zipfile", "zlib"):
            raise
        raise UnreadableFile(_BROKEN.format(name=path.name)) from None
    return header, state


def _check(header: dict[str, Any], state: PassState) -> None:
    """Refuse what no pass has written. Raises :class:`InvalidData`."""
    slots: Sequence[int] = state.slots.tolist()
    sound = (
        header["kind"] == _KIND
        and isinstance(header["run"], str)
        and isinstance(header["generation"], int)
        and len(state.users) == len(state.slots) == len(state.left)
        and sorted(slots) == list(range(len(slots)))
        and len(state.pending_slots) == len(state.pending_places)
        and all(not len(part) or int(part.min()) > OUTSIDE for part in (state.pending_slots, state.pending_places))
        and (not len(state.pending_slots) or int(state.pending_slots.max()) < len(slots))
    )
    if not sound:
        raise InvalidData("a state of a pass was expected, but its parts do not belong together; start another pass")


def _lock(path: Path) -> int | None:
    """Return a lock beside the state that ends with the process. Raises :class:`InvalidArgument` where another process has it."""
    import fcntl  # noqa: PLC0415 - not on every system

    handle = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        with contextlib.suppress(OSError):
            os.close(handle)
        raise InvalidArgument(f"another process goes on from {path.name}; wait until it has ended") from None
    return handle
