"""Guards of the kernel that no other test needs: each of these documents would be accepted, or go further, without one of them."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce

import pytest

from proofs_check.kernel import check
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.rules import side_condition
from proofs_check.kernel.core.terms import Term, exp, forget, log, num, postorder, power, var
from proofs_check.kernel.core.theorems import Range
from proofs_check.kernel.procedures.normal import Normaliser

M, Z, B = {"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 2000}


def whole(epsilon: str, *claims: tuple, **others) -> dict:
    """Return a certificate with claims given as (name, verdict, proof)."""
    profile = {"name": others.pop("name", "x"), "epsilon": epsilon, "record": {"z": ["0", "4"]}, "parameters": others.pop("parameters", {})}
    given = [("well-defined", "proved", {"nonnegative": others.pop("nonnegative", B)}), *claims]
    made = [{"claim": name, "verdict": verdict, "proof": proof} for name, verdict, proof in given]
    return {"format": "pdp-certificate", "version": 1, "profile": profile, **others, "claims": made}


def report(*parts, **others):
    """Return the kernel's report."""
    return check(json.dumps(whole(*parts, **others)))


def kink(epsilon: str, *around: str):
    """Return the report on a kink of a profile."""
    return report(epsilon, ("proposition-17", "refuted", {"at": {"z": "1"}, "kink": list(around)}))


def pieces(epsilon: str, *trees, cut: str):
    """Return the report on the growth of a profile in two pieces."""
    return report(epsilon, ("proposition-17", "proved", {"cuts": [cut], "bound": list(trees)}))


def test_growth_needs_a_slope_from_the_threshold_on():
    slope = {"threshold": "5", "threshold-proof": M, "start": B, "slope": B}
    assert report("5 + 0*w", ("assumption-9", "proved", slope), target_epsilon="1").step == "claims[1].proof.slope"
    assert report("4 + log(w)/2", ("assumption-9", "proved", slope), target_epsilon="1").step == "claims[1].proof.slope"
    assert report("4 + 2*log(w)", ("assumption-9", "proved", slope | {"slope": M}), target_epsilon="1").accepted


def test_weights_at_which_curvature_vanishes_are_weights():
    for weight, step in (("n - 1/2", "claims[1].proof.weight-proof"), ("n", None)):
        proof = {"at": {"z": "0"}, "weight": weight, "weight-proof": M, "flat": M}
        assert report("log(1 + w)", ("assumption-11", "refuted", proof)).step == step


@pytest.mark.parametrize("name", ["assumption-8", "epsilon-upper"])
def test_a_claim_without_its_hypothesis_says_so(name):
    value = whole("w", (name, "proved", {"bound": B}))
    if name == "epsilon-upper":
        value["claims"][1] |= {"bound": "1", "proof": {"q-positive": M, "q-at-most-one": M, "form": "log", "bound": B}}
    assert "needs a target_epsilon, or a sampling rule" in str(check(json.dumps(value)).reason)


def test_a_condition_is_differentiable_before_its_slope_is_used():
    assert kink("Piecewise((1, sqrt(w - 1) < 1/10), (2, True))", "1", "1.1").step == "claims[1].proof.kink"
    assert kink("Piecewise((1, sqrt(w - 1) < 1/10), (2, True))", "1.001", "1.1").accepted
    root = "Piecewise((w, 0 < sqrt(w - 1)), (1, True))"
    assert pieces(root, M, M, cut="2").step == "claims[1].proof.cuts"
    assert pieces(root.replace("sqrt(w - 1)", "w - 1"), M, M, cut="2").accepted


def test_a_sign_changes_once_and_monotonously():
    thrice = "Piecewise((1, (w - 2)*((w - 2)**2 - 1/100) < 0), (2, True))"
    assert kink(thrice, "1.8", "2.2").step == "claims[1].proof.kink"
    assert kink(thrice, "1.99", "2.01").accepted


def test_both_sides_of_a_kink_are_differentiable_on_the_whole_range():
    assert kink("Piecewise((sqrt(w - 1), w < 1.05), (2, True))", "1", "1.1").step == "claims[1].proof.kink"
    assert kink("Piecewise((sqrt(w - 1), w < 1.05), (2, True))", "1.01", "1.1").accepted


def test_a_jump_with_equal_slopes_is_a_kink():
    assert kink("Piecewise((w, w < 2), (w + 1, True))", "1.9", "2.1").accepted


def test_each_piece_is_differentiable_up_to_its_ends():
    root = "Piecewise((sqrt(w - 1) + w**2, w < 2), (9*w/2 - 4, True))"
    assert pieces(root, B, M, cut="2").step == "claims[1].proof.cuts"
    assert pieces("Piecewise((w**2, w < 2), (4*w - 4, True))", M, M, cut="2").accepted


