"""Samples by released statistics: exact ε of the whole, the supremum against its formula, certificates and what they refuse, bad input."""

from __future__ import annotations

import copy
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import check
from accountant.applications.statistics import (
    SampleRequest,
    check_certificate,
    draw_within,
    plan_within,
    sample_file_within,
    weigh_file_within,
)
from accountant.applications.statistics.planning import make_constants, prepare
from accountant.applications.statistics.releasing import ReleasedStatistics
from accountant.data import open_dataset, parse_statistic
from accountant.data.clipping import clip_rows
from accountant.samples.once import Mechanisms
from profiles import Infeasible, InvalidArgument, InvalidData, InvalidSampling, OtherNotion, PDPError, declare
from profiles.mechanisms import LaplaceSum, WeightedLloyd
from proofs_check.exact import enumerate_outputs, exact_epsilon
from tests.targets.private_statistics import BROKEN, EPSILON, SOUND

LLOYD = WeightedLloyd(initial_centres=[[-1, 0], [1, 0]], iterations=3, beta_count=20, beta_sum=20, p=2, radius="1.5")
NORM = [parse_statistic("z=l2(x,y)")]


def find_worst(name: str, size: int) -> list[float]:
    program = {**SOUND, **BROKEN}[name]
    worst = exact_epsilon(lambda rows: enumerate_outputs(program, rows), (1, 2), max_size=size)
    return [math.inf if side.ratio is None else math.log(side.ratio) for side in (worst.remove, worst.add)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", SOUND)
def test_the_exact_epsilon_is_within_the_budget_and_near_it(name: str) -> None:
    found = max(find_worst(name, 2))
    assert 0.9 * EPSILON <= found <= EPSILON


@pytest.mark.thorough
@pytest.mark.parametrize("name", BROKEN)
def test_broken_twins_are_refuted(name: str) -> None:
    assert max(find_worst(name, 2)) > 1.1 * EPSILON


def write_table(folder: Path, rows: np.ndarray[Any, Any], kind: str = "parquet") -> Path:
    path = folder / f"rows.{kind}"
    table = pa.table({"x": rows[:, 0], "y": rows[:, 1], "name": ["a"] * len(rows)})
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        pyarrow.csv.write_csv(table, path)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_table(tmp_path, np.random.default_rng(0).normal(size=(3000, 2)))


#: ψ of DP-Lloyd above, with c, at 60 digits.
def spend(z: Any, request: SampleRequest, q: Any) -> Any:
    moment = request.moment
    cost = mpmath.mpf(request.costs.records.numerator) / request.costs.records.denominator
    if moment is not None:
        total = mpmath.mpf(request.costs.total.numerator) / request.costs.total.denominator
        cost += total * (z / mpmath.mpf("1.5")) ** moment.exponent
    return cost + mpmath.log1p(q * mpmath.expm1(3 / q * (mpmath.mpf(1) / 20 + z / 20)))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rule", "constants", "epsilon", "count", "total"),
    [
        ("coreset-l2", {"m": 900}, 3, 3000, 4000),
        ("coreset-l2", {"m": 10, "lam": "0.3"}, "1.2", 3000, 4000),
        ("coreset", {"m": 900, "exponent": 3}, 2, 0.25, 4000),
        ("uniform", {"m": 3}, 1, 3000, None),
        ("uniform", {"m": 10**6}, 1, 3000, None),
    ],
)
def test_the_one_supremum_is_that_of_its_formula(
    rule: str, constants: dict[str, object], epsilon: object, count: float, total: float | None
) -> None:
    request = SampleRequest.of(LLOYD.profile, epsilon, "0.1", rule, constants)
    released = ReleasedStatistics(Fraction(count), None if total is None else Fraction(total), ())
    plan = plan_within(prepare(Mechanisms.of(LLOYD), request), released)
    assert plan.whole is not None
    made = {name: mpmath.mpf(value.numerator) / value.denominator for name, value in plan.plan.rule.constants}
    with mpmath.workdps(60):
        line = [mpmath.mpf(15 * step) / 2000 for step in range(201)]
        exponent = 0 if request.moment is None else request.moment.exponent
        chances = [made["rate"] if "rate" in made else min(mpmath.mpf(1), made["base"] + made["slope"] * z**exponent) for z in line]
        largest = max(spend(z, request, q) for z, q in zip(line, chances, strict=True))
        upper = mpmath.mpf(plan.whole.bound.upper.numerator) / plan.whole.bound.upper.denominator
        assert largest <= upper <= largest * (1 + mpmath.mpf("1e-3"))
    assert plan.whole.bound.upper <= request.epsilon
    small = plan.raised == 1 or largest > float(request.epsilon) * 0.98
    assert small  # rates are raised no further than needed


