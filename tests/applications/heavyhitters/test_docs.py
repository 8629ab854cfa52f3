"""The examples of docs/heavy-hitters.md run, and print what the page says."""

import re
from pathlib import Path

import pytest

from profiles.hypotheses import ARRIVAL, IN_TIME

PAGE = (Path(__file__).parents[3] / "docs" / "heavy-hitters.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, ["59 63 126", "7 ('milk',)\n9 ('tea',)", "epsilon <= 1"]),
        (1, ["[0, 1, 2]\n", ARRIVAL.sentence, IN_TIME.sentence]),
        (2, ["StepReport(time=0, items=('milk',))", "StepReport(time=1, items=('tea',))"]),
        (3, ["2\n3/32"]),
        (4, ["True\n24 198"]),
    ],
)
def test_examples_of_the_page(number, said, capsys):
    assert len(BLOCKS) == 5
    exec(compile(BLOCKS[number], "docs/heavy-hitters.md", "exec"), {})
    printed = capsys.readouterr().out
    assert all(text in printed for text in said), printed
