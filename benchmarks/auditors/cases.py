"""The mechanisms and pairs that all tools are given, with the parameters of DP-Sniper's default experiment.

Where two pairs are usual, the pair is the one on which DP-Sniper's authors report its largest bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.auditors.mechanisms import (
    ABORTED,
    ABORTED_NUMERICAL,
    BELOW,
    Dataset,
    Mechanism,
    histogram,
    laplace,
    noisy_max,
    numerical_svt,
    parallel,
    prefix_sums,
    rappor,
    svt,
    truncated_geometric,
)

EPSILON = 0.1


@dataclass(frozen=True)
class Case:
    """A mechanism, a pair of neighbors, and what the peers need to know about its outputs.

    ``claim`` is the ε claimed for the pair, which ours is asked about; ``flags`` are the values that stand for no number; ``postprocessing``
    names what StatDP may look at (its worker says how), and ``reference`` what its Hamming distance is taken to; ``discrete`` marks scalar
    outputs 0 … k.
    """

    name: str
    mechanism: Mechanism
    dataset: Dataset
    neighbor: Dataset
    claim: float = EPSILON
    flags: tuple[float, ...] = ()
    postprocessing: tuple[str, ...] = ("value",)
    discrete: bool = False
    reference: tuple[int, ...] = ()


ONES, TWOS, ZEROS = (1.0,) * 10, (2.0,) * 10, (0.0,) * 10
HALF = (2.0,) * 5 + (0.0,) * 5
CROSS = (0.0,) * 5 + (1.0,) * 5, (1.0,) * 5 + (0.0,) * 5
BITS = {0: (11, 18, 0), 1: (3, 10, 13)}  # MurmurHash3 of "0" and "1", seeds 0 to 3, modulo 20
FILTER = tuple(int(index in BITS[1]) for index in range(20))
HAMMING = ("hamming",)
COUNTS = ("count 0", "count 1", "hamming")
ENTRIES_10 = tuple(f"entry {index}" for index in range(10))
NUMBERS_10 = (*ENTRIES_10, "average", "least", "largest")
NUMBERS_20 = (*(f"entry {index}" for index in range(20)), "average", "least", "largest")
MIXED = ("left count and last", "right count 0", "right count 1", "right hamming")
SVT_3 = svt(2 / EPSILON, 2 / EPSILON, values=True)
SVT_34 = parallel(svt(2 / EPSILON, 4 / EPSILON, limit=2, values=True), svt(4 / EPSILON, 4 / (3 * EPSILON), limit=2))
NEVER = float("inf")

CASES = (
    Case("laplace", laplace(EPSILON), (0.0,), (1.0,)),
    Case("truncated geometric", truncated_geometric(EPSILON, 5), (2,), (1,), claim=0.11778303565638346, discrete=True),
    Case("noisy histogram 1", histogram(1 / EPSILON), (0, 1, 1, 1, 1), (1, 1, 1, 1, 1), postprocessing=("entry 0",)),
    Case("noisy histogram 2", histogram(EPSILON), (0, 1, 1, 1, 1), (1, 1, 1, 1, 1), postprocessing=("entry 0",)),
    Case("noisy max 1", noisy_max(EPSILON, exponential=False, value=False), ONES[:5], (0.0, *TWOS[:4]), discrete=True),
    Case("noisy max 2", noisy_max(EPSILON, exponential=True, value=False), ONES[:5], (0.0, *TWOS[:4]), discrete=True),
    Case("noisy max 3", noisy_max(EPSILON, exponential=False, value=True), ONES[:5], TWOS[:5]),
    Case("noisy max 4", noisy_max(EPSILON, exponential=True, value=True), ONES[:5], TWOS[:5]),
    Case("svt 1", svt(2 / EPSILON, 4 / EPSILON, threshold=0.5), *CROSS, flags=(ABORTED,), postprocessing=("count 0",)),
    Case("svt 2", svt(2 / EPSILON, 4 / EPSILON, resample=True), *CROSS, flags=(ABORTED,), postprocessing=("count 0",)),
    Case("svt 3", SVT_3, *CROSS, flags=(BELOW, ABORTED_NUMERICAL), postprocessing=("count and last",)),
    Case("svt 4", svt(4 / EPSILON, 4 / (3 * EPSILON)), ONES, HALF, flags=(ABORTED,), postprocessing=HAMMING),
    Case("svt 5", svt(2 / EPSILON, 0, limit=NEVER), ONES, HALF, postprocessing=HAMMING),
    Case("svt 6", svt(2 / EPSILON, 2 / EPSILON, limit=NEVER), *CROSS, postprocessing=HAMMING),
    Case("rappor", rappor(BITS, 20, 0.75, (0.45, 0.55)), (1,), (0,), claim=0.3001, postprocessing=COUNTS, reference=FILTER),
    Case("one-time rappor", rappor(BITS, 20, 0.95), (1,), (0,), claim=0.6006, postprocessing=COUNTS, reference=FILTER),
    Case("parallel laplace", parallel(*[laplace(0.005)] * 20), (0.0,), (1.0,), postprocessing=NUMBERS_20),
    Case("parallel svt 3 and 4", SVT_34, ONES, HALF, flags=(ABORTED, BELOW, ABORTED_NUMERICAL), postprocessing=MIXED),
    Case("prefix sums", prefix_sums(EPSILON), ONES, ZEROS, claim=1.0, postprocessing=NUMBERS_10),
    Case("numerical svt", numerical_svt(EPSILON, 2), TWOS, ONES, postprocessing=("count 0", *NUMBERS_10)),
)


def by_name(name: str) -> Case:
    """The case of this name."""
    return next(case for case in CASES if case.name == name)
