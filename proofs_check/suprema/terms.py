"""The sampled profile ψ = log(1 + q (e^ε − 1)), written once: as a term in q and ε, in the record statistics, and in balls."""

from __future__ import annotations

from flint import arb

from profiles import Profile
from profiles.terms import Term, number, substitute
from profiles.variables import WEIGHT

_ONE = number(1)
#: Above this number of nats ``expm1`` would only make large numbers, whose logarithm is taken again.
_LARGE = 10_000


def sampled(q: Term, e: Term) -> Term:
    """Return ψ = e + log(q + (1 − q) exp(−e)), which equals log(1 + q (exp(e) − 1)) for 0 < q ≤ 1 and does not overflow for large e.

    It is the term of form ``log`` that the kernel derives for the claims ``epsilon-upper`` and ``epsilon-lower``.
    Source: Fay et al. 2024, Theorem 6.
    """
    return ("add", e, ("log", ("add", q, ("mul", ("add", _ONE, ("neg", q)), ("exp", ("neg", e))))))


def odds(q: Term, e: Term) -> Term:
    """Return θ = q (exp(e) − 1): ψ ≤ U exactly where θ ≤ exp(U) − 1 (form ``exp`` of the kernel)."""
    return ("mul", q, ("add", ("exp", e), ("neg", _ONE)))


def sampled_ball(q: arb, e: arb) -> arb:
    """Return a ball around ψ for all numbers 0 < q ≤ 1 and e ≥ 0 in two balls, at the working precision."""
    return (q * e.expm1()).log1p() if e <= _LARGE else e + (q + (1 - q) * (-e).exp()).log()


def weighted_epsilon(profile: Profile, q: Term) -> Term:
    """Return e(x) = ε(1/q(x), x) as a term in the record statistics (and the parameters without a number)."""
    return substitute(profile.numeric_epsilon(), {WEIGHT: ("div", _ONE, q)})


def sampled_term(profile: Profile, q: Term) -> Term:
    """Return ψ(x) with e = ε(1/q(x), x), as a term in the record statistics; 0 < q(x) ≤ 1 for all records is the caller's to prove.

    >>> from profiles import declare, parse_expression
    >>> from profiles.terms import to_text
    >>> to_text(sampled_term(declare("sum", "w*z", record={"z": [0, 1]}), parse_expression("1/2")))
    '1/(1/2)*z + log(1/2 + (1 - 1/2)*exp(-(1/(1/2)*z)))'
    """
    return sampled(q, weighted_epsilon(profile, q))


def odds_term(profile: Profile, q: Term) -> Term:
    """Return θ(x) with e = ε(1/q(x), x), as a term in the record statistics."""
    return odds(q, weighted_epsilon(profile, q))
