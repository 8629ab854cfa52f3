"""The corpus, and where things are in a certificate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "corpus"
Json = Any
Place = tuple[str | int, ...]


@cache
def texts() -> dict[str, str]:
    """Return the text of every certificate by its name."""
    return {path.stem: path.read_text(encoding="ascii").strip() for path in sorted(FOLDER.glob("*.json"))}


def certificate(name: str) -> Json:
    """Return a fresh copy of a certificate."""
    return json.loads(texts()[name])


def places(value: Json, path: Place = ()) -> Iterator[tuple[Place, Json]]:
    """Return every value inside a value, with its path, outermost first."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def get(value: Json, path: Place) -> Json:
    """Return what is at a path."""
    for key in path:
        value = value[key]
    return value


def changed(value: Json, path: Place, new: Json) -> Json:
    """Return a copy with something else at a path."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def without(value: Json, path: Place) -> Json:
    """Return a copy without what is at a path."""
    parent = get(value, path[:-1]).copy()
    del parent[path[-1]]
    return changed(value, path[:-1], parent)


def is_tree(value: Json) -> bool:
    """Whether a value is a proof tree."""
    return isinstance(value, dict) and "rule" in value


class Mutant(NamedTuple):
    """A changed certificate: wrong for certain by the way it was made, or to be judged by its claims' numerical truth."""

    origin: str
    what: str
    text: str
    certain: bool = True


def write(value: Json) -> str:
    """Return the text of a certificate."""
    return json.dumps(value, separators=(",", ":"))
