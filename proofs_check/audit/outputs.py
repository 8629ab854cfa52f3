"""Outputs of any kind as one table: numbers, and symbols for everything that is not a number (⊤, ⊥, None, words, a missing place)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Floats
from proofs_check.audit.errors import UnusableOutputs

Symbols = NDArray[np.int32]

#: The symbol of a place that a shorter output does not have.
ABSENT = 1
MAX_WIDTH = 5_000
MAX_SYMBOLS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """n outputs of width d: ``values`` of shape (n, d), and ``symbols`` of the same shape or None.

    Where ``symbols`` is 0 (everywhere, if None) the place holds the number in ``values``, which is never NaN and may be infinite;
    elsewhere it holds a symbol and ``values`` is 0. Truth values are the numbers 1 and 0.
    """

    values: Floats
    symbols: Symbols | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """The number d of places."""
        return int(self.values.shape[1])

    def keys(self) -> NDArray[np.void]:
        """Return the bytes of each output, equal for equal outputs; shape (n,)."""
        symbols = np.zeros(self.values.shape) if self.symbols is None else self.symbols.astype(np.float64)
        rows = np.ascontiguousarray(np.concatenate((self.values + 0.0, symbols), axis=1))
        return np.asarray(rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1))

    def take(self, rows: Any) -> Outputs:
        """Return some of the outputs: ``rows`` is an index array, a mask or a slice."""
        return Outputs(self.values[rows], None if self.symbols is None else self.symbols[rows])

    def fit(self, width: int) -> Outputs:
        """Return the outputs with exactly ``width`` places: absent ones are added, places beyond are left out."""
        if width < self.width:
            return Outputs(self.values[:, :width], None if self.symbols is None else self.symbols[:, :width])
        return self.widen(width)

    def widen(self, width: int) -> Outputs:
        """Return the outputs with the places up to ``width`` marked as absent."""
        if width <= self.width:
            return self
        missing = ((0, 0), (0, width - self.width))
        symbols = np.zeros(self.values.shape, dtype=np.int32) if self.symbols is None else self.symbols
        return Outputs(np.pad(self.values, missing), np.pad(symbols, missing, constant_values=ABSENT))


def join(parts: Sequence[Outputs]) -> Outputs:
    """Return several tables below each other; narrower ones are filled with absent places."""
    width = max(part.width for part in parts)
    wide = [part.widen(width) for part in parts]
    values = np.concatenate([part.values for part in wide])
    if all(part.symbols is None for part in wide):
        return Outputs(values)
    symbols = [np.zeros(part.values.shape, dtype=np.int32) if part.symbols is None else part.symbols for part in wide]
    return Outputs(values, np.concatenate(symbols))


def require_outputs(returned: Any, size: int) -> None:
    """Refuse what does not hold ``size`` outputs along its first axis. Raises :class:`UnusableOutputs`."""
    if isinstance(returned, np.ma.MaskedArray):
        raise UnusableOutputs("the mechanism must return plain arrays, but a masked array was found; fill or mark missing entries")
    if isinstance(returned, np.ndarray) and (returned.ndim == 0 or len(returned) != size):
        raise UnusableOutputs(
            f"the mechanism was asked for {size} outputs, but returned an array of shape {returned.shape}; stack outputs along axis 0"
        )
    if not isinstance(returned, Sized):
        raise UnusableOutputs(
            f"the mechanism must return {size} outputs along the first axis, but an object of type {type(returned).__name__} was found"
        )
    if len(returned) != size:
        raise UnusableOutputs(f"the mechanism was asked for {size} outputs, but returned {len(returned)}; return one row per output")


class Reader:
    """Reads what a mechanism returned; equal outputs get equal rows in all calls of one reader."""

    __slots__ = ("_kind", "_names", "_numbers")

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._names: list[str] = ["", "absent"]
        self._kind: int | None = None

    def name(self, symbol: int) -> str:
        return self._names[symbol]

    def read(self, returned: object, size: int) -> Outputs:
        """Return ``size`` outputs as a table. Raises :class:`UnusableOutputs`."""
        if not isinstance(returned, np.ndarray) and hasattr(returned, "__array__"):
            returned = np.asarray(returned)
        if not isinstance(returned, Sized) and isinstance(returned, Iterable):
            returned = list(returned)
        require_outputs(returned, size)
        if isinstance(returned, np.ndarray) and returned.dtype.kind == "c":
            returned = np.stack((returned.real, returned.imag), axis=-1)
        if isinstance(returned, np.ndarray) and returned.dtype.kind in "biuf":
            return self._read_array(returned, size)
        self._keep_kind(_OBJECTS)
        return self._read_rows(list(returned))  # type: ignore[call-overload]

    def _keep_kind(self, kind: int) -> None:
        """Refuse a second kind of container: equal outputs could be read differently then, which would look like evidence."""
        if self._kind is not None and kind != self._kind:
            raise UnusableOutputs(
                "the mechanism must return one kind of container, but arrays of different rank, or arrays and sequences of objects, were "
                "found in different calls; return a list of outputs always"
            )
        self._kind = kind

    def _read_array(self, array: NDArray[Any], size: int) -> Outputs:
        self._keep_kind(array.ndim)
        with np.errstate(over="ignore"):
            values = np.array(array.reshape(size, -1), dtype=np.float64)  # a copy: the mechanism may use its buffer again
        if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and size and np.abs(values).max(initial=0.0) >= 2.0**53:
            return self._read_rows(array.reshape(size, -1).tolist())
        _check_width(values.shape[1])
        if np.isnan(values).any():
            row = int(np.isnan(values).any(axis=1).argmax())
            raise UnusableOutputs(f"outputs must not be NaN, but output {row} of a call is; a NaN is not evidence: map it to a symbol")
        return Outputs(values)

    def _read_rows(self, rows: Sequence[Any]) -> Outputs:
        flat = [tuple(_flatten(row, 0)) for row in rows]
        width = max((1, *(len(row) for row in flat)))  # an empty output is one absent place
        _check_width(width)
        values = np.zeros((len(flat), width))
        symbols = np.full((len(flat), width), ABSENT, dtype=np.int32)
        for i, row in enumerate(flat):
            for j, entry in enumerate(row):
                number = _as_number(entry)
                symbols[i, j] = 0 if number is not None else self._symbol(entry)
                values[i, j] = 0.0 if number is None else number
        return Outputs(values, symbols if symbols.any() else None)

    def _symbol(self, entry: Any) -> int:
        key = (type(entry).__name__, entry)
        try:
            known, is_itself, name = self._numbers.get(key), bool(entry == entry), str(entry)[:60]  # noqa: PLR0124 - NaN is not
        except Exception:
            raise UnusableOutputs(
                f"outputs must be numbers, texts or sequences of them, but an entry of type {type(entry).__name__} was found; convert it"
            ) from None
        if not is_itself:
            raise UnusableOutputs("outputs must not be NaN, but an entry unequal to itself was found; map it to a symbol")
        if known is None:
            if len(self._names) >= MAX_SYMBOLS:
                raise UnusableOutputs(f"more than {MAX_SYMBOLS} different symbols were found; return numbers where outputs are numbers")
            known = self._numbers[key] = len(self._names)
            self._names.append(name)
        return known


_OBJECTS = -1
_OPEN, _CLOSE = "⟨", "⟩"


def _check_width(width: int) -> None:
    if not 0 < width <= MAX_WIDTH:
        raise UnusableOutputs(f"an output must have 1 to {MAX_WIDTH} entries, but {width} was found; audit a part of the output")


def _flatten(entry: Any, depth: int) -> Iterable[Any]:
    """Yield the entries of nested sequences; brackets inside keep different nestings apart."""
    if isinstance(entry, np.ndarray):
        entry = entry.tolist()
    if isinstance(entry, (list, tuple)):
        if depth > 20:
            raise UnusableOutputs("outputs are nested more than 20 levels deep; return flat sequences")
        inner = [part for item in entry for part in _flatten(item, depth + 1)]
        return inner if depth == 0 else [_OPEN, *inner, _CLOSE]
    return [entry.item() if isinstance(entry, np.generic) and not isinstance(entry, np.longdouble) else entry]


def _as_number(entry: Any) -> float | None:
    """Return an entry as a float where a float holds it exactly; None for symbols. Raises :class:`UnusableOutputs` for NaN."""
    if not isinstance(entry, (bool, int, float, Fraction, Decimal, np.bool_, np.integer, np.floating)):
        return None
    try:
        number = float(entry)
    except (OverflowError, ValueError):
        return None
    if math.isnan(number):
        raise UnusableOutputs("outputs must not be NaN, but one was found; a NaN is not evidence: map it to a symbol")
    return number if isinstance(entry, np.floating) or number == entry else None
