"""The table of weights of all records: certified pairs (μ, q), and which of them bounds a record of a given ζ (docs/gaussian-weights.md).

Theorem 9: where the pair of a record that is kept with probability q and then shifted by μ has δ(ε*) ≤ δ* after T steps, so has every
record with ζ ≤ q μ that is kept with probability ζ/μ and counts μ/ζ times. Rows are found for rising μ, at each of which δ rises with q.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, sqrt

from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import Composition
from accountant.weights.gaussian.many_steps import (
    BOTH,
    PairPath,
    StepBound,
    bounds_without_grid,
    compose_pair,
    enclose_root,
    find_weight,
)
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from accountant.weights.gaussian.proved import ProvedGaussian, describe_record
from accountant.weights.gaussian.target import GaussianTarget
from profiles.balls import ball, working_precision
from profiles.errors import Infeasible
from profiles.numbers import bisect, decimal_below, decimal_text, log_fraction
from proofs_check.certificates import check_text

NAME = "one row of a table of weights"
MOST_ROWS = 600
#: Bits of μ, digits of q; bits of arithmetic for one step.
_MU_BITS, _Q_DIGITS, _BITS = 28, 8, 160
#: How far log μ goes from row to row, in units of the root of how steeply μ rises where ζ falls: for one step, and for several.
_PACES, _LONGEST = (0.016, 0.04), 0.25
#: A table ends where ζ is this small beside its first one: further down the weight is μ/ζ with the last μ.
_SPAN = Fraction(1, 10_000)
#: How close log q comes to where δ is its target, for one step and for several; and evaluations on the way of one step.
_NEAR, _NEAR_STEPS, _MOST = 1e-9, 0.003, 40
#: δ rises with q, and δ/q as well; slopes of log δ outside these are not believed.
_SLOPES = (0.9, 30.0)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A pair with δ(ε*) ≤ δ* after T steps: a record is kept with probability ``q``, and shifts the output by ``mu`` if it is."""

    mu: Fraction
    q: Fraction
    bounds: tuple[StepBound, ...] = field(repr=False)

    @property
    def zeta(self) -> Fraction:
        """The largest ζ = μ(1, x) of a record that the row serves."""
        return self.mu * self.q


@dataclass(frozen=True, slots=True)
class WeightTable:
    """Rows with rising μ and falling ζ, all certified for the ``target``: δ(ε*) ≤ δ* after its steps, each on a fresh sample.

    It is a function of these numbers and of the declared range of ζ alone, never of a data set.
    """

    target: GaussianTarget
    rows: tuple[TableRow, ...]

    @property
    def reach(self) -> Fraction:
        """The largest ζ for which the table has a weight."""
        return self.rows[0].zeta

    def shift_at(self, zeta: Fraction) -> Fraction:
        """Return the largest μ of a row that serves ζ: w = μ/ζ is feasible (Theorem 9). Raises :class:`Infeasible` beyond the table."""
        served = [row.mu for row in self.rows if zeta <= row.zeta]
        if not served:
            raise Infeasible(f"a weight for zeta = {decimal_text(zeta, 6, round_up=True)} was asked for, but the table ends below it")
        return max(served)

    def compose_row(self, row: TableRow) -> Composition:
        """Return the composition that a row is about."""
        return compose_pair(row.mu, row.q, self.target.steps, NAME)

    def certify_row(self, row: TableRow) -> dict[str, object]:
        """Return the certificate of a row: its composition, and δ in both directions at most δ*, which the kernel computes again."""
        composed = self.compose_row(row)
        claims = tuple(bound.claim(self.target.epsilon, self.target.delta) for bound in row.bounds)
        return make_certificate(composed, claims)

    def find_rejected(self, *, computed: bool = True) -> TableRow | None:
        """Return a row that the kernel does not accept, None where it accepts all of them, in both directions.

        Without ``computed``, only rows without a grid are put to it: of a table that was just made, it computed the others itself.
        """
        asked = [row for row in self.rows if computed or any(bound.grid is None for bound in row.bounds)]
        return next((row for row in asked if not self._accepts(row)), None)

    def _accepts(self, row: TableRow) -> bool:
        if tuple(bound.direction for bound in row.bounds) != BOTH:
            return False
        certificate = self.certify_row(row)
        return check_text(json.dumps(certificate)).accepted


def make_table(proved: ProvedGaussian, target: GaussianTarget, *, whole: bool = False) -> WeightTable:
    """Return the table of weights for every record of the declared domain, whose ζ is in (``proved.least``, ``proved.reach``].

    ``whole``: it begins at the largest ζ that is feasible with w = 1, as weights below the largest ones need it. Each row's δ was
    enclosed by balls (one step) or computed by the kernel (several).

    Raises :class:`Infeasible` where w = 1 exceeds the target at a record, which it names: one of the declared domain, not of the data;
    :class:`Undecided`.

    >>> from accountant.weights.gaussian.proved import prove_gaussian
    >>> from profiles import declare
    >>> noisy_sum = declare("noisy sum", notion="gaussian", mu="w*z", record={"z": ["0.15", "0.2"]})
    >>> table = make_table(prove_gaussian(noisy_sum), GaussianTarget(Fraction(1), Fraction(1, 100000), 1))
    >>> float(table.shift_at(Fraction("0.2")) / Fraction("0.2"))
    2.0084616
    """
    walk = _Walk(target.step, target.steps)
    try:
        rows = [walk.begin_whole(proved.reach) if whole else walk.begin(proved.reach)]
    except Infeasible as error:
        raise Infeasible(
            f"weights for {target.describe()} were asked for, but w = 1 already exceeds them at the record "
            f"{describe_record(proved.worst)} of the declared domain; raise the target or the noise, or narrow the range and clip "
            "each record to it"
        ) from error
    end = max(proved.least, rows[0].zeta * _SPAN)
    while rows[-1].zeta > end and rows[-1].q > 4 * target.delta / target.steps and len(rows) < MOST_ROWS:
        reached = walk.go_on(rows)
        if reached is None:
            break
        rows.append(reached)
    return WeightTable(target, tuple(rows))


