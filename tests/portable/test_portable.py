"""The kernel's verdict, step and reason are the same on every interpreter (docs/trust.md): here on those that this machine has.

``make test-portable`` runs the whole suite on each of them, and in WebAssembly under node.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import proofs_check.kernel
from tests.mutants.corpus import texts
from tests.portable.suite import make_limits, make_suite

FOLDER = Path(__file__).parent
KERNEL = Path(proofs_check.kernel.__file__).parent.parent
OTHERS = [name for minor in range(11, 16) if (name := f"python3.{minor}")]
RUNTIME = Path(os.environ.get("PYODIDE", "node_modules/pyodide"))


def judge(folder, texts, *, python=sys.executable, room="", hash_seed="0"):
    """The reports on a suite, made by an interpreter of its own."""
    suite, out = folder / "suite.json", folder / "out.json"
    suite.write_text(json.dumps(texts), encoding="ascii")
    command = [python, "-O", "-s", "-P", str(FOLDER / "run.py"), str(KERNEL), str(suite), str(out), room]
    subprocess.run(command, check=True, timeout=3000, env={**os.environ, "PYTHONHASHSEED": hash_seed})
    return json.loads(out.read_text(encoding="ascii"))


def differing(first, second):
    """The names of texts on which two runs say different things."""
    assert first["changed"] == second["changed"] == []
    return {
        name: (report, second["reports"].get(name)) for name, report in first["reports"].items() if second["reports"].get(name) != report
    }


@pytest.fixture(scope="module")
def suite():
    made = make_suite()
    assert len(made) > 600
    return made


def test_verdicts_do_not_need_more_room_than_a_32_bit_build_has(tmp_path):
    few = dict([*texts().items()][::6]) | dict([*make_limits()][::11])
    here, there = (judge(tmp_path, few, room=room, hash_seed=seed) for room, seed in (("wide", "1"), ("narrow", "2")))
    assert differing(here, there) == {}
    verdicts = [accepted for accepted, *_ in here["reports"].values()]
    assert min(verdicts.count(True), verdicts.count(False)) >= 10


@pytest.mark.slow
def test_the_whole_suite_needs_no_more_room(tmp_path, suite):
    here, there = (judge(tmp_path, suite, room=room, hash_seed=seed) for room, seed in (("wide", "3"), ("narrow", "4")))
    assert differing(here, there) == {}
    verdicts = [accepted for accepted, *_ in here["reports"].values()]
    assert min(verdicts.count(True), verdicts.count(False)) > 250
    assert not [reason for _, _, reason, _ in here["reports"].values() if reason and ("Recursion" in reason or "Memory" in reason)]


@pytest.mark.slow
@pytest.mark.parametrize("python", OTHERS)
def test_other_interpreters_say_the_same(tmp_path, suite, python):
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"{python} is not installed")
    there = judge(tmp_path, suite, python=python, hash_seed="5")
    assert there["about"]["python"].startswith(python.removeprefix("python"))
    assert differing(judge(tmp_path, suite), there) == {}


@pytest.mark.slow
def test_webassembly_says_the_same(tmp_path, suite):
    if shutil.which("node") is None or not (RUNTIME / "pyodide.mjs").is_file():
        pytest.skip("node or the package pyodide is not installed (make test-portable)")
    here, out = judge(tmp_path, suite), tmp_path / "wasm.json"
    command = ["node", str(FOLDER / "pyodide.mjs"), str(RUNTIME.resolve()), str(KERNEL), str(tmp_path / "suite.json"), str(out)]
    subprocess.run(command, check=True, timeout=3000)
    there = json.loads(out.read_text(encoding="ascii"))
    assert there["about"]["bits"] == 32
    assert differing(here, there) == {}
