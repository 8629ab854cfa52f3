"""Strategies for sampling rules."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from accountant.rules.named import SamplingRule, make_rule, rule_from_expression
from accountant.testing.strategies.numbers import as_factor
from accountant.testing.strategies.records import to_profile
from profiles.profile import Profile

_RATES = (Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 10), Fraction(99, 100), Fraction(1, 2**20), Fraction(1, 10**300))


@st.composite
def sampling_rules(draw: st.DrawFn, profile: Profile | Any) -> SamplingRule:
    """Return a strategy for explicit sampling rules of a profile: 0 < q(x) ≤ 1 at every record, by construction.

    Uniform rules by rate and by size; where a statistic is not negative also coreset rules and expressions in it. q = 1 and tiny q are
    among them. Shrinks to the uniform rule of rate 1.

    >>> from hypothesis import find
    >>> from profiles import declare
    >>> find(sampling_rules(declare("sum", "w*z", record={"z": [0, 4]})), lambda rule: True).q
    ('num', Fraction(1, 1))
    """
    profile = to_profile(profile)
    norms = [s for s in profile.record if s.lo >= 0 and s.hi > 0]
    kind = draw(st.sampled_from(["rate", "size", *(["fraction", "mixed", "coreset"] if norms else [])]))
    if kind == "rate":
        return make_rule("uniform", profile, {"rate": draw(st.sampled_from(_RATES))})
    n = draw(st.integers(1, 10_000))
    m = draw(st.integers(1, n))
    if kind == "size":
        return make_rule("uniform", profile, {"m": m, "n": n})
    z = draw(st.sampled_from(norms))
    if kind == "fraction":
        return rule_from_expression(f"1/(1 + {z.name})", profile)
    share = draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(1, 100)]))
    if kind == "mixed":
        text = f"{as_factor(Fraction(m, n))}*({as_factor(share)} + {as_factor(1 - share)}*{z.name}/{as_factor(z.hi)})"
        return rule_from_expression(text, profile)
    power = draw(st.sampled_from([1, 2]))
    constants = {"m": m, "n": n, "lam": share, "mean": z.hi**power, "statistic": z.name}
    return make_rule(f"coreset-l{power}", profile, constants)
