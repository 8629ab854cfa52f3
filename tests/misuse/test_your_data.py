"""Misuse of the data: constants, statistics, targets and units that are not what the guarantee takes them for."""

from __future__ import annotations

import numpy as np
import pytest

from accountant import DPLloyd, derive_epsilon
from accountant.calibration import calibrate_noise_for_size
from accountant.guarantees import Unit, render
from accountant.onesided import compose, declare_directions
from profiles import InvalidArgument, declare
from tests.misuse.reading import ids

POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(300, 2))


def test_the_range_and_the_noise_are_the_largest_value_of_the_data(pdp, profile, table):
    """z = [0, max] and b = max, read off the very file that is sampled."""
    z = np.round(np.random.default_rng(1).gamma(2, size=50) * 8) / 8
    file = profile(z=f"[0, {float(z.max())!r}]", b=repr(float(z.max())))
    code, printed = pdp("sample", file, "-e", 3, "--data", table(z=z), "--out", table(z=z)[:-4] + "-sample.csv")
    assert code == 0
    assert "range, the noise and all other parameters were fixed without looking at the data" in printed


def test_the_radius_of_k_means_is_the_largest_norm():
    """DPLloyd(radius=norms.max(), min_count=len(X)/30), as every tutorial scales its data."""
    norms = np.linalg.norm(POINTS, axis=1)
    model = DPLloyd(3, epsilon=1, radius=float(norms.max()), min_count=len(POINTS) / 30).fit(POINTS)
    assert "fixed-in-advance" in ids(model.guarantee_)
    assert "your data" in render(model.guarantee_, everything=False)


def test_records_are_scaled_by_the_data_before_k_means():
    """StandardScaler().fit_transform(X) before fit: every row depends on all records."""
    scaled = (POINTS - POINTS.mean(axis=0)) / POINTS.std(axis=0)
    model = DPLloyd(3, epsilon=1, radius=10).fit(scaled)
    (said,) = [item for item in model.guarantee_.hypotheses if item.id == "record-statistics"]
    assert said.sentence == "each row that is given to fit: computed from the record alone, and from public constants"


def test_the_statistic_is_a_rank(pdp, profile, table):
    """A column that was computed from all records: a rank, a quantile, a centred norm."""
    rank = np.arange(20) / 20
    file, data = profile(z="[0, 1]"), table(rank=rank)
    for command, out in (("sample", ".s.csv"), ("weights", ".w.csv")):
        code, printed = pdp(command, file, "-e", 3, "--data", data, "-s", "z=rank", "--out", data + out)
        assert code == 0
        assert "the statistic z (the column 'rank'): computed from the record alone" in printed


@pytest.mark.thorough
def test_a_target_from_the_data_is_passed_on_by_hand(pdp, premises, profile, table, tmp_path):
    """--target-size, then the target that it printed as -e, so that the premise would be gone."""
    file, data, out = profile(), table(z=np.linspace(0, 4, 30)), tmp_path / "s.csv"
    assert "target-from-data" in premises("sample", file, "--target-size", 5, "--data", data, "--out", out)
    assert "target-fixed" in premises("sample", file, "-e", "1.7", "--data", data, "--out", out)
    assert "target-fixed" in premises("epsilon", file, "--rule", "privacy-constrained", "-e", "1.7")
    code, printed = pdp("verify", file, "-e", "1.7")
    assert code in (0, 1)
    assert "the target epsilon was chosen without looking at the data" in printed


def test_noise_from_the_data_is_passed_on_by_hand():
    """calibrate_noise_for_size(...).profile, declared again without its premise."""
    statistics = {"z": np.linspace(0, 4, 40)}
    template = declare("sum", "w*z/b", record={"z": [0, 4]}, parameters={"b": "positive"})
    found = calibrate_noise_for_size(template, 2, 10, lambda: [statistics])
    assert "noise-from-data" in ids(found.derived.guarantee)
    again = derive_epsilon(found.profile, rule="uniform", constants={"rate": "1/4"})
    assert "fixed-in-advance" in ids(again.guarantee)


@pytest.mark.thorough
def test_a_person_has_several_rows(premises, pdp, profile, table, tmp_path):
    """One row a visit: the epsilon that is printed is for a visit."""
    said = "nobody has more than one record: epsilon is for one record, and k records of one person cost up to k times as much"
    file = profile()
    assert "one-record-each" in premises("epsilon", file, "--q", "1/2")
    assert said in pdp("epsilon", file, "--q", "1/2")[1]
    assert said in pdp("sample", file, "-e", 3, "--data", table(z=[1.0, 2.0]), "--out", tmp_path / "s.csv")[1]
    assert "one-record-each" in ids(DPLloyd(3, epsilon=1, radius=1).fit(POINTS).guarantee_)
    code, _ = pdp("report", file, "-e", 3, "--out", tmp_path / "r.html")
    assert code in (0, 1, 3)
    assert "nobody has more than one record" in (tmp_path / "r.html").read_text()


def test_a_guarantee_for_users_is_added_to_one_for_rows():
    """Two epsilons of different units have no sum."""
    users = declare_directions("a release about users", 1, 1, source="", unit=Unit.USER)
    rows = declare_directions("a release about rows", 1, 1, source="")
    with pytest.raises(InvalidArgument, match="different units"):
        compose(users, rows)


def test_a_guarantee_for_users_is_exported_as_one_for_rows():
    """A measurement of OpenDP is about rows."""
    opendp = pytest.importorskip("accountant.interop.opendp", exc_type=ImportError)
    users = declare_directions("a release about users", 1, 1, source="", unit=Unit.USER)
    with pytest.raises(InvalidArgument, match="one user"):
        opendp.plan_measurement(users, "math:sqrt", accept_hypotheses=True)


def test_a_constant_of_the_rule_is_a_mean_of_the_data(pdp, profile):
    """q = m z / (n xbar) with the mean of the private data as xbar."""
    rest = ""
    code, printed = pdp("epsilon", profile(z="[1, 4]", rest=rest), "--q", "m*z/(n*xbar)", "--constant", "m=10,n=100,xbar=2.1173")
    assert code == 0
    assert "m, n, xbar are public" in printed
