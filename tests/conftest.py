"""What all tests share: a command line in process, and settings that let no verdict depend on luck or on what else the machine does.

Hypothesis draws the same examples in every run, and has no limits in real time; seeds and noise of the operating system's source are
repeated too, test by test, where no process is started; ``make properties`` draws both afresh. Lines are of 80 columns without colour.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from accountant.cli.main import invoke

settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fresh", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("repeatable")

for _name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERMINAL_WIDTH"):
    os.environ.pop(_name, None)
os.environ |= {"COLUMNS": "80", "LINES": "25"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let ``thorough(quick=n)`` leave n cases of a test to the quick level, the first among them, the others evenly spread."""
    cases = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("thorough")
        if mark is not None and mark.kwargs.get("quick"):
            cases[item.nodeid.partition("[")[0], mark.kwargs["quick"]].append(item)
    for (_, quick), found in cases.items():
        for case in {number * len(found) // quick for number in range(min(quick, len(found)))}:
            found[case].own_markers = [mark for mark in found[case].own_markers if mark.name != "thorough"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let ``os.urandom``, which all seeds, names and noise come from, repeat what it gave to this test before.

    A test that is about the source itself, or that forks, has the mark ``real_randomness``. The stand-in is written in C, as the source
    is: no bytecode runs while NumPy draws.
    """
    if item.config.getoption("--hypothesis-profile") == "fresh" or item.get_closest_marker("real_randomness"):
        return (yield)
    real = os.urandom
    os.urandom = random._urandom = np.random.default_rng(zlib.crc32(item.nodeid.encode())).bytes
    try:
        return (yield)
    finally:
        os.urandom = random._urandom = real


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self) -> bool:
        """Exit code 2, nothing on standard output, one line on standard error, no traceback."""
        lines = self.err.strip().splitlines()
        one_line = len(lines) == 1 and lines[0].startswith("pdp: ") and "internal error" not in lines[0]
        return self.code == 2 and not self.out and one_line and "Traceback" not in self.err


@pytest.fixture
def pdp(capsys):
    """Run the command line."""

    def run(*arguments: object) -> Result:
        code = invoke([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def heeding_interrupts():
    """Let processes that a test starts heed an interrupt: a shell in the background has its children, and theirs, ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def same_seed(monkeypatch):
    """Give commands without ``--seed`` the same one in every run: their audits may refute by chance a claim that is exactly true."""
    monkeypatch.setattr(secrets, "randbits", lambda _: 2)
