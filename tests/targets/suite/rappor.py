"""RAPPOR: randomised response on a Bloom filter of the value."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.targets.suite.case import SuiteCase, Truth


@dataclass(frozen=True, slots=True)
class Rappor:
    """The Bloom filter B of a value with ``hashes`` hash functions and ``length`` bits, randomised twice and independently in every bit.

    Permanent: B′ = 1, 0, B with probabilities f/2, f/2, 1 − f. Instantaneous: S = 1 with probability q where B′ = 1, p where B′ = 0.
    ``p`` = 0 and ``q`` = 1 is one-time RAPPOR, which releases B′.

    Claim: let q* = q(1 − f/2) + p·f/2 and p* = p(1 − f/2) + q·f/2 be the probabilities of S = 1 for B = 1 and B = 0, and let the filters of
    two values differ in m bits of each kind. For q* > p*, ε = m·log(q*(1 − p*)/(p*(1 − q*))) exactly, at the reports that have the m bits
    of one value and lack those of the other. At most m = ``hashes``, for disjoint filters without collisions.

    Computed with one draw per bit, of probability q* or p*: the law of S is the same.

    Outputs have shape (size, length), bits. Hash i of a value is CRC-32 of "i:value" modulo ``length``: any fixed function will do.

    Source: Erlingsson, Pihur, Korolova 2014, Section 2, Theorems 1 and 2.
    """

    f: Fraction
    p: Fraction
    q: Fraction
    hashes: int = 4
    length: int = 20

    def filter(self, value: int) -> frozenset[int]:
        """Return which bits of the filter are set."""
        return frozenset(zlib.crc32(f"{i}:{value}".encode()) % self.length for i in range(self.hashes))

    def chances(self) -> tuple[Fraction, Fraction]:
        """Return q* and p*."""
        half = self.f / 2
        return self.q * (1 - half) + self.p * half, self.p * (1 - half) + self.q * half

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> NDArray[np.uint8]:
        """Return ``size`` reports."""
        q_star, p_star = map(float, self.chances())
        bits = self.filter(int(dataset))
        probabilities = np.array([q_star if i in bits else p_star for i in range(self.length)])
        return (rng.random((size, self.length)) < probabilities).astype(np.uint8)


_SOURCE = "Erlingsson, Pihur, Korolova 2014"

CASES = (
    SuiteCase(
        name="rappor",
        mechanism=Rappor(f=Fraction(3, 4), p=Fraction(9, 20), q=Fraction(11, 20)),
        dataset=1,
        neighbor=2,
        neighboring="stated",
        claimed=Fraction("0.400083365"),
        truth=Truth.between(
            "0.400083364",
            "0.400083365",
            "4 log(q*(1 - p*)/(p*(1 - q*))) with q* = 0.5125, p* = 0.4875: the filters {3, 4, 10, 17} and {2, 5, 8, 15} are disjoint",
        ),
        correct=True,
        source=f"{_SOURCE}, Steps 1 to 3, with the numbers of DP-Sniper",
    ),
    SuiteCase(
        name="one-time-rappor",
        mechanism=Rappor(f=Fraction(19, 20), p=Fraction(0), q=Fraction(1)),
        dataset=1,
        neighbor=2,
        neighboring="stated",
        claimed=Fraction("0.800667669"),
        truth=Truth.between(
            "0.800667668",
            "0.800667669",
            "4 log(q*(1 - p*)/(p*(1 - q*))) with q* = 0.525, p* = 0.475, which is 8 log((1 - f/2)/(f/2))",
        ),
        correct=True,
        source=f"{_SOURCE}, Steps 1 and 2, with the numbers of DP-Sniper",
    ),
)
