"""Every Python block and every ``pdp`` command of the pages runs, in a folder that holds the files that the page shows.

Python blocks of a page share one namespace. A page with a test of its own, which looks at results as well, is left to that test.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from accountant.cli.main import invoke
from tests.documentation.pages import PAGES, ROOT, blocks_of, commands_of

#: Pages whose blocks are run by a test that looks at their results as well.
TESTED_ELSEWHERE = {
    "audit-catalogue.md": "tests/audit/catalogue/test_page.py",
    "audit.md": "tests/exact/test_docs.py",
    "audit-howto.md": "tests/audit/cli/test_docs.py",
    "engines.md": "tests/engines/test_examples.py",
    "heavy-hitters.md": "tests/applications/heavyhitters/test_docs.py",
    "interoperability.md": "tests/interop/test_docs.py",
    "trainers.md": "tests/interop/test_docs.py",
    "mechanisms.md": "tests/mechanisms/test_docs.py",
    "metric-clustering.md": "tests/applications/clustering/test_docs.py",
    "sampling.md": "tests/rules/test_docs.py",
    "submodular.md": "tests/applications/submodular/test_docs.py",
    "testing-kit.md": "tests/testing/test_docs.py",
}
#: Commands that install something, or take long and are tested elsewhere: tests/papers judges all statements.
NOT_RUN = (["make"], ["python", "-m", "pip"], ["pdp", "claims", "--refuted"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same_seed: None) -> Path:
    """A current folder with the examples of the project."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples" / "points.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def run_page(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    """Run the blocks of a page in their order; return how many Python blocks and commands there were.

    A block of text right after one of commands is what they print, or a part of it.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    programs = commands = 0
    last = ""
    for number, block in enumerate(blocks_of(page)):
        printed = capsys.readouterr().out
        if block.kind == "text" and block.file is None and last == "sh":
            assert block.text.strip() in "\n".join(line.rstrip() for line in printed.splitlines()), (page.name, number)
        last = block.kind
        if block.file is not None:
            (folder / block.file).write_text(block.content, encoding="utf-8")
        elif block.kind == "python" and block.needs is None:  # tests/interop/test_docs.py runs those
            exec(compile(block.text, f"{page.name}, block {number}", "exec"), names)
            programs += 1
        elif block.kind == "sh":
            for words, code in commands_of(block):
                if not any(words[: len(known)] == known for known in NOT_RUN):
                    assert words[0] == "pdp", f"{page.name} has the command {words[0]}: nothing runs it"
                    found = invoke(words[1:])
                    assert found in ({0, 1} if code is None and words[1] == "verify" else {code or 0}), (page.name, words)
                    commands += 1
    return programs, commands


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in TESTED_ELSEWHERE], ids=lambda page: page.name)
def test_blocks_run(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = (sum(block.kind == "python" and block.file is block.needs is None for block in blocks_of(page)), 0)
    assert run_page(page, folder, capsys)[0] == expected[0]


@pytest.mark.parametrize(("page", "test"), TESTED_ELSEWHERE.items())
def test_the_other_tests_run_the_blocks(page: str, test: str) -> None:
    (file,) = (path for path in PAGES if path.name == page)
    assert any(block.kind == "python" for block in blocks_of(file))
    text = (ROOT / test).read_text(encoding="utf-8")
    assert f'"{page}"' in text
    assert re.search(r"\bexec\(", text) or "doctest.testfile(" in text


def test_a_block_that_fails_is_noticed(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nassert False\n```\n")
    with pytest.raises(AssertionError):
        run_page(page, folder, capsys)
    page.write_text("```sh\npdp mechanisms\n```\n\n```text\nsomething else\n```\n")
    with pytest.raises(AssertionError):
        run_page(page, folder, capsys)
    for command in ("pdp nonsense", "pdp mechanisms # exit 1", "rm -r ."):
        page.write_text(f"```sh\n{command}\n```\n")
        with pytest.raises(AssertionError):
            run_page(page, folder, capsys)
    page.write_text("```text\n# file: a.txt\nb\n```\n\n```python\nprint(open('a.txt').read())\n```\n\n```sh\npdp mechanisms\n```\n")
    assert run_page(page, folder, capsys) == (1, 1)
