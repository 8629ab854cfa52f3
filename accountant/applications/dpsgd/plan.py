"""The plan of DP-SGD: probabilities, weights and noise, with one certified (ε, δ), for the estimator and for training loops elsewhere.

Statement (docs/dp-sgd.md, Theorem 2). In each of T steps let every record be selected by a coin of its own, with a probability of at most
q₀, and add to a sum, if it is selected, a vector of norm at most L; both are functions of the record and of the earlier outputs alone.
The sums plus N(0, s²L²) in each coordinate, of all steps together, have the privacy curve of T steps of Gaussian noise s on Poisson
samples of probability q₀. Here L = C/q₀ for the clipping norm C, and a record whose clipped gradient g has the norm t C is selected with
probability q = q₀ f(t) and adds g/q.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.applications.dpsgd.noise import compose_steps, find_noise, to_noise_target, to_rate
from accountant.applications.dpsgd.rules import GradientRule, to_rule
from accountant.guarantees import Guarantee, Losses
from accountant.guarantees.curves import declare_events, point_of_curve
from accountant.weights.gaussian.target import to_steps
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Floats, ignore_flags
from profiles.hypotheses import Hypothesis
from profiles.mechanisms.ball import widen
from profiles.mechanisms.interface import noise_scale
from profiles.numbers import ExactLike, round_down, to_number

_GAP = "1e-2"


@dataclass(frozen=True, slots=True)
class DPSGDPlan:
    """What a training loop does in each step, and what it has then; made by :func:`dp_sgd_plan` or :func:`plan_for_target`.

    ``noise``: standard deviation of the noise over :attr:`sensitivity`, which is 1/μ₀. ``rate``: q₀, the largest probability.
    ``clip``: the norm C that each gradient is clipped to. ``guarantee``: (ε, δ) under hypotheses that the loop has to make true.
    """

    noise: Fraction
    steps: int
    rule: GradientRule
    rate: Fraction
    clip: Fraction
    guarantee: Guarantee

    @property
    def bound(self) -> Losses:
        """The certified losses, in both directions."""
        stated = self.guarantee.bound
        if not isinstance(stated, Losses) or stated.epsilon is None:
            raise InvalidArgument("a plan has lost its certified losses; make it with dp_sgd_plan")
        return stated

    @property
    def epsilon(self) -> Fraction:
        """The certified ε, an upper bound in nats, at :attr:`delta`."""
        bound = self.bound
        return bound.remove if bound.add is None else max(bound.remove, bound.add)

    @property
    def delta(self) -> Fraction:
        """The δ that belongs to :attr:`epsilon`."""
        return self.bound.delta

    @property
    def curve(self) -> Guarantee:
        """The privacy curve that :attr:`guarantee` is a point of, under hypotheses that the loop has to make true."""
        return declare_events(compose_steps(self.noise, self.rate, self.steps))

    @property
    def sensitivity(self) -> Fraction:
        """C/q₀ (1 + 2⁻³⁰): no weighted clipped gradient may be longer. The slack is for rounding in binary64."""
        return widen(self.clip / self.rate)

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise on each coordinate of the weighted sum, rounded up."""
        return noise_scale(self.noise * self.sensitivity, "the noise of the sum")

    @ignore_flags
    def probabilities(self, norms: object) -> Floats:
        """Return the probability of each record, shape (n,), for the norms of its gradients, or public upper bounds of them.

        Each must be a function of the record and of earlier outputs alone. Raises :class:`InvalidData` for values that are not norms.

        >>> dp_sgd_plan(2, 1, "norm", rate="1/8", delta="1e-5").probabilities([0.5, 2.0]).tolist()
        [0.0625, 0.125]
        """
        lengths = np.asarray(norms, dtype=np.float64)
        if lengths.ndim != 1 or not (lengths >= 0).all():
            raise InvalidData("norms of gradients must be an array of one dimension of numbers of at least 0; correct it")
        return self.rule.probabilities(self.shares(lengths), round_down(self.rate))

    @ignore_flags
    def shares(self, norms: Floats) -> Floats:
        """Return t = min(1, norm/C) of each record."""
        return np.minimum(norms / round_down(self.clip), 1.0)

    def weights(self, norms: object) -> Floats:
        """Return 1/q of each record, infinite for one that is never selected.

        >>> dp_sgd_plan(2, 1, "norm", rate="1/8", delta="1e-5").weights([0.5, 2.0]).tolist()
        [16.0, 8.0]
        """
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.probabilities(norms))

    def factors(self, norms: object, bounds: object | None = None) -> Floats:
        """Return what the gradient of each selected record is multiplied by: clipped to C, times the weight; 0 for one never selected.

        ``norms``: of the gradients themselves; ``bounds``: what the probabilities were computed from, where that is something else. The
        factor keeps the product within C/q₀ in either case, but for rounding in binary64.

        >>> dp_sgd_plan(2, 1, "norm", rate="1/8", delta="1e-5").factors([0.5, 2.0]).tolist()
        [16.0, 4.0]
        """
        q, lengths = self.probabilities(norms if bounds is None else bounds), np.asarray(norms, dtype=np.float64)
        if lengths.shape != q.shape or not (lengths >= 0).all():
            raise InvalidData("norms and their bounds must be arrays of the same length, of numbers of at least 0; correct them")
        with np.errstate(all="ignore"):
            clipped = np.minimum(1.0, round_down(self.clip) / lengths) / q
            limited = np.minimum(clipped, round_down(self.clip / self.rate) / lengths)
        return np.where((q > 0) & (lengths > 0), limited, 0.0)


