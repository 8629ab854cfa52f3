"""Broken twins: for every mechanism of the catalogue, implementations and claims with one mistake each, which an audit has to refute."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from accountant.amplification import amplify
from accountant.rules import make_rule
from profiles.arrays import Floats
from profiles.mechanisms import KNormSum, LaplaceSum, Mechanism, WeightedCount, WeightedLloyd
from profiles.mechanisms.datasets import compute_norms
from proofs_check.audit import Claim
from tests.targets.catalogue import broken
from tests.targets.catalogue.case import AuditCase, ClaimKind
from tests.targets.catalogue.claims import base_claim, sampled_claim, times_claim
from tests.targets.catalogue.correct import select_constrained, small_totals
from tests.targets.catalogue.gaussian import gaussian_twins
from tests.targets.catalogue.running import PoissonSampled, ShippedSelection, release, repeat
from tests.targets.suite import Sampler, Truth

#: Noise that is 5 % too small: the smallest mistake that is looked for, with ε = 2.2, where the fewest outputs show it.
_SHARE = Fraction(19, 20)
#: Outputs on each data set.
_MANY, _SOME, _FEW = 150_000, 40_000, 6_000


@dataclass(frozen=True, slots=True)
class TotalLoss:
    """Log-likelihood ratio of norm-exponential noise: Σ over ``releases`` of (‖y‖_p − ‖y − shift‖_p)/scale, nats.

    With ``q`` below 1 the shift is there with probability q only, for all releases together: log(1 − q + q·e^sum).
    """

    shift: tuple[float, ...]
    scale: float
    p: float
    q: float = 1.0
    releases: int = 1

    def __call__(self, outputs: Floats) -> Floats:
        """Return the ratio of each output."""
        rows = np.reshape(outputs, (-1, len(self.shift)))
        gaps = (compute_norms(rows, self.p) - compute_norms(rows - np.array(self.shift), self.p)) / self.scale
        total = gaps.reshape(-1, self.releases).sum(axis=1)
        return np.asarray(total if self.q == 1.0 else np.log(1 - self.q + self.q * np.exp(total)))


@dataclass(frozen=True, slots=True)
class KeptCentre:
    """−1 where every centre is exactly at 0, its start, and 0 elsewhere: with a record of count and sum 0 the neighbor keeps it oftener."""

    def __call__(self, outputs: Floats) -> Floats:
        """Return the statistic of each output."""
        return np.where((np.reshape(outputs, (len(outputs), -1)) == 0).all(axis=1), -1.0, 0.0)


@dataclass(frozen=True, slots=True)
class DirectionLoss:
    """Log-likelihood ratio of :class:`~tests.targets.catalogue.broken.GaussianDirections` noise for a shift, nats."""

    noise: broken.GaussianDirections
    shift: tuple[float, ...]

    def __call__(self, outputs: Floats) -> Floats:
        """Return the ratio of each output."""
        return self.noise.log_density(outputs - np.array(self.shift)) - self.noise.log_density(outputs)


def _pair(record: list[float], weight: float, base: list[list[float]] | None = None) -> tuple[object, object, Floats]:
    """Return the weighted data sets with and without a record, and the record."""
    points = np.array([] if base is None else base, dtype=np.float64).reshape(-1, len(record))
    found = np.array(record, dtype=np.float64)
    weights = np.ones(len(points))
    return (np.concatenate((points, found[np.newaxis])), np.append(weights, weight)), (points, weights), found


def _at_least(lower: Fraction | float | str, why: str, upper: Fraction | float | str = math.inf) -> Truth:
    return Truth(Fraction(lower), upper if upper == math.inf else Fraction(upper), why)


def _scaled(name: str, mechanism: Mechanism, declared: Mechanism, record: list[float], weight: float, loss: TotalLoss) -> AuditCase:
    dataset, neighbor, x = _pair(record, weight)
    claim = base_claim(declared, x, weight)
    exact = claim.epsilon / _SHARE
    truth = _at_least(exact * Fraction(999, 1000), "epsilon/0.95: the scale is 0.95 of the declared one", exact)
    return AuditCase(
        f"{name}/scale-95-percent", declared.name, ClaimKind.BASE, release(mechanism), dataset, neighbor, claim, truth,
        "the noise scale is 5 % too small", broken=True, samples=_MANY, log_ratio=loss,
    )  # fmt: skip


def _weights_twice(name: str, mechanism: Mechanism, record: list[float]) -> AuditCase:
    dataset, neighbor, x = _pair(record, 3.0)
    claim = base_claim(mechanism, x, 3.0)
    return AuditCase(
        f"{name}/weights-twice", mechanism.name, ClaimKind.BASE, release(broken.WeightsTwice(mechanism)), dataset, neighbor, claim,
        _at_least(claim.epsilon * Fraction(299, 100), "epsilon(w^2, x) = 3 epsilon(w, x) at w = 3", 3 * claim.epsilon),
        "the weight is applied by two layers: a record counts w^2 times", broken=True, samples=_SOME,
    )  # fmt: skip


def _reused_sample(name: str, mechanism: Mechanism, record: list[float], scale: float, p: float) -> AuditCase:
    rule, x = make_rule("uniform", mechanism.profile, {"rate": "1/4"}), np.array(record)
    once = sampled_claim(mechanism, rule, x)
    truth = amplify(2 * base_claim(mechanism, x, 4.0).epsilon, "1/4")
    moved = [4.0] if not mechanism.profile.record else [4 * entry for entry in record]
    return AuditCase(
        f"{name}/reused-sample", mechanism.name, ClaimKind.COMPOSED,
        release(PoissonSampled(repeat(mechanism, 2), ShippedSelection(mechanism, rule))), x[np.newaxis], np.zeros((0, len(record))),
        times_claim(once, 2), _at_least(truth.lower, "log(1 + q(e^(2 epsilon(1/q, x)) - 1)): attained beyond both sums", truth.upper),
        "both releases use one Poisson sample, but each is counted as a fresh one", broken=True, samples=_MANY,
        log_ratio=TotalLoss(tuple(moved), scale, p, 0.25, 2),
    )  # fmt: skip


def _one_too_many(name: str, mechanism: Mechanism, record: list[float]) -> AuditCase:
    dataset, neighbor, x = _pair(record, 5.0)
    once = base_claim(mechanism, x, 5.0)
    return AuditCase(
        f"{name}/one-release-too-many", mechanism.name, ClaimKind.COMPOSED, release(repeat(mechanism, 3)), dataset, neighbor,
        times_claim(once, 2), _at_least(3 * once.epsilon * Fraction(999, 1000), "three releases: 3 epsilon(w, x)", 3 * once.epsilon),
        "range(T + 1): three releases are made and two are paid for", broken=True, samples=_SOME,
    )  # fmt: skip


def _simple(
    name: str, declared: Mechanism, mechanism: Sampler, pair: tuple[object, object], claim: Claim, truth: Truth, why: str,
    *, kind: ClaimKind = ClaimKind.BASE, samples: int = _FEW, rounded: bool = True,
) -> AuditCase:  # fmt: skip
    return AuditCase(
        name, declared.name, kind, release(mechanism) if rounded else mechanism, *pair, claim, truth, why, broken=True, samples=samples
    )


def _lowest_bits() -> list[AuditCase]:
    """Return the mechanisms in binary64, with outputs that are not rounded: the hypothesis of exact real arithmetic fails."""
    return [
        AuditCase(
            f"{item.name}/lowest-bits", item.mechanism.name, ClaimKind.BASE, item.runner, *item.pair, item.claim,
            Truth.infinite("a sum of doubles is a multiple of its largest term's last place, whatever it comes to; noise near 0 is not"),
            "nothing is wrong with the law: sums of doubles keep fewer low bits than the noise alone (Mironov 2012)",
            broken=True, samples=_SOME, bits=True,
        )
        for item in small_totals("binary64")
    ]  # fmt: skip


def _laplace() -> list[AuditCase]:
    ten, four = LaplaceSum(b=10), LaplaceSum(b=4)
    smaller = LaplaceSum(b=10 * _SHARE)
    made = [
        _scaled("laplace", smaller, ten, [2.0], 11.0, TotalLoss((22.0,), 9.5, 1)),
        _weights_twice("laplace", ten, [2.0]),
        _reused_sample("laplace", four, [2.0], 4.0, 1),
        _one_too_many("laplace", ten, [2.0]),
    ]
    dataset, neighbor, x = _pair([2.0], 10.0, [[1.0]])
    made.append(
        _simple(
            "laplace/weight-not-counted", ten, ten, (dataset, neighbor), base_claim(ten, x, 1.0),
            _at_least("1.999", "epsilon(10, x) = 2", 2), "epsilon(1, x) is claimed for a record of weight 10",
        )
    )  # fmt: skip
    rule = make_rule("uniform", four.profile, {"rate": "1/4"})
    exact = sampled_claim(four, rule, x)
    made.append(
        _simple(
            "laplace/amplified-without-weight", four, PoissonSampled(four, ShippedSelection(four, rule)), (x[np.newaxis], np.zeros((0, 1))),
            Claim(amplify(base_claim(four, x, 1.0).epsilon, "1/4").upper, source="log(1 + q(e^epsilon(1, x) - 1))"),
            _at_least(exact.epsilon * Fraction(999, 1000), "psi(x) = log(1 + q(e^epsilon(1/q, x) - 1))", exact.epsilon),
            "the theorem for unweighted samples is used, but selected records weigh 1/q", kind=ClaimKind.SAMPLED, samples=_SOME,
        )
    )  # fmt: skip
    dataset, neighbor, x = _pair([4.0], 1.0, [[3.0]])
    made.append(
        _simple(
            "laplace/replace-sensitivity", ten, LaplaceSum(b=2), (dataset, neighbor), Claim("1/2", source="(4 - 3)/b"),
            _at_least("1.999", "x/b = 4/2", 2),
            "records lie in [3, 4]: the noise covers replacing one, a change of 1, but adding one is claimed, a change of up to 4",
        )
    )  # fmt: skip
    dataset, neighbor, x = _pair([2.0, 0.0], 2.0)
    plane = LaplaceSum(b=10, dimension=2)
    made.append(
        _simple(
            "laplace/shared-noise", plane, broken.NoisySum(broken.SharedNoise(10.0), 2), (dataset, neighbor), base_claim(plane, x, 2.0),
            Truth.infinite("the difference of the coordinates has no noise"), "one variate is added to both coordinates",
        )
    )  # fmt: skip
    dataset, neighbor, x = _pair([1.0, 1.0, 1.0], 4.0)
    made.append(
        _simple(
            "laplace/wrong-norm", ten, LaplaceSum(b=10, dimension=3), (dataset, neighbor),
            base_claim(KNormSum(beta_sum=10, p=2, dimension=3), x, 4.0), _at_least("1.199", "w|x|_1/b = 12/10", "1.2"),
            "w|x|_2/b is claimed, but independent Laplace noise pays for the l_1 norm", samples=2 * _SOME,
        )
    )  # fmt: skip
    dataset, neighbor, x = _pair([8.0], 1.0)
    made.append(
        _simple(
            "laplace/clipping-missing", ten, LaplaceSum(b=10, radius=8), (dataset, neighbor), base_claim(ten, np.array([4.0]), 1.0),
            _at_least("0.799", "8/10", "0.8"), "norms are at most 4, says the profile; nobody clips or refuses a record of norm 8",
            samples=_SOME,
        )
    )  # fmt: skip
    selection = broken.LargerWeights(select_constrained(four), 2.0)
    chosen = selection(x[np.newaxis] / 4)
    weight = float(chosen.weights[0])
    truth = amplify(base_claim(four, x / 4, weight).epsilon, float(chosen.probabilities[0]))
    made.append(
        _simple(
            "laplace/weights-too-large", four, PoissonSampled(four, selection), (x[np.newaxis] / 4, np.zeros((0, 1))),
            Claim(2, source="privacy-constrained sampling"), _at_least(truth.lower * 0.999, "psi at the weight that is used", truth.upper),
            "weights are twice the largest ones that satisfy the constraint", kind=ClaimKind.WORST_CASE, samples=_SOME,
        )
    )  # fmt: skip
    return made


def _count() -> list[AuditCase]:
    ten, two = WeightedCount(beta_count=10), WeightedCount(beta_count=2)
    made = [
        _scaled("count", WeightedCount(beta_count=10 * _SHARE), ten, [1.0], 22.0, TotalLoss((22.0,), 9.5, 1)),
        _weights_twice("count", ten, [1.0]),
        _reused_sample("count", two, [1.0], 2.0, 1),
        _one_too_many("count", WeightedCount(beta_count=5), [1.0]),
    ]
    one = WeightedCount(beta_count=1)
    points = np.ones((2, 1))
    made.append(
        _simple(
            "count/rate-from-data", one, PoissonSampled(one, broken.SizeDependentRate()), (points, points[:1]),
            Claim(amplify(2, "1/2").upper, source="psi with q = 1/n, n = 2"),
            _at_least("1.867", "log((e^-1 + 2e + e^3)/4) = 1.8675...: at 4 or more, where the sums 0, 2, 2, 4 are as likely", "1.868"),
            "q = 1/n with the size n of the data set itself: adding a record changes how the others are selected",
            kind=ClaimKind.SAMPLED, samples=_SOME,
        )
    )  # fmt: skip
    dataset, neighbor, _ = _pair([1.0], 10.0)
    made.append(
        _simple(
            "count/replace-sensitivity", one, WeightedCount(beta_count=5), (dataset, neighbor), Claim("1/5", source="(10 - 9)/beta_count"),
            _at_least("1.999", "w/beta_count = 10/5", 2),
            "weights lie in [9, 10]: the noise covers replacing a record, a change of 1, but adding one is claimed",
        )
    )  # fmt: skip
    dataset, neighbor, _ = _pair([1.0], 2.0)
    made.append(
        _simple(
            "count/one-sided-noise", ten, broken.NoisySum(broken.OneSidedNoise(10.0), 1), (dataset, neighbor), Claim("1/5", source="w/10"),
            Truth.infinite("counts below w are impossible with the record"), "the absolute value of the noise is added",
        )
    )  # fmt: skip
    dataset, neighbor, _ = _pair([2.0], 5.0)
    made.append(
        _simple(
            "count/same-seed", ten, broken.SameSeed(20.0, 20.0), (dataset, neighbor), Claim("3/4", source="w/20 + w*z/20"),
            Truth.infinite("count - sum has no noise"), "the generators of a count and a sum have the same seed", kind=ClaimKind.COMPOSED,
        )
    )  # fmt: skip
    return made


def _k_norm() -> list[AuditCase]:
    cube = KNormSum(beta_sum=10, p=math.inf)
    plane = KNormSum(beta_sum=4)
    made = [
        _scaled(
            "k-norm", KNormSum(beta_sum=10 * _SHARE, p=math.inf), cube, [2.0, 2.0], 11.0, TotalLoss((22.0, 22.0), 9.5, math.inf)
        ),
        _weights_twice("k-norm", KNormSum(beta_sum=10), [2.0, 0.0]),
        _reused_sample("k-norm", plane, [2.0, 0.0], 4.0, 2),
        _one_too_many("k-norm", cube, [2.0, 2.0]),
    ]  # fmt: skip
    for dimension in (2, 5):
        mechanism = KNormSum(beta_sum=10, dimension=dimension)
        dataset, neighbor, x = _pair([2.0] + [0.0] * (dimension - 1), 10.0)
        made.append(
            _simple(
                f"k-norm/exponential-radius-d{dimension}", mechanism, broken.NoisySum(broken.ExponentialRadius(10.0, 2.0), dimension),
                (dataset, neighbor), base_claim(mechanism, x, 10.0), Truth.infinite("the density has a pole at the true sum"),
                "the radius is Exp(beta) for Gamma(d, beta)", rounded=False, samples=_SOME,
            )
        )  # fmt: skip
    octahedron = KNormSum(beta_sum=10, p=1, dimension=5)
    dataset, neighbor, x = _pair([2.0, 0.0, 0.0, 0.0, 0.0], 10.0)
    noise = broken.GaussianDirections(10.0)
    made.append(
        AuditCase(
            "k-norm/gaussian-directions", octahedron.name, ClaimKind.BASE, broken.NoisySum(noise, 5), dataset, neighbor,
            base_claim(octahedron, x, 10.0),
            _at_least("6.02", "2 + log(5^2.5) = 6.0235...: near 0 on a diagonal, where the other noise lies on an axis", "6.03"),
            "directions are normalised Gaussians for p = 1: uniform on the wrong sphere", broken=True, samples=_SOME,
            log_ratio=DirectionLoss(noise, (20.0, 0.0, 0.0, 0.0, 0.0)),
        )
    )  # fmt: skip
    dataset, neighbor, x = _pair([2.0, 2.0], 4.0)
    made.append(
        _simple(
            "k-norm/wrong-norm", cube, KNormSum(beta_sum=10, p=1), (dataset, neighbor), base_claim(cube, x, 4.0),
            _at_least("1.599", "w|x|_1/beta = 16/10", "1.6"), "noise for p = 1, but w|x|_inf/beta is claimed", samples=_SOME,
        )
    )  # fmt: skip
    return made


def _lloyd() -> list[AuditCase]:
    tiny = 2.0**-20
    line = WeightedLloyd(initial_centres=(0.0,), iterations=1, beta_count=10, beta_sum=10, min_count=tiny)
    dataset, neighbor, x = _pair([0.0], 22.0)
    claim = base_claim(line, x, 22.0)
    stays = "the centre stays at its start where all noisy counts are below the least one; "
    smaller = WeightedLloyd(initial_centres=(0.0,), iterations=1, beta_count=10 * _SHARE, beta_sum=10, min_count=tiny)
    made = [
        AuditCase(
            "lloyd/scale-95-percent", line.name, ClaimKind.BASE, release(smaller), dataset, neighbor, claim,
            _at_least("2.315", stays + "2.2/0.95", claim.epsilon / _SHARE), "the noise scale of the counts is 5 % too small", broken=True,
            samples=_MANY, log_ratio=KeptCentre(),
        ),
    ]  # fmt: skip
    dataset, neighbor, x = _pair([0.0], 10.0)
    twice = WeightedLloyd(initial_centres=(0.0,), iterations=2, beta_count=10, beta_sum=10, min_count=tiny)
    made.append(
        _simple(
            "lloyd/one-iteration-too-many", line, twice, (dataset, neighbor), base_claim(line, x, 10.0),
            _at_least("1.99", stays + "2w/beta_count = 2", 2), "range(T + 1): two iterations are run and one is paid for",
            kind=ClaimKind.COMPOSED, samples=_SOME,
        )
    )  # fmt: skip
    made.append(_weights_twice("lloyd", line, [0.0]))
    plane = WeightedLloyd(initial_centres=((-1.0, 0.0), (1.0, 0.0)), iterations=1, beta_count=20, beta_sum=20)
    dataset, neighbor, x = _pair([-1.0, 1.0], 2.0, [[1.0, 0.0]])
    made.append(
        _simple(
            "lloyd/empty-clusters-without-noise", plane, broken.OneLloydStep(plane, noisy_empty=False), (dataset, neighbor),
            base_claim(plane, x, 2.0), Truth.infinite("the centre of an empty cluster never moves"), "empty clusters are skipped",
        )
    )  # fmt: skip
    dataset, neighbor, x = _pair([0.0], 10.0, [[0.0]])
    wide = WeightedLloyd(initial_centres=(0.0,), iterations=1, beta_count=20, beta_sum=20)
    made.append(
        _simple(
            "lloyd/counts-without-noise", wide, broken.OneLloydStep(wide, noisy_counts=False), (dataset, neighbor),
            base_claim(wide, x, 10.0), Truth.infinite("the centre has Laplace tails of scale 20/11 with the record and 20 without"),
            "sums are divided by the true count",
        )
    )  # fmt: skip
    one = WeightedLloyd(initial_centres=((0.0,) * 5,), iterations=1, beta_count=20, beta_sum=20)
    dataset, neighbor, x = _pair([4.0, 0.0, 0.0, 0.0, 0.0], 20.0)
    made.append(
        _simple(
            "lloyd/exponential-radius", one, broken.ExponentialRadiusStep(one), (dataset, neighbor), base_claim(one, x, 20.0),
            Truth.infinite("the noise of the sum has a pole: the density of the centre is unbounded on the segment from 0 to x"),
            "the radius is Exp(beta) for Gamma(d, beta)", samples=4 * _SOME, rounded=False,
        )
    )  # fmt: skip
    dataset, neighbor, x = _pair([2.0, 0.0], 2.0, [[-1.0, 0.0]])
    centre = WeightedLloyd(initial_centres=((0.0, 0.0),), iterations=1, beta_count=20, beta_sum=20)
    made.append(
        _simple(
            "lloyd/initial-centre-from-data", centre, broken.CentreFromData(centre), (dataset, neighbor), base_claim(centre, x, 2.0),
            Truth.infinite("a kept centre is the exact mean of the data"), "the initial centre is the mean of the data and costs nothing",
        )
    )  # fmt: skip
    return made


@cache
def broken_twins() -> tuple[AuditCase, ...]:
    """Return the broken twins, those of simple mechanisms first."""
    return (*_laplace(), *_count(), *_k_norm(), *_lloyd(), *_lowest_bits(), *gaussian_twins())
