"""The Python entry points on data with markers: no message, traceback, log or representation shows them; ``error.private`` does."""

from __future__ import annotations

import contextlib
import pickle
import traceback
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from accountant import (
    DPLloyd,
    DPSGDClassifier,
    calibrate_noise_for_size,
    compute_weights_file,
    draw_sample,
    optimal_weights,
    plan_sample,
    prove_convexity,
    sample_file,
)
from accountant.applications.clustering import (
    DistanceRows,
    Multiplicities,
    PrivateMetricClustering,
    measure_points,
    read_distances,
)
from accountant.applications.heavyhitters import HeavyHitterMonitor, StreamBatch, open_stream
from accountant.applications.setcover import PrivateSetCover
from accountant.applications.submodular import CoverageInstance, PrivateGreedy, WeightedCoverage, read_coverage, read_weighted_coverage
from accountant.applications.submodular.matroids import PrivateMatroidGreedy, UniformMatroid
from accountant.data import find_target, open_dataset, parse_statistic
from accountant.engines import arrow_pairs, arrow_sample, arrow_weights
from accountant.rules.variance import variance_optimal
from accountant.weights.fast.size import epsilon_for_size
from profiles import PDPError, declare
from profiles.mechanisms import KNormSum, LaplaceSum, WeightedCount, WeightedLloyd
from profiles.mechanisms.datasets import to_dataset
from profiles.private import reveal
from proofs_check.audit import Claim, audit, in_processes
from proofs_check.audit.claims import claim_of_record
from proofs_check.audit.differences import find_difference
from proofs_check.audit.neighbors import judge_neighbors
from tests.private_output.markers import NAME, ROWS, VALUE, traces_in
from tests.targets.laws.clustering import release_law

PROFILE = declare("p", "w*z/4", record={"z": [0, 4]}, source="a test")
TEMPLATE = declare("t", "w*z/b", record={"z": [0, 4]}, parameters={"b": "positive"}, source="a test")
TWO = declare("two", "w*(y+z)", record={"y": [0, 4], "z": [0, 4]}, source="a test")
CONVEXITY_OF_TWO = prove_convexity(TWO)
RNG = np.random.default_rng(1)
TEXTS = np.array([[NAME, "1"]])
LARGE = np.array([[1.0, 0.0], [VALUE, 0.0]])
LONG = np.full(ROWS, 2.0)
SUM = LaplaceSum(b=1, radius=2)
WIDE = LaplaceSum(b=1, radius=10**12)
LLOYD = WeightedLloyd(initial_centres=[[0.0, 0.0]], iterations=2, beta_count=20, beta_sum=30, p=2, radius=2)
MONITOR = HeavyHitterMonitor(k=2, epsilon=1, threshold=5, domain=range(4), times=range(3), outside="refuse")
NAMED = HeavyHitterMonitor(k=2, epsilon=1, threshold=5, domain=["a"], times=range(3))
SPACE = measure_points([[0.0, 0.0], [1.0, 1.0]])
CLUSTERING = PrivateMetricClustering(SPACE, k=1, epsilon=1, rounds=1)
BY_DISTANCE = PrivateMetricClustering(read_distances([[0, 1], [1, 0]]), k=1, epsilon=1, rounds=1)


def _table(**columns):
    return pa.table(columns)


def _quote(dataset, rng, size):
    raise ValueError(f"cannot use {np.asarray(dataset).tolist()}")


def _weigh(data, **options):
    return compute_weights_file(PROFILE, data, None, convexity=prove_convexity(PROFILE), **{"target_epsilon": 3, **options})


def _watch(monitor, *records):
    return list(monitor.watch(records))


def _in_processes():
    with in_processes(_quote, workers=1) as pool:
        audit(pool, np.array([VALUE, 1.0]), np.array([1.0]), Claim(1), rng=np.random.default_rng(1), samples=20)


def _release():
    mechanism = LaplaceSum(b=4, radius=4)
    sample = draw_sample(mechanism, _table(z=[2.0], **{NAME: [VALUE]}), target_epsilon=3, source=1)
    sample.release(mechanism, np.random.default_rng(2), columns=["missing"])


