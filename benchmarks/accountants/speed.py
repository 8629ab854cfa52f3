"""Processor time of certified ends of ε beside dp_accounting's at the same gap: ``python -m benchmarks.accountants.speed --peers FOLDER``.

The settings are those by hand of ``tests/soundness/account_sweep.py``, or, with ``--ordinary``, the twelve with Gaussian noise of
``benchmarks.accountants.settings`` where an approximation is near. Ours are four ends, upper and
lower, in both directions; and the upper ends alone, which are what a pessimistic estimate is, as ``pdp account --side upper`` finds them,
with how far the larger one is above the truth. The peer is asked at its default (pessimistic, a grid of 10⁻⁴, the accountant for events:
``default``), and twice at a gap: for its pessimistic estimate alone, on the coarsest grid 2^(−k/2) where it is at most the gap above the
truth (``upper``); and for both of its estimates, on the coarsest grid where each is at most half of the gap from the truth, on whichever
side (``both``). The truth is taken to be the lower end of ours at a quarter of the gap, which is not timed: so it is asked for at most a
quarter of the gap too much. The peer is right where its pessimistic estimate is not below that lower end, and the optimistic one not above
our upper end at a quarter of the gap.

What is judged: one upper end, in all settings in which the peer's default estimate is right; four ends beside both of its estimates, in all
settings, whether its optimistic estimate is a lower end or not, and whether they are close or not. That one is mostly above the truth,
where nobody can use it; to leave those settings out would leave one of twelve. Where they are not close within the limit, the time of its
last look stands for it, which is less than it needs to be close. Both is to the peer's favour. What comes out where they are close, and
where they are right, is told beside it.

FOLDER: see ``benchmarks.accountants``. Interpreters are warm; each time is the least of two.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from accountant.compositions.bounds import bound_epsilon
from accountant.compositions.events import Composition, Direction, make_event
from accountant.compositions.queries import upper_at_delta
from accountant.compositions.shapes import LEAST_EPSILON
from benchmarks.accountants.settings import SETTINGS
from proofs_check.kernel.theories.compositions import curves
from tests.soundness.account_sweep import BY_HAND

#: All but the one with little noise.
ORDINARY = [(item.scale, item.rate, str(item.count), item.delta) for item in SETTINGS if item.mechanism == "gaussian"][:-1]
_WORKER = Path(__file__).parent / "workers" / "time_dp_accounting.py"


def enclose(composition: Composition, delta: Fraction, gap: Fraction) -> tuple[Fraction | None, Fraction | None, float]:
    """Return both ends of ε over both directions, None where there is none, and the processor time."""
    curves._mills.cache_clear()  # noqa: SLF001 - a run of the command has no answers of the one before
    started = time.process_time()
    found = [bound_epsilon(composition, delta, direction, gap=gap) for direction in Direction]
    seconds = time.process_time() - started
    lower, upper = [bound.lower for bound in found], [bound.upper for bound in found]
    return (
        max(end for end in lower if end is not None) if None not in lower else None,
        max(end for end in upper if end is not None) if None not in upper else None,
        seconds,
    )


def bound_above(composition: Composition, delta: Fraction, gap: Fraction) -> tuple[Fraction | None, float]:
    """Return the upper end of ε over both directions as ``pdp account --side upper`` finds it, and the processor time."""
    curves._mills.cache_clear()  # noqa: SLF001 - as above
    upper_at_delta.cache_clear()
    started = time.process_time()
    upper = upper_at_delta(composition, delta, gap).upper
    return upper, time.process_time() - started


def time_upper(composition: Composition, delta: Fraction, gap: Fraction, truth: Fraction) -> tuple[float | None, float]:
    """Return the least time of two for upper ends, None where there are none, and by how much they are above the truth, relatively."""
    runs = [bound_above(composition, delta, gap) for _ in range(2)]
    upper = runs[0][0]
    if upper is None:
        return None, math.inf
    return min(seconds for _, seconds in runs), float((upper - truth) / max(upper, LEAST_EPSILON))


def compare(peer: subprocess.Popen[str], setting: tuple[str, ...], gap: Fraction, limit: float) -> dict[str, Any] | None:
    """Return times of both for one setting; None where ε is not enclosed."""
    scale, rate, count, delta = setting
    event = make_event("gaussian", {"noise_multiplier": scale}, sampling_probability=rate, count=int(count))
    composition = Composition("one setting", (event,))
    truth, most, _ = enclose(composition, Fraction(delta), gap / 4)
    runs = [enclose(composition, Fraction(delta), gap) for _ in range(2)]
    if truth is None or not truth:
        return None
    above, excess = time_upper(composition, Fraction(delta), gap, truth)
    task = {"scale": float(scale), "rate": float(Fraction(rate)), "count": int(count), "delta": float(delta)}
    if peer.stdin is None or peer.stdout is None:
        raise BrokenPipeError
    peer.stdin.write(json.dumps({**task, "truth": float(truth), "gap": float(gap), "limit": limit}) + "\n")
    peer.stdin.flush()
    answer = json.loads(peer.stdout.readline())
    four = min(seconds for _, _, seconds in runs)
    return {
        "setting": setting,
        "truth": float(truth),
        "most": math.inf if most is None else float(most),
        "ours": four,
        "above": above,
        "excess": excess,
        **answer,
    }


def _tell(answer: dict[str, Any]) -> str:
    told = answer.get("problem") or ("" if answer["close"] else "not close")
    return f"{answer['seconds']:.3g} s{told and f' ({told})'}" if "seconds" in answer else f"none ({told})"


def _is_right(result: dict[str, Any], way: str) -> bool:
    """Whether the truth is not above the pessimistic estimate, and not below the optimistic one where that was asked for, but for 10⁻⁶."""
    answers, truth = result[way]["answers"], result["truth"]
    return answers[0] >= truth * (1 - 1e-6) and (way != "both" or answers[1] <= result["most"] * (1 + 1e-6))


def summarise(results: list[dict[str, Any]]) -> list[str]:
    """Return the ratios of our times to the peer's where it is close enough: what is alike and is judged, and ours of both sides to one."""
    lines = []
    for way, ours, what in (
        ("default", "above", "our upper ends"),
        ("both", "ours", "our four ends"),
        ("default", "ours", "our four ends"),
        ("upper", "above", "our upper ends"),
        ("upper", "ours", "our four ends"),
    ):
        close = [result for result in results if result[way]["close"] and result[ours] is not None]
        right = [result for result in close if _is_right(result, way)]
        judged = (way, ours) in (("default", "above"), ("both", "ours"))
        told = f"dp_accounting, {way}: close enough in {len(close)} of {len(results)} settings, right in {len(right)} of these; {what} take"
        if way == "both":
            every = [result for result in results if "seconds" in result[way] and result[ours] is not None]
            lines += _describe_ratios(f"judged: {told}", "all, with its last look where it was not close", every, way, ours)
            lines += _describe_ratios(f"beside it: {told}", "close, whether right or not", close, way, ours)
        lines += _describe_ratios(("judged: " if judged and way != "both" else "beside it: ") + told, "right", right, way, ours)
    return lines


