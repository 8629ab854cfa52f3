"""FAULTY. The algorithm of Theorem G.1 of Ghazi et al. 2024 (metric clustering) as it is printed, by its exact law.

It runs ⌈2k ln n⌉ rounds, n the private number of records. What works: ``accountant.applications.clustering``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from profiles.balls import ball, upper_fraction, working_precision
from proofs_check.exact import Log, WorstPair, exact_epsilon, repeated_exponential_law, sample_first
from proofs_check.exact.worst import Dataset, MechanismLaw
from proofs_check.printed.results import INFINITE, Found, Rerun

#: Candidates on a line, at distances that are multiples of 1/4; records stand at candidates.
CANDIDATES = range(5)
#: e^ε of the one-sided selection: all weights are then integers.
BASE = 16
#: Just below 1 − 1/e.
_SHARE = Fraction(63, 100)
_INSTANCE = "k = 1, five candidates 0, 1/4, 1/2, 3/4, 1 on a line, at most three records, at 0 and 1; e^eps = 16"


def count_printed_rounds(data: Dataset, k: int = 1) -> int:
    """L = ⌈2k ln n⌉, decided by balls; no logarithm for n = 0, where nothing can be chosen."""
    if not data:
        return 0
    with working_precision(128):
        above = upper_fraction(2 * k * ball(Fraction(len(data))).log())
    return 0 if len(data) == 1 or above is None else -(-above.numerator // above.denominator)


def select_by_reduction(rounds: Callable[[Dataset], int]) -> MechanismLaw:
    """Return the law of the selection with k = 1, as a function of the data; ``rounds`` as printed reads the data, which is the fault."""

    def cost(chosen: tuple[int, ...], data: Dataset) -> Fraction:
        return sum((Fraction(min((abs(c - x) for c in chosen), default=4), 4) for x in data), Fraction(0))

    def law(data: Dataset) -> dict[Any, Any]:
        def select(outputs: tuple[Any, ...]) -> Any:
            if len(outputs) == rounds(data):
                return None
            left = [c for c in CANDIDATES if c not in outputs]
            return left, lambda c, records: cost(outputs, records) - cost((*outputs, c), records)

        return dict(repeated_exponential_law(select, data, Log(Fraction(BASE))))

    return law


def run_rounds() -> Rerun:
    """All neighbors of up to three records."""
    printed = exact_epsilon(select_by_reduction(count_printed_rounds), (0, 4), max_size=3)
    public = exact_epsilon(select_by_reduction(lambda _: 2), (0, 4), max_size=3)
    return Rerun(
        "ghazi-2024-theorem-g.1-rounds",
        "the algorithm of Theorem G.1, L = ceil(2 k ln n) rounds",
        _INSTANCE,
        "eps-add-DP: e^loss at most 16 where a record is removed",
        (
            Found(f"e^loss, removal of a record from {_tell(printed.remove)}", _ratio(printed.remove), loss=True),
            Found(f"e^loss, addition of a record to {_tell(printed.add, larger=False)}", _ratio(printed.add), loss=True),
            Found("e^loss, removal, with two public rounds instead", _ratio(public.remove), loss=True),
        ),
    )


def run_sampled() -> Rerun:
    """The same after Poisson sampling."""
    law = sample_first(select_by_reduction(count_printed_rounds), _SHARE)
    printed = exact_epsilon(law, (0, 4), max_size=3)
    public = exact_epsilon(sample_first(select_by_reduction(lambda _: 2), _SHARE), (0, 4), max_size=3)
    three = sum((Fraction(value) for output, value in law((0, 0, 4)).items() if len(output) == 3), Fraction(0))  # type: ignore[arg-type]
    two = sum((Fraction(value) for output, value in law((0, 4)).items() if len(output) == 3), Fraction(0))  # type: ignore[arg-type]
    return Rerun(
        "ghazi-2024-theorem-1.5-privacy",
        "the algorithm of Theorem 1.5: that of Theorem G.1 on a Poisson sample, p = 63/100, just below 1 - 1/e",
        f"{_INSTANCE} (sampling claims e^loss at most 1 + 15 p)",
        f"e^loss at most {1 + 15 * _SHARE} where a record is removed",
        (
            Found("probability of three selected candidates, three records", three),
            Found("the same, two records", two),
            Found("e^loss, removal of a record", _ratio(printed.remove), loss=True),
            Found("e^loss, removal, with two public rounds instead", _ratio(public.remove), loss=True),
        ),
    )


def run_no_round() -> Rerun:
    """One record."""
    return Rerun(
        "ghazi-2024-theorem-g.1-no-round",
        "Theorem G.1, L = ceil(2 k ln n)",
        "k = 1 and n = 1",
        "candidates are selected",
        (Found("number of rounds", Fraction(count_printed_rounds((0,)))),),
    )


def _ratio(pair: WorstPair) -> Fraction | float:
    return INFINITE if pair.ratio is None else Fraction(pair.ratio)  # type: ignore[arg-type]


def _tell(pair: WorstPair, *, larger: bool = True) -> str:
    places = pair.larger if larger else pair.smaller
    return "none" if not places else "those at " + ", ".join(str(Fraction(place, 4)) for place in places)
