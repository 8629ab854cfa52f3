"""How the error of a test session is divided, and how its randomness is derived."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction

from profiles.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Budget:
    """What one test may spend: ``error`` is the probability with which any true claim may be refuted in it.

    ``seed`` is the session's, ``test`` the name from which, with the seed, the randomness of the test is derived, and ``tests`` the
    number of tests among which the session's error is divided.
    """

    error: Fraction
    seed: int
    test: str
    tests: int

    def of_assertion(self, number: int) -> Fraction:
        """Return the error of the ``number``-th assertion of the test, counted from 1: error/(k(k + 1)), which adds up to ``error``.

        Proof: 1/(k(k + 1)) = 1/k − 1/(k + 1), so the first n of them add up to 1 − 1/(n + 1) < 1.

        >>> budget = Budget(Fraction(1, 100), 7, "test_a", 1)
        >>> budget.of_assertion(1), sum(budget.of_assertion(k) for k in range(1, 100)) < budget.error
        (Fraction(1, 200), True)
        """
        return self.error / (number * (number + 1))

    def entropy(self, number: int, samples: int, pairs: int) -> int:
        """Return the seed of the ``number``-th assertion with so many outputs on each data set of so many pairs, 128 bits.

        It is a function of the session's seed, the test's name, the number, the error, ``samples`` and ``pairs``. With another of them an
        assertion is another experiment with other outputs: whoever saw in one session which claims were close, and
        runs those tests alone at the larger error that is left for each, cannot choose the outputs with them.
        """
        text = f"{self.seed}\0{self.test}\0{number}\0{self.error}\0{samples}\0{pairs}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:16], "big")


def divide(confidence: Fraction, tests: int, *, at_least: Fraction | None = None) -> Fraction:
    """Return the error of one of ``tests`` tests of a session: (1 − confidence)/tests, or 1 − ``at_least`` where that is smaller.

    Claim: if each test spends at most this, the probability that a true claim is refuted anywhere in the session is at most
    1 − ``confidence``, whatever the tests have to do with each other and in whichever processes they run (union bound).
    Raises :class:`InvalidArgument`.

    >>> divide(Fraction(99, 100), 10), divide(Fraction(99, 100), 10, at_least=Fraction(9999, 10000))
    (Fraction(1, 1000), Fraction(1, 10000))
    """
    for level in (confidence, at_least):
        if level is not None and not 0 < level < 1:
            raise InvalidArgument(f"the confidence must lie in (0, 1), but {float(level):g} was found; give for example 0.99")
    if tests < 1:
        raise InvalidArgument(f"the error must be divided among at least 1 test, but {tests} was found; give the number of tests")
    share = (1 - confidence) / tests
    return share if at_least is None else min(share, 1 - at_least)
