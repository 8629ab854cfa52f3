"""Filters say of each row by itself whether it takes part, and cannot say anything else."""

from __future__ import annotations

from datetime import date

import duckdb
import pyarrow as pa
import pytest

from accountant.applications.answers.where import read_where
from profiles import InvalidArgument, InvalidData

TABLE = pa.table(
    {
        "year": [2024, 2025, None, 2025, 2026],
        "region": ["N", None, "S", "O'Hare", ""],
        "income": [0.1, 2.5, -3.0, None, 7.25],
        "odd name": [1, 2, 3, 4, 5],
    }
)


@pytest.mark.parametrize(
    "text",
    [
        "year = 2025",
        "year != 2025 and income >= 0.1",
        "not (year = 2025 or income < 0)",
        "region in ('N', 'S')",
        "region not in ('N', 'O''Hare')",
        "year between 2024 and 2025 and not region = 'N'",
        "region is null or income is not null",
        "not region is null",
        "year not between 2025 and 2026",
        "\"odd name\" <> 3 and region >= 'N'",
        "NOT NOT income > -1e2",
        "(year = 2024 or (region = 'S' and income is null)) or year in (2026)",
    ],
)
def test_filters_mean_what_they_mean_in_sql(text: str) -> None:
    (batch,) = TABLE.to_batches()
    people = TABLE
    wanted = [row[0] for row in duckdb.sql(f'select "odd name" from people where {text} order by 1').fetchall()]
    assert people.num_rows == 5
    found = read_where(text).select(batch, "the table", is_text=False)
    kept = [value for value, here in zip(batch.column("odd name").to_pylist(), found, strict=True) if here]
    assert kept == wanted
    coded = batch.set_column(1, "region", batch.column("region").dictionary_encode())
    assert read_where(text).select(coded, "the table", is_text=False).tolist() == found.tolist()


DAYS = pa.table({"start": pa.array([date(2019, 12, 31), None, date(2020, 1, 1), date(2021, 5, 3)]), "n": [1, 2, 3, 4]})


@pytest.mark.parametrize(
    "text", ["start >= '2020-01-01'", "not start = '2020-01-01'", "start between '2019-01-01' and '2020-01-01'", "start is null"]
)
@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_days_are_compared_as_days(text: str, kind: pa.DataType) -> None:
    """A column of dates could be compared with neither a text nor a number, each of which was advised in place of the other."""
    (batch,) = DAYS.set_column(0, "start", DAYS.column("start").cast(kind)).to_batches()
    days = DAYS
    wanted = [row[0] for row in duckdb.sql(f"select n from days where {text} order by 1").fetchall()]
    assert days.num_rows == 4
    assert [n for n, here in zip(DAYS["n"].to_pylist(), read_where(text).select(batch, "t", is_text=False), strict=True) if here] == wanted


@pytest.mark.parametrize("text", ["start >= '1.1.2020'", "start >= '20200101'", "start in ('2020-01-01', '2020')", "start > 2020"])
def test_what_is_no_day_is_not_compared_with_days(text: str) -> None:
    (batch,) = DAYS.to_batches()
    with pytest.raises(InvalidArgument, match="in quotation marks"):
        read_where(text).select(batch, "t", is_text=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "income > (select avg(income) from t)",
        "income > other",
        "count(*) > 3",
        "year = 2025; drop table t",
        "year = 2025 or",
        "year",
        "year in ()",
        "year in (1, 'a')",
        "year between 1",
        "2025 = year",
        "year = = 3",
        "year = 'a",
        "(" * 60 + "year = 1" + ")" * 60,
        "year = 2025\nor year = 1",
        "not",
        "rownum() < 5",
        "year is 3",
    ],
)
def test_what_is_no_filter_of_single_rows_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="filter"):
        read_where(text)


def test_a_filter_names_columns_and_kinds_that_are_not_there() -> None:
    (batch,) = TABLE.to_batches()
    with pytest.raises(InvalidData, match="no such column"):
        read_where("age = 3").select(batch, "the table", is_text=False)
    with pytest.raises(InvalidArgument, match="compares 'year' with a text"):
        read_where("year = 'a'").select(batch, "the table", is_text=False)
    with pytest.raises(InvalidData, match="text where a number was expected") as caught:
        read_where("region < 3").select(batch, "the table", is_text=False)
    assert "Hare" not in str(caught.value)


def test_numbers_of_text_files_are_read() -> None:
    (batch,) = pa.table({"year": ["2025", " 2025.0 ", "", "2024"]}).to_batches()
    assert read_where("year = 2025").select(batch, "a file", is_text=True).tolist() == [True, True, False, False]
    assert read_where("year is null").select(batch, "a file", is_text=True).tolist() == [False, False, True, False]
