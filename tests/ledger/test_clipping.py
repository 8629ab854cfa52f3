"""Rows that are moved into the declared ranges, each by itself, in place of a charge that is refused for one of them."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from accountant.columns.domain import clip_column, outside
from accountant.columns.values import Decimals
from accountant.data import parse_statistic
from accountant.data.decimals import read_decimals
from profiles import InvalidArgument, InvalidData, declare
from profiles.errors import ReleaseUsed
from profiles.mechanisms import GaussianSum, KNormSum, LaplaceSum, WeightedCount
from profiles.variables import make_statistic
from tests.ledger.conftest import SUM, table

WIDE = table(ada=0.5, ben=7.0, cleo=-3.0)
NORM = declare("norm", "w*z/4", record={"z": [0, 2]})


def test_a_row_out_of_range_refuses_all_or_is_clipped(make):
    ledger = make(WIDE, budget="3")
    with pytest.raises(InvalidData, match="clip each record by itself"):
        ledger.charge("one", SUM, WIDE)
    receipt = ledger.charge("one", SUM, WIDE, clip=True)
    assert [float(ledger.account(name)["spent"]) for name in ("ada", "ben", "cleo")] == [0.5, 1.0, 0.0]
    batch = next(receipt.clipped.batches([]))
    assert batch.table.column("z").to_pylist() == [0.5, 1.0, 0.0]
    assert ledger.journal.charges[-1].body["clipped"] is True
    said = [item.sentence for item in ledger.guarantee().hypotheses if item.id == "record-statistics"]
    assert any("moved into its declared range, also in what is run" in sentence for sentence in said)


def test_columns_of_a_norm_are_moved_towards_zero(make):
    rows = pa.table({"id": ["ada", "ben"], "a": [3.0, 0.5], "b": [-4.0, 0.5]})
    ledger = make(rows, budget="3")
    receipt = ledger.charge("one", NORM, rows, statistics=[parse_statistic("z=l2(a,b)")], clip=True)
    moved = next(receipt.clipped.batches([])).table
    assert moved.column("a").to_pylist() == pytest.approx([1.2, 0.5])
    assert moved.column("b").to_pylist() == pytest.approx([-1.6, 0.5])
    assert 0.4999 < float(ledger.account("ada")["spent"]) <= 0.5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_what_is_no_number_is_not_clipped(make, value):
    ledger = make(WIDE, budget="3")
    with pytest.raises(InvalidData):
        ledger.charge("one", SUM, table(ada=value), clip=True)
    assert not ledger.journal.charges


def test_a_mechanism_is_run_on_the_records_that_it_clipped(make):
    rows, ids = np.array([[5.0, 0.0], [0.1, 0.2]]), ["ada", "ben"]
    mechanism = LaplaceSum(b=2, radius=1, dimension=2)
    ledger = make(pa.table({"id": ids}), budget="3")
    with pytest.raises(InvalidData):
        ledger.release("one", mechanism, rows, ids=ids)
    with ledger.release("one", mechanism, rows, ids=ids, clip=True) as release:
        assert release.active_data.tolist() == [[1.0, 0.0], [0.1, 0.2]]
        release.publish(mechanism.run(release.active_data, release.weights))
    assert float(ledger.account("ada")["spent"]) == 0.5
    assert ledger.release("one", mechanism, rows, ids=ids, clip=True).published
    with pytest.raises(ReleaseUsed, match="other options"):
        ledger.release("one", mechanism, rows, ids=ids)
    with pytest.raises(InvalidArgument, match="no rule for it"):
        ledger.run("two", WeightedCount(beta_count=2), rows, ids=ids, clip=True)


def test_scalars_in_one_dimension_keep_their_form(make):
    ledger = make(pa.table({"id": ["ada", "ben"]}), budget="3")
    with ledger.release("one", LaplaceSum(b=2, radius=1), np.array([4.0, -0.5]), ids=["ada", "ben"], clip=True) as release:
        assert release.active_data.tolist() == [1.0, -0.5]


@pytest.mark.parametrize(
    "mechanism",
    [
        LaplaceSum(b=1, radius="1/3", dimension=3),
        GaussianSum(sigma=1, radius="0.1", dimension=3),
        GaussianSum(sigma=1, radius="1e-5", dimension=1),
        KNormSum(beta_sum=1, radius=7, dimension=3, p=3),
    ],
)
def test_clipped_records_are_inside_for_the_mechanism_itself(mechanism):
    rows = np.random.default_rng(1).standard_cauchy((2_000, mechanism.dimension)) * float(Fraction(str(mechanism.radius)))
    inside = mechanism.clip(rows)
    assert mechanism.statistic(inside)["z"].max() <= float(Fraction(str(mechanism.radius))) * (1 + 1e-16)
    short = np.linalg.norm(rows, ord=mechanism.norm, axis=1) < float(Fraction(str(mechanism.radius))) * (1 - 1e-9)
    assert (inside[short] == rows[short]).all()
    assert (mechanism.clip(rows[:7]) == inside[:7]).all()  # of others nothing depends


@pytest.mark.parametrize(("low", "high"), [("0", "1/3"), ("1/3", "2/3"), ("-0.1", "0.1"), ("-5", "-4")])
def test_a_clipped_column_is_inside_exactly(low, high):
    statistic = make_statistic("z", [low, high])
    numbers = np.array([-9.0, -0.1, 0.0, 1 / 3, 0.1, 2 / 3, 9.0, -4.5])
    written = read_decimals(pa.array([repr(float(value)) for value in numbers]), "x", "z", 0)
    for column in (numbers, written):
        found = clip_column(statistic, column)
        assert not outside(statistic, found).size
        assert type(found) is type(column)
        same = sorted(set(range(numbers.size)) - set(outside(statistic, column).tolist()))
        assert [float(found[row]) for row in same] == [float(column[row]) for row in same]
    assert isinstance(clip_column(statistic, written), Decimals)


def test_the_command_line_writes_what_may_be_run(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income,note\nada,1.25,a\nben,9.5,b\n")
    Path("sum.toml").write_text('name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "3", "--anchor", "a")
    words = ("ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name", "one")
    assert pdp(*words).refused()
    found = pdp(*words, "--clip", "--json")
    assert found.code == 0
    with Path(found.json()["active"]).open() as stream:
        assert [row["income"] for row in csv.DictReader(stream)] == ["1.25", "4"]
    assert Path(found.json()["active"]).stat().st_mode & 0o777 == 0o600
    words = ("ledger", "release", "l", "sum", "--mechanism", "profiles.mechanisms.laplace_sum:default", "--out", "o.json", "--data")
    Path("x.csv").write_text("id,x\nada,1.25\nben,9.5\n")
    assert pdp(*words, "x.csv").refused()
    over = pdp(*words, "x.csv", "--clip")  # 4 nats of 3
    assert (over.code, "smallest budget" in over.err) == (1, True)
