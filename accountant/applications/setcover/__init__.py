"""Private set cover: docs/set-cover.md."""

from accountant.applications.setcover.algorithms import FreshSampleScaling, NoisyGreedy, OneSampleScaling, RepeatedExponential
from accountant.applications.setcover.evaluation import bound_optimum, cover_cost, greedy_cover, gupta_cover
from accountant.applications.setcover.private import CoverAnswer, PrivateSetCover
from accountant.applications.setcover.reading import read_pairs
from accountant.applications.setcover.system import SetSystem

__all__ = [
    "CoverAnswer",
    "FreshSampleScaling",
    "NoisyGreedy",
    "OneSampleScaling",
    "PrivateSetCover",
    "RepeatedExponential",
    "SetSystem",
    "bound_optimum",
    "cover_cost",
    "greedy_cover",
    "gupta_cover",
    "read_pairs",
]
