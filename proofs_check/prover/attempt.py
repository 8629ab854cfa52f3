"""A goal under attack, as the tactics see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sympy

from profiles import terms
from profiles.variables import Variable
from proofs_check.enclosures import Enclosure
from proofs_check.prover.effort import memory, remembered
from proofs_check.prover.explore import Exploration, GoalStatus, explore, violating_point
from proofs_check.prover.goals import Goal
from proofs_check.prover.points import candidates
from proofs_check.results import Tree

#: Depth of the search at its root; tactics that recurse lower it.
MAX_DEPTH = 4


#: Boxes and points for a goal that a search started from, and for one that a tactic made.
EFFORT, LITTLE_EFFORT = (400, 1500), (100, 300)


def _explored(goal: Goal, budget: int, points: int) -> Exploration:
    """Return what is found with so many boxes and points: what less effort has settled is not looked at again."""
    little = memory("explorations").get((goal, *LITTLE_EFFORT))
    if little is not None and little.status in (GoalStatus.HOLDS, GoalStatus.VIOLATED):
        settled: Exploration = little
        return settled
    return remembered("explorations", (goal, budget, points), lambda: explore(goal, budget=budget, points=points))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A goal, how deep the search may still go, and the search itself for goals that a tactic reduces this one to."""

    goal: Goal
    depth: int
    search: Callable[[Goal, int], Tree | None]

    @property
    def exploration(self) -> Exploration:
        """What branch and bound in ball arithmetic finds out about the goal."""
        return _explored(self.goal, *(EFFORT if self.depth > 1 else LITTLE_EFFORT))

    @property
    def plausible(self) -> bool:
        """Whether no violating point was found."""
        return self.exploration.status is not GoalStatus.VIOLATED

    @property
    def used(self) -> tuple[Variable, ...]:
        names = {symbol.name for symbol in self.goal.expression.free_symbols}
        return tuple(variable for variable in self.goal.box if variable.name in names)

    def prove(
        self, expression: sympy.Expr, *, strict: bool | None = None, box: tuple[Variable, ...] | None = None, cost: int = 1
    ) -> Tree | None:
        """Prove another expression ≥ 0 (strictly as this goal, if not said otherwise) with what depth is left after ``cost``."""
        if self.depth < cost:
            return None
        whole = self.goal.box if box is None else box
        return self.search(Goal(expression, whole, self.goal.strict if strict is None else strict), self.depth - cost)


def fresh_name(goal: Goal) -> str:
    """Return a name that no variable of the goal has."""
    return terms.fresh_name("y", (variable.name for variable in goal.box))


#: A tactic yields trees that may prove the goal; each is put to the kernel's rules.
Tactic = Callable[[Attempt], Iterator[Tree]]


def looks_true(goal: Goal) -> bool:
    """Tell whether no simple point violates a goal (quick, and no proof of anything)."""
    return remembered("looks", goal, lambda: violating_point(Enclosure(goal.term), candidates(goal.box, 300), strict=goal.strict) is None)
