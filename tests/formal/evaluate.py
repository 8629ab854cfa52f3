"""Small instances of the definitions, evaluated by Coq and enumerated by proofs_check/exact: both have to give the same fractions.

What Coq evaluates are the twins of ``executable.v``, which are proved to have the values of the definitions.
"""

from __future__ import annotations

import itertools
import math
import re
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofs_check.exact import Log, delta_of_tables, epsilon_of_tables, renyi_divergence, sequence_law, subsampled_law

#: The probability with which each of three records is kept.
KEPT = (Fraction(1, 2), Fraction(1, 3), Fraction(3, 4))
BUDGET = Fraction(4)
#: Laws of one round of the filter: with the unit, and without.
WITH, WITHOUT = Fraction(2, 3), Fraction(1, 4)

HEADER = """From Coq Require Import List ZArith QArith.
From PDP Require executable.
Import ListNotations executable.
Definition pair_of (x : Q) := (Qnum x, Zpos (Qden x)).
Definition q (x : nat) : Q := nth x [{kept}] q0.
Definition c (past : list bool) : Q := match past with true :: _ => Qmake 2 1 | _ => Qmake 3 2 end.
Definition response (p : Q) (past : list bool) (o : bool) : Q := if o then p else qsub q1 p.
Definition filtered (here : bool) := transcriptQ (fun past o =>
  if andb here (activeQ c {budget} past) then response {with_unit} past o else response {without} past o) nil.
"""


def write(value: Fraction) -> str:
    """Return a fraction as Coq's library writes it."""
    return f"(Qmake {value.numerator} {value.denominator})"


def by_weight(sample: tuple[int, ...]) -> dict[bool, Fraction]:
    """Return the law of the mechanism that says yes with probability (1 + W)/(2 + W), W the total of the weights 1/q."""
    total = sum((1 / KEPT[record] for record in sample), Fraction(0))
    return {True: (1 + total) / (2 + total), False: 1 / (2 + total)}


def sampled(records: tuple[int, ...]) -> dict[Any, Any]:
    """Return the law of that mechanism on a Poisson sample, by enumeration."""
    return dict(subsampled_law(by_weight, records, lambda record: KEPT[record]))


def cost(past: tuple[bool, ...]) -> Fraction:
    """Return what a round of the filter costs after these outputs, the first one first."""
    return Fraction(2) if past and past[-1] else Fraction(3, 2)


def takes_part(past: tuple[bool, ...]) -> bool:
    """Say whether a unit with the budget takes part in the round after these outputs."""
    spent = Fraction(1)
    for rounds in range(len(past)):
        if spent * cost(past[:rounds]) <= BUDGET:
            spent *= cost(past[:rounds])
    return spent * cost(past) <= BUDGET


def transcripts(here: bool, rounds: int) -> dict[Any, Any]:
    """Return the law of the transcripts of a filter for one unit, by enumeration."""

    def step(past: tuple[bool, ...]) -> dict[bool, Fraction] | None:
        if len(past) == rounds:
            return None
        p = WITH if here and takes_part(past) else WITHOUT
        return {True: p, False: 1 - p}

    return dict(sequence_law(step))


def instances() -> Iterator[tuple[str, str, Fraction]]:
    """Yield name, term of Coq, and the value that was enumerated."""
    larger, smaller = sampled((0, 1, 2)), sampled((1, 2))
    for records in ((), (0,), (1, 2), (0, 1, 2)):
        listed = "; ".join(f"{record}%nat" for record in records)
        for yes, probability in sampled(records).items():
            yield f"importance {records} {yes}", f"list_importanceQ q by_weightQ [{listed}] {str(yes).lower()}", probability
    # One record, whose factors are exact: the sampled factors are attained, in both directions.
    weight = 1 / KEPT[0]
    exact = epsilon_of_tables(sampled((0,)), sampled(()))
    remove, add = 2 * (1 + weight) / (2 + weight), 1 + weight / 2
    assert isinstance(exact.removing.ratio, Fraction)
    assert isinstance(exact.adding.ratio, Fraction)
    yield "psi plus", f"psi_plusQ {write(KEPT[0])} {write(remove)}", exact.removing.ratio
    yield "psi minus", f"psi_minusQ {write(KEPT[0])} {write(add)}", exact.adding.ratio
    tables = [f"[{write(law[True])}; {write(law[False])}]" for law in (larger, smaller)]
    for a in (Fraction(1), Fraction(21, 20), Fraction(5, 4)):
        removing, adding = delta_of_tables(larger, smaller, Log(a))
        assert isinstance(removing, Fraction)
        assert isinstance(adding, Fraction)
        yield f"delta {a} plus", f"hsQ {write(a)} {tables[0]} {tables[1]}", removing
        yield f"delta {a} minus", f"hsQ {write(a)} {tables[1]} {tables[0]}", adding
    for order in (2, 3):
        for one, other, name in ((0, 1, "plus"), (1, 0, "minus")):
            p, q = (larger, smaller) if one == 0 else (smaller, larger)
            moment = sum((p[o] ** order / q[o] ** (order - 1) for o in p), Fraction(0))
            bounds = renyi_divergence(p, q, order)
            assert bounds.lower * (1 - 1e-12) <= math.log(moment) / (order - 1) <= bounds.upper * (1 + 1e-12)
            yield f"moment {order} {name}", f"momentQ {order} {tables[one]} {tables[other]}", moment
    for here in (True, False):
        law = transcripts(here, 3)
        for outputs in itertools.product((True, False), repeat=3):
            term = "; ".join(str(o).lower() for o in outputs)
            yield f"filter {here} {outputs}", f"filtered {str(here).lower()} [{term}]", law[outputs]


def disagreements(folder: Path) -> list[str]:
    """Return the instances on which Coq and the enumerations differ; the files in ``folder`` are compiled."""
    items = list(instances())
    header = HEADER.format(kept="; ".join(map(write, KEPT)), budget=write(BUDGET), with_unit=write(WITH), without=write(WITHOUT))
    terms = ";\n  ".join(term for _, term, _ in items)
    (folder / "instances.v").write_text(f"{header}Eval vm_compute in map pair_of [\n  {terms}].\n", encoding="utf-8")
    done = subprocess.run(["coqc", "-Q", ".", "PDP", "instances.v"], cwd=folder, capture_output=True, text=True, check=False, timeout=280)
    if done.returncode:
        return [f"Coq did not evaluate the instances: {done.stderr.strip()[:500]}"]
    found = [Fraction(int(n), int(d)) for n, d in re.findall(r"\(\s*(-?\d+)(?:%Z)?,\s*(\d+)(?:%Z)?\)", done.stdout)]
    if len(found) != len(items):
        return [f"Coq printed {len(found)} values for {len(items)} instances"]
    return [
        f"{name}: Coq evaluates the definition to {value}, the enumeration is {expected}"
        for (name, _, expected), value in zip(items, found, strict=True)
        if value != expected
    ]
