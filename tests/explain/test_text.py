"""Explanations as text: the goal, the substance of each rule, an honest answer where nothing can be said, and a bounded length."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from profiles import declare
from proofs_check.explain import explain, to_lines, to_paragraphs
from proofs_check.explain.kernel_rules import RULES
from proofs_check.kernel.procedures import rules as kernel_rules
from proofs_check.results import Decision, Verdict
from proofs_check.verify import verify


def text_of(explanation):
    return "\n".join(to_lines(explanation))


#: A pattern that the explanation of each rule contains.
SUBSTANCE = {
    "zero": "This is an identity|the left side is 0",
    "manifest": "factor is >=? 0",
    "boxes": "Interval arithmetic gives|the smallest lower bound is the one on",
    "monotone": "so it suffices to look at",
    "split": "range is split at",
    "scale": "multiplied by",
    "sum": "is the sum of",
    "generalise": "only the range is used",
    "periodicity": "sin and cos have the period",
    "ceiling": "what a ceiling is",
    "branches": "The goal is shown with each value of",
    "exp-tangent": r"Use exp\(",
    "log-tangent": r"Use log\(",
}

#: (profile, condition, what its explanation says)
SAYS = [
    ("lloyd", "assumption-8", "epsilon* - epsilon(1, x) = 20 - (20/41 + z/3) = 800/41 - z/3 >= 0 for all 0 <= z <= 4"),
    ("lloyd", "assumption-9", "Choose the same threshold v(x) = 64 for all records."),
    ("lloyd", "assumption-9", "(exp(epsilon*) - 1)/(1 + (exp(epsilon*) - 1)*w) > 0"),
    ("lloyd", "assumption-11", "mu(x) = (60 + 41*z)**2*exp(20/41 + z/3)/15129 > 0"),
    ("lloyd", "assumption-11", "The second derivative equals mu(x) at w = 1: no larger constant is possible."),
    ("lloyd", "proposition-16", "epsilon'(1, x) = 20/41, but 1 - exp(-epsilon(1, x)) = 1 - exp(-20/41) <= 0.38602734"),
    ("lloyd", "proposition-17", "This is an identity"),
    ("symbolic", "assumption-9", "Choose the threshold v(x) = 1 + exp(3)/(T/(2*b) + T*z/(2*s))**2. It is at least 1"),
    ("symbolic", "assumption-9", "Use exp(v*(T/b + T*z/s)/2) >= 1 + v*(T/b + T*z/s)/2"),
    ("sum", "assumption-9", "there is no threshold"),
    ("sum", "assumption-11", "epsilon''(w, x) + epsilon'(w, x)**2 = 0, which is not positive"),
    ("log below", "proposition-16", "are equal"),
    ("kink", "assumption-11", "epsilon'(w, x) = 0 from below and epsilon'(w, x) = 1 from above"),
    ("jump", "proposition-17", "differ: epsilon(w, x) = 2 from below and epsilon(w, x) = 4 from above, and 4 > 2."),
    ("pieces", "assumption-11", "at w = 2, epsilon(w, x) = 4*z and epsilon'(w, x) = 4*z from both sides"),
    ("w log w", "assumption-11", "Here log(1 + s) >= 0"),
    ("parabola", "proposition-17", "s >= 0 and z = 1 - t with 0 <= t <= 0.7. The left side becomes t + s**2 + 2*s."),
    ("exponential", "proposition-17", "exp(0.25) >= 1.2840254, but w*epsilon'(w, x) = exp(0.25)/4 <= 0.32100636"),
    ("split", "assumption-11", "Write c = Max(1, z), which lies in the range 1 <= c <= 2."),
    ("split", "assumption-9", "It is enough to look at epsilon(w, x) = c*w for all these values:"),
    ("split", "proposition-16", "Around the point below, epsilon(w, x) = w. Derivatives in w: epsilon'(w, x) = 1."),
    ("branches", "assumption-9", "w*epsilon'(w, x) - 1 = -1 + c*(8 + s) >= 0"),
    ("wave", "assumption-11", "so that those of w are those of some y with 0 <= y <= 7"),
    ("abs", "assumption-8", "epsilon(1, x) = 9, but epsilon* = 1, and 9 > 1."),
    ("limit", "assumption-11", "comes below every positive constant"),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "condition", "phrase"), SAYS)
def test_what_an_explanation_says(explained, name, condition, phrase):
    assert phrase in text_of(explained(name, condition))


@pytest.mark.thorough
def test_an_explanation_begins_with_statement_and_profile_and_stays_readable(shown):
    for name, explanation in shown.explanations.items():
        lines = to_lines(explanation)
        verdict = shown.verification.decisions[name].verdict.value if name != "well-defined" else "proved"
        assert lines[0].startswith(f"{name} ({verdict}): ")
        assert lines[1].startswith("1. The profile is epsilon(w, x) = ")
        assert all(line.isascii() for line in lines)
        assert sum(map(len, lines)) < 40_000
        assert all(line.split(". ", 1)[1].strip() for line in lines[1:])
        assert "".join(to_paragraphs(explanation).split()) == "".join("".join(lines).split())


def rules_told(tree):
    """The rules of a proof, but for sums of one part, which only state a goal once more, and for parts that are 0."""
    if isinstance(tree, dict):
        if tree.get("rule") == "scale" and tree["product"] == {"rule": "zero"}:
            return
        yield from [tree["rule"]] if "rule" in tree and len(tree.get("parts", ())) != 1 else []
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from rules_told(part)


@pytest.mark.thorough(quick=1)
def test_a_rule_of_the_proof_is_named_by_what_it_does(shown):
    for name, decision in shown.verification.decisions.items():
        if decision.verdict is not Verdict.PROVED or decision.claim is None:
            continue
        said = text_of(shown.explanations[name])
        assert "could not be" not in said
        for rule in {*rules_told(decision.claim["proof"])} - {"manifest", "boxes"}:
            assert re.search(SUBSTANCE[rule], said), (name, rule)


def test_every_rule_has_an_explanation_and_a_test():
    assert set(RULES) == set(SUBSTANCE) == set(kernel_rules.RULES)


def test_an_unknown_rule_is_named_and_left_to_the_kernel():
    profile = declare("p", "w*z", record={"z": [1, 2]})
    claim = {"claim": "assumption-8", "verdict": "proved", "proof": {"bound": {"rule": "sorcery"}}}
    said = text_of(explain(profile, Fraction(3), Decision("assumption-8", Verdict.PROVED, "sorcery", claim=claim, checked=True)))
    assert "By the rule sorcery of the kernel, for which no explanation is written" in said


def test_an_unknown_claim_and_an_unchecked_verdict_are_admitted():
    profile = declare("p", "w*z", record={"z": [1, 2]})
    claim = {"claim": "assumption-8", "verdict": "proved", "proof": {"omen": 1}}
    said = text_of(explain(profile, Fraction(3), Decision("assumption-8", Verdict.PROVED, "an omen", claim=claim)))
    assert "No explanation is written for this form of claim; pdp check checks it." in said
    assert "The kernel has not accepted this proof." in said


def test_an_unknown_verdict_shows_what_is_open():
    profile = declare("p", "w*z", record={"z": [1, 2]})
    said = text_of(explain(profile, Fraction(3), Decision("proposition-17", Verdict.UNKNOWN, "none", reason="nothing was found")))
    assert "Open is whether w*epsilon'(w, x) - epsilon(w, x) = w*z - w*z = 0" in said
    assert "No proof and no witness: nothing was found." in said


@pytest.mark.parametrize("rule", ["split", "log-tangent"])
def test_rules_that_the_prover_seldom_uses(rule):
    profile = declare("p", "w*z", record={"z": [1, 2]})
    trees = {
        "split": {
            "rule": "split", "variable": "z", "at": "1.5", "below": {"rule": "boxes", "budget": 9}, "above": {"rule": "boxes", "budget": 9},
        },
        "log-tangent": {
            "rule": "log-tangent", "argument": "z", "coefficient": "1/100", "argument-positive": {"rule": "manifest"},
            "nonnegative": {"rule": "manifest"}, "rest": {"rule": "boxes", "budget": 99},
        },
    }  # fmt: skip
    claim = {"claim": "assumption-8", "verdict": "proved", "proof": {"bound": trees[rule]}}
    said = text_of(explain(profile, Fraction(3), Decision("assumption-8", Verdict.PROVED, rule, claim=claim, checked=True)))
    assert re.search(SUBSTANCE[rule], said)
    assert "could not be" not in said


@pytest.mark.thorough
def test_long_formulas_are_cut_and_say_so():
    profile = declare("long", " + ".join(f"z**{k}*w**{k}/{k}" for k in range(1, 90)), record={"z": [0, 1]})
    verification = verify(profile, "10", ["assumption-8"])
    said = text_of(explain(profile, verification.target, verification.decisions["assumption-8"]))
    assert "... [cut: about" in said
    assert len(said) < 10_000


@pytest.mark.thorough
def test_an_explanation_is_a_function_of_its_arguments(explained, shown):
    for name, decision in shown.verification.decisions.items():
        again = explain(shown.verification.profile, shown.verification.target, replace(decision))
        assert to_lines(again) == to_lines(shown.explanations[name])