def test_documents_are_of_moderate_size():
    text = json.dumps(whole("w"))
    assert check(text + " " * 900_000).accepted
    assert check(text + " " * 1_000_000).reason == "the text is too long"
    assert report("w", parameters={f"a{i}": "1" for i in range(1_000)}).accepted
    assert report("w", parameters={f"a{i}": "1" for i in range(1_001)}).reason == "expected an object of moderate size"
    assert report("w", *[("well-defined", "proved", {"nonnegative": M})] * 999).accepted
    assert report("w", *[("well-defined", "proved", {"nonnegative": M})] * 1_000).reason == "expected a list of moderate length"
    assert report("w", name="x" * 1_000).accepted
    assert report("w", name="x" * 1_001).reason == "the name must be a string of moderate length"


@pytest.mark.parametrize("number", ["1.0", "1e0", "NaN", "Infinity", "1" * 20])
def test_json_numbers_are_small_integers(number):
    assert "exact numbers are strings" in str(check(json.dumps(whole("w")).replace('"version": 1', f'"version": {number}')).reason)


@pytest.mark.thorough
def test_terms_are_of_moderate_number_and_size():
    forget()
    try:
        deep = var("x")
        for _ in range(50_000):
            deep = exp(deep)
        with pytest.raises(Rejected, match="too many nodes"):
            postorder(deep)
        with pytest.raises(Rejected, match="needs more work"):
            all(var(f"x{i}") for i in range(200_001))
        forget()
        with pytest.raises(Rejected, match="needs more work"):  # numbers are folded into few terms, at a cost
            reduce(Term.__add__, [num(1)] * 400_001)
    finally:
        forget()


@pytest.mark.parametrize(("term", "reason"), [(power(num(0), -1), "power of zero"), (log(num(0)), "log of zero")])
def test_what_is_undefined_has_no_normal_form(term, reason):
    with pytest.raises(Rejected, match=reason):
        Normaliser({}, Meter()).poly(term)


def test_zero_has_powers_that_are_not_negative():
    assert Normaliser({}, Meter()).poly(power(log(num(1)), 2)) == {}


@pytest.mark.parametrize(("hi", "is_open"), [(0, False), (1, True), (0, True)])
def test_ranges_are_not_empty(hi, is_open):
    with pytest.raises(Rejected, match="empty"):
        Range(Fraction(1), Fraction(hi), is_open)


@pytest.mark.thorough
def test_sizes_are_limited_one_by_one():
    assert report("Max(" + ",".join(["w"] * 6_000) + ")").reason == "an expression is too large"
    wide = report("w*(1 + a + b + c + d + f + g + h)**11", nonnegative=M, parameters=dict.fromkeys("abcdfgh", "positive"))
    assert wide.reason == "a normal form has too many terms"
    tree = M
    for _ in range(100):
        tree = {"rule": "scale", "factor": "1", "positive": M, "product": tree}
    assert report("w", nonnegative=tree).reason == "the proof is nested too deeply"


@pytest.mark.parametrize("rule", ["trust-me", ["zero"], None, "__class__"])
def test_an_unknown_rule_is_named_as_such(rule):
    assert report("w", nonnegative={"rule": rule}).reason == "expected a proof tree with a known rule"


@pytest.mark.parametrize("name", ["z", "w", "c"])
def test_the_name_of_a_generalisation_is_new(name):
    tree = {"rule": "generalise", "name": name, "term": "z", "low": "0", "lower": M, "general": name, "proof": M}
    reason = "a name is reserved or not an ASCII identifier" if name == "w" else "the name is not new"
    assert report("z + 0*w", nonnegative=tree, parameters={"c": "2"}).reason == reason
    assert report("z + 0*w", nonnegative={**tree, "name": "y", "general": "y"}, parameters={"c": "2"}).accepted


@pytest.mark.thorough
def test_a_point_at_the_end_of_a_piece_has_no_value_of_its_own():
    lone = "Piecewise((w, w < 2), (100, w <= 2), (w, True))"  # not differentiable at 2, where w epsilon' >= epsilon is false
    assert pieces(lone, Z, Z, cut="2").reason == "epsilon jumps at the end of a piece"
    assert pieces(lone.replace("100", "w"), Z, Z, cut="2").accepted


