"""Guarantee files of version 1, from before hypotheses had ids: read, replayed and supposed with all hypotheses of now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accountant.guarantees import Guarantee, base_profile, render
from accountant.guarantees.statements import RULES, may_close
from accountant.interop import read_guarantee, replay, suppose, write_guarantee
from profiles import NotReplayed, UnreadableFile
from profiles.hypotheses import (
    ARITHMETIC,
    FILE_IS_RIGHT,
    FIXED_IN_ADVANCE,
    NOT_REDRAWN,
    ONE_RECORD_EACH,
    ONLY_RELEASE,
    RANDOMNESS,
    WEIGHT_AS_GIVEN,
    as_hypothesis,
)
from tests.interop.test_files import MUTANTS, NAMES, SUM, text

FOLDER = Path(__file__).parent / "version1"
#: What version 1 has no rule for.
LATER = {"curves", "gaussian", "weighed", "tabulated", "covered"}
OLD = [name for name in NAMES if name not in LATER]
UNREPLAYED = ("ran", "once", "supposed")


def _old(name: str) -> str:
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_there_is_a_file_of_every_kind() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*OLD, *UNREPLAYED}


@pytest.mark.parametrize("name", [*OLD, *UNREPLAYED])
def test_files_of_version_1_are_read_and_supposed(name: str) -> None:
    whole, read = json.loads(_old(name)), read_guarantee(_old(name))
    assert (whole["version"], read.version) == (1, 1)
    reopened = [item for item in whole["discharged"] if not may_close(as_hypothesis(item["hypothesis"]), item["evidence"])]
    assert len(read.stated.hypotheses) == len(whole["hypotheses"]) + len(reopened)
    assert read.stated.unit.name == "RECORD"
    found = suppose(read)
    assert isinstance(found, Guarantee)
    assert found.hypotheses == read.hypotheses
    assert found.hypotheses[0] == FILE_IS_RIGHT.about(digest=read.digest)
    assert {FIXED_IN_ADVANCE, ONLY_RELEASE, ONE_RECORD_EACH, RANDOMNESS} <= set(found.hypotheses)
    for hypothesis in found.hypotheses:
        assert hypothesis.sentence in " ".join(render(found).split())
        assert hypothesis.sentence in " ".join(read.render().split())
    again = read_guarantee(write_guarantee(found))
    assert (again.version, again.stated.hypotheses) == (3, found.hypotheses)


def test_what_cannot_be_replayed_still_has_the_hypotheses_of_its_rules() -> None:
    found = {item.id for item in suppose(read_guarantee(_old("ran"))).hypotheses}
    told = {item.hypothesis.id for item in read_guarantee(_old("ran")).stated.discharged}
    for rule in ("Poisson sampling in binary64", "amplification by importance sampling", "declared profile"):
        assert {item.id for item in RULES[rule].hypotheses} <= found | told, rule
    assert {NOT_REDRAWN.id, WEIGHT_AS_GIVEN.id, ARITHMETIC.id} <= found
    for name in UNREPLAYED:
        with pytest.raises(NotReplayed):
            replay(read_guarantee(_old(name)))


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("name", OLD)
def test_replaying_a_file_of_version_1_gives_what_a_file_of_now_gives(name: str) -> None:
    old, new = read_guarantee(_old(name)), read_guarantee(text(name))
    for accept in (False, True):
        found = replay(old, accept_evidence=accept)
        again = replay(new, accept_evidence=accept)
        if name == "constrained":  # the file rests on assumption-9, as published; what is made now on what Theorem 10 needs of it
            assert (found.bound, found.hypotheses) == (again.bound, again.hypotheses)
        else:
            assert render(found) == render(again)
        assert {item.id for item in replay(old).hypotheses} > {item.id for item in old.stated.hypotheses if item.id not in CLOSED_NOW}
        assert FIXED_IN_ADVANCE in found.hypotheses


#: What a profile without statistics leaves open no more.
CLOSED_NOW = {"declared-range", "record-statistics"}


def _mutants() -> dict[str, Any]:
    """The mutants of version 2, as far as the first version has what they change; and a hypothesis that no rule makes."""

    def sentences(whole: dict[str, Any]) -> None:
        whole["hypotheses"].append("the moon is full")

    return {**MUTANTS, "a hypothesis too many": sentences}


@pytest.mark.parametrize("name", sorted(_mutants()))
def test_a_changed_file_of_version_1_never_gives_more_than_its_calls(name: str) -> None:
    """It named fewer hypotheses, so that one that is missing is no contradiction: then it comes back, as the rules make it."""
    known, whole = [base_profile(SUM)], json.loads(_old("epsilon"))
    true = render(replay(read_guarantee(_old("epsilon")), known=known, accept_evidence=True))
    try:
        _mutants()[name](whole)
        read = read_guarantee(json.dumps(whole))
    except (UnreadableFile, TypeError, KeyError):
        return
    try:
        found = replay(read, known=known, accept_evidence=True)
    except NotReplayed:
        return
    assert render(found) == true
    lost = ("hypothesis removed", "every hypothesis removed", "hypothesis of the arithmetic removed", "discharged hypothesis removed")
    assert name in (*lost, "hypothesis discharged", "evidence reworded", "discharged for another mechanism")
