"""Scores of finite outputs: the log ratio of the counts of each exact pattern, alone or together with a number that it carries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from profiles.arrays import Booleans, Floats
from proofs_check.audit.outputs import Outputs, Reader
from proofs_check.audit.scores.columns import Column, cells
from proofs_check.audit.scores.interface import Score, log_ratios, number_text

_MIX = np.uint64(0x9E3779B97F4A7C15)
_VALUE_BINS = 24
_FEW_PATTERNS = 256
#: Rows in which an example of a pattern is looked for when it is put in words.
_SHOWN_ROWS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    keys: np.ndarray
    ratios: Floats
    weights: Floats
    text: Callable[[int], str]

    def look_up(self, keys: np.ndarray) -> Floats:
        index = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[index] == keys, self.ratios[index], 0.0)

    def describe(self, threshold: float, above: bool) -> str:  # noqa: FBT001
        chosen = np.flatnonzero(self.ratios >= threshold if above else self.ratios <= threshold)
        common = chosen[np.argsort(-self.weights[chosen])]
        more = f" and {len(chosen) - 4} more patterns" if len(chosen) > 4 else ""
        return "output " + " or ".join(self.text(int(i)) for i in common[:4]) + more


def pattern_scores(outputs: Outputs, is_first: Booleans, columns: tuple[Column, ...], reader: Reader) -> list[Score]:
    """Return scores of the pattern of atoms and symbols, and of the pattern with the numbers beside it in quantile bins.

    None where there are no atoms, or where patterns hardly return, so that counting them would learn nothing.
    """
    if not any(column.varies and (len(column.atoms) or column.symbols) for column in columns):
        return []
    plain = partial(_text, columns=columns, reader=reader, edges=None)
    made = [_score("pattern", outputs, is_first, lambda rows: _keys(cells(rows, columns)), plain)]
    if any(column.continuous and (len(column.atoms) or column.symbols) for column in columns):
        edges = _quantiles(outputs, cells(outputs, columns))
        binned = partial(_text, columns=columns, reader=reader, edges=edges)
        made.append(_score("pattern and value", outputs, is_first, lambda rows: _keys(_binned(rows, columns, edges)), binned))
    return [score for score in made if score is not None]


def has_few_patterns(outputs: Outputs, columns: tuple[Column, ...]) -> bool:
    """Tell whether outputs are finite and each pattern was seen often enough to be judged by itself, so that no other score is needed."""
    if any(column.continuous for column in columns):
        return False
    return len(np.unique(_keys(cells(outputs, columns)))) <= min(_FEW_PATTERNS, len(outputs) // 100)


def _score(
    name: str,
    outputs: Outputs,
    is_first: Booleans,
    key: Callable[[Outputs], np.ndarray],
    say: Callable[[Outputs], str],
) -> Score | None:
    seen = key(outputs)
    keys = np.unique(seen)
    if len(keys) < 2 or len(keys) > max(16, len(outputs) // 3):
        return None
    first, second = (_count(keys, seen[labels]) for labels in (is_first, ~is_first))
    shown, shown_keys = outputs.take(slice(0, _SHOWN_ROWS)), seen[:_SHOWN_ROWS]

    def text(pattern: int) -> str:
        rows = np.flatnonzero(shown_keys == keys[pattern])[:1]
        return say(shown.take(rows)) if len(rows) else "a rare pattern"

    table = _Table(keys, log_ratios(first, second), first + second, text)
    return Score(name, lambda rows: table.look_up(key(rows)), table.describe)


def _count(keys: np.ndarray, places: np.ndarray) -> Floats:
    """Return how often each of the sorted ``keys`` was found."""
    seen, counts = np.unique(places, return_counts=True)
    made = np.zeros(len(keys))
    made[np.searchsorted(keys, seen)] = counts
    return made


def _keys(numbers: np.ndarray) -> np.ndarray:
    """Return one number for each row of cells. Two rows may share one by accident, which makes a score worse but never unsound."""
    keys = np.zeros(len(numbers), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in numbers.T:
            keys = (keys ^ column.astype(np.uint64)) * _MIX
            keys ^= keys >> np.uint64(29)
    return keys


def _quantiles(outputs: Outputs, numbers: np.ndarray) -> list[Floats]:
    made = []
    for j in range(outputs.width):
        values = outputs.values[numbers[:, j] == 0, j]
        enough = len(values) > 10 * _VALUE_BINS
        made.append(np.quantile(values, np.arange(1, _VALUE_BINS) / _VALUE_BINS) if enough else np.empty(0))
    return made


def _binned(outputs: Outputs, columns: tuple[Column, ...], edges: list[Floats]) -> np.ndarray:
    made = cells(outputs, columns)
    for j, own in enumerate(edges):
        if len(own):
            free = made[:, j] == 0
            made[free, j] = -1 - np.searchsorted(own, outputs.values[free, j])
    return made


def _text(row: Outputs, columns: tuple[Column, ...], reader: Reader, edges: list[Floats] | None) -> str:
    parts = []
    for j, cell in enumerate(cells(row, columns)[0]):
        symbol = 0 if row.symbols is None else int(row.symbols[0, j])
        value = float(row.values[0, j])
        free = "a number" if edges is None or not len(edges[j]) else _bin_text(edges[j], value)
        parts.append(reader.name(symbol) if symbol else number_text(value) if cell else free)
    return parts[0] if len(parts) == 1 else "(" + ", ".join(parts) + ")"


def _bin_text(edges: Floats, value: float) -> str:
    bounds = np.concatenate(([-np.inf], edges, [np.inf]))
    k = int(np.searchsorted(edges, value))
    return f"({number_text(bounds[k])}, {number_text(bounds[k + 1])}]"