@pytest.mark.thorough
def test_pieces_are_in_the_order_of_their_weights():
    # pieces that go back cover the weights as well, but what is proved of them speaks of pieces that go on
    for cuts, step in (
        (["2", "3"], None),
        (["2", "2"], None),
        (["3", "2"], "claims[1].proof.cuts"),
        (["1/2", "2"], "claims[1].proof.cuts"),
    ):
        proof = {"cuts": cuts, "bound": [M, M, M]}
        assert report("w**2 + 0*z", ("proposition-17", "proved", proof)).step == step


@pytest.mark.thorough
def test_the_range_of_a_kink_has_two_ends_whose_signs_are_known():
    # with one point, or signs of 0, both sides are the same term, which does not differ from itself: so these say what is wrong earlier
    assert kink("Abs(w - 2)", "1.9", "2.1").accepted
    assert "strictly inside a range" in str(kink("Abs(w - 2)", "2", "2").reason)
    with localcontext(prec=120):
        ends = [str(Decimal(2).sqrt() + Decimal(f"{k}e-90")) for k in (1, 2)]  # closer than the kernel's intervals tell apart
    for epsilon in ("Abs(w - sqrt(2))", "Abs(w**2 - 2)"):  # of the second one the signs are known, and equal
        assert "changes its sign, and not just once" in str(kink(epsilon, *ends).reason)
    assert "more than one does" in str(kink("Abs(w - 2) + Abs(w - 2.05)", "1.9", "2.1").reason)
    assert kink("Abs(w - sqrt(2))", "1.4", "1.5").accepted


@pytest.mark.thorough
def test_a_ceiling_takes_two_values_beside_a_kink():
    assert kink("ceiling(w)", "1.5", "2.5").accepted
    assert kink("ceiling(w)", "1.5", "3").accepted
    assert kink("ceiling(w)", "1.5", "3.5").reason == "a ceiling takes more than two values on the range"
    assert kink("ceiling(10**16*w)", "2", "2.00000000000000005").reason == "the argument of a ceiling is too large"
    assert kink("exp(ceiling(-10**16*w))", "2", "2.00000000000000005").reason == "the argument of a ceiling is too large"
    assert kink("ceiling(exp(exp(w)))", "20", "20.1").reason == "the argument of a ceiling is too large"


@pytest.mark.thorough
def test_what_is_restated_at_a_record_is_about_a_record_that_is_declared():
    for z, target, reason in (("4", "3", None), ("100", "10", "the point is outside the declared ranges")):  # epsilon is at most 4
        proof = {"restated": {"term": "z*w"}, "at": {"z": z}, "bound": M}
        assert report("w*z", ("assumption-8", "refuted", proof), target_epsilon=target).reason == reason


@pytest.mark.thorough
@pytest.mark.parametrize("weight", ["exp(1)", "1/2", "0"])
def test_a_weight_is_a_number_that_is_at_least_one(weight):
    found = report("w**2 + 0*z", ("homogeneous", "refuted", {"at": {"z": "1", "w": weight}, "bound": B}))
    assert found.reason == "the weight must be a number that is at least 1"
    assert report("w**2 + 0*z", ("homogeneous", "refuted", {"at": {"z": "1", "w": "2"}, "bound": B})).accepted


@pytest.mark.thorough
@pytest.mark.parametrize("notion", ["pdp", "approximate", "", ["pure"]])
def test_a_notion_is_known(notion):
    value = whole("w*z")
    value["profile"]["notion"] = notion
    assert check(json.dumps(value)).reason == "unknown notion"


def halves(depth: int) -> dict:
    """Return cases within cases of a claim that needs no proof, of the records z up to 4."""
    found: dict = {}
    for k in range(depth, 0, -1):
        found = {"cases": {"variable": "z", "at": str(4 - Fraction(4, 2**k)), "below": {}, "above": found}}
    return found


@pytest.mark.thorough
def test_cases_are_of_moderate_depth():
    assert report("w*z", ("homogeneous", "proved", halves(29))).accepted
    assert report("w*z", ("homogeneous", "proved", halves(30))).reason == "the proof is nested too deeply"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"at": "0"}, "the range must be split strictly inside"),  # which would prove what is asked, and ask the same again
        ({"at": "4", "closed": "yes"}, "the range must be split strictly inside"),
        ({"at": "5"}, "the number is outside the range"),
        ({"variable": "y"}, "there is no such variable in the records"),
        ({"variable": ["z"]}, "there is no such variable in the records"),
    ],
    ids=str,
)
def test_cases_are_on_either_side_of_a_number_in_the_range(change, reason):
    cut = {"variable": "z", "at": "1", "below": {}, "above": {}} | change
    assert report("w*z", ("homogeneous", "proved", {"cases": cut})).reason == reason


