"""Runs in worker processes: the same outputs for any number of workers, independent streams, and nothing that goes wrong is lost."""

from __future__ import annotations

import copy
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from profiles.errors import InvalidArgument, InvalidData, UnreadableFile
from profiles.mechanisms import LaplaceSum
from proofs_check.audit import adapters
from proofs_check.audit.adapters import in_processes, one_at_a_time
from proofs_check.audit.calls import equal_data
from proofs_check.audit.errors import MechanismHangs, MechanismRaised, SharedGenerator, UnusableOutputs
from proofs_check.audit.runs import LabelledStream

HERE = Path(__file__).parent
COUNTER = itertools.count()
FILE = f"{HERE / 'mechanisms_to_run.py'}:"


def rng(seed=1):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def laplace():
    with in_processes(FILE + "laplace", workers=2) as pool:
        yield pool


def test_outputs_do_not_depend_on_the_number_of_workers(laplace):
    data = np.array([1.0, 2.0])
    with in_processes(FILE + "laplace", workers=1) as single:
        for size in (1, 64, 65, 5_000):
            assert np.array_equal(laplace(data, rng(size), size), single(data, rng(size), size))
            assert len(single(data, rng(), size)) == size


def test_equal_generators_give_equal_outputs_and_others_do_not(laplace):
    assert np.array_equal(laplace([1.0], rng(1), 300), laplace([1.0], rng(1), 300))
    assert not np.isin(laplace([1.0], rng(1), 300), laplace([1.0], rng(2), 300)).any()
    generator = rng(3)
    assert not np.isin(laplace([1.0], generator, 300), laplace([1.0], generator, 300)).any()


def test_no_output_appears_twice_in_a_call(laplace):
    assert len(np.unique(laplace([1.0], rng(), 50_000))) == 50_000


def test_a_bit_generator_that_cannot_spawn_will_do(laplace):
    class Plain(np.random.PCG64):
        def spawn(self, _):
            raise TypeError

    assert len(laplace([1.0], np.random.Generator(Plain(1)), 100)) == 100


def test_the_checks_of_an_audit_pass(laplace):
    stream = LabelledStream(laplace, ([1.0, 2.0], [1.0]), rng())
    assert stream.check().width == 1
    batch = stream.draw(2_000)
    assert abs(batch.outputs.values[batch.is_first].mean() - 3) < 0.3
    assert abs(batch.outputs.values[~batch.is_first].mean() - 1) < 0.3


def test_data_sets_are_told_apart_also_after_many(laplace):
    for k in [*range(12), 0, 11, 5]:
        assert abs(float(np.mean(laplace([float(k)], rng(k), 2_000))) - k) < 0.2


def test_a_data_set_that_is_changed_between_calls_is_seen(laplace):
    data = [0.0]
    assert abs(float(np.mean(laplace(data, rng(), 1_000)))) < 0.3
    data[0] = 100.0
    assert abs(float(np.mean(laplace(data, rng(), 1_000))) - 100) < 0.3


@pytest.mark.thorough
def test_objects_that_are_pickled():
    mechanism = LaplaceSum(b=1)
    with in_processes(mechanism, workers=1) as pool:
        assert pool([1.0], rng(), 70).shape == (70, 1)
        with pytest.raises(InvalidData, match="l_1 norm"):
            pool([5.0], rng(), 70)
        assert pool([1.0], rng(), 70).shape == (70, 1)


@pytest.mark.thorough
def test_one_at_a_time_in_processes():
    results = []
    for workers in (1, 2):
        with in_processes(FILE + "words", workers=workers, one_at_a_time=True) as pool:
            results.append(pool([1.0], rng(), 100))
            assert pool([], rng(), 3) == [("no",)] * 3
    assert results[0] == results[1]
    assert set(results[0]) == {"yes", None, 1.5}


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("raises", MechanismRaised, r"RuntimeError \(raised in raises, line"),
        ("leaves", MechanismRaised, "SystemExit"),
        ("crashes", MechanismRaised, "signal 11"),
        ("ends", MechanismRaised, "exit code 0"),
        ("of_numpy", SharedGenerator, "global generator"),
        ("of_python", SharedGenerator, "global generator"),
        ("changes", UnusableOutputs, "changes its data set"),
        ("too_few", UnusableOutputs, r"asked for 64 outputs, but returned an array of shape \(63,\)"),
        ("of_shape", UnusableOutputs, "one kind of container"),
        ("scalar", UnusableOutputs, "type float"),
        ("unreadable", MechanismRaised, "cannot be sent"),
        ("missing", UnreadableFile, "could not be loaded"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_raised_here(name, error, text):
    with in_processes(FILE + name, workers=1) as pool:
        with pytest.raises(error, match=text) as raised:
            pool([1.0], rng(), 64 * 6)
        assert "\n" not in str(raised.value)
        assert not pool._workers


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("dataset", [[float("nan")], np.array([np.nan, 1.0]), {"rows": [1]}, {frozenset({1})}, LaplaceSum(b=1)])
def test_data_sets_that_are_not_changed_are_not_refused(dataset):
    """NaN is unequal to itself, and so is an object to its copy where its class does not say when two are equal."""
    with in_processes(FILE + "lazily", workers=1) as pool:
        assert pool(dataset, rng(), 3) == pool(dataset, rng(), 3) == [1, 2, 3]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1.0], [2.0]),
        (np.array([1.0]), np.array([1])),
        (np.array([[1], None], dtype=object), np.array([[2], None], dtype=object)),
        ({1}, {2}),
    ],
)
def test_data_sets_that_are_changed_are_told_apart(before, after):
    assert not equal_data(before, after)
    assert equal_data(before, copy.deepcopy(before))


