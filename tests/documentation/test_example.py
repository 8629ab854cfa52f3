"""What `make run` does: the example on real data prints a guarantee that people can read, and certificates that are accepted."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from tests.documentation.pages import ROOT, blocks_of


def test_the_example_runs_and_prints_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["digits_kmeans.py", "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(ROOT / "examples" / "digits_kmeans.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert stopped.value.code in (0, None)
    assert "\\n" not in printed
    (shown,) = (block.text for block in blocks_of(ROOT / "README.md") if block.text.startswith("certified epsilon"))
    assert shown.strip() in "\n".join(line.rstrip() for line in printed.splitlines())
    assert "\n  epsilon <= 4.24257254201\n" in printed
    assert printed.count(": accepted") == 3
    assert (tmp_path / "out" / "conditions.json").is_file()
