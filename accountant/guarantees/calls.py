"""What a rule declares so that a call of it can be recorded, written to a file, read back and made again: one signature each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from accountant.guarantees.stored import MAX_DEPTH, ArgumentKind, Proofs
from accountant.guarantees.theorem import Call, Guarantee
from profiles import InvalidArgument, UnreadableFile
from profiles.strict_json import read_fields, read_list, read_string

_Rule = TypeVar("_Rule", bound=Callable[..., Guarantee])


@dataclass(frozen=True, slots=True)
class Signature:
    """How a call of a rule is recorded: ``call`` is its name in files, ``arguments`` are those besides the guarantees, with their kinds.

    ``premises``: how many guarantees the rule concludes from; None is any number, given as ``parts``. ``word``: for a rule that concludes
    from a promise (a leaf) what a file asks to be believed, from the guarantee and the arguments; None elsewhere. ``later``:
    arguments that earlier files do not have, with what they meant. ``earlier``: names of the call in files of earlier releases.
    A rule whose signature has no function (:meth:`of`) is recorded, but cannot be repeated from a file.
    """

    call: str
    arguments: Mapping[str, ArgumentKind] = field(default_factory=dict)
    premises: int | None = 1
    word: Callable[[Guarantee, Mapping[str, Any]], str] | None = None
    later: Mapping[str, Any] = field(default_factory=dict)
    earlier: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.premises == 0 and self.word is None:  # else a file could make a promise that nobody is asked to believe
            raise InvalidArgument(f"the rule of {self.call!r} concludes from no guarantee; say what a file asks to be believed (word)")

    def of(self, rule: _Rule) -> _Rule:
        """Return the rule that makes such a call, which is called again where a file is replayed."""
        for name in (self.call, *self.earlier):
            CALLS[name] = (self, rule)
        return rule

    def record(self, **arguments: Any) -> Call:
        """Return a call with these arguments. Raises :class:`InvalidArgument` for others than are declared."""
        if list(arguments) != list(self.arguments):
            raise InvalidArgument(
                f"a call of {self.call!r} records {', '.join(self.arguments) or 'no argument'}, in this order; give those"
            )
        return Call(self.call, tuple(arguments.items()))


#: All calls that can be made again, by their names in files, each with the rule that makes it: those of the modules that are loaded.
CALLS: dict[str, tuple[Signature, Callable[..., Guarantee]]] = {}
#: The modules of rules that files record.
_RULES = ("rules", "directions", "combining", "curves", "gaussian", "gaussian_samples", "proved", "budgets", "realised", "filters")


@cache
def load_calls() -> Mapping[str, tuple[Signature, Callable[..., Guarantee]]]:
    """Return all calls, of rules that nobody has used in this process as well."""
    for name in _RULES:
        import_module(f"accountant.guarantees.{name}")
    return CALLS


def _kinds() -> dict[str, ArgumentKind]:
    """The kinds of all arguments: an argument has the same kind wherever it occurs, so that calls of an unknown rule are read as well."""
    return {name: kind for signature, _ in load_calls().values() for name, kind in signature.arguments.items()}


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
    found, kinds = read_fields(value, "a call", {"call", "arguments", "premises"}), _kinds()
    if found["call"] == "worst_case_directions" and isinstance(found["arguments"], dict):  # directions had other names in versions 1 and 2
        found["arguments"] = {{"plus": "remove", "minus": "add"}.get(name, name): item for name, item in found["arguments"].items()}
    if not isinstance(found["arguments"], dict) or not found["arguments"].keys() <= kinds.keys():
        raise UnreadableFile(f"the arguments of a call are some of {', '.join(sorted(kinds))}, but others were found; correct the file")
    arguments = tuple((name, kinds[name].read(item, proofs)) for name, item in found["arguments"].items())
    premises = tuple(read_call(premise, proofs, depth + 1) for premise in read_list(found["premises"], "the premises"))
    return Call(read_string(found["call"], "a call"), arguments, premises)