def dp_sgd_plan(
    noise: ExactLike,
    steps: object,
    rule: object = "norm",
    *,
    rate: ExactLike,
    delta: ExactLike,
    clip: ExactLike = 1,
    hypotheses: Iterable[Hypothesis | str] = (),
) -> DPSGDPlan:
    """Return the plan of ``steps`` steps with a noise multiplier, and its certified ε at ``delta``.

    ``noise``: s, in units of the longest weighted gradient C/q₀. ``rate``: q₀, the largest probability of a record. ``clip``: C.
    ``rule``: how probabilities follow the norms of gradients: "uniform", "norm", "coreset", or
    :func:`~accountant.applications.dpsgd.rules.capped`. All numbers must be public. Raises :class:`InvalidArgument`,
    :class:`profiles.InvalidNumber`, and what accounting raises.

    >>> plan = dp_sgd_plan(1, 1, rate="1/100", delta="1e-5")
    >>> 0 < float(plan.epsilon) < 1
    True
    """
    exact, times, share, most = to_noise(noise), to_steps(steps), to_rule(rule), to_rate(rate)
    curve = declare_events(compose_steps(exact, most, times), tuple(hypotheses))
    return DPSGDPlan(exact, times, share, most, to_clip(clip), point_of_curve(curve, at_delta=delta, gap=_GAP))


def plan_for_target(
    epsilon: ExactLike,
    delta: ExactLike,
    steps: object,
    rule: object = "norm",
    *,
    rate: ExactLike,
    clip: ExactLike = 1,
    hypotheses: Iterable[Hypothesis | str] = (),
) -> DPSGDPlan:
    """Return the plan with the least noise that was certified for (``epsilon``, ``delta``); other arguments as for :func:`dp_sgd_plan`.

    Raises as that function, :class:`profiles.InvalidTarget`, :class:`profiles.Infeasible`, :class:`profiles.Undecided`.

    >>> plan = plan_for_target(1, "1e-5", 100, rate=1)
    >>> plan.epsilon == 1 and plan.delta <= Fraction("1e-5"), 37.3 < float(plan.noise) < 37.5
    (True, True)
    """
    share, norm = to_rule(rule), to_clip(clip)
    noise = find_noise(to_noise_target(epsilon, delta, steps, rate))
    target = noise.target
    curve = declare_events(compose_steps(noise.noise, target.rate, target.steps), tuple(hypotheses))
    point = point_of_curve(curve, at_epsilon=target.epsilon, gap=_GAP, curve_claims=noise.claims)  # which the kernel checks again now
    return DPSGDPlan(noise.noise, target.steps, share, target.rate, norm, point)


def to_noise(value: object) -> Fraction:
    """Return a noise multiplier from 1/20 to 10⁶. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
    return to_number(value, "the noise multiplier", "[0.05, 1000000]", "give for example 1")


def to_clip(value: object) -> Fraction:
    """Return a clipping norm from 1e-12 to 1e12. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
    return to_number(value, "the clipping norm", "[1e-12, 1e12]", "give for example 1")
