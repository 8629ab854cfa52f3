"""Private set cover in the open-set setting: a permutation of the sets, with its guarantee."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from accountant.applications.charging import Promise, release_once
from accountant.applications.choosing import choose_with_kept_noise
from accountant.applications.quality import CostBound
from accountant.applications.running import Answer, Choice, Draw, seed_public
from accountant.applications.setcover.algorithms import Algorithm, NoisyGreedy, to_calibration
from accountant.applications.setcover.program import CoverProgram, Group, ThresholdPass, require_sets
from accountant.applications.submodular.coverage import MOST, CoverageGains, CoverageInstance
from accountant.guarantees import Guarantee
from profiles import InvalidArgument, InvalidTarget
from profiles.arrays import Booleans, Integers
from profiles.numbers import to_integer, to_number
from profiles.randomness.bernoulli import PoissonSampler, open_sources

if TYPE_CHECKING:
    from accountant.ledger import Analysis


class CoverAnswer(Answer[Integers]):
    """What is released: all sets in the order in which elements choose (int64, shape (sets,)), and the guarantee."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__  # arrays have no single answer

    @property
    def permutation(self) -> Integers:
        """All sets, in the order in which elements choose."""
        return self.output


@dataclass(frozen=True, slots=True)
class PrivateSetCover:
    """Claim: the permutation that :meth:`run` returns is ``epsilon``-differentially private, for adding or removing one element.

    Each element chooses the first set of the permutation that contains it; :func:`cover_cost` counts the sets that are chosen.

    * ``epsilon``: the target, nats, exact; ``sets``: the number of sets, public.
    * ``algorithm``: :class:`NoisyGreedy` (default), :class:`OneSampleScaling`, :class:`FreshSampleScaling`.
    * ``calibration``: ``optimal``; ``per-round`` splits the budget over the samples as the paper does, with log(1 + e^ε_s) for each;
      ``corollary`` takes log 2 for each, as the paper does.

    Source: docs/submodular.md, Theorems 15 and 16; Ghazi et al. 2024, Theorem 1.4. Raises :class:`InvalidTarget`, :class:`InvalidArgument`.

    >>> system = CoverageInstance.from_sets([[0], [0, 1], [2]] * 50, candidates=3)
    >>> answer = PrivateSetCover(1, sets=3).run(system, np.random.default_rng(1), bits=2)
    >>> answer.permutation.tolist(), bool(answer.guarantee.bound.epsilon <= 1)
    ([0, 2, 1], True)
    """

    epsilon: object
    sets: int
    algorithm: Algorithm = field(default_factory=NoisyGreedy)
    calibration: str = "optimal"
    program: CoverProgram = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sets = to_integer(self.sets, "the number of sets", 1, MOST)
        if not all(hasattr(self.algorithm, name) for name in ("plan", "state_cost")):
            raise InvalidArgument(
                f"the algorithm must be NoisyGreedy(), OneSampleScaling() or FreshSampleScaling(), but {type(self.algorithm).__name__} was "
                "found; give one of them"
            )
        program = self.algorithm.plan(self.target, sets, to_calibration(self.calibration))  # refuses what cannot be run
        object.__setattr__(self, "program", program)

    @property
    def target(self) -> Fraction:
        return to_number(self.epsilon, "epsilon", "(0, 100]", "give a number of nats in that range", InvalidTarget)

    @property
    def guarantee(self) -> Guarantee:
        """What a run guarantees, before the sources of its random numbers are known."""
        return self.program.guarantee

    @property
    def utility(self) -> CostBound:
        """How many sets elements choose at most, beside the smallest cover, or why nothing is proved."""
        return self.algorithm.state_cost(self.target, int(self.sets), self.program)

    def run(self, system: CoverageInstance, rng: object = None, *, bits: object = None, ledger: Analysis | None = None) -> CoverAnswer:
        """Return a permutation of the sets.

        ``system`` has the sets as candidates and the elements as users: :func:`read_coverage`, or ``CoverageInstance.from_sets``.
        ``bits`` gives samples and noise, ``rng`` the public order of the sets, which breaks ties: each None (the operating system's secure
        source), a seed, or a :class:`numpy.random.Generator`. ``ledger``: an analysis with the id of each element,
        ``ledger.analysis(name, ids)``. Raises :class:`InvalidData`, :class:`InvalidArgument`, and what charging raises.
        """
        require_sets(system, self.sets)
        public, sampler = open_sources(rng, bits)
        draw = Draw(sampler.source, sampler)  # noise and samples come from the same bits
        order = seed_public(public).permutation(system.candidates).astype(np.int64)

        def cover(active: Booleans | None) -> Integers:
            present = system if active is None else system.restrict(active)
            taken: Booleans = np.zeros(system.candidates, dtype=np.bool_)
            chosen: list[int] = []
            for group in self.program.groups:
                chosen += _run_group(group, present, order, taken, sampler)
            return np.concatenate([np.array(chosen, dtype=np.int64), order[~taken[order]]])

        promised = draw.conclude(self.guarantee, self)
        permutation, answer, charged = release_once(ledger, Promise(promised), system.users, cover, arguments=(self,))
        permutation.setflags(write=False)
        choice = Choice(type(self.algorithm).__name__, "as asked, or by default; benchmarks/results/onesided.md compares them")
        return CoverAnswer(permutation, answer, utility=self.utility, choice=choice, charged=charged)


def _run_group(group: Group, system: CoverageInstance, order: Integers, taken: Booleans, sampler: PoissonSampler) -> list[int]:
    """Run the stages of a group on one sample; mark and return the sets taken."""
    state = track_uncovered(system, sampler.select(np.full(system.users, group.p)), taken)
    chosen: list[int] = []
    for stage in group.stages:
        remaining = order[~taken[order]]
        noise = draw_noise(group.decay, remaining.size, sampler)
        if isinstance(stage, ThresholdPass):
            picked = pass_once(state, remaining, noise, stage.threshold)
        else:
            picked = choose_with_kept_noise(state, remaining, noise.tolist(), len(remaining), stage.floor)
        taken[np.array(picked, dtype=np.int64)] = True
        chosen += picked
    return chosen


def track_uncovered(system: CoverageInstance, sampled: Booleans, taken: Booleans) -> CoverageGains:
    """Return the counts of the sampled elements that no set of ``taken`` contains. Private: they never leave a run."""
    if taken.any():
        hits = np.concatenate([[0], np.cumsum(taken[system.items])])
        sampled = sampled & (hits[system.starts[1:]] == hits[system.starts[:-1]])
    return CoverageGains(system.restrict(sampled))


def draw_noise(decay: float, size: int, sampler: PoissonSampler) -> Integers:
    """Return ``size`` independent integers G ≥ 0 with P[G ≥ j] = decay^j exactly, by exact coins. ``decay`` is a float in (0, 1)."""
    noise = np.zeros(size, dtype=np.int64)
    alive = np.arange(size, dtype=np.int64)
    while alive.size:
        alive = alive[sampler.select(np.full(alive.size, decay))]
        noise[alive] += 1
    return noise


def pass_once(state: CoverageGains, remaining: Integers, noise: Integers, threshold: int) -> list[int]:
    """Go through the sets once, in the order given: take each whose count and noise reach the threshold. Return those taken, in order.

    Counts only fall, so that a set which starts below the threshold needs no second look.
    """
    taken: list[int] = []
    for position in np.flatnonzero(state.gains[remaining] + noise >= threshold).tolist():
        chosen = int(remaining[position])
        if int(state.gains[chosen]) + int(noise[position]) >= threshold:
            taken.append(chosen)
            state.add(chosen)
    return taken
