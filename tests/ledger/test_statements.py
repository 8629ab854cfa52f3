"""Statements: what a person spent on what, proved under a public root that tells nothing of anybody."""

from __future__ import annotations

import hashlib
import json
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from accountant.ledger import Ledger, opened, public, roots
from accountant.ledger import ledger as ledgers
from accountant.ledger.amounts import Amounts
from accountant.ledger.log import ROOT
from accountant.ledger.merkle import DEPTH, build, climb, find_places, hash_leaf
from accountant.ledger.pages import statement_page
from accountant.ledger.public import read_public, write_public
from accountant.ledger.report import say_promise
from accountant.ledger.roots import append_root
from accountant.ledger.statements import make_statement, read_statement, require_root, write_statement
from profiles import InvalidArgument, InvalidData, MissingExtra, UnreadableFile
from profiles.errors import LedgerRejected
from tests.ledger.conftest import PEOPLE, SUM, table


@pytest.fixture
def ledger(make):
    made = make(budget="2")
    made.charge("one", SUM, PEOPLE)
    append_root(made)
    made.charge("two", SUM, table(ben=1.0))
    return made


def test_a_statement_says_what_was_spent_on_what(ledger):
    told = make_statement(ledger, "ben")
    assert [(item["name"], item["cost"], item["left"]) for item in told["entries"]] == [
        ("", "0", "2"),
        ("one", "0.25", "1.75"),
        ("two", "1", "0.75"),
    ]
    assert {key: told[key] for key in ("spent", "budget", "left")} == ledger.account("ben")
    assert told["proof"]["spent"] == 1 << 38
    assert read_statement(write_statement(told))["proof"] == told["proof"]
    with pytest.raises(InvalidData, match="check the id"):
        make_statement(ledger, "nobody")


def _edit(found, *path_and_value):
    *path, last, value = path_and_value
    place = found
    for key in path:
        place = place[key]
    place[last] = value
    return found


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda told: _edit(told, "notion", "zcdp"), "another notion or protection"),
        (lambda told: _edit(told, "protection", "unit", "user-period"), "another notion or protection"),
        (lambda told: _edit(told, "entries", 1, "purpose", "something else"), "entry 1"),
        (lambda told: _edit(told, "entries", 1, "budget_steps", told["entries"][1]["budget_steps"] + 1), "budget"),
        (lambda told: _edit(told, "entries", told["entries"][:3] + told["entries"][4:]), "left out"),  # a raise, which costs nothing
        (lambda told: _edit(told, "entries", told["entries"][:2] + told["entries"][3:]), "left out"),  # a release without a row
    ],
)
def test_what_the_log_knows_of_a_statement_is_compared(make, change, match):
    """What was written into a statement beside the amounts that the root holds: the log for everybody has it."""
    pytest.importorskip("cryptography")
    ledger = make(budget="2", cap="4")
    ledger.charge("one", SUM, PEOPLE, note={"purpose": "a survey"})
    ledger.charge("two", SUM, table(cleo=1.0))
    ledger.raise_budget("3", PEOPLE)
    append_root(ledger)
    ledger.charge("three", SUM, PEOPLE)
    log = read_public(write_public(ledger))
    told = read_statement(write_statement(make_statement(ledger, "ben")))
    require_root(told, log)
    assert [entry["name"] for entry in told["entries"]] == ["", "one", "two", "", "three"]
    with pytest.raises(LedgerRejected, match=match):
        require_root(change(json.loads(json.dumps(told))), log)


def _tell_anew(told, costs):
    """A statement with other costs, whose words and sums fit them."""
    spent = 0
    for item, cost in zip(told["entries"], costs, strict=True):
        spent += cost
        budget = Amounts((item["budget_steps"],))
        item |= {"steps": cost, "cost": Amounts((cost,)).tell(up=True), "left": budget.less(Amounts((spent,))).tell(up=False)}
    return told | {"spent": Amounts((spent,)).tell(up=True), "left": told["entries"][-1]["left"]}


