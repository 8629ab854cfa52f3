"""Parts are whole or not there; damaged ones are refused; what is done is not done again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.study.runner import run_tasks
from benchmarks.study.store import PartStore, Row, Task
from profiles import UnreadableFile

TASK = Task("some", {"name": "a b/c", "epsilon": 0.5, "seeds": [0, 2]})
ROWS = [{"seed": 0, "cost": 1.25}, {"seed": 1, "cost": 2.5}]


def tasks(count: int) -> list[Task]:
    return [Task("some", {"number": number}) for number in range(count)]


def test_rows_come_back_with_the_plain_values_of_their_key(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    assert store.read(TASK) is None
    store.write(TASK, ROWS)
    assert store.read(TASK) == ROWS
    assert store.collect([TASK])[1] == {"name": "a b/c", "epsilon": 0.5, "seed": 1, "cost": 2.5}


def test_a_task_without_rows_is_done_as_well(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    store.write(TASK, [])
    assert store.read(TASK) == []
    assert list(store.pending([TASK])) == []


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_part_that_was_cut_off_is_refused(tmp_path: Path, keep: float) -> None:
    store = PartStore(tmp_path)
    store.write(TASK, ROWS)
    path = store.path(TASK)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep if keep >= 1 else keep * len(content))])
    with pytest.raises(UnreadableFile, match=r"damaged or no part of this study.*remove it and run again"):
        run_tasks(store, [TASK], lambda _: ROWS, jobs=1)
    assert path.stat().st_size < len(content)  # neither used nor overwritten


def test_a_changed_byte_of_the_data_is_refused(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    rows = [{"cost": float(number)} for number in range(2_000)]
    store.write(TASK, rows)
    path = store.path(TASK)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(UnreadableFile, match="damaged"):
        store.read(TASK)


def test_a_part_of_another_task_is_refused(tmp_path: Path) -> None:
    store, other = PartStore(tmp_path), Task("some", {"name": "other"})
    store.write(TASK, ROWS)
    store.path(other).write_bytes(store.path(TASK).read_bytes())
    with pytest.raises(UnreadableFile, match=r"was to hold .*other.* but it holds"):
        store.read(other)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    store, seen = PartStore(tmp_path), list[int]()

    def work(task: Task) -> list[Row]:
        seen.append(task.key["number"])
        if len(seen) == 3:
            raise KeyboardInterrupt
        return [{"value": task.key["number"]}]

    with pytest.raises(KeyboardInterrupt):
        run_tasks(store, tasks(5), work, jobs=1)
    assert seen == [0, 1, 2]
    assert run_tasks(store, tasks(5), work, jobs=1) == 3
    assert seen == [0, 1, 2, 2, 3, 4]
    assert [row["value"] for row in store.collect(tasks(5))] == [0, 1, 2, 3, 4]


def test_a_run_that_is_killed_leaves_whole_parts_only(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from benchmarks.study.store import PartStore, Task\nfrom benchmarks.study.runner import run_tasks\n"
        "def work(task):\n    time.sleep(0.05)\n    return [{'value': task.key['number']}]\n"
        "run_tasks(PartStore(Path(sys.argv[1])), [Task('some', {'number': n}) for n in range(2000)], work, jobs=1)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stderr=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 60
        while not list(tmp_path.glob("some/*.parquet")) and time.monotonic() < limit:
            time.sleep(0.02)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    store = PartStore(tmp_path)
    left = list(store.pending(tasks(2000)))  # reads every part that is there
    assert 0 < len(left) < 2000
    assert run_tasks(store, tasks(3), lambda task: [{"value": task.key["number"]}], jobs=1) <= 3
    assert [row["value"] for row in store.collect(tasks(3))] == [0, 1, 2]
