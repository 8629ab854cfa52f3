"""Best-first branch and bound in ball arithmetic: is f ≤ target on a whole box, and what is sup f? Floats decide nothing here."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb

from profiles.balls import ball, interval, lower_fraction, upper_fraction, working_precision
from profiles.evaluation import exact_value
from profiles.terms import Term, children, free_symbols, rebuild, symbol
from profiles.variables import Variable
from proofs_check.enclosures import Enclosure, Gradient

Box = dict[str, tuple[Fraction, Fraction]]
Point = dict[str, Fraction]

#: The relative gap of a minimum; one below the second number is 0 as far as that is concerned.
_MINIMUM_GAP, _LEAST_MINIMUM = Fraction(1, 10**9), Fraction(1, 10**30)
_FUNCTIONS = frozenset({"pi", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"})
#: Choices of whole values that are looked at on one box.
_MOST_CASES = 8


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What branch and bound found about sup f on a box.

    ``proved``: f ≤ target (f < target if strict) everywhere. ``bound``: a proven upper bound of f in any case, None if not finite.
    ``counterexample``: a point where f is certainly above the target. ``boxes``: how many boxes were evaluated.
    """

    proved: bool
    bound: arb | None
    counterexample: Point | None
    boxes: int


@dataclass(frozen=True, slots=True)
class PendingBox:
    """A box that is not decided yet, the variable to bisect, and a ball whose upper end bounds f on the box."""

    box: Box
    variable: str
    value: arb

    @property
    def divisible(self) -> bool:
        """Whether it can be bisected."""
        return self.variable in self.box and self.box[self.variable][0] < self.box[self.variable][1]

    @property
    def middle(self) -> Point:
        """The centre of the box; its only point, if it has one."""
        return {name: (lo + hi) / 2 for name, (lo, hi) in self.box.items()}

    def halves(self) -> list[Box]:
        """Return the two halves of the box along the variable that is to be cut."""
        lo, hi = self.box[self.variable]
        middle = (lo + hi) / 2
        return [{**self.box, self.variable: (lo, middle)}, {**self.box, self.variable: (middle, hi)}]


