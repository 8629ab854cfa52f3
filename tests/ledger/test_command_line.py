"""``pdp ledger``: from the file to the report, the same for everybody; refusals in one line; what is private stays where it is marked."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from accountant.cli.ledger import VERBS
from accountant.ledger import ledger as ledgers
from accountant.ledger import opened, settings
from profiles.hypotheses import ALL_CHARGED, DURABLE, FROM_OUTPUTS, ONLY_RELEASE, OWN_BUDGET, RUN_ON_ACTIVE

PEOPLE = "id,income\nada,1.25\nben,0.5\ncleo,2\n"
OTHERS = "id,income\nada,4\nxenia,0\nyan,3.5\nzoe,4\nben,4\n"
PROFILE = 'name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)
    Path("others.csv").write_text(OTHERS)
    Path("sum.toml").write_text(PROFILE)
    return tmp_path


def init(pdp, name="l", data="people.csv", **options):
    more = [word for key, value in {"mode": "individual", **options}.items() for word in (f"--{key}", value)]
    return pdp("ledger", "init", name, "--data", data, "--key", "id", "--budget", "1", "--anchor", f"{name}.anchor", *more, "--json")


def charge(pdp, name, release, *more):
    return pdp(
        "ledger",
        "charge",
        name,
        "sum.toml",
        "--statistic",
        "z=income",
        "--name",
        release,
        "--active",
        f"{release}.csv",
        *more,
        "--json",
        "--partial",
    )


def test_reports_for_everybody_are_the_same_for_all_data_sets(pdp, folder, monkeypatch):
    monkeypatch.setattr(ledgers, "make_token", lambda: "0" * 32)
    monkeypatch.setattr(opened, "tell_time", lambda: "2026-01-01T00:00:00Z")
    monkeypatch.setattr(ledgers.secrets, "token_bytes", bytes)
    assert settings.make_token is not ledgers.make_token
    shown = {}
    for data in ("people.csv", "others.csv"):
        name = data.partition(".")[0]
        outputs = [init(pdp, name, data)]
        outputs += [charge(pdp, name, release) for release in ("a", "b", "c", "d")]  # some run out on the way
        outputs += [pdp("ledger", "report", name, "--public", *json_too) for json_too in ((), ("--json",))]
        outputs += [pdp("ledger", "verify", name, "--json")]
        shown[data] = [(result.code, result.out, result.err) for result in outputs]
        assert {code for code, _, _ in shown[data]} == {0}
        Path(f"{name}.taken").write_text(Path("d.csv").read_text())
    assert shown["people.csv"] == shown["others.csv"]
    assert Path("people.taken").read_text() != Path("others.taken").read_text()


def test_a_ledger_on_a_server_needs_psycopg_and_an_address(pdp, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "accountant.ledger.postgres", raising=False)
    found = pdp("ledger", "verify", "postgresql://ada:hunter2@host/people")
    assert found.code == 2
    assert "pdp-accountant[postgres]" in found.err
    assert "hunter2" not in found.out + found.err
    assert found.err.count("\n") == 1


def test_a_charge_tells_a_number_and_a_hash_alone(pdp, folder):
    init(pdp)
    found = charge(pdp, "l", "a").json()
    assert found.keys() == {"name", "sequence", "hash", "by", "cost", "each", "before", "after", "smallest_budget", "units_may_be_missing"}
    assert Path("a.csv").read_text().replace('"', "") == PEOPLE
    account = pdp("ledger", "report", "l", "--unit", "cleo", "--json").json()
    assert account == {"private": {"spent": "0.25", "budget": "1", "left": "0.75"}}
    assert "for your eyes only" in pdp("ledger", "report", "l", "--unit", "cleo").out


def test_a_release_is_stored_and_served_again(pdp, folder):
    init(pdp)
    words = ["ledger", "release", "l", "count", "--partial", "--mechanism", "profiles.mechanisms.weighted_count:default", "--out"]
    first, second = pdp(*words, "one.json", "--json"), pdp(*words, "two.json", "--json")
    assert first.code == second.code == 0
    assert first.json()["hash"] == second.json()["hash"]
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    told = json.loads(Path("one.json").read_text())
    assert isinstance(told["output"], float)
    assert "units may be missing" in told["units_may_be_missing"]


def test_the_guarantee_names_what_it_rests_on_and_goes_on_elsewhere(pdp, folder):
    init(pdp)
    charge(pdp, "l", "a")
    result = pdp("ledger", "report", "l", "--public", "--guarantee", "g.json", "--composition", "c.toml", "--json")
    told = result.json()["guarantee"]
    open_ids = {item["id"] for item in told["premises"]}
    assert {item.id for item in (ALL_CHARGED, FROM_OUTPUTS, DURABLE, RUN_ON_ACTIVE)} <= open_ids
    assert {ONLY_RELEASE.id, OWN_BUDGET.id} & open_ids == set()
    assert pdp("compose", "g.json", "--json").json()["epsilon"]["upper"] == "1"
    assert float(pdp("account", "c.toml", "--delta", "1e-6", "--json").json()["epsilon"]["upper"]) == pytest.approx(1, abs=1e-5)


def test_a_sample_is_charged_and_drawn_from_the_units_with_room(pdp, folder):
    Path("people.csv").write_text("id,income\n" + "".join(f"{number},{4 if number % 2 else 0.5}\n" for number in range(400)))
    init(pdp)
    charge(pdp, "l", "a")
    charge(pdp, "l", "b")  # those with 4 have spent 1 of 1
    words = ["sample", "sum.toml", "--q", "1/2", "--data", "people.csv", "--statistic", "z=l2", "--partial", "--ledger", "l", "--name"]
    result = pdp(*words, "c", "--out", "o.csv", "--json", "--seed", "1")
    assert result.code == 0, result.err
    rows = Path("o.csv").read_text().replace('"', "").splitlines()
    assert 60 < len(rows) - 1 < 140
    assert {row.split(",")[1] for row in rows[1:]} == {"0.5"}
    spent = [pdp("ledger", "report", "l", "--unit", unit, "--json").json()["private"]["spent"] for unit in "0123"]
    assert spent[0] == spent[2] != "0.125"
    assert spent[1] == spent[3] == "1"
    charge(pdp, "l", "d", "--q", "1")
    for name, more in (("c", ("--out", "o.csv")), ("e", ("--out", "people.csv")), ("e", ("--out", "o.txt"))):
        assert pdp(*words, name, *more).refused()
    assert pdp("sample", "sum.toml", "--q", "1/2", "--data", "people.csv", "--ledger", "l", "--out", "o.csv").refused()


def test_public_mode_says_no_by_public_numbers(pdp, folder):
    init(pdp, mode="public")
    words = ["ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name"]
    assert pdp(*words, "a").code == 0
    assert pdp(*words, "b").code == 0  # one half each, exactly
    refused = pdp(*words, "c", "--json")
    assert refused.code == 1
    assert refused.json()["verdict"] == "over budget"
    assert "nothing was charged" in refused.err


def test_backup_restore_migrate_raise(pdp, folder):
    init(pdp)
    charge(pdp, "l", "a")
    assert pdp("ledger", "backup", "l", "--log", "log", "--json").json()["entries"] == 2
    assert pdp("ledger", "restore", "new", "--log", "log", "--anchor", "l.anchor", "--secret", "l.key", "--json").json()["lost"] is None
    charge(pdp, "l", "b")
    lost = pdp("ledger", "restore", "newer", "--log", "log", "--anchor", "l.anchor", "--secret", "l.key")
    assert lost.code == 1
    assert "entry 2 (charge 'b')" in lost.err
    assert pdp("ledger", "report", "newer").code == 1
    assert pdp("ledger", "raise", "l", "--budget", "2").code == 0
    assert pdp("ledger", "migrate", "l", "next", "--anchor", "next.anchor").code == 0
    told = [pdp("ledger", "report", name, "--unit", "ada", "--json").json() for name in ("l", "next")]
    assert told[0] == told[1] == {"private": {"spent": "0.3125", "budget": "2", "left": "1.6875"}}


@pytest.mark.thorough
def test_accounts_in_a_table(pdp, folder):
    pytest.importorskip("duckdb")
    pytest.importorskip("polars")
    assert init(pdp, table="t", engine="duckdb").code == 0
    assert charge(pdp, "l", "a", "--engine", "polars").code == 0
    assert Path("a.csv").read_text().split() == ['"id","income"', '"ada","1.25"', '"ben","0.5"', '"cleo","2"']
    assert pdp("ledger", "report", "l", "--unit", "ada", "--json").json() == {
        "private": {"spent": "0.15625", "budget": "1", "left": "0.84375"}
    }
    Path("t").rename("moved")
    lost = charge(pdp, "l", "b")
    assert lost.code == 2
    assert "--table" in lost.err
    assert pdp("ledger", "verify", "l", "--table", "moved").code == 0
    assert charge(pdp, "l", "b").code == 0
    assert pdp("ledger", "verify", "l", "--engine", "oracle").code == 2
    next(path for path in Path("moved").glob("v00000002-*/*") if path.is_file()).write_bytes(b"")
    assert pdp("ledger", "verify", "l").code == 1


BAD = {
    "no such verb": ["chrge", "l"],
    "an option that only reports have": ["verify", "l", "--all"],
    "no ledger": ["report", "nothing"],
    "no budget": ["init", "x", "--data", "people.csv", "--key", "id", "--anchor", "x.anchor"],
    "an option of another verb": ["verify", "l", "--budget", "2"],
    "no name": ["charge", "l", "sum.toml", "--statistic", "z=income", "--active", "o.csv"],
    "a file for the rows that no table is": ["charge", "l", "sum.toml", "--statistic", "z=income", "--name", "n", "--active", "o.txt"],
    "the data as output": ["charge", "l", "sum.toml", "--statistic", "z=income", "--name", "n", "--active", "people.csv"],
    "a profile in place of a mechanism": ["release", "l", "n", "--mechanism", "sum.toml", "--out", "o.json"],
    "an unknown unit": ["report", "l", "--unit", "nobody"],
    "private and public": ["report", "l", "--unit", "ada", "--public"],
    "the ledger as output": ["backup", "l", "--log", "l"],
    "the anchor as output": ["backup", "l", "--log", "l.anchor"],
    "no backup": ["restore", "new", "--log", "people.csv", "--anchor", "l.anchor", "--secret", "l.key"],
    "a key that is there": ["init", "l", "--data", "people.csv", "--key", "id", "--budget", "1", "--anchor", "m.anchor"],
    "a range without a colon": ["init", "m", "--data", "people.csv", "--key", "id", "--budget", "z", "--anchor", "m", "--attribute", "z=1"],
    "another secret": ["verify", "l", "--secret", "people.csv"],
    "an engine without a table": ["verify", "l", "--engine", "duckdb"],
    "a long name": ["charge", "l", "sum.toml", "--statistic", "z=income", "--name", "n" * 101, "--active", "o.csv"],
}


@pytest.mark.thorough
def test_each_verb_has_its_own_options_and_refuses_those_of_others(pdp, folder):
    init(pdp)
    whole = pdp("ledger", "--help").out
    for verb, declared in VERBS.items():
        shown = pdp("ledger", verb, "--help").out
        assert max(map(len, shown.splitlines())) <= 84
        assert f"pdp ledger {verb} people.ledger" in shown.replace("again.", "people.")
        assert shown.partition("Examples:")[2].strip() in whole
        own = set(re.findall(r"--[a-z][a-z-]+", shown.partition("Options:")[2].partition("Examples:")[0]))
        for name in (
            {field.name for other in VERBS.values() for field in fields(other.options)}
            - {field.name for field in fields(declared.options)}
            - {"profile", "new", "everything"}
        ):
            option = f"--{name.replace('_', '-')}"
            result = pdp("ledger", verb, "l", option, "x")
            assert result.refused(), (verb, option)
            assert f"pdp ledger {verb} does not take it: " in result.err
            assert option not in own
    takers = pdp("ledger", "verify", "l", "--budget", "2").err
    assert "init and raise do; leave it out" in takers
    assert "write it after one of these" in pdp("ledger", "--json", "verify", "l").err
    assert pdp("ledger").refused()


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(pdp, folder, case):
    init(pdp)
    before = Path("l").read_bytes(), Path("l.anchor").read_bytes(), Path("people.csv").read_text()
    result = pdp("ledger", *BAD[case])
    assert result.refused(), (result.code, result.out, result.err)
    assert "ada" not in result.err
    assert (Path("l").read_bytes(), Path("l.anchor").read_bytes(), Path("people.csv").read_text()) == before


def test_the_rows_that_take_part_are_written_beside_the_ledger_where_no_file_is_named(pdp, folder):
    init(pdp)
    words = ["ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--partial"]
    result = pdp(*words, "--name", "July 2026/1")
    assert result.code == 0
    assert "l.July-2026-1.active.csv" in result.out
    assert Path("l.July-2026-1.active.csv").read_text().count("\n") == PEOPLE.count("\n")
    assert pdp(*words, "--name", "July 2026/1").refused()  # the name is used up
    taken = Path("l.July-2026-1.active.csv").read_text()
    other = pdp(*words, "--name", "July 2026-1")  # another name, the same file
    assert other.refused()
    assert "--active" in other.err
    assert Path("l.July-2026-1.active.csv").read_text() == taken
    assert pdp(*words, "--name", "b", "--json").json()["active"] == "l.b.active.csv"
    assert pdp("ledger", "report", "l", "--public").out.count(" charge ") == 2


def test_a_row_outside_of_the_range_charges_nobody_and_is_not_quoted(pdp, folder):
    init(pdp)
    Path("people.csv").write_text(PEOPLE + "dora,77.5\n")
    result = charge(pdp, "l", "a")
    assert result.refused()
    assert "row 3" in result.err
    assert "77.5" not in result.err
    assert pdp("ledger", "report", "l", "--unit", "ada", "--json").json()["private"]["spent"] == "0"


def test_the_rows_that_took_part_go_when_their_release_is_published(pdp, folder):
    """Also where they were moved into place by hand, they stay: the file is another one then."""
    assert init(pdp).code == 0
    Path("o.json").write_text("[1.5]")
    for name, kept in (("gone", False), ("kept", True), ("changed", True)):
        assert charge(pdp, "l", name).code == 0
        assert Path(f"{name}.csv").stat().st_mode & 0o777 == 0o600
        if name == "changed":
            Path("changed.csv").write_text("something else")
        more = ["--keep"] if name == "kept" else []
        said = pdp("ledger", "publish", "l", name, "--output", "o.json", *more)
        assert said.code == 0, said.err
        assert ("removed" in said.out) is not kept
        assert Path(f"{name}.csv").exists() is kept


def test_what_a_clerk_reads_names_what_is_wrong(pdp, tmp_path, monkeypatch):
    """Found by an office's clerk: a ledger that is there, not its secret; a number, not an expression; one and several rows."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,years\nada,3\nben,50\ncleo,70\n")
    words = ("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--anchor", "a")
    assert pdp(*words, "--budget", "2").code == 0
    assert "the ledger l is there already" in pdp(*words, "--budget", "2").err
    words = ("ledger", "init", "m", "--data", "people.csv", "--key", "id", "--anchor", "b")
    assert "below 2^22 nats was expected, but -1 was found" in " ".join(pdp(*words, "--budget=-1").err.split())
    ranged = ("--budget", "1+years/100", "--attribute")
    assert "rows 1, 2 are outside the declared range [0, 40]" in " ".join(pdp(*words, *ranged, "years=0:40").err.split())
    assert "row 2 is outside the declared range [0, 60]" in " ".join(pdp(*words, *ranged, "years=0:60").err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.lock", "l", "l.key", "people.csv"]


def test_a_table_is_named_when_a_ledger_is_opened(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id\nada\n")
    told = pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "2", "--anchor", "a", "--table", "t")
    if told.code:
        pytest.skip("neither DuckDB nor Polars is installed")
    assert "table t; it has the accounts, which a backup of the log has not" in " ".join(told.out.split())
