"""Streams that are not over: all who may come are charged ahead, and reports leave as records come."""

from __future__ import annotations

import io
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from accountant.applications import HeavyHitterMonitor
from accountant.applications.heavyhitters.streams import StreamBatch, keep_users
from accountant.ledger import Ledger
from profiles import InvalidArgument
from profiles.errors import OverBudget, ReleaseUsed
from tests.ledger.conftest import SUM, table

USERS = [f"u{number}" for number in range(60)]
STREAM = [(user, step, "ab"[step % 2]) for step in range(3) for user in USERS[:50]]
MONITOR = HeavyHitterMonitor(k=1, epsilon=1, threshold=8, domain=["a", "b"], times=range(3))


@pytest.fixture
def individual():
    """Nothing: these tests see what users get."""


@pytest.fixture
def ledger(tmp_path):
    people = table(**dict.fromkeys(USERS, 0.0))
    with Ledger.create(tmp_path / "l", people, budget="2.5", anchor=tmp_path / "a") as made:
        yield made


def test_reports_leave_as_records_come_and_other_releases_go_on(ledger):
    taken = []

    def stream():
        for record in STREAM:
            taken.append(record)
            yield record

    reports = MONITOR.watch(stream(), bits=7, ledger=ledger.analysis("watch", USERS))
    first = next(reports)
    assert len(taken) < len(STREAM)
    assert ledger.account("u59")["spent"].startswith("1")  # also who never comes
    ledger.charge("in between", SUM, table(**dict.fromkeys(USERS, 1.0)))
    assert ledger.journal.find("output", "watch") is None
    found = (first, *reports)
    assert found == tuple(MONITOR.watch(STREAM, bits=7))
    assert tuple(MONITOR.watch([], bits=8, ledger=ledger.analysis("watch"))) == found  # served again, and free
    assert MONITOR.run([], ledger=ledger.analysis("watch")).reports == found
    assert ledger.verify() == 0
    assert ledger.guarantee().bound.epsilon == Fraction(5, 2)
    assert {"own-entry", "unseen-moment"} <= {item.id for item in ledger.guarantee().hypotheses}
    with pytest.raises(OverBudget):
        next(MONITOR.watch(STREAM, ledger=ledger.analysis("again", USERS)))


def test_whoever_is_not_charged_is_left_out(ledger):
    found = tuple(MONITOR.watch(STREAM, bits=7, ledger=ledger.analysis("watch", USERS[:3])))
    assert found == tuple(MONITOR.watch([record for record in STREAM if record[0] in USERS[:3]], bits=7))


def test_in_individual_mode_whoever_has_no_room_is_left_out(tmp_path):
    people = table(**{user: float(place < 30) for place, user in enumerate(USERS)})
    files = {"anchor": tmp_path / "a", "mode": "individual", "partial": True}
    with Ledger.create(tmp_path / "l", people, budget="1.5", **files) as ledger:
        ledger.charge("one", SUM, people)
        found = tuple(MONITOR.watch(STREAM, bits=7, ledger=ledger.analysis("watch", USERS)))
        assert found == tuple(MONITOR.watch([record for record in STREAM if record[0] in USERS[30:]], bits=7))


def test_a_watch_that_is_left_is_used_up(ledger):
    reports = MONITOR.watch(STREAM, bits=7, ledger=ledger.analysis("watch", USERS))
    next(reports)
    reports.close()
    with pytest.raises(ReleaseUsed, match="not published"):
        next(MONITOR.watch(STREAM, bits=7, ledger=ledger.analysis("watch", USERS)))
    other = HeavyHitterMonitor(k=1, epsilon=1, threshold=9, domain=["a", "b"], times=range(3))
    tuple(MONITOR.watch(STREAM, bits=7, ledger=ledger.analysis("two", USERS)))
    with pytest.raises(ReleaseUsed, match="other arguments"):
        next(other.watch(STREAM, bits=7, ledger=ledger.analysis("two", USERS)))


def test_units_have_to_be_named_and_a_curve_is_not_charged_ahead(ledger):
    with pytest.raises(InvalidArgument, match="no ids were given"):
        next(MONITOR.watch(STREAM, ledger=ledger.analysis("watch")))
    assert not ledger.journal.charges
    with pytest.raises(InvalidArgument, match="takes one analysis"):
        next(MONITOR.watch(STREAM, ledger=ledger))


@pytest.mark.parametrize("form", [list, np.array])
def test_integers_are_the_texts_of_their_digits(form):
    batch = StreamBatch(form([1, 7, 1, 70]), 0, form([0, 1, 2, 3]))
    (kept,) = keep_users([batch], ["1", "70", "x", "01"])
    assert list(kept.items) == [0, 2, 3]
    (kept,) = keep_users([StreamBatch(["1", "01"], 0, ["a", "b"])], ["1"])
    assert list(kept.items) == ["a"]


def test_an_output_that_is_told_bit_by_bit_composes_with_what_is_chosen_in_between():
    """L6 for charges ahead, exactly: a coin of odds 2 is told with noise, then as it is; in between, by what was told, another coin."""

    def law(here):
        chance = {}
        for coin, blurred, other in product((0, 1), repeat=3):
            known = Fraction(2, 3) if coin == here else Fraction(1, 3)
            told = Fraction(3, 4) if blurred == coin else Fraction(1, 4)
            asked = blurred == 1  # the other release is run in view of the first report
            second = (Fraction(2, 3) if other == here else Fraction(1, 3)) if asked else Fraction(1, 2)
            chance[blurred, other, coin] = known * told * second
        return chance

    p, q = law(1), law(0)
    assert sum(p.values()) == sum(q.values()) == 1
    assert max(p[key] / q[key] for key in p) == 4  # no more than both together
    assert min(p[key] / q[key] for key in p) >= Fraction(1, 4)


def test_the_command_line_follows_standard_input(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("units.csv").write_text("id\n" + "\n".join(USERS) + "\n")
    pdp("ledger", "init", "l", "--data", "units.csv", "--key", "id", "--budget", "2.5", "--anchor", "a")
    words = ("monitor", "--domain", "2", "--times", "0:3", "-k", "1", "-e", "1", "--threshold", "8", "--seed", "7")
    charged = (*words, "--ledger", "l", "--name", "watch")
    Path("stream.csv").write_text("user,time,item\n" + "".join(f"{user},{step},{step % 2}\n" for user, step, _ in STREAM))

    opened = Path("stream.csv").open("rb")  # noqa: SIM115 - closed below
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(opened))

    def feed():
        opened.seek(0)

    feed()
    assert "--units" in pdp(*charged).err
    assert pdp(*words, "--units", "units.csv").refused()
    plain = pdp(*words, "--json").json()
    feed()
    told = pdp(*charged, "--units", "units.csv", "--json")
    assert told.code == 0
    assert told.json()["ledger"]["name"] == "watch"
    assert told.json()["answer"] == plain["answer"]
    sys.stdin.close()
    entry = pdp("ledger", "report", "l", "--json").json()["entries"][1]
    assert (entry["name"], entry["published"]) == ("watch", True)
