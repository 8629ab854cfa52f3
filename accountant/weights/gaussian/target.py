"""What weights under Gaussian noise are for: a target (ε*, δ*) after some steps, each on a fresh sample (docs/gaussian-weights.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accountant.compositions.events import MOST_EPSILON
from accountant.weights.gaussian.one_step import OneStep
from profiles.errors import InvalidTarget
from profiles.numbers import exact_text, to_exact, to_integer, to_number, to_target

MAX_STEPS = 10**6


@dataclass(frozen=True, slots=True)
class GaussianTarget:
    """What weights are for: δ(``epsilon``) ≤ ``delta`` after ``steps`` steps, each on a fresh sample."""

    epsilon: Fraction
    delta: Fraction
    steps: int

    @property
    def step(self) -> OneStep:
        """δ of one step for the same (ε*, δ*)."""
        return OneStep(self.epsilon, self.delta)

    def describe(self) -> str:
        """Return "epsilon = ... and delta = ..." with exact numbers, and the steps where there are several."""
        after = "" if self.steps == 1 else f" after {self.steps} steps"
        return f"epsilon = {exact_text(self.epsilon)} and delta = {exact_text(self.delta)}{after}"


def to_gaussian_target(epsilon: object, delta: object, steps: object = 1) -> GaussianTarget:
    """Return a target that a user gave. Raises :class:`InvalidTarget`, :class:`profiles.InvalidArgument`.

    Numbers that are none are refused as everywhere.
    """
    return GaussianTarget(to_target(epsilon, f"[1e-300, {MOST_EPSILON}]"), to_target_delta(delta), to_steps(steps))


def to_steps(value: object) -> int:
    """Return a number of steps. Raises :class:`profiles.InvalidArgument`."""
    return to_integer(value, "the number of steps", 1, MAX_STEPS, hint="choose one in this range", any_form=True)


def to_target_delta(value: object) -> Fraction:
    """Return δ* as an exact number in (0, 1), at least 1e-100. Raises :class:`InvalidTarget`."""
    delta = to_exact(value, "the target delta")
    if delta == 0:
        raise InvalidTarget(
            "a target delta above 0 was expected, but 0 was found: no Gaussian mechanism is purely epsilon-private; give for example 1e-6"
        )
    return to_number(delta, "the target delta", "[1e-100, 1)", "give a probability such as 1e-6", InvalidTarget)
