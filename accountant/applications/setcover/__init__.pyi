"""The public names of accountant.applications.setcover, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.setcover.algorithms import FreshSampleScaling as FreshSampleScaling
from accountant.applications.setcover.algorithms import NoisyGreedy as NoisyGreedy
from accountant.applications.setcover.algorithms import OneSampleScaling as OneSampleScaling
from accountant.applications.setcover.evaluation import bound_optimum as bound_optimum
from accountant.applications.setcover.evaluation import cover_cost as cover_cost
from accountant.applications.setcover.evaluation import greedy_cover as greedy_cover
from accountant.applications.setcover.evaluation import gupta_cover as gupta_cover
from accountant.applications.setcover.partial import PartialAnswer as PartialAnswer
from accountant.applications.setcover.partial import PrivatePartialCover as PrivatePartialCover
from accountant.applications.setcover.private import CoverAnswer as CoverAnswer
from accountant.applications.setcover.private import PrivateSetCover as PrivateSetCover
from accountant.applications.submodular.coverage import CoverageInstance as CoverageInstance
from accountant.applications.submodular.readers import read_coverage as read_coverage
