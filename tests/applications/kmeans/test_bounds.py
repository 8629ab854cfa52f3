"""ColumnBounds of columns in place of a ball: an affine public map, centres in the columns' own units, and refusals of one sentence."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from accountant.applications.budget.rows import ArrayRows
from accountant.applications.kmeans import DPKMeans, UtilityWarning
from accountant.applications.kmeans.bounds import BoundedRows, ColumnBounds
from accountant.applications.kmeans.fitting import FitSettings
from accountant.applications.sklearn_guards import describe_parameters
from accountant.checking import check_document
from accountant.cli.main import invoke
from accountant.ledger.requests import digest_arguments
from profiles import InvalidArgument, PDPError
from profiles.mechanisms.ball import project_records, record_norms, widen

ENDS = {"age": (0, 110), "income": (0, 200_000)}


def make_rows(count: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(0)
    middle = np.array([[25, 20_000], [45, 90_000], [70, 30_000]])[rng.integers(0, 3, count)]
    return middle + rng.normal(size=(count, 2)) * [4, 5_000]


def make_people(count: int = 20_000) -> pl.DataFrame:
    return pl.DataFrame(make_rows(count), schema=["age", "income"])


def test_centres_come_back_in_the_units_of_the_columns_and_inside_the_bounds():
    people = make_people()
    model = DPKMeans(3, epsilon=1, bounds=ENDS, random_state=1).fit(people)
    found = model.cluster_centers_[model.cluster_centers_[:, 0].argsort()]
    assert (np.abs(found - [[25, 20_000], [45, 90_000], [70, 30_000]]) < [4, 6_000]).all()
    assert float(model.guarantee_.bound.upper) == 1.0
    assert "sampling" not in model.guarantee_.subject
    assert (model.statistics_.mean > [30, 30_000]).all()
    tiny = DPKMeans(3, epsilon="0.001", bounds=ENDS, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UtilityWarning)
        far = tiny.fit(people[:50]).cluster_centers_
    assert ((far >= 0) & (far <= [110, 200_000])).all()


def test_columns_in_other_units_are_the_same_data():
    """ColumnBounds in other units give the same scaled rows: here units by powers of two, exactly."""
    people = make_rows(2_000)
    one = DPKMeans(3, epsilon=1, bounds=list(ENDS.values()), random_state=7).fit(people)
    other = DPKMeans(3, epsilon=1, bounds=[(0, 110 / 8), (0, 800_000)], random_state=7).fit(people * [0.125, 4])
    assert np.array_equal(one.cluster_centers_ * [0.125, 4], other.cluster_centers_)
    assert np.array_equal(one.predict(people), other.predict(people * [0.125, 4]))
    assert np.array_equal(one.transform(people), other.transform(people * [0.125, 4]))


def test_records_are_compared_in_scaled_units():
    model = DPKMeans(2, epsilon=50, bounds=[(0, 100), (0, 100_000)], random_state=1)
    rows = np.array([[10.0, 50_000.0], [90.0, 50_100.0]]).repeat(500, axis=0)
    model.fit(rows)
    labels = model.predict(rows)
    assert len(set(labels[:500])) == len(set(labels[500:])) == 1
    assert labels[0] != labels[-1]
    assert model.predict([[20.0, 90_000.0]])[0] == labels[0]  # nearest in age: income would decide in the units of the columns


NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5), st.data())
def test_scaled_rows_lie_in_the_ball_and_come_back(pairs, data):
    ends = [tuple(sorted(pair)) for pair in pairs]
    try:
        bounds = ColumnBounds.of(ends)
    except InvalidArgument:
        assert any(high <= low or np.nextafter(low, high) >= high or high - low < 1e-290 for low, high in ends)
        return
    rows = np.array([[data.draw(st.floats(allow_nan=False, allow_infinity=False)) for _ in ends] for _ in range(3)])
    scaled = bounds.enter(rows)
    assert (np.abs(scaled) <= 1).all()
    entered = project_records(scaled, 2, bounds.radius)
    assert max(record_norms(entered, 2)) <= float(widen(bounds.radius))
    assert all(sum(Fraction(value) ** 2 for value in row) <= widen(bounds.radius) ** 2 for row in entered.tolist())
    assert all(map(bounds.contains, bounds.leave(np.vstack([entered, 5 * entered])).tolist()))
    alone = [bounds.enter(rows[place : place + 1])[0] for place in range(3)]  # a row is scaled by itself
    assert np.array_equal(scaled, alone)


def test_the_radius_is_the_least_of_a_ball_about_the_middle():
    for dimension in (1, 2, 3, 4, 54, 100):
        radius = ColumnBounds.of([(0, 1)] * dimension).radius
        assert dimension <= radius**2 <= dimension * (1 + Fraction(2, 10**6)) ** 2
    assert FitSettings.of(2, 1, bounds=[(0, 1), (5, 9)]).radius == ColumnBounds.of([(0, 1), (5, 9)]).radius


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ([(1, 0), (0, 1)], "the other way round"), ([(1, 1), (0, 1)], "are equal"), ([(0, float("nan")), (0, 1)], "finite"),
        ([(0, float("inf")), (0, 1)], "finite"), ([(0, "x"), (0, 1)], "number"), ([(0, 1)], "bounds for 1"), ([], "1 to"),
        ([(0, 1)] * 3, "bounds for 3"), ([0, 1], "pair"), ("ab", "pairs"), (5, "pairs"), ([(0, 1, 2), (0, 1)], "two numbers"),
        ([("-1e301", 1), (0, 1)], "binary64"), ([(0, "1e-301"), (0, 1)], "binary64"), ([(10**18, 10**18 + 1), (0, 1)], "binary64"),
        ({"age": (0, 1), "income": (0, 1)}, "no names of columns"), ({1: (0, 1)}, "text"), (["ab", "cd"], "least and a largest"),
        ([(True, 2), (0, 1)], "boolean"), ([{0, 1}, (0, 1)], "a pair"),
    ],
)  # fmt: skip
def test_bounds_that_are_none_are_refused_before_a_row_is_used(bounds, said):
    model = DPKMeans(2, epsilon=1, bounds=bounds, random_state=1)
    with pytest.raises(PDPError, match=said) as refused:
        model.fit(np.zeros((5, 2)))
    assert "\n" not in str(refused.value)
    assert not hasattr(model, "cluster_centers_")


@pytest.mark.parametrize(
    ("bounds", "said"),
    [({"age": (0, 1)}, "'income' has no bounds"), ({**ENDS, "x": (0, 1)}, "no such column"), ({"age": (0, 1), "incom": (0, 1)}, "income")],
)
def test_names_of_bounds_are_those_of_the_columns(bounds, said):
    with pytest.raises(PDPError, match=said):
        DPKMeans(2, epsilon=1, bounds=bounds).fit(make_people(10))


def test_bounds_have_a_radius_and_a_center_of_their_own():
    for beside in ({"radius": 1}, {"center": [0, 0]}, {"public": ("radius",)}):
        with pytest.raises(InvalidArgument, match="bounds"):
            DPKMeans(2, epsilon=1, bounds=[(0, 1), (0, 1)], **beside).fit(np.zeros((5, 2)))
    with pytest.raises(InvalidArgument, match=r"--bounds age=0:110.*--radius"):
        DPKMeans(2, epsilon=1).fit(np.zeros((5, 2)))
    assert clone(DPKMeans(2, bounds=ENDS)).bounds == ENDS


def test_what_was_stored_before_there_were_bounds_is_served():
    """The digest of the arguments of a fit without bounds is that of a fit before there were any."""
    assert "bounds" not in describe_parameters(DPKMeans(2, epsilon=1, radius=1))
    assert describe_parameters(DPKMeans(2, epsilon=1, bounds=ENDS))["bounds"] == ENDS
    plain = FitSettings.of(2, 1, radius=2)
    assert digest_arguments(plain) == "86cfc61d1e41af7fc78c6396863e9f43c8f182cbfbfa39af2d779a62c06cbee1"
    assert digest_arguments(plain) != digest_arguments(FitSettings.of(2, 1, bounds=[(-1, 1)] * 4))


def test_rows_that_take_part_are_the_ones_that_are_scaled():
    bounds = ColumnBounds.of([(0, 10)])
    rows = BoundedRows(ArrayRows(np.arange(6.0)[:, None]), bounds)
    (block,) = rows.keep(np.arange(6) > 3).blocks()
    assert block[:, 0].tolist() == [-0.2, 0.0]
    assert rows.dimension == 1


def test_one_ball_for_columns_of_different_size_is_warned_of():
    people = make_people(5_000)
    with pytest.warns(UtilityWarning, match="times as large in one column as in another.*give bounds of each"):
        DPKMeans(3, epsilon=20, radius=200_000, center=[50, 50_000], random_state=1).fit(people)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DPKMeans(3, epsilon=1, bounds=ENDS, random_state=1).fit(people)


@pytest.fixture
def people(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_people(3_000).with_columns(name=7).write_csv("people.csv")
    return tmp_path


WORDS = ("kmeans", "people.csv", "-k", "3", "-e", "1", "--out", "c.csv")
BOTH = ("--bounds", "age=0:110", "--bounds", "income=0:200000")


@pytest.mark.parametrize("more", [(), ("--delta", "1e-6"), ("--sample", "uniform", "--sample-size", "500"), ("--columns", "income,age")])
def test_the_command_writes_centres_and_a_certificate_in_these_units(more, people, capsys):
    assert invoke([*WORDS, *BOTH, *more, "--certificate", "c.json", "--report", "r.html"]) == 0
    text = capsys.readouterr().out
    assert "where each column is scaled to [-1, 1]" in " ".join(text.split())
    centres = pl.read_csv("c.csv")
    assert centres.columns == (["income", "age"] if "income,age" in more else ["age", "income"])
    assert centres["age"].is_between(0, 110).all()
    assert centres["income"].is_between(0, 200_000).all()
    assert centres["income"].max() > 200
    assert "after uniform sampling" not in Path("r.html").read_text()
    found = json.loads(Path("c.json").read_text())
    assert found["arguments"]["bounds"] == ([["0", "200000"], ["0", "110"]] if "income,age" in more else [["0", "110"], ["0", "200000"]])
    assert check_document(json.dumps(found)).outcome.report.accepted
    for forge in (
        lambda made: made["arguments"].update(bounds=[["0", "110"], ["0", "1"]]),
        lambda made: made["arguments"].update(bounds=[["0", "110"]]),
        lambda made: made["arguments"].update(bounds=[["110", "0"], ["0", "200000"]]),
        lambda made: made["arguments"].update(radius="1"),
        lambda made: made["arguments"].pop("bounds"),
        lambda made: made["released"]["centres"][0].__setitem__(0, "-300000.0"),
        lambda made: made["released"]["mean"].__setitem__(0, "-300000.0"),
    ):
        forged = json.loads(json.dumps(found))
        forge(forged)
        assert not check_document(json.dumps(forged)).outcome.report.accepted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--bounds age=0:110"), (("--bounds", "age"), "COLUMN=LO:HI"), (("--bounds", "age=0"), "COLUMN=LO:HI"),
        (("--bounds", "=0:1"), "COLUMN=LO:HI"), (("--bounds", "age=0:"), "COLUMN=LO:HI"), (("--bounds", "age=110:0"), "other way round"),
        (("--bounds", "age=1:1"), "equal"), (("--bounds", "age=nan:1"), "number"), (("--bounds", "age=0:inf"), "number"),
        (("--bounds", "age=0:1", "--bounds", "age=0:2"), "twice"), (("--bounds", "agee=0:1"), "age"), ((*BOTH, "--radius", "3"), "radius"),
        ((*BOTH, "--columns", "age"), "income"), ((*BOTH, "--columns", "age,income,name"), "'name' has no bounds"),
        ((*BOTH, "--without", "name"), "--without"), ((*BOTH, "--center", "people.csv"), "center"),
        (("--bounds", "age=0:1e400"), "binary64"),
        (("--bounds", "age=0:1e-400"), "binary64"), ((*BOTH, "--public", "radius"), "radius"),
    ],
)  # fmt: skip
def test_the_command_refuses_in_one_sentence(options, said, people, capsys):
    assert invoke([*WORDS, *options]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    assert said in shown.err
    assert "internal error" not in shown.err
    assert not Path("c.csv").exists()
