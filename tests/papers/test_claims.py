"""The claims of the papers as a whole: ids, verdicts, consequences, corrections."""

import json
from collections import Counter

import pytest

from profiles import InvalidArgument
from proofs_check.papers import PAPERS, PaperClaim, Status, all_claims, find_claim, judge

CLAIMS = all_claims()
#: Every claim is judged below, and refuted if and only if it has a consequence; judged here, all workers would do it while they collect.
REFUTED = [claim for claim in CLAIMS if claim.consequence is not None]


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
