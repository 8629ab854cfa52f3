"""What a one-sided mechanism may spend so that it is ε-differentially private after sampling, and the best such pair (p, ε₀)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from accountant.amplification import BITS, MOST_EPSILON, amplify_add, amplify_remove, round_outward, to_loss, to_probability
from profiles import InvalidArgument, InvalidNumber, InvalidTarget, Profile, Undecided, declare, exact_text
from profiles.balls import ball, working_precision
from profiles.numbers import round_down_finite, shorten, to_target
from profiles.terms import Term, number
from proofs_check.suprema.certify import MANIFEST, BoundClaim, ProofTrees, boxes, certify, well_defined_tree

Choice = Literal["optimal", "corollary"]
CHOICES: tuple[Choice, ...] = ("optimal", "corollary")
_POINT = boxes(1, 256)


@dataclass(frozen=True, slots=True)
class CalibratedPair:
    """A mechanism that loses at most ``epsilon0`` when a record goes is ``target``-DP on a fresh Poisson sample of rate ``p``, binary64.

    For exactly these numbers ψ⁺ ≤ target and ψ⁻ ≤ target (checked when it is made, in ball arithmetic).
    """

    target: Fraction
    p: float
    epsilon0: Fraction

    @property
    def added(self) -> Fraction | None:
        """What the mechanism loses at most when a record is added; None: there is no bound."""
        return None

    @property
    def remove(self) -> Fraction:
        """The certified loss when a record goes, at most the target."""
        return amplify_remove(self.epsilon0, self.p)

    @property
    def add(self) -> Fraction:
        """The certified loss when a record comes, at most the target."""
        amplified = amplify_add(self.added, self.p)
        return self.target if amplified is None else amplified  # p < 1 where nothing bounds it, so that it is never None

    def keeps_target(self) -> bool:
        """Tell whether the losses in both directions are at most the target."""
        return self.epsilon0 > 0 and self.remove <= self.target and self.add <= self.target


@dataclass(frozen=True, slots=True)
class OneSidedCalibration(CalibratedPair):
    """Claim: an ``epsilon0``-add-DP mechanism on a fresh Poisson sample of rate ``p`` is ``target``-differentially private."""

    choice: Choice

    def certificates(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return two certificates that the kernel accepted: ψ⁺ ≤ target and ψ⁻ ≤ target, for `pdp check`.

        Raises :class:`Undecided` where the kernel does not accept them (targets far below 10^−9 or far above 100).
        """
        return certify_pair(self.epsilon0, Fraction(self.p), self.target)


def calibrate_one_sided(target: object, *, choice: str = "optimal") -> OneSidedCalibration:
    """Return p and ε₀ such that ε₀-add-DP becomes ``target``-differential privacy by sampling with probability p.

    ``optimal``: p = 1 − e^−ε, the largest rate that any one-sided mechanism allows, and ε₀ = log(1 + e^ε), the largest budget at that
    rate. No feasible pair has a larger p·ε₀ (docs/one-sided.md, Theorem 3). ``corollary``: the same p with ε₀ = log 2, as in
    Ghazi et al. 2024, Corollary 3.2. Both numbers are rounded down to binary64, p first.
    Proved formally: `calibrated_is_private`, `calibration_is_needed`, `best_calibration_real` (docs/formal.md).

    ``target`` ε in nats, exact, 0 < ε ≤ 10000. Raises :class:`InvalidTarget`, :class:`InvalidArgument` for another choice.

    >>> plan = calibrate_one_sided(1)
    >>> plan.p, float(plan.epsilon0)
    (0.6321205588285577, 1.3132616875182228)
    >>> plan.remove <= 1 and plan.add <= 1
    True
    """
    chosen = next((known for known in CHOICES if known == choice), None)
    if chosen is None:
        raise InvalidArgument(f"the calibration must be one of {', '.join(CHOICES)}, but {str(choice)[:40]!r} was found; choose one")
    epsilon = to_target(target, f"(0, {MOST_EPSILON}]")
    p = largest_probability(epsilon)
    if p == 0:
        raise InvalidTarget(f"a target of {shorten(epsilon)} nats needs a sampling probability below every binary64 number; raise it")
    epsilon0 = largest_epsilon0(epsilon, p)
    if chosen == "corollary":
        with working_precision(BITS):
            epsilon0 = min(epsilon0, Fraction(round_down_finite(round_outward(ball(Fraction(2)).log(), up=False))))
    plan = OneSidedCalibration(epsilon, p, epsilon0, chosen)
    if not plan.keeps_target():
        raise Undecided(f"the pair for the target {shorten(epsilon)} could not be certified; give a target with fewer digits")
    return plan


