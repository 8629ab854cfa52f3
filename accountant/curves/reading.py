"""Compositions in files: TOML with ``name`` and ``[[event]]`` tables, all numbers exact (docs/account.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from accountant.curves.events import Composition, Event, MechanismKind, make_event, parameter_names, to_kind
from profiles import PDPError, UnreadableFile
from profiles.files import MAX_FILE_BYTES, read_text
from profiles.suggestions import suggest

#: Tables of one file; equal ones are counted together, so that there may be more of them than different events.
_MOST_TABLES = 1_000
_KEYS = ("name", "unit", "event")
#: Whom a file may say that it protects; where it says nothing, one record.
UNITS = ("record", "user")
_COMMON = ("mechanism", "count", "sampling_probability")
#: What a file may declare; the numbers of a guarantee come with the guarantee.
DECLARED = tuple(kind for kind in MechanismKind if kind is not MechanismKind.TWO_SIDED)


def read_composition_file(path: Path | str) -> Composition:
    """Return the composition that a file declares. Raises :class:`UnreadableFile`, and what :func:`read_composition` raises."""
    return read_composition(_read_file(path), str(path))


def read_declared_file(path: Path | str) -> tuple[Composition, str]:
    """Return the composition of a file and whom it protects, one of :data:`UNITS`. Raises as :func:`read_composition_file` does."""
    return _read(_read_file(path), str(path))


def _read_file(path: Path | str) -> str:
    if not isinstance(path, (Path, str)):
        raise UnreadableFile(f"the path of a composition was expected, but {_shown(path)} was found; give it as text")
    return read_text(Path(path), MAX_FILE_BYTES)


def read_composition(text: str, where: str = "the composition") -> Composition:
    r"""Return the composition that the TOML ``text`` declares; decimals are read exactly (0.1 is one tenth), fractions as ``"1/3"``.

    Raises :class:`UnreadableFile` (no TOML, unknown keys, another shape), :class:`profiles.InvalidArgument` (numbers outside their
    ranges, too many events), :class:`profiles.InvalidNumber`.

    >>> text = 'name = "training"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 1.1\ncount = 100\n'
    >>> read_composition(text).events[0].describe()
    'gaussian (noise_multiplier 1.1), 100 times'
    """
    found, unit = _read(text, where)
    if unit != UNITS[0]:
        raise UnreadableFile(f"{where} is about one {unit}, but a composition says nothing of that; read it with curve_of_file")
    return found


def _read(text: str, where: str) -> tuple[Composition, str]:
    if not isinstance(text, str):
        raise UnreadableFile(f"{where} is read from a text, but {_shown(text)} was found; give what the file says")
    if len(text) > MAX_FILE_BYTES:
        raise UnreadableFile(f"{where} has {len(text)} characters, but at most {MAX_FILE_BYTES} are accepted; shorten it")
    try:
        table = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError, ArithmeticError) as error:
        raise UnreadableFile(f"{where} is not a TOML file ({' '.join(str(error).split())[:100]}); correct it") from None
    _refuse_unknown(table, _KEYS, where)
    if not isinstance(table.get("name"), str):
        raise UnreadableFile(f'{where} needs name = "...", but found {_shown(table.get("name"))}; add it as text')
    unit = table.get("unit", UNITS[0])
    if unit not in UNITS:
        raise UnreadableFile(f'{where} says for whom by unit = "record" or "user", but found {_shown(unit)}; write one of the two')
    events = table.get("event")
    if not isinstance(events, list) or not all(isinstance(event, Mapping) for event in events) or not events:
        raise UnreadableFile(f"{where} needs [[event]] tables, but found {_shown(events)}; add one for each mechanism")
    if len(events) > _MOST_TABLES:
        raise UnreadableFile(f"{where} has {len(events)} [[event]] tables, but at most {_MOST_TABLES} are read; count equal ones together")
    found = tuple(_read_event(event, f"event {index} of {where}") for index, event in enumerate(events, 1))
    return Composition(table["name"], found), unit


def _read_event(table: Mapping[str, object], where: str) -> Event:
    if "mechanism" not in table:
        raise UnreadableFile(
            f'{where} needs mechanism = "...", but found nothing; name one of {", ".join(kind.value for kind in DECLARED)}'
        )
    try:
        kind = to_kind(table["mechanism"])
        if kind not in DECLARED:
            raise UnreadableFile(f"the mechanism {kind.value!r} comes from guarantees only; declare approximate, with the larger numbers")
        _refuse_unknown(table, (*_COMMON, *parameter_names(kind)), f"the mechanism {kind.value!r}")
        parameters = {name: value for name, value in table.items() if name not in _COMMON}
        return make_event(kind, parameters, sampling_probability=table.get("sampling_probability", 1), count=table.get("count", 1))
    except PDPError as error:
        raise type(error)(f"{where}: {error}") from None


def _refuse_unknown(table: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise UnreadableFile(f"{where} has the unknown key {key[:60]!r}; known are {', '.join(known)}{suggest(key, known)}")


def _shown(value: object) -> str:
    return "nothing" if value is None else f"a value of type {type(value).__name__}"