def test_what_one_release_cost_is_not_put_on_another_one(make):
    """A root holds sums. So a statement has each entry once, in order, and none costs more than the log says that it can have cost."""
    pytest.importorskip("cryptography")
    ledger = make(budget="4", cap="5", records=1)
    ledger.charge("one", SUM, PEOPLE)  # 1 at worst, 1/4 for ben
    ledger.charge("two", SUM, table(ben=1.0))
    ledger.raise_budget("5", PEOPLE)
    append_root(ledger)
    log, text, quarter = read_public(write_public(ledger)), write_statement(make_statement(ledger, "ben")), 1 << 38
    require_root(_tell_anew(read_statement(text), [0, quarter, 4 * quarter, 0]), log)
    for costs in ([quarter, 0, 4 * quarter, 0], [0, 0, 5 * quarter, 0], [0, 0, 4 * quarter, quarter]):
        with pytest.raises(LedgerRejected, match="costs more than the log says"):
            require_root(_tell_anew(read_statement(text), costs), log)
    told = read_statement(text)
    for entries in (
        [told["entries"][0], told["entries"][2], told["entries"][1], told["entries"][3]],
        [*told["entries"][:2], *told["entries"][1:]],
    ):
        costs = [item["steps"] for item in entries]
        costs[1:3] = [quarter, 4 * quarter] if len(entries) == 4 else [quarter, 0]
        forged = _tell_anew(told | {"entries": [dict(item) for item in entries]}, costs)
        with pytest.raises(LedgerRejected, match="twice, or not in the order"):
            read_statement(write_statement(forged))


def test_amounts_that_no_account_has_are_refused(ledger):
    told = make_statement(ledger, "ben")
    told["proof"]["spent"] = 1 << 70
    with pytest.raises(LedgerRejected, match="larger than those of any account"):
        read_statement(write_statement(told))


@pytest.mark.parametrize(("key", "value"), [("notion", "pur0"), ("protection", {"unit": "use0", "neighbors": "add-remove"})])
def test_a_statement_of_no_notion_or_protection_is_refused(ledger, key, value):
    with pytest.raises(UnreadableFile):
        read_statement(write_statement(make_statement(ledger, "ben") | {key: value}))


def test_every_account_is_under_the_root(ledger):
    pytest.importorskip("cryptography")
    log = read_public(write_public(ledger))
    for name in PEOPLE["id"].to_pylist():
        require_root(read_statement(write_statement(make_statement(ledger, name))), log)
    ledger.charge("three", SUM, PEOPLE)
    with pytest.raises(InvalidArgument, match="older than the statement"):
        require_root(make_statement(ledger, "ben"), log)


def test_who_came_after_the_root_has_no_proof_before_the_next_one(ledger):
    ledger.charge("three", SUM, table(xenia=0.5))
    told = make_statement(ledger, "xenia")
    assert told["proof"] is None
    assert [item["name"] for item in told["entries"]] == ["three"]
    read_statement(write_statement(told))
    append_root(ledger)
    assert make_statement(ledger, "xenia")["proof"]["entry"] == ledger.journal.entries[-1].sequence
    assert ledger.verify() == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["entries"][1] | {"steps": 1},
        lambda told: told["entries"][1] | {"cost": "0.1"},
        lambda told: told["entries"][1] | {"left": "2"},
        lambda told: told["entries"][1] | {"budget_steps": 1 << 50},
    ],
)
def test_a_changed_release_is_refused(ledger, change):
    told = make_statement(ledger, "ben")
    told["entries"][1] = change(told)
    with pytest.raises(LedgerRejected):
        read_statement(write_statement(told))


@pytest.mark.parametrize("key", ["spent", "budget", "place", "salt", "account", "root", "path"])
def test_a_changed_proof_is_refused(ledger, key):
    told = make_statement(ledger, "ben")
    old = told["proof"][key]
    told["proof"][key] = old ^ 1 if isinstance(old, int) else [*old[1:], old[0]] if isinstance(old, list) else old[::-1]
    with pytest.raises(LedgerRejected):
        read_statement(write_statement(told))


def test_another_history_has_another_root(make, ledger):
    pytest.importorskip("cryptography")
    other = make(budget="2", name="other")
    other.charge("one", SUM, PEOPLE)
    append_root(other)
    with pytest.raises(LedgerRejected, match="another history"):
        require_root(make_statement(ledger, "ben"), read_public(write_public(other)))


