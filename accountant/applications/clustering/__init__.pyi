"""The public names of accountant.applications.clustering, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.clustering.bounds import bound_cost as bound_cost
from accountant.applications.clustering.bounds import bound_free_cost as bound_free_cost
from accountant.applications.clustering.private import MetricClustering as MetricClustering
from accountant.applications.clustering.private import PrivateMetricClustering as PrivateMetricClustering
from accountant.applications.clustering.records import DistanceRows as DistanceRows
from accountant.applications.clustering.records import Multiplicities as Multiplicities
from accountant.applications.clustering.records import measure_records as measure_records
from accountant.applications.clustering.space import MetricSpace as MetricSpace
from accountant.applications.clustering.space import measure_grid as measure_grid
from accountant.applications.clustering.space import measure_points as measure_points
from accountant.applications.clustering.space import read_distances as read_distances
