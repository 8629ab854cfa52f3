"""Pairs of neighboring data sets for the audit of a profile: records at the border of its domain, weights where evidence grows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.testing.domains import find_dimension
from profiles.arrays import Floats
from profiles.errors import InvalidArgument, InvalidData
from profiles.mechanisms.datasets import compute_norms
from profiles.mechanisms.interface import to_dimension
from profiles.numbers import bisect, to_integer
from profiles.profile import Profile
from proofs_check.audit.claims import Claim, claim_of_record
from proofs_check.audit.pairs import Pair

#: From records, shape (n, d), to the statistics of each, shape (n,).
StatisticMap = Callable[[Floats], Mapping[str, Any]]

NORMS = {"l1": 1.0, "l2": 2.0, "linf": math.inf}
#: Weights that are tried, and the claim, in nats, up to which a few thousand outputs can tell a true claim from a false one well.
_WEIGHTS, _VISIBLE, _LARGEST = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0), Fraction(5, 2), Fraction(6)
_MOST_RECORDS = 1_000_000
_SCALES = tuple(2.0**k for k in range(-20, 31))


def statistic_map(mechanism: Any, profile: Profile, given: Any) -> StatisticMap:
    """Return how the statistics of records are found: as ``given``, else by the mechanism's own method, else the absolute value.

    ``given`` is ``"l1"``, ``"l2"`` or ``"linf"`` for a profile with one statistic, or a function from records, shape (n, d), to a mapping
    of names or to one array. Raises :class:`InvalidArgument`.
    """
    names = [statistic.name for statistic in profile.record]
    own = getattr(mechanism, "statistic", None)
    if given is None and callable(own):
        return own  # type: ignore[no-any-return]
    if not names:
        return lambda _: {}
    if callable(given):
        return lambda points: told if isinstance(told := given(points), Mapping) else {names[0]: told}
    norm = "l1" if given is None else given
    if not isinstance(norm, str) or norm not in NORMS or len(names) > 1:
        raise InvalidArgument(
            f"the statistics {', '.join(names)} of {profile.name!r} must be given for a record; give statistic= a function from records, "
            f"shape (n, d), to them{'' if len(names) > 1 else ', or one of l1, l2, linf'}"
        )
    return lambda points: {names[0]: compute_norms(points, NORMS[norm])}


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Where pairs come from: the profile, its statistics, and the form of data sets that the mechanism takes.

    ``dimension`` None: records are numbers, data sets have shape (n,); else (n, d). ``weighted`` False: data sets have no weights.
    ``min_size``: no data set is smaller. ``records``: the records that may differ, instead of those that are made here.
    """

    profile: Profile
    statistics: StatisticMap
    dimension: int | None = None
    weighted: bool = True
    min_size: int = 0
    one_sided: bool = False
    records: Sequence[Any] | None = None

    @classmethod
    def of(cls, mechanism: Any, profile: Profile, statistic: Any, dimension: int | None, **options: Any) -> Candidates:
        """Return where the pairs of a mechanism come from; one of the catalogue tells its dimension."""
        dimension_ = find_dimension(mechanism) if dimension is None else dimension
        if dimension_ is None and callable(getattr(mechanism, "statistic", None)):
            dimension_ = 1
        return cls(profile, statistic_map(mechanism, profile, statistic), dimension_, **options)

    def __post_init__(self) -> None:
        if self.dimension is not None:
            to_dimension(self.dimension)
        to_integer(self.min_size, "min_size", 0, _MOST_RECORDS, hint="give the least number of records that the mechanism takes")
        for name in ("weighted", "one_sided"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidArgument(f"{name} must be True or False, but {str(getattr(self, name))[:40]!r} was found; give one of them")

    def make(self, rng: np.random.Generator, count: int) -> list[Pair]:
        """Return ``count`` pairs: the fixed ones first, then random ones. They depend on ``rng`` and on nothing that a mechanism returned.

        Raises :class:`InvalidArgument` where no record of the domain is found.
        """
        given = None if self.records is None else [self._point(record) for record in self.records]
        extremes = given if given is not None else list(self._extremes(rng))
        inside = [x for x in extremes if self.claim(x, 1.0) is not None]
        if not inside:
            raise InvalidArgument(
                f"records in the domain of {self.profile.name!r} were looked for, but none was found; give records= some, or statistic= "
                "the function from records to its statistics"
            )
        bystanders = [x / 2 for x in inside[:2] if self.claim(x / 2, 1.0) is not None] or inside[:1]
        small = [(bystanders[0], 1.0), (bystanders[-1], 3.0)]
        pairs = []
        for number in range(count):
            x = inside[number % len(inside)] if number < 2 * len(inside) else self._mixed(rng, inside)
            heavy = number % 4 != 1
            base = [[], small, [(x, 1.0), (x, 1.0)], self._random_base(rng, inside)][number % 4]
            pairs.append(self._pair(x, self._weight(x, heavy=heavy), base))
        return pairs

    def claim(self, record: Floats, weight: float) -> Claim | None:
        """Return what the profile claims for a weighted record; None outside its domain."""
        try:
            values = self._values(record)
        except InvalidData:
            return None
        try:
            claimed = claim_of_record(self.profile, values, weight)
        except InvalidArgument:
            if self.profile.free_parameters or any(s.name not in values for s in self.profile.record):
                raise
            return None
        return Claim(claimed.epsilon, one_sided=True, source=claimed.source, private=claimed.private) if self.one_sided else claimed

    def _values(self, record: Floats) -> dict[str, float]:
        """Return the statistics of a record, as the function that was given tells them."""
        told = self.statistics(record[np.newaxis])
        try:
            arrays = {name: np.asarray(values_, dtype=np.float64).ravel() for name, values_ in told.items()}
            return {name: float(values_.item()) for name, values_ in arrays.items()}
        except (TypeError, ValueError):
            raise InvalidArgument(
                f"the statistic of a record must be one number, but {str(told)[:80]!r} was found for the record {record.tolist()!s:.80}; "
                "return an array of shape (n,) for records of shape (n, d)"
            ) from None

    def _point(self, record: Any) -> Floats:
        size = self.dimension or 1
        try:
            point = np.array(record, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            point = np.empty(0)
        if point.size != size or point.ndim > 1 or not np.isfinite(point).all():
            raise InvalidArgument(
                f"a record of {size} finite number{'' if size == 1 else 's'} was expected, but {str(record)[:40]!r} was found; correct "
                "records=, or give dimension="
            )
        return point.reshape(size)

    def _weight(self, record: Floats, *, heavy: bool) -> float:
        if not self.weighted or not heavy:
            return 1.0
        claims = {w: claimed.epsilon for w in _WEIGHTS if (claimed := self.claim(record, w)) is not None}
        visible = [w for w, epsilon in claims.items() if epsilon <= _VISIBLE]
        beyond = [w for w, epsilon in claims.items() if w > 1 and epsilon <= _LARGEST]
        return max([*visible, *beyond[:1], 1.0])

    def _extremes(self, rng: np.random.Generator) -> Iterator[Floats]:
        size = self.dimension or 1
        axis = np.eye(size)[0]
        directions = [axis, np.ones(size), -axis] if size > 1 else [axis, -axis]
        for direction in (*directions, rng.normal(size=size)):
            scale = self._largest_scale(direction)
            if scale is not None:
                yield direction * scale
        yield np.zeros(size)

    def _largest_scale(self, direction: Floats) -> float | None:
        """Return the largest factor that keeps the record in the domain, found by bisection; None where none is found."""

        def inside(scale: float) -> bool:
            return self.claim(direction * scale, 1.0) is not None

        if not self.profile.record:
            return 1.0
        ends = [float(s.hi) for s in self.profile.record]
        exact = next((end for end in ends if end > 0 and inside(end)), None)
        low: float | None = max((scale for scale in (*_SCALES, *(() if exact is None else (exact,))) if inside(scale)), default=None)
        if low is None or (low == exact and not inside(math.nextafter(low, math.inf))):
            return low
        return bisect(lambda scale: not inside(scale), low, 2 * low)[0]

    def _mixed(self, rng: np.random.Generator, inside: list[Floats]) -> Floats:
        record = inside[int(rng.integers(len(inside)))] * rng.random()
        return record if self.claim(record, 1.0) is not None else inside[0]

    def _random_base(self, rng: np.random.Generator, inside: list[Floats]) -> list[tuple[Floats, float]]:
        return [(self._mixed(rng, inside), float(rng.choice(_WEIGHTS[:5]))) for _ in range(int(rng.integers(1, 6)))]

    def _pair(self, record: Floats, weight: float, base: list[tuple[Floats, float]]) -> Pair:
        claim = self.claim(record, weight)
        if claim is None:
            raise InvalidArgument(f"the weight {weight:g} is outside the domain of {self.profile.name!r}; give other records")
        padded = [*base, *[(record, 1.0)] * (self.min_size - len(base))]
        values = ", ".join(f"{entry:.6g}" for entry in record[:4]) + (", ..." if len(record) > 4 else "")
        name = f"D has one record more: x = {values if self.dimension is None else f'({values})'}, w = {weight:g}; {len(padded)} in both"
        return Pair(self._table([*padded, (record, weight)]), self._table(padded), claim, name)

    def _table(self, rows: list[tuple[Floats, float]]) -> Any:
        points = np.array([x for x, _ in rows], dtype=np.float64).reshape(-1, self.dimension or 1)
        points = points[:, 0] if self.dimension is None else points
        return (points, np.array([w if self.weighted else 1.0 for _, w in rows], dtype=np.float64)) if self.weighted else points
