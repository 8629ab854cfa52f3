"""The rule of a ledger: releases that are charged to accounts with budgets, and what all of them promise together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from accountant.curves import Composition
from accountant.guarantees.calls import Signature
from accountant.guarantees.theorem import AnyGuarantee, Bound, CurveBound, TwoSidedDP, Unit, conclude
from profiles.hypotheses import ONE_RECORD_EACH, ONLY_RELEASE, OWN_BUDGET, Hypothesis

_PAGE = "docs/ledger.md"
#: A ledger goes on while its guarantee is in a file: nobody can make its calls again.
_FILTERED = Signature("filter_releases")


def filter_releases(
    subject: str,
    budget: Fraction | Composition,
    hypotheses: Sequence[Hypothesis],
    *,
    one_number: bool,
    releases: Sequence[str],
) -> AnyGuarantee:
    """If a unit takes part in a release only while what it spent and what this release costs it are at most its budget B, where each cost
    is at least its loss and is decided by its own records, earlier outputs and public things alone, then everything that is released
    promises the unit B, for every adaptive choice of releases and every rule of stopping that is a function of outputs.

    ``budget``: the largest budget of a unit, as ε of a pure ledger, or as the curve of a zCDP one. ``hypotheses``: what the promises of the
    ``releases`` rest on. That each was the only one is what the ledger stands for. ``one_number``: the
    budgets are the same for all units. Source: docs/ledger.md, Theorems L1 and L2.
    """
    bound: Bound = CurveBound(budget) if isinstance(budget, Composition) else TwoSidedDP(budget, budget)
    why = {
        ONLY_RELEASE: "every release is charged to the account of each unit, and its account never exceeds its budget",
        **({OWN_BUDGET: "the budget is one number, the same for all units"} if one_number else {}),
    }
    # the bound is one for units: that nobody has two records is a premise of bounds for records
    supposed = tuple(item for item in dict.fromkeys((*hypotheses, *why)) if item != ONE_RECORD_EACH)
    return conclude(
        "filter of a ledger",
        subject,
        bound,
        source=f"{_PAGE}, Theorem {'L2' if isinstance(budget, Composition) else 'L1'}",
        conclusion=f"{len(releases)} releases charged: {', '.join(releases[:10])}{', ...' if len(releases) > 10 else ''}"
        if releases
        else "none",
        supposes=supposed,
        discharges=why,
        unit=Unit.USER,
        call=_FILTERED.record(),
    )
