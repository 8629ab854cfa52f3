"""Misuse around the code: promises that nobody proved, weights that were changed, outputs that tell more."""

from __future__ import annotations

import numpy as np
import pytest

from accountant import DPLloyd, compose, derive_epsilon, draw_sample, plan_sample
from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, PrivateGreedy
from accountant.data import parse_statistic
from accountant.guarantees import discharge, prove_run
from accountant.interop.dominating import spend
from accountant.onesided import declare_add_dp
from profiles import InvalidArgument, InvalidData, NotPrivate, load
from profiles.mechanisms import LaplaceSum
from profiles.randomness.bits import open_bits
from tests.misuse.reading import ids

SPEC = [parse_statistic("z=l1")]
DATA = np.linspace(0.1, 1, 40).reshape(-1, 1)


class MyMedian:
    """A class of the user's that borrows the profile of a mechanism of the catalogue."""

    profile = LaplaceSum(b=2, radius=1).profile

    def run(self, data, weights, rng):
        return float(np.median(data)) if len(data) else 0.0


class Silent(LaplaceSum):
    """A subclass of a mechanism of the catalogue, without its noise."""

    def run(self, data, weights, rng):
        return (np.asarray(weights) * np.asarray(data).ravel()).sum()


def test_a_source_is_no_proof(assumptions, pdp, profile):
    """source = "trust me" in a profile file."""
    file = profile(rest='source = "trust me"')
    assert "declared-profile" in assumptions("epsilon", file, "--q", "1/2")
    assert "(its source: trust me; not checked here)" in pdp("epsilon", file, "--q", "1/2", "--all")[1]
    assert "the mechanism 'noisy sum' has its declared profile" in pdp("epsilon", file, "--q", "1/2")[1]


@pytest.mark.parametrize("mechanism", [MyMedian(), Silent(b=2, radius=1)], ids=["borrowed profile", "subclass without noise"])
def test_a_class_borrows_a_profile(mechanism):
    """profile = LaplaceSum(...).profile in a class of one's own, or a subclass without noise."""
    released = draw_sample(mechanism, DATA, target_epsilon=1, specs=SPEC).release(mechanism)
    assert "declared-profile" in ids(released.guarantee)
    honest = LaplaceSum(b=2, radius=1)
    together = [honest, mechanism]  # the honest one vouches for itself alone
    assert "declared-profile" in ids(draw_sample(together, DATA, target_epsilon=2, specs=SPEC).release(together).guarantee)
    released = draw_sample(honest, DATA, target_epsilon=1, specs=SPEC).release(honest)
    assert "declared-profile" not in ids(released.guarantee)


class Known(LaplaceSum):
    """A subclass of the catalogue's, with noise that everybody knows."""

    def run(self, data, weights, rng):
        return super().run(data, np.maximum(1, len(weights) * np.asarray(weights) / max(1, np.sum(weights))), np.random.default_rng(0))


def test_a_class_chooses_its_own_seed_and_weights():
    """run(self, data, weights, rng) that divides the weights by their sum, and draws from default_rng(0)."""
    mechanism = Known(b=2, radius=1)
    released = draw_sample(mechanism, DATA, target_epsilon=1, specs=SPEC).release(mechanism)
    assert {"declared-profile", "weight-as-given", "randomness"} <= ids(released.guarantee)


class Deaf(PrivateGreedy):
    """A subclass of an application that looks at nothing but the data."""

    @property
    def inner(self):
        return First(self.k, self.plan.epsilon0)


class First(OneSidedGreedy):
    """Selects without noise."""

    def select(self, function, bits):
        return tuple(range(self.k))


