"""How far one unit moves Cx, of a strategy matrix C: exactly where that is known, else bounds.

Statements and proofs: docs/batches.md, section 8. What is computed is an integer times a unit. Where a bound comes from products in
binary64, their terms are integers whose sums stay below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from accountant.compositions.matrices import LIMB, MOST_STEPS, MOST_TOEPLITZ, StrategyMatrix
from profiles import InvalidArgument
from profiles.arrays import Integers
from profiles.numbers import to_integer

_MOST_PATTERNS, _MOST_GRAM = 20_000, 1024  # that are enumerated, of a matrix of at most so many steps
_MOST_WORK = 2 * 10**8  # products of entries, six times as many
_COUNTED = 64  # so many earlier participations are counted; more are taken for any number


@dataclass(frozen=True, slots=True)
class Participation:
    """In which steps one unit may take part: in at most ``most`` of them (None: in as many as fit), any two at least ``apart`` apart.

    With ``fixed_order`` only in every ``apart``-th step, from one of them on, because batches have one order in all epochs. Raises
    :class:`InvalidArgument` for other numbers, and for ``most`` in a fixed order.
    """

    apart: int
    most: int | None = None
    fixed_order: bool = False

    def __post_init__(self) -> None:
        to_integer(self.apart, "the least separation of two participations", 1, MOST_TOEPLITZ, hint="give a number of steps")
        if self.most is not None:
            to_integer(self.most, "the number of participations", 1, MOST_TOEPLITZ, hint="give a number of steps")
            if self.fixed_order:
                raise InvalidArgument(
                    "a number of participations was given with a fixed order, in which a unit takes part in as many as fit; leave it out"
                )

    @classmethod
    def read(
        cls, apart: object, most: object = None, *, fixed_order: bool = False, names: tuple[str, str] = ("min_separation", "participations")
    ) -> Participation:
        """Return the participation from numbers in any form, as a file or a command line gives them; ``names``: their names there.

        Raises :class:`InvalidArgument` and :class:`profiles.InvalidNumber`.

        >>> Participation.read("1e2", "10")
        Participation(apart=100, most=10, fixed_order=False)
        """

        def count(value: object, name: str) -> int:
            return to_integer(value, name, 1, hint="give a whole number", any_form=True)

        return cls(count(apart, names[0]), None if most is None else count(most, names[1]), fixed_order)

    def fit(self, steps: int) -> int:
        """Return the largest number of participations in so many steps."""
        room = -(-steps // self.apart)
        return room if self.most is None else min(self.most, room)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """lower ≤ s² ≤ upper for the largest norm s by which one unit of norm 1 in each step moves Cx; equal where s² is known.

    ``steps``: a participation that moves it by √lower; steps count from 1. ``how``: the source of both ends.
    """

    lower: Fraction
    upper: Fraction
    steps: tuple[int, ...]
    how: str

    @property
    def is_exact(self) -> bool:
        """Whether both ends are s²."""
        return self.lower == self.upper


def bound_sensitivity(matrix: StrategyMatrix, participation: Participation) -> Sensitivity:
    """Return s², the largest ‖Σ_{i∈π} C_i u_iᵀ‖² over participations π and vectors u_i of norm at most 1, or both sides of it.

    It is exact if a unit takes part once, if the bands are no wider than the separation, for falling Toeplitz coefficients, and if the
    participations are few, as in a fixed order. Otherwise the upper end is proved, and the lower end is attained by the named
    participation.

    >>> from accountant.compositions.matrices import make_matrix
    >>> bound = bound_sensitivity(make_matrix([1, "0.5"], steps=6), Participation(2, 3))
    >>> bound.upper, bound.is_exact, bound.steps
    (Fraction(15, 4), True, (1, 3, 5))
    """
    most, apart = participation.fit(matrix.steps), participation.apart
    if participation.fixed_order:
        return _find_phase(matrix, apart)
    if most == 1 or matrix.bands <= apart:
        return _find_disjoint(matrix, most, apart)
    if matrix.falls:
        square = _realise_spaced(matrix.coefficients or (), matrix.steps, most, apart) * matrix.unit**2
        return Sensitivity(square, square, _spaced(most, apart), "the first steps are the worst of falling Toeplitz coefficients")
    if matrix.steps <= _MOST_GRAM and _count_patterns(matrix.steps, most, apart) <= _MOST_PATTERNS:
        return _enumerate(matrix, most, apart)
    if matrix.steps <= MOST_STEPS:
        return _bound_pairs(matrix, most, apart)
    return _bound_by_falling(matrix, most, apart)


def square_columns(matrix: StrategyMatrix) -> list[int]:
    """Return ‖C_i‖² for each column, in squares of :attr:`StrategyMatrix.unit`."""
    if not matrix.is_toeplitz:
        return [sum(item * item for item in matrix.column(place)) for place in range(matrix.steps)]
    squares, whole = [0], matrix.column(0)
    for item in whole:
        squares.append(squares[-1] + item * item)
    return [squares[min(matrix.steps - place, len(whole))] for place in range(matrix.steps)]


def _find_disjoint(matrix: StrategyMatrix, most: int, apart: int) -> Sensitivity:
    """Return s² where the columns of two participations have no row in common: the largest sum of squares of columns."""
    squares, unit = square_columns(matrix), matrix.unit**2
    if matrix.is_toeplitz:  # columns become shorter: the first steps are the worst
        steps: list[int] = [*range(0, most * apart, apart)]
    else:
        steps = _find_heaviest([squares] * most, apart)
    square = sum(squares[place] for place in steps) * unit
    how = "one column is the longest" if most == 1 else "columns of two participations share no row"
    return Sensitivity(square, square, tuple(place + 1 for place in steps), how)


def _find_heaviest(weights: Sequence[Sequence[int]], apart: int) -> list[int]:
    """Return the places, any two at least ``apart`` apart, of the largest sum, where ``weights[m][i]`` counts if i is number m + 1.

    Fewer than ``len(weights)`` places have the last of the weights, which do not fall with m.
    """
    size = len(weights[0])
    best = [0] * (size + 1)  # best[i]: the most that the first i places give
    chosen: list[bytearray] = []
    for row in weights:
        taken, after = bytearray(size), [0] * (size + 1)
        for place, weight in enumerate(row):
            with_it = best[max(place + 1 - apart, 0)] + weight
            taken[place] = with_it > after[place]
            after[place + 1] = max(with_it, after[place])
        chosen.append(taken)
        best = after
    steps, end, left = list[int](), size, len(weights)
    while left and end > 0:
        if chosen[left - 1][end - 1]:
            steps.append(end - 1)
            end, left = max(end - apart, 0), left - 1
        else:
            end -= 1
    return steps[::-1]


def _realise(matrix: StrategyMatrix, places: Sequence[int], signs: Sequence[int] | None = None, *, sizes: bool = False) -> int:
    """Return ‖Σ ±C_i‖² over these places, in squares of the unit: what one unit moves that has ± one vector in these steps.

    With ``sizes`` that of the sizes of all entries, which no vectors exceed.
    """
    total = [0] * matrix.steps
    for index, place in enumerate(places):
        column = [*map(abs, matrix.column(place))] if sizes else matrix.column(place)
        end, sign = place + len(column), 1 if signs is None else signs[index]
        total[place:end] = [old + sign * item for old, item in zip(total[place:end], column, strict=True)]
    return sum(item * item for item in total)


def _realise_spaced(coefficients: Sequence[int], steps: int, most: int, apart: int) -> int:
    """Return ‖C_1 + C_(1+apart) + …‖² over ``most`` columns of a Toeplitz matrix, in squares of the unit, by one pass."""
    size, row = len(coefficients), list[int]()
    for place in range(steps):
        item = row[place - apart] if place >= apart else 0
        item += coefficients[place] if place < size else 0
        gone = place - most * apart
        row.append(item - (coefficients[gone] if 0 <= gone < size else 0))
    return sum(item * item for item in row)


def _spaced(most: int, apart: int) -> tuple[int, ...]:
    return tuple(range(1, most * apart + 1, apart))


def _find_phase(matrix: StrategyMatrix, apart: int) -> Sensitivity:
    """Return s² of a fixed order, exactly where columns of one phase have products of one sign, or signs of vectors make them so."""
    if matrix.steps > MOST_STEPS:  # what is proved of the first steps holds of all that are so far apart
        most = -(-matrix.steps // apart)
        if matrix.falls or matrix.bands <= apart:
            return bound_sensitivity(matrix, Participation(apart))
        return _bound_by_falling(matrix, most, apart)
    phases = [[*range(first, matrix.steps, apart)] for first in range(min(apart, matrix.steps))]
    if not matrix.has_negative:
        lower, worst = max((_realise(matrix, places), places) for places in phases)
        upper = lower
    elif matrix.steps**3 <= _MOST_WORK * apart:
        upper, worst, signs = max(_multiply_phase(matrix, places) for places in phases)
        lower = max(_realise(matrix, worst, signs), _realise(matrix, worst))
    else:
        upper, worst = max((_realise(matrix, places, sizes=True), places) for places in phases)
        lower = max(_realise(matrix, worst), _realise(matrix, worst, _choose_signs(matrix, worst)))
    how = "the largest of all phases" if lower == upper else "no phase has larger products, whatever their signs"
    return Sensitivity(lower * matrix.unit**2, upper * matrix.unit**2, tuple(place + 1 for place in worst), how)


def _multiply_phase(matrix: StrategyMatrix, places: list[int]) -> tuple[int, list[int], list[int]]:
    """Return the sum of the sizes of all products of columns, the places, and the signs of the products with the first column."""
    columns = [matrix.column(place) for place in places]
    size, signs = 0, [1]
    for index, (place, column) in enumerate(zip(places, columns, strict=True)):
        size += sum(item * item for item in column)
        for later, other in zip(places[index + 1 :], columns[index + 1 :], strict=True):
            product = sum(left * right for left, right in zip(column[later - place :], other, strict=False))
            size += 2 * abs(product)
            if index == 0:
                signs.append(1 if product >= 0 else -1)
    return size, places, signs


def _choose_signs(matrix: StrategyMatrix, places: Sequence[int]) -> list[int]:
    """Return signs of columns, each chosen so that those up to it move the most."""
    total, signs = [0] * matrix.steps, list[int]()
    for place in places:
        column = matrix.column(place)
        shared = sum(old * item for old, item in zip(total[place:], column, strict=False))
        signs.append(1 if shared >= 0 else -1)
        total[place : place + len(column)] = [old + signs[-1] * item for old, item in zip(total[place:], column, strict=False)]
    return signs


def _count_patterns(steps: int, most: int, apart: int) -> int:
    """Return the number of sets of at most ``most`` of the steps, any two ``apart`` apart; above the limit, some number above it."""
    counts = [1] * (steps + 1)
    for _ in range(most):
        after = [1] * (steps + 1)
        for place in range(steps):
            after[place + 1] = after[place] + counts[max(place + 1 - apart, 0)]
        counts = after
        if counts[-1] > _MOST_PATTERNS:
            break
    return counts[-1]


def _enumerate(matrix: StrategyMatrix, most: int, apart: int) -> Sensitivity:
    """Return s² by all participations: exact where the products of columns are not negative, or signs of vectors make them so."""
    gram = _multiply_columns(matrix, apart)
    unit, best, worst = matrix.unit**2, 0, list[int]()
    for places, size in _walk(gram, most, apart):
        if size > best:
            best, worst = size, places
    signs = [1 if gram[worst[0]].get(place, 0) >= 0 else -1 for place in worst]
    lower = max(_realise(matrix, worst, signs), _realise(matrix, worst))
    how = "the largest of all participations" if lower == best else "no participation has larger products, whatever their signs"
    return Sensitivity(lower * unit, best * unit, tuple(place + 1 for place in worst), how)


def _multiply_columns(matrix: StrategyMatrix, apart: int) -> list[dict[int, int]]:
    """Return ⟨C_i, C_j⟩ for each i and all j ≥ i that may accompany it, in squares of the unit."""
    columns = [matrix.column(place) for place in range(matrix.steps)]
    gram: list[dict[int, int]] = []
    for place, column in enumerate(columns):
        row = {place: sum(item * item for item in column)}
        for later in range(place + apart, min(place + matrix.bands, matrix.steps)):
            shared = zip(column[later - place :], columns[later], strict=False)
            row[later] = sum(left * right for left, right in shared)
        gram.append(row)
    return gram


def _walk(gram: list[dict[int, int]], most: int, apart: int) -> Iterator[tuple[list[int], int]]:
    """Yield each participation with the sum of the sizes of its products."""
    waiting: list[tuple[list[int], int]] = [([], 0)]
    while waiting:
        places, size = waiting.pop()
        if places:
            yield places, size
        if len(places) == most:
            continue
        for place in range(places[-1] + apart if places else 0, len(gram)):
            shared = sum(abs(gram[earlier].get(place, 0)) for earlier in places)
            waiting.append(([*places, place], size + gram[place][place] + 2 * shared))


def _bound_pairs(matrix: StrategyMatrix, most: int, apart: int) -> Sensitivity:
    """Return both sides of s²: each participation counts with the most that those before it may add (docs/batches.md, Theorem 12)."""
    rounded, power = matrix.round_up()
    shift = max(0, 2 * most.bit_length() + 53 - 61)  # so that sums of products stay below 2^62
    products = -(-_multiply_rounded(rounded) >> shift)
    unit = Fraction(2) ** (2 * power + 2 * LIMB + shift)
    added, diagonal = _add_earlier(products, most, apart), np.diagonal(products)
    rows = [(item + diagonal).tolist() for item in added]
    weights = [rows[min(number, len(rows) - 1)] for number in range(most)]
    steps = _find_heaviest(weights, apart)
    upper = sum(weights[index + most - len(steps)][place] for index, place in enumerate(steps)) * unit
    if matrix.is_toeplitz:
        upper = min(upper, _bound_by_falling(matrix, most, apart).upper)
    lower, worst = _find_realised(matrix, products, [steps, *_equally_spaced(matrix.steps, most, apart)])
    return Sensitivity(lower, upper, worst, "each participation with the most that earlier ones may add")


def _add_earlier(products: Integers, most: int, apart: int) -> list[Integers]:
    """Return for 0, 1, … earlier participations the most that their products with each step add up to, twice; at last for any number."""
    size = len(products)
    before = 2 * np.triu(products, apart)  # rows come before columns
    later = np.arange(apart, size)
    added, reached = [np.zeros(size, dtype=np.int64)], np.zeros_like(before)
    for _ in range(1, min(most, _COUNTED)):
        further = before.copy()
        further[apart:] += reached[:-apart]
        reached = np.maximum.accumulate(further, axis=0)
        added.append(np.zeros(size, dtype=np.int64))
        added[-1][apart:] = reached[later - apart, later]
    if most > _COUNTED:
        for place in range(size):  # before[i] becomes what the steps up to i give
            before[place] += before[place - apart] if place >= apart else 0
            if place:
                np.maximum(before[place], before[place - 1], out=before[place])
        added.append(np.zeros(size, dtype=np.int64))
        added[-1][apart:] = before[later - apart, later]
    return added


def _multiply_rounded(rounded: Integers) -> Integers:
    """Return integers that are at least Σ_r N_ri N_rj / 2^40, by products of two parts of 20 bits each, which are exact in binary64."""
    low = (rounded & ((1 << LIMB) - 1)).astype(np.float64)
    carried = -(-(low.T @ low).astype(np.int64) >> LIMB)
    high = (rounded >> LIMB).astype(np.float64)
    crossed = high.T @ low
    carried += (crossed + crossed.T).astype(np.int64)
    carried = -(-carried >> LIMB)
    carried += (high.T @ high).astype(np.int64)
    return carried


def _equally_spaced(size: int, most: int, apart: int) -> Iterator[list[int]]:
    for first in range(min(apart, size)):
        yield [*range(first, size, apart)][:most]


def _find_realised(matrix: StrategyMatrix, products: Integers, tried: Sequence[Sequence[int]]) -> tuple[Fraction, tuple[int, ...]]:
    """Return the s² that the best of some participations has, exactly, and its steps."""
    scores = [(int(products[np.ix_(places, places)].sum(dtype=np.float64)), [*places]) for places in tried if places]
    worst = max(scores)[1]
    square = _realise(matrix, worst)
    if matrix.has_negative:
        square = max(square, _realise(matrix, worst, _choose_signs(matrix, worst)))
    return square * matrix.unit**2, tuple(place + 1 for place in worst)


def _bound_by_falling(matrix: StrategyMatrix, most: int, apart: int) -> Sensitivity:
    """Return both sides of s² for Toeplitz coefficients: above that of the least falling ones that are no smaller in size."""
    given = matrix.coefficients or ()
    falling = [*accumulate((abs(item) for item in reversed(given)), max)][::-1]
    upper = _realise_spaced(falling, matrix.steps, most, apart) * matrix.unit**2
    together = _realise_spaced(given, matrix.steps, most, apart) * matrix.unit**2
    alone = square_columns(matrix)[0] * matrix.unit**2
    worst = _spaced(most, apart) if together >= alone else (1,)
    return Sensitivity(max(together, alone), upper, worst, "falling Toeplitz coefficients that are no smaller")


__all__ = ["Participation", "Sensitivity", "bound_sensitivity", "square_columns"]
