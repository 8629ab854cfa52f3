"""The log for everybody: checked without the secret, and nothing of it can be changed, left out or put in between."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from accountant.ledger import ledger as ledgers
from accountant.ledger import opened, public
from accountant.ledger.log import START, body_text, hash_entry
from accountant.ledger.public import read_public, write_public
from accountant.ledger.signing import public_key, sign
from accountant.ledger.units import Hasher
from profiles import MissingExtra, UnreadableFile
from profiles.errors import LedgerRejected
from tests.ledger.conftest import PEOPLE, SUM, table

pytest.importorskip("cryptography")


@pytest.fixture
def ledger(make):
    made = make(budget="9")
    made.charge("one", SUM, PEOPLE)
    return made


def test_outsiders_check_the_log_without_the_secret(ledger):
    first = read_public(write_public(ledger))
    assert [(entry.kind, entry.name) for entry in first.entries] == [("open", ""), ("charge", "one"), ("root", "")]
    assert first.head == ledger.journal.entries[-1].hash.hex()
    ledger.charge("two", SUM, PEOPLE)
    second = read_public(write_public(ledger))
    second.require_growth(first)
    second.require_growth(second)
    with pytest.raises(LedgerRejected, match="not only grown"):
        first.require_growth(second)


def test_nothing_private_is_in_it(ledger):
    text = write_public(ledger)
    for entry in ledger.journal.entries:
        assert entry.seal.hex() not in text
        assert entry.digest.hex() not in text
    assert ledger.journal.hasher.secret.hex() not in text
    assert '"ada"' not in text


def test_it_is_the_same_for_all_data_sets(make, monkeypatch):
    for module in (opened, public):
        monkeypatch.setattr(module, "tell_time", lambda: "2026-01-01T00:00:00Z")
    monkeypatch.setattr(ledgers, "make_token", lambda: "0" * 32)
    monkeypatch.setattr(ledgers.secrets, "token_bytes", bytes)
    texts = []
    for name, people in (("a", PEOPLE), ("b", table(xenia=0.5, yan=0.0))):
        made = make(people, name=name)
        made.charge("one", SUM, people)
        made.charge("two", SUM, people)  # cleo has run out
        texts.append(write_public(made, root=False))  # a root is a hash under the secret of what nobody sees
    assert texts[0] == texts[1]


def test_what_was_changed_is_refused(ledger):
    ledger.charge("two", SUM, PEOPLE)
    text = write_public(ledger, root=False)
    lines = text.splitlines()
    entry = json.loads(lines[3])
    other = json.dumps({**entry, "body": {**entry["body"], "cost": entry["body"]["cost"] - 1}}, sort_keys=True)
    renamed = json.dumps({**entry, "name": "three"}, sort_keys=True)
    for changed in (
        [*lines[:3], other, *lines[4:]],
        [*lines[:3], renamed, *lines[4:]],
        [*lines[:3], *lines[4:]],
        [*lines[:4], lines[3], *lines[4:]],
        [*lines[:3], lines[4], lines[3], *lines[5:]],
        [*lines[:-2], lines[-2].replace('"entries": 3', '"entries": 2'), lines[-1]],
        [*lines[:-1], "0" * 128],
        lines[:-1],
        [lines[0], lines[1].replace(ledger.settings.ledger, "0" * 32), *lines[2:]],
    ):
        with pytest.raises(LedgerRejected):
            read_public("\n".join(changed) + "\n")
    for place in range(0, len(text) - 1, 7):
        flipped = text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
        if flipped.replace(" ", "") != text.replace(" ", ""):
            with pytest.raises((LedgerRejected, UnreadableFile)):
                read_public(flipped)


def test_a_history_that_another_key_signed_does_not_go_on(ledger, monkeypatch):
    early = read_public(write_public(ledger))
    monkeypatch.setattr(type(ledger.journal), "catch_up", lambda _: None)
    ledger.journal.hasher = Hasher(bytes(32))  # somebody without the secret
    forged = read_public(write_public(ledger))
    with pytest.raises(LedgerRejected, match="another key"):
        forged.require_growth(early)


def test_without_the_library_a_log_is_checked_and_for_signing_it_is_named(ledger, monkeypatch):
    text = write_public(ledger)
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert read_public(text).entries[1].name == "one"
    with pytest.raises(LedgerRejected, match="signature is not one of the key"):
        read_public(text[:-60] + ("1" if text[-60] == "0" else "0") + text[-59:])
    with pytest.raises(MissingExtra, match=r"pdp-accountant\[signatures\]"):
        write_public(ledger)


def test_the_command_line(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "2", "--anchor", "a")
    assert "--public" in pdp("ledger", "export", "l", "--out", "p1").err
    told = pdp("ledger", "export", "l", "--public", "--out", "p1", "--json").json()
    pdp("ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name", "one")
    pdp("ledger", "export", "l", "--public", "--out", "p2")
    for name in ("l", "l.key", "a"):
        Path(name).unlink()  # what outsiders do not have
    result = pdp("check", "p2", "--since", "p1")
    assert result.code == 0
    said = " ".join(result.out.split())
    assert told["key"] in said
    assert "it goes on from p1: up to entry 1 both are the same" in said
    assert pdp("check", "p2", "--json", "--since", "p1").json()["about"]["entries"] == 3
    changed = pdp("check", "p1", "--since", "p2", "--json")
    assert changed.code == 1
    assert changed.json()["step"] == "since"
    Path("p2").write_text(Path("p2").read_text().replace('"one"', '"won"'))
    assert pdp("check", "p2").code == 1
    assert pdp("check", "sum.toml", "--since", "p1").refused()


def _forge(ledger, change):
    """A log with other entries, hashed and signed by whoever has the secret."""
    entries = [json.loads(line) for line in write_public(ledger).splitlines()[2:-2]]
    change(entries)
    last = START
    for entry in entries:
        try:
            last = hash_entry(last, entry["sequence"], entry["kind"], entry["name"], body_text(entry["body"]))
        except UnicodeEncodeError:
            continue
    told = {"ledger": entries[0]["body"]["ledger"], "key": public_key(ledger.journal.hasher)}
    tail = json.dumps({"ledger": told["ledger"], "entries": len(entries), "head": last.hex(), "time": "2026-01-01T00:00:00Z"})
    signature = sign(ledger.journal.hasher, f"{public.TITLE}\n{tail}")
    return "\n".join([public.TITLE, json.dumps(told), *map(json.dumps, entries), tail, signature, ""])


def test_a_log_that_no_ledger_has_is_refused_whoever_signed_it(ledger):
    """An office that charges the old ledger and the new one, opens one twice, or a name twice: outsiders see it in the log alone."""
    ledger.charge("two", SUM, PEOPLE)
    read_public(_forge(ledger, lambda entries: None))
    for change, match in (
        (lambda entries: entries[1].update(kind="end"), "after its end"),
        (lambda entries: entries[1].update(kind="open"), "opens a ledger"),
        (lambda entries: entries[0].update(kind="quota"), "opens a ledger"),
        (lambda entries: entries[2].update(name="one"), "charged once"),
        (lambda entries: entries[1].update(name="\ud800"), "something else was found"),
        (lambda entries: entries[0]["body"].update(ledger={}), "not the opening"),
    ):
        with pytest.raises(LedgerRejected, match=match):
            read_public(_forge(ledger, change))
