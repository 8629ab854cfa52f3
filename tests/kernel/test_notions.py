"""The kernel and notions: what is claimed of a μ, an rdp or a ρ is never a claim about an ε; homogeneity is of the right degree."""

from __future__ import annotations

import json

import pytest

from proofs_check.kernel import check
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from tests.mutants.corpus import certificate, texts

NUMBERS = {"gaussian": "mu", "renyi": "rdp", "zcdp": "rho"}
BOXES, MANIFEST = {"rule": "boxes", "budget": 50}, {"rule": "manifest"}


def document(notion, expression, *claims, record=None, **others):
    profile = {"name": "sum", "notion": notion, NUMBERS.get(notion, "epsilon"): expression, "record": record or {"z": ["0", "4"]}}
    first = {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": MANIFEST}}
    whole = {"format": "pdp-certificate", "version": 1, "profile": profile | {"parameters": {}}, "claims": [first, *claims]}
    return json.dumps(whole | others)


def homogeneous(verdict="proved", **proof):
    return {"claim": "homogeneous", "verdict": verdict, "proof": proof}


@pytest.mark.parametrize(
    ("notion", "expression"),
    [("pure", "w*z"), ("gaussian", "w*z/3"), ("renyi", "alpha*w**2*z**2"), ("renyi", "w**2*z/alpha"), ("zcdp", "w*(w + w*z)")],
)
def test_homogeneous_numbers_are_accepted(notion, expression):
    report = check(document(notion, expression, homogeneous()))
    assert report.accepted, report
    assert [claim.claim for claim in report.claims] == ["well-defined", "homogeneous"]


@pytest.mark.parametrize(
    ("notion", "expression"),
    [("gaussian", "w**2*z"), ("gaussian", "w*z + 1"), ("renyi", "alpha*w*z"), ("zcdp", "w*z"), ("zcdp", "w**2*z + w"), ("pure", "sqrt(w)")],
)
def test_numbers_of_another_degree_are_not(notion, expression):
    assert check(document(notion, expression)).accepted
    assert not check(document(notion, expression, homogeneous())).accepted
    at = {"z": "1", "w": "2"} | ({"alpha_above_one": "1"} if notion == "renyi" else {})
    assert check(document(notion, expression, homogeneous("refuted", at=at, bound=BOXES))).accepted
    assert not check(document(notion, expression, homogeneous("refuted", at=at | {"w": "1"}, bound=BOXES))).accepted


@pytest.mark.parametrize("notion", NUMBERS)
def test_no_claim_about_an_epsilon_is_accepted_of_another_notion(notion):
    """Certificates that hold of an ε, with another notion and its number in place of it."""
    turned = 0
    for name in texts():
        whole = certificate(name)
        profile = whole["profile"]
        profile |= {"notion": notion, NUMBERS[notion]: profile.pop("epsilon")}
        for part in (whole, {k: v for k, v in whole.items() if k not in ("target_epsilon", "sampling")}):
            claims = {claim["claim"] for claim in part["claims"]} - {"well-defined", "homogeneous"}
            report = check(json.dumps(part))
            turned += bool(claims)
            assert not (report.accepted and claims), (name, claims)
    assert turned > 100


def test_only_two_claims_are_made_of_every_notion():
    for key in CLAIMS:
        name, verdict = key.split(" ")[:2]
        report = check(document("gaussian", "w*z", {"claim": name, "verdict": verdict, "proof": {}}))
        if name in {"well-defined", "homogeneous"}:
            assert "about a pure epsilon" not in str(report.reason)
        else:
            assert not report.accepted
            assert "about a pure epsilon" in str(report.reason) or "fields" in str(report.reason), report


@pytest.mark.parametrize(
    ("change", "others"),
    [
        ({"notion": "gauss"}, {}),
        ({"notion": "pure"}, {}),
        ({"notion": "zcdp"}, {}),
        ({"notion": None}, {}),
        ({"notion": ["gaussian"]}, {}),
        ({"epsilon": "w*z"}, {}),
        ({}, {"target_epsilon": "1"}),
        ({}, {"sampling": {"q": "1/2"}}),
    ],
)
def test_forged_notions_are_rejected(change, others):
    whole = json.loads(document("gaussian", "w*z", **others))
    assert check(document("gaussian", "w*z")).accepted
    whole["profile"] |= change
    assert not check(json.dumps(whole)).accepted


def test_the_order_belongs_to_renyi_alone():
    assert check(document("renyi", "alpha*w")).accepted
    assert check(document("renyi", "w/(alpha - 1)")).accepted
    assert not check(document("renyi", "w/(alpha - 3/2)")).accepted
    assert not check(document("renyi", "w*(3 - alpha)")).accepted
    assert not check(document("gaussian", "alpha*w")).accepted
    for taken in ("alpha", "alpha_above_one"):
        assert not check(document("renyi", "alpha*w", record={taken: ["0", "1"]})).accepted