def test_paths_have_one_length_and_show_no_empty_place(make):
    """Whoever has a statement sees 32 hashes, however many accounts there are; those of empty subtrees are no known ones."""
    seen = set()
    for name, people in (("few", table(ada=0.5)), ("many", table(**{f"p{number}": 0.5 for number in range(300)}, ada=0.5))):
        made = make(people, name=name)
        append_root(made)
        path = make_statement(made, "ada")["proof"]["path"]
        assert len(path) == DEPTH
        assert not seen & set(path)
        seen |= set(path)
    assert len(seen) == 2 * DEPTH


def _empty(height: int, place: int) -> bytes:
    return hash_leaf(b"empty", bytes([height]), place.to_bytes(8, "little"))


def _hash_below(leaves: dict[int, bytes], height: int, place: int) -> bytes:
    """The hash of a subtree, by its definition."""
    if not any(leaf >> height == place for leaf in leaves):
        return _empty(height, place)
    if not height:
        return leaves[place]
    return hashlib.sha256(b"\1" + b"".join(_hash_below(leaves, height - 1, 2 * place + side) for side in (0, 1))).digest()


@pytest.mark.parametrize("places", [(), (5,), (0, 1, 7, 8, 2**31, 2**32 - 1), (2, 3), (2**32 - 2, 2**32 - 1)])
def test_a_tree_is_what_its_definition_says_and_is_climbed(places):
    leaves = {place: hash_leaf(bytes([place % 256])) for place in places}
    root, paths = build(places, leaves.values(), _empty, places)
    assert root == _hash_below(leaves, DEPTH, 0)
    assert all(climb(leaf, place, paths[place]) == root for place, leaf in leaves.items())


def test_leaves_take_the_place_that_was_drawn_or_the_next_that_is_free():
    rng = np.random.default_rng(0)
    for first in (0, 2**32 - 30):
        for _ in range(100):
            drawn = (first + rng.integers(0, 30, rng.integers(0, 25))).astype(np.uint32)
            taken: list[int] = []
            for place in drawn.tolist():
                while place in taken:
                    place = (place + 1) % 2**32  # noqa: PLW2901
                taken.append(place)
            assert find_places(drawn).tolist() == taken


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (1, "7dd2a1454c9fae0d550e1857fad5abec81fb98e6064dd374b79392fa5d96f702"),
        (2, "a7c67ce2eb111192504dc758bdbc84eb9b2afc6b180a762a811a41af85034652"),
    ],
)
def test_roots_of_earlier_releases_prove_what_they_did(tmp_path, monkeypatch, version, told):
    """They name no entry: their keys are made with their own number, and they have the accounts at their own place."""
    monkeypatch.setattr(ledgers.secrets, "token_bytes", bytes)
    with Ledger.create(tmp_path / "l", PEOPLE, budget="2", anchor=tmp_path / "a", version=version) as ledger:
        ledger.charge("one", SUM, PEOPLE)
        body = {"root": told, "depth": DEPTH, "time": ledger.tell_time()}
        ledger.journal.append(ROOT, "", lambda _, __: body)
        ledger.charge("two", SUM, PEOPLE)
        proof = read_statement(write_statement(make_statement(ledger, "ben")))["proof"]
        assert (proof["entry"], proof["root"], proof["spent"]) == (2, told, 1 << 38)
        assert "of" not in proof


def test_charges_do_not_wait_for_a_root_and_come_under_the_next_one(make, monkeypatch):
    """Another process charges while a root is computed: the root has the accounts at its beginning, and says so."""
    ledger = make(budget="2")
    ledger.charge("one", SUM, PEOPLE)
    true = roots.build

    def build_slowly(*args):
        ledger.charge("meanwhile", SUM, PEOPLE)
        monkeypatch.setattr(roots, "build", true)
        return true(*args)

    monkeypatch.setattr(roots, "build", build_slowly)
    entry = append_root(ledger)
    assert [item.name for item in ledger.journal.entries] == ["", "one", "meanwhile", ""]
    assert entry.body["of"] == 1
    told = read_statement(write_statement(make_statement(ledger, "ben")))
    assert [told["proof"][key] for key in ("entry", "of", "spent")] == [3, 1, 1 << 38]
    told["proof"]["of"] = 2
    with pytest.raises(LedgerRejected, match="do not add up"):
        read_statement(write_statement({key: value for key, value in told.items() if key not in ("format", "version")}))
    assert ledger.verify() == 0


