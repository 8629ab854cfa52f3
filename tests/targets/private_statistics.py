"""Statistics that are released and a sample that is drawn by them, under discrete noise, as programs that can be enumerated; broken twins.

What ships is run: the sums, the account, the plan made of the released numbers with its certified supremum, and the numbers (q, w) that the
sampler uses. Noise and coins ask the enumerator (tests/targets/private_kmeans.py has the noise). The mechanism on the sample says whether
its weighted count reaches a threshold, with geometric noise for ε(w, x) = w a.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from accountant.applications.budget.records import Domain, PrivateRecords
from accountant.applications.budget.spending import PureNoise, Spending
from accountant.applications.statistics.planning import BudgetedPlan, PreparedStatistics, plan_within, prepare
from accountant.applications.statistics.releasing import Moment, ReleasedStatistics, _Powers
from accountant.applications.statistics.requests import SampleRequest
from accountant.data import parse_statistic
from accountant.data.arrays import ArraySource
from accountant.data.clipping import clip_rows
from accountant.samples.once import Mechanisms
from profiles import Profile, declare
from profiles.variables import Statistic
from proofs_check.exact import Choices
from tests.targets.private_kmeans import Program, ThresholdNoise

_LARGEST = Fraction(2)
#: The weighted count is in sixteenths.
_STEPS = 16
UNIVERSE = (1, 2)
EPSILON, STATISTICS = Fraction(2), Fraction(1)
#: A rational at or above e^(−0.9/16): a sixteenth of ε(1, x) = 9/10.
_ALPHA = Fraction(94531, 10**5)


@cache
def declare_count() -> Profile:
    """Return ε(w, x) = 0.9 w for records of norms in [0, 2]."""
    return declare("weighted count with two answers", "9*w/10 + 0*z", record={"z": (0, _LARGEST)})


@cache
def _prepare(rule: str | None, size: int | None, statistics: Fraction, epsilon: Fraction) -> PreparedStatistics:
    profile = declare_count()
    request = SampleRequest.of(profile, epsilon, statistics, rule, None if size is None else {"m": size})
    return prepare(Mechanisms.of(profile), request)


@cache
def _plan(rule: str | None, size: int | None, statistics: Fraction, count: Fraction, total: Fraction | None) -> BudgetedPlan:
    return plan_within(_prepare(rule, size, statistics, EPSILON), ReleasedStatistics(count, total, ()))


def _answer(total: float, choose: Choices) -> bool:
    """Tell whether the weighted count reaches 6, of which every record has its weight in sixteenths, truncated."""
    steps = 6 * _STEPS - int(total)
    above = _ALPHA**steps / (1 + _ALPHA) if steps > 0 else 1 - _ALPHA ** (1 - steps) / (1 + _ALPHA)
    return bool(choose({True: above, False: 1 - above}))


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The whole, and its twins: ``exact_count``: ñ is n; ``free``: the plan is made as if statistics cost nothing; ``own_range``: the range
    is the largest norm of the data; ``answers``: how often the one sample is asked.
    """

    rule: str | None = "coreset-l2"
    size: int | None = 1
    exact_count: bool = False
    free: bool = False
    own_range: bool = False
    answers: int = 1

    def __call__(self, records: tuple[int, ...], choose: Choices) -> tuple[object, ...]:
        rows = np.array(records, dtype=np.float64).reshape(-1, 1)
        request = _prepare(self.rule, self.size, STATISTICS, EPSILON).request
        count, total, seen = self._release(rows, request, choose)
        # a twin plans as if nearly the whole budget were the sample's
        plan = _plan(self.rule, self.size, STATISTICS / 100 if self.free else STATISTICS, count, total)
        if len(rows):
            found = plan.plan.selector.select({"z": np.abs(rows[:, 0])})
            kept = np.array([choose.coin(Fraction(float(q))) for q in found.probabilities], dtype=np.bool_)
            weight = float(np.trunc(found.weights[kept] * _STEPS).sum())
        else:
            weight = 0.0
        return (*seen, *(_answer(weight, choose) for _ in range(self.answers)))

    def _release(self, rows: Any, request: SampleRequest, choose: Choices) -> tuple[Fraction, Fraction | None, list[float]]:
        """Return the released numbers, of which there are two of each kind, by the sums and the account that ship."""
        seen: list[float] = []
        moment = request.moment
        if self.own_range and moment is not None:
            most = Fraction(float(np.abs(rows).max(initial=1.0)))
            moment = Moment(Statistic("z", Fraction(0), most), moment.exponent)
        law = ThresholdNoise(PureNoise(request.statistics), seen)
        reach = Fraction(1) if moment is None else moment.reach
        source: Any = _Rows() if not len(rows) else clip_rows(ArraySource(None, 10, rows), declare_count(), [parse_statistic("z=l2")])
        access = PrivateRecords(_Powers(source, moment), Domain(np.zeros(1), reach), Spending(law), choose)  # type: ignore[arg-type]
        count = float(len(rows)) if self.exact_count else access.count(request.costs.records)
        total = None if moment is None else float(access.add_up(request.costs.total)[0][0])
        if self.own_range:
            seen.append(float(reach))
        shown = [count, *([] if total is None else [total])]
        return Fraction(count), None if total is None else Fraction(total), [*shown, *seen]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """No record: a file has one, but a neighboring data set may have none."""

    specs: tuple[Any, ...] = ()

    def batches(self, specs: Any) -> Any:
        del specs
        return iter(())


SOUND: dict[str, Pipeline] = {
    "uniform": Pipeline("uniform", 1),
    "coreset": Pipeline("coreset-l2", 1),
    "privacy-constrained": Pipeline(None, None),
}
BROKEN: dict[str, Program] = {
    "n used exactly": replace(SOUND["coreset"], exact_count=True),
    "the range from the data": replace(SOUND["coreset"], own_range=True),
    "statistics not paid for": replace(SOUND["uniform"], free=True),
    "a sample used twice": replace(SOUND["coreset"], answers=2),
}
