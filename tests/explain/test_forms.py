"""Every way in which the kernel proves or refutes a claim is explained, with the numbers that matter; what fails is admitted."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from accountant import derive_epsilon
from profiles import declare, parse_expression
from proofs_check.admission import admit
from proofs_check.certificates import assemble, check_text, profile_json, to_file_text
from proofs_check.explain import explain, explain_claim, explaining, kernel_rules, to_lines
from proofs_check.explain.explaining import EXPLAINERS
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from proofs_check.prover.effort import spend
from proofs_check.results import Decision, Verdict

SUM = declare("sum", "w*z/b + 1/(1 + z)", record={"z": [1, 2]}, parameters={"b": 3})
PARABOLA = declare("parabola", "w**2 - w/2 + z", record={"z": ["0.3", 1]})

BOX, MANIFEST = {"rule": "boxes", "budget": 50}, {"rule": "manifest"}

#: form of the kernel's table → (profile, claim, what its explanation says); the kernel accepts each of them for the target 4 and q = 1/2
FORMS = {
    "well-defined proved": (SUM, {"proof": {"nonnegative": MANIFEST}}, "1 + z > 0."),
    "assumption-8 proved": (PARABOLA, {"proof": {"bound": BOX}}, "3.5 - z >= 2.5 for all 0.3 <= z <= 1"),
    "assumption-8 refuted": (
        declare("big", "5*w*z", record={"z": [1, 2]}),
        {"proof": {"at": {"z": "2"}, "bound": MANIFEST}}, "epsilon(1, x) = 10, but epsilon* = 4, and 10 > 4.",
    ),
    "assumption-9 proved by slope": (
        PARABOLA, {"proof": {"threshold": "4", "threshold-proof": MANIFEST, "start": BOX, "slope": MANIFEST}}, "v(x) = 4",
    ),
    "assumption-9 proved directly": (
        declare("power", "w", record={}),
        {"proof": {"threshold": "8", "threshold-proof": MANIFEST, "form": "log", "direct": {
            "rule": "monotone", "variable": "s", "direction": "increasing",
            "slope": {"rule": "boxes", "budget": 500}, "end": {"rule": "boxes", "budget": 5},
        }}}, "Compare directly, for w = 8 + s with s >= 0",
    ),
    "assumption-9 refuted": (
        declare("root", "sqrt(w)*0 + z", record={"z": [1, 2]}),
        {"proof": {"at": {"z": "1"}, "threshold": "1", "form": "log", "tail": BOX}}, "Consider the record z = 1, where epsilon(w, x) = 1.",
    ),
    "assumption-9-nonzero proved where epsilon is zero": (
        declare("free", "0*w*z", record={"z": [0, 1]}), {"proof": {"vanishing": {"rule": "zero"}}}, "these records lose nothing",
    ),
    "assumption-9-nonzero proved by slope": (
        PARABOLA, {"proof": {"threshold": "4", "threshold-proof": MANIFEST, "start": BOX, "slope": MANIFEST}}, "v(x) = 4",
    ),
    "assumption-9-nonzero proved directly": (
        declare("power", "w", record={}),
        {"proof": {"threshold": "8", "threshold-proof": MANIFEST, "form": "log", "direct": {
            "rule": "monotone", "variable": "s", "direction": "increasing",
            "slope": {"rule": "boxes", "budget": 500}, "end": {"rule": "boxes", "budget": 5},
        }}}, "Compare directly, for w = 8 + s with s >= 0",
    ),
    "assumption-9-nonzero refuted": (
        declare("root", "sqrt(w)*0 + z", record={"z": [0, 2]}),
        {"proof": {"at": {"z": "1"}, "weight": "2", "positive": BOX, "threshold": "1", "form": "log", "tail": BOX}},
        "At w = 2 this record loses something: epsilon(w, x) = 1 > 0.",
    ),
    "assumption-11 proved": (
        PARABOLA, {"proof": {"floor": "2", "positive": MANIFEST, "form": "log", "curvature": MANIFEST}}, "mu(x) = 2 > 0",
    ),
    "assumption-11 refuted at a point": (
        declare("flat", "w*z", record={"z": [0, 1]}),
        {"proof": {"at": {"z": "0", "w": "2"}, "curvature": {"rule": "zero"}}}, "= 0, which is not positive",
    ),
    "assumption-11 refuted at a kink": (
        declare("kink", "Max(w, 2) + z", record={"z": [0, 1]}),
        {"proof": {"at": {"z": "0"}, "kink": ["1.5", "2.25"]}}, "at one w with 1.5 < w < 2.25 for the record z = 0",
    ),
    "assumption-11 refuted in the limit": (
        declare("limit", "log(w + 1 + 1/w)"),
        {"proof": {"at": {}, "weight": "1000*n", "weight-proof": MANIFEST, "flat": MANIFEST}}, "no mu(x) > 0 can do",
    ),
    "proposition-16 proved": (
        declare("slow", "z + w/10", record={"z": [1, 2]}), {"proof": {"bound": BOX}}, "0.9 - exp(-0.1 - z) >= 0.56712891",
    ),
    "proposition-16 refuted": (PARABOLA, {"proof": {"at": {"z": "1"}, "bound": BOX}}, "epsilon'(1, x) = 1.5, but"),
    "proposition-17 proved": (
        declare("square", "z*w**2", record={"z": [0, 1]}), {"proof": {"bound": MANIFEST}}, "Every factor is >= 0",
    ),
    "proposition-17 refuted at a point": (
        declare("affine", "w + z", record={"z": [1, 2]}), {"proof": {"at": {"z": "2", "w": "1"}, "bound": MANIFEST}},
        "epsilon(w, x) = 3, but w*epsilon'(w, x) = 1, and 3 > 1.",
    ),
    "proposition-17 refuted at a kink": (
        declare("corner", "Abs(w - 3) + 1"), {"proof": {"at": {}, "kink": ["2.5", "3.5"]}}, "epsilon has no derivative in w at w = 3",
    ),
    "homogeneous proved": (
        declare("sum of two", "w*(z/b + 1)", record={"z": [1, 2]}, parameters={"b": 3}), {"proof": {}},
        "Both sides have the same normal form",
    ),
    "homogeneous refuted": (
        PARABOLA, {"proof": {"at": {"z": "1", "w": "2"}, "bound": BOX}}, "epsilon(w, x) = 4, but w*epsilon(1, x) = 3, and 4 > 3.",
    ),
    "strong-convexity proved": (
        PARABOLA, {"proof": {"floor": "2", "positive": MANIFEST, "form": "log", "curvature": MANIFEST}}, "lower bound of the best constant",
    ),
    "epsilon-upper proved": (
        SUM, {"bound": "3", "proof": {"q-positive": MANIFEST, "q-at-most-one": MANIFEST, "form": "exp", "bound": BOX}},
        "To be shown, with the exponentials of both sides: exp(3) - 1 - q(x)*(exp(e(x)) - 1)",
    ),
    "epsilon-lower proved": (SUM, {"bound": "1", "at": {"z": "2"}, "proof": {"bound": BOX}}, "It is reached at z = 2: psi(x) = "),
}  # fmt: skip

TARGET, HALF = Fraction(4), parse_expression("1/2")


def claim_of(form):
    name, verdict = form.split(" ")[:2]
    return {"claim": name, "verdict": verdict, **FORMS[form][1]}


def said_of(profile, claim):
    return "\n".join(to_lines(explain_claim(profile, claim, target=TARGET, q=HALF)))


def test_every_form_of_claim_of_the_kernel_has_an_explanation_and_a_test():
    assert set(EXPLAINERS) == set(CLAIMS) == set(FORMS)


@pytest.mark.thorough(quick=8)
@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_explained(form):
    profile, _, phrase = FORMS[form]
    claim = claim_of(form)
    first = [] if claim["claim"] == "well-defined" else [admit(profile).claim]
    report = check_text(to_file_text(assemble(profile_json(profile), [*first, claim], target=TARGET, q=HALF)))
    assert report.accepted, report
    said = said_of(profile, claim)
    assert phrase in said
    assert "could not be" not in said
    assert "No explanation is written" not in said


@pytest.mark.thorough(quick=13)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_said_of_each_form_is_true(form, check_all):
    assert check_all(explain_claim(FORMS[form][0], claim_of(form), target=TARGET, q=HALF)) > 0


def test_the_certificate_of_a_bound_is_explained_with_its_numbers():
    derivation = derive_epsilon(SUM, rule="uniform", constants={"rate": "0.1"})
    certificate = derivation.certificate()
    claims = {claim["claim"]: claim for claim in certificate["claims"]}
    q = parse_expression(certificate["sampling"]["q"])
    lines = {name: "\n".join(to_lines(explain_claim(SUM, claim, q=q))) for name, claim in claims.items()}
    assert f"{claims['epsilon-upper']['bound']} - psi(x)" in lines["epsilon-upper"] or "exp(" in lines["epsilon-upper"]
    assert f">= {claims['epsilon-lower']['bound']}" in lines["epsilon-lower"]
    assert all("could not be" not in said for said in lines.values())


def test_the_own_proof_of_a_side_condition_is_told():
    profile = declare("own", "w/(1 + z)", record={"z": [1, 2]})
    tree = {"rule": "split", "variable": "z", "at": "1.5", "below": BOX, "above": BOX}
    claim = {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": MANIFEST, "obligations": {"1 + z": tree}}}
    assert check_text(to_file_text(assemble(profile_json(profile), [claim]))).accepted
    assert "1 + z > 0. The range is split at z = 1.5." in said_of(profile, claim)


def test_an_unknown_rule_is_named_and_left_to_the_kernel():
    claim = {"claim": "assumption-8", "verdict": "proved", "proof": {"bound": {"rule": "sorcery"}}}
    assert "By the rule sorcery of the kernel, for which no explanation is written" in said_of(SUM, claim)


def test_an_unknown_form_and_a_proof_that_the_kernel_rejects_are_admitted():
    claim = {"claim": "assumption-8", "verdict": "proved", "proof": {"omen": 1}}
    decision = Decision("assumption-8", Verdict.PROVED, "an omen", claim=claim)
    said = "\n".join(to_lines(explain(SUM, TARGET, decision)))
    assert "No explanation is written for this form of claim; pdp check checks it." in said
    assert said.index("The kernel has not accepted this proof") < said.index("No explanation is written")


@pytest.mark.parametrize(
    "claim", [{}, {"claim": "assumption-8"}, {"claim": 3, "verdict": [], "proof": 7}, {"claim": "x", "verdict": "proved"}]
)
def test_what_is_no_claim_is_admitted(claim):
    assert "No explanation is written" in said_of(SUM, claim)


def test_a_failure_of_an_explainer_is_told_and_stops_nothing(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    claim = claim_of("assumption-8 proved")
    monkeypatch.setitem(kernel_rules.RULES, "boxes", fail)
    said = said_of(PARABOLA, claim)
    assert "By the rule boxes, in a way that could not be put into words; pdp check checks the step." in said
    assert "epsilon* - epsilon(1, x)" in said
    monkeypatch.setitem(EXPLAINERS, "assumption-8 proved", fail)
    assert "The argument could not be put into words (ZeroDivisionError); pdp check checks the claim." in said_of(PARABOLA, claim)


def test_an_explanation_that_takes_too_long_is_cut_short_and_says_so(monkeypatch):
    monkeypatch.setattr(explaining, "SECONDS", 0)
    assert "would take too long; pdp check checks the claim." in said_of(PARABOLA, claim_of("assumption-8 proved"))


def test_an_unknown_verdict_shows_what_is_open():
    profile = declare("p", "w*z", record={"z": [1, 2]})
    said = "\n".join(to_lines(explain(profile, TARGET, Decision("proposition-17", Verdict.UNKNOWN, "none", reason="nothing was found"))))
    assert "Open is whether w*epsilon'(w, x) - epsilon(w, x) = w*z - w*z = 0" in said
    assert "No proof and no witness: nothing was found." in said
    said = "\n".join(to_lines(explain(profile, TARGET, Decision("assumption-9", Verdict.UNKNOWN, "none", reason="nothing was found"))))
    assert "No proof and no witness: nothing was found." in said


@pytest.mark.parametrize("rule", ["split", "log-tangent"])
def test_rules_that_the_prover_seldom_uses(rule):
    trees = {
        "split": {"rule": "split", "variable": "z", "at": "1.5", "below": BOX, "above": BOX},
        "log-tangent": {
            "rule": "log-tangent", "argument": "z", "coefficient": "1/100", "argument-positive": MANIFEST,
            "nonnegative": MANIFEST, "rest": BOX,
        },
    }  # fmt: skip
    profile = declare("p", "w*z", record={"z": [1, 2]})
    said = said_of(profile, {"claim": "assumption-8", "verdict": "proved", "proof": {"bound": trees[rule]}})
    assert {"split": "The range is split at z = 1.5.", "log-tangent": "Use log(z) <= z - 1"}[rule] in said
    assert "could not be" not in said


def test_monotone_to_an_open_end_says_why_the_end_may_be_used():
    profile = declare("p", "w*a + 1", parameters={"a": "positive"})
    tree = {"rule": "monotone", "variable": "a", "direction": "increasing", "slope": MANIFEST, "end": MANIFEST}
    claim = {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": tree}}
    assert check_text(to_file_text(assemble(profile_json(profile), [claim]))).accepted
    assert "so it suffices to look at a = 0 (which the range does not contain; the left side is continuous there" in said_of(profile, claim)


PLAIN = declare("plain", "w*z", record={"z": [1, 2]})
LARGER = declare("larger", "Max(w*z, w)", record={"z": [0, 2]})
LEFT = {"floor": "1", "positive": MANIFEST, "form": "log", "curvature": MANIFEST}


def bound(tree):
    return {"claim": "assumption-8", "verdict": "proved", "proof": {"bound": tree}}


def cases(at, below, above):
    return {"cases": {"variable": "z", "at": at, "below": below, "above": above}}


#: what is explained → (profile, claim, what is said)
RULES_AND_FIELDS = {
    "angles": (
        declare("wave", "2*w + sin(w)*z", record={"z": [0, 1]}),
        {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": {
            "rule": "sum", "parts": ["2*w - 2", "2 + sin(w)*z"], "proofs": [MANIFEST, {
                "rule": "periodicity", "name": "y", "term": "w", "general": "2 + sin(y)*z", "proof": BOX,
            }],
        }}}, "those of some y with 0 <= y <= 7; what holds for all of these numbers holds for it.",
    ),
    "a maximum": (
        declare("maximum", "w*Max(z, 1)", record={"z": [0, 2]}),
        bound({"rule": "branches", "cases": [{"value": "1", "proof": MANIFEST}, {"value": "z", "proof": MANIFEST}]}),
        "Where it is z: 4 - z >= 0. Substitute z = 2 - s with 0 <= s <= 2. The left side becomes 2 + s.",
    ),
    "a gap": (
        LARGER,
        {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": {"rule": "branches", "cases": [
            {"value": "w*z", "proof": MANIFEST, "share": "2"}, {"value": "w", "proof": {"rule": "manifest"}},
        ]}}}, "Where it is w*z, -w + w*z >= 0; this times 2 >= 0 is left out: ",
    ),
    "an absolute value": (
        declare("absolute", "w*(1 + Abs(z))", record={"z": [-1, 2]}),
        bound({"rule": "branches", "cases": [{"value": "z", "proof": MANIFEST}, {"value": "-z", "proof": BOX}]}),
        "each value of Abs(z) in its place",
    ),
    "a minimum": (
        declare("minimum", "w*Min(z, 1)", record={"z": [0, 2]}),
        {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": {
            "rule": "branches", "cases": [{"value": "-1", "proof": MANIFEST}, {"value": "-z", "proof": MANIFEST}],
        }}}, "Where it is z: w*z >= 0.",
    ),
    "powers of a Piecewise": (
        declare("piecewise", "w*(1 + Piecewise((z, z < 1), (1, True))**2)", record={"z": [0, 2]}),
        {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": {
            "rule": "branches", "cases": [{"value": "1", "proof": MANIFEST}, {"value": "z", "proof": MANIFEST}],
        }}}, "Where it is 1: 2*w >= 0.",
    ),
    "a goal once more": (PLAIN, bound({"rule": "sum", "parts": ["2*(2 - z/2)"], "proofs": [BOX]}), "Interval arithmetic gives 4 - z >= 2"),
    "an upper end": (PLAIN, bound(MANIFEST), "Substitute z = 2 - s with 0 <= s <= 1. The left side becomes 2 + s."),
    "two cases": (
        LARGER, {"claim": "assumption-11", "verdict": "proved", "proof": cases("1", LEFT, LEFT)},
        "For the records with 1 < z <= 2. There epsilon(w, x) = w*z.",
    ),
    "a strict claim above": (
        declare("above", "w*z/100 + 3", record={"z": [0, 2]}),
        {"claim": "proposition-16", "verdict": "proved", "proof": cases("1", {"bound": BOX}, {"bound": BOX})},
        "The records are split at z = 1, and each side is looked at by itself.",
    ),
    "cases in cases": (
        LARGER, {"claim": "assumption-8", "verdict": "proved", "proof": cases("1", cases("1/2", *[{"bound": BOX}] * 2), {"bound": BOX})},
        "For the records with 0.5 < z <= 1.",
    ),
    "cases with proofs of side conditions": (
        declare("own", "w/(1 + z)", record={"z": [1, 2]}),
        {"claim": "well-defined", "verdict": "proved", "proof": {
            **cases("1.5", {"nonnegative": MANIFEST}, {"nonnegative": MANIFEST}), "obligations": {"1 + z": BOX},
        }}, "1 + z > 0. Interval arithmetic gives 1 + z >= 2.5 for all 1.5 < z <= 2 at once.",
    ),
}  # fmt: skip


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize("what", RULES_AND_FIELDS)
def test_rules_and_fields_by_examples_that_the_kernel_accepts(what, check_all):
    profile, claim, phrase = RULES_AND_FIELDS[what]
    first = [] if claim["claim"] == "well-defined" else [admit(profile).claim]
    report = check_text(to_file_text(assemble(profile_json(profile), [*first, claim], target=TARGET)))
    assert report.accepted, report
    explanation = explain_claim(profile, claim, target=TARGET)
    said = "\n".join(to_lines(explanation))
    assert phrase in said
    assert "could not be" not in said
    assert "No explanation is written" not in said
    assert check_all(explanation) > 0


def test_cases_that_are_not_those_of_the_goal_are_admitted():
    tree = {"rule": "branches", "cases": [{"value": "7", "proof": MANIFEST}]}
    assert "By the rule branches, in a way that could not be put into words" in said_of(LARGER, bound(tree))


def test_sums_of_many_fractions_are_not_put_over_a_common_denominator(monkeypatch):
    monkeypatch.setattr(explaining, "SECONDS", 1.2)
    names = [f"z{index}" for index in range(7)]
    fractions = " + ".join(f"{a}/(1 + {b}**2)" for a, b in zip(names, [*names[1:], names[0]], strict=True))
    profile = declare("fractions", f"w*({fractions} + 1)", record={name: [0, 1] for name in names})
    start = time.process_time()
    said = "\n".join(to_lines(explain_claim(profile, {**bound(BOX)}, target=Fraction(20))))
    assert time.process_time() - start < 2
    assert "19 - z0/(1 + z1**2) - z1/(1 + z2**2)" in said
    assert "cut short" not in said


@pytest.mark.thorough
def test_a_step_that_does_not_end_is_cut_short(monkeypatch):
    def wait(*_):
        while True:
            spend(1)

    monkeypatch.setattr(explaining, "SECONDS", 0.1)
    monkeypatch.setitem(kernel_rules.RULES, "boxes", wait)
    said = said_of(PARABOLA, claim_of("assumption-8 proved"))
    assert "By the rule boxes; the explanation is cut short here, and pdp check checks the step." in said
    monkeypatch.setitem(explaining.EXPLAINERS, "assumption-8 proved", wait)
    assert "would take too long; pdp check checks the claim." in said_of(PARABOLA, claim_of("assumption-8 proved"))
