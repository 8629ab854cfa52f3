"""What is refused with what to do: a sample in place of another one, a class that is called, a function that no mechanism is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from accountant.ledger import Ledger
from profiles import InvalidArgument

ROOT = Path(__file__).parents[2]
SAMPLE = ("sample", "examples/lloyd.toml", "-e", "1.1", "--data", "examples/points.csv", "-s", "z=l2", "--out", "s.csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_sample_is_not_written_over_without_force(pdp, folder):
    assert pdp(*SAMPLE).code == 0
    before = {path: path.read_bytes() for path in map(Path, ("s.csv", "s.csv.certificate.json"))}
    refused = pdp(*SAMPLE)
    assert refused.refused()
    for said in ("drawn again", "no guarantee", "--force"):
        assert said in refused.err
    assert {path: path.read_bytes() for path in before} == before
    forced = pdp(*SAMPLE, "--force")
    assert forced.code == 0
    assert "drawn again because of the first has no guarantee" in forced.err
    told = pdp(*SAMPLE, "--force", "--json").json()
    assert any("no guarantee" in text for text in told["warnings"])
    assert "no guarantee" in " ".join(pdp("sample", "--help").out.split())
    Path("s.csv.certificate.json").unlink()  # a file that is no sample of ours is an output like any other
    assert pdp(*SAMPLE).code == 0
    assert pdp(*SAMPLE[:-1], "t.csv", "--certificate", "s.csv.certificate.json").code == 0


def test_a_sample_that_is_there_is_not_charged_again(pdp, folder):
    Path("people.csv").write_text("id,z\nada,0.5\nben,0.25\n")
    Path("sum.toml").write_text('name = "sum"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
    assert pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "2", "--anchor", "a").code == 0
    words = ("sample", "sum.toml", "--q", "1/2", "--data", "people.csv", "-s", "z=z", "--out", "s.csv", "--ledger", "l", "--name")
    assert pdp(*words, "one").code == 0
    assert pdp(*words, "two").refused()
    assert [item["name"] for item in pdp("ledger", "report", "l", "--json").json()["entries"] if item["kind"] == "charge"] == ["one"]


@pytest.mark.parametrize("given", [("x",), (), ("x", None), (3, None)])
def test_a_ledger_that_is_called_says_how_ledgers_are_opened(given):
    with pytest.raises((InvalidArgument, TypeError)) as refused:
        Ledger(*given)
    if given:
        assert "Ledger.open(path)" in str(refused.value)
        assert "Ledger.create(path, data" in str(refused.value)


def test_a_budget_of_rho_is_in_no_nats(pdp, folder):
    Path("people.csv").write_text("id,z\nada,0.5\nben,0.25\n")
    Path("noisy.toml").write_text('name = "noisy"\nnotion = "gaussian"\nmu = "w*z"\n[record]\nz = [0, 1]\n')
    words = ("--data", "people.csv", "--key", "id", "--anchor", "a", "--notion", "zcdp", "--budget", "2")
    said = [pdp("ledger", "init", "l", *words)]
    charge = ("ledger", "charge", "l", "noisy.toml", "--statistic", "z=z", "--name")
    said += [pdp(*charge, name) for name in ("a", "b")] + [
        pdp(*charge, "c", "--plan"),
        pdp("ledger", "quota", "l", "--analyst", "ada", "--most", "1"),
    ]
    said += [pdp("ledger", "report", "l", "--html", "r.html"), pdp("ledger", "report", "l", "--unit", "ada"), pdp("ledger", "root", "l")]
    said += [pdp("ledger", "statement", "l", "--unit", "ada", "--html", "s.html", "--out", "s.json")]
    said += [pdp("ledger", "raise", "l", "--budget", "1"), *(pdp(*charge, name) for name in "defgh")]
    text = "".join(result.out + result.err for result in said) + Path("r.html").read_text() + Path("s.html").read_text()
    assert "rho 0.5" in text
    assert " nats" not in text
