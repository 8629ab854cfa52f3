"""Applications that take ``ledger=``: docs/ledger.md, L6, by exact enumeration through one of them, and what would leak otherwise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf

from accountant.applications import (
    CoverageInstance,
    HeavyHitterMonitor,
    PrivateGreedy,
    PrivateMatroidGreedy,
    PrivateMetricClustering,
    PrivateSetCover,
)
from accountant.applications.clustering import Multiplicities, read_distances
from accountant.applications.repeated import subsampled_exponential
from accountant.applications.submodular.greedy import OneSidedGreedy
from accountant.applications.submodular.matroids import PartitionMatroid
from accountant.guarantees import declare_add_dp, ships
from accountant.ledger import Ledger, opened
from accountant.ledger import ledger as ledgers
from accountant.ledger.report import report_public
from profiles import InvalidArgument, InvalidData
from profiles.errors import OverBudget, ReleaseUsed
from profiles.hypotheses import ONE_USER, ONLY_RELEASE, RUN_ON_ACTIVE
from profiles.mechanisms import WeightedCount

#: Enough users of the other candidate that the law of the first one is exp(ε·users) but for a relative 1e-19.
OTHERS = 45


def open_ledger(folder, ids, name="l", **options):
    options = {"budget": "2", "anchor": folder / f"{name}.anchor", **options}
    return Ledger.create(folder / f"{name}.db", np.zeros((len(ids), 1)), ids=ids, **options)


def make_sets(first, others=OTHERS):
    """Users of candidate 0, and users of candidate 1, with their ids."""
    sets = [[0]] * len(first) + [[1]] * others
    return CoverageInstance.from_sets(sets, candidates=2), [*first, *(f"other {number}" for number in range(others))]


class Enumerated:
    """The law of a whole transcript through the application and a ledger: choices are forced, and their exact chances multiplied."""

    def __init__(self, monkeypatch):
        self.forced, self.chance = [], mpf(1)

        def select(inner, function, bits):
            gains = function.track().gains.tolist()
            rate = mpf(Fraction(inner.epsilon0).numerator) / Fraction(inner.epsilon0).denominator
            weights = [mp.exp(rate * gain) for gain in gains]
            (chosen,) = self.forced[:1]
            self.forced = self.forced[1:]
            self.chance *= weights[chosen] / sum(weights)
            return (chosen,)

        monkeypatch.setattr(OneSidedGreedy, "select", select)

    def run(self, folder, users, outputs, policy, budget):
        instance, ids = users
        self.forced, self.chance = list(outputs), mpf(1)
        with open_ledger(folder, ids, budget=budget) as ledger:
            for step in range(len(outputs)):
                epsilon = policy(outputs[:step])
                answer = PrivateGreedy(1, epsilon, method="fresh").run(instance, ledger=ledger.analysis(f"step {step}", ids))
                assert answer.selected == (outputs[step],)
        return self.chance


POLICIES = {
    "constant": lambda seen: "1",
    "by the last output": lambda seen: "1" if not seen or seen[-1] == 0 else "1/2",
    "less and less": lambda seen: ("3/2", "1", "1/4")[len(seen)] if 1 not in seen else "3/4",
}


def compare(enumerated, tmp_path, one, other, policy, budget, steps=3):
    """The largest log ratio of two data sets over all transcripts, in both directions."""
    worst, totals = mpf(0), [mpf(0), mpf(0)]
    with mp.workdps(60):
        for number, outputs in enumerate(product((0, 1), repeat=steps)):
            chances = []
            for side, users in enumerate((one, other)):
                folder = tmp_path / f"{number} {side}"
                folder.mkdir(parents=True)
                chances.append(enumerated.run(folder, users, outputs, policy, budget))
                totals[side] += chances[-1]
            worst = max(worst, abs(mp.log(chances[0] / chances[1])))
        assert all(abs(total - 1) < mpf(10) ** -50 for total in totals)
    return worst


@pytest.mark.thorough
@pytest.mark.parametrize("name", POLICIES)
def test_no_adaptive_sequence_of_an_application_takes_more_than_the_budget(monkeypatch, tmp_path, name):
    worst = compare(Enumerated(monkeypatch), tmp_path, make_sets(["u"]), make_sets([]), POLICIES[name], "2")
    assert worst <= 2
    if name == "constant":
        assert worst > 2 - mpf(10) ** -15  # attained: two answers of 1, and then without u


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "lost"), [(3, 2), (2, 1)])
def test_one_row_more_of_a_unit_may_move_all_of_its_rows(monkeypatch, tmp_path, rows, lost):
    """Why an answer with a ledger promises nothing about a row: the unit has room for two rows, and not for three."""
    worst = compare(
        Enumerated(monkeypatch), tmp_path, make_sets(["u"] * rows), make_sets(["u"] * (rows - 1)), POLICIES["constant"], "5/2", steps=1
    )
    assert abs(worst - lost) < mpf(10) ** -15


def test_the_answer_has_the_guarantee_of_the_ledger(tmp_path):
    instance, ids = make_sets(["u"])
    with open_ledger(tmp_path, ids) as ledger:
        mechanism = PrivateGreedy(1, "1/2")
        first = mechanism.run(instance, 1, bits=2, ledger=ledger.analysis("a", ids))
        bound = first.guarantee.bound
        assert (bound.remove, bound.add, first.guarantee.unit.name) == (2, 2, "USER")
        assert ONLY_RELEASE in {item.hypothesis for item in first.guarantee.discharged}
        left = {item.id for item in first.guarantee.hypotheses}
        assert {ONLY_RELEASE.id, RUN_ON_ACTIVE.id, "one-analysis", "not-redrawn", "fresh-samples"} & left == set()
        assert ONE_USER in first.guarantee.hypotheses
        assert ledger.account("u")["spent"] == "0.5"
        assert first.charged.to_json().keys() == {"name", "sequence", "hash", "cost", "records", "served", "partial"}
        for bits in (3, 4):
            again = mechanism.run(instance, 5, bits=bits, ledger=ledger.analysis("a", ids))
            assert (again.selected, again.charged.served, again.charged.hash) == (first.selected, True, first.charged.hash)
        assert ledger.account("u")["spent"] == "0.5"
        assert "published before" in again.explain()
        equal = PrivateGreedy(1, Fraction(1, 2)).run(instance, ledger=ledger.analysis(" a ", ids))  # written in another way
        assert equal.selected == first.selected


def test_what_differs_is_not_served(tmp_path):
    instance, ids = make_sets(["u"])
    wider = CoverageInstance.from_sets([[0]] * len(ids), candidates=3)
    with open_ledger(tmp_path, ids) as ledger:
        PrivateGreedy(1, "1/2").run(instance, 1, bits=2, ledger=ledger.analysis("a", ids))
        greedy = PrivateGreedy(1, "1/2")
        others = [(PrivateGreedy(1, "1/4"), instance), (PrivateGreedy(2, "1/2"), instance), (greedy, wider)]
        others += [(PrivateGreedy(1, "1/2", "optimal"), instance), (PrivateSetCover("1/2", sets=2), instance)]
        for mechanism, function in others:
            with pytest.raises(ReleaseUsed, match="other arguments"):
                mechanism.run(function, ledger=ledger.analysis("a", ids))
        ledger.run("count", WeightedCount(beta_count=8), np.zeros((len(ids), 1)), ids=ids)
        with pytest.raises(ReleaseUsed, match="other arguments"):
            greedy.run(instance, ledger=ledger.analysis("count", ids))
        assert len(ledger.journal.charges) == 2


class Death(BaseException):
    """A process that dies: nothing after it runs."""


def test_a_death_between_charge_and_output_loses_the_budget_alone(monkeypatch, tmp_path):
    instance, ids = make_sets(["u"])
    with open_ledger(tmp_path, ids) as ledger:
        with monkeypatch.context() as patch:

            def die(*_):
                raise Death

            patch.setattr(OneSidedGreedy, "select", die)
            with pytest.raises(Death):
                PrivateGreedy(1, "1").run(instance, ledger=ledger.analysis("a", ids))
        assert ledger.account("u")["spent"] == "1"
        with pytest.raises(ReleaseUsed, match="not repeated"):
            PrivateGreedy(1, "1").run(instance, ledger=ledger.analysis("a", ids))
        assert ledger.account("u")["spent"] == "1"
        assert ledger.verify() == 0


def test_nothing_is_run_before_it_is_charged(monkeypatch, tmp_path):
    instance, ids = make_sets(["u"])
    with open_ledger(tmp_path, ids) as ledger:

        def select(inner, function, bits):
            assert ledger.journal.find("charge", "a") is not None
            assert ledger.journal.find("output", "a") is None
            assert ledger.journal.anchor.path.read_text().count("\n") >= 2
            return (0,)

        monkeypatch.setattr(OneSidedGreedy, "select", select)
        PrivateGreedy(1, "1").run(instance, ledger=ledger.analysis("a", ids))
        assert ledger.journal.find("output", "a") is not None


def test_public_reports_of_neighbors_are_equal(monkeypatch, tmp_path):
    monkeypatch.setattr(ledgers, "make_token", lambda: "0" * 32)
    monkeypatch.setattr(opened, "tell_time", lambda: "2026-01-01T00:00:00Z")
    monkeypatch.setattr(ledgers.secrets, "token_bytes", bytes)
    seen = []

    def select(inner, function, bits):
        seen.append(function.users)
        return (0,)

    monkeypatch.setattr(OneSidedGreedy, "select", select)
    told = []
    for name, first in (("one", ["u", "u", "v"]), ("other", ["v"])):
        instance, ids = make_sets(first, others=3)
        with open_ledger(tmp_path, ids, name=name) as ledger:
            charged = []
            for step in range(3):  # u runs out before v does
                answer = PrivateGreedy(1, "1").run(instance, 100, bits=step, ledger=ledger.analysis(f"{step}", ids))
                charged.append((answer.charged.to_json(), repr(answer.charged), answer.explain(), repr(answer)))
            told.append((report_public(ledger), charged))
    assert told[0] == told[1]
    assert seen == [6, 4, 0, 4, 4, 0]


def test_one_sided_and_approximate_guarantees_are_refused_before_a_charge(tmp_path):
    ids = ["u"]
    with open_ledger(tmp_path, ids) as ledger:
        for guarantee, words in (
            (declare_add_dp("f", 1, source="somewhere"), "no finite loss where a unit comes"),
            (declare_add_dp("f", 1, delta="1/10", source="somewhere"), "no finite loss where a unit comes"),
        ):
            with pytest.raises(InvalidArgument, match=words):
                ledger.analysis("a", ids).release(guarantee, 1, lambda active: 0, arguments=())
        assert not ledger.journal.charges


def test_hostile_arguments_are_refused_before_a_charge(tmp_path):
    instance, ids = make_sets(["u"])
    mechanism = PrivateGreedy(1, "1")
    with open_ledger(tmp_path, ids) as ledger:
        for found in (ledger, "a", 7, {"name": "a"}):
            with pytest.raises(InvalidArgument, match="takes one analysis"):
                mechanism.run(instance, ledger=found)
        sizes = [[None], [1.5], [[1]], [object()], [b"x"], [True]]
        for bad in (
            ids[:-1],
            [*ids, "x"],
            *(item * len(ids) for item in sizes),
            7,
            "x" * len(ids),
            dict.fromkeys(ids),
            (item for item in ids[1:]),
        ):
            with pytest.raises((InvalidData, InvalidArgument)):
                mechanism.run(instance, ledger=ledger.analysis("a", bad))
        for name in ("", " ", "a\nb", 7, "x" * 101):
            with pytest.raises(InvalidArgument, match="needs a name"):
                ledger.analysis(name, ids)
        with pytest.raises(InvalidArgument, match="one of the two"):
            ledger.analysis("a", ids, data="people.csv")
        with pytest.raises(InvalidArgument, match="by its path"):
            ledger.analysis("a", data=3)
        with pytest.raises(InvalidArgument, match="no ids were given"):
            mechanism.run(instance, ledger=ledger.analysis("a"))
        with pytest.raises(InvalidArgument, match="identified by 1 columns"):
            ledger.analysis("a", data="people.csv", key="id,month")
        space = read_distances([[0, 1], [1, 0]])
        with pytest.raises(InvalidData, match="multiplicities"):
            PrivateMetricClustering(space, 1, 1, n_bound=10).run(Multiplicities([3, 4]), ledger=ledger.analysis("a", ids))
        assert not ledger.journal.charges


def test_budgets_in_columns_need_a_file(tmp_path):
    (tmp_path / "people.csv").write_text("id,years\nu,10\nv,20\n")
    with Ledger.create(
        tmp_path / "l.db",
        tmp_path / "people.csv",
        budget="Min(3, 1 + years/10)",
        attributes={"years": [0, 40]},
        anchor=tmp_path / "l.anchor",
    ) as ledger:
        instance = CoverageInstance.from_sets([[0], [1]], candidates=2)
        with pytest.raises(InvalidArgument, match="read from columns"):
            PrivateGreedy(1, "1").run(instance, ledger=ledger.analysis("a", ["u", "v"]))
        answer = PrivateGreedy(1, "1").run(instance, ledger=ledger.analysis("a", data=tmp_path / "people.csv"))
        assert answer.charged.sequence == 1
        assert ledger.account("u")["left"] == "1"
        assert ledger.account("v")["left"] == "2"


def test_public_mode_refuses_by_public_numbers(tmp_path):
    instance, ids = make_sets(["u"])
    with open_ledger(tmp_path, ids, mode="public") as ledger:
        PrivateGreedy(1, "3/2").run(instance, ledger=ledger.analysis("a", ids))
        with pytest.raises(OverBudget, match="nothing was charged"):
            PrivateGreedy(1, "1").run(instance, ledger=ledger.analysis("b", ids))


class Mine(PrivateGreedy):
    """A class of somebody else's, which may run on more than it is given."""


