"""The public names of accountant.applications, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.clustering import PrivateMetricClustering as PrivateMetricClustering
from accountant.applications.dpsgd import DPSGDClassifier as DPSGDClassifier
from accountant.applications.dpsgd import dp_sgd_plan as dp_sgd_plan
from accountant.applications.heavyhitters import HeavyHitterMonitor as HeavyHitterMonitor
from accountant.applications.kmeans import DPKMeans as DPKMeans
from accountant.applications.kmeans import DPLloyd as DPLloyd
from accountant.applications.setcover import PrivateSetCover as PrivateSetCover
from accountant.applications.submodular import CoverageInstance as CoverageInstance
from accountant.applications.submodular import OneSidedGreedy as OneSidedGreedy
from accountant.applications.submodular import PrivateGreedy as PrivateGreedy
from accountant.applications.submodular import WeightedCoverage as WeightedCoverage
from accountant.applications.submodular import read_coverage as read_coverage
from accountant.applications.submodular import read_weighted_coverage as read_weighted_coverage
from accountant.applications.submodular.matroids import PrivateMatroidGreedy as PrivateMatroidGreedy
