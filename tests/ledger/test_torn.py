"""Backups of the log that are torn or garbled: each opens to a part from its beginning, and the anchor names what is lost."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

from accountant.ledger import Ledger
from accountant.ledger.anchor import name_lines
from accountant.ledger.backup import back_up, restore
from profiles import UnreadableFile
from profiles.errors import LedgerRejected
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE, SUM, table
from tests.ledger.test_faults import one_sentence, spending

LOGS = int(os.environ.get("LOGS", "300"))


def cut(text, rng):
    return text[: int(rng.integers(len(text)))]


def flip(text, rng):
    place = int(rng.integers(len(text)))
    return text[:place] + bytes([text[place] ^ 1 << int(rng.integers(8))]) + text[place + 1 :]


def zero(text, rng):
    """A block of zeros, as a file system leaves after a power failure."""
    place, size = int(rng.integers(len(text))), int(rng.integers(1, 4096))
    return text[:place] + bytes(min(size, len(text) - place)) + text[place + size :]


def scatter(text, rng):
    place = int(rng.integers(len(text)))
    return text[:place] + rng.bytes(int(rng.integers(1, 200))) + text[place:]


def lines(text, rng, change):
    found = text.splitlines(keepends=True)
    one, other = (int(number) for number in rng.integers(1, len(found), 2))
    change(found, one, other)
    return b"".join(found)


def drop(text, rng):
    return lines(text, rng, lambda found, one, _: found.pop(one))


def repeat(text, rng):
    return lines(text, rng, lambda found, one, other: found.insert(other, found[one]))


def swap(text, rng):
    def change(found, one, other):
        found[one], found[other] = found[other], found[one]

    return lines(text, rng, change)


def edit(text, rng):
    """Another amount in place of a true one, in a line that is well formed."""
    letters = list(text)
    for place in rng.permutation(len(letters)):
        if chr(letters[place]).isdigit():
            letters[place] = ord("9") if letters[place] != ord("9") else ord("1")
            break
    return bytes(letters)


HARMS = (cut, flip, zero, scatter, drop, repeat, swap, edit)


@pytest.fixture
def where(tmp_path):
    return lambda name: tmp_path / f"{name}.db"


@pytest.fixture
def kept(make, tmp_path):
    """A backup of a ledger with all kinds of entries, its entries, and what everybody had spent after each of them."""
    ledger = make(budget="3")
    after = [spending(ledger)]
    steps = [
        lambda: ledger.charge("one", SUM, PEOPLE),
        lambda: ledger.run("two", LaplaceSum(b=2, radius=1), PEOPLE),
        lambda: ledger.raise_budget("4", PEOPLE),
        lambda: ledger.charge("three", SUM, table(zoe=0.5, ada=1.0)),
        lambda: ledger.run("four", LaplaceSum(b=4, radius=1), PEOPLE),
    ]
    for step in steps:
        step()
        after += [spending(ledger)] * (len(ledger.journal.entries) - len(after))
    back_up(ledger, tmp_path / "log")
    return (tmp_path / "log").read_bytes(), ledger.journal.entries, after


def harm(kept, tmp_path, number):
    """Harm the backup in one way, restore it, and say how much of it was whole."""
    text, entries, after = kept
    changed = HARMS[number % len(HARMS)](text, np.random.default_rng(number))
    (tmp_path / "torn").write_bytes(changed)
    anchor, new = tmp_path / "l.anchor", tmp_path / f"new{number}.db"
    told = anchor.read_text(encoding="utf-8").splitlines()[1:]
    found = []
    try:
        made, lost = restore(new, tmp_path / "torn", anchor=anchor, secret=tmp_path / "l.db.key")
    except UnreadableFile as error:  # not even the opening is whole
        found.append(error)
    if found:
        assert one_sentence(found[0])
        assert not new.exists()
        return 0
    with made:
        whole = len(made.journal.entries)
        assert made.journal.entries == entries[:whole]
        assert lost == name_lines(told[whole:])
        assert spending(made) == after[whole - 1]
        if lost:
            with pytest.raises(LedgerRejected, match="older than its anchor") as refused:
                made.charge("five", SUM, PEOPLE)
            assert one_sentence(refused.value)
        else:
            assert made.verify() == 0
    assert anchor.read_text(encoding="utf-8").splitlines()[1:] == told
    return whole


def test_torn_and_garbled_logs_open_to_a_part_from_the_beginning(kept, tmp_path):
    found = [harm(kept, tmp_path, number) for number in range(2 * len(HARMS))]
    assert len(set(found)) > 2


@pytest.mark.slow
def test_three_hundred_torn_and_garbled_logs(kept, tmp_path):
    found = Counter(harm(kept, tmp_path, number) for number in range(LOGS))
    assert set(found) == set(range(len(kept[1]) + 1))
    print(f"{LOGS} torn or garbled logs, by entries that were whole: {dict(sorted(found.items()))}")  # noqa: T201


def test_the_true_log_is_whole(kept, tmp_path):
    made, lost = restore(tmp_path / "same.db", tmp_path / "log", anchor=tmp_path / "l.anchor", secret=tmp_path / "l.db.key")
    with made:
        assert lost == ""
        assert made.journal.entries == kept[1]
        assert spending(made) == kept[2][-1]
    with Ledger.open(tmp_path / "same.db") as again:
        assert again.verify() == 0
