"""Run ``pdp audit`` in process on mechanisms in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MECHANISMS = str(Path(__file__).parent / "mechanisms_to_audit.py") + ":"


@pytest.fixture
def audit(pdp):
    """Run ``pdp audit`` on a mechanism of the file with small samples and a seed; options given replace these."""

    def call(name: str, *options: object, d: object = "[1, 1]", d2: object = "[1]") -> Any:
        given = [str(option) for option in options]
        usual = {"--samples": "2000", "--seed": "1", "--claimed": "1"}
        if "--profile" in given or ":" in name:
            del usual["--claimed"]
        extra = [word for option, value in usual.items() if option not in given for word in (option, value)]
        return pdp("audit", name if ":" in name else MECHANISMS + name, "--dataset", d, "--neighbor", d2, *extra, *given)

    return call
