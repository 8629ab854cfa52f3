"""The exact ε of the private greedy algorithm over all small data sets, beside the certified bounds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, PrivateGreedy
from proofs_check.exact.exponentials import exp
from proofs_check.exact.worst import exact_epsilon
from tests.targets.laws.submodular import greedy_law

SETS = [items for size in range(3) for items in itertools.combinations(range(3), size)]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("k", "epsilon", "calibration"),
    [(1, "1", "optimal"), (2, "1/2", "optimal"), (3, "1", "corollary"), (1, "1", "rounds"), (2, "1/2", "rounds")],
)
def test_the_exact_epsilon_is_within_the_certified_bounds(k, epsilon, calibration):
    mechanism = PrivateGreedy(k, epsilon, calibration, method="fresh")
    plan, base = mechanism.plan, exp(mechanism.plan.epsilon0)

    def law(p):
        return lambda sets: greedy_law(CoverageInstance.from_sets(sets, candidates=3), k, base, p)

    one = exact_epsilon(law(None), SETS, max_size=2)
    assert one.remove.ratio <= base
    assert one.add.ratio <= base**k
    both = exact_epsilon(law(Fraction(plan.p)), SETS, max_size=2)
    bound = mechanism.guarantee.bound
    assert both.remove.ratio <= exp(bound.remove) <= exp(plan.target)
    assert both.add.ratio <= exp(bound.add) <= exp(plan.target)


def test_without_a_sample_the_other_direction_exceeds_epsilon0():
    # Appendix C: candidates 0 to m - k - 1 satisfy the one user; the last k in their order are k e0-distinguishable as m grows
    k, m = 2, 7
    law = lambda sets: greedy_law(CoverageInstance.from_sets(sets, candidates=m), k, exp(1))  # noqa: E731
    worst = exact_epsilon(law, [tuple(range(m - k))], max_size=1)
    assert worst.remove.ratio <= exp(1)
    expected = (exp(1) * (m - k) + 2) / m * (exp(1) * (m - k) + 1) / (m - 1)
    assert worst.add.ratio == expected
    assert exp("3/2") < worst.add.ratio < exp(2)
    assert OneSidedGreedy(k, 1).guarantee.bound.add == k
