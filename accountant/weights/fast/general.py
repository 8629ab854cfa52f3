"""Profiles of any form whose exp(ε) is convex in w: bracketing and root finding on all rows at once (docs/rounding.md, section 4).

Nothing here is trusted but the last step: F(w⁻) ≤ 0 and F(w⁺) > 0 by the running error bound, with w⁺/w⁻ − 1 below the tolerance. As
the feasible weights are an interval [1, w*], that proves ψ(w⁻) ≤ ε* and w⁻ ≤ w* < w⁺.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from accountant.columns.values import Columns
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.linear import Solution
from accountant.weights.fast.rounding import LIBRARY, TOLERANCE, TargetConstants, U
from profiles.arrays import Booleans, Floats, Positions
from profiles.variables import WEIGHT

_HALF_GAP = 0.4 * TOLERANCE
_CONVERGED = 2e-14
_GROWTH, _MOST_DOUBLINGS, _MOST_STEPS = 4.0, 120, 60

Excess = Callable[[Floats, Positions | None], Floats]


def log_growth(weights: Floats, target: TargetConstants) -> Floats:
    """Return log(1 + E w) for w ≥ 1, within (LIBRARY + 3 U) relatively."""
    result: Floats = np.log(weights) + target.epsilon if target.large else np.log1p(weights * target.growth)
    return result


def solve_general(compiled: CompiledTerm, columns: Columns, target: TargetConstants) -> tuple[Solution, Booleans]:
    """Return the weights of a block, and for which of its rows ε(1, x) ≤ ε* is certain."""

    def excess(weights: Floats, rows: Positions | None) -> Floats:
        chosen = columns if rows is None else {name: column[rows] for name, column in columns.items()}
        result: Floats = compiled.values({**chosen, WEIGHT: weights}) - log_growth(weights, target)
        return result

    size = next(iter(columns.values())).size
    with np.errstate(all="ignore"):
        value, error = compiled.bounded(columns.joined(**{WEIGHT: np.ones(size)}))
        certain = np.broadcast_to(value + error <= target.below * (1 - 4 * U), (size,))
        roots = _find_roots(excess, np.broadcast_to(value - target.epsilon, (size,)).astype(np.float64))
        below = np.maximum(roots * (1.0 - _HALF_GAP), 1.0)
        above = roots * (1.0 + _HALF_GAP)
        certified = _proves(compiled, columns, below, target, feasible=True) | (below == 1.0)
        certified &= _proves(compiled, columns, above, target, feasible=False)
    return Solution(np.where(certified, below, roots), certified), certain


def _proves(compiled: CompiledTerm, columns: Columns, weights: Floats, target: TargetConstants, *, feasible: bool) -> Booleans:
    """Tell for which rows the rounding bound proves F(w) ≤ 0 (``feasible``) or F(w) > 0."""
    value, error = compiled.bounded(columns.joined(**{WEIGHT: weights}))
    logarithm = log_growth(weights, target)
    margin = error + (LIBRARY + 8 * U) * (logarithm + np.abs(value))
    excess = value - logarithm
    proved: Booleans = (excess <= -margin) if feasible else (excess > margin)
    proved &= (weights < 2.0**960) & (margin < np.inf)
    return proved


def _find_roots(excess: Excess, first: Floats) -> Floats:
    """Return approximate right ends of {F ≤ 0}; rows without one below 2^120 keep NaN."""
    low, high, at_low, at_high = _bracket(excess, first)
    roots = np.where(np.isfinite(at_high), high, np.nan)
    rows = np.flatnonzero(np.isfinite(at_high))
    low, high, older, latest = low[rows], high[rows], low[rows], high[rows]
    at_older, at_latest = at_low[rows], at_high[rows]
    for step in range(_MOST_STEPS):
        if not rows.size:
            break
        tried = latest - at_latest * (latest - older) / (at_latest - at_older)  # the secant through the last two points, inside the bracket
        inside = (tried > low) & (tried < high)
        if step % 6 == 5:
            inside[:] = False
        tried = np.where(inside, tried, low + 0.5 * (high - low))
        above = excess(tried, rows)
        roots[rows] = tried
        below = above <= 0
        low, high = np.where(below, tried, low), np.where(below, high, tried)
        done = (np.abs(tried - latest) <= _CONVERGED * tried) & inside
        done |= (high - low <= _CONVERGED * high) | (above == 0) | np.isnan(above)
        older, at_older, latest, at_latest = latest, at_latest, tried, above
        if done.any():
            keep = ~done
            rows = rows[keep]
            low, high, older, latest, at_older, at_latest = (part[keep] for part in (low, high, older, latest, at_older, at_latest))
    return roots


def _bracket(excess: Excess, first: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (low, high, F(low), F(high)) with F(high) > 0; F(high) is NaN where none was found."""
    size = first.size
    low, at_low = np.ones(size), np.minimum(first, -1e-300)
    high, at_high = np.full(size, 2.0), np.full(size, np.nan)
    rows = np.arange(size)
    tried = 2.0
    for _ in range(_MOST_DOUBLINGS):
        above = excess(np.full(rows.size, tried), rows)
        crossed = (above > 0) & np.isfinite(above)
        high[rows], at_high[rows] = tried, np.where(crossed, above, np.nan)
        rows, above = rows[above <= 0], above[above <= 0]
        if not rows.size:
            break
        low[rows], at_low[rows] = tried, np.minimum(above, -1e-300)
        tried *= _GROWTH
    return low, high, at_low, at_high
