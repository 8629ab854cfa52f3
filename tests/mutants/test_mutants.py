"""No mutant whose claim is wrong is accepted: by construction, or because a goal is numerically false at 60 and at 150 digits.

``MUTANTS=n`` in the environment asks for n times as many (see ``make mutants``).
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from functools import cache

import pytest

from proofs_check.kernel import Report, check
from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from proofs_check.kernel.untrusted.proofs import Session, fields_of
from proofs_check.kernel.untrusted.upgrade import find_choices
from tests.kernel.conftest import check_alone
from tests.mutants.corpus import FOLDER, Mutant, certificate, is_tree, places, texts
from tests.mutants.families import numbers, proofs, structure, terms
from tests.mutants.truth import falsehood

TIMES = int(os.environ.get("MUTANTS", "1"))
CERTAIN = {**structure.FAMILIES, "malformed": numbers.malformed, "outside": numbers.outside}
CERTAIN |= {"broken_terms": terms.broken_terms, "untrue": terms.untrue}
# how many are judged, and how many of these have to turn out to be false
JUDGED = {"nudged": 80, "altered": 90, "rearranged": 60, "claimed": 80, "profiled": 120, "exchanged": 120, "grafted": 120}
LEAST_FALSE = {"nudged": 12, "altered": 15, "rearranged": 0, "claimed": 2, "profiled": 65, "exchanged": 60, "grafted": 60}
EACH = 220


@cache
def sample(family: str, most: int) -> list[Mutant]:
    """Return some mutants of a family, the same ones in every run."""
    make = {**CERTAIN, **numbers.FAMILIES, **terms.FAMILIES, **proofs.FAMILIES}[family]
    made = [m for seed in range(TIMES) for name in texts() for m in make(name, certificate(name), random.Random(f"{name} {seed}"))]
    distinct = list({m.text: m for m in made}.values())
    return random.Random(0).sample(distinct, min(most * TIMES, len(distinct)))


@cache
def chosen(name: str) -> list[str]:
    """Return what the claims of a certificate of the corpus choose."""
    return find_choices(texts()[name], Session())[0] if name in texts() else []


def told(mutant: Mutant) -> Report:
    """Return the report of the kernel alone on a mutant, with what the certificate chose that it was made of: nothing is tried."""
    return check_alone(mutant.text, None, chosen(mutant.origin))


def rejection(mutant: Mutant) -> str:
    """Check that a mutant is rejected with a named step and a reason; return the step."""
    report = check(mutant.text)
    assert not report.accepted, (mutant.origin, mutant.what)
    assert not told(mutant).accepted, (mutant.origin, mutant.what)
    assert report.claims == ()
    assert report.step
    assert report.reason
    assert "while checking" not in report.reason or report.step == "certificate", report
    return report.step


@pytest.mark.thorough
def test_the_corpus_is_valid_and_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 300_000
    for name, text in texts().items():
        assert check(text).accepted, name
        assert falsehood(text) is None, name


def test_the_corpus_has_every_rule_and_every_form_of_a_claim():
    rules, claims, fields = set(), set(), set()
    for name in texts():
        for _, value in places(certificate(name)):
            if is_tree(value):
                rules.add(value["rule"])
                fields |= {(value["rule"], key) for key in value}
            if isinstance(value, dict) and "claim" in value:
                fields |= {(value["claim"], key) for key in value["proof"]}
                if "cases" in value["proof"] or "sides" in value["proof"]:
                    continue
                given = value["proof"].keys() | ({"at"} if value["claim"].startswith("epsilon-") else set())
                named = [key for key in CLAIMS if key.split(" ")[:2] == [value["claim"], value["verdict"]]]
                claims.add(next(key for key in named if fields_of(CLAIMS[key])[1] <= given))
    without_steps = {name: rule for name, rule in RULES.items() if name != "ceiling"}  # the judge knows no steps: tests/kernel has them
    assert rules == set(without_steps)
    assert claims == set(CLAIMS)
    for name, function in without_steps.items():
        assert {(name, key) for key in fields_of(function)[0]} <= fields
    assert {("proposition-17", "cases"), ("assumption-11", "cuts"), ("proposition-17", "cuts"), ("well-defined", "obligations")} <= fields
    assert {("assumption-11", "restated"), ("proposition-17", "restated")} <= fields


@pytest.mark.thorough
def test_at_least_two_thousand_mutants_are_wrong_for_certain():
    assert sum(len(sample(family, EACH)) for family in CERTAIN) >= 2000


@pytest.mark.thorough
@pytest.mark.parametrize("family", CERTAIN)
def test_what_is_wrong_by_construction_is_rejected(family):
    steps = Counter(rejection(mutant) for mutant in sample(family, EACH))
    assert steps.total() >= 200


@pytest.mark.thorough
@pytest.mark.parametrize("family", JUDGED)
def test_what_is_numerically_false_is_rejected(family):
    counts = Counter[str]()
    for mutant in sample(family, JUDGED[family]):
        if check(mutant.text).accepted or told(mutant).accepted:
            counts["accepted"] += 1
            assert falsehood(mutant.text) is None, (mutant.origin, mutant.what, falsehood(mutant.text))
        else:
            rejection(mutant)
            counts["false" if falsehood(mutant.text) else "not shown"] += 1
    print(family, dict(counts))  # noqa: T201
    assert counts["false"] >= LEAST_FALSE[family]


def test_the_judge_finds_what_is_false():
    whole = certificate("lloyd")
    for change in ({"target_epsilon": "0.1"}, {"profile": {**whole["profile"], "epsilon": "-w*z"}}):
        assert falsehood(json.dumps({**whole, **change}))
