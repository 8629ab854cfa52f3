"""Time of a choice by the exponential mechanism and of an answer by above-threshold: ``python -m benchmarks.repeated``.

A line for each number of candidates: making an exact choice from integer scores and from doubles (once a round), each further exact draw
from it, and a draw by Gumbel noise in binary64; then one exact answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from profiles.mechanisms.repeated import draw_gumbel
from profiles.mechanisms.repeated.interface import to_scores
from profiles.randomness import BitSource, ExponentialChoice, draw_exp, open_bits

RATE = Fraction(1313261687, 10**9)


def measure(run: Callable[[], object], times: int) -> float:
    """Return the seconds of one call, the mean of ``times``."""
    started = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - started) / times


def choose(scores: np.ndarray, digits: BitSource) -> int:
    """Make an exact choice and draw from it once."""
    return ExponentialChoice(scores, RATE).draw(digits)


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(1)
    digits = open_bits(rng)
    print("candidates  exact, integers (ms)  exact, doubles (ms)  further draw (us)  Gumbel (ms)")
    for count in (100, 1_000, 10_000, 100_000, 1_000_000):
        integers = to_scores(rng.integers(0, 1000, count), count)
        doubles = to_scores(rng.random(count) * 1000, count)
        times = max(3, 100_000 // count)
        made = [measure(partial(choose, scores, digits), times) for scores in (integers, doubles)]
        choice = ExponentialChoice(doubles, RATE)
        choice.draw(digits)
        further, gumbel = measure(partial(choice.draw, digits), 2000), measure(partial(draw_gumbel, doubles, RATE, rng, 1), times)
        print(f"{count:10,}  {made[0] * 1e3:20.2f}  {made[1] * 1e3:19.2f}  {further * 1e6:17.1f}  {gumbel * 1e3:11.2f}")
    print(f"one exact answer: {measure(lambda: draw_exp(Fraction(1, 3), digits), 20_000) * 1e6:.1f} us")


if __name__ == "__main__":
    main()
