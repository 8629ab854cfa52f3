"""assumption-9-nonzero: at each record epsilon is zero for all weights, or above log(1 + E w) from some weight on."""

import pytest

M, Z, B = {"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 200}
ZERO = {"vanishing": Z}
NAME = "assumption-9-nonzero"


def growing(square, rate):
    """exp(rate w) >= (1 + rate w/2)**2 > 1 + E w from w = 1 + (1 + E)/c on, c = square = (rate/2)**2."""
    threshold = f"1 + exp(3)/({square})"
    m = f"({rate})*({threshold} + s)/2"
    tangent = {"rule": "exp-tangent", "exponent": m, "coefficient": f"exp({m}) + 1 + {m}", "nonnegative": M, "rest": M}
    return {"threshold": threshold, "threshold-proof": M, "form": "exp", "direct": tangent}


LINE = growing("z**2/4", "z")


def sides(variable="z", at="0", **parts):
    return {"sides": {"variable": variable, "at": at, **parts}}


def proved(proof):
    return {"claim": NAME, "verdict": "proved", "proof": proof}


@pytest.fixture
def report(run):
    def on(proof, epsilon="w*z", target="3", parameters=None, **record):
        ranges = record or {"z": ["0", "2"]}
        return run(proved(proof), epsilon=epsilon, record=ranges, parameters=parameters or {}, target=target, nonnegative=B)

    return on


def test_a_record_at_which_nothing_is_lost_is_no_exception(report):
    found = report(sides(on=ZERO, above=LINE))
    assert found.accepted, found
    assert [(claim.claim, claim.verdict) for claim in found.claims][1:] == [(NAME, "proved")]


def test_where_epsilon_is_zero_on_a_whole_range(report):
    cases = {"cases": {"variable": "z", "at": "1", "below": ZERO, "above": growing("(z - 1)**2/4", "z - 1")}}
    assert report(cases, epsilon="Max(z - 1, 0)*w").step == "claims[1].proof.cases.below.vanishing"  # the kernel resolves no branch on z
    assert report({"vanishing": Z}, epsilon="0*z*w").accepted


def test_the_published_forms_prove_it_too(report):
    slope = {"threshold": "64", "threshold-proof": M, "start": B, "slope": M}
    assert report(slope, z=["1/2", "2"]).accepted
    assert report(growing("z**2/4", "z"), z=["1/2", "2"]).accepted
    assert not report(slope).accepted


def test_a_zero_inside(report):
    square = growing("z**4/4", "z**2")
    assert report(sides(on=ZERO, above=square, below=square), epsilon="w*z**2", z=["-1", "1"]).accepted


def test_two_zeros_need_a_number_between_them_that_belongs_to_both_sides(report):
    beyond = sides(at="1", on=growing("1/4", "1"), above=growing("(1 + z)**2/4", "1 + z"))
    cases = {"variable": "z", "at": "1", "closed": "yes", "below": sides(on=ZERO, above=LINE), "above": beyond}
    assert report({"cases": cases}).accepted
    cases.pop("closed")
    assert report({"cases": cases}).step == "claims[1].proof.cases.above.sides"


def test_corners_and_edges_of_two_statistics(report):
    both = {"y": ["0", "1"], "z": ["0", "1"]}
    corner = sides("y", on=sides(on=ZERO, above=LINE), above=growing("(y + z)**2/4", "y + z"))
    assert report(corner, epsilon="w*(y + z)", **both).accepted
    edges = sides("y", on=ZERO, above=sides(on=ZERO, above=growing("(y*z)**2/4", "y*z")))
    assert report(edges, epsilon="w*y*z", **both).accepted
    assert report(corner, epsilon="w*y*z", **both).step.startswith("claims[1].proof.sides.on.sides.above")
    assert report(edges, epsilon="w*(y + z)", **both).step == "claims[1].proof.sides.on.vanishing"


def test_parameters_without_a_number_and_ranges_without_an_end(report):
    over = growing("(z/b)**2/4", "z/b")
    assert report(sides(on=ZERO, above=over), epsilon="w*z/b", parameters={"b": "positive"}).accepted
    ranged = growing("(a - 1)**2/4", "a - 1")
    assert not report(sides("a", "1", on=ZERO, above=ranged), epsilon="w*(a - 1)", parameters={"a": ["1", "3"]}).accepted
    distance = growing("a**2/4", "a")  # above, a is the distance from 1
    assert report(sides("a", "1", on=ZERO, above=distance), epsilon="w*(a - 1)", parameters={"a": ["1", "3"]}).accepted
    open_ = sides("b", "1", on=ZERO, above=ZERO, below=ZERO)
    assert report(open_, epsilon="0*w*b", parameters={"b": "positive"}).step == "claims[1].proof.sides"


@pytest.mark.parametrize(
    ("proof", "record", "step"),
    [
        (sides(on=ZERO, above=ZERO), None, ".sides.above.vanishing"),  # the weight is not infinite there
        (sides(on=ZERO), None, ".sides"),  # no record but one
        (sides(above=LINE), None, ".sides"),
        (sides(on=LINE, above=LINE), None, ".sides.on.threshold"),
        (sides(on=ZERO, above=LINE, below=LINE), None, ".sides"),  # nothing lies below
        (sides(on=ZERO, above=LINE), ["-1", "2"], ".sides"),  # something lies below
        (sides(at="1", on=LINE, above=LINE, below=LINE), None, ".sides.on.threshold"),
        (sides(at="1", on=ZERO, above=ZERO, below=ZERO), None, ".sides.on.vanishing"),
        (sides(at="3", on=ZERO, above=LINE, below=LINE), None, ".sides"),
        (sides(at="-1", on=ZERO, above=LINE), None, ".sides"),
        (sides("w", "1", on=ZERO, above=ZERO), None, ".sides"),
        (sides("y", "0", on=ZERO, above=ZERO), None, ".sides"),
        (sides(["z"], "0", on=ZERO, above=ZERO), None, ".sides"),
        (sides(on=ZERO, above=LINE) | {"vanishing": Z}, None, ""),
        (sides(on=ZERO, above=LINE, beyond=LINE), None, ".sides"),
        (sides(on=ZERO, above=None), None, ".sides"),
        (sides(on=ZERO, above=[]), None, ".sides.above"),
        (sides(on=ZERO, above=sides(at="1/2", on=LINE, above=LINE, below=LINE)), None, ".sides.above.sides"),
        ({"cases": {"variable": "z", "at": "1", "below": ZERO, "above": LINE}}, None, ".cases.below.vanishing"),
        ({"cases": {"variable": "z", "at": "1", "closed": None, "below": ZERO, "above": LINE}}, None, ".cases"),
    ],
)
def test_all_records_are_covered_and_each_part_is_proved(report, proof, record, step):
    found = report(proof, z=record or ["0", "2"], epsilon="w*Abs(z)" if record else "w*z")
    assert (found.accepted, found.step) == (False, f"claims[1].proof{step}")


def test_zero_at_one_weight_is_not_zero_at_all(report):
    assert report(ZERO, epsilon="z*(w - 1)").step == "claims[1].proof.vanishing"
    assert report(ZERO, epsilon="z*Max(0, w - 5)").step == "claims[1].proof.vanishing"


def test_that_epsilon_is_not_negative_is_still_needed(run):
    value = run(proved({"vanishing": M}), epsilon="0 - w*z", record={"z": ["0", "2"]}, nonnegative=M)
    assert value.step == "claims[0].proof.nonnegative"


def test_the_sides_belong_to_this_claim(run):
    for name in ("assumption-9", "proposition-17"):
        whole = {"claim": name, "verdict": "proved", "proof": sides(on=ZERO, above=LINE)}
        assert run(whole, epsilon="w*z", record={"z": ["0", "2"]}).step == "claims[1].proof.sides"
        assert not run({"claim": name, "verdict": "proved", "proof": ZERO}, epsilon="w*z", record={"z": ["0", "2"]}).accepted
    whole = {"claim": NAME, "verdict": "refuted", "proof": sides(on=ZERO, above=LINE)}
    assert run(whole, epsilon="w*z", record={"z": ["0", "2"]}).step == "claims[1].proof.sides"


def refuted(**changes):
    proof = {"at": {"z": "1"}, "weight": "1", "positive": B, "threshold": "1", "form": "exp", "tail": M}
    return {"claim": NAME, "verdict": "refuted", "proof": {**proof, **changes}}


def test_it_is_refuted_where_something_is_lost_and_growth_fails(run):
    bounded = {"epsilon": "z + 0*w", "record": {"z": ["0", "2"]}, "target": "3"}
    assert run(refuted(), **bounded).accepted
    assert run(refuted(at={"z": "0"}), **bounded).step == "claims[1].proof.positive"
    assert run(refuted(weight="1/2"), **bounded).step == "claims[1].proof"
    assert run(refuted(at={"z": "3"}), **bounded).step == "claims[1].proof.at"
    late = {"epsilon": "z*Max(0, 1 - 1/(w - 1/2))", "record": {"z": ["0", "2"]}, "target": "3", "nonnegative": B}
    assert run(refuted(weight="1", tail=B), **late).step == "claims[1].proof.positive"
    assert run(refuted(at={"z": "1"}), epsilon="w*z", record={"z": ["0", "2"]}).step == "claims[1].proof.tail"
    assert run(refuted(at={"z": "0"}), epsilon="w*z", record={"z": ["0", "2"]}).step == "claims[1].proof.positive"


def test_a_variable_that_is_fixed_on_one_side_has_one_value_there(report):
    assert report(sides(on=ZERO), z=["0", "0"]).accepted
