"""The audit of one pair of neighboring data sets."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from profiles.errors import InvalidArgument
from proofs_check.audit.claims import Claim
from proofs_check.audit.fixed import FixedAudit, Tested
from proofs_check.audit.guesses import Plan, choose_rules
from proofs_check.audit.limits import lower_limit, upper_limit
from proofs_check.audit.method import AuditKeywords, AuditMethod, Mode
from proofs_check.audit.neighbors import judge_neighbors
from proofs_check.audit.results import AuditResult, EventReport, Finding, Parts
from proofs_check.audit.runs import AuditedMechanism, Kind, LabelledStream, split
from proofs_check.audit.scores import Learner, Score
from proofs_check.audit.scores.interface import at_threshold
from proofs_check.audit.scores.one_dimension import place
from proofs_check.audit.sequential import SequentialAudit, next_batch
from proofs_check.exact import Bounds, ExactEpsilon

_LARGEST_BATCH, _LARGEST_TABLE = 1 << 16, 1 << 24
#: The share of the error that the sequential part gets where both run.
_SEQUENTIAL_SHARE = Fraction(1, 5)
#: Claims above are never refuted by bets, whatever is left of them as a float.
_LARGEST = Fraction(100)
#: Fresh outputs, at least and at most, on which an event is shown after a claim was refuted by bets.
_ILLUSTRATION = (1_000, 20_000)


def audit(
    mechanism: AuditedMechanism,
    dataset: Any,
    neighbor: Any,
    claim: Claim,
    *,
    rng: np.random.Generator,
    method: AuditMethod = AuditMethod(),  # noqa: B008 - it is frozen
    **changes: Unpack[AuditKeywords],
) -> AuditResult:
    """Return a lower confidence bound on ε(D, D′) and compare it with a claim.

    Claim: P(``epsilon_lower`` > ε(D, D′)) ≤ 1 − ``confidence`` if the outputs of a call are independent (docs/audit.md, Theorems 1 to 4).

    ``mechanism(dataset, rng, size)`` returns ``size`` outputs along the first axis. For a one-sided claim (add-DP) ``dataset`` is the
    larger one. The keywords are ``samples``, ``confidence``, ``mode``, ``effort``, ``statistic``, ``log_ratio``, ``time_limit``,
    ``own_randomness``, ``bits``, ``tests``, ``exact``, ``neighboring``, ``stop_when_refuted``, ``check_memory`` and ``progress``:
    the fields of :class:`AuditMethod`, which says what they mean; they come before those of ``method``.

    Raises :class:`InvalidArgument`, :class:`NotNeighbors`, and the errors of :mod:`proofs_check.audit.errors` for a mechanism that cannot
    be judged.

    >>> def noisy_sum(dataset, rng, size):  # noise of half the scale that ε = 1 needs
    ...     return sum(dataset) + rng.laplace(0, 0.5, size)
    >>> result = audit(noisy_sum, [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=5_000)
    >>> result.finding.value, result.epsilon_lower > 1
    ('violated', True)
    """
    started = time.perf_counter()
    method = replace(method, **changes)
    mode, effort = method.parts()
    level, alpha = method.error()
    change = method.change()
    pair = judge_neighbors(dataset, neighbor, method.neighboring, one_sided=claim.one_sided)
    of_sequential = {Mode.BOTH: _SEQUENTIAL_SHARE, Mode.FIXED: Fraction(0), Mode.SEQUENTIAL: Fraction(1)}[mode]
    seed = find_seed(rng)
    for_stream, for_fixed, for_sequential = split(rng, 3)
    stream = LabelledStream(
        mechanism,
        (dataset, neighbor),
        for_stream,
        time_limit=method.time_limit,
        own_randomness=method.own_randomness,
        change=change,
    )
    kind = stream.check(memory=method.check_memory)
    if method.log_ratio is not None and (kind.width != 1 or kind.symbols):
        raise InvalidArgument("the log-likelihood ratio must be one number for each output, but something else was found; return an array")
    scores = [_EXACT_RATIO] if method.log_ratio is not None else None
    total = 2 * int(method.samples)
    learners = [Learner(stream.reader, own, effort, method.bits) for own in (for_fixed, for_sequential)]
    fixed, sequential = None, None
    if of_sequential < 1:
        plan = Plan(total, alpha * (1 - of_sequential), claim.delta, claim.one_sided)
        fixed = FixedAudit(plan, kind=kind, learner=learners[0], scores=scores)
    if of_sequential > 0:
        claimed = float(min(claim.epsilon, _LARGEST))
        sequential = SequentialAudit(
            claimed, alpha * of_sequential, learner=learners[1], delta=claim.delta, one_sided=claim.one_sided, scores=scores
        )
    run = _Run(fixed, sequential, claim, alpha)
    run.draw(stream, kind, method)
    fixed, refuted_after = run.fixed, run.refuted_after
    outputs = stream.drawn
    stream.require_variation()
    stream.require_no_memory()
    tests_made = list(zip(fixed.bounds(), fixed.tested, strict=True)) if fixed is not None else []
    of_fixed, best = max(tests_made, key=lambda tried: tried[0], default=(None, run.shown))
    of_bets = sequential.bound() if sequential is not None else None
    bound = max(of_fixed or 0.0, of_bets or 0.0)
    return AuditResult(
        epsilon_lower=bound,
        claim=claim,
        finding=Finding.VIOLATED if Fraction(bound) > claim.epsilon else Finding.CONSISTENT,
        confidence=level,
        outputs=outputs,
        seconds=time.perf_counter() - started,
        mode=mode.value,
        fixed=of_fixed,
        sequential=of_bets,
        refuted_after=refuted_after,
        events=_report_events(best, alpha) if best is not None else (),
        right=best.counts.right if best is not None else 0,
        wrong=best.counts.wrong if best is not None else 0,
        rule=best.rule if best is not None else None,
        bets_on=sequential.best_score() if sequential is not None else None,
        trace=tuple(sequential.checkpoints) if sequential is not None else (),
        seed=seed,
        tests=method.tests,
        exact=_exact_bounds(method.exact, claim),
        reader=stream.reader,
        neighboring=pair,
        asked=total,
        parts=Parts(*fixed.sizes()) if fixed is not None else Parts(bets=outputs - _counted(best), shown=_counted(best)),
        memory=stream.memory if method.check_memory else "it was not asked for",
        same_on_both=stream.same_on_both,
    )


@dataclass(slots=True)
class _Run:
    """The parts that run on one stream of outputs, when the claim was refuted, and the event that is shown for that."""

    fixed: FixedAudit | None
    sequential: SequentialAudit | None
    claim: Claim
    alpha: Fraction
    refuted_after: int | None = None
    shown: Tested | None = None

    def draw(self, stream: LabelledStream, kind: Kind, method: AuditMethod) -> None:
        """Draw all outputs, or some more than were needed to refute the claim. No size of a part depends on what came out."""
        last = total = 2 * int(method.samples)
        while stream.drawn < last:
            most = min(_LARGEST_BATCH, max(64, _LARGEST_TABLE // kind.width), last - stream.drawn)
            if self.fixed is not None:
                most = min(most, self.fixed.next_border() or most)
            batch = stream.draw(next_batch(stream.drawn, most) if self.sequential is not None else most)
            if method.progress is not None:
                method.progress(stream.drawn)
            if self.fixed is not None:
                self.fixed.update(batch)
            if self.shown is not None:
                self.shown = self.shown.add(batch)
            if self.sequential is None:
                continue
            self.sequential.update(batch)
            if self.refuted_after is None and self.sequential.bound() > self.claim.epsilon:
                self.refuted_after = stream.drawn
                if method.stop_when_refuted:
                    last, self.fixed = min(total, stream.drawn + _illustrating(stream.drawn)), None
                if self.fixed is None:
                    self.shown = _choose_event(self.sequential, last - stream.drawn, self.claim, self.alpha)


def _illustrating(drawn: int) -> int:
    """Return on how many fresh outputs an event is shown where a run stops early."""
    return min(max(drawn, _ILLUSTRATION[0]), _ILLUSTRATION[1])


def _choose_event(sequential: SequentialAudit, fresh: int, claim: Claim, alpha: Fraction) -> Tested | None:
    """Return an event of the score whose bets refuted the claim, to be counted on outputs to come: the bound does not rest on it."""
    past, score = sequential.past(), sequential.winner()
    if past is None or score is None or fresh <= 0:
        return None
    rules = choose_rules([score], past, Plan(fresh, alpha, claim.delta, claim.one_sided))
    return Tested(max(rules, key=lambda rule: rule.promise), alpha) if rules else None


def _counted(shown: Tested | None) -> int:
    return 0 if shown is None else shown.counts.outputs


def find_seed(rng: np.random.Generator) -> int | None:
    """Return the seed from which ``numpy.random.default_rng`` makes this generator as it is now; None where there is none.

    Raises :class:`InvalidArgument` for anything but a generator.
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(f"a numpy.random.Generator was expected, but {type(rng).__name__} was found; pass default_rng()")
    sequence = getattr(rng.bit_generator, "seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    if not isinstance(entropy, int) or getattr(sequence, "n_children_spawned", None) != 0:
        return None
    fresh = np.random.default_rng(entropy).bit_generator
    return entropy if type(fresh) is type(rng.bit_generator) and fresh.state == rng.bit_generator.state else None


def _exact_bounds(exact: ExactEpsilon | Bounds | None, claim: Claim) -> Bounds | None:
    if not isinstance(exact, ExactEpsilon):
        return exact
    return exact.removing.epsilon if claim.one_sided else exact.symmetric


_EXACT_RATIO = Score("log-likelihood ratio", place(0), at_threshold("log-likelihood ratio"))


def _report_events(test: Tested, alpha: Fraction) -> tuple[EventReport, ...]:
    counts, made = test.counts, []
    of_first, of_second = counts.of_first, counts.outputs - counts.of_first
    for is_first, seen_first, seen_second in (
        (True, counts.right_first, counts.wrong_first),
        (False, counts.wrong_second, counts.right_second),
    ):
        words = test.rule.describe(first=is_first)
        if words is not None and of_first and of_second:
            first, second = _interval(seen_first, of_first, alpha), _interval(seen_second, of_second, alpha)
            made.append(EventReport(words, seen_first, of_first, seen_second, of_second, first, second))
    return tuple(made)


def _interval(seen: int, of: int, alpha: Fraction) -> tuple[float, float]:
    return (lower_limit(seen, of, alpha / 6), min(1.0, math.nextafter(upper_limit(seen, of, alpha / 6), 2.0)))
