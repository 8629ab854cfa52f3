"""Install the wheel of DIST in a clean environment of each PYTHON that is here, and run smoke.py there: arguments DIST PYTHON..."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def works(python: str) -> bool:
    """Tell whether there is such an interpreter (and not only a shim of that name)."""
    found = shutil.which(python)
    return found is not None and subprocess.run([found, "-c", "import venv"], capture_output=True, check=False).returncode == 0


def main() -> None:
    """Run the smoke test once for each Python; fail if one fails, or if none is here."""
    (wheel,) = Path(sys.argv[1]).resolve().glob("*.whl")
    version = wheel.name.split("-")[1]
    tested = 0
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for python in sys.argv[2:]:
        if not works(python):
            sys.stdout.write(f"{python}: not here, so nothing is tested with it\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
            own = f"{folder}/venv/bin/python"
            subprocess.run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)], check=True, env=environment)
            subprocess.run([own, "-m", "pip", "check"], check=True, env=environment, stdout=subprocess.DEVNULL)
            empty = Path(folder) / "empty"
            empty.mkdir()
            smoke = Path(__file__).with_name("smoke.py")
            subprocess.run([own, "-I", str(smoke), version], check=True, cwd=empty, env=environment)
            tested += 1
    if not tested:
        sys.exit(f"none of {', '.join(sys.argv[2:])} is here; name another: make dist DIST_PYTHONS=...")


if __name__ == "__main__":
    main()
