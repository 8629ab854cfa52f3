"""What a mechanism supposes is what it runs, however its arithmetic was put there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from accountant.applications.repeated import SubsampledRepeated, subsampled_exponential, subsampled_threshold
from accountant.guarantees import derive_mechanism
from profiles import InvalidArgument
from profiles.hypotheses import EXACT_REALS, SECURE_BITS, SEEDED_BITS
from profiles.mechanisms import Arithmetic, GaussianLloyd, GaussianSum, KNormSum, LaplaceSum, WeightedCount
from profiles.mechanisms.interface import EXACT_MODE
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from profiles.randomness.system import system_generator

OPTIONS: dict[str, Any] = {"rounds": 2, "epsilon0": 1, "sensitivity": 1}


def choose(_: object) -> Any:
    return 3, lambda data: np.array([len(data), 1.0, 0.0])


def watch(_: object) -> Any:
    return len, 3


MECHANISMS: dict[str, Any] = {
    "sum": lambda: LaplaceSum(b=1),
    "count": lambda: WeightedCount(beta_count=1),
    "K-norm sum": lambda: KNormSum(beta_sum=1, dimension=1),
    "Gaussian sum": lambda: GaussianSum(sigma=1),
    "Gaussian Lloyd": lambda: GaussianLloyd(initial_centres=[0.0], iterations=1, sigma_count=1, sigma_sum=1, min_count="0.001"),
    "choices": lambda: RepeatedExponential(select=choose, **OPTIONS),
    "thresholds": lambda: RepeatedThreshold(select=watch, **OPTIONS),
}
#: Binary64 noise needs a generator; a seed is enough for exact draws.
SEED = 5


def released(mechanism: Any, rng: object) -> Any:
    data = [0.5, 0.25]
    return mechanism.run(data, rng) if hasattr(mechanism, "select") else mechanism.run(data, None, rng)


@pytest.mark.parametrize("kind", ["exact", "binary64", Arithmetic.EXACT, Arithmetic.BINARY64])
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_runs_is_what_is_supposed(name: str, kind: object) -> None:
    mechanism = MECHANISMS[name]()
    object.__setattr__(mechanism, "arithmetic", kind)
    if EXACT_REALS in mechanism.hypotheses:
        with pytest.raises(InvalidArgument, match="Generator"):
            released(mechanism, SEED)
    else:
        assert released(mechanism, SEED) == released(MECHANISMS[name](), SEED)


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_arithmetic_that_is_none_is_refused_at_use(name: str) -> None:
    mechanism = MECHANISMS[name]()
    object.__setattr__(mechanism, "arithmetic", "fast")
    with pytest.raises(InvalidArgument, match="'exact' or 'binary64'"):
        released(mechanism, np.random.default_rng(1))


def make(kind: object) -> SubsampledRepeated:
    if kind is RepeatedExponential:
        return subsampled_exponential(select=choose, rounds=2, sensitivity=1, epsilon=1)
    return subsampled_threshold(select=watch, rounds=2, sensitivity=1, epsilon=1)


@pytest.mark.parametrize("kind", [RepeatedExponential, RepeatedThreshold])
def test_the_guarantee_is_of_what_runs(kind: object) -> None:
    """It was that of the mechanism as it was when it was declared."""
    whole = make(kind)
    assert EXACT_REALS not in whole.run(["a"], 1).guarantee.hypotheses
    object.__setattr__(whole.mechanism, "arithmetic", Arithmetic.BINARY64)
    assert EXACT_REALS in whole.run(["a"], np.random.default_rng(1)).guarantee.hypotheses
    object.__setattr__(whole.mechanism, "epsilon0", Fraction(99))
    with pytest.raises(InvalidArgument, match="plan"):
        whole.run(["a"], np.random.default_rng(1))


@pytest.mark.parametrize("kind", [RepeatedExponential, RepeatedThreshold])
def test_the_secure_source_is_called_so_as_a_generator(kind: object) -> None:
    """A generator over the system's source has no seed."""
    for arithmetic in Arithmetic:
        whole = make(kind)
        object.__setattr__(whole.mechanism, "arithmetic", arithmetic)
        found = whole.run(["a"], system_generator()).guarantee.hypotheses
        assert SECURE_BITS in found
        assert SEEDED_BITS not in found
        assert SEEDED_BITS in whole.run(["a"], np.random.default_rng(3)).guarantee.hypotheses


def test_what_never_runs_supposes_nothing_of_a_run() -> None:
    """There is no exact sampler for p = 3."""
    for kind in Arithmetic:
        mechanism = KNormSum(beta_sum=1, p=3, arithmetic=kind)
        assert mechanism.hypotheses == (EXACT_REALS,)
        assert set(EXACT_MODE).isdisjoint(derive_mechanism(mechanism).hypotheses)


def test_a_tampered_arithmetic_discharges_nothing() -> None:
    mechanism = LaplaceSum(b=1)
    object.__setattr__(mechanism, "arithmetic", "binary64")
    assert EXACT_REALS in derive_mechanism(mechanism).hypotheses
