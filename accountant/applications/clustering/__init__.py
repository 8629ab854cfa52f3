"""Private metric k-median and k-means on public candidates: docs/metric-clustering.md."""

from accountant.applications.clustering.bounds import bound_cost, bound_free_cost
from accountant.applications.clustering.private import MetricClustering, PrivateMetricClustering
from accountant.applications.clustering.records import DistanceRows, Multiplicities, measure_records
from accountant.applications.clustering.space import MetricSpace, measure_grid, measure_points, read_distances

__all__ = [
    "DistanceRows",
    "MetricClustering",
    "MetricSpace",
    "Multiplicities",
    "PrivateMetricClustering",
    "bound_cost",
    "bound_free_cost",
    "measure_grid",
    "measure_points",
    "measure_records",
    "read_distances",
]
