"""The scale λ of weights min(λ/ζ, w) for an expected sample size: the size falls when λ rises, so it is found by bisection over the data.

Statement 6 of docs/gaussian-weights.md (Theorem 11): among all q with Σ q ≤ m and w at most the largest weights, q = max(1/w, min(1, ζ/λ))
has the least variance Σ (1/q − 1) ζ², for the λ with Σ q = m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from accountant.columns.domain import as_columns
from accountant.selection.mu_lookup import prepare_shifts
from accountant.weights.gaussian.table_format import TabulatedWeights
from profiles.errors import InvalidTarget
from profiles.numbers import decimal_above, decimal_text, exact_text, to_number

Batches = Callable[[], Iterable[Mapping[str, Any]]]
#: Halvings of log λ between its ends, digits of λ, and how far below all of the table it may lie.
_HALVINGS, _DIGITS, _LOWEST = 44, 12, Fraction(1, 10**12)
_ROOM = 1 + 2.0**-51


@dataclass(frozen=True, slots=True)
class Scale:
    """λ, the expected size Σ q ≤ m of the weights with it, and the number of records. A function of the data set: no private number."""

    value: Fraction = field(repr=False)
    size: float = field(repr=False)
    rows: int = field(repr=False)


def find_scale(weights: TabulatedWeights, size: object, batches: Batches) -> Scale:
    """Return about the largest scale whose expected sample size is at most ``size``, over the records of ``batches``.

    ``weights``: of a whole table. ``batches`` is called once a step, some forty times. Claim: Σ q ≤ size for the q of this scale.

    Raises :class:`InvalidTarget` for a size of at most 0, above the number of records, and below that of the largest weights.
    """
    goal = to_number(size, "the target size", "(0, inf)", "give a positive number", InvalidTarget)
    names = tuple(item.name for item in weights.proved.profile.record)

    def measure(scale: Fraction) -> tuple[float, int]:
        reader, sums, rows = prepare_shifts(weights.proved, weights.table, scale), list[float](), 0
        for batch in batches():
            columns = as_columns(batch, names)
            q = reader.read(columns)[0]
            rows += q.size
            sums.append(math.fsum(q.tolist()))
        return math.fsum(sums) * _ROOM, rows

    high = weights.table.rows[-1].mu
    least, rows = measure(high)
    if goal > rows:
        raise InvalidTarget(
            f"the target size {exact_text(goal)} is above the number of records; give at most that", private=f"there are {rows} records"
        )
    if Fraction(least) > goal:
        raise InvalidTarget(
            f"the target size {exact_text(goal)} is below that of the largest weights for this epsilon and delta; raise the size, the "
            "target or the noise",
            private=f"the expected size is at least {decimal_text(Fraction(least), 9, round_up=False)}",
        )
    chosen, low = Scale(high, least, rows), high
    while low > high * _LOWEST:
        low /= 16
        measured, _ = measure(low)
        if Fraction(measured) > goal:
            break
        chosen = Scale(low, measured, rows)
    else:
        return chosen
    top = chosen.value
    for _ in range(_HALVINGS):
        middle = decimal_above(Fraction(math.sqrt(float(low) * float(top))), _DIGITS)
        if not low < middle < top:
            break
        measured, _ = measure(middle)
        if Fraction(measured) > goal:
            low = middle
        else:
            top, chosen = middle, Scale(middle, measured, rows)
    return chosen
