"""What a release is made of: the noisy numbers behind the answers, each with the most that one record changes it by.

A part is one event of the composition: one function of a row that is added up over the rows of each cell, or one choice of a grid's point
in each cell. Parts that several answers need are released once, and paid for once (docs/release.md, "What a release is made of").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import prod

from accountant.applications.answers.requests import (
    MOST_CELLS,
    By,
    Clip,
    Count,
    Histogram,
    Mean,
    PointGrid,
    Quantile,
    Request,
    Sum,
    Variance,
    check_categories,
    check_column,
    to_weight,
)
from profiles import InvalidArgument, to_exact
from profiles.numbers import to_number

_FINEST = 10**6  # of the denominators of quantiles


class PartKind(Enum):
    """What is added up over the rows of a cell, or chosen."""

    RECORDS = "number of rows"
    CELLS = "rows of each category"
    SUM = "sum"
    DISTANCES = "sum of the distances from the middle of the clip"
    SQUARES = "sum of the squared distances, less half of the largest"
    CHOICE = "point of a grid"


@dataclass(frozen=True, slots=True)
class ReleasePart:
    """One noisy number in each cell. ``whole``: it is a whole number for all rows, by declaration or by the type of the column.

    ``middle``: what distances are taken from. ``at``: the quantile.
    """

    kind: PartKind
    column: str | None = None
    clip: Clip | None = None
    middle: Fraction = Fraction(0)
    whole: bool = False
    categories: tuple[str | int, ...] = field(default=(), repr=False)
    grid: PointGrid | None = None
    at: Fraction = Fraction(0)

    @property
    def reach(self) -> Fraction:
        """The most, in size, that one row adds."""
        if self.kind is PartKind.CHOICE:
            return max(self.at, 1 - self.at)
        if self.clip is None:
            return Fraction(1)
        if self.kind is PartKind.SUM:
            return self.clip.reach
        radius = max(self.clip.high - self.middle, self.middle - self.clip.low)
        return radius if self.kind is PartKind.DISTANCES else radius**2 / 2

    @property
    def cells(self) -> int:
        """How many numbers there are in each group."""
        return max(1, len(self.categories))

    def describe(self) -> str:
        """Return what is counted or added up, of which column, and the clip, in words."""
        about = "" if self.column is None else f" of {self.column}"
        clip = "" if self.clip is None else f", moved into {self.clip.describe()}"
        return f"{self.kind.value}{about}{clip}"


@dataclass(frozen=True, slots=True)
class Needs:
    """The parts of one answer, in the order in which it is computed of them."""

    request: Request
    parts: tuple[ReleasePart, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """The declared groups of a release: the categories of each column; a row is in the group of its values, or in none."""

    columns: tuple[str, ...] = ()
    categories: tuple[tuple[str | int, ...], ...] = field(default=(), repr=False)

    @property
    def count(self) -> int:
        return prod(map(len, self.categories))

    def names(self, place: int) -> tuple[str | int, ...]:
        """Return the categories of the group of this number."""
        columns_ = []
        for listed in reversed(self.categories):
            place, rest = divmod(place, len(listed))
            columns_.append(listed[rest])
        return tuple(reversed(columns_))


def read_groups(by: object) -> Groups:
    """Return the groups of one or several :class:`By`. Raises :class:`InvalidArgument`."""
    given = () if by is None else (by,) if isinstance(by, By) else tuple(by) if isinstance(by, Sequence) else (None,)
    if not all(isinstance(item, By) for item in given):
        raise InvalidArgument("groups are declared as By(column, categories), one or a list of them; correct it")
    columns = tuple(check_column(item.column) for item in given)
    if len(set(columns)) < len(columns):
        raise InvalidArgument("groups of one column were declared twice; declare them once")
    groups = Groups(columns, tuple(check_categories(item.categories, item.column) for item in given))
    if groups.count > MOST_CELLS:
        raise InvalidArgument(f"{groups.count} groups were declared, but at most {MOST_CELLS} are answered for; declare fewer")
    return groups


def list_parts(requests: Sequence[Request], integers: frozenset[str]) -> tuple[Needs, ...]:
    """Return the parts of each answer. ``integers``: columns whose numbers are whole by their type. Raises :class:`InvalidArgument`."""
    return tuple(Needs(item, _find_parts(item, integers)) for item in requests)


def _find_parts(item: Request, integers: frozenset[str]) -> tuple[ReleasePart, ...]:
    records = ReleasePart(PartKind.RECORDS, whole=True)
    if isinstance(item, Count):
        return (records,)
    if isinstance(item, Histogram):
        return (ReleasePart(PartKind.CELLS, item.column, whole=True, categories=check_categories(item.categories, item.column)),)
    if isinstance(item, Quantile):
        at = to_number(item.at, f"the quantile of {item.column!r}", "(0, 1)")
        if at.denominator > _FINEST:
            raise InvalidArgument(f"the quantile of {item.column!r} is a number such as 0.9 or 1/3, but it has too many digits; round it")
        return (ReleasePart(PartKind.CHOICE, item.column, grid=PointGrid.of(item.grid, item.column), at=at),)
    clip = Clip.of(item.clip, item.column)
    asked = not isinstance(item, Variance) and item.integer
    if asked and not clip.is_whole:
        raise InvalidArgument(f"{item.column!r} is declared to hold whole numbers, but an end of its clip is not whole; declare whole ends")
    whole = (asked or item.column in integers) and clip.is_whole
    if isinstance(item, Sum):
        return (ReleasePart(PartKind.SUM, item.column, clip, whole=whole),)
    middle = (clip.low + clip.high) / 2
    whole = whole and middle.denominator == 1 and not isinstance(item, Variance)
    distances = ReleasePart(PartKind.DISTANCES, item.column, clip, middle, whole)
    if isinstance(item, Mean):
        return (distances, records)
    return (distances, ReleasePart(PartKind.SQUARES, item.column, clip, middle), records)


def share_budget(needs: Sequence[Needs], *, normal: bool) -> dict[ReleasePart, Fraction]:
    """Return what each part gets of the budget: by declared sizes where these are given, else by shares.

    Raises :class:`InvalidArgument` for sizes of some answers alone.
    """
    given = [getattr(item.request, "expected", None) for item in needs]
    if all(size is None for size in given):
        return share_equally(needs)
    for item, size in zip(needs, given, strict=True):
        if size is None or item.request.share != 1:
            raise InvalidArgument(
                f"the budget was to be divided by expected sizes, but {item.request.name!r} has none, or a share beside it; give all "
                "answers one (variances and quantiles take shares alone), or all of them shares"
            )
    sizes = [to_exact(size, f"the expected size of {item.request.name!r}") for item, size in zip(needs, given, strict=True)]
    return share_by_size(needs, sizes, normal=normal)


def share_by_size(needs: Sequence[Needs], sizes: Sequence[Fraction], *, normal: bool) -> dict[ReleasePart, Fraction]:
    """Return the shares with which the sum of squared relative errors is least: in ε ∝ (Δ/s)^(2/3), in μ² ∝ Δ/s, with s the size of what
    the noise is added to: of a mean, the number of rows times its size. Rounded to six digits; no guarantee rests on them.

    >>> from accountant.applications.answers.requests import Histogram
    >>> asked = [Count(expected=1000), Histogram("region", ["N", "S"], expected=125)]
    >>> [float(share) for share in share_by_size(list_parts(asked, frozenset()), [Fraction(1000), Fraction(125)], normal=False).values()]
    [0.01, 0.04]
    """
    rows = [size for item, size in zip(needs, sizes, strict=True) if isinstance(item.request, Count)]
    shares: dict[ReleasePart, Fraction] = {}
    for item, size in zip(needs, sizes, strict=True):
        if isinstance(item.request, Mean) and not rows:
            raise InvalidArgument(
                "the budget of a mean was to be divided by expected sizes, but the expected number of rows is missing; ask for the count "
                "as well, with its expected size"
            )
        part = item.parts[0]
        whole = abs(size) * (rows[0] if isinstance(item.request, Mean) else 1)
        if whole <= 0:
            raise InvalidArgument(f"the expected size of {item.request.name!r} is above 0; give about how large it will be")
        ratio = float(part.reach / whole)
        shares[part] = Fraction(f"{ratio if normal else ratio ** (2 / 3):.6g}")
    return shares


def share_equally(needs: Sequence[Needs]) -> dict[ReleasePart, Fraction]:
    """Return what each part gets of the budget, in proportion to the others: the share of the answer that asks for it, the largest of
    several. For a mean halves are minimax: the largest first-order error over all means in the clip is least.

    >>> found = share_equally(list_parts([Mean("age", (0, 110), share=2), Count()], frozenset()))
    >>> [str(share) for share in found.values()]
    ['2', '1']
    """
    shares: dict[ReleasePart, Fraction] = {}
    counted = any(isinstance(item.request, Count) for item in needs)
    for item in needs:
        weight = to_weight(item.request.share, item.request.name)
        for need in item.parts:
            mine = weight
            if need.kind is PartKind.RECORDS and not isinstance(item.request, Count):
                mine = Fraction(0) if counted else weight
            shares[need] = max(shares.get(need, Fraction(0)), mine)
    return shares
