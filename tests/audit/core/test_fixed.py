"""The fixed-sample audit: three disjoint parts, rules that are chosen well, δ, one side, statistics, and exact ratios."""

import math
from fractions import Fraction

import numpy as np
import pytest

from profiles import InvalidArgument, declare
from proofs_check.audit import Claim, audit, claim_of_record
from proofs_check.audit.fixed import FixedAudit
from proofs_check.audit.guesses import Plan
from proofs_check.audit.outputs import Outputs, Reader
from proofs_check.audit.runs import Kind, LabelledBatch
from proofs_check.audit.scores import Learner, Score

ONE, ZERO = (1.0,), (0.0,)


def laplace(dataset, rng, size):
    return dataset[0] + rng.laplace(0, 1, size)


def run(mechanism, claim, *, seed=1, samples=40_000, **options):
    own = np.random.default_rng(seed)
    return audit(mechanism, ONE, ZERO, claim, rng=own, samples=samples, mode="fixed", neighboring="stated", **options)


def test_three_disjoint_parts() -> None:
    """Each output is used once: learned from, chosen by, or counted. A score that remembers what it saw proves it."""
    counted: list[np.ndarray] = []
    total = 30_000
    values = np.arange(total, dtype=np.float64)
    test = FixedAudit(
        Plan(total, Fraction(1, 100), Fraction(0), one_sided=False),
        kind=Kind(3, few_values=False),
        learner=Learner(Reader(), np.random.default_rng(1)),
        scores=[Score("spy", lambda outputs: counted.append(outputs.values[:, 0].copy()) or outputs.values[:, 1], lambda *_: "")],
    )
    rng = np.random.default_rng(2)
    labels = rng.random(total) < 0.5
    table = np.stack((values, rng.normal(size=total) + labels, values), axis=1)
    for start in range(0, total, 1_000):
        test.update(LabelledBatch(Outputs(table[start : start + 1_000]), labels[start : start + 1_000]))
    chosen_on, bounded_on = counted[0], np.unique(np.concatenate(counted[1:]))
    assert not set(chosen_on) & set(bounded_on)
    assert test.tested[0].counts.outputs == len(bounded_on) == total - len(chosen_on)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_laplace_comes_near_its_epsilon(seed: int) -> None:
    assert 0.9 < run(laplace, Claim(1), seed=seed).epsilon_lower <= 1


def test_rare_events_are_found() -> None:
    """P(1) = 1/1000 on D, never on D′: infinite ε that no floor on probabilities may hide."""

    def leaks(dataset, rng, size):
        return np.where(rng.random(size) < 0.001 * dataset[0], 7.0, rng.integers(0, 3, size))

    result = run(leaks, Claim(1), samples=200_000)
    # 200,000 outputs a side, 72 % of them counted: about 144 ones, so log(144 / log(1/(error))) or so.
    assert 2.5 < result.epsilon_lower < math.log(200)
    assert result.events[0].words == "output 7"
    assert result.events[0].seen_second == 0


@pytest.mark.thorough
def test_delta_hides_what_it_may() -> None:
    def leaks(dataset, rng, size):
        return np.where(rng.random(size) < 0.01 * dataset[0], 7.0, rng.integers(0, 3, size))

    assert run(leaks, Claim(1)).finding.value == "violated"
    assert run(leaks, Claim(1, "0.01")).finding.value == "consistent"
    assert run(leaks, Claim(1, "0.005"), samples=200_000).finding.value == "violated"


@pytest.mark.thorough
def test_one_side_counts_one_direction() -> None:
    """D has an output that D′ never has: a violation of add-DP; the other way round add-DP says nothing."""

    def shifted(dataset, rng, size):
        return dataset[0] + rng.exponential(1, size)

    assert run(shifted, Claim(1, one_sided=True)).finding.value == "consistent"
    assert run(lambda d, r, n: -shifted(d, r, n), Claim(1, one_sided=True)).finding.value == "consistent"
    assert run(shifted, Claim(1)).finding.value == "violated"
    options = {"samples": 40_000, "neighboring": "stated"}
    exchanged = audit(shifted, ZERO, ONE, Claim(1, one_sided=True), rng=np.random.default_rng(1), **options)
    assert exchanged.finding.value == "violated"


@pytest.mark.thorough
def test_a_statistic_replaces_the_output() -> None:
    def noisy(dataset, rng, size):
        return np.stack((dataset[0] + rng.laplace(0, 1, size), *rng.normal(size=(8, size))), axis=1)

    by_statistic = run(noisy, Claim(1), samples=20_000, statistic=lambda outputs: outputs[:, 0])
    assert 0.85 < by_statistic.epsilon_lower <= 1
    # log p/q of Laplace(1) around 1 and 0 is |y| − |y − 1|.
    # Rounded to different last bits around ±1 on both data sets, which is the auditor's arithmetic and no evidence.
    exact = run(noisy, Claim(1), samples=20_000, log_ratio=lambda outputs: np.abs(outputs[:, 0]) - np.abs(outputs[:, 0] - 1))
    assert 0.85 < exact.epsilon_lower <= 1
    assert exact.rule is not None
    assert exact.rule.score.name == "log-likelihood ratio"


