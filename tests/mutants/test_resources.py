"""No document takes the kernel more than ten seconds of a processor or 300 MB, or brings it down: it answers, nothing on stderr."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import proofs_check.kernel
from tests.mutants.attacks import ATTACKS
from tests.mutants.corpus import FOLDER, texts

KERNEL = Path(proofs_check.kernel.__file__).parent
#: The worst takes 5 seconds, and 8 on a core that shares its units with another busy one.
SECONDS, MEMORY = 10, 300 * 10**6
PATIENCE = 1_200  # real seconds: a machine may be busy, or stand still


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """The kernel in a folder of its own, started without anything of ours in reach."""
    folder = tmp_path_factory.mktemp("alone") / "kernel"
    shutil.copytree(KERNEL, folder, ignore=shutil.ignore_patterns("__pycache__"))

    def run(file, *flags):
        command = [sys.executable, "-I", "-O", *flags, str(folder / "__main__.py"), str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd="/", preexec_fn=_limit)

    return run


#: They use up the same allowance as "boxes of powers", five seconds each; ``make mutants`` runs them too.
LONG = ("boxes of exponentials", "many variables, boxes", "fine boxes", "boxes of many waves")
#: These use up what compositions are allowed.
LONG += ("many uses that do not grow", "many uses below", "points of a table", "long numbers", "far Gaussians")


@pytest.mark.thorough
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in ATTACKS])
def test_an_attack_is_answered(alone, tmp_path, name):
    file = tmp_path / "certificate.json"
    file.write_text(ATTACKS[name](), encoding="utf-8")
    done = alone(file)
    if done.returncode == 2:  # it is not told to be a certificate
        assert done.stdout == ""
        assert "is no file of a known format" in done.stderr
        return
    assert done.stderr == ""
    assert done.returncode in (0, 1)
    assert done.stdout.startswith("accepted\n" if done.returncode == 0 else "rejected at ")
    assert "MemoryError" not in done.stdout, done.stdout
    assert "RecursionError" not in done.stdout, done.stdout


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe{", b"{\xc3}", "{}".encode("utf-16"), b"\x80" * 1000, b"\xed\xa0\x80"])
def test_a_file_that_is_not_text_is_no_certificate(alone, tmp_path, content):
    file = tmp_path / "certificate.json"
    file.write_bytes(content)
    done = alone(file)
    assert (done.returncode, done.stdout[:11]) in ((2, ""), (1, "rejected at"))
    assert len(done.stderr.splitlines()) == (done.returncode == 2)


def test_an_endless_file_is_no_certificate(alone):
    done = alone("/dev/zero")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no file of a known format" in done.stderr


@pytest.mark.thorough
def test_the_kernel_alone_accepts_the_corpus(alone, tmp_path):
    driver = tmp_path / "driver.py"
    driver.write_text(
        "import sys\n"
        "before = set(sys.modules)\n"
        "sys.path.append(sys.argv[1])\n"
        "import kernel, pathlib\n"
        "used = {name.partition('.')[0] for name in set(sys.modules) - before} | before\n"
        "assert not {'profiles', 'proofs_check', 'accountant', 'sympy', 'mpmath', 'numpy', 'flint'} & used, used\n"
        "for name in ('profiles', 'proofs_check', 'accountant', 'sympy', 'mpmath'):\n"
        "    try:\n"
        "        __import__(name)\n"
        "    except ImportError:\n"
        "        continue\n"
        "    print('importable:', name)\n"
        "for path in sys.argv[2:]:\n"
        "    print(kernel.check(open(path, encoding='utf-8').read()).accepted)\n"
        "outside = [m for m in sys.modules if m.partition('.')[0] not in sys.stdlib_module_names | {'kernel', '__main__'}]\n"
        "print('outside:', [m for m in outside if not m.startswith('_')])\n",
        encoding="ascii",
    )
    shutil.copytree(KERNEL, tmp_path / "kernel", ignore=shutil.ignore_patterns("__pycache__"))
    files = [str(path) for path in sorted(FOLDER.glob("*.json"))]
    command = [sys.executable, "-I", "-S", "-O", str(driver), str(tmp_path), *files]  # -S: no installed packages either
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd="/")
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["True"] * len(texts()) + ["outside: []"]
