"""``pdp release`` from the words to the files: answers, plans, refusals, a ledger over four releases."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
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
