"""What a rule declares so that a call of it can be recorded and made again: one signature each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from accountant.guarantees.stored import ArgumentKind
from accountant.guarantees.theorem import Call, Guarantee
from profiles import InvalidArgument

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
#: :mod:`accountant.guarantees.recording` has them all.
CALLS: dict[str, tuple[Signature, Callable[..., Guarantee]]] = {}
