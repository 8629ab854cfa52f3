"""How the answers of select, candidates and scores are read: without rounding any number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.errors import InvalidArgument, InvalidData
from profiles.numbers import ExactLike, to_exact, to_integer, to_number

#: Rates λ = ε₀/Δ outside of [1/MOST_RATE, MOST_RATE] are refused, as exact choices refuse them.
MOST_RATE = Fraction(2) ** 900
MOST_ROUNDS = 10**7


def to_rounds(value: object) -> int:
    """Return the number of rounds. Raises :class:`InvalidArgument`."""
    return to_integer(value, "the number of rounds", 1, MOST_ROUNDS, hint="give a public number")


def divide_epsilon(epsilon0: ExactLike, sensitivity: ExactLike) -> tuple[Fraction, Fraction, Fraction]:
    """Return ε₀, Δ and λ = ε₀/Δ as exact numbers. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    epsilon = to_number(epsilon0, "epsilon0", "(0, inf)", "give a positive number")
    delta = to_number(sensitivity, "the sensitivity", "(0, inf)", "give a positive number")
    rate = epsilon / delta
    if not 1 / MOST_RATE <= rate <= MOST_RATE:
        raise InvalidArgument("epsilon0/sensitivity must lie between 2**-900 and 2**900 to be run, but another value was found; rescale")
    return epsilon, delta, rate


def to_function(value: object, what: str) -> Callable[[Any], Any]:
    """Return a function of the data set that select gave. Raises :class:`InvalidArgument`."""
    if not callable(value):
        raise InvalidArgument(f"{what} of the data set was expected from select, but {type(value).__name__} was found; return a function")
    return value


def to_select(value: object) -> Callable[..., Any]:
    """Return select. Raises :class:`InvalidArgument` where it cannot be called."""
    if not callable(value):
        raise InvalidArgument(f"select must be a function of the earlier outputs, but {type(value).__name__} was found; pass a function")
    return value


def to_pair(offered: object, what: str) -> tuple[Any, Any]:
    """Return the two parts of what select returned. Raises :class:`InvalidArgument`."""
    if not isinstance(offered, tuple) or len(offered) != 2:
        raise InvalidArgument(f"select must return {what} or None to stop, but {type(offered).__name__} was found; return a pair")
    return offered


def to_candidates(given: object) -> Sequence[Any]:
    """Return the candidates: a sequence that is not empty, or ``range(n)`` for an integer n. Raises :class:`InvalidArgument`."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        given = range(int(given))
    if not hasattr(given, "__len__") or not hasattr(given, "__getitem__") or isinstance(given, (str, bytes, dict)):
        raise InvalidArgument(
            f"candidates must be a sequence or their number, but {type(given).__name__} was found; return a list, a range or an array"
        )
    candidates: Any = given
    if len(candidates) < 1:
        raise InvalidArgument("a round needs at least one candidate, but none was offered; return None to stop")
    return candidates  # type: ignore[no-any-return]


def read_candidate(candidates: Sequence[Any], index: int) -> Any:
    """Return one candidate, as a Python number where it is an entry of an array."""
    candidate = candidates[index]
    return candidate.item() if isinstance(candidate, np.generic) else candidate


def to_scores(given: object, count: int) -> np.ndarray[Any, Any]:
    """Return the scores as an array of int64, float64 or Python numbers (exact fractions), shape (count,); no value is changed.

    Raises :class:`InvalidData` where they are not ``count`` finite real numbers; infinite ones are refused, −∞ too: leave a candidate out
    of the list instead, by what is public.
    """
    array = np.asarray(given)
    if array.shape != (count,):
        raise InvalidData(f"{count} scores of one round were expected, but an array of shape {array.shape} was found; score each candidate")
    if array.dtype.kind == "f" and isinstance(given, (list, tuple)) and any(map(_is_long, given)):
        return _read_objects(list(given))  # NumPy makes binary64 numbers of integers among floats, and rounds them
    if array.dtype.kind in "iu":
        return array.astype(np.int64) if array.dtype != np.uint64 else _read_objects(array.tolist())
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        wide = array.astype(np.float64)
        if not np.isfinite(wide).all():
            raise InvalidData("scores must be finite, but NaN or an infinite one was found; leave candidates out by public rules instead")
        return wide
    if array.dtype.kind == "O":
        return _read_objects(array.tolist())
    raise InvalidData(f"scores must be real numbers, but the type {array.dtype} was found; return integers, doubles or fractions")


def _is_long(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not -(2**53) <= int(value) <= 2**53


def _read_objects(values: list[Any]) -> np.ndarray[Any, Any]:
    objects = np.empty(len(values), dtype=object)
    objects[:] = [to_exact(value, "a score") for value in values]
    return objects


def read_exact(value: object) -> Fraction:
    """Return one number of an array of :func:`to_scores` as an exact fraction."""
    return value if isinstance(value, Fraction) else to_exact(value, "a score")
