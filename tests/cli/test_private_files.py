"""Files with rows, weights, states, secrets or spending are for their owner's eyes (0600) unless ``--out`` named them."""

from __future__ import annotations

import ast
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from accountant.files import replace_files, write_files
from profiles import UnwritableOutput
from tests.packaging.dead_code import ROOT

#: Every place in the packages that makes a file: "public", "named" (by --out, or the argument of a function), "private" (0600), "nothing".
WRITERS = {
    "accountant/applications/heavyhitters/state.py": {"replace_file": "private", "os.open": "nothing"},  # a state; its lock
    "accountant/cli/account.py": {"write_files": "public"},  # curves, guarantees, a picture of the curve
    "accountant/cli/answers.py": {"write_whole": "public", "replace_file": "public"},  # what was released, and its guarantee
    "accountant/cli/audit.py": {"replace_file": "private"},  # outputs on two data sets
    "accountant/cli/calibrate.py": {"write_whole": "public"},
    "accountant/cli/check.py": {"replace_file": "public"},
    "accountant/cli/compose.py": {"write_whole": "public"},
    "accountant/cli/epsilon.py": {"write_files": "public"},
    "accountant/cli/kmeans.py": {"replace_files": "public"},  # centres that were released
    "accountant/cli/ledger_verbs/charging.py": {"write_whole": "public"},  # a stored release
    "accountant/cli/ledger_verbs/outsiders.py": {"write_whole": "public", "replace_file": "private"},  # the log for everybody; statements
    "accountant/cli/ledger_verbs/reporting.py": {"write_whole": "public"},  # a guarantee, a composition, a page for everybody
    "accountant/cli/pictures.py": {"replace_file": "named"},  # public numbers; a target that comes from the data is private
    "accountant/cli/release.py": {"write_files": "public"},  # answers that were released, their certificate and guarantee
    "accountant/cli/report.py": {"write_whole": "public"},
    "accountant/cli/second_opinion.py": {"replace_file": "public"},
    "accountant/cli/verify.py": {"write_whole": "public"},
    "accountant/cli/weight.py": {"write_whole": "public"},
    "accountant/cli/weights.py": {"write_whole": "public"},
    "accountant/data/writers.py": {"replace_file": "named"},  # weights of every row
    "accountant/files.py": {"os.open": "nothing", "replace_file": "public", "replace_files": "public"},  # the one writer itself
    "accountant/interop/loops.py": {"replace_files": "public"},  # the certificate and the guarantee of a training run
    "accountant/ledger/anchor.py": {"open": "public", "os.open": "public"},  # sequence numbers and hashes
    "accountant/ledger/backup.py": {"replace_file": "private"},
    "accountant/ledger/journal.py": {"os.open": "private"},  # the secret
    "accountant/ledger/sqlite.py": {"os.open": "private"},  # the ledger
    "accountant/ledger/tables/versions.py": {"open": "private", "os.open": "private"},  # whose table it is; hashes, spending and codes
    "accountant/ledger/writing.py": {"replace_file": "private"},  # the rows that take part
    "accountant/report/writing.py": {"write_whole": "public"},
    "accountant/samples/drawing.py": {"replace_files": "named"},  # a sample; its certificate is private where it has private figures
    "accountant/data/weighing.py": {"TemporaryFile": "nothing"},  # without a name
    "proofs_check/coq/session.py": {"TemporaryDirectory": "nothing", "write_text": "nothing"},
}
_MAKING = {"replace_file", "replace_files", "write_whole", "write_text", "write_bytes", "TemporaryFile", "NamedTemporaryFile", "mkstemp"}
_MAKING |= {"write_files", "TemporaryDirectory", "savefig", "to_csv", "copyfile", "copy2"}


