"""The notions in which a ledger adds up: the loss of a record, how those of a user add up, what the sum costs (docs/ledger.md, L2)."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

import numpy as np

from accountant.compositions.events import Composition, make_event
from accountant.ledger.amounts import BITS, CostGrid, to_nats
from profiles import InvalidArgument, OtherNotion, Profile
from profiles.arrays import Integers
from profiles.notions import ProfileNotion
from profiles.numbers import root_above
from profiles.suggestions import describe_unknown
from profiles.terms import Term, number, rebuild, substitute
from profiles.variables import WEIGHT

#: Squares of fewer bits than this fit into 64 bits.
_HALF = 2**31


class LedgerNotion(Enum):
    """In which notion a ledger keeps its accounts: one for all of its life.

    The *shift* s(x) of a record is ε(x) in ``pure`` and √(2ρ(x)) in ``zcdp`` (μ of Gaussian noise, ε of a pure mechanism). Shifts of the
    records of one user add up to S, and the user is charged S in ``pure`` and S²/2 in ``zcdp``.
    """

    PURE = "pure"
    ZCDP = "zcdp"

    @property
    def sign(self) -> str:
        """What a budget bounds, in prints."""
        return "epsilon" if self is LedgerNotion.PURE else "rho"

    @property
    def grid_bits(self) -> int:
        """How many bits the worst shift of a record has on the grid of shifts."""
        return 32 if self is LedgerNotion.PURE else 31

    def shift_term(self, profile: Profile, *, sampled: bool) -> Term:
        """Return s as a term in w and the statistics; with w = 1 where records are not ``sampled``.

        Raises :class:`OtherNotion` where the promise of the profile has no place in this notion.
        """
        self.require(profile)
        values = profile.numbers() | ({} if sampled else {WEIGHT: number(1)})
        promise = _drop_ones(substitute(profile.promise, values))
        return ("sqrt", ("mul", number(2), promise)) if profile.notion is ProfileNotion.ZCDP else promise

    def require(self, profile: Profile) -> None:
        """Refuse a profile whose promise cannot be charged in this notion. Raises :class:`OtherNotion`."""
        known = (ProfileNotion.PURE,) if self is LedgerNotion.PURE else (ProfileNotion.PURE, ProfileNotion.GAUSSIAN, ProfileNotion.ZCDP)
        if profile.notion in known:
            return
        how = (
            'open a ledger in the notion "zcdp" for it'
            if profile.notion in (ProfileNotion.GAUSSIAN, ProfileNotion.ZCDP)
            else "declare rho or mu in its place: an order alone says nothing of the others"
        )
        raise OtherNotion(
            f'a ledger in the notion "{self.value}" charges {", ".join(item.number for item in known)}, but {profile.name[:60]!r} declares '
            f"{profile.notion.number}; {how}"
        )

    def promise(self, most: int, name: str) -> Fraction | Composition:
        """Return what a budget of this amount promises: ε in ``pure``, and in ``zcdp`` the curve of an event with this ρ under ``name``."""
        nats = to_nats(most)
        return nats if self is LedgerNotion.PURE else Composition(name, (make_event("zcdp", {"rho": nats}),))

    def charge(self, total: Fraction) -> Fraction:
        """Return what a user with the total shift S is charged, in nats.

        >>> LedgerNotion.ZCDP.charge(Fraction(1, 2))
        Fraction(1, 8)
        """
        return total if self is LedgerNotion.PURE else total * total / 2

    def charge_steps(self, totals: Integers, shifts: CostGrid, costs: CostGrid) -> Integers:
        """Return what users are charged for their ``totals`` of ``shifts``, in steps of ``costs``, rounded up, and at most 2^62."""
        if self is LedgerNotion.PURE:
            return totals
        exponent = 2 * shifts.shift - BITS - 1 - costs.shift  # S²/2 in steps of the costs is totals² · 2^exponent
        if exponent <= 0 and (not totals.size or int(totals.max()) < _HALF):
            squares = totals * totals
            charged: Integers = -np.right_shift(-squares, min(-exponent, 63))
            return charged
        exact = [-((-(value * value)) >> -exponent) if exponent < 0 else (value * value) << exponent for value in totals.tolist()]
        return np.array([min(value, 2**62) for value in exact], dtype=np.int64)


def to_ledger_notion(value: object) -> LedgerNotion:
    """Return a notion of ledgers from its name. Raises :class:`InvalidArgument`."""
    if isinstance(value, LedgerNotion):
        return value
    names = {item.value: item for item in LedgerNotion}
    if isinstance(value, str) and value in names:
        return names[value]
    if value in ("approximate", "approximate-dp", "(epsilon, delta)"):
        raise InvalidArgument(
            "a ledger of (epsilon, delta) budgets for each record was asked for, but two steps of which each choice alone keeps (log 8, "
            '1/16) reach delta = 5/64 where the second is chosen by the first (docs/ledger.md, L3); use the notion "zcdp", and read '
            "(epsilon, delta) off at the end with pdp account"
        )
    shown, hint = describe_unknown(value, names)
    raise InvalidArgument(f"a ledger keeps its accounts in the notion pure or zcdp, but {shown} was found; choose one{hint}")


def root_up(value: Fraction) -> Fraction:
    """Return a number of moderate length that is at least √value.

    >>> root_up(Fraction(9, 4))
    Fraction(3, 2)
    """
    return root_above(value, 2**80)


def _drop_ones(term: Term) -> Term:
    """Return a term of the same value and definedness without factors that are 1, such as the weight of records that are not sampled."""
    made = rebuild(term, _drop_ones)
    if made[0] != "mul":
        return made
    factors = [part for part in made[1:] if part != number(1)]
    return ("mul", *factors) if len(factors) > 1 else factors[0] if factors else number(1)
