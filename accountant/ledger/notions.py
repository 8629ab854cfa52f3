"""The notions in which a ledger adds up: the loss of a record, how those of a user add up, what the sum costs (docs/ledger.md, L2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from fractions import Fraction

from accountant.compositions.events import Composition, Event, make_event
from accountant.ledger.amounts import Amounts, CostGrid
from accountant.ledger.prices import Free, Price, PriceShape, ShiftPrice
from profiles import InvalidArgument, OtherNotion, Profile
from profiles.notions import ProfileNotion
from profiles.numbers import decimal_below, root_above
from profiles.suggestions import describe_unknown
from profiles.terms import Term, number, rebuild, substitute
from profiles.variables import WEIGHT


class LedgerNotion(Enum):
    """In which notion a ledger keeps its accounts: one for all of its life.

    The *shift* s(x) of a record is ε(x) of a pure mechanism, μ(x) of a Gaussian one, and √(2ρ(x)) of one that declares ρ. Shifts of the
    records of one user add up to S. The user is charged S in ``pure``; in ``zcdp`` S tanh(S/2) for a pure mechanism and S²/2 for others;
    in ``mixed``, whose accounts have three components, S of ε for a pure mechanism and S² of μ² for a Gaussian one (:attr:`components`);
    where such a ledger has a ρ as well, S²/2 of that for what has a ρ alone.
    """

    PURE = "pure"
    ZCDP = "zcdp"
    MIXED = "mixed"

    @property
    def components(self) -> tuple[str, ...]:
        """What an account holds, and a budget bounds: one number, or three, each of which is kept by itself; more where a mixed ledger
        was opened for a ρ and for steps of a menu (``amounts.list_components``).
        """
        return _COMPONENTS[self]

    @property
    def sign(self) -> str:
        """What a budget bounds, in prints."""
        return ", ".join(self.components)

    def shape(self, profile: Profile) -> PriceShape:
        """Return how the price of a release with this profile depends on the total shift. Raises :class:`OtherNotion`."""
        self.require(profile)
        if self is LedgerNotion.ZCDP:
            return PriceShape.TANH if profile.notion is ProfileNotion.PURE else PriceShape.HALF_SQUARE
        return _SHAPES.get(profile.notion, PriceShape.LINEAR)

    def prices(self, profile: Profile, shifts: CostGrid, worst: Fraction, width: int) -> tuple[Price, ...]:
        """Return the price of each of ``width`` components, for records whose shift is at most ``worst``."""
        shape = self.shape(profile)
        price = ShiftPrice.make(shape, shifts, worst)
        if width == 1:
            return (price,)
        return tuple(price if place == _PLACES[shape] else Free() for place in range(width))

    def shift_term(self, profile: Profile, *, sampled: bool) -> Term:
        """Return s as a term in w and the statistics; with w = 1 where records are not ``sampled``.

        Raises :class:`OtherNotion` where the promise of the profile has no place in this notion.
        """
        self.require(profile)
        values = profile.numbers() | ({} if sampled else {WEIGHT: number(1)})
        promise = _drop_ones(substitute(profile.promise, values))
        return ("sqrt", ("mul", number(2), promise)) if profile.notion is ProfileNotion.ZCDP else promise

    def require(self, profile: Profile, width: int | None = None) -> None:
        """Refuse a profile whose promise cannot be charged in this notion, in accounts of ``width`` components where that is known.

        Raises :class:`OtherNotion`.
        """
        known = _KNOWN[self]
        if profile.notion is ProfileNotion.ZCDP and width == len(_COMPONENTS[LedgerNotion.MIXED]):
            raise OtherNotion(
                f"{profile.name[:60]!r} declares rho, and this ledger was opened without a budget for one; open a ledger in the notion "
                '"mixed" with rho=R in its budget, or in the notion "zcdp"'
            )
        if profile.notion in known:
            return
        homes = [f'"{notion.value}"' for notion, taken in _KNOWN.items() if profile.notion in taken]
        how = (
            f"open a ledger in the notion {' or '.join(homes)} for it"
            if homes
            else "declare rho or mu in its place: an order alone says nothing of the others"
        )
        raise OtherNotion(
            f'a ledger in the notion "{self.value}" charges {", ".join(item.number for item in known)}, but {profile.name[:60]!r} declares '
            f"{profile.notion.number}; {how}"
        )

    def promise(self, most: Amounts, name: str, menu: Sequence[Event] | None = None) -> Fraction | Composition:
        """Return what budgets of these amounts promise: ε in ``pure``; in ``zcdp`` the curve of an event with this ρ under ``name``, and in
        ``mixed`` that of an (ε, δ) event and Gaussian noise of multiplier 1/√μ², rounded down (docs/ledger.md, Theorem M), of an event
        with the ρ, and of as many steps of each kind of ``menu`` as are budgeted (Theorem R).
        """
        if self is LedgerNotion.PURE:
            return most.numbers[0]
        if self is LedgerNotion.ZCDP:
            return Composition(name, (make_event("zcdp", {"rho": most.numbers[0]}),))
        epsilon, square, delta, *further = most.numbers
        told = make_event("approximate", {"epsilon": epsilon, "delta": delta}) if delta else make_event("pure", {"epsilon": epsilon})
        noise = (make_event("gaussian", {"noise_multiplier": decimal_below(1 / root_up(square), 40)}),) if square else ()
        rho = (make_event("zcdp", {"rho": further[0]}),) if further and further[0] else ()
        steps = tuple(replace(step, count=int(count)) for step, count in zip(menu or (), further[1:], strict=True) if count)
        others = (*noise, *steps, *rho)
        return Composition(name, ((told, *others) if epsilon or delta or not others else others))


_COMPONENTS = {LedgerNotion.PURE: ("epsilon",), LedgerNotion.ZCDP: ("rho",), LedgerNotion.MIXED: ("epsilon", "mu2", "delta")}
_KNOWN = {
    LedgerNotion.PURE: (ProfileNotion.PURE,),
    LedgerNotion.ZCDP: (ProfileNotion.PURE, ProfileNotion.GAUSSIAN, ProfileNotion.ZCDP),
    LedgerNotion.MIXED: (ProfileNotion.PURE, ProfileNotion.GAUSSIAN, ProfileNotion.ZCDP),
}
#: Of a mixed ledger: how the price depends on the shift, and which component it is.
_SHAPES = {ProfileNotion.GAUSSIAN: PriceShape.SQUARE, ProfileNotion.ZCDP: PriceShape.HALF_SQUARE}
_PLACES = {PriceShape.LINEAR: 0, PriceShape.SQUARE: 1, PriceShape.HALF_SQUARE: 3}


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
    raise InvalidArgument(f"a ledger keeps its accounts in the notion pure, zcdp or mixed, but {shown} was found; choose one{hint}")


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
