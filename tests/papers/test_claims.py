"""The claims as a whole: ids, corrections, and that verdicts are computed and never believed."""

import json
from collections import Counter

import pytest

from profiles import InvalidArgument
from proofs_check.papers import PAPERS, Goals, PaperClaim, Status, all_claims, find_claim, judge
from proofs_check.prover.trees import tangent
from proofs_check.statements.judge import decide

CLAIMS = all_claims()
#: Every claim is judged below, and refuted if and only if it has a consequence; judged here, all workers would do it while they collect.
REFUTED = [claim for claim in CLAIMS if claim.consequence is not None]


def claim(*goals, **fields):
    return PaperClaim("test-0-x", "nowhere", "a statement", goals=goals, **fields)


def test_ids_are_unique_and_name_their_paper():
    assert max(Counter(item.id for item in CLAIMS).values()) == 1
    assert {item.paper for item in CLAIMS} == {paper.key for paper in PAPERS}
    assert len(CLAIMS) > 90


def test_statements_are_not_repeated():
    goals = Counter((item.paper, item.goals, str(item.against)) for item in map(without_hints, CLAIMS) if item.aside is None)
    repeated = [key for key, count in goals.items() if count > 1]
    # the display of Algorithm 2 and the end of Proposition 13 reduce to the same identity in different papers only
    assert repeated == []


def without_hints(item):
    strip = tuple((goals.relation, goals.box, goals.derive) for goals in item.goals)
    return PaperClaim(item.id, "", "", goals=strip, against=tuple(goals.relation for goals in item.against), aside=item.aside)


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize("item", CLAIMS, ids=lambda item: item.id)
def test_every_claim_is_decided_or_carries_its_argument(item):
    found = judge(item.id)
    assert found.status is not Status.UNKNOWN
    assert (found.status in (Status.DAMAGED, Status.OUT_OF_SCOPE)) == bool(item.argument)
    assert (found.status is Status.REFUTED) == (found.witness is not None) == (item.consequence is not None)


@pytest.mark.thorough(quick=11)
@pytest.mark.parametrize("item", REFUTED, ids=lambda item: item.id)
def test_a_refuted_claim_has_a_consequence_and_a_proved_correction(item):
    assert judge(item.id).status is Status.REFUTED
    assert item.effect
    assert item.correction
    corrections = [other for other in CLAIMS if item.id in other.corrects]
    assert corrections
    assert all(judge(other.id).status is Status.PROVED for other in corrections)


@pytest.mark.thorough
def test_what_a_claim_corrects_exists():
    for item in CLAIMS:
        for other in item.corrects:
            assert judge(other).status in (Status.REFUTED, Status.OUT_OF_SCOPE)


def test_verdicts_come_from_the_goals():
    assert decide(claim(Goals("exp(x) >= 1 + x", "x in [0, oo)"))).status is Status.PROVED
    wrong = decide(claim(Goals("exp(x) >= 1 + 2*x", "x in [0, oo)", first="x = 1")))
    assert wrong.status is Status.REFUTED
    assert judge_point(wrong) == {"x": "1"}
    assert decide(claim()).status is Status.UNKNOWN


def judge_point(found):
    return found.to_json()["witness"]


def test_a_suggested_witness_that_is_none_is_not_believed():
    found = decide(claim(Goals("exp(x) >= 1 + x", "x in [0, oo)", first="x = 5")))
    assert found.status is Status.PROVED
    outside = decide(claim(Goals("x >= 1", "x in [1, oo)", first="x = 0")))
    assert outside.status is Status.PROVED


def test_a_wrong_hint_proves_nothing():
    false = Goals("1 + x + x**2 >= exp(x)", "x in [0, 1]", hint=tangent("x", "-1", {"rule": "manifest"}))
    assert decide(claim(false)).status is not Status.REFUTED  # true on [0, 1]
    beyond = Goals("1 + x + x**2 >= exp(x)", "x in [0, 3]", hint={"rule": "manifest"})
    assert decide(claim(beyond)).status is Status.REFUTED


def test_an_undefined_statement_is_never_proved():
    assert decide(claim(Goals("0*(1/(w - 2)) >= 0", "w in [1, oo)"))).status is Status.UNKNOWN
    assert decide(claim(Goals("log(x) - log(x) >= 0", "x in [0, 1]"))).status is not Status.PROVED


def test_an_instance_refutes_only_if_all_its_goals_are_proved():
    good, bad = Goals("x >= 0", "x in [0, 1]"), Goals("x > 0", "x in [0, 1]")
    assert decide(PaperClaim("test-0-y", "", "", against=(good,), instance={"x": "1/3"})).status is Status.REFUTED
    assert decide(PaperClaim("test-0-z", "", "", against=(good, bad), instance={"x": "1/3"})).status is Status.UNKNOWN


def test_an_equality_is_two_goals_and_a_real_has_both_signs():
    assert decide(claim(Goals("(p - 1)*(p + 1) == p**2 - 1", "p in R"))).status is Status.PROVED
    found = decide(claim(Goals("p**3 >= 0", "p in R", first="p = -2")))
    assert judge_point(found) == {"p": "-2"}


def test_unknown_ids_and_papers_are_refused_with_a_hint():
    with pytest.raises(InvalidArgument, match="fay-2024-equation-4"):
        find_claim("fay-2024-equation4")
    with pytest.raises(InvalidArgument, match="fay-2023"):
        all_claims("fay")


@pytest.mark.thorough
def test_json_has_exactly_the_stable_keys():
    for item in CLAIMS:
        found = judge(item.id).to_json()
        assert list(found) == ["id", "source", "statement", "verdict", "witness", "correction"]
        assert json.loads(json.dumps(found)) == found
