"""benchmarks/results/audit-suite.md is what the code generates."""

from __future__ import annotations

from pathlib import Path

from tests.targets.suite.page import make_page

PAGE = Path(__file__).parents[3] / "benchmarks" / "results" / "audit-suite.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == make_page(), "run python -m tests.targets.suite.page > benchmarks/results/audit-suite.md"
