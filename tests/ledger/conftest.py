"""Small ledgers, each in a folder of its own, or in a schema of a server that is started for the session (make test-ledger)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from accountant.ledger import Ledger
from accountant.ledger.backup import back_up, restore
from accountant.ledger.database import NEWEST, VERSION
from profiles import declare
from tests.ledger.server import Server, open_server

#: A profile whose cost for a record is its z.
SUM = declare("sum", "w*z", record={"z": [0, 1]})
_SCHEMAS = count()


def table(**people: float) -> pa.Table:
    """A table of people, each with a z."""
    return pa.table({"id": list(people), "z": list(people.values())})


PEOPLE = table(ada=0.5, ben=0.25, cleo=1.0, dora=0.0, emil=0.75)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A running server."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install pdp-accountant[postgres]")
    with open_server() as made:
        yield made


def rounding(ledger: Ledger) -> Fraction:
    """By how much at most, relatively, a unit is charged more than its cost: pages hold eleven binary digits of it."""
    return Fraction(1, 1 << 10) if ledger.journal.store.database.version == NEWEST else Fraction(0)


def restore_again(ledger: Ledger, folder: Path) -> Ledger:
    """Return a second ledger that was restored from a backup of one, whole: nothing is lost, and its accounts follow from its log."""
    back_up(ledger, folder / "log")
    key = folder / "again.key"
    key.write_text(ledger.journal.hasher.secret.hex())
    again, lost = restore(folder / "again.db", folder / "log", anchor=ledger.journal.anchor.path, secret=key)
    assert not lost
    assert again.verify() == 0
    return again


def in_files(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """Ledgers in files of a folder."""
    folder = request.getfixturevalue("tmp_path")
    return lambda name: folder / f"{name}.db"


def in_chunks(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """The same, in version 1."""
    request.getfixturevalue("monkeypatch").setitem(Ledger.create.__func__.__kwdefaults__, "version", VERSION)  # type: ignore[attr-defined]
    return in_files(request)


def on_a_server(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Ledgers in schemas of a server."""
    made, number = request.getfixturevalue("server"), next(_SCHEMAS)
    return lambda name: made.address(f"t{number}_{name}")


@pytest.fixture(
    params=[
        pytest.param(in_files, id="file"),
        pytest.param(in_chunks, id="chunks"),
        pytest.param(on_a_server, id="server", marks=pytest.mark.slow),
    ]
)
def where(request: pytest.FixtureRequest) -> Any:
    """Where a ledger with a name is: each test that makes ledgers runs on all stores."""
    return request.param(request)


@pytest.fixture(autouse=True)
def individual() -> Iterator[None]:
    """Ledgers of these tests are in individual mode and may miss units, where a test says nothing: that mode has more that can go wrong.
    test_modes.py is about the modes, and has what users get.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"mode": "individual", "partial": True}.items():
            patch.setitem(Ledger.create.__func__.__kwdefaults__, name, value)  # type: ignore[attr-defined]
        patch.setitem(Ledger.open.__func__.__kwdefaults__, "partial", True)  # type: ignore[attr-defined]
        yield


@pytest.fixture
def make(tmp_path: Path, where: Callable[[str], Any]) -> Any:
    """Make a ledger, of five people where nothing is said."""
    made: list[Ledger] = []

    def create(data: Any = None, name: str = "l", **options: Any) -> Ledger:
        people = PEOPLE if data is None else data
        files = {"anchor": tmp_path / f"{name}.anchor", "secret": tmp_path / f"{name}.db.key"}
        ledger = Ledger.create(where(name), people, **{"budget": "1", **files, **options})
        made.append(ledger)
        return ledger

    yield create
    for ledger in made:
        ledger.close()
