"""A search for a counterexample to the assumptions among data sets that the caller draws. It refutes or leaves open, it never proves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.errors import InvalidArgument
from profiles.mechanisms.interface import check_call
from proofs_check.exact.repeated.checking import AssumptionCheck, Violation, as_fraction
from proofs_check.exact.repeated.rounds import RepeatedMechanism, numbers_of, read_round, require_repeated, sensitivity_of
from proofs_check.results import Verdict

#: A draw of a data set and a record that may be added to it.
Draw = Callable[[np.random.Generator], tuple[Sequence[Any], Any]]


def search_violation(
    mechanism: object,
    draw: Draw,
    rng: np.random.Generator,
    tries: int = 1000,
    *,
    assemble: Callable[[tuple[Any, ...]], Any] = tuple,
) -> AssumptionCheck:
    """Look for a violation of the assumptions on ``tries`` random pairs of data sets; verdicts are ``refuted`` or ``unknown``.

    ``draw(rng)`` returns the smaller data set, a sequence of records, and the record that is added to it, which is put at a random
    place. On every other pair the outputs are random; on the others the search is greedy: it chooses the output that adds most to the
    realised sum. ``assemble`` makes of a tuple of records what the score functions take. All numbers are compared exactly.
    Raises :class:`InvalidArgument`, and what select and its functions raise.
    """
    known = require_repeated(mechanism)
    check_call(rng, tries)
    first: dict[str, Violation] = {}
    for number in range(tries):
        base, record = draw(rng)
        smaller = tuple(base)
        place = int(rng.integers(len(smaller) + 1))
        larger = (*smaller[:place], record, *smaller[place:])
        _follow(known, larger, smaller, assemble, rng if number % 2 else None, first)
        if len(first) == 2:
            break
    verdicts = [Verdict.REFUTED if name in first else Verdict.UNKNOWN for name in numbers_of(known)]
    reason = None if len(first) == 2 else "a search proves nothing"
    violations = tuple(first[name] for name in numbers_of(known) if name in first)
    return AssumptionCheck(known, None, verdicts[0], verdicts[1], f"{tries} random neighboring pairs", violations, reason)


def _follow(
    mechanism: RepeatedMechanism,
    larger: tuple[Any, ...],
    smaller: tuple[Any, ...],
    assemble: Callable[[tuple[Any, ...]], Any],
    rng: np.random.Generator | None,
    violations: dict[str, Violation],
) -> None:
    """Run one sequence of outputs on a pair and note the first violation of each assumption."""
    first, second = numbers_of(mechanism)
    pair = assemble(larger), assemble(smaller)
    outputs: tuple[Any, ...] = ()
    total = Fraction(0)
    while (current := read_round(mechanism, outputs)) is not None:
        above, below = (current.values(data) for data in pair)
        if above.shape != below.shape:
            raise InvalidArgument(f"a round after {outputs!r:.60} has values of two shapes; return one number for each candidate")
        changes = [as_fraction(a) - as_fraction(b) for a, b in zip(above.tolist(), below.tolist(), strict=True)]
        lowest = min(range(len(changes)), key=changes.__getitem__)
        if changes[lowest] < 0 and first not in violations:
            tail = (current.outputs[lowest],) if first == "4.1" else ()
            violations[first] = Violation(first, larger, smaller, (*outputs, *tail), -changes[lowest])
        added = [Fraction(0) if place < 0 else changes[place] for place in current.counted]
        branch = int(rng.integers(len(added))) if rng is not None else max(range(len(added)), key=added.__getitem__)
        total += added[branch]
        outputs = (*outputs, current.outputs[branch])
    if total > sensitivity_of(mechanism) and second not in violations:
        violations[second] = Violation(second, larger, smaller, outputs, total)
