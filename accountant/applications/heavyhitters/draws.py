"""Exact draws of events with probability e^(−λd) for a rational λ: no floating point decides, so that no guarantee has to suppose any.

Claim: with uniform, independent random bits, every answer has exactly the law that its docstring states. A uniform number U is drawn digit
by digit, and e^(−λd) is enclosed; both are refined until the comparison is certain. It ends, because e^(−λd) is
irrational for rational λd > 0 (Lindemann), so that no digit of it is ever undecidable. Proofs: docs/heavy-hitters.md, Theorem 3.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb, fmpz

from profiles import InvalidArgument
from profiles.arrays import Booleans, Integers
from profiles.balls import ball, working_precision
from profiles.randomness import enclose_exp
from profiles.randomness.bits import FIRST_BITS, NEXT_BITS, BitSource, Digits, read_block
from profiles.randomness.forks import mark_process

_UNKNOWN = -1
_GUARD = 40
_LARGEST_TABLE = 2**20
#: A run of failures is told exactly up to this length; a longer one is this long, and then another one is drawn.
LONGEST_RUN = 2**62
#: 16 ln 2 < 11.1: beyond 11.1/λ the first digit of e^(−λd) is 0.
_NATS_OF_FIRST_DIGIT = Fraction(111, 10)


class TailDraws:
    """Independent draws with P[passes(d)] = e^(−λd), d = 0, 1, 2, ...; ``rate`` is λ > 0, ``source`` gives the bits. Not thread-safe."""

    __slots__ = ("_digits", "_first", "_last", "_next", "_process", "rate", "source")

    def __init__(self, rate: Fraction, source: BitSource) -> None:
        if rate <= 0:
            raise InvalidArgument(f"the rate of a tail must be positive, but {rate} was found; give a positive fraction")
        self.rate, self.source = rate, source
        self._digits: Digits = np.empty(0, dtype=np.uint16)
        self._next, self._process = 0, mark_process()
        self._first: Integers = np.full(16, _UNKNOWN, dtype=np.int64)
        self._last = int(_NATS_OF_FIRST_DIGIT / rate) + 1  # the first digit of e^(−λd) is 0 from here on

    def passes(self, gaps: Integers) -> Booleans:
        """Return for every d ≥ 0 of ``gaps`` whether its event happened: independent, with probability exactly e^(−λd), surely at d = 0."""
        digits = self._take(gaps.size).astype(np.int64)
        bounds = self._first_digits(gaps)
        passed: Booleans = digits < bounds
        for row in np.flatnonzero(digits == bounds):  # one in 2^16
            passed[row] = self._settle(int(gaps[row]), int(digits[row]))
        return passed

    def passes_one(self, gap: int) -> bool:
        """Return whether one event of probability e^(−λ·gap) happened."""
        return bool(self.passes(np.array([gap], dtype=np.int64))[0])

    def failures(self, gap: int) -> int:
        """Return the number of trials that fail before the first success, each a success with probability e^(−λ·gap), gap ≥ 1.

        P[≥ j] = (1 − e^(−λ·gap))^j exactly. ``LONGEST_RUN`` says that at least so many fail; draw again after them (no memory).
        Found as ⌊log U / log(1 − e^(−λ·gap))⌋.
        """
        bits, drawn = 0, 0
        while True:
            bits, drawn = bits + NEXT_BITS, drawn << NEXT_BITS | self.source.digit()
            if not drawn:
                continue
            with working_precision(bits + _GUARD + 64):
                scale = 1 / (-(-ball(self.rate * gap)).exp()).log1p()
                most = (arb(fmpz(drawn)) / arb(fmpz(2) ** bits)).log() * scale
                least = (arb(fmpz(drawn + 1)) / arb(fmpz(2) ** bits)).log() * scale
                if least > LONGEST_RUN:
                    return LONGEST_RUN
                ends = least.floor().unique_fmpz(), most.floor().unique_fmpz()
            if ends[0] is not None and ends[0] == ends[1]:
                return int(ends[0])

    def _first_digits(self, gaps: Integers) -> Integers:
        """Return ⌊2^16 e^(−λd)⌋ for every d: from a table where d is small, else computed anew."""
        leading = np.zeros(gaps.size, dtype=np.int64)
        rows = np.flatnonzero(gaps <= self._last)
        if not rows.size:
            return leading
        leading[rows] = self._known(gaps[rows])
        missing = rows[leading[rows] == _UNKNOWN]
        if missing.size:
            different, places = np.unique(gaps[missing], return_inverse=True)
            digits = np.array([self._leading(int(gap), FIRST_BITS) for gap in different])
            leading[missing] = digits[places]
            small = different < self._first.size
            self._first[different[small]] = digits[small]
        return leading

    def _known(self, gaps: Integers) -> Integers:
        longest = int(gaps.max())
        if self._first.size <= longest and self._first.size < _LARGEST_TABLE:
            grown = np.full(min(_LARGEST_TABLE, max(2 * self._first.size, longest + 1)), _UNKNOWN, dtype=np.int64)
            grown[: self._first.size] = self._first
            self._first = grown
        return np.where(gaps < self._first.size, self._first[np.minimum(gaps, self._first.size - 1)], _UNKNOWN)

    def _leading(self, gap: int, bits: int) -> int:
        """Return ⌊2^bits e^(−λ·gap)⌋."""
        spare = 0
        while True:
            spare += _GUARD
            lo, hi = (end >> spare for end in enclose_exp(self.rate * gap, bits + spare))
            if lo == hi:
                return lo

    def _settle(self, gap: int, drawn: int) -> bool:
        """Go on where the first digit of U is that of e^(−λ·gap)."""
        bits = FIRST_BITS
        while True:
            bits, drawn = bits + NEXT_BITS, drawn << NEXT_BITS | self.source.digit()
            bound = self._leading(gap, bits)
            if drawn != bound:
                return drawn < bound

    def _take(self, count: int) -> Digits:
        if self._process != mark_process():  # also in the middle of a pass, whose reports are an iterator
            raise InvalidArgument("draws were used in a forked process, where they would be those of its parent; start a pass there")
        parts, missing = [], count
        while missing:
            if self._next >= self._digits.size:
                self._digits, self._next = read_block(self.source), 0
            part = self._digits[self._next : self._next + missing]
            self._next += part.size
            missing -= part.size
            parts.append(part)
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint16)
