"""The number of records, their mean and their spread, each with noise that is paid for, or taken as it is where it is public.

Statement (docs/private-kmeans.md, section 2). Let y be the records in the public ball of radius r about the center, n their number.
Released are ñ = n + noise, Σ y + noise and Σ ‖y‖² + noise, for which a record of norm z = ‖y‖ pays ε_n, ε_c z/r and ε_Z z²/r². All else is
post-processing of these:

    m = (Σ y + ζ)/ñ, moved into the ball,  V = E ‖ζ‖²/ñ²,  mean = max(0, 1 − V/‖m‖²) m,
    rms² = max((Σ ‖y‖² + ξ)/ñ − ‖mean‖², floor),  at most (r + ‖mean‖)².

The mean is shrunk toward the public center (positive-part James–Stein), because a mean that is mostly noise is worse than the center; then
E (Σ ‖y‖²/n − ‖mean‖²) is the mean squared distance from the shrunk mean to first order: Σ ‖y − s m‖²/n = Σ ‖y‖²/n − 2 s m·Σ y/n + s² ‖m‖²
and m·Σ y/n is ‖m‖² − V = s ‖m‖² on average. ``floor`` is what the noise of Σ ‖y‖² could hide.

How ε is divided depends on what is released by then: ñ decides what the mean and the spread get. That is allowed: the costs are charged
to one budget (docs/private-kmeans.md, Theorem 1). The shares are guesses about utility, and no guarantee rests on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.applications.budget.protocols import Statistics
from accountant.applications.budget.records import PrivateRecords, square_norms
from accountant.applications.budget.rows import SelectableRows
from accountant.applications.budget.spending import Payment, PricedNoise, Purpose
from profiles import InvalidArgument
from profiles.arrays import Floats
from profiles.mechanisms.ball import project_records
from profiles.numbers import round_down

#: What ``public`` may name: quantities that are taken from the data as they are, because they are public already.
NAMES = ("n", "mean", "rms", "radius")
SHARE_COUNT = Fraction(2, 100)
#: The noise of the spread, in r², that is aimed at, and the least and the largest share that it may take.
_SPREAD_NOISE, _SPREAD_SHARES = 0.02, (0.005, 0.04)
#: The length of the noise of the mean, in r, that is aimed at with at most the second share; that which is not exceeded where there is a
#: share for it; the least share. Where a sum that gets everything is noisier than _NOISY, the mean gets the largest.
_MEAN_NOISES, _MEAN_SHARES = (0.05, 0.2), (0.01, 0.1, 0.6)
_NOISY = 0.08
#: Where the mean is that noisy and there are fewer noises of a centre in a cluster than this, no clusters are looked for, and the spread,
#: which nothing but a warning needs then, gets little.
_HOPELESS = 4.0
_SHARE_SPREAD_ALONE = Fraction(1, 100)
_LEAST_PART = 2.0**-20  # of the radius: rms is positive, whatever the noise is


@dataclass(frozen=True, slots=True)
class Public:
    """Which quantities are public, as the user says."""

    names: frozenset[str]

    @classmethod
    def of(cls, given: object) -> Public:
        """Return the set of names. Raises :class:`InvalidArgument` for others than :data:`NAMES`, and for one text."""
        if isinstance(given, str) or not isinstance(given, (tuple, list, set, frozenset)) or not all(item in NAMES for item in given):
            raise InvalidArgument(f"public must name some of {', '.join(NAMES)}, as in public=('n',); give a tuple of names")
        return cls(frozenset(given))

    def __contains__(self, name: str) -> bool:
        return name in self.names

    @property
    def sentence(self) -> str:
        """What is supposed of the data, as the hypothesis says it; "" where nothing is."""
        words = {
            "n": "the number of records",
            "mean": "their mean",
            "rms": "their mean squared distance from it",
            "radius": "their largest norm",
        }
        named = [words[name] for name in NAMES if name in self.names]
        return "" if not named else f"{', '.join(named)} {'are' if len(named) > 1 else 'is'}"


def share_of_mean(law: PricedNoise, dimension: int, count: float) -> Fraction:
    """Return the share of the mean: what makes its noise .05 r long, but not above .1; or what makes it .2 r long, where that is more.

    >>> from accountant.applications.budget.spending import PureNoise
    >>> law = PureNoise(Fraction(1))
    >>> [float(share_of_mean(law, dimension, 1797)) for dimension in (1, 8, 64)]
    [0.01113, 0.089037, 0.178075]
    """
    noise = law.sum_noise(dimension) / count
    if noise > _NOISY:
        return _to_share(_MEAN_SHARES[2])
    fine, coarse = (law.share_for(min(1.0, noise / length)) for length in _MEAN_NOISES)
    return _to_share(max(_MEAN_SHARES[0], min(fine, max(_MEAN_SHARES[1], coarse))))


def share_of_spread(law: PricedNoise, count: float) -> Fraction:
    """Return the share of Σ ‖y‖²: what makes the deviation of the noise of the mean square about .02 r², within bounds.

    >>> from accountant.applications.budget.spending import PureNoise
    >>> float(share_of_spread(PureNoise(Fraction(1)), 1e4)), float(share_of_spread(PureNoise(Fraction(1)), 1e6))
    (0.007071, 0.005)
    """
    whole = math.sqrt(law.energy(Payment(Purpose.SQUARES, law.budget, Fraction(1)), 1)) / count
    least, most = _SPREAD_SHARES
    return _to_share(max(least, min(most, law.share_for(min(1.0, whole / _SPREAD_NOISE)))))


def _to_share(value: float) -> Fraction:
    return Fraction(round(value * 10**6), 10**6)


def is_hopeless(count: float, clusters: int, sum_noise: float) -> bool:
    """Tell whether one private mean is the better use of the whole budget: of released and public numbers.

    Q = ñ·rms/(k·r·b) of a method is below ñ/(k·b), because its r is at least rms: it is known to be small before rms is released.

    >>> is_hopeless(569, 4, 30 / 0.3), is_hopeless(569, 4, 30.0)
    (True, False)
    """
    return sum_noise / count > _NOISY and count / (sum_noise * clusters) < _HOPELESS


def release_statistics(records: PrivateRecords, rows: SelectableRows, clusters: int, public: Public, *, alone: bool = False) -> Statistics:
    """Return the statistics of the records, and let these be seen around their mean. Raises what releasing raises.

    ``alone``: the mean may get all that is left, where :func:`is_hopeless` says so; a method then finds nothing to spend.
    """
    domain = records.domain
    whole = records.budget
    radius, reach = round_down(domain.radius), float(domain.reach)
    count = float(max(1, records.measure_rows())) if "n" in public else max(1.0, records.count(SHARE_COUNT * whole))
    share, squares = share_of_mean(records.law, records.dimension, count) * whole, share_of_spread(records.law, count) * whole
    if alone and "mean" not in public and is_hopeless(count, clusters, records.sum_noise):
        squares = _SHARE_SPREAD_ALONE * whole
        share = records.unspent - (0 if "rms" in public else squares)
    summed = squared = None
    if not {"mean", "rms"} & public.names:
        summed, squared = records.add_both(share, squares)
    elif "mean" not in public:
        summed = records.add_up(share)
    elif "rms" not in public:
        squared = records.add_squares(squares)
    if summed is None:
        moved = _mean_of(rows, records)
    else:
        total, charge = summed
        moved = shrink_mean(total / count, records.energy_of(charge, len(total)) / count**2, domain.radius)
    mean = domain.center + moved
    shift = math.sqrt(float(moved @ moved))
    if squared is None:
        floor, square = 0.0, _spread_of(rows, records, moved)
    else:
        noisy, charge = squared
        floor = math.sqrt(records.energy_of(charge, 1)) / count
        square = noisy / count - shift**2
    least = max(min(floor, radius**2), (radius * _LEAST_PART) ** 2)
    rms = math.sqrt(min(max(square, least), (reach + shift) ** 2))
    statistics = Statistics(count, mean, rms, radius, domain.center)
    records.centre(statistics)
    return statistics


def shrink_mean(mean: Floats, variance: float, radius: Fraction) -> Floats:
    """Return the noisy mean in centred coordinates, moved into the ball and shrunk toward its center; ``variance`` is E ‖noise‖².

    >>> shrink_mean(np.array([3.0, 4.0]), 5.0, Fraction(10)).tolist()
    [2.4000000000000004, 3.2]
    """
    inside = project_records(mean[np.newaxis], 2, radius)[0]
    square = float(inside @ inside)
    shrunk: Floats = inside * max(0.0, 1 - variance / square) if square > 0 else inside
    return shrunk


def _mean_of(rows: SelectableRows, records: PrivateRecords) -> Floats:
    """Return the exact mean in centred coordinates, up to rounding; 0 of no record."""
    total, count = np.zeros(rows.dimension), 0
    for block in rows.blocks():
        total += records.domain.enter(block).sum(axis=0)
        count += len(block)
    return total / max(1, count)


def _spread_of(rows: SelectableRows, records: PrivateRecords, moved: Floats) -> float:
    """Return the exact mean squared distance from the mean, up to rounding; 0 of no record."""
    total, count = 0.0, 0
    for block in rows.blocks():
        total += float(square_norms(records.domain.enter(block) - moved, math.inf).sum())
        count += len(block)
    return total / max(1, count)


def find_largest_norm(rows: SelectableRows, center: Floats) -> float:
    """Return max ‖x − center‖, which is not private, as a number that is not below it."""
    most = 0.0
    for block in rows.blocks():
        most = max(most, float(np.sqrt(square_norms(block - center, math.inf).max(initial=0.0))))
    return most * (1 + 2.0**-40)
