"""A look at the sources: what a message may not hold, so that the next one is written by the policy as well."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from profiles import errors
from proofs_check.audit import errors as errors_of_audits
from tests.documentation.pages import ROOT

ERRORS = {name for module in (errors, errors_of_audits) for name, kind in vars(module).items() if isinstance(kind, type)}

#: Where messages are about data. The testing kit is not among them: its data are made up (docs/command-line.md).
READING = (
    "accountant/data", "accountant/engines", "accountant/samples", "accountant/rules", "accountant/selection", "accountant/applications",
    "accountant/columns",
    "accountant/weights/fast", "accountant/calibration", "accountant/cli", "profiles/mechanisms", "proofs_check/audit",
)  # fmt: skip
#: Parts of expressions that tell of data, and what makes them harmless.
TELLING = (
    ".shape", "str(error)", "{error}", "rows.size", "bad.size", "values.size", "numbers.size", "a.size", "tolist()", "len(data",
    "len(users", "len(items", "text[:40]",
)  # fmt: skip
HARMLESS = ("hide_length(", "name_type(")
#: Messages with such a part that is no datum, each with the reason.
ALLOWED = {
    ("data/opening.py", "str(error)"): "what the system says of a path",
    ("data/weighing.py", "str(error)"): "what the system says of a temporary file",
    ("engines/samples.py", ".shape"): "the shape of what the user's draw returned is told to who wrote it",
    ("repeated/interface.py", ".shape"): "scores of public candidates",
    ("clustering/space.py", ".shape"): "distances and candidates are public",
    ("applications/choosing.py", ".shape"): "gains of public candidates",
    ("matroids/matroid.py", ".shape"): "parts, bounds and edges are public",
    ("kmeans/estimator.py", ".shape"): "initial centres are public",
    ("cli/audit_inputs.py", ".shape"): "columns of records, not their number",
    ("audit/outputs.py", ".shape"): "outputs asked for",
}


def _messages(path: Path) -> list[tuple[int, str]]:
    """Return the formatted parts of the message of every error that is made, with their lines, without keyword arguments (``private``)."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
            for argument in node.args:
                values = [part for part in ast.walk(argument) if isinstance(part, ast.FormattedValue)]
                found += [(value.lineno, "{" + ast.unparse(value.value) + "}") for value in values]
    return found


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize("folder", READING)
def test_no_message_formats_what_tells_of_data(folder):
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for line, part in _messages(path):
            telling = [word for word in TELLING if word in part and not any(safe in part for safe in HARMLESS)]
            allowed = [word for word in telling if any(str(path).endswith(end) and word == known for end, known in ALLOWED)]
            wrong += [f"{path.relative_to(ROOT)}:{line}: {part}" for word in telling if word not in allowed]
    assert not wrong, "\n".join(wrong)


def test_the_look_finds_something():
    parts = [part for _, part in _messages(ROOT / "accountant/data/frames.py")]
    assert "{title}" in parts
    assert any("private" in part for part in parts) is False


def test_every_exception_stands_for_a_message():
    for end, word in ALLOWED:
        paths = [path for folder in READING for path in (ROOT / folder).rglob("*.py") if str(path).endswith(end)]
        assert any(word in part for path in paths for _, part in _messages(path)), (end, word)
