"""Exact Bernoulli draws: a record is selected with probability exactly q, the binary64 number, not q rounded (docs/sampling.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from profiles import InvalidArgument
from profiles.arrays import Booleans, Floats
from profiles.randomness.bits import (
    FIRST_BITS,
    NEXT_BITS,
    BitSource,
    Digits,
    SecureBits,
    Uncopied,
    open_bits,
    read_block,
    refuse_repeats,
)
from profiles.randomness.forks import mark_process


def subtract_digits(q: Floats, digits: NDArray[Any], bits: int = FIRST_BITS) -> Floats:
    """Return r = 2^bits·q − D for uniform digits D: a record with r ≥ 1 is selected, one with r ≤ 0 is not, others with probability r.

    Exact where r ≥ 0: q and D are multiples of the last bit of 2^bits·q (bits < 53), hence r is, and it has no more digits than that. Where
    r < 0 only the sign is used, which rounding keeps.
    """
    remaining = q * float(2**bits)
    remaining -= digits
    return remaining


def decide(remaining: float, digit: Callable[[], int], bits: int = NEXT_BITS) -> bool:
    """Return True with probability exactly ``remaining`` in (0, 1), drawing digits of ``bits`` bits until it is decided: at most
    ⌈1074/bits⌉ of them, because each step multiplies the last place of the remainder by 2^bits.
    """
    while 0.0 < remaining < 1.0:
        remaining = remaining * 2**bits - digit()
    return remaining >= 1.0


class PoissonSampler(Uncopied):
    """Claim: each call selects every entry independently with probability exactly q, if the bits of ``source`` are uniform and independent.

    ``source``: None for the secure source of the operating system, a seed, a :class:`numpy.random.Generator`, or a :class:`BitSource`.
    With a generator, what is selected depends on the order of the records alone, not on how they are cut into calls.
    No bit is used twice: threads take turns, it cannot be copied or pickled, and after a fork it goes on only with a secure source.

    >>> PoissonSampler(7).select(np.array([0.0, 0.5, 0.5, 1.0])).tolist()
    [False, False, True, True]
    """

    __slots__ = ("_digits", "_lock", "_next", "_process", "source")

    def __init__(self, source: object = None) -> None:
        self.source: BitSource = open_bits(source)
        self._digits: Digits = np.empty(0, dtype=np.uint16)
        self._next, self._process = 0, mark_process()
        self._lock = threading.Lock()

    def select(self, q: Floats) -> Booleans:
        """Return which entries of ``q``, a float64 array of shape (n,) in [0, 1], are selected. Raises :class:`InvalidArgument`."""
        asked = np.asarray(q)
        if asked.dtype != np.float64 or asked.ndim != 1:
            raise InvalidArgument(
                f"selection probabilities must be a float64 array of one dimension, but {asked.dtype} of {asked.ndim} dimensions was "
                "found; convert them and say how they are rounded"
            )
        if asked.size and not (float(asked.min()) >= 0.0 and float(asked.max()) <= 1.0):
            raise InvalidArgument("selection probabilities must lie in [0, 1], but another value (or NaN) was found; correct the array")
        if self._process != mark_process():
            self._start_anew()
        with self._lock:
            return self._select_all(asked)

    def _start_anew(self) -> None:
        """Forget the digits that the parent of a forked process uses, too. Raises :class:`InvalidArgument` where new ones are the same."""
        if not isinstance(self.source, SecureBits):
            raise InvalidArgument(
                "a sampler with a seeded generator was used in a forked process, where it would draw what its parent draws; make one "
                "there, with a seed of its own"
            )
        self._digits, self._next, self._process = self._digits[:0], 0, mark_process()
        self._lock = threading.Lock()  # a thread of the parent may hold the old one

    def _select_all(self, asked: Floats) -> Booleans:
        selected = np.empty(asked.size, dtype=np.bool_)
        start = 0
        while start < asked.size:
            if self._next >= self._digits.size:
                self._digits, self._next = read_block(self.source), 0
            stop = min(asked.size, start + self._digits.size - self._next)
            digits = self._digits[self._next : self._next + stop - start]
            selected[start:stop] = self._select(asked[start:stop], digits)
            self._next += stop - start
            start = stop
        return selected

    def _select(self, q: Floats, digits: Digits) -> Booleans:
        remaining = subtract_digits(q, digits)
        selected: Booleans = remaining >= 1.0
        for row in np.flatnonzero((remaining > 0.0) & ~selected):  # one in 2^16
            selected[row] = decide(float(remaining[row]), self.source.digit)
        return selected

    def _refuse_copy(self) -> NoReturn:
        raise InvalidArgument("a sampler cannot be copied or pickled, because both would use the same random bits; make another one")


def open_sources(rng: object, bits: object) -> tuple[BitSource, PoissonSampler]:
    """Return what choices and noise are drawn with, and what selects the records: independent, or one after the other from one generator.

    ``rng`` and ``bits``: each None (the operating system's secure source), a seed, a :class:`numpy.random.Generator` or a
    :class:`BitSource`. Raises :class:`InvalidArgument` where one would repeat the other.

    >>> open_sources(None, 7)[0].name
    'secure source of the operating system'
    """
    draws, sampler = open_bits(rng), PoissonSampler(bits)
    refuse_repeats(sampler.source, draws)
    return draws, sampler
