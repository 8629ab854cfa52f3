"""The engine for quantified sentences: verdicts are computed from goals; hints and suggested witnesses are not believed."""

from proofs_check.papers import Goals, PaperClaim, Status
from proofs_check.prover.trees import tangent
from proofs_check.statements.judge import decide


def claim(*goals, **fields):
    return PaperClaim("test-0-x", "nowhere", "a statement", goals=goals, **fields)


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
