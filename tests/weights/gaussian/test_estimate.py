"""What tells the search where to look comes close to what the kernel bounds, and is smooth where the record is rarely kept."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp

import pytest

from accountant.compositions.events import Direction
from accountant.weights.gaussian.estimate import estimate_delta
from accountant.weights.gaussian.many_steps import bound_steps, compose_pair, log_of
from accountant.weights.gaussian.one_step import OneStep

MU, STEPS, STEP = Fraction("3.169"), 10, OneStep(Fraction(1), Fraction(1, 10**5))


def estimate(q):
    return estimate_delta(float(MU), float(q), STEPS, float(STEP.epsilon))


@pytest.mark.parametrize("q", [Fraction("4e-5"), Fraction("4.5e-5")])
def test_the_estimate_is_just_below_the_bound_of_a_fine_grid(q):
    bound = bound_steps(compose_pair(MU, q, STEPS), STEP, Direction.REMOVE, Fraction(1, 50_000))
    assert -0.002 <= estimate(q) - log_of(bound.delta) <= 0.001


def test_the_estimate_rises_evenly_with_the_probability():
    values = [estimate(4e-5 * exp(0.002 * k)) for k in range(20)]
    slopes = [(other - one) / 0.002 for one, other in pairwise(values)]
    assert 1.6 < min(slopes) <= max(slopes) < 1.9
