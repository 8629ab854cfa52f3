"""Private set cover in the open-set setting: a permutation of the sets, with its guarantee."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accountant.applications.setcover.algorithms import Algorithm, NoisyGreedy, read_calibration
from accountant.applications.setcover.program import ExponentialStage, GreedyStage, Group, Program, ThresholdPass
from accountant.applications.setcover.selection import Uncovered, draw_geometric, pass_once, pick_exponentially, pick_greedily
from accountant.applications.setcover.system import Indices, SetSystem, read_sets
from accountant.guarantees import AnyGuarantee
from accountant.onesided import realise_draws
from accountant.sampler.bernoulli import PoissonSampler
from accountant.sampler.bits import open_bits, repeats
from profiles import InvalidArgument, InvalidData, InvalidTarget, to_exact

SEEDED_NOISE = (
    "whoever sees the permutation neither knows nor can guess the state of the generator, nor has seen other numbers drawn with it"
)


@dataclass(frozen=True, slots=True, eq=False)
class CoverAnswer:
    """What is released: ``permutation``, all sets in the order in which elements choose (int64, shape (sets,)), and its guarantee."""

    permutation: Indices
    guarantee: AnyGuarantee


@dataclass(frozen=True, slots=True)
class PrivateSetCover:
    """Claim: the permutation that :meth:`run` returns is ``epsilon``-differentially private, for adding or removing one element.

    Each element chooses the first set of the permutation that contains it; :func:`cover_cost` counts the sets that are chosen.

    * ``epsilon``: the target, nats, exact; ``sets``: the number of sets, public.
    * ``algorithm``: :class:`NoisyGreedy` (default), :class:`OneSampleScaling`, :class:`FreshSampleScaling`, :class:`RepeatedExponential`.
    * ``calibration``: ``optimal``; ``per-round`` splits the budget over the samples as the paper does, with log(1 + e^ε_s) for each;
      ``corollary`` takes log 2 for each, as the paper does.

    Source: docs/set-cover.md, Theorems 1 and 2; Ghazi et al. 2024, Theorem 1.4. Raises :class:`InvalidTarget`, :class:`InvalidArgument`.

    >>> system = SetSystem.from_rows([[0], [0, 1], [2]] * 50, sets=3)
    >>> answer = PrivateSetCover(1, sets=3).run(system, np.random.default_rng(1), bits=2)
    >>> answer.permutation.tolist(), bool(answer.guarantee.bound.epsilon <= 1)
    ([0, 2, 1], True)
    """

    epsilon: object
    sets: int
    algorithm: Algorithm = field(default_factory=NoisyGreedy)
    calibration: str = "optimal"

    def __post_init__(self) -> None:
        read_sets(self.sets)
        read_calibration(self.calibration)
        _ = self.program  # refuses what cannot be run

    @property
    def target(self) -> Fraction:
        """The target ε."""
        value = to_exact(self.epsilon, "epsilon")
        if not 0 < value <= 100:
            raise InvalidTarget("epsilon must lie in (0, 100] nats, but another number was found; give a positive number")
        return value

    @property
    def program(self) -> Program:
        """The groups of stages: probabilities, budgets, thresholds; all public."""
        return self.algorithm.plan(self.target, read_sets(self.sets), read_calibration(self.calibration))

    @property
    def guarantee(self) -> AnyGuarantee:
        """What a run guarantees, before the sources of its random numbers are known."""
        return self.algorithm.declare(self.program, self.calibration)

    def run(self, system: SetSystem, rng: np.random.Generator, *, bits: object = None) -> CoverAnswer:
        """Return a permutation of the sets.

        ``bits`` gives the samples and the noise (None: the secure source of the operating system; a seed or a generator for tests); ``rng``
        gives the public order of the sets, and the draws of :class:`RepeatedExponential`. Raises :class:`InvalidData`,
        :class:`InvalidArgument`.
        """
        if type(system) is not SetSystem or system.sets != read_sets(self.sets):
            raise InvalidData(
                f"a SetSystem with {self.sets} sets is needed, but another object or number was found; make one with from_rows"
            )
        if not isinstance(rng, np.random.Generator):
            raise InvalidArgument(
                f"rng must be a numpy.random.Generator, but {type(rng).__name__} was found; pass numpy.random.default_rng()"
            )
        source = open_bits(bits)
        if repeats(source, rng):
            raise InvalidArgument("bits and rng are generators with the same seed, which repeat each other; give different ones")
        sampler = PoissonSampler(source)
        program = self.program
        order = rng.permutation(system.sets).astype(np.int64)
        taken: NDArray[np.bool_] = np.zeros(system.sets, dtype=np.bool_)
        chosen: list[int] = []
        for group in program.groups:
            chosen += _run_group(group, system, order, taken, sampler, rng)
        permutation = np.concatenate([np.array(chosen, dtype=np.int64), order[~taken[order]]])
        permutation.setflags(write=False)
        hypothesis = source.hypothesis if all(group.exact for group in program.groups) else f"{source.hypothesis}; {SEEDED_NOISE}"
        return CoverAnswer(permutation, realise_draws(self.guarantee, hypothesis))


def _run_group(
    group: Group, system: SetSystem, order: Indices, taken: NDArray[np.bool_], sampler: PoissonSampler, rng: np.random.Generator
) -> list[int]:
    """Run the stages of a group on one sample; mark and return the sets taken."""
    sampled = np.flatnonzero(sampler.select(np.full(system.elements, group.p)))
    state = Uncovered(system, sampled, taken)
    chosen: list[int] = []
    for stage in group.stages:
        remaining = order[~taken[order]]
        if isinstance(stage, ExponentialStage):
            found = pick_exponentially(state, remaining, float(group.epsilon0), rng)
        else:
            noise = draw_geometric(group.decay, remaining.size, sampler)
            found = _select(stage, state, remaining, noise)
        taken[np.array(found, dtype=np.int64)] = True
        chosen += found
    return chosen


def _select(stage: ThresholdPass | GreedyStage, state: Uncovered, remaining: Indices, noise: Indices) -> list[int]:
    if isinstance(stage, ThresholdPass):
        return pass_once(state, remaining, noise, stage.threshold)
    return pick_greedily(state, remaining, noise, stage.floor)


__all__ = ["CoverAnswer", "PrivateSetCover"]
