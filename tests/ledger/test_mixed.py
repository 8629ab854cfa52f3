"""docs/ledger.md, Theorem M: accounts with three components take pure, Gaussian and (ε, δ) releases, and promise one exact curve."""

from __future__ import annotations

from fractions import Fraction
from math import e, sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from accountant.curves import Composition, account, curve_of, make_event
from accountant.guarantees import declare_directions, declare_events
from accountant.ledger import Ledger
from accountant.ledger.amounts import BITS
from accountant.ledger.backup import migrate
from accountant.ledger.budgets import to_components
from accountant.ledger.charges import prepare_charge
from accountant.ledger.database import NEWEST
from accountant.ledger.notions import LedgerNotion
from accountant.ledger.packing import CHUNK
from accountant.ledger.writing import write_composition
from profiles import InvalidArgument, InvalidData, UnreadableFile, declare
from profiles.errors import LedgerRejected, NoGuarantee, OtherNotion, OverBudget, PDPError
from tests.ledger.conftest import PEOPLE, SUM, restore_again, rounding, table

BUDGET = "epsilon=1, mu2=1, delta=1e-6"
NOISY = declare("noisy", notion="gaussian", mu="w*z", record={"z": [0, 1]})


def told(ledger: Ledger, name: str) -> dict[str, float]:
    return {key: float(value) for key, value in ledger.account(name)["spent"].items()}


@pytest.fixture
def mixed(make):
    return make(budget=BUDGET, notion="mixed", mode="individual", partial=True)


def test_each_kind_of_release_is_charged_to_its_own_component(mixed):
    ledger = mixed
    ledger.charge("pure", SUM, PEOPLE)
    assert told(ledger, "ben") == pytest.approx({"epsilon": 0.25, "mu2": 0, "delta": 0})
    ledger.charge("noise", NOISY, PEOPLE)
    assert told(ledger, "emil") == pytest.approx({"epsilon": 0.75, "mu2": 0.75**2, "delta": 0})
    with ledger.release("points", declare_directions("both", "1/8", "1/8", delta_remove="1e-7", delta_add="2e-7", source="me"), PEOPLE):
        pass
    assert told(ledger, "ben") == pytest.approx({"epsilon": 0.375, "mu2": 0.0625, "delta": 2e-7})
    assert told(ledger, "cleo") == pytest.approx({"epsilon": 1, "mu2": 1, "delta": 0})  # had no epsilon left, and was left out
    steps = (
        make_event("gaussian", {"noise_multiplier": 4}, count=2),
        make_event("laplace", {"scale": 8}),
        make_event("pure", {"epsilon": "1/8"}),
    )
    with ledger.release("steps", declare_events(Composition("steps", steps)), PEOPLE):
        pass
    assert told(ledger, "dora") == pytest.approx({"epsilon": 0.375, "mu2": 0.125, "delta": 2e-7})
    assert told(ledger, "emil") == pytest.approx({"epsilon": 0.875, "mu2": 0.5625, "delta": 2e-7})  # and now 1/8 is left, not 1/4
    assert ledger.verify() == 0
    body = ledger.journal.charges[-1].body
    assert body["profile"] is None
    assert {name: Fraction(value) for name, value in body["rows"].items()} == {"epsilon": Fraction(1, 4), "mu2": Fraction(1, 8), "delta": 0}
    assert body["cost"] == [1 << (BITS - 2), 1 << (BITS - 3), 0]


def test_a_component_that_is_full_leaves_a_unit_out_whatever_the_others_have(mixed):
    masks = [
        mixed.charge(f"{kind} {number}", profile, PEOPLE).active.tolist()
        for number in range(2)
        for kind, profile in (("n", NOISY), ("p", SUM))
    ]
    assert masks == [[True] * 5, [True] * 5, [True, True, False, True, False], [True, True, False, True, False]]
    assert told(mixed, "ada") == pytest.approx({"epsilon": 1, "mu2": 0.5, "delta": 0})


def test_rows_of_one_unit_add_up_by_component(make):
    rows = pa.table({"id": ["ada", "ada", "ben"], "z": [0.5, 0.25, 0.5]})
    ledger = make(rows, budget="epsilon=4, mu2=4, delta=1e-3", notion="mixed", mode="individual", partial=True)
    ledger.charge("noise", NOISY, rows)
    ledger.charge("pure", SUM, rows)
    assert told(ledger, "ada") == pytest.approx({"epsilon": 0.75, "mu2": 0.75**2, "delta": 0})
    with ledger.release("points", declare_directions("both", 1, 1, delta_remove="1e-5", delta_add="1e-5", source="me"), rows):
        pass
    assert told(ledger, "ada") == pytest.approx({"epsilon": 2.75, "mu2": 0.75**2, "delta": 1e-5 * (1 + e)}, rel=1e-6 + rounding(ledger))
    assert told(ledger, "ben") == pytest.approx({"epsilon": 1.5, "mu2": 0.25, "delta": 1e-5})
    both = declare_events(Composition("b", (make_event("gaussian", {"noise_multiplier": 4}), make_event("pure", {"epsilon": "1/8"}))))
    with pytest.raises(InvalidData, match="at most 1 record of one unit"):
        ledger.release("product", both, rows)
    assert ledger.verify() == 0


