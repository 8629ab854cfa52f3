"""``--plot FILE``: the answer is drawn, whole or not at all; what cannot be drawn is refused before any work is done."""

from __future__ import annotations

import shutil
import stat
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from accountant.cli.main import invoke
from tests.documentation.pages import ROOT

EPSILON = ("epsilon", "lloyd.toml", "--q", "1/10 + z/50")
WEIGHT = ("weight", "lloyd.toml", "-e", "20", "--at", "z=1.5")
WEIGHTS = ("weights", "lloyd.toml", "-e", "20", "--data", "points.csv", "--statistic", "z=l2(x,y)", "--out", "weights.csv")
RELEASE = ("release", "people.csv", "--count", "--histogram", "id=ada,ben", "-e", "1", "--seed", "1")
KMEANS = ("kmeans", "petals.csv", "-k", "2", "-e", "4", "--bounds", "length=0:8", "--bounds", "width=0:4", "--seed", "1", "--out", "c.csv")
VERIFY = ("verify", "lloyd.toml", "-e", "20", "-c", "assumption-8", "-c", "proposition-16")
CALIBRATE = ("calibrate", "lloyd.toml", "-e", "3", "--parameter", "beta_sum", "--rate", "0.1", "--rule", "uniform")
SAMPLE = ("sample", "lloyd.toml", "-e", "5", "--data", "points.csv", "--statistic", "z=l2(x,y)", "--seed", "1", "--out", "sample.csv")
CLUSTER = (
    "cluster",
    "petals.csv",
    "--points",
    "grid.csv",
    "--columns",
    "length,width",
    "-k",
    "2",
    "-e",
    "1",
    "--n-bound",
    "99",
    "--seed",
    "1",
)
MONITOR = ("monitor", "lines.csv", "--domain", "8", "--times", "0:8", "-k", "2", "-e", "1", "--threshold", "40", "--seed", "1")
REPORT = ("ledger", "report", "people.ledger")
OPEN = ("ledger", "init", "people.ledger", "--data", "people.csv", "--key", "id", "--budget", "4", "--records", "1", "--anchor", "a")
_ALL = (EPSILON, WEIGHT, WEIGHTS, RELEASE, KMEANS, REPORT, VERIFY, CALIBRATE, SAMPLE, CLUSTER, MONITOR)
COMMANDS = {words[1] if words[0] == "ledger" else words[0]: words for words in _ALL}
#: What is refuted by the answer of a command that is drawn all the same.
CODES = {"verify": 1}
WORDS = {
    "epsilon": "the certified bound for all records is",
    "weight": "reaches the target 20 at the weight",
    "weights": "Weights against z, for the target ε* = 20",
    "release": "95 % intervals of their noise: count",
    "kmeans": "2 released centres in length, width",
    "report": "charged at worst",
    "verify": "proved: assumption-8; refuted: proposition-16",
    "calibrate": "falls with the noise; for 3 nats, uniform: beta_sum = ",
    "sample": "against z: the probability goes from ",
    "cluster": "2 released centres among 78 candidates in length, width",
    "monitor": "3 at 2 of 8 time steps",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = ("points.csv", "people.csv", "petals.csv", "grid.csv", "lines.csv", "roads.csv", "travellers.csv")
    for name in ("lloyd.toml", "gaussian.toml", *data):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_shows_the_answer_and_says_in_words_what_it_is(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "report":
        assert invoke(OPEN) == 0
        assert invoke((*RELEASE, "--ledger", "people.ledger", "--name", "first")) == 0
    assert invoke((*COMMANDS[name], "--plot", "answer.svg")) == CODES.get(name, 0)
    assert "picture drawn in answer.svg" in capsys.readouterr().out
    title = ET.parse(folder / "answer.svg").getroot().findtext(".//{http://purl.org/dc/elements/1.1/}title")
    assert title is not None
    assert WORDS[name] in title
    if name == "epsilon":
        first = (folder / "answer.svg").read_bytes()
        assert invoke((*COMMANDS[name], "--plot", "again.PNG")) == 0
        assert (folder / "again.PNG").read_bytes().startswith(b"\x89PNG")
        assert b"<dc:date>" not in first


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(("file", "said"), [("answer.gif", "written as .png, .svg or .pdf"), ("no/answer.svg", "no/answer.svg")])
def test_what_cannot_be_written_is_refused_before_any_work(
    name: str, file: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(folder.iterdir())
    assert invoke((*COMMANDS[name], "--plot", file)) == 2
    told = capsys.readouterr()
    assert said in " ".join(told.err.split())
    assert told.out == ""
    assert set(folder.iterdir()) == before


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["weights", "kmeans", "epsilon"])
def test_one_file_for_two_outputs_and_inputs_are_refused(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = {"weights": "--out", "kmeans": "--out", "epsilon": "--certificate"}[name]
    assert invoke((*COMMANDS[name], other, "both.svg", "--plot", "./both.svg")) == 2
    (folder / "link.svg").symlink_to(folder / ("lloyd.toml" if name != "kmeans" else "petals.csv"))
    assert invoke((*COMMANDS[name], "--plot", "link.svg")) == 2
    assert not (folder / "both.svg").exists()
    assert "Traceback" not in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert invoke((*RELEASE, "--out", "answers.json", "--plot", "answer.svg")) == 2
    assert "pdp-accountant[plots]" in capsys.readouterr().err
    assert not (folder / "answers.json").exists()


@pytest.mark.thorough
def test_what_has_no_picture_is_refused_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = ("--plot", "answer.svg")
    gaussian = ("gaussian.toml", "-e", "1", "--target-delta", "1e-5")
    data = ("--data", "points.csv", "--statistic", "z=l2", "--out", "w.csv")
    (folder / "count.toml").write_text('name = "count"\nepsilon = "w/3"\n')
    (folder / "free.toml").write_text('name = "sum"\nepsilon = "w*z/b"\n[record]\nz = [0, 1]\n[parameters]\nb = "positive"\n')
    for words, said in (
        (("epsilon", "gaussian.toml", "--q", "1/2", "--delta", "1e-5"), "an epsilon at a delta has no picture"),
        (("weight", *gaussian, "--at", "z=1"), "a weight under Gaussian noise has no picture"),
        (("weights", *gaussian, *data), "a table of weights under Gaussian noise has no picture"),
        (("weights", "lloyd.toml", "-e", "20", "--private-statistics", "0.5", *data), "--plot was given, but it does not go with"),
        (("release", "--count", "-e", "1", "--plan"), "--plan releases nothing"),
        (("epsilon", "count.toml", "--q", "1/2"), "needs a statistic with a range"),
        (("verify", "gaussian.toml"), "a verification in another notion than the pure one has no picture"),
        (("verify", "free.toml", "-e", "2"), "a picture needs numbers for all parameters, but b has none"),
        (("sample", "count.toml", "--q", "1/2", "--data", "points.csv", "--out", "w.csv"), "needs a statistic with a range"),
        (
            ("cluster", "travellers.csv", "--graph", "roads.csv", "--columns", "place", "-k", "2", "-e", "1", "--n-bound", "9"),
            "a choice among places without coordinates has no picture",
        ),
    ):
        assert invoke((*words, *plot)) == 2, words
        assert said in " ".join(capsys.readouterr().err.split()), words
        assert not (folder / "answer.svg").exists()


@pytest.mark.thorough
def test_a_target_that_comes_from_the_data_is_drawn_for_its_owner_alone(folder: Path) -> None:
    weights = ("weights", "lloyd.toml", "--target-size", "3", *WEIGHTS[4:])
    sample = ("sample", "lloyd.toml", "--target-size", "3", *SAMPLE[4:], "--force")
    for words, mode in ((WEIGHTS, None), (weights, 0o600), (SAMPLE, None), (sample, 0o600)):
        (folder / "answer.svg").unlink(missing_ok=True)
        assert invoke((*words, "--plot", "answer.svg")) == 0
        if mode is not None:
            assert stat.S_IMODE((folder / "answer.svg").stat().st_mode) == mode
        else:
            assert stat.S_IMODE((folder / "answer.svg").stat().st_mode) & 0o044 == 0o044


@pytest.mark.thorough
def test_noise_that_is_made_of_the_data_is_not_drawn_and_that_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("calibrate", "lloyd.toml", "-e", "3", "--parameter", "beta_sum", "--target-size", "3", "--rule", "privacy-constrained")
    assert invoke((*words, "--data", "points.csv", "--statistic", "z=l2(x,y)", "--plot", "answer.svg")) == 0
    assert "no picture is drawn" in capsys.readouterr().out
    assert not (folder / "answer.svg").exists()


def test_a_sample_that_could_not_be_drawn_is_refused_before_it_is_made(folder: Path) -> None:
    assert invoke((*SAMPLE, "--plot", "sample.csv")) == 2
    assert invoke((*SAMPLE, "--plot", "sample.csv.certificate.json")) == 2
    assert not (folder / "sample.csv").exists()
