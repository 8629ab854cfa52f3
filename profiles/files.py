"""Profile files (TOML, or JSON of ``write_profile``) and object references ``package.module:object``: what may follow ``pdp verify``."""

from __future__ import annotations

import csv
import importlib
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from profiles.declaring import declare
from profiles.errors import InvalidArgument, InvalidNumber, InvalidProfile, PDPError, UnreadableFile
from profiles.grammar import is_name, parse_expression
from profiles.hypotheses import Hypothesis, as_hypotheses
from profiles.notions import NUMBERS, ProfileNotion, to_notion
from profiles.numbers import exact_text, to_exact
from profiles.profile import Profile
from profiles.stored import read_profile
from profiles.strict_json import name_type_of, one_line
from profiles.suggestions import suggest, suggest_file, suggest_reference
from profiles.tables import Table, make_table
from profiles.terms import RESERVED, Term, to_text

MAX_CSV_BYTES = 200_000
MAX_FILE_BYTES = 100_000  # an expression has at most 20,000 characters; TOML parsing takes quadratic time on hostile text
_KEYS = {"name", "notion", *NUMBERS, "record", "parameters", "sampling", "source", "table"}


@dataclass(frozen=True, slots=True)
class SamplingDeclaration:
    """The ``[sampling]`` table of a profile file: the expression of q and public constants that only q uses.

    Which symbols q may use is checked where q is used, against the statistics, the parameters and these constants.
    """

    q: Term
    constants: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """A loaded profile with the sampling rule that was declared beside it, if any, the mechanism that has it, and its hypotheses."""

    profile: Profile
    sampling: SamplingDeclaration | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    mechanism: object = None


def load(reference: str) -> Declaration:
    """Return the declaration behind a path of a ``.toml`` or ``.json`` file or a reference ``package.module:object``.

    The object is a :class:`Profile`, a :class:`Declaration`, anything with a ``profile`` attribute (a mechanism of the catalogue), or a
    function without arguments that returns one of these. Importing runs the module: use references only to code that you trust.

    Raises :class:`UnreadableFile` and everything that :func:`profiles.declare` raises.

    >>> load("profiles.mechanisms.laplace_sum:default").profile.text
    'w*z/b'
    """
    if ":" in reference and not reference.endswith((".toml", ".json")) and not _exists(reference):
        return _load_object(reference)
    return load_file(Path(reference))


def _exists(reference: str) -> bool:
    try:
        return Path(reference).exists()
    except (OSError, ValueError):
        return False


def load_file(path: Path) -> Declaration:
    """Return the declaration in a profile file. Raises :class:`UnreadableFile` or a declaration error."""
    text = read_text(path, MAX_FILE_BYTES)
    return Declaration(read_profile(text)) if path.suffix == ".json" else parse_file(text, str(path), path.parent)


def read_text(path: Path, limit: int) -> str:
    """Return the UTF-8 text of a regular file of at most ``limit`` bytes. Raises :class:`UnreadableFile`."""
    try:
        if not path.is_file():
            there = "a directory" if path.is_dir() else "something else" if path.exists() else "nothing"
            hint = "" if path.exists() else suggest_file(path)
            raise UnreadableFile(f"a file was expected at {str(path)!r}, but {there} is there; check the path{hint}")
        size = path.stat().st_size
        if size > limit:
            raise UnreadableFile(f"{str(path)!r} has {size} bytes, but at most {limit} are accepted; this is probably not the right file")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableFile(f"{str(path)!r} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise UnreadableFile(f"{str(path)!r} cannot be read ({error.strerror or error}); check its permissions") from None
    except ValueError as error:
        raise UnreadableFile(f"{str(path)!r:.200} is not a path ({error}); check it") from None


def parse_file(text: str, where: str = "the profile", folder: Path | None = None) -> Declaration:
    """Return the declaration that the TOML ``text`` makes; decimals are read exactly (0.1 is one tenth).

    Files of tables are looked for in ``folder``, that of the profile file; without one they are refused.
    """
    table = read_toml(text, where)
    for key in table:
        if key == "delta":
            raise InvalidProfile(
                f"{where} has the key 'delta', but no notion of a profile has a delta; leave it out, and declare Gaussian noise as "
                'notion = "gaussian" with mu'
            )
        if key not in _KEYS:
            raise InvalidProfile(f"{where} has the unknown key {key[:60]!r}; known are {', '.join(sorted(_KEYS))}{suggest(key, _KEYS)}")
    notion = to_notion(table.get("notion", ProfileNotion.PURE))
    given = {name: table[name] for name in NUMBERS if name in table}
    for key in ("name", *(given or {notion.number})):
        if not isinstance(table.get(key), str):
            raise InvalidProfile(f'{where} needs {key} = "...", but found {name_type_of(table.get(key))}; add it as text')
    source = table.get("source", "")
    if not isinstance(source, str):
        raise InvalidProfile(f"{where} has a source that is not text; write it in quotes")
    tables = _tables(table.get("table"), where, folder)
    profile = declare(
        table["name"],
        **given,
        notion=notion,
        record=table.get("record"),
        parameters=table.get("parameters"),
        source=source,
        tables=tables,
    )
    return Declaration(profile, _sampling(table.get("sampling"), where))


def read_toml(text: str, where: str) -> dict[str, Any]:
    """Return the table that a TOML text holds, decimals as such. Raises :class:`UnreadableFile`, also for a text that is too long."""
    if len(text) > MAX_FILE_BYTES:
        raise UnreadableFile(f"{where} has {len(text)} characters, but at most {MAX_FILE_BYTES} are accepted; shorten it")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError, ArithmeticError) as error:
        raise UnreadableFile(f"{where} is not a TOML file ({one_line(error)}); correct it") from None


