"""A score: a number for each output, large where the first data set is more likely to have made it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from profiles.arrays import Floats
from proofs_check.audit.outputs import Outputs

#: Numbers in one block of outputs: small enough for the processor's cache.
BLOCK = 1 << 18
_BITS, _LARGEST = 32, 1e300


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """A score learned from outputs that are not used again. Any function is sound; a good one finds the event that tells most.

    ``evaluate`` maps n outputs of the width that was learned to n numbers; no guess is made where one is NaN. ``describe`` says in
    words which outputs score at least (True) or at most (False) a threshold.
    """

    name: str
    evaluate: Callable[[Outputs], Floats]
    describe: Callable[[float, bool], str]


def at_threshold(name: str) -> Callable[[float, bool], str]:
    """Return how a score that is a number with a name is described."""
    return lambda threshold, above: f"{name} {'at least' if above else 'at most'} {number_text(threshold)}"


def evaluate(score: Score, outputs: Outputs) -> Floats:
    """Return the scores of outputs, rounded to 32 significant bits and cut to ±1e300; NaN stays, and is never guessed on.

    Infinite thresholds mean "never", so no score may be infinite.

    A likelihood ratio that is constant on a large set comes out with different last bits on different data sets. That is rounding in
    the auditor's arithmetic, and no event of the mechanism that a claim in exact arithmetic speaks of.
    """
    return round_bits(np.clip(score.evaluate(outputs), -_LARGEST, _LARGEST))


def evaluate_all(scores: Sequence[Score], outputs: Outputs) -> list[Floats]:
    """Return what :func:`evaluate` does for several scores, block by block: scores that share features compute them once a block."""
    rows = max(1_000, BLOCK // max(1, outputs.width))
    made = [np.empty(len(outputs)) for _ in scores]
    for start in range(0, len(outputs), rows):
        part = slice(start, start + rows)
        block = outputs.take(part)
        for score, values in zip(scores, made, strict=True):
            values[part] = evaluate(score, block)
    return made


def round_bits(values: Floats) -> Floats:
    """Return numbers rounded to 32 significant bits; monotone, and the identity on what it returned."""
    significand, exponent = np.frexp(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.ldexp(np.round(significand * 2.0**_BITS), exponent - _BITS))


def log_ratios(first: Floats, second: Floats, caution: float = 1.0) -> Floats:
    """Return log(a/b) of counts on the two data sets, moved towards 0 by ``caution`` standard errors; 0 where that would change its sign.

    Half an output is added to both counts, so that the result is finite. Shape as given.
    """
    a, b = first + 0.5, second + 0.5
    ratios = np.log(a / b)
    return round_bits(np.sign(ratios) * np.maximum(np.abs(ratios) - caution * np.sqrt(1 / a + 1 / b), 0.0))


def number_text(value: float) -> str:
    """Return a number as reports show it, with at most six significant digits."""
    return f"{value:.6g}"


@contextmanager
def quietly() -> Iterator[None]:
    """Use one thread, as waiting ones cost more than they save on small products, and pass over warnings of floating point:
    infinite outputs and hopeless bets are expected, and lead to nothing.
    """
    with one_thread(), np.errstate(all="ignore"):
        yield


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and OpenMP libraries that are loaded by now use one thread."""
    limit: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _controller(_modules: int) -> ThreadpoolController:
    """Return what knows the loaded libraries; looked up again when modules were imported since, as looking takes milliseconds."""
    return ThreadpoolController()
