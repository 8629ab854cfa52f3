"""What the places of an output look like: continuous, or with atoms (values that return), and where their middle is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from profiles.arrays import Floats
from proofs_check.audit.outputs import Outputs

#: Rows that are looked at; a value is an atom where it has at least this share of them, and is seen at least so often.
_LOOKED_AT, _SHARE, _LEAST = 20_000, 0.002, 4
_MOST_ATOMS, _COMPARED = 400, 4


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One place of the output: its atoms (sorted), its symbols, whether anything else occurs, and median and spread of the rest."""

    atoms: Floats
    symbols: tuple[int, ...]
    continuous: bool
    centre: float
    spread: float

    @property
    def varies(self) -> bool:
        """Whether the place carries any information."""
        return self.continuous or len(self.atoms) + len(self.symbols) > 1


def look_at(outputs: Outputs, rng: np.random.Generator) -> tuple[Column, ...]:
    """Return a description of every place, from at most 20,000 rows."""
    rows = slice(None) if len(outputs) <= _LOOKED_AT else rng.choice(len(outputs), _LOOKED_AT, replace=False)
    return tuple(_look_at_one(part.values[:, 0], part.symbols) for part in (_place(outputs.take(rows), j) for j in range(outputs.width)))


def _place(outputs: Outputs, j: int) -> Outputs:
    return Outputs(outputs.values[:, j : j + 1], None if outputs.symbols is None else outputs.symbols[:, j : j + 1])


def _look_at_one(values: Floats, symbols: np.ndarray | None) -> Column:
    symbols_: tuple[int, ...] = ()
    if symbols is not None:
        symbols_ = tuple(int(symbol) for symbol in np.unique(symbols) if symbol)
        values = values[symbols[:, 0] == 0]
    if not len(values):
        return Column(np.empty(0), symbols_, continuous=False, centre=0.0, spread=1.0)
    distinct, counts = np.unique(values, return_counts=True)
    likely = (counts >= max(_LEAST, _SHARE * len(values))) | ~np.isfinite(distinct)
    if len(distinct) <= _MOST_ATOMS and 2 * (counts == 1).sum() <= len(distinct):
        likely = np.ones(len(distinct), dtype=bool)
    atoms = distinct[likely] if likely.sum() <= _MOST_ATOMS else distinct[~np.isfinite(distinct)]
    rest = values[~np.isin(values, atoms)]
    if not len(rest):
        return Column(atoms, symbols_, continuous=False, centre=0.0, spread=1.0)
    low, centre, high = np.quantile(rest, (0.25, 0.5, 0.75))
    return Column(atoms, symbols_, continuous=True, centre=float(centre), spread=float(max(high - low, 1e-300)))


def cells(outputs: Outputs, columns: tuple[Column, ...]) -> np.ndarray:
    """Return, for each output and place, 0 for a number that is not an atom, else the number of the atom or symbol: shape (n, d), int64."""
    made = np.zeros(outputs.values.shape, dtype=np.int64)
    for j, column in enumerate(columns):
        if 0 < len(column.atoms) <= _COMPARED:
            for k, atom in enumerate(column.atoms):
                made[:, j] += (k + 1) * (outputs.values[:, j] == atom)
        elif len(column.atoms):
            index = np.minimum(np.searchsorted(column.atoms, outputs.values[:, j]), len(column.atoms) - 1)
            made[:, j] = np.where(column.atoms[index] == outputs.values[:, j], index + 1, 0)
        if outputs.symbols is not None:
            symbols = outputs.symbols[:, j]
            made[:, j] = np.where(symbols > 0, symbols.astype(np.int64) + len(column.atoms), made[:, j])
    return made
