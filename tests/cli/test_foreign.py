"""Code that is not ours: what it prints is not part of the result, and it does not choose the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from accountant.cli.streams import Terminated, quiet_output
from profiles import InvalidArgument

NOISY = """
import atexit, os
from sys import stdout
from profiles import declare

print("imported")
stdout.write("kept")
os.write(1, b"bare")
atexit.register(lambda: print("at the end"))


def profile():
    print("called")
    return declare("noisy", "w*z", record={"z": [1, 2]})
"""
COMMANDS = {
    "verify": ["-e", "3", "-c", "assumption-8"],
    "weight": ["-e", "3", "--at", "z=1"],
    "weights": ["-e", "3", "--data", "d.csv", "-s", "z=z", "--out", "o.csv"],
    "sample": ["--q", "1/2", "--data", "d.csv", "-s", "z=z", "--out", "o.csv"],
    "epsilon": ["--q", "1/2"],
    "report": ["-e", "3", "--out", "o.html"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "noisy.py").write_text(NOISY)
    (tmp_path / "d.csv").write_text("z\n1\n1.5\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("noisy", None)
    sys.modules.pop("quits", None)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "report"])  # it takes a second
def test_json_is_all_there_is_on_standard_output(pdp, folder, monkeypatch, command):
    (folder / "noisy.py").write_text(NOISY.replace("atexit.register", "print").replace("os.write", "print"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    result = pdp(command, "noisy:profile", *COMMANDS[command], "--json")
    assert result.code == 0
    assert isinstance(result.json(), dict)
    assert "called" in result.err


@pytest.mark.thorough
def test_also_of_a_process_of_its_own(folder):
    command = [sys.executable, "-m", "accountant.cli", "verify", "noisy:profile", *COMMANDS["verify"], "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert json.loads(found.stdout)["profile"] == "noisy"
    for word in ("imported", "kept", "bare", "called", "at the end"):
        assert word in found.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_module_that_ends_the_program_gives_no_verdict(pdp, folder, command):
    (folder / "quits.py").write_text("import sys\nsys.exit(0)\n")
    result = pdp(command, "quits:profile", *COMMANDS[command])
    assert result.refused()
    assert "SystemExit" in result.err


def test_only_a_request_to_end_ends():
    with pytest.raises(InvalidArgument, match="SystemExit"), quiet_output():
        sys.exit(0)
    with pytest.raises(Terminated), quiet_output():
        raise Terminated(143)
