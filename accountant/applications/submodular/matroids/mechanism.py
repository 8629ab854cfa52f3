"""Private monotone submodular maximisation under a matroid constraint: Theorem 1.3 of Ghazi et al. 2024, repaired (docs/submodular.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from accountant.amplification import MOST_EPSILON
from accountant.applications.charging import Promise, release_once
from accountant.applications.choosing import Scores, choose_greedily
from accountant.applications.running import Answer, Choice, Draw, seed_public
from accountant.applications.submodular.functions import TABLE
from accountant.applications.submodular.matroids.facility import FacilityLocation
from accountant.applications.submodular.matroids.matroid import Matroid, Members
from accountant.applications.submodular.matroids.objective import MOST_UNITS, Coverage, Objective, Tracked
from accountant.applications.submodular.matroids.parameters import choose_for
from accountant.applications.submodular.matroids.per_user import PerUser
from accountant.applications.submodular.matroids.rounding import swap_round
from accountant.applications.submodular.matroids.utility import bound_utility
from accountant.guarantees import ARITHMETIC, Guarantee, Losses, Unit
from accountant.onesided import OneSidedCalibration, calibrate_one_sided, compose, prove_losses, subsample
from profiles import InvalidArgument, InvalidData, to_exact
from profiles.arrays import Booleans, Integers
from profiles.hypotheses import CONTRIBUTIONS, FEW_RECORDS, OWN_ENTRY, PUBLIC_CONSTANTS
from profiles.numbers import ExactLike, to_integer, to_number
from profiles.randomness import ExponentialDraws
from profiles.randomness.bits import BitSource

if TYPE_CHECKING:
    from accountant.ledger import Analysis

PUBLIC = PUBLIC_CONSTANTS.about(names="the matroid, the function, epsilon and the numbers of rounds, draws and roundings are")
_PROVED = (Coverage, FacilityLocation, PerUser, Tracked)
_SOURCE = "docs/submodular.md"
#: With this probability of failure an answer states its utility.
_BETA = "0.05"
_MOST_TIMES = 2**20
_OF_MATROID, _OF_OBJECTIVE = ("size", "rank", "start"), ("size", "unit", "closed_form", "start", "totals")


class PrivateSet(Answer[tuple[int, ...]]):
    """A private set of elements, in increasing order, and its guarantee. Nothing else here depends on the data."""

    __slots__ = ()

    @property
    def members(self) -> tuple[int, ...]:
        """The elements, in increasing order."""
        return self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateMatroidGreedy:
    """Claim: :meth:`run` returns an independent set S with large F_D(S) = Σ_x f_x(S), ε-differentially private (add/remove of a user).

    A Poisson sample of the users with probability p goes through T rounds of greedy in steps of 1/T, each choice by an exponential
    mechanism; h sets are rounded from the result without the data; an exponential mechanism with the share c of ε₀ picks one of them.
    Both stages together are ε₀-add-DP, and (p, ε₀) makes that ε-DP. Source: Ghazi et al. 2024, Theorem 1.3; proofs: docs/submodular.md.
    :meth:`from_optimum` chooses rounds, roundings and draws for a public guess of the optimum.

    Parameters, all of them public
    ------------------------------
    matroid : Matroid
        On m elements; of rank k.
    epsilon : exact number
        The ε to keep, in nats; text such as ``"0.1"`` is one tenth.
    objective : Objective
        By default the number of covered users, :class:`Coverage`; :class:`FacilityLocation`; :class:`Tracked` for weighted coverage;
        :class:`PerUser` for any function that is given by its values.
    rounds : int
        T. The ratio to the optimum is at best 1 − (1 + 1/T)^−T: 0.5, 0.56, 0.58, 0.59 for 1, 2, 3, 4; the error grows with kT.
    draws : int or None
        s, the number of draws that estimate the multilinear extension; None for its closed form, if the function has one.
    roundings : int
        h. With 1, nothing is left to pick, and greedy gets all of ε₀. Below 12 no bound is proved for a failure of 0.05.
    selection_share : exact number
        c in (0, 1). The paper takes 1/2; the error is smaller with less, because the last choice is one among few.
    calibration : "optimal" or "corollary"
        See :func:`accountant.onesided.calibrate_one_sided`.

    Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`InvalidTarget`.

    >>> from accountant.applications.submodular.matroids import PartitionMatroid
    >>> mechanism = PrivateMatroidGreedy(matroid=PartitionMatroid([0, 0, 1, 1], [1, 1]), epsilon=1)
    >>> answer = mechanism.run([{0, 2}] * 500 + [{3}] * 400, 1, bits=2)
    >>> answer.members, float(answer.guarantee.bound.epsilon) <= 1
    ((0, 3), True)
    """

    matroid: Matroid
    epsilon: ExactLike
    objective: Objective | None = None
    rounds: int = 4
    draws: int | None = None
    roundings: int = 40
    selection_share: ExactLike = Fraction(1, 10)
    calibration: str = "optimal"
    plan: OneSidedCalibration = field(init=False, repr=False, compare=False)
    choice: Choice = field(init=False, repr=False, compare=False)

    @classmethod
    def from_optimum(
        cls,
        optimum: float,
        *,
        matroid: Matroid,
        epsilon: ExactLike,
        objective: Objective | None = None,
        beta: ExactLike = _BETA,
        calibration: str = "optimal",
    ) -> Self:
        """Return the mechanism with the T, h and s of :func:`choose_for` for a public guess of the optimum, in users.

        A wrong guess costs utility, one made from the data privacy. Raises what that function raises.

        >>> from accountant.applications.submodular.matroids import UniformMatroid
        >>> model = PrivateMatroidGreedy.from_optimum(1000, matroid=UniformMatroid(100, 5), epsilon="0.02")
        >>> model.rounds, model.choice.method
        (1, 'T = 1')
        """
        parameters = choose_for(matroid, epsilon, optimum, beta=beta, objective=objective, calibration=calibration)
        made = cls(
            matroid=matroid, epsilon=epsilon, objective=objective,
            rounds=parameters.rounds, draws=parameters.draws, roundings=parameters.roundings,
            calibration=calibration,
        )  # fmt: skip
        guess = float(to_exact(optimum))
        reason = f"the largest expected value where {matroid.rank} elements serve {guess:.6g} users in all, and the others nobody"
        judged = tuple((f"T = {rounds}", 1 - value) for rounds, value in parameters.expected)
        object.__setattr__(made, "choice", Choice(f"T = {parameters.rounds}", reason, judged))
        return made

    def __post_init__(self) -> None:
        for needed, what, names in ((self.matroid, "matroid", _OF_MATROID), (self.objective, "objective", _OF_OBJECTIVE)):
            if not (needed is None and what == "objective") and not all(hasattr(needed, name) for name in names):
                raise InvalidArgument(f"the {what} needs {', '.join(names)}, but {type(needed).__name__} has not all of them; give another")
        for name, what in (("rounds", "the number of rounds"), ("roundings", "the number of roundings")):
            object.__setattr__(self, name, to_integer(getattr(self, name), what, 1, _MOST_TIMES))
        object.__setattr__(self, "choice", Choice(f"T = {self.rounds}", "as asked, or by default; from_optimum chooses"))
        function = Coverage(self.matroid.size) if self.objective is None else self.objective
        if function.size != self.matroid.size:
            raise InvalidArgument(f"the function has {function.size} elements, but the matroid has {self.matroid.size}; give the same set")
        if self.draws is not None:
            object.__setattr__(self, "draws", to_integer(self.draws, "the number of draws", 1))
        elif not function.closed_form:
            raise InvalidArgument("a function without a closed form needs a number of draws, but None was found; give one")
        share = to_number(self.selection_share, "the share of the selection", "(0, 1)", "give one half or less")
        object.__setattr__(self, "objective", function)
        object.__setattr__(self, "selection_share", share)
        object.__setattr__(self, "plan", calibrate_one_sided(self.epsilon, choice=self.calibration))

    @property
    def function(self) -> Objective:
        """The objective, with its default."""
        return Coverage(self.matroid.size) if self.objective is None else self.objective

    @property
    def budgets(self) -> tuple[Fraction, Fraction]:
        """What greedy and the last choice may spend: their sum is ε₀. The second is 0 where there is one rounding."""
        share = to_exact(self.selection_share) if self.roundings > 1 else Fraction(0)
        return self.plan.epsilon0 * (1 - share), self.plan.epsilon0 * share

    @property
    def most_users(self) -> int:
        """How many users are supported, a public number: sums over more could overflow, and are refused."""
        return MOST_UNITS // max(self.function.unit, self.function.score_unit(self.draws))

    @property
    def add_dp(self) -> Guarantee:
        """The loss on the sample: ε₀ if a user is removed, kT·(1 − c)ε₀ + cε₀ if one is added; rounding in between does not see the
        data."""
        greedy, selection = self.budgets
        assumed = () if type(self.function) in _PROVED else (CONTRIBUTIONS,)
        few = FEW_RECORDS.about(most=f"{self.most_users} users")
        supposed: dict[str, Any] = {
            "hypotheses": (PUBLIC, TABLE, OWN_ENTRY, few, *assumed, *self.function.hypotheses, ARITHMETIC),
            "unit": Unit.USER,
            "algorithm": self,
        }
        steps = max(1, self.matroid.rank * self.rounds)
        add_loss = steps * greedy if steps * greedy + selection <= MOST_EPSILON else None
        parts = [prove_losses("private continuous greedy", Losses(greedy, add_loss), theorem=f"{_SOURCE}, Theorem 10", **supposed)]
        if selection:
            add = None if add_loss is None else selection
            parts.append(prove_losses("selection of a rounded set", Losses(selection, add), theorem=f"{_SOURCE}, Theorem 11", **supposed))
        return compose(*parts, subject="private matroid greedy")

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP in both directions, before it is known where the random numbers come from."""
        return subsample(self.add_dp, self.plan.p)

    def run(self, data: Any, rng: object = None, *, bits: object = None, ledger: Analysis | None = None) -> PrivateSet:
        """Return one private set.

        ``data``: what the objective reads, one entry per user. ``rng`` makes the choices, ``bits`` the sample: each None (the secure source
        of the operating system), a seed, or a :class:`numpy.random.Generator`; both stay secret. ``ledger``: an analysis with the id of
        each user, ``ledger.analysis(name, ids)``.
        Raises :class:`InvalidArgument`, :class:`InvalidData`; no message has more than the format of the data in it.
        """
        draw = Draw.open(rng, bits)
        users = self.function.read(data)
        count = self.function.count(users)
        if count > self.most_users:
            raise InvalidData(f"at most {self.most_users} users are supported, because sums are kept in 64 bits; give a part of them")

        def select(active: Booleans | None) -> list[int]:
            present, left = (users, count) if active is None else (self.function.keep(users, active), int(active.sum()))
            return sorted(self.run_on_sample(self.function.keep(present, draw.sample(left, self.plan.p)), draw.noise))

        promised = draw.conclude(self.guarantee, self)
        members, chosen, charged = release_once(ledger, Promise(promised), count, select, arguments=(self,))
        utility = bound_utility(self, beta=_BETA, users=self.most_users)
        return PrivateSet(tuple(members), chosen, utility=utility, choice=self.choice, charged=charged)

    def run_on_sample(self, sample: Any, draws: BitSource) -> Members:
        """Return the set for data that the objective has read: ε₀-add-DP only, so release nothing of it without sampling.

        The draws of z and the rounding come from a generator with a seed of its own: privacy holds whatever they are.
        """
        greedy, selection = self.budgets
        public = seed_public(draws)
        bins = None if self.draws is None else draw_bins(public, self.draws, self.matroid.size, self.rounds)
        scores = self.function.start(sample, self.rounds, bins)
        bases = run_continuous_greedy(self.matroid, scores, self.rounds, ExponentialDraws(greedy / scores.unit, draws))
        rounded = [swap_round(self.matroid, bases, public) for _ in range(self.roundings)]
        distinct = sorted(set(rounded), key=sorted)
        if len(distinct) == 1:
            return distinct[0]
        totals = self.function.totals(sample, mark(distinct, self.matroid.size))
        return distinct[ExponentialDraws(selection / self.function.unit, draws).among(totals)]


