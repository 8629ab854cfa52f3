"""The claims of the accountant about every mechanism of the catalogue, each on a pair of data sets where it is tight or close to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from accountant.rules import SamplingRule, make_rule
from profiles.arrays import Floats
from profiles.composition import compose_adaptively
from profiles.mechanisms import KNormSum, LaplaceSum, Mechanism, WeightedCount, WeightedLloyd
from proofs_check.audit import Claim, extreme_records, record_pairs
from tests.targets.catalogue.case import AuditCase, ClaimKind
from tests.targets.catalogue.claims import base_claim, sampled_claim, times_claim, worst_case_claim
from tests.targets.catalogue.gaussian import gaussian_cases
from tests.targets.catalogue.running import BeforeQuotients, OneColumn, PoissonSampled, ShippedSelection, Together, release, repeat
from tests.targets.suite import Sampler, Truth

#: Weights of the added record: none, a small one and a large one.
WEIGHTS = (1.0, 2.0, 10.0)
RADIUS = Fraction(2)
TARGET = Fraction(2)
_CENTRES = ((-1.0, 0.0), (1.0, 0.0))
#: Noise scales at which ε(10, x) = 2 and ψ is about 1 at records of norm 2, so that an audit sees enough of both.
_OF_BASE, _OF_SAMPLED = 10, 4

_NEARLY = 1 - Fraction(1, 10**8)
_ATTAINED = "the claim is attained (or approached) where the output lies beyond all sums in the direction of the record"
_BELOW = "at most the claim"


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A mechanism with numbers: its short name, dimension and norm, and whether its profile is attained by single outputs."""

    name: str
    mechanism: Mechanism
    dimension: int
    p: float
    tight: bool

    def records(self) -> list[Floats]:
        """Return extreme records of the domain, shape (d,)."""
        return extreme_records(float(RADIUS), self.dimension, self.p)

    def bystanders(self) -> Floats:
        """Return two records that are in both data sets, shape (2, d)."""
        points = np.zeros((2, self.dimension))
        points[0, 0], points[1, -1] = 0.5, -1.0
        return points

    def rules(self) -> list[SamplingRule]:
        """Return the explicit sampling rules that the mechanism is audited with: 1/q is a float for one of them and is not for others."""
        profile = self.mechanism.profile
        made = [make_rule("uniform", profile, {"m": 3, "n": 10})]
        if profile.record and self.p in (1, 2):
            constants = {"m": 1, "n": 4, "lam": "1/2", "mean": 1}
            made.append(make_rule("coreset-l2" if self.p == 2 else "coreset-l1", profile, constants))
        return made


def norm_name(p: float) -> str:
    """Return p as it is written in the name of a case."""
    return "inf" if math.isinf(p) else f"{p:g}"


def subjects(scale: int) -> tuple[Subject, ...]:
    """Return the mechanisms that are audited: every entry of the catalogue, in several dimensions and norms, with noise of this scale."""
    sums = [Subject(f"laplace-d{d}", LaplaceSum(b=scale, radius=RADIUS, dimension=d), d, 1.0, tight=True) for d in (1, 3)]
    k_norms = [
        Subject(f"k-norm-p{norm_name(p)}-d{d}", KNormSum(beta_sum=scale, p=p, radius=RADIUS, dimension=d), d, p, tight=True)
        for p in (1.0, 2.0, math.inf)
        for d in (1, 2, 5)
    ]
    lloyds = [
        Subject(
            f"lloyd-T{rounds}",
            WeightedLloyd(initial_centres=_CENTRES, iterations=rounds, beta_count=2 * scale, beta_sum=2 * scale, radius=RADIUS),
            2,
            2.0,
            tight=False,
        )
        for rounds in (1, 3)
    ]
    lloyds.append(  # as DPLloyd runs it
        Subject(
            "lloyd-T2-confined",
            WeightedLloyd(initial_centres=_CENTRES, iterations=2, beta_count=2 * scale, beta_sum=2 * scale, radius=RADIUS, confine=True),
            2,
            2.0,
            tight=False,
        )
    )
    return (*sums, Subject("count", WeightedCount(beta_count=scale), 1, 1.0, tight=True), *k_norms, *lloyds)


def rounded_truth(claim: Claim, *, tight: bool, sampled: bool = False) -> Truth:
    """Return [claim less 10⁻¹⁵ relatively, claim] where the claim is attained, else [0, claim]; for a ``sampled`` one 10⁻⁸, because
    the probabilities and weights that a sample is drawn with are rounded down to 28 bits or more.
    """
    if tight:
        return Truth(claim.epsilon * (_NEARLY if sampled else 1 - Fraction(1, 10**15)), claim.epsilon, _ATTAINED)
    return Truth(Fraction(0), claim.epsilon, _BELOW)


def select_constrained(mechanism: Mechanism) -> ShippedSelection:
    """Return privacy-constrained sampling for the target ψ ≤ 2."""
    return ShippedSelection(mechanism, make_rule("privacy-constrained", mechanism.profile, target_epsilon=TARGET))


