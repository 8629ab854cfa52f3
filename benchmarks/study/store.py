"""Results as Parquet parts, one for each task: written atomically, and trusted only if what is read is what was written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from accountant.files import replace_file
from profiles import UnreadableFile

Row = dict[str, Any]
_KEY = b"study.key"


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of work: ``study`` names its function; ``key`` is all that the result depends on, as JSON values."""

    study: str
    key: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The key as canonical JSON: the identity of the task."""
        return json.dumps({"study": self.study, **self.key}, sort_keys=True, separators=(",", ":"))

    @property
    def label(self) -> str:
        """The values of the key, for progress and file names."""
        return " ".join(str(value) for value in self.key.values() if not isinstance(value, (dict, list)))


@dataclass(frozen=True, slots=True)
class PartStore:
    """The folder of the parts."""

    folder: Path

    def path(self, task: Task) -> Path:
        """Return where the result of a task is: a readable name, and a digest of its key."""
        name = re.sub(r"[^A-Za-z0-9.]+", "-", task.label).strip("-")[:80]
        return self.folder / task.study / f"{name}-{hashlib.sha256(task.text.encode()).hexdigest()[:12]}.parquet"

    def write(self, task: Task, rows: Sequence[Row]) -> None:
        """Write the rows of a task. Raises :class:`UnwritableOutput`; then no file is left."""
        table = pa.Table.from_pylist(list(rows)).replace_schema_metadata({_KEY: task.text.encode(), b"study.rows": str(len(rows)).encode()})
        path = self.path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as stream:
            pq.write_table(table, stream, write_page_checksum=True)

    def read(self, task: Task) -> list[Row] | None:
        """Return the rows of a task, or None if it was not run.

        Raises :class:`UnreadableFile` where the part is damaged or belongs to another task: it is neither used nor overwritten.
        """
        path = self.path(task)
        if not path.exists():
            return None
        rows, key = _load(path)
        if key != task.text:
            raise UnreadableFile(f"the part {path} was to hold {task.text[:200]}, but it holds {key[:200]}; remove it and run again")
        return rows

    def pending(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield the tasks that have no part yet. Raises :class:`UnreadableFile` for a damaged one."""
        for task in tasks:
            if self.read(task) is None:
                yield task

    def collect(self, tasks: Iterable[Task]) -> list[Row]:
        """Return the rows of all finished tasks, each with the key of its task."""
        found: list[Row] = []
        for task in tasks:
            plain = {name: value for name, value in task.key.items() if not isinstance(value, (dict, list))}
            found.extend({**plain, **row} for row in self.read(task) or ())
        return found


def _load(path: Path) -> tuple[list[Row], str]:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table, metadata = file.read(), file.schema_arrow.metadata or {}
        key, count = metadata[_KEY].decode(), int(metadata[b"study.rows"])
        rows: list[Row] = table.to_pylist()
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise UnreadableFile(f"the part {path} is damaged or no part of this study ({reason}); remove it and run again") from None
    if len(rows) != count:
        raise UnreadableFile(f"the part {path} has {len(rows)} rows, but {count} were written; remove it and run again")
    return rows, key
