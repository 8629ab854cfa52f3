"""Every rule: a true goal accepted, and for each side condition of the contract a proof that violates it rejected."""

import pytest

M, Z, B = {"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 500}
C = {**B, "form": "centred"}
POSITIVE = {"a": "positive", "b": "positive"}


def mono(slope, end, variable="z", direction="increasing"):
    return {"rule": "monotone", "variable": variable, "direction": direction, "slope": slope, "end": end}


def split(at, below=B, above=B, variable="z"):
    return {"rule": "split", "variable": variable, "at": at, "below": below, "above": above}


def general(term, low, lower, goal, proof, **others):
    return {"rule": "generalise", "name": "y", "term": term, "low": low, "lower": lower, "general": goal, "proof": proof, **others}


def periodicity(term, goal, proof, name="y"):
    return {"rule": "periodicity", "name": name, "term": term, "general": goal, "proof": proof}


def ceil(argument):
    return {"rule": "ceiling", "argument": argument}


def branches(*cases):
    return {"rule": "branches", "cases": [dict(zip(("value", "proof", "share"), case, strict=False)) for case in cases]}


ACCEPTED = [
    ("ceiling(z/3) - z/3", ceil("z/3"), {}),
    ("1 + z/3 - ceiling(z/3)", ceil("z/3"), {"strict": True}),
    ("z/3 - floor(z/3)", ceil("-z/3"), {}),
    ("floor(z/3) + 1 - z/3", ceil("-z/3"), {"strict": True}),
    ("4 - ceiling(z)", B, {}),
    ("2 - ceiling(z/3)", general("z/3", "0", M, "2 - ceiling(y)", B, high="4/3", upper=M), {}),
    ("ceiling(5/3) - 2", Z, {}),
    ("floor(-1/2) + 1", Z, {}),
    ("ceiling(z + 0*z) - ceiling(z)", Z, {}),
    ("tanh(z) - (exp(z) - exp(-z))/(exp(z) + exp(-z))", Z, {}),
    ("cosh(z)**2 - sinh(z)**2 - 1", Z, {}),
    ("2 + sin(z) + cos(z)", periodicity("z", "2 + sin(y) + cos(y)", B), {"strict": True}),
    ("(2 - sin(3*z))**2 - cos(3*z)", periodicity("3*z", "(2 - sin(y))**2 - cos(y)", B), {"strict": True}),
    ("z + 1 + sin(z**2)", periodicity("z**2", "z + 1 + sin(y)", B), {}),
    ("Max(z, 1) - z", branches(("1", Z, "1"), ("z", Z)), {}),
    ("Abs(z - 2) - z + 2", branches(("z - 2", Z), ("2 - z", Z, "1")), {}),
    ("4 - Max(z, 1)", branches(("z", mono(M, Z, direction="decreasing")), ("1", M)), {}),
    ("Piecewise((1, z < 2), (3, z >= 3), (2, True))", branches(("3", M), ("2", M), ("1", M)), {"strict": True}),
    ("Min(z, 1) + 1", branches(("-z", M), ("-1", M)), {}),
    ("(z + 1)**2 - z**2 - 2*z - 1", Z, {}),
    ("z/(1 + z) + 1/(1 + z) - 1", Z, {}),
    ("sqrt(1 + z)*sqrt(1 + z) - 1 - z", Z, {}),
    ("exp(2*z) - exp(z)**2", Z, {}),
    ("exp(3*log(1 + z)) - (1 + z)**3", Z, {}),
    ("log(exp(z)) - z", Z, {}),
    ("(1 + z)**(1/2)*(1 + z)**(-3/2) - 1/(1 + z)", Z, {}),
    ("Abs(z - 2)**2 - (z - 2)**2", Z, {}),
    ("Abs(z - 2)**5 - (z - 2)**4*Abs(z - 2)", Z, {}),
    ("z**2 + 3*z + z*exp(z)", M, {}),
    ("z/(1 + z) - z/(2 + z)", M, {}),
    ("log(1 + z)*z", M, {}),
    ("(exp(3) - 1)*z", M, {}),
    ("a*z + b**(1/2)*z**(3/2)/a", M, {"parameters": POSITIVE}),
    ("(z - 2)**2", M, {"z": ("2", "4")}),
    ("z - 2", M, {"z": ("2", "4")}),
    ("1 + z", M, {"strict": True}),
    ("exp(-z)", M, {"strict": True}),
    ("(1 + z**2)**(3/7)", M, {"strict": True}),
    ("a + z", M, {"strict": True, "parameters": POSITIVE}),
    ("2 - z", M, {"strict": True, "z": ("1", "1")}),
    ("4 - z", B, {}),
    ("5 - z", B, {"strict": True}),
    ("z**2 - 4*z + 4.1", B, {"strict": True}),
    ("z**2 - 4*z + 4.0001", {**C, "precision": 200}, {"strict": True}),
    ("exp(z) - z - 1/2", B, {"strict": True}),
    ("1/a - 1/(1 + a)", B, {"parameters": {"a": ["1", "8"]}}),
    ("2 + sin(z) + cos(z)", B, {"strict": True}),
    ("1 + exp(-a) + a", B, {"strict": True, "parameters": {"a": "positive"}}),
    ("Max(z, 2) - Min(z, 2) - Abs(z - 2) + 0.1", B, {}),
    ("Abs(z - 2)", B, {}),
    ("Piecewise((1, z < 2), (3, z >= 3), (2, True))", B, {"strict": True}),
    ("Abs(z - 2) - 2 + z", split("2", mono(M, B), mono(M, B)), {"z": ("1", "4")}),
    ("exp(z) - 1 - z", mono(B, Z), {}),
    ("4 - z", mono(M, Z, direction="decreasing"), {}),
    ("5 - z", mono(M, B, direction="decreasing"), {"strict": True}),
    ("Max(z, 0)", mono(B, B), {}),
    ("sqrt(a)", mono(M, Z, variable="a"), {"strict": True, "parameters": {"a": "positive"}}),
    ("1 - exp(-a)", mono(M, Z, variable="a"), {"strict": True, "parameters": {"a": "positive"}}),
    ("a - 1 + exp(-a)", mono(mono(M, Z, variable="a"), Z, variable="a"), {"parameters": {"a": "positive"}}),
    ("exp(-z) - 1/60", {"rule": "scale", "factor": "exp(z)", "positive": M, "product": B}, {}),
    ("z + 1", {"rule": "sum", "parts": ["z", "1"], "proofs": [M, B], "strict": 1}, {"strict": True}),
    ("z + 1", {"rule": "sum", "parts": ["z", "1"], "proofs": [M, M]}, {}),
    ("exp(z) - 1 - z", {"rule": "exp-tangent", "exponent": "z", "coefficient": "1", "nonnegative": M, "rest": Z}, {}),
    ("exp(2*z) - exp(z) + 1/3", general("exp(z)", "1", B, "y**2 - y + 1/3", M), {"strict": True}),
    ("exp(z)*(2 - exp(z)) - 1/9", general("exp(z)", "1", B, "y*(2 - y) - 1/9", B, high="1.7", upper=B), {"z": ("0", "1/2")}),
    ("exp(-z)*a + a", general("exp(-z)*a", "0", M, "y + a", M, open=True), {"strict": True, "parameters": POSITIVE}),
    (
        "z - log(1 + z)",
        {"rule": "log-tangent", "argument": "1 + z", "coefficient": "1", "argument-positive": M, "nonnegative": M, "rest": Z},
        {},
    ),
]


@pytest.mark.parametrize(("goal", "proof", "options"), ACCEPTED)
def test_a_true_goal_is_accepted(prove, goal, proof, options):
    accepted, report = prove(goal, proof, **options)
    assert accepted, report


SUM = {"rule": "sum", "parts": ["z", "1"], "proofs": [M, M]}
EXP = {"rule": "exp-tangent", "exponent": "z", "coefficient": "1", "nonnegative": M, "rest": Z}
LOG = {"rule": "log-tangent", "argument": "1 + z", "coefficient": "1", "argument-positive": M, "nonnegative": M, "rest": Z}
SCALE = {"rule": "scale", "factor": "5*(1 + z)", "positive": M, "product": B}
REJECTED = [
    ("ceiling(z) - z", ceil("z"), {"strict": True}, ""),
    ("z - ceiling(z)", ceil("z"), {}, ""),
    ("z + 1/2 - ceiling(z)", ceil("z"), {}, ""),
    ("ceiling(z) - z", ceil("z/2"), {}, ""),
    ("ceiling(z) - z", ceil("log(z)"), {}, ""),
    ("floor(z) - z", ceil("-z"), {}, ""),
    ("3 - ceiling(z)", B, {}, ""),
    ("3 - ceiling(z)", C, {}, ""),
    ("ceiling(z)", mono(Z, Z), {}, ""),
    ("z - floor(z)", mono(M, Z), {}, ""),
    ("ceiling(z)", branches(("z", M), ("0", Z)), {}, ""),
    # goal, proof, options, the failing step below the goal's own
    ("z", Z, {}, ""),
    ("0*z", Z, {"strict": True}, ""),
    ("z", M, {"strict": True}, ""),
    ("z - 1", M, {}, ""),
    ("z", M, {"z": ("-1", "1")}, ""),
    ("z**3", M, {"z": ("-1", "1")}, ""),
    ("z*log(z)", M, {"z": ("1/2", "4")}, ""),
    ("(exp(1) - 3)*z", M, {}, ""),
    ("1/(z - 5) + 1/2", M, {}, ""),
    ("a - b", M, {"parameters": POSITIVE}, ""),
    ("z", B, {"strict": True}, ""),
    ("z - 1/1000000", B, {}, ""),
    ("(z - 2)**2", {**B, "budget": 3}, {"strict": True}, ""),
    ("z", {**B, "budget": 0}, {}, ""),
    ("z", {**B, "budget": 50_001}, {}, ""),
    ("z", {**B, "budget": True}, {}, ".budget"),
    ("z", {**B, "budget": "5"}, {}, ".budget"),
    ("z", {**B, "budget": -1}, {}, ".budget"),
    ("z", {**B, "precision": 52}, {}, ""),
    ("z", {**B, "precision": 1025}, {}, ""),
    ("z", {**B, "precision": True}, {}, ".precision"),
    ("z", {**B, "form": "Natural"}, {}, ".form"),
    ("z", {"rule": "boxes"}, {}, ""),
    ("z", {**M, "extra": 1}, {}, ""),
    ("z", {"rule": "trust-me"}, {}, ""),
    ("z", {"rule": ["zero"]}, {}, ""),
    ("z", "zero", {}, ""),
    ("Abs(z - 2)", C, {}, ""),
    ("sqrt(z)", C, {"strict": True}, ""),
    ("z", split("0"), {}, ""),
    ("z", split("4"), {}, ""),
    ("z", split("-1"), {}, ""),
    ("z", split("9"), {}, ""),
    ("z", split("1", variable="w"), {}, ""),
    ("z", split(1), {}, ".at"),
    ("z - 1", split("1", B, B), {}, ".below"),
    ("1 - z", split("1", B, B), {}, ".above"),
    ("z - 1", mono(B, B), {}, ".end"),
    ("-z", mono(B, Z), {}, ".slope"),
    ("z", mono(B, Z, direction="decreasing"), {}, ".slope"),
    ("z", mono(B, Z, direction="up"), {}, ".direction"),
    ("z", mono(B, Z, variable="y"), {}, ""),
    ("a - 1", mono(M, B, variable="a"), {"parameters": {"a": "positive"}}, ".end"),
    ("1 - exp(-0*a)", mono(Z, Z, variable="a"), {"strict": True, "parameters": {"a": "positive"}}, ".slope"),
    ("2 + log(a)", mono(M, B, variable="a"), {"parameters": {"a": "positive"}}, ""),
    ("1/a - 1/a + a", mono(M, Z, variable="a"), {"parameters": {"a": "positive"}}, ""),
    ("Piecewise((1, a < 3), (a - 3, True))", mono(M, Z, variable="a"), {"parameters": {"a": "positive"}}, ""),
    ("-a", mono(B, Z, variable="a", direction="decreasing"), {"parameters": {"a": "positive"}}, ""),
    ("Abs(z - 2) - 2 + z", mono(B, Z), {}, ""),
    ("sqrt(z)", mono(M, Z), {}, ""),
    ("Piecewise((z, z < 2), (z - 2, True))", mono(M, Z), {}, ""),
    ("Piecewise((z, z <= 2), (z - 2, True))", split("2", mono(M, B), mono(M, B)), {}, ".above"),
    ("z", mono(mono(B, B, direction="left"), Z), {}, ".slope.direction"),
    ("1/(1 + z) - 1/5", {**SCALE, "factor": "5*(z - 1)"}, {}, ".positive"),
    ("z - 4", general("z", "5", M, "y - 4", M), {}, ".lower"),
    ("1 - z", general("z", "0", M, "1 - y", B, high="1", upper=B), {}, ".upper"),
    ("1 - z", general("z", "0", M, "1 - y", B, high="-1", upper=B), {}, ""),
    ("1 - z", general("z", "0", M, "1 - y", B, high="1"), {}, ""),
    ("z", general("z", "0", M, "y", M, open=True), {"strict": True}, ".lower"),
    ("z", general("z", "0", M, "y", M), {"strict": True}, ".proof"),
    ("z - 4", general("z", "0", M, "y - 3", M), {}, ""),
    ("z - 4", general("z", "0", M, "y + 3", M), {}, ""),
    ("z", general("z", "0", M, "log(y) + z - log(y)", M), {}, ""),
    ("z - 4", {**general("z", "0", M, "z", M), "name": "z"}, {}, ""),
    ("z - 4", {**general("z", "0", M, "w", M), "name": "w"}, {}, ""),
    ("z - a", {**general("z", "0", M, "a", M), "name": "a"}, {"parameters": {"a": "4"}}, ""),
    ("z", general("1/z", "0", M, "y", M), {}, ""),
    ("z + 1 + sin(z)", periodicity("z", "y + 1 + sin(y)", B), {}, ""),
    ("z", periodicity("z", "y", B), {}, ""),
    ("1 + sin(z)*z", periodicity("z", "1 + sin(y)*y", B), {}, ""),
    ("2 + sin(2*z)", periodicity("z", "2 + sin(2*y)", B), {}, ""),
    ("2 + sin(z)", periodicity("2*z", "2 + sin(y)", B), {}, ""),
    ("2 + sin(z)", periodicity("z", "2 + sin(z)", B, name="z"), {}, ""),
    ("2 + sin(z)", periodicity("1/z", "2 + sin(y)", B), {}, ""),
    ("1/2 + sin(z)", periodicity("z", "1/2 + sin(y)", B), {"z": ("0", "1")}, ".proof"),
    ("3 - Max(z, 1)", branches(("z", B)), {}, ""),
    ("3 - Max(z, 1)", branches(("z", B), ("2", B)), {}, ""),
    ("3 - Max(z, 1)", branches(("z", B), ("1", B)), {}, ".cases[0].proof"),
    ("Min(z, 1) - 1/2", branches(("-z", B), ("-1", B)), {}, ".cases[0].proof"),
    ("z", branches(("z", B), ("1", B)), {}, ""),
    ("Max(z, 1) - z", branches(("1", Z, "-1"), ("z", Z)), {}, ""),
    ("z - Max(z, 1)", branches(("1", Z, "-1"), ("z", Z)), {}, ""),
    ("Max(z, 1) - z", branches(("1", Z), ("z", Z)), {}, ".cases[0].proof"),
    ("log(Max(z, 1))", branches(("1", Z), ("z", M)), {}, ""),
    ("Max(z, 1)", branches(("1", M), ("z", Z)), {"strict": True}, ".cases[1].proof"),
    ("Max(z, 1)", branches(("1", M), ("z + 0*(1/z)", M)), {}, ""),
    ("Max(z, 1) - z", branches(("1", Z, "1 + 0*(1/z)"), ("z", Z)), {}, ""),
    ("Piecewise((1, z < 2), (3, True))", branches(("1", M)), {}, ""),
    ("Max(z, 1)", {"rule": "branches", "cases": [{"value": "z"}, {"value": "1", "proof": B}]}, {}, ".cases"),
    ("Max(z, 1)", {"rule": "branches", "cases": {"z": B, "1": B}}, {}, ".cases"),
    ("z - 4", {**SCALE, "factor": "0"}, {}, ".positive"),
    ("z - 4", {**SCALE, "factor": "-1"}, {}, ".positive"),
    ("z - 4", {**SCALE, "factor": "0*(1/z) + 1"}, {}, ""),
    ("z - 4", {**SCALE, "factor": "w"}, {}, ".factor"),
    ("z - 1/2", SCALE, {}, ".product"),
    ("z + 2", SUM, {}, ""),
    ("z + 1", {**SUM, "proofs": [M]}, {}, ""),
    ("z + 1", {**SUM, "proofs": [M, M, M]}, {}, ""),
    ("z + 1", SUM, {"strict": True}, ""),
    ("z + 1", {**SUM, "strict": 0}, {"strict": True}, ".proofs[0]"),
    ("z + 1", {**SUM, "strict": -1}, {"strict": True}, ".strict"),
    ("z + 1", {**SUM, "strict": 2}, {"strict": True}, ""),
    ("z + 1", {**SUM, "strict": True}, {"strict": True}, ".strict"),
    ("z + 1", {**SUM, "strict": 1}, {}, ""),
    ("z + 1", {**SUM, "parts": ["z + 1 - 1/z", "1/z"]}, {}, ""),
    ("z - 4", {**SUM, "parts": ["z", "-4"]}, {}, ".proofs[1]"),
    ("0*z", {**SUM, "parts": [], "proofs": []}, {"strict": True}, ""),
    ("exp(z) - 1 - z", {**EXP, "coefficient": "-1"}, {}, ".nonnegative"),
    ("exp(z) - 1 - z", {**EXP, "coefficient": "2"}, {}, ".rest"),
    ("exp(z) - 1 - z", {**EXP, "exponent": "log(z)"}, {}, ""),
    ("exp(z) - 1 - z", EXP, {"strict": True}, ".rest"),
    ("z - log(1 + z)", {**LOG, "coefficient": "-1"}, {}, ".nonnegative"),
    ("z - log(1 + z)", {**LOG, "coefficient": "2"}, {}, ".rest"),
    ("z - log(1 + z)", {**LOG, "argument": "z"}, {}, ".argument-positive"),
    ("z - log(1 + z)", {**LOG, "argument": "1/z"}, {}, ""),
    ("z - log(1 + z)", {**LOG, "coefficient": "1 + 0*(1/z)"}, {}, ""),
    ("exp(z) - 1 - z", {**EXP, "coefficient": "1 + 0*(1/z)"}, {}, ""),
    ("z - log(1 + z)", LOG, {"strict": True}, ".rest"),
]


@pytest.mark.thorough(quick=86)
@pytest.mark.parametrize(("goal", "proof", "options", "step"), REJECTED)
def test_a_violated_side_condition_is_rejected_at_its_step(prove, goal, proof, options, step):
    accepted, report = prove(goal, proof, **options)
    field = "positive" if options.get("strict") else "threshold-proof"
    assert not accepted
    assert report.step == f"claims[1].proof.{field}{step}"
    assert report.reason


def test_deep_trees_are_rejected(prove):
    tree = B
    for i in range(100):
        tree = split(f"{4 - i}/2000", B, tree) if i % 2 else mono(B, tree)
    assert not prove("z", tree)[0]


UNDEFINED = ["1/z", "log(z)", "1/(z - 2)", "0*(1/(z - 2))", "sqrt(z - 1)", "(z - 1)**(-2)", "z**(-1/2)", "(z - 1)**(1/3)", "z**z", "tan(z)"]


@pytest.mark.thorough(quick=9)
@pytest.mark.parametrize("term", [*UNDEFINED, "Piecewise((1/z, z > 1), (1, True))", "Piecewise((1, 1/z > 1), (1, True))", "Max(1, log(z))"])
def test_a_term_that_is_not_defined_everywhere_is_rejected(prove, run, term):
    accepted, report = prove(f"1 + 0*({term})", M)
    assert not accepted
    assert report.step == "claims[1].proof.threshold"
    report = run(epsilon=f"w + 0*({term})", nonnegative=B)
    assert report.step == "claims[0].proof"


DEFINED = ["1/(z + 1)", "1/(z - 5)", "(z - 5)**(-3)", "sqrt(z)", "z**(3/2)", "log(1 + z)", "(1 + z)**z", "z**2", "tan(z/4)", "(z - 2)**4"]


@pytest.mark.parametrize("term", DEFINED)
def test_a_term_that_is_defined_everywhere_is_not(run, term):
    assert run(epsilon=f"w + 0*({term})", nonnegative=B).accepted


def test_own_obligations_must_exist_and_hold(run):
    epsilon = "w/(z**2 - 4*z + 5)"
    tree = {"rule": "sum", "parts": ["(z - 2)**2", "1"], "proofs": [B, M], "strict": 1}
    assert run(epsilon=epsilon, nonnegative=B, obligations={"z**2 - 4*z + 5": tree}).accepted
    assert run(epsilon=epsilon, nonnegative=B, obligations={"z**2 - 4*z + 6": tree}).step == "claims[0].proof"
    assert not run(epsilon="w/(z**2 - 4*z + 4)", nonnegative=B, obligations={"z**2 - 4*z + 4": tree}).accepted
    assert not run(epsilon=epsilon, nonnegative=B, obligations={"z**2 - 4*z + 5": tree, "z**2-4*z+5": tree}).accepted
    assert not run(epsilon=epsilon, nonnegative=B, obligations=[tree]).accepted
