"""Records that bring a weight of their own, such as a survey weight: what they cost.

Statement. Let M be ε-PDP on weighted data sets, ε(w, x). Let M' be M after the map (w, (s, x)) ↦ (w s, x), applied to every record by
itself, for records that consist of their data x and their own weight s ∈ [1, W]. Then M' is PDP with ε'(w, (s, x)) = ε(w s, x).

Proof. The map sends S ∪ {(w, (s, x))} to the image of S with (w s, x) more, and w s ≥ 1. ∎

So a record of weight s that is used without sampling (w = 1) costs ε(s, x), and all records cost at most sup ε(s, x) over s ≤ W. The bound
W must be public: the largest weight of the data would depend on them. Where s is no function of the record alone, as n/|S| is not, a
record that goes changes the weights of the others, and nothing holds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from profiles import InvalidArgument, InvalidData, Part, Profile, Statistic, exact_text, to_exact
from profiles.arrays import Floats
from profiles.mechanisms.datasets import float_at_most
from profiles.private import list_values
from profiles.profile import WEIGHT
from profiles.terms import substitute, symbol

OWN_WEIGHT = "s"


def let_records_weigh(profile: Profile, largest: Fraction) -> Profile:
    """Return ε(w s, x) with the statistic s ∈ [1, ``largest``], for a profile in w, z without a statistic s, composed as that one is.

    >>> from profiles.mechanisms import WeightedCount
    >>> let_records_weigh(WeightedCount(beta_count=2).profile, Fraction(9)).text
    'w*s/beta_count'
    """
    return replace(
        profile,
        epsilon=substitute(profile.epsilon, {WEIGHT: ("mul", symbol(WEIGHT), symbol(OWN_WEIGHT))}),
        record=(*profile.record, Statistic(OWN_WEIGHT, Fraction(1), largest)),
        source=f"{profile.source}; docs/dp-kmeans.md, Theorem 3",
        parts=tuple(Part(let_records_weigh(part.profile, largest), part.times) for part in profile.parts),
    )


def read_largest(largest: object) -> Fraction:
    """Return a declared bound of the weights of records. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    exact = to_exact(largest, "largest_weight")
    if exact < 1:
        raise InvalidArgument(
            f"largest_weight must be at least 1, but {exact_text(exact)[:40]} was found; give a public bound of all weights"
        )
    return exact


def bound_weights(weights: Floats, largest: Fraction, *, lower: bool) -> Floats:
    """Return the weights where all are in [1, ``largest``]; with ``lower`` those above are lowered to it, each by itself.

    Raises :class:`InvalidData`.
    """
    bad = ~(np.isfinite(weights) & (weights >= 1))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidData(
            f"sample_weight must be finite and at least 1, but that of row {row} is not; drop such "
            "records, each by itself, or multiply all weights by a public constant",
            private=list_values([(row, float(weights[row]))]),
        )
    most = float_at_most(largest)
    above = weights > most
    if lower:
        return np.where(above, most, weights)
    if above.any():
        row = int(above.argmax())
        raise InvalidData(
            f"sample_weight must be at most the declared largest_weight = {exact_text(largest)}, but that of row {row} is "
            'larger; lower such weights one by one with outside="project", or declare a bound that is known without looking at them',
            private=list_values([(row, float(weights[row]))]),
        )
    return weights
