"""The user page runs, and its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from accountant.calibration.lloyd import noise_energy
from accountant.estimators.noise_split import TYPICAL_NORM, count_share
from tests.estimators.test_kmeans import EXPECTED_FAILURES

PAGE = (Path(__file__).parents[2] / "docs" / "dp-kmeans.md").read_text(encoding="utf-8")


def test_the_examples_run(capsys):
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(example, "docs/dp-kmeans.md", "exec"), names)
    assert "epsilon <= 0.99999999" in capsys.readouterr().out
    assert names["model"].cluster_centers_.shape == (3, 2)
    assert names["model"].guarantee_.bound.upper <= 1
    assert names["sampled"].guarantee_.bound.upper == 5


def test_the_amplified_epsilon_is_the_one_on_the_page():
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    *before, last = (examples[0] + examples[1]).strip().splitlines()
    exec("\n".join(before), names)
    value, printed = last.split("  # ")
    assert eval(value, names) == pytest.approx(float(printed), abs=0.05)


def test_the_table_of_divisions():
    rows = re.findall(r"^\| (\w[\w-]*) \| (\d+) \| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.,]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 8
    for _, dimension, radius, ours, theirs, ratio in rows:
        d, r, share = int(dimension), float(radius), float(count_share(int(dimension), 2))
        a, b = 1 / np.cbrt(4 * d * 0.225**2), r

        def error(count, total, d=d):
            return noise_energy(d, 2) / total**2 + 2 * TYPICAL_NORM**2 / count**2

        assert 100 * share == pytest.approx(float(ours), abs=0.051)
        assert 100 * a / (a + b) == pytest.approx(float(theirs), rel=0.05)
        assert error(a / (a + b), b / (a + b)) / error(share, 1 - share) == pytest.approx(float(ratio.replace(",", "")), rel=0.01, abs=5)


def test_expected_failures_are_listed():
    assert set(re.findall(r"^\| `(check_\w+)` \|", PAGE, re.MULTILINE)) == set(EXPECTED_FAILURES)
