"""A condition gets a verdict, or unknown with the reason: never an error from inside, never without end, never without a certificate."""

from dataclasses import replace

import mpmath
import pytest

from profiles import declare
from profiles.errors import InvalidArgument
from proofs_check import verify as module
from proofs_check.admission import ProfileForms
from proofs_check.conditions.context import Context
from proofs_check.prover.effort import spend
from proofs_check.results import Decision, Verdict
from proofs_check.verify import CONDITIONS, decide_in_time, verify

LINEAR = declare("linear", "w/2")
NAME = "proposition-17"


@pytest.fixture
def decided_by(monkeypatch):
    """What ``verify`` says about a profile when the condition is decided by some function."""

    def patch(decide):
        monkeypatch.setitem(module.CONDITIONS, NAME, replace(CONDITIONS[NAME], decide=decide))
        return decide_in_time(Context(ProfileForms(LINEAR), 1), NAME, 0.2)[0]

    return patch


def test_an_error_inside_is_unknown(decided_by):
    decision = decided_by(lambda _context: 1 // 0)
    assert decision.verdict is Verdict.UNKNOWN
    assert "ZeroDivisionError" in decision.reason


def test_an_error_of_ours_says_something(decided_by):
    def refuse(_context):
        raise InvalidArgument("said")

    with pytest.raises(InvalidArgument, match="said"):
        decided_by(refuse)


def test_a_search_without_end_is_unknown(decided_by):
    def forever(_context):
        while True:
            spend(1000)

    decision = decided_by(forever)
    assert decision.verdict is Verdict.UNKNOWN
    assert "its budget of work (0.2 nominal seconds" in decision.reason


@pytest.mark.parametrize("verdict", [Verdict.PROVED, Verdict.REFUTED])
def test_no_verdict_without_the_kernel(decided_by, verdict):
    decision = decided_by(lambda _context: Decision(NAME, verdict, "by word of mouth", checked=False))
    assert decision.verdict is Verdict.UNKNOWN
    assert "the kernel does not accept it" in decision.reason


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("epsilon", "record", "expected"),
    [
        # an argument of Piecewise is a pair, not an expression
        ("Piecewise((w, w <= 2), (2*w - 2, True))", {}, "P P R R R"),
        # powers of exp(w) as large as the coefficients in the exponent must not become a polynomial
        ("w + exp(-10000*(w - 3)**2)", {}, "R P R R R"),
        # a slope that is infinite at w = 1, and one branch only
        ("w + sqrt(w - 1)", {}, "P P R U R"),
        ("Piecewise((w, True))", {}, "P P P R P"),
        # numeric roots that do not converge
        ("w - w**2/10**12 + w**3/10**24", {}, "P P P R R"),
    ],
)
def test_expressions_that_once_failed_inside(epsilon, record, expected):
    found = verify(declare("x", epsilon, record=record), 1).decisions
    assert " ".join(decision.verdict.value[0].upper() for name, decision in found.items() if name != "assumption-9-nonzero") == expected
    assert all(decision.checked for decision in found.values() if decision.verdict is not Verdict.UNKNOWN)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("epsilon", "known"), [("w/2", True), ("w + 1/w", True), ("2*w + cos(w)", False), ("w + sin(w)/10", True)])
def test_the_bounds_of_the_constant_are_on_their_sides(epsilon, known):
    found = verify(declare("x", epsilon), 3, ["assumption-11"]).to_json()["strong_convexity"]
    lower, upper = mpmath.mpf(found["lower_bound"]), mpmath.mpf(found["upper_bound"])
    with mpmath.workdps(30):
        f = eval("lambda w: mpmath.exp(" + epsilon.replace("cos", "mpmath.cos").replace("sin", "mpmath.sin") + ")")
        least = min(mpmath.diff(f, 1 + mpmath.mpf(k) / 200, 2) for k in range(2000))
    assert lower <= least * (1 + mpmath.mpf(10) ** -9)
    assert least <= upper * (1 + mpmath.mpf(10) ** -5)  # the grid of weights misses the least value by a little
    assert not known or upper <= lower * mpmath.mpf("1.01")


@pytest.mark.thorough
def test_an_expression_that_is_too_large_for_one_way_ends_that_way_only():
    found = verify(declare("nearly w", "sqrt(w**2 + 1e-300)"), 2)
    assert found.decisions["assumption-9"].verdict is Verdict.PROVED
    assert found.decisions["assumption-11"].verdict is Verdict.PROVED