@settings(max_examples=50)
@given(
    count=st.floats(-1e9, 1e18),
    total=st.floats(-1e18, 1e18),
    m=st.integers(1, 10**12),
    lam=st.fractions(Fraction(1, 1000), 1),
    raised=st.fractions(1, 1000),
)
def test_denominators_are_clipped(count: float, total: float, m: int, lam: Fraction, raised: Fraction) -> None:
    request = SampleRequest.of(LLOYD.profile, 3, "0.1", "coreset-l2", {"m": m, "lam": lam})
    made = make_constants(request, Fraction(count), Fraction(total), raised)
    rows = max(Fraction(1), Fraction(count))
    if "rate" in made:
        assert 0 < made["rate"] <= 1
        return
    assert 0 < made["base"] <= min(1, lam * m * raised / rows)
    assert made["base"] >= lam * m * raised / rows * (1 - Fraction(1, 10**11))
    assert made["slope"] > 0
    # q asks for at most the mean of the whole range, and at least its 2^20th part
    assert (
        (1 - lam) * m * raised / rows * (1 - Fraction(1, 10**11)) <= made["slope"] * Fraction(9, 4) <= (1 - lam) * m * raised / rows * 2**20
    )


@pytest.mark.thorough
def test_one_release_from_the_file_to_the_centres(data: Path) -> None:
    sample = draw_within(LLOYD, data, epsilon=3, private_statistics="0.1", rule="coreset-l2", constants={"m": 900}, specs=NORM, source=1)
    assert abs(sample.plan.released.count - 3000) < 600
    found = sample.release(LLOYD, np.random.default_rng(2), columns=["x", "y"])
    known = {item.id for item in found.guarantee.hypotheses}
    assert float(found.guarantee.bound.upper) == 3.0
    # n, the mean squared norm and the range are no hypotheses any more, nor is what the run discharges
    assert not known & {"public-constants", "declared-range", "public-centre", "within-budget", "one-analysis", "declared-profile"}
    assert {"only-release", "only-output", "seeded-bits", "ieee-rounding", "record-statistics"} <= known
    assert "exact-reals" not in known


@pytest.mark.thorough
def test_a_mechanism_in_binary64_leaves_exact_reals_open(data: Path) -> None:
    rough = WeightedLloyd(
        initial_centres=[[-1, 0], [1, 0]], iterations=3, beta_count=20, beta_sum=20, p=2, radius="1.5", arithmetic="binary64"
    )
    for rule, constants in (("uniform", {"m": 900}), (None, None)):
        sample = draw_within(rough, data, epsilon=3, private_statistics="0.1", rule=rule, constants=constants, specs=NORM, source=1)
        found = sample.release(rough, np.random.default_rng(2), columns=["x", "y"])
        assert "exact-reals" in {item.id for item in found.guarantee.hypotheses}


CASES: list[tuple[str | None, dict[str, object] | None, object]] = [
    ("coreset-l2", {"m": 900}, 3),
    ("uniform", {"m": 900}, 3),
    (None, None, 2),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("rule", "constants", "epsilon"), CASES)
