"""Draws from an exact table without rounding: what makes an enumerated program a mechanism that can be audited."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.errors import InvalidArgument
from profiles.mechanisms.interface import check_call
from proofs_check.exact.finite import MAX_BRANCHES, MAX_CHOICES, Program, enumerate_outputs

_WORD = 64
_HIGHEST = 2**_WORD - 1


@dataclass(frozen=True, slots=True)
class TableSampler:
    """Draws independent outcomes of an exact table; see :func:`sample_table`."""

    outcomes: NDArray[Any]
    #: P(outcome 0), P(outcome 0 or 1), ..., without the last, which is 1.
    cumulative: tuple[Fraction, ...]
    _floors: NDArray[np.uint64]
    _between: frozenset[int]

    def __call__(self, rng: np.random.Generator, size: int) -> NDArray[Any]:
        """Return ``size`` independent outcomes. Raises :class:`InvalidArgument` for another generator or size."""
        check_call(rng, size)
        words = _draw_words(rng, size)
        indices = np.searchsorted(self._floors, words, side="right")
        if self._between:
            last = self._floors[np.maximum(indices - 1, 0)]
            for place in np.flatnonzero((indices > 0) & (words == last)):
                word = int(words[place])
                if word in self._between:
                    indices[place] = self._refine(word, rng)
        return self.outcomes[indices]

    def _refine(self, word: int, rng: np.random.Generator) -> int:
        """Return the outcome of a uniform real number whose first 64 bits are ``word``, drawing further bits until it is decided."""
        bits = _WORD
        while True:
            scaled = [bound * 2**bits for bound in self.cumulative]
            if all(bound <= word or bound >= word + 1 for bound in scaled):
                return sum(bound <= word for bound in scaled)
            word = (word << _WORD) | int(_draw_words(rng, 1)[0])
            bits += _WORD


def _draw_words(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    return rng.integers(0, _HIGHEST, size=size, dtype=np.uint64, endpoint=True)


def sample_table(table: Mapping[Hashable, Fraction]) -> TableSampler:
    """Return a sampler of ``table`` (outcome → exact probability): ``sampler(rng, size)`` draws independent outcomes.

    Claim: if the generator's 64-bit words are uniform and independent, outcome i has exactly the probability P(i): the words are the
    binary digits of a uniform real U, more of them are drawn until U is known to lie in one cell [C_i, C_(i+1)) of the cumulative
    probabilities, and no floating-point number is involved.

    The result is an int64 or float64 array where all outcomes are integers (no booleans) or floats, else an object array of the outcomes.
    Raises :class:`InvalidArgument` for an empty table, negative probabilities and a total other than 1.

    >>> sample_table({"a": Fraction(1, 3), "b": Fraction(2, 3)})(np.random.default_rng(1), 4).tolist()
    ['b', 'b', 'a', 'b']
    """
    if any(not isinstance(p, (Fraction, int)) or p < 0 for p in table.values()) or sum(table.values()) != 1:
        raise InvalidArgument("a table needs fractions that are at least 0 and add up to exactly 1; give one of enumerate_outputs")
    positive = {outcome: Fraction(p) for outcome, p in table.items() if p}
    cumulative = tuple(accumulate(positive.values()))[:-1]
    scaled = [bound * 2**_WORD for bound in cumulative]
    floors = [bound.numerator // bound.denominator for bound in scaled]
    between = frozenset(floor for floor, bound in zip(floors, scaled, strict=True) if bound.denominator != 1)
    return TableSampler(_as_array(list(positive)), cumulative, np.array(floors, dtype=np.uint64), between)


def _as_array(outcomes: list[Hashable]) -> NDArray[Any]:
    if all(type(outcome) is float for outcome in outcomes):
        return np.array(outcomes, dtype=np.float64)
    if all(type(outcome) is int and abs(outcome) < 2**63 for outcome in outcomes):
        return np.array(outcomes, dtype=np.int64)
    array = np.empty(len(outcomes), dtype=object)
    for index, outcome in enumerate(outcomes):
        array[index] = outcome
    return array


def program_mechanism(
    program: Program, *, max_branches: int = MAX_BRANCHES, max_choices: int = MAX_CHOICES
) -> Callable[[Any, np.random.Generator, int], NDArray[Any]]:
    """Return ``mechanism(dataset, rng, size)`` with exactly the law of ``program``, for audits whose truth is known.

    The program is enumerated at the first call with a data set; the table is kept where the data set is hashable (a tuple, say).
    Limits and errors are those of :func:`~proofs_check.exact.finite.enumerate_outputs`.

    >>> mechanism = program_mechanism(lambda bit, choose: bit ^ choose.coin("1/4"))
    >>> mechanism(1, np.random.default_rng(1), 5).tolist()
    [1, 1, 0, 1, 1]
    """
    samplers: dict[Hashable, TableSampler] = {}

    def build(dataset: Any) -> TableSampler:
        return sample_table(enumerate_outputs(program, dataset, max_branches=max_branches, max_choices=max_choices))

    def mechanism(dataset: Any, rng: np.random.Generator, size: int) -> NDArray[Any]:
        try:
            sampler = samplers.get(dataset)
        except TypeError:
            sampler = build(dataset)
        if sampler is None:
            sampler = samplers[dataset] = build(dataset)
        return sampler(rng, size)

    return mechanism
