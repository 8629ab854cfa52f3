"""Tables of weights: what is read off them is feasible, close to the optimum, a function of the record, and checked by the kernel."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from accountant import check
from accountant.columns.domain import as_columns
from accountant.columns.values import Decimals
from accountant.compositions.events import Direction
from accountant.selection.mu_lookup import prepare_shifts, serve
from accountant.selection.scales import find_scale
from accountant.weights.gaussian import gaussian_weight
from accountant.weights.gaussian.many_steps import bound_steps
from accountant.weights.gaussian.one_step import OneStep
from accountant.weights.gaussian.proved import prove_gaussian
from accountant.weights.gaussian.table import TableRow, make_table
from accountant.weights.gaussian.table_format import TabulatedWeights, check_table
from accountant.weights.gaussian.target import GaussianTarget
from profiles import Infeasible, InvalidProfile, InvalidTarget, OtherNotion, Undecided, declare
from profiles.evaluation import exact_value
from tests.weights.gaussian import survey

SUM = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": [0, 4]})
NARROW = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": ["3.8", 4]})
TARGET = GaussianTarget(Fraction(1), Fraction(1, 10**5), 1)


@pytest.fixture(scope="module")
def made():
    proved = prove_gaussian(SUM)
    return TabulatedWeights(proved, make_table(proved, TARGET))


@pytest.fixture(scope="module")
def narrow():
    proved = prove_gaussian(NARROW)
    return TabulatedWeights(proved, make_table(proved, TARGET))


def read(found, zs, scale=None):
    reader = prepare_shifts(found.proved, found.table, scale)
    return reader.read(as_columns({"z": np.asarray(zs, dtype=np.float64)}, ("z",)))


@pytest.mark.thorough
def test_weights_of_a_table_are_within_two_per_cent_of_the_first_crossing_and_never_above(made):
    zs = [4.0, 3.9, 2.5, 1.0, 0.1, 0.01]
    q, w, _ = read(made, zs)
    for z, chance, weight in zip(zs, q, w, strict=True):
        best = gaussian_weight(SUM, 1, "1e-5", {"z": Fraction(z)}, digits=15)
        assert 0.98 * float(best.lower) <= weight <= float(best.upper), z
        assert Fraction(chance) * Fraction(weight) <= 1
        assert Fraction(chance) * Fraction(weight) >= 1 - Fraction(1, 2**34)


@pytest.mark.thorough
def test_rows_rise_in_mu_and_fall_in_zeta_and_are_what_records_are_given(made):
    rows = made.table.rows
    assert all(one.mu < other.mu and one.zeta > other.zeta for one, other in pairwise(rows))
    q, w, _ = read(made, np.linspace(1e-6, 4, 400))
    for z, chance, weight in zip(np.linspace(1e-6, 4, 400), q, w, strict=True):
        zeta = Fraction(z) / 30
        assert any(Fraction(chance) <= row.q and Fraction(weight) * zeta <= row.mu for row in rows)


@pytest.mark.thorough
def test_a_record_has_the_same_numbers_in_every_batch_and_as_a_decimal(made):
    zs = np.random.default_rng(3).uniform(0, 4, 30_000)
    q, w, _ = read(made, zs)
    order = np.random.default_rng(4).permutation(zs.size)
    for part in np.array_split(order, 7):
        again = read(made, zs[part])
        assert (again[0] == q[part]).all()
        assert (again[1] == w[part]).all()
    reader = pickle.loads(pickle.dumps(prepare_shifts(made.proved, made.table)))
    assert (reader.read(as_columns({"z": zs}, ("z",)))[1] == w).all()


@pytest.mark.thorough
def test_the_fast_path_and_exact_arithmetic_agree_also_at_the_edges_of_pieces(made):
    reader = prepare_shifts(made.proved, made.table)
    edges = [float(np.int64(pattern << 44).view(np.float64)) * 30 for pattern in range(reader.first, reader.first + len(reader.exact), 7)]
    zs = np.array([z for edge in edges for z in (edge, np.nextafter(edge, 0), np.nextafter(edge, 9)) if 0 < z <= 4])
    q, w, _ = reader.read(as_columns({"z": zs}, ("z",)))
    for z, chance, weight in zip(zs, q, w, strict=True):
        assert reader._pair(exact_value(reader.zeta, {"z": Fraction(z)})) == (chance, weight)


@pytest.mark.thorough
def test_a_profile_that_is_not_affine_and_records_that_lose_nothing(made):
    root = declare("two parts", notion="gaussian", mu="w*sqrt(y**2+z**2)/30", record={"y": [0, 1], "z": [0, 2]})
    proved = prove_gaussian(root)
    reader = prepare_shifts(proved, make_table(proved, TARGET))
    q, w, _ = reader.read(as_columns({"y": np.array([0.0, 0.6, 0.0]), "z": np.array([0.0, 0.8, 1.0])}, ("y", "z")))
    assert (q[0], w[0]) == (0.0, math.inf)
    assert w[2] == pytest.approx(w[1])
    assert q[1] * w[1] == pytest.approx(1)


@pytest.mark.thorough
def test_decimals_count_as_they_are_written(made):
    import pyarrow as pa  # noqa: PLC0415

    texts = pa.array(["0.1", "0.3", "4"])
    column = Decimals(np.array([0.1, 0.3, 4.0]), texts)
    reader = prepare_shifts(made.proved, made.table)
    q, w, _ = reader.read(as_columns({"z": column}, ("z",)))
    for text, chance, weight in zip(["0.1", "0.3", "4"], q, w, strict=True):
        assert reader._pair(Fraction(text) / 30) == (chance, weight)


@pytest.mark.parametrize("steps", [pytest.param(3, marks=pytest.mark.thorough)])
def test_several_steps_are_certified_in_both_directions_on_a_finer_grid(steps):
    proved = prove_gaussian(NARROW)
    target = GaussianTarget(Fraction(1), Fraction(1, 10**5), steps)
    table = make_table(proved, target)
    for row in table.rows:
        for direction in Direction:
            bound = bound_steps(table.compose_row(row), OneStep(target.epsilon, target.delta), direction, Fraction(1, 500))
            assert bound.delta <= target.delta
    assert table.find_rejected() is None


@pytest.mark.thorough
@pytest.mark.parametrize("near", [0.003, 0.006])
def test_a_walk_of_several_steps_ends_only_where_no_row_is_left_to_find(monkeypatch, near):
    """How close a row comes to the target has no say in how far the table goes down."""
    monkeypatch.setattr("accountant.weights.gaussian.table._NEAR_STEPS", near)
    small = replace(prove_gaussian(NARROW), reach=Fraction(1, 50), least=Fraction(0))
    made = make_table(small, replace(TARGET, steps=10))
    assert made.rows[-1].q <= 4 * TARGET.delta / 10
    assert made.find_rejected() is None


def test_the_file_of_a_table_is_accepted_and_its_changes_are_not(narrow):
    whole = json.loads(narrow.to_text())
    report = check(narrow.to_text())
    assert report.accepted
    assert [claim.claim for claim in report.claims] == ["homogeneous", "assumption-8", "weight-table"]
    changes = {
        "target": lambda v: v["target"].update(epsilon="0.99"),
        "delta": lambda v: v["target"].update(delta="9e-6"),
        "steps": lambda v: v["target"].update(steps=2),
        "reach": lambda v: v.update(reach="0.13"),
        "profile": lambda v: v["profile"].update(mu="w*z/29"),
        "range": lambda v: v["profile"]["record"].update(z=["3.8", "5"]),
        "row": lambda v: v["rows"][1].update(q=str(float(v["rows"][1]["q"]) * 1.001)),
        "mu": lambda v: v["rows"][-1].update(mu=str(float(v["rows"][-1]["mu"]) * 1.01)),
        "no rows": lambda v: v.update(rows=[]),
        "order": lambda v: v["rows"].reverse(),
        "grid": lambda v: v["rows"][0].update(remove=[]),
        "text": lambda v: v["rows"][0].update(mu=1),
        "more": lambda v: v.update(more=1),
        "promise": lambda v: v.update(promise=v["ceiling"]),
        "ceiling": lambda v: v.update(ceiling=v["promise"]),
        "list": lambda v: v.update(rows={}),
    }
    for name, change in changes.items():
        value = json.loads(json.dumps(whole))
        change(value)
        assert not check_table(value).accepted, name


def test_a_row_above_its_target_is_found(narrow):
    table = narrow.table
    raised = TableRow(table.rows[0].mu, table.rows[0].q * Fraction(1001, 1000), table.rows[0].bounds)
    assert replace(table, rows=(raised,)).find_rejected() == raised


@pytest.mark.thorough
def test_a_scale_gives_the_size_that_was_asked_for_and_weights_that_a_row_dominates():
    proved = prove_gaussian(SUM)
    found = TabulatedWeights(proved, make_table(proved, TARGET, whole=True))
    zs = np.minimum(np.random.default_rng(5).lognormal(-1, 1, 2_000), 4.0)
    largest, _, _ = read(found, zs)
    for size in (1.5 * largest.sum(), 400, 1_900):
        scale = find_scale(found, size, lambda: [{"z": zs}])
        q, w, _ = read(found, zs, scale.value)
        assert size * (1 - 1e-4) <= q.sum() <= size
        assert (w * zs / 30 <= float(scale.value) * (1 + 1e-9)).all() or (w[w * zs / 30 > float(scale.value)] == 1).all()
        for z, chance, weight in zip(zs[:200], q, w, strict=False):
            pair = Fraction(chance), Fraction(weight) * Fraction(z) / 30
            assert any(pair[0] <= row.q and pair[1] <= row.mu for row in found.table.rows)
    # the least variance among q with this sum and these caps: no exchange between two records lowers it
    q, w, _ = read(found, zs, scale.value)
    inside = (q < 1 - 1e-9) & (w * zs / 30 > float(scale.value) * (1 - 1e-9))
    assert np.ptp(zs[inside] / q[inside]) < 1e-6 * (zs[inside] / q[inside]).max()
    with pytest.raises(InvalidTarget, match="below that of the largest weights"):
        find_scale(found, largest.sum() * 0.9, lambda: [{"z": zs}])
    with pytest.raises(InvalidTarget, match="above the number of records"):
        find_scale(found, 2_001, lambda: [{"z": zs}])
    with pytest.raises(InvalidTarget, match="must be positive"):
        find_scale(found, 0, lambda: [{"z": zs}])


@pytest.mark.thorough
def test_a_scale_below_the_first_row_needs_a_whole_table(made):
    with pytest.raises(InvalidProfile, match="needs a whole table"):
        serve(made.table, made.table.rows[0].mu / 2)


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("profile", "error", "words"),
    [
        (declare("p", "w*z", record={"z": [0, 1]}), OtherNotion, "pure epsilon-differential privacy, which needs none"),
        (declare("p", notion="zcdp", rho="w**2*z", record={"z": [0, 1]}), OtherNotion, 'need the notion "gaussian"'),
        (declare("p", notion="renyi", rdp="alpha*w**2*z", record={"z": [0, 1]}), OtherNotion, 'need the notion "gaussian"'),
        (declare("p", notion="gaussian", mu="w**2*z", record={"z": [0, 1]}), InvalidProfile, "refuted"),
        (declare("p", notion="gaussian", mu="0*w*z", record={"z": [0, 1]}), InvalidProfile, "loses nothing"),
        (declare("p", notion="gaussian", mu="w"), InvalidProfile, "declares no record statistic"),
        (declare("p", notion="gaussian", mu="w*z/s", record={"z": [0, 1]}, parameters={"s": "positive"}), InvalidProfile, "s has none"),
    ],
)
def test_profiles_without_a_hypothesis_are_refused_in_one_sentence(profile, error, words):
    with pytest.raises(error, match=words) as caught:
        prove_gaussian(profile)
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
def test_a_target_that_weight_one_exceeds_names_the_record_of_the_domain():
    with pytest.raises(Infeasible, match="at the record z = 4 of the declared domain"):
        make_table(prove_gaussian(SUM), GaussianTarget(Fraction(1, 100), Fraction(1, 10**9), 1))
    with pytest.raises((Infeasible, Undecided), match="after 5 steps"):
        make_table(prove_gaussian(SUM), GaussianTarget(Fraction(1, 100), Fraction(1, 10**9), 5))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_random_settings_hold_by_an_independent_evaluation(seed):
    rng = survey.random.Random(seed)
    assert survey.tabulated(rng, 50)[1] == 0
    assert survey.single(rng, 10)[1] == 0


@pytest.mark.thorough
def test_random_settings_of_several_steps_hold_by_an_upper_curve_of_another_method():
    assert survey.several(survey.random.Random(1), 10)[1] == 0


@pytest.mark.parametrize(("steps", "weight"), [(2, 6.5884), (10, 19.125), (100, 80.18), (1000, 305.6)])
def test_the_survey_knows_the_weights_of_several_steps(steps, weight):
    """Shortly below the optimum (docs/gaussian-weights.md, section 8) nothing is reported, and a per cent above it is."""
    zeta = Fraction(survey.math.sqrt(0.2367**2 / steps) / 2)
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    assert not survey.is_above(1 / (weight * 0.995), weight * 0.995, zeta, steps, epsilon, delta, cells=(1e-3,))
    assert survey.is_above(1 / (weight * 1.01), weight * 1.01, zeta, steps, epsilon, delta, cells=(1e-3,))


def test_the_survey_finds_a_weight_that_is_too_large():
    epsilon, delta, zeta = Fraction(1), Fraction(1, 10**5), Fraction(1, 10)
    best = float(gaussian_weight(declare("p", notion="gaussian", mu="w*z", record={"z": [0, 1]}), 1, "1e-5", {"z": "0.1"}).lower)
    assert not survey.exceeds(1 / best * (1 - 1e-9), best * (1 - 1e-9), zeta, epsilon, delta)
    assert survey.exceeds(1 / best, best * (1 + 1e-6), zeta, epsilon, delta)
