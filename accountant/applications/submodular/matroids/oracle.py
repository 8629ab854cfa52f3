"""Matroids that are given by a function that tells independent sets, and the check of their axioms."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from accountant.applications.choosing import Growth
from accountant.applications.submodular.matroids.matroid import Members, find_exchange
from profiles import InvalidArgument
from profiles.arrays import Integers
from profiles.hypotheses import MATROID_TESTED, MATROID_UNTESTED, Hypothesis
from profiles.numbers import to_integer

#: Ground sets up to this size are checked set by set: 4096 calls of the oracle.
EXHAUSTIVE = 12
_TRIALS = 100
_METHODS = ("auto", "none")

Oracle = Callable[[Members], bool]


def check_axioms(size: int, oracle: Oracle) -> None:
    """Prove that ``oracle`` describes a matroid on ``size`` elements, by asking about all 2^size sets.

    With r(X) the size of a largest independent subset of X: the empty set is independent, subsets of independent sets are, and
    r(X + e) = r(X + f) = r(X) implies r(X + e + f) = r(X). Source: Oxley 2011, Theorem 1.4.14 (its other conditions, r(∅) = 0 and
    r(X) ≤ r(X + e) ≤ r(X) + 1, hold for every family that is closed under subsets).
    Raises :class:`InvalidArgument` with the sets that contradict an axiom.
    """
    count = 2**size
    independent = np.fromiter((bool(oracle(_members(x))) for x in range(count)), dtype=np.bool_, count=count)
    if not independent[0]:
        raise InvalidArgument("the empty set must be independent, but the oracle says that it is not; correct the oracle")
    rank = np.where(independent, np.array([x.bit_count() for x in range(count)]), 0)
    every = np.arange(count)
    for element in range(size):
        has = every[every >> element & 1 == 1]
        broken = has[independent[has] & ~independent[has ^ (1 << element)]]
        if broken.size:
            _refuse_subset(_members(int(broken[0])), element)
        rank[has] = np.maximum(rank[has], rank[has ^ (1 << element)])
    for one in range(size):
        for other in range(one):
            free = every[(every >> one & 1 == 0) & (every >> other & 1 == 0)]
            left, right = free | 1 << one, free | 1 << other
            broken = free[(rank[left] == rank[free]) & (rank[right] == rank[free]) & (rank[left | right] != rank[free])]
            if broken.size:
                witness = sorted(_members(int(broken[0]) | 1 << one | 1 << other))
                raise InvalidArgument(
                    f"all maximal independent subsets of a set must have one size, but those of {witness} have not; the oracle describes "
                    "no matroid: correct it"
                )


def probe_axioms(size: int, oracle: Oracle, trials: int = _TRIALS) -> None:
    """Look for a contradiction to the axioms in random sets: subsets of independent sets, sizes of maximal independent subsets.

    Passing proves nothing. The sets are drawn with a fixed seed. Raises :class:`InvalidArgument` with a contradiction.
    """
    rng = np.random.default_rng(0)
    if not oracle(frozenset()):
        raise InvalidArgument("the empty set must be independent, but the oracle says that it is not; correct the oracle")
    for _ in range(trials):
        inside = rng.permutation(size)[: rng.integers(1, size + 1)]
        bases = [_fill(oracle, rng.permutation(inside)) for _ in range(2)]
        if len(bases[0]) != len(bases[1]):
            raise InvalidArgument(
                f"all maximal independent subsets of a set must have one size, but {sorted(bases[0])} and {sorted(bases[1])} were found in "
                "one set; the oracle describes no matroid: correct it"
            )
        whole = frozenset(inside.tolist())
        for base in (*bases, whole) if oracle(whole) else bases:
            for element in base:
                if not oracle(base - {element}):
                    _refuse_subset(base, element)


def _fill(oracle: Oracle, order: Integers) -> Members:
    base: Members = frozenset()
    for element in order.tolist():
        larger = base | {element}
        base = larger if oracle(larger) else base
    return base


def _members(mask: int) -> Members:
    return frozenset(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def _refuse_subset(members: Members, element: int) -> None:
    raise InvalidArgument(
        f"subsets of independent sets must be independent, but {sorted(members)} is and is not without {element}; correct the oracle"
    )


def _guard(oracle: Oracle) -> Oracle:
    """Return the oracle with a named error in place of its own."""

    def ask(members: Members) -> bool:
        try:
            return bool(oracle(members))
        except Exception as error:
            raise InvalidArgument(
                f"the independence oracle must answer for every set of elements, but it raised {type(error).__name__}; correct the oracle"
            ) from error

    return ask


class _AskingGrowth:
    __slots__ = ("_free", "_members", "_oracle")

    def __init__(self, size: int, oracle: Oracle) -> None:
        self._oracle, self._members = oracle, frozenset[int]()
        self._free = [u for u in range(size) if oracle(frozenset((u,)))]

    def candidates(self) -> Integers:
        return np.array(self._free, dtype=np.int64)

    def add(self, element: int) -> None:
        self._members |= {element}
        self._free = [u for u in self._free if u != element and self._oracle(self._members | {u})]


@dataclass(frozen=True, slots=True)
class OracleMatroid:
    """A matroid given by a public function: frozenset of elements → whether it is independent.

    ``check``: "auto" proves the axioms on at most 12 elements and tests them on random sets otherwise, which leaves a hypothesis of the
    utility bound open; "none" leaves it open untested. Privacy does not need the axioms, only that the function is public and looks at
    its argument alone. Whatever it says, the sets that are returned are sets that it called independent.
    Raises :class:`InvalidArgument`.

    >>> OracleMatroid(4, lambda members: len(members) <= 2).rank
    2
    """

    size: int
    oracle: Oracle
    check: str = "auto"
    _rank: int = field(init=False, repr=False, compare=False)
    _ask: Oracle = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        to_integer(self.size, "the number of elements", 1)
        if self.check not in _METHODS:
            raise InvalidArgument(f"check must be one of {', '.join(_METHODS)}, but {str(self.check)[:40]!r} was found; give one of them")
        if not callable(self.oracle):
            raise InvalidArgument(f"an oracle is a function of a set of elements, but {type(self.oracle).__name__} was found; give one")
        ask = _guard(self.oracle)
        object.__setattr__(self, "_ask", ask)
        if self.check == "auto":
            (check_axioms if self.size <= EXHAUSTIVE else probe_axioms)(self.size, ask)
        if not ask(frozenset()):
            raise InvalidArgument("the empty set must be independent, but the oracle says that it is not; correct the oracle")
        object.__setattr__(self, "_rank", len(_fill(ask, np.arange(self.size))))

    @property
    def rank(self) -> int:
        """The size of one maximal independent set: of all of them, if it is a matroid."""
        return self._rank

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The axioms, unless they were proved."""
        if self.check == "none":
            return (MATROID_UNTESTED,)
        return () if self.size <= EXHAUSTIVE else (MATROID_TESTED,)

    def is_independent(self, members: Collection[int]) -> bool:
        return self._ask(frozenset(members))

    def start(self) -> Growth:
        return _AskingGrowth(self.size, self._ask)

    def exchange(self, first: Members, second: Members, leaving: int) -> int | None:
        """Ask the function about every pair."""
        return find_exchange(self, first, second, leaving)
