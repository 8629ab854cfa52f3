"""How a sample is drawn by released statistics, for everything together within one budget that is fixed before any record is read.

Statement (docs/sampling.md, Theorem 6). Let c(z) be what the statistics s cost a record, E a number, and for every s that can
be released let the rule q made of s have

    c(z) + ψ(x; s) ≤ E for every record x,   ψ = log(1 + q(x; s)(e^{ε(1/q(x; s), x)} − 1)).

Then the statistics, and one run of the mechanism on the one sample that q draws, are E-differentially private.

The rule: q = min(1, g·(λ m/ñ + (1 − λ) m z^e/Z̃)) with ñ ≥ 1 and Z̃ between ñ hi^e/2²⁰ and ñ hi^e, so that 0 < q ≤ 1 whatever was released,
and with the smallest g ≥ 1 that is found for which the inequality is certified. There is always one: q = 1, for which it is proved before
any record is read. ``privacy-constrained`` weights have ψ ≤ E − sup c by their definition.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.amplification import amplify_array
from accountant.applications.budget.concluding import bound_costs
from accountant.applications.statistics.releasing import LEAST_MEAN, ReleasedStatistics
from accountant.applications.statistics.requests import CONSTRAINED, UNIFORM, SampleRequest
from accountant.guarantees.derive import DerivedEpsilon
from accountant.samples.once import Mechanisms
from accountant.samples.plan import SamplingPlan, plan_sample
from accountant.selection.select import ROUNDED
from accountant.weights.fast.compiled import CompiledTerm
from profiles import (
    Infeasible,
    InvalidSampling,
    PDPError,
    Profile,
    Undecided,
    decimal_text,
    declare,
    exact_text,
    to_exact,
)
from profiles.arrays import Floats
from profiles.terms import Term, number, substitute, to_text
from profiles.variables import MAX_NAME, WEIGHT

_PAGE = "docs/sampling.md"
_DIGITS = 12  # of the constants of a rule
_GRID = 2001
_STEP = 2 ** (1 / 16)
_TRIES, _WIDER = 8, Fraction(1001, 1000)


@dataclass(frozen=True, slots=True)
class BudgetedPlan:
    """How one sample is drawn: the ``request``, what was ``released``, the rates times ``raised`` g, and the ``plan`` of the sampler.

    ``whole`` is the certified worst case of statistics and sample together, one supremum over all records; None where
    the sum of the two suprema is within the budget by definition (privacy-constrained weights, or an ε that may fall in w).
    ``expected``: about the size of the sample, from released numbers, which may be published; None where it is not known.
    """

    request: SampleRequest
    released: ReleasedStatistics
    raised: Fraction
    plan: SamplingPlan
    whole: DerivedEpsilon | None
    expected: float | None


@dataclass(frozen=True, slots=True)
class CertifiedPlan:
    """A plan of the sampler that is within the budget: by one supremum ``whole``, or, where that is None, by the sum of two."""

    plan: SamplingPlan
    whole: DerivedEpsilon | None


@dataclass(frozen=True, slots=True)
class PreparedStatistics:
    """What is known before any record is read. ``last``: a plan that is within the budget whatever is released; it is the one for
    privacy-constrained weights, or uses every record.
    """

    mechanisms: Mechanisms
    request: SampleRequest
    last: CertifiedPlan


def prepare(mechanisms: Mechanisms, request: SampleRequest) -> PreparedStatistics:
    """Return a request that every release can be followed by. Raises :class:`Infeasible` where even q = 1 for all records costs too much,
    and what planning raises.
    """
    if request.rule == CONSTRAINED:
        plan = plan_sample(mechanisms, target_epsilon=request.epsilon - request.statistics)
        return PreparedStatistics(mechanisms, request, CertifiedPlan(plan, None))
    last = _certify(plan_sample(mechanisms, rule=UNIFORM, constants={"rate": 1}), request)
    if last is None:
        raise Infeasible(
            f"a target epsilon of {exact_text(request.epsilon)[:40]} was given, but the statistics and the mechanism on every record are "
            "not proved to be within it already; raise the target, or the noise of the mechanism"
        )
    return PreparedStatistics(mechanisms, request, last)


def describe_whole(profile: Profile, request: SampleRequest, q: Term) -> Profile:
    """Return the profile w (c(z) + ψ(x)) of the statistics and the sample by ``q`` together, for records that are used once (w = 1).

    >>> from fractions import Fraction
    >>> base = declare("sum", "w*z", record={"z": (0, 2)})
    >>> request = SampleRequest.of(base, 5, "1/2", "uniform", {"m": 10})
    >>> describe_whole(base, request, number(Fraction(1, 4))).text
    'w*(c_n + log(1 + 0.25*(exp(1/0.25*z) - 1)))'
    """
    inner = to_text(substitute(profile.numeric_epsilon(), {WEIGHT: ("div", number(1), q)}))
    cost, parameters = _write_costs(profile, request)
    return declare(
        f"statistics, then a sample for {profile.name}"[:MAX_NAME],
        f"w*({cost} + log(1 + ({to_text(q)})*(exp({inner}) - 1)))",
        record={item.name: (item.lo, item.hi) for item in profile.record},
        parameters=parameters,
        source=f"{_PAGE}, Theorem 6",
    )


def describe_costs(profile: Profile, request: SampleRequest) -> Profile:
    """Return the profile w c(z) of the statistics alone."""
    cost, parameters = _write_costs(profile, request)
    ranges = {item.name: (item.lo, item.hi) for item in profile.record}
    return declare(
        f"statistics for {profile.name}"[:MAX_NAME], f"w*({cost})", record=ranges, parameters=parameters, source=f"{_PAGE}, Theorem 5"
    )


def _write_costs(profile: Profile, request: SampleRequest) -> tuple[str, dict[str, Fraction]]:
    """Return c(z) as text, with its parameters."""
    taken = {item.name for item in profile.record}
    records, total = _free("c_n", taken), _free("c_z", taken)
    costs, moment = request.costs, request.moment
    if moment is None:
        return records, {records: costs.records}
    text = f"{records} + {total}*{moment.statistic.name}**{moment.exponent}/({exact_text(moment.reach)})"
    return text, {records: costs.records, total: costs.total}


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def make_constants(request: SampleRequest, count: Fraction, total: Fraction | None, raised: Fraction) -> dict[str, Fraction]:
    """Return the constants of a rule with a size: ``rate``, or ``base`` and ``slope``; positive, whatever was released.

    The sum of z^e is taken to be at least 2^−20 of what it can be; here (1 − 1/2)·10/(400·2^−20).

    >>> base = declare("sum", "w*z", record={"z": (0, 2)})
    >>> request = SampleRequest.of(base, 5, "1/2", "coreset-l2", {"m": 10, "lam": "1/2"})
    >>> {name: str(value) for name, value in make_constants(request, Fraction(100), Fraction(-3), Fraction(1)).items()}
    {'base': '1/20', 'slope': '65536/5'}
    """
    rows = max(Fraction(1), count)
    whole = Fraction(request.size or 1) * raised
    if request.moment is None or request.mixing is None:
        return {"rate": min(Fraction(1), _shorten(whole / rows))}
    most = rows * request.moment.reach
    denominator = min(max(total or Fraction(0), most * LEAST_MEAN), most)
    base = min(Fraction(1), _shorten(request.mixing * whole / rows))
    if request.mixing == 1 or base == 1:
        return {"rate": base}
    return {"base": base, "slope": _shorten((1 - request.mixing) * whole / denominator)}


def _shorten(value: Fraction) -> Fraction:
    """Return a positive number with few decimal digits, not above ``value``."""
    return to_exact(decimal_text(value, _DIGITS, round_up=False))


def write_rule(request: SampleRequest, constants: Mapping[str, Fraction]) -> tuple[str | None, str | None]:
    """Return the name of the rule, or the expression of q, as :func:`accountant.samples.plan_sample` takes it."""
    if "rate" in constants or request.moment is None:
        return UNIFORM, None
    z, reach = request.moment.statistic.name, request.moment.reach
    q = f"base + slope*{z}**{request.moment.exponent}"
    return None, f"Min(1, {q})" if constants["base"] + constants["slope"] * reach > 1 else q


def plan_within(prepared: PreparedStatistics, released: ReleasedStatistics) -> BudgetedPlan:
    """Return the plan for released statistics: a function of these and of arguments."""
    request = prepared.request
    raised, plan = Fraction(1), prepared.last
    if request.rule != CONSTRAINED:
        raised, plan = next(_search(prepared, released), (_whole(request, released), prepared.last))
    typical = _typical(request, released)
    return BudgetedPlan(request, released, raised, plan.plan, plan.whole, _expect(plan.plan, released, typical))


def _search(prepared: PreparedStatistics, released: ReleasedStatistics) -> Iterator[tuple[Fraction, CertifiedPlan]]:
    """Yield factors g of the rates with plans that are certified."""
    request = prepared.request
    for raised in _propose(prepared.mechanisms.profile, request, released):
        constants = make_constants(request, released.count, released.total, raised)
        name, q = write_rule(request, constants)
        with contextlib.suppress(Undecided, InvalidSampling):  # nothing is proved for this one; the last one is proved already
            plan = _certify(plan_sample(prepared.mechanisms, rule=name, q=q, constants=constants), request)
            if plan is not None:
                yield raised, plan


def _certify(plan: SamplingPlan, request: SampleRequest) -> CertifiedPlan | None:
    """Return a plan with its one supremum where that is within the budget, or without where the sum of two is; None where neither is."""
    if plan.rule.q is not None and plan.method == ROUNDED:
        whole = bound_costs(describe_whole(plan.profile, request, plan.rule.q))
        return CertifiedPlan(plan, whole) if whole.bound.upper <= request.epsilon and whole.bound.evidence.checked_by_kernel else None
    return CertifiedPlan(plan, None) if plan.checked and plan.epsilon + request.statistics <= request.epsilon else None


def _propose(profile: Profile, request: SampleRequest, released: ReleasedStatistics) -> Iterator[Fraction]:
    """Yield factors g of the rates: about the smallest for which floating point finds the budget kept, and some larger ones."""
    kept = _judge(profile, request, released)
    most = _whole(request, released)
    low, high = Fraction(1), Fraction(1)
    while high < most and not kept(high):
        low, high = high, min(most, _round(float(high) * _STEP))
    if high > low and high < most:
        for _ in range(_TRIES):
            middle = _round(float(low + high) / 2)
            low, high = (low, middle) if kept(middle) else (middle, high)
    for _ in range(_TRIES):
        if high >= most:
            break
        yield high
        high *= _WIDER


def _round(value: float) -> Fraction:
    return Fraction(math.ceil(value * 10**6), 10**6)


def _whole(request: SampleRequest, released: ReleasedStatistics) -> Fraction:
    """Return a g from which on q = 1 for all records."""
    rows = max(Fraction(1), released.count)
    return max(Fraction(1), Fraction(math.ceil(rows / ((request.mixing or 1) * (request.size or 1)) * 2)))


def _judge(profile: Profile, request: SampleRequest, released: ReleasedStatistics) -> Callable[[Fraction], bool]:
    """Return what tells in floating point, on a grid, whether a g keeps the budget: a guess, which is certified afterwards."""
    points = _make_grid(profile)
    compiled = CompiledTerm(profile.numeric_epsilon())
    moment, costs = request.moment, request.costs
    shares = np.zeros(1) if moment is None else (points[moment.statistic.name] / float(moment.statistic.hi)) ** moment.exponent
    paid = float(costs.records) + float(costs.total) * shares

    def keeps(raised: Fraction) -> bool:
        constants = make_constants(request, released.count, released.total, raised)
        if moment is None or "rate" in constants:
            q = np.full(next(iter(points.values())).shape, float(constants["rate"]))
        else:
            q = np.minimum(1.0, float(constants["base"]) + float(constants["slope"] * moment.reach) * shares)
        with np.errstate(all="ignore"):
            values = np.broadcast_to(np.asarray(compiled.values({**points, WEIGHT: 1 / q})), q.shape)
            spent = paid + amplify_array(np.maximum(values, 0.0), q)
        return bool(np.all(np.isfinite(values)) and spent.max() <= float(request.epsilon) * (1 - 2e-9))

    return keeps


def _make_grid(profile: Profile) -> dict[str, Floats]:
    """Return points of the declared ranges: a line of one statistic, a mesh of several."""
    each = _GRID if len(profile.record) == 1 else max(3, round(_GRID ** (1 / len(profile.record))))
    lines = [np.linspace(float(item.lo), float(item.hi), each) for item in profile.record]
    return {item.name: axis.ravel() for item, axis in zip(profile.record, np.meshgrid(*lines, indexing="ij"), strict=True)}


def _typical(request: SampleRequest, released: ReleasedStatistics) -> float | None:
    """Return the norm of a typical record, (Z̃/ñ)^(1/e), within its range; None where no total was released."""
    if request.moment is None or released.total is None:
        return None
    item = request.moment.statistic
    mean = max(0.0, float(released.total / max(Fraction(1), released.count)))
    norm = math.pow(mean, 1 / request.moment.exponent)
    return min(max(norm, float(item.lo)), float(item.hi))


def _expect(plan: SamplingPlan, released: ReleasedStatistics, typical: float | None) -> float | None:
    """Return about the size of the sample: ñ q at a typical record; statistics beside the norm are taken in the middle of their range."""
    count = max(1.0, float(released.count))
    middle = {item.name: float(item.lo + item.hi) / 2 for item in plan.profile.record}
    if typical is not None and len(middle) == 1:
        middle = dict.fromkeys(middle, typical)
    try:
        q = plan.selector.select({name: np.array([value]) for name, value in middle.items()}).probabilities
    except PDPError:
        return None
    return count * float(q[0])
