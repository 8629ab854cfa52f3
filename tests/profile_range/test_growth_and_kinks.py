"""``pdp verify`` on the profiles of growth_and_kinks.toml, growth_and_kinks_fresh.toml and growth_and_kinks_third.toml.

The first are those that the search was made for; the others were written afterwards. The truths are derived by hand; samples check them.
Some profiles of each file are run by default; ``make range`` runs all.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import mpmath
import pytest

from profiles import declare
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check
from proofs_check.verify import verify

HERE = Path(__file__).parent
NAMES = ("growth_and_kinks", "growth_and_kinks_fresh", "growth_and_kinks_third")
KNOWN, FRESH, THIRD = (tomllib.loads((HERE / f"{name}.toml").read_text())["profile"] for name in NAMES)
CONDITIONS = {8: "assumption-8", 9: "assumption-9", 11: "assumption-11", 16: "proposition-16", 17: "proposition-17"}
BY_DEFAULT = 8
STEP = mpmath.mpf(10) ** -30


def some(profiles):
    """Each profile; all but every so many of them only if slow tests are asked for."""
    every = len(profiles) // BY_DEFAULT
    return [
        pytest.param(profile, id=profile["epsilon"], marks=[] if index % every == 0 else [pytest.mark.slow])
        for index, profile in enumerate(profiles)
    ]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("profile", [*some(KNOWN), *some(FRESH), *some(THIRD)])
def test_verdicts(profile):
    declared = declare("range", profile["epsilon"], record=profile.get("record"), parameters=profile.get("parameters"))
    found = verify(declared, profile["target"])
    for number, condition in CONDITIONS.items():
        decision = found.decisions[condition]
        if decision.verdict.value == "unknown":
            assert number in profile.get("unknown", []), (condition, decision.reason)
            continue
        assert decision.verdict.value == ("proved" if number in profile["holds"] else "refuted"), (condition, decision.witness)
    report = check(to_file_text(found.certificate()))
    assert report.accepted, report
    decided = {name for name, decision in found.decisions.items() if decision.verdict.value != "unknown"}
    assert decided <= {claim.claim for claim in report.claims}


def test_few_are_listed_as_unknown():
    for profiles in (KNOWN, FRESH, THIRD):
        assert sum(len(profile.get("unknown", [])) for profile in profiles) <= 0.05 * 5 * len(profiles)


@pytest.mark.parametrize("profile", [pytest.param(p, id=p["epsilon"]) for p in (*KNOWN, *FRESH, *THIRD)])
def test_truths_are_complete(profile):
    assert set(profile["holds"]) | set(profile["fails"]) == CONDITIONS.keys()
    assert not set(profile["holds"]) & set(profile["fails"])
