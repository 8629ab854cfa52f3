"""What a ledger promises: the cap, or the largest budget, with all that its releases rest on; and what holds where budgets were raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accountant.guarantees import Guarantee
from accountant.guarantees.curves import shorten_subject
from accountant.guarantees.filters import filter_releases
from accountant.guarantees.rules import GIVEN_ROW
from accountant.guarantees.stored import read_carried, read_hypotheses
from accountant.guarantees.theorem import Carried
from accountant.ledger.amounts import Amounts
from accountant.ledger.budgets import read_budget
from accountant.ledger.ex_post import ExPost, make_ex_post
from accountant.ledger.log import BUDGET, Entry
from profiles import InvalidArgument
from profiles.errors import NoGuarantee
from profiles.hypotheses import FIXED_IN_ADVANCE, HYPOTHESES_UNKNOWN, RECORD_STATISTICS

if TYPE_CHECKING:
    from accountant.ledger.ledger import Ledger


def conclude(ledger: Ledger) -> Guarantee:
    """Return what the entries that were read so far promise, for what holds the lock already. Raises :class:`NoGuarantee`."""
    if ledger.is_raised:
        raise NoGuarantee(
            "a guarantee of the ledger was asked for, but its budgets were raised without a cap, so that what it promises depends on "
            "what was released; report what holds ex post (pdp ledger report --delta D), which no rule takes for a guarantee"
        )
    return _filter(ledger, ledger.budget.ceiling if ledger.settings.cap is None else ledger.settings.cap)


def _filter(ledger: Ledger, most: Amounts) -> Guarantee:
    """Return what a ledger with these releases promises whose budgets never exceed ``most``."""
    settings, raises = ledger.settings, ledger.journal.select(BUDGET)
    rules = (settings.budget, *(read_budget(entry.body["budget"]) for entry in raises))
    subject = f"all releases of a ledger whose units are told by {', '.join(settings.key)}"
    return filter_releases(
        subject,
        settings.notion.promise(most, shorten_subject(subject), settings.menu),
        list_carried(ledger),
        protection=settings.protection,
        key=", ".join(settings.key),
        one_number=not any(rule.attributes for rule in rules),
        raised=bool(raises),
        capped=settings.cap is not None,
        releases=[entry.name for entry in ledger.journal.charges],
    )


def carry(ledger: Ledger) -> Carried:
    """Return what all that was released rests on, and what was discharged of it: also where there is no guarantee."""
    return Carried.of(_filter(ledger, ledger.budget.ceiling))


def report_ex_post(ledger: Ledger, delta: object) -> ExPost:
    """Return what holds of a ledger whose budgets were raised without a cap. Raises :class:`InvalidArgument` for one with a guarantee."""
    if not ledger.is_raised:
        raise InvalidArgument("an ex-post report was asked for, but the budgets were not raised without a cap; ask for the guarantee")
    settings = ledger.settings
    return make_ex_post(settings.notion, ledger.budget.ceiling, settings.grid, carry(ledger), delta, settings.menu)


def list_carried(ledger: Ledger) -> list[Carried]:
    """Return what is known of all that was released: of the ledger that this one goes on from, and of each charge."""
    before = [] if ledger.settings.carried is None else [ledger.settings.carried]
    return before + [_read_carried(ledger, entry) for entry in ledger.journal.charges]


def _read_carried(ledger: Ledger, entry: Entry) -> Carried:
    """Return what a charge rests on. Those of earlier releases do not say what was discharged: what words may have closed is open."""
    if "discharged" in entry.body:
        return read_carried(entry.body, "a release")
    unknown = HYPOTHESES_UNKNOWN.about(name=entry.name, carrier="its entry in the ledger")
    told = read_hypotheses(entry.body["hypotheses"], "the hypotheses of a release") if "hypotheses" in entry.body else (unknown,)
    anew = (FIXED_IN_ADVANCE,) if any(item.id == RECORD_STATISTICS.id for item in told) else (FIXED_IN_ADVANCE, GIVEN_ROW)
    return Carried(ledger.settings.protection, tuple(dict.fromkeys((*told, *anew))))
