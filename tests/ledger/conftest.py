"""Small ledgers, each in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from accountant.ledger import Ledger
from profiles import declare

#: A profile whose cost for a record is its z.
SUM = declare("sum", "w*z", record={"z": [0, 1]})


def table(**people: float) -> pa.Table:
    """A table of people, each with a z."""
    return pa.table({"id": list(people), "z": list(people.values())})


PEOPLE = table(ada=0.5, ben=0.25, cleo=1.0, dora=0.0, emil=0.75)


@pytest.fixture
def make(tmp_path: Path) -> Any:
    """Make a ledger, of five people where nothing is said."""
    made: list[Ledger] = []

    def create(data: Any = None, name: str = "l", **options: Any) -> Ledger:
        people = PEOPLE if data is None else data
        options = {"budget": "1", "anchor": tmp_path / f"{name}.anchor", **options}
        ledger = Ledger.create(tmp_path / f"{name}.db", people, **options)
        made.append(ledger)
        return ledger

    yield create
    for ledger in made:
        ledger.close()
