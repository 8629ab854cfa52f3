"""What `make run` does: the example on real data prints a guarantee that people can read, and certificates that are accepted."""

from __future__ import annotations

import inspect
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.pyplot import imread

from accountant import plan_sample
from accountant.samples.checking import check_certificate, read_certificate
from tests.documentation.pages import DOCS, ROOT, blocks_of


@pytest.mark.thorough
def test_the_example_runs_and_prints_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["digits_kmeans.py", "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(ROOT / "examples" / "digits_kmeans.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert stopped.value.code in (0, None)
    assert "\\n" not in printed
    (shown,) = (block.text for block in blocks_of(DOCS / "getting-started.md") if block.text.startswith("certified epsilon"))
    assert shown.strip() in "\n".join(line.rstrip() for line in printed.splitlines())
    assert printed.count(": accepted") == 4
    last = " ".join(printed.partition("seconds\n")[2].split())
    assert last == (
        "accepted by the proof checker (kernel): conditions.json, epsilon-uniform.json, epsilon-coreset-l2.json, "
        f"sample.certificate.json; epsilon <= 4.2 for {tmp_path / 'out' / 'centres.csv'}"
    )
    public, _, rest = printed.partition("\nprivate, for your eyes only")
    private, _, released = rest.partition("\nreleased: ")
    for text in (public, released):
        assert "1797" not in text  # the size of the collection, and all else that is about the records, stands between the two lines
    assert "n = 1797; expected sample sizes: 798.7 (uniform)" in " ".join(private.split())
    explained = load_example()
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {*explained["PUBLIC_FILES"], *explained["PRIVATE_FILES"]}
    for name in written:
        assert f" {name} " in released, "each file is explained"


@pytest.mark.thorough
def test_the_centres_are_clusters_and_a_picture(tmp_path: Path) -> None:
    """The job is k-means: the released centres are nearer to the images than the figures, in every run, and one can look at them."""
    example = load_example()
    mechanism, points = example["declare_lloyd"]().mechanism, example["read_digits"]()
    plan = plan_sample(mechanism, target_epsilon=example["TARGET"])
    found = example["cluster"](plan, mechanism, points, tmp_path / "sample.json")
    assert found.bound == "epsilon <= 4.2"
    assert found.centres.shape == (10, 16)
    assert check_certificate(read_certificate((tmp_path / "sample.json").read_text())).accepted
    measure = example["measure_cost"]
    assert measure(points, found.centres) < 0.8 * measure(points, mechanism.centres)
    example["draw_centres"](mechanism.centres, found.centres, tmp_path / "centres.png")
    picture = imread(tmp_path / "centres.png")
    assert picture.shape[:2] == (406, 1540)
    assert picture[..., :3].std() > 0.1  # it is not blank


@pytest.mark.thorough
def test_a_rejected_certificate_is_said_in_the_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = load_example()
    monkeypatch.setitem(example["main"].__globals__, "check_certificates", lambda paths: [path.name for path in paths[1:]])
    assert example["main"](["--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == ("NOT accepted by the proof checker (kernel): conditions.json; publish nothing")


@pytest.mark.thorough
def test_centres_with_nothing_public_but_the_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.setenv("COLUMNS", "80")
    example = runpy.run_path(str(ROOT / "examples" / "private_centres.py"), run_name="example")
    assert example["main"](["--out", str(tmp_path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "private-centres.json: accepted" in printed
    assert "which no program can check" in " ".join(printed.split())
    for said in ("fixed without looking at the data", "nobody has more than one record", "computed from the record alone"):
        assert said in " ".join(printed.split())
    for name in ("all records", "uniform", "coreset", "privacy-constrained"):
        assert f" {name} " in printed
    assert np.loadtxt(tmp_path / "private-centres.csv", delimiter=",", skiprows=1).shape == (10, 16)
    assert imread(tmp_path / "private-centres.png")[..., :3].std() > 0.1  # it is not blank
    assert (tmp_path / "private-centres.html").stat().st_size > 1000


def load_example() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / "digits_kmeans.py"), run_name="example")


def test_every_hypothesis_of_every_row_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Was: a range, a centre and a size taken from the data, and the hypotheses of one row of three."""
    example = load_example()
    bounds = example["bound_rules"](example["declare_lloyd"]())
    example["show_rules"](bounds)
    printed = " ".join(capsys.readouterr().out.split())
    assert "under the assumptions below" in printed
    for name, derived in bounds.items():
        hypotheses = derived.guarantee.hypotheses
        assert {"fixed-in-advance", "only-release", "one-analysis", "not-redrawn", "weight-as-given"} <= {item.id for item in hypotheses}
        for hypothesis in hypotheses:
            found = re.search(
                re.escape(f"- {hypothesis.sentence}") + r"(?: (\[[a-z][\w, -]*\]))?(?= - | your | this | the machine|$)", printed
            )
            assert found is not None, (name, hypothesis)
            shared = all(hypothesis in other.guarantee.hypotheses for other in bounds.values())
            assert found[1] is None if shared else name in found[1], (name, hypothesis)


def test_the_numbers_of_the_example_do_not_look_at_the_digits() -> None:
    """The bounds take no records; the radius holds for every image that the format allows, and the guesses are no moments of these."""
    example = load_example()
    digits = example["read_digits"]()
    assert list(inspect.signature(example["bound_rules"]).parameters) == ["declared"]
    assert not inspect.signature(example["declare_lloyd"]).parameters
    assert (example["SIDE"] * example["MIDDLE"]) ** 2 == example["RADIUS"] ** 2
    assert digits.min() >= -example["MIDDLE"]
    assert digits.max() <= example["MIDDLE"]
    assert np.linalg.norm(digits, axis=1).max() < example["RADIUS"]
    assert example["SIZE"] != len(digits)
    assert np.linalg.norm(example["draw_figures"](), axis=1).max() <= example["RADIUS"]
    assert example["MEAN"] != round(float((digits**2).sum(axis=1).mean()))