def test_files_and_their_certificates(
    rule: str | None, constants: dict[str, object] | None, epsilon: object, data: Path, tmp_path: Path
) -> None:
    found = sample_file_within(
        LLOYD, data, tmp_path / "s.parquet", epsilon=epsilon, private_statistics="0.1", rule=rule, constants=constants, specs=NORM, source=1
    )
    text = found.certificate.read_text()
    assert check(text).accepted
    rows = pq.read_table(tmp_path / "s.parquet")
    norms = np.hypot(np.array(rows["x"]), np.array(rows["y"]))
    assert rows.num_rows == found.private.sample_size
    assert norms.max() <= 1.5
    assert "only-release" in text
    assert "3000" not in text.replace('"3000"', "")
    for name, wrong in list(forge(json.loads(text))):
        report = check_certificate(wrong)
        assert not report.accepted, name


def forge(found: dict[str, Any]) -> Any:
    """Yield certificates that say a little more than was proved, each with what is wrong."""

    def change(name: str, *path: Any, to: Any) -> tuple[str, dict[str, Any]]:
        made = copy.deepcopy(found)
        place = made
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to
        return name, made

    yield change("a smaller epsilon", "epsilon", "upper", to="0.5")
    made = change("a smaller epsilon everywhere", "epsilon", "upper", to="0.2")
    made[1]["arguments"]["epsilon"] = "0.2"
    yield made
    yield change("less for the statistics", "arguments", "statistics", to="0.05")
    yield change("less noise", "releases", 0, "scale", to="1")
    yield change("another cost", "releases", 0, "cost", to="0.000001")
    yield change("no releases", "releases", to=[])
    yield change("a field more", "more", to=1)
    yield change("another version", "version", to=True)
    yield change("no sample", "sample", to=None)
    yield change("a sample of another format", "sample", "format", to="pdp-guarantee")
    yield change("a hypothesis less", "hypotheses", to=found["hypotheses"][1:])
    for place, item in enumerate(found["premises"]):
        made = change(f"without {item['id']}", "premises", to=found["premises"][:place] + found["premises"][place + 1 :])
        made[1]["hypotheses"] = found["hypotheses"][:place] + found["hypotheses"][place + 1 :]
        yield made
    if found["proof"] is not None:
        yield change("other statistics", "released", "records", to="1000")
        yield change("rates that are not raised", "raised", to="2")
        yield change("another profile", "profile", "epsilon", to="w*z/1000")
        yield change("no proof", "proof", to=None)
        yield change("another size", "arguments", "size", to="800")
    else:
        yield change("weights for more", "sample", "rule", "target_epsilon", to="1.95")


def test_a_certificate_without_its_fields_is_rejected() -> None:
    assert not check('{"format": "pdp-statistics-certificate"}').accepted


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_are_moved_one_by_one(kind: str, tmp_path: Path) -> None:
    rows = np.array([[3.0, 4.0], [0.25, 0.5], [0.0, 0.0], [-1e300, 1e300], [1.5, 0.0]])
    together = next(clip_rows(open_dataset(write_table(tmp_path, rows, kind)), LLOYD.profile, NORM).batches(NORM))
    norms = np.asarray(together.statistics["z"])
    assert norms.max() <= 1.5
    np.testing.assert_allclose(norms[[0, 3]], 1.5)
    np.testing.assert_allclose(np.array(together.table.column("x"))[0], 0.9)
    for place in range(len(rows)):
        alone = next(clip_rows(open_dataset(rows[[place]]), LLOYD.profile, [parse_statistic("z=l2")]).batches([parse_statistic("z=l2")]))
        assert np.asarray(alone.statistics["z"])[0] == norms[place]


@pytest.mark.thorough
def test_a_column_is_not_moved_but_its_total_is_bounded(tmp_path: Path) -> None:
    profile = declare("sum", "w*z/20", record={"z": (0, 1)})
    data = pa.table({"z": np.full(50, 1e6)})
    with pytest.raises(InvalidData, match="declared range"):
        draw_within(profile, data, epsilon=2, private_statistics="0.1", rule="coreset-l1", constants={"m": 10}, source=1)
    inside = pa.table({"z": np.full(50, 0.5)})
    found = draw_within(profile, inside, epsilon=2, private_statistics="0.1", rule="coreset-l1", constants={"m": 10}, source=1)
    assert "declared-range" in {item.id for item in found.guarantee.hypotheses}


