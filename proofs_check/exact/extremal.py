"""The worst pair of laws for given ε in both directions, and Rényi divergences.

Theorem: let P, Q be laws whose ratio r = dP/dQ lies in [a, b], a = e^(−ε⁻), b = e^(ε⁺). For every convex f, E_Q f(r) is at most its value
for the two-point law with r ∈ {a, b}, because f lies below its chord on [a, b] and E_Q r = 1. So every f-divergence, in both directions
and also after Poisson sampling (r becomes 1 − p + pr), is largest for that pair. Proof and attainment: docs/audit.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from profiles.balls import ball, working_precision
from profiles.errors import InvalidArgument
from profiles.numbers import ExactLike, round_down, round_up, to_number
from proofs_check.exact.enclosed import Bounds, enclose_ball
from proofs_check.exact.exponentials import Exact, ExpRational, Nats, near, raise_to, read_exact
from proofs_check.exact.probabilities import Law, add, to_table
from proofs_check.exact.worst import MechanismLaw

_ZERO, _ONE = Fraction(0), Fraction(1)
_BITS = 192


def extremal_pair(remove: Nats, add: Nats | None) -> tuple[dict[str, Exact], dict[str, Exact]]:
    """Return the laws (P, Q) on "high" and "low" whose ratio is e^remove on "high" and e^(−add) on "low"; ``add`` None is ∞.

    Formula: Q(high) = (1 − a)/(b − a), P(high) = b·Q(high), with b = e^remove and a = e^(−add). P is the law with the record.
    Where one of the two is 0 both laws are the same. Raises :class:`InvalidArgument` for ε < 0.

    >>> from proofs_check.exact.exponentials import Log
    >>> extremal_pair(Log(2), None)
    ({'high': Fraction(1, 1), 'low': Fraction(0, 1)}, {'high': Fraction(1, 2), 'low': Fraction(1, 2)})
    >>> extremal_pair(Log(3), Log(2))
    ({'high': Fraction(3, 5), 'low': Fraction(2, 5)}, {'high': Fraction(1, 5), 'low': Fraction(4, 5)})
    """
    b = raise_to(remove, _ONE)
    a: Exact = _ZERO if add is None else raise_to(add, -_ONE)
    if b < 1 or a > 1:
        raise InvalidArgument("ε must be at least 0 in both directions, but a negative one was found; give nats, or None for no bound")
    if b == 1 or a == 1:
        return {"high": _ONE, "low": _ZERO}, {"high": _ONE, "low": _ZERO}
    high = (1 - a) / (b - a)
    return {"high": b * high, "low": 1 - b * high}, {"high": high, "low": 1 - high}


def extremal_law(remove: Nats, add: Nats | None) -> MechanismLaw:
    """Return a mechanism with exactly these ε: it draws from Q of :func:`extremal_pair` on the empty data set, and from P on all others.

    >>> from proofs_check.exact.exponentials import Log
    >>> from proofs_check.exact.worst import exact_epsilon
    >>> worst = exact_epsilon(extremal_law(Log(3), Log(2)), ["x"], max_size=3)
    >>> worst.remove.ratio, worst.add.ratio
    (Fraction(3, 1), Fraction(2, 1))
    """
    with_record, without = extremal_pair(remove, add)
    return lambda dataset: with_record if dataset else without


def renyi_divergence(p: Law, q: Law, order: ExactLike) -> Bounds:
    """Return outward-rounded bounds of the Rényi divergence D_α(P‖Q) in nats, for an order α > 0; α = 1 is Kullback–Leibler.

    Formula: log(Σ P(y)^α Q(y)^(1−α))/(α − 1), and Σ P(y) log(P(y)/Q(y)) for α = 1.
    Source: Rényi 1961; van Erven and Harremoës 2014. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> renyi_divergence({"a": "1/2", "b": "1/2"}, {"a": "1/4", "b": "3/4"}, 2)
    Bounds(lower=0.2876820724517809, upper=0.28768207245178096)
    """
    alpha = to_number(order, "the order of a Rényi divergence", "(0, inf)", "give a number above 0")
    left, right = to_table(p, "the first law"), to_table(q, "the second law")
    if left.exact is None or right.exact is None:
        raise InvalidArgument("Rényi divergences are computed for exact laws, but enclosures were found; give fractions or exponentials")
    pairs = [(value, right.exact.get(outcome, _ZERO)) for outcome, value in left.exact.items() if value != 0]
    if alpha >= 1 and any(other == 0 for _, other in pairs):
        return Bounds(math.inf, math.inf)
    pairs = [(value, other) for value, other in pairs if other != 0]
    if not pairs:
        return Bounds(math.inf, math.inf)
    if all(value == other for value, other in pairs) and add(value for value, _ in pairs) == 1:
        return Bounds(0.0, 0.0)
    with working_precision(_BITS):
        balls = [(near(value, _BITS), near(other, _BITS)) for value, other in pairs]
        if alpha == 1:
            total = sum((x * (x / y).log() for x, y in balls), arb(0))
        else:
            total = sum((x * ((x / y).log() * ball(alpha - 1)).exp() for x, y in balls), arb(0)).log() / ball(alpha - 1)
        enclosure = enclose_ball(total)
    return Bounds(max(round_down(enclosure.lower), 0.0), max(round_up(enclosure.upper), 0.0))


def sampled_renyi_bound(remove: Nats, add: Nats | None, p: ExactLike | ExpRational, order: ExactLike) -> tuple[Bounds, Bounds]:
    """Return the largest Rényi divergences after Poisson sampling with probability ``p``, for removing and for adding a record.

    Formula, with b = e^remove, a = e^(−add), t = (1 − a)/(b − a), and D = D' plus a record:
    D_α(M(S(D))‖M(S(D'))) ≤ log[t(1 − p + pb)^α + (1 − t)(1 − p + pa)^α]/(α − 1), and with 1 − α in place of α in the exponents for the
    other direction. Both are attained, by :func:`extremal_law`. ``add`` None is ∞ (add-DP alone): a = 0, t = e^(−remove).
    Source: docs/audit.md, Theorem 9. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> from proofs_check.exact.exponentials import Log
    >>> removing, adding = sampled_renyi_bound(Log(2), None, "1/2", 2)     # log(5/4) and log(4/3)
    >>> removing.upper, adding.upper
    (0.22314355131420976, 0.28768207245178096)
    """
    with_record, without = extremal_pair(remove, add)
    keep = read_exact(p, "a sampling probability")
    if keep < 0 or keep > 1:
        raise InvalidArgument(f"a sampling probability must lie in [0, 1], but {keep!s:.40} was found; give a probability")
    mixed = {outcome: (1 - keep) * value + keep * with_record[outcome] for outcome, value in without.items()}
    return renyi_divergence(mixed, without, order), renyi_divergence(without, mixed, order)
