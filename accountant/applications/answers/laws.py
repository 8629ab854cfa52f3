"""How much noise a part gets for its cost, which event that is, and what the noise is like: formulas of public numbers.

| part | pure: cost ε | gaussian: cost μ² |
| --- | --- | --- |
| number of rows, rows of categories | discrete Laplace of rate ε: event discrete-laplace, scale 1/ε | normal, σ = 1/μ, rounded |
| sum of whole numbers, reach Δ | discrete Laplace of rate ε/Δ: event pure, ε | normal, σ = Δ/μ, rounded to a whole number |
| other sums, reach Δ | Laplace of scale Δ/ε, rounded correctly: event laplace, scale 1/ε | normal, σ = Δ/μ, rounded correctly |
| point of a grid | exponential mechanism of rate ε/(2Δ): event pure, ε | not offered |

Statement and proof: docs/release.md, Theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from accountant.applications.answers.parts import PartKind, ReleasePart
from accountant.compositions.events import Event, MechanismKind, make_event
from profiles import InvalidArgument
from profiles.numbers import round_up

#: What is called the 95 % interval of the noise.
TAIL = Fraction(1, 20)
#: More noise than the error bounds of exact noise leave: correctly rounded values and truncated rows move an answer by less.
_SLACK = 1 + 2.0**-20


@dataclass(frozen=True, slots=True)
class PartNoise:
    """The noise of a ``part`` that costs ``cost``: an ε, or, where ``normal``, a μ²."""

    part: ReleasePart
    cost: Fraction
    normal: bool

    @property
    def is_discrete(self) -> bool:
        """Whether whole numbers are drawn, one by one exactly."""
        return self.part.whole and not self.normal

    @property
    def scale(self) -> Fraction:
        """The exact scale: of Laplace noise b, of normal noise σ, of discrete noise 1/rate; of a choice 1/rate of its scores."""
        if self.normal:
            return self.part.reach * self.multiplier
        return self.part.reach / self.cost * (2 if self.part.kind is PartKind.CHOICE else 1)

    @property
    def multiplier(self) -> Fraction:
        """The σ of normal noise in units of the reach, rounded up."""
        from accountant.applications.budget.normal import scale_above  # noqa: PLC0415 - loads curves, which pure noise does not need

        return scale_above(1 / self.cost)

    @property
    def event(self) -> Event:
        """The event that this part is one use of."""
        if self.normal:
            return make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": self.multiplier})
        if self.part.kind in (PartKind.RECORDS, PartKind.CELLS):
            return make_event(MechanismKind.DISCRETE_LAPLACE, {"scale": 1 / self.cost})
        if self.part.whole or self.part.kind is PartKind.CHOICE:
            return make_event(MechanismKind.PURE, {"epsilon": self.cost})
        return make_event(MechanismKind.LAPLACE, {"scale": 1 / self.cost})

    @property
    def range(self) -> Fraction | None:
        """Of a choice: the length of an interval that holds every loss of one row, its ε; None of noise (docs/ledger.md, Lemma 1d)."""
        return self.cost if self.part.kind is PartKind.CHOICE else None

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, rounded up. Of a choice there is none."""
        scale = round_up(self.scale)
        if self.normal:
            return math.hypot(scale, 0.5 if self.part.whole else 0.0) * _SLACK
        if self.is_discrete:  # √(2e^−r)/(1 − e^−r) = 1/(√2 sinh(r/2)), at most √2/r
            rate = 1 / scale
            return min(math.sqrt(2.0) * scale, 1 / (math.sqrt(2.0) * math.sinh(rate / 2)) if rate < 1400 else 0.0) * _SLACK
        return math.sqrt(2.0) * scale * _SLACK

    def radius(self, tail: Fraction = TAIL) -> float:
        """Return a t for which the noise is within ±t except with probability at most ``tail``, rounded up.

        Of a choice: how far its score is from that of the best point, in rows.
        """
        scale, miss = round_up(self.scale), float(tail)
        if self.part.kind is PartKind.CHOICE:
            return scale * (math.log(self.part.grid.size if self.part.grid else 1) - math.log(miss)) * _SLACK
        if self.normal:
            return (scale * _normal_quantile(miss) + (0.5 if self.part.whole else 0.0)) * _SLACK
        if self.is_discrete:  # P(|k| > t) = 2e^−r(t+1)/(1 + e^−r)
            return float(math.ceil(max(0.0, scale * (math.log(2 / miss) - math.log1p(math.exp(-1 / scale))) - 1) * _SLACK))
        return scale * -math.log(miss) * _SLACK


def _normal_quantile(miss: float) -> float:
    """Return z with P(|N(0, 1)| > z) ≤ ``miss``, a little above the least: from Φ of the standard library, rounded up."""
    from statistics import NormalDist  # noqa: PLC0415 - normal noise alone

    return NormalDist().inv_cdf(1 - miss / 2) * (1 + 1e-9)


def require_moderate(cost: Fraction) -> Fraction:
    """Return a cost that exact noise is made for. Raises :class:`InvalidArgument` for one that is too small or too large."""
    if not Fraction(1, 10**9) <= cost <= 1000:
        raise InvalidArgument(
            "a part of the release would cost less than 1e-9, or more than 1000, for which there is no noise; ask for another "
            "epsilon, or for other shares"
        )
    return cost
