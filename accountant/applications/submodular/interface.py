"""What a sum of one function a user looks like to the private greedy algorithm."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from profiles import InvalidArgument, InvalidData
from profiles.hypotheses import PUBLIC_CONSTANTS, WELL_FORMED

PUBLIC = PUBLIC_CONSTANTS.about(names="k, epsilon and the list of candidates are")
TABLE = WELL_FORMED.about(what="the table of the users has the declared form")

Gains = NDArray[Any]
Kept = NDArray[np.bool_]


class MarginalGains(Protocol):
    """The marginal gains of all candidates while a set S grows, starting from the empty set."""

    @property
    def gains(self) -> Gains:
        """F(S ∪ {c}) − F(S) for each candidate c, times the function's ``resolution``: shape (m,), int64 or float64.

        Entries of candidates in S are not looked at.
        """

    def add(self, candidate: int) -> None:
        """Put a candidate that is not in S into S."""


@runtime_checkable
class DecomposableFunction(Protocol):
    """F(S) = Σ f_x(S) over the users x, for sets S of candidates 0, ..., m − 1; S ↦ f_x(S) in [0, 1] is monotone for each user.

    Bring your own by an object with these five members. For privacy each f_x must be monotone and vary by at most 1; the error bound also
    needs that it is submodular. ``find_violation`` looks for counterexamples.
    """

    @property
    def candidates(self) -> int:
        """m, the number of candidates: public."""

    @property
    def users(self) -> int:
        """n, the number of users: private."""

    @property
    def resolution(self) -> int:
        """The unit of ``gains`` is 1/resolution: 1 where they are gains themselves."""

    def restrict(self, kept: Kept) -> DecomposableFunction:
        """Return the sum over the users with ``kept[x]``, a boolean array of shape (n,)."""

    def track(self) -> MarginalGains:
        """Return the gains at the empty set."""


def read_gains(tracker: MarginalGains, candidates: int) -> Gains:
    """Return a tracker's gains after a look at their form. Raises :class:`InvalidData`."""
    gains = np.asarray(tracker.gains)
    if gains.shape != (candidates,) or gains.dtype not in (np.dtype(np.int64), np.dtype(np.float64)):
        raise InvalidData(
            f"the gains must be int64 or float64 of shape ({candidates},), but {gains.dtype} of shape {gains.shape} was found; return one "
            "number a candidate"
        )
    if gains.dtype == np.float64 and not np.isfinite(gains).all():
        raise InvalidData("the gains must be finite, but NaN or an infinity was found; correct the function")
    return gains


def check_count(value: object, what: str, least: int) -> int:
    """Return an integer of at least ``least``. Raises :class:`InvalidArgument`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidArgument(f"{what} must be an integer of at least {least}, but {str(value)[:40]!r} was found; give one")
    return int(value)


def check_kept(kept: Kept, users: int) -> Kept:
    """Return a selection of users. Raises :class:`InvalidArgument`."""
    chosen = np.asarray(kept)
    if chosen.dtype != np.bool_ or chosen.shape != (users,):
        raise InvalidArgument(
            "a selection of users must be one boolean a user, but another type or length was found; give a mask",
            private=f"{chosen.dtype} of shape {chosen.shape} for {users} users",
        )
    return chosen
