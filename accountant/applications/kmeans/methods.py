"""The methods of private k-means, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from accountant.applications.kmeans.lloyd import Lloyd
from accountant.applications.kmeans.method import find_centres
from accountant.applications.kmeans.protocols import Method
from profiles import InvalidArgument

#: The rounds of DP-Lloyd, where nobody says how many.
ROUNDS = 3
#: Each is made of a number of iterations, which only DP-Lloyd has.
METHODS: Mapping[str, Callable[[int], Method]] = {"auto": lambda _: find_centres, "lloyd": Lloyd}


def find_method(name: object, iterations: int = ROUNDS) -> Method:
    """Return the method of a name. Raises :class:`InvalidArgument`."""
    if not isinstance(name, str) or name not in METHODS:
        raise InvalidArgument(f"method must be one of {', '.join(METHODS)}, but {str(name)[:40]!r} was found; give one of these")
    return METHODS[name](iterations)