def _base_cases(subject: Subject) -> Iterator[AuditCase]:
    mechanism, records = subject.mechanism, subject.records()
    base, empty = (subject.bystanders(), np.array([1.0, 3.0])), (np.zeros((0, subject.dimension)), np.ones(0))
    axis = records[:1]
    if not mechanism.profile.record:
        records = axis
    chosen = [
        *record_pairs(mechanism, mechanism.profile, [base], axis, WEIGHTS),
        *record_pairs(mechanism, mechanism.profile, [empty], records[-2:-1], WEIGHTS[-1:]),
        *record_pairs(mechanism, mechanism.profile, [base], records[-1:], WEIGHTS[-1:]),
    ]
    for number, pair in enumerate(chosen):
        claim = Claim(pair.claim.epsilon, source=pair.claim.source)
        truth = rounded_truth(claim, tight=subject.tight)
        yield AuditCase(
            f"{subject.name}/base-{number + 1}", mechanism.name, ClaimKind.BASE, release(mechanism), pair.dataset, pair.neighbor, claim,
            truth, f"epsilon(w, x) of the record; {pair.name}",
        )  # fmt: skip


def _sampled_cases(subject: Subject) -> Iterator[AuditCase]:
    mechanism, base = subject.mechanism, subject.bystanders()
    for rule in subject.rules():
        several = isinstance(mechanism, KNormSum) and subject.dimension > 1
        for number, record in enumerate(subject.records()[:3:2] if several else subject.records()[:1]):
            claim = sampled_claim(mechanism, rule, record)
            yield AuditCase(
                f"{subject.name}/{rule.name}-{number + 1}", mechanism.name, ClaimKind.SAMPLED,
                release(PoissonSampled(mechanism, ShippedSelection(mechanism, rule))),
                np.concatenate((base, record[np.newaxis])), base, claim,
                rounded_truth(claim, tight=subject.tight, sampled=True), f"psi(x) of the added record; {claim.source}",
            )  # fmt: skip


def _composed_cases(subject: Subject) -> Iterator[AuditCase]:
    mechanism, base, record = subject.mechanism, subject.bystanders(), subject.records()[0]
    larger = np.concatenate((base, record[np.newaxis]))
    pairs = record_pairs(mechanism, mechanism.profile, [(base, np.ones(2))], [record], [2.0])
    for pair in pairs:
        claim = times_claim(pair.claim, 3)
        yield AuditCase(
            f"{subject.name}/three-releases", mechanism.name, ClaimKind.COMPOSED, release(repeat(mechanism, 3)), pair.dataset,
            pair.neighbor, claim, rounded_truth(claim, tight=subject.tight), "3 epsilon(w, x): three independent releases",
        )  # fmt: skip
    rule = subject.rules()[-1]
    claim = times_claim(sampled_claim(mechanism, rule, record), 2)
    sampled = PoissonSampled(mechanism, ShippedSelection(mechanism, rule))
    yield AuditCase(
        f"{subject.name}/two-sampled-releases", mechanism.name, ClaimKind.COMPOSED, release(repeat(sampled, 2)), larger, base, claim,
        rounded_truth(claim, tight=subject.tight, sampled=True), "2 psi(x): two releases, each of a subsample of its own",
    )  # fmt: skip


def _worst_cases(subject: Subject) -> Iterator[AuditCase]:
    mechanism, base = subject.mechanism, subject.bystanders()
    rule = subject.rules()[-1]
    claim, at = worst_case_claim(mechanism.profile, rule)
    record = worst_record(subject, at)
    larger = np.concatenate((base, record[np.newaxis]))
    sampled = PoissonSampled(mechanism, ShippedSelection(mechanism, rule))
    truth = Truth(claim.epsilon * _NEARLY, claim.epsilon, _ATTAINED) if subject.tight else rounded_truth(claim, tight=False)
    yield AuditCase(
        f"{subject.name}/worst-case", mechanism.name, ClaimKind.WORST_CASE, release(sampled), larger, base, claim, truth,
        f"{claim.source}; the worst record is added",
    )  # fmt: skip
    if not mechanism.profile.record:
        return
    claim = Claim(TARGET, source="privacy-constrained sampling: psi(x) <= 2 at every record (Problem 7, Theorem 10)")
    constrained = PoissonSampled(mechanism, select_constrained(mechanism))
    truth = Truth(TARGET * _NEARLY, TARGET, "psi(x) = 2 to 1e-9") if subject.tight else rounded_truth(claim, tight=False)
    for number, record in enumerate((subject.records()[0], subject.records()[0] / 2)):
        yield AuditCase(
            f"{subject.name}/privacy-constrained-{number + 1}", mechanism.name, ClaimKind.WORST_CASE, release(constrained),
            np.concatenate((base, record[np.newaxis])), base, claim, truth, claim.source,
        )  # fmt: skip


