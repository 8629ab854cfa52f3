"""The public names of accountant.applications.submodular.matroids, each with the module that it is at home in (profiles/lazy.py)."""

from accountant.applications.choosing import Growth as Growth
from accountant.applications.choosing import Scores as Scores
from accountant.applications.submodular.matroids.facility import FacilityLocation as FacilityLocation
from accountant.applications.submodular.matroids.matroid import GraphicMatroid as GraphicMatroid
from accountant.applications.submodular.matroids.matroid import Matroid as Matroid
from accountant.applications.submodular.matroids.matroid import PartitionMatroid as PartitionMatroid
from accountant.applications.submodular.matroids.matroid import UniformMatroid as UniformMatroid
from accountant.applications.submodular.matroids.mechanism import PrivateMatroidGreedy as PrivateMatroidGreedy
from accountant.applications.submodular.matroids.mechanism import PrivateSet as PrivateSet
from accountant.applications.submodular.matroids.objective import Coverage as Coverage
from accountant.applications.submodular.matroids.objective import Objective as Objective
from accountant.applications.submodular.matroids.objective import Tracked as Tracked
from accountant.applications.submodular.matroids.oracle import OracleMatroid as OracleMatroid
from accountant.applications.submodular.matroids.oracle import check_axioms as check_axioms
from accountant.applications.submodular.matroids.oracle import probe_axioms as probe_axioms
from accountant.applications.submodular.matroids.parameters import choose_for as choose_for
from accountant.applications.submodular.matroids.parameters import choose_parameters as choose_parameters
from accountant.applications.submodular.matroids.per_user import PerUser as PerUser
from accountant.applications.submodular.matroids.per_user import find_dependence as find_dependence
from accountant.applications.submodular.matroids.rounding import swap_round as swap_round
from accountant.applications.submodular.matroids.utility import bound_expectation as bound_expectation
from accountant.applications.submodular.matroids.utility import bound_utility as bound_utility
