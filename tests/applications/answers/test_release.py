"""Releases from a table: exact totals, the noise that was planned, one guarantee, and refusals that cost nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import accountant
from accountant import By, Count, Histogram, Mean, Quantile, Sum, Variance, plan_release, release
from accountant.applications.answers.releasing import count_rows, draw_part
from accountant.applications.answers.rows import open_table
from accountant.compositions.events import MechanismKind
from accountant.guarantees import Run
from accountant.interop import read_guarantee, replay
from accountant.ledger import Ledger
from profiles import InvalidArgument, InvalidData, PDPError
from profiles.errors import OverBudget, ReleaseUsed
from profiles.randomness import open_bits

ROWS = 2000
_RNG = np.random.default_rng(3)
TABLE = pa.table(
    {
        "id": np.arange(ROWS),
        "age": _RNG.integers(-5, 130, ROWS),
        "income": np.round(_RNG.lognormal(10, 1, ROWS), 2),
        "region": _RNG.choice(["N", "S", "E", "?"], ROWS),
        "year": _RNG.choice([2024, 2025], ROWS),
    }
)
EVERYTHING = [
    Count(),
    Sum("income", clip=(0, 150_000)),
    Sum("age", clip=(0, 110)),
    Mean("income", clip=(-10, "150000.5")),
    Variance("age", clip=(0, 110)),
    Histogram("region", ["N", "S", "E"]),
]
REGION = By("region", ["N", "S"])


def exactly(table: Any, requests: Any, **given: Any) -> dict[str, list[Fraction]]:
    """The exact totals of all parts, in the units of the data."""
    opened = open_table(table)
    plan = plan_release(requests, 1, integers=opened.integers, **given)
    found = {}
    for total in count_rows(opened, plan, None):
        unit = Fraction(1) if total.unit is None else Fraction(2) ** total.unit.exponent
        found[total.noise.part.describe()] = [int(value) * unit for value in total.values.ravel().tolist()]
    return found


def test_totals_are_those_of_clipped_rows() -> None:
    found = exactly(TABLE, EVERYTHING, where="year = 2025")
    kept = pl.from_arrow(TABLE).filter(pl.col("year") == 2025)
    ages, incomes = kept["age"].clip(0, 110), kept["income"].clip(0, 150_000)
    assert found["number of rows"] == [len(kept)]
    assert found["sum of age, moved into 0..110"] == [int(ages.sum())]
    (income,) = found["sum of income, moved into 0..150000"]
    exact = sum(map(Fraction, incomes.to_list()), Fraction(0))
    assert 0 <= exact - income <= Fraction(len(kept) * 150_000, 2**38)  # truncated, never more
    assert found["rows of each category of region"] == [int((kept["region"] == name).sum()) for name in "NSE"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars", "lazy", "duckdb"])
def test_every_kind_of_table_has_the_same_totals(kind: str, tmp_path: Path) -> None:
    given: Any = TABLE
    match kind:
        case "csv":
            given = tmp_path / "t.csv"
            csv.write_csv(TABLE, given)
        case "parquet":
            given = tmp_path / "t.parquet"
            pq.write_table(TABLE, given, row_group_size=300)
        case "polars" | "lazy":
            given = pl.from_arrow(TABLE)
            given = given.lazy() if kind == "lazy" else given
        case "duckdb":
            given = duckdb.connect().from_arrow(TABLE)
    requests = [Count(), Sum("income", (0, 150_000)), Sum("age", (0, 110), integer=True), Histogram("region", ["N", "S"])]
    assert exactly(given, requests, by=[REGION], where="year = 2025") == exactly(TABLE, requests, by=[REGION], where="year = 2025")


def test_groups_add_up_to_what_no_groups_are() -> None:
    grouped = exactly(TABLE, [Count(), Sum("income", (0, 10**5))], by=[By("region", ["N", "S", "E", "?"]), By("year", [2024, 2025])])
    assert {name: [sum(values)] for name, values in grouped.items()} == exactly(TABLE, [Count(), Sum("income", (0, 10**5))])


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_one_row_more_changes_one_cell_by_at_most_the_reach(delta: str | None) -> None:
    hostile = [(-1e308, "N"), (1e308, "S"), (149_999.99999999997, "E"), (0.1, "?"), (-0.0, "N"), (5e-324, "S"), (150_000.00000000003, "N")]
    for income, region in hostile:
        row = pa.table({"id": [7], "age": [999], "income": [income], "region": [region], "year": [2025]})
        requests = [*EVERYTHING, *([] if delta else [Quantile("income", "1/3", (0, 150_000, 5000))])]
        for by in ([], [REGION]):
            plan = plan_release(requests, 3, delta=delta, by=by, integers=["age"])
            with_it, without = (count_rows(open_table(data), plan, None) for data in (pa.concat_tables([TABLE, row]), TABLE))
            for more, less in zip(with_it, without, strict=True):
                part = more.noise.part
                if part.grid is not None:
                    groups = range(plan.groups.count)
                    moved = [np.abs(more.scores(group) - less.scores(group)).max() for group in groups]
                    assert sum(bool(value) for value in moved) <= 1
                    assert max(moved) <= part.reach * part.at.denominator
                    continue
                unit = Fraction(1) if more.unit is None else Fraction(2) ** more.unit.exponent
                changed = [abs(int(one) - int(other)) * unit for one, other in zip(more.values.tolist(), less.values.tolist(), strict=True)]
                assert sum(value > 0 for value in changed) <= 1
                assert max(changed) <= part.reach


def test_the_bound_is_what_was_asked_for_exactly() -> None:
    for epsilon in ("1", "1/3", "0.7"):
        found = release(TABLE, [*EVERYTHING, Quantile("age", "0.9", (0, 110, 1))], epsilon=epsilon)
        assert found.guarantee.bound.upper == Fraction(epsilon)
        assert sum(noise.cost for noise in found.plan.noises) == Fraction(epsilon)
        assert {item.id for item in found.guarantee.hypotheses} == {
            "fixed-in-advance", "only-release", "only-output", "one-record-each", "record-statistics", "ieee-rounding", "balls-enclose",
            "secure-bits",
        }  # fmt: skip
    normal = release(TABLE, EVERYTHING, epsilon=1, delta="1e-6")
    assert normal.guarantee.bound.upper == 1
    assert Fraction(999, 10**9) < normal.guarantee.bound.delta <= Fraction(1, 10**6)
    assert {event.mechanism for event in normal.plan.composition.events} == {MechanismKind.GAUSSIAN}


def test_counts_alone_suppose_nothing_of_floating_point() -> None:
    found = release(TABLE, [Count(), Histogram("region", ["N"])], epsilon=1)
    assert not {item.id for item in found.guarantee.hypotheses} & {"exact-reals", "ieee-rounding", "balls-enclose"}


def test_the_certificate_and_the_guarantee_are_checked() -> None:
    for given in ({}, {"delta": "1e-5"}):
        found = release(TABLE, EVERYTHING, epsilon=1, **given)
        assert accountant.check(dict(found.plan.certificate())).accepted
        again = replay(read_guarantee(accountant.write_guarantee(found.guarantee)))
        assert again.bound == found.guarantee.bound
        assert set(again.hypotheses) >= set(found.guarantee.hypotheses)


def test_parts_are_paid_once() -> None:
    plan = plan_release([Count(), Mean("age", (0, 110)), Mean("income", (0, 10)), Variance("age", (0, 110))], 1)
    assert len(plan.noises) == 4
    assert {str(noise.cost) for noise in plan.noises} == {"1/4"}
    shared = plan_release([Count(share=3), Sum("age", (0, 1))], 1)
    assert [str(noise.cost) for noise in shared.noises] == ["3/4", "1/4"]


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_shares_by_size_have_the_least_relative_errors(delta: str | None) -> None:
    asked = [Count(expected=2000), Sum("income", (0, 150_000), expected=3 * 10**7), Mean("age", (0, 110), expected=50)]
    sizes = [2000, 3 * 10**7, 2000 * 50]

    def error(costs: list[float]) -> float:
        reaches = [1, 150_000, 55]
        return sum(
            (reach / (cost if delta is None else math.sqrt(cost)) / size) ** 2
            for reach, cost, size in zip(reaches, costs, sizes, strict=True)
        )

    plan = plan_release(asked, 1, delta=delta)
    costs = {noise.part.kind.name: float(noise.cost) for noise in plan.noises}
    chosen = [costs["RECORDS"], costs["SUM"], costs["DISTANCES"]]
    least = error(chosen)
    for first, second in ((0, 1), (1, 2), (2, 0)):
        moved = list(chosen)
        moved[first], moved[second] = moved[first] * 0.97, moved[second] + moved[first] * 0.03
        assert error(moved) > least
    with pytest.raises(InvalidArgument, match="has none"):
        plan_release([Count(expected=3), Sum("z", (0, 1))], 1)
    with pytest.raises(InvalidArgument, match="ask for the count"):
        plan_release(Mean("z", (0, 1), expected=1), 1)
    with pytest.raises(InvalidArgument, match="above 0"):
        plan_release(Count(expected=0), 1)


@pytest.mark.parametrize(
    ("request_", "delta"),
    [
        (Count(), None),
        (Sum("age", (0, 110)), None),
        (Sum("income", (0, 150_000)), None),
        (Sum("age", (0, 110)), "1e-5"),
        (Sum("income", (0, 150_000)), "1e-5"),
    ],
)
def test_noise_is_as_large_as_planned(request_: Any, delta: str | None) -> None:
    """Of 4,000 draws: the standard deviation within 6 %, the 95 % interval within 1.5 %, and the mean is none."""
    draws = 4000
    table = pa.table({"age": pa.array([], pa.int64()), "income": pa.array([], pa.float64()), "region": pa.array([], pa.string())})
    plan = plan_release(request_, 1, delta=delta, by=By("region", list(range(draws))), integers=["age"])
    (total,) = count_rows(open_table(table), plan, None)
    (noise,) = plan.noises
    found = np.array(draw_part(total, draws, open_bits(11)), dtype=float)
    assert abs(found.std() / noise.deviation - 1) < 0.06
    assert abs(found.mean()) < 4 * noise.deviation / math.sqrt(draws)
    inside = (np.abs(found) <= noise.radius()).mean()
    assert 0.935 <= inside <= (1 if noise.is_discrete and noise.scale < 5 else 0.965)
    if noise.part.whole:
        assert (found == np.rint(found)).all()


def test_a_quantile_is_a_point_near_it() -> None:
    found = release(TABLE, Quantile("age", "0.5", (0, 110, 1)), epsilon=5)["quantile 0.5 age"]
    ages = np.sort(TABLE["age"].to_numpy())
    below, upto = np.searchsorted(ages, found.value, "left"), np.searchsorted(ages, found.value, "right")
    assert max(0, below - ROWS / 2, ROWS / 2 - upto) <= found.interval[1]
    tied = pa.table({"x": [1] * 10 + [5] * 1000 + [9] * 10})
    assert release(tied, Quantile("x", "0.5", (0, 10, 1)), epsilon=2)["quantile 0.5 x"].value == 5


def test_moments_are_near_the_truth_and_inside_their_ranges() -> None:
    ages = np.clip(TABLE["age"].to_numpy(), 0, 110)
    found = release(TABLE, [Mean("age", (0, 110)), Variance("age", (0, 110))], epsilon=50)
    assert abs(found["mean age"].value - ages.mean()) < 0.5
    assert abs(found["variance age"].value / ages.var() - 1) < 0.05
    empty = release(TABLE.slice(0, 0), [Mean("age", (10, 110)), Variance("age", (0, 110))], epsilon="0.1")
    assert 10 <= empty["mean age"].value <= 110
    assert empty["mean age"].interval == (10, 110)
    assert 0 <= empty["variance age"].value <= 55**2


HOSTILE = {
    "nan": (pa.table({"z": [1.0, math.nan]}), Sum("z", (0, 1)), "NaN or infinity"),
    "missing": (pa.table({"z": [1.0, None]}), Sum("z", (0, 1)), "missing value"),
    "text": (pa.table({"z": ["1", "x"]}), Sum("z", (0, 1)), "text where a number was expected"),
    "huge": (pa.table({"z": [2**60 + 1]}), Sum("z", (0, 1)), "integers above 2\\^53"),
    "lists": (pa.table({"z": [[1]]}), Sum("z", (0, 1)), "must hold numbers"),
    "twice": (pa.Table.from_arrays([pa.array([1])] * 2, names=["z", "z"]), Sum("z", (0, 1)), "two columns of one name"),
    "none": (pa.table({"z": [1]}), Sum("y", (0, 1)), "no such column"),
    "kinds": (pa.table({"z": [1.5]}), Histogram("z", ["a"]), "texts or whole numbers"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_tables_get_one_sentence_and_cost_nothing(case: str, tmp_path: Path) -> None:
    table, asked, said = HOSTILE[case]
    with pytest.raises(PDPError, match=said) as caught:
        release(table, asked, epsilon=1)
    assert "\n" not in str(caught.value)
    if case != "twice":
        ids = list(range(table.num_rows))
        with Ledger.create(tmp_path / "l", ids=ids, data=np.zeros((len(ids), 1)), budget=1, anchor=tmp_path / "a", mode="public") as ledger:
            with pytest.raises(PDPError, match=said):
                release(table, asked, epsilon=1, ledger=ledger.analysis("one", ids))
            assert {ledger.account(person)["spent"] for person in ids} == {"0"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "at least one answer"),
        ("count", "a list such as"),
        ([3], "Count, Sum"),
        ([Count(), Count()], "asked for twice"),
        (Sum("z", None), "needs a clip"),
        (Sum("z", "auto"), "computed from the data"),
        (Sum("z", (1, 0)), "lower and a higher end"),
        (Sum("z", (0, "1/3"), integer=True), "whole"),
        (Histogram("z", None), "have to be declared"),  # type: ignore[arg-type]
        (Histogram("z", []), "have to be declared"),
        (Histogram("z", ["a", "a"]), "declared twice"),
        (Histogram("z", ["a", 1]), "one kind"),
        (Quantile("z", "0.5", None), "declared grid"),
        (Quantile("z", 2, (0, 1, 1)), "in \\(0, 1\\)"),
        (Quantile("z", "0.5", (0, 1, "1e-9")), "widen the step"),
        (Count(share=0), "the share of 'count'"),
    ],
)
def test_what_is_not_declared_is_asked_for(asked: Any, said: str) -> None:
    with pytest.raises(PDPError, match=said):
        plan_release(asked, 1)


@pytest.mark.thorough
def test_a_million_groups() -> None:
    table = pa.table({"zip": np.arange(1000) * 1000, "z": np.ones(1000)})
    found = release(table, [Count(), Sum("z", (0, 1))], epsilon=1, by=By("zip", range(10**6)))
    assert len(found.noisy[0]) == 10**6
    with pytest.raises(InvalidArgument, match="declare fewer"):
        plan_release(Count(), 1, by=[By("a", range(10**4)), By("b", range(10**4))])


def test_a_ledger_is_charged_first_and_serves_again(tmp_path: Path) -> None:
    ids = [f"p{place}" for place in range(ROWS)]
    given = {"data": np.zeros((ROWS, 1)), "ids": ids, "budget": 1, "anchor": tmp_path / "a", "mode": "public"}
    with Ledger.create(tmp_path / "l", **given) as ledger:
        first = release(TABLE, EVERYTHING, epsilon="1/2", ledger=ledger.analysis("q1", ids))
        again = release(TABLE, EVERYTHING, epsilon="1/2", ledger=ledger.analysis("q1", ids))
        assert again.noisy == first.noisy
        assert again.charged is not None
        assert again.charged.served
        assert ledger.account("p3")["spent"] == "0.5"
        with pytest.raises(ReleaseUsed):
            release(TABLE, EVERYTHING, epsilon="1/4", ledger=ledger.analysis("q1", ids))
        release(TABLE, Count(), epsilon="1/2", ledger=ledger.analysis("q2", ids))
        with pytest.raises(OverBudget):
            release(TABLE, Count(), epsilon="1/100", ledger=ledger.analysis("q3", ids))
        assert first.guarantee.bound.upper == 1


def test_other_data_under_the_name_of_a_release_are_refused(tmp_path: Path) -> None:
    """March under the name of February: the answers of February were served, and written as those of March."""
    ids = [f"p{place}" for place in range(ROWS)]
    given = {"data": np.zeros((ROWS, 1)), "ids": ids, "budget": 1, "anchor": tmp_path / "a", "mode": "public"}
    asked = [Count(), Sum("income", (0, 100))]
    later = TABLE.set_column(TABLE.schema.get_field_index("income"), "income", pa.array(np.arange(ROWS, dtype=float)))
    with Ledger.create(tmp_path / "l", **given) as ledger:
        first = release(TABLE, asked, epsilon="1/2", ledger=ledger.analysis("february", ids))
        for table, people in ((later, ids), (TABLE, [*ids[1:], "somebody"]), (TABLE.slice(0, ROWS - 1), ids[1:])):
            with pytest.raises(ReleaseUsed, match="other data"):
                release(table, asked, epsilon="1/2", ledger=ledger.analysis("february", people))
        again = release(pa.table(TABLE.to_pydict()), asked, epsilon="1/2", ledger=ledger.analysis("february", ids))
        assert again.noisy == first.noisy
        assert ledger.verify() == 0
        entry = ledger.journal.charges[-1]
        assert len(entry.body["mechanism"]) == 64  # of the arguments, which are public; of the data nothing is in the log


def test_each_part_is_charged_its_own_rho_and_a_quantile_by_its_range(tmp_path: Path) -> None:
    """ε tanh(ε/2) for a count, ε²/8 for what an exponential mechanism chooses, which has losses in an interval of length ε."""
    ids = [f"p{place}" for place in range(ROWS)]
    asked = [Count(), Quantile("age", "1/2", (0, 100, 1))]
    given = {"data": np.zeros((ROWS, 1)), "ids": ids, "budget": 2, "anchor": tmp_path / "a", "notion": "zcdp"}
    with Ledger.create(tmp_path / "l", **given) as ledger:
        done = release(TABLE, asked, epsilon=2, ledger=ledger.analysis("both", ids))
        assert done.plan.epsilon == 2
        assert 0.5871 < float(ledger.account("p3")["spent"]) < 0.5871 * (1 + 2**-9)  # tanh(1/2) + 1/8
        release(TABLE, asked[1], epsilon=1, ledger=ledger.analysis("median", ids))
        assert float(ledger.account("p3")["spent"]) == pytest.approx(0.4621 + 2 / 8, rel=1e-3)
    with Ledger.create(tmp_path / "m", **given | {"anchor": tmp_path / "b", "notion": "mixed", "budget": "epsilon=2"}) as ledger:
        release(TABLE, asked, epsilon=2, ledger=ledger.analysis("both", ids))
        assert ledger.account("p3")["spent"]["epsilon"] == "2"


def test_only_active_rows_are_counted(tmp_path: Path) -> None:
    opened, plan = open_table(TABLE), plan_release([Count(), Sum("age", (0, 110))], 1, integers=["age"], where="year = 2025")
    active = np.arange(ROWS) % 3 == 0
    found = [total.values.tolist() for total in count_rows(opened, plan, active)]
    kept = pl.from_arrow(TABLE).filter(pl.Series(active)).filter(pl.col("year") == 2025)
    assert found == [[len(kept)], [int(kept["age"].clip(0, 110).sum())]]
    with pytest.raises(InvalidData, match="changed"):
        count_rows(opened, plan, active[:-1])
    with pytest.raises(InvalidData, match="changed"):
        count_rows(opened, plan, np.append(active, True))


def test_a_plan_promises_what_its_runs_have() -> None:
    plan = plan_release(EVERYTHING, 1)
    promised, _ = plan.promise(Run(noise=open_bits(None).hypothesis))
    assert promised == release(TABLE.drop_columns(["id"]), EVERYTHING, epsilon=1).guarantee or promised.bound.upper == 1


def test_a_picture_has_a_panel_for_each_answer() -> None:
    pytest.importorskip("matplotlib")
    found = release(TABLE, [Count(), Quantile("age", "0.5", (0, 110, 1)), Histogram("region", ["N", "S"])], epsilon=1, by=REGION)
    picture = found.plot()
    assert [axes.get_title() for axes in picture.figure.axes] == ["count", "quantile 0.5 age", "histogram region"]
    assert "95 % intervals" in picture.told


def test_large_whole_numbers_are_truncated_row_by_row() -> None:
    """Rounding a total to the grid of its noise would move it by more than a row adds."""
    table = pa.table({"z": [2**40 + 1, 2**49 - 1, 3]})
    plan = plan_release(Sum("z", (0, 2**50)), 1, delta="1e-6", integers=["z"])
    totals = [count_rows(open_table(table.slice(0, rows)), plan, None)[0] for rows in (0, 1, 2, 3)]
    assert totals[0].unit is not None
    assert totals[0].unit.exponent > 0
    steps = [int(more.values[0]) - int(less.values[0]) for less, more in pairwise(totals)]
    for step, value in zip(steps, table["z"].to_pylist(), strict=True):
        assert 0 <= step * 2 ** totals[0].unit.exponent <= value
    assert isinstance(release(table, Sum("z", (0, 2**50)), epsilon=1, delta="1e-6")["sum z"].value, int)


def test_other_groups_are_another_release_and_other_rows_cost_nothing(tmp_path: Path) -> None:
    ids = list(range(ROWS))
    given = {"data": np.zeros((ROWS, 1)), "ids": ids, "budget": 1, "anchor": tmp_path / "a", "mode": "public"}
    with Ledger.create(tmp_path / "l", **given) as ledger:
        release(TABLE, Count(), epsilon="1/4", by=By("region", ["N", "S"]), ledger=ledger.analysis("q1", ids))
        with pytest.raises(ReleaseUsed):
            release(TABLE, Count(), epsilon="1/4", by=By("region", ["N", "E"]), ledger=ledger.analysis("q1", ids))
        with pytest.raises(PDPError):
            release(TABLE.slice(0, 100), Count(), epsilon="1/4", ledger=ledger.analysis("q2", ids))
        assert ledger.account(3)["spent"] == "0.25"