@pytest.mark.thorough
def test_floating_point_is_looked_at_on_request_only() -> None:
    assert run(laplace, Claim(1)).finding.value == "consistent"
    assert run(laplace, Claim(1), bits=True).finding.value == "violated"


@pytest.mark.thorough
def test_vectors_with_many_small_differences() -> None:
    """Twenty Laplace outputs at ε = 1/20 each: no single place tells, their signs together do."""

    def parallel(dataset, rng, size):
        return dataset[0] + rng.laplace(0, 20, (size, 20))

    assert 0.15 < run(parallel, Claim(1), samples=100_000).epsilon_lower <= 1


@pytest.mark.thorough
def test_symbols_and_ragged_outputs() -> None:
    def ragged(dataset, rng, size):
        tops = rng.random((size, 3)) < (0.6 if dataset[0] else 0.2)
        return [("⊥",) * int(row.argmax()) + ("⊤",) if row.any() else ("⊥",) * 3 for row in tops]

    # ⊥⊥⊥ has 0.8³/0.4³ = 8: ε = log 8.
    result = run(ragged, Claim(1), samples=20_000)
    assert 1.8 < result.epsilon_lower <= math.log(8)
    assert "⊥" in result.events[0].words


def test_the_claim_of_a_record() -> None:
    profile = declare("laplace", "w*z/b", record={"z": (0, 4)}, parameters={"b": 2})
    assert claim_of_record(profile, {"z": "1.5"}, 2).epsilon == Fraction(3, 2)
    assert claim_of_record(profile, {"z": 0}).epsilon == 0
    root = claim_of_record(declare("root", "w*sqrt(z)", record={"z": (0, 4)}), {"z": 2}).epsilon
    assert root**2 >= 2
    assert root - Fraction(2) ** 1 / Fraction(14142135623730950488, 10**19) < Fraction(1, 10**15)
    for statistics, weight in (({}, 1), ({"z": 5}, 1), ({"z": 1}, "0.5"), ({"z": -1}, 1)):
        with pytest.raises(InvalidArgument):
            claim_of_record(profile, statistics, weight)
    with pytest.raises(InvalidArgument, match="'b'"):
        claim_of_record(declare("general", "w*z/b", record={"z": (0, 4)}, parameters={"b": "positive"}), {"z": 1})


@pytest.mark.thorough
def test_infinite_outputs_are_guessed_on_only_where_a_rule_says_so() -> None:
    """Add-DP with D uniform and D′ infinite half of the time: p/q ≤ 2 everywhere, so ε = log 2 for the direction that counts."""

    def half_infinite(dataset, rng, size):
        infinite = rng.random(size) < 0.5 * (1 - dataset[0])
        return np.where(infinite, -np.inf, rng.random(size))

    for seed in range(5):
        assert run(half_infinite, Claim("0.7", one_sided=True), seed=seed, samples=5_000).finding.value == "consistent"


@pytest.mark.thorough
def test_delta_is_paid_on_both_sides_of_infinity() -> None:
    """(0, 0.05)-DP: D is infinite and D′ is −5 with probability 1/20, else both are 0."""

    def ends(dataset, rng, size):
        return np.where(rng.random(size) < 0.05, np.inf if dataset[0] else -5.0, 0.0)

    for seed in range(3):
        assert run(ends, Claim(0, "0.05"), seed=seed, samples=20_000, log_ratio=lambda y: y).finding.value == "consistent"


def test_an_infinite_ratio_is_an_event() -> None:
    def reveals(dataset, rng, size):
        return (rng.random(size) < 0.02 * dataset[0]).astype(float)

    found = run(reveals, Claim(1), samples=20_000, log_ratio=lambda y: np.where(y > 0, np.inf, np.log(0.98)))
    assert found.epsilon_lower > 3


@pytest.mark.thorough
def test_symbols_that_never_return_tell_nothing() -> None:
    """Their numbers come from the order of reading, which knows the labels: no score may see them. This mechanism ignores its data."""

    def tokens(dataset, rng, size):
        return rng.integers(0, 2**62, size=(size, 2))

    def words(dataset, rng, size):
        return [(f"{a:x}", int(b)) for a, b in rng.integers(0, 2**62, size=(size, 2))]

    for mechanism in (tokens, words):
        assert run(mechanism, Claim("0.5"), samples=6_000).finding.value == "consistent"


def test_noise_on_a_grid_shows_the_answer() -> None:
    """Integers of scale 1000 on an answer of 0 or 1/2: every output tells, through its remainder."""

    def integers(dataset, rng, size):
        return dataset[0] / 2 + np.round(rng.laplace(0, 1_000, size))

    assert run(integers, Claim(1), samples=20_000).epsilon_lower > 5


def test_equal_places_are_seen() -> None:
    def copies(dataset, rng, size):
        made = rng.normal(size=(size, 2))
        same = rng.random(size) < 0.05 * dataset[0]
        made[same, 1] = made[same, 0]
        return made

    assert run(copies, Claim(1), samples=20_000).epsilon_lower > 4