@dataclass(slots=True)
class _Walk:
    """From row to row: the largest q at the next μ, where log δ rises with log q (Theorem 6)."""

    step: OneStep
    steps: int
    slope: float = 2.0
    lag: float | None = None

    def begin(self, reach: Fraction) -> TableRow:
        """Return the row of the largest ζ itself."""
        ends = (reach, reach)
        if self.steps > 1:
            first = find_weight(self.step, ends, self.steps, _Q_DIGITS - 2, NAME)
            return TableRow(first.weight * reach, 1 / first.weight, first.bounds)
        once = find_crossing(self.step, ends, _Q_DIGITS)
        weight = once.lower if once.upper is not None else 1 / self.step.delta  # δ ≤ 1/w
        return TableRow(weight * reach, 1 / weight, bounds_without_grid(self.step.delta))

    def begin_whole(self, reach: Fraction) -> TableRow:
        """Return a row of the largest ζ that is feasible without sampling, which is at least ``reach``: T steps are one of √T ζ."""
        _, root = enclose_root(self.steps)

        def fails(zeta: Fraction) -> bool:
            return not self.step.is_feasible(Fraction(1), root * zeta, _BITS)

        low, high = reach, 2 * reach
        while not fails(high):
            low, high = high, 2 * high
        width = (high - low) / 2**_MU_BITS
        low, _ = bisect(fails, low, high, lambda a, b: b - a <= width)
        largest = max(reach, _shorten(low))
        return TableRow(largest, Fraction(1), bounds_without_grid(self.step.delta))

    def go_on(self, rows: list[TableRow]) -> TableRow | None:
        """Return the next row, None where ζ no longer falls."""
        mu, place = self._aim(rows)
        row = self._solve(mu, place)
        if row is None or row.zeta >= rows[-1].zeta:  # what was learned on the way may mislead: begin at the last row again
            self.slope = 2.0
            row = self._solve(mu, log_fraction(rows[-1].q))
        return row if row is not None and row.zeta < rows[-1].zeta else None

    def _aim(self, rows: list[TableRow]) -> tuple[Fraction, float]:
        """Return the next μ, and about the log q there, by the rows before."""
        pace = _PACES[self.steps > 1]
        places = [(log_fraction(row.mu), log_fraction(row.q)) for row in rows[-3:]]
        x, y = places[-1]
        if len(places) < 2:
            mu = _shorten(rows[-1].mu * Fraction(exp(pace)))
            return mu, y - 2 * pace
        slope = (y - places[-2][1]) / (x - places[-2][0])
        steepness = 1 / max(-1 - slope, 1e-3)  # d log μ / d log (1/ζ), as log ζ = log μ + log q
        mu = _shorten(rows[-1].mu * Fraction(exp(min(max(pace * sqrt(steepness), pace / 4), _LONGEST))))
        ahead = log_fraction(mu) - x
        if len(places) == 3:
            before = (places[1][1] - places[0][1]) / (places[1][0] - places[0][0])
            bend = (slope - before) / (x - places[0][0]) * 2
            slope += bend * (x - places[1][0] + ahead) / 2
        return mu, y + slope * ahead

    def _solve(self, mu: Fraction, place: float) -> TableRow | None:
        """Return a row with this μ and about the largest q, log q being about ``place``; None where none was certified."""
        if self.steps == 1:
            return self._solve_one_step(mu, place)
        line = PairPath(
            self.step, self.steps, lambda at: (mu, decimal_below(Fraction(exp(min(at, 0.0))), _Q_DIGITS)), NAME, _NEAR_STEPS, self.lag
        )
        root = line.find(place - 3.0, 0.0, guess=place)
        self.lag = line.lag
        return None if root is None else TableRow(mu, root.q, root.bounds)

    def _solve_one_step(self, mu: Fraction, place: float) -> TableRow | None:
        low, high, before, best = place - 3.0, 0.0, None, None
        for _ in range(_MOST):
            q = decimal_below(Fraction(exp(min(place, 0.0))), _Q_DIGITS)
            excess = self._excess(mu, q)
            if before is not None and abs(place - before[0]) > 1e-12:
                self.slope = min(max((excess - before[1]) / (place - before[0]), _SLOPES[0]), _SLOPES[1])
            before = place, excess
            if excess <= 0:
                low = place
                best = q if best is None else max(best, q)
            else:
                high = place
            if -self.slope * _NEAR <= excess <= 0 or high - low < _NEAR / 4:
                break
            moved = place - excess / self.slope - _NEAR / 3
            place = moved if low < moved < high else (low + high) / 2
        if best is None or not self.step.is_feasible(1 / best, mu * best, _BITS):
            return None
        return TableRow(mu, best, bounds_without_grid(self.step.delta))

    def _excess(self, mu: Fraction, q: Fraction) -> float:
        """Return log δ/δ* of one step where the record goes."""
        with working_precision(_BITS):
            delta = self.step.delta_remove(1 / ball(q), ball(mu) * ball(q))
            return float((delta / ball(self.step.delta)).log().mid()) if delta > 0 else -700.0


def _shorten(mu: Fraction) -> Fraction:
    """Return μ rounded down to a few bits."""
    shift = _MU_BITS - (mu.numerator.bit_length() - mu.denominator.bit_length())
    scale = Fraction(2) ** shift
    return (mu * scale).__floor__() / scale
