"""Documents that were made to be slow: three that took minutes to an hour, and those of a generator. Each is decided within ten seconds."""

from __future__ import annotations

import json
import random
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import pytest

from accountant.checking import check_text
from accountant.weights.gaussian.proved import prove_gaussian
from accountant.weights.gaussian.table import make_table
from accountant.weights.gaussian.table_format import TabulatedWeights
from accountant.weights.gaussian.target import GaussianTarget
from profiles import declare
from proofs_check.kernel import check
from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.core.terms import exp, forget, log, var
from proofs_check.kernel.theories.compositions.lattices import Lattice
from proofs_check.kernel.untrusted.proofs import Session
from tests.mutants.corpus import texts
from tests.mutants.slow_documents import MEMORY, SECONDS, measure, search

_LIMIT = 60  # as long as a document that is too slow is waited for


def composed(count: int, **changes: object) -> str:
    """Return the text of a claim from below about Laplace noise, on one coarse cell."""
    entry = {"offset": "0", "start": -1048576, "steps": [[20, 1]], "floors": [0] * (count.bit_length() - 1)}
    grid = {"digits": 1, "unit": "78125/8192", "tails": ["0", "0"], "events": [entry]}
    grid |= {name: value for name, value in changes.items() if name in grid}
    entry |= {name: value for name, value in changes.items() if name in entry}
    claim = {"claim": "delta-lower", "verdict": "proved", "direction": "remove", "epsilon": "1/10", "bound": "0.0000001", "grid": grid}
    event = {"mechanism": "laplace", "scale": "1", "sampling_probability": "1", "count": count}
    return json.dumps(
        {"format": "pdp-certificate", "version": 1, "composition": {"name": "x", "events": [event]}, "claims": [claim]},
        separators=(",", ":"),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (composed(2), "a mass is too large"),  # exp of half a width of ten million nats
        (composed(16384, unit="25/32768", start=1048576), "not shown"),  # no mass under P, and squares of that under Q
        (composed(2**29, unit="1e-6", start=-(2**18), steps=[[0, 2**18]]), ""),
    ],
)
def test_a_short_document_takes_no_time(text, reason):
    cost = measure(text, most=_LIMIT)
    assert cost.verdict.startswith("rejected at claims[0]"), cost
    assert reason in cost.verdict
    assert cost.seconds < SECONDS / 2


def paid(text: str) -> tuple[float, float]:
    """Return the seconds that a document takes, and what the kernel's meter counts for it."""
    session = Session()
    before, began = session.meter.left, time.process_time()
    check(text, session)
    return time.process_time() - began, (before - session.meter.left) * UNIT


UNIT, BUSY = 7e-6, 2.5  # seconds of a unit, and how many times slower a busy machine is


@pytest.mark.parametrize(
    "text",
    [
        # masses of a million bits, of which the logarithm was taken: 77 microseconds a unit
        composed(11, unit="1e-6", start=-(2**40), steps=[[40, 2]], floors=[40] * 3, digits=24),
        composed(2, unit="1e-15", steps=[[6, 20_000]], start=-1870837228352, floors=[6], digits=2),
        composed(2**9, unit="1e-9", start=-(2**20), steps=[[0, 60], [2, 30_000]], floors=[2] * 9, digits=300),
    ],
)
def test_the_meter_counts_what_a_document_takes(text):
    seconds, counted = paid(text)
    assert seconds < 0.3 + BUSY * counted, (seconds, counted)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("long", "short", "bits"), [(20_000, 400, 1082), (100_000, 2_000, 58), (400, 400, 58), (2_000, 2_000, 314)])
def test_a_product_is_counted_as_what_it_takes(long, short, bits):
    source, lattice = random.Random(1), Lattice(True, bits, Fraction(1))
    parts = [(0, [source.getrandbits(bits) // n for _ in range(n)]) for n in (long, short)]
    before, began = lattice.meter.left, time.process_time()
    for _ in range(max(20_000 // long, 1)):
        lattice._product(*parts, 0)
    assert time.process_time() - began < 0.01 + BUSY * UNIT * (before - lattice.meter.left)


@pytest.fixture(scope="module")
def table():
    """Return the object of a table of weights for several steps."""
    profile = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": ["0.99", 1]})
    proved, target = prove_gaussian(profile), GaussianTarget(Fraction(1), Fraction(1, 10**5), 2)
    return TabulatedWeights(proved, make_table(proved, target)).to_object()


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "cells"), [pytest.param(8, 30_000, marks=pytest.mark.thorough), (600, 30_000)])
def test_all_rows_of_a_table_share_one_meter(table, rows, cells):
    assert check_text(json.dumps(table)).accepted
    row, falling = table["rows"][0], []
    wide = {**row["remove"], "events": [{**row["remove"]["events"][0], "start": -cells // 2, "steps": [[0, cells]], "floors": [0]}]}
    for i in range(rows):
        mu = Fraction(row["mu"]) * (1 + Fraction(i, 10**9))
        q = Fraction(row["q"]) * (1 - Fraction(2 * i, 10**9))
        falling.append({"mu": str(mu), "q": str(q), "remove": wide, "add": wide})
    text = json.dumps({**table, "rows": falling})
    began = time.process_time()
    report = check_text(text)
    assert report.step.startswith("weight-table.rows[")
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough), pytest.param(3, marks=pytest.mark.slow)])
def test_documents_made_to_be_slow_are_decided(seed):
    """In a fresh interpreter: a process that is forked from a large one counts the memory of that one as its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        found = fresh.submit(search, {1: 12, 2: 150, 3: 5000}[seed], seed).result()
    assert not found.slow, [str(cost) for cost, _ in found.slowest]
    assert found.largest.memory < MEMORY, found.largest
    assert "Memory" not in found.largest.verdict


def test_terms_that_are_made_are_paid_for():
    forget()
    x = var("x")
    with pytest.raises(Rejected, match="more work"):
        all(exp(log(x)) for _ in range(500_001))
    forget()


@pytest.mark.thorough
def test_two_threads_give_the_same_verdicts():
    suite = list(texts().values())[::5]
    alone = [check(text) for text in suite]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(check, suite + suite[::-1]))
    assert together == alone + alone[::-1]
