"""Poisson sampling in two directions: ψ⁺ and ψ⁻ of exact numbers, rounded up."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from accountant.sampling.variance import refuse_oracle
from profiles import InvalidNumber, to_exact
from profiles.numbers import shorten
from proofs_check.enclosures import ball, lower_fraction, upper_fraction, working_precision

BITS = 256
#: Larger losses are no privacy, and their exponentials leave the range of what is stored.
MOST_EPSILON = 10_000


def amplify_plus(plus: object, q: object) -> Fraction:
    """Return an upper bound of ψ⁺ = log(1 + q (e^plus − 1)), the loss when a record goes after each is kept with probability q.

    ``plus`` in nats from 0 to 10,000, ``q`` in [0, 1], exact. The bound exceeds ψ⁺ by less than 2^−200 relatively.
    Source: docs/one-sided.md, Theorem 1; Ghazi et al. 2024, Lemma 3.1 (second half); Fay et al. 2024, Theorem 6.
    Raises :class:`InvalidNumber`, :class:`NotPrivate` for a variance-optimal q.

    >>> amplify_plus("0", "1/2"), amplify_plus("1", 1)
    (Fraction(0, 1), Fraction(1, 1))
    """
    loss, rate = read_loss(plus, "epsilon_plus"), read_probability(q)
    if loss == 0 or rate == 0:
        return Fraction(0)
    if rate == 1:
        return loss
    with working_precision(BITS):
        return round_outward((ball(rate) * ball(loss).expm1()).log1p())


def amplify_minus(minus: object | None, q: object) -> Fraction | None:
    """Return an upper bound of ψ⁻ = −log(1 − q (1 − e^−minus)), the loss when a record comes; None where it is unbounded.

    ``minus`` None is ∞, the one-sided case, where ψ⁻ = −log(1 − q) is finite for every q < 1.
    Source: docs/one-sided.md, Theorem 1; Ghazi et al. 2024, Lemma 3.1 (first half). Raises like :func:`amplify_plus`.

    >>> float(amplify_minus(None, "1/2"))  # log 2
    0.6931471805599453
    >>> amplify_minus(None, 1) is None
    True
    """
    rate = read_probability(q)
    loss = None if minus is None else read_loss(minus, "epsilon_minus")
    if rate == 0 or loss == 0:
        return Fraction(0)
    if rate == 1:
        return loss
    with working_precision(BITS):
        gone = ball(Fraction(1)) if loss is None else -(-ball(loss)).expm1()
        return round_outward(-(-(ball(rate) * gone)).log1p())


def read_loss(value: object, what: str) -> Fraction:
    """Return an exact number of nats in [0, 10000]. Raises :class:`InvalidNumber`."""
    exact = to_exact(value, what)
    if not 0 <= exact <= MOST_EPSILON:
        raise InvalidNumber(
            f"{what} must lie between 0 and {MOST_EPSILON} nats, but {shorten(exact)} was found; give a number in that range"
        )
    return exact


def read_probability(value: object) -> Fraction:
    """Return an exact number in [0, 1]. Raises :class:`InvalidNumber`, :class:`NotPrivate`."""
    refuse_oracle(value)
    exact = to_exact(value, "the sampling probability")
    if not 0 <= exact <= 1:
        raise InvalidNumber(f"the sampling probability must lie in [0, 1], but {shorten(exact)} was found; give a probability")
    return exact


def round_outward(value: arb, *, up: bool = True) -> Fraction:
    """Return an end of a ball as a fraction. Raises :class:`InvalidNumber` where the ball is not finite."""
    end = upper_fraction(value) if up else lower_fraction(value)
    if end is None:
        raise InvalidNumber("the bound is too close to a border to be enclosed; give numbers with fewer digits")
    return end
