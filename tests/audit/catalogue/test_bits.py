"""Low bits of small totals: binary64 gives them away, exact arithmetic does not. The thorough tests of the catalogue audit all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from proofs_check.audit import Finding
from tests.targets.catalogue import broken_twins, catalogue_cases

EXACT = {case.name: case for case in catalogue_cases() if case.bits}
BINARY64 = {case.name: case for case in broken_twins() if case.bits}


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("name", "least"), [("laplace", 6.2), ("count-7", 6.2), ("k-norm-pinf-d2", 5.5), ("lloyd-counts-and-sums", 6.2), ("laplace-w1", 0.5)]
)
def test_binary64_is_refuted_where_exact_noise_is_consistent(name: str, least: float) -> None:
    exact, floats = EXACT[f"{name}/bits"], BINARY64[f"{name}/lowest-bits"]
    assert exact.claim.epsilon == floats.claim.epsilon
    found = floats.run(np.random.default_rng(1), effort="fast", mode="fixed")
    assert found.finding is Finding.VIOLATED
    assert found.epsilon_lower > least
    found = exact.run(np.random.default_rng(1), samples=floats.samples, effort="fast", confidence="0.9999", mode="fixed")
    assert found.finding is Finding.CONSISTENT


def test_every_mechanism_is_audited_to_its_last_bit_in_both() -> None:
    assert {name.partition("/")[0] for name in BINARY64} == {name.partition("/")[0] for name in EXACT} - {"lloyd-T2"}
    assert (
        {case.entry for case in EXACT.values()} == {case.entry for case in BINARY64.values()} == {case.entry for case in catalogue_cases()}
    )


OBJECTS = """
from profiles.mechanisms import LaplaceSum, WeightedCount
exact, floats = LaplaceSum(b=10), LaplaceSum(b=10, arithmetic="binary64")
count, float_count = WeightedCount(beta_count=10), WeightedCount(beta_count=10, arithmetic="binary64")
"""


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("name", "code"), [("exact", 0), ("count", 0), ("floats", 1), ("float_count", 1)])
def test_from_the_command_line(name: str, code: int, tmp_path, pdp) -> None:
    (tmp_path / "mine.py").write_text(OBJECTS, encoding="utf-8")
    found = pdp(
        "audit", f"{tmp_path / 'mine.py'}:{name}", "--bits", "--dataset", "[4]", "--neighbor", "[]", "--claimed", "0.4",
        "--samples", 20_000, "--seed", 1, "--json",
    )  # fmt: skip
    assert found.code == code, found
    assert (found.json()["epsilon_lower"] > 4) == bool(code)