def _tables(table: object, where: str, folder: Path | None) -> dict[str, Table]:
    """Return the tables of ``[table.f]``: points = [[x, y], ...] or file = "points.csv", and perhaps outside = "continue"."""
    if table is None:
        return {}
    if not isinstance(table, Mapping) or not all(isinstance(entry, Mapping) for entry in table.values()):
        raise InvalidProfile(
            f"{where} has a [table] that is not a table of tables; write [table.f] with points = [[x, y], ...] for the table f"
        )
    made = {}
    for name, entry in table.items():
        if unknown := sorted(entry.keys() - {"points", "file", "outside"}):
            raise InvalidProfile(f"the table {name[:60]} has the unknown key {unknown[0][:60]!r}; known are points, file, outside")
        if ("points" in entry) == ("file" in entry):
            raise InvalidProfile(f'the table {name[:60]} needs either points = [[x, y], ...] or file = "points.csv"; write one of the two')
        points = entry.get("points")
        if "file" in entry:
            if folder is None or not isinstance(entry["file"], str):
                raise InvalidProfile(f"the table {name[:60]} names a file, but there is no folder to look for it; write its points instead")
            points = _read_points(folder / entry["file"], name[:60])
        made[name] = make_table(name[:64], points, outside=entry.get("outside", "error"))
    return made


