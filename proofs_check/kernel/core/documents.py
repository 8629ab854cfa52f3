"""Documents: what rejects one, how much work one may ask for, and the fields of its JSON text."""

import json
import re
from collections.abc import Mapping
from itertools import accumulate

_UNIT, KEPT, _MOST_NESTED, _MAX_ITEMS = 7_000, 8, 200, 1_000  # nanoseconds of a unit; tables that are kept
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)  # of JSON


class Rejected(Exception):
    """The certificate does not prove what it claims, for the reason given; it says nothing about the claim being false."""


def require(holds: object, reason: str) -> None:
    """Reject unless something holds."""
    if not holds:
        raise Rejected(reason)


class Meter:
    """A budget of elementary work for one whole document, in units of at most seven microseconds of a processor of today."""

    def __init__(self, left: int = 1_000_000) -> None:
        self.left, self.recent = left, list[object]()

    def spend(self, amount: int) -> None:
        """Subtract an amount; reject when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise Rejected("the certificate needs more work than the kernel is willing to do")

    def work(self, nanoseconds: int) -> None:
        """Subtract what takes so long."""
        self.spend(1 + nanoseconds // _UNIT)

    def once(self, key: object, nanoseconds: int) -> None:
        """Subtract what takes so long where it is not one of the last few things that were made."""
        if key not in self.recent:
            self.work(nanoseconds)
        self.recent = [*(old for old in self.recent if old != key), key][-KEPT:]


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    require(len(dict(pairs)) == len(pairs), "a JSON object has the same key twice")
    return dict(pairs)


def _literal(word: str) -> int:
    require(re.fullmatch("-?[0-9]{1,19}", word), f"{word[:20]} is not allowed: exact numbers are strings")
    return int(word)


def is_deep(document: str) -> bool:
    """Return whether a JSON text is nested too deeply to be parsed: a parser recurses."""
    return max(accumulate(1 if mark in "[{" else -1 for mark in re.findall(r"[\[\]{}]", _TEXT.sub("", document))), default=0) > _MOST_NESTED


def read_json(document: str) -> object:
    """Read a JSON value of bounded size, with distinct keys and without binary floats."""
    require(len(document) <= 1_000_000, "the text is too long")
    require(not is_deep(document), "the text is nested too deeply")
    return json.loads(document, object_pairs_hook=_pairs, parse_constant=_literal, parse_float=_literal, parse_int=_literal)


def read_fields(value: object, required: set[str] | None = None, optional: frozenset[str] = frozenset()) -> Mapping[str, object]:
    """Read a JSON object of moderate size; with exactly the required keys, if any, and possibly optional ones."""
    if not isinstance(value, dict) or len(value) > _MAX_ITEMS:
        raise Rejected("expected an object of moderate size")
    if required is not None and (not required <= value.keys() <= required | optional or None in map(value.get, value.keys() - required)):
        raise Rejected(f"missing, unknown or null fields: {', '.join(sorted((required ^ value.keys()) - optional))[:200]}")
    return value


def read_list(value: object, length: int | None = None) -> list[object]:
    """Read a JSON list of moderate or the given length."""
    if not isinstance(value, list) or len(value) > _MAX_ITEMS or length not in (None, len(value)):
        raise Rejected("expected a list of moderate length" if length is None else f"expected a list of {length}")
    return value


def read_integer(value: object, low: int, high: int) -> int:
    """Read a JSON integer within bounds; a boolean is not an integer."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Rejected(f"expected an integer from {low} to {high}")
    return value
