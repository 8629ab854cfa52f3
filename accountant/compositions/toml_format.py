"""Compositions in files: TOML with ``name``, ``unit``, ``neighbors``, ``[[event]]`` and ``[[hypothesis]]`` (docs/account.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accountant.compositions.batches import KEYS, Sampling, read_batches
from accountant.compositions.events import TOLD, Composition, Event, MechanismKind, make_event, parameter_names, to_kind
from profiles import InvalidArgument, PDPError, UnreadableFile
from profiles.files import MAX_FILE_BYTES, read_text, read_toml
from profiles.hypotheses import REGISTRY, STATED, Hypothesis, recall
from profiles.protection import Neighbors, Protection, Unit, read_protection
from profiles.strict_json import name_type_of, write_exact
from profiles.suggestions import suggest
from proofs_check.documents.entries import Document

#: Tables of one kind in one file; equal events are counted together, so that there may be more of them than different events.
_MOST_TABLES = 1_000
_KEYS = ("name", "unit", "neighbors", "event", "hypothesis")
_MATRIX = "matrix"
_OF_MATRICES = (
    "mechanism", "noise_multiplier", "file", "sha256", "coefficients", "steps", "min_separation", "participations", "fixed_order",
    "sampling_probability",
)  # fmt: skip
_COMMON = ("mechanism", "count", "sampling_probability", *KEYS)


@dataclass(frozen=True, slots=True)
class DeclaredEvents:
    """A composition file: a composition, whom it protects, and its hypotheses.

    ``neighbors`` None: the file does not say which data sets are neighbors; :func:`accountant.curves.curve_of` makes this a hypothesis.
    """

    composition: Composition
    unit: Unit
    neighbors: Neighbors | None
    hypotheses: tuple[Hypothesis, ...]


def read_composition_file(path: Path | str) -> DeclaredEvents:
    """Return what a file declares. Raises :class:`UnreadableFile`, and what :func:`read_composition` raises."""
    if not isinstance(path, (Path, str)):
        raise UnreadableFile(f"the path of a composition was expected, but {name_type_of(path)} was found; give it as text")
    return read_composition(read_text(Path(path), MAX_FILE_BYTES), str(path), Path(path).parent)


def read_composition(text: str, where: str = "the composition", folder: Path | None = None) -> DeclaredEvents:
    r"""Return what the TOML ``text`` declares; decimals are read exactly (0.1 is one tenth), fractions as ``"1/3"``.

    Without ``unit`` it is about one record. Files of matrices are looked for in ``folder``; without one they are refused. Raises
    :class:`UnreadableFile` (no TOML, unknown keys, another shape, neighbors of several kinds), :class:`profiles.InvalidArgument` (numbers
    outside their ranges, too many events), :class:`profiles.InvalidNumber`.

    >>> text = 'name = "training"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 1.1\ncount = 100\n'
    >>> read_composition(text).composition.events[0].describe()
    'gaussian (noise_multiplier 1.1), 100 times'
    """
    if not isinstance(text, str):
        raise UnreadableFile(f"{where} is read from a text, but {name_type_of(text)} was found; give what the file says")
    table = read_toml(text, where)
    _refuse_unknown(table, _KEYS, where)
    if not isinstance(table.get("name"), str):
        raise UnreadableFile(f'{where} needs name = "...", but found {name_type_of(table.get("name"))}; add it as text')
    tables = _tables(table, "event", where)
    if not tables:
        raise UnreadableFile(f"{where} needs [[event]] tables, but found {name_type_of(table.get('event'))}; add one for each mechanism")
    try:
        unit = read_protection(table.get("unit", Unit.RECORD), Neighbors.ADD_REMOVE, where).unit
        stated = _read_neighbors(table, where)
    except InvalidArgument as error:
        raise UnreadableFile(str(error)) from None
    matrices = _Matrices(unit, stated, folder)
    events = [_read_event(event, matrices, f"event {index} of {where}") for index, event in enumerate(tables, 1)]
    own = (_read_hypothesis(item, where) for item in _tables(table, "hypothesis", where))
    supposed = dict.fromkeys((*matrices.hypotheses, *own))
    composition, neighbors = Composition(table["name"], tuple(event for event, _ in events)), _agree(stated, events, where)
    if composition.leaves_noise_open(neighbors):  # which earlier releases counted otherwise: no bound changes because its meaning did
        raise UnreadableFile(
            f"{where} has gaussian noise where one record is replaced by another, in units of which a replaced record moves a sum by 1 in "
            'earlier releases, and by 2 now (a record by its norm); add sampling = "none" to the event and give noise over norm, which is '
            "twice the number that was here"
        )
    return DeclaredEvents(composition, unit, neighbors, tuple(supposed))


def write_composition(declared: DeclaredEvents) -> str:
    """Return the TOML text that :func:`read_composition` reads as ``declared``. Raises :class:`InvalidArgument` where there is none.

    >>> event = make_event("pure", {"epsilon": "1/3"}, count=2)
    >>> print(write_composition(DeclaredEvents(Composition("counts", (event,)), Unit.USER, Neighbors.REPLACE_ONE, ())), end="")
    name = "counts"
    unit = "user"
    neighbors = "replace-one"
    <BLANKLINE>
    [[event]]
    mechanism = "pure"
    epsilon = "1/3"
    count = 2
    """
    text = "\n".join(_lines(declared)) + "\n"
    try:
        read_back = read_composition(text)
    except PDPError as error:
        raise InvalidArgument(f"the composition {declared.composition.name!r} cannot be written to a file: {error}") from None
    said = [[item.sentence for item in one.hypotheses] for one in (read_back, declared)]
    about = [(one.composition, one.unit, one.neighbors) for one in (read_back, declared)]
    if about[0] != about[1] or said[0] != said[1]:
        raise InvalidArgument(f"the composition {declared.composition.name!r} would not come back from a file as it is; reword it")
    return text


def _lines(declared: DeclaredEvents) -> Iterator[str]:
    yield f"name = {_quote(declared.composition.name)}"
    yield f"unit = {_quote(declared.unit.word)}"
    if declared.neighbors is not None:
        yield f"neighbors = {_quote(declared.neighbors.value)}"
    for event in declared.composition.events:
        yield from ("", "[[event]]", f"mechanism = {_quote(event.mechanism.value)}")
        yield from (f"{name} = {_quote(write_exact(value))}" for name, value in event.parameters)
        batches = event.batches
        if batches is not None:
            yield f"sampling = {_quote(batches.sampling.value)}"
            yield from (f"{name} = {size}" for name, size in batches.sizes if (name, size) != ("group_size", 1))
        if event.sampling_probability != 1 and (batches is None or batches.sampling is Sampling.POISSON):
            yield f"sampling_probability = {_quote(write_exact(event.sampling_probability))}"
        yield f"epochs = {event.count}" if batches is not None and batches.sampling.is_by_epochs else f"count = {event.count}"
    for item in declared.hypotheses:
        yield from ("", "[[hypothesis]]", f"id = {_quote(item.id)}", f"sentence = {_quote(item.sentence)}")
        if item.id not in REGISTRY or item.id == STATED.id:
            yield f"head = {_quote(item.head.value)}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(slots=True)
class _Matrices:
    """Whom a file protects, where the files of its matrices are, and what the matrices that were read rest on."""

    unit: Unit
    stated: Neighbors | None
    folder: Path | None
    hypotheses: tuple[Hypothesis, ...] = ()

    def read(self, table: Mapping[str, object]) -> Event:
        """Return the event of a matrix mechanism, keep its hypotheses, and refuse what is none."""
        from accountant.compositions.matrices import make_matrix, read_matrix  # noqa: PLC0415 - of one kind of event
        from accountant.compositions.matrix_events import release  # noqa: PLC0415
        from accountant.compositions.sensitivity import Participation  # noqa: PLC0415

        _refuse_unknown(table, _OF_MATRICES, f"the mechanism {_MATRIX!r}")
        if self.stated is None:
            raise UnreadableFile('a matrix mechanism needs to know which data sets differ; add neighbors = "..." beside name')
        for key in ("noise_multiplier", "min_separation"):
            if key not in table:
                raise UnreadableFile(f"the mechanism {_MATRIX!r} needs {key}, but nothing was found; add it")
        if ("file" in table) is ("coefficients" in table):
            raise UnreadableFile('a matrix is file = "C.npy", or coefficients = [...] with steps = ...; write one of the two')
        steps = table.get("steps")
        if "coefficients" in table:
            listed = table["coefficients"]
            if not isinstance(listed, list) or any(isinstance(item, (list, Mapping)) for item in listed):
                raise UnreadableFile(f"coefficients are a list of numbers, but {name_type_of(listed)} was found; write [1, 0.5]")
            matrix = make_matrix(listed, steps)
        elif self.folder is None or not isinstance(table["file"], str):
            raise UnreadableFile("a matrix names a file, but there is no folder to look for it; read the composition from its file")
        else:
            matrix = read_matrix(self.folder / table["file"], steps)
        if table.get("sha256", matrix.digest) != matrix.digest:
            raise UnreadableFile(f"the matrix has the SHA-256 {matrix.digest}, but another one was expected; find the file that was meant")
        if not isinstance(fixed := table.get("fixed_order", False), bool):
            raise UnreadableFile(f"fixed_order is true or false, but {name_type_of(fixed)} was found; write one of them")
        when = Participation.read(table["min_separation"], table.get("participations"), fixed_order=fixed)
        protection = Protection(self.unit, self.stated)
        made = release(matrix, table["noise_multiplier"], when, protection, table.get("sampling_probability"))
        self.hypotheses += made.hypotheses
        return made.event


def _read_event(table: Mapping[str, object], matrices: _Matrices, where: str) -> tuple[Event, Neighbors | None]:
    """Return an event, and the neighbors of its number where it says them itself."""
    stated = matrices.stated
    if "mechanism" not in table:
        names = ", ".join((*(kind.value for kind in MechanismKind), _MATRIX))
        raise UnreadableFile(f'{where} needs mechanism = "...", but found nothing; name one of {names}')
    try:
        if table["mechanism"] == _MATRIX:
            return matrices.read(table), None
        kind = to_kind(table["mechanism"])
        common = (*_COMMON, "neighbors") if kind in TOLD else _COMMON
        _refuse_unknown(table, (*common, *parameter_names(kind)), f"the mechanism {kind.value!r}")
        parameters = {name: value for name, value in table.items() if name not in common}
        drawn = read_batches({name: value for name, value in table.items() if name in _COMMON}, stated, f"the mechanism {kind.value!r}")
        event = make_event(kind, parameters, sampling_probability=drawn.rate, count=drawn.count, batches=drawn.batches)
        return event, _read_neighbors(table, "it")
    except PDPError as error:
        raise type(error)(f"{where}: {error}") from None


def _read_neighbors(table: Mapping[str, object], where: str) -> Neighbors | None:
    return read_protection(Unit.RECORD, table["neighbors"], where).neighbors if "neighbors" in table else None


def _agree(stated: Neighbors | None, events: Sequence[tuple[Event, Neighbors | None]], where: str) -> Neighbors | None:
    """Return the one kind of neighbors that a file and its events say, None where they say none. Raises :class:`UnreadableFile`."""
    own = {said for event, said in events if event.mechanism in TOLD}
    kinds = own if stated is None else (own - {None}) | {stated}
    if len(kinds) > 1:
        listed = " and ".join(sorted("nothing" if item is None else item.value for item in kinds))
        raise UnreadableFile(
            f"{where} says {listed} of its neighbors, but one composition has one kind; write neighbors once beside name, or use two files"
        )
    return next(iter(kinds), None)


def _read_hypothesis(table: Mapping[str, object], where: str) -> Hypothesis:
    """Return a hypothesis of the registry, or else one of the user's own: none is dropped."""
    _refuse_unknown(table, ("id", "sentence", "head"), f"a hypothesis of {where}")
    identifier, sentence, head = table.get("id", STATED.id), table.get("sentence"), table.get("head")
    if not isinstance(identifier, str) or not isinstance(sentence, str) or not isinstance(head, (str, type(None))):
        raise UnreadableFile(f'{where} has a [[hypothesis]] without id = "..." and sentence = "..."; write both as text')
    try:
        return recall(identifier, sentence, head)
    except InvalidArgument as error:
        raise UnreadableFile(f"{where}: {error}") from None


def _tables(table: Mapping[str, object], key: str, where: str) -> list[Mapping[str, object]]:
    tables = table.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(item, Mapping) for item in tables):
        raise UnreadableFile(f"{where} has [[{key}]] tables, but found {name_type_of(tables)}; write each of them as one")
    if len(tables) > _MOST_TABLES:
        raise UnreadableFile(f"{where} has {len(tables)} [[{key}]] tables, but at most {_MOST_TABLES} are read; count equal ones together")
    return tables


def _refuse_unknown(table: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise UnreadableFile(f"{where} has the unknown key {key[:60]!r}; known are {', '.join(known)}{suggest(key, known)}")


COMPOSITION = Document(
    "composition file",
    "lists events and proves nothing; bound them with pdp account, and check its certificate",
    protection="unit",
    read=read_composition,
    hypotheses="hypothesis",
    write=write_composition,
)

__all__ = ["COMPOSITION", "DeclaredEvents", "read_composition", "read_composition_file", "write_composition"]
