"""No certificate of a composition that is wrong is accepted, and a true one is in every notation of its numbers."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from proofs_check.kernel import check
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
