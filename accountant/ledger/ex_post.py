"""What holds of a ledger whose budgets were raised without a cap: an ex-post report, which is no guarantee (docs/ledger.md, Theorem O)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.compositions.events import Composition, Event
from accountant.compositions.queries import point_at_delta, to_delta, to_gap
from accountant.guarantees.render import hypotheses_json
from accountant.guarantees.theorem import Carried
from accountant.ledger.amounts import Amounts
from accountant.ledger.notions import LedgerNotion
from profiles import InvalidArgument, decimal_text, exact_text
from profiles.errors import NoGuarantee
from profiles.hypotheses import RAISES_FIXED, RAISES_FROM_OUTPUTS, Hypothesis
from profiles.protection import Protection

#: At most 6/π²: then the shares of all levels, this over (k + 1)², add up to at most 1.
_SHARE = Fraction("0.607927101854026")
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class ExPost:
    """P(S) ≤ e^ε Q(S) + δ, both ways, for events S within {K ≤ k}, K the level that holds the largest budget in force at the end: it is
    told after the fact, and no rule of guarantees takes it.

    ``budget``: the amounts whose promise ε is: the budget in force where the ledger is pure, else the ``level`` k of the canonical grid.
    ``delta``: as it was fixed beforehand, 0 in pure; ``share``: that of the level, at which ε was computed. ``epsilon``, rounded up, and
    these are None where no δ was given.
    """

    notion: LedgerNotion
    budget: Amounts
    level: int | None
    epsilon: Fraction | None
    delta: Fraction | None
    share: Fraction | None
    protection: Protection
    hypotheses: tuple[Hypothesis, ...]

    @property
    def sentence(self) -> str:
        """What is told, as one sentence."""
        budget = self.budget.say(up=True)
        if self.level is None:
            return (
                f"ex post, Theorem O: every event S after which no budget is above epsilon = {self.budget.tell(up=True)} has "
                "P(S) <= e^epsilon Q(S) with this epsilon; the whole process has no such number"
            )
        grid = f"level {self.level} of the grid, {f'rho = {self.budget.tell(up=True)}' if self.notion is LedgerNotion.ZCDP else budget}"
        if self.epsilon is None or self.delta is None or self.share is None:
            return f"ex post, Theorem O: the budgets in force are within {grid}; give the delta that was fixed beforehand for its epsilon"
        shown = [decimal_text(item, _DIGITS, round_up=True) for item in (self.epsilon, self.delta)]
        return (
            f"ex post, Theorem O: every event S after which the budgets in force are within {grid} has P(S) <= e^epsilon Q(S) + delta with "
            f"epsilon = {shown[0]}, delta = {shown[1]} (epsilon is that of the level at its share of delta, "
            f"{decimal_text(self.share, _DIGITS, round_up=False)}); the whole process has no such numbers"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        return {
            "statement": self.sentence,
            "is_guarantee": False,
            "epsilon": None if self.epsilon is None else decimal_text(self.epsilon, _DIGITS, round_up=True),
            "delta": None if self.delta is None else exact_text(self.delta),
            "level": self.level,
            "budget": self.budget.tell(up=True),
            "protection": self.protection.to_object(),
            "premises": hypotheses_json(self.hypotheses),
        }


def make_ex_post(
    notion: LedgerNotion, most: Amounts, grid: Amounts | None, carried: Carried, delta: object = None, menu: Sequence[Event] | None = None
) -> ExPost:
    """Return what holds of a ledger whose largest budgets in force are ``most``, under what is open in ``carried``.

    In pure that is this budget: along each transcript the density ratio is within e^±B. Otherwise the levels are b_k = 2^k · ``grid``,
    k = 0, 1, ..., but for a δ, which no level raises, with the shares 6δ/(π²(k+1)²): the report is ε of the least level that holds
    ``most``, at its share. Source: Theorem O.
    Raises :class:`NoGuarantee` where the grid is not known, or has no such level, :class:`InvalidArgument` for a δ in pure, and as finding
    an ε does.
    """
    left = (RAISES_FROM_OUTPUTS if item == RAISES_FIXED else item for item in carried.hypotheses)
    open_ = tuple(dict.fromkeys(left))
    if notion is LedgerNotion.PURE:
        if delta is not None:
            raise InvalidArgument("a delta was given, but a pure ledger has none; leave it out")
        return ExPost(notion, most, None, most.numbers[0], Fraction(0), None, carried.protection, open_)
    if grid is None:
        raise NoGuarantee(
            "an ex-post report was asked for, but this ledger goes on from one that was raised and does not say its first budget, so that "
            "the grid of Theorem O is not known; nothing can be said of it but in pure"
        )
    level = _find_level(most, grid)
    budget = _raise_to(grid, level)
    if delta is None:
        return ExPost(notion, budget, level, None, None, None, carried.protection, open_)
    exact = to_delta(delta)
    share = exact * _SHARE / (level + 1) ** 2
    promised = notion.promise(budget, "a level of a ledger", menu)
    if not isinstance(promised, Composition):
        raise InvalidArgument("a level with a privacy curve was expected, but it has none; report the budget in force")
    epsilon = point_at_delta(promised, share, to_gap("1e-6")).upper
    if epsilon is None:
        raise NoGuarantee(
            "an ex-post report was asked for, but no epsilon was found for the share of delta that the level has; only a larger delta that "
            "was fixed beforehand gives one"
        )
    return ExPost(notion, budget, level, epsilon, exact, share, carried.protection, open_)


def _raise_to(grid: Amounts, level: int) -> Amounts:
    return Amounts(tuple(value << level if place != 2 else value for place, value in enumerate(grid.values)))  # the third is a δ


def _find_level(most: Amounts, grid: Amounts) -> int:
    """Return the least level of the grid that holds ``most``. Raises :class:`NoGuarantee` where none does."""
    ratios = [-(-value // first) for value, first in zip(most.values, grid.values, strict=True) if first]
    level = (max((*ratios, 1)) - 1).bit_length()
    if not most.within(_raise_to(grid, level)):
        raise NoGuarantee(
            "an ex-post report was asked for, but a component was raised that no level of the grid of Theorem O raises, which are those of "
            "0 and delta; nothing can be said of this ledger"
        )
    return level
