"""What a ledger promises: the cap, or the largest budget, with all that its releases rest on; and what holds where budgets were raised."""

from __future__ import annotations

from accountant.guarantees import Guarantee
from accountant.guarantees.curves import shorten_subject
from accountant.guarantees.filters import filter_releases
from accountant.guarantees.rules import GIVEN_ROW
from accountant.guarantees.stored import read_carried, read_hypotheses
from accountant.guarantees.theorem import Carried
from accountant.ledger.amounts import Amounts
from accountant.ledger.budgets import BudgetRule, read_budget
from accountant.ledger.ex_post import ExPost, make_ex_post
from accountant.ledger.journal import Journal
from accountant.ledger.log import BUDGET, Entry
from accountant.ledger.notions import LedgerNotion
from accountant.ledger.settings import LedgerSettings
from profiles import InvalidArgument
from profiles.errors import NoGuarantee
from profiles.hypotheses import FIXED_IN_ADVANCE, HYPOTHESES_UNKNOWN, RECORD_STATISTICS


def find_budget(journal: Journal, settings: LedgerSettings) -> BudgetRule:
    """Return the rule of budgets that is in force."""
    raised = journal.select(BUDGET)
    return settings.limit(read_budget(raised[-1].body["budget"]) if raised else settings.budget)


def is_raised(journal: Journal, settings: LedgerSettings) -> bool:
    """Tell whether budgets were raised without a cap, here or in a ledger before: then there is no guarantee, but an ex-post report."""
    return settings.was_raised or (settings.cap is None and bool(journal.select(BUDGET)))


def conclude_promise(journal: Journal, settings: LedgerSettings) -> Guarantee:
    """Return what the entries that were read so far promise, for what holds the lock already. Raises :class:`NoGuarantee`."""
    if is_raised(journal, settings):
        delta = "" if settings.notion is LedgerNotion.PURE else " --delta D"
        raise NoGuarantee(
            "a guarantee of the ledger was asked for, but its budgets were raised without a cap, so that what it promises depends on "
            f"what was released; report what holds ex post (pdp ledger report{delta}), which is not a guarantee, and release with pdp "
            "ledger charge or release, which print none"
        )
    return _filter(journal, settings, find_budget(journal, settings).ceiling if settings.cap is None else settings.cap)


def _filter(journal: Journal, settings: LedgerSettings, most: Amounts) -> Guarantee:
    """Return what a ledger with these releases promises whose budgets never exceed ``most``."""
    raises = journal.select(BUDGET)
    rules = (settings.budget, *(read_budget(entry.body["budget"]) for entry in raises))
    subject = f"all releases of a ledger whose units are told by {', '.join(settings.key)}"
    return filter_releases(
        subject,
        settings.notion.promise(most, shorten_subject(subject), settings.menu),
        list_carried(journal, settings),
        protection=settings.protection,
        key=", ".join(settings.key),
        one_number=not any(rule.attributes for rule in rules),
        raised=bool(raises),
        capped=settings.cap is not None,
        releases=[entry.name for entry in journal.charges],
    )


def carry(journal: Journal, settings: LedgerSettings) -> Carried:
    """Return what all that was released rests on, and what was discharged of it: also where there is no guarantee."""
    return Carried.of(_filter(journal, settings, find_budget(journal, settings).ceiling))


def report_ex_post(journal: Journal, settings: LedgerSettings, delta: object) -> ExPost:
    """Return what holds of a ledger whose budgets were raised without a cap. Raises :class:`InvalidArgument` for one with a guarantee."""
    if not is_raised(journal, settings):
        raise InvalidArgument("an ex-post report was asked for, but the budgets were not raised without a cap; ask for the guarantee")
    most, carried = find_budget(journal, settings).ceiling, carry(journal, settings)
    return make_ex_post(settings.notion, most, settings.grid, carried, delta, settings.menu)


def list_carried(journal: Journal, settings: LedgerSettings) -> list[Carried]:
    """Return what is known of all that was released: of the ledger that this one goes on from, and of each charge."""
    before = [] if settings.carried is None else [settings.carried]
    return before + [_read_carried(settings, entry) for entry in journal.charges]


def _read_carried(settings: LedgerSettings, entry: Entry) -> Carried:
    """Return what a charge rests on. Those of earlier releases do not say what was discharged: what words may have closed is open."""
    if "discharged" in entry.body:
        return read_carried(entry.body, "a release")
    unknown = HYPOTHESES_UNKNOWN.about(name=entry.name, carrier="its entry in the ledger")
    told = read_hypotheses(entry.body["hypotheses"], "the hypotheses of a release") if "hypotheses" in entry.body else (unknown,)
    anew = (FIXED_IN_ADVANCE,) if any(item.id == RECORD_STATISTICS.id for item in told) else (FIXED_IN_ADVANCE, GIVEN_ROW)
    return Carried(settings.protection, tuple(dict.fromkeys((*told, *anew))))
