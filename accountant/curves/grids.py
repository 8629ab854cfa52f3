"""Grids: on which lattice the laws of losses of a composition are put, so that a bound is as sharp as asked. Nothing here is trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, exp, floor, log, log1p, log2, log10, sqrt
from typing import Any

from profiles import exact_text
from proofs_check.kernel import curves
from proofs_check.kernel.compositions import Event as KernelEvent

from .events import Composition, Direction, Event, MechanismKind

#: Most cells of a law on the grids that are planned.
MOST_CELLS = 1 << 17
_MOST_LOSS = 10**7
#: Most digits of all masses of one event; the kernel takes products of four times as many.
MOST_DIGITS = 5 * 10**6
_FEW_DIGITS = 16 * 10**5  # so many take about two seconds for each side, whatever the count
_NEAR = 100  # points on either side of the centre that are neighbors, at least
_SETTLED = 4  # squarings after which the cells grow with the standard deviation


@dataclass(frozen=True, slots=True)
class Part:
    """An event of the kernel in one direction and on one side, and where the losses of one use lie.

    All but tails/count of the mass lies in [low, high], two thirds of it within ``middle`` around ``centre``; ``ends`` are two losses with
    much of the mass, if there are such; ``order`` is that of a mechanism of which only its zCDP is known, on the upper side.
    """

    event: KernelEvent
    low: Fraction
    high: Fraction
    middle: Fraction
    centre: Fraction
    ends: tuple[Fraction, Fraction] | None
    order: Fraction | None


@dataclass(frozen=True, slots=True)
class Side:
    """What is bounded: in which direction and from where, about at which δ, and what may be cut off at the ends of a law."""

    direction: Direction
    up: bool
    delta: Fraction
    tails: tuple[Fraction, Fraction]

    @property
    def digits(self) -> int:
        """Decimal places that resolve δ."""
        return len(str(int(1 / self.delta))) + 20


def find_parts(composition: Composition, events: Sequence[KernelEvent], side: Side) -> list[Part]:
    """Return the events as the kernel read them, with where their losses lie."""
    others = [e for e in composition.events if not _is_merged(e)]
    before = len(events) - len(others) - sum(event.rho is not None for event in events)
    sources: list[Event | None] = [None] * before + list(others) + [None] * len(events)
    with localcontext(curves.context(side.digits + curves.GUARD)):
        return [_find_part(event, source, side) for event, source in zip(events, sources, strict=False)]


def _is_merged(event: Event) -> bool:
    whole = event.sampling_probability == 1
    return event.mechanism is MechanismKind.ZCDP or (event.mechanism is MechanismKind.GAUSSIAN and whole)


def find_order(event: KernelEvent, side: Side) -> Fraction | None:
    """Return the Rényi order at which zCDP says most at δ, about, for the upper side of such an event."""
    if event.rho is None or not side.up:
        return None
    rho, target = float(event.rho), log(side.delta.denominator) - log(side.delta.numerator)

    def epsilon(exponent: float) -> float:
        more = exp(exponent)  # the order minus 1
        return (1 + more) * rho + (target - log1p(more)) / more - log1p(1 / more)

    low, high = log(1e-2), log(min(1e4, 9e4 / max(rho, 1) ** 0.5))
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if epsilon(left) <= epsilon(right) else (left, high)
    return 1 + _three_digits(exp(low))


def _find_part(event: KernelEvent, source: Event | None, side: Side) -> Part:
    order = find_order(event, side)
    curve = event.curve(remove=side.direction is Direction.REMOVE, up=side.up, order=order)
    few, many = (curves.decimal(tail / event.count) for tail in side.tails)

    beyond = curve(Fraction(_MOST_LOSS))[1]

    def above(loss: Fraction) -> Decimal:
        return curve(loss)[1] - beyond

    few += beyond
    ends = None if source is None else _find_ends(source, side.direction)
    if ends is not None:
        low = min(ends[0], _crossing(above, 1 - few)) if above(ends[0] - Fraction(1, 10**9)) < 1 - few else ends[0]
        high = max(ends[1], _crossing(above, many)) if above(ends[1] + Fraction(1, 10**9)) > many else ends[1]
        return Part(event, low, high, ends[1] - ends[0], Fraction(0), ends, order)
    first, last = _crossing(above, Decimal("0.84")), _crossing(above, Decimal("0.16"))
    return Part(event, _crossing(above, 1 - few), _crossing(above, many), last - first, (first + last) / 2, None, order)


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
        return Fraction(0), Fraction(1)  # any other place: all finite losses are 0
    if q == 1:
        return (-down, up) if remove else (-up, down)
    rate, rest = curves.decimal(q), curves.decimal(1 - q)
    low, high = (Fraction((rest + rate * curves.decimal(x).exp()).ln()) for x in (-down, up))
    return (low, high) if remove else (-high, -low)


def plan(parts: Sequence[Part], side: Side, *, gap: Fraction, fineness: float, work: int) -> dict[str, object]:
    """Return a grid in the words of a certificate, with cells of about sqrt(12 gap/(count events))/fineness and at most ``work`` digits."""
    size = max(1.0, sum(float(p.event.count * max(p.centre, Fraction(0))) + 3 * float(p.middle) * sqrt(p.event.count) for p in parts))
    shares = [sqrt(12 * gap * size / (part.event.count * len(parts))) for part in parts]
    aligned = next((part.ends for part in sorted(parts, key=lambda p: -p.event.count) if part.ends is not None), None)
    digits = len(str(int(1 / side.delta))) + len(str(max(part.event.count for part in parts))) + 8
    widths = [
        (share if part.ends is not None else min(share, max(float(part.middle) / 4, share / 2**6))) / fineness
        for share, part in zip(shares, parts, strict=True)
    ]
    if aligned is None:
        finest = (float(part.high - part.low) * 1.01 / _most_cells(digits, work) for part in parts)
        unit = _three_digits(min(map(max, widths, finest)))
    else:
        unit = aligned[1] - aligned[0]
        unit = unit if unit.denominator < 10**40 else Fraction(floor(unit * 10**40), 10**40)
        unit /= 2 ** max(0, ceil(log2(float(unit) / min(widths))))  # so that atoms stay on the grid when the cells double
    step = Fraction(1, 10 ** (digits - 4))  # atoms lie just above points of the grid
    entries = list[dict[str, object]]()
    for part, width in zip(parts, widths, strict=True):
        level = max(0, floor(log2(width / float(unit))))
        while (part.high - part.low) / (unit * 2**level) > _most_cells(digits, work):
            level += 1
        h, offset = unit * 2**level, Fraction(0)
        if part.ends is not None:
            offset = Fraction(floor(part.ends[0] * 10**digits), 10**digits) - step
            low, high = floor((part.low - offset) / h), max(1, ceil((part.high - offset - 2 * step) / h))
        else:
            low, high = floor(part.low / h), ceil(part.high / h) + 1
        near = max(_NEAR, ceil(2 * part.middle / h)) if part.ends is None else max(_NEAR, high - low)
        centre = min(max(round((part.centre - offset) / h), low), high)
        squarings = part.event.count.bit_length() - 1
        doublings = [int(k >= _SETTLED and (k - _SETTLED) % 2 == 0) for k in range(squarings)]
        entries.append(
            {"offset": exact_text(offset), "level": level, "low": low, "high": high, "centre": centre, "near": near, "doublings": doublings}
            | ({} if part.order is None else {"order": exact_text(part.order)})
        )
    return {"digits": digits, "unit": exact_text(unit), "tails": [exact_text(tail) for tail in side.tails], "events": entries}


def find_work(gap: Fraction) -> int:
    """Return how many digits the masses of one event may have: more for a smaller gap than that of the default."""
    return _FEW_DIGITS if gap >= Fraction(1, 1000) else MOST_DIGITS


def is_full(grid: Mapping[str, Any], work: int) -> bool:
    """Whether a law has so many cells on a grid that a finer one would be too large."""
    return any(3 * (entry["high"] - entry["low"]) > 2 * _most_cells(grid["digits"], work) for entry in grid["events"])


def _most_cells(digits: int, work: int) -> int:
    return min(MOST_CELLS, work // (2 * digits + 1))


def _three_digits(x: float) -> Fraction:
    scale = Fraction(10) ** (2 - floor(log10(x)))
    return floor(x * scale) / scale