@pytest.mark.parametrize(
    ("budget", "epsilon"),
    [
        ("mu2=1", 4.8866),  # rho = 1/2 in zcdp: 5.2215
        ("epsilon=1, mu2=1", 5.820),
        ("epsilon=1/2, mu2=1/2", 3.736),
        ("epsilon=2, mu2=1/4", 4.240),
        ("epsilon=1, mu2=1, delta=1e-7", 5.843),
        ("epsilon=3", 3),
    ],
)
def test_the_promise_is_exact_and_the_kernel_computes_it(make, budget, epsilon):
    ledger = make(budget=budget, notion="mixed")
    found = account(curve_of(ledger.guarantee()), delta="1e-6", gap="1e-5")
    assert float(found.point.lower) <= epsilon * (1 + 2e-4)
    assert epsilon * (1 - 2e-4) <= float(found.point.upper) <= epsilon * (1 + 2e-4)
    assert found.point.checked_by_kernel


@pytest.mark.thorough
def test_the_pair_of_the_theorem_is_that_of_its_formula():
    """δ(ε) = d + (1 − d)(π δ_√m(ε − E) + (1 − π) δ_√m(ε + E)), against the events that a ledger states."""
    from scipy.special import ndtr  # noqa: PLC0415

    epsilon, square, delta = 0.75, 0.5, 1e-4
    promised = LedgerNotion.MIXED.promise(to_components({"epsilon": "3/4", "mu2": "1/2", "delta": "1e-4"}, "it"), "a ledger")
    for at in (0.25, 1.0, 2.5):
        shift = sqrt(square)

        def gauss(x, shift=shift):
            return ndtr(shift / 2 - x / shift) - np.exp(x) * ndtr(-shift / 2 - x / shift)

        share = e**epsilon / (1 + e**epsilon)
        known = delta + (1 - delta) * (share * gauss(at - epsilon) + (1 - share) * gauss(at + epsilon))
        found = curve_of(promised).delta(str(at), gap="1e-4")
        assert float(found.lower) <= known * (1 + 1e-9)
        assert known <= float(found.upper) * (1 + 1e-9) <= known * (1 + 3e-4)


@pytest.mark.parametrize(
    ("budget", "events"),
    [
        ("mu2=4", [("gaussian", {"noise_multiplier": "1/2"})]),
        ("epsilon=1", [("pure", {"epsilon": 1})]),
        ("delta=1/4", [("approximate", {"epsilon": 0, "delta": "1/4"})]),
        ("epsilon=1,mu2=1,delta=1/4", [("approximate", {"epsilon": 1, "delta": "1/4"}), ("gaussian", {"noise_multiplier": 1})]),
        ("epsilon=0", [("pure", {"epsilon": 0})]),
    ],
)
def test_the_promise_is_a_composition_of_known_events(budget, events):
    made = LedgerNotion.MIXED.promise(to_components(budget, "it"), "a ledger")
    assert made.events == tuple(make_event(*item) for item in events)


def test_the_noise_of_the_promise_is_never_larger_than_that_of_the_budget():
    for square in ("2", "3", "1/3", "1e-9", "1e5"):
        amounts = to_components({"mu2": square}, "it")
        (event,) = LedgerNotion.MIXED.promise(amounts, "it").events
        assert event["noise_multiplier"] ** 2 * amounts.numbers[1] <= 1


