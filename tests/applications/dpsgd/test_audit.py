"""One step of DP-SGD under the audit: the right claim stands, and claims about broken steps are refuted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from accountant.applications.dpsgd.losses import RecordColumns, lengths, residuals
from accountant.applications.dpsgd.noise import compose_steps
from accountant.applications.dpsgd.plan import DPSGDPlan, dp_sgd_plan
from accountant.applications.dpsgd.training import ExactNoise, Schedule, Trainer
from accountant.compositions.queries import point_at_epsilon
from profiles.arrays import Floats
from profiles.randomness.bernoulli import PoissonSampler
from proofs_check.audit.api import audit
from proofs_check.audit.claims import Claim
from proofs_check.audit.results import Finding
from tests.applications.dpsgd.curves_by_hand import going

#: One record beside two others: its gradient is five times the clipping norm at Θ = 0.
PAIR = (np.array([[10.0], [0.4], [-0.6]]), np.array([[0.4], [-0.6]]))
PLAN = dp_sgd_plan(1, 1, "norm", rate="1/4", clip=1, delta="1e-3")


@dataclass(frozen=True)
class Step:
    """Releases of one step at Θ = 0, by the trainer that ships; a broken one changes what is marked."""

    plan: DPSGDPlan = PLAN
    noise_share: Fraction = Fraction(1)  # of the noise that is due
    clipped: bool = True
    all_kept: bool = False  # every record, with the weight 1/q all the same

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int) -> Floats:
        points = np.asarray(dataset, dtype=np.float64).reshape(-1, 1)
        records = RecordColumns.of(points, np.ones(len(points), dtype=np.intp), intercept=False)
        trainer = Trainer(self.plan, Schedule(1.0, 0.0, 1.0), 2)
        noise = ExactNoise.open(replace(self.plan, noise=self.plan.noise * self.noise_share), rng)
        sampler, theta = PoissonSampler(rng), np.zeros((1, 1))
        found = residuals(records, theta)
        q = trainer._probabilities(records, found)
        outputs = np.empty(size)
        for index in range(size):
            if self.clipped and not self.all_kept:
                outputs[index] = trainer.step(records, theta, sampler, noise)[0, 0]
                continue
            kept = np.flatnonzero(np.ones(len(q), dtype=bool) if self.all_kept else sampler.select(q))
            rows = trainer.weigh(records.take(kept), found[:, kept], q[kept])
            outputs[index] = noise(rows if self.clipped else self._long(records.take(kept), found[:, kept], q[kept]), 1)[0]
        return outputs

    @staticmethod
    def _long(part: RecordColumns, found: Floats, q: Floats) -> Iterator[Floats]:
        scaled = found / q * part.values
        yield np.ascontiguousarray(scaled.T) if len(lengths(found)) else np.zeros((0, 1))


def claim_of(plan: DPSGDPlan, epsilon: str) -> Claim:
    upper = point_at_epsilon(compose_steps(plan.noise, plan.rate, 1), Fraction(epsilon), Fraction(1, 100)).upper
    return Claim(epsilon, Fraction(f"{float(upper) * 1.0001:.6g}"))


def test_what_is_broken_is_beyond_the_claim():
    """The pairs of the record that stands out, in closed form: only the right step is within its claim."""
    q0, growth, claimed = mpf(1) / 4, mpmath.exp(mpf(1) / 2), mpf(float(claim_of(PLAN, "1/2").delta))
    assert going(q0, mpf(1), growth) <= claimed
    for q, mu in ((q0, 1 / q0), (q0, mpf(5)), (q0, mpf(2)), (mpf(1), mpf(1))):  # as in the names below
        assert going(q, mu, growth) > 1.5 * claimed


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", ["1/10", "1/2"])
def test_a_step_keeps_its_claim(epsilon):
    result = audit(Step(), *PAIR, claim_of(PLAN, epsilon), rng=np.random.default_rng(1), samples=4_000)
    assert result.finding is not Finding.VIOLATED


@pytest.mark.thorough
@pytest.mark.parametrize(
    "broken",
    [Step(noise_share=PLAN.rate), Step(clipped=False), Step(noise_share=Fraction(1, 2)), Step(all_kept=True)],
    ids=["noise for the unweighted gradient", "clipping forgotten", "half the noise", "all records kept, with weights"],
)
def test_a_broken_step_is_refuted(broken):
    result = audit(broken, *PAIR, claim_of(PLAN, "1/2"), rng=np.random.default_rng(1), samples=4_000, stop_when_refuted=True)
    assert result.finding is Finding.VIOLATED
