"""The rule of a ledger: releases that are charged to accounts with budgets, and what all of them promise together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from accountant.compositions.events import Composition, MechanismKind
from accountant.guarantees.calls import Signature
from accountant.guarantees.measures import Bound, CurveBound, Losses
from accountant.guarantees.theorem import Carried, Guarantee, Inference, conclude
from profiles.hypotheses import ONE_RECORD_EACH, ONLY_RELEASE, OWN_BUDGET, OWN_ROWS, RAISES_FIXED, RAISES_FROM_OUTPUTS
from profiles.protection import Protection

_PAGE = "docs/ledger.md"
#: A ledger goes on while its guarantee is in a file: nobody can make its calls again.
_FILTERED = Signature("filter_releases")


def filter_releases(
    subject: str,
    budget: Fraction | Composition,
    carried: Sequence[Carried],
    *,
    protection: Protection,
    key: str,
    one_number: bool,
    raised: bool,
    capped: bool = False,
    releases: Sequence[str],
) -> Guarantee:
    """If a unit takes part in a release only while what it spent and what this release costs it are at most its budget B, where each cost
    is at least its loss and is decided by its own records, earlier outputs and public things alone, then everything that is released
    promises the unit B, for every adaptive choice of releases and every rule of stopping that is a function of outputs.

    ``budget``: the largest budget of a unit, or, where the ledger is ``capped``, the cap that was fixed when it was opened, which no budget
    ever exceeds; as ε of a pure ledger, or as the curve of a zCDP or mixed one. ``carried``: what is known of each
    release that was charged, and of the ledger that this one goes on from. All that is open in it stays open, but that each release was
    the only one, and that nobody has two records: the ledger adds up releases, and all rows with one value of ``key``. ``one_number``: no
    budget was ever read from columns; ``raised``: some were raised, which without a cap leaves open that this was decided beforehand.
    Source: docs/ledger.md, Theorems L1, L2, M, R, C (the cap) and S (data that change).
    """
    bound: Bound = CurveBound(budget) if isinstance(budget, Composition) else Losses(budget, budget)
    theorem = "L1"
    if isinstance(budget, Composition):
        kinds = {event.mechanism for event in budget.events}
        sampled = any(event.sampling_probability != 1 for event in budget.events)
        theorem = "R" if sampled or MechanismKind.ZCDP in kinds else "M"
        if kinds == {MechanismKind.ZCDP}:
            theorem = "L2"
    below = {item for part in carried for item in part.hypotheses}
    closes = {
        ONLY_RELEASE: "every release that was charged is added up in the account of each unit, which never exceeds its budget; that "
        "there is no other one is a hypothesis (all-charged)",
        ONE_RECORD_EACH: f"a unit is charged for all rows with one value of its key ({key})",
    }
    own = {} if raised else {RAISES_FIXED: "no budget was raised"}
    if capped:
        own = {RAISES_FIXED: "what is promised is a cap that was fixed when the ledger was opened, whatever budgets are in force"}
    if one_number:
        own[OWN_BUDGET] = "the budget is one number, the same for all units"
    return conclude(
        Inference(
            "filter of a ledger",
            subject,
            source=f"{_PAGE}, Theorem {theorem}",
            conclusion=f"{len(releases)} releases charged: {', '.join(releases[:10])}{', ...' if len(releases) > 10 else ''}"
            if releases
            else "none",
            call=_FILTERED.record(),
            protection=protection,
            carried=carried,
        ),
        bound,
        supposes=(protection.state(OWN_ROWS), *((RAISES_FROM_OUTPUTS,) if capped and raised else ())),
        discharges=own,
        closes={item: reason for item, reason in closes.items() if item in below},
    )
