"""Time and memory of private greedy, alone: the instance is made and written by one process, and loaded and used by another.

    python -m benchmarks.greedy_memory

Coverage: 10^6 users with 7 of 10^5 candidates each, k = 1,000. Facility location: 10^6 users with a value for each of 20 candidates, k = 5.
Printed: processor time of the run, and the largest resident set of its process before and after it (VmHWM, which no parent passes on).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from accountant.applications.submodular import CoverageInstance
from benchmarks.greedy import pairs

CHILD = """
import sys, time
import numpy as np
from accountant.applications.submodular import CoverageInstance, PrivateGreedy, WeightedCoverage
def peak():
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
kind, folder = sys.argv[1:]
imports = peak()
if kind == "coverage":
    instance = CoverageInstance(100_000, np.load(folder + "/starts.npy"), np.load(folder + "/items.npy"))
    model = PrivateGreedy(1_000, 1)
else:
    values = np.load(folder + "/values.npy")
    model = PrivateGreedy(5, 1)
loaded, start = peak(), time.process_time()
if kind != "coverage":
    instance = WeightedCoverage.from_matrix(values)
model.run(instance)
print(time.process_time() - start, imports / 1024, loaded / 1024, peak() / 1024)
"""


def main() -> None:
    """Print one line for each."""
    with tempfile.TemporaryDirectory() as folder:
        rows, items = pairs(1_000_000, 100_000)
        instance = CoverageInstance.from_pairs(rows, items, candidates=100_000)
        np.save(Path(folder) / "starts.npy", instance.starts)
        np.save(Path(folder) / "items.npy", instance.items)
        np.save(Path(folder) / "values.npy", np.random.default_rng(1).random((1_000_000, 20)))
        del instance, rows, items
        for kind in ("coverage", "facility location"):
            command = [sys.executable, "-c", CHILD, kind.split()[0], folder]
            spent, imports, loaded, peak = map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
            print(f"{kind}: {spent:.2f} s; resident at most {imports:.0f} MB after imports, {loaded:.0f} loaded, {peak:.0f} in all")


if __name__ == "__main__":
    main()
