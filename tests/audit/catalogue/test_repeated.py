"""No correct claim about the repeated mechanisms is refuted, and every twin is."""

from __future__ import annotations

import numpy as np
import pytest

from proofs_check.audit import Finding
from tests.targets.catalogue import AuditCase, broken_twins, catalogue_cases, repeated_cases, repeated_twins

CASES, TWINS = repeated_cases(), repeated_twins()


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_correct_claim_is_refuted(case: AuditCase) -> None:
    result = case.run(np.random.default_rng([5, CASES.index(case)]), samples=1_500, effort="fast", confidence="0.999999", mode="fixed")
    assert result.finding is Finding.CONSISTENT, (result.epsilon_lower, float(case.claim.epsilon))
    assert result.epsilon_lower <= case.truth.upper


@pytest.mark.thorough
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_every_twin_is_refuted(twin: AuditCase) -> None:
    result = twin.run(np.random.default_rng([6, TWINS.index(twin)]), effort="fast", confidence="0.99", mode="fixed")
    assert result.finding is Finding.VIOLATED, (result.epsilon_lower, float(twin.claim.epsilon))
    assert result.epsilon_lower <= twin.truth.upper


@pytest.mark.thorough
def test_an_attained_claim_is_seen() -> None:
    case = next(case for case in CASES if case.name == "repeated-threshold/subsampled")
    result = case.run(np.random.default_rng(9), effort="fast", mode="fixed")
    assert 0.9 < result.epsilon_lower <= 1


def test_truths_and_claims_agree_and_names_are_new() -> None:
    for case in (*CASES, *TWINS):
        assert case.broken == (case.truth.lower > case.claim.epsilon), case.name
        assert case.claim.source
        assert case.derivation
    names = [case.name for case in (*CASES, *TWINS, *catalogue_cases(), *broken_twins())]
    assert len(set(names)) == len(names)
