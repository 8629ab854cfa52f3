"""Uniform random digits, and uniform integers made from them without any rounding."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from profiles.errors import InvalidArgument

DIGIT_BITS = 32


@runtime_checkable
class RandomDigits(Protocol):
    """Independent uniform digits. The bit sources of ``accountant.samples`` (secure or seeded) are of this kind."""

    def digit(self) -> int:
        """Return an integer that is uniform on 0, ..., 2³² − 1."""


class GeneratorDigits:
    """The digits of a NumPy generator."""

    __slots__ = ("rng",)

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def digit(self) -> int:
        """Return the next digit."""
        return int(self.rng.integers(0, 2**DIGIT_BITS - 1, dtype=np.uint64, endpoint=True))


def open_digits(source: object) -> RandomDigits:
    """Return the digits of a :class:`numpy.random.Generator`; pass on an object that has ``digit()``. Raises :class:`InvalidArgument`."""
    if isinstance(source, np.random.Generator):
        return GeneratorDigits(source)
    if isinstance(source, RandomDigits):
        return source
    raise InvalidArgument(
        f"a numpy.random.Generator or a source of random bits was expected, but an object of type {type(source).__name__} was found; pass "
        "numpy.random.default_rng() or accountant.samples.open_bits()"
    )


def draw_below(bound: int, digits: RandomDigits) -> int:
    """Return an integer that is uniform on 0, ..., ``bound`` − 1, by rejection. Raises :class:`InvalidArgument` for bound < 1."""
    if bound < 1:
        raise InvalidArgument(f"a uniform integer needs a bound of at least 1, but {bound} was found; give a larger one")
    if bound == 1:
        return 0
    size, words = 1 << DIGIT_BITS, 1
    while size < bound:
        size, words = size << DIGIT_BITS, words + 1
    limit = size - size % bound  # the numbers below it fall into equal shares
    while True:
        value = digits.digit()
        for _ in range(words - 1):
            value = value << DIGIT_BITS | digits.digit()
        if value < limit:
            return value % bound
