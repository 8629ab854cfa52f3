"""The private greedy algorithm for monotone submodular maximisation under a cardinality constraint, and for set cover."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from accountant.amplification import MOST_EPSILON
from accountant.applications.running import Answer, Draw
from accountant.applications.submodular.choosing import PlainScores, choose_greedily, count_up_to
from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.functions import TABLE, DecomposableFunction
from accountant.applications.submodular.weighted import WeightedCoverage
from accountant.guarantees import ARITHMETIC, AnyGuarantee, Hypothesis, Run, Unit, conclude_run, ships
from accountant.onesided import OneSidedCalibration, calibrate_one_sided, prove_losses, subsample
from profiles import InvalidArgument, to_exact
from profiles.hypotheses import EXACT_GAINS, MONOTONE_BOUNDED, OWN_ENTRY, PUBLIC_CONSTANTS
from profiles.numbers import ExactLike, to_integer
from profiles.randomness import ExponentialDraws
from profiles.randomness.bits import BitSource, open_bits

_SOURCE = "docs/submodular.md, Theorem 1; Ghazi et al. 2024, Theorem 4.3 and Section 4.1.1"
PUBLIC = PUBLIC_CONSTANTS.about(names="k, epsilon and the list of candidates are")
#: What is proved of which functions: docs/submodular.md, Theorem 2.
PROVED = (CoverageInstance, WeightedCoverage)
_LEAST = Fraction(1, 2**900)


class GreedyAnswer(Answer[tuple[int, ...]]):
    """The released answer: candidates in the order of their selection, and the guarantee. Nothing else depends on the users."""

    __slots__ = ()

    @property
    def selected(self) -> tuple[int, ...]:
        """The candidates, in the order of their selection."""
        return self.output


@dataclass(frozen=True, slots=True)
class OneSidedGreedy:
    """Claim: the k candidates that :meth:`run` returns, in their order, are ``epsilon0``-add-DP; no other direction is bounded.

    k rounds; each selects a remaining candidate c with probability proportional to exp(ε₀·(F(S ∪ {c}) − F(S))). ``k`` and ``epsilon0``
    (nats, exact) are public. Its other direction without a sample: :func:`approximate_dp`. Source: docs/submodular.md, Theorem 1.
    Raises :class:`InvalidArgument`, :class:`InvalidNumber`.
    """

    k: int
    epsilon0: ExactLike

    def __post_init__(self) -> None:
        to_integer(self.k, "k", 0)
        exact = to_exact(self.epsilon0, "epsilon0")
        if not _LEAST <= exact <= MOST_EPSILON:
            raise InvalidArgument(
                f"epsilon0 must be positive, from 2^-900 to {MOST_EPSILON} nats, but {str(self.epsilon0)[:40]} was found; give another"
            )
        object.__setattr__(self, "epsilon0", exact)

    @property
    def guarantee(self) -> AnyGuarantee:
        """The guarantee for any function; :meth:`run` discharges what is proved for the function that it is given."""
        return _declare(self.k, self.epsilon0, self)

    def run(self, function: DecomposableFunction, rng: object = None) -> GreedyAnswer:
        """Select k candidates. ``rng``: None for the operating system's secure source, a seed or a :class:`numpy.random.Generator`."""
        bits = open_bits(rng)
        selected = self.select(function, bits)
        return GreedyAnswer(
            selected, conclude_run(self.guarantee, Run(noise=bits.hypothesis, known=ships(self), proved=prove_function(function)))
        )

    def select(self, function: DecomposableFunction, bits: BitSource) -> tuple[int, ...]:
        """Return the candidates alone, drawn with ``bits``. Raises :class:`InvalidArgument` where k exceeds their number."""
        self.check(function)
        draws = ExponentialDraws(to_exact(self.epsilon0) / function.resolution, bits)
        if type(function) is CoverageInstance:  # the same law without a pass over all candidates (docs/submodular.md, section 5)
            rounds = function.rounds()
            return tuple(rounds.draw(draws) for _ in range(self.k))
        scores = PlainScores(function.track(), function.candidates, function.resolution)
        return choose_greedily(count_up_to(function.candidates, self.k), scores, self.k, draws)

    def check(self, function: DecomposableFunction) -> None:
        """Refuse what is no decomposable function, or has too few candidates: both are public."""
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

    Every user is kept with probability p, independently; on those kept :class:`OneSidedGreedy` runs with ε₀. ``calibration`` chooses
    ``plan``, the public (p, ε₀): ``"optimal"``, or ``"corollary"`` for the paper's ε₀ = log 2. k = m returns an order of all candidates,
    for set cover. For a monotone submodular function the answer is a (1 − 1/e − η)-approximation with the error of :func:`bound_utility`.

    Source: docs/submodular.md, Theorems 1 to 4; Ghazi et al. 2024, Theorem 1.2 and Appendix F. Raises :class:`InvalidArgument`,
    :class:`InvalidTarget`.

    >>> instance = CoverageInstance.from_sets([[0]] * 40 + [[1, 2]] * 30, candidates=4)
    >>> answer = PrivateGreedy(2, "1").run(instance, 7, bits=8)
    >>> answer.selected, answer.guarantee.bound.epsilon <= 1
    ((0, 1), True)
    """

    k: int
    epsilon: ExactLike
    calibration: Literal["optimal", "corollary"] = "optimal"
    plan: OneSidedCalibration = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        to_integer(self.k, "k", 0)
        object.__setattr__(self, "plan", calibrate_one_sided(self.epsilon, choice=self.calibration))

    @property
    def inner(self) -> OneSidedGreedy:
        """What runs on the sample."""
        return OneSidedGreedy(self.k, self.plan.epsilon0)

    @property
    def guarantee(self) -> AnyGuarantee:
        """The guarantee for any function; :meth:`run` discharges what is proved for the function that it is given."""
        return subsample(_declare(self.k, self.plan.epsilon0, self), self.plan.p)

    def run(self, function: DecomposableFunction, rng: object = None, *, bits: object = None) -> GreedyAnswer:
        """Select k candidates.

        ``rng`` draws candidates, ``bits`` the sample: each None (the operating system's secure source), a seed, or a
        :class:`numpy.random.Generator`. Raises :class:`InvalidArgument` where k exceeds m, or where both are the same seed.
        """
        inner = self.inner
        inner.check(function)
        draw = Draw.open(rng, bits)
        sample = function.restrict(draw.sample(function.users, self.plan.p))
        if (sample.candidates, sample.resolution) != (function.candidates, function.resolution):
            raise InvalidArgument("the number of candidates and the resolution are public, but they change with the users; keep them")
        selected = inner.select(sample, draw.noise)
        return GreedyAnswer(selected, draw.conclude(self.guarantee, self, proved=prove_function(function)))


def _declare(k: int, epsilon0: ExactLike, algorithm: object) -> AnyGuarantee:
    """Return the add-DP guarantee of k choices, for any function; it is proved where ``algorithm`` is of a class of this project."""
    supposed = (MONOTONE_BOUNDED, EXACT_GAINS, PUBLIC, TABLE, OWN_ENTRY, ARITHMETIC)
    subject = f"greedy selection of {k} candidates"
    return prove_losses(subject, epsilon0, None, theorem=_SOURCE, algorithm=algorithm, hypotheses=supposed, unit=Unit.USER)


def prove_function(function: DecomposableFunction) -> dict[Hypothesis, str]:
    """Return what is proved for the functions of this package (docs/submodular.md, section 3): nothing for others."""
    if type(function) not in PROVED:
        return {}
    return {
        MONOTONE_BOUNDED: f"{type(function).__name__}: docs/submodular.md, Theorem 2",
        EXACT_GAINS: "gains are sums of integers (docs/submodular.md, section 3)",
    }
