"""What a private fit cost, as a profile: the profile is certified and concluded from in ``fitting``.

Statement (docs/private-kmeans.md, Theorems 1 and 2). For a record, let z = ‖y‖/r be the norm in the public ball, as a share of its radius,
and t the largest ‖v‖/R of what it added to a cell, R being the radius to which records were clipped then; both lie in [0, 1]. What was
released costs the record

    ε(w, x) = w (Σ c_n + Σ c_mean z + Σ c_squares z² + Σ c_count + Σ c_sum t)                    (costs c are ε),
    μ(w, x) = w √(Σ c_n + Σ c_mean z² + Σ c_squares z⁴ + Σ c_count + Σ c_sum t²)                (costs c are μ²).

Where cells were released of one sample, the last two sums are replaced by s, what the rest of the budget is: the loss ψ(t) of all that was
released about the sample is at most that for every record (Theorem 3, with a proof of its own).

The worst case over z and t is certified by the kernel, and is within the budget; the rule of a fixed budget concludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accountant.applications.budget.spending import NormalNoise, Payment, PricedNoise, Purpose
from accountant.guarantees import (
    Guarantee,
)
from profiles import Profile, declare
from proofs_check.suprema.bound import EpsilonBound

_PAGE = "docs/private-kmeans.md"
_POWERS = {Purpose.RECORDS: None, Purpose.SUM: ("z", 1), Purpose.SQUARES: ("z", 2), Purpose.CELL_COUNTS: None, Purpose.CELL_SUMS: ("t", 1)}


@dataclass(frozen=True, slots=True)
class CertifiedPath:
    """The ``guarantee`` of a fit; the ``profile`` of what it cost, with its worst case; under normal noise the privacy ``curve``, too."""

    guarantee: Guarantee
    profile: Profile
    worst: EpsilonBound
    curve: Guarantee | None = None


def describe_path(charges: Sequence[Payment], law: PricedNoise, name: str, *, sampled: bool = False) -> Profile:
    """Return the profile of what was charged, with a parameter c1, c2, ... for the cost of each release, and, where a sample was drawn
    besides, s for what its releases may cost together: all that the charges leave.

    >>> from fractions import Fraction
    >>> from accountant.applications.budget.spending import PureNoise
    >>> one = Fraction(1)
    >>> describe_path([Payment(Purpose.RECORDS, one, one), Payment(Purpose.SQUARES, one, one)], PureNoise(Fraction(3)), "two releases").text
    'w*(c1 + c2*z**2)'
    >>> describe_path([Payment(Purpose.RECORDS, one, one)], PureNoise(Fraction(3)), "a count, then a sample", sampled=True).text
    'w*(c1 + s)'
    """
    normal = isinstance(law, NormalNoise)
    terms = [_term(f"c{place}", charge.part, 2 if normal else 1) for place, charge in enumerate(charges, 1)]
    costs = {f"c{place}": charge.cost for place, charge in enumerate(charges, 1)}
    if sampled:
        terms.append("s")
        costs["s"] = law.budget - sum(costs.values())
    whole = " + ".join(terms) or "0"  # where everything that a sample needs is public
    read = {_POWERS[charge.part][0] for charge in charges if _POWERS[charge.part] is not None}  # type: ignore[index]
    record = {statistic: (0, 1) for statistic in ("z", "t") if statistic in read}
    source = f"{_PAGE}, Theorem 2"
    if normal:
        return declare(name, notion="gaussian", mu=f"w*sqrt({whole})", record=record, parameters=costs, source=source)
    return declare(name, f"w*({whole})", record=record, parameters=costs, source=source)


def _term(cost: str, part: Purpose, exponent: int) -> str:
    written = _POWERS[part]
    if written is None:
        return cost
    statistic, power = written[0], written[1] * exponent
    return f"{cost}*{statistic}" + (f"**{power}" if power > 1 else "")