def test_copies_within_a_call_are_seen():
    with in_processes(FILE + "copies", workers=2) as pool, pytest.raises(UnusableOutputs, match="copies of one another"):
        LabelledStream(pool, ([1.0], []), rng()).check()


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["hangs", "hangs_with_a_child"])
def test_a_hanging_mechanism_is_killed_with_all_that_it_started(name):
    seconds = unique_seconds()
    with in_processes(FILE + name, workers=2, time_limit=0.5) as pool:
        started = time.monotonic()
        with pytest.raises(MechanismHangs, match=r"within 0.5 seconds"):
            pool([seconds], rng(), 10_000)
        assert time.monotonic() - started < 60
    assert soon_gone(str(seconds))


@pytest.mark.thorough
def test_own_randomness_is_different_in_every_process():
    with in_processes(FILE + "of_numpy", workers=2, own_randomness=True) as pool:
        assert len(np.unique(pool([1.0], rng(), 2_000))) == 2_000  # equal by chance: 2e-10


def test_what_a_mechanism_prints_does_not_reach_standard_output(capfd):
    with in_processes(FILE + "speaks", workers=1) as pool:
        pool([1.0], rng(), 10)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "hello\n")


@pytest.mark.parametrize("options", [{"workers": 0}, {"workers": True}, {"workers": 1.5}, {"workers": 10**9}, {"time_limit": 0}])
def test_unusable_options(options):
    with pytest.raises(InvalidArgument):
        in_processes(FILE + "laplace", **options)


def test_unusable_mechanisms():
    with pytest.raises(InvalidArgument, match="picklable"):
        in_processes(lambda dataset, rng, size: rng.laplace(0, 1, size))
    with pytest.raises(InvalidArgument, match="callable"):
        in_processes(3)
    with pytest.raises(InvalidArgument, match="callable"):
        one_at_a_time(3)
    with in_processes("no colon") as pool, pytest.raises(UnreadableFile, match="expected as package"):
        pool([1.0], rng(), 1)


@pytest.mark.thorough
def test_one_at_a_time_copies_a_reused_buffer():
    buffer = np.zeros(2)

    def fill(dataset, rng):
        buffer[:] = rng.normal(size=2)
        return buffer

    outputs = one_at_a_time(fill)([1.0], rng(), 3)
    assert len({tuple(output) for output in outputs}) == 3


@pytest.mark.thorough
def test_chunks_depend_on_the_size_alone():
    assert adapters._cut(10, one_at_a_time=False) == [10]
    assert adapters._cut(64 * 32 + 1, one_at_a_time=False) == [65] * 31 + [34]
    assert adapters._cut(33, one_at_a_time=True) == [2] * 16 + [1]
    assert adapters._cut(0, one_at_a_time=True) == [0]


INTERRUPTED = f"""
    import sys
    import numpy as np
    from proofs_check.audit.adapters import in_processes
    if __name__ == "__main__":
        pool = in_processes({FILE + "hangs_with_a_child"!r}, workers=2)
        pool._start()
        print(*(worker.process.pid for worker in pool._workers), flush=True)
        pool([float(sys.argv[1])], np.random.default_rng(1), 10_000)
"""


@pytest.mark.thorough
@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_stays_when_the_parent_ends(tmp_path, number):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(INTERRUPTED))
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[2])}
    seconds = str(unique_seconds())
    command = [sys.executable, script, seconds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as parent:
        try:
            workers = [int(pid) for pid in parent.stdout.readline().split()]
            assert len(workers) == 2
            wait_for(lambda: running("sleep", seconds))  # the script has the number among its own arguments
            parent.send_signal(number)
            _, err = parent.communicate(timeout=60)
        finally:
            parent.kill()
    wait_for(lambda: not running(seconds) and not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert err.count("Traceback") == (number == signal.SIGINT)  # the script's own; none of a worker


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def unique_seconds():
    """Return a number of seconds that no other test sleeps at the same time."""
    return 900 + os.getpid() / 10**7 + next(COUNTER)


def soon_gone(word, seconds=20.0):
    """Tell whether no such process is left after a while: a killed one may take a moment to go on a busy machine."""
    end = time.monotonic() + seconds
    while running(word) and time.monotonic() < end:
        time.sleep(0.05)
    return not running(word)


def running(*words):
    """Tell whether a process of this machine has all these words among its arguments."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if {word.encode() for word in words} <= set(path.read_bytes().split(b"\0")):
                return True
        except OSError:
            continue
    return False
