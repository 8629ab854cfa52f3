"""Exact ε and δ of a finite mechanism over all data sets up to a size and all their add/remove neighbors."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any, TypeAlias, TypedDict, Unpack

from profiles.errors import InvalidArgument, Undecided
from profiles.numbers import ExactLike, round_down, round_up, to_integer
from proofs_check.exact.enclosed import Bounds, Enclosed
from proofs_check.exact.exponentials import Exact, Nats
from proofs_check.exact.probabilities import Law, LawTable, to_table, widen
from proofs_check.exact.tables import Ratio, hockey_stick, larger_bounds, ratio_of, to_delta, to_threshold

#: A data set is a tuple of records.
Dataset: TypeAlias = tuple[Any, ...]

#: A mechanism by its law: data set → (output → probability).
MechanismLaw: TypeAlias = Callable[[Dataset], Law]

MAX_DATASETS = 20_000
#: The laws of so many data sets are computed twice, to notice those that are not functions of the data set.
_REPEATED = 3


@dataclass(frozen=True, slots=True)
class WorstPair:
    """The worst case of one direction: the smallest ε that holds for all pairs, and the pair and event that need it.

    ``epsilon``  bounds in nats; both ends are ∞ where no ε suffices.
    ``ratio``    e^ε exactly; None where it is infinite or some law is known by enclosures only.
    ``larger``, ``smaller``  the neighboring data sets, None where ε = 0; ``record`` is what the larger one has more.
    ``event``    the outputs that need ε: one where δ = 0. Between enclosures, pair and event prove the lower end.
    """

    epsilon: Bounds
    ratio: Exact | None
    larger: Dataset | None
    smaller: Dataset | None
    record: Hashable
    event: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The exact ε of a finite mechanism: ``remove`` is for removing a record, ``add`` for adding one.

    ``records`` holds both directions of each record that may be added or removed, which is what personalised guarantees are about.
    """

    remove: WorstPair
    add: WorstPair
    delta: Fraction
    datasets: int
    pairs: int
    records: Mapping[Hashable, tuple[WorstPair, WorstPair]]

    @property
    def symmetric(self) -> Bounds:
        """Bounds of the larger one of the two: the ε of (add/remove) differential privacy."""
        return larger_bounds(self.remove.epsilon, self.add.epsilon)


@dataclass(frozen=True, slots=True)
class WorstDelta:
    """The exact δ of a finite mechanism at one ε in one direction; ``value`` is exact where the laws are, ``bounds`` always hold."""

    value: Exact | Enclosed
    larger: Dataset | None
    smaller: Dataset | None
    record: Hashable

    @property
    def bounds(self) -> Bounds:
        """Binary64 numbers around δ, rounded outward."""
        wide = widen(self.value)
        return Bounds(round_down(wide.lower), round_up(wide.upper))


class DatasetKeywords(TypedDict, total=False):
    """Which data sets there are, ``ordered``, ``distinct``, and how many at most: :func:`exact_epsilon` says what each keyword means."""

    ordered: bool
    distinct: bool
    max_datasets: int


