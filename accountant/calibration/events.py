"""The least noise, the most uses or the largest sampling probability of one event for a target (ε, δ): searched, then certified.

Claim: at the returned value δ(ε) ≤ δ is proved in both directions, so that the target is met. Nothing about the search is trusted: not
even that δ(ε) falls with the noise. ``beyond`` is a value next to it at which δ(ε) > δ is proved, so that no use can come so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from accountant.compositions.bounds import guess_epsilon
from accountant.compositions.events import MOST_USES, Composition, Event, parameter_names
from accountant.compositions.queries import point_at_delta, point_at_epsilon, to_delta, to_epsilon, to_gap
from accountant.compositions.toml_format import DeclaredEvents
from accountant.curves.accounting import Account, account
from profiles import Infeasible, InvalidArgument, Undecided, decimal_text, exact_text
from profiles.hypotheses import MATRIX_BOUNDED, MATRIX_MECHANISM
from profiles.numbers import bisect, log_fraction, to_number
from profiles.protection import Unit

_TOLERANCE = "1e-3"
_GAP = "1e-2"
_COUNTED = 10_000  # to one part in so many a count is found: the ends of δ of one more use lie in each other long before
_ROUGH = Fraction(1, 50)  # between the ends of ε at δ, where these decide
#: The parameters that are noise: more of them is more private.
_NOISE = ("noise_multiplier", "scale")
_DOUBLINGS = 45
_LEAST_RATE = Fraction(1, 10**15)
_TURNS = 60  # of a search for a count, of which every fourth halves its logarithm's range
_SLOPE = 20.0  # of log delta in the logarithm of a count, before it is known
_LITTLE, _CLOSE, _SMALL = 1e-12, 0.02, Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class CalibratedEvents:
    """A composition whose one event was calibrated: ``name`` (of a parameter, or ``count``) has the exact ``value``.

    ``account``: at the target ε, with δ ≤ the target δ. ``beyond``: the value next to it, on the other side, where δ(ε) is proved to be
    above the target δ; None where that is not proved, or no such value is allowed.
    """

    name: str
    value: Fraction
    beyond: Fraction | None
    account: Account
    target_epsilon: Fraction
    target_delta: Fraction

    def describe(self) -> str:
        """Return what was found in one sentence."""
        target = f"({_short(self.target_epsilon)}, {_short(self.target_delta)})"
        sentence = f"{self.name} = {exact_text(self.value)} meets the target {target}"
        if self.beyond is None:
            return f"{sentence}; it is not proved that nothing beyond it does"
        return f"{sentence}, and {exact_text(self.beyond)} does not"

    def to_json(self) -> dict[str, Any]:
        beyond = None if self.beyond is None else exact_text(self.beyond)
        target = {"epsilon": exact_text(self.target_epsilon), "delta": exact_text(self.target_delta)}
        return {"name": self.name, "value": exact_text(self.value), "beyond": beyond, "target": target}


def find_least_noise(
    composition: Composition | DeclaredEvents, epsilon: object, delta: object, *, tolerance: object = _TOLERANCE, gap: object = _GAP
) -> CalibratedEvents:
    """Return the least noise of the one event of ``composition`` for the target, rounded up, within the relative ``tolerance``.

    ``gap``: how far apart the ends of each δ may be, relatively. Raises :class:`InvalidArgument` (several events, or one without a noise
    parameter; a bad target), :class:`Infeasible` where no noise meets the target, and what its bounds raise.

    >>> from accountant.curves import make_event
    >>> sums = Composition("sums", (make_event("gaussian", {"noise_multiplier": 1}, count=16),))
    >>> exact_text(find_least_noise(sums, 1, "1e-6").value)
    '16.906'
    """
    search = _Search.of(composition, epsilon, delta, gap)
    event = search.event
    names = [name for name in parameter_names(event.mechanism) if name in _NOISE]
    if not names:
        raise InvalidArgument(
            f"the least noise of {event.mechanism.value!r} was asked for, but it has no noise parameter; calibrate count or sampling"
        )
    wanted = _to_tolerance(tolerance)

    def build(value: Fraction) -> Event:
        return replace(event, parameters=tuple((name, value if name in names else kept) for name, kept in event.parameters))

    def enough(value: Fraction) -> bool:
        return search.meets(build(value))

    guess = _guess_noise(event, search)
    low, high = _bracket(enough, guess, Fraction(2), f"noise of {search.name[:60]!r}")
    step = _decimal_step(low, wanted)
    low_steps, high_steps = bisect(lambda n: enough(n * step), low // step, -(-high // step), lambda a, b: b - a <= a * wanted)
    return search.conclude(names[0], high_steps * step, low_steps * step, build)


def find_most_uses(composition: Composition | DeclaredEvents, epsilon: object, delta: object, *, gap: object = _GAP) -> CalibratedEvents:
    """Return how often the one event of ``composition`` can be used for the target: exactly up to 10,000 times, to four digits beyond.

    Raises :class:`Infeasible` where one use is too many, and as :func:`find_least_noise`.
    """
    search = _Search.of(composition, epsilon, delta, gap)
    event = search.event

    def build(value: Fraction) -> Event:
        return replace(event, count=int(value))

    def excess(count: int) -> float:
        return search.excess(build(Fraction(count)))

    if excess(1) > 0:
        raise Infeasible(f"uses of {search.name[:60]!r} for {search.target} were asked for, but one is too many; add noise")
    low, high = _find_root(excess, _guess_uses(search, build))
    if high > MOST_USES > low:  # closer to the most that may be asked for than four digits tell
        low, high = (MOST_USES, high) if excess(MOST_USES) <= 0 else (low, MOST_USES)
    return search.conclude("count", Fraction(low), Fraction(high) if high <= MOST_USES else None, build)


def find_largest_rate(
    composition: Composition | DeclaredEvents, epsilon: object, delta: object, *, tolerance: object = _TOLERANCE, gap: object = _GAP
) -> CalibratedEvents:
    """Return the largest sampling probability of the one event for the target, rounded down, within the relative ``tolerance``.

    Raises :class:`Infeasible` where even 1e-15 is too much, and as :func:`find_least_noise`.
    """
    search, wanted = _Search.of(composition, epsilon, delta, gap), _to_tolerance(tolerance)
    event = search.event
    if event.batches is not None:
        raise InvalidArgument(
            f"the largest sampling probability was asked for, but that of {event.batches.describe()} follows from the batches; calibrate "
            "noise or count"
        )

    def build(value: Fraction) -> Event:
        return replace(event, sampling_probability=value)

    def fails(rate: Fraction) -> bool:
        return not search.meets(build(rate))

    high = Fraction(1)
    if not fails(high):
        return search.conclude("sampling_probability", high, None, build)
    low = high / 2
    while fails(low):
        low, high = max(low / 4, _LEAST_RATE), low
        if high == _LEAST_RATE:
            raise Infeasible(f"a sampling probability of {search.name[:60]!r} for {search.target} was asked for, but none is; add noise")
    step = _decimal_step(low, wanted)
    low_steps, high_steps = bisect(lambda n: fails(n * step), -(-low // step), high // step, lambda a, b: b - a <= a * wanted)
    return search.conclude("sampling_probability", low_steps * step, high_steps * step, build)


@dataclass(frozen=True, slots=True)
class _Search:
    """What is searched for: δ(``epsilon``) ≤ ``delta`` in both directions."""

    declared: DeclaredEvents
    epsilon: Fraction
    delta: Fraction
    gap: Fraction

    @classmethod
    def of(cls, given: Composition | DeclaredEvents, epsilon: object, delta: object, gap: object) -> _Search:
        declared = given if isinstance(given, DeclaredEvents) else DeclaredEvents(given, Unit.RECORD, None, ())
        if len(events := declared.composition.events) != 1:
            raise InvalidArgument(
                f"{declared.composition.name[:60]!r} was to be calibrated, but it has {len(events)} different events; calibrate one event"
            )
        if any(item.id in (MATRIX_MECHANISM.id, MATRIX_BOUNDED.id) for item in declared.hypotheses):
            raise InvalidArgument(
                f"{declared.composition.name[:60]!r} was to be calibrated, but its event is a matrix mechanism, whose noise is counted in "
                "units of the sensitivity of the matrix; use pdp account --matrix C.npy --calibrate noise"
            )
        return cls(declared, to_epsilon(epsilon), to_delta(delta), to_gap(gap))

    @property
    def event(self) -> Event:
        return self.declared.composition.events[0]

    @property
    def name(self) -> str:
        return self.declared.composition.name

    @property
    def target(self) -> str:
        return f"epsilon = {_short(self.epsilon)} and delta = {_short(self.delta)}"

    def meets(self, event: Event) -> bool:
        """Whether δ(ε) ≤ δ is proved. Far from the target ε at δ, which is moderate, tells at once; δ at ε may be of any size."""
        made = Composition(self.name, (event,))
        with suppress(Undecided):
            about = point_at_delta(made, self.delta, _ROUGH)
            if about.upper is not None and about.upper <= self.epsilon:
                return True
            if about.lower is None or about.lower > self.epsilon:
                return False
        upper = point_at_epsilon(made, self.epsilon, self.gap).upper
        return upper is not None and upper <= self.delta

    def excess(self, event: Event) -> float:
        """Return log(δ(ε)/δ) by the proved upper end, infinite where there is none: at most 0 if and only if δ(ε) ≤ δ is proved."""
        upper: Fraction | None = None
        with suppress(Undecided):
            upper = point_at_epsilon(Composition(self.name, (event,)), self.epsilon, self.gap).upper
        if upper is None or not self.delta:
            return 0.0 if upper == 0 else math.inf
        above = log_fraction(upper / self.delta) if upper else -math.inf
        return min(above, 0.0) if upper <= self.delta else max(above, _LITTLE)

    def conclude(self, name: str, value: Fraction, beyond: Fraction | None, build: Callable[[Fraction], Event]) -> CalibratedEvents:
        made = account(replace(self.declared, composition=Composition(self.name, (build(value),))), epsilon=self.epsilon, gap=self.gap)
        if made.point.upper is None or made.point.upper > self.delta:
            raise Infeasible(f"{name} of {self.name[:60]!r} for {self.target} was asked for, but none could be certified; add noise")
        if beyond is not None:
            beyond = self._find_beyond(value, beyond, build)
        return CalibratedEvents(name, value, beyond, made, self.epsilon, self.delta)

    def _find_beyond(self, value: Fraction, beyond: Fraction, build: Callable[[Fraction], Event]) -> Fraction | None:
        """Return a value beyond the one that was found at which δ(ε) > δ is proved: the next one, or one a few times as far away."""
        for times in (1, 4, 16):
            farther = value + times * (beyond - value)
            with suppress(InvalidArgument, Undecided):
                other = point_at_epsilon(Composition(self.name, (build(farther),)), self.epsilon, self.gap)
                if other.lower is not None and other.lower > self.delta:
                    return farther
        return None


def _find_root(excess: Callable[[int], float], guess: int) -> tuple[int, int]:
    """Return counts next to each other, to four digits, of which the first is enough and the second too many.

    ``excess`` is at most 0 at 1, and taken to be above 0 beyond ``MOST_USES``; about a line in the logarithm of the count.
    """
    low, high, at = 1, MOST_USES + 1, guess
    known = dict[float, float]()
    for turn in range(_TURNS):
        above = excess(at := min(max(at, low + 1), high - 1))
        low, high = (at, high) if above <= 0 else (low, at)
        least = max(1, low // _COUNTED)
        if high - low <= least:
            break
        if abs(above) < math.inf:
            known[math.log(at)] = above
        steepness, place = _line(known)
        wide = high - low
        if turn % 4 == 3 or not steepness or not known:
            at = math.isqrt(low * high)  # lines may lead nowhere
            continue
        at = round(math.exp(min(max(place, 0.0), math.log(high))))
        near = max(least // 3, 1)  # beside it, on the side of the end that is farther away
        at += (-near if at - low > high - at else near) if wide > 4 * near else 0
    return low, high


def _line(known: dict[float, float]) -> tuple[float, float]:
    """Return the slope of the line through the two points of the least values, or a guess with one, and where it is 0."""
    points = sorted(known.items(), key=lambda point: abs(point[1]))[:2]
    if not points:
        return 0.0, 0.0
    (x, y), slope = points[0], _SLOPE
    if len(points) > 1 and points[1][0] != x:
        slope = (points[1][1] - y) / (points[1][0] - x)
    return (slope, x - y / slope) if slope > 0 else (0.0, x)


def _guess_uses(search: _Search, build: Callable[[Fraction], Event]) -> int:
    """Return about how many uses have the target ε at δ by Chernoff's bound, between 2 and ``MOST_USES``."""
    low, high = 0.0, math.log(MOST_USES)
    delta = search.delta or _SMALL
    while high - low > _CLOSE:
        middle = (low + high) / 2
        made = Composition(search.name, (build(Fraction(round(math.exp(middle)))),))
        few = False
        with suppress(Undecided):  # losses beyond all grids are too many
            few = guess_epsilon(made, delta) <= search.epsilon
        low, high = (middle, high) if few else (low, middle)
    return round(math.exp((low + high) / 2))


