"""A fingerprint of the arithmetic behind a solver: two processes with the same one give the same weights, bit for bit, as far as is seen.

Why it matters: a sampler's proof needs q(x) to be a function of the record alone. NumPy's exp and log differ in the last digit between
processors with and without AVX-512, so that in a mixed cluster q(x) would depend on where a record is weighed, which may depend on the
other records. docs/engines.md has the statement.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import numpy as np

from accountant.weights.fast.results import WeightsResult
from profiles import PDPError, Profile
from profiles.arrays import Floats
from profiles.numbers import round_down, round_up

#: Every function of the grammar that NumPy computes and IEEE 754 does not fix to the last bit.
_FUNCTIONS = ("exp", "expm1", "log", "log1p", "sin", "cos", "tan")
_POINTS = 1_000
_PROBES = 24


class Solver(Protocol):
    """What is fingerprinted: see :class:`accountant.weights.fast.solver.WeightSolver`."""

    @property
    def profile(self) -> Profile:
        """The profile whose records are weighed."""

    def solve(self, statistics: dict[str, Floats]) -> WeightsResult:
        """Return the weights of some records, one for each number in the statistics."""


def fingerprint(solver: Solver) -> str:
    """Return a digest of NumPy's elementary functions at some 1,000 points each, and of the solver's weights of 24 records of the domain.

    Equal digests are evidence, not proof, of equal arithmetic: kernels for other processors differ at one point in
    10 (expm1) to 170 (log).
    """
    digest = hashlib.sha256()
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.uniform(0.0, 2.0, _POINTS // 2), 2.0 ** rng.uniform(-60, 9, _POINTS // 2)])
    with np.errstate(all="ignore"):
        for name in _FUNCTIONS:
            digest.update(getattr(np, name)(points).tobytes())
    try:
        digest.update(solver.solve(probe_records(solver.profile, rng)).weights.tobytes())
    except PDPError as error:
        digest.update(type(error).__name__.encode())
    return digest.hexdigest()


def probe_records(profile: Profile, rng: np.random.Generator) -> dict[str, Floats]:
    """Return some records of the declared domain."""
    records: dict[str, Floats] = {}
    for statistic in profile.record:
        lo, hi = round_up(statistic.lo), round_down(statistic.hi)
        share = rng.random(_PROBES)
        records[statistic.name] = np.clip(lo * (1.0 - share) + hi * share, lo, hi)
    return records
