"""When reports appear: by records without a clock, which is then supposed to stay unseen; by public moments alone with one."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.heavyhitters import HeavyHitterMonitor, PublicClock, StreamBatch
from accountant.applications.heavyhitters.users import UserTable
from profiles import InvalidArgument, InvalidData
from profiles.hypotheses import ARRIVAL, IN_TIME, UNSEEN_MOMENT
from tests.applications.heavyhitters.doubles import Everyone, NoNoise

MONITOR = HeavyHitterMonitor(k=2, epsilon=1, threshold=2, domain=range(3), times=range(4))
RECORDS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)), max_size=30)


class Steps:
    """A clock that does not wait, and writes down what happens; ``before`` is called when a step is to be over."""

    def __init__(self, happened, before=lambda time: None):
        self.happened, self.before = happened, before

    def close(self, time):
        self.before(time)
        self.happened.append(("over", time))

    def release(self, time):
        self.happened.append(("leaves", time))


def write_down(stream, happened):
    for record in stream:
        happened.append("record")
        yield record
    happened.append("end")


def follow(reports, happened):
    for report in reports:
        happened.append(report.time)


def test_without_a_clock_the_moment_tells_and_is_supposed_to_stay_unseen():
    """One user's record at time 2 makes two reports appear, where without the user none appears before the end; with a clock both do."""
    seen, clocked = [], []
    for stream in ([(1, 0, 0), (3, 3, 0)], [(1, 0, 0), (2, 2, 0), (3, 3, 0)]):
        happened = []
        follow(MONITOR.watch(write_down(stream, happened), bits=1), happened)
        seen.append(happened)
        moments = []
        follow(MONITOR.watch(stream, clock=Steps(moments), bits=1), moments)
        clocked.append(moments)
    assert seen == [["record"] * 2 + ["end", 0, 1, 2, 3], ["record"] * 3 + [0, 1, "end", 2, 3]]
    assert clocked[0] == clocked[1] == [step for time in range(4) for step in (("over", time), ("leaves", time), time)]
    assert UNSEEN_MOMENT in MONITOR.guarantee.hypotheses
    assert UNSEEN_MOMENT in MONITOR.start(bits=1).guarantee.hypotheses


def test_what_is_returned_together_discharges_the_moment_by_name():
    guarantee = MONITOR.run([(1, 0, 0)], bits=1).guarantee
    assert UNSEEN_MOMENT not in guarantee.hypotheses
    assert [item.evidence for item in guarantee.discharged if item.hypothesis == UNSEEN_MOMENT] == [
        "run returns all reports together, after the last of them"
    ]


def test_a_clock_discharges_the_moment_by_name_and_leaves_its_own_hypotheses_open():
    guarantee = MONITOR.start_clocked(bits=1).guarantee
    assert UNSEEN_MOMENT not in guarantee.hypotheses
    assert {ARRIVAL, IN_TIME} <= set(guarantee.hypotheses)
    assert any(item.hypothesis == UNSEEN_MOMENT and "public clock" in item.evidence for item in guarantee.discharged)
    assert not {ARRIVAL, IN_TIME} & set(MONITOR.guarantee.hypotheses)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(RECORDS, RECORDS, st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True).map(sorted), st.integers(0, 2**32))
def test_outputs_come_by_ticks_alone(one, other, ticks, seed):
    """For any two streams, cut and ordered in any way: the same number of reports, for the same times, at the same ticks; none else."""
    shapes = []
    for records in (one, other):
        rng = np.random.default_rng(seed)
        watch, shape, held = MONITOR.start_clocked(bits=1), [], [records[i] for i in rng.permutation(len(records))]
        for time in ticks:
            while held and rng.random() < 0.7:
                user, when, item = held.pop()
                assert watch.push(when, [user], [item]) is None
            shape.append([report.time for report in watch.tick(time)])
        shapes.append(shape)
    assert shapes[0] == shapes[1]
    assert [time for step in shapes[0] for time in step] == list(range(ticks[-1] + 1))


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.permutations(range(4)), st.booleans())
def test_the_reports_are_those_of_the_algorithm_on_the_records_in_time(records, late, texts):
    """Records before their step is over count, in any order; those that come later do not. Without noise, against the plain pass."""
    watch, counted, found = MONITOR.start_clocked(bits=1), [], []
    watch._watch._draws, watch._watch._users = NoNoise(), UserTable(2, Everyone())
    for time in range(4):
        coming = [record for place, record in enumerate(records) if place % 4 == late[time]]
        counted += [record for record in coming if record[1] >= time]
        users, times, items = zip(*coming, strict=True) if coming else ((), (), ())
        named = [f"u{user}" for user in users] if texts else np.array(users, dtype=np.int64)
        watch.push(np.array(times, dtype=np.int64), named, list(items))
        found += watch.tick(time)
    plain = MONITOR.start(bits=1)
    plain._draws, plain._users = NoNoise(), UserTable(2, Everyone())
    wanted = []
    for user, time, item in sorted(counted, key=lambda record: record[1]):
        wanted += plain.push(time, [user], [item])
    assert [report.items for report in found] == [report.items for report in (*wanted, *plain.finish())]


