"""What an entry of the standard suite says: a mechanism, a pair of data sets, what is claimed for it and what is true of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.numbers import ExactLike, to_exact
from proofs_check.audit import AuditResult, Claim, audit

#: A number of nats: an exact fraction, or ``math.inf``.
Nats = Fraction | float


class Sampler(Protocol):
    """A mechanism: ``size`` independent outputs on ``dataset``, stacked along the first axis."""

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> NDArray[Any]:
        """Return the outputs."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Claim: lower ≤ ε(D, D′) ≤ upper, for the pair of the case, where

        ε(D, D′) = sup over events S of |log P(M(D) ∈ S)/P(M(D′) ∈ S)|   (nats)

    is taken over both directions and M computes in exact real arithmetic (unless the case is about floating point). Where the case has
    a δ > 0, ε(D, D′) is the smallest ε ≥ 0 with P(M(D) ∈ S) ≤ e^ε P(M(D′) ∈ S) + δ for all S, in both directions.

    ``lower`` and ``upper`` are exact numbers that are rounded outward, or ``math.inf``; they are equal where ε is known exactly.
    ``derivation`` proves the claim in words. Raises :class:`InvalidArgument` where lower > upper.

    >>> Truth.between("0.1", "0.2", "").upper
    Fraction(1, 5)
    """

    lower: Nats
    upper: Nats
    derivation: str

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.upper:
            raise InvalidArgument(f"a truth needs 0 <= lower <= upper, but {self.lower} and {self.upper} were found; exchange them")

    @staticmethod
    def between(lower: ExactLike, upper: ExactLike, derivation: str) -> Truth:
        """Return an enclosure with exact ends."""
        return Truth(to_exact(lower, "the lower end"), to_exact(upper, "the upper end"), derivation)

    @staticmethod
    def exactly(value: ExactLike, derivation: str) -> Truth:
        """Return a truth that is a rational number."""
        return Truth.between(value, value, derivation)

    @staticmethod
    def infinite(derivation: str) -> Truth:
        """Return ε = ∞: an event has probability 0 on one side only, or ratios of probabilities are unbounded."""
        return Truth(math.inf, math.inf, derivation)


@dataclass(frozen=True, slots=True, eq=False)
class SuiteCase:
    """Claim: ``truth`` holds for ``mechanism`` on the pair (``dataset``, ``neighbor``).

    ``name`` is unique; ``claimed`` is the ε that is advertised for neighboring data sets (rounded up where it is irrational);
    ``correct`` says whether it holds for this pair: truth.upper ≤ claimed, or else truth.lower > claimed. ``one_sided`` claims are
    about adding a record (``dataset`` is the larger one). ``statistic``, where given, maps outputs to what an audit may look at
    instead. ``neighboring`` says what the claim calls neighbors: ``"stated"`` where the data sets are answers of queries, or one value,
    of which the publication says how far those of neighbors are apart. ``bits``: also look at what floating point gives away. ``note`` says
    what is wrong with the mechanism or peculiar about the pair, ``source`` where the algorithm is published. ``delta``: of an
    (ε, δ) claim, and the truth is then about the smallest ε with P(S) ≤ e^ε P'(S) + δ for all S, in both directions.
    """

    name: str
    mechanism: Sampler
    dataset: Any
    neighbor: Any
    claimed: Fraction
    truth: Truth
    correct: bool
    one_sided: bool = False
    statistic: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    note: str = ""
    source: str = ""
    neighboring: str = "add-remove"
    bits: bool = False
    delta: Fraction = Fraction(0)

    @property
    def claim(self) -> Claim:
        """What is claimed, as an audit takes it."""
        return Claim(self.claimed, self.delta, one_sided=self.one_sided)

    def run(self, rng: np.random.Generator, **options: Any) -> AuditResult:
        """Return the audit of the case; ``options`` go to :func:`proofs_check.audit.audit`, and come before what the case says."""
        own: dict[str, Any] = {"statistic": self.statistic, "neighboring": self.neighboring, "bits": self.bits}
        return audit(self.mechanism, self.dataset, self.neighbor, self.claim, rng=rng, **{**own, **options})


def answers(values: ArrayLike) -> Floats:
    """Return query answers as an array of doubles that nobody can change.

    >>> answers([1, 0]).tolist()
    [1.0, 0.0]
    """
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array
