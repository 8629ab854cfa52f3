"""Strategy matrices of matrix mechanisms (DP-FTRL, BandMF), and how far one unit moves Cx: exactly where that is known, else bounds.

Statements and proofs: docs/batches.md, section 8. Entries are exact: a float stands for its binary value, and what is computed of them is
an integer times a unit. Where a bound comes from products in binary64, their terms are integers whose sums stay below 2^53.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, lcm, prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from profiles import InvalidArgument, UnreadableFile, exact_text, to_exact
from profiles.arrays import Floats, Integers, ignore_flags
from profiles.numbers import to_integer
from profiles.strict_json import name_type_of
from profiles.suggestions import suggest_file

#: Most steps of a matrix with entries of its own, and of one that a few coefficients stand for.
MOST_STEPS, MOST_TOEPLITZ = 4096, 10**6
#: The largest entry, and the most bits of what coefficients are counted in.
_LARGEST, _MOST_BITS = 10**30, 4096
_MOST_HEADER = 10_000
_MOST_FILE = 8 * MOST_STEPS**2 + _MOST_HEADER
_MOST_PATTERNS, _MOST_GRAM = 20_000, 1024  # that are enumerated, of a matrix of at most so many steps
_MOST_WORK = 2 * 10**8  # products of entries, six times as many
_COUNTED = 64  # so many earlier participations are counted; more are taken for any number
_LIMB = 20  # bits: products of two sum up to 2^53 over 4096 steps and two of them


@dataclass(frozen=True, slots=True)
class Participation:
    """In which steps one unit may take part: in at most ``most`` of them (None: in as many as fit), any two at least ``apart`` apart.

    With ``fixed_order`` in every ``apart``-th step alone, from one of them on, as where batches have one order in all epochs. Raises
    :class:`InvalidArgument` for what are no such numbers, and for ``most`` in a fixed order.
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

    def fit(self, steps: int) -> int:
        """Return how many participations there are at most in so many steps."""
        room = -(-steps // self.apart)
        return room if self.most is None else min(self.most, room)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """lower ≤ s² ≤ upper for the largest norm s by which one unit of norm 1 in each step moves Cx; equal where s² is known.

    ``steps``: those of a participation that moves it by √lower, from 1. ``how``: what the ends come from.
    """

    lower: Fraction
    upper: Fraction
    steps: tuple[int, ...]
    how: str

    @property
    def is_exact(self) -> bool:
        """Whether both ends are s²."""
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class StrategyMatrix:
    """A lower triangular matrix C of ``steps`` rows and columns: of ``coefficients`` on its diagonals (Toeplitz), or of ``entries``.

    Made by :func:`read_matrix` or :func:`make_matrix`, which check it. ``bands``: C_ij = 0 for i − j ≥ bands. ``unit``: what the integers
    of :meth:`column` and ``coefficients`` are counted in. ``digest``: the SHA-256 of its file, of its entries as binary64 numbers row by
    row, or of its coefficients as exact texts between commas.
    """

    steps: int
    bands: int
    digest: str
    about: str
    unit: Fraction
    coefficients: tuple[int, ...] | None = None
    entries: Floats | None = field(default=None, compare=False, repr=False)

    @property
    def is_toeplitz(self) -> bool:
        """Whether each diagonal has one number."""
        return self.coefficients is not None

    @property
    def falls(self) -> bool:
        """Whether it is Toeplitz with c_0 ≥ c_1 ≥ … ≥ 0."""
        given = self.coefficients
        return given is not None and given[-1] >= 0 and all(left >= right for left, right in pairwise(given))

    @property
    def has_negative(self) -> bool:
        """Whether an entry is below 0."""
        return min(self.coefficients) < 0 if self.coefficients is not None else bool((self._array() < 0).any())

    def column(self, place: int) -> list[int]:
        """Return column ``place`` (from 0) from the diagonal down, as integers times :attr:`unit`; what follows is 0."""
        if self.coefficients is not None:
            return [*self.coefficients[: self.steps - place]]
        return _whole(self._array()[place : place + self.bands, place], self.unit)

    @ignore_flags
    def round_up(self) -> tuple[Integers, int]:
        """Return integers N and an exponent p with |C_ij| ≤ N_ij 2^p, N_ij ≤ 2^40, and N_ij = 0 only where C_ij is; ``steps`` ≤ 4096."""
        if self.coefficients is not None:
            top = max(abs(item) for item in self.coefficients) * self.unit
            power = top.numerator.bit_length() - top.denominator.bit_length() + 1 - 2 * _LIMB  # top < 2^(power + 40)
            first = np.zeros(self.steps, dtype=np.int64)
            ratio = self.unit / Fraction(2) ** power
            first[: len(self.coefficients)] = [ceil(abs(item) * ratio) for item in self.coefficients]
            apart = np.subtract.outer(np.arange(self.steps), np.arange(self.steps))
            return np.where(apart >= 0, first[apart], 0), power
        array = np.abs(self._array())
        power = int(np.frexp(array.max())[1]) - 2 * _LIMB
        scaled = np.maximum(np.ceil(np.ldexp(array, -power)), array > 0)  # what underflows is at least 1
        return scaled.astype(np.int64), power

    def describe(self) -> str:
        """Return the matrix as a phrase."""
        return f"the {self.steps} x {self.steps} {self.about}"

    def _array(self) -> Floats:
        if self.entries is None:
            raise InvalidArgument("a strategy matrix has lost its entries; read it again")
        return self.entries


def read_matrix(path: Path | str, steps: object = None) -> StrategyMatrix:
    """Return the strategy matrix of a ``.npy`` file: one of t × t numbers, or the coefficients of a Toeplitz one of ``steps`` steps.

    Raises :class:`UnreadableFile` (no array of numbers, too large, pickled objects, and what :func:`make_matrix` refuses).
    """
    if not isinstance(path, (Path, str)):
        raise UnreadableFile(f"the path of a matrix was expected, but {name_type_of(path)} was found; give it as text")
    where, shown = Path(path), repr(str(path)[:200])
    try:
        if not where.is_file():
            there = "a directory" if where.is_dir() else "something else" if where.exists() else "nothing"
            raise UnreadableFile(f"a matrix was expected at {shown}, but {there} is there; check the path{suggest_file(where)}")
        if (size := where.stat().st_size) > _MOST_FILE:
            raise UnreadableFile(
                f"{shown} has {size} bytes, but a matrix of at most {MOST_STEPS} steps is read; of a Toeplitz one save the coefficients, "
                "and give the steps"
            )
        content = where.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{shown} cannot be read ({error.strerror or error}); check its permissions") from None
    except ValueError as error:
        raise UnreadableFile(f"{shown} is not a path ({error}); check it") from None
    try:
        array, digest = _parse(content), hashlib.sha256(content).hexdigest()
        return _make(array, steps, digest, f"matrix whose file has the SHA-256 {digest}")
    except InvalidArgument as error:
        raise UnreadableFile(f"{shown} holds no strategy matrix: {error}") from None


def make_matrix(given: object, steps: object = None) -> StrategyMatrix:
    """Return the strategy matrix of an array of t × t numbers, or of the coefficients of a Toeplitz one of ``steps`` steps.

    Coefficients may be decimals and fractions as texts; a float stands for its exact binary value. Raises :class:`InvalidArgument`
    for what is not a square lower triangular matrix of finite numbers, and :class:`profiles.InvalidNumber`.

    >>> make_matrix([1, "0.5"], steps=3).column(0)
    [2, 1]
    """
    if isinstance(given, StrategyMatrix):
        if steps is not None and steps != given.steps:
            raise InvalidArgument(f"a matrix of {given.steps} steps was found, but {str(steps)[:20]!r} were given; leave them out")
        return given
    if isinstance(given, (list, tuple)) and given and not any(isinstance(item, (list, tuple, np.ndarray)) for item in given):
        return _make_toeplitz([to_exact(item, "a coefficient") for item in given], steps)
    try:
        array = np.asarray(given)
    except (ValueError, TypeError):
        raise InvalidArgument("an array of numbers was expected as strategy matrix, but rows of different lengths were found") from None
    return _make(array, steps)


def _parse(content: bytes) -> npt.NDArray[np.generic]:
    """Return the array of a ``.npy`` file, of which nothing is run and nothing allocated that it does not hold."""
    if content.startswith(b"PK"):
        raise InvalidArgument("it is an archive of arrays (NPZ); save the one matrix by numpy.save")
    wide = content[6:7] in (b"\2", b"\3")
    begin = 12 if wide else 10
    body = begin + int.from_bytes(content[8:begin], "little")
    if not content.startswith((b"\x93NUMPY\1\0", b"\x93NUMPY\2\0", b"\x93NUMPY\3\0")) or not begin < body <= min(
        len(content), _MOST_HEADER
    ):
        raise InvalidArgument("it is not an NPY file; save an array of numbers by numpy.save")
    try:
        said = ast.literal_eval(content[begin:body].decode("utf-8").strip())
        dtype, by_columns, shape = np.dtype(said["descr"]), said["fortran_order"], said["shape"]
    except (ValueError, KeyError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise InvalidArgument(
            "it is not an NPY file: its first lines do not say what it has; save an array of numbers by numpy.save"
        ) from None
    if dtype.hasobject:
        raise InvalidArgument("it has pickled Python objects, which are never loaded; save float64 numbers by numpy.save")
    _require_kind(dtype)
    sizes = shape if isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape) else (-1,)
    if not isinstance(by_columns, bool) or prod(sizes) * dtype.itemsize != len(content) - body:
        raise InvalidArgument(f"it says that it has the shape {shape!s:.60}, but has {len(content) - body} bytes of numbers; save it again")
    return np.frombuffer(content, dtype=dtype, offset=body).reshape(sizes, order="F" if by_columns else "C")


def _require_kind(dtype: np.dtype[np.generic]) -> None:
    if dtype.kind not in "fiu" or dtype.itemsize > 8:
        raise InvalidArgument(
            f"real numbers of at most 64 bits were expected, but {dtype.name[:40]} was found; save float64 numbers by numpy.save"
        )


@ignore_flags
def _make(array: npt.NDArray[np.generic], steps: object, digest: str | None = None, about: str = "") -> StrategyMatrix:
    _require_kind(array.dtype)
    if array.ndim not in (1, 2) or not array.size:
        raise InvalidArgument(
            f"t x t numbers, or one row of coefficients, were expected, but an array of shape {array.shape!s:.60} was found; reshape it"
        )
    exact = array.astype(np.float64)
    if not np.isfinite(exact).all():
        raise InvalidArgument("finite numbers were expected, but a NaN or an infinity was found; correct the matrix")
    if array.dtype.kind in "iu" and (np.abs(exact) >= 2**53).any():
        raise InvalidArgument("an integer from 2^53 on was found, which binary64 numbers may not hold; count in larger units")
    if (np.abs(exact) > _LARGEST).any():
        raise InvalidArgument("an entry above 1e30 was found, which no strategy has; rescale matrix and noise")
    if array.ndim == 1:
        named = "" if digest is None else f"Toeplitz matrix of coefficients whose file has the SHA-256 {digest}"
        return _make_toeplitz([Fraction(item) for item in exact.tolist()], steps, digest, named)
    _require_triangle(exact, steps)
    if digest is None:
        digest = hashlib.sha256(exact.astype("<f8").tobytes()).hexdigest()
        about = f"matrix whose binary64 entries have the SHA-256 {digest}"
    first = exact[:, 0]
    if all((np.diagonal(exact, -apart) == first[apart]).all() for apart in range(len(exact))):
        return _make_toeplitz([Fraction(item) for item in first.tolist()], len(exact), digest, about)
    made, places = np.ascontiguousarray(exact), np.nonzero(exact)
    made.setflags(write=False)
    unit = Fraction(2) ** (int(np.frexp(np.abs(made[places]))[1].min()) - 53)
    return StrategyMatrix(len(made), int((places[0] - places[1]).max()) + 1, digest, about, unit, None, made)


def _require_triangle(exact: Floats, steps: object) -> None:
    rows, columns = exact.shape
    if rows != columns:
        raise InvalidArgument(f"a square matrix was expected, but {rows} x {columns} numbers were found; give the strategy matrix C itself")
    if rows > MOST_STEPS:
        raise InvalidArgument(f"a matrix of at most {MOST_STEPS} steps was expected, but {rows} were found; a Toeplitz one may have more")
    if steps is not None and to_integer(steps, "steps", 1, MOST_TOEPLITZ, any_form=True) != rows:
        raise InvalidArgument(f"a matrix of {rows} steps was found, but other steps were given; leave them out")
    above = np.argwhere(np.triu(exact, 1))
    if len(above):
        row, column = above[0] + 1
        raise InvalidArgument(
            f"a lower triangular matrix was expected, but row {row} has a number in column {column}, of a later step; transpose it, or "
            "give the strategy matrix C itself"
        )
    if not exact.any():
        raise InvalidArgument("a matrix of zeros was found, with which nothing is released; give the strategy matrix C")


def _make_toeplitz(given: list[Fraction], steps: object, digest: str | None = None, about: str = "") -> StrategyMatrix:
    if steps is None:
        raise InvalidArgument(
            "coefficients of a Toeplitz matrix were found, but not for how many steps; give steps, on which the sensitivity depends"
        )
    size = to_integer(steps, "steps", 1, MOST_TOEPLITZ, hint="give the number of steps", any_form=True)
    if len(given) > size:
        raise InvalidArgument(f"{len(given)} coefficients were found for {size} steps; give one for each step, or fewer")
    kept = given[: max((place for place, item in enumerate(given, 1) if item), default=0)]
    if not kept:
        raise InvalidArgument("a matrix of zeros was found, with which nothing is released; give the strategy matrix C")
    if max(map(abs, kept)) > _LARGEST:
        raise InvalidArgument("an entry above 1e30 was found, which no strategy has; rescale matrix and noise")
    unit = Fraction(1, lcm(*(item.denominator for item in kept)))
    if unit.denominator.bit_length() > _MOST_BITS:
        raise InvalidArgument("coefficients with more digits, or more denominators, than are accounted with were found; round them")
    if digest is None:
        listed = ",".join(map(exact_text, given))
        digest = hashlib.sha256(listed.encode()).hexdigest()
        named = listed.replace(",", ", ") if len(listed) <= 80 else f"SHA-256 {digest} as exact texts between commas"
        about = f"Toeplitz matrix with the coefficients {named}"
    return StrategyMatrix(size, len(kept), digest, about, unit, tuple(int(item / unit) for item in kept))


@ignore_flags
def _whole(column: Floats, unit: Fraction) -> list[int]:
    """Return binary64 numbers as integers times ``unit``, a power of 2 that divides them."""
    least = unit.numerator.bit_length() - unit.denominator.bit_length()
    mantissas, exponents = np.frexp(column)
    whole = (mantissas * 2.0**53).astype(np.int64)
    shifts = np.where(whole != 0, exponents - 53 - least, 0)
    if int(shifts.max()) <= 9:  # the integers stay below 2^62
        return [*map(int, (whole << shifts).tolist())]
    return [item << shift for item, shift in zip(whole.tolist(), shifts.tolist(), strict=True)]


def bound_sensitivity(matrix: StrategyMatrix, participation: Participation) -> Sensitivity:
    """Return s², the largest ‖Σ_{i∈π} C_i u_iᵀ‖² over participations π and vectors u_i of norm at most 1, or both sides of it.

    Known where a unit takes part once, of bands no wider than the separation, of falling Toeplitz coefficients, and where the
    participations are few, as in a fixed order. Else the upper end is proved, and the lower one that of a participation that is named.

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
    unit = Fraction(2) ** (2 * power + 2 * _LIMB + shift)
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
    low = (rounded & ((1 << _LIMB) - 1)).astype(np.float64)
    carried = -(-(low.T @ low).astype(np.int64) >> _LIMB)
    high = (rounded >> _LIMB).astype(np.float64)
    crossed = high.T @ low
    carried += (crossed + crossed.T).astype(np.int64)
    carried = -(-carried >> _LIMB)
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


__all__ = ["Participation", "Sensitivity", "StrategyMatrix", "bound_sensitivity", "make_matrix", "read_matrix", "square_columns"]
