"""The page's examples run, and its numbers are those of the code."""

from __future__ import annotations

import re

import pytest

from accountant.applications.submodular import epsilon0_for
from accountant.onesided import calibrate_one_sided
from tests.documentation.pages import DOCS, split_page

PAGE, *_ = split_page(DOCS / "submodular.md", "Matroid constraints", "Set cover")


def test_the_examples_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples[1].strip().splitlines()) <= 10
    for example in examples:
        exec(compile(example, "docs/submodular.md", "exec"), names)
    printed = capsys.readouterr().out
    assert len(names["answer"].selected) == len(set(names["answer"].selected)) == 10
    assert "epsilon <= 0.5\n" in printed
    assert "None\nthe function of every user is monotone" in printed
    assert printed.endswith("517\n10125\n")


def test_the_numbers_of_the_comparison():
    plan = calibrate_one_sided(1)
    assert epsilon0_for(1, "1e-6", coverage=True) == pytest.approx(0.0699, abs=5e-5)
    assert (float(plan.epsilon0), plan.p) == (pytest.approx(1.3133, abs=5e-5), pytest.approx(0.632, abs=5e-4))
    assert plan.p * float(plan.epsilon0) == pytest.approx(0.830, abs=5e-4)
    assert plan.p * float(plan.epsilon0) / 0.0699 == pytest.approx(12, abs=0.2)
