"""What greedy selection costs without sampling, by the approximate-DP analysis after Gupta et al. 2010, with constants derived here."""

from __future__ import annotations

import math
from fractions import Fraction

from accountant.applications.submodular.bounds import end_above, end_below, to_open, to_positive
from accountant.applications.submodular.greedy import OneSidedGreedy
from accountant.guarantees import Guarantee, Losses
from accountant.onesided import prove_losses
from profiles import InvalidArgument, Undecided, to_exact
from profiles.balls import ball, working_precision
from profiles.hypotheses import TWO_VALUES
from profiles.numbers import ExactLike, bisect, log_fraction

_BITS = 128


def approximate_dp(epsilon0: ExactLike, delta: ExactLike, *, coverage: bool = False) -> float:
    """Return an ε, rounded up, such that :class:`OneSidedGreedy` with ``epsilon0`` is (ε, δ)-differentially private without sampling.

    Removing a user costs ε₀. Adding one costs, outside an event of probability δ,
    (e^ε₀ − 1)·ln(1/δ) for coverage (f_x in {0, 1}), and (e^ε₀ − 1)·t − ε₀ with t e^(1 − t) = δ, t ≥ 1, for every monotone f_x in [0, 1].
    ε is the larger of the two directions. Source: docs/submodular.md, Theorem 7; Gupta et al. 2010 have the order ε₀·log(1/δ).
    Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> approximate_dp("0.1", "1e-6", coverage=True), approximate_dp("0.1", "1e-6")
    (1.4529899290649055, 1.7603074538849712)
    """
    spent, risk = to_positive(epsilon0, "epsilon0"), to_open(delta, "delta")
    with working_precision(_BITS):
        growth = ball(spent).expm1()
        if coverage:
            return end_above((growth * ball(1 / risk).log()).max(ball(spent)))
        return end_above((growth * ball(_root(risk)) - ball(spent)).max(ball(spent)))


def approximate_guarantee(mechanism: OneSidedGreedy, delta: ExactLike, *, coverage: bool = False) -> Guarantee:
    """Return the guarantee of ``mechanism`` in both directions, with δ when a user is added. Source: docs/submodular.md, Theorem 7."""
    if mechanism.noise != "fresh":
        raise InvalidArgument("the analysis with delta is proved for fresh noise, but kept noise was found; use noise='fresh'")
    before = mechanism.guarantee
    add = Fraction(approximate_dp(mechanism.epsilon0, delta, coverage=coverage))
    return prove_losses(
        before.subject,
        Losses(to_exact(mechanism.epsilon0), add, delta_add=to_exact(delta)),
        theorem="docs/submodular.md, Theorems 1 and 7, after Gupta et al. 2010",
        algorithm=mechanism,
        hypotheses=(*before.hypotheses, *((TWO_VALUES,) if coverage else ())),
        unit=before.unit,
    )


def epsilon0_for(epsilon: ExactLike, delta: ExactLike, *, coverage: bool = False) -> float:
    """Return an ε₀, rounded down, with ``approximate_dp(epsilon0, delta) ≤ epsilon``: what the predecessor may spend.

    For coverage ε₀ = min(ε, ln(1 + ε/ln(1/δ))). Raises like :func:`approximate_dp`.
    """
    target, risk = to_positive(epsilon, "epsilon"), to_open(delta, "delta")
    if coverage:
        with working_precision(_BITS):
            return end_below((ball(target) / ball(1 / risk).log()).log1p().min(ball(target)))
    most = min(float(target), 700.0)
    return bisect(lambda spent: Fraction(approximate_dp(spent, risk)) > target, 0.0, most, lambda lo, hi: hi - lo <= most * 2.0**-60)[0]


def _root(delta: Fraction) -> Fraction:
    """Return a t ≥ 1 with t e^(1 − t) ≤ δ, a little above the root."""
    aim = -log_fraction(delta)
    t = 1 + aim + math.sqrt(2 * aim)
    for _ in range(50):  # t - 1 - log t = aim: the iteration falls to the root from above
        t = 1 + math.log(t) + aim
    for step in range(60):
        root = Fraction(t * (1 + 1e-12 * 2**step))
        if bool((ball(root) - 1 - ball(root).log()) >= ball(1 / delta).log()):
            return root
    raise Undecided(f"no bound was found for delta = {str(delta)[:40]}; give a smaller delta")
