"""Decimals of a text file: each stands for the number that is written there (docs/rounding.md), beside the nearest binary64 number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accountant.columns.values import LEAST_NORMAL, Decimals
from profiles import InvalidData, InvalidNumber, to_exact
from profiles.numbers import MAX_DIGITS
from profiles.private import TEXT, list_values

_LEAST = 2.0**-1074
_ZERO = r"^[+-]?[0.]+([eE]|$)"


def read_decimals(array: Any, label: str, title: str, first_row: int) -> Decimals:
    """Return the decimals that an Arrow array of strings holds, blanks around them ignored: a sign, digits, a point, an exponent.

    ``values`` may have NaN and infinities, where such words, or decimals beyond binary64, are in the file: callers refuse them.
    Raises :class:`InvalidData` for other text, and for numbers with more digits than are read anywhere.
    """
    texts = pc.utf8_trim_whitespace(array)
    try:
        numbers = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        row, text = next((row, text) for row, text in enumerate(array.to_pylist()) if to_number(text) is None)
        raise InvalidData(
            f"the column {title} of {label} must hold numbers, but row {first_row + row} has {TEXT} (rows count from 0); "
            "correct it or choose another column",
            private=list_values([(first_row + row, text)]),
        ) from None
    values = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64) + 0.0  # −0 is 0
    if values.size and pc.max(pc.utf8_length(texts)).as_py() > MAX_DIGITS:
        row = int(np.argmax(pc.utf8_length(texts).to_numpy(zero_copy_only=False) > MAX_DIGITS))
        raise _too_long(label, title, first_row + row)
    for row in np.flatnonzero(np.isinf(values)).tolist():
        if any(letter.isdigit() for letter in texts[row].as_py()):
            raise InvalidData(
                f"the column {title} of {label} must hold numbers below 1.7976931e308, but row {first_row + row} has one beyond the "
                "range of binary64 (rows count from 0); scale the column"
            )
    zeros = np.flatnonzero(values == 0.0)
    if zeros.size:
        written = pc.match_substring_regex(texts.take(zeros), _ZERO).to_numpy(zero_copy_only=False)
        for row in zeros[~written].tolist():
            exact = _read(texts[row].as_py())
            if exact is None:
                raise _too_long(label, title, first_row + row)
            values[row] = _LEAST if exact > 0 else -_LEAST
    for row in np.flatnonzero((values != 0.0) & (np.abs(values) < LEAST_NORMAL)).tolist():
        if _read(texts[row].as_py()) is None:
            raise _too_long(label, title, first_row + row)
    return Decimals(values, texts)


def to_number(text: str) -> float | None:
    """Return the binary64 number nearest to a decimal, None where the text is not a number."""
    try:
        return float(pc.cast(pa.scalar(text.strip()), pa.float64()).as_py())
    except pa.ArrowInvalid:
        return None


def _read(text: str) -> Fraction | None:
    try:
        return to_exact(text)
    except InvalidNumber:
        return None


def _too_long(label: str, title: str, row: int) -> InvalidData:
    return InvalidData(
        f"the column {title} of {label} must hold numbers of at most {MAX_DIGITS} digits, with exponents of at most 4000, but row "
        f"{row} has a longer one (rows count from 0); shorten it"
    )
