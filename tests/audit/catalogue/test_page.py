"""benchmarks/results/audit-catalogue.md is what the code says."""

from pathlib import Path

import pytest

from tests.targets.catalogue.page import make_page


def test_the_page_is_up_to_date() -> None:
    page = Path(__file__).parents[3] / "benchmarks" / "results" / "audit-catalogue.md"
    assert page.read_text(encoding="utf-8") == make_page(), (
        "run python -m tests.targets.catalogue.page > benchmarks/results/audit-catalogue.md"
    )


@pytest.mark.thorough
def test_the_example_runs() -> None:
    code = make_page().split("```python\n")[1].split("```")[0]
    exec(compile(code, "benchmarks/results/audit-catalogue.md", "exec"), {})
