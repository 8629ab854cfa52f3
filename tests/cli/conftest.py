"""Run ``pdp`` in process, and keep standard output, standard error and the exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from accountant.cli.main import invoke

LLOYD = """
name = "weighted DP-Lloyd"
epsilon = "T*w*(1/beta_count + z/beta_sum)"   # w is the weight
[record]
z = [0, 4.0]
[parameters]
T = 10
beta_count = "20.5"
beta_sum = 30
[sampling]
q = "lam*m/n + (1-lam)*m*z**2/(n*xbar)"
lam = 0.5
m = 100
n = 1000
xbar = 4
"""


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
        return self.code == 2 and not self.out and len(lines) == 1 and lines[0].startswith("pdp: ") and "Traceback" not in self.err


@pytest.fixture
def pdp(capsys):
    def run(*arguments: object) -> Result:
        code = invoke([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def lloyd(tmp_path):
    path = tmp_path / "lloyd.toml"
    path.write_text(LLOYD)
    return path


@pytest.fixture
def profile_file(tmp_path):
    def write(epsilon: str, record: str = "", parameters: str = "", rest: str = "") -> Any:
        path = tmp_path / "profile.toml"
        path.write_text(f'name = "p"\nepsilon = {json.dumps(epsilon)}\n{rest}\n[record]\n{record}\n[parameters]\n{parameters}\n')
        return path

    return write
