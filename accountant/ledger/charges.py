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
from accountant.ledger.amounts import MOST, CostGrid, choose_grid
from accountant.ledger.notions import LedgerNotion, root_up
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
from profiles.variables import MAX_NAME
from proofs_check.admission import admit


@dataclass(frozen=True, slots=True)
class Charge:
    """The charge of one release in a ledger of ``notion``; make one with :func:`prepare_charge`.

    ``worst``: what the shift of a record of the declared ranges is at most, in nats; ``shifts`` and ``costs`` are the grids of a record's
    shift and of a user's cost. ``plan``: how records are sampled, None where every record is used with weight 1.
    ``carried``: whom the promise protects, and what it rests on.
    """

    profile: Profile
    notion: LedgerNotion
    worst: Fraction
    shifts: CostGrid
    costs: CostGrid
    rounding: Rounding
    plan: SamplingPlan | None
    carried: Carried

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
        found, name = self.carried.protection, self.profile.name[:60]
        if found.unit not in (Unit.RECORD, protection.unit):
            raise InvalidArgument(
                f"the accounts of this ledger are of {protection.unit.value}, but the guarantee of {name!r} protects {found.unit.value}; "
                "charge one for records, or another ledger"
            )
        if found.neighbors is not protection.neighbors:
            raise InvalidArgument(
                f"in this ledger {protection.describe()}, but in the guarantee of {name!r} {found.describe()}; bring it to these neighbors "
                f'first, with change_neighbors(guarantee, "{protection.neighbors.value}")'
            )

    def worst_cost(self, records: int) -> int:
        """Return what a user with this many records is charged at most. Raises :class:`InvalidArgument` above 2^22 nats."""
        steps = np.array([self.shifts.round_up(self.worst) * records], dtype=np.int64)
        found = int(self.cost(steps)[0])
        if found >= MOST:
            raise InvalidArgument("a charge of at most 2^22 nats was expected, but a larger one was found; it promises nothing")
        return found

    def cost(self, totals: Integers) -> Integers:
        """Return the amounts that users are charged for their total shifts, in steps of ``shifts``.

        They are at most ``MOST``, which is above all budgets: a user with more is left out, and nobody is told.
        """
        return self.costs.amounts(self.notion.charge_steps(totals, self.shifts, self.costs))

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

    def describe(self) -> dict[str, Any]:
        """Return what the log says of it: all of it public."""
        return {
            "profile": profile_object(self.profile),
            "sampling": None if self.plan is None else write_rule(self.plan.rule),
            "worst": write_exact(self.worst),
            **write_carried(self.carried),
        }


def prepare_charge(reference: object, notion: LedgerNotion, **sampling: Any) -> Charge:
    """Return what a release of ``reference`` is charged: a profile (also by its file or ``package.module:object``), a mechanism, or a
    guarantee of what will be run, whose number every record is charged; one that was prepared is returned as it is.

    ``sampling``: the options of :func:`accountant.plan_sample` (rule, q, constants, target_epsilon); without any, the profile file's
    sampling rule, or else every record with weight 1. With sampling, a record is charged ψ whether or not it is drawn.

    Raises :class:`profiles.OtherNotion` for a promise that the ledger has no place for, :class:`Undecided` where no worst case is found.
    """
    if isinstance(reference, Charge):
        return reference
    if isinstance(reference, Guarantee):
        return _charge_guarantee(reference, notion)
    if isinstance(reference, SamplingPlan):
        plan: SamplingPlan | None = reference
        profile = reference.profile
    else:
        declaration = to_declaration(reference) if isinstance(reference, (str, Profile, Declaration)) else _declare(reference)
        profile = declaration.profile
        notion.require(profile)
        asked = {name: value for name, value in sampling.items() if value}
        _refuse_delta(pure=profile.notion is ProfileNotion.PURE or not (asked or declaration.sampling))
        plan = plan_sample(reference, **asked) if asked or declaration.sampling is not None else None
    notion.require(profile)
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
    return _make(profile, notion, worst, plan, carried)


def _make(profile: Profile, notion: LedgerNotion, worst: Fraction, plan: SamplingPlan | None, carried: Carried) -> Charge:
    shifts = choose_grid(worst, notion.grid_bits)
    costs = shifts if notion is LedgerNotion.PURE else choose_grid(notion.charge(shifts.round_up(worst) * shifts.step))
    term = notion.shift_term(profile, sampled=plan is not None)
    rounding = Rounding(term, CompiledTerm(term), shifts.shift, up=True, most=shifts.round_up(worst))
    return Charge(profile, notion, worst, shifts, costs, rounding, plan, carried)


