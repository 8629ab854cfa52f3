"""Where random bits come from, the operating system's secure source or a seeded generator on request, and uniform integers made of them."""

from __future__ import annotations

import os
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from profiles.errors import InvalidArgument
from profiles.hypotheses import SECURE_BITS, SEEDED_BITS, Hypothesis
from profiles.numbers import to_integer
from profiles.randomness.forks import require_home
from profiles.randomness.system import SystemBits

Digits = NDArray[np.uint16]
Words = NDArray[np.uint64]

#: First digits are drawn in blocks of this length, so that a seed gives the same sample however the data is cut into batches.
BLOCK = 32_768
FIRST_BITS, NEXT_BITS = 16, 32


class Uncopied:
    """What holds random bits is not copied: both copies would use the same ones.

    Claim: ``copy``, ``deepcopy`` and ``pickle`` raise what :meth:`_refuse_copy` of the class raises; a class writes that one method.

    >>> import copy
    >>> class Dice(Uncopied):
    ...     __slots__ = ()
    ...     def _refuse_copy(self):
    ...         raise TypeError("dice cannot be copied")
    >>> copy.copy(Dice())
    Traceback (most recent call last):
    ...
    TypeError: dice cannot be copied
    """

    __slots__ = ()

    def _refuse_copy(self) -> NoReturn:
        raise NotImplementedError

    def __copy__(self) -> NoReturn:
        self._refuse_copy()

    def __deepcopy__(self, _memo: object) -> NoReturn:
        self._refuse_copy()

    def __reduce__(self) -> NoReturn:
        self._refuse_copy()


class BitSource(Protocol):
    """Independent uniform digits: blocks of 16-bit ones, single 32-bit ones, and any number of 64-bit words. None is given twice."""

    @property
    def name(self) -> str:
        """How reports call the source."""

    @property
    def hypothesis(self) -> Hypothesis | str:
        """What has to be true of the source, and no program can see."""

    @property
    def seed(self) -> int | None:
        """The seed where there is one that is known. It must stay as secret as the data: it tells who was selected."""

    def block(self) -> Digits:
        """Return ``BLOCK`` digits, each uniform on 0, ..., 2^16 − 1."""

    def digit(self) -> int:
        """Return a digit that is uniform on 0, ..., 2^32 − 1."""

    def words(self, count: int) -> Words:
        """Return ``count`` words, each uniform on 0, ..., 2^64 − 1: a new array of shape (count,)."""


