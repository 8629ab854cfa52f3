"""docs/ledger.md, Theorems C and O: a cap is what is promised; a ledger that was raised without one tells what holds ex post."""

from __future__ import annotations

from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtr

from accountant.curves import curve_of, make_event
from accountant.guarantees import compose
from accountant.guarantees.theorem import Carried
from accountant.ledger import Ledger
from accountant.ledger.amounts import BITS, Amounts
from accountant.ledger.backup import migrate
from accountant.ledger.ex_post import make_ex_post
from accountant.ledger.notions import LedgerNotion
from accountant.ledger.writing import write_composition
from profiles import InvalidArgument, UnreadableFile, declare
from profiles.errors import NoGuarantee
from profiles.hypotheses import RAISES_FIXED, RAISES_FROM_OUTPUTS
from profiles.protection import USERS
from tests.ledger.conftest import PEOPLE, SUM, table
from tests.ledger.test_carrying import restored

CARRIED = Carried(USERS, (RAISES_FIXED,))
DELTA = Fraction(1, 100)


def report(most: Fraction, grid: Fraction, delta: object = DELTA):
    """The ex-post report of a ledger in zcdp whose largest budget is ``most``, and whose first one was ``grid``."""
    amounts = [Amounts((-((-item * 2**BITS) // 1),)) for item in (most, grid)]
    return make_ex_post(LedgerNotion.ZCDP, amounts[0], amounts[1], CARRIED, delta)


def of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    found = curve_of(make_event("zcdp", {"rho": rho})).epsilon(delta, gap="1e-6").upper
    assert found is not None
    return found


# --- what went wrong ------------------------------------------------------------------------------------------------------------------


def test_a_raise_after_the_first_answer_has_no_guarantee_and_the_cap_has_one(make):
    """Randomised response of log 2, again where the first answer was 1: the budget in force is log 2 after the answer 0, and the whole
    process has the ratio 4.
    """
    answer = {1: Fraction(2, 3), 0: Fraction(1, 3)}
    with_unit = {(0,): answer[0], **{(1, second): answer[1] * chance for second, chance in answer.items()}}
    without = {(0,): answer[1], **{(1, second): answer[0] * answer[1 - second] for second in answer}}
    assert sum(with_unit.values()) == sum(without.values()) == 1
    assert max(max(with_unit[key] / without[key], without[key] / with_unit[key]) for key in with_unit) == 4
    coin = declare("one answer", "w*log(2)")
    plain, capped = make(budget="log(2)"), make(name="c", budget="log(2)", cap="1.387")
    for ledger in (plain, capped):
        ledger.charge("first", coin, PEOPLE)
        ledger.raise_budget("2*log(2)", PEOPLE)
        ledger.charge("again", coin, PEOPLE)
    assert capped.guarantee().bound.upper >= log(4)  # what the process has, not log 2
    with pytest.raises(NoGuarantee, match="without a cap"):
        plain.guarantee()
    told = plain.report_ex_post()
    assert told.epsilon is not None
    assert log(4) - 1e-9 < told.epsilon < log(4) + 1e-9  # of the budget that is in force now
    assert told.to_json()["is_guarantee"] is False


def stop_best(a: int, b: int, levels: list[int], factors: list[Fraction]) -> Fraction:
    """The largest Σ (P − e^ε Q)₊ over rules that toss a coin with odds a : b (b : a without the unit) and stop when they like.

    ``levels``: after how many tosses each budget is used up; ``factors``: e^ε of the report at it. Exact, in integers.
    """
    steps, scale = levels[-1], 60
    tops = [-((-item * 2**scale) // 1) for item in factors]

    def gain(n: int, ones: int) -> int:
        top = tops[next(place for place, level in enumerate(levels) if n <= level)]
        p, q = a**ones * b ** (n - ones), b**ones * a ** (n - ones)
        return max((p << scale) - top * q, 0) * (a + b) ** (steps - n)

    value = [gain(steps, ones) for ones in range(steps + 1)]
    for n in range(steps - 1, -1, -1):
        value = [max(gain(n, ones), value[ones] + value[ones + 1]) for ones in range(n + 1)]
    return Fraction(value[0], (a + b) ** steps << scale)


def exp_above(value: Fraction) -> Fraction:
    return Fraction(np.nextafter(np.exp(float(value)) * (1 + 1e-12), np.inf))


def test_reports_of_the_budget_in_force_are_false_in_zcdp_and_those_of_theorem_o_are_not():
    """Coins of 12 : 11, the budget doubled as often as wanted, stopped when the loss exceeds what is reported: .0117 for .01, exactly."""
    levels = [2**k for k in range(9)]
    rho = Fraction(log(12 / 11) * (1 + 1e-12)) / 23  # ε tanh(ε/2) of a coin
    told = [exp_above(of_rho(rho * level, DELTA)) for level in levels]
    assert stop_best(12, 11, levels, told) > DELTA * Fraction(115, 100)
    assert stop_best(12, 11, levels[-1:], told[-1:]) <= DELTA  # a cap that was fixed
    found = [report(rho * level, rho) for level in levels]
    assert [item.level for item in found] == list(range(9))
    assert stop_best(12, 11, levels, [exp_above(item.epsilon) for item in found]) <= DELTA


@pytest.mark.parametrize(("best", "expected"), [(False, 0.0155), (True, 0.0187)])
def test_eleven_doublings_of_gaussian_noise_break_the_report(best, expected):
    """ρ from .001 to 2.048; the loss at ρ is N(ρ, 2ρ) with the unit. By what a zCDP ledger reported, and by Theorem O, beside it."""
    rhos = [0.001 * 2**k for k in range(12)]

    def attack(epsilons: list[float]) -> float:
        step = 0.01
        loss = np.arange(-7, 13, step)

        def gain(level: int) -> np.ndarray:
            return np.where(loss > epsilons[level], -np.expm1(np.minimum(epsilons[level] - loss, 0)), 0)

        value = gain(len(rhos) - 1)
        for level in range(len(rhos) - 2, -1, -1):
            more = rhos[level + 1] - rhos[level]
            edges = np.append(loss - step / 2, loss[-1] + step / 2)
            cells = np.diff(ndtr((edges[None, :] - loss[:, None] - more) / np.sqrt(2 * more)), axis=1)
            later = cells @ value
            value = np.maximum(gain(level), later) if best else np.where(loss > epsilons[level], gain(level), later)
        edges = np.append(loss - step / 2, loss[-1] + step / 2)
        return float(np.diff(ndtr((edges - rhos[0]) / np.sqrt(2 * rhos[0]))) @ value)

    assert attack([float(of_rho(Fraction(item), DELTA)) for item in rhos]) == pytest.approx(expected, abs=4e-4)
    held = [float(report(Fraction(item), Fraction(rhos[0])).epsilon) for item in rhos]
    assert attack(held) < 0.01


def test_a_second_ledger_in_view_of_outputs_is_a_raise_that_is_named(make):
    assert any("no other ledger is opened about them in view of outputs" in item.sentence for item in make().guarantee().hypotheses)


# --- Theorem C ------------------------------------------------------------------------------------------------------------------------


def test_the_cap_is_promised_whatever_is_in_force(make, tmp_path):
    ledger = make(budget="1", cap="3")
    before = ledger.guarantee()
    assert before.bound.epsilon == 3
    assert RAISES_FIXED not in before.hypotheses
    assert RAISES_FROM_OUTPUTS not in before.hypotheses
    ledger.raise_budget("2", PEOPLE)
    after = ledger.guarantee()
    assert after.bound == before.bound
    assert {*after.hypotheses} == {*before.hypotheses, RAISES_FROM_OUTPUTS}
    with pytest.raises(InvalidArgument, match="the cap is what everybody was promised"):
        ledger.raise_budget("3.5", PEOPLE)
    with pytest.raises(InvalidArgument, match="not raised without a cap"):
        ledger.report_ex_post()
    assert compose(after, after).bound.epsilon == 6
    place = ledger.journal.store.database.files
    if place:
        ledger.close()
        ledger = Ledger.open(place[0])
    assert ledger.settings.cap == Amounts((3 << BITS,))
    with migrate(ledger, tmp_path / "n.db", anchor=tmp_path / "n.anchor", secret=tmp_path / "n.key") as new:
        assert new.guarantee().bound.epsilon == 3
        assert RAISES_FROM_OUTPUTS in new.guarantee().hypotheses
        with pytest.raises(InvalidArgument, match="the cap"):
            new.raise_budget("4", PEOPLE)
    ledger.close()


def test_budgets_of_columns_stay_below_the_cap_and_those_of_late_units_too(make):
    people = pa.table({"id": ["ada"], "years": [0], "z": [0.5]})
    rule = {"budget": "1 + years/5", "attributes": {"years": [0, 10]}}
    ledger = make(people, cap="3", **rule)
    ledger.charge("a", SUM, pa.table({"id": ["ben"], "years": [10], "z": [0.5]}))  # late, with the largest budget of the rule
    assert ledger.account("ben")["budget"] == "3"
    assert ledger.guarantee().bound.epsilon == 3
    assert make(people, name="plain", **rule).guarantee().bound.epsilon >= 3  # the maximum of the rule, whoever there is
    with pytest.raises(InvalidArgument, match="the cap"):
        make(people, name="more", cap="2.9", **rule)
    with pytest.raises(InvalidArgument, match="the cap"):
        ledger.raise_budget("2 + years/5", people, attributes={"years": [0, 10]})


@pytest.mark.parametrize("cap", ["-1", "1e9", "1/2"])
def test_a_cap_is_no_less_than_the_budget(make, cap):
    with pytest.raises(InvalidArgument, match="cap"):
        make(budget="1", cap=cap)


def test_a_damaged_cap_is_refused(make):
    from accountant.ledger.settings import read_settings  # noqa: PLC0415

    entry = make(cap="3").journal.entries[0]
    assert read_settings(entry).cap == Amounts((3 << BITS,))
    for change in ({"cap": -1}, {"cap": "3"}, {"cap": None}, {"caps": 3}):
        with pytest.raises(UnreadableFile):
            read_settings(type(entry)(0, "open", "", {**entry.body, **change}, entry.hash, entry.digest, entry.seal))


# --- Theorem O ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "level"), [("1/64", 0), ("1/100", 0), ("1/63", 1), ("1/32", 1), ("1/16", 2), ("1/4", 4), ("4", 8)])
def test_the_report_is_that_of_the_next_level_at_its_share(most, level):
    found = report(Fraction(most), Fraction(1, 64), "1e-6")
    assert found.level == level
    assert found.budget.numbers[0] == Fraction(2**level, 64) >= Fraction(most)
    assert found.share <= 6 * Fraction(1, 10**6) / (Fraction(np.pi) ** 2 * (level + 1) ** 2)
    known = {2: 1.851, 4: 4.048, 8: 20.38}  # ε of ρ = 2^k/64 at 6δ/(π(k + 1))²
    assert float(found.epsilon) == pytest.approx(known.get(level, float(found.epsilon)), rel=1e-3)
    assert found.epsilon >= of_rho(found.budget.numbers[0], Fraction(1, 10**6))
    assert "Theorem O" in found.sentence


def test_shares_add_up_to_delta():
    shares = [report(Fraction(2**level, 64), Fraction(1, 64), DELTA).share for level in range(6)]
    assert shares == sorted(shares, reverse=True)
    assert [shares[0] / share for share in shares] == [(level + 1) ** 2 for level in range(6)]
    assert float(shares[0]) * np.pi**2 / 6 <= float(DELTA)  # Σ 1/k² = π²/6


def test_a_raised_ledger_reports_ex_post_from_its_first_budget_wherever_it_goes(make, tmp_path):
    ledger = make(budget="1/8", notion="zcdp")
    for budget in ("1/4", "1/3"):
        ledger.raise_budget(budget, PEOPLE)
    with pytest.raises(NoGuarantee):
        ledger.guarantee()
    with pytest.raises(NoGuarantee):
        write_composition(ledger)
    found = ledger.report_ex_post("1e-6")
    assert (found.level, found.budget.numbers[0]) == (2, Fraction(1, 2))
    assert ledger.report_ex_post().epsilon is None
    assert RAISES_FROM_OUTPUTS in found.hypotheses
    assert RAISES_FIXED not in found.hypotheses
    for rule in (compose, curve_of):
        with pytest.raises(InvalidArgument):
            rule(found)
    with migrate(ledger, tmp_path / "n.db", anchor=tmp_path / "n.anchor", secret=tmp_path / "n.key") as new:
        assert new.is_raised
        again = new.report_ex_post("1e-6")
        assert (again.level, again.epsilon) == (found.level, found.epsilon)
        new.raise_budget("3", PEOPLE)
        assert new.report_ex_post("1e-6").level == 5
    raised = make(name="p")
    raised.raise_budget("2", PEOPLE)
    with pytest.raises(InvalidArgument, match="a pure ledger has none"):
        raised.report_ex_post("1e-6")


def test_a_ledger_that_was_migrated_first_and_raised_then_has_the_grid_of_its_first_budget(make, tmp_path):
    ledger = make(budget="1/8", notion="zcdp")
    with migrate(ledger, tmp_path / "n.db", anchor=tmp_path / "n.anchor", secret=tmp_path / "n.key") as new:
        new.guarantee()
        new.raise_budget("1/4", PEOPLE)
        assert new.report_ex_post("1e-6").level == 1


def test_a_grid_that_nobody_knows_gives_no_report():
    with pytest.raises(NoGuarantee, match="is not known"):
        make_ex_post(LedgerNotion.ZCDP, Amounts((5,)), None, CARRIED, "1e-6")
    assert make_ex_post(LedgerNotion.PURE, Amounts((5 << BITS,)), None, CARRIED).epsilon == 5


@pytest.mark.parametrize("name", ["first", "migrated"])
def test_raised_ledgers_of_earlier_releases_report_ex_post(tmp_path, name):
    ledger, _ = restored(tmp_path, name)
    with ledger:
        with pytest.raises(NoGuarantee):
            ledger.guarantee()
        told = ledger.report_ex_post()
        assert told.epsilon == ledger.budget.ceiling.numbers[0]
        assert {"own-rows", "file-from-outputs", "raises-from-outputs"} <= {item.id for item in told.hypotheses}


def test_an_analysis_in_a_raised_ledger_is_refused_before_it_is_charged(make):
    from tests.ledger.test_carrying import promise  # noqa: PLC0415

    ledger = make(budget="4")
    ledger.raise_budget("5", PEOPLE)
    with pytest.raises(NoGuarantee):
        ledger.analysis("a", ["ada"]).release(promise(), 1, lambda active: 0, arguments=())
    assert not ledger.journal.charges
    ledger.charge("b", SUM, table(ada=0.5))  # what needs no guarantee goes on


def test_the_command_line_tells_the_cap_and_what_holds_ex_post(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,z\nada,0.5\nben,0.25\n")
    for name, more in (("plain", ()), ("capped", ("--cap", "1"))):
        words = ["--data", "people.csv", "--key", "id", "--budget", "1/8", "--anchor", f"{name}.anchor", "--notion", "zcdp", *more]
        assert pdp("ledger", "init", name, *words).code == 0
    assert "cap                   rho 1" in pdp("ledger", "report", "capped").out
    assert "stays that of the cap" in pdp("ledger", "raise", "capped", "--budget", "1/2").out
    assert pdp("ledger", "raise", "capped", "--budget", "2").refused()
    assert pdp("ledger", "report", "capped", "--delta", "1e-6", "--json").json()["at_delta"]["epsilon"]["upper"].startswith("7.76")  # rho 1
    assert pdp("ledger", "report", "capped", "--composition", "c.toml", "--guarantee", "g.json").code == 0
    assert 'rho = "1"' in Path("c.toml").read_text()
    assert "has no guarantee" in pdp("ledger", "raise", "plain", "--budget", "1/2").out
    for option in ("--guarantee", "--composition"):
        refused = pdp("ledger", "report", "plain", option, "x")
        assert refused.refused()
        assert "without a cap" in refused.err
        assert not Path("x").exists()
    told = pdp("ledger", "report", "plain", "--delta", "1e-6", "--json").json()
    assert told["guarantee"] is None
    assert told["ex_post"]["level"] == 2
    printed = pdp("ledger", "report", "plain", "--delta", "1e-6").out
    assert "no guarantee" in printed
    assert "own-rows" in printed
    Path("x.json").write_text(pdp("ledger", "report", "plain", "--delta", "1e-6", "--json").out)
    assert pdp("compose", "x.json").refused()


def test_a_pure_ledger_has_no_delta(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id\nada\n")
    assert pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "1", "--anchor", "a").code == 0
    assert pdp("ledger", "report", "l", "--delta", "1e-6").refused()
