"""Outputs of releases as bytes and back: numbers, texts and arrays, and lists and dictionaries of them; never code."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from typing import Any

import numpy as np

from accountant.ledger.journal import Journal
from accountant.ledger.log import OUTPUT
from profiles import InvalidArgument, UnreadableFile
from profiles.errors import LedgerRejected

_MOST_DEPTH = 20
_MOST_BITS = 14_000  # what Python reads again: 4,300 digits


def write_output(value: object) -> bytes:
    """Return an output as bytes. Raises :class:`InvalidArgument` for what is none of the types.

    >>> read_output(write_output({"centres": np.eye(2), "noise": 0.5}))["centres"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return json.dumps(_to_plain(value, 0), separators=(",", ":"), ensure_ascii=True).encode()


def read_output(data: bytes) -> Any:
    """Return the output that :func:`write_output` wrote. Raises :class:`UnreadableFile`."""
    try:
        return _from_plain(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UnreadableFile("a stored output was expected in the ledger, but other bytes were found; restore it from a backup") from None


def load_output(journal: Journal, name: str) -> Any:
    """Return the output that a ledger stored for a release.

    Raises :class:`InvalidArgument` where there is none, :class:`LedgerRejected` where it is not the one that was published.
    """
    entry = journal.find(OUTPUT, name)
    if entry is None:
        raise InvalidArgument(f"the output of the release {name[:60]!r} was asked for, but none is stored; publish it first")
    value = journal.store.read_output(entry.sequence)
    if value is None or hashlib.sha256(value).hexdigest() != entry.body.get("sha256"):
        raise LedgerRejected(f"the stored output of {name!r} is not the one that was published; restore the ledger from a backup")
    return read_output(value)


def to_printable(value: Any) -> Any:
    """Return an output as JSON for people: arrays as lists, numbers that are not finite as text."""
    if isinstance(value, np.ndarray):
        return to_printable(value.tolist())
    if isinstance(value, (list, tuple)):
        return [to_printable(item) for item in value]
    if isinstance(value, dict):
        return {name: to_printable(item) for name, item in value.items()}
    return repr(value) if isinstance(value, float) and not np.isfinite(value) else value


def _to_plain(value: object, depth: int) -> Any:
    if depth > _MOST_DEPTH:
        raise InvalidArgument(f"an output of at most {_MOST_DEPTH} nested lists was expected, but a deeper one was found; flatten it")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise InvalidArgument(
                f"a number of at most {_MOST_BITS} bits was expected in an output, but a longer one was found; publish it as text"
            )
        return {"int": str(int(value))}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "biufU":
        stream = io.BytesIO()
        np.save(stream, value, allow_pickle=False)
        return {"array": base64.b64encode(stream.getvalue()).decode()}
    if isinstance(value, (list, tuple)):
        return {"list": [_to_plain(item, depth + 1) for item in value]}
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {"dict": {name: _to_plain(item, depth + 1) for name, item in value.items()}}
    raise InvalidArgument(
        f"an output of numbers, texts, arrays, lists and dictionaries was expected, but {type(value).__name__} was found; publish its "
        "parts: the charge stays"
    )


def _from_plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    ((kind, inner),) = value.items()
    match kind:
        case "int":
            return int(inner)
        case "float":
            return float.fromhex(inner)
        case "array":
            return np.load(io.BytesIO(base64.b64decode(inner, validate=True)), allow_pickle=False)
        case "list":
            return [_from_plain(item) for item in inner]
        case "dict":
            return {name: _from_plain(item) for name, item in inner.items()}
    raise KeyError(kind)
