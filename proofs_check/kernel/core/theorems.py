"""Theorems: values that only rules make. This module is the whole idea of the kernel; all the others only fill it."""
# As in HOL Light: whatever a certificate says, nothing holds because it says so. A claim is accepted because it is a theorem, and what has
# to be believed of the kernel are the functions that ``rule`` marks. The docstring of each is an axiom: where it returns, the statement
# follows by that axiom from the theorems that were shown while it ran; else it rejects. What is computed outside of them can lose a proof,
# but make none.

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass
from fractions import Fraction
from typing import TypeVar

from . import intervals as iv
from .terms import Term, bits, pay, require


@dataclass(frozen=True, slots=True)
class Range:
    """[lo, hi], or (lo, hi] if open; without hi, all finite numbers from lo on. Never empty."""

    lo: Fraction
    hi: Fraction | None = None
    open: bool = False

    def __post_init__(self) -> None:
        require(self.hi is None or self.lo < self.hi or (self.lo == self.hi and not self.open), "a range is empty")

    @property
    def sign(self) -> int:
        """2, 1 or 0: the numbers of the range are > 0, >= 0, or neither."""
        return 2 if self.lo > 0 or (self.lo == 0 and self.open) else int(self.lo == 0)

    def contains(self, q: Fraction) -> bool:
        """Whether q is in the range."""
        return (self.lo < q if self.open else self.lo <= q) and (self.hi is None or q <= self.hi)

    def hull(self, p: int) -> iv.Interval:
        """Return an interval that contains the range."""
        pay((bits(self.lo) + (0 if self.hi is None else bits(self.hi))) // 500)
        return iv.from_fraction(self.lo, p)[0], iv.INF if self.hi is None else iv.from_fraction(self.hi, p)[1]


Box = Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class Goal:
    """For all points of the box: term >= 0, or term > 0 if strict."""

    # Invariant: the term is defined at every point of the box. Every rule keeps it, and so do the claims that make goals.
    term: Term
    box: Box
    strict: bool = False


_SEAL = object()
_RULES = set[Callable[..., None]]()
Rule = TypeVar("Rule", bound=Callable[..., None])


@dataclass(frozen=True, slots=True, eq=False)
class Theorem:
    """A statement that holds: a goal, or what a theory makes of goals; the rule behind it, and the theorems that the rule was given."""

    statement: object
    rule: str
    parts: "tuple[Theorem, ...]"
    seal: InitVar[object]

    def __post_init__(self, seal: object) -> None:
        require(seal is _SEAL, "a theorem is made by a rule only")


def rule(function: Rule) -> Rule:
    """Mark a function as a rule."""
    _RULES.add(function)
    return function


def derive(held: list[Theorem], statement: object, function: Callable[..., None], *given: object, **fields: object) -> Theorem:
    """Return a statement as a theorem by a rule; it takes the place of the theorems that the rule was given, the last of those held."""
    require(function in _RULES, "a theorem is made by a rule only")
    before = len(held)
    function(*given, **fields)
    held[before:] = [Theorem(statement, function.__name__, tuple(held[before:]), _SEAL)]
    return held[before]
