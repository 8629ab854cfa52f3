"""Guarantees are made by rules only, carry their hypotheses, and say so in every print."""

import dataclasses
import json
from fractions import Fraction

import pytest

from accountant import derive_epsilon
from accountant.guarantees import (
    DEFINED,
    EXACT_REALS,
    PROBABILITY,
    Derivation,
    Guarantee,
    Losses,
    ProfileBound,
    adaptive_composition,
    amplify_by_importance_sampling,
    base_profile,
    derive_profile,
    discharge,
    post_processing,
    render,
    to_json,
    worst_case,
)
from accountant.guarantees.render import OPEN, SETTLED
from accountant.guarantees.statements import may_close
from accountant.guarantees.theorem import Statement
from accountant.rules import make_rule, rule_from_expression
from profiles import InvalidArgument, InvalidProfile, Undecided, compose_adaptively, declare
from profiles.hypotheses import (
    CONDITION,
    FIXED_IN_ADVANCE,
    IN_RANGE,
    OF_MECHANISMS,
    ONE_ANALYSIS,
    ONE_RECORD_EACH,
    RECORD_STATISTICS,
    Head,
    name_declaration,
    name_range,
    name_statistics,
)
from profiles.profile import Part
from profiles.protection import RECORDS
from tests.hypotheses import say

SUM = declare("K-norm weighted sum", "w*z/beta_sum", record={"z": [0, "1.5113"]}, parameters={"beta_sum": 30}, source="sum source")
COUNT = declare("weighted count", "w/beta_count", parameters={"beta_count": "20.5"}, source="count source")
LLOYD = compose_adaptively(
    "weighted DP-Lloyd", [COUNT, SUM], times="T", times_value=10, source="Fay et al. 2024, Proposition 13"
)  # fmt: skip
RULE = make_rule("coreset-l2", LLOYD, {"m": 5000, "n": 48740, "lam": "0.5", "mean": "1.26396"})


@pytest.fixture(scope="module")
def lloyd_after_coreset():
    return worst_case(amplify_by_importance_sampling(derive_profile(LLOYD), RULE))


def discharge_all(guarantee):
    for hypothesis in guarantee.hypotheses:
        if may_close(hypothesis, "said in the data sheet"):
            guarantee = discharge(guarantee, hypothesis, "said in the data sheet")
    return guarantee


def test_the_print_of_lloyd_after_coreset_sampling(lloyd_after_coreset):
    text = render(lloyd_after_coreset)
    assert isinstance(lloyd_after_coreset, Guarantee)
    for part in ("Theorem 6", "Proposition 13", "adaptive composition", "epsilon <= 7.9014986322", "checked by kernel: yes"):
        assert part in text
    open_part, rest = text.split(OPEN)[1].split(f"\n{SETTLED}\n")
    assert [line.strip() for line in open_part.splitlines() if line.startswith("  ") and line[2] != " "] == [head.value for head in Head]
    for hypothesis in (
        "n, m and lam are public",
        "the mean squared norm is public",
        "the data are centred by a public centre",
        EXACT_REALS.sentence,
        ONE_ANALYSIS.sentence,
        FIXED_IN_ADVANCE.sentence,
    ):
        assert f"- {hypothesis}" in " ".join(open_part.split())
    assert PROBABILITY.sentence in rest
    assert "checked" in rest
    assert max(map(len, text.splitlines())) <= 80


def test_the_json_says_the_same(lloyd_after_coreset):
    found = json.loads(json.dumps(to_json(lloyd_after_coreset)))
    assert found["notion"] == "add-remove-dp"
    assert Fraction(found["epsilon"]["lower"]) <= Fraction("7.90149862508") <= Fraction(found["epsilon"]["upper"])
    assert found["conditional"] is True
    assert "the mean squared norm is public" in found["hypotheses"]
    assert {item["hypothesis"] for item in found["discharged"]} == {DEFINED.sentence, PROBABILITY.sentence}
    assert {item["id"] for item in found["discharged"]} == {DEFINED.id, PROBABILITY.id}
    assert [item["sentence"] for item in found["premises"]] == found["hypotheses"]
    assert [(item["id"], item["head"]) for item in found["premises"]] == [
        (item.id, item.head.value) for item in lloyd_after_coreset.hypotheses
    ]
    assert found["unit"] == "record"
    assert found["derivation"]["claims"] == ["well-defined", "epsilon-upper", "epsilon-lower"]
    assert found["derivation"]["premises"][0]["premises"][0]["rule"] == "adaptive composition"


def test_words_discharge_all_but_what_is_about_the_world(lloyd_after_coreset):
    closed = discharge_all(lloyd_after_coreset)
    assert {item.id for item in closed.hypotheses} == {
        "fixed-in-advance",
        "one-record-each",
        "declared-range",
        "record-statistics",
        "only-release",
    }
    assert not closed.is_unconditional
    assert "said in the data sheet" in render(closed)
    assert isinstance(closed.bound, Losses)


