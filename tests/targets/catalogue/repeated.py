"""Audits of the repeated mechanisms: what they claim on pairs where the claim is nearly attained, and twins with one mistake each.

They run with exact draws, as the mechanisms do unless floating point is asked for; the first of their claims with floating point, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from accountant.applications.repeated import SubsampledRepeated, subsampled_exponential, subsampled_threshold
from profiles.arrays import Integers
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from profiles.randomness.bernoulli import PoissonSampler
from proofs_check.audit import Claim
from proofs_check.exact.repeated import compare_laws, mix_laws
from tests.targets.catalogue.broken import Subtracted
from tests.targets.catalogue.case import AuditCase, ClaimKind
from tests.targets.suite import Truth

RepeatedMechanism = RepeatedExponential | RepeatedThreshold
Law = dict[tuple[int, ...], tuple[Fraction, Fraction]]

#: Data sets are lists of candidates; D has one record and D′ none.
WITH, WITHOUT = [0], list[int]()
_CANDIDATES, _ROUNDS = 6, 2
_EXACT, _FLOATS = "exact", "binary64"


@dataclass(frozen=True, slots=True)
class Covering:
    """select of greedy coverage: a record counts for its candidate until that one was chosen. ``recount``: after that too, a mistake."""

    recount: bool = False

    def __call__(self, chosen: tuple[int, ...]) -> tuple[list[int], Callable[[list[int]], Integers]]:
        """Return the candidates that are left (all of them where records count again) and their scores."""
        left = [c for c in range(_CANDIDATES) if self.recount or c not in chosen]
        return left, lambda data: np.array([data.count(c) for c in left])


def select_lowered(_chosen: tuple[int, ...]) -> tuple[int, Callable[[list[int]], Integers]]:
    """A mistake: a record lowers the scores of all other candidates, so that realised sums stay 0 and nothing is monotone."""
    return _CANDIDATES, lambda data: np.array([sum(-1 for record in data if record != c) for c in range(_CANDIDATES)])


@dataclass(frozen=True, slots=True)
class Counting:
    """select of a count of the records that were above fewer than ``limit`` times, against ``threshold``."""

    threshold: int
    limit: int

    def __call__(self, answers: tuple[bool, ...]) -> tuple[Callable[[list[int]], int], int]:
        """Return the count and the threshold."""
        return (lambda data: len(data) if sum(answers) < self.limit else 0), self.threshold


@dataclass(frozen=True, slots=True)
class OneSample:
    """A mistake: two runs, each claimed as one on a sample of its own, use the same sample."""

    sampled: SubsampledRepeated

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Integers:
        """Return both outputs beside each other, shape (size, 2·rounds)."""
        kept = PoissonSampler(rng).select(np.full(size, self.sampled.plan.p))
        mechanism, rounds = self.sampled.mechanism, self.sampled.mechanism.rounds
        found = np.empty((size, 2 * rounds), dtype=np.int64)
        for data, rows in ((dataset, np.flatnonzero(kept)), (WITHOUT, np.flatnonzero(~kept))):
            for start in (0, rounds):
                found[rows, start : start + rounds] = mechanism.sample(data, rng, len(rows))
        return found


def _exponential(select: Any, epsilon0: Any = 1, sensitivity: Any = 1, arithmetic: str = _EXACT) -> RepeatedExponential:
    return RepeatedExponential(select=select, rounds=_ROUNDS, epsilon0=epsilon0, sensitivity=sensitivity, arithmetic=arithmetic)


def _threshold(select: Any, rounds: int, epsilon0: Any = 1, sensitivity: Any = 1, arithmetic: str = _EXACT) -> RepeatedThreshold:
    return RepeatedThreshold(select=select, rounds=rounds, epsilon0=epsilon0, sensitivity=sensitivity, arithmetic=arithmetic)


def _laws(mechanism: RepeatedMechanism | SubsampledRepeated) -> tuple[Law, Law]:
    """Return the laws on D and D′ of the exact mechanism."""
    if isinstance(mechanism, SubsampledRepeated):
        inner = mechanism.mechanism
        return mix_laws(inner.law(WITH), Fraction(mechanism.plan.p), inner.law(WITHOUT)), inner.law(WITHOUT)
    return mechanism.law(WITH), mechanism.law(WITHOUT)


def _truth(laws: tuple[Law, Law], why: str, *, one_sided: bool) -> Truth:
    larger, smaller = laws
    pairs = [compare_laws(larger, smaller)] if one_sided else [compare_laws(larger, smaller), compare_laws(smaller, larger)]
    return Truth(max(lower for lower, _ in pairs), max(upper for _, upper in pairs), why)


def _case(
    name: str, mechanism: Any, claim: Claim, truth: Truth, derivation: str, *, entry: str, kind: ClaimKind = ClaimKind.BASE,
    broken: bool = False, samples: int = 20_000,
) -> AuditCase:  # fmt: skip
    return AuditCase(name, entry, kind, mechanism, WITH, WITHOUT, claim, truth, derivation, broken=broken, samples=samples)


_EXPONENTIAL, _ABOVE = RepeatedExponential.name, RepeatedThreshold.name
_LISTED = "largest ratio of the probabilities of all outputs, listed exactly"


@cache
def repeated_cases() -> tuple[AuditCase, ...]:
    """Return what is claimed of the two mechanisms: ε₀-add-DP, L·ε₀ in both directions, and the target after sampling."""
    made = []
    greedy, monitor = _exponential(Covering()), _threshold(Counting(2, 2), 3, sensitivity=2)
    page = "docs/one-sided.md, Theorem"
    floats = _exponential(Covering(), arithmetic=_FLOATS), _threshold(Counting(2, 2), 3, sensitivity=2, arithmetic=_FLOATS)
    for short, mechanism, entry, source in (
        ("repeated-exponential", greedy, _EXPONENTIAL, f"{page} A"),
        ("repeated-threshold", monitor, _ABOVE, f"{page} B"),
        ("repeated-exponential-binary64", floats[0], _EXPONENTIAL, f"{page} A"),
        ("repeated-threshold-binary64", floats[1], _ABOVE, f"{page} B"),
    ):
        truth = _truth(_laws(mechanism), _LISTED, one_sided=True)
        made.append(
            _case(f"{short}/add-dp", mechanism, Claim(1, one_sided=True, source=source), _capped(truth, 1), "epsilon0-add-DP", entry=entry)
        )
    truth = _truth(_laws(greedy), _LISTED, one_sided=False)
    made.append(
        _case(
            "repeated-exponential/both-directions", greedy, Claim(_ROUNDS, source="docs/one-sided.md, Theorem A'"), truth,
            "L epsilon0 in both directions", entry=_EXPONENTIAL,
        )
    )  # fmt: skip
    options: dict[str, Any] = {"sensitivity": 1, "epsilon": 1}
    covering: dict[str, Any] = {"select": Covering(), "rounds": _ROUNDS, **options}
    sampled: tuple[tuple[str, SubsampledRepeated, str], ...] = (
        ("exponential", subsampled_exponential(**covering), _EXPONENTIAL),
        ("exponential-by-rounds", subsampled_exponential(**covering, calibration="rounds"), _EXPONENTIAL),
        ("threshold", subsampled_threshold(select=Counting(1, 1), rounds=2, **options), _ABOVE),
    )
    for short, version, entry in sampled:
        truth = _capped(_truth(_laws(version), _LISTED, one_sided=False), 1)
        claim = Claim(1, source="docs/one-sided.md, Theorem 1")
        made.append(
            _case(f"repeated-{short}/subsampled", version, claim, truth, "the target after sampling", entry=entry, kind=ClaimKind.SAMPLED)
        )
    return tuple(made)


def _capped(truth: Truth, most: int) -> Truth:
    """Return the truth with the proved bound as its upper end: enclosures of an attained bound end just above it."""
    return Truth(truth.lower, min(truth.upper, Fraction(most)), truth.derivation)


@cache
def repeated_twins() -> tuple[AuditCase, ...]:
    """Return implementations and claims with one mistake each."""
    one_sided = Claim(1, one_sided=True, source="Ghazi et al. 2024, Theorems 4.3 and 5.3, without their assumptions")
    made = []
    for name, mechanism, entry, why in (
        (
            "repeated-exponential/sensitivity-not-used", _exponential(Covering(), epsilon0=2), _EXPONENTIAL,
            "the exponent is epsilon0 times the score of which a unit is half a sensitivity: twice what it may be",
        ),
        (
            "repeated-exponential/not-monotone", _exponential(select_lowered), _EXPONENTIAL,
            "a record lowers the scores of the other candidates: realised sums are 0, Assumption 4.1 fails",
        ),
        (
            "repeated-exponential/counted-again", _exponential(Covering(recount=True)), _EXPONENTIAL,
            "a record counts again after its candidate was chosen: the realised sum is 2 Delta",
        ),
        (
            "repeated-threshold/counted-again", _threshold(Counting(2, 3), 3, sensitivity=2), _ABOVE,
            "a record that was above twice is not dropped: the realised sum is 3 where Delta = 2",
        ),
    ):  # fmt: skip
        truth = _truth(_laws(mechanism), _LISTED, one_sided=True)
        made.append(_case(name, mechanism, one_sided, truth, why, entry=entry, broken=True, samples=60_000))
    rate = Fraction(1)
    made.append(
        _case(
            "repeated-threshold/noise-subtracted", Subtracted(rate), one_sided,
            Truth.infinite("above has probability 1 - e^-1 with the record and 0 without it"),
            "the noise has the wrong sign for add-DP", entry=_ABOVE, broken=True,
        )
    )  # fmt: skip
    monitor = _threshold(Counting(1, 1), 1)
    made.append(
        _case(
            "repeated-threshold/not-sampled", monitor, Claim(1, source="one-sided privacy taken for privacy in both directions"),
            Truth(math.inf, math.inf, "below has probability 1 - e^-1 without the record and 0 with it"),
            "epsilon0-add-DP is claimed as epsilon0-DP: no sample is drawn", entry=_ABOVE, broken=True,
        )
    )  # fmt: skip
    made.append(_reused())
    return tuple(made)


def _reused() -> AuditCase:
    version = subsampled_threshold(select=Counting(1, 1), rounds=1, sensitivity=1, epsilon=1)
    with_record, without = (_square(version.mechanism.law(data)) for data in (WITH, WITHOUT))
    laws = mix_laws(with_record, Fraction(version.plan.p), without), without
    return _case(
        "repeated-threshold/reused-sample", OneSample(version), Claim(2, source="two runs of epsilon 1, each on a fresh sample"),
        _truth(laws, _LISTED, one_sided=False), "both runs use one Poisson sample: log(1 + p(e^(2 epsilon0) - 1)) is above 2 epsilon",
        entry=_ABOVE, kind=ClaimKind.COMPOSED, broken=True, samples=60_000,
    )  # fmt: skip


def _square(law: Law) -> Law:
    """Return the law of two independent outputs."""
    return {(*a, *b): (low * lower, high * higher) for a, (low, high) in law.items() for b, (lower, higher) in law.items()}
