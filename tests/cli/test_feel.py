"""What a person meets: examples in every help that run, output that fits 80 columns without colour, hints, completion, progress."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accountant import progress
from accountant.cli.main import COMMANDS, invoke, make_app
from accountant.cli.output import print_table
from profiles import PDPError, declare, load
from profiles.suggestions import suggest
from tests.formal.compile import has_coq

ROOT = Path(__file__).parents[2]
#: Not run here: judging all statements takes half a minute (tests/papers does), and tests/report/test_docs.py runs the reports.
SLOW = ("pdp claims --refuted", "pdp report ")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the examples of the project, on a narrow terminal that knows no colour."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def examples_of(text: str) -> list[str]:
    """Return the commands below "Examples:" in a help, with continued lines joined."""
    lines = re.sub(r" *\\\n *", " ", text.partition("Examples:")[2]).splitlines()
    return [line.strip() for line in lines if line.strip().startswith("pdp ")]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_examples_of_every_help_run(pdp, folder, same_seed, command):
    (folder / "income.json").write_text('{"mean income": 35364.5}', encoding="utf-8")  # which somebody released by a program of theirs
    shown = pdp(*([command] if command else []), "--help").out
    examples = examples_of(shown)
    assert examples
    assert max(map(len, shown.splitlines())) <= 84
    if command:
        assert any(shlex.split(example)[1] == command for example in examples)
    for example in examples:
        if example.startswith(SLOW):
            continue
        result = pdp(*shlex.split(example)[1:])
        if example.endswith(("--with coq", "--verified")) and not has_coq("Interval"):
            assert result.refused()
            assert "libcoq-interval" in result.err
            continue
        assert result.code in ({0, 1} if " verify " in example else {0}), (example, result.err)
        assert "\x1b" not in result.out
        if "--json" not in example:
            wide = [line for line in result.out.splitlines() if len(line.rstrip()) > 80 and len(max(line.split(), key=len)) < 50]
            assert not wide, wide[0]


def test_a_table_of_long_words_fits(folder, capsys):
    print_table("a table", ("id", "statement"), [("fay-2024-equation-4-corrected", "word " * 40 + "x" * 90)])
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert "fay-2024-equation-4-corrected" in lines[4]


def test_numbers_in_a_table_stay_whole_where_they_fit(folder, capsys, monkeypatch):
    columns = ("sampling rule", "sup psi, rounded down", "sup psi, rounded up", "worst record", "checked by kernel")
    rows = [("privacy-constrained", "4.22372778976", "4.22372778977", "z = 42.52", "yes")]
    print_table("a table", columns, rows)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert "privacy-constrained   4.22372778976   4.22372778977   z = 42.52" in lines[5]
    assert max(map(len, lines)) <= 80
    monkeypatch.setenv("COLUMNS", "40")  # nothing may be lost where they do not fit
    print_table("a table", columns, rows)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert sum(line.count("7") for line in lines) == 9


MISSPELT = {
    "command": (["verfy"], "verify"),
    "verb": (["ledger", "chrge", "l"], "charge"),
    "option": (["verify", "x", "--target-epsilo", "3"], "--target-epsilon"),
    "file": (["verify", "examples/loyd.toml", "-e", "3"], "lloyd.toml"),
    "data file": (["weights", "examples/lloyd.toml", "-e", "20", "--data", "examples/point.csv", "--out", "o.csv"], "points.csv"),
    "module": (["verify", "profiles.mechanisms.loyd:default", "-e", "3"], "lloyd"),
    "object": (["verify", "profiles.mechanisms.lloyd:defalt", "-e", "3"], "default"),
    "condition": (["verify", "examples/lloyd.toml", "-e", "3", "-c", "asumption-8"], "assumption-8"),
    "statistic": (["weight", "examples/lloyd.toml", "-e", "20", "--at", "Z=1"], "z"),
    "statistic of a data set": (
        ["weights", "examples/lloyd.toml", "-e", "20", "--data", "examples/points.csv", "-s", "zz=x", "--out", "o.csv"],
        "z",
    ),
    "column": (
        ["weights", "examples/lloyd.toml", "-e", "20", "--data", "examples/points.csv", "-s", "z=X", "--out", "o.csv", "--show-values"],
        "x",
    ),
    "norm": (["weights", "examples/lloyd.toml", "-e", "20", "--data", "examples/points.csv", "-s", "z=L2", "--out", "o.csv"], "l2"),
    "rule": (["epsilon", "examples/lloyd.toml", "--rule", "unifrm"], "uniform"),
    "constant": (["epsilon", "examples/lloyd.toml", "--rule", "uniform", "--constant", "rat=0.1"], "rate"),
    "symbol of q": (["epsilon", "examples/lloyd.toml", "--q", "1/beta_cout"], "beta_count"),
    "claim": (["claims", "--explain", "fay-2024-equation4"], "fay-2024-equation-4"),
    "paper": (["claims", "--paper", "fay2024"], "fay-2024"),
    "mechanism": (["audit", "profiles.mechanisms.laplace_sum:defaut", "--dataset", "[1]", "--neighbor", "[]"], "default"),
    "mechanism's file": (["audit", "slw.py:m", "--dataset", "[1]", "--neighbor", "[]"], "slow.py"),
    "mode": (["audit", "profiles.mechanisms.laplace_sum:default", "--dataset", "[1]", "--neighbor", "[]", "--mode", "fixd"], "fixed"),
    "statistic of a record": (
        ["audit", "profiles.mechanisms.laplace_sum:default", "--dataset", "[1]", "--neighbor", "[]", "--at", "Z=1"],
        "z",
    ),
}


@pytest.mark.thorough(quick=12)
@pytest.mark.parametrize(("arguments", "meant"), MISSPELT.values(), ids=MISSPELT.keys())
def test_errors_name_what_was_meant(pdp, folder, arguments, meant):
    (folder / "slow.py").write_text("m = None\n")
    result = pdp(*arguments)
    assert result.refused()
    assert re.search(rf"[Dd]id you mean '{re.escape(meant)}'(, '[a-z]+')*\?", result.err), result.err
    assert sorted(path.name for path in folder.iterdir()) == ["examples", "slow.py"]


@pytest.mark.parametrize(
    ("epsilon", "meant"), [("T*w/beta_cout", "beta_count"), ("T*w/beta", "beta_count"), ("sqr(w)*T/beta_count", "sqrt"), ("t*w", "T")]
)
def test_profiles_name_what_was_meant(epsilon, meant):
    with pytest.raises(PDPError, match=f"did you mean '{meant}'"):
        declare("p", epsilon, record={"z": [0, 1]}, parameters={"T": 2, "beta_count": 3})


def test_keys_of_a_profile_file(folder):
    (folder / "p.toml").write_text('name = "p"\nepsilon = "w"\n[recrod]\nz = [0, 1]\n')
    with pytest.raises(PDPError, match="did you mean 'record'"):
        load("p.toml")


def test_no_hint_where_nothing_is_near():
    assert suggest("entirely else", ["beta_count", "w"]) == ""
    assert suggest("w", ["w", "z"]) == ""
    assert suggest("", ["w"]) == ""


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("ver", ["verify"]),
        ("verify --condition assumption-1", ["assumption-11"]),
        ("verify examples/ll", ["examples/lloyd.toml"]),
        ("epsilon x --rule uni", ["uniform"]),
        ("claims --paper gh", ["ghazi-2024"]),
        ("audit profiles.mechanisms.ll", ["profiles.mechanisms.lloyd:default"]),
        ("audit x --mode f", ["fixed"]),
        ("ledger ver", ["verify"]),
        ("ledger charge l examples/ll", ["examples/lloyd.toml"]),
        ("ledger backup l --lo", ["--log"]),
        ("audit x --effort t", ["thorough"]),
        ("claims --explain fay-2024-equation-4-", ["fay-2024-equation-4-corrected"]),
    ],
)
def test_completion(folder, monkeypatch, capsys, words, completed):
    monkeypatch.setenv("_PDP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"pdp {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    with pytest.raises(SystemExit):
        make_app()(prog_name="pdp")
    assert capsys.readouterr().out.split() == completed


@pytest.mark.parametrize(
    ("words", "replaced_by"),
    [
        ("verify profiles.mechanisms.ll", ["profiles.mechanisms.lloyd:default"]),
        ("verify profiles.mechanisms.lloyd : de", ["default"]),
        ("verify profiles.mechanisms.lloyd :", ["default"]),
        ("epsilon examples/lloyd.toml --rule = uni", ["uniform"]),
        ("verify examples/ll", ["examples/lloyd.toml"]),
        ("ver", ["verify"]),
    ],
)
def test_completion_in_bash_which_takes_words_apart(folder, monkeypatch, capsys, words, replaced_by):
    monkeypatch.setenv("_PDP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(["pdp", *words.split()]))
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    with pytest.raises(SystemExit):
        invoke([])
    assert capsys.readouterr().out.split() == replaced_by


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_the_list_of_commands_is_that_of_the_whole_command_line(capsys, words):
    assert invoke(words) == 0
    listed = capsys.readouterr().out
    with pytest.raises(SystemExit):
        make_app()(["--help"], prog_name="pdp")
    assert capsys.readouterr().out == listed


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_after_a_while(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    for quiet, seen in ((0.0, True), (60.0, False)):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(progress, "QUIET", quiet)
        with progress.show_progress("weights", "records") as report:
            report(3_000, 10_000)
            for _ in range(3_000):
                if "3,000 of 10,000 records" in terminal.getvalue() or not seen:
                    break
                time.sleep(0.02)
        assert ("3,000 of 10,000 records" in terminal.getvalue()) is seen


def test_progress_is_not_shown_elsewhere(monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.0)
    for stream, term in ((io.StringIO(), "xterm"), (Terminal(), "dumb")):
        monkeypatch.setenv("TERM", term)
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.show_progress("weights") as report:
            report(1, None)
        assert not stream.getvalue()


@pytest.mark.thorough
def test_a_terminal_that_knows_ascii_only_is_no_reason_to_fail(folder):
    (folder / "p.toml").write_text('name = "ε-profil"\nepsilon = "w*z"\n[record]\nz = [1, 2]\n', encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "accountant.cli", "verify", "p.toml", "-e", "3", "-c", "assumption-8"]
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert "\\u03b5-profil" in found.stdout


def test_files_send_no_commands_to_a_terminal(pdp, folder):
    for text in ('{"format": "\\u001b[31mred"}', '{"a\\u001b]0;x\\u0007": 1}'):
        (folder / "c.json").write_text(text)
        result = pdp("check", "c.json")
        assert "\x1b" not in result.out + result.err
    assert "\x1b" not in pdp("verify", "\x1b[31m.toml", "-e", "3").err


@pytest.mark.parametrize("words", [["--help"], ["verify", "--help"]])
def test_help_is_fast_because_it_loads_little(words):
    program = f"import sys; from accountant.cli.main import invoke; invoke({words!r}); print(*sys.modules, file=sys.stderr)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(found.stderr.split())
    assert not loaded & {"sympy", "mpmath", "numpy", "flint", "scipy", "pyarrow", "sklearn", "rich"}
    assert ("accountant.cli.audit" in loaded) is (words == ["--help"])


def test_nothing_and_its_kin(pdp, folder):
    assert invoke([]) == 0
    assert "Examples:" in pdp("-h").out
    assert re.fullmatch(r"pdp-accountant \d+\.\d+\.\d+\S*\n", pdp("--version").out)
    assert "requires an argument" in pdp("verify", "examples/lloyd.toml", "-e").err
    assert "'pdp verify --help'" in pdp("verify").err
    assert pdp("claims", "--explain", "fay-2024-equation-4", "--refuted").refused()
