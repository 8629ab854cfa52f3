"""What makes a charge fast changes nothing of it: narrow totals, packed amounts, work in threads, fewer operations."""

from __future__ import annotations

import threading
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from accountant.ledger.amounts import MOST
from accountant.ledger.charges import prepare_charge
from accountant.ledger.notions import LedgerNotion
from accountant.ledger.packing import CHUNK, pack, unpack
from accountant.ledger.prefetch import compute_ahead, read_ahead
from profiles import UnreadableFile, declare
from profiles.terms import number, symbol
from tests.ledger.conftest import SUM, table


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("bits", [0, 1, 31, 32, 33, 39, 40, 41, 47, 48, 49, 62])
def test_amounts_of_each_length_are_packed_in_few_bytes(bits):
    most = min(2**bits - 1, MOST)
    found = np.array([most, 0, most // 3 | 1, most - most // 5])
    width = next(width for width, room in ((4, 32), (5, 40), (6, 48), (8, 62)) if bits <= room)
    for shift in range(0, 63 - bits, 11):
        packed = pack(found << shift)
        assert np.array_equal(unpack(packed), found << shift)
        assert bits == 0 or len(packed) == 6 + 4 * width


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", [b"7", b"0", b"4", b"-", b"\x00", b"45", b""])
def test_other_bytes_are_no_amounts(kind):
    packed = pack(np.array([1, 1 << 39]))
    with pytest.raises(UnreadableFile, match="other bytes"):
        unpack(kind + packed[1:])


@pytest.mark.thorough
def test_a_unit_with_rows_in_several_batches_is_charged_for_all_of_them(make):
    """Rows that are found one by one, then those of a whole segment, in which one of them stands again."""
    first, second = table(ada=0.5, ben=0.25), table(cleo=1.0, dora=0.75)
    people = pa.concat_tables([first, second])
    ledger = make(people, budget="5")
    again = pa.concat_tables([table(cleo=1.0, ada=0.5), second, table(cleo=1.0)])
    assert ledger.charge("one", SUM, again).active.tolist() == [True] * 5
    assert [ledger.account(name)["spent"] for name in ("ada", "ben", "cleo", "dora")] == ["0.5", "0", "3", "0.75"]
    assert ledger.verify() == 0


@pytest.mark.thorough
def test_a_charge_of_many_chunks_is_that_of_each_unit_alone(make):
    values = np.random.default_rng(5).integers(0, 65, 3 * CHUNK + 7) / 64
    people = pa.table({"id": np.arange(values.size), "z": values})
    ledger = make(people, budget="3/2")
    spent = np.zeros(values.size)
    for name in ("one", "two", "three"):
        fits = spent + values <= 1.5
        assert np.array_equal(ledger.charge(name, SUM, people).active, fits)
        spent += values * fits
    assert ledger.verify() == 0
    for unit in (0, CHUNK - 1, CHUNK, 3 * CHUNK + 6):
        assert float(ledger.account(unit)["spent"]) == spent[unit]


def test_threads_keep_the_order_and_the_caller_makes_the_items():
    makers, workers = set(), set()

    def items():
        for item in range(50):
            makers.add(threading.get_ident())
            yield item, 2

    def multiply(left, right):
        workers.add(threading.get_ident())
        return left * right

    assert list(compute_ahead(multiply, items())) == list(range(0, 100, 2))
    assert makers == {threading.get_ident()}
    assert threading.get_ident() not in workers
    assert list(read_ahead(iter(range(9)))) == list(range(9))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_a_thread_raises_ends_the_work(error):
    seen = []

    def fail(item):
        if item == 3:
            raise error
        return item

    with pytest.raises(error):
        seen.extend(compute_ahead(fail, ((item,) for item in range(1000))))
    assert seen == [0, 1, 2]
    assert threading.active_count() < 20


@pytest.mark.thorough(quick=1)
def test_factors_of_one_are_left_out(make):
    profile = declare("sum", "w*(w*z + 1*w)/3", record={"z": [0, 1]})
    term = LedgerNotion.PURE.shift_term(profile, sampled=False)
    assert term == ("div", ("add", symbol("z"), number(1)), number(3))
    charge = prepare_charge(profile, LedgerNotion.PURE)
    assert charge.count({"z": np.array([0.0, 0.5, 1.0])}, 3, 0)[0].tolist() == [
        charge.shifts.round_up((1 + Fraction(z, 2)) / 3) for z in (0, 1, 2)
    ]
    assert LedgerNotion.PURE.shift_term(declare("one", "w*w"), sampled=False) == number(1)
