"""The user page runs, and its numbers are those of the code."""

from __future__ import annotations

import re

import numpy as np
import pytest

from accountant.applications.budget.shares import TYPICAL_NORM, count_share
from accountant.applications.kmeans.certifying import GIVEN_ROW
from accountant.calibration.lloyd import noise_energy
from profiles.hypotheses import FIXED_IN_ADVANCE, ONLY_RELEASE, OWN_WEIGHTS, SEEDED_BITS
from tests.applications.kmeans.test_kmeans import EXPECTED_FAILURES
from tests.documentation.pages import DOCS, split_page

_, PAGE = split_page(DOCS / "private-kmeans.md", "DP-Lloyd with public constants")


@pytest.mark.thorough
def test_the_examples_run(capsys):
    names: dict[str, object] = {}
    printed = {}
    for kind, block in re.findall(r"```(python|text)\n(.*?)```", PAGE, re.DOTALL):
        if kind == "text":  # what the block before prints
            assert printed["last"].strip() == block.strip()
            continue
        exec(compile(block, "docs/private-kmeans.md", "exec"), names)
        printed["last"] = capsys.readouterr().out
        printed.setdefault("first", printed["last"])
        stated = re.findall(r"^(float|int)\((.*)\)  # ([\d.]+)", block, re.MULTILINE)
        assert all(float(eval(value, names)) == pytest.approx(float(number), abs=0.005) for _, value, number in stated), stated
        texts = re.findall(r"^(.*\.text)  # '(.*)'", block, re.MULTILINE)
        assert all(eval(value, names) == text for value, text in texts)
    assert "epsilon <= 0.99999999" in printed["first"]
    assert names["model"].cluster_centers_.shape == (3, 2)
    assert names["model"].guarantee_.bound.upper <= 1
    assert names["sampled"].guarantee_.bound.upper == 5


def test_what_the_page_states_is_looked_at():
    stated = re.findall(r"^(?:float|int)\(.*\)  # [\d.]+|^.*\.text  # '.*'", PAGE, re.MULTILINE)
    assert len(stated) == 6
    assert PAGE.count("```text\n") == 2


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


def test_every_hypothesis_of_the_caller_is_on_the_page():
    text = " ".join(PAGE.split())
    for hypothesis in (ONLY_RELEASE, GIVEN_ROW, FIXED_IN_ADVANCE, OWN_WEIGHTS):
        assert f"*{hypothesis.sentence}*" in text, hypothesis.id
    assert "nor has seen other numbers" in SEEDED_BITS.sentence
