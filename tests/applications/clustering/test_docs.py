"""The page runs, and its numbers are those of the tests."""

from __future__ import annotations

import re
from pathlib import Path

import mpmath
import pytest

from accountant.applications.clustering.solver import TOLERANCE
from tests.applications.clustering.test_paper import star_probabilities

PAGE = (Path(__file__).parents[3] / "docs" / "metric-clustering.md").read_text(encoding="utf-8")


def test_the_examples_run(capsys):
    names: dict = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(example, "docs/metric-clustering.md", "exec"), names)
    assert "epsilon <= 1\n" in capsys.readouterr().out
    assert len(names["answer"].centres) == 3
    assert names["answer"].guarantee.bound.epsilon <= 1


def test_the_table_of_losses():
    rows = re.findall(r"^\| (100|1000|10⁶) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    p = 1 - mpmath.exp(-1)
    for size, low, high, printed, sampled in rows:
        m = 10**6 if size == "10⁶" else int(size)
        (lower, _), (_, upper) = (star_probabilities(m, mpmath.mpf(1), n) for n in (3, 2))
        assert float(lower) == pytest.approx(float(low), rel=0.01)
        assert lower >= float(low)
        assert float(upper) == pytest.approx(float(high), rel=0.01)
        assert upper <= float(high)
        (lower2, _), (_, upper2) = (star_probabilities(m, mpmath.log(2), n) for n in (3, 2))
        assert 0 <= mpmath.log(lower / upper) - float(printed) < 0.01
        assert 0 <= mpmath.log(p * lower2 / upper2) - float(sampled) < 0.01


def test_the_tolerance_on_the_page():
    assert f"η = 10⁻{'⁰¹²³⁴⁵⁶'[round(-mpmath.log10(TOLERANCE))]}" in PAGE