def worst_record(subject: Subject, at: dict[str, Fraction]) -> Floats:
    """Return a record whose norm is the binary64 number next to the worst one, not above it, shape (d,)."""
    record = np.zeros(subject.dimension)
    norm = at.get("z", RADIUS)
    record[0] = float(norm)
    if Fraction(record[0]) > norm:
        record[0] = math.nextafter(record[0], 0.0)
    return record


@dataclass(frozen=True, slots=True, eq=False)
class SmallTotal:
    """A pair of data sets, none against one record (w, x), for which sums are so small that noise in binary64 gives them away."""

    name: str
    mechanism: Mechanism
    runner: Sampler
    record: tuple[float, ...]
    weight: float

    @property
    def pair(self) -> tuple[object, object]:
        """The weighted data sets with and without the record."""
        d = len(self.record)
        return (np.array([self.record]), np.array([self.weight])), (np.zeros((0, d)), np.ones(0))

    @property
    def claim(self) -> Claim:
        """ε(w, x) of the record."""
        return base_claim(self.mechanism, np.array(self.record), self.weight)


def small_totals(arithmetic: str) -> list[SmallTotal]:
    """Return pairs for every mechanism of the catalogue: sums and counts themselves, because a quotient hides low bits."""
    own: dict[str, Any] = {"arithmetic": arithmetic}
    made = [
        SmallTotal("laplace", item := LaplaceSum(b=10, **own), item, (1.0,), 4.0),
        SmallTotal("laplace-w1", item := LaplaceSum(b=10, **own), item, (0.1,), 1.0),
        SmallTotal("laplace-d3", item := LaplaceSum(b=10, dimension=3, **own), OneColumn(item, 1), (0.0, 1.0, 0.0), 4.0),
        SmallTotal("count", tally := WeightedCount(beta_count=10, **own), tally, (1.0,), 4.0),
        SmallTotal("count-7", tally := WeightedCount(beta_count=10, **own), tally, (0.0,), 7.0),
    ]
    for p in (1.0, 2.0, math.inf):
        for d in (1, 2):
            total = KNormSum(beta_sum=10, p=p, dimension=d, **own)
            runner = total if d == 1 else OneColumn(total, 0)
            made.append(SmallTotal(f"k-norm-p{norm_name(p)}-d{d}", total, runner, (1.0, 0.0)[:d], 4.0))
    line = WeightedLloyd(initial_centres=(0.0,), iterations=1, beta_count=10, beta_sum=10, **own)
    made.append(SmallTotal("lloyd-counts-and-sums", line, BeforeQuotients(line), (1.0,), 4.0))
    return made


def _bits_cases() -> Iterator[AuditCase]:
    """Yield the cases whose outputs are audited to their last bit, as they leave the machine."""
    for item in small_totals("exact"):
        truth = rounded_truth(item.claim, tight=item.runner is item.mechanism)
        yield AuditCase(
            f"{item.name}/bits", item.mechanism.name, ClaimKind.BASE, item.runner, *item.pair, item.claim, truth,
            "epsilon(w, x) of the record; low bits are looked at", bits=True,
        )  # fmt: skip
    lloyd = WeightedLloyd(initial_centres=_CENTRES, iterations=2, beta_count=20, beta_sum=20, radius=RADIUS)
    pair = SmallTotal("lloyd", lloyd, lloyd, (1.0, 0.0), 4.0)
    yield AuditCase(
        "lloyd-T2/bits", lloyd.name, ClaimKind.BASE, lloyd, *pair.pair, pair.claim, rounded_truth(pair.claim, tight=False),
        "epsilon(w, x) of the record; low bits of the centres are looked at", bits=True,
    )  # fmt: skip


def _joint_case() -> AuditCase:
    count, total = WeightedCount(beta_count=20), KNormSum(beta_sum=20, radius=RADIUS, dimension=2)
    profile = compose_adaptively("count and sum", (count.profile, total.profile))
    base = (np.array([[0.5, 0.0]]), np.array([3.0]))
    pair = next(iter(record_pairs(total, profile, [base], [np.array([2.0, 0.0])], [10.0])))
    return AuditCase(
        "count-and-sum/base", total.name, ClaimKind.COMPOSED, release(Together((count, total))), pair.dataset, pair.neighbor, pair.claim,
        rounded_truth(pair.claim, tight=True), "w/beta_count + w*z/beta_sum: a count and a sum on one data set",
    )  # fmt: skip


@cache
def catalogue_cases() -> tuple[AuditCase, ...]:
    """Return a case for each mechanism of the catalogue and each kind of claim, and more where dimension or norm matter."""
    made: list[AuditCase] = []
    for subject in subjects(_OF_BASE):
        made += _base_cases(subject)
    for subject in subjects(_OF_SAMPLED):
        made += _sampled_cases(subject)
        if subject.name in {"laplace-d1", "count", "k-norm-p2-d2", "lloyd-T1", "lloyd-T3"}:
            made += _composed_cases(subject)
            made += _worst_cases(subject)
    return (*made, _joint_case(), *_bits_cases(), *gaussian_cases())
