"""``make formal``, third part: the verified checker (proofs_check/coq/verified) compiled from scratch, its axioms, and wrong checkers."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from proofs_check.coq.verifying import FILES
from tests.formal.compile import FORMAL, has_coq
from tests.formal.reals import AXIOMS

FOLDER = FORMAL.parent / "coq" / "verified"
#: What `pdp check --verified` applies.
THEOREM = "accepted_is_true"

#: Wrong checkers: (file, what stands there, what is put in its place). Each has to make a proof of soundness fail.
MUTANTS = (
    ("terms", "| Ln a => defined e a /\\ 0 < eval e a", "| Ln a => defined e a"),  # the logarithm of anything
    ("terms", "| Sqrt a => smooth e a /\\ 0 < eval e a", "| Sqrt a => smooth e a"),  # the root has a slope at 0
    ("terms", "Add (Mul (diff v a) b) (Mul a (diff v b))", "Mul (diff v a) (diff v b)"),  # a wrong derivative
    ("enclosures", "let from := I.upper_extent (number", "let from := I.lower_extent (number"),  # the wrong side of a range
    ("signs", "if opened r then 2%nat else 1%nat", "2%nat"),  # x >= 0 taken for x > 0
    ("signs", "| Ln x => shown x && Nat.eqb (sign x) 2", "| Ln x => shown x"),  # a logarithm that is not shown to be defined
    ("signs", "if Nat.even n then 1%nat else 0%nat", "1%nat"),  # odd powers taken for even ones
    ("fields", "| Sqrt a :: rest => match polynomial l a with", "| Sqrt a :: rest => match polynomial l (Mul a a) with"),
    ("fields", "covered l s && covered l t &&", "covered l s &&"),
    (
        "checker",
        "is_shown f b s && check f b s true positive && check f b (Mul s t)",
        "is_shown f b s && check f b (Mul s t)",
    ),  # any factor
    ("checker", "(negb strict || sx || sy) && check f b x", "check f b x"),  # a strict sum of what is not strict
    ("checker", "is_shown f b s && same f t s && check f b s strict rest", "is_shown f b s && check f b s strict rest"),  # any other term
    ("checker", "is_shown f b s && same f t s && check", "same f t s && check"),  # a term that is not defined
    ("checker", "(if opened r then rlt (low r) at_ else rle (low r) at_) &&", "true &&"),  # cut outside of the range
    ("checker", "check f b s false of_slope && check f b (subst", "check f b (subst"),  # no slope
    ("checker", "if opened r then None else Some (low r)", "Some (low r)"),  # an end that does not belong to the range
    ("checker", "negb (Nat.eqb (sign_in f b t) 0) && same f a (Mul t t)", "same f a (Mul t t)"),  # a negative root
    ("checker", "same f t (subst (length b) a g) && check f b' g", "check f b' g"),  # an instance of something else
    ("checker", "negb strict && expr_eqb t (Add (Add (Exp m)", "expr_eqb t (Add (Add (Exp m)"),  # the tangent touches
    ("checker", "negb strict && check f b x false px", "negb strict || check f b x false px"),
)


def compile_checker(folder: Path, changed: Mapping[str, str] | None = None, files: tuple[str, ...] = FILES) -> str | None:
    """Compile the files in ``folder``, some with another text; return the first error, None if there is none."""
    for file in files:
        text = (changed or {}).get(file) or (FOLDER / f"{file}.v").read_text(encoding="utf-8")
        (folder / f"{file}.v").write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["coqc", "-q", "-w", "none", "-R", ".", "PDPVerified", f"{file}.v"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
        if done.returncode:
            return f"{file}.v: {done.stderr.strip()}"
    return None


def axioms_of_checker(folder: Path) -> set[str]:
    """Return the axioms that the theorem rests on, in a folder where the files are compiled."""
    (folder / "asked.v").write_text(f"From PDPVerified Require Import checker.\nPrint Assumptions {THEOREM}.\n", encoding="utf-8")
    done = subprocess.run(
        ["coqc", "-q", "-w", "none", "-R", ".", "PDPVerified", "asked.v"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=280,
    )
    return {name.split(".")[-1] for name in re.findall(r"^([\w.]+)\s*:", done.stdout, re.MULTILINE)} - {"Axioms"}


def surviving_mutants(folder: Path) -> list[str]:
    """Return the wrong checkers that made no proof fail, each compiled where the right files before it are compiled."""
    found = []
    for file, old, new in MUTANTS:
        text = (FOLDER / f"{file}.v").read_text(encoding="utf-8")
        if old not in text:
            found.append(f"{file}: {old!r} is not there")
        elif compile_checker(folder, {file: text.replace(old, new)}, (file,)) is None:
            found.append(f"{file}: {new!r}")
        compile_checker(folder, None, (file,))
    return found


def main() -> int:
    """Compile, list, and attack; print what was found."""
    if not has_coq("Interval"):
        sys.stdout.write("the verified checker was not compiled: as root, on Debian: apt-get install libcoq-interval\n")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        error = compile_checker(folder)
        if error is not None:
            sys.stdout.write(f"the verified checker: {error}\n")
            return 1
        axioms = axioms_of_checker(folder)
        wrong = [f"a wrong checker made no proof fail: {item}" for item in surviving_mutants(folder)]
    wrong += [f"it rests on {item}" for item in sorted(axioms - AXIOMS)]
    for item in wrong:
        sys.stdout.write(f"the verified checker: {item}\n")
    if not wrong:
        sys.stdout.write(f"the verified checker: sound, on the axioms {', '.join(sorted(axioms))}; {len(MUTANTS)} wrong checkers fail\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
