"""What a profile is a function of: the weight, the statistics of a record and the parameters, with checked names and exact ranges."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from profiles.errors import InvalidProfile
from profiles.grammar import is_name
from profiles.numbers import exact_text, to_exact
from profiles.sympy_spelling import read_constant, read_name, read_range
from profiles.terms import RESERVED

WEIGHT = "w"
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Statistic:
    """A record statistic: a scalar through which a record enters a profile, with its closed range [lo, hi]."""

    name: str
    lo: Fraction
    hi: Fraction


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant of the mechanism: an exact ``value``, or any real in ``bounds``, or (both None) any positive real."""

    name: str
    value: Fraction | None = None
    bounds: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A quantified variable of a profile: [lo, hi]; ``hi`` None is +∞; ``open_below`` excludes lo (unspecified positive parameters)."""

    name: str
    lo: Fraction
    hi: Fraction | None
    open_below: bool = False

    def contains(self, value: Fraction) -> bool:
        """Tell whether ``value`` lies in the range."""
        above = value > self.lo if self.open_below else value >= self.lo
        return above and (self.hi is None or value <= self.hi)

    @property
    def end(self) -> Fraction:
        """The upper end, which may be 0; the lower end where the range has no upper one."""
        return self.lo if self.hi is None else self.hi


def make_statistic(name: object, bounds: object) -> Statistic:
    """Return a checked statistic from a name and a pair [lo, hi]."""
    checked = check_name(name, "the statistic")
    lo, hi = _range(bounds, f"the range of {checked}")
    return Statistic(checked, lo, hi)


def make_parameter(name: object, value: object) -> Parameter:
    """Return a checked parameter from a name and a number, ``"positive"`` or a range [lo, hi] with 0 < lo."""
    checked = check_name(name, "the parameter")
    value = read_constant(value, f"the parameter {checked}")
    if isinstance(value, str) and value == "positive":
        return Parameter(checked)
    if isinstance(value, (list, tuple)):
        lo, hi = _range(value, f"the range of {checked}")
        if lo <= 0:
            raise InvalidProfile(
                f"the range of the parameter {checked} must be positive, but it starts at {exact_text(lo)}; raise its lower end"
            )
        return Parameter(checked, bounds=(lo, hi))
    return Parameter(checked, to_exact(value, f"the parameter {checked}"))


def require_name(name: object, what: str) -> None:
    """Raise :class:`InvalidProfile` where ``what`` is to have a name that is not printable text of 1 to MAX_NAME characters."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidProfile(f"{what} needs a printable name of 1 to {MAX_NAME} characters; give one")


def check_name(given: object, kind: str) -> str:
    """Return the name of ``kind`` (with its article). Raises :class:`InvalidProfile` where an expression cannot use it."""
    name = read_name(given)
    if not isinstance(name, str) or not is_name(name) or name.startswith("__"):
        raise InvalidProfile(f"{kind} {str(name)[:60]!r} is not an ASCII identifier of at most 64 characters; rename it")
    if keyword.iskeyword(name):
        raise InvalidProfile(f"{kind} {name!r} is a keyword that expressions cannot use; rename it (lam for lambda)")
    if name == "delta":
        raise InvalidProfile(
            f"{kind} 'delta' was found, but no notion of a profile has a delta; leave it out, declare Gaussian noise as notion = "
            '"gaussian" with mu, or rename it if it is not a failure probability'
        )
    if name in RESERVED:
        raise InvalidProfile(f"{kind} {name!r} is a reserved name (w is the weight, pi a constant, the others functions); rename it")
    return name


def _range(given: object, what: str) -> tuple[Fraction, Fraction]:
    bounds = read_range(given, what)
    if isinstance(bounds, (str, bytes, Mapping)) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise InvalidProfile(f"{what} must be a pair [lo, hi] of finite numbers, but {shown(bounds)} was found; write both ends")
    lo, hi = to_exact(bounds[0], f"the lower end of {what}"), to_exact(bounds[1], f"the upper end of {what}")
    if lo > hi:
        raise InvalidProfile(
            f"{what} is empty: its lower end {exact_text(lo)[:40]} is above its upper end {exact_text(hi)[:40]}; swap or correct them"
        )
    return lo, hi


def shown(value: object) -> str:
    """Return the beginning of a value as text for a message."""
    try:
        return repr(str(value)[:60])
    except ValueError:  # an integer beyond the length that str accepts
        return f"an object of type {type(value).__name__}"


def listed(names: Iterable[str]) -> str:
    """Return names in order for a message."""
    return ", ".join(sorted(names)) or "nothing"
