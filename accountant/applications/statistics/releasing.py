"""The statistics that sampling rules need, released with exact noise: the number of records, and the total of a power of a statistic.

Statement (docs/sampling.md, Theorem 5). Let z ∈ [0, hi] be a statistic of a record, moved into its range. ñ = n + Laplace(1/ε_n)
and Z̃ = Σ z^e + Laplace(hi^e/ε_Z) cost a record c(z) = ε_n + ε_Z (z/hi)^e, whatever else is in the data set.

The noise and the sums are those of :mod:`accountant.applications.budget.records`: exact sums of integers, correctly
rounded noisy values, charged to one account before noise is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.applications.budget.records import Domain, PrivateRecords
from accountant.applications.budget.spending import Payment, PureNoise, Spending, round_cost
from accountant.columns.values import Column
from accountant.data.clipping import ClippedSource
from accountant.samples.drawing import take_part
from profiles import InvalidData
from profiles.arrays import Booleans, Floats, ignore_flags
from profiles.numbers import round_down
from profiles.randomness.bits import BitSource
from profiles.variables import Statistic

#: How what is spent on statistics is divided, as in private k-means (2 % and 4 % of all there).
SHARE_COUNT = Fraction(1, 3)
#: The least mean of z^e, as a part of hi^e, that a rule is made for: its denominators are clipped, so that 0 < q whatever was released.
LEAST_MEAN = Fraction(1, 2**20)


@dataclass(frozen=True, slots=True)
class Moment:
    """The total that is released: Σ z^``exponent`` over the records, of the ``statistic`` z."""

    statistic: Statistic
    exponent: int

    @property
    def reach(self) -> Fraction:
        """The most that a record adds: hi^e."""
        return self.statistic.hi**self.exponent


@dataclass(frozen=True, slots=True)
class Costs:
    """What the statistics cost, exactly: ``records`` ε_n, and ``total`` ε_Z where one is released, else 0; public before the release."""

    records: Fraction
    total: Fraction

    @property
    def whole(self) -> Fraction:
        """What a record pays at most."""
        return self.records + self.total

    @classmethod
    def of(cls, epsilon: Fraction, moment: Moment | None) -> Costs:
        """Return what ``epsilon`` > 0 is divided into; all of it, but for 2e-9, buys noise.

        >>> Costs.of(Fraction(1), None).total
        Fraction(0, 1)
        """
        account = Spending(PureNoise(epsilon))
        whole = account.law.budget
        if moment is None:
            return cls(whole, Fraction(0))
        return cls(round_cost(SHARE_COUNT * whole), round_cost((1 - SHARE_COUNT) * whole))


@dataclass(frozen=True, slots=True)
class ReleasedStatistics:
    """The released numbers, ``count`` ñ and ``total`` Z̃ or None, as they left; ``charges`` are what they cost, with their noise."""

    count: Fraction
    total: Fraction | None
    charges: tuple[Payment, ...]


@dataclass(slots=True, eq=False)
class _Powers:
    """The records as blocks of one column z^e in [0, hi^e], for the sums of private k-means. How many there are is known after one pass,
    and then told without another.
    """

    source: ClippedSource
    moment: Moment | None
    active: Booleans | None = None
    rows: int | None = None

    @property
    def dimension(self) -> int:
        return 1

    def blocks(self) -> Iterator[Floats]:
        counted = 0
        for batch in self.source.batches(self.source.specs):
            kept = slice(None) if self.active is None else take_part(self.active, batch.first_row, batch.size)
            powers = (
                np.zeros(batch.size) if self.moment is None else raise_values(batch.statistics[self.moment.statistic.name], self.moment)
            )
            block = powers[kept][:, np.newaxis]
            counted += len(block)
            yield block
        self.rows = counted


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """As many rows as a pass found, for their number alone."""

    powers: _Powers

    @property
    def dimension(self) -> int:
        return 1

    def blocks(self) -> Iterator[Floats]:
        """Yield a view that takes no memory; a pass over the data where there was none."""
        if self.powers.rows is None:
            yield from self.powers.blocks()
        else:
            yield np.broadcast_to(np.zeros(1), (self.powers.rows, 1))


@ignore_flags
def raise_values(column: Column, moment: Moment) -> Floats:
    """Return z^e of each record by elementwise products, z moved into [0, hi]: a function of the record alone.

    >>> raise_values(np.array([-1.0, 2.0, 9.0]), Moment(Statistic("z", Fraction(0), Fraction(3)), 2)).tolist()
    [0.0, 4.0, 9.0]
    """
    values = column if isinstance(column, np.ndarray) else column.values
    inside = np.clip(values, 0.0, round_down(moment.statistic.hi))
    raised = np.ones_like(inside)
    for _ in range(moment.exponent):
        raised = raised * inside
    return np.minimum(raised, round_down(moment.reach))


def release_statistics(
    source: ClippedSource, moment: Moment | None, costs: Costs, epsilon: Fraction, bits: BitSource, active: Booleans | None = None
) -> ReleasedStatistics:
    """Return the noisy statistics of the records, for ``costs`` out of ``epsilon``.

    ``active``: which rows take part, shape (n,), where a ledger leaves others out. Raises :class:`InvalidData` as reading does.
    """
    rows, account = _Powers(source, moment, active), Spending(PureNoise(epsilon))
    domain = Domain(np.zeros(1), Fraction(1) if moment is None else moment.reach)
    total = None if moment is None else float(PrivateRecords(rows, domain, account, bits).add_up(costs.total)[0][0])
    count = PrivateRecords(_Counted(rows), domain, account, bits).count(costs.records)  # without a pass of its own
    if not np.isfinite(count) or not (total is None or np.isfinite(total)):
        raise InvalidData("a released statistic is not a number; please report it")
    return ReleasedStatistics(Fraction(count), None if total is None else Fraction(total), tuple(account))
