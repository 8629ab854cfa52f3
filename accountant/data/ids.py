"""Ids of people in a column of texts: each in one spelling, so that nobody is two people.

A table that went through a program which takes ids for numbers comes back with other texts: 7.0 or 7 for 07. Where ids are compared as they
are written, that person has a second account, or is a second user. So an id that a shorter spelling could stand for is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc

from profiles import InvalidData
from profiles.private import quote

#: White space around, or a number that is not written as an integer is: +7, 07, 7.0, .5, 1e+16. More digits than an integer has are a name.
_OTHER = r"^\s|\s$|[[:cntrl:]]|^(\+[0-9]+|-0|-?0[0-9]{1,18}|[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[0-9]+[eE]\+[0-9]+)$"


def require_one_spelling(texts: Any, name: str, label: str, first_row: int | None = None) -> None:
    """Refuse an Arrow array of texts with an id that another text could stand for; ``first_row``: the number of its first row.

    Raises :class:`InvalidData`.

    >>> import pyarrow as pa
    >>> require_one_spelling(pa.array(["7", "ada", "B07", "2026-07"]), "id", "people.csv")
    """
    bad = pc.match_substring_regex(texts, _OTHER)
    if not pc.all(pc.string_is_ascii(texts)).as_py():  # a letter with an accent has two spellings, and some letters are not seen
        same = pc.and_(pc.equal(texts, pc.utf8_normalize(texts, form="NFC")), pc.utf8_is_printable(texts))
        bad = pc.or_(bad, pc.invert(same))
    if not pc.any(bad).as_py():
        return
    place = int(np.flatnonzero(bad.to_numpy(zero_copy_only=False))[0])
    where = "" if first_row is None else f" in row {first_row + place} (rows count from 0)"
    raise InvalidData(
        f"the column {name!r} of {label} has an id{where} that may be another spelling of one, as 07, 7.0 and ' 7' are of 7, so that one "
        "person would be two; write each id in one way: integers without a point or zeros before them, or a letter before the digits",
        private=f"it is {quote(texts[place].as_py())}",
    )


__all__ = ["require_one_spelling"]
