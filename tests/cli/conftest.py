"""Profile files for the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

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
