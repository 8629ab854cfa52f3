"""The private greedy algorithm for monotone submodular maximisation under a cardinality constraint, and for set cover."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from accountant.amplification import MOST_EPSILON
from accountant.applications.charging import Promise, release_once
from accountant.applications.choosing import PlainScores, choose_greedily, choose_with_kept_noise, count_up_to
from accountant.applications.quality import UtilityBound
from accountant.applications.running import Answer, Choice, Draw
from accountant.applications.submodular.bounds import Noise, bound_one_sided, bound_plan, expect_loss
from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.functions import TABLE, DecomposableFunction
from accountant.applications.submodular.weighted import WeightedCoverage
from accountant.calibration.rounds import RoundsCalibration, calibrate_rounds
from accountant.guarantees import ARITHMETIC, Guarantee, Hypothesis, Losses, Run, Unit, conclude_run, ships
from accountant.onesided import OneSidedCalibration, calibrate_one_sided, prove_losses, subsample
from profiles import InvalidArgument, to_exact
from profiles.arrays import Booleans
from profiles.hypotheses import EXACT_GAINS, MONOTONE_BOUNDED, OWN_ENTRY, PUBLIC_CONSTANTS, SUBMODULAR
from profiles.numbers import ExactLike, to_integer
from profiles.randomness import ExponentialDraws, draw_geometrics
from profiles.randomness.bits import BitSource, open_bits

if TYPE_CHECKING:
    from accountant.ledger import Analysis

_SOURCES: dict[Noise, str] = {
    "fresh": "docs/submodular.md, Theorem 1; docs/one-sided.md, Theorem A'; Ghazi et al. 2024, Theorem 4.3 and Section 4.1.1",
    "kept": "docs/submodular.md, Theorem 8",
}
PUBLIC = PUBLIC_CONSTANTS.about(names="k, epsilon and the list of candidates are")
#: What is proved of which functions: docs/submodular.md, Theorem 2.
PROVED = (CoverageInstance, WeightedCoverage)
_LEAST = Fraction(1, 2**900)
_METHODS = ("auto", "kept", "fresh")
_CALIBRATIONS = ("rounds", "optimal", "corollary")
_MOST_USERS = 2**31
#: With these numbers an answer states its utility.
_BETA, _ETA = "0.05", "0.1"
#: No candidates are the best choice of none.
_NOTHING = UtilityBound(1.0, 0.0, None, ())


class GreedyAnswer(Answer[tuple[int, ...]]):
    """The released answer: candidates in the order of their selection, and the guarantee. Nothing else depends on the users."""

    __slots__ = ()

    @property
    def selected(self) -> tuple[int, ...]:
        """The candidates, in the order of their selection."""
        return self.output


@dataclass(frozen=True, slots=True)
class OneSidedGreedy:
    """Claim: for the k candidates that :meth:`run` returns, in order, removing a user costs ``epsilon0``, adding one k·``epsilon0``.

    ``noise`` "fresh": k rounds; each selects a remaining candidate c with probability proportional to exp(ε₀·(F(S ∪ {c}) − F(S))).
    "kept": every candidate draws geometric noise once, and the largest gain plus noise is selected k times; F must be submodular then, and
    its gains whole numbers. ``k`` and ``epsilon0`` (nats, exact) are public. Another bound of the second direction, with δ:
    :func:`approximate_dp`. Source: docs/submodular.md, Theorems 1 and 8. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.
    """

    k: int
    epsilon0: ExactLike
    noise: Noise = "fresh"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", to_integer(self.k, "k", 0))
        exact = to_exact(self.epsilon0, "epsilon0")
        if not _LEAST <= exact <= MOST_EPSILON:
            raise InvalidArgument(
                f"epsilon0 must be positive, from 2^-900 to {MOST_EPSILON} nats, but {str(self.epsilon0)[:40]} was found; give another"
            )
        if not isinstance(self.noise, str) or self.noise not in _SOURCES:
            raise InvalidArgument(f"the noise must be 'fresh' or 'kept', but {str(self.noise)[:40]!r} was found; choose one")
        object.__setattr__(self, "epsilon0", exact)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for any function; :meth:`run` closes the hypotheses that are proved for the function that it is given."""
        return declare_selection(self.k, self.epsilon0, self.noise, self)

    def run(self, function: DecomposableFunction, rng: object = None) -> GreedyAnswer:
        """Select k candidates. ``rng``: None for the operating system's secure source, a seed or a :class:`numpy.random.Generator`."""
        bits = open_bits(rng)
        selected = self.select(function, bits)
        promised = conclude_run(self.guarantee, Run(noise=bits.hypothesis, known=ships(self), proved=prove_function(function)))
        utility = _NOTHING if not self.k else bound_one_sided(function.candidates, self.k, self.epsilon0, _BETA, noise=self.noise)
        utility = discharge_function(utility, function)
        return GreedyAnswer(
            selected, promised, utility=utility, choice=Choice(self.noise, f"as asked; epsilon0 {float(to_exact(self.epsilon0)):.6g}")
        )

    def select(self, function: DecomposableFunction, bits: BitSource) -> tuple[int, ...]:
        """Return the candidates alone, drawn with ``bits``. Raises :class:`InvalidArgument` where k exceeds their number."""
        self.check(function)
        rate = to_exact(self.epsilon0) / function.resolution
        if self.noise == "kept":
            noise = draw_geometrics(rate, function.candidates, bits)
            return tuple(choose_with_kept_noise(function.track(), np.arange(function.candidates), noise, self.k))
        draws = ExponentialDraws(rate, bits)
        if type(function) is CoverageInstance:  # the same law without a pass over all candidates (docs/submodular.md, section 5)
            rounds = function.rounds()
            return tuple(rounds.draw(draws) for _ in range(self.k))
        scores = PlainScores(function.track(), function.candidates, function.resolution)
        return choose_greedily(count_up_to(function.candidates, self.k), scores, self.k, draws)

    def check(self, function: DecomposableFunction) -> None:
        """Refuse what is not a decomposable function, or has too few candidates: both are public."""
        if not isinstance(function, DecomposableFunction):
            raise InvalidArgument(
                f"a decomposable function is needed, but {type(function).__name__} was found; make a CoverageInstance, or give the members "
                "of DecomposableFunction"
            )
        count = to_integer(function.candidates, "the number of candidates", 1)
        to_integer(function.resolution, "the resolution", 1)
        if self.k > count:
            raise InvalidArgument(f"{self.k} candidates were asked for, but there are {count}; lower k (k = m gives an order of all)")


