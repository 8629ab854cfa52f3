"""The examples of repeated mechanisms in docs/one-sided.md run, and its tables are what the code gives."""

from __future__ import annotations

import re

from accountant.calibration.rounds import calibrate_rounds
from accountant.onesided import calibrate_one_sided
from profiles import decimal_text
from tests.documentation.pages import DOCS, split_page
from tests.targets.catalogue import repeated_twins

_, PAGE = split_page(DOCS / "one-sided.md", "Repeated mechanisms")


def test_the_examples_run(capsys) -> None:
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(example, "docs/one-sided.md", "exec"), names)
    assert "Assumption 4.1" in capsys.readouterr().out


def test_the_table_of_gains() -> None:
    rows = re.findall(r"^\| ([\d.]+) \| (.* %) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for target, cells in rows:
        base = calibrate_one_sided(target)
        for rounds, cell in zip((1, 2, 3, 5, 10), cells.split(" | "), strict=True):
            plan = calibrate_rounds(target, rounds)
            gain = 100 * (plan.p * float(plan.epsilon0) / (base.p * float(base.epsilon0)) - 1)
            shown = cell.removesuffix(" %")
            digits = len(shown.partition(".")[2])
            assert abs(gain - float(shown)) <= 0.51 * 10**-digits, (target, rounds, gain)


def test_the_table_of_twins() -> None:
    rows = dict(re.findall(r"^\| `(repeated-[^`]*)` \| [\d.]+ \| ([^ ]+) \|", PAGE, re.MULTILINE))
    assert rows.keys() == {twin.name for twin in repeated_twins()}
    for twin in repeated_twins():
        lower = twin.truth.lower
        assert rows[twin.name] == ("∞" if isinstance(lower, float) else decimal_text(lower, 4, round_up=False)), twin.name
