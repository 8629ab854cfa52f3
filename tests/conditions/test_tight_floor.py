"""The enclosure of inf (e^ε)″: relative gap 1e-6, around the infimum that mpmath finds at 60 digits."""

import mpmath
import pytest
import sympy

from profiles import declare
from proofs_check.admission import ProfileForms, admit
from proofs_check.conditions.context import Context
from proofs_check.conditions.tight_floor import enclose_infimum

PROFILES = [
    "1.3*w", "w**2/(1+w)", "log(exp(w)+exp(2*w))", "w+sin(w)/10", "w**2", "w+1/w", "log(1+w**3)+w", "w+exp(-w)", "2*w-log(1+w)",
    "sqrt(1+w**2)", "w+2*exp(-(w-3)**2/4)/10", "w*log(1+w)", "log(exp(w)+exp(3-w))", "log(1+w**2)+w/10", "w**(3/2)", "w+cos(2*w)/8",
    "log(exp(w/2)+w**2)", "sqrt(w)+w/5", "0.2*w+0.3/w", "log(w**2+sin(w)/10+1)", "tanh(w)+w/2", "w-tanh(w-2)/4",
    "log(cosh(w))+w/10", "w/2+3/(1+w)", "w/10+log(1+w)", "w+sinh(1/w)", "exp(w/3)/(1+w)", "w + 1/(1+w)**2", "2*w**2/(2+w)",
]  # fmt: skip


def true_infimum(text):
    """The smallest of (e^ε)″ on a fine grid up to 13, narrowed by golden sections, at 60 digits."""
    w = sympy.Symbol("w", positive=True)
    term = declare("p", text).expression().subs(declare("p", text).symbols()["w"], w)
    with mpmath.workdps(60):
        bent = sympy.lambdify(w, sympy.diff(sympy.exp(term), w, 2), modules=["mpmath"])
        grid = [mpmath.mpf(1) + mpmath.mpf(k) / 50 for k in range(600)]
        index = min(range(len(grid)), key=lambda k: bent(grid[k]))
        lo, hi = grid[max(index - 1, 0)], grid[min(index + 1, len(grid) - 1)]
        for _ in range(70):
            left, right = lo + (hi - lo) * 382 / 1000, lo + (hi - lo) * 618 / 1000
            lo, hi = (lo, right) if bent(left) <= bent(right) else (left, hi)
        return min(bent(lo), bent(hi), bent(grid[0]))


@pytest.mark.thorough
@pytest.mark.parametrize("text", PROFILES)
def test_the_enclosure_is_tight_and_around_the_infimum(text):
    profile = declare("p", text)
    found = enclose_infimum(Context(ProfileForms(profile)), 20)
    assert found is not None
    assert found.upper - found.lower <= found.upper / 10**6
    true = true_infimum(text)
    assert mpmath.mpf(found.lower.numerator) / found.lower.denominator <= true
    assert true <= mpmath.mpf(found.upper.numerator) / found.upper.denominator * (1 + mpmath.mpf(10) ** -12)
    assert admit(profile).proves([{"claim": "strong-convexity", "verdict": "proved", "proof": found.proof}])


@pytest.mark.thorough
def test_over_records_too():
    profile = declare("p", "z*(w/2+3/(1+w))", record={"z": ["1/2", 2]})
    found = enclose_infimum(Context(ProfileForms(profile)), 20)
    assert found is not None
    assert found.upper - found.lower <= found.upper / 10**6
    assert float(found.upper) == pytest.approx(0.2137493352861)  # at z = 1/2


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("text", "record"),
    [("Max(w-2,0)**2 + w", {}), ("Max(w-z,0)**2 + w/4", {"z": [2, 3]}), ("w + Max(w-z,0)**3/5", {"z": ["3/2", 2]})],
)
def test_in_pieces_with_cuts_that_may_move(text, record):
    profile = declare("p", text, record=record)
    found = enclose_infimum(Context(ProfileForms(profile)), 20)
    assert found is not None
    assert found.upper - found.lower <= found.upper / 10**6
    assert admit(profile).proves([Context(ProfileForms(profile)).claim("strong-convexity", "proved", found.proof)])
    floats = [float(end) for end in (found.lower, found.upper)]
    lo, hi = (sympy.Rational(end) for end in record.get("z", (2, 2)))
    least = min(_second(text, lo + (hi - lo) * k / 4) for k in range(5))
    assert floats[0] <= least * (1 + 1e-9)
    assert floats[1] <= least * (1 + 1e-3)


def _second(text, z):
    """The least second difference quotient of e^ε on a grid, which is between the least and the largest (e^ε)″ near its points."""
    term = sympy.lambdify("w", sympy.sympify(text).subs("z", z), modules=["mpmath"])
    with mpmath.workdps(40):
        h = mpmath.mpf(10) ** -12
        points = (1 + h + mpmath.mpf(k) / 64 for k in range(300))
        return min((mpmath.exp(term(w + h)) - 2 * mpmath.exp(term(w)) + mpmath.exp(term(w - h))) / h**2 for w in points)


def test_an_infimum_that_is_not_reached_is_enclosed():
    found = enclose_infimum(Context(ProfileForms(declare("p", "log(w**2 + 1/w)"))), 20)  # (e^ε)″ = 2 + 2/w³
    assert found is not None
    assert found.lower < 2 <= found.upper


@pytest.mark.parametrize("text", ["log(1+w)", "log(w)+1", "3 - 1/w", "sqrt(w)/10", "w + ceiling(w)", "Abs(w-2) + w"])
def test_without_a_positive_infimum_nothing_is_returned(text):
    assert enclose_infimum(Context(ProfileForms(declare("p", text))), 5) is None
