"""What came from data in what people read: the one place of the policy (docs/command-line.md).

Rule: rows, values, sizes, sums and extremes of a data set (a file, or an array of the user's) are shown only where they are marked as
private: under ``"private"`` in JSON, under :data:`EYES_ONLY` in text; never in a file that is meant for others. A refusal names the row and
the kind of fault. What was found there travels beside the message, as ``PDPError.private``, and is shown on request only: ``--show-values``
on the command line, :func:`reveal` in Python. Whatever forgets to ask, such as ``str(error)``, a traceback or a log, shows nothing.

Profiles, parameters, declared ranges, targets, public candidates and domains, and the names of columns that the user gave are not data.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

#: How text for people marks what came from the data.
EYES_ONLY = "for your eyes only"
#: What stands in a command in place of a data set that was written out.
NOT_SHOWN = "[...not shown]"
#: Kinds of faults: what a refusal may say of a value.
TEXT = "text where a number was expected"
NOT_FINITE = "NaN or infinity"
BELOW, ABOVE = "below it", "above it"
#: Rows that a refusal names, and values that are kept beside it.
SHOWN = 3

_LONGEST = 200


def name_rows(rows: Iterable[int], *, more: bool = False) -> str:
    """Return row numbers in words, the first three of them; ``more`` says that there are others.

    >>> name_rows([4]), name_rows([4, 7]), name_rows([1, 2, 3, 4])
    ('row 4', 'rows 4, 7', 'rows 1, 2, 3 and others')
    """
    listed = [int(row) for row in rows]
    others = more or len(listed) > SHOWN
    text = ", ".join(map(str, listed[:SHOWN])) + (" and others" if others else "")
    return f"{'rows' if others or len(listed) > 1 else 'row'} {text}"


def list_values(rows: Iterable[tuple[int, object]]) -> str:
    """Return the private text of rows and their values, of the first three.

    >>> list_values([(1, 2.5), (3, "x")])
    "row 1: 2.5; row 3: 'x'"
    """
    return "; ".join(f"row {int(row)}: {quote(value)}" for row, value in list(rows)[:SHOWN])


def quote(value: object) -> str:
    """Return a value as Python writes it, cut where it is long: private text."""
    text = repr(value.item() if hasattr(value, "item") and getattr(value, "size", 0) == 1 else value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def hide_length(shape: Sequence[int]) -> str:
    """Return the shape of an array of records without their number.

    >>> hide_length((100, 3)), hide_length((100,)), hide_length(())
    ('(n, 3)', '(n,)', '()')
    """
    return "(" + ", ".join(["n", *map(str, shape[1:])]) + ("," if len(shape) == 1 else "") + ")" if len(shape) else "()"


def name_type(dtype: Any) -> str:
    """Return the type of an array in words: ``text`` for strings of any length (the longest one is a figure of the data), else its name."""
    kinds = {"U": "text", "S": "text", "T": "text", "O": "objects", "V": "structured rows"}
    return kinds.get(getattr(dtype, "kind", ""), str(dtype))


def name_failure(error: BaseException) -> str:
    """Return what may be told of an error that a library raised while it read data: what the system says, else its type.

    Its text may quote rows: give :func:`quote_failure` as the private text.
    """
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__


def locate_failure(error: BaseException) -> str:
    """Return what may be told of an error that code of the user's raised while it worked on data: its type and where that was."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" (raised in {frames[-1].name}, line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""
    return f"{type(error).__name__}{place}"


def quote_failure(error: BaseException) -> str:
    """Return the text of an error that code of others raised, on one line: private text."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # the error's own method raises
        return "no readable message"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def reveal(error: BaseException) -> str:
    """Return the message of an error with what was found in the data, marked: for whoever may see the data.

    >>> from profiles.errors import InvalidData
    >>> reveal(InvalidData("row 1 is above it; correct it", private="row 1: 4.5"))
    'row 1 is above it; correct it (for your eyes only: row 1: 4.5)'
    """
    private = getattr(error, "private", "")
    return f"{error} ({EYES_ONLY}: {private})" if private else str(error)
