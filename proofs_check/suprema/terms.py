"""The sampled profile as a term in the record statistics."""

from __future__ import annotations

from profiles import Profile
from profiles.profile import WEIGHT
from profiles.terms import Term, number, substitute

_ONE = number(1)


def numeric_epsilon(profile: Profile) -> Term:
    """Return ε(w, x) as a term with the exact number in place of every parameter that has one."""
    return substitute(profile.epsilon, {p.name: number(p.value) for p in profile.parameters if p.value is not None})


def weighted_epsilon(profile: Profile, q: Term) -> Term:
    """Return e(x) = ε(1/q(x), x) as a term in the record statistics (and the parameters without a number)."""
    return substitute(numeric_epsilon(profile), {WEIGHT: ("div", _ONE, q)})


def sampled_term(profile: Profile, q: Term) -> Term:
    """Return ψ(x) = e + log(q + (1 − q) exp(−e)) with e = ε(1/q(x), x), as a term in the record statistics.

    It equals log(1 + q (exp(e) − 1)) for 0 < q ≤ 1, and does not overflow for large e. It is the term of form ``log`` that the
    kernel derives for the claims ``epsilon-upper`` and ``epsilon-lower``.
    Source: Fay et al. 2024, Theorem 6; side condition 0 < q(x) ≤ 1 for all records, which the caller proves.

    >>> from profiles import declare, parse_expression
    >>> from profiles.terms import to_text
    >>> to_text(sampled_term(declare("sum", "w*z", record={"z": [0, 1]}), parse_expression("1/2")))
    '1/(1/2)*z + log(1/2 + (1 - 1/2)*exp(-(1/(1/2)*z)))'
    """
    e = weighted_epsilon(profile, q)
    return ("add", e, ("log", ("add", q, ("mul", ("add", _ONE, ("neg", q)), ("exp", ("neg", e))))))


def odds_term(profile: Profile, q: Term) -> Term:
    """Return θ(x) = q (exp(e) − 1) with e = ε(1/q(x), x): ψ ≤ U exactly where θ ≤ exp(U) − 1 (form ``exp`` of the kernel)."""
    return ("mul", q, ("add", ("exp", weighted_epsilon(profile, q)), ("neg", _ONE)))
