"""What docs/report.md shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "report.md").read_text(encoding="utf-8").partition("\n## Check what you were given\n")[0]
COMMANDS = [shlex.split(line) for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.thorough
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[-1])
def test_the_commands_run(pdp, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    result = pdp(*words[1:])
    assert result.code == 0, result.err
    assert (tmp_path / words[-1]).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_python_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out == "1 [True]\nTrue\n"


def test_every_option_is_told(pdp):
    offered = set(re.findall(r"--[a-z-]+", pdp("report", "--help").out)) - {"--help"}
    assert offered <= set(re.findall(r"--[a-z-]+", PAGE))
