"""A δ that is too large to mean much: said in one sentence, by one function, wherever a δ is asked for.

With probability δ an (ε, δ)-private mechanism may do anything. One that publishes each record as it is, with probability δ each, is (0, δ)-
private: of n records it publishes δn on average. So δ has to be far below 1/n. Where n is public, or was released, it is compared with 1/n;
else with :data:`LARGE`, which depends on nothing. A warning that looked at a private n would reveal it: it belongs beside private figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from profiles.errors import PDPError
from profiles.numbers import decimal_text, to_exact

#: A thousand records are few for noise and a δ, and 1/1000 is no longer below 1/n for any larger number of them.
LARGE = Fraction(1, 1000)


class DeltaWarning(UserWarning):
    """A δ is so large that the guarantee allows publishing records as they are."""


def warn_of_delta(delta: object, records: object = None) -> tuple[str, ...]:
    """Return the warning about a δ, () where there is none, or where it is none in (0, 1), which others refuse.

    ``records``: how many records there are, or an estimate of it that was released.

    >>> warn_of_delta("1e-6"), warn_of_delta("1e-6", 10**5), len(warn_of_delta("1e-6", 10**6)), len(warn_of_delta("0.5"))
    ((), (), 1, 1)
    """
    try:
        asked, count = to_exact(delta), None if records is None else to_exact(records)
    except PDPError:
        return ()
    if not 0 < asked < 1:
        return ()
    if count is not None and asked * count >= 1:
        against = f"not below 1/n for about {round(count)} records"
    elif asked >= LARGE:
        against = "large"
    else:
        return ()
    shown = decimal_text(asked, 6, round_up=True)
    text = (
        f"delta = {shown} is {against}: publishing each record as it is with this probability has epsilon = 0 at it; take a delta far "
        "below 1/n, such as 1e-6"
    )
    return (text,)


def warn_of_records(private: Mapping[str, Any], *deltas: object) -> dict[str, Any]:
    """Return private figures of a data set, with ``warnings`` where a δ is not below one in its ``records``: as private as these are."""
    warnings = [text for delta in deltas for text in warn_of_delta(delta, private["records"])]
    return {**private, "warnings": warnings} if warnings else dict(private)
