"""One run of a method: from access to the records to k centres, with the choices that were made and what was released on the way."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction

import numpy as np

from accountant.applications.budget.protocols import DataAccess
from accountant.applications.kmeans.method.plan import LloydPlan, MethodPlan, choose_method, measure_signal
from accountant.applications.kmeans.method.rounds import run_lloyd
from accountant.applications.kmeans.method.tree import run_tree
from accountant.applications.kmeans.protocols import Clustering
from profiles import InvalidArgument

#: Below this Q the centres of clusters promise nothing.
_LEAST_SIGNAL = 4.0
#: Less than this part of the budget is what rounding left over.
_NOTHING = Fraction(1, 10**12)


def find_centres(access: DataAccess, clusters: int, rng: np.random.Generator) -> Clustering:
    """Choose a method for the records behind ``access`` and run it: the method of :class:`accountant.applications.kmeans.protocols.Method`.

    The choice looks at released and public numbers alone. Where the mean got all there was, all centres are at the mean. Raises what
    ``access`` raises.
    """
    statistics = access.statistics
    signal = measure_signal(statistics, clusters=clusters, radius=access.radius, sum_noise=access.sum_noise)
    if access.left < _NOTHING:
        counts = np.zeros(clusters)
        counts[0] = statistics.count
        choices = {"signal": signal, "method": "one private mean"}
        return Clustering(np.zeros((clusters, statistics.dimension)), counts, choices, _doubt(signal, clusters))
    plan = choose_method(signal, clusters=clusters, dimension=statistics.dimension, left=float(access.left), normal=access.normal)
    centres = run_method(access, plan, rng)
    return Clustering(
        centres.centres, centres.counts, {"signal": signal, **centres.choices}, (*_doubt(signal, clusters), *centres.warnings)
    )


def run_method(access: DataAccess, plan: MethodPlan, rng: np.random.Generator) -> Clustering:
    """Run ``plan`` on the records behind ``access``, spending what is left of the budget; clusters that are not found stay at the mean.

    Every cell and every centre is a function of released numbers and of ``rng``, which draws directions and starts: what it draws may be
    public, so that it must not be the generator of the noise. Raises :class:`InvalidArgument` for statistics that are none, and what
    ``access`` raises.
    """
    statistics = access.statistics
    if not (0 < statistics.rms < np.inf and statistics.count >= 1):
        raise InvalidArgument("a method needs a positive rms and a count of at least 1, but others were released; correct the statistics")
    run = run_lloyd(access, plan, rng) if isinstance(plan, LloydPlan) else run_tree(access, plan, rng)
    centres, counts = np.zeros((plan.clusters, statistics.dimension)), np.zeros(plan.clusters)
    centres[: len(run.centres)], counts[: len(run.counts)] = run.centres, run.counts
    kind = "cells about random directions" if isinstance(plan, LloydPlan) else "k-d tree"
    settings = {name.replace("_", " "): value for name, value in asdict(plan).items()}
    return Clustering(centres, counts, {"method": kind, **settings, "found": len(run.centres), "clipped to": access.radius})


def _doubt(signal: float, clusters: int) -> tuple[str, ...]:
    if signal >= _LEAST_SIGNAL or clusters == 1:
        return ()
    sentence = (
        f"the signal-to-noise ratio of a centre is about {signal:.2g}, which promises nothing; take fewer clusters, more records or a "
        "larger epsilon, or reduce the dimension by a public map"
    )
    return (sentence,)