def test_two_roots_at_once_are_in_order(make, monkeypatch):
    """Another process makes a root of newer accounts while one is computed: an older one after it, no log for everybody may have."""
    pytest.importorskip("cryptography")
    ledger = make(budget="2")
    ledger.charge("one", SUM, PEOPLE)
    true = roots.build

    def build_slowly(*args):
        monkeypatch.setattr(roots, "build", true)
        ledger.charge("meanwhile", SUM, PEOPLE)
        append_root(ledger)
        return true(*args)

    monkeypatch.setattr(roots, "build", build_slowly)
    entry = append_root(ledger)
    log = read_public(write_public(ledger))
    assert [root.body["of"] for root in log.entries if root.kind == ROOT] == [2]
    assert entry == ledger.journal.entries[log.root.sequence]
    require_root(read_statement(write_statement(make_statement(ledger, "ben"))), log)
    assert append_root(ledger).sequence == entry.sequence + 1  # asked for once more


def test_a_root_is_told_of_accounts_and_time_nothing(make, monkeypatch):
    """The time of a root is that at which it began: how long it took tells how many accounts there are."""
    clock = iter([f"2027-01-01T00:00:{second:02}Z" for second in range(60)])
    monkeypatch.setattr(opened, "tell_time", lambda: next(clock))
    ledger = make(budget="2")
    before = ledger.journal.entries[-1].body["time"]
    true = roots.build
    monkeypatch.setattr(roots, "build", lambda *args: (ledger.tell_time(), ledger.tell_time(), true(*args))[-1])
    assert append_root(ledger).body["time"] == f"2027-01-01T00:00:{int(before[-3:-1]) + 1:02}Z"


def test_exports_append_a_root_each_month_where_accounts_changed(make, monkeypatch):
    pytest.importorskip("cryptography")
    now = ["2027-01-31T10:00:00Z"]
    for module in (opened, public):
        monkeypatch.setattr(module, "tell_time", lambda: now[0])
    ledger = make(budget="2")
    ledger.charge("one", SUM, PEOPLE)

    def export(time, *, root=True):
        now[0] = time
        log = read_public(write_public(ledger, root=root))
        return [entry.body["of"] for entry in log.entries if entry.kind == ROOT]

    assert export("2027-01-31T11:00:00Z", root=False) == []
    assert export("2027-01-31T11:00:00Z") == [1]
    ledger.charge("two", SUM, PEOPLE)
    assert export("2027-01-31T12:00:00Z") == [1]  # one of this month is there
    assert export("2027-02-01T00:00:00Z") == [1, 3]
    assert export("2027-03-01T00:00:00Z") == [1, 3]  # no account changed
    ledger.raise_budget("3", PEOPLE)
    assert export("2026-03-01T00:00:00Z") == [1, 3, 5]  # the clock was set back


def test_a_death_while_a_root_is_computed_leaves_none_and_the_next_export_makes_it(make, monkeypatch):
    pytest.importorskip("cryptography")
    ledger = make(budget="2")
    ledger.charge("one", SUM, PEOPLE)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(roots, "build", die)
        with pytest.raises(KeyboardInterrupt):
            write_public(ledger)
    assert [entry.kind for entry in ledger.journal.entries] == ["open", "charge"]
    ledger.charge("two", SUM, PEOPLE)
    log = read_public(write_public(ledger))
    assert [entry.kind for entry in log.entries] == ["open", "charge", "charge", "root"]
    assert log.root.body["of"] == 2
    assert ledger.verify() == 0


