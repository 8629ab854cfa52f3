"""Certified integrals of piecewise analytic functions over finite and infinite ranges (Arb through python-flint)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from flint import acb, arb, fmpq

from profiles.balls import ball, working_precision
from profiles.errors import InvalidArgument, Undecided
from profiles.numbers import ExactLike, to_exact
from proofs_check.exact.enclosed import Enclosed, enclose_ball
from proofs_check.exact.lines import Line, Stretch, as_ball, as_fraction, to_fmpq

#: An integrand of a line; see :mod:`proofs_check.exact.lines`.
Integrand = Callable[[Line], Any]
#: A bound of the integral of |f| beyond a point, away from the finite part.
Tail = Callable[[Fraction], arb]

#: The width of a result is at most this multiple of it.
RELATIVE = Fraction(1, 2**45)
#: Nor is a result asked for to less than this.
ABSOLUTE = Fraction(1, 2**50_000)
_GUARD_BITS = 35
_MOST_BITS = 4096
#: In one attempt; more are needed only where the integrand is enclosed badly.
_MOST_EVALUATIONS = 200_000
_MOST_PIECES = 5_000
_MOST_BLOCKS = 24
_MOST_STEPS = 16_000
#: The first block of a ray leaves at most 2 to minus this of the rest, and each further one twice the exponent, until something is found.
_BLOCK = 20


def integrate(
    integrand: Integrand,
    low: ExactLike,
    high: ExactLike,
    *,
    left_tail: Tail | None = None,
    right_tail: Tail | None = None,
    relative: ExactLike = RELATIVE,
    absolute: ExactLike = ABSOLUTE,
) -> Enclosed:
    """Return an enclosure of ∫ f(r) dr over low ≤ r ≤ high, of width at most max(relative·|integral|, absolute).

    ``integrand(r)`` gets a :class:`Line` and returns a complex ball. On each piece between two kinks it must be the restriction of a
    function that is meromorphic near the piece, real on it; kinks are found where the laws of this package or ``is_negative`` meet
    them, and an integrand that branches in another way gives a wrong result. Where an end is ``±math.inf``,
    ``left_tail(t)`` or ``right_tail(t)`` must bound ∫ |f| over r ≤ t or r ≥ t, for every t that is asked for, and tend to 0: it is the
    caller's claim, and the certificate rests on it.

    How: Gauss–Legendre quadrature with the error bound on Bernstein ellipses and bisection (acb_calc_integrate, Johansson 2018), each
    piece mapped to [0, 1] and its worst part cut first; a ray is integrated up to a point beyond which the tail bound is negligible,
    and that bound is added on both sides. The precision is doubled, and the goals of the parts are narrowed, until the result is
    narrow enough.
    Raises :class:`InvalidArgument` for unusable ends and missing tails, :class:`Undecided` where the width is not reached.

    >>> round(integrate(lambda r: (-r).value.exp(), 0, 1).bounds().upper, 13)     # 1 − 1/e
    0.6321205588286
    """
    start, end = _read_end(low, -math.inf, "the lower end"), _read_end(high, math.inf, "the upper end")
    if start is not None and end is not None and not start <= end:
        raise InvalidArgument("the lower end of an integral must not exceed the upper one, but it does; exchange them")
    if (start is None and left_tail is None) or (end is None and right_tail is None):
        raise InvalidArgument(
            "an infinite range needs a bound of the tail, but none was given; give left_tail or right_tail, or finite ends"
        )
    goals = _read_width(relative, "the relative width"), _read_width(absolute, "the absolute width")
    if not (0 < goals[0] < 1 and goals[1] >= 0):
        raise InvalidArgument("the relative width must lie in (0, 1), the absolute one be at least 0; choose other ones")
    if start is not None and start == end:
        return Enclosed(Fraction(0), Fraction(0))
    most: Fraction | None = None
    bits, share = goals[0].denominator.bit_length() + _GUARD_BITS, Fraction(1, 16)
    while bits <= _MOST_BITS:
        with working_precision(bits):
            work = _Integration(integrand, left_tail, right_tail, goals[0] * share, goals[1] * share, most)
            integral = work.run(start, end)
        if integral is not None and integral.upper - integral.lower <= max(
            goals[0] * min(abs(integral.lower), abs(integral.upper)), goals[1]
        ):
            return integral
        most = None if integral is None else max(abs(integral.lower), abs(integral.upper))
        if work.evaluations > _MOST_EVALUATIONS // 4:
            break  # more digits would not help
        bits, share = 2 * bits, share / 2**10
    raise Undecided("the integral could not be enclosed as narrowly as asked for; give a larger relative or absolute width")


def _read_width(value: ExactLike, what: str) -> Fraction:
    return value if isinstance(value, Fraction) else to_exact(value, what)


def _read_end(value: ExactLike, infinite: float, what: str) -> fmpq | None:
    if isinstance(value, float) and value == infinite:
        return None
    return to_fmpq(to_exact(value, what))


@dataclass(slots=True)
class _Integration:
    """One attempt at a fixed working precision."""

    integrand: Integrand
    left_tail: Tail | None
    right_tail: Tail | None
    relative: Fraction
    absolute: Fraction
    #: A bound of |integral| that an attempt before has found.
    most: Fraction | None
    total: Any = 0
    pieces: int = 0
    evaluations: int = 0

    def run(self, low: fmpq | None, high: fmpq | None) -> Enclosed | None:
        """Return the enclosure of the integral, None where a ball is not finite."""
        self.total = arb(0)
        finite, rays = self._split([(low, high)])
        for stretch in finite:
            self._add(stretch)
        for ray in rays:
            self._add_ray(ray)
        return enclose_ball(self.total) if self.total.is_finite() else None

    def _split(self, ranges: list[tuple[fmpq | None, fmpq | None]]) -> tuple[list[Stretch], list[Stretch]]:
        """Return finite pieces and rays on which no kink is met at the sample point."""
        finite: list[Stretch] = []
        rays: list[Stretch] = []
        while ranges:
            low, high = ranges.pop()
            self._count()
            stretch = Stretch(low, high)
            self._evaluate(stretch)
            if stretch.kinks:
                ranges.extend(_cut(stretch))
            elif low is None and high is None:
                ranges.extend([(None, stretch.sample), (stretch.sample, None)])
            else:
                (rays if low is None or high is None else finite).append(stretch)
        return finite, rays

    def _count(self) -> None:
        self.pieces += 1
        if self.pieces > _MOST_PIECES:
            raise Undecided(f"the integrand has more than {_MOST_PIECES} pieces; integrate over a shorter range")

    def _evaluate(self, stretch: Stretch) -> acb:
        self.evaluations += 1
        if self.evaluations > _MOST_EVALUATIONS:
            raise Undecided(
                f"the integral needs more than {_MOST_EVALUATIONS} evaluations; give a shorter range or a larger relative width"
            )
        return acb(as_ball(self.integrand(Line(stretch, fmpq(1), fmpq(0)))))

    def _add(self, stretch: Stretch) -> None:
        """Add the integral over one piece with two ends; where a kink is met after all, over the parts."""
        low, high = stretch.low, stretch.high
        if low is None or high is None:
            self._add_ray(stretch)
            return
        start, width = acb(arb(low)), arb(high - low)

        def on_unit(t: acb, analytic: bool) -> acb:  # noqa: FBT001 - the signature that flint calls
            stretch.point, stretch.analytic = start + width * t, analytic
            return self._evaluate(stretch)

        known, relative = self.total.abs_lower(), ball(self.relative)
        if self.most is not None:
            # the relative goal of flint follows the magnitude of enclosures, which can be far above that of the integral
            known, relative = known.max(ball(self.most)), arb(2) ** -_MOST_BITS
        part = _integrate_on_unit(on_unit, relative, (known * ball(self.relative) + ball(self.absolute)) / width)
        if not stretch.kinks:
            self.total += part.real * width
            return
        for ends in _cut(stretch):
            self._count()
            self._add(Stretch(*ends))

    def _add_ray(self, ray: Stretch) -> None:
        """Add the integral over a ray in blocks, until the bound of the tail is negligible."""
        rightward = ray.high is None
        start: fmpq = ray.low if rightward else ray.high
        tail = self.right_tail if rightward else self.left_tail
        if tail is None:
            raise InvalidArgument("an infinite range needs a bound of the tail, but none was given; give left_tail or right_tail")
        for block in range(_MOST_BLOCKS):
            rest = abs(tail(as_fraction(start))).upper()
            enough = self.total.abs_lower() * ball(self.relative) + ball(self.absolute)
            if rest <= enough:
                self.total += arb(0, rest)
                return
            goal = enough if self.total.abs_lower() > 0 else (rest if rest.is_finite() else 1) * arb(2) ** -(_BLOCK << block)
            step = _find_step(tail, start, goal, rightward=rightward)
            end = start + step if rightward else start - step
            self._add(Stretch(start, end) if rightward else Stretch(end, start))
            start = end
        raise Undecided("the bound of the tail does not become small enough; give one that tends to 0, or a larger absolute width")


def _integrate_on_unit(integrand: Callable[[acb, bool], acb], relative: arb, absolute: arb) -> acb:
    """Return a ball around ∫ f(t) dt over [0, 1], or raise what the integrand raises.

    python-flint (0.9) ignores an exception in an integrand, other than TypeError and ValueError, and goes on with whatever the last
    result was. So none may leave it: errors are kept and raised afterwards. A signal handler can still raise before the first
    line of ``guarded``; the C wrapper of ``lru_cache`` counts the calls that were begun, and the result is kept only if all were ended.
    """
    errors: list[BaseException] = []
    ended = 0

    def guarded(t: acb, analytic: bool) -> acb:  # noqa: FBT001 - the signature that flint calls
        nonlocal ended
        value = acb(arb.nan())
        try:
            if not errors:
                value = integrand(t, analytic)
        except BaseException as error:
            errors.append(error)
        ended += 1
        return value

    counted = lru_cache(maxsize=0)(guarded)
    try:
        result = acb.integral(counted, 0, 1, rel_tol=relative, abs_tol=absolute, eval_limit=_MOST_EVALUATIONS // 2, use_heap=True)
    except SystemError as error:
        errors.append(error)
    if errors:
        raise _origin(errors[0])
    if counted.cache_info().misses != ended:
        raise Undecided("the evaluation of an integral was interrupted; call again")
    return result


def _origin(error: BaseException) -> BaseException:
    """Return the exception behind the SystemErrors of functions that ran while it was pending."""
    while isinstance(error, SystemError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _cut(stretch: Stretch) -> list[tuple[fmpq | None, fmpq | None]]:
    ends = [stretch.low, *sorted(map(to_fmpq, stretch.kinks)), stretch.high]
    return list(pairwise(ends))


def _find_step(tail: Tail, start: fmpq, goal: arb, *, rightward: bool) -> fmpq:
    """Return a power of 2 for a distance from ``start`` beyond which the tail is at most ``goal``, about the smallest."""

    def suffices(step: fmpq) -> bool:
        return bool(abs(tail(as_fraction(start + step if rightward else start - step))) <= goal)

    step = fmpq(1)
    if suffices(step):
        for _ in range(_MOST_STEPS):
            if not suffices(step / 2):
                break
            step /= 2
        return step
    for _ in range(_MOST_STEPS):
        step *= 2
        if suffices(step):
            return step
    raise Undecided("the bound of the tail does not become small enough; give one that tends to 0")
