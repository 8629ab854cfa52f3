"""Private partial set cover: few sets, by name, that cover a public share of the elements (docs/submodular.md, Theorem 19)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from accountant.applications.choosing import choose_with_kept_noise
from accountant.applications.quality import void_cost
from accountant.applications.running import Answer, Choice, Draw
from accountant.applications.setcover.algorithms import to_beta
from accountant.applications.setcover.program import PAGE, PUBLIC, require_sets
from accountant.applications.submodular.coverage import MOST, CoverageInstance
from accountant.guarantees import Guarantee, Losses
from accountant.onesided import OneSidedCalibration, calibrate_one_sided, compose, prove_losses, subsample
from profiles import InvalidArgument, to_exact
from profiles.hypotheses import OWN_ENTRY
from profiles.numbers import ExactLike, to_integer
from profiles.randomness import draw_geometric, draw_geometrics
from profiles.randomness.bits import BitSource

#: Shares of ε₀ for the number of elements, the order and the moment to stop.
SPLIT = (Fraction(1, 10), Fraction(6, 10), Fraction(3, 10))


class PartialAnswer(Answer[tuple[int, ...]]):
    """What is released: the chosen sets, in the order of their choice, and the guarantee."""

    __slots__ = ()

    @property
    def chosen(self) -> tuple[int, ...]:
        """The chosen sets, in the order of their choice."""
        return self.output


@dataclass(frozen=True, slots=True)
class PrivatePartialCover:
    """Claim: the sets that :meth:`run` returns are ``epsilon``-differentially private, for adding or removing one element.

    On one Poisson sample: noisy greedy puts the sets into an order, noise drawn once for each; the order is cut after the first i sets
    with covered elements + fresh noise ≥ ⌈share·ñ⌉ + margin, where ñ is the noisy number of elements that are in a set, and the margin
    exceeds all noises except with probability ``beta``. Then at least ``share`` of the sampled elements that are in a set are covered,
    unless all sets are returned.

    ``epsilon`` (nats, exact), ``sets`` m, ``share`` in (0, 1) and ``beta`` are public. Source: docs/submodular.md, Theorem 19; the
    problem is that of Li et al. 2023. Raises :class:`InvalidArgument`, :class:`InvalidTarget`, :class:`InvalidNumber`.

    >>> system = CoverageInstance.from_sets([[0]] * 600 + [[1]] * 300 + [[2]] * 20, candidates=3)
    >>> answer = PrivatePartialCover(2, sets=3, share="0.8").run(system, 1, bits=2)
    >>> answer.chosen, bool(answer.guarantee.bound.epsilon <= 2)
    ((0, 1), True)
    """

    epsilon: ExactLike
    sets: int
    share: ExactLike
    beta: ExactLike = "0.05"
    plan: OneSidedCalibration = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        to_integer(self.sets, "the number of sets", 1, MOST)
        share = to_exact(self.share, "the share")
        if not 0 < share < 1:
            raise InvalidArgument("the share must lie strictly between 0 and 1, but another number was found; use PrivateSetCover for all")
        to_beta(self.beta)
        object.__setattr__(self, "plan", calibrate_one_sided(self.epsilon))

    @property
    def budgets(self) -> tuple[Fraction, Fraction, Fraction]:
        """What the number of elements, the order and the moment to stop cost on the sample: together ε₀."""
        count, order, stop = (share * self.plan.epsilon0 for share in SPLIT)
        return count, order, stop

    @property
    def margin(self) -> int:
        """What none of m noises of the stop exceeds except with probability ``beta``: ⌈ln(m/β)/ε_t⌉."""
        return math.ceil(math.log(self.sets / float(to_beta(self.beta))) / float(self.budgets[2]) * (1 + 1e-9))

    @property
    def guarantee(self) -> Guarantee:
        """What a run guarantees, before the sources of its random numbers are known."""
        names = ("number of elements with geometric noise", "order of sets by noisy greedy", "first prefix that covers enough")
        parts = [
            prove_losses(name, Losses(spent, None), theorem=f"{PAGE}, Theorem 5", algorithm=self, hypotheses=(PUBLIC, OWN_ENTRY))
            for name, spent in zip(names, self.budgets, strict=True)
        ]
        return subsample(compose(*parts, subject="partial set cover"), self.plan.p)

    def run(self, system: CoverageInstance, rng: object = None, *, bits: object = None) -> PartialAnswer:
        """Return the chosen sets. ``rng`` makes the noise, ``bits`` the sample; as for ``PrivateSetCover.run``."""
        require_sets(system, self.sets)
        draw = Draw.open(rng, bits)
        chosen = self.choose(system.restrict(draw.sample(system.users, self.plan.p)), draw.noise)
        reason = f"stops at a noisy share of {float(to_exact(self.share)):g} of the sample, with a margin of {self.margin} elements"
        utility = void_cost("no bound of the number of sets is proved; what they cover of the sample is", "sets")
        return PartialAnswer(chosen, draw.conclude(self.guarantee, self), utility=utility, choice=Choice("noisy greedy, cut", reason))

    def choose(self, sample: CoverageInstance, bits: BitSource) -> tuple[int, ...]:
        """Return the sets for a sample: ε₀-add-DP only, so release nothing of it without sampling."""
        count, order, stop = self.budgets
        state = sample.track()
        everyone = state.left
        enough = math.ceil(to_exact(self.share) * (everyone + draw_geometric(count, bits))) + self.margin
        noise = draw_geometrics(order, sample.candidates, bits)
        ranked = choose_with_kept_noise(state, np.arange(sample.candidates), noise, sample.candidates)
        again = sample.track()
        for place, (taken, added) in enumerate(zip(ranked, draw_geometrics(stop, len(ranked), bits), strict=True), start=1):
            again.add(taken)
            if everyone - again.left + added >= enough:
                return tuple(ranked[:place])
        return tuple(ranked)
