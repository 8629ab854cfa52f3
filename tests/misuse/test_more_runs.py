"""Runs that are made twice, in parts, in parallel or not at all; sums that are computed by hand; numbers that are read wrongly."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from accountant import DPKMeans, DPLloyd, DPSGDClassifier, compose, derive_epsilon, draw_sample, render, subsample
from accountant.applications.setcover import PrivateSetCover
from accountant.applications.submodular import CoverageInstance, PrivateGreedy
from accountant.data import parse_statistic
from accountant.guarantees import Unit, to_json
from accountant.ledger import Ledger
from accountant.onesided import declare_directions
from profiles import InvalidData, PDPError, declare
from profiles.errors import ReleaseUsed
from profiles.mechanisms import LaplaceSum
from tests.misuse.reading import ids

POINTS = np.random.default_rng(3).uniform(-0.5, 0.5, size=(300, 2))
MECHANISM = LaplaceSum(b=2, radius=1)
SPEC = [parse_statistic("z=l1")]


def test_events_of_one_sample(assumptions):
    """What a sampled event rests on."""
    found = assumptions("account", "--gaussian", "5", "--sampling", "1/10", "--count", "2", "--delta", "1e-6", "--gap", "0.1")
    assert {"one-analysis", "not-redrawn", "independent-draws", "fresh-samples"} <= found


def test_the_initial_centres_are_records():
    """DPLloyd(init=X[:3])."""
    assert "public-initial-centres" in ids(DPLloyd(3, epsilon=1, radius=1, init=POINTS[:3]).fit(POINTS).guarantee_)


def test_a_value_is_missing():
    """NaN, which is neither dropped nor counted as 0."""
    with pytest.raises(InvalidData, match="NaN or infinity was found in row 1"):
        draw_sample(MECHANISM, np.array([[0.1], [np.nan]]), target_epsilon=1, specs=SPEC)
    with pytest.raises((PDPError, ValueError), match="NaN"):
        DPKMeans(2, epsilon=1, radius=1).fit(np.array([[0.1, 0.2], [np.nan, 0.3], [0.2, 0.1]]))


def test_a_record_lies_outside_of_the_declared_range():
    """A record of 7 where the range ends at 1."""
    with pytest.raises(InvalidData, match="row 1 is outside the declared range"):
        draw_sample(MECHANISM, np.array([[0.1], [7.0]]), target_epsilon=1, specs=SPEC)


def test_workers_have_one_seed():
    """default_rng(42) in each of four processes."""
    cover = CoverageInstance.from_sets([[0], [1]], candidates=2)
    answer = PrivateGreedy(1, 1).run(cover, np.random.default_rng(42), bits=np.random.default_rng(43))
    assert "seeded-bits" in ids(answer.guarantee)
    cover_answer = PrivateSetCover(1, 2).run(cover, np.random.default_rng(42), bits=np.random.default_rng(43))
    assert "seeded-bits" in ids(cover_answer.guarantee)


FORKED = """
import os
from profiles.randomness.bits import open_bits
from profiles.randomness.system import open_generator
generator, bits = open_generator(None)[0], open_bits()
generator.random(3)
bits.block()
child = os.fork()
print(generator.integers(0, 2**60, 3).tolist(), bits.block().tolist(), flush=True)
if child:
    os.waitpid(child, 0)
else:
    os._exit(0)
