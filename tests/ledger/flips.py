"""Bits of a ledger flipped one after the other, in memory: nothing that is said afterwards is another thing than before.

``python -m tests.ledger.flips FLIPS SEED [FOLDER]``: of each file of a ledger of pages (the database, its write-ahead log before it was
copied back, the anchor, the secret), opened again after each flip, in this process. Every second time it is repaired by ``verify``; else
accounts are read, and a release is charged.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from accountant.ledger import Ledger
from profiles import PDPError
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import SUM

UNITS = 8
#: What a flip may hit, and how often of a hundred: of a ledger that was closed, and of one whose log was not copied back.
CLOSED = {"l.db": 92, "a": 6, "l.db.key": 2}
OPEN = {"l.db": 40, "l.db-wal": 60}
_MOST_WORDS = 400


def rows(*more: str) -> Any:
    """Return a table of people, and of some more."""
    people = [f"p{number}" for number in range(UNITS)] + list(more)
    return pa.table({"id": people, "z": [number % 8 / 8 for number in range(len(people))]})


def tell(ledger: Ledger) -> tuple[Any, ...]:
    """Return all that a ledger says: its log, the output of a release, and accounts."""
    names = [*(f"p{number}" for number in range(UNITS)), "late"]
    return [entry.hash for entry in ledger.journal.entries], ledger.output("two").tolist(), [ledger.account(name) for name in names]


@dataclass(frozen=True, slots=True)
class Whole:
    """A ledger that nothing happened to: its files, and the places of each that hold something, which are flipped by ``shares``."""

    files: dict[str, bytes]
    shares: dict[str, int]
    spots: dict[str, list[int]]

    @classmethod
    def of(cls, folder: Path, shares: dict[str, int]) -> Whole:
        """Return the files in a folder."""
        files = {name: (folder / name).read_bytes() for name in {**CLOSED, **shares}}
        spots = {name: [at for at in range(len(files[name])) if any(files[name][max(at - 8, 0) : at + 8])] for name in shares}
        return cls(files, shares, spots)

    def flip(self, folder: Path, rng: random.Random) -> str:
        """Put the files into a folder, one bit of them changed, and return which file has it, and where."""
        for path in folder.iterdir():
            path.unlink()
        (hit,) = rng.choices(list(self.shares), list(self.shares.values()))
        place, bit = rng.choice(self.spots[hit]), rng.randrange(8)
        for name, data in self.files.items():
            changed = bytearray(data)
            if name == hit:
                changed[place] ^= 1 << bit
            (folder / name).write_bytes(changed)
        return f"bit {bit} of byte {place} of {hit}"


def make(folder: Path) -> tuple[list[Whole], tuple[Any, ...]]:
    """Return a ledger that was closed and one that was not, and what both say."""
    options: dict[str, Any] = {"mode": "individual", "partial": True, "budget": "Min(3, 1 + z)", "attributes": {"z": [0, 1]}}
    Ledger.create(folder / "l.db", rows(), anchor=folder / "a", **options).close()
    with Ledger.open(folder / "l.db", partial=True) as ledger:
        ledger.charge("one", SUM, rows())
        ledger.run("two", LaplaceSum(b=8, radius=1), rows())
        ledger.charge("three", SUM, rows("late"))
        ledger.raise_budget("4", rows())
        said = tell(ledger)
        left_open = Whole.of(folder, OPEN)
    return [Whole.of(folder, CLOSED), left_open], said


def look(folder: Path, said: tuple[Any, ...], *, repair: bool) -> str:
    """Open a ledger with a flipped bit, and tell whether it was refused. Raises :class:`AssertionError` where it says another thing."""
    try:
        with Ledger.open(folder / "l.db", anchor=folder / "a", secret=folder / "l.db.key", partial=True) as ledger:
            assert [entry.hash for entry in ledger.journal.entries] == said[0]
            if repair:
                repaired = ledger.verify(repair=True)
                assert tell(ledger) == said
                return "repaired" if repaired else "of no effect"
            refused = False
            for name, expected in zip([*(f"p{number}" for number in range(UNITS)), "late"], said[2], strict=True):
                try:
                    assert ledger.account(name) == expected, "another account"
                except PDPError as error:
                    refused = require_sentence(error)
            assert ledger.charge("four", SUM, rows()).active.all()
            return "refused" if refused else "of no effect"
    except PDPError as error:
        require_sentence(error)
        return "refused"


def require_sentence(error: PDPError) -> bool:
    """Return that something was refused in one sentence. Raises :class:`AssertionError` for several."""
    told = str(error)
    assert "\n" not in told, told
    assert len(told) < _MOST_WORDS, told
    return True


def flip(flips: int, seed: int, folder: Path) -> Counter[str]:
    """Flip bits, one at a time, and return what came of them."""
    wholes, said = make(folder)
    rng, came = random.Random(seed), Counter[str]()
    for number in range(flips):
        what = wholes[number % 3 == 2].flip(folder, rng)
        try:
            came[f"{what.split()[-1]}: {look(folder, said, repair=number % 2 == 0)}"] += 1
        except Exception as error:
            raise RuntimeError(f"{what} was flipped (seed {seed}, flip {number}): {error}") from error
    return came


def main(flips: int, seed: int, folder: Path) -> None:
    """Flip bits, and print what came of them."""
    start = time.process_time()
    came = flip(flips, seed, folder)
    for what, count in sorted(came.items()):
        print(f"{count:>8} {what}")  # noqa: T201
    print(f"{flips} bits flipped (seed {seed}), {time.process_time() - start:.0f} s of processor time")  # noqa: T201


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[3] if len(sys.argv) > 3 else None) as made:
        main(int(sys.argv[1]), int(sys.argv[2]), Path(made))
