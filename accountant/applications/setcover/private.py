"""Private set cover in the open-set setting: a permutation of the sets, with its guarantee."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accountant.applications.setcover.algorithms import Algorithm, NoisyGreedy, read_calibration
from accountant.applications.setcover.program import GreedyStage, Group, Program, ThresholdPass
from accountant.applications.setcover.selection import Indices, Uncovered, draw_noise, pass_once, pick_greedily
from accountant.applications.submodular.coverage import MOST, CoverageInstance
from accountant.guarantees import AnyGuarantee, Run, conclude_run, ships
from profiles import InvalidArgument, InvalidData, InvalidTarget, to_exact
from profiles.randomness.bernoulli import PoissonSampler, open_sources


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
    * ``algorithm``: :class:`NoisyGreedy` (default), :class:`OneSampleScaling`, :class:`FreshSampleScaling`.
    * ``calibration``: ``optimal``; ``per-round`` splits the budget over the samples as the paper does, with log(1 + e^ε_s) for each;
      ``corollary`` takes log 2 for each, as the paper does.

    Source: docs/set-cover.md, Theorems 1 and 2; Ghazi et al. 2024, Theorem 1.4. Raises :class:`InvalidTarget`, :class:`InvalidArgument`.

    >>> system = CoverageInstance.from_sets([[0], [0, 1], [2]] * 50, candidates=3)
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

    def run(self, system: CoverageInstance, rng: object = None, *, bits: object = None) -> CoverAnswer:
        """Return a permutation of the sets.

        ``system`` has the sets as candidates and the elements as users: :func:`read_coverage`, or ``CoverageInstance.from_sets``.
        ``bits`` gives samples and noise, ``rng`` the public order of the sets, which breaks ties: each None (the operating system's secure
        source), a seed, or a :class:`numpy.random.Generator`. Raises :class:`InvalidData`, :class:`InvalidArgument`.
        """
        if type(system) is not CoverageInstance or system.candidates != read_sets(self.sets):
            raise InvalidData(
                f"a CoverageInstance with {self.sets} sets is needed, but another object or number was found; make one with from_sets"
            )
        draws, sampler = open_sources(rng, bits)
        program = self.program
        order = np.random.default_rng([draws.digit() for _ in range(8)]).permutation(system.candidates).astype(np.int64)
        taken: NDArray[np.bool_] = np.zeros(system.candidates, dtype=np.bool_)
        chosen: list[int] = []
        for group in program.groups:
            chosen += _run_group(group, system, order, taken, sampler)
        permutation = np.concatenate([np.array(chosen, dtype=np.int64), order[~taken[order]]])
        permutation.setflags(write=False)
        return CoverAnswer(
            permutation, conclude_run(self.guarantee, Run(sampler.source.hypothesis, sampler.source.hypothesis, known=ships(self)))
        )


def _run_group(group: Group, system: CoverageInstance, order: Indices, taken: NDArray[np.bool_], sampler: PoissonSampler) -> list[int]:
    """Run the stages of a group on one sample; mark and return the sets taken."""
    sampled = np.flatnonzero(sampler.select(np.full(system.users, group.p)))
    state = Uncovered(system, sampled, taken)
    chosen: list[int] = []
    for stage in group.stages:
        remaining = order[~taken[order]]
        found = _select(stage, state, remaining, draw_noise(group.decay, remaining.size, sampler))
        taken[np.array(found, dtype=np.int64)] = True
        chosen += found
    return chosen


def _select(stage: ThresholdPass | GreedyStage, state: Uncovered, remaining: Indices, noise: Indices) -> list[int]:
    if isinstance(stage, ThresholdPass):
        return pass_once(state, remaining, noise, stage.threshold)
    return pick_greedily(state, remaining, noise, stage.floor)


def read_sets(value: object) -> int:
    """Return a public number of sets. Raises :class:`InvalidArgument`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= MOST:
        raise InvalidArgument(
            f"the number of sets must be an integer of at least 1, but {str(value)[:40]!r} was found; give a public number"
        )
    return int(value)


__all__ = ["CoverAnswer", "PrivateSetCover"]
