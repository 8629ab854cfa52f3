"""``pdp release`` from the words to the files: answers, plans, refusals, a ledger over four releases."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

RNG = np.random.default_rng(5)
WORDS = ("--count", "--sum", "income", "--clip", "income=0:150000", "--mean", "age", "--clip", "age=0:110", "--integer", "age")


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    size = 3000
    columns = {"id": np.arange(size), "age": RNG.integers(0, 99, size), "income": np.round(RNG.lognormal(10, 1, size), 2)}
    table = pa.table({**columns, "region": RNG.choice(["N", "S"], size), "year": RNG.choice([2024, 2025], size)})
    csv.write_csv(table, "people.csv")
    return table


def test_what_is_released_is_written_printed_and_checked(pdp, people, tmp_path):
    result = pdp(
        *("release", "people.csv", "-e", "1", *WORDS, "--histogram", "region=N,S", "--where", "year = 2025", "--out", "a.json"),
        *("--certificate", "c.json", "--guarantee", "g.json", "--report", "r.html"),
    )
    assert result.code == 0, result.err
    told = json.loads((tmp_path / "a.json").read_text())
    assert [item["answer"] for item in told["answers"]] == ["count", "sum income", "mean age", "histogram region", "histogram region"]
    assert told["release_epsilon"] == "1"
    assert told["unit"] == "record"
    assert told["neighbors"] == "add-remove"
    assert {item["id"] for item in told["premises"]} >= {"fixed-in-advance", "only-release", "one-record-each"}
    assert sum(1 for line in result.out.splitlines() if "histogram region" in line) == 2
    assert "epsilon <= 1 nats" in result.out
    for file in ("c.json", "g.json"):
        assert pdp("check", file).code == 0
    page = (tmp_path / "r.html").read_text()
    assert "ε ≤ 1 nats" in page
    assert "accepted while this page was written" in page
    changed = json.loads((tmp_path / "c.json").read_text())
    changed["composition"]["events"][0]["scale"] = "1"
    (tmp_path / "c.json").write_text(json.dumps(changed))
    assert pdp("check", "c.json").code == 1


def test_a_plan_needs_no_data_and_writes_nothing(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = pdp("release", "-e", "1", *WORDS, "--plan", "--rows", "200000", "--json")
    assert result.code == 0, result.err
    told = result.json()
    assert [item["answer"] for item in told["plan"]] == ["count", "sum income", "mean age"]
    assert told["epsilon"] == "1"
    assert 4.1 < told["plan"][0]["standard_error"] < 4.3  # of discrete Laplace noise at 1/3
    assert told["plan"][2]["standard_error"] < 0.002
    assert list(tmp_path.iterdir()) == []
    assert pdp("release", "-e", "1", "--count", "--plan", "--out", "a.json").code == 2
    normal = pdp("release", "-e", "1", "--delta", "1e-6", "--notion", "gaussian", "--count", "--plan")
    assert "delta <= 0.000001" in normal.out


@pytest.mark.parametrize(("more", "said"), [([], "1 nats"), (["--delta", "1/1024"], "1 nats, delta <= 0.0009765625")])
def test_epsilon_is_printed_with_its_neighbors(pdp, people, more, said):
    for words, after in ((["--plan"], "nothing is spent"), (["people.csv"], "checked by kernel: yes")):
        result = pdp("release", *words, "-e", "1", "--count", *more)
        assert f"epsilon <= {said} for adding or removing one record (a row); {after}" in " ".join(result.out.split())


def test_four_releases_fit_a_budget_of_four_and_a_fifth_does_not(pdp, people, tmp_path):
    opened = pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "4", "--records", "1", "--anchor", "anchor")
    assert opened.code == 0, opened.err
    first = None
    for quarter in range(1, 6):
        words = ("release", "people.csv", "-e", "1", *WORDS, "--out", f"q{quarter}.json", "--ledger", "l", "--name", f"q{quarter}")
        result = pdp(*words)
        if quarter == 5:
            assert result.code == 1
            assert "nothing was charged" in result.err
            assert not (tmp_path / "q5.json").exists()
            break
        assert result.code == 0, result.err
        assert f"at least {4 - quarter} left" in " ".join(result.out.split())
        first = first or words
    assert first is not None
    before = json.loads((tmp_path / "q1.json").read_text())["answers"]
    again = pdp(*first)
    assert "served again" in again.out
    assert json.loads((tmp_path / "q1.json").read_text())["answers"] == before


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_answers_are_written_as_tables(pdp, people, kind):
    result = pdp("release", "people.csv", "-e", "1", "--count", "--by", "region=N,S", "--out", f"a.{kind}")
    assert result.code == 0, result.err
    if kind == "csv":
        assert csv.read_csv("a.csv").column_names[:3] == ["answer", "group region", "category"]
        assert csv.read_csv("a.csv").num_rows == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sum", "income"), "needs a clip"),
        (("--sum", "income", "--clip", "income"), "never read from the data"),
        (("--sum", "income", "--clip", "income=min:max"), "never computed from the data"),
        (("--histogram", "region"), "have to be declared"),
        (("--histogram", "region=@people.csv"), "must be public"),
        (("--quantile", "income=0.5"), "declared grid"),
        (("--count", "--clip", "age=0:1"), "not asked for"),
        (("--count", "--share", "counts=2"), "not asked for"),
        (("--count", "--where", "income > (select 1)"), "filter"),
        (("--count", "--notion", "gaussian"), "go together"),
        (("--count", "--notion", "gausian"), "did you mean"),
        (("--count", "--rows", "5"), "--plan"),
        (("--count", "--out", "people.csv"), "people.csv"),
        (("--count", "--out", "a.txt"), "JSON, CSV or Parquet"),
        ((), "at least one answer"),
    ],
)
def test_refusals_say_what_to_do(pdp, people, words, said):
    result = pdp("release", "people.csv", "-e", "1", *words)
    assert result.code == 2
    assert said in result.err, result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_table_is_needed(pdp):
    result = pdp("release", "-e", "1", "--count")
    assert result.code == 2
    assert "needs a table" in result.err


def _open(pdp, *words):
    return pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--anchor", "l.anchor", "--records", "1", *words)


def test_a_rho_is_not_told_as_nats(pdp, people):
    """0.0028 of rho was printed as 0.0028 nats, where epsilon is about .5."""
    opened = _open(pdp, "--budget", "1/2", "--notion", "zcdp").out
    assert "zcdp (rho 0.5)" in opened
    words = ("release", "people.csv", "-e", "1/2", "--delta", "1e-6", "--count", "--out", "a.json", "--ledger", "l", "--name", "one")
    said = " ".join(pdp(*words).out.split())
    assert "at most rho 0.00" in said
    assert "nats" not in said
    assert "all its releases delta(epsilon) of zcdp (rho 0.5)" in said
    (pathlib.Path("p.toml")).write_text(
        '[[release]]\nname = "c"\nmechanism = "profiles.mechanisms.weighted_count:default"\nfrom = 2030-01-01\ntimes = 2\n'
    )
    said = pdp("ledger", "report", "l", "--plan", "p.toml", "--html", "l.html").out
    assert "0.46212 " in said  # tanh(1/2), rounded up, in one piece
    page = pathlib.Path("l.html").read_text()
    assert " nats" not in page
    assert "rho 0.46" in page


def test_what_a_ledger_promises_is_said_where_a_release_is_told(pdp, people):
    opened = " ".join(_open(pdp, "--budget", "4", "--cap", "6").out.split())
    assert "promise epsilon <= 6, for all releases together" in opened
    assert "records at most 1 of a unit" in opened
    result = pdp("release", "people.csv", "-e", "1", "--count", "--out", "a.json", "--ledger", "l", "--name", "one")
    assert "all its releases epsilon <= 6, one user is added or removed; checked by kernel: no" in " ".join(result.out.split())
    told = json.loads(pathlib.Path("a.json").read_text())
    assert (told["epsilon"]["upper"], told["checked_by_kernel"]) == ("6", False)
    assert "units_may_be_missing" not in told


def test_files_of_all_kinds_say_that_units_may_be_missing(pdp, people):
    _open(pdp, "--budget", "1", "--mode", "individual")
    words = ("release", "people.csv", "-e", "2/3", "--count", "--ledger", "l", "--name")
    assert pdp(*words, "one", "--out", "a.csv").code == 0
    assert "units_may_be_missing" not in pathlib.Path("a.csv").read_text()
    assert pdp(*words, "two", "--out", "b.csv").code == 1
    assert pdp(*words, "two", "--out", "b.csv", "--partial").code == 0
    for kind in ("csv", "json", "parquet"):  # served
        assert pdp(*words, "two", "--out", f"b.{kind}").code == 0
    assert csv.read_csv("b.csv")["units_may_be_missing"].to_pylist() == ["yes"]
    assert pq.read_table("b.parquet")["units_may_be_missing"].to_pylist() == ["yes"]
    assert json.loads(pathlib.Path("b.json").read_text())["units_may_be_missing"] is True


def test_other_rows_under_a_name_are_not_served_what_is_stored(pdp, people):
    _open(pdp, "--budget", "4")
    words = ("-e", "1", "--count", "--sum", "income", "--clip", "income=0:150000", "--ledger", "l", "--name", "february", "--out")
    assert pdp("release", "people.csv", *words, "a.json").code == 0
    changed = people.set_column(2, "income", pa.array(np.round(people["income"].to_numpy() * 1.01, 2)))
    csv.write_csv(changed, "march.csv")
    assert "with other data" in pdp("release", "march.csv", *words, "b.json").err
    assert not pathlib.Path("b.json").exists()
    pq.write_table(people, "people.parquet")
    assert pdp("release", "people.parquet", *words, "c.json").code == 0
    a, c = (json.loads(pathlib.Path(name).read_text())["answers"] for name in ("a.json", "c.json"))
    assert a == c


def test_a_ledger_that_was_raised_without_a_cap_says_what_takes_releases_still(pdp, people):
    """The advice named --delta, which a ledger of this notion refuses."""
    _open(pdp, "--budget", "4")
    assert "pdp release refuse it" in " ".join(pdp("ledger", "raise", "l", "--budget", "5").out.split())
    refused = pdp("release", "people.csv", "-e", "1", "--count", "--out", "a.json", "--ledger", "l", "--name", "one").err
    assert "(pdp ledger report)" in refused
    assert "pdp ledger charge or release" in refused
    words = ("--mechanism", "profiles.mechanisms.weighted_count:default", "--out", "a.json")
    assert pdp("ledger", "release", "l", "one", *words).code == 0
    assert pdp("ledger", "report", "l").code == 0
