"""The algorithms: each turns public numbers (ε, the number of sets, the calibration) into a program. Proofs: docs/submodular.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from accountant.applications.quality import CostBound, void_cost
from accountant.applications.setcover.program import (
    CoverProgram,
    GreedyStage,
    Stage,
    ThresholdPass,
    make_group,
)
from accountant.applications.submodular.coverage import MOST
from accountant.onesided import calibrate_one_sided, largest_epsilon0
from profiles import InvalidArgument, to_exact
from profiles.numbers import to_integer, to_number

CALIBRATIONS = ("optimal", "per-round", "corollary")
#: The constants of Theorem 4: thresholds t_s = FACTOR·log(6 m 2^s/β); a round takes at most PICKS·OPT sets, and leaves at most
#: REMAIN·OPT·t_s/p_s elements; a round with n·p_s at most IDLE·t_s takes none.
FACTOR, PICKS, REMAIN, IDLE = Fraction(33, 4), Fraction(51, 5), Fraction(7, 2), Fraction(9, 20)
MOST_ELEMENTS = 2**60
#: With this probability of failure noisy greedy states its bound.
BETA = Fraction(1, 20)
UNIT = "sets"


class Algorithm(Protocol):
    """A way to make a permutation of the sets."""

    def plan(self, epsilon: Fraction, sets: int, calibration: str) -> CoverProgram:
        """Return the program for a target ε. Raises :class:`InvalidArgument`, :class:`InvalidTarget`."""

    def state_cost(self, epsilon: Fraction, sets: int, program: CoverProgram) -> CostBound:
        """Return what is proved of the number of chosen sets, beside that of the smallest cover."""


@dataclass(frozen=True, slots=True)
class NoisyGreedy:
    """Greedy on one sample; each set gets noise once, and keeps it: no budget is split, and there is one noise for each set.

    Source: docs/submodular.md, Theorem 15 (not in the paper).
    """

    def plan(self, epsilon: Fraction, sets: int, calibration: str) -> CoverProgram:  # noqa: ARG002 - the same for any number of sets
        """Return one group with one greedy stage."""
        return _single("set cover by noisy greedy", epsilon, calibration, (GreedyStage(),))

    def state_cost(self, epsilon: Fraction, sets: int, program: CoverProgram) -> CostBound:  # noqa: ARG002 - they are in the program
        """Return the bound of docs/submodular.md, Theorem 17, for up to 2^31 elements and β = 1/20, as a line in the smallest cover."""
        group, risk = program.groups[0], math.log(2 / float(BETA))
        noise, largest = (math.log(sets) + risk) / float(group.epsilon0), 2 * math.log(MOST)
        spread = 2.5 * math.log(sets + 1)
        ratio = largest + max(8 * noise, largest * spread) / group.p
        error = 1 + max(4.0, spread + 2.5 * risk) / group.p
        return _limit(ratio, error, BETA, sets)


@dataclass(frozen=True, slots=True)
class OneSampleScaling:
    """Greedy scaling on one sample: passes with thresholds N, N/2, N/4, ... down to the size of the noise, then a greedy stage.

    ``max_elements`` N is a public guess of the number of elements; a wrong one costs utility, one made from the data privacy.
    Source: docs/submodular.md, Theorem 15: one sample for all passes is private without any split of the budget.
    """

    max_elements: int = 2**40
    beta: object = "0.05"

    def __post_init__(self) -> None:
        to_integer(self.max_elements, "max_elements", 1, MOST_ELEMENTS, hint="give a public number")
        to_beta(self.beta)

    def plan(self, epsilon: Fraction, sets: int, calibration: str) -> CoverProgram:
        """Return one group: passes, then a greedy stage."""
        largest, beta = int(self.max_elements), to_beta(self.beta)
        pair = _calibrate(epsilon, calibration)
        last = math.ceil(math.log(sets / float(beta)) / float(pair[1])) + 1
        thresholds = [last]
        while 2 * thresholds[-1] <= largest:
            thresholds.append(2 * thresholds[-1])
        stages: tuple[Stage, ...] = (*(ThresholdPass(value) for value in reversed(thresholds)), GreedyStage())
        return CoverProgram("set cover by greedy scaling on one sample", (make_group(*pair, stages),))

    def state_cost(self, epsilon: Fraction, sets: int, program: CoverProgram) -> CostBound:  # noqa: ARG002 - there is none
        """Return that nothing is proved."""
        return void_cost("no bound is proved for several thresholds on one sample; FreshSampleScaling has one", UNIT)


@dataclass(frozen=True, slots=True)
class FreshSampleScaling:
    """Greedy scaling with a fresh sample for each threshold: Algorithm 4, repaired. The last round is a greedy stage.

    Round s = S, ..., 0 has the threshold t_s = ⌈factor · log(6 m 2^s / β)⌉ and the share ε_s ∝ t_s 2^−s of ε, p_s = 1 − e^−ε_s. S is the
    first with 7 t_S/p_S ≥ ``max_elements``, a public guess of n. With the factor 8.25 or more Theorem 18 of docs/submodular.md holds.
    A wrong guess costs utility; one that is made from the data costs privacy.
    """

    max_elements: int = 2**40
    beta: object = "0.05"
    factor: object = FACTOR

    def __post_init__(self) -> None:
        to_integer(self.max_elements, "max_elements", 1, MOST_ELEMENTS, hint="give a public number")
        to_beta(self.beta)
        to_factor(self.factor)

    def thresholds(self, sets: int, rounds: int) -> list[int]:
        """Return t_0, ..., t_rounds (rounded up from binary64 logarithms)."""
        beta, factor = to_beta(self.beta), to_factor(self.factor)
        return [math.ceil(float(factor) * (math.log(6 * sets / float(beta)) + s * math.log(2)) + 1e-9) for s in range(rounds + 1)]

    def shares(self, epsilon: Fraction, sets: int) -> list[Fraction]:
        """Return ε_0, ..., ε_S, which add up to ε."""
        largest = int(self.max_elements)
        for rounds in range(64):
            thresholds = self.thresholds(sets, rounds)
            weights = [Fraction(value, 2**s) for s, value in enumerate(thresholds)]
            shares = [epsilon * weight / sum(weights) for weight in weights]
            if 2 * REMAIN * thresholds[-1] / min(Fraction(1), shares[-1]) >= largest:
                return shares
        return shares

    def plan(self, epsilon: Fraction, sets: int, calibration: str) -> CoverProgram:
        """Return the groups of rounds S, ..., 0. Their losses add up but for the optimal calibration, which uses Theorem 2."""
        shares = self.shares(epsilon, sets)
        thresholds = self.thresholds(sets, len(shares) - 1)
        groups = []
        for s in reversed(range(len(shares))):
            pair = _calibrate(shares[s], calibration)
            budget = largest_epsilon0(epsilon, Fraction(pair[0])) if calibration == "optimal" else pair[1]
            groups.append(make_group(pair[0], budget, (ThresholdPass(thresholds[s]) if s else GreedyStage(),)))
        return CoverProgram("set cover by greedy scaling on fresh samples", tuple(groups), adds_up=calibration != "optimal")

    def bound_cost(self, epsilon: object, sets: int, elements: int, optimum: int) -> float:
        """Return what the cost is at most with probability 1 − β (Theorem 4; any calibration, factor at least 8.25, n ≤ N).

            OPT (10.2 A + 3.5 t_0/p_0),    A = the number of rounds s ≥ 0 with n p_s > 0.45 t_s.

        Raises :class:`InvalidArgument` where the theorem does not speak of these options.
        """
        if to_factor(self.factor) < FACTOR or elements > self.max_elements:
            raise InvalidArgument(
                "the bound needs a factor of at least 8.25 and at most max_elements elements, but others were found; change them"
            )
        target, total = to_exact(epsilon, "epsilon"), len(self.shares(to_exact(epsilon, "epsilon"), sets))
        thresholds = self.thresholds(sets, total - 1)
        program = self.plan(target, sets, "optimal")
        rates = [group.p for group in reversed(program.groups)]
        active = sum(elements * p * (1 + 1e-9) > float(IDLE) * t for p, t in zip(rates, thresholds, strict=True))
        return optimum * (float(PICKS) * active + float(REMAIN) * thresholds[0] / rates[0]) * (1 + 1e-9)

    def state_cost(self, epsilon: Fraction, sets: int, program: CoverProgram) -> CostBound:  # noqa: ARG002 - it is made from the others
        """Return the bound of docs/submodular.md, Theorem 18, for up to ``max_elements`` elements."""
        if to_factor(self.factor) < FACTOR:
            return void_cost("the thresholds are lower than those of the theorem; give the factor 8.25", UNIT)
        return _limit(self.bound_cost(epsilon, sets, int(self.max_elements), 1), 0.0, to_beta(self.beta), sets, int(self.max_elements))


def _limit(ratio: float, error: float, failure: Fraction, sets: int, elements: int = MOST) -> CostBound:
    """Return a bound, which says nothing where it exceeds the number of sets for the least cover that there is."""
    if ratio + error >= sets:
        return void_cost(f"the proved number of sets is {ratio + error:.0f} at least, and there are {sets}", UNIT)
    return CostBound(ratio * (1 + 1e-9), error * (1 + 1e-9), failure, (), UNIT, f"up to {elements} elements")


def to_calibration(value: object) -> str:
    """Return one of the calibrations. Raises :class:`InvalidArgument`."""
    if value not in CALIBRATIONS:
        raise InvalidArgument(f"the calibration must be one of {', '.join(CALIBRATIONS)}, but {str(value)[:40]!r} was found; choose one")
    return str(value)


def to_beta(value: object) -> Fraction:
    """Return a probability of failure in [2^−64, 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    exact = to_number(value, "beta", "(0, 1)", "give a probability such as '0.05'")
    if exact < Fraction(1, 2**64):
        raise InvalidArgument("beta must be at least 2**-64, but a smaller number was found; give a probability such as '0.05'")
    return exact


def to_factor(value: object) -> Fraction:
    """Return the factor of the thresholds, in [0.01, 1000]. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    return to_number(value, "the factor", "[0.01, 1000]", "8.25 is what the theorem needs")


def _calibrate(epsilon: Fraction, calibration: str) -> tuple[float, Fraction]:
    plan = calibrate_one_sided(epsilon, choice="corollary" if calibration == "corollary" else "optimal")
    return plan.p, plan.epsilon0


def _single(name: str, epsilon: Fraction, calibration: str, stages: tuple[Stage, ...]) -> CoverProgram:
    return CoverProgram(name, (make_group(*_calibrate(epsilon, calibration), stages),))
