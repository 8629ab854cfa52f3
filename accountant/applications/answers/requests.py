"""What is asked of a table: counts, sums, means, variances, histograms and quantiles, each with what has to be declared of it.

Everything here is public, and was fixed without looking at the data: columns, clips, categories, grids, shares. Nothing of it is ever read
from a table (docs/release.md, "What has to be declared").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from profiles import InvalidArgument, exact_text, to_exact
from profiles.numbers import round_down, round_up, to_number

#: Cells of one histogram, points of one grid, and groups of a release: what is declared is held in memory.
MOST_CELLS = 10**7
#: Whole numbers up to here are added up as such.
MOST_WHOLE = 2**50
_LARGEST = Fraction(10) ** 100
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Clip:
    """A range [low, high] that was declared: a number outside of it is moved to its nearer end, by itself."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, given: object, column: str) -> Clip:
        """Return a clip of two numbers. Raises :class:`InvalidArgument` for others, and where none is declared.

        >>> Clip.of((0, "1.5"), "age").reach
        Fraction(3, 2)
        """
        if given is None:
            raise InvalidArgument(
                f"the column {column!r} needs a clip, the range that its numbers are moved into, but none was given; declare one, such "
                f"as --clip {column}=0:100 (clip=(0, 100)), from public knowledge about such numbers"
            )
        if isinstance(given, Clip):
            return given
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
            said = f"{given[:40]!r}" if isinstance(given, str) else type(given).__name__
            raise InvalidArgument(
                f"the clip of {column!r} has two ends that are declared, but {said} was found; a clip that is computed from the "
                f"data reveals single records: give two numbers, from public knowledge about such columns"
            )
        low, high = (to_exact(value, f"an end of the clip of {column!r}") for value in given)
        if not -_LARGEST <= low < high <= _LARGEST:
            raise InvalidArgument(f"the clip of {column!r} must have a lower and a higher end, at most 1e100; correct it")
        if round_up(low) > round_down(high):
            raise InvalidArgument(f"there is no binary64 number in the clip of {column!r}; declare a wider one")
        return cls(low, high)

    @property
    def reach(self) -> Fraction:
        """The most that a record adds to a sum, in size."""
        return max(abs(self.low), abs(self.high))

    @property
    def is_whole(self) -> bool:
        """Whether both ends are whole numbers, small enough for exact sums."""
        return self.low.denominator == self.high.denominator == 1 and self.reach <= MOST_WHOLE

    def describe(self) -> str:
        """Return both ends, exactly, as ``0..100``."""
        return f"{exact_text(self.low)}..{exact_text(self.high)}"


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are. ``share``: what it gets of the budget, in proportion to the shares of the others.

    ``expected``: about how many there are, from what is known without the data. Where all answers have one, and no shares, the budget is
    divided so that the relative errors are least.
    """

    share: object = 1
    expected: object = field(default=None, kw_only=True)

    @property
    def name(self) -> str:
        return "count"


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a ``column``, each number moved into the ``clip`` (low, high).

    ``integer``: the numbers are whole, or are made so by leaving out their fractions; the answer is then a whole number. Columns of an
    integer type are whole numbers anyway. ``expected``: about how large the sum is, from what is known without the data.
    """

    column: str
    clip: object
    integer: bool = field(default=False, kw_only=True)
    share: object = field(default=1, kw_only=True)
    expected: object = field(default=None, kw_only=True)

    @property
    def name(self) -> str:
        return f"sum {self.column}"


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a ``column``: the middle of the clip, and a noisy sum of the distances from it over a noisy number of rows."""

    column: str
    clip: object
    integer: bool = field(default=False, kw_only=True)
    share: object = field(default=1, kw_only=True)
    expected: object = field(default=None, kw_only=True)

    @property
    def name(self) -> str:
        return f"mean {self.column}"


@dataclass(frozen=True, slots=True)
class Variance:
    """The variance of a ``column``: the noisy mean of squared distances from the middle of the clip, less that of the distance, squared."""

    column: str
    clip: object
    share: object = field(default=1, kw_only=True)

    @property
    def name(self) -> str:
        return f"variance {self.column}"


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many rows there are of each of the declared ``categories`` of a ``column``; rows of others are counted nowhere.

    ``expected``: about how many there are of a typical one.
    """

    column: str
    categories: Sequence[object]
    share: object = field(default=1, kw_only=True)
    expected: object = field(default=None, kw_only=True)

    @property
    def name(self) -> str:
        return f"histogram {self.column}"


@dataclass(frozen=True, slots=True)
class Quantile:
    """The ``at`` quantile of a ``column``, such as 1/2 for the median: one of the points of the declared ``grid`` (low, high, step)."""

    column: str
    at: object
    grid: object
    share: object = field(default=1, kw_only=True)

    @property
    def name(self) -> str:
        return f"quantile {self.at} {self.column}"


