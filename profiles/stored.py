"""Profiles as JSON and back, exactly: the format ``pdp-profile``, version 1 (docs/interoperability.md).

The expression stands there in the grammar of profile files, which any reader understands; where the grammar would read another term of
the same value (SymPy makes such terms), the term itself stands beside it, and has to print as that text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from profiles.declaring import declare
from profiles.errors import InvalidProfile, PDPError, UnreadableFile
from profiles.grammar import MAX_NESTING, MAX_NODES, is_name, parse_expression
from profiles.notions import ProfileNotion, to_notion
from profiles.profile import Part, Profile
from profiles.ranges import Written, WrittenRange, require_parameters
from profiles.strict_json import read_document, read_exact, read_fields, read_list, read_string, write_document, write_exact
from profiles.tables import Table, make_table
from profiles.terms import COMPARISONS, FUNCTIONS, VARIADIC, Term, count_nodes, to_text
from profiles.variables import Parameter, require_name

FORMAT = "pdp-profile"
VERSION = 1
MAX_DEPTH = 20
_UNARY = {"neg", *FUNCTIONS.values()}
_BINARY = {"div", "pow"}
_SEVERAL = {"add", "mul", *VARIADIC.values()}


def write_profile(profile: Profile) -> str:
    """Return a profile as the text of a JSON file from which :func:`read_profile` makes an equal one, parts included.

    >>> profile = declare("sum", "w*z/3", record={"z": ["0.1", 4]})
    >>> read_profile(write_profile(profile)) == profile
    True

    Raises :class:`InvalidProfile` for a profile that no file can hold, such as one with a source of several lines.
    """
    try:
        text = write_document(FORMAT, VERSION, profile_object(profile))
        same = read_profile(text) == profile
    except (PDPError, RecursionError) as error:
        said = str(error) if isinstance(error, PDPError) else "it is nested too deeply"
        raise InvalidProfile(f"the profile {profile.name[:60]!r} was to be written to a file, but none can hold it: {said}") from None
    if not same:
        raise InvalidProfile(f"the profile {profile.name[:60]!r} would not come back from a file as it is; declare it from its text")
    return text


def read_profile(text: str) -> Profile:
    """Return the profile that a text of :func:`write_profile` holds, checked as :func:`profiles.declare` checks it.

    Raises :class:`UnreadableFile` (not that format or version, malformed), :class:`InvalidProfile`, :class:`InvalidExpression`.
    """
    whole = read_document(text, FORMAT, VERSION)
    return profile_from_object({key: value for key, value in whole.items() if key not in ("format", "version")}, "the profile")


def profile_object(profile: Profile) -> dict[str, Any]:
    """Return a profile as an object of JSON types, without format and version."""
    made: dict[str, Any] = {
        "name": profile.name,
        **({} if profile.notion is ProfileNotion.PURE else {"notion": profile.notion.value}),
        **term_object(profile.promise, profile.notion.number),
        "record": [{"name": s.name, "range": [write_exact(s.lo), write_exact(s.hi)]} for s in profile.record],
        "parameters": [{"name": p.name, **_parameter_object(p)} for p in profile.parameters],
        "source": profile.source,
    }
    if profile.written is not None:
        made["written"] = _written_object(profile.written, profile.notion.number)
    if profile.parts:
        made["parts"] = [{**term_object(part.times, "times"), "profile": profile_object(part.profile)} for part in profile.parts]
    return made


def profile_from_object(value: object, where: str, depth: int = 0) -> Profile:
    """Return the profile behind an object of :func:`profile_object`. Raises like :func:`read_profile`."""
    if depth > MAX_DEPTH:
        raise UnreadableFile(f"{where} has parts of parts more than {MAX_DEPTH} deep; compose fewer at a time")
    notion = to_notion(value.get("notion", ProfileNotion.PURE.value) if isinstance(value, Mapping) else ProfileNotion.PURE)
    word = notion.number
    fields = read_fields(
        value, where, {"name", word, "record", "parameters", "source"}, frozenset({f"{word}_term", "parts", "written", "notion"})
    )
    name = read_string(fields["name"], f"the name of {where}")
    require_name(name, where)
    record = _unique_names(fields["record"], f"the record of {where}")
    parameters = _unique_names(fields["parameters"], f"the parameters of {where}")
    promise = term_from_object(fields, word, where)
    spelled_out: dict[str, Any] = {word: to_text(promise)}  # with its tables
    checked = declare(
        name,
        **spelled_out,
        notion=notion,
        record={key: _range(entry, key, {"name", "range"}) for key, entry in record.items()},
        parameters={key: _parameter(entry, key) for key, entry in parameters.items()},
        ignores_weights=True,
    )
    parts = tuple(
        Part(profile_from_object(entry["profile"], f"a part of {name[:60]!r}", depth + 1), term_from_object(entry, "times", where))
        for entry in (
            read_fields(item, f"a part of {where}", {"times", "profile"}, frozenset({"times_term"}))
            for item in read_list(fields.get("parts", []), f"the parts of {where}")
        )
    )
    source = read_string(fields["source"], f"the source of {where}")
    plain = Profile(name, promise, checked.record, checked.parameters, source, parts, notion=notion)
    return plain if "written" not in fields else _with_written(plain, fields["written"], f"the ranges of {where} as they were written")


def _written_object(written: Written, word: str) -> dict[str, Any]:
    ranges = [
        {"name": item.name, "share": item.share, **term_object(item.lo, "lo"), **term_object(item.hi, "hi")} for item in written.ranges
    ]
    return {**term_object(written.promise, word), "ranges": ranges}


def _with_written(profile: Profile, value: object, where: str) -> Profile:
    """Return the profile that remembers how its ranges were written. Raises :class:`UnreadableFile` where it does not follow from that."""
    word = profile.notion.number
    fields = read_fields(value, where, {word, "ranges"}, frozenset({f"{word}_term"}))
    ranges = []
    for item in read_list(fields["ranges"], where):
        entry = read_fields(item, where, {"name", "share", "lo", "hi"}, frozenset({"lo_term", "hi_term"}))
        ends = [term_from_object({key: entry[key] for key in (end, f"{end}_term") if key in entry}, end, where) for end in ("lo", "hi")]
        name, share = read_string(entry["name"], where), read_string(entry["share"], where)
        if not is_name(name) or not is_name(share):
            raise UnreadableFile(f"{where} have a name that is not an identifier; correct the file")
        require_parameters(name, (ends[0], ends[1]), (parameter.name for parameter in profile.parameters))
        ranges.append(WrittenRange(name, ends[0], ends[1], share))
    written = Written(term_from_object(fields, word, where), tuple(ranges))
    again = replace(profile, written=written).with_parameters()
    if (again.promise, again.record) != (profile.promise, profile.record):
        raise UnreadableFile(f"{where} give another profile than the one beside them; one of the two was changed")
    return again


def term_object(term: Term, key: str) -> dict[str, Any]:
    """Return ``{key: text}``, and ``key_term`` with the term itself where the grammar reads the text as another one."""
    text = to_text(term)
    return {key: text} if parse_expression(text, key) == term else {key: text, f"{key}_term": _write_term(term)}


def term_from_object(value: Mapping[str, Any], key: str, where: str) -> Term:
    """Return the term behind an object of :func:`term_object`. Raises :class:`UnreadableFile`, :class:`InvalidExpression`."""
    text = read_string(value[key], f"{key} of {where}")
    parsed = parse_expression(text, f"{key} of {where}")
    if f"{key}_term" not in value:
        return parsed
    term = _read_term(value[f"{key}_term"], f"{key}_term of {where}", 0)
    count_nodes(term, MAX_NODES)
    if to_text(term) != text:
        raise UnreadableFile(f"{key} and {key}_term of {where} are different expressions; one of them was changed")
    return term


def _write_term(term: Term) -> list[Any]:
    if term[0] == "num":
        return ["num", write_exact(term[1])]
    if term[0] in ("sym", "pi"):
        return list(term)
    if term[0] == "table":
        points = [[write_exact(x), write_exact(y)] for x, y in term[1].points]
        return ["table", {"name": term[1].name, "points": points, "continues": term[1].continues}, _write_term(term[2])]
    if term[0] == "piecewise":
        return ["piecewise", *([_write_term(value), [condition[0], *map(_write_term, condition[1:])]] for value, condition in term[1:])]
    return [term[0], *map(_write_term, term[1:])]


def _read_term(value: object, where: str, depth: int) -> Term:
    node = read_list(value, where)
    head = node[0] if node else None
    below = node[1:]
    if depth > 4 * MAX_NESTING or not isinstance(head, str):
        raise UnreadableFile(f"{where} is nested too deeply or has an operation without a name; correct the file")
    if head == "num" and len(below) == 1:
        return ("num", read_exact(below[0], where))
    if head == "sym" and len(below) == 1 and isinstance(below[0], str) and is_name(below[0]):
        return ("sym", below[0])
    if head == "pi" and not below:
        return ("pi",)
    if head == "table" and len(below) == 2:
        return ("table", _read_table(below[0], where), _read_term(below[1], where, depth + 1))
    if head == "piecewise" and below:
        return ("piecewise", *(_read_branch(branch, where, depth, last=branch is below[-1]) for branch in below))
    if (head in _UNARY and len(below) == 1) or (head in _BINARY and len(below) == 2) or (head in _SEVERAL and below):
        return (head, *(_read_term(part, where, depth + 1) for part in below))
    raise UnreadableFile(f"{where} has the operation {head[:40]!r} with {len(below)} parts, which there is none of; correct the file")


def _read_table(value: object, where: str) -> Table:
    fields = read_fields(value, where, {"name", "points", "continues"})
    name = read_string(fields["name"], where)
    if not is_name(name) or not isinstance(fields["continues"], bool):
        raise UnreadableFile(f"{where} has a table without a name, or that does not say whether it continues; correct the file")
    points = [[read_exact(number, where) for number in read_list(pair, where)] for pair in read_list(fields["points"], where)]
    return make_table(name, points, outside="continue" if fields["continues"] else "error")


def _read_branch(value: object, where: str, depth: int, *, last: bool) -> tuple[Term, Term]:
    pair = read_list(value, where)
    condition = read_list(pair[1], where) if len(pair) == 2 else []
    if last and condition == ["true"]:
        return _read_term(pair[0], where, depth + 1), ("true",)
    if last or len(condition) != 3 or condition[0] not in COMPARISONS:
        raise UnreadableFile(f"{where} has a branch that is not a pair of a value and a comparison (the last one: true); correct the file")
    return _read_term(pair[0], where, depth + 1), (condition[0], *(_read_term(part, where, depth + 1) for part in condition[1:]))


def _unique_names(value: object, where: str) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for item in read_list(value, where):
        entry = read_fields(item, where, {"name"}, frozenset({"range", "value", "positive"}))
        name = read_string(entry["name"], where)
        if name in made:
            raise UnreadableFile(f"{where} has {name[:60]!r} twice; correct the file")
        made[name] = entry
    return made


def _range(entry: object, name: str, keys: set[str]) -> list[Any]:
    ends = read_list(read_fields(entry, name, keys)["range"], f"the range of {name}")
    return [read_exact(end, f"the range of {name}") for end in ends]


def _parameter_object(parameter: Parameter) -> dict[str, Any]:
    if parameter.bounds is not None:
        return {"range": [write_exact(end) for end in parameter.bounds]}
    return {"positive": True} if parameter.value is None else {"value": write_exact(parameter.value)}


def _parameter(entry: dict[str, Any], name: str) -> object:
    if "range" in entry:
        return _range(entry, name, {"name", "range"})
    if "value" in entry:
        return read_exact(read_fields(entry, name, {"name", "value"})["value"], f"the parameter {name}")
    if read_fields(entry, name, {"name", "positive"})["positive"] is not True:
        raise UnreadableFile(f"the parameter {name!r} must have a value, a range or be positive; correct the file")
    return "positive"
