"""What a fit may spend, what each release of it costs, and how much noise that buys: a filter for each of two laws of noise.

Statement (docs/private-kmeans.md, Theorem 1). Let releases be made one after another, the next one in any way that depends on what was
released before it, each with a cost that is fixed before its noise is drawn; and let a release be refused with which the costs would
exceed the budget. Then all of them together are ε-differentially private where costs are ε and the budget is at most ε, and
μ-Gaussian differentially private where costs are μ² of normal noise and the budget is at most μ².

The budget is an exact fraction, and so are the costs; :class:`Spending` is what refuses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Protocol

from accountant.applications.budget.shares import MARGIN, count_share, normal_count_share
from profiles import InvalidArgument
from profiles.mechanisms.exact import OpenedRelease, open_release
from profiles.numbers import ExactLike, to_number
from profiles.randomness.bits import BitSource
from profiles.randomness.rounded import EUCLIDEAN, LAPLACE, NORMAL

#: More nats protect nobody, and exact noise is not made for them.
MOST_EPSILON = 1000
#: Costs are decimals with so many places, rounded down, so that certificates hold short numbers.
_PLACES = 10**24
_TOO_SMALL = "a release was to cost less than 1e-24, the smallest cost that is charged; ask for a larger epsilon (or delta)"


class Purpose(Enum):
    """What a release releases. The value is how a certificate calls it."""

    RECORDS = "number of records"
    SUM = "sum of the records"
    SQUARES = "sum of their squared norms"
    CELL_COUNTS = "counts of cells"
    CELL_SUMS = "sums of cells"


@dataclass(frozen=True, slots=True)
class Payment:
    """One release: its ``part``, its exact ``cost`` (ε, or μ²), and the largest norm ``reach`` of what one record adds to it."""

    part: Purpose
    cost: Fraction
    reach: Fraction


class PricedNoise(Protocol):
    """A law of noise: what a budget buys."""

    @property
    def normal(self) -> bool:
        """Whether costs add up as squares, so that T releases of one budget have √T times the noise of one, and not T times."""

    @property
    def budget(self) -> Fraction:
        """What may be spent, strictly below what was asked for: the rest is room for the proof of the worst case."""

    def scale(self, charge: Payment) -> Fraction:
        """Return the exact scale of noise at which a release costs no more than its charge."""

    def open(self, charge: Payment, bits: BitSource) -> OpenedRelease:
        """Return what draws that noise exactly."""

    def energy(self, charge: Payment, dimension: int) -> float:
        """Return E ‖ζ‖₂² of the noise of one vector of ``dimension`` numbers."""

    def sum_noise(self, dimension: int) -> float:
        """Return about ‖ζ‖₂/reach for a sum that gets the whole budget."""

    def share_for(self, part: float) -> float:
        """Return the share of the budget for noise that is 1/``part`` times that of the whole budget, ``part`` in (0, 1]."""

    def count_share(self, dimension: int) -> Fraction:
        """Return the share of counts with the least first-order error of a centre."""


def round_cost(cost: Fraction) -> Fraction:
    """Return a cost as a decimal with 24 places that is not above it."""
    return Fraction(int(cost * _PLACES), _PLACES)


def require_cost(cost: Fraction, left: Fraction, budget: str) -> Fraction:
    """Return what is charged for a release that is to cost ``cost``. Raises :class:`InvalidArgument` where ``left`` does not have it, or it
    is too small to be charged; ``budget`` is whose it is.
    """
    charged = round_cost(cost)
    if cost > 0 and charged <= 0:
        raise InvalidArgument(_TOO_SMALL)
    if not 0 < charged <= left:
        raise InvalidArgument(f"a release was asked for that the budget of {budget} does not have; ask for a smaller share of what is left")
    return charged


@dataclass(frozen=True, slots=True)
class PureNoise:
    """Laplace noise on numbers, density ∝ exp(−‖ζ‖₂/β) on vectors; a cost is an ε, and β = reach/cost."""

    epsilon: Fraction

    @property
    def normal(self) -> bool:
        return False

    @property
    def budget(self) -> Fraction:
        return round_cost(self.epsilon * (1 - MARGIN))

    def scale(self, charge: Payment) -> Fraction:
        return charge.reach / charge.cost

    def open(self, charge: Payment, bits: BitSource) -> OpenedRelease:
        law = EUCLIDEAN if charge.part in (Purpose.SUM, Purpose.CELL_SUMS) else LAPLACE
        return open_release(self.scale(charge), "a noise scale", law, bits, 1)

    def energy(self, charge: Payment, dimension: int) -> float:
        return dimension * (dimension + 1) * float(self.scale(charge)) ** 2

    def sum_noise(self, dimension: int) -> float:
        return dimension / float(self.budget)

    def share_for(self, part: float) -> float:
        """Return ``part``: noise falls with ε."""
        return part

    def count_share(self, dimension: int) -> Fraction:
        """Return a/(a + b) of docs/private-kmeans.md, section 12."""
        return count_share(dimension, 2)


@dataclass(frozen=True, slots=True)
class NormalNoise:
    """Normal noise on every number; a cost is a μ², and σ = reach/√cost. ``mu`` is certified for the target (ε, δ)."""

    mu: Fraction

    @property
    def normal(self) -> bool:
        return True

    @property
    def budget(self) -> Fraction:
        return round_cost(self.mu**2 * (1 - MARGIN))

    def scale(self, charge: Payment) -> Fraction:
        """Return a decimal at or above σ."""
        from accountant.applications.budget.normal import scale_above  # noqa: PLC0415 - loads curves, which pure noise does not need

        return scale_above(charge.reach**2 / charge.cost)

    def open(self, charge: Payment, bits: BitSource) -> OpenedRelease:
        return open_release(self.scale(charge), "a standard deviation", NORMAL, bits, 1)

    def energy(self, charge: Payment, dimension: int) -> float:
        return dimension * float(self.scale(charge)) ** 2

    def sum_noise(self, dimension: int) -> float:
        return math.sqrt(dimension / float(self.budget))

    def share_for(self, part: float) -> float:
        """Return ``part``²: noise falls with μ."""
        return part**2

    def count_share(self, dimension: int) -> Fraction:
        """Return ρ/(ρ + √d)."""
        return normal_count_share(dimension)


@dataclass(slots=True, eq=False)
class Spending:
    """The account of one fit: charges in their order, never more in all than the budget."""

    law: PricedNoise
    charges: list[Payment] = field(default_factory=list)

    @property
    def spent(self) -> Fraction:
        return sum((charge.cost for charge in self.charges), Fraction(0))

    @property
    def left(self) -> Fraction:
        return self.law.budget - self.spent

    def charge(self, part: Purpose, cost: Fraction, reach: Fraction) -> Payment:
        """Record a release before its noise is drawn. Raises :class:`InvalidArgument` where the budget does not have its cost."""
        made = Payment(part, require_cost(cost, self.left, "the fit"), reach)
        self.charges.append(made)
        return made

    def __iter__(self) -> Iterator[Payment]:
        return iter(self.charges)


def to_share(share: object) -> Fraction:
    """Return a share as an exact number in (0, 1]. Raises :class:`InvalidArgument`."""
    return to_number(share, "a share of what is left of the budget", "(0, 1]")


def open_law(epsilon: ExactLike, delta: ExactLike | None) -> PricedNoise:
    """Return the law of noise for ε, or for (ε, δ). Raises :class:`InvalidArgument`, and :class:`profiles.Infeasible` for such a δ."""
    asked = to_number(epsilon, "epsilon", f"(0, {MOST_EPSILON}]", "give another number")
    if delta is None:
        return _require_budget(PureNoise(asked))
    from accountant.applications.budget.normal import largest_mu  # noqa: PLC0415 - loads curves, which pure noise does not need
    from accountant.compositions.queries import to_epsilon  # noqa: PLC0415
    from accountant.weights.gaussian.target import to_target_delta  # noqa: PLC0415

    return _require_budget(NormalNoise(largest_mu(to_epsilon(asked), to_target_delta(delta))))


def _require_budget(law: PricedNoise) -> PricedNoise:
    """Refuse a budget of which nothing can be charged."""
    if law.budget <= 0:
        raise InvalidArgument(_TOO_SMALL)
    return law
