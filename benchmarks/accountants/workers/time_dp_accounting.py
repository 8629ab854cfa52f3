"""Processor time of dp_accounting at a gap: lines of settings come in, a line of answers goes out for each.

Each look is at a grid of 2^(−k/2), k = 0, 1, ..., until the answer is close enough, or a look takes longer than the limit. ``upper``: the
pessimistic estimate, close enough where it is at most ``gap`` (relatively) above ``truth``. ``both``: with the optimistic estimate, close
enough where each of the two is at most half of the gap from ``truth``, on whichever side.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from typing import Any

from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as pld

#: Below this, a gap is absolute.
_LEAST = 1e-3


def look(task: dict[str, Any], interval: float, ways: tuple[bool, ...]) -> tuple[list[float], float]:
    """Return an estimate of ε for each way, pessimistic or not, and the processor time of all."""
    started = time.process_time()
    found = [
        pld.from_gaussian_mechanism(
            task["scale"],
            value_discretization_interval=interval,
            sampling_prob=task["rate"],
            pessimistic_estimate=way,
            use_connect_dots=way,
        )
        .self_compose(task["count"])
        .get_epsilon_for_delta(task["delta"])
        for way in ways
    ]
    return found, time.process_time() - started


def search(task: dict[str, Any], ways: tuple[bool, ...]) -> dict[str, Any]:
    """Return the first answer that is close enough, with the least time of two looks, or what the search ended with."""
    told: dict[str, Any] = {"close": False}
    for k in range(60):
        interval = 2.0 ** (-k / 2)
        try:
            found, seconds = look(task, interval, ways)
        except Exception as error:
            told["problem"] = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
            continue
        told = {"close": False, "interval": interval, "answers": found, "seconds": seconds}
        far = found[0] - task["truth"] if len(ways) == 1 else 2 * max(abs(end - task["truth"]) for end in found)
        if math.isinf(found[0]):  # finer grids do not end the sum of its rounding errors
            told["problem"] = "epsilon is infinite"
        elif far <= task["gap"] * max(found[0], _LEAST):
            return {**told, "close": True, "seconds": min(seconds, look(task, interval, ways)[1])}
        if seconds > task["limit"]:
            break
    return told


def ask_default(task: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of the accountant as it is, with the least processor time of two looks; its grid is what it is."""
    step = PoissonSampledDpEvent(task["rate"], GaussianDpEvent(task["scale"]))
    times = []
    try:
        for _ in range(2):
            started = time.process_time()
            epsilon = PLDAccountant().compose(SelfComposedDpEvent(step, task["count"])).get_epsilon(task["delta"])
            times.append(time.process_time() - started)
    except Exception as error:
        return {"close": False, "problem": f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"}
    if math.isinf(epsilon):
        return {"close": False, "answers": [epsilon], "seconds": min(times), "problem": "epsilon is infinite"}
    return {"close": True, "answers": [epsilon], "seconds": min(times)}


def main() -> None:
    """Answer until there are no more lines."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps({"default": ask_default(task), "upper": search(task, (True,)), "both": search(task, (True, False))}), flush=True)


main()