def test_a_mixed_ledger_is_reopened_backed_up_restored_and_migrated(make, tmp_path):
    ledger = make(budget=BUDGET, notion="mixed", mode="individual", cap="epsilon=2, mu2=1, delta=1e-6", partial=True)
    ledger.charge("noise", NOISY, PEOPLE)
    ledger.charge("late", SUM, table(zoe=0.5, ada=0.5))
    assert told(ledger, "zoe") == pytest.approx({"epsilon": 0.5, "mu2": 0, "delta": 0})
    ledger.raise_budget("epsilon=3/2, mu2=1, delta=1e-6", PEOPLE)
    assert {key: float(value) for key, value in ledger.account("ada")["budget"].items()} == pytest.approx(
        {"epsilon": 1.5, "mu2": 1, "delta": 1e-6}
    )
    assert float(ledger.account("zoe")["budget"]["epsilon"]) == 1.5
    with pytest.raises(InvalidArgument, match="the cap"):
        ledger.raise_budget("epsilon=1.5, mu2=1, delta=2e-6", PEOPLE)
    with pytest.raises(InvalidArgument, match="can only be raised"):
        ledger.raise_budget("epsilon=2, mu2=1/2, delta=1e-6", PEOPLE)
    assert ledger.guarantee().bound.composition.events[0]["epsilon"] == 2  # the cap
    before = {name: ledger.account(name) for name in ("ada", "zoe", "cleo")}
    with restore_again(ledger, tmp_path) as again:
        assert {name: again.account(name) for name in before} == before
    with migrate(ledger, tmp_path / "n.db", anchor=tmp_path / "n.anchor", secret=tmp_path / "n.key") as new:
        assert {name: new.account(name) for name in before} == before
        assert new.spent == ledger.spent
        assert [round(float(number), 6) for number in new.spent.numbers] == [1, 1, 0]
        assert new.guarantee().bound == ledger.guarantee().bound
        assert new.verify() == 0
        new.charge("more", NOISY, table(zoe=0.5))
        assert told(new, "zoe") == pytest.approx({"epsilon": 0.5, "mu2": 0.25, "delta": 0})


def test_a_mixed_ledger_that_was_raised_reports_its_level(make):
    ledger = make(budget="epsilon=1/4, mu2=1/4, delta=1e-9", notion="mixed")
    ledger.raise_budget("epsilon=1/4, mu2=1, delta=1e-9", PEOPLE)
    with pytest.raises(NoGuarantee):
        ledger.guarantee()
    found = ledger.report_ex_post("1e-6")
    assert found.level == 2
    assert found.budget.tell(up=True) == {"epsilon": "1", "mu2": "1", "delta": "9.99999999908e-10"}  # in steps of 2^-62
    assert found.epsilon > 5.8
    ledger.raise_budget("epsilon=1/4, mu2=1, delta=1e-8", PEOPLE)
    with pytest.raises(NoGuarantee, match="no level"):
        ledger.report_ex_post("1e-6")


def test_public_mode_refuses_by_the_component_that_is_full(make):
    ledger = make(budget="epsilon=1.01, mu2=1.01, delta=1e-6", notion="mixed", mode="public")
    ledger.charge("noise", NOISY, PEOPLE)
    with pytest.raises(OverBudget, match=r"epsilon 0, mu2 1, delta 0"):
        ledger.charge("noise again", NOISY, PEOPLE)
    assert ledger.charge("pure", SUM, PEOPLE).active.all()
    assert ledger.verify() == 0


def test_accounts_of_many_units_are_in_chunks_of_their_own(make):
    names = np.arange(CHUNK + 7)
    people = pa.table({"id": names, "z": np.linspace(0, 1, names.size)})
    ledger = make(people, budget=BUDGET, notion="mixed", mode="individual", partial=True)
    late = pa.table({"id": np.arange(CHUNK - 3, CHUNK + 40), "z": np.full(43, 0.5)})
    assert ledger.charge("noise", NOISY, late).active.all()
    assert ledger.charge("pure", SUM, people).active.all()
    assert ledger.charge("again", NOISY, people).active.sum() == names.size - 10  # those with 1/4 and nearly 1
    assert told(ledger, str(CHUNK + 39)) == pytest.approx({"epsilon": 0, "mu2": 0.25, "delta": 0})
    assert told(ledger, str(CHUNK + 1))["mu2"] == pytest.approx(0.25)
    assert ledger.verify() == 0


def test_what_has_no_place_is_refused_with_what_to_do(mixed):
    with pytest.raises(OtherNotion, match='"zcdp"'):
        mixed.charge("rho", declare("rho", notion="zcdp", rho="w**2*z", record={"z": [0, 1]}), PEOPLE)
    with pytest.raises(OtherNotion, match="an order alone"):
        mixed.charge("rdp", declare("r", notion="renyi", rdp="alpha*w**2*z", record={"z": [0, 1]}), PEOPLE)
    step = make_event("gaussian", {"noise_multiplier": 2}, sampling_probability="1/10")
    with pytest.raises(InvalidArgument, match="a point of the curve"):
        mixed.release("sampled", declare_events(Composition("s", (step,))), PEOPLE)
    with pytest.raises(InvalidArgument, match="rho alone is not a Gaussian curve"):
        mixed.release("rho", declare_events(Composition("s", (make_event("zcdp", {"rho": "1/9"}),))), PEOPLE)
    assert not mixed.journal.charges
    point = curve_of(declare_events(Composition("s", (step,)))).at_delta("1e-7")
    with mixed.release("its point", point, PEOPLE):
        pass
    assert told(mixed, "ada")["delta"] == pytest.approx(1e-7)
    assert {item.id for item in point.hypotheses} - {"only-release", "one-record-each"} <= {
        item.id for item in mixed.guarantee().hypotheses
    }


