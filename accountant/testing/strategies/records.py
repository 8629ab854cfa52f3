"""Strategies for records as the profile sees them: the values of its statistics."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from profiles.errors import InvalidArgument
from profiles.numbers import round_down
from profiles.profile import Profile
from profiles.variables import Statistic

#: The least subnormal number, the least normal one, the unit in the last place, and large powers.
_BORDERS = (5e-324, 2.2250738585072014e-308, 2.0**-52, 1.0, 2.0**53, 1e300)


def records(profile: Profile | Any) -> st.SearchStrategy[dict[str, float]]:
    """Return a strategy for records of a profile's (or a mechanism's) domain: each statistic a binary64 number in its closed range.

    Shrinks to the number in the range that is simplest, 0 where it is there. Raises :class:`InvalidArgument` where a range has no
    binary64 number.

    >>> from hypothesis import find
    >>> from profiles import declare
    >>> find(records(declare("sum", "w*z", record={"z": [0, 4]})), lambda record: True)
    {'z': 0.0}
    """
    return st.fixed_dictionaries({s.name: st.floats(*float_range(s)) for s in to_profile(profile).record})


def adversarial_records(profile: Profile | Any) -> st.SearchStrategy[dict[str, float]]:
    """Return a strategy for records at the borders: ends of ranges and the numbers next to them, 0, subnormal, tiny and huge numbers.

    Raises :class:`InvalidArgument` where a range has no binary64 number.
    """
    return st.fixed_dictionaries({s.name: st.sampled_from(borders(*float_range(s))) for s in to_profile(profile).record})


def to_profile(given: object) -> Profile:
    """Return a profile, or that of a mechanism of the catalogue. Raises :class:`InvalidArgument`."""
    profile = given if isinstance(given, Profile) else getattr(given, "profile", None)
    if not isinstance(profile, Profile):
        raise InvalidArgument(
            f"a profile, or a mechanism of the catalogue, was expected, but {str(given)[:40]!r} was found; give one of them"
        )
    return profile


def float_range(statistic: Statistic) -> tuple[float, float]:
    """Return the least and the largest binary64 number of a range. Raises :class:`InvalidArgument`."""
    lo, hi = -round_down(-statistic.lo), round_down(statistic.hi)
    if lo > hi:
        raise InvalidArgument(
            f"records of binary64 numbers were asked for, but the range of {statistic.name!r} has none; use exact numbers, or a wider range"
        )
    return lo + 0.0, hi + 0.0


def borders(lo: float, hi: float) -> list[float]:
    """Return the border values of [lo, hi] in increasing order of how unusual they are."""
    middle = lo / 2 + hi / 2
    numbers = [lo, hi, 0.0, -0.0, middle, math.nextafter(lo, math.inf), math.nextafter(hi, -math.inf), *_BORDERS, *(-b for b in _BORDERS)]
    kept = [value for value in numbers if Fraction(lo) <= Fraction(value) <= Fraction(hi)]
    return list({(value, math.copysign(1.0, value)): value for value in kept}.values())
