"""What every mechanism of the catalogue offers, and the constants it is made from.

A mechanism keeps two things beside each other: its declared PDP profile, which the accountant works with, and the sampler that runs
it, which an audit tries to catch out.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.hypotheses import BALLS_ENCLOSE, EXACT_REALS, IEEE_ROUNDING, Hypothesis
from profiles.numbers import ExactLike, round_up, to_exact, to_integer, to_number
from profiles.profile import Profile
from profiles.randomness.forks import require_home
from profiles.randomness.system import SystemBits

#: The hypothesis of every guarantee about continuous noise (Mironov 2012 shows what floating point can give away).
EXACT_ARITHMETIC = EXACT_REALS

#: What noise that is rounded correctly supposes of the machine instead.
EXACT_MODE = (IEEE_ROUNDING, BALLS_ENCLOSE)

#: The value of a parameter that is not given: any positive real. Such a mechanism has a profile but cannot be run.
POSITIVE = "positive"

#: The largest noise scale that can be run: below it noise stays finite for every dimension up to 2²⁰.
MOST_NOISE = 2**1000

#: Types whose values do not change.
_UNCHANGING = (int, float, str, Fraction, Decimal, type(None))


class Arithmetic(Enum):
    """How a sampler computes: its law is exactly the theorem's, or that of noise drawn in binary64."""

    EXACT = "exact"
    BINARY64 = "binary64"


