"""Private monotone submodular maximisation under a matroid constraint: docs/matroids.md."""

from accountant.applications.submodular.choosing import Growth, Scores
from accountant.applications.submodular.matroids.facility import FacilityLocation
from accountant.applications.submodular.matroids.matroid import GraphicMatroid, Matroid, PartitionMatroid, UniformMatroid
from accountant.applications.submodular.matroids.mechanism import PrivateMatroidGreedy, PrivateSet
from accountant.applications.submodular.matroids.objective import Coverage, Objective, Tracked
from accountant.applications.submodular.matroids.oracle import OracleMatroid, check_axioms, probe_axioms
from accountant.applications.submodular.matroids.parameters import choose_for, choose_parameters
from accountant.applications.submodular.matroids.per_user import PerUser, find_dependence
from accountant.applications.submodular.matroids.rounding import swap_round
from accountant.applications.submodular.matroids.utility import bound_expectation, bound_utility

__all__ = [
    "Coverage",
    "FacilityLocation",
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
    "bound_expectation",
    "bound_utility",
    "check_axioms",
    "choose_for",
    "choose_parameters",
    "find_dependence",
    "probe_axioms",
    "swap_round",
]
