"""assumption-9-nonzero: what Theorem 10 needs of Assumption 9, with records at which nothing is lost."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from accountant import derive_epsilon, optimal_weight
from profiles import declare
from proofs_check.admission import admit
from proofs_check.certificates import to_file_text
from proofs_check.conditions.assumption_9_nonzero import ID, decide, find_loss, prove_published
from proofs_check.conditions.context import Context
from proofs_check.kernel import check
from proofs_check.results import Verdict
from proofs_check.verify import verify

P, R = "proved", "refuted"
Z, BOTH = {"z": [0, 2]}, {"y": [0, 1], "z": [0, 1]}
PROFILES = [  # epsilon, record, parameters, target, verdict
    ("w*z/b", Z, {"b": 1}, "3", P),
    ("w*z/b", Z, {"b": "positive"}, "3", P),
    ("w*z/b", Z, {"b": ["1/2", "3"]}, "1/10", P),
    ("T*w*z/s", {"z": [0, 4]}, {"T": 10, "s": 30}, "20", P),
    ("w*(y + z)", BOTH, {}, "2", P),
    ("w*y*z", BOTH, {}, "2", P),
    ("w*y + w**2*z", BOTH, {}, "2", P),
    ("w*(x + y + z)", {"x": [0, 1], **BOTH}, {}, "3", P),
    ("w*Abs(z)", {"z": [-1, 1]}, {}, "1", P),
    ("w*z**2", {"z": [-1, 1]}, {}, "1", P),
    ("w*(z - 1/2)**2", Z, {}, "3", P),
    ("w*z*(1 - z)", {"z": [0, 1]}, {}, "1", P),
    ("w*Max(z - 1, 0)", Z, {}, "1", P),
    ("w*Max(1 - z, 0)", Z, {}, "1", P),
    ("w*Max(y, z)", BOTH, {}, "1", P),
    ("w*sqrt(y**2 + z**2)", {"y": [-1, 1], "z": [-1, 1]}, {}, "2", P),
    ("exp(w*z) - 1", Z, {}, "7", P),
    ("z*sqrt(w)", Z, {}, "2", P),
    ("z*w**(3/2)", Z, {}, "2", P),
    ("w*log(1 + z)", Z, {}, "2", P),
    ("w*(a - 1)*z", Z, {"a": ["1", "2"]}, "2", P),
    ("0*w*z", Z, {}, "1", P),
    ("w*z", {"z": [0, 0]}, {}, "1", P),
    ("w*(z + 1)", Z, {}, "3", P),  # nothing vanishes: as published
    ("z + 0*w", Z, {}, "3", R),
    ("log(1 + w*z)", {"z": [0, 1]}, {}, "1", R),
    ("w*z/(1 + w*z)", Z, {}, "1", R),
    ("z*Max(0, 1 - 3/w)", Z, {}, "1", R),  # zero for light weights only
    ("y*w + z/w", BOTH, {}, "2", R),  # grows where y > 0, and not where y = 0 < z
    ("Max(1 - z, 0) + 0*w", Z, {}, "1", R),
]


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(("epsilon", "record", "parameters", "target", "expected"), PROFILES)
def test_decided_and_certified(epsilon, record, parameters, target, expected):
    profile = declare("p", epsilon, record=record, parameters=parameters)
    found = verify(profile, target, [ID])
    decision = found.decisions[ID]
    assert decision.verdict.value == expected, decision
    assert decision.checked
    report = check(to_file_text(found.certificate()))
    assert (report.accepted, [(claim.claim, claim.verdict) for claim in report.claims][1:]) == (True, [(ID, expected)])
    if expected == R:
        at = {name: mpf(value.numerator) / value.denominator for name, value in (decision.witness or {}).items()}
        assert find_loss(profile, decision.witness or {}) is not None, at


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize(("epsilon", "record", "parameters", "target", "expected"), PROFILES[:7])
def test_the_published_condition_stays_refuted_and_the_theorem_follows(epsilon, record, parameters, target, expected):
    found = verify(declare("p", epsilon, record=record, parameters=parameters), target, ["assumption-9", ID])
    assert found.decisions["assumption-9"].verdict is Verdict.REFUTED
    assert found.decisions[ID].verdict.value == expected


def test_it_follows_from_the_published_one_by_the_same_proof():
    found = verify(declare("p", "w*z", record={"z": [1, 2]}), 3, ["assumption-9", ID])
    first, second = (found.decisions[name].claim or {} for name in ("assumption-9", ID))
    assert first["proof"] == second["proof"]
    alone = verify(declare("p", "w*z", record={"z": [1, 2]}), 3, ["assumption-8", "assumption-9"])
    theorem = alone.consequences[0]
    assert (theorem.statement, theorem.verdict) == ("theorem-10", "proved")


def test_where_the_weight_is_infinite_is_said():
    decision = verify(declare("p", "w*y*z", record=BOTH), 3, [ID]).decisions[ID]
    assert decision.details["infinite_weight"] in (["where y = 0", "where z = 0"], ["where y*z = 0"])
    assert verify(declare("p", "w*(y + z)", record=BOTH), 3, [ID]).decisions[ID].details["infinite_weight"] in (
        ["where y = 0 and z = 0"],
        ["where y + z = 0"],
    )


def test_a_jump_in_the_weight_leaves_the_theorem_open():
    profile = declare("p", "Piecewise((w*z, w < 1 + z), (w*z + z, True))", record={"z": [1, 2]})
    found = verify(profile, 5)
    assert found.decisions[ID].verdict is not Verdict.REFUTED
    assert found.verdict is Verdict.UNKNOWN


@pytest.mark.thorough
def test_a_derivative_is_continuity():
    profile = declare("p", "w*z + z*Piecewise((0, w < 2), ((w - 2)**2, True))", record={"z": [1, 2]})
    found = verify(profile, 5)
    assert found.decisions["assumption-11"].verdict is Verdict.PROVED
    assert found.verdict is Verdict.PROVED


def test_weights_and_the_theorem_agree_about_the_record_without_loss():
    profile = declare("p", "w*z/2", record=Z)
    assert optimal_weight(profile, 3, {"z": 0}).infinite
    weight = optimal_weight(profile, 3, {"z": "1/1000"})
    assert not weight.infinite
    mp.dps = 40
    w = mpf(weight.lower.numerator) / weight.lower.denominator
    assert mp.log1p(mp.expm1(w / 2000) / w) <= 3


def test_privacy_constrained_sampling_rests_on_it():
    found = derive_epsilon(declare("p", "w*z/2", record=Z), rule="privacy-constrained", target_epsilon=3)
    assert (found.bound.lower, found.bound.upper, found.bound.evidence.at) == (3, 3, {"z": Fraction(2)})
    assert "probability" in {item.hypothesis.id for item in found.guarantee.discharged}
    assert {name: item.verdict for name, item in found.conditions.decisions.items()} == dict.fromkeys(("assumption-8", ID), Verdict.PROVED)
    nothing = derive_epsilon(declare("p", "0*w*z", record=Z), rule="privacy-constrained", target_epsilon=3)
    assert (nothing.bound.lower, nothing.bound.upper) == (0, 3)  # no record reaches the target
    bounded = derive_epsilon(declare("p", "z + 0*w", record=Z), rule="privacy-constrained", target_epsilon=3)
    assert (bounded.bound.lower, bounded.bound.upper) == (0, 3)


BOWL = {"y": [0, 2], "z": [0, 2]}


@pytest.mark.parametrize("epsilon", ["(z-1)**2 + (y-1)**2 + w*1e-300", "w*((z-1)**2 + (y-1)**2) + 1e-300*w"])
def test_it_follows_from_a_proof_for_all_values_of_a_part(epsilon):
    decisions = verify(declare("p", epsilon, record=BOWL), 3, ["assumption-9", ID]).decisions
    assert {name: decision.verdict.value for name, decision in decisions.items()} == {"assumption-9": P, ID: P}
    assert "for all values of" in decisions[ID].method
    assert all(decision.checked for decision in decisions.values())


@pytest.mark.thorough
def test_what_follows_does_not_depend_on_what_else_is_asked():
    profile = declare("p", "w*((z-1)**2 + (y-1)**2) + 1e-300*w", record=BOWL)
    assert verify(profile, 3, [ID]).decisions[ID].verdict is Verdict.PROVED


@pytest.mark.parametrize(("epsilon", "expected"), [("w*(z + 1)", Verdict.PROVED), ("w*z", None)])
def test_the_published_one_follows_from_a_proof_without_a_zero(epsilon, expected):
    context = Context(admit(declare("p", epsilon, record=Z)), Fraction(3))
    found = decide(context)
    assert found.verdict is Verdict.PROVED
    published = prove_published(context, found)
    assert (None if published is None else published.verdict) is expected
    if published is not None and published.claim is not None:
        certificate = context.forms.admit().certificate([published.claim], target=context.target)
        assert check(to_file_text(certificate)).accepted
        assert published.method == found.method.removeprefix("epsilon is 0 nowhere; elsewhere ")


def test_where_it_vanishes_is_said_in_the_words_of_the_profile():
    decision = verify(declare("p", "w*c_max**2/2", record={"c_max": [0, 2]}), 3, [ID]).decisions[ID]
    assert decision.method.startswith("epsilon is 0 where c_max**2 = 0; elsewhere ")
    assert decision.method.endswith(", for all values of c_max**2")
    assert "where c_max**2 = 0" in decision._repr_html_()
