"""The standard suite: mechanisms with what is claimed for them and what is true of them. See benchmarks/results/audit-suite.md.

>>> {case.name: case.correct for case in standard_suite()}["svt-4"]
False
"""

from __future__ import annotations

from tests.targets.suite import (
    amplification,
    floating_point,
    gaussian,
    geometric,
    histogram,
    k_norm,
    laplace,
    lloyd,
    noisy_max,
    numeric_svt,
    one_sided,
    rappor,
    sums,
    svt,
)
from tests.targets.suite.case import Sampler, SuiteCase, Truth

__all__ = ["Sampler", "SuiteCase", "Truth", "standard_suite"]


def standard_suite() -> tuple[SuiteCase, ...]:
    """Return all cases, in a fixed order."""
    return (
        *laplace.CASES,
        *geometric.CASES,
        *histogram.CASES,
        *noisy_max.CASES,
        *svt.CASES,
        *numeric_svt.CASES,
        *rappor.CASES,
        *sums.CASES,
        *floating_point.CASES,
        *k_norm.CASES,
        *lloyd.CASES,
        *amplification.CASES,
        *one_sided.CASES,
        *gaussian.CASES,
    )
