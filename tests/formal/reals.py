"""``make formal``, second part: what is proved over Coq's real numbers, and the axioms behind it.

The rules of the kernel (proofs_check/coq/rules.v), and what makes factors in proofs_check/formal those of losses (factors.v).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.formal.compile import FORMAL, has_coq, without_comments

RULES = FORMAL.parent / "coq" / "rules.v"
FACTORS = FORMAL.parent / "coq" / "factors.v"
#: Of Coq's real numbers: they are Dedekind cuts in classical logic.
AXIOMS = {"sig_not_dec", "sig_forall_dec", "functional_extensionality_dep", "classic"}


def theorems_of(file: Path) -> list[str]:
    """Return the names of the theorems of a file."""
    return re.findall(r"^Theorem (\w+)", without_comments(file.read_text(encoding="utf-8")), re.MULTILINE)


def axioms_of(file: Path, text: str | None = None) -> set[str]:
    """Compile a file, or another text in its place, and return the axioms of its theorems. Raises :class:`RuntimeError` where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        asked = f"Definition everything := ({', '.join('@' + name for name in theorems_of(file))}).\nPrint Assumptions everything.\n"
        (Path(folder) / file.name).write_text((text or file.read_text(encoding="utf-8")) + asked, encoding="utf-8")
        done = subprocess.run(["coqc", "-w", "none", file.name], cwd=folder, capture_output=True, text=True, check=False, timeout=280)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:500])
    return {name.split(".")[-1] for name in re.findall(r"^([\w.]+)\s*:", done.stdout, re.MULTILINE)} - {"Axioms"}


def main() -> int:
    """Compile and print."""
    if shutil.which("coqc") is None:
        sys.stdout.write("what is proved over the real numbers was not compiled: Coq is missing\n")
        return 1
    files = {"factors are those of losses": FACTORS}
    if has_coq("Coquelicot"):
        files["the kernel's rules"] = RULES
    else:
        sys.stdout.write("the kernel's rules were not compiled: as root, on Debian: apt-get install libcoq-interval\n")
    axioms = {what: axioms_of(file) for what, file in files.items()}
    for what, file in files.items():
        sys.stdout.write(f"{what}: {len(theorems_of(file))} theorems, on the axioms {', '.join(sorted(axioms[what]))}\n")
    return int(not all(item <= AXIOMS for item in axioms.values()))


if __name__ == "__main__":
    sys.exit(main())
