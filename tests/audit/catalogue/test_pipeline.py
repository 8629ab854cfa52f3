"""Private k-means as a whole is not refuted by an audit of all that it releases, and its twins with one mistake are."""

from __future__ import annotations

import numpy as np
import pytest

from proofs_check.audit import Finding
from tests.targets.catalogue import AuditCase, broken_twins, catalogue_cases, pipeline_cases, pipeline_twins, repeated_cases

CASES, TWINS = pipeline_cases(), pipeline_twins()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_pipeline_that_ships_is_refuted(case: AuditCase) -> None:
    result = case.run(np.random.default_rng([7, CASES.index(case)]), samples=500, effort="fast", confidence="0.999999", mode="fixed")
    assert result.finding is Finding.CONSISTENT, (result.epsilon_lower, float(case.claim.epsilon))


@pytest.mark.thorough
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_every_twin_is_refuted(twin: AuditCase) -> None:
    result = twin.run(np.random.default_rng([8, TWINS.index(twin)]), effort="fast", confidence="0.99", mode="fixed")
    assert result.finding is Finding.VIOLATED, (result.epsilon_lower, float(twin.claim.epsilon))
    assert result.epsilon_lower <= twin.truth.upper


def test_truths_and_claims_agree_and_names_are_new() -> None:
    for case in (*CASES, *TWINS):
        assert case.broken == (case.truth.lower > case.claim.epsilon), case.name
        assert case.claim.source
    names = [case.name for case in (*CASES, *TWINS, *catalogue_cases(), *broken_twins(), *repeated_cases())]
    assert len(set(names)) == len(names)
