"""Samplers against the laws that their truths are computed from.

Every statistical test runs at the false-alarm level ALARM with a fixed seed. Probabilities come from certified quadrature or from formulas
that the truths do not use.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from proofs_check.exact import expectation_over_laplace, laplace_cdf, laplace_sf
from tests.targets.suite import standard_suite
from tests.targets.suite.floating_point import off_grid
from tests.targets.suite.numeric_svt import AdaptiveSVT
from tests.targets.suite.sparse_vector import Answer, SparseVector
from tests.targets.suite.truths.sparse_vector import Pattern, list_patterns

CASES = {case.name: case for case in standard_suite()}
ALARM = 1e-4
DRAWS = 40_000


def draw(name, *, neighbor=False, size=DRAWS, seed=11):
    case = CASES[name]
    return case.mechanism(case.neighbor if neighbor else case.dataset, np.random.default_rng(seed), size)


def accept_counts(counts, probabilities):
    """Chi-square of counts by outcome, rare outcomes put together."""
    total = sum(counts.values())
    assert set(counts) <= set(probabilities), "an output that the law excludes"
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-9)
    common = [key for key, p in probabilities.items() if p * total >= 20]
    observed = [counts[key] for key in common]
    expected = [probabilities[key] * total for key in common]
    rest = total - sum(expected)
    if rest > 20:
        observed.append(total - sum(observed))
        expected.append(rest)
    expected = np.array(expected) * (sum(observed) / sum(expected))
    assert stats.chisquare(observed, expected).pvalue > ALARM


def accept_proportion(events, probability):
    assert stats.binomtest(int(np.sum(events)), len(events), probability).pvalue > ALARM


def pattern_chance(mechanism, answers, pattern):
    """P(pattern) by certified quadrature."""
    answers = [int(x) for x in answers]

    def integrand(r):
        level = r + mechanism.threshold
        factors = [laplace_cdf(level - answers[i], mechanism.query_scale) for i in pattern.below]
        factors += [laplace_sf(level - answers[i], mechanism.query_scale) for i in pattern.above]
        return math.prod(factors, start=1 + 0 * r.value)

    return float(expectation_over_laplace(mechanism.threshold_scale, integrand).lower)


def codes_of(pattern, queries):
    return tuple(1 if i in pattern.above else 0 if i in pattern.below else -1 for i in range(queries))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("neighbor", [False, True])
@pytest.mark.parametrize("name", ["svt-1", "svt-2", "svt-4"])
def test_svt_patterns_with_a_limit(name, neighbor):
    case = CASES[name]
    answers = case.neighbor if neighbor else case.dataset
    table = {codes_of(p, 10): pattern_chance(case.mechanism, answers, p) for p in list_patterns(10, case.mechanism.limit)}
    accept_counts(Counter(map(tuple, draw(name, neighbor=neighbor).tolist())), table)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("limit", [2, 3])
def test_svt_patterns_with_a_larger_limit_on_four_queries(limit):
    mechanism = SparseVector(Fraction(1), Fraction(40), Fraction(20), limit)
    answers = [1.0, 2.0, 0.0, 30.0]
    table = {codes_of(p, 4): pattern_chance(mechanism, answers, p) for p in list_patterns(4, limit)}
    accept_counts(Counter(map(tuple, mechanism(answers, np.random.default_rng(2), DRAWS).tolist())), table)


def test_svt_that_draws_its_threshold_again():
    """Two queries, c = 2: after a query above the next one is compared with a fresh threshold."""
    mechanism = SparseVector(Fraction(10), Fraction(40), Fraction(8), 2, refresh_scale=Fraction(10))
    bits = mechanism([10.0, 15.0], np.random.default_rng(3), DRAWS)
    first = bits[:, 0] == 1
    fresh = SparseVector(mechanism.threshold, Fraction(10), mechanism.query_scale, None)
    accept_proportion(bits[first, 1] == 1, pattern_chance(fresh, [15.0], Pattern((), (0,))))
    accept_proportion(first, 0.5)


@pytest.mark.thorough
def test_svt_without_a_limit_by_the_number_of_bits():
    case = CASES["svt-6"]
    for neighbor, answers in ((False, case.dataset), (True, case.neighbor)):
        chances = {}
        for a, b in itertools.product(range(6), repeat=2):
            above = (*range(a), *range(5, 5 + b))
            one = Pattern(tuple(i for i in range(10) if i not in above), above)
            chances[a, b] = math.comb(5, a) * math.comb(5, b) * pattern_chance(case.mechanism, answers, one)
        outputs = draw("svt-6", neighbor=neighbor)
        pairs = zip(outputs[:, :5].sum(axis=1).tolist(), outputs[:, 5:].sum(axis=1).tolist(), strict=True)
        accept_counts(Counter(pairs), chances)


def test_svt_without_query_noise():
    outputs = draw("svt-5", neighbor=True)
    accept_proportion((outputs[:, :5] == 1).all(axis=1) & (outputs[:, 5:] == 0).all(axis=1), 1 - math.exp(-1 / 20))
    outputs = draw("svt-5")
    assert set(map(tuple, outputs.tolist())) == {(0,) * 10, (1,) * 10}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["svt-3", "gap-svt", "bad-gap-svt"])
@pytest.mark.parametrize("neighbor", [False, True])
def test_svt_that_releases_numbers(name, neighbor):
    case = CASES[name]
    mechanism, answers = case.mechanism, case.neighbor if neighbor else case.dataset
    outputs = draw(name, neighbor=neighbor)
    above = outputs > -1000
    assert set(outputs[~above].tolist()) <= {-1000.0, -2000.0}
    codes = np.where(above, 1, np.where(outputs == -1000, 0, -1))
    bits = SparseVector(mechanism.threshold, mechanism.threshold_scale, mechanism.query_scale, 1)
    table = {codes_of(p, 10): pattern_chance(bits, answers, p) for p in list_patterns(10, 1)}
    accept_counts(Counter(map(tuple, codes.tolist())), table)
    # the number at the third query, where it is the first one above
    chosen = outputs[codes[:, 2] == 1, 2]
    low, high, scale, rho = 3.0, 25.0, float(mechanism.query_scale), float(mechanism.threshold_scale)
    level = float(mechanism.threshold)

    def chance(start, stop):
        """P(first two below, third above, number in [start, stop]) by numeric integration over the threshold."""

        def density(r):
            below = math.prod(stats.laplace.cdf(level + r - answers[i], scale=scale) for i in range(2))
            shift = (level + r if mechanism.answer is Answer.GAP else 0.0) - answers[2]
            bottom = max(start, level + r) if mechanism.answer is Answer.VALUE else max(start, 0.0)
            inside = stats.laplace.cdf(stop + shift, scale=scale) - stats.laplace.cdf(bottom + shift, scale=scale) if stop > bottom else 0.0
            return stats.laplace.pdf(r, scale=rho) * below * inside

        return integrate.quad(density, -900, 900, points=[-1, 0, 1, 2, 24, start, stop], limit=400)[0]

    accept_proportion(np.isin(np.arange(DRAWS), np.flatnonzero(codes[:, 2] == 1)[(chosen >= low) & (chosen <= high)]), chance(low, high))


@pytest.mark.thorough
def test_numerical_svt_releases_fresh_noise():
    outputs = draw("numerical-svt")
    bits = CASES["numerical-svt"].mechanism.bits
    codes = np.where(outputs == -2000, -1, (outputs != 0).astype(int))
    table = {codes_of(p, 10): pattern_chance(bits, CASES["numerical-svt"].dataset, p) for p in list_patterns(10, 2)}
    accept_counts(Counter(map(tuple, codes.tolist())), table)
    numbers = outputs[codes == 1]
    assert stats.kstest(numbers, stats.laplace(1, 60).cdf).pvalue > ALARM


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["adaptive-svt", "bad-adaptive-svt"])
def test_adaptive_svt_takes_its_branches(name):
    outputs = draw(name, neighbor=True)
    mechanism, answers = CASES[name].mechanism, CASES[name].neighbor
    branches, numbers = outputs[:, :10], outputs[:, 10:]
    assert (numbers[branches <= 0] == 0).all()
    assert (numbers[branches == 1] >= 0).all()
    table = {}
    for i, branch in itertools.product(range(10), (1, 2)):
        table[(0,) * i + (branch,) + (-1,) * (9 - i)] = _adaptive_chance(mechanism, answers, i, branch)
    table[(0,) * 10] = _adaptive_chance(mechanism, answers, 10, 0)
    accept_counts(Counter(tuple(int(b) for b in row) for row in branches), table)
    top = numbers[:, 0][branches[:, 0] == 2]
    assert (top >= 16).all() != mechanism.leak
    rho, scale = stats.laplace(scale=20), stats.laplace(scale=80)
    if mechanism.leak:  # P(x + ν >= max(30, t + ρ + 16)) for x = 2
        chance = integrate.quad(lambda r: rho.pdf(r) * scale.sf(max(30.0, 17 + r) - 2), -900, 900, points=[0, 13], limit=400)[0]
    else:  # P(x + ν − t − ρ >= 30)
        chance = integrate.quad(lambda r: rho.pdf(r) * scale.sf(30 + 1 + r - 2), -900, 900, points=[-29, 0], limit=400)[0]
    accept_proportion((branches[:, 0] == 2) & (numbers[:, 0] >= 30), chance)


def _adaptive_chance(mechanism, answers, count, branch):
    answers = [int(x) for x in answers]

    def integrand(r):
        level = r + mechanism.threshold
        factors = []
        for x in answers[:count]:
            factors += [laplace_cdf(level + mechanism.margin - x, mechanism.top_scale), laplace_cdf(level - x, mechanism.middle_scale)]
        if branch == 2:
            factors.append(laplace_sf(level + mechanism.margin - answers[count], mechanism.top_scale))
        if branch == 1:
            factors.append(laplace_cdf(level + mechanism.margin - answers[count], mechanism.top_scale))
            factors.append(laplace_sf(level - answers[count], mechanism.middle_scale))
        return math.prod(factors, start=1 + 0 * r.value)

    return float(expectation_over_laplace(mechanism.threshold_scale, integrand).lower)


def test_adaptive_svt_spends_its_units():
    """With limit 2 there are 4 units; asking stops when fewer than 2 are left."""
    one = CASES["adaptive-svt"].mechanism
    mechanism = AdaptiveSVT(one.threshold, one.threshold_scale, one.middle_scale, one.top_scale, one.margin, 2)
    branches = mechanism([1.0] * 12, np.random.default_rng(4), 5_000)[:, :12]
    cost = np.where(branches == 2, 1, np.where(branches == 1, 2, 0))
    before = np.cumsum(cost, axis=1) - cost
    assert ((branches == -1) == (before > 2)).all()
    assert {3, 4} <= set(cost.sum(axis=1).tolist())


@pytest.mark.thorough
@pytest.mark.parametrize("neighbor", [False, True])
@pytest.mark.parametrize("name", ["noisy-max-1", "noisy-max-2"])
def test_noisy_max_indices(name, neighbor):
    case = CASES[name]
    answers = case.neighbor if neighbor else case.dataset
    law = stats.expon(scale=20) if case.mechanism.exponential else stats.laplace(scale=20)

    def chance(i):
        def density(y):
            return law.pdf(y - answers[i]) * math.prod(law.cdf(y - answers[j]) for j in range(5) if j != i)

        return integrate.quad(density, -600, 900, points=[0, 1, 2], limit=400)[0]

    table = {i: chance(i) for i in range(5)}
    accept_counts(Counter(draw(name, neighbor=neighbor).tolist()), table)


@pytest.mark.parametrize(("name", "law"), [("noisy-max-3", stats.laplace(scale=20)), ("noisy-max-4", stats.expon(scale=20))])
def test_noisy_max_values(name, law):
    for neighbor, answers in ((False, CASES[name].dataset), (True, CASES[name].neighbor)):
        values = draw(name, neighbor=neighbor)
        assert stats.kstest(values, lambda y, x=answers: np.prod([law.cdf(y - each) for each in x], axis=0)).pvalue > ALARM


@pytest.mark.parametrize("name", ["truncated-geometric", "truncated-geometric-base-2"])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_truncated_geometric_is_geometric_noise_that_is_clamped(name, count):
    mechanism = CASES[name].mechanism
    ratio = 2**mechanism.k / (2**mechanism.k + 1)
    table = Counter()
    for z in range(-2000, 2001):
        table[min(max(count + z, 0), 5)] += (1 - ratio) / (1 + ratio) * ratio ** abs(z)
    accept_counts(Counter(mechanism(count, np.random.default_rng(5), DRAWS).tolist()), dict(table))


class EveryNumberOnce:
    """A generator whose integers are all numbers of the range."""

    def integers(self, low, high, size, *, endpoint):
        assert endpoint
        assert size == high - low + 1
        return np.arange(low, high + 1)


@pytest.mark.parametrize("count", [0, 2, 5])
def test_truncated_geometric_has_its_table_exactly(count):
    mechanism = CASES["truncated-geometric"].mechanism
    table = mechanism.cumulate(count)
    outputs = mechanism(count, EveryNumberOnce(), table[-1])
    assert np.bincount(outputs, minlength=6).tolist() == np.diff([0, *table]).tolist()


@pytest.mark.parametrize("name", ["rappor", "one-time-rappor"])
def test_rappor_bits_are_the_two_steps_of_the_paper(name):
    mechanism = CASES[name].mechanism
    rng = np.random.default_rng(6)
    own = np.isin(np.arange(20), sorted(mechanism.filter(1)))
    permanent = np.where(rng.random((DRAWS, 20)) < float(mechanism.f), rng.random((DRAWS, 20)) < 0.5, own)
    report = rng.random((DRAWS, 20)) < np.where(permanent, float(mechanism.q), float(mechanism.p))
    outputs = draw(name)
    for two_steps, one_step in zip(report.T, outputs.T, strict=True):
        table = [[two_steps.sum(), DRAWS - two_steps.sum()], [one_step.sum(), DRAWS - one_step.sum()]]
        assert stats.chi2_contingency(table).pvalue > ALARM
    # different bits are independent
    assert stats.chi2_contingency(np.histogram2d(outputs[:, 3], outputs[:, 4], bins=2)[0]).pvalue > ALARM


def test_rappor_filters_are_disjoint_and_full():
    filters = [CASES["rappor"].mechanism.filter(value) for value in (1, 2)]
    assert [sorted(bits) for bits in filters] == [[3, 4, 10, 17], [2, 5, 8, 15]]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("name", "scale", "places"),
    [
        ("laplace", 10, 1),
        ("parallel-laplace", 200, 20),
        ("noisy-histogram-1", 10, 5),
        ("noisy-histogram-2", 0.1, 5),
        ("partial-sum", 10, 1),
        ("bad-partial-sum", 5, 1),
    ],
)
def test_laplace_noise_around_the_answers(name, scale, places):
    case = CASES[name]
    centres = np.broadcast_to(np.sum(case.neighbor) if "partial" in name else case.neighbor, (places,))
    for column, centre in zip(draw(name, neighbor=True).reshape(DRAWS, places).T, centres, strict=True):
        assert stats.kstest(column, stats.laplace(centre, scale).cdf).pvalue > ALARM


def test_parallel_releases_are_independent():
    below = draw("parallel-laplace") <= 0
    assert stats.chi2_contingency(np.histogram2d(below[:, 0], below[:, 1], bins=2)[0]).pvalue > ALARM
    accept_counts(Counter(below.sum(axis=1).tolist()), {k: math.comb(20, k) / 2**20 for k in range(21)})


def test_prefix_sums_are_sums_of_noisy_answers():
    steps = np.diff(draw("prefix-sum"), axis=1, prepend=0)
    for column in steps.T:
        assert stats.kstest(column, stats.laplace(1, 10).cdf).pvalue > ALARM
    assert stats.spearmanr(steps[:, 0], steps[:, 1]).pvalue > ALARM


def test_smart_sums_restart_from_noisy_block_totals():
    outputs = draw("smart-sum", neighbor=True)
    inside = np.diff(np.concatenate([np.zeros((DRAWS, 1)), outputs], axis=1), axis=1)
    for i, answer in enumerate(CASES["smart-sum"].neighbor):
        if i not in (4, 9):
            assert stats.kstest(inside[:, i], stats.laplace(answer, 10).cdf).pvalue > ALARM
    assert stats.kstest(outputs[:, 4], stats.laplace(4, 10).cdf).pvalue > ALARM
    assert stats.kstest(outputs[:, 9] - outputs[:, 4], stats.laplace(5, 10).cdf).pvalue > ALARM
    # what is released inside a block tells nothing of the noise of its total
    assert stats.spearmanr(outputs[:, 3], outputs[:, 4]).pvalue > ALARM


def test_bad_smart_sums_have_exact_block_totals():
    assert set(draw("bad-smart-sum")[:, 4].tolist()) == {5.0}
    assert set(draw("bad-smart-sum", neighbor=True)[:, 9].tolist()) == {9.0}


def test_naive_floating_point_has_its_law_and_its_flaw():
    for neighbor, centre in ((False, 0), (True, 1)):
        assert stats.kstest(draw("floating-point-laplace", neighbor=neighbor), stats.laplace(centre, 10).cdf).pvalue > ALARM
    assert off_grid(draw("floating-point-laplace")).mean() > 0.02
    assert off_grid(draw("floating-point-laplace", neighbor=True, size=10**6)).sum() == 0


def test_the_event_of_the_flaw_needs_no_property_of_the_logarithm():
    """fl(1 + z) is never small and off the grid, for any double z."""
    rng = np.random.default_rng(7)
    z = np.concatenate(
        [-rng.random(10**6) * 2, -(0.5 + rng.random(10**6)), -np.ldexp(1.0 + rng.random(10**5), -rng.integers(0, 60, 10**5))]
    )
    assert off_grid(1.0 + z).sum() == 0


def test_snapping_rounds_and_clamps_a_laplace_variable():
    for neighbor, x in ((False, 0), (True, 1)):
        law = stats.laplace(x, 10)
        table = {16.0 * k: law.cdf(16 * k + 8) - law.cdf(16 * k - 8) for k in range(-5, 6)}
        table |= {96.0: law.cdf(104) - law.cdf(88), -96.0: law.cdf(-88) - law.cdf(-104), 100.0: law.sf(104), -100.0: law.cdf(-104)}
        accept_counts(Counter(draw("snapping-laplace", neighbor=neighbor).tolist()), table)


@pytest.mark.parametrize("dimension", [1, 2, 5, 10, 50, 100])
def test_k_norm_radii_around_the_sum(dimension):
    centre = np.eye(1, dimension)[0]
    size = 5_000
    for name, shape in ((f"k-norm-{dimension}", dimension), (f"k-norm-exponential-{dimension}", 1)):
        radii = np.linalg.norm(draw(name, size=size) - centre, axis=1)
        assert stats.kstest(radii, stats.gamma(shape, scale=10).cdf).pvalue > ALARM


@pytest.mark.thorough
def test_lloyd_stays_with_the_probability_of_its_derivation():
    for name, counts, rounds, scale in (
        ("lloyd-one-iteration", {False: (0, 2), True: (0, 1)}, 1, 20),
        ("lloyd-ten-iterations", {False: (2,), True: (1,)}, 10, 20.5),
        ("lloyd-two-clusters", {False: (0, 2), True: (0, 1)}, 3, 20.5),
    ):
        start = np.asarray(CASES[name].mechanism.inner.centres)
        for neighbor in (False, True):
            stays = (draw(name, neighbor=neighbor) == start).all(axis=(1, 2))
            once = math.prod(stats.laplace.cdf(1, n, scale) for n in counts[neighbor])
            accept_proportion(stays, once**rounds)


def test_bad_lloyd_has_the_wrong_radius_around_the_record():
    centres = draw("bad-lloyd")[:, 0]
    accept_proportion((centres == 0).all(axis=1), 0.5)
    # the noisy sum is n·c with n = 1 + ξ ≥ 1: its distance from x is exponential, so that directions near x's are frequent
    moved = centres[(centres != 0).any(axis=1)]
    cosine = moved[:, 0] / np.linalg.norm(moved, axis=1)

    def chance(r):  # x + rθ is within 0.1 rad of x
        rng = np.random.default_rng(9)
        theta = rng.normal(size=(20_000, 5))
        theta /= np.linalg.norm(theta, axis=1)[:, np.newaxis]
        y = np.eye(1, 5)[0] + r[:, np.newaxis] * theta
        return float((y[:, 0] / np.linalg.norm(y, axis=1) > math.cos(0.1)).mean())

    expected = chance(np.random.default_rng(10).exponential(20, size=20_000))
    assert abs((cosine > math.cos(0.1)).mean() - expected) < 5 * math.sqrt(2 * expected / 20_000)


def test_sampled_sums():
    both, fresh = draw("same-sample-twice"), draw("fresh-samples")
    tail = 0.5 * math.exp(-1)
    accept_proportion((both >= 10).all(axis=1), 0.9 * tail**2 + 0.1 * 0.25)
    accept_proportion((fresh >= 10).all(axis=1), (0.9 * tail + 0.1 * 0.5) ** 2)
    for name in ("same-sample-twice", "fresh-samples"):
        accept_proportion((draw(name, neighbor=True) >= 10).all(axis=1), tail**2)


@pytest.mark.thorough
def test_parallel_svt_runs_both_parts_independently():
    outputs = draw("parallel-svt")
    first = (outputs[:, :10] > -1000).sum(axis=1) == 2
    second = (outputs[:, 10:] == 1).sum(axis=1) == 2
    assert stats.chi2_contingency([[np.sum(a & b) for b in (second, ~second)] for a in (first, ~first)]).pvalue > ALARM
    table = {
        codes_of(p, 10): pattern_chance(CASES["parallel-svt"].mechanism.parts[1], CASES["parallel-svt"].dataset, p)
        for p in list_patterns(10, 2)
    }
    accept_counts(Counter(tuple(int(b) for b in row) for row in outputs[:, 10:]), table)


@pytest.mark.parametrize("name", ["exponential-up", "exponential-down"])
@pytest.mark.parametrize("neighbor", [False, True])
def test_counts_with_exponential_noise(name, neighbor):
    case = CASES[name]
    outputs = case.mechanism(case.neighbor if neighbor else case.dataset, np.random.default_rng(3), 20_000)
    count = 0 if neighbor else 1
    assert stats.kstest(case.mechanism.sign * (outputs - count), stats.expon(scale=10).cdf).pvalue > 1e-6


def test_sampled_counts_with_exponential_noise():
    """P(output < 1) is 1 − e^(−1/2) without the record, and 3/4 of it with the record."""
    case = CASES["subsampled-exponential"]
    below = 1 - math.exp(-0.5)
    for dataset, chance in ((case.dataset, 0.75 * below), (case.neighbor, below)):
        hits = int((case.mechanism(dataset, np.random.default_rng(4), 100_000) < 1).sum())
        assert stats.binomtest(hits, 100_000, chance).pvalue > 1e-6


def test_gaussian_releases_have_the_laws_that_their_truths_are_computed_from():
    """The mean of all releases of a row, in standard deviations, under the mixture of the sampled record and none."""
    for name in (
        "gaussian-sum",
        "gaussian-sum-twice-the-sensitivity",
        "gaussian-sums-composed",
        "sampled-gaussian",
        "same-sample-gaussian",
    ):
        mechanism = CASES[name].mechanism
        deviation, record = float(mechanism.noise) / math.sqrt(mechanism.count), float(CASES[name].dataset[0])
        for neighbor, rate, shift in ((False, float(mechanism.rate), record), (True, 1.0, 0.0)):
            means = draw(name, neighbor=neighbor, size=4_000).mean(axis=1)

            def law(x, rate=rate, shift=shift, deviation=deviation):
                return rate * stats.norm.cdf(x, shift, deviation) + (1 - rate) * stats.norm.cdf(x, 0, deviation)

            assert stats.kstest(means, law).pvalue > ALARM, name


def test_a_sample_of_fixed_size_takes_another_record_out():
    outputs = draw("fixed-size-gaussian", size=8_000)[:, 0]
    assert stats.kstest(outputs, lambda x: (stats.norm.cdf(x, 1) + stats.norm.cdf(x, -1)) / 2).pvalue > ALARM
    assert stats.kstest(draw("fixed-size-gaussian", neighbor=True, size=8_000)[:, 0], stats.norm(-1).cdf).pvalue > ALARM
