"""Run ``pdp`` in process, and keep standard output, standard error and the exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from accountant.cli.main import invoke


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
def pdp(capsys):
    """Run the command line."""

    def run(*arguments: object) -> Result:
        code = invoke([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run
