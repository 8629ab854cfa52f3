"""A δ that is not below 1/n: one line on standard error, or under ``warnings`` in JSON, in every command that takes one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from accountant import DPKMeans, DPLloyd, DPSGDClassifier
from accountant.applications.kmeans import UtilityWarning
from accountant.cli.main import COMMANDS
from accountant.cli.options import to_callback
from accountant.deltas import LARGE, DeltaWarning, warn_of_delta
from accountant.ledger import Ledger

EXAMPLES = Path(__file__).parents[2] / "examples"
GAUSSIAN = EXAMPLES / "gaussian.toml"
SAID = "publishing each record as it is with this probability has epsilon = 0 at it"
#: Every command that takes a δ, but for audits, with a place for it.
CASES = {
    "account": ("account", "--gaussian", "1", "--delta"),
    "account, least noise": ("account", "--count", "2", "--calibrate", "noise", "--epsilon", "1", "--delta"),
    "epsilon": ("epsilon", GAUSSIAN, "--q", "1/2", "--delta"),
    "weight": ("weight", GAUSSIAN, "-e", "1", "--at", "z=1", "--target-delta"),
    "weights": ("weights", GAUSSIAN, "-e", "1", "--data", "points.csv", "-s", "z=x", "--out", "w.csv", "--target-delta"),
    "sample": ("sample", GAUSSIAN, "--q", "1/2", "--data", "points.csv", "-s", "z=x", "--out", "s.csv", "--delta"),
    "sample, by weights": ("sample", GAUSSIAN, "-e", "1", "--data", "points.csv", "-s", "z=x", "--out", "s.csv", "--target-delta"),
    "kmeans": ("kmeans", "points.csv", "-k", "2", "-e", "1", "--radius", "4", "--out", "c.csv", "--delta"),
    "release": ("release", "points.csv", "--count", "--notion", "gaussian", "--epsilon", "1", "--delta"),
    "ledger": ("ledger", "report", "raised", "--delta"),
    "audit": ("audit", "profiles.mechanisms.laplace_sum:default", "--dataset", "[1, 2]", "--neighbor", "[1]", "--samples", "2000",
              "--claimed", "9", "--delta"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,z\nada,1\n")
    with Ledger.create("raised", "people.csv", budget="1/8", notion="zcdp", anchor="raised.anchor") as ledger:
        ledger.raise_budget("1/4")
    np.savetxt("points.csv", np.random.default_rng(0).uniform(0, 1, (300, 2)), delimiter=",", header="x,y", comments="")


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", CASES)
def test_a_large_delta_is_told_by_every_command(pdp, name):
    def pdp_anew(*words):
        Path("s.csv").unlink(missing_ok=True)  # a sample that is there is not written over
        return pdp(*words)

    small = pdp_anew(*CASES[name], "1e-7")
    assert small.code in (0, 1), small.err
    assert SAID not in small.out + small.err
    large = pdp_anew(*CASES[name], "0.5")
    assert large.code == small.code, large.err
    assert [line for line in large.err.splitlines() if SAID in line] == [
        line for line in large.err.splitlines() if line.startswith("pdp: warning: delta = 0.5 is large")
    ]
    assert large.err.count("pdp: warning:") == 1
    found = pdp_anew(*CASES[name], "0.5", "--json")
    assert "warning" not in found.err
    assert any(SAID in text and "delta = 0.5 is large" in text for text in json.loads(found.out)["warnings"])
    assert not any(SAID in text for text in json.loads(pdp_anew(*CASES[name], "1e-7", "--json").out)["warnings"])


def test_every_command_with_a_delta_is_a_case():
    from importlib import import_module  # noqa: PLC0415

    taking = set()
    for name in COMMANDS:
        module = import_module(f"accountant.cli.{name}")
        declared = [verb.options for verb in module.VERBS.values()] if hasattr(module, "VERBS") else [module.Options]
        fields = [field for options in declared for field in to_callback(options, len).__signature__.parameters]  # type: ignore[attr-defined]
        taking |= {name} if any("delta" in field for field in fields) else set()
    assert taking == {case.split(",")[0] for case in CASES}


def test_a_delta_at_a_thousandth_is_large_whatever_the_data():
    assert float(LARGE) == 0.001
    assert not warn_of_delta("0.000999")
    assert len(warn_of_delta("0.001")) == 1
    assert not warn_of_delta("1e-5", 99_999)
    assert "not below 1/n for about 100000 records" in warn_of_delta("1e-5", 100_000)[0]
    assert [warn_of_delta(text) for text in ("1", "0", "-1", "nan", "half", None)] == [()] * 6


@pytest.mark.thorough
def test_a_delta_against_the_number_of_records_is_told_where_that_is_released_or_marked(pdp):
    """The number of records is private, but in what ``kmeans`` released."""
    found = pdp(*CASES["weights"], "0.004", "--json").json()
    assert any("for about 300 records" in text for text in found["private"]["warnings"])
    assert not any("records:" in text for text in found["warnings"])
    shown = " ".join(pdp(*CASES["sample"], "0.004").out.split())
    assert "for your eyes only warning: delta = 0.004 is not below 1/n for about 300 records" in shown
    words = [word if word != "1" else "9" for word in CASES["kmeans"]]
    told = pdp(*words, "0.0099", "--seed", "1", "--json").json()
    assert any("not below 1/n for about" in text for text in told["warnings"])


def test_estimators_warn():
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, size=(300, 2))
    with pytest.warns(UtilityWarning, match="not below 1/n for about"):
        DPKMeans(2, epsilon=9, radius=1, delta="0.01", random_state=0).fit(rows)
    with pytest.warns(DeltaWarning, match=r"delta = 0\.01 is large"):
        DPLloyd(2, epsilon=1, radius=1, noise="gaussian", delta="0.01", iterations=1).fit(rows)
    with pytest.warns(DeltaWarning, match="for about 300 records"):
        DPSGDClassifier(noise=2, delta="0.01", size=300, rate="1/5", steps=1).fit(rows, rows[:, 0] > 0)
