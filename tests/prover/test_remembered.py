"""What a search has seen once it does not look at again: one factorisation for one expression, one look at a goal, one refusal of cuts."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from profiles import declare
from profiles.variables import Variable
from proofs_check.admission import AdmittedProfile
from proofs_check.prover import algebra, attempt
from proofs_check.prover.attempt import EFFORT, LITTLE_EFFORT, Attempt, looks_true
from proofs_check.prover.effort import apart, remaining
from proofs_check.prover.explore import explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.sizes import shelter
from proofs_check.verify import verify

W = sympy.Symbol("w", positive=True)
BOX = (Variable("w", Fraction(1), None),)


def test_an_expression_with_exponentials_and_long_powers_is_factored_once():
    expression = sympy.exp(2 * W) - 2 * sympy.exp(W) + 1
    first = algebra.factored(expression)
    missed = algebra._factor_at_once.cache_info().misses
    assert algebra.factored(expression) == first == (sympy.exp(W) - 1) ** 2
    assert algebra._factor_at_once.cache_info().misses == missed
    long = 3 * W ** sympy.Rational(10001, 10000) + 1
    assert shelter(long) == shelter(long)


def test_the_same_work_is_counted_whether_it_is_done_or_remembered():
    expression = sympy.exp(3 * W) - 3 * sympy.exp(2 * W) + 3 * sympy.exp(W) - 1

    def used():
        before = remaining()
        algebra.factored(expression)
        return before - remaining()

    first, second = (apart(1, used) for _ in range(2))
    assert first == second > 0


@pytest.mark.parametrize(
    ("goal", "efforts"),
    [
        (Goal(W - 2, BOX), [LITTLE_EFFORT]),  # violated at w = 1
        (Goal(W + 1, (Variable("w", Fraction(1), Fraction(2)),)), [LITTLE_EFFORT]),  # holds
        (Goal(W + 1, BOX), [LITTLE_EFFORT, EFFORT]),  # undecided at infinity
    ],
    ids=["violated", "holds", "undecided"],
)
def test_a_goal_that_little_effort_settled_is_not_explored_again(monkeypatch, goal, efforts):
    looks = []

    def counted(goal, **effort):
        looks.append((effort["budget"], effort["points"]))
        return explore(goal, **effort)

    monkeypatch.setattr(attempt, "explore", counted)

    def search():
        seen = [Attempt(goal, depth, lambda *_: None).exploration for depth in (1, 2, 3)]
        looks_true(goal)
        before = remaining()
        looks_true(goal)
        return seen, before == remaining()

    seen, is_free = apart(5, search)
    assert is_free
    assert looks == efforts
    assert seen[1] == seen[2]


@pytest.mark.thorough
def test_pieces_that_do_not_meet_are_refused_once(monkeypatch):
    asked = []
    report = AdmittedProfile.report

    def counted(self, claims, **options):
        found = report(self, claims, **options)
        asked.extend(claim["claim"] for claim in claims if "cuts" in claim["proof"])
        return found

    monkeypatch.setattr(AdmittedProfile, "report", counted)
    profile = declare("apart", "Max(w, 2*w - z, 3*w - 2*z)", record={"z": [1, 2]})
    assert verify(profile, 2, ["assumption-11"]).decisions["assumption-11"].verdict.value == "unknown"
    assert asked.count("strong-convexity") <= 1
