"""Ctrl-C, and a polite request to end: exit codes 130 and 143, one line or none, no traceback, and nothing half-written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from accountant.cli import main
from accountant.cli.streams import Terminated
from tests.mutants.attacks import ATTACKS

SLOW = """
import time
from pathlib import Path


def mechanism(dataset, rng, size):
    Path("started").touch()
    time.sleep(600)
"""
LONG = 1_500_000


@pytest.fixture
def folder(tmp_path, lloyd, heeding_interrupts):
    """A data set that takes a while to be written as text, an old output, and a mechanism that does not come back."""
    np.save(tmp_path / "data.npy", np.linspace(0, 4, LONG))
    (tmp_path / "out.csv").write_text("old")
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path


def interrupt(folder: Path, arguments: list[str], ready: Callable[[], bool], number: signal.Signals) -> tuple[int, str]:
    """Start the command, send the signal when ``ready`` says so, and return the exit code and standard error."""
    process = subprocess.Popen(
        [sys.executable, "-m", "accountant.cli", *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        end = time.monotonic() + 200
        while not ready() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        process.send_signal(number)
        error = process.communicate(timeout=120)[1]
    finally:
        process.kill()
    return process.returncode, error


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "number", "code"),
    [("weights", signal.SIGINT, 130), ("sample", signal.SIGTERM, 143)],
)
def test_files_are_whole_or_untouched(folder, command, number, code):
    before = sorted(path.name for path in folder.iterdir())
    arguments = [command, "lloyd.toml", "-e", "20", "--data", "data.npy", "--statistic", "z=l2", "--out", "out.csv"]
    found, error = interrupt(folder, arguments, lambda: any(folder.glob(".out.csv.*.tmp")), number)
    assert found == code, error
    assert "Traceback" not in error
    assert (folder / "out.csv").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_terminal_that_is_closed_ends_the_command_unless_nohup_says_no():
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        main._listen()
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Terminated) as stopped:
            signal.raise_signal(signal.SIGHUP)
        assert stopped.value.code == 129
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@pytest.mark.thorough
def test_audits_end_with_their_workers(folder):
    arguments = [
        "audit",
        "slow.py:mechanism",
        "--dataset",
        "[1]",
        "--neighbor",
        "[]",
        "--claimed",
        "1",
        "--plot",
        "plot.png",
        "--processes",
        "1",
    ]
    began = time.monotonic()
    found, error = interrupt(folder, arguments, (folder / "started").exists, signal.SIGINT)
    assert (found, error) == (130, "pdp: interrupted; nothing was left half-written\n")
    assert time.monotonic() - began < 400  # the worker was not waited for
    assert not (folder / "plot.png").exists()
    assert not list(folder.glob(".plot*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)])
def test_checking_ends_at_once(tmp_path, heeding_interrupts, number):
    (tmp_path / "slow.json").write_text(ATTACKS["boxes of powers"](), encoding="ascii")  # as slow as a certificate may be
    asked = []

    def ready():
        time.sleep(2.5)
        asked.append(time.monotonic())
        return True

    found, _ = interrupt(tmp_path, ["check", "slow.json"], ready, number)
    assert time.monotonic() - asked[0] < 1
    assert found in (-number, 128 + number)