def _bracket(enough: Callable[[Fraction], bool], guess: Fraction, factor: Fraction, what: str) -> tuple[Fraction, Fraction]:
    """Return low < high, a factor apart, where the first is not enough and the second is. Raises :class:`Infeasible`."""
    value, fits = guess, enough(guess)
    with suppress(InvalidArgument):  # as much, or as little, is not accounted for
        for _ in range(_DOUBLINGS):
            other = value / factor if fits else value * factor
            if enough(other) != fits:
                return (other, value) if fits else (value, other)
            value = other
    raise Infeasible(
        f"the {what} was asked for, but {'any' if fits else 'no'} noise that was tried is enough; change epsilon, delta or the count"
    )


def _guess_noise(event: Event, search: _Search) -> Fraction:
    """Return a first guess: the noise at which sampled sums look like one Gaussian sum (Dong, Roth, Su 2022), as a power of two."""
    tail = math.sqrt(2 * math.log(1 / max(float(search.delta), 1e-300)))
    rough = float(event.sampling_probability) * math.sqrt(event.count) * (1 + tail) / max(float(search.epsilon), 1e-3)
    return Fraction(2) ** round(math.log2(min(max(rough, 2.0**-3), 2.0**30)))


def _decimal_step(value: Fraction, tolerance: Fraction) -> Fraction:
    """Return a power of ten that is at most a quarter of ``tolerance`` of the value: values are short decimals."""
    return Fraction(10) ** math.floor(math.log10(value * tolerance / 4))


def _to_tolerance(value: object) -> Fraction:
    return to_number(value, "the tolerance", "[1e-9, 0.5]", "give for example 1e-3")


def _short(value: Fraction) -> str:
    return decimal_text(value, 6, round_up=False)
