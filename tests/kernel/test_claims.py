"""Every claim of the contract, proved and refuted, accepted and rejected, on profiles with known truths."""

import json
import math

import pytest

from proofs_check.kernel import check

M, Z, B = {"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 3000}
C = {**B, "form": "centred"}
A = "T*(1/beta_count + z/beta_sum)"
Q = "1/20 + z**2/50"
OPEN = {"T": "positive", "beta_count": "positive", "beta_sum": "positive"}
EXCEEDED = {"claim": "assumption-8", "verdict": "refuted"}
SIN = {"rule": "sum", "parts": ["w - 1/10", "(1 + sin(w))/10"], "proofs": [M, B]}


def claim(name, verdict="proved", *, bound=None, at=None, **proof):
    value = {"claim": name, "verdict": verdict, "proof": {key.replace("_", "-"): tree for key, tree in proof.items()}}
    return value | ({"bound": bound} if bound else {}) | ({"at": at} if at else {})


def rising(slope, end, variable="w"):
    return {"rule": "monotone", "variable": variable, "direction": "increasing", "slope": slope, "end": end}


def refuted(name, at, **proof):
    value = claim(name, "refuted", **proof)
    value["proof"]["at"] = at
    return value


def bounded(name, tree, verdict="proved"):
    return {"claim": name, "verdict": verdict, "proof": {"bound": tree}}


def psi(z):
    q = 1 / 20 + z * z / 50
    e = 10 / q * (1 / 20.5 + z / 30)
    return e + math.log(q + (1 - q) * math.exp(-e))


CURVATURE = claim("assumption-11", floor=f"({A})**2*exp({A})", positive=M, form="exp", curvature=rising(M, Z))
LLOYD = [
    bounded("assumption-8", B),
    claim("assumption-9", threshold="50", threshold_proof=M, start=B, slope=M),
    CURVATURE,
    claim("assumption-11", floor=f"({A})**2", positive=M, form="log", curvature=Z),
    claim("strong-convexity", floor=f"({A})**2", positive=M, form="log", curvature=M),
    {"claim": "proposition-16", "verdict": "refuted", "proof": {"at": {"z": "0"}, "bound": B}},
    bounded("proposition-17", Z),
]


def test_linear_profile_with_numbers(run):
    report = run(*LLOYD)
    assert report.accepted, report
    assert [(c.claim, c.verdict) for c in report.claims][1:] == [(c["claim"], c["verdict"]) for c in LLOYD]
    assert report.claims[5].bound == f"({A})**2"
    assert report.claims[3].rules == ("manifest", "zero", "monotone")


def test_linear_profile_with_positive_parameters(run):
    at = {"z": "0", "T": "10", "beta_count": "1/10", "beta_sum": "1"}
    report = run(CURVATURE, bounded("proposition-17", M), EXCEEDED | {"proof": {"at": at, "bound": B}}, parameters=OPEN)
    assert report.accepted, report
    report = run(CURVATURE, bounded("proposition-17", Z), bounded("assumption-8", B), parameters=OPEN)
    assert report.step == "claims[3].proof.bound"


def test_linear_profile_in_one_parameter(run):
    floor = claim("assumption-11", floor="a**2*exp(a)", positive=M, form="exp", curvature=rising(M, Z))
    for parameters in ({"a": "3/2"}, {"a": "positive"}, {"a": ["1/2", "3"]}):
        assert run(floor, bounded("proposition-17", Z), epsilon="a*w", parameters=parameters).accepted


def test_sampled_bounds(run):
    best = max(psi(i / 1e4) for i in range(40_001))
    where = max(range(40_001), key=lambda i: psi(i / 1e4)) / 1e4

    def upper(number, **changes):
        proof = {"q-positive": M, "q-at-most-one": B, "form": "log", "bound": C, **changes}
        return claim("epsilon-upper", bound=repr(number)) | {"proof": proof}

    def lower(number, at=str(where)):
        return claim("epsilon-lower", bound=repr(number), at={"z": at}) | {"proof": {"bound": B}}

    report = run(upper(best + 2e-9), lower(best - 1e-9), q=Q)
    assert report.accepted, report
    assert [c.bound for c in report.claims] == [None, repr(best + 2e-9), repr(best - 1e-9)]
    assert run(upper(9.5, form="exp", bound=B), q=Q).accepted
    assert run(upper(best - 1e-6), q=Q).step == "claims[1].proof.bound"
    assert run(upper(best - 1e-6, form="exp"), q=Q).step == "claims[1].proof.bound"
    assert run(lower(best + 1e-6), q=Q).step == "claims[1].proof.bound"
    assert run(lower(1.0, at="5"), q=Q).step == "claims[1].proof.at"
    assert run(upper(10.0)).step == "claims[1].proof"
    assert run(upper(10.0), q="z**2/50").step == "claims[1].proof.q-positive"
    assert run(upper(10.0), q="1/20 + z**2/16").step == "claims[1].proof.q-at-most-one"
    assert run(upper(10.0), q="1/(z + 20) + 0/z").step == "claims[1].proof"
    assert run(upper(10.0), q="1/w").step == "sampling"
    assert run(lower(0.1, at="0"), q="z/8").step == "claims[1].proof"
    assert run(lower(0.1, at="3"), q="z/2").step == "claims[1].proof"
    assert run(lower(0.1, at="3"), q="z/8").accepted
    assert run(upper(9.5, form="sup"), q=Q).step == "claims[1].proof.form"


def test_growth_is_refuted_where_the_slope_is_zero(run):
    zero = {"epsilon": "w*z", "record": {"z": ["0", "2"]}}
    for form, proof in (("exp", rising(M, M)), ("exp", M), ("log", B)):
        tail = {"at": {"z": "0"}, "threshold": "1", "form": form, "tail": proof}
        assert run({"claim": "assumption-9", "verdict": "refuted", "proof": tail}, **zero).accepted
    tail = {"at": {"z": "1"}, "threshold": "1", "form": "exp", "tail": M}
    assert run({"claim": "assumption-9", "verdict": "refuted", "proof": tail}, **zero).step == "claims[1].proof.tail"
    tail = {"at": {"z": "0"}, "threshold": "1/2", "form": "exp", "tail": M}
    assert run({"claim": "assumption-9", "verdict": "refuted", "proof": tail}, **zero).step == "claims[1].proof"
    curvature = refuted("assumption-11", {"z": "0", "w": "3/2"}, curvature=Z)
    assert run(curvature, **zero).accepted


def test_growth_can_be_shown_directly(run):
    target = {"epsilon": "w*z", "record": {"z": ["1", "2"]}, "target": "1"}
    tree = rising(B, B, "s")
    direct = {"threshold": "4", "threshold-proof": M, "direct": tree, "form": "log"}
    assert run({"claim": "assumption-9", "verdict": "proved", "proof": direct}, **target).accepted
    direct["threshold"] = "1"
    assert not run({"claim": "assumption-9", "verdict": "proved", "proof": direct}, **target).accepted
    report = run(claim("assumption-9", threshold="1/2", threshold_proof=M, start=B, slope=M), **target)
    assert report.step == "claims[1].proof.threshold-proof"
    report = run(claim("assumption-9", threshold="w", threshold_proof=M, start=B, slope=M), **target)
    assert report.step == "claims[1].proof.threshold"
    report = run(claim("assumption-9", threshold="5", threshold_proof=M, start=B, slope=M), epsilon="3*log(w)", target="1")
    assert report.accepted
    report = run(claim("assumption-9", threshold="5", threshold_proof=M, start=B, slope=B), epsilon="log(w)/2", target="1")
    assert not report.accepted


def test_the_offset_of_the_threshold_has_a_fresh_name(run):
    proof = {"threshold": "4", "threshold-proof": M, "direct": rising(B, B, "s_"), "form": "log"}
    assert run({"claim": "assumption-9", "verdict": "proved", "proof": proof}, epsilon="w*s", record={"s": ["1", "2"]}, target="1").accepted
    proof["direct"] = rising(B, B, "s")
    assert not run(
        {"claim": "assumption-9", "verdict": "proved", "proof": proof}, epsilon="w*s", record={"s": ["1", "2"]}, target="1"
    ).accepted


def test_conditions_at_weight_one(run):
    # epsilon' < 1 - exp(-epsilon) at w = 1
    assert run(bounded("proposition-16", B), epsilon="2 + log(w)/4").accepted
    assert run(bounded("proposition-16", B), epsilon="1/2").accepted
    assert not run(bounded("proposition-16", B), epsilon="w/2").accepted
    report = run({"claim": "proposition-16", "verdict": "refuted", "proof": {"at": {"z": "1"}, "bound": B}}, epsilon="1/2")
    assert report.step == "claims[1].proof.bound"
    # equality refutes: epsilon = 0 has slope 0 = 1 - exp(0)
    equal = {"claim": "proposition-16", "verdict": "refuted", "proof": {"at": {"z": "0"}, "bound": Z}}
    assert run(equal, epsilon="w*z", record={"z": ["0", "2"]}).accepted
    # the right derivative at the border, by a branch that is the same function on [1, inf)
    assert run(bounded("proposition-16", B), epsilon="2 + Abs(w - 1)/4").accepted
    assert run(bounded("proposition-16", B), epsilon="2 + Max(1, w)/4 + Abs(w + 1)/8").accepted
    flipped = {"claim": "proposition-16", "verdict": "refuted", "proof": {"at": {"z": "1"}, "bound": B}}
    assert not run(flipped, epsilon="2 - Abs(1 - w)/4 + w").accepted
    kink = {"claim": "proposition-16", "verdict": "refuted", "proof": {"at": {"z": "1"}, "kink": ["1", "1.1"]}}
    assert not run(kink, epsilon="2 + Abs(w - 1)").accepted


@pytest.mark.parametrize(
    ("epsilon", "point", "tree", "accepted"),
    [
        ("w**2*z", {"w": "1", "z": "1"}, B, False),
        ("log(1 + w)", {"w": "1", "z": "0"}, Z, True),
        ("z/(1 + w)", {"w": "1", "z": "1"}, B, False),
        ("z/(1 + w) + sqrt(w)", {"w": "1", "z": "0"}, Z, True),
        ("1/2", {"w": "2", "z": "0"}, Z, True),
        ("log(1 + log(w))", {"w": "2", "z": "0"}, B, True),
        ("2*log(w)", {"w": "2", "z": "0"}, B, False),
        ("1 + Abs(w - 2)", {"w": "2", "z": "0"}, B, False),
        ("sqrt(w - 1)", {"w": "1", "z": "0"}, B, False),
        ("1 + sqrt(w - 1)", {"w": "5/4", "z": "0"}, B, True),
        ("Max(w, 2)", {"w": "3/2", "z": "0"}, Z, True),
        ("Max(w, 2)", {"w": "2", "z": "0"}, Z, False),
        ("3 + Abs(1 - w) + (w - 1)", {"w": "1", "z": "0"}, Z, False),
    ],
)
def test_strong_convexity_is_refuted_by_a_second_derivative(run, epsilon, point, tree, accepted):
    report = run(refuted("assumption-11", point, curvature=tree), epsilon=epsilon, nonnegative=B)
    assert report.step is None or report.step.startswith("claims[1]"), report
    assert report.accepted is accepted, report


def test_strong_convexity_is_proved_for_convex_profiles(run):
    assert run(claim("assumption-11", floor="1", positive=M, form="exp", curvature=B), epsilon="w**2*z + w").accepted
    assert run(claim("strong-convexity", floor="1/2", positive=M, form="log", curvature=B), epsilon="w + w**2*z").accepted
    flat = claim("assumption-11", floor="1", positive=M, form="exp", curvature=B)
    assert run(flat, epsilon="w*z").step == "claims[1].proof.curvature"
    assert run(claim("assumption-11", floor="z", positive=M, form="exp", curvature=B), epsilon="w*z").step == "claims[1].proof.positive"
    assert run(claim("assumption-11", floor="1/z", positive=M, form="exp", curvature=B), epsilon="w*z").step == "claims[1].proof.floor"
    assert run(claim("assumption-11", floor="w", positive=M, form="exp", curvature=B), epsilon="w*z").step == "claims[1].proof.floor"
    kinked = claim("assumption-11", floor="1/10", positive=M, form="exp", curvature=B)
    assert run(kinked, epsilon="w + Abs(w - 2)", nonnegative=B).step == "claims[1].proof"
    sine = claim("assumption-11", floor="1/10", positive=M, form="log", curvature=B)
    assert run(sine, epsilon="w + sin(w)/10", nonnegative=SIN).accepted


@pytest.mark.parametrize(
    ("epsilon", "at", "accepted"),
    [
        ("Abs(w - 2) + w", "2", True),
        ("Abs(w - 2) + w", "3", False),
        ("Abs(w - 2) + w", "1", False),
        ("Abs(w - 1) + w", "1", False),
        ("Max(w, 2)", "2", True),
        ("Min(w, 2*w - 2, 7) + 1", "2", True),
        ("Max(w, 2) + Min(w, 2)", "2", False),
        ("Abs(w - 2)*Abs(w - 2)", "2", False),
        ("Abs((w - 2)**2) + 1", "2", False),
        ("Piecewise((1, w < 2), (w, True))", "2", True),
        ("Piecewise((w, w <= 2), (2*w - 2, True))", "2", True),
        ("Piecewise((w, w <= 2), (w + w - 2 + (2 - w), True))", "2", False),
        ("Piecewise((w, w < 2), (w**2/4 + 1, True))", "2", False),
        ("Piecewise((1, 2 > w), (3, 2 >= w), (1, True))", "2", False),
        ("Abs(w - z) + w", "2", True),
        ("1 + Abs(log(w) - log(2))", "2", True),
        ("1 + Abs(w**3 - 8 - 12*(w - 2))", "2", False),
        ("Abs(sqrt(w) - sqrt(2))", "2", True),
        ("1 + sqrt(Abs(w - 2))", "2", False),
        ("ceiling(w)", "2", True),
        ("floor(w)", "2", True),
        ("w + ceiling(w*z/4)", "2", True),
        ("2 - exp(-ceiling(w))", "2", True),
        ("ceiling(w)", "2.5", False),  # no jump in [2.4, 2.6]
        ("ceiling(w) + floor(w)", "2.5", False),
        ("ceiling(20*w)", "2", False),  # more than two values
        ("ceiling(w) + floor(-w) + w", "2", False),  # it is w
        ("ceiling(ceiling(w)/2 + w)", "2", False),  # one in another
        ("w + ceiling(Abs(w - 2) - 1)", "2", False),  # the argument touches a whole number
        ("1 + w + (w - 2)*ceiling(w)", "2", True),  # the jump is multiplied by zero, which leaves a kink
    ],
)
def test_a_kink_refutes_smoothness(run, epsilon, at, accepted):
    for name in ("assumption-11", "proposition-17"):
        around = [f"{float(at) - 0.1:.1f}", f"{float(at) + 0.1:.1f}"]
        report = run(refuted(name, {"z": "2"}, kink=around), epsilon=epsilon, nonnegative=B)
        assert report.step is None or report.step.startswith("claims[1].proof.kink"), report
        assert report.accepted is accepted, report


@pytest.mark.parametrize(
    "around", [True, None, ["2", "2"], ["2.1", "1.9"], ["2", "3"], ["1", "2"], ["0.9", "2.1"], ["1", "2", "3"], ["1", None]]
)
def test_a_kink_lies_strictly_inside_a_range_of_weights(run, around):
    assert not run(refuted("proposition-17", {"z": "2"}, kink=around), epsilon="Max(w, 2)", nonnegative=B).accepted


@pytest.mark.parametrize(
    ("epsilon", "around", "accepted"),
    [
        ("Max(w**2, w + 1)", ["1.6", "1.7"], True),  # the golden ratio
        ("Max(w**2, w + 1)", ["1.6", "1.61"], False),
        ("w + Abs(sin(w))/9", ["3.1", "3.2"], True),  # pi
        ("w + Abs(sin(w))/9", ["3", "6.5"], False),  # two of them
        ("w + Abs(w - 2) + Abs(w - 2.01)", ["1.9", "2.1"], False),  # two arguments
        ("Max(w, 2) + Max(2*w, w + 2)", ["1.9", "2.1"], True),  # one, twice
        ("w + Piecewise((1, w < 2), (1 + Abs(w - 2.05), True))", ["1.9", "2.1"], False),
        ("w + Piecewise((1, w < 2), (1 + sqrt(Abs(w - 2)), True))", ["1.9", "2.1"], False),
    ],
)
def test_a_kink_may_be_irrational_but_must_be_single(run, epsilon, around, accepted):
    report = run(refuted("assumption-11", {"z": "2"}, kink=around), epsilon=epsilon, nonnegative=B)
    assert report.accepted is accepted, report


HUBER = "Piecewise((w**2/2, w < 2), (2*w - 2, True))"
PIECES = {"floor": "1", "positive": M, "form": "log"}


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize(
    ("epsilon", "cuts", "accepted"),
    [
        (HUBER, ["2"], True),
        (HUBER.replace("<", "<="), ["2"], True),
        (HUBER, ["3"], False),
        (HUBER, [], False),
        (HUBER, ["2", "2"], False),
        (HUBER, ["1", "2"], False),
        (HUBER, ["1/2", "2"], False),
        (HUBER, ["2", "3"], False),  # the trees are two
        ("Piecewise((w**2/2, w < 2), (2*w - 1, True))", ["2"], False),  # a jump
        ("Piecewise((w**2/2, w < 2), (3*w - 4, True))", ["2"], False),  # a kink
        ("Piecewise((w**2/2, w < 2), (3, w <= 2), (2*w - 2, True))", ["2"], False),  # one value out of line
        ("Piecewise((w**2/2, (w - 1.5)**2 > 0), (7, w <= 2), (2*w - 2, True))", ["2"], False),  # one value out of line inside
        ("Piecewise((7, w <= 1), (w**2/2, w < 2), (2*w - 2, True))", ["2"], False),  # at w = 1
    ],
)
def test_pieces_that_meet_smoothly(run, epsilon, cuts, accepted):
    for name, proof in (("proposition-17", {"bound": [M, M]}), ("assumption-11", {**PIECES, "curvature": [M, M]})):
        report = run({"claim": name, "verdict": "proved", "proof": {"cuts": cuts, **proof}}, epsilon=epsilon, nonnegative=B)
        assert report.accepted is accepted, report


def test_pieces_each_need_their_proof(run):
    for curvature in ([M], [M, M, M], [M, Z], M, None):
        assert not run(claim("assumption-11", cuts=["2"], **PIECES, curvature=curvature), epsilon=HUBER, nonnegative=B).accepted
    steep = {**PIECES, "floor": "5/2"}
    report = run(claim("assumption-11", cuts=["2"], **steep, curvature=[M, M]), epsilon=HUBER, nonnegative=B)
    assert report.step == "claims[1].proof.curvature[0]"
    undefined = "Piecewise((1 + sqrt(2 - w) - sqrt(2 - w), w < 2), (w, True))"
    pieces = {"claim": "proposition-17", "verdict": "proved", "proof": {"cuts": ["2"], "bound": [M, M]}}
    assert run(pieces, epsilon=undefined, nonnegative=B).step == "claims[0].proof"


MOVING = "20 + Piecewise((w**2/2, w <= 1 + z), ((1 + z)*w - (1 + z)**2/2, True))"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("epsilon", "cuts", "accepted"),
    [
        (MOVING, ["1 + z"], True),
        (MOVING.replace("<=", "<").replace("1 + z", "2 + z"), ["2 + z"], True),
        (MOVING, ["z + 1"], True),
        (MOVING, ["1 + z/2"], False),
        (MOVING, ["2 + z"], False),
        (MOVING, ["1 - z"], False),  # below 1
        (MOVING, ["3"], False),
        (MOVING, ["1 + w*z"], False),  # no term of the record
        (MOVING.replace("(1 + z)**2/2", "(1 + z)**2/2 + z/100"), ["1 + z"], False),  # a jump, but at z = 0
        (MOVING.replace("((1 + z)*w", "((1 + z)*w + z*(w - 1 - z)/100"), ["1 + z"], False),  # a kink, but at z = 0
        ("w + Max(w - 1 - z, 0)**(3/2)", ["1 + z"], True),
        ("w + Max(w - 1 - z, 0)**(1/2)", ["1 + z"], False),  # its slope is infinite at the cut
        ("w + Max(w - 1 - z, 0)**(3/2) + Max(w - 1 - z, 0)", ["1 + z"], False),
        ("w + Max(2 + z - w, 0)**(3/2)/10**6", ["2 + z"], True),  # smooth inside in the other direction only
        ("w + Max(1 + z - w, 0)**(3/2)/10**6", ["1 + z"], False),  # there is no inside at z = 0
    ],
)
def test_pieces_may_move_with_the_record_and_be_smooth_inside_only(run, epsilon, cuts, accepted):
    exact = {"rule": "boxes", "budget": 500}
    for trees in ([M, M], [exact, M]):
        report = run(claim("assumption-11", cuts=cuts, **{**PIECES, "floor": "1/1000"}, curvature=trees), epsilon=epsilon, nonnegative=B)
        if report.accepted:
            break
    assert report.accepted is accepted, report


