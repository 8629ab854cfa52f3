"""Flipped bits of all files of a ledger, and writers that are killed while the log is copied back (``make test-ledger``: FLIPS, KILLS)."""

from __future__ import annotations

import os

import pytest

from tests.ledger.checkpoint_kills import main as kill_checkpoints
from tests.ledger.flips import CLOSED, OPEN, flip
from tests.ledger.test_kills import KILLS

pytest.importorskip("cryptography")


def test_a_flipped_bit_is_refused_repaired_or_of_no_effect(tmp_path):
    came = flip(60, 3, tmp_path)
    assert came.total() == 60
    assert {what.partition(":")[0] for what in came} <= {*CLOSED, *OPEN}
    refused, repaired = (sum(count for what, count in came.items() if what.endswith(word)) for word in ("refused", "repaired"))
    assert refused > 10
    assert repaired > 0


@pytest.mark.slow
def test_many_flipped_bits_are_refused_repaired_or_of_no_effect(tmp_path):
    flips = int(os.environ.get("FLIPS", "10000"))
    came = flip(flips, int(os.environ.get("SEED", "1")), tmp_path)
    print(f"{came.total()} bits flipped: {dict(sorted(came.items()))}")  # noqa: T201
    assert came.total() == flips


@pytest.mark.thorough
def test_writers_are_killed_during_checkpoints(tmp_path):
    kill_checkpoints(60_000, 1, 1, tmp_path)


@pytest.mark.slow
def test_many_writers_are_killed_during_checkpoints(tmp_path):
    kill_checkpoints(10**6, max(KILLS // 10, 1), int(os.environ.get("SEED", "1")), tmp_path)