def _find_writers(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        of_os = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "os"
        modes = [item.value for item in [*node.args, *(item.value for item in node.keywords)] if isinstance(item, ast.Constant)]
        if name == "open" and of_os and "O_CREAT" in {getattr(item, "attr", "") for item in ast.walk(node)}:
            found.add("os.open")
        elif name == "open" and any(isinstance(item, str) and len(item) <= 3 and set(item) & set("wax") for item in modes):
            found.add("open")
        elif name in _MAKING and not (name == "savefig" and isinstance(node.args[0], ast.Name)):  # into a stream
            found.add(name)
    return found


def test_every_writer_is_known_and_says_whether_what_it_writes_is_private() -> None:
    """A new one fails here: say what its file holds."""
    found = {}
    for package in ("accountant", "profiles", "proofs_check"):
        for path in sorted((ROOT / package).rglob("*.py")):
            calls = _find_writers(ast.parse(path.read_text(encoding="utf-8")))
            if calls:
                found[path.relative_to(ROOT).as_posix()] = calls
    assert found == {path: set(known) for path, known in WRITERS.items()}
    for path, known in WRITERS.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        if known.get("replace_file") == "private":
            assert "private=True" in text, path
        if known.get("os.open") == "private":
            assert "0o600" in text, path


LEDGER = ("--data", "people.csv", "--key", "id", "--budget", "4", "--anchor", "l.anchor", "--mode", "individual")
CHARGE = ("ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--partial")
#: Commands in order, and which of the files that they make are for their owner's eyes.
COMMANDS: list[tuple[tuple[str, ...], set[str]]] = [
    (("ledger", "init", "l", *LEDGER), {"l", "l.key", "l.anchor.lock"}),
    ((*CHARGE, "--name", "one"), {"l.one.active.csv"}),
    ((*CHARGE, "--name", "two", "--active", "two.csv"), {"two.csv"}),
    ((*CHARGE, "--name", "three", "--active", "three.parquet"), {"three.parquet"}),
    (
        ("ledger", "release", "l", "c", "--partial", "--mechanism", "profiles.mechanisms.weighted_count:default", "--out", "count.json"),
        set(),
    ),
    (("ledger", "report", "l", "--guarantee", "l.json", "--composition", "l.toml"), set()),
    (("ledger", "backup", "l", "--log", "l.log"), {"l.log"}),
    (("ledger", "migrate", "l", "m", "--anchor", "m.anchor"), {"m", "m.key", "m.anchor.lock"}),
    (("sample", "sum.toml", "-e", "3", "--data", "people.csv", "-s", "z=income", "--out", "s.csv"), set()),
    (
        ("sample", "sum.toml", "-e", "3", "--data", "people.csv", "-s", "z=income", "--out", "t.csv", "--include-private"),
        {"t.csv.certificate.json"},
    ),
    (("weights", "sum.toml", "-e", "3", "--data", "people.csv", "-s", "z=income", "--out", "w.csv"), set()),
    (("kmeans", "points.csv", "-k", "2", "-e", "1", "--radius", "4", "--out", "c.csv", "--certificate", "k.json"), set()),
    (("audit", "profiles.mechanisms.laplace_sum:default", "--dataset", "[1, 2]", "--neighbor", "[1]", "--claimed", "5", "--samples", "2000",
      "--plot", "a.svg"), {"a.svg"}),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\ncleo,2\n")
    Path("sum.toml").write_text('name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    np.savetxt("points.csv", np.random.default_rng(0).uniform(-1, 1, (300, 2)), delimiter=",", header="x,y", comments="")
    old = os.umask(0o022)
    yield tmp_path
    os.umask(old)


@pytest.mark.thorough
def test_what_commands_write_of_the_data_is_for_its_owners_eyes(pdp, folder: Path) -> None:
    for words, private in COMMANDS:
        before = set(os.listdir())
        result = pdp(*words)
        assert result.code in (0, 1, 3), (words, result.err)
        made = {name: stat.S_IMODE(Path(name).stat().st_mode) for name in set(os.listdir()) - before}
        assert {name for name, mode in made.items() if not mode & 0o077} == private, (words, made)
        assert all(mode == 0o644 for name, mode in made.items() if name not in private), (words, made)


def test_rows_of_a_charge_are_written_for_their_owners_eyes(pdp, folder: Path) -> None:
    """Was: 0644, unasked, and where a file of another mode was there."""
    Path("two.csv").write_text("")
    assert pdp("ledger", "init", "l", *LEDGER).code == 0
    told = pdp(*CHARGE, "--name", "one")
    assert "for your eyes only" in " ".join(told.out.split())
    assert pdp(*CHARGE, "--name", "two", "--active", "two.csv").code == 0
    for name in ("l", "l.key", "l.one.active.csv", "two.csv"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600, name


def test_a_private_file_stands_beside_a_public_one(folder: Path) -> None:
    one, other = Path("one"), Path("other")
    with replace_files(one, other, private=(other,)) as (first, second):
        first.write(b"1")
        second.write(b"2")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (one, other)] == [0o644, 0o600]


def test_files_that_are_written_together_are_all_written_or_none(tmp_path):
    """Also where the system refuses the last one when the first has its place already, as in a folder of others' files."""
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    first.write_text("earlier")

    def write():
        with replace_files(first, second, third) as streams:
            for stream in streams:
                stream.write(b"new")
            third.mkdir()

    with pytest.raises(UnwritableOutput, match="third"):
        write()
    assert first.read_text() == "earlier"
    third.rmdir()
    assert list(tmp_path.iterdir()) == [first]
    write_files({first: b"1", second: b"2"})
    write_files({first: b"3", second: b"4"})
    assert sorted((path.name, path.read_text()) for path in tmp_path.iterdir()) == [("first", "3"), ("second", "4")]
    with pytest.raises(UnwritableOutput, match="null byte"):
        write_files({first: b"5", tmp_path / "a\0b": b"6"})
    assert first.read_text() == "3"
