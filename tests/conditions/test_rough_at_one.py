"""ε that is smooth for w > 1 only, as (w−1)^p is for 1 < p < 2: assumption 11 and a tight strong convexity constant."""

import mpmath
import pytest
import sympy

from profiles import declare
from proofs_check.admission import ProfileForms, admit
from proofs_check.conditions.assumption_11 import decide, derive_strong_convexity
from proofs_check.conditions.context import Context
from proofs_check.conditions.strong_convexity import bound_constant
from proofs_check.conditions.tight_floor import enclose_infimum
from proofs_check.results import Verdict
from proofs_check.verify import verify

PROVED = [
    "1 + (w-1)**(3/2)", "w/2 + (w-1)**(3/2)", "1/2 + 2*(w-1)**(5/4)", "1 + (w**2-1)**(3/2)", "w + (w-1)**(5/2)", "(w-1)**(9/5) + 1/10",
    "w*(1 + (w-1)**(3/2))", "1 + (w-1)**(3/2)/3 + (w-1)**(4/3)", "1 + (w-1)*sqrt(w-1)",
]  # fmt: skip


def true_infimum(text):
    """The smallest of (e^ε)″ on a geometric grid of w − 1, narrowed by golden sections, at 60 digits."""
    w = sympy.Symbol("w", positive=True)
    profile = declare("p", text)
    bent = sympy.diff(sympy.exp(profile.expression().subs(profile.symbols()["w"], w)), w, 2)
    with mpmath.workdps(60):
        at = sympy.lambdify(w, bent, modules=["mpmath"])
        grid = [mpmath.mpf(10) ** (mpmath.mpf(k) / 20) for k in range(-900, 24)]
        values = [at(1 + s) for s in grid]
        index = min(range(len(grid)), key=lambda k: values[k])
        lo, hi = grid[max(index - 1, 0)], grid[min(index + 1, len(grid) - 1)]
        for _ in range(90):
            left, right = lo + (hi - lo) * 382 / 1000, lo + (hi - lo) * 618 / 1000
            lo, hi = (lo, right) if at(1 + left) <= at(1 + right) else (left, hi)
        return min(at(1 + lo), *values)


@pytest.mark.thorough
@pytest.mark.parametrize("text", PROVED)
def test_the_constant_exists_and_is_tight(text):
    profile = declare("p", text)
    context = Context(ProfileForms(profile))
    decision = decide(context)
    assert decision.verdict is Verdict.PROVED
    assert decision.checked
    found = enclose_infimum(Context(ProfileForms(profile)), 20)
    assert found is not None
    assert found.upper - found.lower <= found.upper / 10**6
    true = true_infimum(text)
    assert mpmath.mpf(found.lower.numerator) / found.lower.denominator <= true
    assert true <= mpmath.mpf(found.upper.numerator) / found.upper.denominator * (1 + mpmath.mpf(10) ** -9)
    claim = Context(ProfileForms(profile)).claim("strong-convexity", "proved", found.proof)
    assert admit(profile).proves([claim])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "record"),
    [("z*(1 + (w-1)**(3/2))", {"z": ["1/2", 2]}), ("1 + z*(w-1)**(3/2)", {"z": [1, 3]})],
)
def test_over_records_too(text, record):
    context = Context(ProfileForms(declare("p", text, record=record)))
    convexity = derive_strong_convexity(context)
    assert convexity is not None
    lower, upper = bound_constant(context, convexity)
    assert lower is not None
    assert upper is not None
    assert upper - lower <= upper / 10**6


@pytest.mark.parametrize("text", ["sqrt(w-1) + w", "1 + (w-1)**(1/3)", "1 - (w-1)**(3/2)/(1+w)**2", "1 + (w-1)**(3/2)/(1+(w-1)**(3/2))"])
def test_what_is_not_convex_is_refuted(text):
    assert decide(Context(ProfileForms(declare("p", text)))).verdict is Verdict.REFUTED


def test_without_curvature_at_one_there_is_no_constant():
    """(e^ε)″ tends to 0 at w = 1: no μ > 0, and none may be proved."""
    assert decide(Context(ProfileForms(declare("p", "1 + (w-1)**(5/2)")))).verdict is Verdict.REFUTED
    assert enclose_infimum(Context(ProfileForms(declare("p", "1 + (w-1)**(5/2)"))), 5) is None


@pytest.mark.thorough
def test_beside_smooth_cuts():
    decision = decide(Context(ProfileForms(declare("p", "1 + (w-1)**(3/2) + Max(w-2, 0)**2"))))
    assert decision.verdict is Verdict.PROVED


@pytest.mark.thorough
def test_where_the_second_derivative_fades_nothing_is_proved():
    """(e^ε)″ = 3/4·(w−1)^(−1/2) tends to 0 as w grows."""
    assert decide(Context(ProfileForms(declare("p", "log(1 + w + (w-1)**(3/2))")))).verdict is not Verdict.PROVED


@pytest.mark.thorough
def test_proposition_17_beyond_one():
    verdicts = {decision.condition: decision.verdict for decision in verify(declare("p", "w + (w-1)**(3/2)"), 2).decisions.values()}
    assert verdicts["proposition-17"] is Verdict.PROVED
    assert verdicts["assumption-11"] is Verdict.PROVED