def test_an_epsilon_with_a_delta_names_the_notion_that_has_room_for_it():
    point = declare_directions("both", 1, 1, delta_remove="1e-7", delta_add="1e-7", source="me")
    for notion in (LedgerNotion.PURE, LedgerNotion.ZCDP):
        with pytest.raises(InvalidArgument, match="only a ledger in the notion mixed has room for"):
            prepare_charge(point, notion)


@pytest.mark.parametrize(
    "budget", ["1", "epsilon", "rho=-1", "step1=3", "epsilon=-1", "delta=1", "epsilon=1, epsilon=2", "mu2=1e9", "epsilon=x", {"mu": 1}]
)
def test_budgets_of_other_forms_are_refused(make, tmp_path, budget):
    with pytest.raises(PDPError):
        make(budget=budget, notion="mixed")
    assert list(tmp_path.iterdir()) == []


def test_a_table_holds_no_components(make, tmp_path):
    with pytest.raises(InvalidArgument, match="without a table"):
        make(budget=BUDGET, notion="mixed", table=tmp_path / "t")


def test_amounts_of_another_notion_and_damaged_accounts_are_refused(mixed, make):
    from accountant.ledger.settings import read_settings  # noqa: PLC0415

    entry = mixed.journal.entries[0]
    for change in ({"spent": 0}, {"spent": [0, 0]}, {"notion": "pure"}, {"cap": 5}, {"budget": {**entry.body["budget"], "more": [1, 2]}}):
        with pytest.raises(UnreadableFile):
            read_settings(type(entry)(0, "open", "", {**entry.body, **change}, entry.hash, entry.digest, entry.seal))
    mixed.charge("noise", NOISY, PEOPLE)
    if mixed.journal.store.database.version == NEWEST:
        return  # whose pages have all components (test_faults.py)
    base = mixed.journal.store.database
    base.execute("UPDATE accounts SET budgets = (SELECT budgets FROM accounts WHERE chunk = 0) WHERE chunk > 0")
    with pytest.raises(LedgerRejected, match="not what was written"):
        mixed.account("ada")
    assert mixed.verify(repair=True) == 1  # the budgets of epsilon and mu2 are both 1
    assert told(mixed, "ada") == pytest.approx({"epsilon": 0, "mu2": 0.25, "delta": 0})


def test_a_mixed_ledger_on_the_command_line(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,z\nada,0.5\nben,0.25\n")
    Path("noisy.toml").write_text('name = "noisy"\nnotion = "gaussian"\nmu = "w*z"\n[record]\nz = [0, 1]\n')
    words = ["--data", "people.csv", "--key", "id", "--anchor", "a", "--notion", "mixed"]
    parts = ["--budget", "epsilon=1", "--budget", "mu2=1.01", "--budget", "delta=1e-6"]
    assert pdp("ledger", "init", "l", *words, *parts).code == 0
    said = pdp("ledger", "charge", "l", "noisy.toml", "--statistic", "z=z", "--name", "noise")
    assert said.code == 0, said.err
    assert "at most epsilon 0, mu2 1, delta 0 for a unit" in said.out
    printed = pdp("ledger", "report", "l").out
    assert "epsilon=1, mu2=1.01, delta=" in printed
    public = pdp("ledger", "report", "l", "--json").json()
    assert public["at_worst"] == {"epsilon": "0", "mu2": "1", "delta": "0"}
    assert public["left"]["epsilon"] == "1"
    assert "Theorem M" in pdp("ledger", "report", "l", "--all").out
    assert "spent epsilon 0, mu2 0.25, delta 0" in pdp("ledger", "report", "l", "--unit", "ada").out
    assert pdp("ledger", "report", "l", "--composition", "c.toml").code == 0
    assert float(pdp("account", "c.toml", "--delta", "2e-6", "--json").json()["epsilon"]["upper"]) < 5.9
    at = pdp("ledger", "report", "l", "--delta", "2e-6", "--json").json()["at_delta"]["epsilon"]
    assert at["delta"] == "0.000002"
    assert 5.6 < float(at["upper"]) < 5.9
    assert f"epsilon <= {at['upper'][:6]}" in pdp("ledger", "report", "l", "--delta", "2e-6").out
    assert pdp("ledger", "raise", "l", *parts[:2], "--budget", "mu2=2", *parts[4:]).code == 0
    assert pdp("ledger", "report", "l", "--delta", "1e-4", "--json").json()["ex_post"]["level"] == 1


def test_what_a_composition_of_a_mixed_ledger_states_is_its_budget(mixed, tmp_path):
    mixed.charge("noise", NOISY, PEOPLE)
    text = write_composition(mixed)
    assert 'mechanism = "approximate"' in text
    assert 'mechanism = "gaussian"' in text
    assert Fraction(to_components(BUDGET, "it").numbers[2]) <= Fraction(1, 10**6)