@dataclass(frozen=True, slots=True)
class _Steps:
    """The floors and ceilings of a term, each with a name in its place in ``general``: bounds beside their jumps.

    Statement: on a box a floor or ceiling takes whole values only, those in the ball around it. With each of them in its place the term is
    bounded by itself, and the term is at most the largest of these bounds. A box with a jump never becomes small enough for one value; a
    ball around two whole numbers would not do, because its ends are rounded to 30 bits, and the term may contain it twice.
    """

    general: Enclosure
    steps: Mapping[str, Enclosure]

    def bound(self, box: Mapping[str, arb]) -> arb | None:
        """Return a ball whose upper end bounds the term on a box, None where the steps take too many values on it."""
        values: list[Sequence[int]] = []
        for step in self.steps.values():
            taken = step.evaluate(box)
            low, high = lower_fraction(taken), upper_fraction(taken)
            if low is None or high is None or high - low >= _MOST_CASES:
                return None
            values.append(range(-(-low.numerator // low.denominator), high.numerator // high.denominator + 1))
        cases = list(itertools.islice(itertools.product(*values), _MOST_CASES + 1))
        if not 1 <= len(cases) <= _MOST_CASES:
            return None
        largest: arb | None = None
        for case in cases:
            value = self.general.evaluate({**box, **{name: arb(whole) for name, whole in zip(self.steps, case, strict=True)}})
            largest = value if largest is None else largest.max(value)
        return largest


def _find_steps(term: Term, names: Sequence[str]) -> _Steps | None:
    """Return the outermost floors and ceilings of a term that depend on ``names``, None if there are none."""
    steps = {step: f"step {index}" for index, step in enumerate(dict.fromkeys(_steps(term, frozenset(names))))}
    if not steps:
        return None
    general = Enclosure(_replaced(term, steps))
    return _Steps(general, {name: Enclosure(step) for step, name in steps.items()})


def _steps(term: Term, names: frozenset[str]) -> Iterator[Term]:
    if term[0] in ("floor", "ceiling") and free_symbols(term) & names:
        yield term
        return
    for part in children(term):
        yield from _steps(part, names)


def _replaced(term: Term, steps: Mapping[Term, str]) -> Term:
    return symbol(steps[term]) if term in steps else rebuild(term, lambda part: _replaced(part, steps))


class Bounded(Protocol):
    """A function on boxes, ready to be maximised."""

    def at(self, point: Mapping[str, Fraction]) -> arb:
        """Return a ball around the value at a point."""

    def above(self, box: Box) -> PendingBox:
        """Return what is left to decide about sup f on a box: a part of it, and a ball whose upper end bounds f on that part."""


class SearchedTerm:
    """A term on records, ready for bounds on boxes and values at points."""

    __slots__ = ("_enclosure", "_rational", "_steps", "names", "term")

    def __init__(self, term: Term, names: tuple[str, ...]) -> None:
        self.term, self.names = term, names
        self._enclosure, self._steps, self._rational = Enclosure(term), _find_steps(term, names), _is_by_arithmetic(term)

    def at(self, point: Mapping[str, Fraction]) -> arb:
        """Return a ball around the value at a point: the exact value where it is rational by arithmetic."""
        exact = exact_value(self.term, point) if self._rational else None
        return self._enclosure.evaluate({name: ball(value) for name, value in point.items()}) if exact is None else ball(exact)

    def gradient(self, box: Box) -> Gradient:
        """Return balls around the partial derivatives on ``box`` (None: exactly 0)."""
        return self._over(box)[1]

    def _over(self, box: Box) -> tuple[arb, Gradient]:
        return self._enclosure.evaluate_with_gradient({name: interval(lo, hi) for name, (lo, hi) in box.items()}, self.names)

    def above(self, box: Box) -> PendingBox:
        """Return what is left to decide about sup f on ``box``: a face of it, and a ball whose upper end bounds f on that face.

        Along a variable in which f is monotone on the box, only its better end is kept, and the rest is looked at again. The ball is the
        smaller one of the natural enclosure and the mean-value form f(m) + Σ g_i (X_i − m_i).
        """
        face = box
        while True:
            value, gradient = self._over(face)
            smaller = _face(face, self.names, gradient)
            if smaller == face:
                break
            face = smaller
        if any(slope is not None and not slope.is_finite() for slope in gradient):
            widest = max(self.names, key=lambda name: (face[name][1] - face[name][0], name), default="")
            cases = None if self._steps is None else self._steps.bound({name: interval(lo, hi) for name, (lo, hi) in face.items()})
            return PendingBox(face, widest, cases if cases is not None and cases.is_finite() else value)
        middle = {name: (lo + hi) / 2 for name, (lo, hi) in face.items()}
        centred = self.at(middle)
        variable, most = "", -1.0
        for name, slope in zip(self.names, gradient, strict=True):
            lo, hi = face[name]
            if slope is not None and lo < hi:
                centred += slope * interval(lo - middle[name], hi - middle[name])
                effect = float(abs(slope).upper()) * float(hi - lo)
                variable, most = (name, effect) if effect > most else (variable, most)
        return PendingBox(face, variable, centred if not value.is_finite() or centred.upper() < value.upper() else value)


def _is_by_arithmetic(term: Term) -> bool:
    """Tell whether a term has rational values but at single points; where it always takes a function, no exact value is tried."""
    if term[0] == "piecewise":
        return True
    return term[0] not in _FUNCTIONS and all(_is_by_arithmetic(part) for part in children(term))


def _face(box: Box, names: tuple[str, ...], gradient: Gradient) -> Box:
    face = dict(box)
    for name, slope in zip(names, gradient, strict=True):
        lo, hi = box[name]
        if slope is None or slope >= 0:
            face[name] = (hi, hi)
        elif slope <= 0:
            face[name] = (lo, lo)
    return face


def prove_at_most(
    objective: SearchedTerm, box: Box, target: arb, budget: int, *, exact: Fraction | None = None, strict: bool = False
) -> SearchOutcome:
    """Decide f ≤ ``target`` on ``box`` with at most ``budget`` boxes, at the working precision.

    ``exact`` is the target as a rational number, where it is one: then a record at which f equals it exactly does not stop the proof.
    """

    def clears(piece: PendingBox) -> bool:
        if (piece.value < target) if strict else (piece.value <= target):
            return True
        return not piece.divisible and exact is not None and _exactly_below(objective, piece.middle, exact, strict=strict)

    left, count, above = _search(objective, box, budget, clears, lambda middle: objective.at(middle) > target, onward=False)
    bound = None if above is not None else _largest([piece.value for piece in left], target)
    return SearchOutcome(proved=not left and above is None, bound=bound, counterexample=above, boxes=count)


@dataclass(frozen=True, slots=True)
class Supremum:
    """``lower`` ≤ sup f ≤ ``upper``, the first one a value of f, at ``at``; −∞ or ∞ where nothing finite was found."""

    lower: arb
    upper: arb
    at: Point

    def exact(self) -> tuple[Fraction, Fraction] | None:
        """Return the exact ends, None where one is not finite."""
        lower, upper = lower_fraction(self.lower), upper_fraction(self.upper)
        return None if lower is None or upper is None else (lower, max(lower, upper))


def enclose_supremum(objective: Bounded, box: Box, gap: Fraction, budget: int, *, least: Fraction) -> Supremum:
    """Enclose sup f over ``box`` with at most ``budget`` boxes, at the working precision: upper − lower ≤ gap·max(|lower|, ``least``) where
    they are enough for that, and as small as they make it elsewhere.
    """
    share, floor, cleared = ball(gap), ball(least), arb("-inf")
    best, at = arb("-inf"), {name: lo for name, (lo, _) in box.items()}
    target = best

    def clears(piece: PendingBox) -> bool:
        nonlocal cleared
        if not piece.value <= target:
            return False
        cleared = cleared.max(piece.value.upper())
        return True

    def looks(middle: Point) -> bool:
        nonlocal best, at, target
        value = objective.at(middle)
        if value.is_finite() and value.lower() > best:
            best, at = value.lower(), middle
            target = best + share * abs(best).max(floor)
        return False

    left, _, _ = _search(objective, box, budget, clears, looks, onward=True)
    upper = _largest([piece.value for piece in left], cleared.max(best))
    return Supremum(best, arb("inf") if upper is None else upper, at)


def minimum_enclosure(term: Term, box: Sequence[Variable], budget: int = 6000) -> tuple[Fraction, Fraction] | None:
    """Return exact numbers below and above min over ``box`` of a defined, continuous term; None where no finite number was found.

    The interval is as narrow as ``budget`` boxes allow (relative gap 1e-9 aimed at); all ranges must be finite.
    """
    objective = SearchedTerm(("neg", term), tuple(variable.name for variable in box))
    sides = {variable.name: (variable.lo, variable.lo if variable.hi is None else variable.hi) for variable in box}
    with working_precision(96):
        enclosure = enclose_supremum(objective, sides, _MINIMUM_GAP, budget, least=_LEAST_MINIMUM).exact()
    return None if enclosure is None else (-enclosure[1], -enclosure[0])


def _search(
    objective: Bounded, box: Box, budget: int, clears: Callable[[PendingBox], bool], stops: Callable[[Point], bool], *, onward: bool
) -> tuple[list[PendingBox], int, Point | None]:
    """Return the pieces that are not cleared after ``budget`` boxes, the number of boxes, and the middle of one at which it stopped.

    Boxes are taken by largest upper bound; each is cleared, or bisected along the variable that contributes most to its width. What clears
    may become more while the search runs, never less. ``onward``: go on where the first box can be neither cleared nor bisected.
    """
    heap: list[tuple[float, int, PendingBox]] = []
    stuck: list[PendingBox] = []
    pending: list[Box] = [box]
    count = 0
    while pending:
        for current in pending:
            count += 1
            piece = objective.above(current)
            if clears(piece):
                continue
            middle = piece.middle
            if stops(middle):
                return [*stuck, *(item for _, _, item in heap)], count, middle
            key = -float(piece.value.upper()) if piece.value.is_finite() else -math.inf
            heapq.heappush(heap, (key, count, piece))
        while heap:
            first = heap[0][2]
            if not clears(first):
                if first.divisible or not onward:
                    break
                stuck.append(first)
            heapq.heappop(heap)
        if not heap or count >= budget or not heap[0][2].divisible:
            break
        pending = heapq.heappop(heap)[2].halves()
    return [*stuck, *(item for _, _, item in heap)], count, None


def _exactly_below(objective: SearchedTerm, point: Point, exact: Fraction, *, strict: bool) -> bool:
    value = exact_value(objective.term, point)
    return value is not None and (value < exact if strict else value <= exact)


def _largest(values: list[arb], target: arb) -> arb | None:
    best = target
    for value in values:
        if not value.is_finite():
            return None
        best = best.max(value.upper())
    return best
