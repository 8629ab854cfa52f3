"""A function given by its values: users are asked for alone, or together with a look at whether they mix; their gains are clipped.

Why alone. Privacy needs that the value of a user is a function of that user's record and of the set: F(S) is a sum over users, and
one user more adds one term and changes no other. A vectorised function such as ``data @ sets.T`` breaks this in floating point: BLAS takes
other kernels for the last rows of a block, so that the last bit of a row depends on how many rows there are. With a step behind it, as in
``data @ sets.T >= 1``, one user more moved the values of two others by 1 (docs/submodular.md, section 13).

So every user is asked for in a call with one row. The row and the sets are copied into the same places of memory for every user, 64 bytes
aligned, because kernels may also treat numbers by where they lie; and what a function writes into its arguments, no other user sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accountant.applications.choosing import Scores
from accountant.applications.submodular.functions import UNIT, to_units
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Floats, Integers, Positions
from profiles.hypotheses import JUDGED_TOGETHER, RECORDWISE, SUBMODULAR, Hypothesis
from profiles.numbers import to_integer

#: (data, membership of shape (s, m)) → values of shape (users, s)
Evaluation = Callable[[Any, Booleans], Any]

#: Sets in one call, unless one element needs more.
_TOGETHER = 64
_ALIGNMENT = 64
_MIXED = (
    "a function was to judge users together, but the value of a user changed with the other users of the call; leave together=True out, "
    "so that one user at a time is asked for"
)


@dataclass(frozen=True, slots=True)
class PerUser:
    """A decomposable function given by its values for a user on every set.

    ``values(data, membership)`` returns an array of shape (users, sets); ``data`` is an array or a list with one entry per user. It is
    called with **one user at a time**, so that the value of a user is a function of that user's record: a matrix product of all users
    is not, to the last bit. With ``together`` it is called with all users at once, which is faster. It is refused where a look at random
    parts, orders and single users finds other values, and otherwise leaves open that there is no such dependence.

    Values are clipped to [0, 1] (NaN counts as 0). A user's gains are clipped to what is left of 1 in this run, and at 0 from below:
    for a monotone function with values in [0, 1] that changes nothing but the last digits (gains are rounded down to multiples of
    2^−32), and for any other one it keeps the guarantee. What clipping cannot keep it from is a value that depends on anything but
    the user's record and the set: that breaks the guarantee, and is its open hypothesis.

    >>> import numpy as np
    >>> function = PerUser(3, lambda data, sets: np.array([[s[list(u)].any() for s in sets] for u in data]))
    >>> totals = function.totals([{0, 1}, {2}], np.array([[True, False, False], [True, False, True]]))
    >>> [int(total) // function.unit for total in totals]
    [1, 2]
    """

    size: int
    values: Evaluation
    together: bool = False
    closed_form: ClassVar[bool] = False
    unit: ClassVar[int] = UNIT

    def __post_init__(self) -> None:
        to_integer(self.size, "the number of elements", 1)
        if not isinstance(self.together, bool):
            raise InvalidArgument(f"together must be True or False, but {type(self.together).__name__} was found; give one of the two")

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Each user is judged alone: no program can see that of a function that may keep what it has seen, or is given all users."""
        return (RECORDWISE, JUDGED_TOGETHER) if self.together else (RECORDWISE,)

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """Monotone, submodular, in [0, 1]."""
        return (SUBMODULAR,)

    def read(self, data: Any) -> Any:
        """Return the data: an array, or a list with one entry per user. Raises :class:`InvalidArgument` where a function mixes users."""
        if isinstance(data, np.ma.MaskedArray):
            raise InvalidData("users must be a plain array or a list, but a masked array was found; fill or remove what is masked")
        if isinstance(data, np.ndarray) and data.ndim:
            users: Any = data
        elif isinstance(data, Sequence) and not isinstance(data, str):
            users = list(data)
        else:
            raise InvalidData(
                f"users must be a list or an array with one entry per user, but {type(data).__name__} was found; give one of them"
            )
        if self.together:
            require_no_mixing(self.values, users, self.size, np.random.default_rng())
        return users

    def count(self, data: Any) -> int:
        return len(data)

    def keep(self, data: Any, selected: Booleans) -> Any:
        return take(data, np.flatnonzero(selected))

    def start(self, data: Any, rounds: int, bins: Integers | None) -> Scores:  # noqa: ARG002 - the step is in the bins
        """Return the scores at y = 0. Raises :class:`InvalidArgument` without draws."""
        if bins is None:
            raise InvalidArgument("a function that is given by its values has no multilinear extension in closed form; give draws")
        return _PerUserScores(self, data, bins)

    def score_unit(self, draws: int | None) -> int:  # noqa: ARG002 - gains are means over the draws
        return UNIT

    def totals(self, data: Any, membership: Booleans) -> Integers:
        """Return Σ over users of the clipped value of each set."""
        summed: Integers = to_units(self.evaluate(data, membership)).sum(axis=0, dtype=np.int64)
        return summed

    def evaluate(self, data: Any, membership: Booleans) -> Floats:
        """Return the clipped values, shape (users, sets). Raises :class:`InvalidArgument`: another shape, or users that are mixed."""
        if self.together:
            return judge_together(self.values, data, membership, np.random.default_rng())
        return judge_alone(self.values, data, membership)


def find_dependence(function: PerUser, data: Any, rng: np.random.Generator) -> str | None:
    """Return how the value of a user changes with the other users of a call, if that is found: what ``together`` assumes not to be.

    Looks at orders, random parts and single users on random sets, bit by bit. Finding nothing proves nothing.
    """
    if not isinstance(function, PerUser):
        raise InvalidArgument(f"a PerUser is needed, but {type(function).__name__} was found; other functions have their own checks")
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(f"a numpy.random.Generator was expected, but {type(rng).__name__} was found; pass numpy.random.default_rng()")
    return find_mixing(function.values, data, function.size, rng)


class _PerUserScores:
    """Scores that ask for all values again: m·s/T sets for one choice, in calls of at most ``_TOGETHER`` sets.

    Which sets share a call is public, and :meth:`advance` asks for the chosen element in the same company as :meth:`gains` did: what a user
    has left falls by the very gain that was counted, whatever the function makes of the sets beside.
    """

    __slots__ = ("_asked", "_bins", "_data", "_function", "_left", "_members", "_now", "_steps")

    unit = UNIT

    def __init__(self, function: PerUser, data: Any, bins: Integers) -> None:
        self._function, self._data, self._bins = function, data, bins
        self._members = np.zeros(bins.shape, dtype=np.bool_)
        self._steps = np.zeros(bins.shape[1], dtype=np.int64)
        self._now = function.evaluate(data, self._members)
        self._left = np.full(len(self._now), UNIT, dtype=np.int64)  # what each user may still add
        self._asked: list[list[int]] = []

    def gains(self, candidates: Integers) -> Integers:
        self._asked, room = [], 0
        for element in candidates.tolist():
            joins = self._joined_by(element).size
            if joins > room:
                self._asked.append([])
                room = _TOGETHER
            if not self._asked:
                self._asked.append([])
            self._asked[-1].append(element)
            room -= joins
        return np.array([int(gain.sum()) for part in self._asked for gain, _, _ in self._judge(part)], dtype=np.int64)

    def advance(self, element: int) -> None:
        part = next((part for part in self._asked if element in part), [element])
        gain, draws, values = self._judge(part)[part.index(element)]
        self._left -= gain
        self._now[:, draws] = values
        self._members[draws, element] = True
        self._steps[element] += 1
        self._asked = []

    def _joined_by(self, element: int) -> Positions:
        """Return the draws that ``element`` joins next."""
        return np.flatnonzero(self._bins[:, element] == self._steps[element])

    def _judge(self, part: list[int]) -> list[tuple[Integers, Positions, Floats]]:
        """Return for each of some elements each user's clipped gain, the draws that the element joins, and their new values."""
        joined = [self._joined_by(element) for element in part]
        larger = self._members[np.concatenate(joined)]
        larger[np.arange(len(larger)), np.repeat(part, [draws.size for draws in joined])] = True
        values = self._function.evaluate(self._data, larger)
        ends = np.cumsum([draws.size for draws in joined])
        return [
            (self._count(values[:, end - draws.size : end], draws), draws, values[:, end - draws.size : end])
            for draws, end in zip(joined, ends.tolist(), strict=True)
        ]

    def _count(self, values: Floats, draws: Positions) -> Integers:
        """Return each user's gain in units, clipped to what the user has left."""
        total = np.zeros(len(values))
        for place, draw in enumerate(draws):  # NumPy's sum of a row would depend on how the rows lie in memory, so on how many there are
            total += values[:, place] - self._now[:, draw]
        gain = np.clip(total / len(self._bins), 0.0, 1.0)
        return np.minimum(to_units(gain), self._left)


def judge_alone(values: Evaluation, data: Any, membership: Booleans) -> Floats:
    """Return the values of each user, asked for in a call of its own, clipped to [0, 1]: shape (users, sets); NaN counts as 0.

    Claim: row x is a function of record x and of ``membership``, if what ``values`` returns is one of its arguments.
    Raises :class:`InvalidArgument` where the shape of an answer is not (1, sets).
    """
    judged = np.zeros((len(data), len(membership)))
    if not len(membership):
        return judged
    sets = _allot(membership.shape, membership.dtype)
    row = _allot((1, *data.shape[1:]), data.dtype) if isinstance(data, np.ndarray) else None
    for user, record in enumerate(data):
        sets[...] = membership
        if row is not None:
            row[0] = record
        judged[user] = _clip(values([record] if row is None else row, sets), 1, len(membership))[0]
    return judged


def judge_together(values: Evaluation, data: Any, membership: Booleans, rng: np.random.Generator) -> Floats:
    """Return the values of all users from one call, clipped to [0, 1], after a look at a random part of them and at one user.

    Raises :class:`InvalidArgument` where these have other values there, and where the shape of an answer is not (users, sets).
    """
    if not len(data) or not len(membership):
        return np.zeros((len(data), len(membership)))
    answers = _ask(values, data, membership)
    parts = [rng.permutation(len(data))[: int(rng.integers(1, len(data) + 1))], rng.integers(len(data), size=1)]
    if any(not np.array_equal(_ask(values, take(data, rows), membership), answers[rows]) for rows in parts):
        raise InvalidArgument(_MIXED)
    return answers


def require_no_mixing(values: Evaluation, data: Any, size: int, rng: np.random.Generator) -> None:
    """Raise :class:`InvalidArgument` where :func:`find_mixing` finds something."""
    if find_mixing(values, data, size, rng) is not None:
        raise InvalidArgument(_MIXED)


def find_mixing(values: Evaluation, data: Any, size: int, rng: np.random.Generator) -> str | None:
    """Return how the value of a user changes with the other users of a call, None if that was not found, which proves nothing.

    On 1, 2, 5 and 16 random sets, the values of all users in one call are compared with those of all in another order, without one
    user, of random parts, and of single users; every bit counts.
    """
    if not len(data):
        return None
    users = len(data)
    for count in (1, 2, 5, 16):
        membership = rng.random((count, size)) < rng.random((count, 1))
        whole = _ask(values, data, membership)
        for what, rows in _choose_parts(users, rng):
            if not np.array_equal(_ask(values, take(data, rows), membership), whole[rows]):
                return f"the values of users in a call with all of them are not those of {what}"
    return None


def _choose_parts(users: int, rng: np.random.Generator) -> Iterator[tuple[str, Integers]]:
    yield "the same users in another order", rng.permutation(users)
    yield "the same users in the opposite order", np.arange(users)[::-1]
    yield "all but the last of them", np.arange(users - 1)
    for _ in range(4):
        yield "a part of them", rng.permutation(users)[: int(rng.integers(1, users + 1))]
    for user in rng.permutation(users)[:8]:
        yield "a user alone", np.array([user])


def take(data: Any, rows: NDArray[Any]) -> Any:
    """Return the users of some rows: of an array or a list."""
    return data[rows] if isinstance(data, np.ndarray) else [data[row] for row in rows]


def _ask(values: Evaluation, data: Any, membership: Booleans) -> Floats:
    if not len(data):
        return np.zeros((0, len(membership)))
    return _clip(values(take(data, np.arange(len(data))), membership.copy()), len(data), len(membership))


def _clip(answer: Any, users: int, sets: int) -> Floats:
    clipped = np.asarray(answer, dtype=np.float64)
    if clipped.shape != (users, sets):
        raise InvalidArgument(
            f"values must return an array of shape (users, sets), here with {'one user' if users == 1 else 'several users'}, but "
            f"{clipped.ndim} dimensions or other lengths were found; correct it"
        )
    return np.clip(np.nan_to_num(clipped, nan=0.0), 0.0, 1.0)


def _allot(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array that starts at a multiple of 64 bytes."""
    if dtype.hasobject:
        return np.empty(shape, dtype=dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.empty(size + _ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + size].view(dtype).reshape(shape)
