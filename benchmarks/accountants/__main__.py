"""Ask all accountants and print their answers: ``python -m benchmarks.accountants --peers FOLDER [--limit SECONDS]``.

FOLDER has an environment for each peer, named as the package: ``python -m venv FOLDER/opendp``, ``FOLDER/opendp/bin/pip install opendp``,
and so on for dp-accounting, prv-accountant, autodp (with ``scipy<1.14``, where it still finds what it calls) and opacus (``--no-deps``,
with numpy, scipy and opt_einsum: its accountants need no PyTorch).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from benchmarks.accountants import ours
from benchmarks.accountants.settings import SETTINGS, Setting

WORKERS = Path(__file__).parent / "workers"
PEERS = {
    "dp-accounting": ("dp_accounting", ("accountant", "default", "tuned")),
    "prv-accountant": ("prv_accountant", ("default", "tuned")),
    "opacus": ("opacus", ("prv", "prv tuned", "rdp", "gdp")),
    "autodp": ("autodp", ("gaussian", "rdp", "phi")),
    "opendp": ("opendp", ("default",)),
}
GAPS = ("1e-3", "1e-4")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
#: Below the truth by more than this share is called wrong, above it loose.
TOLERANCE = Fraction(1, 1000)


def ask(folder: Path, package: str, way: str, setting: Setting, limit: float) -> dict[str, Any]:
    """Put one setting to one way of a peer, in a process of its own that ends at the limit of processor time."""
    worker, _ = PEERS[package]
    command = [str(folder / package / "bin" / "python"), str(WORKERS / f"ask_{worker}.py"), way]
    # the shell takes limits of itself, then becomes the peer
    limited = ["sh", "-c", f'ulimit -t {ceil(limit)} && exec "$@"', "sh", *command]
    try:
        done = subprocess.run(
            limited, input=json.dumps(setting.task()), capture_output=True, text=True, env={**os.environ, **_ONE_THREAD}, check=False
        )
    except OSError as error:
        return {"problem": f"cannot be run ({error.strerror})"}
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"problem": f"not done after {limit:.0f} s"}
    if done.returncode or not done.stdout.strip():
        return {"problem": f"no answer, status {done.returncode}"}
    whole = json.loads(done.stdout.splitlines()[-1])
    return {**whole["ways"][way], "version": whole["version"], "peak_mb": whole["peak_mb"]}


def measure(setting: Setting, gap: str) -> dict[str, Any]:
    """Return our answer from a fresh process, so that nothing is remembered."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(ours.account, setting, gap).result()


def judge(answer: dict[str, Any], lower: Fraction, upper: Fraction) -> str:
    """Return what an answer is: wrong (below the truth), right, or loose, with how far."""
    if "problem" in answer:
        return f"no answer: {answer['problem']}"
    if not isinstance(answer["epsilon"], (int, float)):
        return f"no bound: {answer['epsilon']}"
    value = Fraction(answer["epsilon"])
    shown = f"{float(value):.6g} in {answer['seconds']:.2g} s"
    if value < lower * (1 - TOLERANCE):
        return f"{shown}: WRONG, {float(1 - value / lower):.2%} too small"
    if value < lower:
        return f"{shown}: too small by {float(1 - value / lower):.1e}"
    return f"{shown}: loose, {float(value / upper - 1):.1%} above" if value > upper * Fraction(102, 100) else f"{shown}: right"


def main(arguments: list[str]) -> int:
    """Ask everybody about every setting; print a list a setting, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of processor time that an answer may take")
    parser.add_argument("--fine", action="store_true", help="ours at a gap of 1e-4 as well, which all are then judged by")
    parser.add_argument("--out", type=Path, help="write all answers as JSON")
    chosen = parser.parse_args(arguments)
    records: list[dict[str, Any]] = []
    print(f"Python {platform.python_version()}, {platform.machine()}")
    for setting in SETTINGS:
        own = {gap: measure(setting, gap) for gap in (GAPS if chosen.fine else GAPS[:1])}
        truth = ours.closed_form(setting)
        lower, upper = (Fraction(list(own.values())[-1][end]) for end in ("lower", "upper"))
        if truth is not None and not lower <= truth <= upper:
            print(f"OUR ENCLOSURE IS WRONG: {setting.name}", file=sys.stderr)
            return 1
        print(f"\n{setting.name}")
        print(f"  truth: {'in our enclosure' if truth is None else f'{float(truth):.8g} (closed form)'}")
        for gap, found in own.items():
            checked = "checked by the kernel" if found["checked"] else "not checked by the kernel"
            print(f"  ours, gap {gap}: [{found['lower']}, {found['upper']}] in {found['seconds']:.2g} s, {found['peak_mb']} MB, {checked}")
        for package, (_, ways) in PEERS.items():
            for way in ways:
                answer = ask(chosen.peers, package, way, setting, chosen.limit)
                low, high = (lower, upper) if truth is None else (truth, truth)
                verdict = judge(answer, low, high)
                told = f" (it warns: {answer['warnings'][0]})" if way == "gdp" and answer.get("warnings") else ""
                print(f"  {package} {answer.get('version', '')} {way}: {verdict}{told}", flush=True)
                records.append({"setting": setting.task(), "peer": package, "way": way, "verdict": verdict, **answer})
        records.append({"setting": setting.task(), "peer": "ours", "own": own, "truth": None if truth is None else float(truth)})
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