def test_code_that_is_not_ours_rests_on_its_word(tmp_path):
    instance, ids = make_sets(["u"])
    assert not ships(Mine(1, "1"))
    with open_ledger(tmp_path, ids) as ledger:
        answer = Mine(1, "1").run(instance, ledger=ledger.analysis("a", ids))
        assert RUN_ON_ACTIVE.about(name="a") in answer.guarantee.hypotheses


@pytest.mark.thorough
def test_every_application_charges_the_units_of_its_rows(tmp_path):
    users = 30
    ids = [f"u{number // 2}" for number in range(users)]  # two of each unit
    instance = CoverageInstance.from_sets([[number % 3] for number in range(users)], candidates=3)
    space = read_distances([[0, 1, 9], [1, 0, 8], [9, 8, 0]])
    records = list(range(users))
    runs = {
        "cover": lambda analysis: PrivateSetCover("1/8", sets=3).run(instance, 1, bits=2, ledger=analysis),
        "cluster": lambda analysis: PrivateMetricClustering(space, 2, "1/8", n_bound=100).run(
            [number % 3 for number in range(users)], 1, bits=2, ledger=analysis
        ),
        "matroid": lambda analysis: PrivateMatroidGreedy(matroid=PartitionMatroid([0, 0, 1], [1, 1]), epsilon="1/8").run(
            [{number % 3} for number in range(users)], 1, bits=2, ledger=analysis
        ),
        "repeated": lambda analysis: subsampled_exponential(
            select=lambda chosen: (2, lambda data: [len(data), 0]), rounds=1, sensitivity=1, epsilon="1/8"
        ).run(records, 1, bits=2, ledger=analysis),
    }
    with open_ledger(tmp_path, ids, budget="7/8") as ledger:
        for number, (name, run) in enumerate(runs.items(), 1):
            answer = run(ledger.analysis(name, ids))
            again = run(ledger.analysis(name, ids))
            assert again.charged.served
            assert type(answer.output) is type(again.output)
            assert np.array_equal(answer.output, again.output)
            assert answer.guarantee.bound.epsilon == Fraction(7, 8)
            if number < 4:
                assert abs(Fraction(ledger.account("u3")["spent"]) - Fraction(number, 4)) < Fraction(1, 10**6)
        assert float(ledger.account("u3")["spent"]) < 0.76  # the fourth found no room, and was run on nobody


