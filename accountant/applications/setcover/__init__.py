"""Private set cover: docs/set-cover.md."""

from accountant.applications.setcover.algorithms import FreshSampleScaling, NoisyGreedy, OneSampleScaling
from accountant.applications.setcover.evaluation import bound_optimum, cover_cost, greedy_cover, gupta_cover
from accountant.applications.setcover.partial import PartialAnswer, PrivatePartialCover
from accountant.applications.setcover.private import CoverAnswer, PrivateSetCover
from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.readers import read_coverage

__all__ = [
    "CoverAnswer",
    "CoverageInstance",
    "FreshSampleScaling",
    "NoisyGreedy",
    "OneSampleScaling",
    "PartialAnswer",
    "PrivatePartialCover",
    "PrivateSetCover",
    "bound_optimum",
    "cover_cost",
    "greedy_cover",
    "gupta_cover",
    "read_coverage",
]
