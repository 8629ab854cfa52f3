"""How a test audits: its options and those of an assertion, its share of the error of the session, and its randomness."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from profiles.errors import InvalidArgument
from profiles.numbers import to_number
from profiles.suggestions import suggest

#: The options of :func:`proofs_check.audit.audit` that an assertion passes on.
OPTIONS = ("bits", "effort", "log_ratio", "mode", "own_randomness", "statistic", "time_limit")
_OWN = ("samples", "pairs", "delta", "records", "dimension", "conditions", "target_epsilon", "min_size", "weighted", "one_sided")
_SESSION = ("confidence", "tests", "rng")
_ANSWERS = {"unknown": ("report", "fail"), "too_large": ("warn", "fail")}


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How a test audits: outputs for each data set of a pair, pairs for a profile, seconds for one call of the mechanism.

    ``unknown`` is what an undecided condition does: ``"report"`` or ``"fail"``. ``too_large`` is what a claim does that so few outputs
    could not have refuted: ``"warn"`` or ``"fail"``. ``repeat`` are the shell words that repeat the test. Raises :class:`InvalidArgument`.
    """

    samples: int = 10_000
    pairs: int = 8
    unknown: str = "report"
    too_large: str = "warn"
    time_limit: float | None = 60.0
    effort: str = "fast"
    repeat: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, answers in _ANSWERS.items():
            value = getattr(self, name)
            if value not in answers:
                raise InvalidArgument(f"{name} must be {' or '.join(answers)}, but {str(value)[:40]!r} was found; choose one")

    def of_audit(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of an audit: those of an assertion, else those of the test. Raises :class:`InvalidArgument`.

        >>> AuditSettings().of_audit({"mode": "sequential"})
        {'mode': 'sequential', 'effort': 'fast', 'time_limit': 60.0}
        """
        for name, value in options.items():
            if name in _SESSION:
                raise InvalidArgument(
                    f"{name} was given to an assertion, but it belongs to the session; use the marker or an option of pytest"
                )
            if name not in OPTIONS:
                raise InvalidArgument(
                    f"the option {name[:40]!r} of an assertion is not known; known are {', '.join(OPTIONS)}"
                    f"{suggest(name, (*OPTIONS, *_OWN))}"
                )
            if name in ("bits", "own_randomness") and not isinstance(value, bool):
                raise InvalidArgument(f"{name} must be True or False, but {str(value)[:40]!r} was found; give one of them")
        return {"mode": "fixed", "effort": self.effort, "time_limit": self.time_limit, **options}


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
        if level is not None:
            to_number(level, "the confidence", "(0, 1)", "give for example 0.99")
    if tests < 1:
        raise InvalidArgument(f"the error must be divided among at least 1 test, but {tests} was found; give the number of tests")
    share = (1 - confidence) / tests
    return share if at_least is None else min(share, 1 - at_least)
