"""A ledger on a PostgreSQL server: what only a server can do to it. The laws and kills of the other files run on it as well."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest

from accountant.ledger import Ledger
from accountant.ledger.backup import back_up, migrate, restore
from accountant.ledger.journal import Journal
from accountant.ledger.places import to_place
from profiles import InvalidArgument, PDPError, UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE, SUM, on_a_server

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install pdp-accountant[postgres]")
MECHANISM = LaplaceSum(b=2, radius=1)
OFF, ON = "ALTER TABLE {0}.log DISABLE TRIGGER keep", "ALTER TABLE {0}.log ENABLE ALWAYS TRIGGER keep"


@pytest.fixture
def where(request):
    return on_a_server(request)


@pytest.fixture
def ledger(make):
    """An open ledger with two charges and an output."""
    made = make(budget="2")
    made.charge("one", SUM, PEOPLE)
    made.run("two", MECHANISM, PEOPLE)
    return made


def ask(server, statement, **options):
    with psycopg.connect(server.address(**options), autocommit=True) as connection:
        return connection.execute(statement).fetchall() if statement.startswith("SELECT") else connection.execute(statement)


def schema(where, name="l"):
    return where(name).partition("#")[2]


@pytest.mark.slow
def test_an_opened_ledger_is_what_was_closed_and_can_be_kept_elsewhere(ledger, where, tmp_path):
    ledger.close()
    with Ledger.open(where("l")) as again:
        assert [entry.kind for entry in again.journal.entries] == ["open", "charge", "charge", "output"]
        assert again.account("cleo") == {"spent": "1.5", "budget": "2", "left": "0.5"}
        assert again.verify() == 0
        assert back_up(again, tmp_path / "log") == 4
        output = again.output("two")
    made, lost = restore(tmp_path / "file.db", tmp_path / "log", anchor=tmp_path / "l.anchor", secret=tmp_path / "l.db.key")
    with made:  # from a server to a file, and back
        assert lost == ""
        assert made.account("cleo")["spent"] == "1.5"
        assert made.output("two") == output
    made, lost = restore(where("again"), tmp_path / "log", anchor=tmp_path / "l.anchor", secret=tmp_path / "l.db.key")
    with made:
        made.charge("three", SUM, PEOPLE, partial=True)
        assert made.verify() == 0


@pytest.mark.slow
@pytest.mark.parametrize("act", ["DELETE FROM {}", "UPDATE {} SET seq = seq + 1", "TRUNCATE {}"])
@pytest.mark.parametrize("table", ["log", "changes", "segments", "outputs", "runs"])
def test_history_is_neither_changed_nor_deleted(server, ledger, where, act, table):
    with pytest.raises(psycopg.errors.RaiseException, match="history"):
        ask(server, act.format(f"{schema(where)}.{table}"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "edit",
    [
        f"{OFF}; DELETE FROM {{0}}.log WHERE seq = 3; {ON}",
        f"{OFF}; UPDATE {{0}}.log SET body = replace(body, 'w*z', 'w*z/9'); {ON}",
        "DROP TRIGGER keep ON {0}.changes",
        OFF,
        "ALTER TABLE {0}.accounts SET UNLOGGED",
        "CREATE TABLE {0}.more (x int)",
        "CREATE OR REPLACE FUNCTION {0}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "COMMENT ON SCHEMA {0} IS 'something else'",
        "UPDATE {0}.accounts SET body = overlay(body placing '\\xff' from 30)",
        "UPDATE {0}.state SET body = body || '\\x00'",
        "DROP TABLE {0}.outputs",
    ],
)
def test_edits_are_refused_in_one_sentence(server, ledger, where, edit):
    ledger.close()
    ask(server, edit.format(schema(where)))
    with pytest.raises((LedgerRejected, UnreadableFile)) as refused, Ledger.open(where("l")) as again:
        again.verify()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.slow
def test_what_is_there_is_not_written_over_and_what_is_not_there_is_not_made(server, ledger, where, make, tmp_path):
    with pytest.raises(UnwritableOutput, match="is there already"):
        Ledger.create(where("l"), PEOPLE, budget="1", anchor=tmp_path / "other", secret=tmp_path / "other.key")
    assert not (tmp_path / "other").exists()
    assert not (tmp_path / "other.key").exists()
    assert ledger.verify() == 0
    with pytest.raises(UnreadableFile, match="there is none"):
        Ledger.open(where("nothing"))
    with pytest.raises(InvalidArgument, match="--secret"):
        Ledger.create(where("new"), PEOPLE, budget="1", anchor=tmp_path / "new")
    with pytest.raises(PDPError, match="at least 0"):
        make(name="new", budget="-1")
    assert ask(server, f"SELECT to_regnamespace('{schema(where, 'new')}')::text") == [(None,)]


def test_addresses_are_read_or_refused_and_passwords_are_not_told():
    place = to_place("postgresql://ada:hunter2@127.0.0.1:1/people?connect_timeout=1")
    assert "hunter2" not in repr(place)
    with pytest.raises(UnwritableOutput, match="cannot be reached") as refused:
        place.open()
    assert "hunter2" not in str(refused.value)
    assert "127.0.0.1:1/people#pdp_ledger" in str(refused.value)
    for wrong in (
        "postgresql://h/d#Upper",
        "postgresql://h/d#pg_x",
        "postgresql://h/d#a b",
        "postgresql://h/d?nothing=1",
        "postgresql://[h/d",
    ):
        with pytest.raises(InvalidArgument):
            to_place(wrong)


@pytest.mark.slow
def test_a_user_without_rights_is_refused(server, ledger, where):
    name = schema(where)
    ask(server, f"DROP ROLE IF EXISTS {name}_reader")
    ask(server, f"CREATE ROLE {name}_reader LOGIN")
    address = f"{server.address(user=f'{name}_reader')}#{name}"
    with pytest.raises(UnwritableOutput, match="no right"), Ledger.open(address) as other:
        other.charge("three", SUM, PEOPLE)
    ask(server, f"GRANT USAGE ON SCHEMA {name} TO {name}_reader")
    ask(server, f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO {name}_reader")
    with Ledger.open(address) as other:
        assert other.account("cleo")["spent"] == "1.5"
        with pytest.raises(UnwritableOutput, match="no right"):
            other.charge("three", SUM, PEOPLE)
    assert ledger.verify() == 0


@pytest.mark.slow
def test_a_connection_that_ends_charges_nothing_and_a_crash_of_the_server_loses_nothing(server, ledger, where, tmp_path):
    lost = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pdp ledger' AND pid <> pg_backend_pid()"
    ask(server, lost)
    with pytest.raises(UnwritableOutput, match="was lost; nothing was written"):
        ledger.charge("three", SUM, PEOPLE)
    with Ledger.open(where("l")) as again:
        assert len(again.journal.entries) == 4
        again.charge("three", SUM, PEOPLE)
        server.crash()
        with pytest.raises(UnwritableOutput):
            again.charge("four", SUM, PEOPLE)
    server.start()
    with Ledger.open(where("l")) as again:
        assert again.journal.find("charge", "three") is not None
        assert again.account("dora")["spent"] == "0"
        assert again.verify() == 0


@pytest.mark.slow
def test_a_connection_that_ends_while_a_charge_is_made_durable_says_so(server, ledger, where, monkeypatch):
    """Whether it is durable, the server alone knows; the next opening appends to the anchor what it finds."""
    true = Journal.find

    def end(self, kind, name):
        ask(server, f"SELECT pg_terminate_backend({self.store.database._connection.info.backend_pid})")
        return true(self, kind, name)

    monkeypatch.setattr(Journal, "find", end)
    with pytest.raises(UnwritableOutput, match="was lost"):
        ledger.charge("three", SUM, PEOPLE)
    monkeypatch.undo()
    with Ledger.open(where("l")) as again:
        assert again.verify() == 0


@pytest.mark.slow
def test_writers_take_turns_and_a_server_set_back_is_refused(server, ledger, where):
    with Ledger.open(where("l")) as other:
        other.charge("three", SUM, PEOPLE)
        ledger.charge("four", SUM, PEOPLE)
        assert [entry.name for entry in ledger.journal.charges] == ["one", "two", "three", "four"]
    ask(server, f"{OFF}; DELETE FROM {{0}}.log WHERE seq > 3; {ON}".format(schema(where)))
    with pytest.raises(LedgerRejected, match=r"lacks entries 4 \(charge 'three'\), 5 \(charge 'four'\)"):
        Ledger.open(where("l"))


@pytest.mark.slow
def test_another_thread_opens_it_again(ledger):
    found = []

    def work():
        try:
            ledger.charge("three", SUM, PEOPLE)
        except PDPError as error:
            found.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "open it again in this one" in found[0]
    assert ledger.verify() == 0


@pytest.mark.slow
def test_a_server_that_forgets_is_refused(server, ledger, where):
    ask(server, "ALTER SYSTEM SET full_page_writes = off")
    try:
        ask(server, "SELECT pg_reload_conf()")
        server.crash()
        server.start()
        with pytest.raises(UnwritableOutput, match="keeps what it confirmed"):
            Ledger.open(where("l"))
    finally:
        ask(server, "ALTER SYSTEM RESET full_page_writes")
        ask(server, "SELECT pg_reload_conf()")
        server.crash()
        server.start()
    Ledger.open(where("l")).close()


@pytest.mark.slow
def test_commits_wait_for_the_disk_whatever_the_database_says(server, where, make):
    ask(server, "ALTER DATABASE postgres SET synchronous_commit = off")
    try:
        ledger = make()
        assert ledger.journal.store.database.find_row("SELECT current_setting('synchronous_commit')") == ("on",)
    finally:
        ask(server, "ALTER DATABASE postgres RESET synchronous_commit")


@pytest.mark.slow
def test_the_command_line_takes_an_address_and_tells_no_password(pdp, server, where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("id,income\nada,1.25\nben,0.5\ncleo,2\n")
    (tmp_path / "sum.toml").write_text('name = "sum"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    address, schema_ = where("cli").split("#")
    address = f"{address}&password=hunter2#{schema_}"
    told = [
        pdp("ledger", "init", address, "--data", "people.csv", "--key", "id", "--budget", "2", "--anchor", "a", "--secret", "s"),
        pdp("ledger", "charge", address, "sum.toml", "--statistic", "z=income", "--name", "one", "--active", "rows.csv"),
        pdp("ledger", "release", address, "two", "--mechanism", "profiles.mechanisms.weighted_count:default", "--out", "two.json"),
        pdp("ledger", "raise", address, "--budget", "3"),
        pdp("ledger", "report", address, "--public"),
        pdp("ledger", "report", address, "--unit", "ada"),
        pdp("ledger", "verify", address),
        pdp("ledger", "backup", address, "--log", "log"),
        pdp("ledger", "restore", "file.db", "--log", "log", "--anchor", "a", "--secret", "s"),
        pdp("ledger", "migrate", address, "new.db", "--anchor", "b"),
    ]
    assert [(result.code, result.err) for result in told] == [(0, "")] * len(told)
    assert not any("hunter2" in result.out for result in told)
    again = pdp("ledger", "charge", address, "sum.toml", "--statistic", "z=income", "--name", "one", "--active", "rows.csv")
    assert again.code == 2
    assert "charged it before" in again.err


@pytest.mark.slow
def test_a_table_beside_the_log_on_a_server(make, where, tmp_path):
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    folder = tmp_path / "l.table"
    ledger = make(table=folder, engine="duckdb", budget="2")
    ledger.charge("one", SUM, PEOPLE)
    assert ledger.run("two", MECHANISM, PEOPLE).shape == (1,)
    ledger.close()
    with Ledger.open(where("l")) as again:
        again.raise_budget("3", PEOPLE)
        assert again.account("cleo") == {"spent": "1.5", "budget": "3", "left": "1.5"}
        assert again.verify() == 0
        back_up(again, tmp_path / "log")
    options = {"anchor": tmp_path / "l.anchor", "secret": tmp_path / "l.db.key"}
    made, lost = restore(where("again"), tmp_path / "log", table=folder, **options)
    with made:
        assert lost == ""
        made.charge("three", SUM, PEOPLE, partial=True)
        assert made.verify() == 0
    with pytest.raises(LedgerRejected, match="older than its anchor"):
        Ledger.open(where("l"))


@pytest.mark.slow
def test_tables_have_one_size_whatever_amounts_are_in_them(server, where, make):
    """Nothing is compressed, and every row has a fixed width: one unit that costs 0, little, much, or is left out."""
    people = np.arange(60_000)
    found = []
    for number, own in enumerate((0.0, 0.5, 1.0, 1.0)):
        costs = np.full(people.size, 0.5)
        costs[31_000] = own
        rows = pa.table({"id": people, "z": costs})
        ledger = make(rows, budget="1.5" if number == 3 else "9", name=f"size{number}")
        for place in range(3):
            ledger.charge(f"c{place}", SUM, rows)
        ledger.charge("some", SUM, rows[30_990:31_010])
        ledger.close()
        name = schema(where, f"size{number}")
        ask(server, f"VACUUM {name}.accounts")
        sizes = (
            "SELECT relname::text, pg_total_relation_size(oid) FROM pg_class WHERE relnamespace = to_regnamespace('{}') AND relkind = 'r'"
        )
        found.append({table: size for table, size in ask(server, sizes.format(name)) if table != "log"})
        assert found[-1] == found[0]
    assert found[0]["changes"] > 3 * 120_000


@pytest.mark.slow
def test_a_ledger_of_chunks_goes_on_in_pages_and_from_a_file(make, where, tmp_path):
    ledger = make(budget="2", version=1)
    ledger.charge("one", SUM, PEOPLE)
    ledger.close()
    with Ledger.open(where("l"), partial=True) as old:
        assert old.journal.store.database.version == 1
        old.charge("two", SUM, PEOPLE)
        with migrate(old, where("pages"), anchor=tmp_path / "b", secret=tmp_path / "b.key") as new:
            assert new.journal.store.database.version == 2
            assert new.account("ada") == {"spent": "1", "budget": "2", "left": "1"}
            new.charge("three", SUM, PEOPLE)
            assert new.verify() == 0
            with migrate(new, tmp_path / "c.db", anchor=tmp_path / "c", rotate=True) as file:
                assert file.account("ben")["spent"] == "0.75"
                with migrate(file, where("again"), anchor=tmp_path / "d", secret=tmp_path / "d.key") as back:
                    assert back.account("ben")["spent"] == "0.75"
                    assert back.verify() == 0
