"""`make formal`: compiles proofs_check/formal from scratch and fails unless every theorem is proved from nothing but Coq's logic."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.formal.evaluate import disagreements

FORMAL = Path(__file__).resolve().parents[2] / "proofs_check" / "formal"

#: The files, each after those that it requires.
FILES = (
    "laws",
    "basic",
    "composition",
    "sampling",
    "lists",
    "calibration",
    "calibration_rounds",
    "filter",
    "telling",
    "approximate",
    "dominating",
    "losses",
    "renyi",
    "renyi_sampling",
    "renyi_filter",
    "executable",
    "repeated",
    "truncation",
    "statistics",
)
PACKAGES = "coq libcoq-mathcomp-ssreflect libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics"
QUIET = ["-w", "-notation-overridden,-ambiguous-paths"]

#: Wrong definitions: (file, what stands there, what is put in its place). Each has to make a proof fail.
MUTANTS = (
    ("sampling", "(if x \\in S then q x else 1 - q x)", "(if x \\in S then q x * q x else 1 - q x)"),  # q squared for q
    ("sampling", "Definition psi_plus q (E : R -> X -> R) x := 1 + q x *", "Definition psi_plus q (E : R -> X -> R) x := 1 + q x * q x *"),
    ("filter", "then spent before * c before else spent before\n", "then spent before * c before else 1\n"),  # the spending is reset
    ("filter", "Definition active past := spent past * c past <= B.", "Definition active past := spent past <= B."),  # checked too early
    ("approximate", "Definition hs a P Q := \\sum_o pos (P o - a * Q o).", "Definition hs a P Q := \\sum_o pos (P o - Q o)."),
    ("renyi", "\\sum_o Q o * (P o / Q o) ^+ k.", "\\sum_o P o * (P o / Q o) ^+ k."),  # the mean under the other law: the next order
    ("renyi_sampling", "(1 - q) * F o + q * G o.", "(1 - q * q) * F o + q * q * G o."),
    ("renyi_filter", "renyi k (c u past ^+ h)", "renyi k (c u past ^+ h.+1)"),  # rounds cost more than is charged
    ("telling", "if tell D (taking_part D before) == ov.2", "if tell set0 (taking_part set0 before) == ov.2"),  # tells nothing
    ("calibration_rounds", "(E^-1 <= 1 - p * (1 - E0 ^- L)).", "(E^-1 <= 1 - p * (1 - E0^-1))."),  # one round for L
    ("lists", "q x * list_importance q (fun r => M ((x, (q x)^-1) :: r)) s' o", "q x * list_importance q (fun r => M ((x, 1) :: r)) s' o"),
    ("losses", "(ml.1 * kr.1, ml.2 * kr.2)", "(ml.1 * kr.1, ml.2 + kr.2)"),  # factors add up
    ("executable", "(qmul (qsub q1 (q x)) (list_", "(qmul (qsub q1 (qmul (q x) (q x))) (list_"),
    ("executable", "if Qle_bool s' B then s' else s", "if Qle_bool s' B then s' else q1"),
)


def has_coq(library: str) -> bool:
    """Whether Coq is here, and a library of it that does not come with it."""
    if shutil.which("coqc") is None:
        return False
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=False).stdout.strip()
    return (Path(where) / "user-contrib" / library).is_dir()


def without_comments(text: str) -> str:
    """Return Coq text without its comments, which are not nested here."""
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def theorems() -> dict[str, str]:
    """Return every named statement of the folder that is called a theorem, with its file."""
    return {
        name: file
        for file in FILES
        for name in re.findall(r"^Theorem (\w+)", without_comments((FORMAL / f"{file}.v").read_text(encoding="utf-8")), re.MULTILINE)
    }


def compile_file(file: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compile one file in a folder where the files that it requires are compiled."""
    return subprocess.run(
        ["coqc", "-Q", ".", "PDP", *QUIET, f"{file}.v"], cwd=folder, capture_output=True, text=True, check=False, timeout=280
    )


def compile_all(folder: Path, changed: Mapping[str, str] | None = None, files: tuple[str, ...] = FILES) -> str | None:
    """Compile the files in ``folder`` from scratch, some with another text; return the first error, None if there is none."""
    for file in files:
        text = (changed or {}).get(file) or (FORMAL / f"{file}.v").read_text(encoding="utf-8")
        (folder / f"{file}.v").write_text(text, encoding="utf-8")
        done = compile_file(file, folder)
        if done.returncode:
            return f"{file}.v: {done.stderr.strip()}"
    return None


def open_assumptions(folder: Path) -> list[str]:
    """Return what the theorems of a compiled folder rest on besides Coq's logic: nothing, if the tuple of all of them is closed."""
    proofs = ", ".join(f"@PDP.{file}.{name}" for name, file in theorems().items())
    lines = [f"From PDP Require {' '.join(FILES)}.", f"Definition all_theorems := ({proofs}).", "Print Assumptions all_theorems."]
    (folder / "assumptions.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = compile_file("assumptions", folder)
    if done.returncode:
        return [f"Coq did not print the assumptions: {done.stderr.strip()[:500]}"]
    return [] if done.stdout.strip() == "Closed under the global context" else [done.stdout.strip()]


def surviving_mutants(folder: Path) -> list[str]:
    """Return the wrong definitions that made no proof fail, each compiled where the files before it are compiled."""
    found = []
    for file, old, new in MUTANTS:
        text = (FORMAL / f"{file}.v").read_text(encoding="utf-8")
        if text.count(old) < 1:
            found.append(f"{file}: {old!r} is not there")
        elif compile_all(folder, {file: text.replace(old, new)}, (file,)) is None:
            found.append(f"{file}: {new!r}")
    return found


def main() -> int:
    """Compile, list, and attack; print what was found."""
    if shutil.which("coqc") is None:
        sys.stdout.write(f"formal proofs were not compiled: Coq is missing here; on Debian, as root: apt-get install {PACKAGES}" + "\n")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        error = compile_all(folder)
        if error is not None:
            sys.stdout.write(f"formal proofs: {error}" + "\n")
            return 1
        wrong = open_assumptions(folder)
        wrong += disagreements(folder)
        wrong += [f"a wrong definition made no proof fail: {item}" for item in surviving_mutants(folder)]
    for item in wrong:
        sys.stdout.write(item + "\n")
    if not wrong:
        sys.stdout.write(
            f"formal proofs: {len(theorems())} theorems, each closed under the global context; {len(MUTANTS)} wrong definitions fail; "
            "the definitions have the values that are enumerated" + "\n"
        )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
