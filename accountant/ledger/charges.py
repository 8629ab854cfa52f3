"""What a release costs: of a record, of a user and at worst, all of it decided by public things but the records themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.columns.domain import as_columns, require_range
from accountant.columns.values import Column, Columns
from accountant.compositions.events import Event, MechanismKind
from accountant.guarantees.bounds import bound_epsilon
from accountant.guarantees.derive import DerivedEpsilon, bound_without_sampling
from accountant.guarantees.gaussian import bound_mu
from accountant.guarantees.measures import Bound, CurveBound, Losses
from accountant.guarantees.mechanism_proofs import derive_mechanism
from accountant.guarantees.rules import derive_profile
from accountant.guarantees.stored import write_carried, write_rule
from accountant.guarantees.theorem import Carried, Guarantee
from accountant.ledger.amounts import MOST, Amounts, CostGrid, choose_grid
from accountant.ledger.notions import LedgerNotion, root_up
from accountant.ledger.prices import Price, PriceShape, RowCost
from accountant.ledger.steps import Rounding
from accountant.rules import make_rule
from accountant.samples.plan import SamplingPlan, plan_sample
from accountant.selection.select import Selection
from accountant.weights.fast.compiled import CompiledTerm
from profiles import Declaration, InvalidArgument, InvalidProfile, Profile, Undecided, declare, exact_text
from profiles.arrays import Floats, Integers
from profiles.files import to_declaration
from profiles.hypotheses import EXACT_REALS, OF_MECHANISMS, Hypothesis, name_declaration, name_range, name_statistics
from profiles.notions import ProfileNotion
from profiles.protection import RECORDS, Protection, Unit
from profiles.stored import profile_object
from profiles.strict_json import write_exact
from profiles.structure import largest_at_corner
from profiles.terms import number, substitute
from profiles.variables import MAX_NAME, WEIGHT
from proofs_check.admission import admit

#: More noise of these kinds is less noise, and some more that is independent of it.
_MORE_NOISE = (MechanismKind.GAUSSIAN, MechanismKind.LAPLACE)


@dataclass(frozen=True, slots=True)
class Charge:
    """The charge of one release in a ledger of ``notion``; make one with :func:`prepare_charge`.

    ``worst``: what the shift of a record of the declared ranges is at most; ``shifts``: the grid of a record's shift; ``prices``: what a
    user is charged for the total of it, by component. ``rows``: what one row costs, where all cost the same and the total counts them, in
    a ledger of mixed releases. ``plan``: how records are sampled, None where every record is used with weight 1.
    ``carried``: whom the promise protects, and what it rests on. ``clipped``: whether records were moved into the declared ranges, each by
    itself, before anything was read of them.
    """

    profile: Profile
    notion: LedgerNotion
    worst: Fraction
    shifts: CostGrid
    prices: tuple[Price, ...]
    rounding: Rounding
    plan: SamplingPlan | None
    carried: Carried
    rows: RowCost | None = None
    clipped: bool = False

    def update_hypotheses(self, discharges: Mapping[Hypothesis, str], supposes: Iterable[Hypothesis]) -> Charge:
        """Return the charge with some hypotheses discharged, each with the reason, and others added."""
        return replace(self, carried=self.carried.update_hypotheses(discharges, supposes, self.profile.name))

    def restate(self, said: Sequence[Hypothesis]) -> Charge:
        """Return the charge with ``said`` in place of the hypotheses of the same ids, such as how a statistic is read."""
        return replace(self, carried=self.carried.restate(said))

    def require(self, protection: Protection) -> None:
        """Refuse a charge that protects neither the units of a ledger nor their records, or has other neighbors.

        Raises :class:`InvalidArgument`.
        """
        stated, name = self.carried.protection, self.profile.name[:60]
        if stated.unit not in (Unit.RECORD, protection.unit):
            raise InvalidArgument(
                f"the accounts of this ledger are of {protection.unit.value}, but the guarantee of {name!r} protects {stated.unit.value}; "
                "charge one for records, or another ledger"
            )
        if stated.neighbors is not protection.neighbors:
            raise InvalidArgument(
                f"in this ledger {protection.describe()}, but in the guarantee of {name!r} {stated.describe()}; bring it to these "
                f'neighbors first, with change_neighbors(guarantee, "{protection.neighbors.value}")'
            )

    def worst_cost(self, records: int) -> Amounts:
        """Return what a user with this many records is charged at most. Raises :class:`InvalidArgument` above 2^22 nats, or a δ of 1."""
        totals = np.array([self.shifts.round_up(self.worst) * records], dtype=np.int64)
        worst = Amounts(tuple(int(price.amounts(totals)[0]) for price in self.prices))
        if max(worst.values) >= MOST:
            raise InvalidArgument("a charge of at most 2^22 nats was expected, but a larger one was found; it promises nothing")
        return worst

    def limit_records(self, declared: int | None) -> int | None:
        """Return how many records of one unit this release takes at most, of the ``declared`` number; None for any."""
        most = None if self.rows is None else self.rows.most_rows
        return declared if most is None else most

    def cost(self, totals: Integers) -> Integers:
        """Return the amounts that users are charged for their total shifts, in steps of ``shifts``: of shape (n,), or (k, n) where accounts
        have k > 1 components.

        They are at most ``MOST``, which is above all budgets: a user with more is left out silently.
        """
        if len(self.prices) == 1:
            return self.prices[0].amounts(totals)
        return np.stack([price.amounts(totals) for price in self.prices])

    def select(self, columns: Columns, first_row: int) -> Selection | None:
        """Return the numbers (q, w) of a batch of records; None where nothing is sampled."""
        return None if self.plan is None else self.plan.selector.select(columns, first_row=first_row)

    def count(self, statistics: Mapping[str, Column | Floats], size: int, first_row: int) -> tuple[Integers, Selection | None]:
        """Return the shifts of a batch of records in steps of ``shifts``, and how they are sampled.

        Raises :class:`profiles.InvalidData` for records outside of the declared ranges.
        """
        names = tuple(item.name for item in self.profile.record)
        columns = require_range(self.profile, as_columns(statistics, names), first_row)
        columns = Columns({name: column + 0.0 for name, column in columns.items()}, columns.written)
        chosen = self.select(columns, first_row)
        if chosen is None:
            return self.rounding.count(columns, size), None
        return self.rounding.count(columns, size, chosen.probabilities, chosen.weights), chosen

    @property
    def _parts(self) -> dict[str, Fraction]:
        return {} if self.rows is None else self.rows.parts(len(self.prices))

    def describe(self) -> dict[str, Any]:
        """Return what the log says of it: all of it public."""
        return {
            "profile": None if self.rows is not None else profile_object(self.profile),
            **({} if self.rows is None else {"rows": {name: write_exact(value) for name, value in self._parts.items()}}),
            "sampling": None if self.plan is None else write_rule(self.plan.rule),
            "worst": write_exact(self.worst),
            **({"clipped": True} if self.clipped else {}),
            **write_carried(self.carried),
        }


def prepare_charge(reference: object, notion: LedgerNotion, menu: Sequence[Event] | None = None, **sampling: Any) -> Charge:
    """Return what a release of ``reference`` is charged: a profile (also by its file or ``package.module:object``), a mechanism, or a
    guarantee of what will be run, whose number every record is charged; one that was prepared is returned as it is.

    ``menu``: the steps that a mixed ledger takes with a ρ, None where it has neither. ``sampling``: the options of
    :func:`accountant.plan_sample` (rule, q, constants, target_epsilon); without any, the profile file's
    sampling rule, or else every record with weight 1. With sampling, a record is charged ψ whether or not it is drawn.

    Raises :class:`profiles.OtherNotion` for a promise that the ledger has no place for, :class:`Undecided` where no worst case is found.
    """
    if isinstance(reference, Charge):
        return reference
    if isinstance(reference, Guarantee):
        return _charge_guarantee(reference, notion, menu)
    width = _count_components(notion, menu)
    if isinstance(reference, SamplingPlan):
        plan: SamplingPlan | None = reference
        profile = reference.profile
    else:
        declaration = to_declaration(reference) if isinstance(reference, (str, Profile, Declaration)) else _declare(reference)
        profile = declaration.profile
        notion.require(profile, width)
        asked = {name: value for name, value in sampling.items() if value}
        _refuse_delta(pure=profile.notion is ProfileNotion.PURE or not (asked or declaration.sampling))
        plan = plan_sample(reference, **asked) if asked or declaration.sampling is not None else None
    notion.require(profile, width)
    if profile.free_parameters:
        raise InvalidProfile(
            f"a charge needs numbers for all parameters, but {profile.free_parameters[0].name} of {profile.name[:60]!r} has none; give it "
            "one"
        )
    admit(profile)
    if plan is not None:
        _refuse_delta(pure=isinstance(plan.derived, DerivedEpsilon))
        worst, carried = plan.epsilon, Carried.of(plan.guarantee())
    else:
        worst, carried = _bound_shift(profile), _suppose(declaration)
    return _make(profile, notion, width, worst, plan, carried)


def _count_components(notion: LedgerNotion, menu: Sequence[Event] | None) -> int:
    """Return how many components an account has: those of the notion, and with a menu a ρ and the count of each of its steps."""
    return len(notion.components) + (0 if menu is None else 1 + len(menu))


def _make(profile: Profile, notion: LedgerNotion, width: int, worst: Fraction, plan: SamplingPlan | None, carried: Carried) -> Charge:
    shifts = choose_grid(worst, 32 if notion.shape(profile) is PriceShape.LINEAR else 31)  # squares have 62 bits
    return Charge(
        profile, notion, worst, shifts, notion.prices(profile, shifts, worst, width), _count_shifts(profile, notion, worst, shifts, plan),
        plan, carried,
    )  # fmt: skip


def _count_shifts(profile: Profile, notion: LedgerNotion, worst: Fraction, shifts: CostGrid, plan: SamplingPlan | None) -> Rounding:
    term = notion.shift_term(profile, sampled=plan is not None)
    return Rounding(term, CompiledTerm(term), shifts.shift, up=True, most=shifts.round_up(worst))


def _charge_guarantee(guarantee: Guarantee, notion: LedgerNotion, menu: Sequence[Event] | None) -> Charge:
    """Return the charge of something that has a guarantee for each record, or each user: that number, or its shift, for every record.

    A guarantee for users is charged as often as a user has rows, which may be more than is needed, and is never less.
    """
    name, carried = guarantee.subject[:MAX_NAME], Carried.of(guarantee)
    width = _count_components(notion, menu)
    if notion is LedgerNotion.MIXED:
        return _charge_rows(name, _find_spending(guarantee, menu), width, carried)
    known = _find_epsilon(guarantee)
    if known is not None:
        profile = declare(name, notion=ProfileNotion.PURE, ignores_weights=True, epsilon=exact_text(known))
        return _make(profile, notion, width, known, None, carried)
    squared = _find_square(guarantee, notion)
    profile = declare(name, notion=ProfileNotion.ZCDP, ignores_weights=True, rho=exact_text(squared / 2))
    return _make(profile, notion, width, root_up(squared), None, carried)


def _charge_rows(name: str, rows: RowCost, width: int, carried: Carried) -> Charge:
    """Return the charge of rows that all cost the same in a mixed ledger: the shift of each is one step, so that totals count them."""
    notion, shifts = LedgerNotion.MIXED, CostGrid(0)
    profile = declare(name, notion=ProfileNotion.PURE, ignores_weights=True, epsilon=exact_text(shifts.step))
    return Charge(
        profile, notion, shifts.step, shifts, rows.prices(width), _count_shifts(profile, notion, shifts.step, shifts, None), None, carried,
        rows,
    )  # fmt: skip


def _find_epsilon(guarantee: Guarantee) -> Fraction | None:
    """Return the ε of a guarantee without a δ that has one in both directions."""
    bound = guarantee.bound
    return bound.epsilon if isinstance(bound, Losses) and not bound.delta else None


def _find_square(guarantee: Guarantee, notion: LedgerNotion) -> Fraction:
    """Return 2ρ of a guarantee for a zCDP ledger. Raises :class:`InvalidArgument`."""
    bound = guarantee.bound
    if notion is LedgerNotion.ZCDP and isinstance(bound, CurveBound):
        squares = [_square_of_event(event) for event in bound.composition.events]
        known = [square for square in squares if square is not None]
        if len(known) == len(squares):
            return sum(known, Fraction(0))
    raise InvalidArgument(f"{guarantee.subject[:60]!r} was to be charged, but {_say_refusal(bound, notion)}")


def _find_spending(guarantee: Guarantee, menu: Sequence[Event] | None) -> RowCost:
    """Return ε, μ² and δ of a guarantee for a mixed ledger, and its ρ and steps of the ``menu``. Raises :class:`InvalidArgument`."""
    bound = guarantee.bound
    if isinstance(bound, Losses) and bound.epsilon is not None:
        return RowCost(epsilon=bound.epsilon, delta=bound.delta)
    if isinstance(bound, CurveBound):
        costs = [_spend_on(event, menu) for event in bound.composition.events]
        if None not in costs:
            return sum((item for item in costs if item is not None), RowCost())
    raise InvalidArgument(f"{guarantee.subject[:60]!r} was to be charged, but {_say_refusal(bound, LedgerNotion.MIXED, menu)}")


def _say_refusal(bound: Bound, notion: LedgerNotion, menu: Sequence[Event] | None = None) -> str:
    """Return why a guarantee without an ε in both directions, and without a ρ, cannot be charged, and what can."""
    if isinstance(bound, Losses) and bound.epsilon is None:
        return (
            "it has no finite loss where a unit comes, and a ledger promises both directions (docs/ledger.md, L6); charge an algorithm "
            "that draws a sample, or has a finite loss in either direction"
        )
    sampled = isinstance(bound, CurveBound) and any(event.sampling_probability != 1 for event in bound.composition.events)
    if isinstance(bound, CurveBound) and notion is LedgerNotion.MIXED and not sampled:
        return (
            "one of its events is neither pure, nor Gaussian noise, nor an (epsilon, delta): a rho alone is not a Gaussian curve; "
            "charge it "
            "in a ledger that was opened with a budget for rho (zcdp, or mixed with rho=R), or take a point of the curve, which has an "
            "(epsilon, delta)"
        )
    if sampled and menu:
        return f"its noise on samples is none of the steps of this ledger's menu, nor at least as private as one of them: {_say_menu(menu)}"
    if sampled:
        return (
            "noise on Poisson samples has neither an epsilon nor a useful rho for each record; take every record in every step (a rate "
            "of 1) in a ledger in the notion zcdp or mixed, a pure mechanism, or in a mixed one a point of the curve, which has a delta, "
            "or one with a menu of such steps (--menu)"
        )
    if isinstance(bound, CurveBound) and notion is LedgerNotion.PURE:
        return (
            "it has no epsilon without a delta, and a pure ledger has no room for one (docs/ledger.md, L3); keep a ledger in the "
            "notion zcdp or mixed for it, which charges the rho or the mu of normal noise"
        )
    if isinstance(bound, (Losses, CurveBound)):
        return (
            "it has an (epsilon, delta), which only a ledger in the notion mixed has room for (docs/ledger.md, L3 and M); charge normal "
            "noise by its rho in a ledger in the notion zcdp, or a pure mechanism"
        )
    return "it has a profile as its bound; take the worst case over records, or charge the profile itself"


def _say_menu(menu: Sequence[Event]) -> str:
    return "; ".join(replace(step, count=1).describe() for step in menu)


def _find_step(event: Event, menu: Sequence[Event]) -> int | None:
    """Return which step of a menu is the event, or else one that dominates it: of no lower rate, with no more noise.

    Batches that say how they are drawn are in no menu: a step of a Poisson sample does not dominate one of a fixed size.
    """
    if event.batches is not None:
        return None
    same = [place for place, step in enumerate(menu) if replace(step, count=event.count) == event]
    wider = [
        place
        for place, step in enumerate(menu)
        if step.mechanism is event.mechanism
        and event.sampling_probability <= step.sampling_probability
        and (event.parameters == step.parameters or (event.mechanism in _MORE_NOISE and event.parameters[0][1] >= step.parameters[0][1]))
    ]
    return next(iter((*same, *wider)), None)


def _spend_on(event: Event, menu: Sequence[Event] | None) -> RowCost | None:
    """Return what an event costs in a mixed ledger, None where the kernel's pair for it is none of Theorem M, and of Theorem R where the
    ledger has a ``menu``.
    """
    if event.sampling_probability != 1:
        step = None if menu is None else _find_step(event, menu)
        if menu is None or step is None:
            return None
        return RowCost(steps=tuple(int(place == step) for place in range(len(menu)))).times(event.count)
    match event.mechanism:
        case MechanismKind.GAUSSIAN:
            one = RowCost(square=event.square or Fraction(0))
        case MechanismKind.PURE | MechanismKind.RANDOMIZED_RESPONSE:
            one = RowCost(epsilon=event["epsilon"])
        case MechanismKind.LAPLACE | MechanismKind.DISCRETE_LAPLACE:
            one = RowCost(epsilon=1 / event["scale"])
        case MechanismKind.APPROXIMATE:
            one = RowCost(epsilon=event["epsilon"], delta=event["delta"])
        case MechanismKind.ZCDP if menu is not None:
            one = RowCost(rho=event["rho"])
        case MechanismKind.DISCRETE_GAUSSIAN if menu is not None:
            one = RowCost(rho=1 / (2 * event["noise_multiplier"] ** 2))
        case _:
            return None
    return one.times(event.count)


def _square_of_event(event: Event) -> Fraction | None:
    """Return 2ρ of an event, None where it has none that is useful."""
    if event.sampling_probability != 1:
        return None
    match event.mechanism:
        case MechanismKind.GAUSSIAN:
            return event.count * (event.square or Fraction(0))
        case MechanismKind.DISCRETE_GAUSSIAN:
            return event.count / event["noise_multiplier"] ** 2
        case MechanismKind.ZCDP:
            return 2 * event["rho"] * event.count
        case MechanismKind.PURE | MechanismKind.RANDOMIZED_RESPONSE:
            return 2 * PriceShape.TANH.bound(event["epsilon"]) * event.count
        case MechanismKind.LAPLACE | MechanismKind.DISCRETE_LAPLACE:
            return 2 * PriceShape.TANH.bound(1 / event["scale"]) * event.count
    return None


def _refuse_delta(*, pure: bool) -> None:
    """Refuse a sample whose promise is no ε. Raises :class:`InvalidArgument`."""
    if not pure:
        raise InvalidArgument(
            "a sample was to be charged whose promise is an (epsilon, delta), and no ledger adds those up; charge the mechanism without "
            "sampling, or a pure one"
        )


def _declare(mechanism: object) -> Declaration:
    profile = getattr(mechanism, "profile", None)
    if not isinstance(profile, Profile):
        raise InvalidArgument(f"a profile or a mechanism with one was expected, but {type(mechanism).__name__} was found; give one")
    return Declaration(profile, hypotheses=tuple(getattr(mechanism, "hypotheses", ())), mechanism=mechanism)


def _bound_shift(profile: Profile) -> Fraction:
    """Return an upper bound of the shift of records that are used with weight 1: the supremum itself where the promise is a rational of the
    profile, affine in each statistic; else what is proved of it by a search, which lies a little above.
    """
    proved = _prove_shift(profile)
    promise = substitute(profile.promise, profile.numbers() | {WEIGHT: number(1)})
    exact = largest_at_corner(promise, {item.name: (item.lo, item.hi) for item in profile.record})
    if exact is None or exact < 0:
        return proved
    return min(proved, exact if profile.notion is not ProfileNotion.ZCDP else root_up(2 * exact))


def _prove_shift(profile: Profile) -> Fraction:
    """Return an upper bound of the same that the search proves. Raises :class:`Undecided`."""
    if profile.notion is ProfileNotion.GAUSSIAN:
        return bound_mu(profile).upper
    if profile.notion is ProfileNotion.PURE:
        derived = bound_without_sampling(profile)
        if derived is None:
            raise Undecided(
                f"the worst cost of {profile.name[:60]!r} was needed, but no bound of epsilon(1, x) was found; narrow the ranges without "
                "looking at the data, or write epsilon more simply"
            )
        return derived.upper
    stand_in = profile.stand_in()
    return root_up(2 * bound_epsilon(stand_in, make_rule("uniform", stand_in, {"rate": 1})).upper)


def _suppose(declaration: Declaration) -> Carried:
    """Return what the promise of a mechanism on records with weight 1 rests on."""
    profile = declaration.profile
    own = (name_range(profile), name_statistics(profile)) if profile.record else ()
    given = (EXACT_REALS, *declaration.hypotheses)
    if declaration.mechanism is not None and profile.notion is not ProfileNotion.ZCDP:
        carried = Carried.of(derive_mechanism(declaration.mechanism))
    elif profile.notion is ProfileNotion.PURE:
        carried = Carried.of(derive_profile(profile, tuple(dict.fromkeys(given))))
    else:
        carried = Carried(RECORDS, (name_declaration(profile), *OF_MECHANISMS, *RECORDS.unit.hypotheses, *given))
    return carried.update_hypotheses({}, own, profile.name)
