"""A release as it is planned: what is asked, how the budget is divided, how much noise each answer has, and the guarantee of all of it.

A plan needs no data and spends nothing. It is a function of public arguments, and decides the law of what is released on every table.

Statement (docs/release.md, Theorems 1 and 2). Each part of a plan, in all cells together, is dominated by one event; parts are run one
after the other; so the release is dominated by the composition of the events, whose ε is at most the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypedDict

from accountant.applications.answers.laws import PartNoise, require_moderate
from accountant.applications.answers.parts import Groups, Needs, PartKind, ReleasePart, list_parts, read_groups, share_budget
from accountant.applications.answers.requests import MOST_CELLS, Request, check_requests
from accountant.applications.answers.where import Where, read_where
from accountant.applications.budget.spending import MOST_EPSILON
from accountant.compositions.events import MOST_EVENTS, Composition, make_event
from accountant.curves import DeclaredEvents, account
from accountant.guarantees import (
    CurveBound,
    Guarantee,
    Losses,
    Run,
    assume,
    conclude_run,
    declare_events,
    point_of_curve,
    update_hypotheses,
)
from accountant.guarantees.rules import GIVEN_ROW
from profiles import InvalidArgument, InvalidTarget
from profiles.hypotheses import DECLARED_EVENTS, EXACT_REALS, SENSITIVITY_ONE
from profiles.mechanisms.interface import EXACT_MODE
from profiles.numbers import to_number
from profiles.protection import RECORDS
from profiles.variables import MAX_NAME

PAGE = "docs/release.md"
PURE, GAUSSIAN = "pure", "gaussian"
_NAMED = 3  # answers that the name of a release lists
_PROVED = {
    DECLARED_EVENTS.id: f"what a release runs is what its plan says, and nothing else: {PAGE}, Theorem 1",
    SENSITIVITY_ONE.id: f"each row is moved into the clips, and counted in one cell at most, by itself: {PAGE}, Theorem 1",
}
_ROUNDED = f"sums are exact sums of truncated numbers, and what leaves is the correctly rounded noisy value: {PAGE}, Theorem 1"


class PlanOptions(TypedDict, total=False):
    """What a release may be asked for besides: :func:`plan_release` says what each means."""

    delta: object
    where: object
    by: object


@dataclass(frozen=True)
class ReleasePlan:
    """What is released, of which parts, and at which cost each. Made by :func:`plan_release`.

    ``noises``: the parts in the order in which they are drawn; their costs add up to ``epsilon``, or to μ² of (``epsilon``, ``delta``).
    ``where``: which rows take part, None for all. ``groups``: the declared ones; one that has no name where there are none.
    """

    needs: tuple[Needs, ...]
    noises: tuple[PartNoise, ...]
    epsilon: Fraction
    delta: Fraction | None
    where: Where | None
    groups: Groups

    @property
    def requests(self) -> tuple[Request, ...]:
        return tuple(item.request for item in self.needs)

    @property
    def notion(self) -> str:
        """Pure, or gaussian."""
        return PURE if self.delta is None else GAUSSIAN

    @property
    def name(self) -> str:
        """What the guarantee is about."""
        listed = [item.name for item in self.requests]
        more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
        return f"release of {', '.join(listed[:_NAMED])}{more}"[:MAX_NAME]

    @cached_property
    def composition(self) -> Composition:
        """The events: one for each part, whatever the number of its cells is."""
        return Composition(self.name, tuple(noise.event for noise in self.noises))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are read."""
        read = [noise.part.column for noise in self.noises if noise.part.column is not None]
        return tuple(dict.fromkeys([*(() if self.where is None else self.where.columns), *self.groups.columns, *read]))

    def count_answers(self) -> int:
        """Return how many numbers are released."""
        return self.groups.count * sum(item.parts[0].cells for item in self.needs)

    def noise_of(self, part: ReleasePart) -> PartNoise:
        """Return the noise of a part of this plan, with its cost."""
        return next(noise for noise in self.noises if noise.part == part)

    def promise(self, run: Run) -> tuple[Guarantee, Guarantee]:
        """Return the guarantee of every run of this plan, and the privacy curve that it is a point of. ``run``: its random numbers.

        Raises :class:`InvalidTarget` where the bound is larger than what was asked for.
        """
        curve = self._conclude(self.composition, run)
        point = point_of_curve(curve, at_delta=0) if self.delta is None else point_of_curve(curve, at_epsilon=self.epsilon)
        bound = point.bound
        within = isinstance(bound, Losses) and bound.add is not None and bound.upper <= self.epsilon and bound.delta <= (self.delta or 0)
        if not within or not isinstance(curve.bound, CurveBound):
            raise InvalidTarget("a release was planned whose certified bound is larger than what was asked for; please report it")
        return point, curve

    def promise_rho(self, run: Run) -> Guarantee:
        """Return the curve of every run of this plan for a ledger in zcdp: with a choice as what has a bounded range, ρ = ε²/8, which is
        less than the ε tanh(ε/2) of a pure mechanism (docs/ledger.md, Lemma 1d).
        """
        events = (noise.event if noise.range is None else make_event("zcdp", {"rho": noise.range**2 / 8}) for noise in self.noises)
        return self._conclude(Composition(self.name, tuple(events)), run)

    def _conclude(self, composition: Composition, run: Run) -> Guarantee:
        """Return the curve of a run as these events."""
        promised = declare_events(composition, (), unit=RECORDS.unit, neighbors=RECORDS.neighbors)
        closes = {item: _PROVED[item.id] for item in promised.hypotheses if item.id in _PROVED}
        rounded = any(not noise.is_discrete for noise in self.noises)
        promised = update_hypotheses(promised, {**closes, EXACT_REALS: _ROUNDED}, EXACT_MODE if rounded else ())
        return conclude_run(assume(promised, (GIVEN_ROW,)), run)

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of the composition, for ``pdp check``: the kernel computes the bound from the events alone."""
        declared = DeclaredEvents(self.composition, RECORDS.unit, RECORDS.neighbors, ())
        return (account(declared, delta=0) if self.delta is None else account(declared, epsilon=self.epsilon)).certificate()

    @property
    def arguments(self) -> tuple[object, ...]:
        """Everything public that decides the law of the release; a ledger compares it."""
        where = None if self.where is None else self.where.text
        shared = [(noise.part, noise.cost) for noise in self.noises]
        return (
            "pdp release",
            repr(self.requests),
            repr(shared),
            str(self.epsilon),
            str(self.delta),
            where,
            self.groups.columns,
            self.groups.categories,
        )


def plan_release(
    requests: object,
    epsilon: object,
    *,
    delta: object = None,
    where: object = None,
    by: object = None,
    integers: Iterable[str] = (),
) -> ReleasePlan:
    """Return how a release is made: for ``epsilon`` in nats, or, with normal noise, for (``epsilon``, ``delta``).

    ``where``: a filter of single rows, as text. ``by``: one or several :class:`By`, groups that are declared. ``integers``: columns
    whose type says that their numbers are whole. Raises :class:`InvalidArgument`, also for a cost for which no noise is made.

    >>> from accountant.applications.answers import Count, Sum
    >>> plan = plan_release([Count(), Sum("income", (0, 100))], 1)
    >>> [str(noise.cost) for noise in plan.noises], plan.composition.events[0].describe()
    (['1/2', '1/2'], 'discrete-laplace (scale 2), once')
    """
    whole = to_number(epsilon, "epsilon", f"(0, {MOST_EPSILON}]", "give another number")
    asked = check_requests(requests)
    needs = list_parts(asked, frozenset(integers))
    normal = delta is not None
    shares, groups = share_budget(needs, normal=normal), read_groups(by)
    if normal and any(part.kind is PartKind.CHOICE for part in shares):
        raise InvalidArgument("a quantile is chosen under pure epsilon; release it without --delta, apart from the others")
    if groups.count * sum(part.cells for part in shares) > 2 * MOST_CELLS:
        raise InvalidArgument(f"{groups.count} groups of all these numbers are more than {2 * MOST_CELLS} in all; declare fewer")
    points = sum(part.grid.size for part in shares if part.grid is not None)
    if groups.count * points > 2 * MOST_CELLS:
        raise InvalidArgument(f"{groups.count} groups with {points} points of grids are too many to choose from; widen the steps")
    budget, exact_delta = whole, None
    if delta is not None:
        from accountant.applications.budget.normal import largest_mu  # noqa: PLC0415 - loads curves, which pure noise does not need
        from accountant.weights.gaussian.target import to_target_delta  # noqa: PLC0415

        exact_delta = to_target_delta(delta)
        budget = largest_mu(whole, exact_delta) ** 2
    unit = budget / sum(shares.values())
    noises = tuple(PartNoise(part, require_moderate(share * unit), normal) for part, share in shares.items())
    if len({noise.event for noise in noises}) > MOST_EVENTS:
        raise InvalidArgument(
            f"at most {MOST_EVENTS} different costs are accounted for; give more answers the same share, or release twice"
        )
    return ReleasePlan(needs, noises, whole, exact_delta, None if where is None else read_where(where), groups)
