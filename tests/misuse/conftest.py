"""What the cases share: the command line as a user types it, and the ids of the hypotheses that are open."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

from accountant.cli.main import invoke


@pytest.fixture
def pdp(capsys) -> Callable[..., tuple[int, str]]:
    """Run ``pdp`` and return its exit code and all that it printed, in one line."""

    def run(*words: object) -> tuple[int, str]:
        code = invoke([str(word) for word in words])
        printed = capsys.readouterr()
        return code, " ".join((printed.out + " " + printed.err).split())

    return run


@pytest.fixture
def assumptions(pdp) -> Callable[..., set[str]]:
    """Run ``pdp ... --json`` and return the ids of the hypotheses that it says are open."""

    def run(*words: object) -> set[str]:
        code, printed = pdp(*words, "--json")
        assert code == 0, printed
        found: dict[str, Any] = json.loads(printed)
        return {item["id"] for item in found.get("guarantee", found)["premises"]}

    return run


@pytest.fixture
def table(tmp_path) -> Callable[..., str]:
    """Write columns to a CSV file and return its path."""

    def write(**columns: Any) -> str:
        path = tmp_path / "records.csv"
        arrow_csv.write_csv(pa.table({name: pa.array(np.asarray(values)) for name, values in columns.items()}), path)
        return str(path)

    return write


@pytest.fixture
def profile(tmp_path) -> Callable[..., str]:
    """Write a profile file and return its path."""

    def write(epsilon: str = "w*z/b", *, z: str = "[0, 4]", b: str = "10", rest: str = "") -> str:
        path = tmp_path / "profile.toml"
        path.write_text(f'name = "noisy sum"\nepsilon = "{epsilon}"\n{rest}\n[record]\nz = {z}\n[parameters]\nb = {b}\n')
        return str(path)

    return write
