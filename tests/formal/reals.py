"""``make formal``, second part: the rules of the kernel over Coq's real numbers (proofs_check/coq/rules.v), and the axioms behind them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.formal.compile import FORMAL, without_comments

RULES = FORMAL.parent / "coq" / "rules.v"
#: Of Coq's real numbers: they are Dedekind cuts in classical logic.
AXIOMS = {"sig_not_dec", "sig_forall_dec", "functional_extensionality_dep", "classic"}


def theorems_of_rules() -> list[str]:
    """Return the names of the theorems."""
    return re.findall(r"^Theorem (\w+)", without_comments(RULES.read_text(encoding="utf-8")), re.MULTILINE)


def axioms_of_rules() -> set[str]:
    """Compile the theorems and return the axioms that they rest on. Raises :class:`RuntimeError` where they do not compile."""
    with tempfile.TemporaryDirectory() as folder:
        asked = f"Definition all_rules := ({', '.join('@' + name for name in theorems_of_rules())}).\nPrint Assumptions all_rules.\n"
        (Path(folder) / "rules.v").write_text(RULES.read_text(encoding="utf-8") + asked, encoding="utf-8")
        done = subprocess.run(["coqc", "-w", "none", "rules.v"], cwd=folder, capture_output=True, text=True, check=False, timeout=280)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:500])
    return {name.split(".")[-1] for name in re.findall(r"^([\w.]+)\s*:", done.stdout, re.MULTILINE)} - {"Axioms"}


def main() -> int:
    """Compile and print."""
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=False).stdout.strip() if shutil.which("coqc") else ""
    if not where or not (Path(where) / "user-contrib" / "Coquelicot").is_dir():
        sys.stdout.write("the kernel's rules were not compiled: as root, on Debian: apt-get install libcoq-interval\n")
        return 0
    axioms = axioms_of_rules()
    sys.stdout.write(f"the kernel's rules: {len(theorems_of_rules())} theorems, on the axioms {', '.join(sorted(axioms))}\n")
    return int(not axioms <= AXIOMS)


if __name__ == "__main__":
    sys.exit(main())
