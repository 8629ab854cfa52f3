"""Names of files that cannot be, and outputs that are inputs."""

from __future__ import annotations

import re
from importlib import import_module
from typing import get_args, get_type_hints

import numpy as np
import pytest

from accountant.cli.files import OUTPUTS
from accountant.cli.main import COMMANDS

LONG = "x" * 5_000


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("out", [f"{LONG}.csv", ""])
def test_names_that_no_file_can_have(pdp, lloyd, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    np.save("d.npy", np.ones((3, 1)))
    data = ["--data", "d.npy", "-s", "z=l2"]
    for arguments in (
        ["verify", lloyd, "-e", "20", "-c", "assumption-8", "--certificate", out],
        ["epsilon", lloyd, "--certificate", out],
        ["weights", lloyd, "-e", "20", *data, "--out", out],
        ["sample", lloyd, *data, "--out", out],
        ["sample", lloyd, *data, "--out", "o.csv", "--certificate", out],
        ["report", lloyd, "-e", "20", "--out", out],
        ["weights", lloyd, "-e", "20", "--data", out, "-s", "z=l2", "--out", "o.csv"],
        ["verify", out, "-e", "20"],
        ["check", out],
    ):
        result = pdp(*arguments)
        assert result.refused(), (arguments[0], result)
        assert len(result.err) < 1_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.npy", "lloyd.toml"]


def test_no_output_takes_the_place_of_an_input(pdp, lloyd, tmp_path):
    text = lloyd.read_text()
    (tmp_path / "again.toml").symlink_to(lloyd)
    for certificate in (lloyd, tmp_path / "again.toml"):
        assert pdp("verify", lloyd, "-e", "20", "-c", "assumption-8", "--certificate", certificate).refused()
        assert pdp("epsilon", lloyd, "--certificate", certificate).refused()
        assert pdp("report", lloyd, "-e", "20", "--out", certificate).refused()
    data = tmp_path / "d.csv"
    data.write_text("z\n1\n")
    for command in ("weights", "sample"):
        assert pdp(command, lloyd, "-e", "20", "--data", data, "-s", "z=z", "--out", data).refused()
    mechanism = "profiles.mechanisms.laplace_sum:default"
    pair = ["--audit-samples", "100", "--dataset", data, "--neighbor", "[]"]
    assert pdp("report", mechanism, "-e", "20", *pair, "--out", data).refused()
    assert (lloyd.read_text(), data.read_text()) == (text, "z\n1\n")


@pytest.mark.thorough
@pytest.mark.parametrize("second", ["o.svg", "folder/../o.svg", "link.svg"])
def test_two_outputs_are_two_files_however_they_are_spelled(pdp, lloyd, tmp_path, second):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.svg").symlink_to(tmp_path / "o.svg")
    (tmp_path / "d.csv").write_text("user,item\n1,2\n")
    first, other = tmp_path / "o.svg", f"{tmp_path}/{second}"
    for arguments in (
        ["account", "--gaussian", "1", "--delta", "1e-5", "--certificate", first, "--guarantee", other],
        ["account", "--gaussian", "1", "--delta", "1e-5", "--certificate", first, "--plot", other],
        ["epsilon", lloyd, "--certificate", first, "--guarantee", other],
        ["select", tmp_path / "d.csv", "--candidates", "3", "-k", "1", "-e", "1", "--out", first, "--guarantee", other],
    ):
        result = pdp(*arguments)
        assert result.refused(), (arguments[0], result)
        assert "name two files" in result.err
    (tmp_path / "link.toml").symlink_to(tmp_path / "o.toml")
    profile, spelled = tmp_path / "o.toml", other.replace("svg", "toml")
    sampled = ["--rule", "uniform", "--constant", "rate=0.5"]
    result = pdp("calibrate", "profiles.mechanisms.laplace_sum:default", "-e", "2", *sampled, "--out", profile, "--certificate", spelled)
    assert result.refused()
    assert "name two files" in result.err
    assert not first.exists()
    assert not profile.exists()


#: How the help of an option begins that names a file to write.
WRITES = re.compile(r"(with --[a-z-]+: )?(write|draw|keep|where to write)\b|.* to write, atomically")


def test_every_option_that_names_a_file_to_write_is_known_to_be_one():
    """What is refused of outputs before any work is refused of all of them."""
    for command in sorted(set(COMMANDS) - {"check", "ledger", "report"}):  # whose outputs are checked by themselves
        declared = import_module(f"accountant.cli.{command.replace('-', '_')}")
        for name, kind in get_type_hints(getattr(declared, "Options", object), include_extras=True).items():
            texts = [item.help for item in getattr(kind, "__metadata__", ()) if "Path" in str(get_args(kind)[0])]
            assert any(map(WRITES.match, texts)) == (name in OUTPUTS and bool(texts)), (command, name)


def test_no_output_of_a_monitor_takes_the_place_of_its_units(pdp, tmp_path):
    units = tmp_path / "units.csv"
    units.write_text("user\n1\n")
    options = ["--domain", "8", "--times", "0:8", "-k", "2", "-e", "1", "--threshold", "80", "--ledger", tmp_path / "l", "--name", "n"]
    result = pdp("monitor", *options, "--units", units, "--out", units)
    assert result.refused()
    assert "is the file of units, which would be lost" in " ".join(result.err.split())
    assert units.read_text() == "user\n1\n"
