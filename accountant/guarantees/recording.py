"""Calls of rules in files: written as objects, and read back. Every rule that files record is known here, used or not."""

from __future__ import annotations

from typing import Any

from accountant.guarantees import (
    budgets,
    combining,
    curves,
    directions,
    execution,
    filters,
    gaussian,
    gaussian_samples,
    mechanism_proofs,
    rules,
)  # fmt: skip
from accountant.guarantees.calls import CALLS
from accountant.guarantees.stored import MAX_DEPTH, ArgumentKind, Proofs
from accountant.guarantees.theorem import Call
from profiles import UnreadableFile
from profiles.strict_json import read_fields, read_list, read_string

#: The modules of rules, whose signatures are in :data:`CALLS` once they are loaded.
RULES = (rules, directions, combining, curves, gaussian, gaussian_samples, mechanism_proofs, budgets, execution, filters)

__all__ = ["CALLS", "RULES", "read_call", "write_call"]


def _kinds() -> dict[str, ArgumentKind]:
    """The kinds of all arguments: an argument has the same kind wherever it occurs, so that calls of an unknown rule are read as well."""
    return {name: kind for signature, _ in CALLS.values() for name, kind in signature.arguments.items()}


def write_call(call: Call | None, proofs: Proofs) -> dict[str, Any] | None:
    """Return a recorded call as an object."""
    if call is None:
        return None
    kinds = _kinds()
    return {
        "call": call.name,
        "arguments": {name: kinds[name].write(value, proofs) for name, value in call.arguments},
        "premises": [write_call(premise, proofs) for premise in call.premises],
    }


def read_call(value: object, proofs: Proofs, depth: int = 0) -> Call | None:
    """Return the call of an object; whether there is such a rule is decided where it is replayed. Raises :class:`UnreadableFile`."""
    if value is None:
        return None
    if depth > MAX_DEPTH:
        raise UnreadableFile(f"at most {MAX_DEPTH} calls inside one another were expected, but more were found; correct the file")
    fields, kinds = read_fields(value, "a call", {"call", "arguments", "premises"}), _kinds()
    if fields["call"] == "worst_case_directions" and isinstance(
        fields["arguments"], dict
    ):  # directions had other names in versions 1 and 2
        fields["arguments"] = {{"plus": "remove", "minus": "add"}.get(name, name): item for name, item in fields["arguments"].items()}
    if not isinstance(fields["arguments"], dict) or not fields["arguments"].keys() <= kinds.keys():
        raise UnreadableFile(f"the arguments of a call are some of {', '.join(sorted(kinds))}, but others were found; correct the file")
    arguments = tuple((name, kinds[name].read(item, proofs)) for name, item in fields["arguments"].items())
    premises = tuple(read_call(premise, proofs, depth + 1) for premise in read_list(fields["premises"], "the premises"))
    return Call(read_string(fields["call"], "a call"), arguments, premises)
