"""Guarantees of the repeated mechanisms, without and with a Poisson sample (docs/one-sided.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from accountant.amplification import MOST_EPSILON
from accountant.applications.charging import Promise, release_once
from accountant.applications.running import Answer
from accountant.calibration.one_sided import OneSidedCalibration, calibrate_one_sided
from accountant.calibration.rounds import RoundsCalibration, calibrate_rounds
from accountant.guarantees import Guarantee, Hypothesis, Losses, Run, assume, conclude_run, discharge, prove_losses, ships, subsample
from profiles import InvalidArgument, InvalidData, to_exact
from profiles.arrays import Booleans, Integers
from profiles.hypotheses import CHECKED_FORM, DATA_SETS, UNIVERSE_ORDER
from profiles.mechanisms import Arithmetic
from profiles.mechanisms.interface import check_call, is_exact
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BitSource, open_bits, refuse_repeats
from proofs_check.exact.repeated import AssumptionCheck, FiniteDomain

if TYPE_CHECKING:
    from accountant.ledger import Analysis

RepeatedMechanism: TypeAlias = RepeatedExponential | RepeatedThreshold

_PAGE = "docs/one-sided.md"
_THEOREMS = {RepeatedExponential: f"{_PAGE}, Theorem A", RepeatedThreshold: f"{_PAGE}, Theorem B"}


def declare_repeated(
    mechanism: RepeatedMechanism, *, check: AssumptionCheck | None = None, domain: FiniteDomain | None = None
) -> Guarantee:
    """Under the assumptions of ``mechanism``: ε⁺ = ε₀; and ε⁻ = L·ε₀ for the exponential one with at most L rounds, ∞ for thresholds.

    The assumptions are open hypotheses. ``check`` is what :func:`~proofs_check.exact.repeated.check_assumptions` or ``search_violation``
    found: it is noted in the derivation. It discharges them only where it proved both and ``domain``, the declared universe of all data
    sets, is the one that was checked; then that data sets come from it, and that the functions do on them what they did in the check's
    form (its ``assemble``), are hypotheses instead, and ε⁻ is the smaller number that the check gives, if it does.
    Source: Ghazi et al. 2024, Theorems 4.3 and 5.3; docs/one-sided.md, Theorems A, A′ and B. Formally: theorems
    ``repeated_exponential_plus``, ``repeated_exponential_minus``, ``repeated_threshold_plus``, ``threshold_has_no_minus``.

    Raises :class:`InvalidArgument` where the check is of another mechanism or refuted an assumption, or the domain is not the checked one.
    """
    _require_mechanism(mechanism)
    closed = _closes(mechanism, check, domain)
    source = f"{mechanism.source}; {_THEOREMS[type(mechanism)]}"
    if check is not None:
        source += f"; assumptions: no violation in {check.tried}"
    remove = to_exact(mechanism.epsilon0, "epsilon0")
    if isinstance(mechanism, RepeatedThreshold):
        declared = prove_losses(mechanism.name, Losses(remove, None), theorem=source, algorithm=mechanism, hypotheses=mechanism.hypotheses)
    else:
        add = mechanism.rounds * remove
        if closed and check is not None and check.spread is not None:
            add = min(add, mechanism.rate * check.spread)
        most = add if add <= MOST_EPSILON else None
        declared = prove_losses(mechanism.name, Losses(remove, most), theorem=source, algorithm=mechanism, hypotheses=mechanism.hypotheses)
    if not closed or check is None or domain is None:
        return declared
    for assumption in mechanism.assumptions:
        declared = discharge(declared, assumption, f"exhaustive check of the declared universe: {check.tried}")
    stated = [DATA_SETS.about(statement=domain.statement), CHECKED_FORM.about(statement=check.form_statement)]
    if domain.order_statement is not None:
        stated.insert(1, UNIVERSE_ORDER.about(statement=domain.order_statement))
    return assume(declared, stated)


def _require_mechanism(mechanism: object) -> None:
    if type(mechanism) not in _THEOREMS:  # a subclass may run something else
        raise InvalidArgument(
            f"a RepeatedExponential or RepeatedThreshold was expected, but {type(mechanism).__name__} was found; make one of them"
        )


def _closes(mechanism: RepeatedMechanism, check: AssumptionCheck | None, domain: FiniteDomain | None) -> bool:
    """Tell whether the check discharges the assumptions."""
    if check is None:
        if domain is not None:
            raise InvalidArgument("a declared universe discharges nothing without a check of it, but none was given; pass check")
        return False
    same = check.mechanism.select is mechanism.select and check.mechanism.rounds >= mechanism.rounds
    if type(check.mechanism) is not type(mechanism) or not same:
        raise InvalidArgument("the check is of another select or fewer rounds than the mechanism has; check the mechanism itself")
    if to_exact(check.mechanism.sensitivity, "the sensitivity") > to_exact(mechanism.sensitivity, "the sensitivity"):
        raise InvalidArgument("the check is of a larger sensitivity than the mechanism has; check the mechanism itself")
    if check.refuted:
        raise InvalidArgument(f"the theorem does not apply, as an assumption is refuted ({check.violations[0]}); change the scores")
    if domain is None:
        return False
    if domain != check.domain:
        raise InvalidArgument("the declared universe is not the one that was checked; check the universe of all data sets")
    return check.proved


class RepeatedAnswer(Answer[tuple[Any, ...]]):
    """One output with its guarantee. Nothing else depends on the data."""

    __slots__ = ()

    @property
    def outputs(self) -> tuple[Any, ...]:
        """What each round returned."""
        return self.output


@dataclass(frozen=True, slots=True, eq=False)
class SubsampledRepeated:
    """Claim: ``mechanism`` on a fresh Poisson sample of rate ``plan.p`` is ``plan.target``-DP (add/remove), under its assumptions.

    Made by :func:`subsampled_exponential` and :func:`subsampled_threshold`. All fields are public constants; ``base`` is the
    guarantee of this mechanism without a sample, as :func:`declare_repeated` derives it with ``check`` and ``domain``. A data set is
    a sequence of records or an array with a row for each; :meth:`run` gives select's functions a list, a tuple or an array of the selected
    ones, as the data set is.

    Source: Ghazi et al. 2024, Theorems 4.4 and 5.4; docs/one-sided.md, Theorem 1. Raises :class:`InvalidArgument` where the plan does
    not make this mechanism ``plan.target``-DP, and what :func:`declare_repeated` raises.
    """

    mechanism: RepeatedMechanism
    plan: OneSidedCalibration | RoundsCalibration
    check: AssumptionCheck | None = None
    domain: FiniteDomain | None = None
    base: Guarantee = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", declare_repeated(self.mechanism, check=self.check, domain=self.domain))
        self._cover(self.base)

    def _cover(self, base: Guarantee) -> Guarantee:
        """Return the guarantee of ``base`` on a sample. Raises :class:`InvalidArgument` where it is more than the plan's target."""
        covered = subsample(base, self.plan.p)
        bound = covered.bound
        if not isinstance(bound, Losses) or bound.epsilon is None or bound.epsilon > self.plan.target:
            raise InvalidArgument(
                "the plan is not about this mechanism (its epsilon0, its rounds); make it by subsampled_exponential or _threshold"
            )
        return covered

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one run in both directions, before it is known where the random numbers come from."""
        return subsample(self.base, self.plan.p)

    def run(self, data: Any, rng: object = None, *, bits: object = None, ledger: Analysis | None = None) -> RepeatedAnswer:
        """Return one output on a fresh sample, with its guarantee.

        ``bits`` is where the sample's random bits come from, ``rng`` those of the choices: None for the secure source of the operating
        system, a seed, a :class:`numpy.random.Generator`, or a bit source. Floating-point noise needs a generator. ``ledger``: an analysis
        with the unit of each record, ``ledger.analysis(name, ids)``; outputs are then numbers, texts and lists of them.
        Raises :class:`InvalidData` for what is not a sequence of records, :class:`InvalidArgument` for generators that repeat each other.
        """
        _require_mechanism(self.mechanism)
        runs = replace(self.mechanism)  # the guarantee is that of what runs, whatever the mechanism was when it was declared
        concluded = self._cover(declare_repeated(runs, check=self.check, domain=self.domain))
        sampler = PoissonSampler(bits)
        noise, hypothesis = _open_noise(runs, rng, sampler.source)
        promised = conclude_run(concluded, Run(noise=hypothesis, draws=sampler.source.hypothesis, known=ships(self)))

        def repeat(active: Booleans | None) -> Any:
            present = data if active is None else _restrict(data, active)
            return runs.run(_restrict(present, sampler.select(np.full(_count(present), self.plan.p))), noise)

        outputs, guarantee, charged = release_once(ledger, Promise(promised), _count(data), repeat, arguments=(self,))
        return RepeatedAnswer(tuple(outputs), guarantee, charged=charged)

    def sample(self, dataset: Any, rng: np.random.Generator, size: int) -> Integers:
        """Return ``size`` independent outputs, each on a sample of its own, as ``mechanism.sample`` does: what audits judge."""
        check_call(rng, size)
        count = _count(dataset)
        kept = PoissonSampler(rng).select(np.full(size * count, self.plan.p)).reshape(size, count)
        outputs = np.empty((size, self.mechanism.rounds), dtype=np.int64)
        masks, places = np.unique(kept, axis=0, return_inverse=True) if count else (kept[:1], np.zeros(size, dtype=np.intp))
        for number, mask in enumerate(masks):
            rows = np.flatnonzero(places.reshape(-1) == number)
            outputs[rows] = self.mechanism.sample(_restrict(dataset, mask), rng, len(rows))
        return outputs

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int) -> Integers:
        return self.sample(dataset, rng, size)


def _open_noise(mechanism: RepeatedMechanism, rng: object, source: BitSource) -> tuple[object, Hypothesis | str]:
    """Return what the choices are drawn with, and what has to be true of it."""
    exact = is_exact(mechanism)
    if not exact:
        check_call(rng, 1)
    noise = open_bits(rng)
    refuse_repeats(source, noise)
    return noise if exact else rng, noise.hypothesis


def subsampled_exponential(
    *,
    select: Any,
    rounds: int,
    sensitivity: object,
    epsilon: object,
    calibration: str = "optimal",
    arithmetic: Arithmetic | str = Arithmetic.EXACT,
    check: AssumptionCheck | None = None,
    domain: FiniteDomain | None = None,
) -> SubsampledRepeated:
    """Return the repeated exponential mechanism that is ``epsilon``-DP (nats, add/remove) on a Poisson sample.

    Public constants: ``select``, ``rounds`` and ``sensitivity`` as in :class:`~profiles.mechanisms.repeated.RepeatedExponential`;
    ``calibration`` "optimal" or "corollary" (ε₀ = log 2) as in :func:`calibrate_one_sided`, "rounds" as in :func:`calibrate_rounds`, which
    is better where there are few rounds; ``check`` and ``domain`` as in
    :func:`declare_repeated`. Source: Ghazi et al. 2024, Theorem 4.4. Raises what these raise.

    >>> mechanism = subsampled_exponential(select=lambda chosen: (2, lambda data: [len(data), 0]), rounds=1, sensitivity=1, epsilon=1)
    >>> float(mechanism.mechanism.epsilon0), float(mechanism.guarantee.bound.epsilon) <= 1
    (1.3132616875182228, True)
    """
    plan = calibrate_rounds(epsilon, rounds) if calibration == "rounds" else calibrate_one_sided(epsilon, choice=calibration)
    made = RepeatedExponential(
        select=select, rounds=rounds, epsilon0=plan.epsilon0, sensitivity=to_exact(sensitivity, "the sensitivity"), arithmetic=arithmetic
    )
    return SubsampledRepeated(made, plan, check, domain)


def subsampled_threshold(
    *,
    select: Any,
    rounds: int,
    sensitivity: object,
    epsilon: object,
    calibration: str = "optimal",
    arithmetic: Arithmetic | str = Arithmetic.EXACT,
    check: AssumptionCheck | None = None,
    domain: FiniteDomain | None = None,
) -> SubsampledRepeated:
    """Return repeated above-threshold that is ``epsilon``-DP (nats, add/remove) on a Poisson sample; arguments as above.

    Thresholds are compared with values of the sample, whose expectation is about ``plan.p`` times that of the data.
    Source: Ghazi et al. 2024, Theorem 5.4. Raises what :func:`subsampled_exponential` raises.

    >>> mechanism = subsampled_threshold(select=lambda answers: (len, 3), rounds=2, sensitivity=2, epsilon=1)
    >>> mechanism.run(["a", "b"], np.random.default_rng(2), bits=1).guarantee.bound.epsilon <= 1
    True
    """
    plan = calibrate_one_sided(epsilon, choice=calibration)
    made = RepeatedThreshold(
        select=select, rounds=rounds, epsilon0=plan.epsilon0, sensitivity=to_exact(sensitivity, "the sensitivity"), arithmetic=arithmetic
    )
    return SubsampledRepeated(made, plan, check, domain)


def _count(data: Any) -> int:
    if isinstance(data, np.ndarray) and data.ndim >= 1:
        return len(data)
    if isinstance(data, (list, tuple)):
        return len(data)
    raise InvalidData(f"a list, a tuple or an array of records was expected, but {type(data).__name__} was found; convert the data")


def _restrict(data: Any, kept: Booleans) -> Any:
    if isinstance(data, np.ndarray):
        return data[kept]
    chosen = [record for record, selected in zip(data, kept.tolist(), strict=True) if selected]
    return tuple(chosen) if isinstance(data, tuple) else chosen
