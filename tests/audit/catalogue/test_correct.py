"""No correct claim of the accountant about the catalogue is refuted; every mechanism and every kind of claim is there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from profiles.mechanisms import catalogue
from proofs_check.audit import Finding
from tests.targets.catalogue import AuditCase, ClaimKind, broken_twins, catalogue_cases, sampled_claim, worst_case_claim
from tests.targets.catalogue.correct import subjects, worst_record

CASES = catalogue_cases()


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_correct_claim_is_refuted(case: AuditCase) -> None:
    # The seed is fixed; at confidence 0.9999 a change of the generator or of a score turns one of 140 red once in 70 times at most.
    rng = np.random.default_rng([1, CASES.index(case)])
    result = case.run(rng, samples=1_500, effort="fast", confidence="0.9999", mode="fixed")
    assert result.finding is Finding.CONSISTENT, (result.epsilon_lower, float(case.claim.epsilon), result.events)
    assert result.epsilon_lower <= case.truth.upper


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["count/base-3", "laplace-d1/coreset-l1-1", "k-norm-p2-d2/two-sampled-releases"])
def test_the_sequential_part_refutes_no_correct_claim(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    result = case.run(np.random.default_rng(3), samples=4_000, effort="fast", confidence="0.9999", mode="sequential")
    assert result.finding is Finding.CONSISTENT


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["laplace-d1/base-3", "count/base-3", "k-norm-pinf-d2/base-4", "laplace-d1/coreset-l1-1"])
def test_audits_see_most_of_a_tight_claim(name: str) -> None:
    """Otherwise that nothing is refuted would say little."""
    case = next(case for case in CASES if case.name == name)
    result = case.run(np.random.default_rng(4), samples=20_000, effort="fast", mode="fixed")
    assert 0.75 * float(case.claim.epsilon) < result.epsilon_lower <= case.claim.epsilon


def test_every_mechanism_has_all_kinds_of_claims_and_a_twin() -> None:
    for entry in catalogue():
        assert {case.kind for case in CASES if case.entry == entry.name} == set(ClaimKind), entry.name
        assert any(case.entry == entry.name for case in broken_twins()), entry.name


def test_cases_are_complete_and_agree_with_their_truths() -> None:
    everything = [*CASES, *broken_twins()]
    names = [case.name for case in everything]
    assert len(set(names)) == len(names)
    for case in everything:
        assert case.derivation
        assert case.claim.source
        assert case.entry in {entry.name for entry in catalogue()}
        if case.broken:
            assert case.truth.lower > case.claim.epsilon, case.name
        else:
            assert case.truth.upper <= case.claim.epsilon, case.name
            assert not isinstance(case.claim.epsilon, float)


def test_dimensions_and_norms_are_covered() -> None:
    for p in ("1", "2", "inf"):
        for d in (1, 2, 5):
            found = [case for case in CASES if case.name.startswith(f"k-norm-p{p}-d{d}/")]
            assert {ClaimKind.BASE, ClaimKind.SAMPLED} <= {case.kind for case in found}


@pytest.mark.parametrize("name", ["laplace-d1", "count", "k-norm-p2-d2", "lloyd-T3"])
def test_the_worst_case_is_audited_at_the_worst_record(name: str) -> None:
    subject = next(subject for subject in subjects(4) if subject.name == name)
    rule = subject.rules()[-1]
    claim, at = worst_case_claim(subject.mechanism.profile, rule)
    of_records = [sampled_claim(subject.mechanism, rule, record).epsilon for record in (*subject.records(), worst_record(subject, at))]
    assert max(of_records) == of_records[-1] or max(of_records) <= of_records[-1] * (1 + Fraction(1, 10**12))
    assert max(of_records) <= claim.epsilon * (1 + Fraction(1, 10**15))
    assert claim.epsilon <= of_records[-1] * (1 + Fraction(1, 10**8))
