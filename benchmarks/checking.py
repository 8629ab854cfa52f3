"""Time of proving beside time of checking, and the size of certificates, on the profiles of ``benchmarks.deciders``.

    python -m benchmarks.checking

Proving is ``verify`` on one condition with empty caches: admission, search, and every question that the search puts to the kernel.
Checking is the kernel on the text of that one certificate (well-definedness, the condition, its constant if there is one), in the same
process, the median of three. Both in processor time. Bytes are of compact JSON; the file that ``pdp verify`` writes has line breaks and
spaces besides.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from dataclasses import dataclass

from sympy.core.cache import clear_cache

from benchmarks.deciders.cases import CASES, Case
from proofs_check.kernel import check
from proofs_check.verify import verify

SLOW_SECONDS = 0.1
AIM = 20.0
LARGEST_BYTES = 20_000


@dataclass(frozen=True)
class Line:
    """One condition of one profile."""

    name: str
    condition: str
    verdict: str
    proving: float
    checking: float
    size: int

    @property
    def ratio(self) -> float:
        """How many times faster checking is."""
        return self.proving / self.checking


def empty_caches() -> None:
    """Empty SymPy's cache and those of this package."""
    clear_cache()
    for held in gc.get_objects():
        if hasattr(type(held), "cache_clear") and getattr(held, "__module__", "").partition(".")[0] in ("profiles", "proofs_check"):
            held.cache_clear()


def measure(case: Case, condition: str) -> Line | None:
    """Prove and check one condition; None where nothing is decided with a certificate."""
    profile = case.profile()
    empty_caches()
    start = time.process_time()
    try:
        verification = verify(profile, case.target, [condition])
    except Exception as error:
        print(f"{case.name}, {condition}: {type(error).__name__}: {error}")
        return None
    proving = time.process_time() - start
    decision = verification.decisions[condition]
    if not decision.checked:
        return None
    text = json.dumps(verification.certificate(), separators=(",", ":"))
    times = []
    for _ in range(3):
        start = time.process_time()
        report = check(text)
        times.append(time.process_time() - start)
        if not report.accepted:
            raise RuntimeError(f"the kernel rejects the certificate of {case.name}, {condition}: {report.reason}")
    return Line(case.name, condition, decision.verdict.value, proving, statistics.median(times), len(text))


def summarise(lines: list[Line]) -> None:
    """Print the ratios over all lines and over those that take long to prove, and the largest certificate."""
    proving, checking = sum(line.proving for line in lines), sum(line.checking for line in lines)
    print(f"\n{len(lines)} certificates: proving {proving:.1f} s, checking {checking:.2f} s, {proving / checking:.1f} times faster")
    print(f"median of the ratios {statistics.median(line.ratio for line in lines):.1f}")
    for kind in ("proved", "refuted"):
        chosen = [line for line in lines if line.verdict == kind]
        print(f"{kind}: {sum(line.proving for line in chosen) / sum(line.checking for line in chosen):.1f} times faster over all")
    slow = [line for line in lines if line.proving > SLOW_SECONDS]
    missed = [line for line in lines if line.ratio < AIM]
    slow_missed = [line for line in slow if line.ratio < AIM]
    print(f"below {AIM:.0f} times: {len(missed)} of {len(lines)}, and {len(slow_missed)} of the {len(slow)} that take over 0.1 s to prove")
    worst = min(slow, key=lambda line: line.ratio)
    print(f"lowest of these: {worst.ratio:.1f} ({worst.name}, {worst.condition})")
    longest = max(lines, key=lambda line: line.checking)
    print(f"longest check: {longest.checking:.3f} s ({longest.name}, {longest.condition})")
    largest = max(lines, key=lambda line: line.size)
    print(f"largest: {largest.size} bytes ({largest.name}, {largest.condition}); the limit is {LARGEST_BYTES}")


def main() -> None:
    """Print a line a condition and the summary."""
    print(f"{'profile':<34} {'condition':<15} {'verdict':<8} {'proving s':>9} {'checking s':>10} {'ratio':>7} {'bytes':>6}")
    verify(CASES[0].profile(), CASES[0].target)
    lines = []
    for case in CASES:
        for condition in case.truths():
            line = measure(case, condition)
            if line is None:
                print(f"{case.name:<34} {condition:<15} no certificate", flush=True)
                continue
            lines.append(line)
            print(
                f"{line.name:<34} {line.condition:<15} {line.verdict:<8} {line.proving:9.3f} {line.checking:10.4f} "
                f"{line.ratio:7.1f} {line.size:6}",
                flush=True,
            )
    summarise(lines)


if __name__ == "__main__":
    main()