@pytest.mark.parametrize("at", ["-3", "0", "4", "9"])
def test_a_range_is_split_inside(at):
    tree = {"rule": "split", "variable": "z", "below": M, "above": M}
    assert report("w + z*w", nonnegative=tree | {"at": "2"}).accepted
    assert report("w + z*w", nonnegative=tree | {"at": at}).reason == "the range must be split strictly inside"


def test_a_rule_about_a_variable_is_about_one_of_the_goal():
    tree = {"rule": "split", "variable": "c", "at": "2", "below": M, "above": M}
    assert report("w + z*w", nonnegative=tree).reason == "there is no such variable in the goal's box"


def test_parts_of_a_sum_and_their_proofs_are_as_many():
    tree = {"rule": "sum", "parts": ["w", "z*w"]}
    for proofs in ([], [M], [M, M, M]):
        assert report("w + z*w", nonnegative=tree | {"proofs": proofs}).reason == "each part needs a proof"
    assert report("w + z*w", nonnegative=tree | {"proofs": [M, M]}).accepted


LIFT = {"name": "y", "term": "T", "general": "ceiling(z) - z", "proof": {"rule": "ceiling", "argument": "z"}}


@pytest.mark.parametrize(
    "tree",
    [{"rule": "generalise", "low": "0", "lower": M} | LIFT, {"rule": "periodicity"} | LIFT, {"rule": "ceiling", "argument": "z + T - T"}],
    ids=lambda tree: tree["rule"],
)
def test_a_term_that_a_rule_is_given_is_defined(tree):
    """The same steps with a root that is defined at each z of [0, 4], and with one that is not below 1, of which no rule may speak."""
    for term, accepted in (("sqrt(z + 1)", True), ("sqrt(z - 1)", False)):
        given = {key: value.replace("T", term) if isinstance(value, str) else value for key, value in tree.items()}
        found = report("ceiling(z) - z + 0*w", nonnegative=given)
        assert found.accepted is accepted
        assert accepted or str(found.reason).startswith("(z + -1) >= 0 is needed and not shown")


def test_a_side_condition_has_a_name():
    with pytest.raises(Rejected):
        side_condition("faith", None)
    assert side_condition("definedness", None).statement == "definedness"


def test_a_record_is_a_point_at_which_it_is_defined():
    for place, fine in (("1", True), ("2*pi - 3", True), ("pi + 1", False), ("3 - pi", False), ("1 + 0*log(0 - 1)", False)):
        proof = {"at": {"z": place}, "bound": B}
        assert report("w*z + w", ("assumption-8", "refuted", proof), target_epsilon="1/2").accepted is fine, place


def test_the_weights_of_a_refutation_in_the_limit_are_defined():
    for weight, fine in (("n**2", True), ("n**2 + 0*log(0 - n)", False)):
        proof = {"at": {"z": "2"}, "weight": weight, "weight-proof": M, "flat": M}
        assert report("3*log(w)/2", ("assumption-11", "refuted", proof)).accepted is fine, weight


def test_from_a_threshold_below_one_nothing_is_refuted():
    for threshold, fine in (("1", True), ("1/2", False)):
        proof = {"at": {"z": "1"}, "weight": "1", "positive": B, "threshold": threshold, "form": "exp", "tail": M}
        assert report("z/4", ("assumption-9-nonzero", "refuted", proof), target_epsilon="1").accepted is fine, threshold


def test_what_is_refuted_is_refuted_at_a_record_and_not_in_cases_or_by_a_statistic():
    at = [{"at": {"z": place}, "bound": B} for place in ("1", "3")]
    cases = {"cases": {"variable": "z", "at": "2", "below": at[0], "above": at[1]}}
    assert report("w*z", ("assumption-8", "refuted", at[0]), target_epsilon="1/2").accepted
    assert report("w*z", ("assumption-8", "refuted", cases), target_epsilon="1/2").reason == "this claim is not shown in cases"
    # no record has z - z = 1
    statistic = {"name": "y", "term": "z - z", "low": "0", "lower": Z, "high": "1", "upper": M, "epsilon": "w*(1 + y)"}
    value = {"statistic": statistic | {"proof": {"at": {"y": "1"}, "bound": B}}}
    assert (
        report("w*(1 + z - z)", ("assumption-8", "refuted", value), target_epsilon="3/2").reason == "this claim is not shown by a statistic"
    )


def test_a_parenthesis_is_closed():
    for text, fine in (("(w)", True), ("((w)", False), ("exp((w)", False), ("w)", False), ("(w))", False), ("w,", False)):
        assert report(text).accepted is fine, text