def _describe_ratios(told: str, which: str, results: list[dict[str, Any]], way: str, ours: str) -> list[str]:
    ratios = sorted(result[ours] / result[way]["seconds"] for result in results)
    if not ratios:
        return [f"{told} no times: none is {which}"]
    within = f"{ratios[0]:.2g} to {ratios[-1]:.2g}), at most 3 times in {sum(ratio <= 3 for ratio in ratios)} of {len(ratios)} ({which})"
    return [f"{told} {statistics.median(ratios):.2g} times as long in the median ({within}"]


def main(arguments: list[str]) -> int:
    """Compare all settings, print a line for each and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--gap", type=Fraction, default=Fraction(1, 1000))
    parser.add_argument(
        "--limit", type=float, default=5.0, help="seconds of a look of the peer, after which it is not asked for a finer grid"
    )
    parser.add_argument("--ordinary", action="store_true", help="twelve settings as people have them")
    parser.add_argument("--every", type=int, default=1, help="every so many settings only")
    chosen = parser.parse_args(arguments)
    command = [str(chosen.peers / "dp-accounting" / "bin" / "python"), str(_WORKER)]
    results = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        for setting in (ORDINARY if chosen.ordinary else BY_HAND)[:: chosen.every]:
            found = compare(peer, setting, chosen.gap, chosen.limit)
            if found is None:
                print(f"{' '.join(setting)}: not enclosed, or 0", flush=True)
                continue
            results.append(found)
            times = ", ".join(f"{way} {_tell(found[way])}" for way in ("default", "upper", "both"))
            above = "none" if found["above"] is None else f"{found['above']:.3g} s ({found['excess']:.2g} above)"
            print(f"{' '.join(setting)}: ours {found['ours']:.3g} s, upper ends {above}; dp_accounting {times}", flush=True)
        if peer.stdin is not None:
            peer.stdin.close()
    print("\n".join(summarise(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