@runtime_checkable
class Mechanism(Protocol):
    """A mechanism on weighted data sets {(w_i, x_i)} with its declared profile.

    A data set is an array of n records (implied weights 1) or a pair ``(data, weights)``; ``data`` has shape (n, d), or (n,) where
    d = 1, and n may be 0. Weights are finite and at least 1.
    """

    @property
    def name(self) -> str:
        """The name of the mechanism, which is also the name of its profile."""

    @property
    def summary(self) -> str:
        """One line that says what the mechanism outputs."""

    @property
    def source(self) -> str:
        """Where the profile is proved: paper and statement."""

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted about the implementation and its public inputs."""

    @property
    def profile(self) -> Profile:
        """The declared PDP profile ε(w, x), in nats."""

    def statistic(self, data: object) -> dict[str, Floats]:
        """Return the record statistics of ``data``: name → array of shape (n,). Raises :class:`InvalidData`."""

    def run(self, data: object, weights: object, rng: np.random.Generator) -> Any:
        """Return one output on the weighted data set. Raises :class:`InvalidData`, :class:`InvalidArgument`."""

    def sample(self, dataset: object, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` independent outputs, stacked along the first axis. Raises like :meth:`run`."""

    def __call__(self, dataset: object, rng: np.random.Generator, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""


class NoisyMechanism(ABC):
    """A mechanism with continuous noise: what it assumes of the machine, and one run as the first of several outputs."""

    __slots__ = ()

    arithmetic: Arithmetic | str

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the arithmetic that draws the noise."""
        return suppose_noise(to_arithmetic(self.arithmetic))

    @abstractmethod
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return ``size`` independent outputs, stacked along the first axis. Raises :class:`InvalidData`, :class:`InvalidArgument`."""

    def run(self, data: object, weights: object, rng: object = None) -> Any:
        """Return one output; ``weights`` None means 1. Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        return self.sample((data, weights), rng, 1)[0]

    def __call__(self, dataset: object, rng: object, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)


def to_arithmetic(value: object) -> Arithmetic:
    """Return the kind of arithmetic. Raises :class:`InvalidArgument`."""
    try:
        return Arithmetic(value)
    except ValueError:
        raise InvalidArgument(f"arithmetic must be 'exact' or 'binary64', but {str(value)[:40]!r} was found; choose one") from None


def settle_arithmetic(mechanism: Any) -> None:
    """Put the kind of arithmetic in place of what a mechanism was made with. Raises :class:`InvalidArgument`."""
    object.__setattr__(mechanism, "arithmetic", to_arithmetic(mechanism.arithmetic))


def settle_numbers(mechanism: Any, **fields: str) -> None:
    """Put exact numbers in place of what could still change after a mechanism was made, such as an array without dimensions.

    ``fields``: name of a field → what messages call it. Texts, and Python's own numbers, are kept as they were given; None, too.
    Raises :class:`InvalidNumber`.
    """
    for name, what in fields.items():
        value = getattr(mechanism, name)
        if type(value) not in _UNCHANGING:
            object.__setattr__(mechanism, name, str(value) if isinstance(value, str) else to_exact(value, what))


def is_exact(mechanism: Any) -> bool:
    """Tell whether a mechanism computes exactly: the one place that decides what runs, as :func:`to_arithmetic` decides what is supposed.

    Raises :class:`InvalidArgument` where its ``arithmetic`` is neither kind.
    """
    return to_arithmetic(mechanism.arithmetic) is Arithmetic.EXACT


def suppose_noise(arithmetic: Arithmetic) -> tuple[Hypothesis, ...]:
    """Return what a mechanism with continuous noise assumes of the arithmetic of the machine.

    Exact mode releases the correctly rounded value of the real-valued mechanism, and assumes what its proof says of the processor and of
    ball arithmetic; noise in binary64 assumes that its rounding gives nothing away.

    >>> [item.id for item in suppose_noise(Arithmetic.EXACT)], [item.id for item in suppose_noise(Arithmetic.BINARY64)]
    (['ieee-rounding', 'balls-enclose'], ['exact-reals'])
    """
    return EXACT_MODE if arithmetic is Arithmetic.EXACT else (EXACT_REALS,)


def require_positive(value: object, what: str) -> None:
    """Refuse anything but a positive exact number or the word ``"positive"``."""
    if isinstance(value, str) and value == POSITIVE:
        return
    to_number(value, what, "(0, inf)", "give a positive number")


def to_dimension(value: object) -> int:
    """Return an integer of at least 1. Raises :class:`InvalidArgument` for anything else."""
    return to_integer(value, "the dimension", 1, hint="give the number of columns")


def require_norm(p: object) -> None:
    """Refuse an exponent p that does not make ‖·‖_p a norm.

    For 0 < p < 1 the triangle inequality fails, (1, 0) + (0, 1) being longer than its parts together, and with it the second
    inequality in the proof of Proposition 13 ("for some p > 0" there is a slip of the paper: p ≥ 1 is needed).
    """
    if isinstance(p, bool) or not isinstance(p, (int, float, np.integer, np.floating)) or math.isnan(p) or p < 1:
        raise InvalidArgument(
            f"p must be a number of at least 1 or math.inf, but {str(p)[:40]!r} was found; below 1 the triangle inequality fails and "
            "the profile would be wrong"
        )


def noise_scale(value: ExactLike, what: str) -> float:
    """Return the noise scale as the nearest float that is not smaller, so that a rounded scale only adds noise.

    Raises :class:`InvalidArgument` where the scale is not a number but any positive real, or above ``MOST_NOISE``.
    """
    return round_up(exact_scale(value, what))


def exact_scale(value: ExactLike, what: str) -> Fraction:
    """Return the noise scale as it was given. Raises :class:`InvalidArgument` like :func:`noise_scale`."""
    exact = _given(value, what)
    if exact > MOST_NOISE:
        raise InvalidArgument(f"{what} must be at most 2**1000 to be sampled, but a larger number was found; rescale by a public constant")
    return exact


def whole_number(value: ExactLike, what: str) -> int:
    """Return a given positive integer. Raises :class:`InvalidArgument` where it is any positive real."""
    return int(_given(value, what))


def _given(value: ExactLike, what: str) -> Fraction:
    if isinstance(value, str) and value == POSITIVE:
        raise InvalidArgument(f"running the mechanism needs a number for {what}, but any positive real was declared; give a number")
    return to_exact(value, what)


def check_call(rng: object, size: object) -> np.random.Generator:
    """Return the generator, refusing one or a number of outputs that cannot be used; in a forked process also one of its parent."""
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(
            f"a numpy.random.Generator was expected, but an object of type {type(rng).__name__} was found; pass numpy.random.default_rng()"
        )
    check_size(size)
    if not isinstance(rng.bit_generator, SystemBits):
        require_home(rng)
    return rng


def check_size(size: object) -> None:
    """Refuse a number of outputs that is none."""
    to_integer(size, "the number of outputs", 0)
