"""A promise is discharged by the mechanism whose whole profile it is; one with its name and source, and another formula, stays open."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import derive_epsilon
from accountant.guarantees import (
    Guarantee,
    Run,
    adaptive_composition,
    amplify_by_importance_sampling,
    base_profile,
    compose,
    conclude_run,
    derive_mechanism,
    derive_profile,
    prove_run,
    worst_case,
)
from accountant.interop import read_guarantee, suppose, write_guarantee
from accountant.rules import make_rule
from profiles import Declaration, Part, Profile, Statistic
from profiles.hypotheses import DECLARED_PROFILE, EXACT_REALS, PARTS_RUN, SECURE_BITS
from profiles.mechanisms import KNormSum, LaplaceSum, WeightedCount, WeightedLloyd
from profiles.terms import number, substitute, symbol

CENTRES = [[-0.5, 0.0], [0.5, 0.0]]
MECHANISMS: dict[str, Any] = {
    "sum": LaplaceSum(b=1, radius=1),
    "count": WeightedCount(beta_count=2),
    "K-norm sum": KNormSum(beta_sum=2, radius=1),
    "max-norm sum": KNormSum(beta_sum=2, radius=1, p=math.inf),
    "Lloyd": WeightedLloyd(initial_centres=CENTRES, iterations=3, beta_count=30, beta_sum=30, radius=1),
}


def stretch(profile: Profile, factor: Fraction) -> Profile:
    """The formula times a factor, in every part: the name and source of a mechanism, and another promise."""
    parts = tuple(Part(stretch(part.profile, factor), part.times) for part in profile.parts)
    return replace(profile, promise=("mul", number(factor), profile.epsilon), parts=parts)


def narrow(profile: Profile, factor: Fraction) -> Profile:
    """Other ranges."""
    record = tuple(replace(item, hi=item.hi * factor) for item in profile.record)
    return replace(profile, record=record, parts=tuple(Part(narrow(part.profile, factor), part.times) for part in profile.parts))


def rescale(profile: Profile, factor: Fraction) -> Profile:
    """Other constants; a number of runs stays a whole one."""
    found = tuple(
        item if item.value is None or item.name == "T" else replace(item, value=item.value / factor) for item in profile.parameters
    )
    return replace(profile, parameters=found, parts=tuple(Part(rescale(part.profile, factor), part.times) for part in profile.parts))


def forget_parts(profile: Profile, _: Fraction) -> Profile:
    """The same formula as one promise."""
    return replace(profile, parts=())


def run_once(profile: Profile, _: Fraction) -> Profile:
    """Each part is run once: the leaves are those of the mechanism, the sum is not."""
    total = ("num", "0")
    for part in profile.parts:
        total = part.profile.epsilon if total == ("num", "0") else ("add", total, part.profile.epsilon)
    return replace(profile, promise=total, parts=tuple(Part(part.profile, number(1)) for part in profile.parts))


FORGERIES: dict[str, Callable[[Profile, Fraction], Profile]] = {
    "formula": stretch, "ranges": narrow, "constants": rescale, "no parts": forget_parts, "fewer runs": run_once
}  # fmt: skip


def sampled(guarantee: Guarantee) -> Guarantee:
    return worst_case(amplified(guarantee))


def amplified(guarantee: Guarantee) -> Guarantee:
    declared = guarantee.bound.profile  # type: ignore[union-attr]
    return amplify_by_importance_sampling(guarantee, make_rule("uniform", declared, {"rate": 1}))


def derived(profile: Profile, mechanism: Any) -> Guarantee:
    declaration = Declaration(profile, hypotheses=tuple(mechanism.hypotheses), mechanism=mechanism)
    return derive_epsilon(declaration, rule="uniform", constants={"rate": 1}).guarantee


def after_run(guarantee: Guarantee, mechanism: Any) -> Guarantee:
    return conclude_run(prove_run(guarantee, mechanism), Run(noise=SECURE_BITS))


ROADS: dict[str, Callable[[Profile, Any], Guarantee]] = {
    "prove_run": lambda profile, mechanism: prove_run(derive_profile(profile), mechanism),
    "prove_run, amplified": lambda profile, mechanism: prove_run(amplified(derive_profile(profile)), mechanism),
    "prove_run, worst case": lambda profile, mechanism: prove_run(sampled(derive_profile(profile)), mechanism),
    "amplified after": lambda profile, mechanism: amplified(prove_run(derive_profile(profile), mechanism)),
    "worst case after": lambda profile, mechanism: sampled(prove_run(derive_profile(profile), mechanism)),
    "derive_epsilon": derived,
    "derive_epsilon, prove_run": lambda profile, mechanism: prove_run(
        derive_epsilon(profile, rule="uniform", constants={"rate": 1}).guarantee, mechanism
    ),
    "conclude_run": lambda profile, mechanism: after_run(sampled(derive_profile(profile)), mechanism),
    "compose, one": lambda profile, mechanism: prove_run(compose(sampled(derive_profile(profile))), mechanism),
    "compose with its own": lambda profile, mechanism: prove_run(
        compose(sampled(derive_profile(profile)), sampled(derive_profile(mechanism.profile))), mechanism, mechanism
    ),
    "compose with what is proved": lambda profile, mechanism: prove_run(
        compose(sampled(derive_profile(profile)), sampled(derive_mechanism(mechanism))), mechanism
    ),
    "a file that is supposed": lambda profile, mechanism: prove_run(
        suppose(read_guarantee(write_guarantee(sampled(derive_profile(profile))))), mechanism
    ),
}


class Liar:
    """Declares another profile than that of the mechanism that it runs."""

    def __init__(self, profile: Profile, inner: Any) -> None:
        self.profile, self._inner = profile, inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


ROADS["derive_mechanism"] = lambda profile, mechanism: derive_mechanism(Liar(profile, mechanism))


def require_open(found: Guarantee) -> None:
    """Both stand open: what runs is not known to have this profile."""
    assert DECLARED_PROFILE.id in [item.id for item in found.hypotheses]
    assert EXACT_REALS in found.hypotheses


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(MECHANISMS)),
    st.sampled_from(sorted(ROADS)),
    st.sampled_from(sorted(FORGERIES)),
    st.sampled_from([Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000), Fraction(2)]),
)
def test_a_forged_profile_is_nobodys(name: str, road: str, forgery: str, factor: Fraction) -> None:
    mechanism = MECHANISMS[name]
    forged = FORGERIES[forgery](mechanism.profile, factor)
    if forged == mechanism.profile and len(forged.parts) == len(mechanism.profile.parts):
        return  # this one changes nothing here
    if forgery == "fewer runs" and not forged.parts:
        return
    require_open(ROADS[road](forged, mechanism))


def test_the_cases_of_the_attack() -> None:
    """A bound of 0.001 was printed for a mechanism that loses 1."""
    runs, other = LaplaceSum(b=1, radius=1), LaplaceSum(b=1000, radius=1)
    found = prove_run(derive_epsilon(other.profile, rule="uniform", constants={"rate": 1}).guarantee, runs)
    require_open(found)
    forged = replace(runs.profile, promise=substitute(runs.profile.epsilon, {"b": number(1000)}), parameters=())
    require_open(prove_run(derive_profile(forged), runs))
    require_open(derived(forged, runs))


#: A class of one's own, a file, and two promises for one mechanism.
UNPROVED = ("derive_mechanism", "a file that is supposed", "compose with what is proved")


@pytest.mark.thorough(quick=10)
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("road", [road for road in ROADS if road not in UNPROVED])
def test_its_own_profile_is_proved(road: str, name: str) -> None:
    """Else the tests above could pass for nothing."""
    mechanism = MECHANISMS[name]
    found = ROADS[road](mechanism.profile, mechanism)
    assert {DECLARED_PROFILE.id, PARTS_RUN.id, EXACT_REALS.id}.isdisjoint(item.id for item in found.hypotheses)


def test_a_sum_that_borrows_a_name_is_not_run_as_often_as_it_says() -> None:
    """The parts are the mechanism's own; how often they are run is not."""
    mechanism = MECHANISMS["Lloyd"]
    forged = run_once(mechanism.profile, Fraction(1))
    found = prove_run(sampled(derive_profile(forged)), mechanism)
    assert PARTS_RUN.about(name=forged.name) in found.hypotheses
    parts = [sampled(base_profile(part.profile)) for part in mechanism.profile.parts]
    require_open(prove_run(compose(*parts), mechanism))  # one pass of three


def test_a_promise_beside_its_own_keeps_both_open() -> None:
    """Two promises have one sentence: it is discharged where both are the mechanism's."""
    runs = MECHANISMS["sum"]
    forged = stretch(runs.profile, Fraction(1, 1000))
    whole = replace(runs.profile, name="both", promise=("add", runs.profile.epsilon, forged.epsilon))
    whole = replace(whole, parts=(Part(runs.profile, number(1)), Part(forged, number(1))))
    found = adaptive_composition(whole, [base_profile(runs.profile), base_profile(forged)])
    require_open(prove_run(found, runs, runs))


def test_records_of_other_statistics_are_another_promise() -> None:
    runs = MECHANISMS["count"]
    record = (Statistic("z", Fraction(0), Fraction(1)),)
    forged = replace(runs.profile, promise=("mul", symbol("z"), runs.profile.epsilon), record=record)
    require_open(prove_run(sampled(derive_profile(forged)), runs))
