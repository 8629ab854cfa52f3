"""What goes in and what comes out: what is proved before the fast path runs, and the weights with counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from profiles import InvalidArgument, Profile, decimal_text
from profiles.arrays import Booleans, Floats

#: Rows a block: a dozen temporaries of this length stay in a core's cache.
_BLOCK = 8_192
#: Up to this weight neither 1/w nor a part of an error-free product over- or underflows.
_MODERATE = 2.0**450


@dataclass(frozen=True, slots=True)
class ProvedConvexity:
    """Claim: on the declared domain of ``profile``, for every record x, exp(ε(w, x)) is convex in w on [1, ∞) (implied by
    assumption-11), and ε(1, x) ≤ ``least_target`` (assumption-8 for the target ``least_target``, hence for every larger target).

    Only who has proved both may build one; ``evidence`` says how (such as certificate names). The weights rely on it: without convexity
    the largest feasible weight could not be told from another crossing. With it the feasible weights of a record are an interval [1, w*].
    """

    profile: Profile
    least_target: Fraction
    evidence: str

    def require(self, profile: Profile, target: Fraction) -> None:
        """Raise :class:`InvalidArgument` unless it was proved of this profile (ε, ranges and parameters) and covers ``target``."""
        mine, asked = self.profile, profile
        if (mine.epsilon, mine.record, mine.parameters) != (asked.epsilon, asked.record, asked.parameters):
            raise InvalidArgument(
                f"the convexity was proved of the profile {mine.name!r} on its domain, but weights for {asked.name!r} were asked for; "
                "prove it for this one"
            )
        if target < self.least_target:
            raise InvalidArgument(
                f"assumption-8 is proved for ε* ≥ {decimal_text(self.least_target, 17, round_up=True)}, but ε* = "
                f"{decimal_text(target, 17, round_up=False)} was asked for; raise the target or call prove_convexity with it"
            )


@dataclass(frozen=True, slots=True)
class WeightsResult:
    """Optimal weights of n records and how they were found.

    ``weights``: float64 array of length n, each w ≥ 1 with ψ ≤ ε* in exact arithmetic and w ≥ w*(1 − 1e-12); inf where ε is 0 for every w;
    the largest finite binary64 number where w* is above it (``saturated_rows``). ``fast_rows`` were certified by rounding bounds,
    ``refined_rows`` by ball arithmetic; ``fast_rows + refined_rows + infinite_rows = n``.
    """

    weights: Floats
    fast_rows: int
    refined_rows: int
    infinite_rows: int
    saturated_rows: int


def probabilities(weights: Floats) -> Floats:
    """Return the selection probabilities q = 1/w rounded **down** to binary64; 0 where w is infinite.

    Statement: q·w ≤ 1 exactly, and q ≥ (1/w)(1 − 2^-52) where q is normal. A sampler that selects a record with probability exactly q and
    gives it the weight w has the sampled profile log(1 + q(exp ε(w, x) − 1)), which is at most ψ(w) ≤ ε*. Rounding up could exceed ε*.
    """
    q = np.empty(weights.shape)
    for start in range(0, len(weights), _BLOCK):
        q[start : start + _BLOCK] = _round_down(weights[start : start + _BLOCK])
    return q


def _round_down(weights: Floats) -> Floats:
    with np.errstate(all="ignore"):
        q: Floats = 1.0 / weights
        if float(weights.min()) >= 1.0 and float(weights.max()) <= _MODERATE:
            over = _product_exceeds_one(q, weights)
            bits = q.view(np.int64)
            bits -= over  # the next number below: q is positive and normal
            return q
        finite = np.isfinite(weights)
        scaled = np.where(finite, np.frexp(weights)[0], 0.5)
        inverse = 1.0 / scaled
        over = _product_exceeds_one(inverse, scaled) | (q < 2.0**-1000)
    exact = scaled == 0.5  # a power of two: 1/w is exact
    return np.where(finite, np.where(over & ~exact, np.nextafter(q, 0.0), q), 0.0)


def _product_exceeds_one(left: Floats, right: Floats) -> Booleans:
    """Tell whether left·right > 1 exactly, by Dekker's error-free product; both lie in [1/2, 2]."""
    product = left * right
    left_high, left_low = _halves(left)
    right_high, right_low = _halves(right)
    error = ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low
    exceeds: Booleans = (product > 1.0) | ((product == 1.0) & (error > 0.0))
    return exceeds


def _halves(value: Floats) -> tuple[Floats, Floats]:
    scaled = 134217729.0 * value
    high = scaled - (scaled - value)
    return high, value - high
