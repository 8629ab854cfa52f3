"""Every block of docs/testing-kit.md runs, what it shows is what is printed, and it names what is public."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import accountant.testing as package
from accountant.testing import plugin

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[2] / "docs" / "testing-kit.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def masked(text):
    """Return the words with every number replaced."""
    return re.sub(r"\d[\d.]*", "#", " ".join(text.split()))


@pytest.mark.thorough
def test_the_test_file_gives_the_table_that_is_shown(pytester, plugin_arguments):
    file, *_ = blocks("python")
    (name,) = re.findall(r"\A# file: (\S+)\n", file)
    (pytester.path / name).write_text(file, encoding="utf-8")
    (command,) = blocks("sh")
    words, _, code = command.strip().rpartition("# exit ")
    found = pytester.runpytest_inprocess(*plugin_arguments, *shlex.split(words)[1:])
    assert found.ret == int(code)
    found.assert_outcomes(passed=3, failed=1)
    (table,) = blocks("text")
    (failure,) = blocks("console")
    printed = found.stdout.str()
    assert masked(failure.rpartition("x = 3")[0]) in masked(printed), printed
    assert masked(table) in masked(printed), printed


@pytest.mark.thorough
def test_the_programs_run():
    programs = [block for block in blocks("python") if not block.startswith("# file")]
    assert len(programs) == 2
    for number, program in enumerate(programs):
        exec(compile(program, f"docs/testing-kit.md, program {number + 1}", "exec"), {"__name__": "__main__"})


def test_the_page_names_everything():
    for name in {*package.__all__} - {"Satisfaction"}:
        assert f"`{name}" in PAGE or f".{name}`" in PAGE or name == "ClaimRefuted", name
    for option in plugin._DEFAULTS:
        assert f"`pdp_{option}`" in PAGE
        assert f"`{plugin._option(option)}" in PAGE
    for keyword in plugin._KEYWORDS:
        assert f"`{keyword}`" in PAGE
