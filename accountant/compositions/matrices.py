"""Strategy matrices of matrix mechanisms (DP-FTRL, BandMF): read, checked, and exact (docs/batches.md, section 8).

A float stands for its binary value, and an entry is an integer times a unit.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
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
#: Bits of a part of a rounded entry: products of two parts sum up to 2^53 over 4096 steps and two of them.
LIMB = 20


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
            power = top.numerator.bit_length() - top.denominator.bit_length() + 1 - 2 * LIMB  # top < 2^(power + 40)
            first = np.zeros(self.steps, dtype=np.int64)
            ratio = self.unit / Fraction(2) ** power
            first[: len(self.coefficients)] = [ceil(abs(item) * ratio) for item in self.coefficients]
            apart = np.subtract.outer(np.arange(self.steps), np.arange(self.steps))
            return np.where(apart >= 0, first[apart], 0), power
        array = np.abs(self._array())
        power = int(np.frexp(array.max())[1]) - 2 * LIMB
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
    if isinstance(given, (list, tuple)):  # whose numbers NumPy rounds where kinds are mixed
        numbers = [item for row in given if isinstance(row, (list, tuple)) for item in row]
        if any(isinstance(item, bool) or (isinstance(item, int) and abs(item) >= 2**53) for item in numbers):
            raise InvalidArgument("a truth value, or an integer from 2^53 on, was found as an entry; give numbers that binary64 holds")
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
    except (ValueError, KeyError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError):
        raise InvalidArgument(
            "it is not an NPY file: its first lines do not say what it has; save an array of numbers by numpy.save"
        ) from None
    if dtype.hasobject:
        raise InvalidArgument("it has pickled Python objects, which are never loaded; save float64 numbers by numpy.save")
    _require_kind(dtype)
    sizes = shape if isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape) else (-1,)
    if not isinstance(by_columns, bool) or prod(sizes) * dtype.itemsize != len(content) - body:
        raise InvalidArgument(f"it says that it has the shape {shape!s:.60}, but has {len(content) - body} bytes of numbers; save it again")
    if len(sizes) > 2 or 0 in sizes:  # of which NumPy may make no array at all
        raise InvalidArgument(
            f"t x t numbers, or one row of coefficients, were expected, but the shape {shape!s:.60} was found; reshape it"
        )
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
        raise InvalidArgument("an entry above 1e30 was found, which no strategy has; count matrix and noise in larger units")
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
        raise InvalidArgument("an entry above 1e30 was found, which no strategy has; count matrix and noise in larger units")
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


__all__ = ["LIMB", "MOST_STEPS", "MOST_TOEPLITZ", "StrategyMatrix", "make_matrix", "read_matrix"]
