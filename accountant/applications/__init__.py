"""Private algorithms made of the accountant's rules: each returns an answer together with its guarantee (docs/one-sided.md, section 7).

The names below are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiles.lazy import load_from

if TYPE_CHECKING:
    from accountant.applications.clustering import PrivateMetricClustering
    from accountant.applications.heavyhitters import HeavyHitterMonitor
    from accountant.applications.setcover import PrivateSetCover
    from accountant.applications.submodular import (
        CoverageInstance,
        OneSidedGreedy,
        PrivateGreedy,
        WeightedCoverage,
        read_coverage,
        read_weighted_coverage,
    )
    from accountant.applications.submodular.matroids import PrivateMatroidGreedy

_HOME = {
    "CoverageInstance": "accountant.applications.submodular",
    "HeavyHitterMonitor": "accountant.applications.heavyhitters",
    "OneSidedGreedy": "accountant.applications.submodular",
    "PrivateGreedy": "accountant.applications.submodular",
    "PrivateMatroidGreedy": "accountant.applications.submodular.matroids",
    "PrivateMetricClustering": "accountant.applications.clustering",
    "PrivateSetCover": "accountant.applications.setcover",
    "WeightedCoverage": "accountant.applications.submodular",
    "read_coverage": "accountant.applications.submodular",
    "read_weighted_coverage": "accountant.applications.submodular",
}

__all__ = [
    "CoverageInstance",
    "HeavyHitterMonitor",
    "OneSidedGreedy",
    "PrivateGreedy",
    "PrivateMatroidGreedy",
    "PrivateMetricClustering",
    "PrivateSetCover",
    "WeightedCoverage",
    "read_coverage",
    "read_weighted_coverage",
]


__getattr__ = load_from(__name__, _HOME)
