"""Grids: on which lattice the laws of losses of a composition are put, so that a bound on δ is as sharp as asked. Nothing here is trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor, log2, log10, sqrt

from profiles import exact_text
from proofs_check.kernel import curves
from proofs_check.kernel.compositions import Event as KernelEvent

from .events import Composition, Direction, Event, MechanismKind

#: Most cells of a law on the grids that are planned.
MOST_CELLS = 1 << 17
_MOST_LOSS = 10**7
_NEAR = 100  # points on either side of 0 that are neighbors
_SETTLED = 4  # squarings after which the cells grow with the standard deviation


@dataclass(frozen=True, slots=True)
class Part:
    """An event of the kernel in one direction, and where the losses of one use lie.

    All but tails/count of the mass lies in [low, high], two thirds of it within ``middle``; ``ends`` are the losses between which all
    finite ones lie and that have mass themselves, if it is so.
    """

    event: KernelEvent
    low: Fraction
    high: Fraction
    middle: Fraction
    ends: tuple[Fraction, Fraction] | None


def find_parts(composition: Composition, events: Sequence[KernelEvent], direction: Direction, tails: tuple[Fraction, Fraction], digits: int) -> list[Part]:
    """Return the events as the kernel read them, with where their losses lie."""
    others = [e for e in composition.events if not (e.mechanism is MechanismKind.GAUSSIAN and e.sampling_probability == 1)]
    sources: list[Event | None] = [None] * (len(events) - len(others)) + list(others)
    with localcontext(curves.context(digits + curves.GUARD)):
        return [_find_part(event, source, direction, tails) for event, source in zip(events, sources, strict=True)]


def _find_part(event: KernelEvent, source: Event | None, direction: Direction, tails: tuple[Fraction, Fraction]) -> Part:
    curve = event.curve(direction is Direction.REMOVE, False)
    few, many = (curves.decimal(tail / event.count) for tail in tails)

    def above(loss: Fraction) -> Decimal:
        return curve(loss)[1]

    first, last = _crossing(above, Decimal("0.84")), _crossing(above, Decimal("0.16"))
    ends = None if source is None else _find_ends(source, direction)
    if ends is not None:
        return Part(event, *ends, ends[1] - ends[0], ends)
    return Part(event, _crossing(above, 1 - few), _crossing(above, many), last - first, None)


def _crossing(above: Callable[[Fraction], Decimal], level: Decimal) -> Fraction:
    """Return a loss at which a falling function has just passed a level."""
    low, high = Fraction(-1, 2**40), Fraction(1, 2**40)
    while above(low) <= level and low > -_MOST_LOSS:
        low *= 4
    while above(high) > level and high < _MOST_LOSS:
        high *= 4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > level else (low, middle)
        if high - low <= max(abs(low), abs(high)) / 2**12:
            break
    return high


def _find_ends(event: Event, direction: Direction) -> tuple[Fraction, Fraction] | None:
    """Return the least and the largest finite loss, where both have mass."""
    match event.mechanism:
        case MechanismKind.LAPLACE | MechanismKind.DISCRETE_LAPLACE:
            down = up = 1 / event["scale"]
        case MechanismKind.RANDOMIZED_RESPONSE | MechanismKind.PURE | MechanismKind.APPROXIMATE:
            down = up = event["epsilon"]
        case MechanismKind.TWO_SIDED if len(event.parameters) == 4:
            up, down = event["epsilon_remove"], event["epsilon_add"]
        case _:
            return None
    q, remove = event.sampling_probability, direction is Direction.REMOVE
    if not up + down:
        return None
    if q == 1:
        return (-down, up) if remove else (-up, down)
    rate, rest = curves.decimal(q), curves.decimal(1 - q)
    low, high = (Fraction((rest + rate * curves.decimal(x).exp()).ln()) for x in (-down, up))
    return (low, high) if remove else (-high, -low)


def plan(parts: Sequence[Part], *, gap: Fraction, tails: tuple[Fraction, Fraction], delta: Fraction, fineness: float) -> dict[str, object]:
    """Return a grid in the words of a certificate, with cells of about sqrt(12 gap/(count events))/fineness."""
    shares = [sqrt(12 * gap / (part.event.count * len(parts))) / fineness for part in parts]
    aligned = next((part.ends for part in sorted(parts, key=lambda p: -p.event.count) if part.ends is not None), None)
    widths = [min(share, max(float(part.middle) / 4, share / 2**6)) if part.ends is None else share for share, part in zip(shares, parts, strict=True)]
    if aligned is None:
        unit = _three_digits(min(widths))
    else:
        unit = aligned[1] - aligned[0]
        unit = unit if unit.denominator < 10**40 else Fraction(floor(unit * 10**40), 10**40)
        unit /= 2 ** max(0, ceil(log2(float(unit) / min(widths))))  # so that atoms stay on the grid when the cells double
    digits = len(str(int(1 / delta))) + len(str(max(part.event.count for part in parts))) + 10
    step = Fraction(1, 10 ** (digits - 4))  # atoms lie just above points of the grid
    entries = list[dict[str, object]]()
    for part, width in zip(parts, widths, strict=True):
        level = max(0, floor(log2(width / float(unit))))
        while (part.high - part.low) / (unit * 2**level) > MOST_CELLS:
            level += 1
        h, offset = unit * 2**level, Fraction(0)
        if part.ends is not None:
            offset = Fraction(floor(part.low * 10**digits), 10**digits) - step
            high = max(1, ceil((part.high - offset - 2 * step) / h))
            low = 0
        else:
            low, high = floor(part.low / h), ceil(part.high / h) + 1
        squarings = part.event.count.bit_length() - 1
        doublings = [int(k >= _SETTLED and (k - _SETTLED) % 2 == 0) for k in range(squarings)]
        entries.append(
            {"offset": exact_text(offset), "level": level, "low": low, "high": high, "near": _NEAR, "doublings": doublings}
        )
    return {"digits": digits, "unit": exact_text(unit), "tails": [exact_text(tail) for tail in tails], "events": entries}


def _three_digits(x: float) -> Fraction:
    scale = Fraction(10) ** (2 - floor(log10(x)))
    return floor(x * scale) / scale