@pytest.mark.parametrize(
    ("epsilon", "restated", "accepted"),
    [
        ("w + Abs(w - 2) - Abs(2 - w)", {"term": "w"}, True),
        ("w + Abs(w - 2) - Abs(2 - w)", {"term": "w + z - z"}, True),
        ("w + Abs(w - 2) - Abs(2 - w)", {"term": "w + z"}, False),
        ("w + Abs(w - 2) - Abs(2 - w)", {"term": "2*w"}, False),
        ("w + Abs(w - 2) - Abs(2 - w)", {"term": "w + 0/(w - 2)"}, False),  # not defined everywhere
        ("w + Abs(w - 2) - Abs(2 - w)", {"term": "w", "root": ["w"]}, False),
        ("w + Abs(w - 2) - Abs(2 - w)", {}, False),
        ("w + Abs(w - 2) - Abs(2 - w)", None, False),
        ("Max(w, 3) + Min(w, 3) - 3", {"term": "w"}, True),
        ("Max(w, 3) + Min(w, 2) - 2", {"term": "w"}, False),
        ("Max(w, 2*z) + Min(2*z, w) - z", {"term": "w + z"}, True),
        ("sqrt((w + 1)**2) - 1", {"term": "w", "roots": ["w + 1"]}, True),
        ("sqrt((w + 1)**2) - 1", {"term": "w", "roots": ["-1 - w"]}, True),
        ("sqrt((w + 1)**2) - 1", {"term": "w", "roots": ["w - 1"]}, False),
        ("sqrt((w + 1)**2) - 1", {"term": "w"}, False),  # no root is given
        ("sqrt((w - 2)**2) + 2", {"term": "w", "roots": ["w - 2"]}, False),  # |w - 2| is not w - 2
        ("(w**2 - 2*w + 1)**(3/2) + w", {"term": "w + (w - 1)**3", "roots": ["w - 1"]}, False),  # |w - 1|**3 for the kernel
        ("(w**2 - 2*w + 1)**(3/2) + w", {"term": "w + Abs(w - 1)**3", "roots": ["w - 1"]}, True),
    ],
)
def test_epsilon_is_restated_as_what_it_equals(run, epsilon, restated, accepted):
    obligations = {"w**2 - 2*w + 1": {"rule": "sum", "parts": ["(w - 1)**2"], "proofs": [B]}} if "w**2" in epsilon else {}
    value = claim("assumption-11", **{**PIECES, "floor": "1"}, curvature=M, restated=restated)
    report = run(value, epsilon=epsilon, nonnegative=B, **({"obligations": obligations} if obligations else {}))
    assert report.accepted is accepted, report


