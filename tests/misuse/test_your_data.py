"""Misuse of the data: constants, statistics, targets and units that are not what the guarantee takes them for."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from accountant import DPKMeans, DPLloyd, derive_epsilon
from accountant.calibration import calibrate_noise_for_size
from accountant.guarantees import Unit, render
from accountant.onesided import compose, declare_directions
from profiles import InvalidArgument, declare
from tests.ledger.test_analyses import open_ledger
from tests.misuse.reading import ids

POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(300, 2))


def test_the_range_and_the_noise_are_the_largest_value_of_the_data(pdp, profile, table):
    """z = [0, max] and b = max, read off the very file that is sampled."""
    z = np.round(np.random.default_rng(1).gamma(2, size=50) * 8) / 8
    file = profile(z=f"[0, {float(z.max())!r}]", b=repr(float(z.max())))
    words = ("sample", file, "-e", 3, "--data", table(z=z), "--out", table(z=z)[:-4] + "-sample.csv")
    code, printed = pdp(*words)
    assert code == 0
    assert "range, noise and all parameters were fixed without the data" in printed
    code, printed = pdp(*words, "--all", "--force")
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


ABOUT_DATA = {"fixed-in-advance", "one-record-each", "record-statistics"}


@pytest.mark.parametrize("changes", [{}, {"delta": "1e-6"}, {"sample": "uniform", "sample_size": 50}, {"public": ("n", "mean", "rms")}])
def test_the_data_are_scaled_and_the_radius_is_their_largest_norm(changes: dict[str, object]) -> None:
    """DPKMeans(radius=norms.max()) on rows that were scaled by hand, four a person: nothing in the run makes any of this right."""
    scaled = np.repeat((POINTS - POINTS.mean(axis=0)) / POINTS.std(axis=0), 4, axis=0)
    model = DPKMeans(2, epsilon=1, radius=float(np.linalg.norm(scaled, axis=1).max()), method="lloyd", **changes).fit(scaled)
    assert set(ids(model.guarantee_)) >= ABOUT_DATA
    assert not ABOUT_DATA & {item.hypothesis.id for item in model.guarantee_.discharged}
    assert not model.guarantee_.is_unconditional


def test_such_a_file_is_clustered_on_the_command_line(pdp, assumptions, table, tmp_path) -> None:
    data, out, page = table(x=POINTS[:, 0], y=POINTS[:, 1]), tmp_path / "c.csv", tmp_path / "r.html"
    words = ("kmeans", data, "-k", 2, "-e", 1, "-r", 1, "--method", "lloyd")
    assert set(assumptions(*words, "--out", out)) >= ABOUT_DATA
    code, printed = pdp(*words, "--out", out, "--certificate", tmp_path / "c.json", "--report", page)
    assert code == 0
    assert "each row that is given: computed from the record" in printed
    assert "fixed without looking at the data" in page.read_text()
    assert "physics alone" not in page.read_text()
    code, printed = pdp("check", tmp_path / "c.json")
    assert code == 0
    assert "nobody has more than one record" in printed


def test_the_charge_of_such_a_fit_leaves_it_open(tmp_path) -> None:
    """With a ledger each unit is one account, but what the rows and the radius were made of is not seen."""
    names = [f"p{number}" for number in range(300)]
    with open_ledger(tmp_path, names) as ledger:
        model = DPKMeans(2, epsilon=1, radius=1, method="lloyd").fit(POINTS, ledger=ledger.analysis("fit", names))
    assert set(ids(model.guarantee_)) >= {"fixed-in-advance", "record-statistics"}


def test_the_statistic_is_a_rank(pdp, profile, table):
    """A column that was computed from all records: a rank, a quantile, a centred norm."""
    rank = np.arange(20) / 20
    file, data = profile(z="[0, 1]"), table(rank=rank)
    for command, out in (("sample", ".s.csv"), ("weights", ".w.csv")):
        code, printed = pdp(command, file, "-e", 3, "--data", data, "-s", "z=rank", "--out", data + out)
        assert code == 0
        assert "the statistic z (the column 'rank'): computed from the record" in printed


@pytest.mark.thorough
def test_a_target_from_the_data_is_passed_on_by_hand(pdp, assumptions, profile, table, tmp_path):
    """--target-size, then the target that it printed as -e, so that the assumption would be gone."""
    file, data, out = profile(), table(z=np.linspace(0, 4, 30)), tmp_path / "s.csv"
    assert "target-from-data" in assumptions("sample", file, "--target-size", 5, "--data", data, "--out", out)
    assert "target-fixed" in assumptions("sample", file, "-e", "1.7", "--data", data, "--out", out, "--force")
    assert "target-fixed" in assumptions("epsilon", file, "--rule", "privacy-constrained", "-e", "1.7")
    code, printed = pdp("verify", file, "-e", "1.7")
    assert code in (0, 1)
    assert "the target epsilon was chosen without looking at the data" in printed


def test_noise_from_the_data_is_passed_on_by_hand():
    """calibrate_noise_for_size(...).profile, declared again without its assumption."""
    statistics = {"z": np.linspace(0, 4, 40)}
    template = declare("sum", "w*z/b", record={"z": [0, 4]}, parameters={"b": "positive"})
    found = calibrate_noise_for_size(template, 2, 10, lambda: [statistics])
    assert "noise-from-data" in ids(found.derived.guarantee)
    again = derive_epsilon(found.profile, rule="uniform", constants={"rate": "1/4"})
    assert "fixed-in-advance" in ids(again.guarantee)


@pytest.mark.thorough
def test_a_person_has_several_rows(assumptions, pdp, profile, table, tmp_path):
    """One row a visit: the epsilon that is printed is for a visit."""
    said = "nobody has more than one record: epsilon is for one record, and k records of one person cost up to k times as much"
    file = profile()
    assert "one-record-each" in assumptions("epsilon", file, "--q", "1/2")
    assert "nobody has more than one record; k records cost up to k times" in pdp("epsilon", file, "--q", "1/2")[1]
    assert said in pdp("epsilon", file, "--q", "1/2", "--all")[1]
    assert said in pdp("sample", file, "-e", 3, "--data", table(z=[1.0, 2.0]), "--out", tmp_path / "s.csv", "--all")[1]
    assert "one-record-each" in ids(DPLloyd(3, epsilon=1, radius=1).fit(POINTS).guarantee_)
    code, _ = pdp("report", file, "-e", 3, "--out", tmp_path / "r.html")
    assert code in (0, 1, 3)
    assert "nobody has more than one record" in (tmp_path / "r.html").read_text()


def test_the_candidates_are_the_records(pdp, table, tmp_path):
    """pdp cluster D.csv --points D.csv, and its kin: the answer is one of the records."""
    data = Path(table(x=[1.0, 2.0, 7.0], y=[1.0, 2.0, 7.0]))
    copy, link, hard = (tmp_path / f"{name}.csv" for name in ("copy", "link", "hard"))
    copy.write_bytes(data.read_bytes())
    link.symlink_to(data)
    os.link(data, hard)
    rest = ("-k", "2", "-e", "1")
    for file in (data, Path(f"{data.parent}/../{data.parent.name}/{data.name}"), copy, link, hard):
        for words in (
            ("cluster", data, "--points", file, "--columns", "x,y", *rest),
            ("cluster", data, "--distances", file, "--columns", "x", *rest),
            ("cluster", data, "--graph", file, "--columns", "x", *rest),
            ("select", data, "--user", "x", "--item", "y", "--candidates", file, *rest),
            ("cover", data, "--element", "x", "--set", "y", "--sets", file, "-e", "1"),
            ("monitor", data, "--domain", file, "--times", "0:3", "--threshold", "1", *rest),
            ("kmeans", data, "--center", file, "--radius", "9", "--out", tmp_path / "c.csv", *rest),
        ):
            code, printed = pdp(*words)
            assert code == 2, (words, printed)
            assert "must be public, but" in printed, (words, printed)
    public = tmp_path / "public.csv"
    public.write_text("x,y\n0,0\n5,5\n")
    code, printed = pdp("cluster", copy, "--points", public, "--columns", "x,y", "--rounds", "2", *rest)
    assert code == 0
    assert "the candidates, their distances" in printed  # made of the data in a way that is not seen? An open hypothesis


def test_one_person_has_two_spellings_of_an_id(pdp, tmp_path):
    """ "7.0" beside "7", or "07": a program read the ids as numbers, and wrote them again."""
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("id,item\n7,tea\n12,jam\n")
    second.write_text("id,item\n7.0,tea\n12.0,jam\n")
    ledger = ("ledger", "init", tmp_path / "l", "--key", "id", "--budget", "2", "--anchor", tmp_path / "a")
    assert pdp(*ledger, "--data", first)[0] == 0
    profile = tmp_path / "count.toml"
    profile.write_text('name = "count"\nepsilon = "w/2"\n')
    assert pdp("ledger", "charge", tmp_path / "l", profile, "--name", "one")[0] == 0
    code, printed = pdp("ledger", "charge", tmp_path / "l", profile, "--name", "two", "--data", second)
    assert code == 2
    assert "one person would be two; write each id in one way" in printed
    both = tmp_path / "both.csv"
    both.write_text("id,item\n7,tea\n07,jam\n")
    items = tmp_path / "items.csv"
    items.write_text("item\ntea\njam\n")
    code, printed = pdp("select", both, "--user", "id", "--item", "item", "--candidates", items, "-k", "1", "-e", "1")
    assert code == 2
    assert "one person would be two" in printed


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
