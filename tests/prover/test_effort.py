"""Effort: searches end, whatever they do, and what is around them is as before."""

import signal
import threading
import time

import pytest

from proofs_check.prover import effort
from proofs_check.prover.effort import GRACE, out_of_time, within


def busy(seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


def test_a_search_that_ends_in_time_returns_what_it_found():
    assert within(5, lambda: "found") == "found"
    assert not out_of_time()


def test_a_search_that_never_looks_at_the_clock_is_interrupted():
    before, start = signal.getsignal(signal.SIGALRM), time.monotonic()
    assert within(0.1, busy) is None
    assert time.monotonic() - start < 30
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert not out_of_time()


def test_a_search_that_waits_is_interrupted_by_real_time(monkeypatch):
    monkeypatch.setattr(effort, "REAL", 1.25)
    start = time.monotonic()
    assert within(0.1, lambda: time.sleep(60)) is None
    assert time.monotonic() - start < 30


def test_only_the_inner_search_is_interrupted():
    def outer():
        return within(0.1, busy), "outer goes on"

    assert within(60, outer) == (None, "outer goes on")


def test_an_inner_search_has_no_more_time_than_the_outer_one():
    assert within(0.1, lambda: within(60, busy)) is None


def test_a_search_can_see_that_its_time_is_over():
    def patient():
        while not out_of_time():
            pass
        return "saw it"

    assert within(0.1, patient) == "saw it"


def test_heuristics_that_catch_every_error_are_interrupted_too():
    def stubborn():
        while True:
            try:
                busy()
            except Exception:  # what an interruption must not be
                continue

    assert within(0.1, stubborn) is None


def test_errors_go_through():
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)


def test_an_alarm_of_somebody_else_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert within(0.05, lambda: busy(0.05 + GRACE + 0.3)) == "done"
        assert seen == [True]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_have_no_alarm():
    found = []
    thread = threading.Thread(target=lambda: found.append(within(0.01, lambda: busy(0.7))))
    thread.start()
    thread.join()
    assert found == ["done"]