@dataclass(frozen=True, slots=True)
class PrivateGreedy:
    """Claim: the k candidates that :meth:`run` returns, in their order, are ``epsilon``-differentially private (one user more or less).

    Every user is kept with probability p, independently; on those kept :class:`OneSidedGreedy` runs with ε₀. All choices below depend on
    public numbers only, and the answer says which way was taken and why.

    * ``method``: "kept" or "fresh" noise, see :class:`OneSidedGreedy`; "auto" takes kept noise for the functions of this package, for
      which the bound of what noise costs is never larger, and fresh noise for functions of one's own, whose submodularity nobody showed.
    * ``calibration`` chooses ``plan``, the public (p, ε₀): "rounds", for what k choices cost at most in both directions (k = 1 needs no
      sample: p = 1, ε₀ = ε); "optimal", for any one-sided mechanism; "corollary", the paper's ε₀ = log 2.
    * ``users`` and ``candidates``, for "rounds": a public guess of how many users a good candidate serves, and m. Then p balances the
      noise of sampling and that of the choices (:func:`balance_sampling`); without them p·ε₀ is largest. A wrong guess costs accuracy,
      one made from the data privacy.

    k = m returns an order of all candidates, for set cover. For a monotone submodular function the answer is a (1 − 1/e − η)-approximation
    with the error of :meth:`bound`. Source: docs/submodular.md, Theorems 1 to 9; Ghazi et al. 2024, Theorem 1.2 and Appendix F. Raises
    :class:`InvalidArgument`, :class:`InvalidTarget`.

    >>> instance = CoverageInstance.from_sets([[0]] * 40 + [[1, 2]] * 30, candidates=4)
    >>> answer = PrivateGreedy(2, "1").run(instance, 7, bits=8)
    >>> answer.selected, answer.guarantee.bound.epsilon <= 1, answer.choice.method
    ((0, 1), True, 'kept')
    """

    k: int
    epsilon: ExactLike
    calibration: Literal["rounds", "optimal", "corollary"] = "rounds"
    method: Literal["auto", "kept", "fresh"] = "auto"
    users: int | None = None
    candidates: int | None = None
    plan: OneSidedCalibration | RoundsCalibration = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", to_integer(self.k, "k", 0))
        if self.method not in _METHODS:
            raise InvalidArgument(f"the method must be one of {', '.join(_METHODS)}, but {str(self.method)[:40]!r} was found; choose one")
        if self.calibration not in _CALIBRATIONS:
            raise InvalidArgument(
                f"the calibration must be one of {', '.join(_CALIBRATIONS)}, but {str(self.calibration)[:40]!r} was found; choose one"
            )
        if self.users is not None:
            object.__setattr__(self, "users", to_integer(self.users, "the guess of users", 1, _MOST_USERS, hint="give a public number"))
        if (self.users is None) != (self.candidates is None):
            raise InvalidArgument("a guess of users and the number of candidates go together, but one was found alone; give both, or none")
        if self.candidates is not None:
            object.__setattr__(self, "candidates", to_integer(self.candidates, "the number of candidates", max(1, self.k), _MOST_USERS))
        object.__setattr__(self, "plan", self._calibrate())

    def _calibrate(self) -> OneSidedCalibration | RoundsCalibration:
        if self.calibration != "rounds":
            return calibrate_one_sided(self.epsilon, choice=self.calibration)
        best = calibrate_rounds(self.epsilon, max(1, self.k))
        if self.users is None or self.candidates is None or best.p == 1:
            return best
        return balance_sampling(best, self.users, self.candidates)

    @property
    def inner(self) -> OneSidedGreedy:
        """What runs on the sample, for a function of this package."""
        return OneSidedGreedy(self.k, self.plan.epsilon0, self._noise(known=True))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for any function; :meth:`run` closes the hypotheses that are proved for the function that it is given."""
        return self._derive(self._noise(known=True))

    def bound(self, candidates: int, *, beta: ExactLike, eta: ExactLike) -> UtilityBound:
        """Return the proved bound of a run on a function of this package with m ``candidates``: :func:`bound_plan`."""
        return bound_plan(candidates, self.k, self.plan, beta=beta, eta=eta, noise=self._noise(known=True))

    def choose(self, candidates: int, *, known: bool = True) -> Choice:
        """Return which noise a run takes for m ``candidates`` and why; ``known``: for a function of this package."""
        noise, plan = self._noise(known=known), self.plan
        scale = float(plan.epsilon0) * plan.p
        errors = tuple((name, expect_loss(candidates, self.k, name) / scale) for name in _SOURCES) if self.k else ()
        shown = ", ".join(f"{value:.4g} with {name} noise" for name, value in errors)
        balance = "for the largest p*epsilon0" if self.users is None else f"for {self.users} users a candidate"
        how = f"sample of rate {plan.p:.6g}, epsilon0 {float(plan.epsilon0):.6g}, {self.calibration} calibration"
        if self.calibration == "rounds":
            how += f" {balance}" if plan.p < 1 else ", no sample is needed"
        why = "as asked" if self.method != "auto" else "fresh noise needs no submodularity" if not known else "the smaller bound"
        cost = f"; expected loss of value by noise at most {shown} (users)" if shown else ""
        return Choice(noise, f"{why}{cost}; {how}", errors)

    def run(
        self, function: DecomposableFunction, rng: object = None, *, bits: object = None, ledger: Analysis | None = None
    ) -> GreedyAnswer:
        """Select k candidates.

        ``rng`` draws candidates, ``bits`` the sample: each None (the operating system's secure source), a seed, or a
        :class:`numpy.random.Generator`. ``ledger``: an analysis with the id of each user, ``ledger.analysis(name, ids)``.
        Raises :class:`InvalidArgument` where k exceeds m, or where both are the same seed, and what charging raises.
        """
        known = type(function) in PROVED
        noise = self._noise(known=known)
        inner = OneSidedGreedy(self.k, self.plan.epsilon0, noise)
        inner.check(function)
        if self.candidates not in (None, function.candidates):
            raise InvalidArgument(
                f"{self.candidates} candidates were declared, but the function has {function.candidates}; give their number"
            )
        draw, everything = Draw.open(rng, bits), self.plan.p == 1
        promised = draw.conclude(self._derive(noise), self, sampled=not everything, proved=prove_function(function))

        def select(active: Booleans | None) -> list[int]:
            present = function if active is None else function.restrict(active)
            sample = present if everything else present.restrict(draw.sample(present.users, self.plan.p))
            if (sample.candidates, sample.resolution) != (function.candidates, function.resolution):
                raise InvalidArgument("the number of candidates and the resolution are public, but they change with the users; keep them")
            return list(inner.select(sample, draw.noise))

        selected, chosen, charged = release_once(
            ledger, Promise(promised), function.users, select, arguments=(self, type(function), function.candidates, function.resolution)
        )
        bound = bound_plan(function.candidates, self.k, self.plan, beta=_BETA, eta=_ETA, noise=noise) if self.k else _NOTHING
        utility = discharge_function(bound, function)
        choice = self.choose(function.candidates, known=known)
        return GreedyAnswer(tuple(selected), chosen, utility=utility, choice=choice, charged=charged)

    def _noise(self, *, known: bool) -> Noise:
        if self.method == "auto":
            return "kept" if known else "fresh"
        return self.method

    def _derive(self, noise: Noise) -> Guarantee:
        declared = declare_selection(self.k, self.plan.epsilon0, noise, self)
        return declared if self.plan.p == 1 else subsample(declared, self.plan.p)


def balance_sampling(best: RoundsCalibration, users: int, candidates: int) -> RoundsCalibration:
    """Return the plan for the same target with the least expected error of a choice,

        √(N (1 − p)/p) + (ln(m/k) + 1)/(p ε₀),

    among the largest ε₀ of 65 rates p from that of ``best`` to 1: the standard deviation of what the sample says of a candidate with N
    users, and the mean of the k largest of m noises (docs/submodular.md, Theorem 9), which are what is chosen by noise alone.
    """
    target, rounds = float(best.target), best.rounds
    if target > 100:
        return best
    rates = np.geomspace(best.p, 1.0, 65)[1:]
    removed = np.log1p(np.expm1(target) / rates)
    share = -np.expm1(-target) / rates
    added = np.full(len(rates), np.inf)
    added[share < 1] = -np.log1p(-share[share < 1]) / rounds
    budgets = np.minimum(removed, added)
    largest = np.log(candidates / rounds) + 1
    errors = np.sqrt(users * (1 - rates) / rates) + largest / (rates * budgets)
    least = int(errors.argmin())
    if errors[least] >= np.sqrt(users * (1 - best.p) / best.p) + largest / (best.p * float(best.epsilon0)):
        return best
    return calibrate_rounds(best.target, rounds, p=float(rates[least]))


def declare_selection(k: int, epsilon0: ExactLike, noise: Noise, algorithm: object) -> Guarantee:
    """Return the losses of k choices, ε₀ and k·ε₀, for any function; proved where ``algorithm`` is of a class of this project."""
    supposed = (MONOTONE_BOUNDED, *((SUBMODULAR,) if noise == "kept" else ()), EXACT_GAINS, PUBLIC, TABLE, OWN_ENTRY, ARITHMETIC)
    subject = f"greedy selection of {k} candidates"
    remove = to_exact(epsilon0)
    add = max(1, k) * remove
    return prove_losses(
        subject,
        Losses(remove, add if add <= MOST_EPSILON else None),
        theorem=_SOURCES[noise],
        algorithm=algorithm,
        hypotheses=supposed,
        unit=Unit.USER,
    )


def discharge_function(utility: UtilityBound, function: DecomposableFunction) -> UtilityBound:
    """Return a bound without what is proved of a function of this package."""
    proved = prove_function(function)
    return replace(utility, hypotheses=tuple(item for item in utility.hypotheses if item not in proved))


def prove_function(function: DecomposableFunction) -> dict[Hypothesis, str]:
    """Return what is proved for the functions of this package (docs/submodular.md, section 3): nothing for others."""
    if type(function) not in PROVED:
        return {}
    theorem = f"{type(function).__name__}: docs/submodular.md, Theorem 2"
    return {
        MONOTONE_BOUNDED: theorem,
        SUBMODULAR: theorem,
        EXACT_GAINS: "gains are sums of integers (docs/submodular.md, section 3)",
    }
