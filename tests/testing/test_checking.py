"""Right mechanisms pass, broken ones fail with the pair, the event and the bound; what cannot be judged is no evidence."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.testing import ClaimChecker, ClaimRefuted, ClaimTooLarge, NotAudited
from accountant.testing import checking as module
from accountant.testing.candidates import Candidates
from accountant.testing.entries import _fit
from accountant.testing.settings import AuditSettings, Budget, divide
from accountant.testing.visibility import is_visible, samples_needed
from profiles import InvalidArgument, declare
from profiles.mechanisms import KNormSum, LaplaceSum, WeightedCount, WeightedLloyd
from proofs_check.audit import Claim, one_at_a_time
from proofs_check.results import Decision, Verdict
from tests.targets.catalogue import broken_twins
from tests.targets.catalogue.broken import ExponentialRadius, NoisySum, SharedNoise, WeightsTwice

PROFILE = declare("noisy sum", "w*z/2", record={"z": [0, 3]})
LLOYD = WeightedLloyd(initial_centres=((-1.0, 0.0), (1.0, 0.0)), iterations=2, beta_count=20, beta_sum=20)


def noisy_sum(dataset, rng, size):
    data, weights = dataset
    return data @ weights + rng.laplace(0.0, 2.0, size)


def noisy_count(dataset, rng, size):
    return len(dataset) + rng.laplace(0.0, 1.0, size)


@pytest.fixture
def notes():
    return []


@pytest.fixture
def checker(notes):
    """Confidence 0.9999: a true claim is refuted once in 10,000 changes of the generator."""
    return ClaimChecker(Budget(Fraction(1, 10_000), 5, "test", 1), AuditSettings(samples=3_000, pairs=3), note=notes.append)


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", [LaplaceSum(b=10), WeightedCount(beta_count=10), KNormSum(beta_sum=10), LLOYD], ids=lambda m: m.name)
def test_the_catalogue_passes(checker, notes, mechanism):
    found = checker.assert_satisfies(mechanism)
    assert len(found.audits) == 3
    assert [entry.verdict for entry in notes] == ["consistent"]
    assert max(result.epsilon_lower / float(pair.claim.epsilon) for pair, result in found.audits if pair.claim.epsilon) > 0.1


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("mechanism", "declared"),
    [
        (WeightsTwice(LaplaceSum(b=10)), LaplaceSum(b=10)),
        (WeightsTwice(KNormSum(beta_sum=10)), KNormSum(beta_sum=10)),
        (LaplaceSum(b=6), LaplaceSum(b=10)),
        (WeightedCount(beta_count=2), WeightedCount(beta_count=4)),
        (NoisySum(ExponentialRadius(10.0, 2.0), 5), KNormSum(beta_sum=10, dimension=5)),
        (NoisySum(SharedNoise(10.0), 2), LaplaceSum(b=10, dimension=2)),
    ],
    ids=["weights twice", "weights twice, plane", "noise too small", "count", "exponential radius", "shared noise"],
)
def test_broken_implementations_fail_on_generated_pairs(checker, notes, mechanism, declared):
    dimension = getattr(declared, "dimension", 1)
    with pytest.raises(ClaimRefuted, match="epsilon is at least") as failure:
        checker.assert_satisfies(mechanism, declared.profile, statistic=declared.statistic, dimension=dimension, samples=6_000, pairs=5)
    text, (evidence,) = str(failure.value), failure.value.__notes__
    assert "\n" not in text
    assert re.search("one record more: x = .*; event: ", text)
    assert "one record more: x = " in evidence
    assert "event A:" in evidence
    assert notes[-1].verdict == "REFUTED"
    assert max(len(line) for line in evidence.splitlines() if not line.startswith("note")) <= 80


TWINS = {twin.name: twin for twin in broken_twins()}


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    "name",
    [
        "laplace/weight-not-counted", "laplace/replace-sensitivity", "laplace/shared-noise", "count/same-seed", "count/one-sided-noise",
        "lloyd/empty-clusters-without-noise", "lloyd/initial-centre-from-data", "k-norm-p1-d1/lowest-bits",
    ],
)  # fmt: skip
def test_broken_twins_fail_on_their_pairs(checker, name):
    twin = TWINS[name]
    with pytest.raises(ClaimRefuted):
        checker.assert_epsilon(
            twin.mechanism, twin.claim, twin.dataset, twin.neighbor, samples=6_000, log_ratio=twin.log_ratio, bits=twin.bits
        )


@pytest.mark.thorough
def test_plain_callables_and_their_statistics(checker):
    assert len(checker.assert_satisfies(noisy_sum, PROFILE).audits) == 3
    checker.assert_satisfies(
        lambda data, rng, size: float(np.sum(data**2)) + rng.laplace(0, 1, size), declare("squares", "w*s", record={"s": [0, 2]}),
        statistic=lambda points: points[:, 0] ** 2, weighted=False,
    )  # fmt: skip
    with pytest.raises(ClaimRefuted):
        checker.assert_satisfies(noisy_sum, declare("too good", "w*z/4", record={"z": [0, 3]}))


@pytest.mark.thorough
def test_claims_that_could_not_be_refuted_are_told_apart(checker, notes):
    with pytest.warns(
        ClaimTooLarge, match=r"\(12 nats or more\) could not .* 200 outputs .* show 2\.88 nats at most; give samples="
    ) as found:
        checker.assert_satisfies(noisy_sum, declare("large", "w*(9 + z)", record={"z": [0, 3]}), samples=200)
    assert [Path(warning.filename).name for warning in found] == ["test_checking.py"]
    checker.assert_satisfies(noisy_sum, PROFILE, records=[[0.0]], samples=200, weighted=True)
    with pytest.warns(ClaimTooLarge, match="no number of outputs that can be drawn is enough: prove it") as found:
        checker.assert_add_dp(noisy_count, 500, [1], [], samples=100)
    assert [Path(warning.filename).name for warning in found] == ["test_checking.py"]
    assert [entry.verdict for entry in notes] == ["too large", "consistent", "too large"]
    strict = ClaimChecker(Budget(Fraction(1, 100), 5, "test", 1), AuditSettings(too_large="fail"))
    with pytest.raises(NotAudited, match=r"the claim 50-DP \(50 nats\) could not have been refuted"):
        strict.assert_epsilon(noisy_count, 50, [1], [], samples=100)
    assert [len(_fit(text, ROUND_CEILING)) <= 8 for text in ("1074000000", "0.00001234567", "123456.789")] == [True] * 3
    assert _fit("1074000000", ROUND_CEILING) == "1.08E+9"


def test_the_error_and_delta_count_in_what_could_be_refuted(checker, notes):
    with pytest.warns(ClaimTooLarge):
        checker.assert_epsilon(noisy_count, 2, [1], [], samples=10)
    with pytest.warns(ClaimTooLarge):
        checker.assert_epsilon(noisy_count, 0, [1], [], delta="0.99", samples=100)
    assert [entry.verdict for entry in notes] == ["too large"] * 2


@pytest.mark.parametrize("claim", [Claim(0), Claim(3), Claim("8.5"), Claim(2, "0.3"), Claim(2, "0.3", one_sided=True)])
def test_as_many_outputs_as_are_proposed_can_refute(claim):
    error = Fraction(1, 1000)
    needed = samples_needed(claim, error)
    assert is_visible(needed, claim, error)
    assert not is_visible(needed // 3, claim, error)


def test_a_claim_too_small_for_a_float_is_told(checker, notes):
    with pytest.raises(ClaimRefuted):
        checker.assert_epsilon(noisy_count, "1e-400", [1], [])
    assert notes[-1].verdict == "REFUTED"


def test_one_sided_claims(checker):
    def above(dataset, rng, size):  # densities at y are e^(n - y) for y >= n: one record more multiplies by e, or makes y impossible
        return len(dataset) + rng.exponential(1.0, size)

    def below(dataset, rng, size):
        return len(dataset) - rng.exponential(1.0, size)

    checker.assert_add_dp(above, 1, [1], [])
    with pytest.raises(ClaimRefuted):
        checker.assert_epsilon(above, 1, [1], [])
    with pytest.raises(ClaimRefuted):
        checker.assert_add_dp(below, 1, [1], [])
    with pytest.raises(InvalidArgument, match="larger one first"):
        checker.assert_add_dp(above, 1, [], [1])


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (lambda d, r, n: 1 / 0, "raised ZeroDivisionError.*line .* of test_checking.py"),
        (lambda d, r, n: np.full(n, np.nan), "NaN"),
        (lambda d, r, n: np.full(n, len(d[0])), "deterministic"),
        (lambda d, r, n: np.random.default_rng().random(n), "different outputs for equal generators"),
    ],
    ids=["raises", "NaN", "constant", "own generator"],
)
def test_what_cannot_be_judged_is_no_evidence(checker, notes, mechanism, words):
    with pytest.raises(NotAudited, match=words) as failure:
        checker.assert_satisfies(mechanism, PROFILE)
    assert "at least" not in str(failure.value)
    assert "\n" not in str(failure.value)
    assert notes[-1].verdict == "not audited"
    assert notes[-1].bound == ""


def test_a_pair_without_noise_is_not_excused_by_the_noise_of_others(checker, notes):
    def without_noise_on_few(dataset, rng, size):
        data, weights = dataset
        return noisy_sum(dataset, rng, size) if len(data) > 1 else np.full(size, data @ weights)

    with pytest.raises(NotAudited, match="another one on each"):
        checker.assert_satisfies(without_noise_on_few, PROFILE)
    assert notes[-1].verdict == "not audited"


@pytest.mark.thorough
def test_a_pair_where_both_are_silent_says_nothing_about_the_others(checker, notes):
    def silent_on_few(dataset, rng, size):
        return noisy_sum(dataset, rng, size) if len(dataset[0]) > 1 else np.zeros(size)

    assert len(checker.assert_satisfies(silent_on_few, PROFILE).audits) == 2


@pytest.mark.thorough
def test_false_profiles_and_refuted_conditions_fail_with_the_witness(checker, notes):
    with pytest.raises(ClaimRefuted, match=r"must not be negative, but it is at .*w = "):
        checker.assert_satisfies(noisy_sum, declare("negative", "w*z - 1", record={"z": [0, 3]}))
    with pytest.raises(ClaimRefuted, match=r"assumption-8 is refuted .* the witness is z = 3"):
        checker.assert_satisfies(noisy_sum, PROFILE, target_epsilon=1, conditions=["assumption-8"])
    assert [entry.verdict for entry in notes] == ["REFUTED", "REFUTED"]
    found = checker.assert_satisfies(WeightedCount(beta_count=2), target_epsilon=1)
    assert [(decision.condition, decision.verdict) for decision in found.decisions] == [
        ("assumption-8", Verdict.PROVED),
        ("assumption-9-nonzero", Verdict.PROVED),
    ]
    with pytest.raises(ClaimRefuted, match="assumption-9 is refuted"):
        checker.assert_satisfies(noisy_sum, PROFILE, target_epsilon=3, conditions=["assumption-9"])


@pytest.mark.thorough
def test_a_record_without_any_loss_is_no_exception(checker):
    assert PROFILE.record[0].lo == 0
    found = checker.assert_satisfies(noisy_sum, PROFILE, target_epsilon=3)
    assert [decision.verdict for decision in found.decisions] == [Verdict.PROVED] * 2


@pytest.mark.thorough
def test_unknown_is_reported_and_fails_where_that_is_asked_for(monkeypatch, checker, notes):
    found = SimpleNamespace(decisions={"assumption-9": Decision("assumption-9", Verdict.UNKNOWN, "none", reason="too hard")})
    monkeypatch.setattr(module, "verify", lambda *_: found)
    checker.assert_satisfies(noisy_sum, PROFILE, target_epsilon=1)
    assert [entry.verdict for entry in notes] == ["unknown", "consistent"]
    strict = ClaimChecker(Budget(Fraction(1, 100), 5, "test", 1), AuditSettings(unknown="fail"))
    with pytest.raises(NotAudited, match=r"neither proved nor refuted .* too hard"):
        strict.assert_satisfies(noisy_sum, PROFILE, target_epsilon=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.assert_satisfies(noisy_sum), "a profile was expected"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, conditions=["assumption-8"]), "no target epsilon"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, pairs=0), "from 1 to 1000"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, confidence="0.5"), "belongs to the session"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, records=[[9.0]]), "none was found"),
        (lambda c: c.assert_satisfies(noisy_sum, declare("two", "w*(y + z)", record={"y": [0, 1], "z": [0, 1]})), "statistics y, z"),
        (lambda c: c.assert_satisfies(LaplaceSum()), "parameter 'b'"),
        (lambda c: c.assert_epsilon(noisy_count, Claim(1), [], [1], delta="0.1"), "has its own"),
        (lambda c: c.assert_epsilon(noisy_count, 1, [], [1], alpha=0), "option 'alpha' of an assertion is not known; known are bits, "),
        (lambda c: c.assert_epsilon(noisy_count, 1, [], [1], efort="fast"), "did you mean 'effort'"),
        (lambda c: c.assert_epsilon(noisy_count, 1, [], [1], sampels=3), "did you mean 'samples'"),
        (lambda c: c.assert_epsilon(noisy_count, 1, [], [1], exact=3), "'exact' of an assertion is not known"),
        (lambda c: c.assert_epsilon(noisy_count, 1, [], [1], bits="no"), "bits must be True or False"),
        (lambda c: c.assert_epsilon(noisy_count, 1, [], [1], time_limit="a"), "positive number of seconds, but a was found"),
        (lambda c: c.assert_epsilon(noisy_count, 1, [], [1], samples="a"), "number of samples must be an integer"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, target_epsilon=1, conditions=[]), "at least one, but '\\[\\]' was found"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, target_epsilon=1, conditions="assumption-8"), "must be a list of names"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, min_size=-5), "min_size must be an integer from 0"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, dimension=0), "dimension must be an integer of at least 1"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, weighted="no"), "weighted must be True or False"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, records=[[1, 2]]), "a record of 1 finite number was expected"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, records=["a"]), "a record of 1 finite number was expected"),
        (lambda c: c.assert_satisfies(noisy_sum, PROFILE, statistic=lambda x: []), "must be one number, but"),
        (lambda c: AuditSettings(unknown="maybe"), "unknown must be report or fail"),
        (lambda c: AuditSettings(too_large="report"), "too_large must be warn or fail"),
    ],
)  # fmt: skip
def test_misuse_is_an_error_in_words(checker, call, words):
    with pytest.raises(InvalidArgument, match=words):
        call(checker)


@settings(max_examples=30, database=None, deadline=None)
@given(st.fractions("0.5", "0.9999"), st.lists(st.integers(0, 50), min_size=1, max_size=20))
def test_the_shares_of_a_session_add_up_to_less_than_its_error(confidence, assertions):
    budgets = [Budget(divide(confidence, len(assertions)), 1, str(k), len(assertions)) for k in range(len(assertions))]
    spent = sum(budget.of_assertion(k + 1) for budget, made in zip(budgets, assertions, strict=True) for k in range(made))
    assert spent < 1 - confidence


@settings(max_examples=30, database=None, deadline=None)
@given(st.fractions("0.5", "0.9999"), st.fractions("0.01", "0.9999"), st.integers(1, 1000))
def test_a_marker_never_loosens(confidence, at_least, tests):
    assert divide(confidence, tests, at_least=at_least) <= min(divide(confidence, tests), 1 - at_least)


@pytest.mark.thorough
def test_each_audit_gets_its_share_and_its_own_randomness(monkeypatch):
    seen = []

    def spy(*args, rng, confidence, tests, **options):
        seen.append((confidence, tests, rng.bit_generator.state["state"]["state"]))
        return real(*args, rng=rng, confidence=confidence, tests=tests, **options)

    real = module.audit
    monkeypatch.setattr(module, "audit", spy)
    for _ in range(2):
        checker = ClaimChecker(Budget(Fraction(1, 100), 5, "test", 1), AuditSettings(samples=100, pairs=3))
        checker.assert_satisfies(noisy_sum, PROFILE)
        checker.assert_epsilon(noisy_count, 1, [1], [])
    assert [(confidence, tests) for confidence, tests, _ in seen[:4]] == [(Fraction(199, 200), 3)] * 3 + [(Fraction(599, 600), 1)]
    assert len({state for *_, state in seen[:4]}) == 4
    assert seen[:4] == seen[4:]  # the same seed, the same audits


def test_another_error_or_number_of_outputs_or_pairs_is_another_experiment():
    budgets = [Budget(Fraction(1, 100), 5, "test", 1), Budget(Fraction(1, 50), 5, "test", 1)]
    assert len({budget.entropy(1, samples, pairs) for budget in budgets for samples in (1000, 2000) for pairs in (1, 8)}) == 8
    assert budgets[0].entropy(1, 1000, 1) == Budget(Fraction(1, 100), 5, "test", 7).entropy(1, 1000, 1)


def test_pairs_are_neighbors_with_the_claim_of_their_record():
    source = Candidates.of(KNormSum(beta_sum=10), KNormSum(beta_sum=10).profile, None, None)
    pairs = source.make(np.random.default_rng(1), 12)
    for pair in pairs:
        (larger, weights), (smaller, rest) = pair.dataset, pair.neighbor
        assert np.array_equal(larger[:-1], smaller)
        assert np.array_equal(weights[:-1], rest)
        norm = float(np.hypot(*larger[-1]))
        assert abs(float(pair.claim.epsilon) - weights[-1] * norm / 10) < 1e-12
    assert any(len(pair.neighbor[0]) == 0 for pair in pairs)
    assert any(pair.dataset[1][-1] > 1 for pair in pairs)
    assert max(float(np.hypot(*pair.dataset[0][-1])) for pair in pairs) == pytest.approx(4.0, rel=1e-15)


@pytest.mark.parametrize("ends", [(0, 3), (3, 4), (0, "0.001"), (0, 10**6), (2, 2)])
def test_records_reach_the_end_of_the_domain(ends):
    profile = declare("any", "w*z", record={"z": ends})
    source = Candidates.of(noisy_sum, profile, None, 2, min_size=2)
    pairs = source.make(np.random.default_rng(1), 6)
    assert max(float(np.abs(pair.dataset[0][-1]).sum()) for pair in pairs) == float(Fraction(ends[1])) or ends == (0, "0.001")
    assert all(len(pair.neighbor[0]) >= 2 for pair in pairs)


def one_output(dataset, rng):
    return sum(dataset) + rng.laplace()


def test_a_function_that_no_mechanism_is_is_refused_with_what_makes_one_of_it(checker):
    """It was called, and the reason was for the eyes of whoever owns the data only."""
    for function in (one_output, lambda dataset: 1, lambda: 1, lambda a, b, c, d: 1):
        with pytest.raises(InvalidArgument, match=r"mechanism\(dataset, rng, size\).*one_at_a_time\(function\)"):
            checker.assert_epsilon(function, 2, [1, 0.5], [1])
    checker.assert_epsilon(one_at_a_time(one_output), 2, [1, 0.5], [1], samples=500)
    checker.assert_epsilon(lambda dataset, rng, size: sum(dataset) + rng.laplace(size=size), 2, [1, 0.5], [1], samples=500)
