"""svmlight (libsvm) files, plain or compressed, line by line: ``LABEL INDEX:VALUE ... # comment``, absent features are 0.

Columns are called by their index, as written, and ``label``. A norm runs over the features of a line in ascending order, which gives the
same binary64 number as over all columns, because adding zeros is exact.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from accountant.columns.values import Column, NormsOfDecimals, read_exactly
from accountant.data.decimals import read_decimals
from accountant.data.frames import Batch, norm_error
from accountant.data.specs import LEAST_SQUARE, StatisticSpec
from profiles import InvalidArgument, InvalidData, UnreadableFile
from profiles.private import name_failure, quote, quote_failure

_MAX_LINE = 1 << 26
_NUMBER = rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_PLAIN = re.compile(rb"%s(?:[ \t]+[0-9]+:%s)*[ \t\r]*\n?\Z" % (_NUMBER, _NUMBER))
_LOOKS_RIGHT = re.compile(rb"[^\s:,]+(\s+(qid:\d+|\d+:[^\s:,]+))+\s*(#.*)?\Z")


def open_binary(path: Path) -> IO[bytes] | gzip.GzipFile:
    """Return the file opened for reading bytes, decompressed by its suffix."""
    match path.suffix:
        case ".bz2":
            return bz2.open(path, "rb")
        case ".gz":
            return gzip.open(path, "rb")
        case ".xz":
            return lzma.open(path, "rb")
    return path.open("rb")


def looks_like_svmlight(path: Path) -> bool:
    """Tell whether the first line that is not a comment has the form of svmlight."""
    try:
        with open_binary(path) as stream:
            for _ in range(1000):
                line = stream.readline(1 << 20)
                text = line.split(b"#")[0].strip()
                if text or not line:
                    return _LOOKS_RIGHT.match(text) is not None
    except (OSError, EOFError, lzma.LZMAError):
        return False
    return False


@dataclass(frozen=True, slots=True)
class SvmlightSource:
    """An svmlight file, read in batches of ``batch_rows`` records."""

    path: Path
    batch_rows: int

    @property
    def label(self) -> str:
        return self.path.name

    def batches(self, specs: Sequence[StatisticSpec]) -> Iterator[Batch]:
        readers = [_reader(spec) for spec in specs]
        first_row, labels, rows, lines = 0, list[float](), list[list[float]](), list[bytes]()
        for number, line in enumerate(self._lines(), start=1):
            record = self._parse(line, number)
            if record is None:
                continue
            labels.append(record[0])
            rows.append([reader.read(record) for reader in readers])
            lines.append(line)
            if len(rows) == self.batch_rows:
                yield self._batch(first_row, labels, rows, lines, specs)
                first_row, labels, rows, lines = first_row + len(rows), [], [], []
        if rows:
            yield self._batch(first_row, labels, rows, lines, specs)
        elif not first_row:
            raise InvalidData(f"{self.label} has no rows; give at least one record")

    def _batch(
        self, first_row: int, labels: list[float], rows: list[list[float]], lines: list[bytes], specs: Sequence[StatisticSpec]
    ) -> Batch:
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(specs))
        statistics: dict[str, Column] = {}
        for index, spec in enumerate(specs):
            reader = _reader(spec)
            if spec.norm is None:
                texts = pa.array([next(iter(reader.texts(line)), "0") for line in lines], pa.string())
                statistics[spec.name] = read_decimals(texts, self.label, f"{spec.column!r}", first_row)
            else:
                most = max(line.count(b":") for line in lines)
                statistics[spec.name] = NormsOfDecimals(
                    np.ascontiguousarray(table[:, index]), spec.norm, norm_error(most), _entries(reader, lines)
                )
        return Batch(first_row, len(rows), statistics, pa.RecordBatch.from_arrays([pa.array(labels, pa.float64())], names=["label"]))

    def _lines(self) -> Iterator[bytes]:
        try:
            with open_binary(self.path) as stream:
                while line := stream.readline(_MAX_LINE):
                    if len(line) == _MAX_LINE:
                        raise UnreadableFile(f"{self.label} has a line above 64 MiB; give a text file with one record per line")
                    yield line
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise UnreadableFile(
                f"{self.label} could not be read ({name_failure(error)}); check the file", private=quote_failure(error)
            ) from None

    def _parse(self, line: bytes, number: int) -> tuple[float, list[int], list[float]] | None:
        """Return label, ascending feature indices and values of a line, None for an empty one."""
        if _PLAIN.match(line) is not None:
            # the usual line, by C loops; anything odd is taken apart, or refused, below
            parts = line.replace(b":", b" ").split()
            indices, values = list(map(int, parts[1::2])), list(map(float, parts[2::2]))
            if all(map(operator.lt, indices, indices[1:])) and all(map(math.isfinite, values)):
                return float(parts[0]), indices, values
        return self._parse_slowly(line, number)

    def _parse_slowly(self, line: bytes, number: int) -> tuple[float, list[int], list[float]] | None:
        tokens = line.split(b"#", 1)[0].split()
        if not tokens:
            return None
        indices, values = list[int](), list[float]()
        last = -1
        try:
            if b"_" in line.split(b"#", 1)[0]:
                raise ValueError
            label = float(tokens[0])
            for token in tokens[1:]:
                key, separator, text = token.partition(b":")
                if key == b"qid":
                    continue
                index, value = int(key), float(text)
                if not separator or index <= last:
                    raise ValueError
                last = index
                indices.append(index)
                values.append(value)
        except ValueError:
            raise InvalidData(
                f"line {number} of {self.label} must read LABEL INDEX:VALUE ... with ascending indices, but something else was found; "
                "correct it",
                private=quote(line.decode("ascii", "replace").strip()),
            ) from None
        if not all(map(math.isfinite, values)):
            raise InvalidData(f"line {number} of {self.label} has a value that is not a finite number; correct or drop it")
        return label, indices, values


@dataclass(frozen=True, slots=True)
class _Reader:
    """Computes one statistic of one parsed line."""

    norm: str | None
    index: int | None
    only: frozenset[int]
    without: frozenset[int]

    def read(self, record: tuple[float, list[int], list[float]]) -> float:
        label, indices, values = record
        if self.norm is None:
            if self.index is None:
                return label
            return values[indices.index(self.index)] if self.index in indices else 0.0
        if self.only or self.without:
            values = [
                value
                for index, value in zip(indices, values, strict=True)
                if index not in self.without and (not self.only or index in self.only)
            ]
        if self.norm == "linf":
            return max(map(abs, values), default=0.0)
        total = 0.0
        for value in values:  # not sum(): newer Pythons compensate its rounding
            total += abs(value) if self.norm == "l1" else max(value * value, LEAST_SQUARE) if value else 0.0
        return math.sqrt(total) if self.norm == "l2" else total

    def texts(self, line: bytes) -> list[str]:
        """Return the decimals of a parsed line that the statistic is about, as they are written."""
        tokens = line.split(b"#", 1)[0].decode("ascii").split()
        if self.norm is None and self.index is None:
            return tokens[:1]
        pairs = [token.split(":", 1) for token in tokens[1:] if not token.startswith("qid:")]
        if self.norm is None:
            return [text for key, text in pairs if int(key) == self.index]
        return [text for key, text in pairs if int(key) not in self.without and (not self.only or int(key) in self.only)]


def _entries(reader: _Reader, lines: list[bytes]) -> Callable[[int], list[Fraction]]:
    return lambda row: [read_exactly(text) for text in reader.texts(lines[row])]


def _reader(spec: StatisticSpec) -> _Reader:
    if spec.column == "label":
        return _Reader(None, None, frozenset(), frozenset())
    if spec.column is not None:
        return _Reader(None, _index(spec.column), frozenset(), frozenset())
    without = frozenset(_index(name) for name in spec.without if name != "label")
    return _Reader(spec.norm, None, frozenset(map(_index, spec.only)), without)


def _index(name: str) -> int:
    if not name.isdecimal():
        raise InvalidArgument(f"svmlight columns are feature numbers or 'label', but {name[:40]!r} was asked for; give its number")
    return int(name)
