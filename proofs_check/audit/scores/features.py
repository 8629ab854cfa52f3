"""Bounded features of vectors, so that no learner is led by heavy tails: signs, clipped distances from the median, atoms, innovations."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from profiles.arrays import Floats
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.scores.columns import Column, cells

_CLIP = 3.0
_MOST_ATOM_FEATURES = 400
_WIDEST_WHITENING, _WHITENING_ROWS = 200, 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A map from outputs to bounded features: which numeric features, and an indicator for each atom and symbol that was seen.

    ``whitening`` is a lower triangular matrix W: features of W(y − centre), the part of each place that the places before it do not
    explain. For sums of earlier noise these are the single noise terms.
    """

    columns: tuple[Column, ...]
    signs: bool
    clipped: bool
    whitening: Floats | None = None
    _kept: list[Any] = field(default_factory=list, repr=False)

    @property
    def numbers(self) -> int:
        """How many numeric features of one kind there are, before the indicators."""
        return sum(column.continuous for column in self.columns)

    def features(self, outputs: Outputs) -> Floats:
        """Return the features, shape (n, f), kept until the next outputs come: several scores use the same ones."""
        if self._kept and self._kept[0] is outputs:
            kept: Floats = self._kept[1]
            return kept
        made = self(outputs)
        self._kept[:] = [outputs, made]
        return made

    def __call__(self, outputs: Outputs) -> Floats:
        """Return the features, shape (n, f)."""
        parts: list[Floats] = []
        centred, numbers = self._centred(outputs)
        if centred.shape[1]:
            if self.whitening is not None:
                centred = centred @ self.whitening.T
            if self.signs:
                parts.append(np.sign(centred))
            if self.clipped:
                parts.append(np.clip(centred, -_CLIP, _CLIP))
        if numbers is not None:
            parts.append(self._indicators(numbers))
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(outputs), 1))

    def _centred(self, outputs: Outputs) -> tuple[Floats, np.ndarray | None]:
        """Return (y − centre)/spread of the continuous places, 0 where they hold an atom, and the cells where any place has atoms."""
        columns = self.columns
        chosen = [j for j, column in enumerate(columns) if column.continuous]
        with np.errstate(over="ignore", invalid="ignore"):
            values = outputs.values[:, chosen] if len(chosen) < outputs.width else outputs.values
            centred = (values - [columns[j].centre for j in chosen]) / [columns[j].spread for j in chosen]
        if not any(len(column.atoms) or column.symbols for column in columns):
            return centred, None
        numbers = cells(outputs, columns)
        return np.where(numbers[:, chosen] == 0, centred, 0.0), numbers

    def _indicators(self, numbers: np.ndarray) -> Floats:
        chosen = self._cells()
        made = np.empty((len(numbers), len(chosen)))
        for k, (j, cell, _) in enumerate(chosen):
            made[:, k] = numbers[:, j] == cell
        return made

    def _cells(self) -> list[tuple[int, int, Hashable]]:
        """Return place, cell and meaning of each indicator; one of them is left out where nothing else occurs at a place."""
        cells: list[tuple[int, int, Hashable]] = []
        for j, column in enumerate(self.columns):
            seen: list[tuple[int, int, Hashable]] = [(j, k + 1, float(atom)) for k, atom in enumerate(column.atoms)]
            seen += [(j, symbol + len(column.atoms), ("symbol", symbol)) for symbol in column.symbols]
            cells += seen if column.continuous else seen[1:]
        return cells[:_MOST_ATOM_FEATURES]

    def kinds(self) -> list[tuple[int, Hashable]]:
        """Return, for each feature, its place and what it measures there; equal kinds at different places mean the same."""
        places = [j for j, column in enumerate(self.columns) if column.continuous]
        made: list[tuple[int, Hashable]] = [(j, "sign") for j in places] if self.signs else []
        made += [(j, "clipped") for j in places] if self.clipped else []
        return made + [(j, ("atom", meaning)) for j, _, meaning in self._cells()]


def innovations(outputs: Outputs, columns: tuple[Column, ...]) -> Design | None:
    """Return the design of the signs of innovations; None where places are not all continuous, or hardly correlated."""
    continuous = sum(column.continuous and not len(column.atoms) and not column.symbols for column in columns)
    if not 1 < continuous == len(columns) <= _WIDEST_WHITENING or len(outputs) < 20 * continuous:
        return None
    whitening = _whiten(Design(columns, signs=False, clipped=True)(outputs.take(slice(0, _WHITENING_ROWS))))
    return None if whitening is None else Design(columns, signs=True, clipped=False, whitening=whitening)


def _whiten(features: Floats) -> Floats | None:
    """Return W with W C Wᵀ = 1 for the covariance C, lower triangular; None where C is singular or nearly diagonal."""
    covariance = np.cov(features, rowvar=False)
    scale = np.sqrt(np.diag(covariance))
    if not (scale > 0).all():
        return None
    correlation = covariance / np.outer(scale, scale)
    if np.abs(correlation - np.eye(len(scale))).max() < 5 / np.sqrt(len(features)):
        return None
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))
    except np.linalg.LinAlgError:
        return None
