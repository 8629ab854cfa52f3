"""What a release costs at most and what is left, by public numbers alone: who could run out, before anything is charged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accountant.ledger.amounts import Amounts
from accountant.ledger.quotas import Quota
from accountant.ledger.settings import ReleaseMode
from profiles import Profile
from profiles.errors import OverBudget
from profiles.terms import to_text

#: What is said of the two modes, where one is chosen and where a ledger is opened.
MODES = {
    ReleaseMode.PUBLIC: "everybody takes part in every release; one that does not fit the smallest budget is refused as a whole",
    ReleaseMode.INDIVIDUAL: "units without room for a release are left out silently: results may lack units, and it is never shown how "
    "many",
}
MAY_MISS = "units may be missing from this release: those without room for it were left out, and it is never shown how many"


@dataclass(frozen=True, slots=True)
class Room:
    """What a release costs a unit at most (``cost``), what units were charged at most before it (``spent``), and their ``least`` budget, as
    amounts. The same for all data sets.

    ``records``: how many records a unit has at most, None where any number may come; then ``cost`` and ``spent`` are for one record.
    ``quotas``: those of who asked for it, and of its purpose, before it.
    """

    profile: Profile
    cost: Amounts
    spent: Amounts
    least: Amounts
    mode: ReleaseMode
    records: int | None
    sign: str
    quotas: tuple[Quota, ...] = ()

    @property
    def exceeded(self) -> Quota | None:
        """A quota that it does not fit."""
        return next((quota for quota in self.quotas if not quota.fits(self.cost)), None)

    @property
    def noise(self) -> str:
        """What the release is made with: the name of its profile, and its parameters, such as the scale of the noise."""
        numbers = ", ".join(f"{name} = {to_text(value)}" for name, value in self.profile.numbers().items())
        return self.profile.name + (f" with {numbers}" if numbers else "")

    @property
    def fits(self) -> bool:
        """Whether every unit has room for it, for certain."""
        return (self.records is not None or self.mode is ReleaseMode.PUBLIC) and (self.spent + self.cost).within(self.least)

    @property
    def partial(self) -> bool:
        """Whether units may be missing from it."""
        return self.mode is ReleaseMode.INDIVIDUAL and not self.fits

    @property
    def decider(self) -> str:
        """Which public numbers decide whether it is refused."""
        if self.exceeded is not None:
            return str(self.exceeded)
        if self.mode is ReleaseMode.INDIVIDUAL and self.records is None:
            return "any number of records of one unit, without --partial"
        return "the smallest budget" + ("" if self.mode is ReleaseMode.PUBLIC else ", without --partial")

    @property
    def times(self) -> int | None:
        """How often a release of this cost still fits for everybody; None for any number."""
        if self.records is None:
            return 0
        left = self.least.less(self.spent).values
        often = [have // cost for have, cost in zip(left, self.cost.values, strict=True) if cost]
        return min(often) if often else None

    def require(self, *, partial: bool) -> None:
        """Refuse a release that does not fit in public mode, or that units may be missing from where that is not said to be all right.

        So is one that exceeds a quota. Raises :class:`OverBudget`.
        """
        if self.exceeded is not None:
            left = self.exceeded.most.less(self.exceeded.spent).say(up=False).removesuffix(" nats")
            raise OverBudget(
                f"a release that costs up to {self.cost_text} was to be charged, but {left} are left of {self.exceeded}; nothing was "
                "charged: ask for less, or set another quota (pdp ledger quota)"
            )
        if self.mode is ReleaseMode.PUBLIC and not self.fits:
            raise OverBudget(
                f"a release that costs up to {self.cost_text} was to be charged, but "
                f"{self.left_text} are left of the smallest budget; nothing was charged: ask for less, or raise the budgets"
            )
        if self.partial and not partial:
            why = (
                "a unit may have any number of records (--records declares how many)"
                if self.records is None
                else f"it costs up to {self.cost_text}, and only {self.left_text} are certainly left"
            )
            raise OverBudget(
                f"units may have no room for this release and would be left out of it silently: {why}; nothing was charged: add "
                "--partial (partial=True) where the result need not be about everybody, ask for less, or raise the budgets"
            )

    @property
    def cost_text(self) -> str:
        """The cost in words, rounded up."""
        if self.sign == "rho":
            return self.cost.say(up=True, notion="zcdp")
        return self.cost.say(up=True) + (f" of {self.sign}" if len(self.cost.values) == 1 else "")

    @property
    def left_text(self) -> str:
        """What is left of the smallest budget before it, rounded down."""
        return self.least.less(self.spent).say(up=False).removesuffix(" nats")

    def tell(self) -> dict[str, Any]:
        """Return it as JSON types, in nats."""
        after = self.spent + self.cost
        return {
            "by": self.noise,
            "cost": self.cost.tell(up=True),
            "each": "record" if self.records is None else "unit",
            **{
                side: {"at_worst": spent.tell(up=True), "left": self.least.less(spent).tell(up=False)}
                for side, spent in (("before", self.spent), ("after", after))
            },
            "smallest_budget": self.least.tell(up=False),
            "units_may_be_missing": self.partial,
            **({"quotas": [quota.tell() for quota in self.quotas]} if self.quotas else {}),
        }
