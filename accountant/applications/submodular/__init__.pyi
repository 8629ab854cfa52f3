"""The public names of accountant.applications.submodular, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.choosing import MarginalGains as MarginalGains
from accountant.applications.quality import UtilityBound as UtilityBound
from accountant.applications.running import Choice as Choice
from accountant.applications.submodular.bounds import bound_one_sided as bound_one_sided
from accountant.applications.submodular.bounds import bound_plan as bound_plan
from accountant.applications.submodular.bounds import bound_utility as bound_utility
from accountant.applications.submodular.bounds import expect_loss as expect_loss
from accountant.applications.submodular.coverage import CoverageInstance as CoverageInstance
from accountant.applications.submodular.functions import DecomposableFunction as DecomposableFunction
from accountant.applications.submodular.functions import find_violation as find_violation
from accountant.applications.submodular.functions import lazy_greedy as lazy_greedy
from accountant.applications.submodular.functions import selection_value as selection_value
from accountant.applications.submodular.greedy import GreedyAnswer as GreedyAnswer
from accountant.applications.submodular.greedy import OneSidedGreedy as OneSidedGreedy
from accountant.applications.submodular.greedy import PrivateGreedy as PrivateGreedy
from accountant.applications.submodular.predecessor import approximate_dp as approximate_dp
from accountant.applications.submodular.predecessor import approximate_guarantee as approximate_guarantee
from accountant.applications.submodular.predecessor import epsilon0_for as epsilon0_for
from accountant.applications.submodular.readers import read_coverage as read_coverage
from accountant.applications.submodular.readers import read_weighted_coverage as read_weighted_coverage
from accountant.applications.submodular.weighted import WeightedCoverage as WeightedCoverage
