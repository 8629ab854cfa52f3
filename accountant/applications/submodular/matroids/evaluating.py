"""Asking a function of one's own for the values of users: each user alone, or all of them together with a look at whether they mix.

Why alone. Privacy needs that the value of a user is a function of that user's record and of the set: F(S) is a sum over users, and
one user more adds one term and changes no other. A vectorised function such as ``data @ sets.T`` breaks this in floating point: BLAS takes
other kernels for the last rows of a block, so that the last bit of a row depends on how many rows there are. With a step behind it, as in
``data @ sets.T >= 1``, one user more moved the values of two others by 1 (docs/matroids.md, section 3).

So every user is asked for in a call with one row. The row and the sets are copied into the same places of memory for every user, 64 bytes
aligned, because kernels may also treat numbers by where they lie; and what a function writes into its arguments, no other user sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles import InvalidArgument
from profiles.arrays import Floats

Membership = NDArray[np.bool_]
#: (data, membership of shape (s, m)) → values of shape (users, s)
Evaluation = Callable[[Any, Membership], Any]

_ALIGNMENT = 64
_MIXED = (
    "a function was to judge users together, but the value of a user changed with the other users of the call; leave together=True out, "
    "so that one user at a time is asked for"
)


def judge_alone(values: Evaluation, data: Any, membership: Membership) -> Floats:
    """Return the values of each user, asked for in a call of its own, clipped to [0, 1]: shape (users, sets); NaN counts as 0.

    Claim: row x is a function of record x and of ``membership``, if what ``values`` returns is one of its arguments.
    Raises :class:`InvalidArgument` where the shape of an answer is not (1, sets).
    """
    found = np.zeros((len(data), len(membership)))
    if not len(membership):
        return found
    sets = _allot(membership.shape, membership.dtype)
    row = _allot((1, *data.shape[1:]), data.dtype) if isinstance(data, np.ndarray) else None
    for user, record in enumerate(data):
        sets[...] = membership
        if row is not None:
            row[0] = record
        found[user] = _clip(values([record] if row is None else row, sets), 1, len(membership))[0]
    return found


def judge_together(values: Evaluation, data: Any, membership: Membership, rng: np.random.Generator) -> Floats:
    """Return the values of all users from one call, clipped to [0, 1], after a look at a random part of them and at one user.

    Raises :class:`InvalidArgument` where these have other values there, and where the shape of an answer is not (users, sets).
    """
    if not len(data) or not len(membership):
        return np.zeros((len(data), len(membership)))
    found = _ask(values, data, membership)
    parts = [rng.permutation(len(data))[: int(rng.integers(1, len(data) + 1))], rng.integers(len(data), size=1)]
    if any(not np.array_equal(_ask(values, take(data, rows), membership), found[rows]) for rows in parts):
        raise InvalidArgument(_MIXED)
    return found


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


def _choose_parts(users: int, rng: np.random.Generator) -> Iterator[tuple[str, NDArray[np.int64]]]:
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


def _ask(values: Evaluation, data: Any, membership: Membership) -> Floats:
    if not len(data):
        return np.zeros((0, len(membership)))
    return _clip(values(take(data, np.arange(len(data))), membership.copy()), len(data), len(membership))


def _clip(answer: Any, users: int, sets: int) -> Floats:
    found = np.asarray(answer, dtype=np.float64)
    if found.shape != (users, sets):
        raise InvalidArgument(
            f"values must return an array of shape (users, sets), here with {'one user' if users == 1 else 'several users'}, but "
            f"{found.ndim} dimensions or other lengths were found; correct it"
        )
    return np.clip(np.nan_to_num(found, nan=0.0), 0.0, 1.0)


def _allot(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array that starts at a multiple of 64 bytes."""
    if dtype.hasobject:
        return np.empty(shape, dtype=dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.empty(size + _ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + size].view(dtype).reshape(shape)
