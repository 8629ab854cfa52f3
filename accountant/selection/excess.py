"""The inequality of the guarantee, enforced record by record: for profiles that may fall as w rises (docs/sampling.md, Theorem 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from accountant.amplification import amplify_array
from accountant.columns.values import Columns
from accountant.selection.floors import BITS, LEAST, blocks, floor_exact
from accountant.weights.fast.compiled import CompiledTerm
from profiles import InvalidProfile, Profile
from profiles.arrays import Booleans, Floats
from profiles.balls import ball, lower_fraction, working_precision
from profiles.numbers import round_down
from profiles.terms import Term
from profiles.variables import WEIGHT
from proofs_check.enclosures import Enclosure

_FIRST_BITS, _MOST_BITS = 256, 4_096


@dataclass(frozen=True, slots=True)
class ExcessCheck:
    """log(1 + q (e^ε(w, x) − 1)) ≤ ``bound``: where it is not certain, q is lowered until it is. Make one with :func:`make_check`."""

    bound: Fraction
    epsilon: Term
    compiled: CompiledTerm

    def enforce(self, q: Floats, weights: Floats, columns: Columns) -> tuple[Floats, int, int]:
        """Return the probabilities, all certain, with the number of records looked at in ball arithmetic and of those lowered.

        Each is a function of its own record: balls find certain whatever the faster bound finds certain, and they alone decide the rest.
        """
        sure = np.empty(q.size, dtype=np.bool_)
        for block in blocks(q.size):
            sure[block] = self._is_certain(q[block], weights[block], columns.part(block))
        rows = np.flatnonzero(~sure)
        if not rows.size:
            return q, 0, 0
        certain, enclosure = q.copy(), Enclosure(self.epsilon)
        joined = columns.joined(**{WEIGHT: weights})
        first, positions = joined.distinct(rows)
        largest = [self._largest(enclosure, joined.record(int(row)), float(q[row])) for row in first]
        certain[rows] = np.array(largest)[positions]
        return certain, int(rows.size), int((certain < q).sum())

    def _is_certain(self, q: Floats, weights: Floats, columns: Columns) -> Booleans:
        with np.errstate(all="ignore"):
            value, error = self.compiled.bounded(columns.joined(**{WEIGHT: weights}))
            top = np.maximum(np.nextafter(np.broadcast_to(value + error, q.shape), np.inf), 0.0)
            finite = np.isfinite(top)
            kept = finite & (amplify_array(np.where(finite, top, 0.0), q) <= round_down(self.bound))
        certain: Booleans = kept | (q == 0.0)
        return certain

    def _largest(self, enclosure: Enclosure, record: Mapping[str, Fraction], q: float) -> float:
        """Return ``q``, or a smaller number with q (e^ε − 1) ≤ e^bound − 1 for certain."""
        bits, limit = _FIRST_BITS, None
        while bits <= _MOST_BITS:
            with working_precision(bits):
                growth = enclosure.evaluate({name: ball(value) for name, value in record.items()}).expm1()
                allowed = ball(self.bound).expm1()
                if arb(q) * growth <= allowed:
                    return q
                limit = lower_fraction(allowed / growth) if growth > 0 else None
                if arb(q) * growth > allowed:
                    break
            bits *= 2
        return 0.0 if limit is None or limit < Fraction(LEAST) else min(q, floor_exact(limit, BITS))


def make_check(profile: Profile, bound: Fraction) -> ExcessCheck:
    """Return the check of a profile against a bound. Raises :class:`InvalidProfile` where a parameter has no number."""
    if profile.free_parameters:
        names = ", ".join(parameter.name for parameter in profile.free_parameters)
        raise InvalidProfile(
            f"a sampler for an epsilon that may fall in w needs numbers for all parameters, but {names} has none; set it in the profile"
        )
    epsilon = profile.numeric_epsilon()
    return ExcessCheck(bound, epsilon, CompiledTerm(epsilon))
