"""Run the comparison and print its table. ``python -m benchmarks.auditors --python ENV/bin/python --peers PATH PATH PATH``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.auditors import ours
from benchmarks.auditors.cases import CASES

PACKAGES = {"dp-sniper": "dpsniper", "statdp": "statdp", "dp-auditorium": "dp_auditorium"}
TOOLS = (*PACKAGES, "ours")
ROOT = Path(__file__).resolve().parents[2]
CORES = 2
#: Ours is run so many times as often: it is fast, and a median of more runs is steadier.
OWN_REPEATS = 3
Record = dict[str, Any]


def checkouts(paths: list[Path]) -> dict[str, Path]:
    """Which peer is found in which directory."""
    return {tool: path for tool, package in PACKAGES.items() for path in paths if (path / package / "__init__.py").is_file()}


def ask(tool: str, path: Path, chosen: argparse.Namespace, task: Record) -> Record:
    """Put a task to a worker in the peers' environment, and end it and its processes at the limit."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{path.resolve()}",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    environment |= {"OMP_NUM_THREADS": str(CORES), "PYTHONWARNINGS": "ignore"}
    command = [str(chosen.python), "-m", f"benchmarks.auditors.workers.{tool.replace('-', '_')}"]
    log = None if chosen.verbose else subprocess.DEVNULL
    worker = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
    )
    try:
        answer, _ = worker.communicate(json.dumps(task), timeout=chosen.limit)
        return json.loads(answer) if answer else {"problem": f"no answer, status {worker.returncode}"}
    except subprocess.TimeoutExpired:
        return {"problem": f"not done after {chosen.limit:.0f} s"}
    finally:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


def measure(tool: str, name: str, chosen: argparse.Namespace, known: list[Record]) -> Record:
    """Run a tool on a case, with the setting found for it before, if any."""
    shared = {"samples": chosen.samples, "confidence": chosen.confidence}
    repeats = chosen.repeats * (OWN_REPEATS if tool == "ours" else 1)
    task = {"case": name, **shared, "repeats": repeats, "seed": chosen.seed}
    found = [
        item["setting"]
        for item in known
        if (item["tool"], item["case"]) == (tool, name) and "setting" in item and item["task"].items() >= shared.items()
    ]
    if found:
        task["setting"] = found[-1]
    path = checkouts(chosen.peers).get(tool)
    if tool == "ours":
        answer = ours.run(task)
    elif path is None:
        answer = {"problem": f"no directory of --peers has {PACKAGES[tool]}"}
    else:
        answer = ask(tool, path, chosen, task)
    return {"tool": tool, "case": name, "task": {**task, "load": os.getloadavg()[0]}, **answer}


def cell(item: Record | None) -> str:
    """Bound and seconds, or the problem."""
    if item is None:
        return ""
    return f"{max(item['bound'], 0.0):.4f} ({item['seconds']:.1f} s)" if item.get("bound") is not None else item["problem"]


def print_table(results: list[Record], tools: list[str]) -> None:
    """Print a line for each case: bound and seconds of every tool, and DP-Sniper with its own setting."""
    latest = {(item["tool"], item["case"]): item for item in results}
    own = {item["case"]: item["own setting"] for item in results if "own setting" in item}
    print(f"\nPython {platform.python_version()}, {CORES} cores; lower confidence bound on epsilon (median), seconds of one run\n")
    print(f"| case | truth | {' | '.join(tools)} | dp-sniper, its own setting |")
    print("| --- | --- |" + " --- |" * (len(tools) + 1))
    for case in CASES:
        if any((tool, case.name) in latest for tool in tools):
            cells = " | ".join(cell(latest.get((tool, case.name))) for tool in tools)
            print(f"| {case.name} | {float(case.entry.truth.lower):.4g} | {cells} | {cell(own.get(case.name))} |")


def main() -> None:
    """Run what is missing in the file of results, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000, help="outputs on each data set, for everything that a tool does")
    parser.add_argument("--confidence", type=float, default=0.99)
    parser.add_argument("--peers", type=Path, nargs="*", default=[], help="directories that contain dpsniper, statdp, dp_auditorium")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the interpreter of the peers' environment")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--only", action="append", help="this case only (may be repeated)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median is taken")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="append each result to this file, a JSON object a line; what it has is not run again")
    parser.add_argument("--again", action="store_true", help="run all again, with the settings found in the file")
    parser.add_argument("--read", action="store_true", help="print the table of the file only")
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which a worker is ended")
    parser.add_argument("--verbose", action="store_true", help="show what the tools print")
    chosen = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    tools = chosen.tools.split(",")
    written = chosen.out.read_text(encoding="utf-8").splitlines() if chosen.out and chosen.out.exists() else []
    results: list[Record] = [json.loads(line) for line in written]
    done = {(item["tool"], item["case"]) for item in results if "bound" in item and not chosen.again}
    for case in () if chosen.read else CASES:
        for tool in tools:
            if (tool, case.name) in done or (chosen.only and case.name not in chosen.only):
                continue
            result = measure(tool, case.name, chosen, results)
            results.append(result)
            print(f"{case.name}: {tool}: {cell(result)}", file=sys.stderr, flush=True)
            if chosen.out:
                with chosen.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
    print_table(results, tools)


if __name__ == "__main__":
    main()
