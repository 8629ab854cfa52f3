"""Audits that prove nothing, functions that look at everybody, moments that tell, and outputs that show the data."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from accountant.applications.heavyhitters import HeavyHitterMonitor, PublicClock
from accountant.applications.submodular.matroids import PerUser, PrivateMatroidGreedy, UniformMatroid
from tests.misuse.reading import ids

LAPLACE = "profiles.mechanisms.laplace_sum:default"
SECRET = "3.141592"

FITTED = """
import numpy as np

class Fitted:
    '''Fits once, and answers from memory.'''

    def __init__(self):
        self.answer = None

    def __call__(self, dataset, rng, size):
        if self.answer is None:
            self.answer = float(np.sum(dataset))
        return self.answer + rng.laplace(scale=0.01, size=size)

mechanism = Fitted()
"""

SWALLOWED = """
import numpy as np

def broken(dataset, rng, size):
    return np.sum(dataset) + rng.laplace(scale=0.1, size=size)

def test_it(pdp):
    try:
        pdp.assert_epsilon(broken, 1, [1.0, 2.0], [1.0])
    except AssertionError:
        pass
"""


def test_an_audit_compares_a_data_set_with_itself(pdp):
    """--dataset and --neighbor are the same file, and the claim is "consistent"."""
    for first, second in (("[1, 2]", "[1, 2]"), ("[1, 2]", "[2, 1]"), ("[1, 2, 3]", "[1]"), ("[1]", "[2]")):
        code, printed = pdp("audit", LAPLACE, "--dataset", first, "--neighbor", second, "--claimed", "1", "--samples", 2000)
        assert code == 3
        assert "not neighbors" in printed
        assert "consistent" not in printed


def test_an_audited_mechanism_answers_from_memory(pdp, tmp_path):
    """A model that is fitted on the first data set that it sees gives the same answers on the other."""
    path = tmp_path / "fitted.py"
    path.write_text(FITTED)
    code, printed = pdp("audit", f"{path}:mechanism", "--dataset", "[1, 2]", "--neighbor", "[1]", "--claimed", "0.1", "--samples", 2000)
    assert code == 2
    assert "remembers earlier calls" in printed


def test_the_claim_is_about_another_record(pdp):
    """--at z=3 beside a record whose statistic is 0.5."""
    words = ("audit", LAPLACE, "--dataset", "[0.5, 1]", "--neighbor", "[1]", "--samples", 2000)
    code, printed = pdp(*words, "--profile", LAPLACE, "--at", "z=3")
    assert code == 2
    assert "the claim would be about another record" in printed


@pytest.mark.thorough
def test_a_refuted_claim_is_caught_in_the_test(tmp_path):
    """try: pdp.assert_satisfies(...) except AssertionError: pass."""
    assert "a refuted claim was caught in the test" in _run_in_pytest(tmp_path, SWALLOWED)


def _run_in_pytest(folder, text):
    """Return what a run that fails prints."""
    path = folder / "test_swallowed.py"
    path.write_text(text)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(folder), str(path)]
    found = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    assert found.returncode == 1, found.stdout + found.stderr
    return " ".join(found.stdout.split())


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without forks")
def test_a_claim_is_asserted_in_a_forked_process(tmp_path):
    """os.fork(), or a pool of workers: what is refuted there fails nothing here, and the run was green."""
    forked = "import os\n" + SWALLOWED.replace("    try:\n", "    if os.fork():\n        os.wait()\n        return\n    try:\n")
    printed = _run_in_pytest(tmp_path, forked + "    os._exit(0)\n")
    assert "asserted in a process that the test had forked" in printed


def test_a_matrix_product_judges_users_together():
    """PerUser(m, lambda data, sets: step(data @ sets.T)): the last bit of a user's value depends on the other users."""
    matroid = UniformMatroid(4, 2)
    alone = PrivateMatroidGreedy(matroid=matroid, epsilon=1, objective=PerUser(4, _step), draws=8)
    assert {"recordwise", "own-entry"} <= ids(alone.guarantee)
    together = PrivateMatroidGreedy(matroid=matroid, epsilon=1, objective=PerUser(4, _step, together=True), draws=8)
    assert "judged-together" in ids(together.guarantee) - ids(alone.guarantee)


def _step(data, sets):
    return (data @ sets.T >= 0.5).astype(float)


def test_a_report_appears_when_a_record_comes():
    """for report in monitor.watch(stream): send(report)."""
    monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=8, domain=["a", "b"], times=range(2))
    assert "unseen-moment" in ids(monitor.guarantee)
    assert "unseen-moment" in ids(monitor.start().guarantee)
    assert "unseen-moment" not in ids(monitor.run([]).guarantee)  # all reports together
    moments = [0.0]
    clock = PublicClock(seconds=1, work=1, start=0, now=lambda: moments[-1], sleep=lambda wait: moments.append(moments[-1] + wait))
    assert len(list(monitor.watch([], clock=clock))) == 2


@pytest.mark.thorough
def test_an_audit_prints_the_record(pdp, tmp_path):
    """The print, the JSON or the report of an audit of real data."""
    words = ("audit", LAPLACE, "--dataset", f"[{SECRET}, 1]", "--neighbor", "[1]", "--claimed", "1", "--samples", 2000, "--seed", 1)
    code, printed = pdp(*words, "--json")
    assert code in (0, 1)
    found = json.loads(printed)
    assert SECRET in json.dumps(found.pop("private"))
    assert SECRET not in json.dumps(found)
    _, printed = pdp(*words)
    assert SECRET not in printed.partition("For your eyes only")[0]
    out = tmp_path / "report.html"  # nor what the profile claims for the record, from which it can be computed
    words = ("--dataset", f"[{SECRET}, 1]", "--neighbor", "[1]", "--audit-samples", 500, "--seed", 1, "--out", out)
    assert pdp("report", LAPLACE, "-e", 8, *words)[0] in (0, 1)
    assert SECRET not in out.read_text(encoding="utf-8")


def test_a_refusal_quotes_a_name(pdp, profile, tmp_path):
    """'Alice Smith' was found in row 1."""
    path = tmp_path / "people.csv"
    path.write_text("z\n1\nAlice Smith\n2\n")
    words = ("weights", profile(), "-e", 2, "--data", path, "--out", tmp_path / "w.csv")
    code, printed = pdp(*words)
    assert code == 2
    assert "row 1" in printed
    assert "Alice" not in printed
    assert "Alice" in pdp(*words, "--show-values")[1]


def test_the_rows_of_a_charge_can_be_read_by_everybody(pdp, profile, tmp_path, monkeypatch):
    """pdp ledger charge without --active: the rows stand beside the ledger, where the umask let everybody read them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("id,z\nada,1\nben,2\n")
    words = ("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "4", "--anchor", "a", "--mode", "individual")
    assert pdp(*words)[0] == 0
    old = os.umask(0o022)
    try:
        code, printed = pdp("ledger", "charge", "l", profile(), "--name", "one", "--partial")
    finally:
        os.umask(old)
    assert code == 0
    assert "for your eyes only" in printed
    assert stat.S_IMODE((tmp_path / "l.one.active.csv").stat().st_mode) == 0o600


def test_figures_of_the_data_are_logged(pdp, profile, table, tmp_path):
    """pdp weights --json into a log: the number of rows, the extreme weights."""
    code, printed = pdp("weights", profile(), "-e", 2, "--data", table(z=np.linspace(0, 4, 37)), "--out", tmp_path / "w.csv", "--json")
    assert code == 0
    found = json.loads(printed)
    assert found.pop("private")["records"] == 37
    assert not {"records", "weights", "expected_sample_size"} & set(found)