#: Calls that are refused because of what stands in the data. "+": what was found is told privately.
def _classifier(**changes):
    return DPSGDClassifier(noise=1, delta="1e-5", size=9, steps=1, **changes)


CALLS = {
    "weights: text+": lambda: _weigh(_table(z=["1", NAME])),
    "weights: above+": lambda: _weigh(_table(z=[1.0, VALUE])),
    "weights: below+": lambda: _weigh(np.array([1.0, -VALUE]), specs=[parse_statistic("z=0")]),
    "weights: many+": lambda: _weigh(_table(z=[VALUE] * ROWS)),
    "weights: infinite": lambda: _weigh(np.array([[VALUE, np.inf]]), specs=[parse_statistic("z=l1")]),
    "weights: names+": lambda: _weigh(_table(**{NAME: [1.0]})),
    "weights: doubled names+": lambda: _weigh(pa.table([[1.0], [1.0]], names=[NAME, NAME])),
    "weights: size+": lambda: _weigh(_table(z=LONG), target_epsilon=None, target_size=10**6),
    "weights: text array": lambda: _weigh(TEXTS, specs=[parse_statistic("z=l2")]),
    "weights: object array": lambda: _weigh(np.array([[NAME]], dtype=object), specs=[parse_statistic("z=l2")]),
    "weights: deep array": lambda: _weigh(np.full((ROWS, 1, 1), VALUE), specs=[parse_statistic("z=l2")]),
    "weights: nested": lambda: _weigh(_table(z=[{NAME: 1}])),
    "weights: dictionary": lambda: _weigh(_table(z=pa.array([NAME]).dictionary_encode())),
    "optimal weights: above+": lambda: optimal_weights(PROFILE, 3, {"z": [1.0, VALUE]}, convexity=prove_convexity(PROFILE)),
    "optimal weights: text": lambda: optimal_weights(PROFILE, 3, {"z": [NAME]}, convexity=prove_convexity(PROFILE)),
    "optimal weights: lengths": lambda: optimal_weights(TWO, 9, {"y": LONG, "z": LONG[1:]}, convexity=CONVEXITY_OF_TWO),
    "target: size+": lambda: find_target(
        PROFILE, open_dataset(_table(z=LONG)), [parse_statistic("z=z")], 10**6, convexity=prove_convexity(PROFILE)
    ),
    "epsilon for size: reach": lambda: epsilon_for_size(PROFILE, ROWS / 2, lambda: [{"z": LONG}], convexity=prove_convexity(PROFILE)),
    "noise for size: above+": lambda: calibrate_noise_for_size(TEMPLATE, 1, 10**6, lambda: [{"z": LONG}]),
    "noise for size: reach": lambda: calibrate_noise_for_size(TEMPLATE, 1, 1100, lambda: [{"z": LONG}, {"z": [1.0]}]),
    "variance-optimal+": lambda: variance_optimal(LONG, 10**6),
    "sample: above+": lambda: draw_sample(PROFILE, _table(z=[1.0, VALUE]), target_epsilon=3),
    "sample: q above 1+": lambda: draw_sample(PROFILE, _table(z=[1.0, VALUE]), q="1/2"),
    "sample: release without the column+": _release,
    "selector: range+": lambda: plan_sample(PROFILE, target_epsilon=3).selector.select({"z": np.array([VALUE])}),
    "engine pairs: above+": lambda: arrow_pairs(plan_sample(PROFILE, target_epsilon=3).selector)(pa.record_batch({"z": [VALUE]})),
    "engine pairs: text+": lambda: arrow_pairs(plan_sample(PROFILE, target_epsilon=3).selector)(pa.record_batch({"z": [NAME]})),
    "engine weights: names+": lambda: arrow_weights(PROFILE, 3)(pa.record_batch({NAME: [VALUE]})),
    "engine sample: q": lambda: list(
        arrow_sample(lambda batch: batch, lambda: lambda q: q < 1)([pa.record_batch({"q": [VALUE], "weight": [1.0]})])
    ),
    "DP-SGD: text": lambda: _classifier().fit(TEXTS, [0] * len(TEXTS)),
    "DP-SGD: complex": lambda: _classifier().fit(LARGE + 1j, [0] * len(LARGE)),
    "DP-SGD: NaN": lambda: _classifier().fit([[VALUE, np.nan]], [0]),
    "DP-SGD: labels": lambda: _classifier(classes=[0, 1]).fit([[1.0, 2.0]], [NAME]),
    "DP-SGD: continuous labels": lambda: _classifier().fit([[1.0, 2.0], [2.0, 3.0]], [VALUE + 0.25, VALUE]),
    "DP-SGD: lengths": lambda: _classifier().fit(np.zeros((ROWS, 2)), [0]),
    "k-means: text": lambda: DPLloyd(1, epsilon=1, radius=2).fit(TEXTS),
    "k-means: objects": lambda: DPLloyd(1, epsilon=1, radius=2).fit(np.array([[NAME, {NAME: VALUE}]], dtype=object)),
    "k-means: one dimension": lambda: DPLloyd(1, epsilon=1, radius=2).fit(LONG * VALUE),
    "k-means: complex": lambda: DPLloyd(1, epsilon=1, radius=2).fit(LARGE + 1j),
    "k-means: NaN": lambda: DPLloyd(1, epsilon=1, radius=2).fit([[VALUE, np.nan]]),
    "k-means: radius+": lambda: DPLloyd(1, epsilon=1, radius=2).fit(LARGE),
    "k-means: sampled radius+": lambda: DPLloyd(1, epsilon=1, radius=2).fit_sampled(LARGE),
    "k-means: weights' length": lambda: DPLloyd(1, epsilon=1, radius=2).fit(np.zeros((ROWS, 2)), sample_weight=np.ones(ROWS - 1)),
    "k-means: weights of text": lambda: DPLloyd(1, epsilon=1, radius=2).fit(np.zeros((1, 2)), sample_weight=[NAME]),
    "k-means: small weights+": lambda: DPLloyd(1, epsilon=1, radius=2, largest_weight=2).fit(np.zeros((2, 2)), sample_weight=[1, -VALUE]),
    "k-means: large weights+": lambda: DPLloyd(1, epsilon=1, radius=2, largest_weight=2).fit(np.zeros((2, 2)), sample_weight=[1, VALUE]),
    "k-means: selector+": lambda: DPLloyd(1, epsilon=1, radius=2).fit_sampled(np.zeros((ROWS, 2)), select=lambda q, rng: q),
    "k-means: predict": lambda: DPLloyd(1, epsilon=1, radius=2, random_state=1).fit(np.zeros((9, 2))).predict(TEXTS),
    "k-means: ragged": lambda: DPLloyd(1, epsilon=1, radius=2).fit([[VALUE, 1.0], [1.0]]),
    "sum: radius+": lambda: SUM.sample(np.array([1.0, VALUE]), RNG, 2),
    "sum: too large for exact noise": lambda: WIDE.sample(np.array([1.0, VALUE]), RNG, 2),
    "sum: text": lambda: SUM.sample([NAME], RNG, 2),
    "sum: weights+": lambda: SUM.sample((np.ones(2), [1.0, -VALUE]), RNG, 2),
    "sum: weights' length+": lambda: SUM.sample((np.ones(ROWS), np.ones(ROWS - 1)), RNG, 2),
    "sum: shape": lambda: SUM.sample(np.ones((ROWS, 3)), RNG, 2),
    "k-norm: radius+": lambda: KNormSum(beta_sum=1, radius=2, dimension=2, p=1).run(LARGE, np.ones(2), RNG),
    "count: weights+": lambda: WeightedCount(beta_count=1).sample((np.ones((2, 1)), [1.0, -VALUE]), RNG, 2),
    "lloyd: radius+": lambda: LLOYD.run(LARGE, np.ones(2), RNG),
    "data set: ragged": lambda: to_dataset([[VALUE], [1, 2]], 1),
    "data set: NaN": lambda: to_dataset([[VALUE, np.nan]], 2),
    "clustering: points": lambda: CLUSTERING.run(np.full((ROWS, 3), VALUE)),
    "clustering: numbers": lambda: CLUSTERING.run(np.array([ROWS])),
    "clustering: text": lambda: CLUSTERING.run(np.array([NAME])),
    "clustering: distances": lambda: BY_DISTANCE.run(DistanceRows(np.full((ROWS, 3), VALUE))),
    "clustering: negative distances": lambda: BY_DISTANCE.run(DistanceRows([[-VALUE, 1.0]])),
    "clustering: text distances": lambda: BY_DISTANCE.run(DistanceRows([[NAME, "1"]])),
    "clustering: counts": lambda: BY_DISTANCE.run(Multiplicities([-ROWS, 1])),
    "clustering: law+": lambda: release_law(BY_DISTANCE, [0] * ROWS, most=2),
    "monitor: triple+": lambda: _watch(MONITOR, (NAME, VALUE)),
    "monitor: time+": lambda: _watch(MONITOR, (1, NAME, 2)),
    "monitor: item": lambda: _watch(MONITOR, (1, 0, NAME)),
    "monitor: fraction": lambda: _watch(MONITOR, (1, 0, VALUE)),
    "monitor: outside": lambda: _watch(MONITOR, (1, 0, ROWS)),
    "monitor: late": lambda: _watch(MONITOR, (1, ROWS, 1), (1, 0, 1)),
    "monitor: unsigned": lambda: MONITOR.start().push(0, np.array([1]), np.array([2**63 + ROWS], dtype=np.uint64)),
    "monitor: lengths+": lambda: MONITOR.start().push(0, np.ones(ROWS, dtype=int), np.ones(1, dtype=int)),
    "monitor: times' length+": lambda: MONITOR.start().push(np.zeros(ROWS, dtype=int), np.ones(2, dtype=int), np.ones(2, dtype=int)),
    "monitor: unsorted+": lambda: MONITOR.start().push(np.array([2 * ROWS, ROWS]), np.ones(2, dtype=int), np.ones(2, dtype=int)),
    "monitor: users": lambda: _watch(NAMED, (NAME, 0, "a"), (ROWS, 0, "a")),
    "stream: names+": lambda: list(open_stream(_table(**{NAME: [1]}), user="u", time="t", item="i")),
    "stream: text time+": lambda: list(open_stream(_table(u=[1], t=[NAME], i=[1]), user="u", time="t", item="i")),
    "coverage: items+": lambda: CoverageInstance.from_sets([[0], [ROWS]], candidates=2),
    "coverage: text": lambda: CoverageInstance.from_sets([[NAME]], candidates=2),
    "coverage: pairs+": lambda: CoverageInstance.from_pairs(np.arange(ROWS), np.zeros(2, dtype=int), candidates=2),
    "coverage: starts+": lambda: CoverageInstance(2, np.array([0, 1]), np.zeros(ROWS, dtype=int)),
    "coverage: table names+": lambda: read_coverage(_table(**{NAME: [1]}), user="u", item="i", candidates=2),
    "coverage: table items": lambda: read_coverage(_table(u=[1], i=[NAME]), user="u", item="i", candidates=2),
    "coverage: unknown": lambda: read_coverage(_table(u=[1, 2], i=["a", NAME]), user="u", item="i", candidates=["a"]),
    "coverage: nested users": lambda: read_coverage(_table(u=[{NAME: 1}], i=[1]), user="u", item="i", candidates=2),
    "coverage: values": lambda: read_weighted_coverage(_table(u=[1], i=[1], v=[NAME]), user="u", item="i", value="v", candidates=2),
    "weighted coverage: above": lambda: WeightedCoverage.from_matrix([[VALUE, 0.0]]),
    "weighted coverage: text": lambda: WeightedCoverage.from_matrix([[NAME, "0"]]),
    "weighted coverage: deep": lambda: WeightedCoverage.from_matrix(np.zeros((ROWS, 2, 2))),
    "weighted coverage: pairs": lambda: WeightedCoverage.from_pairs([0], [0], np.full(ROWS, 0.5), candidates=2),
    "coverage: selection+": lambda: CoverageInstance.from_sets([[0]] * ROWS, candidates=2).restrict(np.ones(2)),
    "greedy": lambda: PrivateGreedy(k=1, epsilon=1).run([NAME, VALUE]),
    "set cover": lambda: PrivateSetCover(1, sets=2).run([NAME, VALUE]),
    "matroid: items": lambda: PrivateMatroidGreedy(matroid=UniformMatroid(3, 1), epsilon=1).run([[0], [ROWS]]),
    "matroid: text": lambda: PrivateMatroidGreedy(matroid=UniformMatroid(3, 1), epsilon=1).run([[NAME]]),
    "matroid: matrix": lambda: PrivateMatroidGreedy(matroid=UniformMatroid(3, 1), epsilon=1).run(sparse.csr_matrix((ROWS, 2))),
    "audit: raising+": lambda: audit(_quote, np.array([VALUE, 1.0]), np.array([1.0]), Claim(1), rng=np.random.default_rng(1), samples=20),
    "audit: raising elsewhere+": _in_processes,
    "audit: neighbors judged+": lambda: judge_neighbors(np.arange(ROWS + 2), np.arange(2)),
    "audit: no neighbors+": lambda: find_difference(np.arange(ROWS + 2), np.arange(2)).added_record(),
    "audit: record outside+": lambda: claim_of_record(PROFILE, {"z": Fraction(str(VALUE))}),
}


