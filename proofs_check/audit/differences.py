"""The weighted records in which two data sets differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from profiles.errors import NotNeighbors
from profiles.mechanisms.datasets import to_weights
from profiles.numbers import exact_text
from proofs_check.audit.neighbors import Relation, count_apart, describe_distance


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRecord:
    """One weighted record (w, x): ``values`` is x, a number or an array, ``weight`` is w."""

    values: Floats = field(repr=False)
    weight: float = field(repr=False)

    def text(self) -> str:
        """Return the record in words, with at most six of its numbers."""
        flat = [f"{float(value):.6g}" for value in self.values.reshape(-1)[:6]]
        more = ", ..." if self.values.size > 6 else ""
        record = flat[0] if self.values.ndim == 0 else f"({', '.join(flat)}{more})"
        return f"x = {record}, w = {exact_text(Fraction(self.weight)) if self.weight == round(self.weight, 6) else f'{self.weight:.6g}'}"


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """The multiset difference of two weighted data sets: records of the first alone and of the second alone, and both sizes."""

    first: tuple[WeightedRecord, ...]
    second: tuple[WeightedRecord, ...]
    size_first: int = field(repr=False)
    size_second: int = field(repr=False)

    def added_record(self) -> WeightedRecord:
        """Return the one record in which the data sets differ. Raises :class:`NotNeighbors` if they are not neighbors by add/remove."""
        if len(self.first) + len(self.second) != 1:
            alone = len(self.first), len(self.second)
            raise NotNeighbors(describe_distance(alone, Relation.ADD_REMOVE), private=count_apart(alone))
        return (*self.first, *self.second)[0]

    def text(self) -> str:
        """Return the difference in words, without the records (:mod:`profiles.private`)."""
        if not self.first and not self.second:
            return "D and D' hold the same records"
        if len(self.first) + len(self.second) == 1:
            larger = "D" if self.first else "D'"
            return f"{larger} has one record more"
        if len(self.first) == len(self.second) == 1:
            return "one record of D is replaced by another one in D'"
        return "D and D' differ in several records"

    def private_text(self) -> str:
        """Return the record in which neighbors differ, or in how many others do: for the eyes of whoever may see the data."""
        alone = len(self.first), len(self.second)
        return self.added_record().text() if sum(alone) == 1 else count_apart(alone)


def find_difference(dataset: Any, neighbor: Any) -> Difference:
    """Return in which weighted records two data sets differ: each is an array of records (weights 1) or a pair ``(data, weights)``.

    Raises :class:`InvalidData` for invalid weights.

    >>> find_difference(np.array([1.0, 4.0]), np.array([1.0])).text()
    'D has one record more'
    >>> find_difference(np.array([1.0, 4.0]), np.array([1.0])).private_text()
    'x = 4, w = 1'
    """
    first, second = _Rows.of(dataset), _Rows.of(neighbor)
    of_first, of_second = Counter(first.keys), Counter(second.keys)
    return Difference(first.pick(of_first - of_second), second.pick(of_second - of_first), len(first.keys), len(second.keys))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """A data set with one key for each weighted record, the same for equal ones."""

    points: Floats
    weights: Floats
    keys: list[bytes]

    @classmethod
    def of(cls, dataset: Any) -> _Rows:
        data, weights = dataset if isinstance(dataset, tuple) and len(dataset) == 2 else (dataset, None)
        points = np.asarray(data, dtype=np.float64) + 0.0
        checked = to_weights(weights, len(points))
        return cls(points, checked, [row.tobytes() + weight.tobytes() for row, weight in zip(points, checked, strict=True)])

    def pick(self, wanted: Counter[bytes]) -> tuple[WeightedRecord, ...]:
        left, made = Counter(wanted), []
        for k, key in enumerate(self.keys) if wanted else ():
            if left[key] > 0:
                left[key] -= 1
                made.append(WeightedRecord(np.asarray(self.points[k]), float(self.weights[k])))
        return tuple(made)