def largest_probability(target: object, add: object | None = None) -> float:
    """Return the largest binary64 p with ψ⁻ ≤ target: p ≤ (1 − e^−target)/(1 − e^−add), and 1 where minus ≤ target.

    ``add`` None is ∞. Source: docs/one-sided.md, Theorem 3. Raises :class:`InvalidTarget`, :class:`InvalidNumber`.

    >>> largest_probability("0.5"), largest_probability("0.5", "0.4")
    (0.3934693402873666, 1.0)
    """
    epsilon = to_target(target, f"(0, {MOST_EPSILON}]")
    loss = None if add is None else to_loss(add, "epsilon_add")
    if loss is not None and loss <= epsilon:
        return 1.0
    with working_precision(BITS):
        rate = -(-ball(epsilon)).expm1()
        if loss is not None:
            rate = rate / -(-ball(loss)).expm1()
        return min(1.0, round_down_finite(max(Fraction(0), round_outward(rate, up=False))))


def largest_epsilon0(target: object, p: object) -> Fraction:
    """Return the largest binary64 ε₀ with ψ⁺ ≤ target at the sampling probability p: ε₀ ≤ log(1 + (e^target − 1)/p).

    ``p`` in (0, 1], exact. Source: docs/one-sided.md, Theorem 3. Raises :class:`InvalidTarget`, :class:`InvalidNumber`.

    >>> float(largest_epsilon0(1, 1)), float(largest_epsilon0(1, "1/2"))
    (1.0, 1.4898801256447498)
    """
    epsilon, rate = to_target(target, f"(0, {MOST_EPSILON}]"), to_probability(p)
    if rate == 0:
        raise InvalidNumber(
            "the sampling probability must be above 0, but 0 was found; a sample that is always empty has no largest budget"
        )
    if rate == 1:
        return Fraction(round_down_finite(epsilon))
    with working_precision(BITS):
        return Fraction(round_down_finite(max(Fraction(0), round_outward((ball(epsilon).expm1() / ball(rate)).log1p(), up=False))))


def certify_pair(remove: Fraction, q: Fraction, target: Fraction) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return certificates of log(1 + q (e^remove − 1)) ≤ target and −log(1 − q) ≤ target, accepted by the kernel.

    The first is ψ of the constant profile ε = remove under the uniform rule q; the second that of the constant ε = −log(1 − q) under
    the rule 1, which is ψ⁻ by Theorem 1 of docs/one-sided.md. Raises :class:`Undecided` where the kernel does not accept one.
    """
    first = declare("epsilon_remove of a one-sided mechanism", f"{exact_text(remove)} + 0*w")
    second = declare("the loss when a record comes", f"-log(1 - {exact_text(q)}) + 0*w")
    return _accepted(first, number(q), target), _accepted(second, number(1), target)


def _accepted(profile: Profile, q: Term, target: Fraction) -> Mapping[str, Any]:
    claim = BoundClaim(Fraction(0), target, {})
    trees = ProofTrees([MANIFEST], [MANIFEST, _POINT], [("exp", _POINT), ("log", _POINT)], [MANIFEST, _POINT])
    checked = certify(profile, q, claim, trees, well_defined_tree(profile, None))
    if not checked.accepted or checked.certificate is None:
        raise Undecided(
            f"the kernel did not accept the bound {exact_text(target)} of {profile.name!r}: {checked.reason}; use a rounder target"
        )
    return checked.certificate
