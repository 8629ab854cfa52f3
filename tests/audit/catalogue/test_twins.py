"""Every broken twin is refuted: with the outputs that it asks for, at confidence 0.99."""

from __future__ import annotations

import numpy as np
import pytest

from proofs_check.audit import Finding
from tests.targets.catalogue import AuditCase, broken_twins
from tests.targets.catalogue.broken import GaussianDirections
from tests.targets.catalogue.twins import DirectionLoss, TotalLoss

TWINS = broken_twins()


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_every_twin_is_refuted(twin: AuditCase) -> None:
    result = twin.run(np.random.default_rng([2, TWINS.index(twin)]), effort="fast", confidence="0.99", mode="fixed")
    assert result.finding is Finding.VIOLATED, (result.epsilon_lower, float(twin.claim.epsilon))
    assert result.epsilon_lower <= twin.truth.upper


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["laplace/weights-twice", "count/same-seed", "k-norm/wrong-norm", "lloyd/empty-clusters-without-noise"])
def test_the_sequential_part_refutes_early(name: str) -> None:
    twin = next(twin for twin in TWINS if twin.name == name)
    result = twin.run(np.random.default_rng(5), effort="fast", confidence="0.99", mode="sequential")
    assert result.finding is Finding.VIOLATED
    assert result.refuted_after is not None
    assert result.refuted_after < 10_000


def test_the_classic_mistakes_are_there() -> None:
    wanted = {
        "scale-95-percent", "weights-twice", "reused-sample", "one-release-too-many", "replace-sensitivity", "exponential-radius-d2",
        "weight-not-counted", "one-iteration-too-many", "clipping-missing", "shared-noise", "empty-clusters-without-noise",
    }  # fmt: skip
    assert wanted <= {twin.name.partition("/")[2] for twin in TWINS}


def test_total_loss_is_the_log_ratio_of_the_densities() -> None:
    # Two releases of Laplace noise of scale 4, shifted by 8 with probability 1/4: densities written out.
    y = np.array([[1.0, -3.0], [9.0, 10.0], [4.0, 4.0]])
    alone, moved = np.exp(-np.abs(y) / 4).prod(axis=1), np.exp(-np.abs(y - 8) / 4).prod(axis=1)
    found = TotalLoss((8.0,), 4.0, 1, 0.25, 2)(y)
    assert np.allclose(found, np.log((0.75 * alone + 0.25 * moved) / alone), rtol=1e-12)


def test_directions_of_normal_variates_have_the_density_that_is_stated() -> None:
    # d = 2: P(|y_1| > 3|y_2|) is 2·atan(1/3)/π for a uniform angle; by the density over the l1 sphere it is the same integral.
    noise = GaussianDirections(1.0)
    y = noise(np.random.default_rng(1), 200_000, 2)
    share = float((np.abs(y[:, 0]) > 3 * np.abs(y[:, 1])).mean())
    assert abs(share - 2 * np.arctan(1 / 3) / np.pi) < 0.006
    # The cone measure gives the piece of the side t = |y_1| > 3/4 the share 1/4; weighted by (|t| + |1 − t|)²/(t² + (1 − t)²).
    t = (np.arange(200_000) + 0.5) / 200_000
    density = np.exp(noise.log_density(np.stack([t, 1 - t], axis=1)) + 1.0)
    assert abs(density[t > 0.75].sum() / density.sum() - 2 * np.arctan(1 / 3) / np.pi) < 1e-4
    loss = DirectionLoss(noise, (1.0, 0.0))(np.array([[0.25, 0.25]]))
    assert np.isclose(loss[0], 2 * np.log(1.0 / np.hypot(0.75, 0.25)) - 1.0 - (2 * np.log(np.sqrt(2)) - 0.5))