@pytest.mark.thorough
def test_a_stream_that_is_over_is_charged_by_its_users(tmp_path):
    stream = [(user, 0, "a") for user in range(40)] + [(user, 1, "b") for user in range(20, 80)]
    monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=8, domain=["a", "b"], times=range(2))
    with open_ledger(tmp_path, list(range(80)), budget="1") as ledger:
        alone, first = monitor.run(stream, bits=7), monitor.run(stream, bits=7, ledger=ledger.analysis("a"))
        assert first.reports == alone.reports
        assert {first.reports[0].items, first.reports[1].items} == {("a",), ("b",)}
        again = monitor.run([], bits=8, ledger=ledger.analysis("a"))
        assert (again.reports, again.charged.served) == (first.reports, True)
        assert [ledger.account(user)["spent"] for user in (0, 79)] == ["1", "1"]
        nobody = monitor.run(stream, bits=7, ledger=ledger.analysis("b"))
        assert [report.items for report in nobody.reports] == [(), ()]
        half = [*stream, *((user, 1, "a") for user in range(80, 160))]
        fresh = monitor.run(half, bits=7, ledger=ledger.analysis("c"))
        assert [report.items for report in fresh.reports] == [(), ("a",)]
        with pytest.raises(InvalidArgument, match="leave them out"):
            monitor.run(stream, ledger=ledger.analysis("d", list(range(80))))
        with pytest.raises(InvalidData, match="texts or by integers"):
            monitor.run([(1, 0, "a"), ("x", 0, "a")], ledger=ledger.analysis("d"))
        with pytest.raises(InvalidData, match="missing one"):
            monitor.run([(None, 0, "a"), (1, 0, "a")], ledger=ledger.analysis("d"))
        assert [report.items for report in monitor.run([], bits=7, ledger=ledger.analysis("e")).reports] == [(), ()]
        assert len(ledger.journal.charges) == 4
