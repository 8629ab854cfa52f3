"""Run ``pdp audit`` in process on mechanisms in a file, and keep standard output, standard error and the exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from accountant.cli.main import invoke

MECHANISMS = str(Path(__file__).parent / "mechanisms_to_audit.py") + ":"


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self) -> bool:
        """Exit code 2, nothing on standard output, one line on standard error, no traceback."""
        lines = self.err.strip().splitlines()
        one_line = len(lines) == 1 and lines[0].startswith("pdp: ") and "internal error" not in lines[0]
        return self.code == 2 and not self.out and one_line and "Traceback" not in self.err


@pytest.fixture
def run(capsys):
    """Run the command line."""

    def call(*arguments: object) -> Result:
        code = invoke([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def audit(run):
    """Run ``pdp audit`` on a mechanism of the file with small samples and a seed; options given replace these."""

    def call(name: str, *options: object, d: object = "[1, 1]", d2: object = "[1]") -> Result:
        given = [str(option) for option in options]
        usual = {"--samples": "2000", "--seed": "1", "--claimed": "1"}
        if "--profile" in given or ":" in name:
            del usual["--claimed"]
        extra = [word for option, value in usual.items() if option not in given for word in (option, value)]
        return run("audit", name if ":" in name else MECHANISMS + name, "--dataset", d, "--neighbor", d2, *extra, *given)

    return call
