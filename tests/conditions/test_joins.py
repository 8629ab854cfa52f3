"""Branches that meet at numbers that are not rational, that compare records, and tables that reach the target at an inner point."""

from __future__ import annotations

import pytest

from profiles import declare
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check
from proofs_check.verify import verify

Z = {"z": ["1", "2"]}
TABLE = {"f": [["1", "1/2"], ["5/4", "1"], ["3/2", "1/4"], ["7/4", "9/10"], ["2", "3/4"]]}
#: ε, record, tables, target, condition, verdict. A join that is off by 1e-6 jumps, one whose slope is off by 1e-6 has a kink.
CASES = [
    ("Piecewise((w**2, w < sqrt(2)), (2*sqrt(2)*w - 2, True))", None, None, "1", "proposition-17", "proved"),
    ("Piecewise((w**2, w < sqrt(2)), (2*sqrt(2)*w - 2 + 1/10**6, True))", None, None, "1", "proposition-17", "refuted"),
    ("Piecewise((w**2, w < sqrt(2)), ((2*sqrt(2) + 1/10**6)*(w - sqrt(2)) + 2, True))", None, None, "1", "proposition-17", "refuted"),
    ("Piecewise((w, w < 2**(1/3)), (w + (w - 2**(1/3))**2, True))", None, None, "1", "proposition-17", "proved"),
    ("Piecewise((w, z < sqrt(2)), (w**2, True))", Z, None, "1", "proposition-17", "proved"),
    ("Piecewise((w, z < sqrt(2)), (w + 1/10, True))", Z, None, "2", "proposition-17", "refuted"),
    ("Piecewise((w, z >= y), (w**2, True))", {**Z, "y": ["1", "2"]}, None, "1", "proposition-17", "proved"),
    ("Piecewise((w*(3/2 - z), z < sqrt(2)), (w*(z - 1), True))", Z, None, "1", "proposition-17", "proved"),
    ("w*f(z)", Z, TABLE, "1", "assumption-8", "proved"),
    ("w*f(z)", Z, TABLE, "0.999999999", "assumption-8", "refuted"),
    ("Max(w*z, 2*w - 1, w/2 + 1)", {"z": ["1/2", "5/4"]}, None, "1.5", "proposition-16", "proved"),
    ("Max(w, 1 + exp(-z*w))", Z, None, "2", "proposition-16", "proved"),
]


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize(("epsilon", "record", "tables", "target", "condition", "verdict"), CASES)
def test_the_verdict_is_the_truth_and_its_certificate_is_accepted(epsilon, record, tables, target, condition, verdict):
    found = verify(declare("joined", epsilon, record=record, tables=tables), target, [condition])
    decision = found.decisions[condition]
    assert decision.verdict.value == verdict, decision
    report = check(to_file_text(found.certificate()))
    assert condition in {claim.claim for claim in report.claims}