def test_what_is_restated_at_a_record_holds_at_that_record(run):
    kinked = {"kink": ["1.9", "2.1"], "restated": {"term": "Abs(w - 2) + 2", "roots": ["w - z"]}}
    for name in ("assumption-11", "proposition-17"):
        assert run(refuted(name, {"z": "2"}, **kinked), epsilon="sqrt((w - z)**2) + z", nonnegative=M).accepted
        report = run(refuted(name, {"z": "3"}, **kinked), epsilon="sqrt((w - z)**2) + z", nonnegative=M)
        assert report.step == "claims[1].proof.restated"
        assert not run(refuted(name, {"z": "5"}, **kinked), epsilon="sqrt((w - z)**2) + z", nonnegative=M).accepted


def test_well_definedness_is_about_what_was_written(run):
    value = {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": M, "restated": {"term": "w"}}}
    assert not run(value, epsilon="w + Abs(w - 2) - Abs(2 - w)", nonnegative=B).accepted


@pytest.mark.parametrize(
    ("epsilon", "weight", "flat", "accepted"),
    [
        ("3*log(w)/2", "n**2", M, True),  # K exp(epsilon) = 3/4 w**(-1/2)
        ("3*log(w)/2", "n", M, False),
        ("3*log(w)/2", "n**2/2", M, False),  # below 1
        ("3*log(w)/2", "1/(2 - n)", M, False),  # undefined
        ("2*log(w)", "n**2", B, False),  # 2
        ("w", "n**2", B, False),
        ("log(1 + w)", "n", Z, False),
        ("log(1 + w)", "n", M, True),  # 0
        ("3*Max(log(w), log(2))/2", "n**2", M, False),  # a kink: another refutation
    ],
)
def test_strong_convexity_may_fail_in_the_limit_only(run, epsilon, weight, flat, accepted):
    proof = {"weight": weight, "weight-proof": B if weight == "n**2/2" else M, "flat": flat}
    assert run(refuted("assumption-11", {"z": "2"}, **proof), epsilon=epsilon, nonnegative=B).accepted is accepted


def test_growth_condition_of_proposition_17(run):
    assert run(bounded("proposition-17", M), epsilon="w**2*z").accepted
    assert run(bounded("proposition-17", B), epsilon="1/2").step == "claims[1].proof.bound"
    for epsilon, point in (("log(1 + w)", {"w": "9", "z": "0"}), ("z/(1 + w)", {"w": "1", "z": "1"}), ("1/2", {"w": "1", "z": "0"})):
        value = {"claim": "proposition-17", "verdict": "refuted", "proof": {"at": point, "bound": B}}
        assert run(value, epsilon=epsilon).accepted
    value = {"claim": "proposition-17", "verdict": "refuted", "proof": {"at": {"w": "2", "z": "1"}, "bound": B}}
    assert run(value, epsilon="w*z").step == "claims[1].proof.bound"


@pytest.mark.parametrize("at", [{"z": "5"}, {"z": "-1"}, {}, {"z": "1", "w": "1"}, {"z": 1}, {"z": "1", "y": "1"}, [], None])
def test_points_have_exactly_the_declared_coordinates(run, at):
    value = {"claim": "assumption-8", "verdict": "refuted", "proof": {"at": at, "bound": B}}
    assert run(value, target="1").step == "claims[1].proof.at"


def test_points_stay_inside_parameter_ranges(run):
    value = {"claim": "assumption-8", "verdict": "refuted", "proof": {"at": {"z": "1", "a": "9"}, "bound": B}}
    assert run(value, epsilon="a*w", parameters={"a": "positive"}, target="1").accepted
    assert not run(value, epsilon="a*w", parameters={"a": ["1", "8"]}, target="1").accepted
    value["proof"]["at"]["a"] = "0"
    assert run(value, epsilon="2 + a*w", parameters={"a": "positive"}, target="1").step == "claims[1].proof.at"
    value = {"claim": "proposition-17", "verdict": "refuted", "proof": {"at": {"z": "1", "w": "1/2"}, "bound": B}}
    assert run(value, epsilon="1/2").step == "claims[1].proof.at"


def test_targets_are_needed_and_positive(run):
    assert run(bounded("assumption-8", B), target=None).step == "claims[1].proof"
    for target in ("0", "-1", "-1/3", "x", "1/0"):
        assert run(bounded("assumption-8", B), target=target).step == "target_epsilon"
    assert not run(bounded("assumption-8", B), target="1.82").accepted


@pytest.mark.parametrize(
    ("epsilon", "tree", "accepted"),
    [
        ("z - 1 + w", M, True),
        ("z - 2 + w", B, False),
        ("w*sin(z)", B, False),
        ("w + sin(w)/10", SIN, True),
        ("Max(w, 2)", B, True),
        ("1/2", M, True),
    ],
)
def test_profiles_are_nonnegative(run, epsilon, tree, accepted):
    report = run(epsilon=epsilon, nonnegative=tree)
    assert report.accepted is accepted
    assert accepted or report.step == "claims[0].proof.nonnegative"


def cases(below, above, variable="z", at="1"):
    return {"cases": {"variable": variable, "at": at, "below": below, "above": above}}


def split_by_record(name, proof, verdict="proved"):
    return {"claim": name, "verdict": verdict, "proof": proof}


FLOOR = {"floor": "1/4", "positive": M, "form": "log", "curvature": M}


def test_a_claim_about_all_records_may_be_proved_in_cases(run):
    ranges = {"z": ("1/2", "2")}
    for epsilon in ("Max(w, z*w)", "Piecewise((w, z <= 1), (z*w, True))"):
        assert run(split_by_record("proposition-17", cases({"bound": Z}, {"bound": Z})), epsilon=epsilon, record=ranges).accepted
        assert run(split_by_record("assumption-11", cases(FLOOR, FLOOR)), epsilon=epsilon, record=ranges).accepted
        assert not run(bounded("proposition-17", Z), epsilon=epsilon, record=ranges).accepted
    nested = cases({"bound": Z}, cases({"bound": Z}, {"bound": Z}, at="3/2"))
    assert run(split_by_record("proposition-17", nested), epsilon="Max(w, z*w)", record=ranges).accepted


@pytest.mark.parametrize(
    ("proof", "step"),
    [
        (cases({"bound": Z}, {"bound": Z}, at="3/2"), ".cases.below"),
        (cases({"bound": Z}, {"bound": Z}, at="1/2"), ""),
        (cases({"bound": Z}, {"bound": Z}, at="2"), ""),
        (cases({"bound": Z}, {"bound": Z}, at="3"), ""),
        (cases({"bound": Z}, {"bound": Z}, variable="w"), ""),
        (cases({"bound": Z}, {"bound": Z}, variable=1), ""),
        (cases({"bound": Z}, {"bound": Z}) | {"bound": Z}, ""),
        ({"cases": {"variable": "z", "at": "1", "below": {"bound": Z}}}, ""),
        (cases({"bound": Z}, []), ".cases.above"),
        (cases({"bound": Z}, {"bound": M, "at": {"z": "1"}}), ".cases.above"),
    ],
)
def test_cases_have_to_cover_the_records_and_be_proved(run, proof, step):
    report = run(split_by_record("proposition-17", proof), epsilon="Max(w, z*w)", record={"z": ("1/2", "2")})
    assert not report.accepted
    assert report.step.startswith(f"claims[1].proof{step}")


def test_cases_belong_to_claims_about_all_records_only(run):
    ranges = {"z": ("1/2", "2")}
    assert not run(split_by_record("strong-convexity", cases(FLOOR, FLOOR)), epsilon="Max(w, z*w)", record=ranges).accepted
    at = {"at": {"z": "3/4"}, "bound": B}
    assert run(split_by_record("proposition-16", at, "refuted"), epsilon="z*w", record=ranges).accepted
    assert not run(split_by_record("proposition-16", cases(at, at), "refuted"), epsilon="z*w", record=ranges).accepted


SQUARES = "w*((z - 1/3)**2 + 1/100)"
PART = {"name": "c", "term": "(z - 1/3)**2 + 1/100", "low": "1/100", "lower": B, "high": "1", "upper": B, "epsilon": "c*w"}


def statistic(proof, **changed):
    return {"statistic": {key: value for key, value in {**PART, "proof": proof, **changed}.items() if value is not None}}


def test_a_part_of_epsilon_may_become_a_statistic(run):
    ranges = {"z": ("0", "1")}
    floor = {"floor": "c**2", "positive": M, "form": "log", "curvature": Z}
    slow = {"threshold": "10000", "threshold-proof": M, "start": B, "slope": B}
    for name, proof in (("assumption-8", {"bound": B}), ("assumption-9", slow), ("assumption-11", floor), ("proposition-17", {"bound": Z})):
        assert run(split_by_record(name, statistic(proof)), epsilon=SQUARES, nonnegative=B, record=ranges, target="1").accepted, name
        unbounded = statistic(proof, high=None, upper=None)
        assert run(split_by_record(name, unbounded), epsilon=SQUARES, nonnegative=B, record=ranges, target="1").accepted == (
            name != "assumption-8"
        )
    again = statistic(statistic({"bound": B}, name="d", term="c", epsilon="d*w"))
    assert run(split_by_record("assumption-8", again), epsilon=SQUARES, nonnegative=B, record=ranges, target="1").accepted
    number = statistic({"bound": M}, term="sqrt(2)*sqrt(3) - sqrt(6) + 1", low="1", lower=Z, high="1", upper=Z)
    assert run(
        split_by_record("assumption-8", number), epsilon="w*(sqrt(2)*sqrt(3) - sqrt(6) + 1)", nonnegative=B, record=ranges, target="1"
    ).accepted


@pytest.mark.parametrize(
    ("changed", "step"),
    [
        ({"low": "1/50"}, ".lower"),  # it is 1/100 at z = 1/3
        ({"low": "1/50", "lower": Z}, ".lower"),
        ({"open": "1"}, ".lower"),
        ({"high": "1/10"}, ".upper"),
        ({"high": None}, ""),
        ({"upper": None}, ""),
        ({"lower": None}, ""),
        ({"name": "z"}, ""),
        ({"name": "w"}, ""),
        ({"term": "(z - 1/3)**2 + 1/50", "low": "1/50"}, ""),  # epsilon is not c*w for it
        ({"epsilon": "c*w/2"}, ""),
        ({"epsilon": "c*w + 0/(c - 1/2)"}, ""),  # not defined for all values
        ({"term": "1/(z - 1/3)"}, ""),
        ({"more": "1"}, ""),
    ],
)
def test_a_statistic_needs_its_range_and_its_function(run, changed, step):
    proof = statistic({"bound": Z}, **changed)
    report = run(split_by_record("proposition-17", proof), epsilon=SQUARES, nonnegative=B, record={"z": ("0", "1")})
    assert not report.accepted
    assert report.step.startswith(f"claims[1].proof.statistic{step}")


def test_what_holds_for_the_statistic_has_to_hold_for_all_its_values(run):
    proof = statistic({"bound": M})
    assert not run(split_by_record("assumption-8", proof), epsilon=SQUARES, nonnegative=B, record={"z": ("0", "1")}, target="1/5").accepted


def test_a_statistic_proves_neither_definedness_nor_a_refutation(make, run):
    value = make(epsilon="w + 0/(z - 1/2)", record={"z": ["0", "1"]})
    value["claims"][0]["proof"] = {
        "statistic": {"name": "c", "term": "z", "low": "0", "lower": M, "epsilon": "w", "proof": {"nonnegative": M}}
    }
    assert not check(json.dumps(value)).accepted
    value["profile"]["epsilon"] = "w + z"
    value["claims"][0]["proof"]["statistic"]["epsilon"] = "w + c"
    assert check(json.dumps(value)).reason == "epsilon has to be defined as it is written"
    at = {"at": {"z": "1"}, "bound": B}
    assert not run(
        split_by_record("proposition-16", statistic(at), "refuted"), epsilon=SQUARES, nonnegative=B, record={"z": ("0", "1")}
    ).accepted


@pytest.mark.parametrize(
    ("at", "accepted"),
    [
        ("sqrt(2)", True),
        ("2**(1/2)", True),
        ("sqrt(3)", False),
        ("-sqrt(2)", False),
        ("3*sqrt(2)", False),
        ("sqrt(-2)", False),
        ("z", False),
        ("w", False),
    ],
)
def test_a_witness_may_be_a_closed_term_inside_its_range(run, at, accepted):
    value = refuted("assumption-11", {"z": at, "w": "1"}, curvature=Z)
    assert run(value, epsilon="w*(z**2 - 2)**2", nonnegative=B, record={"z": ("0", "2")}).accepted == accepted


def test_a_closed_witness_keeps_off_an_open_end_and_a_weight_is_a_number(run):
    def at(point, name, **others):
        return run({"claim": name, "verdict": "refuted", "proof": {"at": point, "bound": B}}, **others).accepted

    open_end = {"epsilon": "2 + a*w", "record": {}, "parameters": {"a": "positive"}, "target": "1"}
    assert at({"a": "sqrt(2)"}, "assumption-8", **open_end)
    assert not at({"a": "sqrt(2) - sqrt(2)"}, "assumption-8", **open_end)
    assert at({"z": "1", "w": "3/2"}, "proposition-17", epsilon="w + 1")
    for w in ("sqrt(2)", "1/2"):
        assert not at({"z": "1", "w": w}, "proposition-17", epsilon="w + 1")


STEP = "Piecewise((1, ceiling(w) < {}), (100*w, True))"


@pytest.mark.parametrize(
    ("name", "verdict", "epsilon", "fields"),
    [
        ("proposition-16", "proved", STEP.format("3/2"), {"bound": B}),
        ("proposition-16", "proved", "Piecewise((1, floor(-w) > -3/2), (100*w, True))", {"bound": B}),
        ("proposition-17", "refuted", STEP.format("5/2"), {"at": {"z": "1", "w": "2"}, "bound": B}),
        ("assumption-11", "refuted", STEP.format("5/2"), {"at": {"z": "1", "w": "2"}, "curvature": B}),
        (
            "assumption-11",
            "refuted",
            "Abs(Piecewise((w, Max(ceiling(w), 0) < 5/2), (-9, True)))",
            {"at": {"z": "1", "w": "2"}, "curvature": B},
        ),
    ],
)
def test_the_sign_of_a_step_at_a_point_says_nothing_about_the_points_beside_it(run, name, verdict, epsilon, fields):
    # ceiling(w) is 1 at w = 1 and 2 right beside it
    report = run({"claim": name, "verdict": verdict, "proof": fields}, epsilon=epsilon, nonnegative=B)
    assert (report.accepted, report.step) == (False, "claims[1].proof")


def test_a_step_whose_sign_is_the_same_for_all_weights_is_resolved(run):
    value = run(bounded("proposition-16", B), epsilon="Piecewise((w, ceiling(w) > 0), (100*w, True))", nonnegative=B)
    assert (value.accepted, value.step) == (False, "claims[1].proof.bound")  # 1 - exp(-1) - 1 < 0
    assert run(bounded("proposition-17", B), epsilon="Piecewise((w**2, ceiling(w) > 0), (100*w, True))", nonnegative=B).accepted
