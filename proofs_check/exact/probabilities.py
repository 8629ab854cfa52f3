"""Laws on finitely many outputs: reading them, and the arithmetic that mixtures and compositions need."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from profiles.errors import InvalidArgument
from profiles.numbers import ExactLike, to_exact
from proofs_check.exact.enclosed import Enclosed, enclose_ball, to_enclosed
from proofs_check.exact.exponentials import Exact, ExpRational, read_exact

#: A probability: an exact number, or one between two ends: an enclosure, an Arb ball, or a pair (lower, upper).
Probability: TypeAlias = ExactLike | ExpRational | Enclosed | tuple[ExactLike, ExactLike] | arb

#: A law: output → probability.
Law: TypeAlias = Mapping[Any, Probability]

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class LawTable:
    """A law that has been checked: ``exact`` where every probability is known exactly, else ``enclosed`` in [0, 1]."""

    exact: dict[Hashable, Exact] | None
    enclosed: dict[Hashable, Enclosed]

    @property
    def values(self) -> Mapping[Hashable, Exact | Enclosed]:
        """The probabilities of all outputs that were named."""
        return self.exact if self.exact is not None else self.enclosed

    def as_enclosed(self) -> dict[Hashable, Enclosed]:
        """Return the law in enclosures, those of exact numbers of relative width about 2^−128."""
        return self.enclosed if self.exact is None else {outcome: widen(value) for outcome, value in self.exact.items()}


def read_given(value: object, what: str) -> Exact | Enclosed:
    """Return a number as it was given: exact, or enclosed. Raises :class:`InvalidNumber`, and :class:`Undecided` for infinite balls."""
    if isinstance(value, Enclosed):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        lower, upper = (end if isinstance(end, Fraction) else to_exact(end, what) for end in value)
        return Enclosed(lower, upper)
    return enclose_ball(value) if isinstance(value, arb) else read_exact(value, what)


def to_table(law: object, what: str) -> LawTable:
    """Return a law after checking that it is one.

    Exact probabilities must add up to exactly 1, enclosed ones to an interval that contains 1; enclosures are cut to [0, 1].
    Raises :class:`InvalidArgument` for anything but a mapping, NaN as an output, negative probabilities and other totals,
    :class:`InvalidNumber` for what is not a number.
    """
    if not isinstance(law, Mapping):
        raise InvalidArgument(f"{what} must map outcomes to probabilities, but {type(law).__name__} was found; give a mapping")
    if not all(equals_itself(outcome) for outcome in law):
        raise InvalidArgument(f"an output must equal itself, but NaN was found in {what}; use None or a string where there is no number")
    read = {outcome: read_given(value, f"a probability of {what}") for outcome, value in law.items()}
    exact = {outcome: value for outcome, value in read.items() if not isinstance(value, Enclosed)}
    if len(exact) == len(read):
        if any(value < 0 for value in exact.values()):
            raise InvalidArgument(f"the probabilities of {what} must be at least 0, but a negative one was found; correct the table")
        total = add(exact.values())
        if total != 1:
            raise InvalidArgument(
                f"the probabilities of {what} must add up to 1, but these add up to {total!s:.60}; give all, as fractions or enclosures"
            )
        return LawTable(exact, {})
    wide = {outcome: widen(value) for outcome, value in read.items()}
    if any(value.upper < 0 for value in wide.values()):
        raise InvalidArgument(f"the probabilities of {what} must be at least 0, but a negative one was found; correct the table")
    if not sum(value.lower for value in wide.values()) <= 1 <= sum(value.upper for value in wide.values()):
        raise InvalidArgument(f"the probabilities of {what} must add up to 1, but they do not; give them all, as fractions or enclosures")
    return LawTable(None, {outcome: value.within(_ZERO, _ONE) for outcome, value in wide.items()})


def equals_itself(output: object) -> bool:
    """Return whether an output is equal to itself; NaN is not, nor is a tuple that holds it."""
    if isinstance(output, (tuple, frozenset)):
        return all(map(equals_itself, output))
    return bool(output == output)  # noqa: PLR0124 - NaN is what this is about


def widen(value: Exact | Enclosed) -> Enclosed:
    """Return balls around a probability that is given exactly or as balls."""
    return value.enclose() if isinstance(value, ExpRational) else to_enclosed(value, "a probability")


def add(values: Iterable[Exact]) -> Exact:
    """Return the exact sum of probabilities that are known exactly."""
    total: Exact = _ZERO
    for value in values:
        total = total + value
    return total


def multiply(left: Exact | Enclosed, right: Exact | Enclosed) -> Exact | Enclosed:
    """Return the product of two numbers that are at least 0."""
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        one, other = widen(left), widen(right)
        return Enclosed(max(one.lower, _ZERO) * max(other.lower, _ZERO), one.upper * other.upper)
    return left * right


def mix(parts: Iterable[tuple[Exact, Mapping[Hashable, Exact | Enclosed]]]) -> dict[Hashable, Exact | Enclosed]:
    """Return the mixture Σ weight·law."""
    result: dict[Hashable, Exact | Enclosed] = {}
    for weight, law in parts:
        for outcome, value in law.items():
            product = multiply(weight, value)
            result[outcome] = _plus(result[outcome], product) if outcome in result else product
    return result


def _plus(left: Exact | Enclosed, right: Exact | Enclosed) -> Exact | Enclosed:
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        one, other = widen(left), widen(right)
        return Enclosed(one.lower + other.lower, one.upper + other.upper)
    return left + right
