"""Effort: searches end after a counted amount of work, and at the safety limit whatever they do; what is around them is as before."""

import signal
import threading
import time

import pytest

from proofs_check.prover import effort
from proofs_check.prover.effort import UNITS, OutOfTime, apart, memory, out_of_time, spend, within, within_saying_why


def busy(seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


def work(seconds, step=0.001):
    for _ in range(round(seconds / step)):
        spend(step * UNITS)
    return "done"


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(effort, "LIMIT", 0.2)


def in_a_thread(action):
    found = []
    thread = threading.Thread(target=lambda: found.append(action()))
    thread.start()
    thread.join()
    return found[0]


def test_a_search_that_ends_in_time_returns_what_it_found():
    assert within(5, lambda: "found") == "found"
    assert within_saying_why(5, lambda: work(4)) == ("done", None)
    assert not out_of_time()


def test_work_is_counted_and_no_clock_is_looked_at(monkeypatch):
    for name in ("monotonic", "process_time", "thread_time", "perf_counter", "time"):
        monkeypatch.setattr(time, name, lambda: pytest.fail("a clock"))
    assert within(1, lambda: work(0.99)) == "done"
    assert within(1, lambda: work(1.01)) is None


def test_a_search_that_is_slow_but_does_little_goes_on():
    assert within(0.001, lambda: busy(0.3)) == "done"


def test_the_reason_says_that_the_machine_does_not_matter():
    found, why = within_saying_why(1, lambda: work(2))
    assert found is None
    assert "the same on every machine" in why
    assert "faster" not in why


def test_only_the_inner_search_ends():
    def outer():
        return within(0.1, lambda: work(2)), work(0.5)

    assert within(60, outer) == (None, "done")


def test_an_inner_search_has_no_more_work_than_the_outer_one():
    reached = []

    def outer():
        within(60, lambda: work(60))
        reached.append("went on")

    assert within(0.1, outer) is None
    assert not reached


def test_the_work_of_an_inner_search_counts_for_the_outer_one():
    def outer():
        for _ in range(3):
            assert within(0.4, lambda: work(0.39)) == "done"

    assert within_saying_why(1, outer)[1] is not None


def test_a_search_apart_costs_the_outer_one_nothing_and_knows_nothing_of_it():
    def outer():
        memory("x")[1] = "outer"
        inner = apart(5, lambda: (work(4), dict(memory("x"))))
        return inner, dict(memory("x")), work(0.5)

    assert within(1, outer) == (("done", {}), {1: "outer"}, "done")
    assert within(1, lambda: apart(0.1, lambda: work(4))) is None


def test_a_search_forgets_what_it_knew():
    assert within(1, lambda: memory("x").setdefault(1, 2)) == 2
    assert within(1, lambda: dict(memory("x"))) == {}
    memory("x")[1] = 2
    assert memory("x") == {}


def test_a_search_can_see_that_its_work_is_done():
    def patient():
        spend(0.1 * UNITS)
        return out_of_time()

    assert within(0.1, patient) is True
    assert within(0.2, patient) is False


def test_heuristics_that_catch_every_error_end_too():
    def stubborn():
        while True:
            try:
                spend(1000)
            except Exception:  # what the end of a search must not be
                continue

    assert within(0.1, stubborn) is None


def test_errors_go_through():
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)


@pytest.mark.thorough(quick=1)
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("where", [lambda action: action(), in_a_thread], ids=["main", "thread"])
def test_a_search_that_counts_nothing_is_interrupted_in_every_thread(where):
    start = time.monotonic()
    found, why = where(lambda: within_saying_why(5, busy))
    assert time.monotonic() - start < 30
    assert found is None
    assert "safety limit of 0.2 s" in why
    assert "faster machine" in why
    busy(0.5)  # nothing comes late


@pytest.mark.usefixtures("short")
def test_an_alarm_of_somebody_else_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        assert within(5, busy) is None
        assert seen == [True]
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("short")
def test_the_limit_ends_the_outermost_search_even_where_it_is_swallowed_once():
    swallowed = []

    def stubborn():
        try:
            busy()
        except OutOfTime:
            swallowed.append(True)
        return within(60, busy), "went on"

    assert within(60, stubborn) is None
    assert swallowed


@pytest.mark.thorough
def test_searches_that_end_just_at_the_limit_leave_nothing_behind(monkeypatch):
    monkeypatch.setattr(effort, "LIMIT", 0.01)
    monkeypatch.setattr(effort, "AGAIN", 0.001)
    outcomes = {within(60, lambda part=i % 10: busy(0.0095 + 0.0001 * part)) for i in range(150)}
    assert outcomes <= {"done", None}
    busy(0.1)  # an interruption that comes late would end the test
    time.sleep(0.1)
    assert not [thread for thread in threading.enumerate() if thread.name == "search-limit"]


def test_two_threads_count_apart():
    def one(seconds):
        return in_a_thread(lambda: within(1, lambda: work(seconds)))

    assert within(1, lambda: (work(0.9), one(0.9))) == ("done", "done")