def _error(call) -> Exception:
    with pytest.raises((PDPError, ValueError, TypeError)) as caught:
        call()
    return caught.value


@pytest.mark.thorough(quick=14)
@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_does_not_show_the_data(name, capfd):
    error = _error(CALLS[name])
    assert isinstance(error, PDPError) or name.startswith(("k-means", "DP-SGD")), repr(error)
    shown = [str(error), repr(error), "".join(traceback.format_exception(error)), *capfd.readouterr()]
    for text in shown:
        assert not traces_in(text), text
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), getattr(again, "private", "")) == (str(error), getattr(error, "private", ""))
    if name.endswith("+"):
        assert error.private
        assert traces_in(reveal(error)), (str(error), error.private)
        assert reveal(error).startswith(str(error))


def test_a_damaged_file_is_not_quoted(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(f"z,y\n1,2\n1,2,{NAME}\n")
    for call in (
        lambda: _weigh(path),
        lambda: sample_file(PROFILE, path, tmp_path / "o.csv", target_epsilon=3),
        lambda: read_coverage(path, user="z", item="y", candidates=2),
        lambda: list(open_stream(path, user="z", time="y", item="y")),
    ):
        error = _error(call)
        assert not traces_in("".join(traceback.format_exception(error)))
        assert traces_in(reveal(error))


def test_objects_that_hold_data_do_not_print_them():
    summary = _weigh(_table(z=LONG))
    sample = draw_sample(PROFILE, _table(z=LONG), target_epsilon=3, source=1)
    objects = [
        summary, sample, sample.consume(), variance_optimal(LONG, 10), DistanceRows([[VALUE, 1.0]]), Multiplicities([ROWS]),
        StreamBatch([NAME], 0, [1]), CoverageInstance.from_sets([[0]] * ROWS, candidates=2), WeightedCoverage.from_matrix([[0.5]] * ROWS),
        find_difference(np.array([VALUE]), np.array([])), to_dataset(LARGE, 2), next(iter(open_dataset(_table(z=LONG)).batches([]))),
        epsilon_for_size(PROFILE, 20, lambda: [{"z": LONG}], convexity=prove_convexity(PROFILE)),
    ]  # fmt: skip
    for one in objects:
        assert not traces_in(repr(one)), repr(one)
    assert summary.rows == ROWS  # asked for by name, it is told


def test_a_summary_of_a_sample_file_does_not_print_its_figures(tmp_path):
    pq.write_table(_table(z=LONG), tmp_path / "d.parquet")
    summary = sample_file(PROFILE, tmp_path / "d.parquet", tmp_path / "o.csv", target_epsilon=3)
    assert not traces_in(repr(summary).replace(str(tmp_path), ""))
    assert summary.private.records == ROWS
    with contextlib.suppress(FileNotFoundError):
        assert not traces_in((tmp_path / "o.csv.certificate.json").read_text())
