"""``pdp kmeans``: from a data file to centres and a certificate, which ``pdp check`` checks as a whole."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from accountant import check, data
from accountant.applications.kmeans import rows as rows_module
from accountant.applications.kmeans.certificate import to_certificate
from accountant.applications.kmeans.fitting import Settings, fit_rows
from accountant.applications.kmeans.lloyd import Lloyd
from accountant.applications.kmeans.rows import ArrayRows, open_rows
from accountant.cli.main import invoke
from profiles import InvalidData
from profiles.randomness.bits import open_bits


def make_rows(count: int = 3000) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([[-1.0, 0.5], [1.0, -0.5]])[rng.integers(0, 2, count)] + rng.normal(size=(count, 2)) / 20


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = invoke(words)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_file_becomes_centres_a_certificate_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = make_rows()
    pq.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1], "label": ["x"] * len(rows)}), tmp_path / "data.parquet")
    out, certificate, page = tmp_path / "centres.csv", tmp_path / "c.json", tmp_path / "r.html"
    words = ["kmeans", str(tmp_path / "data.parquet"), "-k", "2", "-e", "2", "-r", "3", "--without", "label", "--out", str(out)]
    code, said, _ = run([*words, "--certificate", str(certificate), "--report", str(page), "--json"], capsys)
    assert code == 0
    told = json.loads(said)
    assert told["unconditional"] is True
    assert told["epsilon"] == {"upper": "2", "delta": None}
    centres = np.loadtxt(out, delimiter=",", skiprows=1)
    assert out.read_text().splitlines()[0] == "a,b"
    assert (centres == np.array(told["released"]["centres"], dtype=float)).all()
    assert min(np.abs(centres - [-1.0, 0.5]).max(axis=1)) < 0.2
    assert page.read_text().startswith("<!DOCTYPE html>")
    code, said, _ = run(["check", str(certificate)], capsys)
    assert code == 0
    assert "for one row more or less" in said


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_formats_and_normal_noise(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = tmp_path / f"data{suffix}", tmp_path / f"centres{suffix}"
    if suffix == ".npy":
        np.save(data, make_rows())
    else:
        np.savetxt(data, make_rows(), delimiter=",", header="a,b", comments="")
    center = tmp_path / "center.csv"
    center.write_text("a,b\n0.1,0.2\n")
    words = ["kmeans", str(data), "-k", "2", "-e", "2", "-r", "3", "--delta", "1e-6", "--center", str(center), "--out", str(out)]
    code, said, err = run([*words, "--certificate", str(tmp_path / "c.json")], capsys)
    assert code == 0, err
    assert "delta <=" in said
    assert check(tmp_path / "c.json").accepted
    assert (np.load(out) if suffix == ".npy" else np.loadtxt(out, delimiter=",", skiprows=1)).shape == (2, 2)


@pytest.mark.parametrize(
    "changes",
    [
        ["--epsilon", "0"], ["--radius", "-1"], ["--radius", "nan"], ["--clusters", "0"], ["--method", "none"], ["--columns", "c"],
        ["--columns", "a,a"], ["--delta", "2"], ["--out", "centres.txt"], ["--out", "data.csv"], ["--center", "data.csv"],
        ["--public", "radius"], ["--public", "k"], ["--seed", "-1"], ["--certificate", "centres.csv"], ["--columns", "label"],
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_written(
    changes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("a,b,label\n0.5,1,x\n1,-2,y\n")
    words = ["--clusters", "2", "--epsilon", "1", "--radius", "3", "--out", "centres.csv", "--columns", "a,b"]
    given = dict(zip(words[::2], words[1::2], strict=True)) | {changes[0]: changes[1]}
    code, said, err = run(["kmeans", "data.csv", *(word for pair in given.items() for word in pair)], capsys)
    assert code == 2
    assert said == ""
    assert len(err.strip().splitlines()) >= 1
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]


def test_columns_are_chosen_by_name_alone(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b,label\n0.5,1,x\n1,-2,y\n")
    assert open_rows(tmp_path / "data.csv", only=("b", "a")).names == ("b", "a")
    with pytest.raises(InvalidData):
        list(open_rows(tmp_path / "data.csv").blocks())


def make_certificate(delta: str | None) -> dict[str, Any]:
    settings, bits = Settings.of(3, 1, radius=4, delta=delta), open_bits(None)
    fit = fit_rows(ArrayRows(make_rows(50)), settings, Lloyd(1), bits=bits, source=bits.hypothesis, rng=np.random.default_rng())
    return json.loads(json.dumps(to_certificate(fit, settings, columns=["a", "b"], method="lloyd")))  # type: ignore[no-any-return]


def _set(*path: str | int, to: object) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = to

    return change


FORGERIES: Mapping[str, Callable[[Any], None]] = {
    "less noise": _set("releases", 0, "scale", to="49"),
    "a smaller reach": _set("releases", 0, "reach", to="1/2"),
    "a smaller cost": _set("releases", 0, "cost", to="0.01"),
    "a negative cost": _set("releases", 0, "cost", to="-0.02"),
    "a smaller epsilon": _set("epsilon", "upper", to="0.5"),
    "another argument": _set("arguments", "epsilon", to="0.5"),
    "a larger budget": _set("budget", to="2"),
    "another profile": _set("profile", "parameters", "c1", to="0.001"),
    "no proof": _set("proof", to=None),
    "a hypothesis left out": lambda found: (found["hypotheses"].pop(), found["premises"].pop()),  # type: ignore[arg-type, return-value]
    "a release left out": lambda found: found["releases"].pop(),
    "public, and not said": _set("arguments", "public", to=["n"]),
    "an unknown key": _set("note", to="x"),
    "another version": _set("version", to=2),
    "an unknown release": _set("releases", 0, "what", to="everything"),
}


@pytest.fixture(scope="module")
def certificate() -> dict[str, Any]:
    return make_certificate(None)


def test_forged_certificates_are_rejected(certificate: dict[str, Any]) -> None:
    assert check(certificate).accepted
    for name, forge in FORGERIES.items():
        forged = copy.deepcopy(certificate)
        forge(forged)
        assert not check(forged).accepted, name


@pytest.mark.thorough
def test_forged_certificates_of_normal_noise_are_rejected() -> None:
    made = make_certificate("1e-6")
    assert check(made).accepted
    for forge in (
        _set("curve", "mu", to="1/2"),
        _set("epsilon", "delta", to="1e-9"),
        _set("curve", "proof", "claims", 0, "bound", to="1e-9"),
        lambda found: found.pop("curve"),
    ):
        forged = copy.deepcopy(made)
        forge(forged)
        assert not check(forged).accepted


def test_a_small_file_is_read_once_and_a_large_one_in_every_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(3).normal(size=(40_000, 3))
    np.save(tmp_path / "data.npy", points)
    read = []
    opened = data.open_dataset
    monkeypatch.setattr(data, "open_dataset", lambda path, **more: read.append(path) or opened(path, **more))
    for most, passes in ((points.size, 1), (points.size - 1, 3)):
        monkeypatch.setattr(rows_module, "MOST_KEPT", most)
        seen: list[int] = []
        rows = open_rows(tmp_path / "data.npy", report=seen.append)
        read.clear()
        for _ in range(3):
            assert np.array_equal(np.concatenate(list(rows.blocks())), points)
            assert seen[-1] == len(points)
        assert len(read) == passes
        active = np.arange(len(points)) % 3 == 0
        assert np.array_equal(np.concatenate(list(rows.keep(active).blocks())), points[active])
