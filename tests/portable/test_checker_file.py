"""The kernel as one file: the same bytes everywhere, below 200 kB, nothing else needed, and of one mind with ``pdp check``."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from accountant.checking import check_text
from accountant.cli.main import invoke
from proofs_check.archive import checker_digest, kernel_sources, make_checker
from proofs_check.kernel import check
from proofs_check.kernel.__main__ import main
from proofs_check.kernel.untrusted.formats import FORMATS, OWN, say_other
from tests.mutants.attacks import COMPOSITIONS
from tests.mutants.corpus import texts
from tests.portable.suite import make_limits, make_suite

OTHERS = [name for minor in range(11, 16) if shutil.which(name := f"python3.{minor}")]
#: Checks every file of a folder with the checker's own command, in one process.
MANY = "import sys, zipimport; sys.path.insert(0, sys.argv[1]); from kernel.__main__ import main; "
MANY += "[print('-- exit', main([f])) for f in sys.argv[2:]]"


@pytest.fixture(scope="module")
def checker(tmp_path_factory):
    """The file, alone in a folder."""
    file = tmp_path_factory.mktemp("alone") / "checker.pyz"
    assert invoke(["check", "--export", str(file)]) == 0
    return file


def run(*arguments, cwd):
    """Run a command in an environment that has nothing."""
    return subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=False, env={}, cwd=cwd)


def test_the_file_is_small_and_holds_the_sources_as_they_are(checker):
    data = checker.read_bytes()
    assert len(data) < 240_000
    assert data == make_checker()
    assert hashlib.sha256(data).hexdigest() == checker_digest()
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    found = {name.removeprefix("kernel/"): archive.read(name) for name in archive.namelist() if name != "__main__.py"}
    assert found == kernel_sources()
    assert checker_digest() in (Path(__file__).parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")


@pytest.mark.thorough
@pytest.mark.parametrize("python", OTHERS)
def test_every_python_makes_the_same_bytes(python):
    code = "import sys; sys.path.insert(0, '.'); from proofs_check.archive import checker_digest; print(checker_digest())"
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    if done.returncode:
        pytest.skip(f"{python} does not run")
    assert done.stdout.strip() == checker_digest()


def test_it_runs_where_there_is_nothing_else(checker, tmp_path):
    (tmp_path / "good.json").write_text(texts()["lloyd"], encoding="ascii")
    (tmp_path / "bad.json").write_text(texts()["lloyd"].replace('"20"', '"1"', 1), encoding="ascii")
    done = run(sys.executable, "-I", "-O", checker, "good.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("accepted\n")
    done = run(sys.executable, "-I", "-O", checker, "bad.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("rejected at claims[1].proof.bound")
    assert run(sys.executable, "-I", "-O", checker, "none.json", cwd=tmp_path).returncode == 2


#: Texts by what a rejected one is said to be: ``None`` where it stays rejected.
TOLD = {
    **{json.dumps({"format": kind, "version": 1}): kind for kind in FORMATS if kind.startswith("pdp-") and kind != OWN},
    '{"format": "pdp-kmeans-certificate", "version": 1, "proof": {"format": "pdp-certif': "pdp-kmeans-certificate",
    '{"curve": {"format": "pdp-certificate"}, "format": "pdp-kmeans-certificate"}': "pdp-kmeans-certificate",
    'name = "sum"\nepsilon = "w*z"\n': "profile file",
    'name = "sums"\nunit = "user"\n\n[[event]]\nmechanism = "zcdp"\nrho = "1"\n': "composition file",
    '<!DOCTYPE html>\n<html><head><meta name="generator" content="pdp-accountant 0.1.0"></head></html>': "report",
    "pdp-ledger-anchor 1 0f\n": "pdp-ledger-anchor",
    '{"format": "pdp-ledger-log", "version": 1}\n{"first": 0}\n': "pdp-ledger-log",
    **dict.fromkeys(("", "{}", "[" * 9999, "<!DOCTYPE html>", '{"format": "pdp-other"}', '{"format": ["pdp-guarantee"]}', "a\n1\n"), ""),
    **dict.fromkeys(['{"format": "pdp-certificate"' + rest for rest in ("}", ', "version": 2', ', "version": true}', ', "a": 1, "a": 1}')]),
}


@pytest.mark.parametrize("text", TOLD, ids=range(len(TOLD)))
def test_what_the_kernel_cannot_judge_alone_is_named(text, tmp_path, capsys):
    (tmp_path / "other.json").write_text(text, encoding="ascii")
    code, name = main([str(tmp_path / "other.json")]), TOLD[text]
    out, err = capsys.readouterr()
    if name is None:
        assert (code, err) == (1, "")
        assert out.startswith("rejected at certificate: ")
        return
    said = f"is a {name}, which says more than the kernel alone can judge; run pdp check on it" if name else "is no file of a known format"
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_later_version_is_not_called_rejected(tmp_path, capsys):
    (tmp_path / "later.json").write_text(texts()["lloyd"].replace('"version":1', '"version":3'), encoding="ascii")
    assert main([str(tmp_path / "later.json")]) == 2
    assert "is a pdp-certificate of another version than 1 or 2; use the release that wrote it" in capsys.readouterr().err


def test_the_file_names_what_it_cannot_judge(checker, tmp_path):
    (tmp_path / "other.json").write_text('{"format": "pdp-kmeans-certificate"}', encoding="ascii")
    done = run(sys.executable, "-I", "-O", checker, "other.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("'other.json' is a pdp-kmeans-certificate, which says more")


def test_a_verdict_can_be_printed_whatever_the_text(checker, tmp_path):
    (tmp_path / "odd.json").write_text('{"format": "pdp-certificate", "\\ud800\u0378": 2}', encoding="utf-8")
    done = run(sys.executable, "-I", checker, "odd.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.isascii()
    assert "\\ud800" in done.stdout


#: True claims about events that are outside of what the command accounts for: it lists events with what they suppose, and refuses others.
STRICTER = {"attack losses that add up", "zcdp at 5e8", "zcdp at 799999999"}


def agree(checker, folder, suite):
    """Check that ``pdp check`` and the file give the same verdict, step and reason for each text; or that the command is the stricter."""
    files = {}
    for i, (name, text) in enumerate(suite.items()):
        try:
            (folder / f"{i}.json").write_text(text, encoding="utf-8")
            files[f"{i}.json"] = name
        except UnicodeEncodeError:
            assert "surrogate" in name
    done = run(sys.executable, "-I", "-O", "-c", MANY, checker, *files, cwd=folder)
    others = {name for name, text in suite.items() if say_other(text)}
    assert len(done.stderr.splitlines()) == len(others & {*files.values()})
    said = [part.strip().splitlines() for part in done.stdout.split("-- exit ")]
    for (file, name), lines, ending in zip(files.items(), said, said[1:], strict=False):
        if name in others:
            assert ending[0] == "2", name
            continue
        report = check_text((folder / file).read_text(encoding="utf-8"))
        if report.step == "pdp-certificate":
            assert name in STRICTER
            assert (report.accepted, report.reason[:40]) == (False, "an event of a composition cannot be read")
            report = check(suite[name])
        verdict = lines[1] if lines[0] in ("0", "1", "2") else lines[0]
        assert ending[0] == ("0" if report.accepted else "1"), name
        rejected = f"rejected at {report.step}: {report.reason}".encode("ascii", "backslashreplace").decode()
        assert verdict == ("accepted" if report.accepted else rejected.strip()), name


def test_the_command_and_the_file_agree(checker, tmp_path):
    agree(checker, tmp_path, dict([*texts().items()][::9]) | dict([*make_limits()][::29]))


def test_the_command_is_the_stricter_one(checker, tmp_path):
    suite = {
        name: text
        for name, text in (*make_limits(), *((f"attack {name}", make()) for name, make in COMPOSITIONS.items()))
        if name in STRICTER
    }
    assert suite.keys() == STRICTER
    assert [check_text(text).step for text in suite.values()] == ["pdp-certificate"] * len(STRICTER)
    agree(checker, tmp_path, suite)


@pytest.mark.thorough
def test_the_command_and_the_file_agree_on_the_suite(checker, tmp_path):
    agree(checker, tmp_path, dict([*make_suite().items()][::4]))


@pytest.mark.slow
def test_the_command_and_the_file_agree_on_all_of_it(checker, tmp_path):
    agree(checker, tmp_path, make_suite())


def test_what_is_no_use_is_one_line(tmp_path, capsys):
    for arguments in (["check"], ["check", "--export", "x.pyz", "y.json"], ["check", "--export", str(tmp_path)]):
        assert invoke(arguments) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) <= 3
