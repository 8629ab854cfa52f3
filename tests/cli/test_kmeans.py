"""``pdp kmeans``: from a data file to centres and a certificate, which ``pdp check`` checks as a whole."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from accountant import check, data
from accountant.applications.budget import rows as rows_module
from accountant.applications.budget.rows import ArrayRows, open_rows, read_center
from accountant.applications.kmeans.certificate import to_certificate
from accountant.applications.kmeans.fitting import FitDraws, FitPlan, FitSettings, fit_rows
from accountant.applications.kmeans.lloyd import Lloyd
from accountant.cli.main import invoke
from profiles import InvalidData, exact_text
from profiles.hypotheses import RECORD_STATISTICS
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
    assert told["unconditional"] is False
    assert {item["id"] for item in told["premises"]} >= {"fixed-in-advance", "one-record-each", "record-statistics"}
    assert told["epsilon"] == {"upper": "2", "delta": None}
    centres = np.loadtxt(out, delimiter=",", skiprows=1)
    assert out.read_text().splitlines()[0] == "a,b"
    assert (centres == np.array(told["released"]["centres"], dtype=float)).all()
    assert min(np.abs(centres - [-1.0, 0.5]).max(axis=1)) < 0.2
    assert page.read_text().startswith("<!DOCTYPE html>")
    code, said, _ = run(["check", str(certificate)], capsys)
    assert code == 0
    assert "for adding or removing one row" in said


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
        ["--sample", "all"], ["--sample", "uniform"], ["--sample-size", "30"],
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


@pytest.mark.thorough
def test_two_outputs_are_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The certificate took the place of the centres, which had been paid for, where the same file was spelled in another way."""
    (tmp_path / "data.csv").write_text("a,b\n0.5,1\n1,-2\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "o.csv")
    words = ["kmeans", str(tmp_path / "data.csv"), "-k", "1", "-e", "1", "-r", "3", "--out", str(tmp_path / "o.csv")]
    for other in ("o.csv", "folder/../o.csv", "link.csv"):
        for option in ("--certificate", "--report"):
            code, _, err = run([*words, option, f"{tmp_path}/{other}"], capsys)
            assert code == 2
            assert "two outputs" in err
    assert not (tmp_path / "o.csv").exists()


def test_columns_are_chosen_by_name_alone(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b,label\n0.5,1,x\n1,-2,y\n")
    assert open_rows(tmp_path / "data.csv", only=("b", "a")).names == ("b", "a")
    with pytest.raises(InvalidData):
        list(open_rows(tmp_path / "data.csv").blocks())


@pytest.mark.thorough
@pytest.mark.parametrize("sample", [[], ["--sample", "uniform", "--sample-size", "5"], ["--delta", "1e-6"]])
def test_a_table_without_rows_is_not_refused(sample: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else the refusal would tell it from a table with one row."""
    (tmp_path / "none.csv").write_text("a,b\n")
    np.save(tmp_path / "none.npy", np.empty((0, 2)))
    pq.write_table(pa.table({"a": pa.array([], pa.float64()), "b": pa.array([], pa.int32())}), tmp_path / "none.parquet")
    for name in ("none.csv", "none.npy", "none.parquet"):
        out, certificate = tmp_path / "o.csv", tmp_path / "c.json"
        words = ["kmeans", str(tmp_path / name), "-k", "2", "-e", "1", "-r", "3", "--out", str(out), "--certificate", str(certificate)]
        code, _, err = run([*words, *sample], capsys)
        assert code == 0, (name, err)
        assert np.isfinite(np.loadtxt(out, delimiter=",", skiprows=1)).all()
        assert check(certificate).accepted


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [">f8", ">i4", "<f4"])
def test_arrays_of_other_numbers_are_read(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", make_rows(5).astype(kind))
    (block,) = open_rows(tmp_path / "data.npy").blocks()
    assert np.array_equal(block, make_rows(5).astype(kind))
    np.save(tmp_path / "data.npy", make_rows(5).astype(np.longdouble))
    with pytest.raises(InvalidData, match="64 bits"):
        list(open_rows(tmp_path / "data.npy").blocks())


@pytest.mark.thorough
def test_labels_of_a_sparse_file_are_not_clustered(tmp_path: Path) -> None:
    (tmp_path / "data.svm").write_text("1 1:2 3:4\n-1 2:1\n")
    with pytest.raises(InvalidData, match="svmlight"):
        open_rows(tmp_path / "data.svm")


def test_a_center_with_names_is_read_by_them(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b\n0.5,1\n")
    names = open_rows(data).names
    for text, found in (("a,b\n1,2\n", [1, 2]), ("b,a\n1,2\n", [2, 1]), ("c,a,b\n0,1,2\n", [1, 2]), ("x,y\n1,2\n", [1, 2])):
        (tmp_path / "center.csv").write_text(text)
        assert read_center(tmp_path / "center.csv", names).tolist() == found
    for text in ("a,c\n1,2\n", "a\n1\n", "a,b\n1,2\n3,4\n", "x,y,z\n1,2,3\n"):
        (tmp_path / "center.csv").write_text(text)
        with pytest.raises(InvalidData, match=r"center|column"):
            read_center(tmp_path / "center.csv", names)


def make_certificate(delta: str | None) -> dict[str, Any]:
    settings, bits = FitSettings.of(3, 1, radius=4, delta=delta), open_bits(None)
    fit = fit_rows(ArrayRows(make_rows(50)), FitPlan(settings, Lloyd(1), FitDraws(bits, bits.hypothesis, np.random.default_rng())))
    return json.loads(json.dumps(to_certificate(fit, settings, columns=["a", "b"], method="lloyd")))  # type: ignore[no-any-return]


def _set(*path: str | int, to: object) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = to

    return change


def _leave_out(name: str) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        found["premises"] = [item for item in found["premises"] if item["id"] != name]
        found["hypotheses"] = [item["sentence"] for item in found["premises"]]

    return change


def _say_of_rows(found: Any, names: str) -> None:
    """Say that the norms are of the record alone, where nobody said that the rows are."""
    for item in found["premises"]:
        if item["id"] == "record-statistics":
            item["sentence"] = RECORD_STATISTICS.about(names=names).sentence
    found["hypotheses"] = [item["sentence"] for item in found["premises"]]


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
    **{
        f"{name} left out": _leave_out(name)
        for name in ("fixed-in-advance", "one-record-each", "record-statistics", "only-release", "secure-bits")
    },
    "the norm in place of the row": lambda found: _say_of_rows(found, "z"),
    "a release left out": lambda found: found["releases"].pop(),
    "public, and not said": _set("arguments", "public", to=["n"]),
    "an unknown key": _set("note", to="x"),
    "another version": _set("version", to=True),
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


def make_sampled(rule: str, size: int | None, public: tuple[str, ...] = ()) -> dict[str, Any]:
    settings, bits = FitSettings.of(2, 1, radius=4, sample=rule, sample_size=size, public=public), open_bits(None)
    fit = fit_rows(ArrayRows(make_rows(400)), FitPlan(settings, Lloyd(2), FitDraws(bits, bits.hypothesis, np.random.default_rng())))
    assert "s" in fit.certified.profile.text
    return json.loads(json.dumps(to_certificate(fit, settings, columns=["a", "b"], method="lloyd")))  # type: ignore[no-any-return]


@pytest.mark.thorough
@pytest.mark.parametrize("rule", ["uniform", "coreset", "privacy-constrained"])
def test_a_sampled_run_has_one_certificate(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "data.npy", make_rows())
    certificate, page = tmp_path / "c.json", tmp_path / "r.html"
    words = ["kmeans", str(tmp_path / "data.npy"), "-k", "2", "-e", "2", "-r", "3", "--out", str(tmp_path / "o.csv"), "--sample", rule]
    size = [] if rule == "privacy-constrained" else ["--sample-size", "500"]
    code, said, err = run([*words, *size, "--certificate", str(certificate), "--report", str(page), "--all"], capsys)
    assert code == 0, err
    assert "one sample of about" in said
    assert "Releases about the sample" in page.read_text()
    code, said, _ = run(["check", str(certificate), "--json"], capsys)
    told = json.loads(said)
    bounds = {claim["claim"]: claim["bound"] for claim in told["claims"]}
    assert 1.99 < float(bounds["epsilon-upper"]) <= 2
    assert "well-defined (sample)" in bounds
    # what the statistics cost and what is left for the sample are the whole budget
    stated = json.loads(certificate.read_text())
    spent = sum(Fraction(item["cost"]) for item in stated["releases"])
    assert spent + Fraction(stated["sample"]["budget"]) == Fraction(stated["budget"])
    code, said, _ = run(["check", str(certificate), "--all"], capsys)
    assert code == 0
    assert f"one {rule} sample" in " ".join(said.split())


@pytest.mark.thorough
def test_a_sample_whose_statistics_are_public_costs_everything() -> None:
    made = make_sampled("coreset", 100, ("n", "mean", "rms"))
    assert made["releases"] == []
    assert made["sample"]["budget"] == made["budget"]
    assert check(made).accepted


def _scale(*path: str | int, by: str) -> Callable[[Any], None]:
    """Multiply an exact number: what a forger gains is a smaller cost or a larger budget."""

    def change(found: Any) -> None:
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = exact_text(Fraction(found[path[-1]]) * Fraction(by))

    return change


def _both(*changes: Callable[[Any], None]) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        for each in changes:
            each(found)

    return change


#: Of a coreset: two rounds of DP-Lloyd release counts and sums twice.
SAMPLE_FORGERIES: Mapping[str, Callable[[Any], None]] = {
    "a larger budget": _set("sample", "budget", to="0.99"),
    "a larger budget that the profile knows": _both(
        _set("sample", "budget", to="0.99"),
        _set("profile", "parameters", "s", to="0.99"),
        _set("proof", "profile", "parameters", "s", to="0.99"),
    ),
    "no budget": _set("sample", "budget", to="-1"),
    "smaller costs per unit of weight": _scale("sample", "counts", by="1/2"),
    "larger costs, the old proof": _both(_scale("sample", "counts", by="2"), _scale("sample", "profile", "parameters", "a", by="2")),
    "larger costs in the proof, too": _both(
        *(
            _scale(*path, by="2")
            for path in (("sample", "counts"), ("sample", "profile", "parameters", "a"), ("sample", "proof", "profile", "parameters", "a"))
        )
    ),
    "a release with less noise": _scale("sample", "releases", 0, "scale", by="1/2"),
    "a release that costs less": _scale("sample", "releases", 1, "cost", by="1/2"),
    "a sum that a record moves less": _both(
        _scale("sample", "releases", 1, "reach", by="1/2"), _scale("sample", "releases", 1, "scale", by="1/2")
    ),
    "a release twice": lambda found: found["sample"]["releases"].append(found["sample"]["releases"][0]),
    "statistics of the sample": _set("sample", "releases", 0, "what", to="number of records"),
    "cells of every record": _set("releases", 0, "what", to="counts of cells"),
    "a smaller ball": _set("sample", "radius", to="0.5"),
    "a radius that is none": _set("sample", "radius", to="nan"),
    "an endless radius": _set("sample", "radius", to="1e400"),
    "a radius as a number": _set("sample", "radius", to=1),
    "smaller probabilities": _scale("sample", "constants", "base", by="1/2"),
    "no constants": _set("sample", "constants", to={}),
    "another size": _set("arguments", "sample", "size", to="5"),
    "another rule": _set("arguments", "sample", to={"rule": "uniform", "size": "100"}),
    "the same size in other words": _set("arguments", "sample", "size", to="100.0"),
    "an unknown rule": _set("arguments", "sample", "rule", to="all"),
    "no sample asked for": _set("arguments", "sample", to=None),
    "another number of records": _set("released", "records", to="1000.0"),
    "a number of records that is none": _set("released", "records", to="-5.0"),
    "another spread": _set("released", "rms", to="3.0"),
    "released numbers left out": _set("released", to=[]),
    "other pairs": _set("sample", "pairs", to="w is what it is"),
    "another profile": _set("sample", "profile", "epsilon", to="w*a"),
    "another sampling rule": _set("sample", "proof", "sampling", "q", to="1/2"),
    "a claim left out": lambda found: found["sample"]["proof"]["claims"].pop(),
    "another bound": _set("sample", "proof", "claims", 1, "bound", to="0.1"),
    "no proof": _set("sample", "proof", to=None),
    "no sample": lambda found: found.pop("sample"),
    "a sample that is none": _set("sample", to="coreset"),
    "an unknown key": _set("sample", "note", to="x"),
    "an expected size that is none": _set("sample", "expected_size", to="0"),
    "binary64 left out": _leave_out("ieee-arithmetic"),
    "no share for it in the profile": _both(
        _set("profile", "epsilon", to="w*(c1 + c2*z + c3*z**2)"), _set("proof", "profile", "epsilon", to="w*(c1 + c2*z + c3*z**2)")
    ),
}


@pytest.mark.thorough
def test_forged_certificates_of_a_sampled_run_are_rejected() -> None:
    made = make_sampled("coreset", 100)
    report = check(made)
    assert report.accepted, report
    for name, forge in SAMPLE_FORGERIES.items():
        forged = copy.deepcopy(made)
        forge(forged)
        assert forged != made, name
        assert not check(forged).accepted, name


@pytest.mark.thorough
def test_every_field_of_a_sample_is_read() -> None:
    """Each text in what is certified of a sample is changed, and each field left out: what is still accepted is what nothing rests on."""
    made = make_sampled("privacy-constrained", None)
    assert check(made).accepted
    kept = set()
    for path in _leaves(made["sample"]):
        forged = copy.deepcopy(made)
        _set("sample", *path, to="7")(forged)
        if check(forged).accepted:
            kept.add(path[0] if path[0] != "proof" else path[-1])
    assert kept <= {"expected_size"}
    for name in made["sample"]:
        forged = copy.deepcopy(made)
        del forged["sample"][name]
        assert not check(forged).accepted, name


def _leaves(found: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(found, dict):
        return [leaf for name, value in found.items() for leaf in _leaves(value, (*path, name))]
    if isinstance(found, list):
        return [leaf for place, value in enumerate(found) for leaf in _leaves(value, (*path, place))]
    return [path]


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
