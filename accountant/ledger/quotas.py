"""Quotas: what the releases of one analyst, or for one purpose, may cost in all, at worst. Advice to an office, beside the budgets.

Nothing that a ledger promises rests on a quota: whoever charges says who asked. The sums are of public numbers, so that a refusal tells
nothing of the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accountant.ledger.amounts import Amounts
from accountant.ledger.log import CHARGE, QUOTA, Entry
from profiles import InvalidArgument
from profiles.suggestions import describe_unknown

#: What a quota may be of.
OF = ("analyst", "purpose")


@dataclass(frozen=True, slots=True)
class Quota:
    """That the releases ``of`` "analyst" or "purpose" ``name`` cost at most ``most``; ``spent``: what they cost at worst so far."""

    of: str
    name: str
    most: Amounts
    spent: Amounts

    def __str__(self) -> str:
        return f"the quota of the {self.of} {self.name!r}"

    def fits(self, cost: Amounts) -> bool:
        """Whether a release of this cost stays within it."""
        return (self.spent + cost).within(self.most)

    def tell(self) -> dict[str, Any]:
        """Return it as JSON types, with what is left."""
        left = self.most.less(self.spent)
        told = {"most": self.most.tell(up=False), "at_worst": self.spent.tell(up=True), "left": left.tell(up=False)}
        return {"of": self.of, "name": self.name, **told}


def to_subject(of: object, name: object) -> tuple[str, str]:
    """Return whom or what a quota is of. Raises :class:`InvalidArgument`."""
    if of not in OF:
        shown, hint = describe_unknown(of, OF)
        raise InvalidArgument(f"a quota is of an analyst or of a purpose, but {shown} was found; choose one{hint}")
    return str(of), str(name)


def find_quotas(entries: Sequence[Entry], note: Mapping[str, str] | None = None) -> tuple[Quota, ...]:
    """Return the quotas that are in force, of all or of the analyst and the purpose of a ``note``: of each subject the last one."""
    last = {(entry.body["of"], entry.name): entry for entry in entries if entry.kind == QUOTA}
    return tuple(
        Quota(of, name, most, _add(entries, of, name, most))
        for (of, name), entry in last.items()
        if note is None or note.get(of) == name
        for most in (Amounts.read(entry.body["most"], "a quota"),)
    )


def _add(entries: Sequence[Entry], of: str, name: str, like: Amounts) -> Amounts:
    costs = (Amounts.read(entry.body["cost"], "a cost") for entry in entries if entry.kind == CHARGE and entry.body.get(of) == name)
    return sum(costs, Amounts((0,) * len(like.values)))