class SecureBits:
    """``os.urandom``, in blocks of 64 KiB, or as many words as are asked for: nothing is read ahead that a fork or a copy could repeat."""

    __slots__ = ()

    name = "secure source of the operating system"
    hypothesis = SECURE_BITS
    seed: int | None = None

    def block(self) -> Digits:
        return np.frombuffer(os.urandom(BLOCK * FIRST_BITS // 8), dtype="<u2").astype(np.uint16, copy=False)

    def digit(self) -> int:
        return int.from_bytes(os.urandom(NEXT_BITS // 8), "little")

    def words(self, count: int) -> Words:
        """Return the next words: exactly what ``os.urandom(8·count)`` gives."""
        return np.frombuffer(bytearray(os.urandom(8 * count)), dtype=np.uint64)


class GeneratorBits(Uncopied):
    """A NumPy generator: for tests and repeatable studies. The guarantee then assumes that nobody knows the seed.

    Its bits are used once: it cannot be copied or pickled, and gives none in a forked process, which would draw what its parent draws.
    The process of a generator is the one where it was first used here: see :func:`~profiles.randomness.forks.require_home`.
    """

    __slots__ = ("rng", "seed")

    name = "seeded generator"
    hypothesis = SEEDED_BITS

    def __init__(self, rng: np.random.Generator, seed: int | None = None) -> None:
        self.rng, self.seed = rng, seed
        require_home(rng)

    def block(self) -> Digits:
        """Return the next block. Raises :class:`InvalidArgument` in a forked process."""
        return self.words(BLOCK // 4).astype("<u8", copy=False).view("<u2").astype(np.uint16, copy=False)

    def words(self, count: int) -> Words:
        """Return the next words; a sequence of calls gives what one call gives. Raises :class:`InvalidArgument` in a forked process."""
        require_home(self.rng)
        return self.rng.integers(0, 2**64 - 1, size=count, dtype=np.uint64, endpoint=True)

    def digit(self) -> int:
        """Return the next single digit. Raises :class:`InvalidArgument` in a forked process."""
        require_home(self.rng)
        return int(self.rng.integers(0, 2**NEXT_BITS - 1, dtype=np.uint64, endpoint=True))

    def _refuse_copy(self) -> NoReturn:
        raise InvalidArgument("a source of bits cannot be copied or pickled, because both would give the same bits; make another one")


def repeats(source: BitSource, rng: np.random.Generator) -> bool:
    """Tell whether ``rng`` is another generator with the seed or the state of ``source``, so that it gives the same bits again."""
    if not isinstance(source, GeneratorBits) or source.rng is rng or source.rng.bit_generator is rng.bit_generator:
        return False
    states = [getattr(item.bit_generator, "state", None) for item in (source.rng, rng)]
    if None in states:  # a source without a state repeats nothing
        return False
    if _are_equal(*states):  # made without a seed sequence, or set to one state
        return True
    mine, its = (getattr(item.bit_generator, "seed_seq", None) for item in (source.rng, rng))
    if not (isinstance(mine, np.random.SeedSequence) and isinstance(its, np.random.SeedSequence)):
        return False
    return bool(np.array_equal(mine.generate_state(4, np.uint64), its.generate_state(4, np.uint64)))


def _are_equal(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(value, other[key]) for key, value in one.items())
    return bool(np.array_equal(one, other))  # type: ignore[arg-type]


def refuse_repeats(source: BitSource, other: object) -> None:
    """Refuse a generator, or a source made of one, that gives the bits of ``source`` again. Raises :class:`InvalidArgument`."""
    rng = other.rng if isinstance(other, GeneratorBits) else other
    if isinstance(rng, np.random.Generator) and repeats(source, rng):
        raise InvalidArgument(
            "rng and bits have the same seed, so that choices and noise would repeat the draws of the sample; give two seeds, or the same "
            "generator for both"
        )


def open_bits(source: object = None) -> BitSource:
    """Return the secure source (None), a source seeded with an integer, or that of a :class:`numpy.random.Generator`; pass on any other
    object that has the methods of :class:`BitSource`.

    Raises :class:`InvalidArgument`, also for a generator that was used before this process was forked.

    >>> open_bits().name, open_bits(7).seed
    ('secure source of the operating system', 7)
    """
    if source is None:
        return SecureBits()
    if isinstance(source, np.random.Generator):  # one over the secure source has no state to repeat, and one read for each word
        return SecureBits() if isinstance(source.bit_generator, SystemBits) else GeneratorBits(source)
    if isinstance(source, (int, np.integer)) and not isinstance(source, bool):
        seed = to_integer(source, "a seed", 0, hint="give one, or none for a secure source")
        return GeneratorBits(np.random.default_rng(seed), seed)
    if isinstance(source, GeneratorBits):
        require_home(source.rng)
    if all(hasattr(source, name) for name in ("name", "hypothesis", "seed", "block", "digit", "words")):
        return source  # type: ignore[return-value]
    raise InvalidArgument(
        f"a source of random bits must be None (secure), a seed or a numpy.random.Generator, but {type(source).__name__} was found; "
        "give one of them"
    )


def read_words(source: BitSource, count: int) -> Words:
    """Return ``count`` words of ``source``. Raises :class:`InvalidArgument` where it gives anything else, of which nothing is used."""
    return _require(source, source.words(count), np.dtype(np.uint64), count, "words")


def read_block(source: BitSource) -> Digits:
    """Return the next block of ``source``. Raises :class:`InvalidArgument` where it gives anything else."""
    return _require(source, source.block(), np.dtype(np.uint16), BLOCK, "block")


def _require(source: BitSource, drawn: Any, kind: np.dtype[Any], count: int, method: str) -> NDArray[Any]:
    if isinstance(drawn, np.ndarray) and drawn.dtype == kind and drawn.shape == (count,):
        return drawn
    shape = f"{drawn.dtype} of shape {drawn.shape}" if isinstance(drawn, np.ndarray) else type(drawn).__name__
    raise InvalidArgument(
        f"the method {method!r} of a source of random bits returns an array of {count} numbers of type {kind}, but {type(source).__name__} "
        f"returned {shape}; correct the source"
    )


def draw_below(bound: int, source: BitSource) -> int:
    """Return an integer that is uniform on 0, ..., ``bound`` − 1, by rejection. Raises :class:`InvalidArgument` for bound < 1."""
    if bound < 1:
        raise InvalidArgument(f"a uniform integer needs a bound of at least 1, but {bound} was found; give a larger one")
    if bound == 1:
        return 0
    size, words = 1 << NEXT_BITS, 1
    while size < bound:
        size, words = size << NEXT_BITS, words + 1
    limit = size - size % bound  # the numbers below it fall into equal shares
    while True:
        value = source.digit()
        for _ in range(words - 1):
            value = value << NEXT_BITS | source.digit()
        if value < limit:
            return value % bound
