"""Unusable input: one clear sentence on standard error and exit code 2, never a traceback, never a number, nothing written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

BAD_PROFILES = {
    "negative": ("w*z - 2", "z = [0, 4]", ""),
    "negative in a corner": ("w*z + y - 0.999", "z = [1, 2]\ny = [-0.01, 1]", ""),
    "complex": ("sqrt(z - 1)*w", "z = [0, 4]", ""),
    "undefined": ("w*log(z)", "z = [0, 4]", ""),
    "division by zero": ("w/z", "z = [0, 4]", ""),
    "hidden division by zero": ("w + 0*(1/(w - 2))", "", ""),
    "irrational pole": ("w + 1/(w**2 - 2)**2 + 1/(w**2 - 2)", "", ""),
    "not a number": ("w*0/0", "", ""),
    "unknown symbol": ("w*z*beta", "z = [0, 4]", ""),
    "empty range": ("w*z", "z = [4, 0]", ""),
    "half a range": ("w*z", "z = [0]", ""),
    "infinite range": ("w*z", "z = [0, inf]", ""),
    "nan range": ("w*z", "z = [nan, 1]", ""),
    "w missing": ("z", "z = [0, 4]", ""),
    "reserved name": ("w*pi", "pi = [0, 4]", ""),
    "w declared": ("w", "w = [0, 4]", ""),
    "declared twice": ("w*z", "z = [0, 4]", "z = 3"),
    "bad parameter": ("w*b", "", 'b = "plenty"'),
    "hostile import": ("__import__('os').system('true')", "", ""),
    "attribute": ("w.__class__", "", ""),
    "tower": ("w + 10**10**10", "", ""),
    "nesting": ("(" * 100_000 + "w" + ")" * 100_000, "", ""),
    "empty": ("", "", ""),
    "unicode": ("w×z", "z = [0, 4]", ""),
}


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize(("epsilon", "record", "parameters"), BAD_PROFILES.values(), ids=BAD_PROFILES.keys())
def test_unusable_profiles(pdp, profile_file, epsilon, record, parameters):
    path = profile_file(epsilon, record, parameters)
    assert pdp("verify", path, "--target-epsilon", "3").refused()
    assert pdp("epsilon", path, "--q", "1/2", "--json").refused()


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("target", ["0", "-1", "nan", "inf", "three", "", "1e9999", "1/0"])
def test_unusable_targets(pdp, lloyd, target):
    assert pdp("verify", lloyd, "--target-epsilon", target).refused()
    assert pdp("weight", lloyd, "--target-epsilon", target, "--at", "z=1").refused()


def test_unusable_files(pdp, tmp_path):
    assert pdp("verify", tmp_path / "nothing.toml", "--target-epsilon", "3").refused()
    assert pdp("verify", tmp_path, "--target-epsilon", "3").refused()
    assert pdp("check", tmp_path / "nothing.json").refused()
    large = tmp_path / "large.toml"
    large.write_bytes(b"x" * 50_000_000)
    assert pdp("verify", large, "--target-epsilon", "3").refused()
    assert pdp("check", large).refused()
    broken = tmp_path / "broken.toml"
    broken.write_text('name = "x"\nepsilon = ')
    assert pdp("verify", broken, "--target-epsilon", "3").refused()
    broken.write_text('name = "x"\nepsilon = "w"\ntypo = 3')
    assert pdp("verify", broken, "--target-epsilon", "3").refused()


@pytest.mark.thorough
def test_unusable_options(pdp, lloyd):
    assert pdp("verify", lloyd).refused()
    assert pdp("verify", lloyd, "--target-epsilon", "3", "--condition", "assumption-99").refused()
    assert pdp("verify", lloyd, "--target-epsilon", "3", "--nonsense").refused()
    assert pdp("nonsense").refused()
    for at in ("z", "z=", "=1", "z=nan", "z=5", "y=1", "z=1,z=2"):
        assert pdp("weight", lloyd, "--target-epsilon", "3", "--at", at).refused(), at
    assert pdp("weight", lloyd, "--target-epsilon", "3").refused()
    assert pdp("weight", lloyd, "--target-epsilon", "3", "--at", "z=1", "--digits", "0").refused()
    assert pdp("weight", lloyd, "--target-epsilon", "3", "--at", "z=1", "--digits", "1000000").refused()
    for arguments in (
        ["--rule", "nonsense"],
        ["--rule", "uniform"],
        ["--rule", "uniform", "--q", "1/2"],
        ["--q", "2"],
        ["--q", "1/0"],
        ["--q", "z**-2/1000"],
        ["--q", "z/4"],
        ["--q", "1/2", "--target-epsilon", "3"],
        ["--q", "1/2", "--relative-gap", "0"],
        ["--q", "unknown/2"],
        ["--q", "__import__('os')"],
        ["--rule", "privacy-constrained"],
        ["--rule", "coreset-l2", "--constant", "m=900,n=1000,lam=0.5,mean=4"],
    ):
        assert pdp("epsilon", lloyd, *arguments).refused(), arguments


def test_a_rule_that_divides_by_zero_says_so(pdp, lloyd):
    assert "because of a division by 0; restrict the range or change q" in pdp("epsilon", lloyd, "--q", "1/0").err
    assert "at the record z = 0, because of a division by z, which is 0 there" in pdp("epsilon", lloyd, "--q", "z**-1/1000").err
    piecewise = pdp("epsilon", lloyd, "--q", "Piecewise((1/(9*z), z > 1), (1/2, True))")
    assert "division" not in piecewise.err


def test_no_answer_is_json_too(pdp, lloyd):
    result = pdp("weight", lloyd, "--target-epsilon", "0.1", "--at", "z=1", "--json")
    assert result.code == 1
    assert result.json() == {"verdict": "refuted", "error": "Infeasible", "reason": result.err.removeprefix("pdp: ").strip()}
    undecided = pdp("epsilon", lloyd, "--q", "1e-400", "--json")
    assert (undecided.code, undecided.json()["verdict"]) == (3, "unknown")


BAD_DATA = {
    "nan": "x\n1\nnan\n",
    "infinity": "x\n1\ninf\n",
    "no rows": "x\n",
    "empty": "",
    "text": "x\n1\nhello\n",
    "ragged": "x,y\n1\n1,2\n",
    "missing column": "y\n1\n",
    "out of range": "x\n1\n7\n",
    "negative": "x\n-1\n",
    "UTF-16": "x\n1\n".encode("utf-16"),
    "Latin-1": b"x,\xe9\n1,2\n",
    "Latin-1 in a cell": b"x,y\n1,\xe9\n",
}


@pytest.mark.thorough(quick=8)
@pytest.mark.parametrize("text", BAD_DATA.values(), ids=BAD_DATA.keys())
def test_unusable_data_leaves_the_old_output_alone(pdp, lloyd, tmp_path, text):
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_bytes(text if isinstance(text, bytes) else text.encode())
    out.write_text("old")
    result = pdp("weights", lloyd, "--target-epsilon", "3", "--data", data, "--out", out, "--statistic", "z=x")
    assert result.refused(), result
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "lloyd.toml", "out.csv"]


@pytest.mark.thorough
def test_other_unusable_data(pdp, lloyd, tmp_path):
    data = tmp_path / "data.npy"
    for array in (np.array(["a"]), np.array([[1 + 2j]]), np.array([{}], dtype=object), np.zeros((0, 2)), np.array(3.0)):
        np.save(data, array)
        assert pdp("weights", lloyd, "--target-epsilon", "3", "--data", data, "--out", tmp_path / "o.csv", "--statistic", "z=l2").refused()
    np.save(data, np.ones((3, 1)))
    for out in (tmp_path / "no" / "such" / "folder" / "o.csv", tmp_path, "/proc/o.csv"):
        assert pdp("weights", lloyd, "--target-epsilon", "3", "--data", data, "--out", out, "--statistic", "z=l2").refused(), out
    assert pdp("weights", lloyd, "--data", data, "--out", tmp_path / "o.csv", "--statistic", "z=l2").refused()
    assert pdp("verify", lloyd, "--target-epsilon", "3", "--certificate", tmp_path / "no" / "c.json").refused()
    for special in ("/dev/full", "/dev/null"):
        assert pdp("verify", lloyd, "--target-epsilon", "3", "--certificate", special).refused()
        assert not Path(special).is_file()
    for size in ("0", "-1", "nan", "4"):
        arguments = ["--target-size", size, "--data", data, "--out", tmp_path / "o.csv", "--statistic", "z=l2"]
        assert pdp("weights", lloyd, *arguments).refused(), size


def test_weights_refuse_a_target_below_epsilon_of_the_domain_with_exit_code_one(pdp, lloyd, tmp_path):
    np.save(tmp_path / "data.npy", np.ones((3, 1)))
    out = tmp_path / "o.csv"
    result = pdp("weights", lloyd, "--target-epsilon", "0.1", "--data", tmp_path / "data.npy", "--out", out, "--statistic", "z=l2")
    assert result.code == 1
    assert "assumption-8" in result.err
    assert not out.exists()


def test_a_pipe_is_no_data_file(pdp, lloyd, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for command in ("weights", "sample"):
        result = pdp(command, lloyd, "-e", "20", "--data", tmp_path / "pipe.csv", "-s", "z=x", "--out", tmp_path / "o.csv")
        assert result.refused()
        assert "save the data in one" in result.err


def test_more_than_fits_into_memory(pdp, tmp_path):
    path = tmp_path / "huge.npy"
    np.save(path, np.ones((3, 2)))
    path.write_bytes(path.read_bytes().replace(b"(3, 2)", b"(99999999999999, 2)"))
    assert pdp("audit", "profiles.mechanisms.laplace_sum:default", "--dataset", path, "--neighbor", "[]").refused()
