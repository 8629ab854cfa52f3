"""The fixed-sample audit: learn on one part of the outputs, choose on the next, bound on the last (Theorems 1 and 2 of docs/audit.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from proofs_check.audit.guesses import POLICIES, POLICIES_FOR_FEW, Counts, GuessingRule, Plan, choose_rules
from proofs_check.audit.limits import epsilon_of_guesses
from proofs_check.audit.outputs import join
from proofs_check.audit.runs import Kind, LabelledBatch
from proofs_check.audit.scores import Learner, Score, learn_scores
from proofs_check.audit.scores.interface import quietly


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of the outputs that the three parts get; ``bound`` is the rest.

    ``again``: rules are chosen on the learning part as well. Where little is learned this hardly flatters a score, and soundness does not
    depend on it.
    """

    learn: float
    choose: float
    again: bool


#: For one number, for few different outputs, for vectors, and for small samples of any kind.
NUMBER, FEW = Shares(0.06, 0.22, again=False), Shares(0.26, 0.02, again=True)
VECTOR, SMALL = Shares(0.18, 0.17, again=False), Shares(0.25, 0.25, again=False)
_SMALL = 20_000
#: Numbers that a part that is kept may have.
_MOST_KEPT = 1 << 26


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """A guessing rule on the last part of the outputs: its right and wrong guesses, and its part of the error."""

    rule: GuessingRule
    alpha: Fraction
    counts: Counts = Counts()  # noqa: RUF009 - it is frozen

    def add(self, part: LabelledBatch) -> Tested:
        """Return the test with some more outputs."""
        return Tested(self.rule, self.alpha, self.counts.add(self.rule.guess(part.outputs), part.is_first))

    def bound(self, delta: Fraction) -> float:
        """Return the bound in nats that the counts prove at this level."""
        counts = self.counts
        if not counts.right:
            return 0.0
        slack = delta / 2 * self.rule.sides
        return epsilon_of_guesses(counts.right, counts.wrong, self.alpha, outputs=counts.outputs, slack=slack)


class FixedAudit:
    """Takes labelled outputs in batches as they come, and gives a bound at the end.

    ``plan``: all labelled outputs to come, and the error. ``scores`` replaces learning, for instance by the exact log-likelihood ratio; the
    learning part is then used for choosing.
    """

    def __init__(self, plan: Plan, *, kind: Kind, learner: Learner, scores: list[Score] | None = None) -> None:
        total = plan.outputs
        shares = SMALL if total <= _SMALL else FEW if kind.few_values else NUMBER if kind.width == 1 else VECTOR
        self._again = shares.again
        most = max(100, _MOST_KEPT // max(1, kind.width))
        self._learn = min(most, max(1, round(shares.learn * total))) if scores is None else 0
        self._choose_to = self._learn + min(most, max(1, round(shares.choose * total)))
        policies = POLICIES_FOR_FEW if kind.few_values else POLICIES
        self._plan = replace(plan, outputs=max(1, total - self._choose_to), policies=policies)
        self._learner = learner
        self._kept: list[LabelledBatch] = []
        self._width = kind.width
        self._seen = 0
        self._scores = scores
        self.tested: list[Tested] = []

    def next_border(self) -> int | None:
        """Return how many outputs the current part still takes; None in the last one. Parts get calls of their own by it."""
        border = self._learn if self._seen < self._learn else self._choose_to
        return border - self._seen if self._seen < border else None

    def update(self, batch: LabelledBatch) -> None:
        """Take the next outputs, which are divided among learning, choosing and counting by their place in the stream."""
        with quietly():
            self._split(batch)

    def _split(self, batch: LabelledBatch) -> None:
        start = 0
        while start < len(batch.is_first):
            border = self._learn if self._seen < self._learn else self._choose_to if self._seen < self._choose_to else math.inf
            stop = int(min(len(batch.is_first), start + border - self._seen)) if border != math.inf else len(batch.is_first)
            self._take(batch.take(slice(start, stop)) if (start, stop) != (0, len(batch.is_first)) else batch)
            start = stop

    def _take(self, part: LabelledBatch) -> None:
        self._seen += len(part.is_first)
        if self._seen > self._choose_to:
            self.tested = [test.add(part) for test in self.tested]
            return
        self._kept.append(part)
        if self._seen == self._learn:
            part = self._collect()
            self._width = part.outputs.width
            self._scores = learn_scores(part, self._learner)
            self._kept = [part] if self._again else []
        elif self._seen == self._choose_to:
            with quietly():  # once more: libraries that learning has loaded count now
                self._choose()

    def _choose(self) -> None:
        chosen_on = self._collect()
        scores = self._scores or []
        if not scores:
            return
        rules = choose_rules(scores, LabelledBatch(chosen_on.outputs.fit(self._width), chosen_on.is_first), self._plan)
        spare = 1 - sum((rule.share for rule in rules), Fraction(0))
        self.tested = [Tested(rule, self._plan.alpha * (rule.share + (spare if k == 0 else 0))) for k, rule in enumerate(rules)]

    def _collect(self) -> LabelledBatch:
        parts, self._kept = self._kept, []
        return LabelledBatch(join([part.outputs for part in parts]), np.concatenate([part.is_first for part in parts]))

    def bounds(self) -> list[float]:
        """Return the lower confidence bound on ε in nats that each tested rule proves, rounded down. Valid once all outputs have come."""
        return [test.bound(self._plan.delta) for test in self.tested]

    def sizes(self) -> tuple[int, int, int]:
        """Return how many outputs were learned from, chosen by, and counted: each is in one part only."""
        learned, chosen = min(self._seen, self._learn), min(self._seen, self._choose_to)
        return learned, chosen - learned, self._seen - chosen
