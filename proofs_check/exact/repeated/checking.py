"""Assumptions 4.1/4.2 and 5.1/5.2 on all neighboring data sets of a finite universe, and all output sequences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.errors import InvalidArgument
from profiles.numbers import exact_text, to_integer
from proofs_check.exact.repeated.rounds import RepeatedMechanism, Round, Values, numbers_of, read_round, require_repeated, sensitivity_of
from proofs_check.results import Verdict

MOST_PAIRS = 200_000
MOST_STEPS = 20_000_000
#: In so many rounds everything is computed twice, to notice functions that are no functions.
_REPEATED = 32


@dataclass(frozen=True, slots=True)
class FiniteDomain:
    """All data sets of at most ``max_size`` records out of ``records``, with repetitions.

    ``ordered``: data sets are sequences, and a neighbor lacks one entry anywhere; otherwise they are multisets, sequences in the order
    of ``records``. Raises :class:`InvalidArgument` without records, for records that are equal, and for a size below 1.
    """

    records: tuple[Hashable, ...]
    max_size: int
    ordered: bool = True

    def __post_init__(self) -> None:
        if not self.records or len(set(self.records)) != len(self.records):
            raise InvalidArgument("the universe must be a sequence of different records, at least one; list each record once")
        to_integer(self.max_size, "the largest size", 1)

    @property
    def statement(self) -> str:
        """What is supposed of data sets, in words: of which records, and how many at most."""
        shown = ", ".join(f"{record!r:.20}" for record in self.records[:8]) + (", ..." if len(self.records) > 8 else "")
        kind = "sequence" if self.ordered else "multiset"
        return f"every data set is a {kind} of at most {self.max_size} records out of the universe of {len(self.records)} ({shown})"

    @property
    def order_statement(self) -> str | None:
        """What else has to hold where data sets are taken as multisets."""
        return None if self.ordered else "the functions that select returns do not depend on the order of the records"

    def count_pairs(self) -> int:
        """Return an upper bound for the number of neighboring pairs."""
        k = len(self.records)
        if self.ordered:
            return sum(n * k**n for n in range(1, self.max_size + 1))
        return sum(min(n, k) * math.comb(n + k - 1, n) for n in range(1, self.max_size + 1))

    def pairs(self) -> tuple[list[tuple[Hashable, ...]], list[tuple[int, int, int]]]:
        """Return the data sets, and (larger, smaller, record) as positions of data sets and of the record."""
        indices = range(len(self.records))
        every = (
            itertools.product(indices, repeat=n) if self.ordered else itertools.combinations_with_replacement(indices, n)
            for n in range(self.max_size + 1)
        )
        places = {data: place for place, data in enumerate(itertools.chain.from_iterable(every))}
        listed = {
            (place, places[data[:position] + data[position + 1 :]], data[position])
            for data, place in places.items()
            for position in range(len(data))
        }
        return [tuple(self.records[index] for index in data) for data in places], sorted(listed)


@dataclass(frozen=True, slots=True)
class Violation:
    """A counterexample: ``dataset`` is ``neighbor`` with one record more; after ``outputs``, the assumption with this number fails.

    ``amount`` is by how much a value falls (4.1, 5.1), or what the sum over the rounds is (4.2, 5.2).
    """

    assumption: str
    dataset: tuple[Any, ...]
    neighbor: tuple[Any, ...]
    outputs: tuple[Any, ...]
    amount: Fraction

    def __str__(self) -> str:
        what = "falls by" if self.assumption.endswith("1") else "rises in total by"
        return (
            f"Assumption {self.assumption}: from {self.neighbor!r:.60} to {self.dataset!r:.60}, outputs {self.outputs!r:.60}: {what} "
            f"{exact_text(self.amount)}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class AssumptionCheck:
    """What is known of the two assumptions of ``mechanism``: verdicts for ``domain``, or (None) for all data sets.

    ``proved`` holds for all data sets of ``domain`` and all outputs, if select and the functions that it returns are functions of what
    they are given; it says nothing of other data sets. ``refuted`` comes with ``violations``: then Theorems 4.3 and 5.3 do not apply, which
    does not say that the mechanism violates their conclusion. ``largest_sum`` is the least Δ that would do on the domain,
    ``sums`` the same for every record (the personalised sensitivities Δ(x)), and ``spread`` the largest
    Σ_i (max_c d_i(c) − min_c d_i(c)) of score differences d (Theorem A′; None for thresholds). ``tried``: what was looked at, in words.
    ``form``: what data sets were made into before the functions saw them, in words.
    """

    mechanism: RepeatedMechanism
    domain: FiniteDomain | None
    monotone: Verdict
    bounded: Verdict
    tried: str
    violations: tuple[Violation, ...] = ()
    reason: str | None = None
    largest_sum: Fraction | None = None
    sums: dict[Hashable, Fraction] = field(default_factory=dict)
    spread: Fraction | None = None
    form: str = "tuple"

    @property
    def form_statement(self) -> str:
        """What else has to hold for what is run: the check saw data sets in one form only."""
        return f"the functions that select returns compute on the data they are given what they do on the same records as: {self.form}"

    @property
    def proved(self) -> bool:
        return self.monotone is Verdict.PROVED and self.bounded is Verdict.PROVED

    @property
    def refuted(self) -> bool:
        """One of them has a counterexample."""
        return Verdict.REFUTED in (self.monotone, self.bounded)


def check_assumptions(
    mechanism: object,
    records: Sequence[Hashable] | FiniteDomain,
    max_size: int | None = None,
    *,
    ordered: bool = True,
    assemble: Callable[[tuple[Any, ...]], Any] = tuple,
    most_steps: int = MOST_STEPS,
) -> AssumptionCheck:
    """Decide both assumptions on all neighboring data sets of at most ``max_size`` of ``records``, for all output sequences.

    ``records`` and ``max_size`` (or a :class:`FiniteDomain`) say which data sets there are; ``assemble`` makes of a tuple of records what
    the score functions take, a tuple by default. ``most_steps`` bounds the differences that are looked at: where it does not
    suffice, verdicts are ``unknown`` with the reason. All numbers are compared exactly.

    Raises :class:`InvalidArgument`, where a function gives two values for the same argument too, and what select and its functions raise.

    >>> from profiles.mechanisms.repeated import RepeatedExponential
    >>> def select(chosen):
    ...     left = [c for c in "ab" if c not in chosen]
    ...     return left, lambda data: [sum(c in x and not set(x) & set(chosen) for x in data) for c in left]
    >>> found = check_assumptions(RepeatedExponential(select=select, rounds=2, epsilon0=1, sensitivity=1), ["a", "b", "ab"], 2)
    >>> found.proved, found.largest_sum, found.spread
    (True, Fraction(1, 1), Fraction(1, 1))
    """
    known = require_repeated(mechanism)
    domain = records if isinstance(records, FiniteDomain) else FiniteDomain(tuple(records), _size(max_size), ordered)
    if domain.count_pairs() > MOST_PAIRS:
        reason = f"there are more than {MOST_PAIRS} neighboring pairs; take fewer records or smaller data sets"
        return AssumptionCheck(known, domain, Verdict.UNKNOWN, Verdict.UNKNOWN, "nothing", reason=reason)
    return _Walk(known, domain, assemble, most_steps).result()


def _size(max_size: object) -> Any:
    if max_size is None:
        raise InvalidArgument("a list of records needs max_size, the largest size of a data set, but none was given; give a number")
    return max_size


class _Walk:
    """All output sequences, depth first; for each the realised sums of all pairs at once."""

    def __init__(self, mechanism: RepeatedMechanism, domain: FiniteDomain, assemble: Callable[[tuple[Any, ...]], Any], most: int) -> None:
        self.mechanism, self.domain, self.most = mechanism, domain, most
        self.names = numbers_of(mechanism)
        self.form = str(getattr(assemble, "__qualname__", type(assemble).__qualname__))
        self.tuples, pairs = domain.pairs()
        self.data = [assemble(data) for data in self.tuples]
        self.larger, self.smaller, self.record = (np.array(column, dtype=np.intp) for column in zip(*pairs, strict=True))
        self.violations: dict[str, Violation] = {}
        self.rounds = self.sequences = self.steps = 0
        self.best: list[Fraction | None] = [None] * len(domain.records)
        self.spread = Fraction(0)

    def result(self) -> AssumptionCheck:
        nothing = np.zeros(len(self.larger), dtype=np.int64)
        waiting: list[tuple[tuple[Any, ...], Values, Values]] = [((), nothing, nothing)]
        while waiting and len(self.violations) < 2:
            previous, sums, spreads = waiting.pop()
            current = read_round(self.mechanism, previous)
            if current is None:
                self._finish(previous, sums, spreads)
                continue
            self.steps += len(self.larger) * current.count
            if self.steps > self.most:
                return self._conclude(f"more than {self.most} differences would have to be looked at; take a smaller instance")
            values = self._evaluate(previous, current)
            differences = values[self.larger] - values[self.smaller]
            self._check_signs(previous, current, differences)
            spread = spreads + (differences.max(axis=1) - differences.min(axis=1))
            for output, place in zip(current.outputs, current.counted, strict=True):
                waiting.append(((*previous, output), sums if place < 0 else sums + differences[:, place], spread))
        return self._conclude(None)

    def _evaluate(self, previous: tuple[Any, ...], current: Round) -> Values:
        rows = [current.values(data) for data in self.data]
        if self.rounds < _REPEATED:
            again = read_round(self.mechanism, previous)
            if again is None or list(again.outputs) != list(current.outputs):
                raise InvalidArgument(f"select gave two answers after the outputs {previous!r:.60}; it must be a function of them")
            if any((again.values(data) != row).any() for data, row in zip(self.data, rows, strict=True)):
                raise InvalidArgument(f"a function of the data gave two values after the outputs {previous!r:.60}; it must be a function")
        self.rounds += 1
        if all(row.dtype == np.int64 for row in rows):
            return np.array(rows)
        return np.array([[Fraction(value) for value in row.tolist()] for row in rows], dtype=object).reshape(len(rows), -1)

    def _check_signs(self, previous: tuple[Any, ...], current: Round, differences: Values) -> None:
        name = self.names[0]
        if name in self.violations or not (differences < 0).any():
            return
        pair, place = (int(index[0]) for index in np.nonzero(differences < 0))
        output = () if current.scalar else (current.outputs[place],)
        self._report(name, pair, (*previous, *output), -as_fraction(differences[pair, place]))

    def _finish(self, previous: tuple[Any, ...], sums: Values, spreads: Values) -> None:
        self.sequences += 1
        self.spread = max(self.spread, as_fraction(spreads.max()))
        for place in range(len(self.best)):
            largest = as_fraction(sums[self.record == place].max())
            known = self.best[place]
            self.best[place] = largest if known is None else max(known, largest)
        if self.names[1] not in self.violations and as_fraction(sums.max()) > sensitivity_of(self.mechanism):
            self._report(self.names[1], int(np.argmax(sums)), previous, as_fraction(sums.max()))

    def _report(self, name: str, pair: int, outputs: tuple[Any, ...], amount: Fraction) -> None:
        larger, smaller = self.tuples[self.larger[pair]], self.tuples[self.smaller[pair]]
        self.violations[name] = Violation(name, larger, smaller, outputs, amount)

    def _conclude(self, reason: str | None) -> AssumptionCheck:
        complete = reason is None and not self.violations
        otherwise = Verdict.PROVED if complete else Verdict.UNKNOWN
        verdicts = [Verdict.REFUTED if name in self.violations else otherwise for name in self.names]
        if reason is None and len(self.violations) == 1:
            verdicts = [Verdict.REFUTED if name in self.violations else Verdict.PROVED for name in self.names]
        whole = reason is None and len(self.violations) < 2
        sums = {record: best for record, best in zip(self.domain.records, self.best, strict=True) if whole and best is not None}
        counted = self.names[0].startswith("4")
        return AssumptionCheck(
            self.mechanism, self.domain, verdicts[0], verdicts[1],
            f"{len(self.larger)} neighboring pairs and {self.sequences} complete output sequences",
            tuple(self.violations[name] for name in self.names if name in self.violations), reason,
            max(sums.values()) if sums else None, sums, self.spread if whole and counted else None, self.form,
        )  # fmt: skip


def as_fraction(value: Any) -> Fraction:
    """Return an entry of an array of differences as an exact fraction."""
    return value if isinstance(value, Fraction) else Fraction(int(value))