@dataclass(frozen=True, slots=True)
class By:
    """Groups: the declared ``categories`` of a ``column``. Every answer is given for each of them; a row is in one of them, or in none."""

    column: str
    categories: Sequence[object]


Request = Count | Sum | Mean | Variance | Histogram | Quantile
KINDS = (Count, Sum, Mean, Variance, Histogram, Quantile)


def check_requests(requests: object) -> tuple[Request, ...]:
    """Return what is asked. Raises :class:`InvalidArgument` for anything else than requests, for none, and for one that is asked twice."""
    if isinstance(requests, KINDS):
        return (requests,)
    if isinstance(requests, (str, Mapping)) or not isinstance(requests, Iterable):
        raise InvalidArgument(
            f"what is released is a list such as [Count(), Sum('income', clip=(0, 150_000))], but {type(requests).__name__} was found"
            "; give one"
        )
    asked: tuple[Request, ...] = tuple(requests)
    for item in asked:
        if not isinstance(item, KINDS):
            raise InvalidArgument(f"Count, Sum, Mean, Variance, Histogram or Quantile was expected, but {type(item).__name__} was found")
        if not isinstance(item, Count):
            check_column(item.column)
    if not asked:
        raise InvalidArgument("a release has at least one answer, but none was asked for; add --count, --sum COLUMN or another")
    names = [item.name for item in asked]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(f"{name!r} was asked for twice, which would cost twice; ask once")
    return asked


def check_column(name: object) -> str:
    """Return the name of a column. Raises :class:`InvalidArgument`."""
    if not isinstance(name, str) or not name or not name.isprintable() or len(name) > _LONGEST:
        raise InvalidArgument(f"a column has a name of at most {_LONGEST} letters, but {str(name)[:40]!r} was found; correct it")
    return name


def to_weight(share: object, name: str) -> Fraction:
    """Return the share of an answer as an exact number above 0. Raises :class:`InvalidArgument`."""
    return to_number(share, f"the share of {name!r}", "(0, 1000000]")


def check_categories(given: object, column: str) -> tuple[str | int, ...]:
    """Return declared categories, texts or whole numbers, each once. Raises :class:`InvalidArgument`, also where none are declared.

    >>> check_categories(["N", "S"], "region")
    ('N', 'S')
    """
    if given is None or isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise InvalidArgument(_undeclared(column))
    categories = tuple(given)
    if not categories:
        raise InvalidArgument(_undeclared(column))
    if not all(type(item) is int or (isinstance(item, str) and item.isprintable()) for item in categories):
        raise InvalidArgument(f"the categories of {column!r} are texts or whole numbers, but others were found; correct them")
    if len({type(item) for item in categories}) > 1:
        raise InvalidArgument(f"the categories of {column!r} are texts, or they are whole numbers, but both were found; write one kind")
    if len(categories) > MOST_CELLS:
        raise InvalidArgument(f"{column!r} has {len(categories)} categories, but at most {MOST_CELLS} are counted; declare fewer")
    if len(set(categories)) < len(categories):
        twice = (
            next(item for place, item in enumerate(categories) if item in categories[:place]) if len(categories) <= 1000 else "one of them"
        )
        raise InvalidArgument(f"the category {twice!r} of {column!r} was declared twice, but a row is in one cell; declare it once")
    return categories


def _undeclared(column: str) -> str:
    return (
        f"the categories of {column!r} have to be declared, but none were found; categories that are read from the data reveal "
        f"which ones occur: list them, such as --histogram {column}=N,S,E,W, or name a public file, {column}=@FILE"
    )


@dataclass(frozen=True, slots=True)
class PointGrid:
    """The points low, low + step, ..., at most high, of which a quantile is one."""

    low: Fraction
    step: Fraction
    size: int

    @classmethod
    def of(cls, given: object, column: str) -> PointGrid:
        """Return a grid of three numbers. Raises :class:`InvalidArgument` for others, and where none is declared."""
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 3:
            raise InvalidArgument(
                f"a quantile of {column!r} is one point of a declared grid (low, high, step), but none was found; the least and the "
                f"largest number of the data reveal single records: declare one, such as --grid {column}=0:100:1"
            )
        low, high, step = (to_exact(value, f"the grid of {column!r}") for value in given)
        if not -_LARGEST <= low < high <= _LARGEST or step <= 0:
            raise InvalidArgument(f"the grid of {column!r} has a lower end, a higher one and a positive step; correct it")
        size = int((high - low) / step) + 1
        if size > MOST_CELLS // 10:
            raise InvalidArgument(f"the grid of {column!r} has {size} points, but at most {MOST_CELLS // 10} are looked at; widen the step")
        return cls(low, step, size)

    def point(self, place: int) -> Fraction:
        """Return the point of this number, from 0 on."""
        return self.low + place * self.step
