"""What the release before wrote is read and checked, with the hypotheses open that words had closed in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accountant import check, read_guarantee, replay
from accountant.checking import check_document
from profiles.hypotheses import FIXED_IN_ADVANCE, ONE_RECORD_EACH, RECORD_STATISTICS

FOLDER = Path(__file__).parent / "earlier"
ABOUT_DATA = {FIXED_IN_ADVANCE.id, ONE_RECORD_EACH.id, RECORD_STATISTICS.id}


@pytest.mark.parametrize("name", ["kmeans", "kmeans-sample", "kmeans-delta", "statistics"])
def test_certificates_are_accepted_with_what_they_left_out(name: str) -> None:
    """Sentences were worded anew since: that they differ from those of now is no forgery."""
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    checked = check_document(text).outcome
    assert checked.report.accepted, checked.report
    assert checked.about is not None
    assert {item["id"] for item in checked.about["premises"]} >= ABOUT_DATA
    named = {item["id"] for item in json.loads(text)["premises"]}
    assert named.isdisjoint(ABOUT_DATA) is name.startswith("kmeans")


@pytest.mark.parametrize("name", ["kmeans", "statistics"])
def test_their_hypotheses_are_said_twice_alike(name: str) -> None:
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    found["hypotheses"][0] = "nothing is supposed"
    report = check(found)
    assert not report.accepted
    assert "premises" in str(report.reason)


@pytest.mark.parametrize("name", ["kmeans-guarantee", "lloyd-guarantee"])
def test_guarantees_are_replayed_with_what_words_had_closed(name: str) -> None:
    read = read_guarantee((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert read.version == 2
    for accept in (False, True):
        again = replay(read, accept_evidence=accept)
        assert {item.id for item in again.hypotheses} >= ABOUT_DATA
        assert not ABOUT_DATA & {item.hypothesis.id for item in again.discharged}