class Copying(DPLloyd):
    """Records for centres."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.cluster_centers_ = X[: self.n_clusters]
        return self


def test_a_class_inherits_a_guarantee():
    """A subclass of an algorithm or an estimator of this project, with another run method."""
    instance = CoverageInstance.from_sets([[0], [1]], candidates=2)
    for answer in (Deaf(1, 1).run(instance), First(1, 1).run(instance)):
        assert {"declared-losses", "randomness"} <= ids(answer.guarantee)
    model = Copying(2, epsilon=1, radius=2).fit(np.concatenate([DATA, DATA], axis=1))
    assert {"declared-profile", "parts-run", "randomness"} <= ids(model.guarantee_)
    assert not {"declared-losses", "randomness"} & ids(PrivateGreedy(1, 1).run(instance).guarantee)


def test_a_module_borrows_a_profile(assumptions, tmp_path, monkeypatch):
    """The same, named on the command line."""
    (tmp_path / "mine.py").write_text("from tests.misuse.test_your_code import MyMedian\nmechanism = MyMedian()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "declared-profile" in assumptions("epsilon", "mine:mechanism", "--q", "1/2")
    assert "declared-profile" not in assumptions("epsilon", "profiles.mechanisms.laplace_sum:default", "--q", "1/2")


def test_the_noise_is_drawn_in_binary64(assumptions, tmp_path, monkeypatch):
    """The same profile, with noise whose last bits tell of the sum; and a sum of releases, one of which is such."""
    exact, quick = (LaplaceSum(b=2, radius=1, arithmetic=kind) for kind in ("exact", "binary64"))
    found = {item: draw_sample(item, DATA, target_epsilon=1, specs=SPEC).release(item).guarantee for item in (exact, quick)}
    assert "exact-reals" not in ids(found[exact])
    assert {"ieee-rounding", "balls-enclose"} <= ids(found[exact])
    assert "exact-reals" in ids(found[quick])
    for both in (compose(found[exact], found[quick]), compose(found[quick], found[exact])):
        assert "exact-reals" in ids(both)
        assert "exact-reals" in ids(prove_run(both, exact))
    (tmp_path / "quick.py").write_text("from profiles.mechanisms import LaplaceSum\nmechanism = LaplaceSum(b=2, arithmetic='binary64')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "exact-reals" in assumptions("epsilon", "quick:mechanism", "--q", "1/2")
    assert "exact-reals" not in assumptions("epsilon", "profiles.mechanisms.laplace_sum:default", "--q", "1/2")


def test_weights_are_normalised_by_the_size_of_the_sample():
    """n/|S| in place of 1/q: claimed 0.0629, true at least 23."""
    sample = draw_sample(LaplaceSum(b=2, radius=1), DATA, target_epsilon=1, specs=SPEC)
    assert "weight-as-given" in ids(sample.guarantee)  # whoever takes the records out is told
    records = sample.consume()
    assert records.weights.size == len(records.table)
    assert "weight-as-given" in ids(derive_epsilon("examples/lloyd.toml", q="1/10").guarantee)


def test_a_constant_is_discharged_without_a_reason():
    """discharge(guarantee, hypothesis, "")."""
    found = derive_epsilon("examples/lloyd.toml", q="1/10").guarantee
    with pytest.raises(InvalidArgument, match="evidence in words"):
        discharge(found, "only-release", " ")
    said = discharge(found, "exact-reals", "the noise is on the integers")
    assert any(item.evidence.startswith("the noise is on the integers") for item in said.discharged)
    for name in ("only-release", "fixed-in-advance", "one-record-each", "record-statistics", "declared-range"):
        with pytest.raises(InvalidArgument, match="about the world"):
            discharge(found, name, "the data were deleted")


def test_the_probabilities_are_optimal_for_the_variance():
    """q proportional to |x|/sum|x| of the data set itself."""
    with pytest.raises(NotPrivate):
        derive_epsilon("examples/lloyd.toml", rule="variance-optimal")


def test_one_sided_privacy_is_taken_for_two_sided():
    """OneSidedGreedy without its sample costs k times as much when a user comes; where no theorem bounds that, it is unbounded."""
    answer = OneSidedGreedy(2, 1).run(CoverageInstance.from_sets([[0], [1]], candidates=2))
    assert (answer.guarantee.bound.remove, answer.guarantee.bound.epsilon) == (1, 2)
    assert spend(answer.guarantee, "a library", accept_hypotheses=True).add == 2
    count = declare_add_dp("count + Exp(1)", 1, source="docs/one-sided.md, section 5")
    assert "one-sided" in count.notion.value
    assert spend(count, "a library", accept_hypotheses=True).add is None


def test_columns_cost_more_than_the_statistic():
    """Weights from one column, a mechanism on another."""
    wide = np.concatenate([DATA / 10, DATA / 2], axis=1)
    mechanism = LaplaceSum(b=2, radius=1, dimension=2)
    sample = draw_sample(mechanism, wide, q="1", specs=[parse_statistic("z=l1(0)")])
    with pytest.raises(InvalidData, match="cost more"):
        sample.release(mechanism)


def test_a_selector_of_ones_own_is_no_poisson_sampler():
    """fit_sampled(select=...) with a fixed sample size."""

    def choose(q, generator):
        chosen = np.zeros(len(q), dtype=bool)
        chosen[generator.permutation(len(q))[:10]] = True
        return chosen

    model = DPLloyd(2, epsilon=2, radius=1).fit_sampled(DATA, select=choose)
    assert "independent-draws" in ids(model.guarantee_)
    assert "independent-draws" not in ids(DPLloyd(2, epsilon=2, radius=1).fit_sampled(DATA).guarantee_)


def test_a_query_of_an_engine_draws_the_sample():
    """plan.guarantee(...) for a sample that DuckDB, Polars or Spark draws, lazily, perhaps twice."""
    plan = plan_sample(load("examples/lloyd.toml"), target_epsilon=20)
    for found in (plan.guarantee(), plan.guarantee(open_bits())):
        assert "independent-draws" in ids(found)
