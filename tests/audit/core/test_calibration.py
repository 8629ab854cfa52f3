"""The rate of bounds above the exact ε stays at or below the stated error: a few audits here, 3,000 each in make audit-calibration."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_check.audit import Claim, audit
from tests.targets.calibration import CORRECT, Calibration, Correct, calibrate

AUDITS = {"fixed": 80, "sequential": 30}


@pytest.mark.thorough
@pytest.mark.parametrize("target", CORRECT, ids=lambda target: target.name)
@pytest.mark.parametrize("mode", ["fixed", "sequential"])
def test_bounds_are_rarely_above_the_truth(target: Correct, mode: str) -> None:
    # At an error of 1/2 a bound without its correction would be above far more often: 30 audits tell. A wrong alarm has chance 1e-6.
    found = calibrate(
        target,
        rng=np.random.default_rng([5, len(target.name)]),
        audits=AUDITS[mode],
        samples=60,
        confidence="0.5",
        mode=mode,
        effort="fast",
    )
    assert not found.contradicts(Fraction(1, 10**6)), found


#: Audits after a refutation, with the chance of a wrong alarm: a bound that is above the truth in 31 of 40 audits, or 62 of 80, is noticed.
AFTER = [(40, Fraction(1, 1_000)), pytest.param(80, Fraction(1, 10**6), marks=pytest.mark.slow)]


@pytest.mark.thorough
@pytest.mark.parametrize(("audits", "doubt"), AFTER)
@pytest.mark.parametrize("target", [CORRECT[0], CORRECT[2]], ids=lambda target: target.name)
def test_bounds_after_a_refutation_are_rarely_above_the_truth(target: Correct, audits: int, doubt: Fraction) -> None:
    """A claim far too small is refuted by the bets; what is said then of how bad it is must hold as often as is stated."""
    above, refuted = 0, 0
    for seed in range(audits):
        result = audit(
            target.mechanism, target.dataset, target.neighbor, Claim(target.claim.epsilon / 10), rng=np.random.default_rng([9, seed]),
            samples=60, confidence="0.5", effort="fast", neighboring=target.neighboring, check_memory=False,
        )  # fmt: skip
        refuted += result.refuted_after is not None
        above += Fraction(result.epsilon_lower) > target.claim.epsilon
    assert refuted > audits / 4
    assert not Calibration(target.name, audits, above, Fraction(1, 2)).contradicts(doubt), (above, refuted)


def test_a_broken_bound_would_be_noticed() -> None:
    assert Calibration("x", 40, 31, Fraction(1, 2)).contradicts(Fraction(1, 1_000))
    assert Calibration("x", 80, 62, Fraction(1, 2)).contradicts(Fraction(1, 10**6))
    assert Calibration("x", 60, 55, Fraction(1, 2)).contradicts(Fraction(1, 10**6))
    assert not Calibration("x", 60, 30, Fraction(1, 2)).contradicts(Fraction(1, 10**6))