def exact_epsilon(
    law: MechanismLaw,
    records: Iterable[Hashable],
    *,
    max_size: int,
    delta: ExactLike = 0,
    **which: Unpack[DatasetKeywords],
) -> WorstCase:
    """Return the exact ε of a mechanism in both directions, over all data sets of at most ``max_size`` of the given records.

    Claim, with D' = D without one record, over all D of 1 to max_size records: ``remove`` is the smallest ε ≥ 0 with
    P[M(D) ∈ S] ≤ e^ε P[M(D') ∈ S] + δ for all D, D', S, and ``add`` the smallest one with P[M(D') ∈ S] ≤ e^ε P[M(D) ∈ S] + δ.
    It says nothing about larger data sets or other records.

    ``law(dataset)`` maps outputs to probabilities: fractions, decimal strings, :func:`~proofs_check.exact.exponentials.exp` of
    rationals and what arithmetic makes of them, or :class:`Enclosed` numbers, Arb balls and pairs (lower, upper). A data set is a
    tuple: each multiset once, in the order of ``records`` (for laws that do not depend on the order); all ordered lists with
    ``ordered``; no record twice with ``distinct``. Numbers that are exact are compared exactly; ∞ is returned only where an event has
    probability 0 on one side, and with enclosures where it may have.
    Source: the definitions (Dwork et al. 2006; Ghazi et al. 2024, Definition 1.7) and :func:`epsilon_of_tables`.
    Raises :class:`InvalidArgument` for unusable records and laws (negative, NaN, totals other than 1, two laws for one data set), and
    :class:`Undecided` above ``max_datasets`` data sets. Errors of the law pass through.

    >>> law = lambda bits: {1: "3/4", 0: "1/4"} if sum(bits) else {1: "1/4", 0: "3/4"}
    >>> worst = exact_epsilon(law, [0, 1], max_size=2)
    >>> worst.remove.ratio, worst.remove.larger, worst.remove.smaller, worst.remove.event, worst.pairs
    (Fraction(3, 1), (1,), (), (1,), 6)
    """
    exact_delta = to_delta(delta)
    datasets = _Datasets(_read_records(records), max_size, **which)
    tables = _Tables(law)
    best: dict[Hashable, tuple[_Best, _Best]] = {record: (_Best(), _Best()) for record in datasets.records}
    pairs = 0
    sizes = datasets.count()
    for larger in datasets:
        for smaller, record in _neighbors(larger):
            pairs += 1
            with_record, without = tables.of(larger), tables.of(smaller)
            remove, add = best[record]
            remove.take(ratio_of(with_record, without, exact_delta), larger, smaller, record)
            add.take(ratio_of(without, with_record, exact_delta), larger, smaller, record)
    tables.of(())
    by_record = {record: (remove.result(), add.result()) for record, (remove, add) in best.items()}
    overall = _Best(), _Best()
    for both in best.values():
        for total, part in zip(overall, both, strict=True):
            total.take(part.ratio, part.larger, part.smaller, part.record)
    return WorstCase(overall[0].result(), overall[1].result(), exact_delta, sizes, pairs, by_record)


def exact_delta(
    law: MechanismLaw,
    records: Iterable[Hashable],
    epsilon: Nats,
    *,
    max_size: int,
    **which: Unpack[DatasetKeywords],
) -> tuple[WorstDelta, WorstDelta]:
    """Return the exact δ at one ε, for removing and for adding a record, over the same pairs as :func:`exact_epsilon`.

    Formula: δ = max over the pairs of Σ (P(y) − e^ε Q(y))₊, the hockey-stick divergence. ``epsilon``: nats ≥ 0, a rational number or a
    :class:`~proofs_check.exact.exponentials.Log`, so that e^ε is exact. Raises like :func:`exact_epsilon`.

    >>> law = lambda bits: {1: "3/4", 0: "1/4"} if sum(bits) else {1: "1/4", 0: "3/4"}
    >>> [found.value for found in exact_delta(law, [0, 1], 0, max_size=2)]
    [Fraction(1, 2), Fraction(1, 2)]
    """
    threshold = to_threshold(epsilon)
    datasets = _Datasets(_read_records(records), max_size, **which)
    tables = _Tables(law)
    datasets.count()
    remove = add = WorstDelta(Fraction(0), None, None, None)
    for larger in datasets:
        for smaller, record in _neighbors(larger):
            with_record, without = tables.of(larger), tables.of(smaller)
            remove = _worse(remove, WorstDelta(hockey_stick(with_record, without, threshold), larger, smaller, record))
            add = _worse(add, WorstDelta(hockey_stick(without, with_record, threshold), larger, smaller, record))
    return remove, add


@dataclass(slots=True)
class _Best:
    """The largest ratio so far, and where it was found."""

    ratio: Ratio = field(default_factory=lambda: Ratio(Fraction(1), Fraction(1), (), exact=True))
    larger: Dataset | None = None
    smaller: Dataset | None = None
    record: Hashable = None

    def take(self, ratio: Ratio, larger: Dataset | None, smaller: Dataset | None, record: Hashable) -> None:
        """Keep a ratio that is larger; ends of enclosures are kept each on its own."""
        low_wins, high_wins = _exceeds(ratio.low, self.ratio.low), _exceeds(ratio.high, self.ratio.high)
        high = ratio.high if high_wins else self.ratio.high
        exact = ratio.exact and self.ratio.exact
        if low_wins:
            self.ratio = Ratio(ratio.low, high, ratio.event, exact)
            self.larger, self.smaller, self.record = larger, smaller, record
        else:
            self.ratio = Ratio(self.ratio.low, high, self.ratio.event, exact)

    def result(self) -> WorstPair:
        direction = self.ratio.direction()
        return WorstPair(direction.epsilon, direction.ratio, self.larger, self.smaller, self.record, direction.event)


