"""Where Abs, Min, Max or Piecewise in one statistic change their branch, so that a proof has to split its range; nothing trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from accountant.worst_case.branch import Box
from profiles.evaluation import exact_value
from profiles.terms import Term, children, free_symbols
from proofs_check.enclosures import Enclosure, ball

_MOST = 6
_SCAN = 64
_HALVINGS = 45


@dataclass(frozen=True, slots=True)
class Kink:
    """A branch changes at ``lo`` = ``hi``, or between them where the place is not found exactly."""

    name: str
    lo: Fraction
    hi: Fraction


def find_kinks(term: Term, box: Box) -> Sequence[Kink]:
    """Return places inside ``box``, in order and apart, where a difference of branches in one statistic is 0 or changes its sign."""
    found: list[Kink] = []
    for difference in _differences(term):
        names = free_symbols(difference)
        if len(names) != 1 or not names <= set(box):
            continue
        (name,) = names
        for lo, hi in _roots(difference, name, box[name]):
            if not any(kink.name == name and kink.lo <= hi and lo <= kink.hi for kink in found):
                found.append(Kink(name, lo, hi))
    return sorted(found[:_MOST], key=lambda kink: (kink.name, kink.lo))


def _differences(term: Term) -> Iterator[Term]:
    stack, seen = [term], set()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if current[0] == "abs":
            yield current[1]
        elif current[0] in ("min", "max"):
            yield from (("add", current[1], ("neg", other)) for other in current[2:])
        elif current[0] == "piecewise":
            yield from (("add", c[1], ("neg", c[2])) for _, c in current[1:] if c[0] != "true")
        stack.extend(children(current))


def _roots(difference: Term, name: str, bounds: tuple[Fraction, Fraction]) -> Iterator[tuple[Fraction, Fraction]]:
    lo, hi = bounds
    points = [lo + (hi - lo) * Fraction(k, _SCAN) for k in range(_SCAN + 1)]
    signs = [_sign(difference, name, point) for point in points]
    for index, sign in enumerate(signs):
        if sign == 0 and lo < points[index] < hi:
            yield points[index], points[index]
    for index in range(_SCAN):
        left, right = signs[index], signs[index + 1]
        if left is not None and right is not None and left * right < 0:
            yield _bisect(difference, name, (points[index], points[index + 1]), left)


def _bisect(difference: Term, name: str, bracket: tuple[Fraction, Fraction], left: int) -> tuple[Fraction, Fraction]:
    lo, hi = bracket
    for _ in range(_HALVINGS):
        simple = ((lo + hi) / 2).limit_denominator(10**6)
        for point in (simple, (lo + hi) / 2):
            sign = _sign(difference, name, point) if lo < point < hi else None
            if sign == 0:
                return point, point
            if sign is not None:
                lo, hi = (point, hi) if sign == left else (lo, point)
    return lo, hi


def _sign(term: Term, name: str, value: Fraction) -> int | None:
    exact = exact_value(term, {name: value})
    if exact is not None:
        return (exact > 0) - (exact < 0)
    ball_value = Enclosure(term).evaluate({name: ball(value)})
    return 1 if ball_value > 0 else -1 if ball_value < 0 else None
