"""How private k-means finds its centres: a plan chosen by public and released numbers, run through noisy totals of cells.

Nothing here sees a record or knows what a release costs: that is behind :class:`accountant.applications.budget.protocols.DataAccess`.
Theorems are in docs/private-kmeans.md, measurements in docs/study-kmeans.md.
"""

from accountant.applications.kmeans.method.plan import LloydPlan, MethodPlan, TreePlan, choose_method, measure_signal
from accountant.applications.kmeans.method.running import find_centres, run_method

__all__ = ["LloydPlan", "MethodPlan", "TreePlan", "choose_method", "find_centres", "measure_signal", "run_method"]
