"""One run of a chosen method: from access to the records to k centres, with everything that was released on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accountant.applications.kmeans.access import DataAccess
from accountant.applications.kmeans.method.plan import LloydPlan, MethodPlan
from accountant.applications.kmeans.method.rounds import run_lloyd
from accountant.applications.kmeans.method.shrinking import Totals
from accountant.applications.kmeans.method.tree import run_tree
from profiles.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class MethodRun:
    """What a method returns: ``centres`` of shape (k, d) in centred coordinates, ``found`` of them about cells, the others at the mean.

    ``rounds``: the noisy totals of leaves or cells of each round, in their order; all of it was released.
    """

    plan: MethodPlan
    centres: Floats
    found: int
    rounds: tuple[Totals, ...]


def run_method(access: DataAccess, plan: MethodPlan, rng: np.random.Generator) -> MethodRun:
    """Run ``plan`` on the records behind ``access``, spending what is left of the budget.

    Every cell and every centre is a function of released numbers and of ``rng``, which draws directions and starts: what it draws may be
    public, so that it must not be the generator of the noise. Raises what ``access`` raises.
    """
    centres, rounds = run_lloyd(access, plan, rng) if isinstance(plan, LloydPlan) else run_tree(access, plan, rng)
    whole = np.zeros((plan.clusters, access.statistics.dimension))
    whole[: len(centres)] = centres
    return MethodRun(plan, whole, len(centres), tuple(rounds))
