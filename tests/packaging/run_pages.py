"""Run the commands and programs of all pages with the wheel of DIST, not with the checkout: arguments DIST PYTHON.

The wheel is installed with its extra ``all`` in a clean environment. The pages, examples and tests are copied to a folder in which there
are no packages of ours, and the tests that run the blocks of the pages run there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("docs", "examples", "tests")
#: Libraries that the tests need beside the extra, and those that a page needs and ``all`` leaves out have tests that are skipped without.
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "mpmath", "markdown-it-py", "scikit-learn")
_WHERE = "import accountant, profiles, proofs_check; print(accountant.__file__, profiles.__file__, proofs_check.__file__)"


def copy_pages(folder: Path) -> None:
    """Copy pages, examples and tests, and none of the packages."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_generated"))
    shutil.copytree(ROOT / "benchmarks" / "results", folder / "benchmarks" / "results")
    for page in (*ROOT.glob("*.md"), ROOT / "pyproject.toml"):
        shutil.copy(page, folder)


def tests_of_pages() -> list[str]:
    """Return the tests that run blocks of pages: the one of most pages, and those that it leaves pages to."""
    text = (ROOT / "tests" / "documentation" / "test_blocks.py").read_text(encoding="utf-8")
    others = dict.fromkeys(re.findall(r'^    "[\w-]+\.md": "(tests/[\w/]+\.py)",$', text, re.MULTILINE))
    return ["tests/documentation/test_blocks.py", *others]


def main() -> None:
    """Install, copy, and run; exits with what pytest says."""
    dist, python = sys.argv[1:3]
    (wheel,) = Path(dist).resolve().glob("*.whl")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
        own, place = f"{folder}/venv/bin/python", Path(folder) / "pages"
        place.mkdir()
        install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[all]", *TOOLS]
        subprocess.run(install, check=True, env=environment)
        copy_pages(place)
        where = subprocess.run([own, "-c", _WHERE], cwd=place, env=environment, check=True, capture_output=True, text=True).stdout.split()
        if not all(Path(file).is_relative_to(Path(folder) / "venv") for file in where):
            sys.exit(f"the packages were imported from {where}, and not from the environment of the wheel")
        environment["PATH"] = f"{folder}/venv/bin{os.pathsep}{environment['PATH']}"
        command = [own, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests_of_pages()]
        sys.exit(subprocess.run(command, cwd=place, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