def test_users_cannot_make_or_alter_guarantees(lloyd_after_coreset):
    derivation = Derivation("post-processing", "b", "c")
    with pytest.raises(InvalidArgument):
        Guarantee(Statement("x", ProfileBound(SUM), RECORDS, (), (), derivation), object())
    with pytest.raises(InvalidArgument):
        Guarantee(lloyd_after_coreset.statement, None)
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(lloyd_after_coreset, hypotheses=("nothing",))
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
        lloyd_after_coreset.hypotheses = ()


def test_a_declared_profile_is_a_hypothesis_whatever_source_it_names():
    own = declare("mine", "w*z", record={"z": [0, 1]})
    assert "the mechanism 'mine' has the profile that is declared for it" in say(base_profile(own).hypotheses)
    attributed = "the mechanism 'K-norm weighted sum' has the profile that is declared for it (its source: sum source; not checked here)"
    assert attributed in say(base_profile(SUM).hypotheses)
    for profile in (own, SUM):
        of_all = {*OF_MECHANISMS, ONE_RECORD_EACH, name_declaration(profile)}
        assert set(base_profile(profile).hypotheses) == {*of_all, EXACT_REALS}
        assert set(base_profile(profile, hypotheses=()).hypotheses) == of_all


def test_composition_checks_that_epsilon_is_the_sum():
    wrong = dataclasses.replace(LLOYD, parts=(*LLOYD.parts, Part(COUNT, ("num", Fraction(1)))))
    with pytest.raises(InvalidProfile, match="not the sum"):
        derive_profile(wrong)
    fewer = dataclasses.replace(LLOYD, parts=LLOYD.parts[:1])
    with pytest.raises(InvalidProfile, match="not the sum"):
        derive_profile(fewer)


def test_a_part_that_is_undefined_somewhere_does_not_cancel():
    """Its promise says nothing at z = 1, although SymPy simplifies the difference of the sums to 0."""
    part = declare("no promise at z = 1", "w*z + 1/(z - 1) - 1/(z - 1)", record={"z": [0, 1]}, source="s")
    whole = dataclasses.replace(declare("whole", "w*z", record={"z": [0, 1]}, source="s"), parts=(Part(part, ("num", Fraction(1))),))
    with pytest.raises(InvalidProfile, match="divides by zero at z = 1"):
        derive_profile(whole)


def test_composition_checks_its_parts():
    with pytest.raises(InvalidArgument, match="in order"):
        adaptive_composition(LLOYD, [base_profile(SUM), base_profile(COUNT)])
    with pytest.raises(InvalidArgument, match="one for each"):
        adaptive_composition(LLOYD, [base_profile(SUM)])
    with pytest.raises(InvalidArgument, match="not composed"):
        adaptive_composition(SUM, [])
    other = dataclasses.replace(LLOYD, parameters=tuple(p for p in LLOYD.parameters if p.name != "beta_sum"))
    with pytest.raises(InvalidProfile, match="means something else"):
        derive_profile(other)


def test_the_number_of_uses_is_an_integer():
    half = dataclasses.replace(
        LLOYD, parameters=tuple(dataclasses.replace(p, value=Fraction(1, 2)) if p.name == "T" else p for p in LLOYD.parameters)
    )
    with pytest.raises(InvalidProfile, match="positive integer"):
        derive_profile(half)
    for times in (("sym", "U"), ("sym", "z"), ("num", Fraction(0))):  # a number of uses that nobody declared, or that a record has
        with pytest.raises(InvalidProfile, match="positive integer"):
            derive_profile(dataclasses.replace(LLOYD, parts=tuple(dataclasses.replace(part, times=times) for part in LLOYD.parts)))
    unspecified = compose_adaptively("l", [COUNT, SUM], times="T")
    assert "T is a positive integer, fixed in advance" in say(derive_profile(unspecified).hypotheses)


def test_nested_compositions_are_derived_from_the_leaves():
    twice = compose_adaptively("twice", [LLOYD], times=2, source="s")
    text = render(derive_profile(twice))
    assert text.count("adaptive composition") == 2
    assert text.count("declared profile") == 2


def test_a_hypothesis_discharged_for_one_part_stays_open_for_the_other():
    parts = [discharge(base_profile(COUNT), EXACT_REALS, "a discrete sampler"), base_profile(SUM)]
    whole = adaptive_composition(LLOYD, parts)
    assert EXACT_REALS in whole.hypotheses
    assert whole.discharged[0].subject == "weighted count"


