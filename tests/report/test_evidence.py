"""The parts of a report agree: verdicts are decided once, and the exit code says what a script needs."""

from __future__ import annotations

import dataclasses

import pytest

from accountant.guarantees.derive import derive_epsilon
from accountant.report import evidence as module
from accountant.report import gather, render_page
from profiles import Declaration, InvalidArgument, declare
from profiles.hypotheses import CONDITION
from proofs_check.results import Decision, Verdict
from proofs_check.verify import verify

COUNT = declare("count", "w/b", parameters={"b": 2}, source="here")


def test_the_guarantee_rests_on_the_verdicts_that_are_shown(monkeypatch):
    monkeypatch.setattr("accountant.guarantees.derive.verify", lambda *_: pytest.fail("decided twice"))
    found = gather(COUNT, 1)
    assert found.derived is not None
    assert found.derived.conditions is found.verification
    assert found.exit_code == 0
    assert found.derived.to_json()["checked_by_kernel"] is True


def test_an_unknown_hypothesis_is_no_success(monkeypatch):
    known = verify(COUNT, 1)
    unknown = {**known.decisions, "assumption-8": Decision("assumption-8", Verdict.UNKNOWN, "none", reason="no time")}
    monkeypatch.setattr(module, "verify", lambda *_: dataclasses.replace(known, decisions=unknown))
    found = gather(COUNT, 1)
    assert found.derived is not None
    assert CONDITION.about(name="assumption-8") in found.derived.guarantee.hypotheses
    assert found.derived.bound.lower == 0
    assert found.exit_code == 3
    page = render_page(found, title="count", date="2026-01-31", command=["pdp"])
    first = page.split("Contents</h2>")[0]
    assert "rounded up, if assumption-8 holds" in first
    assert '<span class="badge open">unknown</span> ε* = 1 nats; assumption-8 could not be decided' in first
    assert ">met<" not in page
    assert "It could be neither proved nor refuted" in page


def test_verdicts_about_something_else_are_refused():
    other = verify(COUNT, 2, ["assumption-8", "assumption-9"])
    for conditions in (other, verify(declare("count", "w/b", parameters={"b": 3}), 1, ["assumption-8"])):
        with pytest.raises(InvalidArgument, match="another profile or target"):
            derive_epsilon(Declaration(COUNT), rule="privacy-constrained", target_epsilon=1, conditions=conditions)
    partial = derive_epsilon(COUNT, rule="privacy-constrained", target_epsilon=1, conditions=verify(COUNT, 1, ["assumption-8"]))
    assert partial.to_json()["checked_by_kernel"] is False
    assert partial.bound.lower == 0
