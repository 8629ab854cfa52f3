"""The function that is maximised: F_D(S) = Σ over users of f_x(S), each f_x monotone submodular with values in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from accountant.applications.submodular.matroids.matroid import Integers, require_count
from profiles import InvalidArgument, InvalidData
from profiles.hypotheses import RECORDWISE, SUBMODULAR, Hypothesis

Floats = NDArray[np.float64]
Membership = NDArray[np.bool_]
#: (data, membership of shape (s, m)) → values of shape (users, s)
Evaluation = Callable[[Any, Membership], Any]

#: Scores that are no whole numbers are rounded down, user by user, to multiples of 1/UNIT; then sums have no error.
UNIT = 2**36
#: No sum of units over the users may exceed it: an overflow would break the order of scores, and with it privacy.
MOST_UNITS = 2**62


class Scores(Protocol):
    """G_D at the present point y, which moves by one step 1/T along one coordinate at a time."""

    @property
    def unit(self) -> int:
        """What one user is worth: gains are whole numbers of 1/``unit``."""

    def gains(self, candidates: Integers) -> Integers:
        """Return q(u) = G_D(y + 1_u/T) − G_D(y) for each candidate, in units; y_u < 1 for all of them."""

    def advance(self, element: int) -> None:
        """Move y to y + 1_u/T."""


class Objective(Protocol):
    """What continuous greedy and the final exponential mechanism ask of a decomposable function.

    Every implementation in this package keeps, for arbitrary public T and bins, what privacy needs: a user adds a non-negative integer
    to every gain, at most ``unit`` in all to the gains along one run, and an integer in [0, ``unit``] to every total. The sums have no
    rounding error, so that this holds for the numbers as they are computed.
    """

    @property
    def size(self) -> int:
        """The number m of elements."""

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the guarantee takes for granted about the function."""

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the utility bound takes for granted beyond that."""

    @property
    def closed_form(self) -> bool:
        """Whether the multilinear extension is available, so that no draws are needed."""

    def read(self, data: Any) -> Any:
        """Return checked data. Raises :class:`InvalidData`."""

    def count(self, data: Any) -> int:
        """Return the number of users."""

    def keep(self, data: Any, selected: NDArray[np.bool_]) -> Any:
        """Return the data of the selected users."""

    def start(self, data: Any, rounds: int, bins: Integers | None) -> Scores:
        """Return the scores at y = 0 for T = ``rounds``.

        ``bins``: shape (s, m), in [0, T): element u is in draw j at y if bins[j, u] < T y_u; None for the multilinear extension.
        """

    @property
    def unit(self) -> int:
        """What one user is worth in :meth:`totals`."""

    def score_unit(self, draws: int | None) -> int:
        """Return what one user is worth in the scores of ``draws`` draws, None for the closed form."""

    def totals(self, data: Any, membership: Membership) -> Integers:
        """Return F_D of each of h sets, in units, for ``membership`` of shape (h, m)."""


@dataclass(frozen=True, slots=True)
class PerUser:
    """A decomposable function given by a vectorised evaluation of every user on every set.

    ``values(data, membership)`` returns an array of shape (users, sets); ``data`` is an array or a list with one entry a user.
    Values are clipped to [0, 1] (NaN counts as 0). A user's gains are clipped to what is left of 1 in this run, and at 0 from below:
    for a monotone function with values in [0, 1] that changes nothing but the last digits (gains are rounded down to multiples of
    2^−36), and for any other one it keeps the guarantee.

    >>> import numpy as np
    >>> function = PerUser(3, lambda data, sets: np.array([[s[list(u)].any() for s in sets] for u in data]))
    >>> totals = function.totals([{0, 1}, {2}], np.array([[True, False, False], [True, False, True]]))
    >>> [int(total) // function.unit for total in totals]
    [1, 2]
    """

    size: int
    values: Evaluation
    closed_form: ClassVar[bool] = False
    unit: ClassVar[int] = UNIT

    def __post_init__(self) -> None:
        require_count(self.size, "the number of elements")

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Each user is judged alone: no program can see that of a function of the whole data set."""
        return (RECORDWISE,)

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """Monotone, submodular, in [0, 1]."""
        return (SUBMODULAR,)

    def read(self, data: Any) -> Any:
        """Return the data: an array, or a list with one entry a user."""
        if isinstance(data, np.ndarray) and data.ndim:
            return data
        if isinstance(data, Sequence) and not isinstance(data, str):
            return list(data)
        raise InvalidData(f"users must be a list or an array with one entry a user, but {type(data).__name__} was found; give one of them")

    def count(self, data: Any) -> int:
        """Return the number of users."""
        return len(data)

    def keep(self, data: Any, selected: NDArray[np.bool_]) -> Any:
        """Return the selected users."""
        if isinstance(data, np.ndarray):
            return data[selected]
        return [data[row] for row in np.flatnonzero(selected)]

    def start(self, data: Any, rounds: int, bins: Integers | None) -> Scores:  # noqa: ARG002 - the step is in the bins
        """Return the scores at y = 0. Raises :class:`InvalidArgument` without draws."""
        if bins is None:
            raise InvalidArgument("a function that is given by its values has no multilinear extension in closed form; give draws")
        return _PerUserScores(self, data, bins)

    def score_unit(self, draws: int | None) -> int:  # noqa: ARG002 - gains are means over the draws
        """Return 2^36."""
        return UNIT

    def totals(self, data: Any, membership: Membership) -> Integers:
        """Return Σ over users of the clipped value of each set."""
        found: Integers = to_units(self.evaluate(data, membership)).sum(axis=0, dtype=np.int64)
        return found

    def evaluate(self, data: Any, membership: Membership) -> Floats:
        """Return the clipped values, shape (users, sets). Raises :class:`InvalidArgument` where the shape is another one."""
        users = len(data)
        if not users or not len(membership):
            return np.zeros((users, len(membership)))
        found = np.asarray(self.values(data, membership), dtype=np.float64)
        if found.shape != (users, len(membership)):
            raise InvalidArgument(f"values must return an array of shape (users, sets), but {found.ndim} dimensions were found; correct it")
        return np.clip(np.nan_to_num(found, nan=0.0), 0.0, 1.0)


def to_units(values: Floats) -> Integers:
    """Return numbers in [0, 1] as multiples of 1/UNIT, rounded down (multiplication by a power of two is exact)."""
    return np.floor(values * UNIT).astype(np.int64)


class _PerUserScores:
    """Scores that ask for all values again: m·s/T evaluations of every user for one choice."""

    __slots__ = ("_bins", "_data", "_function", "_left", "_members", "_now", "_steps")

    unit = UNIT

    def __init__(self, function: PerUser, data: Any, bins: Integers) -> None:
        self._function, self._data, self._bins = function, data, bins
        self._members = np.zeros(bins.shape, dtype=np.bool_)
        self._steps = np.zeros(bins.shape[1], dtype=np.int64)
        self._now = function.evaluate(data, self._members)
        self._left = np.full(len(self._now), UNIT, dtype=np.int64)  # what each user may still add

    def gains(self, candidates: Integers) -> Integers:
        return np.array([int(self._gain(int(u))[0].sum()) for u in candidates], dtype=np.int64)

    def advance(self, element: int) -> None:
        gain, draws, values = self._gain(element)
        self._left -= gain
        self._now[:, draws] = values
        self._members[draws, element] = True
        self._steps[element] += 1

    def _gain(self, element: int) -> tuple[Integers, Integers, Floats]:
        """Return each user's clipped gain, the draws that ``element`` joins, and their new values."""
        draws = np.flatnonzero(self._bins[:, element] == self._steps[element])
        larger = self._members[draws]
        larger[:, element] = True
        values = self._function.evaluate(self._data, larger)
        total = np.zeros(len(values))
        for place, draw in enumerate(draws):  # NumPy's sum of a row would depend on how the rows lie in memory, so on how many there are
            total += values[:, place] - self._now[:, draw]
        gain = np.clip(total / len(self._bins), 0.0, 1.0)
        return np.minimum(to_units(gain), self._left), draws, values
