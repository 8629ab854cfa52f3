"""Ranges of statistics whose ends are expressions in the parameters, such as ``z = [0, "R"]``.

Where all parameters in the ends have numbers, the range is resolved to numbers. Otherwise the profile is kept in a normal form: the
statistic z becomes lo + (hi - lo)*z_share with z_share in [0, 1], which reaches exactly the values of the range for every choice of
the parameters, so that whatever is shown for all z_share is shown for all z. How it was written is remembered (:class:`Written`), so that
numbers for the parameters bring the numeric range back.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from profiles.errors import InvalidExpression, InvalidNumber, InvalidProfile
from profiles.evaluation import constant_value
from profiles.grammar import parse_expression
from profiles.numbers import to_exact
from profiles.terms import Term, free_symbols, fresh_name, number, substitute, symbol, to_text

Ends = tuple[Term, Term]


@dataclass(frozen=True, slots=True)
class WrittenRange:
    """The range of the statistic ``name`` as it was written; ``share`` is the name of the statistic that stands for it in [0, 1]."""

    name: str
    lo: Term
    hi: Term
    share: str

    @property
    def value(self) -> Term:
        """The statistic as a term in its share: lo + (hi - lo)*share."""
        share = symbol(self.share)
        if self.lo == number(0):
            return ("mul", self.hi, share)
        return ("add", self.lo, ("mul", ("add", self.hi, ("neg", self.lo)), share))

    @property
    def width(self) -> Term:
        """Hi - lo, which must not be negative for any value of the parameters."""
        return ("add", self.hi, ("neg", self.lo))

    @property
    def text(self) -> str:
        """``[lo, hi]`` in the expression grammar."""
        return f"[{to_text(self.lo)}, {to_text(self.hi)}]"

    def numbers(self, constants: Mapping[str, Term]) -> tuple[Fraction, Fraction] | None:
        """Return the ends as exact numbers, None where a parameter in them has none.

        Raises :class:`InvalidProfile` where they are numbers, but not rational ones.
        """
        ends = [substitute(end, constants) for end in (self.lo, self.hi)]
        if any(map(free_symbols, ends)):
            return None
        values = [constant_value(end) for end in ends]
        known = [value for value in values if value is not None]
        if len(known) != 2:
            raise InvalidProfile(
                f"the range of {self.name} is {self.text}, whose ends are not rational numbers by + - * / and whole powers; "
                "write them as decimals or fractions"
            )
        return known[0], known[1]


@dataclass(frozen=True, slots=True)
class Written:
    """What a profile promises and its ranges with expressions as ends, as they were declared."""

    promise: Term
    ranges: tuple[WrittenRange, ...]


def read_ends(bounds: object, what: str) -> Ends | None:
    """Return the ends of a range as terms where one of them is an expression; None where both are to be read as numbers.

    Raises :class:`InvalidExpression` for an end that is neither a number nor an expression.
    """
    if isinstance(bounds, (str, bytes, Mapping)) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        return None
    ends = [_end(end, f"the {side} end of {what}") for side, end in zip(("lower", "upper"), bounds, strict=True)]
    if all(isinstance(end, Fraction) for end in ends):
        return None
    return _as_term(ends[0]), _as_term(ends[1])


def _as_term(end: Fraction | Term) -> Term:
    return number(end) if isinstance(end, Fraction) else end


def _end(end: Any, what: str) -> Fraction | Term:
    sympy = sys.modules.get("sympy")  # whoever gives an expression has loaded it
    if sympy is not None and isinstance(end, sympy.Basic) and not end.is_Rational:
        from profiles.symbolic import from_sympy  # noqa: PLC0415 - slow to load, and rarely needed

        return from_sympy(end)
    if not isinstance(end, str):
        return to_exact(end, what)
    try:
        return to_exact(end, what)
    except InvalidNumber as error:
        try:
            term = parse_expression(end, what)
        except InvalidExpression as unreadable:
            raise (unreadable if "^" in end or "//" in end else error) from None
        if not free_symbols(term):
            raise
        return term


def require_parameters(name: str, ends: Ends, parameters: Iterable[str]) -> None:
    """Raise :class:`InvalidProfile` where an end uses a symbol that is not a parameter."""
    known = set(parameters)
    for unknown in sorted((free_symbols(ends[0]) | free_symbols(ends[1])) - known):
        listed = ", ".join(sorted(known)) or "none"
        raise InvalidProfile(
            f"the range of {name} uses {unknown!r}, which is not a parameter (those are: {listed}); declare it under parameters, "
            'as a number or "positive"'
        )


def share_name(name: str, taken: Iterable[str]) -> str:
    """Return the name of the statistic in [0, 1] that stands for ``name``."""
    return fresh_name(f"{name[:50]}_share", taken)
