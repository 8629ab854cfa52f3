"""Pairs: the patterns are neighbors, records have their own claims, and the search finds the pair that breaks."""

import numpy as np
import pytest

from profiles import InvalidArgument
from profiles.mechanisms import KNormSum
from proofs_check.audit import Claim, extreme_records, query_patterns, record_pairs, search_pairs
from proofs_check.audit.errors import ConstantOutputs
from proofs_check.audit.pairs import Pair


@pytest.mark.parametrize("length", [1, 2, 5, 10])
def test_answers_differ_by_at_most_one(length: int) -> None:
    for pair in query_patterns(length, Claim(1)):
        gap = np.abs(pair.dataset - pair.neighbor)
        assert gap.max() == 1
        assert len(gap) == length
    for pair in query_patterns(length, Claim(1), all_differ=False):
        assert np.abs(pair.dataset - pair.neighbor).sum() == 1


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_extreme_records_lie_in_the_ball(p: float) -> None:
    mechanism = KNormSum(beta_sum=1, p=p, radius=3, dimension=4)
    for record in extreme_records(3, 4, p):
        z = mechanism.statistic(record[np.newaxis])["z"][0]
        assert z == 0 or 3 * (1 - 1e-14) <= z <= 3


def test_every_record_has_its_claim() -> None:
    mechanism = KNormSum(beta_sum=2, p=2, radius=3, dimension=2)
    empty = (np.zeros((0, 2)), np.zeros(0))
    pairs = list(record_pairs(mechanism, mechanism.profile, [empty], extreme_records(3, 2, 2), [1, 10]))
    assert len(pairs) == 8
    assert {float(pair.claim.epsilon) for pair in pairs if "(3, 0)" in pair.name} == {1.5, 15.0}
    for pair in pairs:
        data, weights = pair.dataset
        assert data.shape == (1, 2)
        assert weights.shape == (1,)


@pytest.mark.thorough
def test_the_search_finds_the_pair_that_breaks() -> None:
    def forgets_the_last_query(dataset, rng, size):
        noisy = np.asarray(dataset) + rng.laplace(0, 10, (size, len(dataset)))
        noisy[:, -1] = dataset[-1] + rng.laplace(0, 0.5, size)
        return noisy

    pairs = query_patterns(5, Claim("0.5"))
    pairs += [Pair(np.ones(5), np.array([1.0, 1, 1, 1, 0]), Claim("0.5"), "last one", "stated")]
    found = search_pairs(forgets_the_last_query, pairs, rng=np.random.default_rng(4), samples=30_000, finalists=2)
    assert found.finding.value == "violated"
    assert all(result.tests == 2 for _, result in found.finalists)
    assert len(found.pilots) == len(pairs)
    same = Pair(np.ones(5), np.array([2.0, 1, 1, 1, 1]), Claim("0.5"), "harmless", "stated")
    assert search_pairs(forgets_the_last_query, [same], rng=np.random.default_rng(4), samples=5_000).finding.value == "consistent"


def test_a_search_needs_pairs() -> None:
    with pytest.raises(InvalidArgument):
        search_pairs(lambda d, r, n: r.random(n), [], rng=np.random.default_rng(1))


@pytest.mark.thorough
def test_a_search_multiplies_tests_and_passes_over_constant_pilots() -> None:
    def mostly_nothing(dataset, rng, size):
        return (rng.random(size) < 0.2 * dataset[0]).astype(float)

    pairs = [Pair((0.0, 1.0), (0.0, 2.0), Claim(1), "nothing", "stated"), Pair((1.0,), (0.0,), Claim(1), "something", "stated")]
    found = search_pairs(mostly_nothing, pairs, rng=np.random.default_rng(4), samples=5_000, tests=2)
    assert found.best[0].name == "something"
    assert found.best[1].tests == 2
    assert found.finding.value == "violated"


@pytest.mark.thorough
def test_a_search_does_not_lose_the_pair_without_noise() -> None:
    def exact_on_few(dataset, rng, size):
        return np.full(size, sum(dataset)) if len(dataset) < 2 else sum(dataset) + rng.laplace(0, 1, size)

    pairs = [Pair((1.0, 1.0), (1.0, 1.5), Claim(1), "noisy", "stated"), Pair((1.0,), (0.0,), Claim(1), "exact", "stated")]
    with pytest.raises(ConstantOutputs, match="another one on each"):
        search_pairs(exact_on_few, pairs, rng=np.random.default_rng(4), samples=5_000)


def test_patterns_are_two_sided() -> None:
    with pytest.raises(InvalidArgument):
        query_patterns(3, Claim(1, one_sided=True))