def _exceeds(one: Exact | None, other: Exact | None) -> bool:
    """Return whether one > other, where None is ∞."""
    return other is not None and (one is None or one > other)


def _worse(best: WorstDelta, candidate: WorstDelta) -> WorstDelta:
    one, other = best.value, candidate.value
    if not isinstance(one, Enclosed) and not isinstance(other, Enclosed):
        return candidate if other > one else best
    low, high = widen(one), widen(other)
    hull = Enclosed(max(low.lower, high.lower), max(low.upper, high.upper))
    place = candidate if high.lower > low.lower else best
    return WorstDelta(hull, place.larger, place.smaller, place.record)


class _Tables:
    """The checked laws of all data sets that were asked for."""

    __slots__ = ("_law", "_tables")

    def __init__(self, law: MechanismLaw) -> None:
        if not callable(law):
            raise InvalidArgument(f"a law must be a function of a data set, but {type(law).__name__} was found; give law(dataset)")
        self._law = law
        self._tables: dict[Dataset, LawTable] = {}

    def of(self, dataset: Dataset) -> LawTable:
        table = self._tables.get(dataset)
        if table is None:
            what = f"the law on {_short(dataset)}"
            table = to_table(self._law(dataset), what)
            if len(self._tables) < _REPEATED and table != to_table(self._law(dataset), what):
                raise InvalidArgument(f"{what} was computed twice with two results; use the data set alone, draw nothing")
            self._tables[dataset] = table
        return table


def _short(dataset: Dataset) -> str:
    text = repr(dataset)
    return text if len(text) <= 60 else text[:57] + "..."


def _read_records(records: Iterable[Hashable]) -> tuple[Hashable, ...]:
    universe = tuple(records)
    try:
        distinct = len(set(universe)) == len(universe)
    except TypeError:
        raise InvalidArgument("records must be hashable, but one is not; give numbers, strings, tuples or frozen sets") from None
    if not universe or not distinct:
        raise InvalidArgument("the universe needs at least one record and none twice; list every record that a data set may hold once")
    return universe


@dataclass(frozen=True, slots=True)
class _Datasets:
    """The data sets of 1 to ``max_size`` of the records, which are iterated smaller ones first."""

    records: tuple[Hashable, ...]
    max_size: int
    ordered: bool = False
    distinct: bool = False
    max_datasets: int = MAX_DATASETS

    def count(self) -> int:
        """Return how many there are, with the empty one. Raises :class:`InvalidArgument`, :class:`Undecided`."""
        to_integer(self.max_size, "the largest size", 1, hint="give a number of records")
        universe, total = len(self.records), 0
        for size in range(self.max_size + 1):
            if self.ordered:
                total += math.perm(universe, size) if self.distinct else universe**size
            else:
                total += math.comb(universe, size) if self.distinct else math.comb(universe + size - 1, size)
            if total > self.max_datasets:
                raise Undecided(
                    f"there are more than {self.max_datasets} data sets of up to {self.max_size} of {universe} records; "
                    "take fewer records or a smaller size, or raise max_datasets"
                )
        return total

    def __iter__(self) -> Iterator[Dataset]:
        for size in range(1, self.max_size + 1):
            if self.ordered:
                yield from permutations(self.records, size) if self.distinct else product(self.records, repeat=size)
            else:
                yield from combinations(self.records, size) if self.distinct else combinations_with_replacement(self.records, size)


def _neighbors(larger: Dataset) -> Iterator[tuple[Dataset, Hashable]]:
    """Yield every data set with one record less, once, and the record."""
    seen = set()
    for index, record in enumerate(larger):
        smaller = larger[:index] + larger[index + 1 :]
        if smaller not in seen:
            seen.add(smaller)
            yield smaller, record