"""


def test_workers_are_forked():
    """A process that was forked after its sources were opened draws other numbers than its parent."""
    found = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True, timeout=60)
    first, second = found.stdout.splitlines()
    assert first != second


def test_a_pickled_estimator_is_fitted_again():
    """Both fits say that they are the only one, and add up."""
    first = DPKMeans(2, epsilon=1, radius=1).fit(POINTS)
    second = pickle.loads(pickle.dumps(first))
    assert second.guarantee_.statement == first.guarantee_.statement
    second.fit(POINTS)
    assert all("only-release" in ids(model.guarantee_) for model in (first, second))
    assert compose(first.guarantee_, second.guarantee_).bound.epsilon == 2


@pytest.mark.parametrize("model", [DPKMeans, DPLloyd, DPSGDClassifier])
def test_an_estimator_is_fitted_in_parts(model):
    """partial_fit and warm_start."""
    assert not hasattr(model, "partial_fit")
    assert "warm_start" not in model._get_param_names()


def test_parameters_are_changed_after_the_fit():
    """set_params(epsilon=0.1) on what was fitted at 1."""
    model = DPKMeans(2, epsilon=1, radius=1).fit(POINTS)
    model.set_params(epsilon=0.1)
    assert model.guarantee_.bound.upper == 1


def test_a_second_sample_has_the_seed_of_the_first():
    """source=7 twice: one sample, and log 5 in place of log 4."""
    rows = np.linspace(0.1, 1, 40).reshape(-1, 1)
    made = [draw_sample(MECHANISM, rows, target_epsilon=1, specs=SPEC, source=7).guarantee for _ in range(2)]
    assert "fresh-samples" in ids(compose(*made))
    assert "seeded-bits" in ids(compose(*made))


def test_a_failed_run_is_repeated(tmp_path):
    """with ledger.release(...) as r: that raised after the noise was drawn."""
    people = pa.table({"id": np.arange(3), "z": np.ones(3)})
    mechanism = declare("a count", "w/2")
    with Ledger.create(tmp_path / "l", people, budget=5, anchor=tmp_path / "a") as ledger:
        ledger.charge("one", mechanism, people)
        with pytest.raises(ReleaseUsed, match="was not published, and is not repeated"):
            ledger.charge("one", mechanism, people)


def test_the_largest_epsilon_is_taken_for_the_sum():
    """max(1, 2) in place of 3."""
    assert compose(declare_directions("a", 1, 1, source=""), declare_directions("b", 2, 2, source="")).bound.epsilon == 3


def test_deltas_are_forgotten_in_a_sum():
    """Ten times delta = 1e-6."""
    one = declare_directions("a", 1, 1, source="", delta_remove="1e-6", delta_add="1e-6")
    assert compose(*[one] * 10).bound.delta * 10**5 == 1


def test_a_sample_of_rows_is_counted_for_users():
    """subsample(a guarantee for users, "0.1"), where rows are sampled."""
    sampled = subsample(declare_directions("a release about users", 1, 1, source="", unit=Unit.USER), "0.1")
    (said,) = [item.sentence for item in sampled.hypotheses if item.id == "independent-draws"]
    assert said.startswith("each user is selected by a coin of its own, with all of its records or none")


def test_the_lower_side_is_read_for_the_upper():
    """JSON has both ends under their names, and the print has <=."""
    found = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}), q="1/2").guarantee
    assert {"lower", "upper"} <= set(to_json(found)["epsilon"])
    assert "epsilon <= " in render(found)


def test_the_epsilon_of_one_direction_is_quoted():
    """The smaller of two."""
    found = declare_directions("a", "0.1", 2, source="")
    assert found.bound.epsilon == 2
    assert "epsilon <= 2" in render(found)
    assert "if a record is removed, the loss is at most 0.1; if one is added, 2" in " ".join(render(found).split())


def test_a_bound_is_rounded_down():
    """log 2 = 0.693147180559945..."""
    found = derive_epsilon(declare("answer", "w*log(3)"), q="1/2").guarantee  # log((1 + 9)/2)...
    printed = to_json(derive_epsilon(declare("answer", "w*log(2)"), q="1").guarantee)["epsilon"]["upper"]
    assert float(printed) >= 0.6931471805599453
    assert float(to_json(found)["epsilon"]["upper"]) >= float(found.bound.upper)


def test_the_weights_are_published(pdp, profile, table, tmp_path):
    """pdp weights, and the file as open data."""
    words = ("weights", profile(), "-e", 2, "--data", table(z=[1.0, 2.0]), "--out", tmp_path / "w.csv")
    code, printed = pdp(*words)
    assert code == 0
    assert "the sample, its weights and its size are used for one run" in printed
    code, printed = pdp(*words, "--all")
    assert code == 0
    assert "the sample, its weights and its size are used for one run of the declared mechanism, and for nothing else" in printed


def test_unknown_is_read_as_proved(pdp, tmp_path):
    """Exit code 3, and the word."""
    path = tmp_path / "hard.toml"
    path.write_text('name = "hard"\nepsilon = "w*z + sin(w)**2*cos(w*w)**2/10 + exp(-w)*sin(w**3)**2"\n[record]\nz = [0, 4]\n')
    code, printed = pdp("verify", path, "-e", "1", "--condition", "assumption-11")
    assert code in (1, 3)
    assert "refuted" in printed if code == 1 else "unknown" in printed


def test_consistent_is_read_as_proved(pdp):
    """An audit of few samples."""
    words = ("--dataset", "[1, 0.5]", "--neighbor", "[1]", "--claimed", "1", "--samples", 2000, "--seed", 1)
    code, printed = pdp("audit", "profiles.mechanisms.laplace_sum:default", *words)
    assert code == 0
    assert "Consistent does not mean that the claim is true" in printed


def test_a_number_is_copied_without_its_assumptions():
    """print(guarantee), repr(guarantee), to_json(guarantee)."""
    found = declare_directions("a count", 1, 1, source="")
    assert "under 7 unverified assumptions: " in repr(found)
    assert render(found).index("epsilon <= 1") < render(found).index("Valid only under")
    assert {"premises", "hypotheses", "conditional"} <= set(to_json(found))
