"""Whole-process time of ``pdp verify`` on each catalogue profile, interpreter start included; the limit is 5 s.

Command: ``python benchmarks/verify.py`` (from the repository root, in the project's environment).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from profiles.mechanisms import catalogue

LIMIT_SECONDS = 5.0
RUNS = 3


def time_command(arguments: list[str]) -> float:
    """Return the median wall time of a ``pdp`` command over a few runs, in seconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "accountant.cli", *arguments], check=False, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print one line a profile: numeric parameters (default) and all parameters unspecified (general)."""
    print(f"{'profile':<60} {'seconds':>8} {'of limit':>9}")
    for entry in catalogue():
        for reference in (entry.reference, entry.reference.replace(":default", ":general")):
            seconds = time_command(["verify", reference, "--target-epsilon", "3", "--json"])
            print(f"{reference:<60} {seconds:8.2f} {seconds / LIMIT_SECONDS:9.0%}")


if __name__ == "__main__":
    main()
