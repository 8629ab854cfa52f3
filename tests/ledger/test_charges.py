"""What is charged: amounts, records of one unit, who takes part, and modes."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.curves import Composition, make_event
from accountant.data import parse_statistic
from accountant.guarantees.curves import declare_events
from accountant.guarantees.derive import derive_epsilon
from accountant.ledger import budgets
from accountant.ledger.amounts import MOST, CostGrid, choose_grid, to_budget, to_cost, to_nats
from accountant.ledger.budgets import to_budget_rule
from accountant.ledger.charges import prepare_charge
from accountant.ledger.notions import LedgerNotion, root_up, to_ledger_notion
from accountant.ledger.packing import pack, unpack
from accountant.ledger.prices import PriceShape
from profiles import InvalidArgument, InvalidData, OtherNotion, declare, exact_text, parse_expression, to_exact
from profiles.errors import OverBudget, ReleaseUsed
from profiles.mechanisms import GaussianSum, KNormSum, LaplaceSum, WeightedCount, WeightedLloyd
from profiles.structure import largest_at_corner
from tests.ledger.conftest import PEOPLE, SUM, rounding, table

POSITIVE = st.fractions(Fraction(1, 10**9), Fraction(10**4))


@given(POSITIVE)
def test_costs_are_rounded_up_and_budgets_down(value):
    assert to_nats(to_budget(value)) <= value <= to_nats(to_cost(value))
    assert to_cost(value) - to_budget(value) <= 1
    for bits in (31, 32):
        grid = choose_grid(value, bits)
        assert grid.round_up(value) < 2**bits
        assert grid.round_up(value) * grid.step >= value
        assert grid.shift == 0 or grid.round_up(value) >= 2 ** (bits - 2)


@given(st.lists(st.integers(0, MOST), min_size=1, max_size=50), st.integers(0, 40))
def test_packed_amounts_are_read_back(amounts, shift):
    found = np.array([amount >> shift << shift for amount in amounts], dtype=np.int64)
    assert np.array_equal(unpack(pack(found)), found)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(1, 9))
def test_the_cost_of_a_record_is_the_exact_loss_rounded_up_and_its_own(values, scale):
    profile = declare("root", f"w*sqrt(z)/{scale} + 0*w", record={"z": [0, 1]})
    charge = prepare_charge(profile, LedgerNotion.PURE)
    together, _ = charge.count({"z": np.array(values)}, len(values), 0)
    alone = [int(charge.count({"z": np.array([value])}, 1, 0)[0][0]) for value in values]
    assert together.tolist() == alone
    with mpmath.workdps(60):
        for value, steps in zip(values, alone, strict=True):
            true = mpmath.sqrt(mpmath.mpf(value)) / scale
            least = mpmath.ceil(true / (mpmath.mpf(2) ** (charge.shifts.shift - 40)))
            assert int(least) == steps or (abs(true / charge.worst.numerator * charge.worst.denominator - 1) < 1e-8 and steps <= int(least))


def test_a_sampled_record_is_charged_psi_of_the_numbers_that_are_used():
    charge = prepare_charge(SUM, LedgerNotion.PURE, q="1/3 + z/3")
    values = np.linspace(0, 1, 101)
    steps, chosen = charge.count({"z": values}, values.size, 0)
    with mpmath.workdps(60):
        for z, step, q, w in zip(values, steps, chosen.probabilities, chosen.weights, strict=True):
            psi = mpmath.log1p(mpmath.mpf(float(q)) * mpmath.expm1(mpmath.mpf(float(w)) * mpmath.mpf(float(z))))
            grid = mpmath.mpf(2) ** (charge.shifts.shift - 40)
            assert psi <= int(step) * grid < psi + grid


def test_everybody_is_charged_whether_drawn_or_not(make):
    rows = pa.table({"id": np.arange(400), "x": np.full(400, 0.5)})
    ledger = make(rows, budget="3")
    with ledger.release("half", LaplaceSum(b=1, radius=1), rows, bits=1, q="1/2") as release:
        assert 100 < len(release.active_data) < 300
        assert set(release.weights.tolist()) == {2.0}
    spent = {ledger.account(number)["spent"] for number in range(400)}
    assert len(spent) == 1
    assert Fraction(next(iter(spent))) >= Fraction("0.6201")  # log(1 + (e - 1)/2)


def test_who_has_no_room_is_left_out_and_nobody_is_told(make, capsys):
    ledger = make(budget="1")
    masks = [ledger.charge(f"release {number}", SUM, PEOPLE).active.tolist() for number in range(4)]
    assert masks == [[True] * 5, [True, True, False, True, False], [False, True, False, True, False], [False, True, False, True, False]]
    assert [ledger.account(name)["spent"] for name in ("ada", "ben", "cleo", "dora", "emil")] == ["1", "1", "1", "0", "0.75"]
    assert capsys.readouterr() == ("", "")
    assert ledger.verify() == 0


def test_the_last_step_of_a_budget_may_be_spent(make):
    """≤ and not <: a budget of exactly what is asked for is enough, and one step less is not."""
    steps = to_cost(Fraction(1, 2))
    for budget, takes_part in ((steps, True), (steps - 1, False)):
        ledger = make(table(ada=0.5), name=str(budget), budget=str(to_nats(budget)))
        assert ledger.charge("one", SUM, table(ada=0.5)).active.tolist() == [takes_part]


def test_a_user_is_charged_the_sum_over_the_records(make):
    rows = pa.table({"id": ["ada", "ben", "ada", "cleo"], "z": [0.25, 0.5, 0.5, 1.0]})
    ledger = make(rows, budget="2")
    assert ledger.charge("one", SUM, rows).active.tolist() == [True] * 4
    assert [ledger.account(name)["spent"] for name in ("ada", "ben", "cleo")] == ["0.75", "0.5", "1"]
    assert ledger.charge("two", SUM, rows).active.all()
    assert ledger.charge("three", SUM, rows).active.tolist() == [False, True, False, False]


def test_a_user_is_charged_half_the_square_of_the_shifts_under_zcdp(make):
    rows = pa.table({"id": ["ada", "ben", "ada"], "z": [1.0, 2.0, 1.0]})
    noisy = declare("noisy", notion="gaussian", mu="w*z/2", record={"z": [0, 2]})
    ledger = make(rows, budget="10", notion="zcdp")
    ledger.charge("one", noisy, rows)
    for name in ("ada", "ben"):
        assert Fraction(1, 2) <= Fraction(ledger.account(name)["spent"]) < Fraction("0.5000000001") * (1 + rounding(ledger))
    ledger.charge("pure", declare("pure", "w*z", record={"z": [0, 2]}), rows)
    more = 1 + rounding(ledger)
    assert Fraction("2.0231883119") <= Fraction(ledger.account("ada")["spent"]) < Fraction("2.023188313") * more  # and 2 tanh 1
    ledger.charge("rho", declare("rho", notion="zcdp", rho="w**2*z/2", record={"z": [0, 2]}), rows)
    assert Fraction("4.0231883119") <= Fraction(ledger.account("ada")["spent"]) < Fraction("4.023188314") * more  # (1 + 1)**2/2
    assert Fraction("3.0231883119") <= Fraction(ledger.account("ben")["spent"]) < Fraction("3.023188314") * more


def test_rows_of_a_user_have_the_square_of_summed_roots_and_the_least_of_their_budgets(make):
    """(Σ√ρ)² under zCDP, where what a user may spend is read from a column, row by row."""
    gaussian = declare("gaussian", notion="zcdp", ignores_weights=True, record={"r": [0, 2]}, rho="r")
    rows = pa.table({"id": ["ada", "ada", "ben", "ben"], "r": [0.5, 2.0, 0.5, 2.0], "years": [50, 45, 44, 50]})
    ledger = make(rows, notion="zcdp", budget="Min(5, years/10)", attributes={"years": [1, 100]})
    assert [ledger.account(name)["budget"] for name in ("ada", "ben")] == ["4.5", "4.39999999999"]
    receipt = ledger.charge("one", gaussian, rows)
    assert receipt.active.tolist() == [True, True, False, False]  # (√½ + √2)² = 4.5
    assert ledger.account("ada")["spent"] == "4.5"
    assert ledger.account("ben")["spent"] == "0"


@given(st.lists(st.integers(0, 2**31), min_size=1, max_size=20), st.integers(0, 30), st.integers(0, 30))
def test_half_squares_are_rounded_up(totals, shift, more):
    for shape, factor in ((PriceShape.HALF_SQUARE, 2), (PriceShape.SQUARE, 1)):
        found = shape.steps(np.array(totals), CostGrid(shift), CostGrid(shift + more))
        for total, steps in zip(totals, found.tolist(), strict=True):
            exact = (total * CostGrid(shift).step) ** 2 / factor / CostGrid(shift + more).step
            assert exact <= steps < exact + 1 or steps == 2**62 <= exact


@given(POSITIVE)
def test_roots_are_rounded_up(value):
    assert value <= root_up(value) ** 2 <= value * (1 + Fraction(1, 2**40))


def test_rows_in_any_order_and_new_people_find_their_accounts(make):
    ledger = make()
    ledger.charge("one", SUM, table(emil=0.75, zoe=0.5, ada=0.5))
    ledger.charge("two", SUM, table(zoe=0.25, yan=1.0))
    spent = {name: ledger.account(name)["spent"] for name in ("ada", "ben", "emil", "zoe", "yan")}
    assert spent == {"ada": "0.5", "ben": "0", "emil": "0.75", "zoe": "0.75", "yan": "1"}
    assert ledger.charge("three", SUM, table(zoe=0.5, yan=0.0)).active.tolist() == [False, True]
    assert ledger.verify() == 0


def test_integers_and_their_digits_are_one_id_and_several_columns_are_a_unit(make):
    ledger = make(pa.table({"id": [1, 2], "z": [0.5, 0.5]}))
    ledger.charge("one", SUM, pa.table({"id": ["2", "1"], "z": [0.25, 0.0]}))
    assert [ledger.account(number)["spent"] for number in (1, "2")] == ["0", "0.25"]
    months = pa.table({"id": ["a", "a", "b"], "month": [1, 2, 1], "z": [0.5, 0.25, 0.75]})
    other = make(months, name="months", key="id,month")
    other.charge("one", SUM, months)
    assert [other.account(pair)["spent"] for pair in (("a", 1), ("a", 2), ("b", 1))] == ["0.5", "0.25", "0.75"]


def test_public_mode_refuses_a_release_as_a_whole_and_leaves_nobody_out(make):
    ledger = make(budget="2.1", mode="public")
    assert ledger.charge("one", SUM, PEOPLE).active.all()
    assert ledger.charge("two", SUM, PEOPLE).active.all()
    before = len(ledger.journal.entries)
    with pytest.raises(OverBudget, match="nothing was charged") as refused:
        ledger.charge("three", SUM, table(dora=0.0))  # who costs nothing: the refusal is about the declared range
    assert "0.09999" in str(refused.value)
    assert [entry.kind for entry in ledger.journal.entries[before:]] == ["refused"]
    assert ledger.account("cleo")["spent"] == "2"
    with pytest.raises(InvalidData, match="at most 1 record of one unit"):
        ledger.charge("four", declare("small", "w*z/100", record={"z": [0, 1]}), pa.table({"id": ["ada", "ada"], "z": [0.0, 0.0]}))


def test_budgets_of_columns_and_raising_them(make):
    people = pa.table({"id": ["ada", "ben", "cleo"], "years": [0, 5, 40], "z": [1.0, 1.0, 1.0]})
    ledger = make(people, budget="Min(3, 1 + years/5)", attributes={"years": [0, 40]})
    assert [ledger.account(name)["budget"] for name in ("ada", "ben", "cleo")] == ["1", "2", "3"]
    masks = [ledger.charge(str(number), SUM, people).active.tolist() for number in range(4)]
    assert masks == [[True] * 3, [False, True, True], [False, False, True], [False] * 3]
    with pytest.raises(InvalidArgument, match="can only be raised"):
        ledger.raise_budget("2")
    ledger.raise_budget("Max(4, Min(3, 1 + years/5))", people, attributes={"years": [0, 40]})
    assert [ledger.account(name)["left"] for name in ("ada", "ben", "cleo")] == ["3", "2", "1"]
    assert ledger.report_ex_post().epsilon == 4
    with pytest.raises(InvalidData, match="row 1 is outside the declared range"):
        ledger.charge("late", SUM, pa.table({"id": ["ada", "dan"], "years": [1, 41], "z": [1.0, 1.0]}))
    assert ledger.verify() == 0


def test_raised_budgets_are_those_of_absent_units_as_well(make):
    """In public mode nobody is left out: whoever was not in the data of the raise has the public least."""
    people = pa.table({"id": ["ada", "ben"], "years": [0, 5], "z": [1.0, 1.0]})
    ledger = make(people, budget="1.5 + years/5", attributes={"years": [0, 5]}, mode="public")
    ledger.charge("one", SUM, people)
    ledger.raise_budget("2.5 + years/5", people.slice(1), attributes={"years": [0, 5]})
    absent, present = (Fraction(ledger.account(name)["budget"]) for name in ("ada", "ben"))
    assert Fraction("2.4999999") < absent <= Fraction(5, 2)  # a lower bound of the rule on its ranges
    assert present == Fraction(7, 2)
    assert ledger.charge("two", SUM, people).active.all()
    with pytest.raises(OverBudget):
        ledger.charge("three", SUM, people)
    assert ledger.verify() == 0


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_an_empty_id_is_none(make, tmp_path, kind):
    """Rows of several people would have one account, and a person whose id is missing in some rows two."""
    people = pa.table({"id": pa.array(["ada", "", "cleo"], kind), "z": [1.0, 1.0, 1.0]})
    with pytest.raises(InvalidData, match="has no id in row 1"):
        make(people)
    ledger = make(people.slice(0, 1))
    with pytest.raises(InvalidData, match="the key column 'ids' of the ids has no id in row 2"):
        ledger.run("one", LaplaceSum(b=2, radius=1), np.ones((3, 1)), ids=["ada", "ben", ""])
    file = tmp_path / "people.csv"
    file.write_text("id,month,z\nada,5,1\nben,,1\n")
    with pytest.raises(InvalidData, match=r"the key column 'month' of people\.csv has no id in row 1"):
        make(file, "m", key="id,month")
    nulls = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["ada", None]))
    with pytest.raises(InvalidData, match="has no id in row 1"):
        make(pa.table({"id": nulls, "z": [1.0, 1.0, 1.0]}), "n")
    assert [entry.kind for entry in ledger.journal.entries] == ["open"]


@pytest.mark.thorough(quick=1)
def test_budgets_in_columns_are_not_read_from_an_array_with_ids(make, tmp_path):
    people = pa.table({"id": ["ada", "ben"], "years": [0, 5], "z": [1.0, 1.0]})
    rule = {"budget": "2 + years/5", "attributes": {"years": [0, 5]}}
    ledger = make(people, **rule)
    rows, ids = np.array([[0.5], [0.25]]), ["ada", "ben"]
    mechanism = LaplaceSum(b=2, radius=1)
    for act in (
        lambda: ledger.charge("one", SUM, rows, ids=ids),
        lambda: ledger.run("one", mechanism, rows, ids=ids),
        lambda: ledger.raise_budget("3 + years/5", rows, ids=ids, attributes=rule["attributes"]),
        lambda: make(rows, "m", ids=ids, **rule),
    ):
        with pytest.raises(InvalidArgument, match="read from columns, which an array with ids beside it does not have; give a file"):
            act()
    assert [entry.kind for entry in ledger.journal.entries] == ["open"]
    assert not (tmp_path / "m.anchor").exists()
    assert ledger.charge("one", SUM, people).active.all()


def test_names_are_used_once_and_outputs_are_served_again(make):
    rows = table(ada=0.5, ben=0.25)
    ledger = make(rows, budget="5")
    mechanism = LaplaceSum(b=1, radius=1)
    first = ledger.run("one", mechanism, rows)
    spent = ledger.account("ada")["spent"]
    assert np.array_equal(ledger.run("one", mechanism, rows), first)
    assert ledger.account("ada")["spent"] == spent
    with pytest.raises(ReleaseUsed, match="its output is stored"):
        ledger.charge("one", SUM, rows)
    with pytest.raises(RuntimeError), ledger.release("two", mechanism, rows) as release:
        raise RuntimeError
    with pytest.raises(ReleaseUsed):
        release.active_data  # noqa: B018
    with pytest.raises(ReleaseUsed, match="not repeated"):
        ledger.release("two", mechanism, rows)
    with ledger.release("three", mechanism, rows) as release:
        release.publish({"sum": 1.5, "rows": np.arange(3), "words": ["a", None, True, 7]})
        with pytest.raises(ReleaseUsed, match="stored already"):
            release.publish(2)
    assert release.output["rows"].tolist() == [0, 1, 2]
    assert release.output["words"] == ["a", None, True, 7]
    with ledger.release("four", mechanism, rows) as release, pytest.raises(InvalidArgument, match="publish its parts"):
        release.publish(object())


def test_gaussian_mechanisms_are_charged_under_zcdp_alone(make):
    rows = pa.table({"id": ["ada", "ben"], "x": [1.0, 0.5]})
    mechanism = GaussianSum(sigma=2, radius=1)
    with pytest.raises(OtherNotion, match='in the notion "zcdp"'):
        make(rows).run("one", mechanism, rows)
    ledger = make(rows, name="z", notion="zcdp")
    ledger.run("one", mechanism, rows)
    assert Fraction(1, 8) <= Fraction(ledger.account("ada")["spent"]) < Fraction("0.12500001")
    assert Fraction(1, 32) <= Fraction(ledger.account("ben")["spent"]) < Fraction("0.03125001")
    with pytest.raises(InvalidArgument):
        ledger.run("two", mechanism, rows, target_epsilon=1, target_delta="1e-5")
    with pytest.raises(OtherNotion, match="an order alone"):
        ledger.charge("three", declare("r", notion="renyi", rdp="alpha*w**2*z", record={"z": [0, 1]}), rows)


def test_epsilon_delta_budgets_are_refused_with_the_reason():
    with pytest.raises(InvalidArgument, match="5/64"):
        to_ledger_notion("approximate")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": "years"}, "no public range"),
        ({"budget": "-1"}, "at least 0"),
        ({"budget": "1/0"}, "at least 0"),
        ({"budget": "1e9"}, "below 2\\^22"),
        ({"mode": "private"}, "individual or public"),
        ({"notion": "renyi"}, "pure, zcdp or mixed"),
        ({"key": "id,id"}, "column of ids"),
        ({"key": "name"}, "no such column"),
        ({"key": "z"}, "texts, integers or dates"),
        ({"records": 0}, "records of a unit"),
    ],
)
def test_unusable_openings_leave_no_file(make, tmp_path, options, words):
    with pytest.raises((InvalidArgument, InvalidData), match=words):
        make(**options)
    assert list(tmp_path.iterdir()) == []


def test_norms_leave_the_ids_out(make):
    rows = pa.table({"id": [100, 200], "x": [0.5, -1.0]})
    ledger = make(rows)
    ledger.charge("one", SUM, rows, statistics=[parse_statistic("z=l2")])
    assert [ledger.account(number)["spent"] for number in (100, 200)] == ["0.5", "1"]
    with pytest.raises(InvalidArgument, match="holds ids"):
        ledger.charge("two", SUM, rows, statistics=[parse_statistic("z=id")])


def test_whatever_has_a_guarantee_for_records_is_charged_its_number(make):
    from_rows = pa.table({"id": ["ada", "ben", "ada"], "x": [0.5, 0.25, 0.75]})
    found = derive_epsilon(SUM, q="1/2")
    ledger = make(from_rows, budget="4")
    with ledger.release("greedy", found.guarantee, from_rows) as release:
        assert release.active_data.shape == (3, 1)
        release.publish([1, 2])
    number = found.bound.upper
    for name, records in (("ada", 2), ("ben", 1)):
        most = Fraction(1, 10**8) + records * number * rounding(ledger)
        assert 0 <= Fraction(ledger.account(name)["spent"]) - records * number < most
    assert {"fixed-in-advance", "run-on-active"} <= {item.id for item in ledger.guarantee().hypotheses}
    with ledger.release("again", found.guarantee, from_rows) as release:
        assert release.active.tolist() == [False, True, False]
        assert release.active_data.tolist() == [[0.25]]  # two of ada's cost more than she has left
    with pytest.raises(InvalidArgument, match="statistic and run"):
        ledger.run("not to be run", found.guarantee, from_rows)


def test_curves_of_unsampled_noise_are_charged_under_zcdp(make):
    rows = table(ada=0.5)
    noise = make_event("gaussian", {"noise_multiplier": 2}, count=3)
    ledger = make(rows, notion="zcdp")
    curve = declare_events(Composition("three", (noise, make_event("pure", {"epsilon": "1/2"}))))
    ledger.release("three", curve, rows)
    assert Fraction("0.4974593312") <= Fraction(ledger.account("ada")["spent"]) < Fraction("0.497459333")  # 3/8 + tanh(1/4)/2
    sampled = make_event("gaussian", {"noise_multiplier": 2}, sampling_probability="1/10")
    with pytest.raises(InvalidArgument, match="on Poisson samples has neither"):
        ledger.release("other", declare_events(Composition("s", (sampled,))), rows)
    wider = make(rows, name="wider", notion="zcdp", budget="2")
    wider.release("all of a ledger", ledger.guarantee(), rows)
    assert wider.account("ada")["spent"].startswith("1.000000")
    with pytest.raises(InvalidArgument, match="keep a ledger in the notion zcdp or mixed"):
        make(rows, name="pure").release("three", curve, rows)


@pytest.mark.parametrize(
    "mechanism",
    [
        LaplaceSum(b=1, radius=1),
        KNormSum(beta_sum=1, radius=1),
        WeightedCount(beta_count=1),
        WeightedLloyd(initial_centres=[[-1, 0], [1, 0]], iterations=2, beta_count=10, beta_sum=10, radius=1),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_a_release_on_nobody_looks_like_every_other_one(make, mechanism):
    """Where nobody has room any more, there is an output as before: a refusal would tell that."""
    rows = pa.table({"id": ["ada", "ben"], "x": [0.5, -0.25], "y": [0.25, 0.5]})
    if mechanism.name == "Laplace weighted sum":
        rows = rows.drop_columns(["y"])
    ledger = make(rows, budget="0")
    output = ledger.run("one", mechanism, rows)
    assert output is not None
    assert ledger.account("ada")["spent"] == "0"


# --- what is a rational of the profile is charged exactly -------------------------------------------------------------------------------


def declared(epsilon, **ranges):
    return declare("a sum", epsilon, record=ranges)


@pytest.mark.parametrize(
    ("epsilon", "ranges", "worst"),
    [
        ("w*z/4", {"z": (0, 4)}, 1), ("w*z/8", {"z": (0, 4)}, "1/2"), ("w*(1 + z)/7", {"z": (0, 6)}, 1), ("w*(5 - z)/5", {"z": (0, 4)}, 1),
        ("w*(z + t)/4", {"z": (0, 1), "t": (0, 3)}, 1), ("w*(1 - z*t)", {"z": (0, 1), "t": (0, 1)}, 1), ("w/2", {}, "1/2"),
        ("w*z/3", {"z": (0, 1)}, "1/3"),
    ],
)  # fmt: skip
def test_the_worst_cost_is_a_rational_of_the_profile(epsilon, ranges, worst):
    charge = prepare_charge(declared(epsilon, **ranges), LedgerNotion.PURE)
    assert charge.worst == to_exact(worst)
    assert charge.worst_cost(1).numbers[0] >= charge.worst
    if charge.worst.denominator <= 2:
        assert charge.worst_cost(1).numbers[0] == charge.worst


def test_squares_and_rhos_are_exact_where_they_are_rational():
    square = prepare_charge(declare("g", notion="gaussian", mu="w*z/4", record={"z": (0, 4)}), LedgerNotion.MIXED)
    assert square.worst == 1
    assert square.worst_cost(1).tell(up=True) == {"epsilon": "0", "mu2": "1", "delta": "0"}
    rho = prepare_charge(declare("r", notion="zcdp", rho="w*z/8", record={"z": (0, 4)}), LedgerNotion.ZCDP)
    assert rho.worst == 1  # the shift: the root of 2 rho
    assert rho.worst_cost(1).numbers == (Fraction(1, 2),)


@pytest.mark.parametrize("epsilon", ["w*z**2/16", "w*z*z/16", "w*Min(z, 2)/2", "w*sqrt(z)/2", "w*z*(4 - z)/4", "w*exp(z)/55"])
def test_what_is_not_affine_is_charged_what_is_proved_of_it(epsilon):
    """The largest value of z (4 - z) is inside: a corner says nothing of it."""
    found = prepare_charge(declared(epsilon, z=(0, 4)), LedgerNotion.PURE).worst
    assert (Fraction(9, 10) if "exp" in epsilon else 1) <= found < Fraction(1000000002, 10**9)


@pytest.mark.parametrize("mode", ["public", "individual"])
def test_an_epsilon_of_1_fits_a_budget_of_1_and_four_halves_a_budget_of_2(make, mode):
    one = make(table(ada=4.0, ben=1.0), budget="1", mode=mode)
    one.charge("whole", declared("w*z/4", z=(0, 4)), table(ada=4.0, ben=1.0))
    assert Fraction(one.account("ada")["left"]) == 0


@pytest.mark.parametrize("mode", ["public", "individual"])
def test_a_budget_of_2_takes_four_releases_of_a_half(make, mode):
    rows, quarter = table(ada=4.0), declared("w*z/8", z=(0, 4))
    ledger = make(rows, budget="2", mode=mode)
    for name in "abcd":
        receipt = ledger.charge(name, quarter, rows)
        assert receipt.active.all()
    assert ledger.account("ada")["left"] == "0"
    if mode == "public":
        with pytest.raises(OverBudget):
            ledger.charge("e", quarter, rows)
    else:
        assert not ledger.charge("e", quarter, rows, partial=True).active.any()


@given(st.lists(st.fractions(min_value=0, max_value=3, max_denominator=50), min_size=3, max_size=3), st.integers(1, 9))
def test_the_exact_supremum_lies_within_what_the_search_proves(numbers, scale):
    constant, first, second = numbers
    term = parse_expression(f"({exact_text(constant)}) + ({exact_text(first)})*z/{scale} + ({exact_text(second)})*(1 - t)*z")
    box = {"z": (Fraction(0), Fraction(2)), "t": (Fraction(0), Fraction(1))}
    assert largest_at_corner(term, box) == constant + 2 * first / scale + 2 * second
    assert largest_at_corner(term, {"z": box["z"]}) is None  # t has no range there


def test_budgets_of_columns_have_exact_ends(make):
    """Two halves fit a least budget of 1, which was taken for .999999990686 before."""
    people = pa.table({"id": ["ada", "ben", "cleo"], "years": [0, 5, 40], "z": [1.0, 1.0, 1.0]})
    rule = "Max(1/4, Min(3, 1 + years/10))"
    ledger = make(people, budget=rule, attributes={"years": [0, 40]}, mode="public")
    assert (ledger.budget.floor.numbers, ledger.budget.ceiling.numbers) == ((1,), (3,))
    assert ledger.guarantee().bound.upper == 3
    for name in ("one", "two"):
        ledger.charge(name, declare("half", "w*z/2", record={"z": [0, 1]}), people)
    assert ledger.account("ada") == {"spent": "1", "budget": "1", "left": "0"}
    assert ledger.verify() == 0
    others = {text: to_budget_rule(text, {"years": ["1/3", 40]}) for text in ("sqrt(years)", "3 - years/20", "Min(years, 2*years - 1/3)")}
    assert others["sqrt(years)"].floor.numbers[0] <= Fraction("0.57735026919")  # of a ball
    assert others["3 - years/20"].floor.numbers == (1,)
    assert others["Min(years, 2*years - 1/3)"].ceiling.numbers == (40,)


def test_budgets_with_ends_of_an_earlier_release_are_raised(make, monkeypatch):
    """They were those of a ball, 3.000000002 for Min(3, ...): a rule of today whose end is 3 is no smaller one."""
    people, rule = pa.table({"id": ["ada", "ben"], "years": [0, 10], "z": [1.0, 1.0]}), "Min(3, 1 + years/3)"
    with monkeypatch.context() as patch:
        patch.setattr(budgets, "_find_ends", lambda *_: None)
        ledger = make(people, budget=rule, attributes={"years": [0, 10]})
    assert (ledger.budget.floor.numbers[0] < 1, ledger.budget.ceiling.numbers[0] > 3) == (True, True)
    with pytest.raises(InvalidArgument, match="may be lower"):
        ledger.raise_budget("Max(2, Min(2.999, 1 + years/3))", people, attributes={"years": [0, 10]})
    ledger.raise_budget(f"Max(2, {rule})", people, attributes={"years": [0, 10]})
    assert [ledger.account(name)["budget"] for name in ("ada", "ben")] == ["2", "3"]
    assert ledger.budget.ceiling.numbers == (3,)
    assert ledger.verify() == 0
