"""``pdp verify`` on the profiles of cases.toml and at borders: no verdict against the derivation, each with a certificate, 95 % decided.

The profiles are dealt out to parts, so that each part has some of every kind. Three parts are run by default; ``make range`` runs all.
The search is bounded by counted work, so that the same verdicts come on every machine.
"""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pytest

from profiles import declare
from profiles.tables import make_table
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check
from proofs_check.verify import verify

FOLDER = Path(__file__).parent
PROFILES = tomllib.loads((FOLDER / "cases.toml").read_text())["profile"]
AT_BORDERS = ("borders", "borders_again", "joins_and_surcharges", "joins_and_surcharges_again")
BORDERS = [profile for name in AT_BORDERS for profile in tomllib.loads((FOLDER / f"{name}.toml").read_text())["profile"]]
CONDITIONS = {8: "assumption-8", 9: "assumption-9", 11: "assumption-11", 16: "proposition-16", 17: "proposition-17"}

PARTS, PARTS_BY_DEFAULT = 20, 3
BORDER_PARTS, BORDER_PARTS_BY_DEFAULT = 18, 1
SHARE = 0.95
NEVER = 60  # seconds of the processor after which it is taken to hang, on a machine that is slow


def declared_of(profile):
    tables = {
        name: make_table(name, given["points"], outside=given["outside"]) if isinstance(given, dict) else given
        for name, given in profile.get("tables", {}).items()
    }
    return declare("range", profile["epsilon"], record=profile.get("record"), parameters=profile.get("parameters"), tables=tables)


def problem(profile, number):
    """Return what is wrong with the verdict on one condition (None: nothing) and whether there is a verdict."""
    condition, truth = CONDITIONS[number], "proved" if number in profile["holds"] else "refuted"
    started = time.process_time()
    try:
        declared = declared_of(profile)
        found = verify(declared, profile["target"], [condition])
    except Exception as error:
        return f"{type(error).__name__}: {error}", False
    seconds, decision = time.process_time() - started, found.decisions[condition]
    if seconds > NEVER:
        return f"no end after {NEVER} s", False
    if decision.verdict.value == "unknown":
        return None if number in profile.get("unknown", []) else f"unknown after {seconds:.1f} s: {decision.reason}", False
    if decision.verdict.value != truth:
        return f"{decision.verdict.value}, but the truth is {truth}: {decision.witness}", True
    if not decision.checked or decision.claim is None:
        return f"{truth} by {decision.method} without a certificate", True
    report = check(to_file_text(found.certificate()))
    claimed = [claim.claim for claim in report.claims]
    return (None if condition in claimed else f"the kernel rejects {report.step}: {report.reason}"), True


def test_no_more_is_listed_as_unknown_than_may_stay_undecided():
    listed = sum(len(profile.get("unknown", [])) for profile in PROFILES)
    assert listed <= (1 - SHARE) * len(PROFILES) * len(CONDITIONS)


@pytest.mark.thorough
@pytest.mark.parametrize("part", [p if p < PARTS_BY_DEFAULT else pytest.param(p, marks=pytest.mark.slow) for p in range(PARTS)])
def test_verdicts_on_a_part_of_the_range(part):
    check_verdicts(PROFILES[part::PARTS])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "part", [p if p < BORDER_PARTS_BY_DEFAULT else pytest.param(p, marks=pytest.mark.slow) for p in range(BORDER_PARTS)]
)
def test_verdicts_on_profiles_at_borders(part):
    check_verdicts(BORDERS[part::BORDER_PARTS])


def check_verdicts(profiles):
    wrong, decided, listed, total = [], 0, 0, 0
    for profile in profiles:
        for number, condition in CONDITIONS.items():
            said, has_verdict = problem(profile, number)
            total, decided, listed = total + 1, decided + has_verdict, listed + (number in profile.get("unknown", []))
            if said is not None:
                given = {key: profile[key] for key in ("epsilon", "record", "parameters", "target") if key in profile}
                wrong.append(f"{condition} of {given}: {said}")
    assert not wrong, "\n".join(wrong)
    assert decided >= SHARE * total - listed, f"{decided} of {total} decided"
