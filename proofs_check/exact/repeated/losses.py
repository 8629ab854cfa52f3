"""The loss between two laws that are listed with enclosures: a lower and an upper bound of sup log P/P′."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.errors import Undecided
from profiles.mechanisms.repeated.rounds import Ends

_BITS = 192


def compare_laws(law: Mapping[tuple[int, ...], Ends], other: Mapping[tuple[int, ...], Ends]) -> tuple[Fraction, Fraction | float]:
    """Return (lower, upper) with lower ≤ max over outputs of log P(o)/P′(o) ≤ upper, in nats; upper may be ``math.inf``, lower is ≥ 0.

    For laws on finitely many outputs this is sup over events. An output of probability 0 (upper end 0) in ``law`` has no loss; one that is
    possible in ``law`` and has probability 0 in ``other`` gives upper = ∞, and the lower bound is then that of the other outputs.
    Raises :class:`Undecided` where a probability is enclosed with a lower end of 0 and cannot be told from 0.

    >>> half, third = Fraction(1, 2), Fraction(1, 3)
    >>> lower, upper = compare_laws({(0,): (half, half), (1,): (half, half)}, {(0,): (third, third), (1,): (2 * third, 2 * third)})
    >>> float(lower), float(upper)  # log(3/2)
    (0.4054651081081644, 0.4054651081081644)
    """
    best, most = Fraction(0), Fraction(0)
    unbounded = False
    nothing = (Fraction(0), Fraction(0))
    with working_precision(_BITS):
        for output, (lo, hi) in law.items():
            below, above = other.get(output, nothing)
            if hi == 0:
                continue
            if lo == 0 or (below == 0 and above > 0):
                raise Undecided(f"the probability of the output {output!r:.60} could not be told from 0; list the law with more bits")
            if above == 0:
                unbounded = True
                continue
            upper, lower = upper_fraction(ball(hi / below).log()), lower_fraction(ball(lo / above).log())
            if upper is None or lower is None:
                raise Undecided(f"the loss at the output {output!r:.60} is too large to be enclosed; use a smaller instance")
            best, most = max(best, lower), max(most, upper)
    return best, math.inf if unbounded else most


def mix_laws(parts: Mapping[tuple[int, ...], Ends], weight: Fraction, other: Mapping[tuple[int, ...], Ends]) -> dict[tuple[int, ...], Ends]:
    """Return the law that is ``parts`` with probability ``weight`` and ``other`` else: what a sample of one more record does.

    >>> one = (Fraction(1), Fraction(1))
    >>> mix_laws({(0,): one}, Fraction(1, 4), {(1,): one})[(1,)]
    (Fraction(3, 4), Fraction(3, 4))
    """
    nothing = (Fraction(0), Fraction(0))
    mixed = {}
    for output in {**parts, **other}:
        (lo, hi), (below, above) = parts.get(output, nothing), other.get(output, nothing)
        mixed[output] = weight * lo + (1 - weight) * below, weight * hi + (1 - weight) * above
    return mixed