def draw_bins(rng: np.random.Generator, draws: int, size: int, rounds: int) -> Integers:
    """Return s independent draws of ⌊T z⌋ for z uniform on [0, 1)^m, shape (s, m): all that the steps of 1/T see of z."""
    return rng.integers(rounds, size=(draws, size), dtype=np.min_scalar_type(rounds))


def run_continuous_greedy(matroid: Matroid, scores: Scores, rounds: int, draws: ExponentialDraws) -> tuple[Members, ...]:
    """Return the T independent sets B^1, ..., B^T; y = (1/T) Σ 1_{B^t} lies in the matroid polytope, as a mean of its points.

    Each element is chosen among those that keep the set independent, with probability proportional to exp(ε₀·q(u; D)), where ``draws`` has
    the rate ε₀/unit. If a user adds numbers ≥ 0 to every q and at most 1 in all along every run, the law is ε₀-add-DP (Ghazi et al. 2024,
    Theorem 4.3 with Δ = 1, and Algorithm 5 with the step 1/T in place of η).
    """
    return tuple(frozenset(choose_greedily(matroid.start(), scores, matroid.rank, draws)) for _ in range(rounds))


def mark(sets: Sequence[Members], size: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the membership of sets, shape (h, m)."""
    membership = np.zeros((len(sets), size), dtype=np.bool_)
    for row, members in enumerate(sets):
        membership[row, list(members)] = True
    return membership
