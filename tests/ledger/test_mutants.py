"""Ledgers with one thing wrong, each of which the checks of this folder catch: they fail where they should, and pass on the true one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from accountant.ledger import Ledger
from accountant.ledger import release as releases
from accountant.ledger.book import Book
from accountant.ledger.charges import Charge
from accountant.ledger.database import NEWEST
from accountant.ledger.ledger import Ledger as Class
from accountant.ledger.packing import pack
from accountant.ledger.paged.book import PageBook
from accountant.ledger.paged.hashing import PageHasher
from accountant.ledger.paged.store import make_pages, read_amounts
from accountant.ledger.release import LedgerRelease
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE, SUM, table

MECHANISM = LaplaceSum(b=2, radius=1, arithmetic="binary64")


def charged_though_left(make):
    """A release that dies in its block keeps its charge."""
    ledger = make(PEOPLE)
    with pytest.raises(RuntimeError), ledger.release("one", MECHANISM, PEOPLE):
        raise RuntimeError
    return ledger.account("cleo")["spent"] == "0.5" and ledger.verify() == 0


def charged_though_not_drawn(make):
    rows = pa.table({"id": np.arange(60), "x": np.ones(60)})
    ledger = make(rows)
    ledger.run("one", MECHANISM, rows, rng=np.random.default_rng(1), bits=2, q="1/2")
    return all(ledger.account(number)["spent"] != "0" for number in range(60))


def exact_to_the_last_step(make):
    """Ten costs of a tenth, each rounded up, do not fit a budget of 1; a float would have added up to just below it."""
    ledger = make(table(ada=0.1))
    return sum(bool(ledger.charge(str(number), SUM, table(ada=0.1)).active[0]) for number in range(10)) == 9


def charged_before_published(make):
    ledger = make(PEOPLE)
    seen = []

    class Watching(LaplaceSum):
        def run(self, *arguments):
            seen.append(ledger.account("cleo")["spent"])
            return super().run(*arguments)

    ledger.run("one", Watching(b=2, radius=1, arithmetic="binary64"), PEOPLE, rng=np.random.default_rng(1))
    return seen == ["0.5"]


def the_last_step_is_spent(make):
    ledger = make(table(ada=1.0))
    return bool(ledger.charge("one", SUM, table(ada=1.0)).active[0])


def alone_as_in_company(make):
    """Whether a unit takes part is decided by nothing but its own rows, budget and spending."""
    masks = {}
    for name, others in (("alone", {}), ("company", {"cleo": 1.0, "dora": 0.25})):
        people = table(ada=0.5, **others)
        ledger = make(people, name=name)
        masks[name] = [bool(ledger.charge(str(number), SUM, people).active[0]) for number in range(3)]
    return masks["alone"] == masks["company"] == [True, True, False]


CHECKS: list[Callable[[Any], bool]] = [
    charged_though_left, charged_though_not_drawn, exact_to_the_last_step, charged_before_published, the_last_step_is_spent,
    alone_as_in_company,
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_true_ledger_passes(make, check):
    assert check(make)


def refund(monkeypatch):
    true = LedgerRelease.__exit__

    def leave(self, kind, error, trace):
        true(self, kind, error, trace)
        if not self.published:
            journal = self._ledger.journal
            with journal.store.database.transaction():
                if journal.store.database.version == NEWEST:
                    last = journal.entries[-1].sequence
                    pages = make_pages([0, 1], last, "accounts", np.zeros((1, 1_000), np.int64), PageHasher.of(journal.hasher))
                    journal.store.write_pages("accounts", pages)
                    return
                account = journal.store.read_account(0)
                journal.store.write_account(account.sealed(0, account.sequence, ZERO, account.budgets, journal.hasher))

    ZERO = pack(np.zeros(5, np.int64))
    monkeypatch.setattr(LedgerRelease, "__exit__", leave)


def charge_the_drawn(monkeypatch):
    true = Charge.count

    def count(self, statistics, size, first_row):
        steps, chosen = true(self, statistics, size, first_row)
        drawn = np.random.default_rng(3).random(size) < 0.5
        return np.where(drawn, steps, 0), chosen

    monkeypatch.setattr(Charge, "count", count)


def add_floats(monkeypatch):
    def charge(self, entry, matched, cost, digest):
        spent = FLOATS.setdefault(id(self._store.database), np.zeros(matched.totals.size))
        amounts = 0.1 * (matched.totals > 0)
        active = spent + amounts <= 1 + 1e-9
        spent += amounts * active
        return active & matched.present

    def spend(self, entry, state, rows, asked, *_):
        spent = FLOATS.setdefault(id(self._store.database), np.zeros(rows.slots.size))
        active = spent + 0.1 <= 1 + 1e-9
        spent += 0.1 * active
        return state, active, bool(active.all())

    FLOATS: dict[int, Any] = {}
    monkeypatch.setattr(Book, "charge", charge)
    monkeypatch.setattr(PageBook, "_spend_sparse", spend)


def publish_first(monkeypatch):
    def run(self, name, mechanism, data=None, *, rng=None, **options):
        matrix = releases.load_matrix(data, self.settings.key)
        output = mechanism.run(matrix.values, None, rng)
        with self.release(name, mechanism, data, **options) as release:
            return release.publish(output)

    monkeypatch.setattr(Class, "run", run)


def charge_with(monkeypatch, fits):
    """Replace the test of who takes part."""
    source = Book.charge

    def charge(self, entry, matched, cost, digest):
        true = Book._unpack

        def altered(self, *arguments):
            spent, budgets = true(self, *arguments)
            return spent, fits(spent, budgets)

        Book._unpack = altered
        try:
            return source(self, entry, matched, cost, digest)
        finally:
            Book._unpack = true

    monkeypatch.setattr(Book, "charge", charge)


def budget_by(monkeypatch, change):
    """Have budgets of pages changed wherever they are compared."""
    for name in ("_budgets", "_budgets_at"):
        true = getattr(PageBook, name)
        monkeypatch.setattr(PageBook, name, lambda self, *arguments, true=true: change(self, true(self, *arguments)))


def less(monkeypatch):
    charge_with(monkeypatch, lambda spent, budgets: budgets - 1)
    budget_by(monkeypatch, lambda _, budgets: budgets - 1)


def activity_from_another(monkeypatch):
    def budgets(self, found):
        pages = self._store.read_pages("accounts", 0, self._store.count_pages("accounts"), self._hasher)
        return found - read_amounts(pages, 1).max()

    charge_with(monkeypatch, lambda spent, budgets: np.minimum(budgets, budgets - spent.max() + spent))
    budget_by(monkeypatch, budgets)


@pytest.mark.parametrize(
    ("mutate", "check"),
    [
        (refund, charged_though_left),
        (charge_the_drawn, charged_though_not_drawn),
        (add_floats, exact_to_the_last_step),
        (publish_first, charged_before_published),
        (less, the_last_step_is_spent),
        (activity_from_another, alone_as_in_company),
    ],
    ids=lambda item: item.__name__,
)
def test_each_mutant_is_caught(make, monkeypatch, mutate, check):
    mutate(monkeypatch)
    try:
        passed = check(make)
    except Exception:
        passed = False
    assert not passed
    assert Ledger is Class