def _charge_guarantee(guarantee: Guarantee, notion: LedgerNotion) -> Charge:
    """Return the charge of something that has a guarantee for each record, or each user: that number, or its shift, for every record.

    A guarantee for users is charged as often as a user has rows, which may be more than is needed, and is never less.
    """
    squared = _find_square(guarantee, notion)
    promise: Mapping[str, Any] = {"epsilon": exact_text(squared)} if notion is LedgerNotion.PURE else {"rho": exact_text(squared / 2)}
    kind = ProfileNotion.PURE if notion is LedgerNotion.PURE else ProfileNotion.ZCDP
    profile = declare(guarantee.subject[:MAX_NAME], notion=kind, ignores_weights=True, **promise)
    return _make(profile, notion, squared if notion is LedgerNotion.PURE else root_up(squared), None, Carried.of(guarantee))


def _find_square(guarantee: Guarantee, notion: LedgerNotion) -> Fraction:
    """Return ε of a guarantee for a pure ledger, and the square of its shift for a zCDP one. Raises :class:`InvalidArgument`."""
    bound = guarantee.bound
    known = bound.epsilon if isinstance(bound, Losses) and not bound.delta else None
    if known is not None:
        return known if notion is LedgerNotion.PURE else known * known
    if notion is LedgerNotion.ZCDP and isinstance(bound, CurveBound):
        squares = [_square_of_event(event) for event in bound.composition.events]
        found = [square for square in squares if square is not None]
        if len(found) == len(squares):
            return sum(found, Fraction(0))
    raise InvalidArgument(f"{guarantee.subject[:60]!r} was to be charged, but {_say_refusal(bound, notion)}")


def _say_refusal(bound: Bound, notion: LedgerNotion) -> str:
    """Return why a guarantee without an ε in both directions, and without a ρ, cannot be charged, and what can."""
    if isinstance(bound, Losses) and bound.epsilon is None:
        return (
            "it has no finite loss where a unit comes, and a ledger promises both directions (docs/ledger.md, L6); charge an algorithm "
            "that draws a sample, or has a finite loss in either direction"
        )
    sampled = isinstance(bound, CurveBound) and any(event.sampling_probability != 1 for event in bound.composition.events)
    if sampled:
        return (
            "noise on Poisson samples has neither an epsilon nor a useful rho for each record; take every record in every step (a rate "
            "of 1) in a ledger in the notion zcdp, or a pure mechanism"
        )
    if isinstance(bound, CurveBound) and notion is LedgerNotion.PURE:
        return (
            "it has no epsilon without a delta, and no ledger adds up both for each record (docs/ledger.md, L3); keep a ledger in the "
            "notion zcdp for it, which charges the rho of normal noise"
        )
    if isinstance(bound, (Losses, CurveBound)):
        return (
            "it has an (epsilon, delta), and no ledger adds up both for each record (docs/ledger.md, L3); charge normal noise by its rho "
            "in a ledger in the notion zcdp, or a pure mechanism"
        )
    return "it has a profile as its bound; take the worst case over records, or charge the profile itself"


def _square_of_event(event: Event) -> Fraction | None:
    """Return 2ρ of an event, None where it has none that is useful."""
    if event.sampling_probability != 1:
        return None
    match event.mechanism:
        case MechanismKind.GAUSSIAN:
            return event.count / event["noise_multiplier"] ** 2
        case MechanismKind.ZCDP:
            return 2 * event["rho"] * event.count
        case MechanismKind.PURE:
            return event["epsilon"] ** 2 * event.count
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
    """Return an upper bound of the shift of records that are used with weight 1."""
    if profile.notion is ProfileNotion.GAUSSIAN:
        return bound_mu(profile).upper
    if profile.notion is ProfileNotion.PURE:
        found = bound_without_sampling(profile)
        if found is None:
            raise Undecided(
                f"the worst cost of {profile.name[:60]!r} was needed, but no bound of epsilon(1, x) was found; narrow the ranges without "
                "looking at the data, or write epsilon more simply"
            )
        return found.upper
    stand_in = profile.stand_in()
    return root_up(2 * bound_epsilon(stand_in, make_rule("uniform", stand_in, {"rate": 1})).upper)


def _suppose(declaration: Declaration) -> Carried:
    """Return what the promise of a mechanism on records with weight 1 rests on."""
    profile = declaration.profile
    own = (name_range(profile), name_statistics(profile)) if profile.record else ()
    given = (EXACT_REALS, *declaration.hypotheses)
    if declaration.mechanism is not None and profile.notion is not ProfileNotion.ZCDP:
        found = Carried.of(derive_mechanism(declaration.mechanism))
    elif profile.notion is ProfileNotion.PURE:
        found = Carried.of(derive_profile(profile, tuple(dict.fromkeys(given))))
    else:
        found = Carried(RECORDS, (name_declaration(profile), *OF_MECHANISMS, *RECORDS.unit.hypotheses, *given))
    return found.update_hypotheses({}, own, profile.name)
