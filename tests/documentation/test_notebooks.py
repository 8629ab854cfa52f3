"""The notebooks of examples/: stored without outputs, linked to pages that exist, and every cell runs and shows something."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.documentation.pages import DOCS, ROOT, anchors_of

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def cells_of(notebook: Path, kind: str) -> list[str]:
    whole = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in whole["cells"] if cell["cell_type"] == kind]


def run_cells(sources: list[str], name: str) -> list[Any]:
    """Run cells as a notebook does; return what each of them shows: the value of a last expression, None where there is none."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, source in enumerate(sources):
        tree = ast.parse(source, f"{name}, cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{name}, cell {number}", "exec"), names)
        shown.append(None if last is None else eval(compile(ast.Expression(last.value), f"{name}, cell {number}", "eval"), names))
    return shown


def test_there_is_a_notebook_for_each_of_the_three_jobs() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["audit_an_implementation", "certified_bounds_and_weights", "verify_a_mechanism"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(notebook: Path) -> None:
    whole = json.loads(notebook.read_text(encoding="utf-8"))
    assert (whole["nbformat"], whole["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in whole["cells"]}) == len(whole["cells"])
    for cell in whole["cells"]:
        assert not cell["metadata"]
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert set(whole["metadata"]) == {"kernelspec", "language_info"}
    assert cells_of(notebook, "markdown")[0].startswith("# ")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_notebooks_exist(notebook: Path) -> None:
    found = [link for text in cells_of(notebook, "markdown") for link in re.findall(r"\]\(([^()\s]+)\)", text)]
    assert found
    for link in found:
        path, _, anchor = link.partition("#")
        target = notebook.parent / path
        assert target.is_file(), link
        assert not anchor or anchor in anchors_of(target)


@pytest.mark.thorough
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_what_it_shows_is_for_a_notebook(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run_cells(cells_of(notebook, "code"), notebook.stem)
    told = [item._repr_html_() for item in shown if hasattr(item, "_repr_html_")]
    assert len(told) >= 4
    assert sum("<img" in text for text in told) >= 1
    assert not any("<script" in text for text in told)
    assert capsys.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_a_cell_that_fails_is_noticed() -> None:
    with pytest.raises(ZeroDivisionError):
        run_cells(["1", "1 / 0"], "broken")


def test_a_cell_that_fails_or_warns_fails_the_site() -> None:
    settings: dict[str, Any] = {}
    text = (DOCS / "conf.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.startswith("nb_"):
            settings[node.targets[0].id] = ast.literal_eval(node.value)
    assert settings["nb_execution_mode"] == "force"
    assert settings["nb_execution_raise_on_error"] is True
    assert settings["nb_output_stderr"] == "error"