def _read_points(path: Path, name: str) -> list[tuple[str, str]]:
    """Return the points in a CSV file of two columns, x and y, with or without a line of column names; the decimals are read as written."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_CSV_BYTES:
            problem = f"more than {MAX_CSV_BYTES} bytes are" if path.is_file() else "no file is"
            raise UnreadableFile(f"the table {name} was to be read from {str(path)!r}, but {problem} there; check the path")
        rows = [row for row in csv.reader(path.read_text(encoding="utf-8-sig").splitlines()) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFile(f"the table {name} in {str(path)!r} cannot be read ({type(error).__name__}); save it as UTF-8 CSV") from None
    if rows and not _is_number(rows[0][0]):
        del rows[0]
    for index, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise UnreadableFile(f"row {index} of {str(path)!r} has {len(row)} columns, but a table has two, x and y; keep two")
    return [(x.strip(), y.strip()) for x, y in rows]


def _is_number(text: str) -> bool:
    try:
        to_exact(text)
    except InvalidNumber:
        return False
    return True


def _sampling(table: object, where: str) -> SamplingDeclaration | None:
    if table is None:
        return None
    if not isinstance(table, Mapping) or not isinstance(table.get("q"), str):
        raise InvalidProfile(f'{where} has a [sampling] table without q = "..."; write the probability as an expression of the statistics')
    constants = []
    for key, value in table.items():
        if key == "q":
            continue
        if not is_name(key) or key in RESERVED:
            raise InvalidProfile(f"{where} has a [sampling] constant {key[:60]!r} that is not a free identifier; rename it")
        constants.append((key, value))
    return SamplingDeclaration(parse_expression(table["q"], "sampling.q"), tuple(constants))


def _load_object(reference: str) -> Declaration:
    module_name, _, attribute = reference.partition(":")
    parts = [*module_name.split("."), *attribute.split(".")]
    if not all(part.isidentifier() for part in parts):
        raise UnreadableFile(f"a profile file or package.module:object was expected, but {reference[:80]!r} was found; check the reference")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        loaded: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            loaded = getattr(loaded, part)
        return _as_declaration(loaded, reference)
    except PDPError:
        raise
    except (Exception, SystemExit) as error:  # a module must not choose the exit code
        raise UnreadableFile(
            f"the object {reference[:80]!r} could not be loaded ({type(error).__name__}: {one_line(error)}); check module and name"
            + suggest_reference(module_name, attribute.split("."))
        ) from None


def to_declaration(given: object) -> Declaration:
    """Return the declaration of a path or reference (:func:`load`), a :class:`Profile`, a mechanism with a profile, or one as it is.

    Raises :class:`InvalidArgument` for anything else, and what loading raises.

    >>> from profiles.mechanisms import LaplaceSum
    >>> [item.id for item in to_declaration(LaplaceSum(b=1)).hypotheses]
    ['ieee-rounding', 'balls-enclose']
    """
    declared = load(given) if isinstance(given, str) else _declare_object(given)
    if declared is None:
        raise InvalidArgument(
            "a profile, a declaration, a mechanism with a profile, a path or package.module:object was expected, but "
            f"{type(given).__name__} was found; give one"
        )
    return declared


def _declare_object(loaded: Any) -> Declaration | None:
    if isinstance(loaded, Declaration):
        return loaded
    profile = loaded if isinstance(loaded, Profile) else getattr(loaded, "profile", None)
    if not isinstance(profile, Profile):
        return None
    hypotheses = getattr(loaded, "hypotheses", ())
    given = as_hypotheses(hypotheses, repr(profile.name)) if isinstance(hypotheses, (tuple, list)) else ()
    return Declaration(profile, hypotheses=given, mechanism=None if loaded is profile else loaded)


def _as_declaration(loaded: Any, reference: str) -> Declaration:
    if callable(loaded) and not hasattr(loaded, "profile"):
        loaded = loaded()
    declared = _declare_object(loaded)
    if declared is not None:
        return declared
    raise UnreadableFile(
        f"a Profile was expected behind {reference[:80]!r}, but an object of type {type(loaded).__name__} was found; name a profile"
    )


def write_toml(declaration: Declaration) -> str:
    """Return a profile and its sampling rule as TOML, numbers as exact text. Raises :class:`InvalidProfile` where no such file reads back.

    >>> from profiles import declare
    >>> print(write_toml(Declaration(declare("sum", "w*z/b", record={"z": [0, "0.1"]}, parameters={"b": "1/3"}))), end="")
    name = "sum"
    epsilon = "w*z/b"
    [record]
    z = ["0", "0.1"]
    [parameters]
    b = "1/3"
    """
    text = "\n".join(_lines(declaration)) + "\n"
    try:
        again = parse_file(text)
    except PDPError as error:
        raise InvalidProfile(f"the profile {declaration.profile.name[:60]!r} cannot be written to a file: {error}") from None
    mine = declaration.profile
    theirs = again.profile
    same = (theirs.notion, theirs.promise, theirs.record, theirs.parameters) == (mine.notion, mine.promise, mine.record, mine.parameters)
    if not same or (again.sampling is None) != (declaration.sampling is None):
        raise InvalidProfile(f"the profile {mine.name[:60]!r} would not come back from a file as it is; declare it from its text")
    return text


def _lines(declaration: Declaration) -> Iterator[str]:
    profile = declaration.profile
    yield f"name = {_quote(profile.name)}"
    if profile.notion is not ProfileNotion.PURE:
        yield f"notion = {_quote(profile.notion.value)}"
    yield f"{profile.notion.number} = {_quote(to_text(profile.promise))}"
    if profile.source:
        yield f"source = {_quote(profile.source)}"
    yield "[record]"
    yield from (f"{item.name} = [{_quote(exact_text(item.lo))}, {_quote(exact_text(item.hi))}]" for item in profile.record)
    if profile.parameters:
        yield "[parameters]"
    for parameter in profile.parameters:
        if parameter.bounds is not None:
            yield f"{parameter.name} = [{', '.join(_quote(exact_text(end)) for end in parameter.bounds)}]"
        else:
            yield f"{parameter.name} = {_quote('positive' if parameter.value is None else exact_text(parameter.value))}"
    if declaration.sampling is not None:
        yield "[sampling]"
        yield f"q = {_quote(to_text(declaration.sampling.q))}"
        yield from (f"{name} = {_quote(exact_text(to_exact(value)))}" for name, value in declaration.sampling.constants)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