def test_a_root_that_could_not_be_signed_for_is_not_made(ledger, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    before = len(ledger.journal.entries)
    with pytest.raises(MissingExtra):
        write_public(ledger)
    assert len(ledger.journal.entries) == before


@pytest.mark.parametrize("of", [0, 2, 3, -1, "1", True])
def test_roots_in_another_order_are_refused(make, of):
    pytest.importorskip("cryptography")
    ledger = make(budget="2")
    ledger.charge("one", SUM, PEOPLE)
    root = append_root(ledger)
    ledger.journal.append(ROOT, "", lambda _, __: {**root.body, "of": of})
    with pytest.raises(LedgerRejected, match="could follow those of the root before"):
        read_public(write_public(ledger, root=False))


def test_a_damaged_history_is_not_stated(ledger, monkeypatch):
    true = ledger.journal.accounts.list_state
    monkeypatch.setattr(
        type(ledger.journal.accounts),
        "list_state",
        lambda _, entries: ((hashes, spent + 1, budgets) for hashes, spent, budgets in true(entries)),
    )
    with pytest.raises(LedgerRejected, match="do not have the root"):
        make_statement(ledger, "ben")


def test_accounts_in_a_table_are_stated_as_well(make, tmp_path):
    pytest.importorskip("duckdb")
    ledger = make(budget="2", table=tmp_path / "t", engine="duckdb")
    ledger.charge("one", SUM, PEOPLE)
    append_root(ledger)
    told = make_statement(ledger, "ben")
    assert [(item["name"], item["cost"], item["left"]) for item in told["entries"]] == [("", "0", "2"), ("one", "0.25", "1.75")]
    assert read_statement(write_statement(told))["proof"]["spent"] == 1 << 38


def test_accounts_with_components_are_stated_as_well(make):
    ledger = make(budget="epsilon=4, mu2=4, delta=1e-3", notion="mixed")
    ledger.charge("one", SUM, PEOPLE)
    append_root(ledger)
    told = make_statement(ledger, "ben")
    assert told["entries"][1]["cost"]["epsilon"] == told["spent"]["epsilon"] != "0"
    assert len(read_statement(write_statement(told))["proof"]["spent"]) == 3
    told["entries"][1]["cost"]["delta"] = "0.1"
    with pytest.raises(LedgerRejected):
        read_statement(write_statement(told))


def test_a_person_is_told_what_was_promised_and_not_what_is_in_force(make):
    """A page said that the budget in force, 2, bounds what is revealed, where everybody was promised 5; or nothing."""
    ledger = make(budget="2", cap="5")
    assert say_promise(ledger) == "epsilon <= 5"
    raised = make(budget="2", name="raised")
    raised.raise_budget("3", PEOPLE)
    assert "without a cap" in say_promise(raised)
    page = statement_page(make_statement(ledger, "ben"), say_promise(ledger), "2026-01-01")
    assert "promised to everybody: epsilon &lt;= 5." in page


def test_the_command_line(pdp, tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "2", "--anchor", "a")
    pdp("ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name", "<one>")
    assert "the next one will (pdp ledger root)" in " ".join(pdp("ledger", "statement", "l", "--unit", "ada").out.split())
    root = pdp("ledger", "root", "l", "--json").json()["root"]
    said = " ".join(pdp("ledger", "statement", "l", "--unit", "ada", "--out", "s.json", "--html", "s.html").out.split())
    assert "for your eyes only spent 0.15625 nats of 2 nats, left 1.84375 nats" in said
    for name in ("s.json", "s.html"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    page = Path("s.html").read_text()
    assert "&lt;one&gt;" in page
    assert root in page
    assert "promise epsilon <= 2; no cap was fixed" in said
    assert "promised to everybody: epsilon &lt;= 2; no cap was fixed" in page
    pdp("ledger", "export", "l", "--public", "--out", "p")
    pdp("ledger", "root", "l")
    pdp("ledger", "export", "l", "--public", "--out", "p2")
    for name in ("l", "l.key", "a"):
        Path(name).unlink()
    said = " ".join(pdp("check", "s.json", "--log", "p").out.split())
    assert "p has this root" in said
    assert "newer root" not in said
    assert "p2 has a newer root, of entry 3" in " ".join(pdp("check", "s.json", "--log", "p2").out.split())
    assert '"ada"' not in Path("p").read_text()
    other = json.loads(Path("s.json").read_text())
    other["entries"][1]["name"] = "another"
    Path("s.json").write_text(json.dumps(other))
    assert pdp("check", "s.json").code == 0
    assert pdp("check", "s.json", "--log", "p").code == 1
    assert pdp("check", "p", "--log", "p").refused()
