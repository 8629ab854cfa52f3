"""Curves of one side: a proved bound on δ at every ε, in closed form for one use and on a grid for many, and the ε where it passes a δ.

Every bound was computed by the kernel (:mod:`proofs_check.kernel.theories.compositions`); what is guessed here only decides how sharp it
is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from accountant.compositions.allocations import MOST_LOOKED_AT, find_crossing, is_replacement, plan_allocation, polish, slope_text
from accountant.compositions.certificates import share_work
from accountant.compositions.events import Direction
from accountant.compositions.largest_loss import MOST_EPSILON
from accountant.compositions.shapes import Side, find_order
from profiles import Undecided, exact_text
from profiles.numbers import decimal_above, decimal_below
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.theories.compositions import bounds as compositions
from proofs_check.kernel.theories.compositions import curves
from proofs_check.kernel.theories.compositions.batches import Batches
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent
from proofs_check.kernel.theories.compositions.lattices import Lattice, LossDistributions

#: The largest ε whose exponential the kernel computes; the curve of Gaussian noise alone has none, and goes up to that of any claim.
MOST_ON_GRIDS = 1 << 29
#: Smaller deltas are only told to be below this: on grids, and in closed forms.
LEAST_DELTA, LEAST_CLOSED = Fraction(1, 10**100), Fraction(1, 10**319)
#: Of the numbers that claims state.
DIGITS = 15
#: Times the cells of the lattice of an epoch may become twice as wide.
COARSER = 3
_LOOK = 2e-6  # of an epsilon, where each look at it takes a convolution


@dataclass(frozen=True, slots=True)
class ProvedCurve:
    """A proved curve of one side: the bound on δ at ε, about where it passes a δ, and how a certificate says how it was found."""

    delta: Callable[[Fraction], Fraction]
    guess: Callable[[Fraction], float | None]
    fields: Mapping[str, object]
    most: int = MOST_ON_GRIDS
    look: Callable[[Fraction], Mapping[str, object]] | None = None  # at an epsilon of its own, where each has a proof of its own
    step: float = 1e-13  # relatively, how far from the guess an epsilon is looked for first

    def epsilon_above(self, delta: Fraction) -> Fraction | None:
        """Return an ε at which the curve is at most δ, close to the least one."""
        guess, step = self.guess(delta), self.step
        if not guess and self.delta(Fraction(0)) <= delta:
            return Fraction(0)
        while guess is not None and step < 1:
            epsilon = decimal_above(Fraction(guess) * (1 + Fraction(step)) + Fraction(step) / 1000, DIGITS)
            if self.delta(epsilon) <= delta:
                return epsilon
            step *= 8
        return None

    def epsilon_below(self, delta: Fraction) -> Fraction | None:
        """Return an ε at which the curve is above δ, close to the largest one; 0 if there is none; None if there is no end of them."""
        guess, step = self.guess(delta), self.step
        if guess is None and self.delta(Fraction(self.most)) > delta:
            return None
        while guess and step < 1:
            epsilon = decimal_below(Fraction(guess) * (1 - Fraction(step)), DIGITS)
            if epsilon > 0 and self.delta(epsilon) > delta:
                return epsilon
            step *= 8
        return Fraction(0)

    def claim(self, direction: Direction, epsilon: Fraction, delta: Fraction, *, up: bool) -> dict[str, object]:
        """Return the claim of a certificate that δ at ε is at most, or at least, ``delta``."""
        stated = {"direction": direction.value, "epsilon": exact_text(epsilon), "bound": exact_text(delta)}
        fields = self.fields if self.look is None else self.look(epsilon)
        return {"claim": "delta-upper" if up else "delta-lower", "verdict": "proved", **stated, **fields}


#: What is known from below where no lower curve was computed.
ZERO_CURVE = ProvedCurve(lambda _: Fraction(0), lambda _: 0.0, {})
#: What is known from above where no upper curve was computed.
ONE_CURVE = ProvedCurve(lambda _: Fraction(1), lambda _: None, {})


def find_least_delta(events: Sequence[KernelEvent]) -> Fraction:
    """Return the least δ that a curve of these events is made sharp for."""
    return LEAST_CLOSED if len(events) == 1 and events[0].count == 1 else LEAST_DELTA


def find_largest_epsilon(events: Sequence[KernelEvent]) -> int:
    """Return the largest ε at which the kernel computes δ of these events."""
    return int(MOST_EPSILON) if len(events) == 1 and events[0].m is not None else MOST_ON_GRIDS


def curve_of_one_use(event: KernelEvent, side: Side) -> ProvedCurve:
    """Return the curve of one use of a mechanism, which needs no grid."""
    if event.batches is not None and is_replacement(event, up=side.up):
        return _look_once(event.batches.m, event.batches.size["steps_per_epoch"], side.delta, up=side.up)
    digits, order = _count_digits(side.delta), find_order(event, side)
    most, context = find_largest_epsilon([event]), curves.context(digits + curves.GUARD)
    with localcontext(context):
        delta, linear = _closed_form(event, side, order)

    def about(epsilon: Fraction) -> Fraction:
        with localcontext(context):
            try:
                return Fraction(int(delta(epsilon).scaleb(digits)), 10**digits)
            except Rejected as problem:
                raise _no_look(epsilon, problem) from problem

    def guess(target: Fraction) -> float | None:
        low, high = 0.0, 1.0
        while about(Fraction(high)) > target and high < most:
            low, high = high, high * 2
        if about(Fraction(high)) > target:
            return None
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if about(Fraction(middle)) > target else (low, middle)
        return high if about(Fraction(low)) > target else low

    error = Fraction(2 if side.up else -2, 10**digits)
    fields = ({} if order is None else {"order": exact_text(order)}) | ({} if linear is None else {"linear": linear})
    return ProvedCurve(lambda epsilon: max(about(epsilon) + error, Fraction(0)), guess, fields, most)


@lru_cache(maxsize=16)
def _look_once(m: Fraction, steps: int, delta: Fraction, *, up: bool) -> ProvedCurve:
    """Return the curve of one epoch of random allocation where a record is replaced, which is computed for each ε anew.

    It is one curve for both directions. ``delta``: where it is to be sharp.
    """
    batches = Batches("random-allocation", "replace-one", m, {"steps_per_epoch": steps, "participations": 1})
    base, digits = partial(curves.gaussian, m), _count_digits(delta)
    event = KernelEvent(base, base, Fraction(1), 1, batches=batches)
    seen, most = dict[Fraction, tuple[Fraction, Mapping[str, object]]](), [0]  # halvings of cells that have not been found to be too many

    def look(epsilon: Fraction) -> tuple[Fraction, Mapping[str, object]]:
        while epsilon not in seen:
            linear = plan_allocation(event, float(delta), remove=True, up=up, finer=most[0], slope=slope_text(epsilon))
            try:
                bound = compositions.closed_form(event, epsilon, digits, remove=True, up=up, linear=linear, meter=share_work())
            except Rejected as problem:
                if most[0] <= -COARSER:
                    raise _no_look(epsilon, problem) from problem
                most[0] -= 1
            else:
                seen[epsilon] = bound, {"linear": linear}
        return seen[epsilon]

    def guess(target: Fraction) -> float | None:
        try:
            about = find_crossing(m, steps, float(target))
        except Rejected as problem:
            raise _no_look(Fraction(0), problem) from problem
        if not 0 < about[0] < MOST_LOOKED_AT:
            return None if about[0] else 0.0
        return polish(lambda epsilon: look(epsilon)[0], target, about)

    return ProvedCurve(lambda epsilon: look(epsilon)[0], guess, {}, MOST_LOOKED_AT, lambda epsilon: look(epsilon)[1], _LOOK)


def _no_look(epsilon: Fraction, problem: Rejected) -> Undecided:
    return Undecided(f"the privacy curve of one use was asked for at {float(epsilon):.4g} nats, but {problem}; account for other numbers")


def _count_digits(delta: Fraction) -> int:
    return len(str(delta.denominator)) + 20


def _closed_form(
    event: KernelEvent, side: Side, order: Fraction | None
) -> tuple[Callable[[Fraction], Decimal], Mapping[str, object] | None]:
    """Return δ of one use in the current context, and the lattice of an epoch: the finest one that the kernel has time for."""
    remove = side.direction is Direction.REMOVE
    for finer in range(0, -COARSER, -1):
        linear = plan_allocation(event, float(side.delta), remove=remove, up=side.up, finer=finer)
        try:
            return event.delta(remove=remove, up=side.up, order=order, linear=linear, meter=share_work() if linear else None), linear
        except Rejected:
            if linear is None or finer == 1 - COARSER:
                raise
    raise Rejected("no lattice of an epoch is coarse enough")


def compose_on_grid(events: list[KernelEvent], side: Side, grid: Mapping[str, object], meter: Meter) -> ProvedCurve:
    """Return the curve of many uses. Raises ``Rejected`` where the grid is larger than what the kernel works with."""
    lattice, laws = compositions.compose(events, grid, remove=side.direction is Direction.REMOVE, up=side.up, meter=meter)
    return curve_of_laws(lattice, laws, {"grid": grid})


def curve_of_laws(lattice: Lattice, laws: LossDistributions, fields: Mapping[str, object]) -> ProvedCurve:
    """Return the curve of laws of losses, which is on the side of the lattice."""
    scale, first, last = 1 << lattice.bits, laws[0], laws[-1]
    places = [
        (float(first.shift) + (low + np.arange(len(cells))) * float(lattice.width(level)), cells, last.parts[level][1])
        for level, (low, cells) in first.parts.items()
    ]
    loss = np.concatenate([x for x, _, _ in places])
    above = np.array([cell / scale for _, cells, _ in places for cell in cells])
    # a lower curve's masses under Q may be as large as exp(loss) times those under P: beyond what a double holds
    below = np.array([math.log(cell) if cell else -math.inf for _, _, cells in places for cell in cells]) - lattice.bits * math.log(2)

    def about(epsilon: float) -> float:
        with np.errstate(over="ignore", under="ignore"):
            return float(np.sum(np.fmax(above - np.exp(below + (epsilon - loss)), 0.0)))

    def guess(target: Fraction) -> float | None:
        finite = float(target - Fraction(first.beyond, scale))  # may be a very small part of both
        if about(0.0) <= finite:
            return 0.0
        low, high = 0.0, max(float(np.max(loss)), 0.0) + 1
        if finite <= 0:
            return None
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if about(middle) > finite else (low, middle)
        return high

    return ProvedCurve(partial(lattice.delta, laws), guess, fields)