@pytest.mark.thorough
def test_an_epsilon_that_may_fall_in_w_is_covered_by_the_sum() -> None:
    profile = declare("concave", "log(1 + w*z/(w + 10))", record={"z": (0, 1)})
    found = draw_within(
        profile, np.full((200, 1), 0.5), epsilon=2, private_statistics="0.1", rule="uniform", constants={"m": 100},
        specs=[parse_statistic("z=l2")], source=1,
    )  # fmt: skip
    assert found.plan.plan.epsilon + Fraction(1, 10) <= 2


@pytest.mark.thorough
def test_weights_come_with_the_size_of_their_sample(data: Path, tmp_path: Path) -> None:
    found = weigh_file_within(LLOYD, data, tmp_path / "w.parquet", epsilon=2, private_statistics="0.1", specs=NORM, source=1)
    q = np.array(pq.read_table(tmp_path / "w.parquet")["q"])
    assert found.plan.plan.rule.target_epsilon == Fraction(19, 10)
    assert found.plan.expected is not None
    assert abs(found.plan.expected / q.sum() - 1) < 0.3
    assert "target-fixed" in {item.id for item in found.guarantee.hypotheses}


SUM = declare("sum", "w*z/20", record={"z": (0, 1)})
REFUSED: dict[str, tuple[type[PDPError], dict[str, Any]]] = {
    "no epsilon": (InvalidArgument, {"epsilon": None}),
    "statistics that cost all": (InvalidArgument, {"private_statistics": 2}),
    "statistics for nothing": (InvalidArgument, {"private_statistics": 0}),
    "a budget that protects nobody": (InvalidArgument, {"epsilon": 10**6}),
    "n as a constant": (InvalidArgument, {"constants": {"m": 3, "n": 50}}),
    "the mean as a constant": (InvalidArgument, {"constants": {"m": 3, "mean": 50}}),
    "no size": (InvalidArgument, {"constants": {}}),
    "a size of 0": (InvalidArgument, {"constants": {"m": 0}}),
    "lam = 0": (InvalidArgument, {"constants": {"m": 3, "lam": 0}}),
    "half an exponent": (InvalidArgument, {"rule": "coreset", "constants": {"m": 3, "exponent": "1.5"}}),
    "another rule": (InvalidSampling, {"rule": "variance-optimal", "constants": {"m": 3}}),
    "constants without a rule": (InvalidArgument, {"rule": None, "constants": {"m": 3}}),
    "another statistic": (InvalidSampling, {"constants": {"m": 3, "statistic": "y"}}),
    "an infeasible budget": (Infeasible, {"epsilon": "0.05", "private_statistics": "0.01"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_requests_are_refused_before_the_data(name: str) -> None:
    kind, changes = REFUSED[name]
    good = {"epsilon": 2, "private_statistics": "0.1", "rule": "coreset-l1", "constants": {"m": 3}}
    with pytest.raises(kind):
        draw_within(SUM, Path("no such file.csv"), **{**good, **changes})


def test_profiles_that_cannot_be_served() -> None:
    free = declare("sum", "w*z/b", record={"z": (0, 1)}, parameters={"b": "positive"})
    normal = declare("sum", notion="gaussian", mu="w*z", record={"z": (0, 1)})
    for profile, kind in ((free, InvalidArgument), (normal, OtherNotion), (declare("count", "w"), InvalidArgument)):
        with pytest.raises(kind):
            draw_within(profile, np.ones((3, 1)), epsilon=2, private_statistics="0.1", rule="uniform", constants={"m": 1})


@pytest.mark.thorough
def test_another_mechanism_is_refused_and_uses_nothing_up(data: Path) -> None:
    sample = draw_within(LLOYD, data, epsilon=2, private_statistics="0.1", specs=NORM, source=1)
    with pytest.raises(InvalidArgument, match="planned for"):
        sample.release(LaplaceSum(b=20, radius=1))
    assert "BudgetedSample" in repr(sample)
