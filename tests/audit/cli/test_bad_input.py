"""Whatever is wrong with input or mechanism: exit code 2, one sentence, no traceback, no number, nothing written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

MECHANISMS = str(Path(__file__).parent / "mechanisms_to_audit.py") + ":"

BROKEN = {
    "raises": "ZeroDivisionError (raised in raises, line",
    "nan": "NaN",
    "too_many": "asked for 64 outputs",
    "constant": "single value",
    "of_numpy": "global generator",
    "leaves": "SystemExit",
    "changes": "changes its data set",
    "fails_after_a_while": "out of memory",
    "not_callable": "an object of type int",
    "WithBrokenStatistic": "the class WithBrokenStatistic",
    "missing": "could not be loaded",
}


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(("name", "text"), BROKEN.items())
def test_broken_mechanisms(audit, name, text):
    for options in ((), ("--json",)):
        result = audit(name, *options)
        assert result.refused(), result
        assert text in result.err


@pytest.mark.thorough
def test_broken_mechanisms_in_processes(audit):
    for name in ("raises", "of_numpy", "leaves"):
        result = audit(name, "--processes", "1")
        assert result.refused(), result
        assert BROKEN[name] in result.err


def test_a_mechanism_that_hangs(audit):
    result = audit("hangs", "--time-limit", "0.3")
    assert result.refused()
    assert "did not end within 0.3 seconds" in result.err


def test_an_interrupted_run(audit):
    result = audit("interrupts")
    assert (result.code, result.out, result.err) == (130, "", "pdp: interrupted; nothing was left half-written\n")


@pytest.mark.thorough(quick=17)
@pytest.mark.parametrize(
    "d",
    [
        "[1, NaN]", "[Infinity]", "[1e999]", "[1, 2", "{}", '{"data": [1], "weight": [1]}', '{"data": 1}', '{"data": [1], "data": [2]}',
        '{"data": [1], "weights": [0.5]}', '{"data": [1], "weights": [1, 1]}', '["a"]', "[[1], [1, 2]]", "[true]", "[null]",
        "[1" + "0" * 400 + "]",
        "[9007199254740993]", "[" * 100_000, "[[1, 2]]", "3", "", "no-such-file.csv", "/", "no-such-file.npy", "a\0b", '[{"x": 1}]',
    ],
)  # fmt: skip
def test_unusable_data_sets(audit, d):
    assert audit("laplace", d=d).refused()


@pytest.mark.thorough
def test_unusable_data_files(audit, tmp_path):
    made = {
        "nan.csv": b"x\n1\nnan\n",
        "none.csv": b"x\n",
        "text.csv": b"x\nhello\n",
        "empty.csv": b"",
        "nan.json": b"[NaN]",
        "latin.json": b"[\xff]",
        "cut.npy": b"\x93NUMPY",
        "broken.parquet": b"PAR1",
    }
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
        assert audit("laplace", d=tmp_path / name).refused(), name
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    np.save(tmp_path / "complex.npy", np.array([1j]))
    np.save(tmp_path / "nan.npy", np.array([np.nan]))
    np.save(tmp_path / "zero.npy", np.array(3.0))
    for name in ("objects", "complex", "nan", "zero"):
        assert audit("laplace", d=tmp_path / f"{name}.npy").refused(), name
    (tmp_path / "two.csv").write_text("a,weight\n1,1\n2,0.5\n")
    assert audit("laplace", "--columns", "b", d=tmp_path / "two.csv", d2=tmp_path / "two.csv").refused()
    assert audit("laplace", "--weight-column", "weight", d=tmp_path / "two.csv", d2=tmp_path / "two.csv").refused()
    assert audit("laplace", "--weight-column", "weight", d=tmp_path / "zero.npy").refused()


@pytest.mark.thorough(quick=15)
@pytest.mark.parametrize(
    "options",
    [
        ("--claimed", "-1"), ("--claimed", "nan"), ("--claimed", "inf"), ("--claimed", "much"), ("--claimed", ""), ("--delta", "1"),
        ("--delta", "-0.1"), ("--samples", "0"), ("--samples", "-5"), ("--samples", "9"), ("--samples", "1e30"), ("--samples", "1.5"),
        ("--samples", "many"), ("--samples", "1e4000"), ("--confidence", "0"), ("--confidence", "1"), ("--confidence", "99"),
        ("--confidence", "nan"), ("--seed", "-1"), ("--seed", "x"), ("--mode", "all"), ("--effort", "much"), ("--time-limit", "0"),
        ("--time-limit", "nan"), ("--processes", "-1"), ("--processes", "100000"), ("--statistic", "nothing"), ("--plot", "p.txt"),
        ("--plot", "/no/such/folder/p.png"), ("--plot", "/dev/null"), ("--at", "z=1"), ("--one-sided", "--nonsense"),
        ("--profile", "profiles.mechanisms.laplace_sum:default", "--claimed", "1"), ("--columns", "a"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_unusable_options(audit, options, tmp_path):
    np.save(tmp_path / "d.npy", np.ones(2))
    data = {"d": tmp_path / "d.npy"} if options[0] == "--columns" else {}
    assert audit("laplace", *options, **data).refused()


@pytest.mark.thorough
def test_what_is_needed_and_missing(pdp, audit):
    reference = MECHANISMS + "laplace"
    assert pdp("audit", reference, "--dataset", "[1]", "--neighbor", "[]").refused()
    assert pdp("audit", reference, "--dataset", "[1]", "--claimed", "1").refused()
    assert pdp("audit", "--dataset", "[1]", "--neighbor", "[]").refused()
    profile = ("--profile", "profiles.mechanisms.laplace_sum:default")
    assert "--at z=VALUE" in audit("laplace", *profile).err
    assert "the mechanism's statistic() raised RuntimeError (raised in statistic, line" in audit("broken_statistic", *profile).err
    for at in ("y=1", "z=5", "z=l3", "z", "z=nan"):
        assert audit("laplace", *profile, "--at", at).refused(), at
    assert audit("laplace", *profile, "--delta", "0.1", "--at", "z=1").refused()
    assert audit("laplace", "--profile", "no-such-file.toml", "--at", "z=1").refused()
    assert audit("laplace", "--profile", "profiles.mechanisms.laplace_sum:general", "--at", "z=1").refused()


@pytest.mark.thorough
def test_references_that_lead_nowhere(pdp, tmp_path):
    rest = ("--dataset", "[1]", "--neighbor", "[]", "--claimed", "1")
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)")
    (tmp_path / "fails.py").write_text("1 / 0")
    (tmp_path / "bad.py").write_text("def")
    names = ["leaves.py:f", "fails.py:f", "bad.py:f", "none.py:f"]
    for reference in [
        *(f"{tmp_path / name}" for name in names),
        "laplace",
        "no.such.module:f",
        "math:pi",
        ":",
        "a b:c",
        "math:",
        "os.path:1",
        "",
    ]:
        assert pdp("audit", reference, *rest).refused(), reference


def test_pairs_that_are_no_neighbors_of_a_profile(audit):
    reference = "profiles.mechanisms.laplace_sum:default"
    for d, d2, text in (
        ("[1, 2]", "[1, 3]", "replaced"),
        ('{"data": [1], "weights": [2]}', "[1]", "(or its weight) is replaced"),
        ("[1]", "[1]", "are the same"),
        ("[1, 2, 3]", "[1]", "several of the records"),
        ("[]", "[]", "the same"),
        ("[2, 1]", "[1, 1]", "replaced"),
    ):
        result = audit(reference, d=d, d2=d2)
        assert (result.code, result.out) == (3, "")
        assert text in result.err


@pytest.mark.thorough
@pytest.mark.usefixtures("heeding_interrupts")
def test_ctrl_c_leaves_one_line_and_no_file(tmp_path):
    command = [sys.executable, "-m", "accountant.cli", "audit", MECHANISMS + "hangs", "--dataset", "[1]", "--neighbor", "[]"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    plot = tmp_path / "p.png"
    process = subprocess.Popen(
        [*command, "--claimed", "1", "--processes", "1", "--plot", str(plot)], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        deadline = time.monotonic() + 60
        while not _children(process.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (130, "pdp: interrupted; nothing was left half-written\n")
    assert not list(tmp_path.iterdir())


def _children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