def test_a_stream_that_blocks_holds_no_report_back():
    blocked, happened = threading.Event(), []

    def stream():
        yield (1, 0, 0)
        blocked.wait()
        yield (2, 3, 0)

    try:
        follow(MONITOR.watch(stream(), clock=Steps(happened), bits=1), happened)
    finally:
        blocked.set()
    assert happened == [step for time in range(4) for step in (("over", time), ("leaves", time), time)]


def test_records_are_taken_while_the_clock_waits():
    """The thread reads until the step is over; the report has them, and appears when the clock says so."""
    users, read = range(400), threading.Event()

    def stream():
        for user in users:
            yield (user, 1, 2)
        read.set()
        yield StreamBatch(np.arange(400), np.full(400, 0), np.full(400, 1))  # of a step that is over: not counted

    clock = Steps([], before=lambda time: read.wait(30) if time == 1 else None)
    monitor = HeavyHitterMonitor(k=2, epsilon=1, threshold=40, domain=range(3), times=range(1, 3))
    assert [report.items for report in monitor.watch(stream(), clock=clock, bits=1)] == [(2,), ()]


def join_readers(_time=None):
    readers = [thread for thread in threading.enumerate() if thread.name == "records of a clocked pass"]
    for thread in readers:
        thread.join(30)
    assert not any(thread.is_alive() for thread in readers)


def test_what_the_thread_meets_is_raised_when_the_step_is_over():
    with pytest.raises(InvalidData, match="time"):
        list(MONITOR.watch([(1, "noon", 0)], clock=Steps([], before=join_readers), bits=1))


def test_a_consumer_that_stops_stops_the_thread():
    taken = []

    def stream():
        for user in range(10**9):
            taken.append(user)
            yield (user, 0, 0)

    reports = MONITOR.watch(stream(), clock=Steps([]), bits=1)
    next(reports)
    reports.close()
    join_readers()


def test_moments_of_the_public_clock():
    now, slept = [100.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    clock = PublicClock(seconds=10, work=2, first=5, now=lambda: now[0], sleep=sleep)
    assert clock.moments(5) == (110.0, 112.0)
    clock.close(5)
    assert now[0] == 110.0
    clock.release(5)
    assert now[0] == 112.0
    clock.close(6)
    now[0] += 25.0  # the work took 25 seconds, and 2 are for it: the report leaves three steps late, not 23 seconds
    clock.release(6)
    assert now[0] == 152.0
    clock.close(30)
    assert max(slept) <= 60.0
    assert now[0] == 360.0


@pytest.mark.parametrize(
    "given", [{"seconds": 0, "work": 1}, {"seconds": 1, "work": -1}, {"seconds": "1", "work": 1}, {"seconds": 1, "work": 1, "first": 0.5}]
)
def test_unusable_clocks_are_refused(given):
    with pytest.raises(InvalidArgument):
        PublicClock(**given)
    with pytest.raises(InvalidArgument, match="clock"):
        next(MONITOR.watch([], clock=3.0, bits=1))


def test_unusable_calls_are_refused():
    watch = MONITOR.start_clocked(bits=1)
    watch.tick(1)
    for time in (1, 0, 4, "2", True, 2.0):
        with pytest.raises(InvalidArgument, match="time step"):
            watch.tick(time)
    with pytest.raises(InvalidData, match="one length"):
        watch.push([2, 2], [1], [0])
    with pytest.raises(InvalidData):
        watch.push(2.5, [1], [0])
    with pytest.raises(InvalidArgument, match="copied"):
        copy.copy(watch)
    assert [report.time for report in watch.tick(3)] == [2, 3]
    with pytest.raises(InvalidArgument, match="over"):
        watch.tick(3)