def test_rules_refuse_guarantees_of_the_wrong_kind(lloyd_after_coreset):
    with pytest.raises(InvalidArgument, match="amplif"):
        amplify_by_importance_sampling(lloyd_after_coreset, RULE)
    with pytest.raises(InvalidArgument, match="amplify first"):
        worst_case(derive_profile(LLOYD))


def test_post_processing_keeps_the_bound(lloyd_after_coreset):
    after = post_processing(lloyd_after_coreset, "nearest-centre labels")
    assert after.bound == lloyd_after_coreset.bound
    assert "nearest-centre labels uses the data only through the output of the mechanism" in say(after.hypotheses)
    with pytest.raises(InvalidArgument):
        post_processing(lloyd_after_coreset, " ")


def test_discharging_needs_the_words_and_a_reason(lloyd_after_coreset):
    with pytest.raises(InvalidArgument, match="did you mean 'the mean squared norm is public'"):
        discharge(lloyd_after_coreset, "the mean squared norm is publik", "x")
    with pytest.raises(InvalidArgument, match="evidence"):
        discharge(lloyd_after_coreset, "the mean squared norm is public", " ")
    with pytest.raises(InvalidArgument, match="not an open hypothesis"):
        discharge(discharge_all(lloyd_after_coreset), "the mean squared norm is public", "again")


def test_privacy_constrained_sampling_rests_on_its_conditions():
    rule = make_rule("privacy-constrained", LLOYD, target_epsilon=2)
    sampled = amplify_by_importance_sampling(derive_profile(LLOYD), rule)
    proved = worst_case(sampled, premises={"assumption-8": True, "assumption-9": True, "feasibility": True})
    assert (proved.bound.lower, proved.bound.upper) == (2, 2)
    assert PROBABILITY not in proved.hypotheses
    assert "Theorem 10" in render(proved)
    open_one = worst_case(sampled, premises={})
    assert CONDITION.about(name="assumption-8") in open_one.hypotheses
    assert PROBABILITY in open_one.hypotheses


def test_privacy_constrained_sampling_names_theorem_10_only_where_it_applies():
    def derive(text, target):
        return derive_epsilon(declare("mine", text, record={"z": [1, 2]}, source="s"), rule="privacy-constrained", target_epsilon=target)

    applies, does_not = derive("w*z/3", 2), derive("w*z/(1 + w)", 3)  # no growth: assumption 9 is refuted, and w*(x) infinite
    assert applies.guarantee.derivation.statement == "Fay et al. 2024, Definitions 2 and 4, Problem 7, Theorem 10"
    assert does_not.guarantee.derivation.statement == "Fay et al. 2024, Definitions 2 and 4, Problem 7"
    assert "Theorem 10" not in does_not.render()
    for found in (applies, does_not):
        assert DEFINED not in found.guarantee.hypotheses
        assert DEFINED in {item.hypothesis for item in found.guarantee.discharged}


def test_what_nobody_has_proved_to_be_defined_stays_a_hypothesis(monkeypatch):
    def undecided(profile):
        raise Undecided(f"{profile.name} was not decided")

    monkeypatch.setattr("accountant.guarantees.bounds.admit", undecided)
    rule = make_rule("privacy-constrained", SUM, target_epsilon=2)
    found = worst_case(amplify_by_importance_sampling(base_profile(SUM), rule), premises={"assumption-8": True, "feasibility": True})
    assert DEFINED in found.hypotheses


def test_the_hypothesis_about_the_range_names_the_range_of_the_profile(lloyd_after_coreset):
    assert "the declared range contains every record: z in [0, 1.5113]" in say(lloyd_after_coreset.hypotheses)
    narrow = SUM.with_record(z=(0, "1/3"))
    rule = make_rule("uniform", SUM, {"rate": "1/2"})  # made for another range than that of the profile which it samples
    sampled = amplify_by_importance_sampling(base_profile(narrow), rule)
    assert "the declared range contains every record: z in [0, 1/3]" in say(sampled.hypotheses)
    of_none = amplify_by_importance_sampling(base_profile(COUNT), rule)  # there is nothing to be in a range: that is no open question
    assert name_range(COUNT).sentence == "the declared range contains every record: no statistic is declared"
    closed = {item.hypothesis: item.evidence for item in of_none.discharged}
    assert closed == dict.fromkeys((name_range(COUNT), name_statistics(COUNT)), "the profile reads no statistic of a record")
    assert not {IN_RANGE.id, RECORD_STATISTICS.id} & {item.id for item in of_none.hypotheses}


def test_an_expression_rule_is_carried_too():
    rule = rule_from_expression("c + z/10", LLOYD, {"c": "0.2"})
    found = worst_case(amplify_by_importance_sampling(derive_profile(LLOYD), rule))
    assert "c is public" in say(found.hypotheses)
