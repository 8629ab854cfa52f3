"""Strict reading of JSON files that come from strangers: no duplicate keys, no binary numbers, no unknown keys, bounded size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NoReturn

from profiles.errors import InvalidNumber, UnreadableFile
from profiles.numbers import exact_text, to_exact

MAX_CHARACTERS = 4_000_000


def read_json(text: str, *, floats: bool = False) -> Any:
    """Return what a JSON text says. Raises :class:`ValueError` where a key is given twice, a number is NaN or infinite, a text has half a
    character, the nesting is deep, and where a number is binary (``1.5``) unless ``floats``.

    >>> read_json('{"a": [1, "1.5"]}')
    {'a': [1, '1.5']}
    """
    text.encode("utf-8")  # a text may have halves of characters, which no file has
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_float=float if floats else _refuse_float, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_document(text: str, kind: str, *versions: int) -> dict[str, Any]:
    """Return the object of a file ``{"format": kind, "version": one of versions, ...}``. Raises :class:`UnreadableFile` for all else."""
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise UnreadableFile(f"the text of a {kind} of at most {MAX_CHARACTERS} characters was expected, but something else was found")
    try:
        whole = read_json(text)
    except ValueError as error:
        raise UnreadableFile(f"a {kind} was expected, but the text is not usable JSON ({one_line(error)}); check the file") from None
    return check_heading(whole, kind, *versions)


def check_heading(whole: object, kind: str, *versions: int) -> dict[str, Any]:
    """Return the object of a document if it is of this format and one of these versions. Raises :class:`UnreadableFile`."""
    if not isinstance(whole, dict) or whole.get("format") != kind:
        format_ = whole.get("format") if isinstance(whole, dict) else type(whole).__name__
        raise UnreadableFile(f"a file of the format {kind} was expected, but {str(format_)[:40]!r} was found; check which file it is")
    if type(whole.get("version")) is not int or whole["version"] not in versions:
        raise UnreadableFile(
            f"a {kind} of version {' or '.join(map(str, versions))} was expected, but {str(whole.get('version'))[:40]!r} was found; use a "
            "release that reads it"
        )
    return whole


def find_document(text: str, kind: str, *, floats: bool = False) -> dict[str, Any] | None:
    """Return the object of a file ``{"format": kind, ...}``, None where the text is something else, or :func:`read_json` refuses it.

    >>> find_document('{"format": "a", "b": 1}', "a"), find_document('{"format": "b"}', "a"), find_document('"a"', "a")
    ({'format': 'a', 'b': 1}, None, None)
    """
    if kind not in text:
        return None
    try:
        whole = read_json(text, floats=floats)
    except ValueError:
        return None
    return whole if isinstance(whole, dict) and whole.get("format") == kind else None


def write_document(kind: str, version: int, fields: Mapping[str, Any]) -> str:
    """Return the text of a file ``{"format": kind, "version": version, ...}``: ASCII, indented, with a last newline."""
    return json.dumps({"format": kind, "version": version, **fields}, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def read_fields(value: object, where: str, required: set[str], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return a JSON object with exactly these keys. Raises :class:`UnreadableFile`."""
    if not isinstance(value, dict):
        raise UnreadableFile(f"{where} must be an object, but {name_type_of(value)} was found; correct the file")
    for key in sorted(required - value.keys()):
        raise UnreadableFile(f"{where} needs {key!r}, but it is missing; correct the file")
    for key in value.keys() - required - optional:
        raise UnreadableFile(f"{where} has the unknown key {key[:60]!r}; known are {', '.join(sorted(required | optional))}")
    return value


def read_list(value: object, where: str) -> list[Any]:
    """Return a JSON array. Raises :class:`UnreadableFile`."""
    if not isinstance(value, list):
        raise UnreadableFile(f"{where} must be an array, but {name_type_of(value)} was found; correct the file")
    return value


def read_string(value: object, where: str) -> str:
    """Return a JSON string without control characters, so that nothing in it can forge what is printed. Raises :class:`UnreadableFile`."""
    if not isinstance(value, str):
        raise UnreadableFile(f"{where} must be text, but {name_type_of(value)} was found; correct the file")
    if not value.isprintable():
        raise UnreadableFile(f"{where} has characters that cannot be printed on a line; remove them")
    return value


def read_strings(value: object, where: str) -> tuple[str, ...]:
    """Return a JSON array of strings. Raises :class:`UnreadableFile`."""
    return tuple(read_string(item, where) for item in read_list(value, where))


def read_flag(value: object, where: str) -> bool:
    """Return a JSON true or false. Raises :class:`UnreadableFile`."""
    if not isinstance(value, bool):
        raise UnreadableFile(f"{where} must be true or false, but {name_type_of(value)} was found; correct the file")
    return value


def read_count(value: object, where: str) -> int:
    """Return a JSON integer of at least 0. Raises :class:`UnreadableFile`."""
    if type(value) is not int or value < 0:
        raise UnreadableFile(f"{where} must be an integer of at least 0, but {name_type_of(value)} was found; correct the file")
    return value


def write_exact(value: Fraction) -> str:
    """Return a number as text that :func:`read_exact` turns into the same number. Raises :class:`InvalidNumber` where there is none."""
    text = exact_text(value)
    if to_exact(text) != value:
        raise InvalidNumber("a number is too long to be written to a file exactly; round it outward to fewer digits first")
    return text


def read_exact(value: object, where: str) -> Fraction:
    """Return an exact number from its text: an integer, a decimal or p/q. Raises :class:`UnreadableFile`."""
    try:
        return to_exact(read_string(value, where), where)
    except InvalidNumber as error:
        raise UnreadableFile(str(error)) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key occurs twice")
    return made


def _refuse_float(word: str) -> NoReturn:
    raise ValueError(f"the binary number {word[:30]}; exact numbers are written as text")


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def name_type_of(value: object) -> str:
    """Return what was found where another type was expected."""
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def one_line(error: BaseException) -> str:
    """Return why something was refused, such as a text by :func:`read_json`, as part of a sentence."""
    return " ".join(str(error).split())[:100]
