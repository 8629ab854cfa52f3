"""No certificate of a composition that is wrong is accepted, and a true one is in every notation of its numbers."""

from __future__ import annotations

import random
import re
from collections import Counter
from fractions import Fraction
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from proofs_check.explain.trust import COMPOSED_RULES
from proofs_check.kernel import check
from proofs_check.kernel.theories.compositions.bounds import Bound
from proofs_check.kernel.theories.compositions.lattices import Lattice
from proofs_check.kernel.untrusted.proofs import Session
from tests.documentation.pages import site_module
from tests.mutants.corpus import write
from tests.mutants.families.compositions import BASES, FAMILIES, claimed, notations
from tests.mutants.test_mutants import TIMES, rejection

#: Of the six families, some of which have few different ones: ``make mutants`` has more than five thousand.
_MANY = {"too good": 1500, "forged": 1500}


def attack(family: str, seeds: range) -> Counter[str]:
    """Check that certificates of a family are rejected; return how many different ones there were, by their base."""
    made = {}
    for seed in seeds:
        source = random.Random(f"{family} {seed}")
        mutant = FAMILIES[family](source.choice(sorted(BASES)), source)
        made[mutant.text] = mutant
    for mutant in made.values():
        rejection(mutant)
    return Counter(mutant.origin for mutant in made.values())


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("family", FAMILIES)
def test_forged_certificates_are_rejected(family):
    assert attack(family, range(10)).total() >= 5


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_five_thousand_forged_certificates_are_rejected(family):
    counts = attack(family, range(1000, 1000 + _MANY.get(family, 900) * TIMES))
    print(family, counts.total(), dict(counts))  # noqa: T201
    assert counts.keys() == BASES.keys()


@pytest.mark.parametrize("name", BASES)
def test_every_accepted_claim_is_a_theorem_by_a_rule_that_is_listed(name):
    for side, direction in (("upper", "remove"), ("lower", "add")):
        value, session = claimed(name, side, direction), Session()
        report = check(write(value), session)
        assert report.accepted
        assert len(report.claims) == len(session.theorems) == len(value["claims"])
        for stated, claim, theorem in zip(value["claims"], report.claims, session.theorems, strict=True):
            assert isinstance(theorem.statement, Bound)
            assert (theorem.statement.name, theorem.statement.remove) == (stated["claim"], stated["direction"] == "remove")
            assert (theorem.statement.epsilon, theorem.statement.delta) == (Fraction(stated["epsilon"]), Fraction(stated["bound"]))
            assert claim.rules == (theorem.rule,)
            assert theorem.rule in COMPOSED_RULES


def test_all_that_computes_a_composition_is_in_the_table_and_has_a_proof():
    """The page of trust names each function once, with a section of the proofs that there is."""
    proofs = (Path(__file__).parents[2] / "docs" / "composition-bounds.md").read_text(encoding="utf-8")
    table = site_module("trust").ARITHMETIC
    for name, (_, proof) in table.items():
        assert attrgetter(name.partition(".")[2])(import_module(f"proofs_check.kernel.theories.compositions.{name.partition('.')[0]}"))
        assert all(re.search(rf"^## {number}\. ", proofs, re.MULTILINE) for number in re.findall(r"\d+", proof)), name
        assert all(f"`{lemma}`" in proofs for lemma in re.findall("`(.+?)`", proof)), name
    public = {name for name, one in vars(Lattice).items() if callable(one) and not name.startswith("_")} - {"width"}
    assert {f"lattices.Lattice.{name}" for name in public} <= table.keys()


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_what_is_true_is_accepted_in_every_notation(name, side):
    for direction in ("remove", "add"):
        value = claimed(name, side, direction)
        assert check(write(value)).accepted
        claim = value["claims"][0]
        bound, epsilon = Fraction(claim["bound"]), Fraction(claim["epsilon"])
        source = random.Random(name)
        for words in zip(source.sample(list(notations(bound)), 3), source.sample(list(notations(epsilon)), 3), strict=True):
            claim["bound"], claim["epsilon"] = words
            assert check(write(value)).accepted, words
