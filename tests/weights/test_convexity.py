"""What the weights rest on: the short proof for ε = w·(c + d·z) and the prover decide alike."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profiles
from accountant.weights import convexity as module
from accountant.weights.convexity import prove_convexity

NUMBERS = st.fractions(0, 3, max_denominator=12)


def decide(profile: profiles.Profile, target: Fraction) -> bool:
    try:
        return prove_convexity(profile, target).least_target == target
    except profiles.Infeasible:
        return False


@pytest.mark.thorough
@settings(max_examples=15, deadline=None)
@given(c=NUMBERS, d=NUMBERS, falls=st.booleans(), shift=st.sampled_from([Fraction(-1, 10**9), Fraction(0), Fraction(1, 10**9)]))
def test_the_short_proof_and_the_prover_decide_alike(c: Fraction, d: Fraction, falls: bool, shift: Fraction) -> None:
    """At the worst ε(1, x), just above and just below it; a may rise or fall in z."""
    text = "w*(c + d - d*z/2)" if falls else "w*(c + d*z/2)"
    profile = profiles.declare("p", text, record={"z": [0, 2]}, parameters={"c": c + 1, "d": d})
    target = c + 1 + d + shift
    short = decide(profile, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_prove_affine", lambda *_: None)
        assert decide(profile, target) == short == (shift >= 0)


@pytest.mark.parametrize(("text", "short"), [("w*z", True), ("T*w*(1/3 + z/7)", True), ("w/2", True), ("w*z*y", False), ("w*z**2", False)])
def test_which_profiles_have_the_short_proof(text: str, short: bool) -> None:
    profile = profiles.declare("p", text, record={"z": [0, 1], "y": [0, 1]}, parameters={"T": 2})
    evidence = prove_convexity(profile, 2).evidence
    assert ("epsilon = a(x)*w" in evidence) == short
    assert "assumption-8" in evidence


def test_profiles_that_are_not_admitted_have_no_hypothesis() -> None:
    with pytest.raises(profiles.InvalidProfile):
        prove_convexity(profiles.declare("negative", "w*(z - 1)", record={"z": [0, 3]}), 2)
