"""One view of both mechanisms: in each round, values on a data set, one for each branch, and what a branch adds to the realised sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profiles.errors import InvalidArgument
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from profiles.mechanisms.repeated.interface import read_candidate, to_scores
from profiles.numbers import to_exact

RepeatedMechanism: TypeAlias = RepeatedExponential | RepeatedThreshold
Values: TypeAlias = NDArray[Any]

#: Sums of so many integers below this stay below 2⁶³.
_SMALL = 2**36


@dataclass(frozen=True, slots=True)
class Round:
    """One round: what is output on each branch, and the mechanism's function of the data.

    ``counted[b]`` says which value the branch adds to the realised sum: its position, or −1 for none (⊥).
    """

    outputs: Sequence[Any]
    counted: Sequence[int]
    count: int
    function: Any
    scalar: bool = False

    def values(self, data: Any) -> Values:
        """Return the exact values on a data set, shape (count,): int64 where they are small integers, else fractions."""
        answers = self.function(data)
        scores = to_scores([to_exact(answers, "a value")] if self.scalar else answers, self.count)
        if scores.dtype == np.int64 and scores.min() > -_SMALL and scores.max() < _SMALL:
            return scores
        exact = np.empty(len(scores), dtype=object)
        exact[:] = [to_exact(value, "a score") for value in scores.tolist()]
        small = all(value.denominator == 1 and abs(value.numerator) < _SMALL for value in exact)
        return np.array([value.numerator for value in exact], dtype=np.int64) if small else exact


def read_round(mechanism: RepeatedMechanism, previous: tuple[Any, ...]) -> Round | None:
    """Return the round after ``previous``, None where the mechanism stops."""
    if isinstance(mechanism, RepeatedThreshold):
        asked = mechanism.offer(previous)
        return None if asked is None else Round((True, False), (0, -1), 1, asked[0], scalar=True)
    offered = mechanism.offer(previous)
    if offered is None:
        return None
    candidates, score = offered
    outputs = [read_candidate(candidates, index) for index in range(len(candidates))]
    return Round(outputs, range(len(outputs)), len(outputs), score)


def require_repeated(mechanism: object) -> RepeatedMechanism:
    """Refuse anything but the two repeated mechanisms."""
    if not isinstance(mechanism, (RepeatedExponential, RepeatedThreshold)):
        raise InvalidArgument(
            f"a RepeatedExponential or RepeatedThreshold was expected, but {type(mechanism).__name__} was found; make one of them"
        )
    return mechanism


def numbers_of(mechanism: RepeatedMechanism) -> tuple[str, str]:
    """Return the numbers of the two assumptions in the paper."""
    return ("5.1", "5.2") if isinstance(mechanism, RepeatedThreshold) else ("4.1", "4.2")


def sensitivity_of(mechanism: RepeatedMechanism) -> Fraction:
    """Return the sensitivity Δ of a mechanism as an exact number. Raises :class:`profiles.InvalidNumber`."""
    return to_exact(mechanism.sensitivity, "the sensitivity")
