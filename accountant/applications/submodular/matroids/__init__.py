"""Private monotone submodular maximisation under a matroid constraint: docs/matroids.md."""

from accountant.applications.submodular.matroids.coverage import Coverage
from accountant.applications.submodular.matroids.graphic import GraphicMatroid
from accountant.applications.submodular.matroids.matroid import Growth, Matroid, PartitionMatroid, UniformMatroid
from accountant.applications.submodular.matroids.mechanism import PrivateMatroidGreedy, PrivateSet
from accountant.applications.submodular.matroids.objective import Objective, PerUser, Scores, find_dependence
from accountant.applications.submodular.matroids.oracle import OracleMatroid, check_axioms, probe_axioms
from accountant.applications.submodular.matroids.rounding import rounding_law, swap_round
from accountant.applications.submodular.matroids.tracked import Tracked

__all__ = [
    "Coverage",
    "GraphicMatroid",
    "Growth",
    "Matroid",
    "Objective",
    "OracleMatroid",
    "PartitionMatroid",
    "PerUser",
    "PrivateMatroidGreedy",
    "PrivateSet",
    "Scores",
    "Tracked",
    "UniformMatroid",
    "check_axioms",
    "find_dependence",
    "probe_axioms",
    "rounding_law",
    "swap_round",
]
