"""The region of records where a pointwise condition holds: boxes where ball arithmetic proves it, boxes where it proves the opposite."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from profiles.balls import ball, interval, working_precision
from profiles.errors import InvalidExpression
from profiles.numbers import exact_text
from profiles.terms import to_short_text
from proofs_check.enclosures import Enclosure
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.effort import within
from proofs_check.prover.goals import Goal
from proofs_check.prover.search import prove
from proofs_check.results import Verdict

Cell = tuple[tuple[Fraction, Fraction], ...]

RESOLUTION = {1: 1024, 2: 32}
MAX_BOXES = 4000

#: Work (nominal seconds) for the proof that a goal fails at all records.
SECONDS = 0.5


def find_region(goal: Goal, verdict: Verdict) -> dict[str, Any]:
    """Return where a strict goal with this verdict holds: its inequality as text, and disjoint closed boxes of at most two variables.

    ``holds`` and ``fails`` are certain (fails: the expression is ≤ 0); ``undecided`` is the rest, thinner than 1/1024 (1/32 for two
    variables) of the range and refined at the borders. Without numeric ranges only the inequality is given.
    """
    try:
        term = goal.term
    except InvalidExpression:
        return {"inequality": f"{goal.expression} > 0"}
    region: dict[str, Any] = {"inequality": f"{to_short_text(term)} > 0"}
    if not goal.box or len(goal.box) > 2 or any(variable.hi is None for variable in goal.box):
        return region
    names = [variable.name for variable in goal.box]
    everywhere = _everywhere(goal, verdict)
    if everywhere is not None:
        whole = _show(names, tuple((variable.lo, variable.end) for variable in goal.box))
        return {**region, "holds": [], "fails": [], "undecided": [], everywhere: [whole]}
    cells: dict[str, list[Cell]] = {"holds": [], "fails": [], "undecided": []}
    enclosure = Enclosure(term)
    root: Cell = tuple((variable.lo, variable.end) for variable in goal.box)
    finest = [(hi - lo) / RESOLUTION[len(root)] ** (2 if len(root) == 1 else 1) for lo, hi in root]
    with working_precision(64):
        stack, looked_at = [root], 0
        while stack:
            cell = stack.pop()
            looked_at += 1
            value = enclosure.evaluate({name: interval(*side) for name, side in zip(names, cell, strict=True)})
            if not (value > 0 or value <= 0):
                value = _centred(enclosure, names, cell)
            if value > 0:
                cells["holds"].append(cell)
            elif value <= 0:
                cells["fails"].append(cell)
            elif looked_at > MAX_BOXES or all(hi - lo <= fine for (lo, hi), fine in zip(cell, finest, strict=True)):
                cells["undecided"].append(cell)
            else:
                stack.extend(reversed(_bisect(cell, finest)))
    for kind, boxes in cells.items():
        region[kind] = [_show(names, box) for box in _merge(boxes)]
    return region


def _everywhere(goal: Goal, verdict: Verdict) -> str | None:
    """Return ``holds`` or ``fails`` where that is proved for all records at once."""
    if verdict is Verdict.PROVED:
        return "holds"
    negated = Goal(-goal.expression, goal.box)
    if verdict is Verdict.UNKNOWN or not looks_true(negated):
        return None
    return "fails" if within(SECONDS, lambda: prove(negated, 2)) is not None else None


def _centred(enclosure: Enclosure, names: Sequence[str], cell: Cell) -> arb:
    """Return the intersection of the natural and the mean-value enclosure."""
    box = {name: interval(*side) for name, side in zip(names, cell, strict=True)}
    middle = {name: ball((lo + hi) / 2) for name, (lo, hi) in zip(names, cell, strict=True)}
    spread = arb(0)
    for name, (lo, hi) in zip(names, cell, strict=True):
        spread += enclosure.evaluate_with_slope(box, name)[1] * (interval(lo, hi) - middle[name])
    return enclosure.evaluate(middle) + spread


def _bisect(cell: Cell, finest: Sequence[Fraction]) -> list[Cell]:
    index = max(range(len(cell)), key=lambda i: (cell[i][1] - cell[i][0]) / finest[i] if finest[i] else Fraction(0))
    lo, hi = cell[index]
    middle = (lo + hi) / 2
    return [(*cell[:index], side, *cell[index + 1 :]) for side in ((lo, middle), (middle, hi))]


def _merge(cells: list[Cell]) -> list[Cell]:
    """Join neighboring intervals of one variable; boxes of two variables are kept as they are."""
    if not cells or len(cells[0]) != 1:
        return cells
    merged: list[tuple[Fraction, Fraction]] = []
    for ((lo, hi),) in sorted(cells):
        if merged and merged[-1][1] == lo:
            merged[-1] = (merged[-1][0], hi)
        else:
            merged.append((lo, hi))
    return [(side,) for side in merged]


def _show(names: Sequence[str], cell: Cell) -> dict[str, list[str]]:
    return {name: [exact_text(lo), exact_text(hi)] for name, (lo, hi) in zip(names, cell, strict=True)}
