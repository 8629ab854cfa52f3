"""The lock of an anchor: it has a deadline, no forked process keeps it, and whoever may only read the anchor has no part in it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from accountant.ledger import Ledger, locks
from accountant.ledger.anchor import Anchor
from accountant.ledger.locks import hold
from profiles import UnwritableOutput

fcntl = pytest.importorskip("fcntl", reason="locks are of Unix")


@pytest.fixture
def anchor(tmp_path: Path) -> Anchor:
    """An anchor."""
    made = Anchor(tmp_path / "anchor", "0" * 32)
    made.create()
    return made


def lock_of(anchor: Anchor) -> int:
    """The file that its writers lock, opened."""
    with anchor.locked():
        return os.open(anchor.lock, os.O_RDWR)


def test_a_lock_has_a_deadline(anchor: Anchor) -> None:
    """Whoever was stopped while it holds the lock stops nobody for ever."""
    holder, other = lock_of(anchor), os.open(anchor.lock, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    start = time.monotonic()
    with (
        pytest.raises(UnwritableOutput, match=r"in use by another process for 0\.3 seconds; nothing was written"),
        hold(other, anchor.lock, "the anchor", 0.3),
    ):
        pass
    assert 0.3 <= time.monotonic() - start < 5
    os.close(holder)
    with hold(other, anchor.lock, "the anchor", 0.3):
        pass
    os.close(other)


def test_whoever_waits_gets_it(anchor: Anchor) -> None:
    """A holder that goes on is waited for."""
    holder = lock_of(anchor)
    fcntl.flock(holder, fcntl.LOCK_EX)
    release = threading.Timer(0.3, lambda: fcntl.flock(holder, fcntl.LOCK_UN))
    release.start()
    with anchor.locked():
        pass
    release.join()
    os.close(holder)


def test_a_forked_process_does_not_keep_it(anchor: Anchor) -> None:
    """The child has a copy of the handle, and lives on."""
    with anchor.locked():
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        handle = os.open(anchor.lock, os.O_RDWR)
        with hold(handle, anchor.lock, "the anchor", 0.5):
            pass
        os.close(handle)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_forked_process_does_not_give_it_back(anchor: Anchor) -> None:
    """A child that leaves the block leaves the lock to its parent."""
    block = anchor.locked()
    block.__enter__()
    child = os.fork()
    if child == 0:
        block.__exit__(None, None, None)
        os._exit(0)
    os.waitpid(child, 0)
    other = os.open(anchor.lock, os.O_RDWR)
    with pytest.raises(UnwritableOutput), hold(other, anchor.lock, "the anchor", 0.1):
        pass
    block.__exit__(None, None, None)
    with hold(other, anchor.lock, "the anchor", 0.1):
        pass
    os.close(other)


def test_a_lock_of_a_file_that_was_exchanged_is_none(anchor: Anchor) -> None:
    """Two that hold the locks of two files at one place would both go on."""
    old = lock_of(anchor)
    anchor.lock.unlink()
    with anchor.locked():
        pass
    with pytest.raises(UnwritableOutput, match="removed or exchanged"), hold(old, anchor.lock, "the anchor", 1):
        pass
    os.close(old)


def test_a_reader_of_the_anchor_holds_nobody_up(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anchors are public, and whoever may read a file may lock it: writers lock another one, which is for their eyes."""
    monkeypatch.setattr(locks, "WAIT_SECONDS", 1)
    ledger: Ledger = make()
    reader = os.open(tmp_path / "l.anchor", os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_EX)
    ledger.journal.catch_up()
    os.close(reader)
    assert ledger.journal.anchor.lock.stat().st_mode & 0o777 == 0o600
