"""What a test calls: assertions that verify a profile and audit an implementation, and spend the error of the test."""

from __future__ import annotations

import inspect
import itertools
import math
import mmap
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from accountant.testing.candidates import Candidates
from accountant.testing.entries import ClaimEntry
from accountant.testing.errors import ClaimRefuted, ClaimTooLarge, NotAudited, NotRefuted
from accountant.testing.settings import AuditSettings, Budget
from accountant.testing.visibility import is_visible, largest_bound, samples_needed
from accountant.testing.wording import (
    describe_difference,
    describe_event,
    name_claim,
    name_mechanism,
    name_profile,
    shorten_data,
)
from profiles.errors import InvalidArgument, InvalidProfile, NotNeighbors, PDPError, Undecided
from profiles.numbers import ExactLike, decimal_text, to_integer
from profiles.private import reveal
from profiles.profile import Profile
from profiles.randomness.forks import mark_process
from proofs_check.admission import admit
from proofs_check.audit.api import audit
from proofs_check.audit.claims import Claim
from proofs_check.audit.errors import (
    ConstantOutputs,
    DifferentConstants,
    MechanismHangs,
    MechanismRaised,
    SharedGenerator,
    StatefulMechanism,
    UnusableOutputs,
)
from proofs_check.audit.neighbors import Relation
from proofs_check.audit.pairs import Pair
from proofs_check.audit.report import Circumstances, bound_texts, render
from proofs_check.audit.results import AuditResult, Finding
from proofs_check.conditions.consequences import NEEDS, THEOREM_10
from proofs_check.results import Decision, Verdict
from proofs_check.verify import verify

#: What Theorem 10 (Fay et al. 2024) needs: what is verified where a target is given and nothing is named.
CONDITIONS = NEEDS[THEOREM_10]
#: Why nothing is asserted in a process that the test forked.
ELSEWHERE = (
    "it was asserted in a process that the test had forked, where nobody sees what is refuted, and whose outputs are those of another "
    "assertion; assert in the process of the test"
)
_LEAST = Fraction(1, 10**200)
_UNUSABLE = (MechanismRaised, MechanismHangs, UnusableOutputs, SharedGenerator, StatefulMechanism, ConstantOutputs)


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """What an assertion that passed rests on: the decided conditions, and the audits. It never means that the claim is true."""

    decisions: tuple[Decision, ...] = ()
    audits: tuple[tuple[Pair, AuditResult], ...] = ()


@dataclass(frozen=True, slots=True)
class _Assertion:
    """One assertion: what it is about, its error, the outputs on each data set, and the options of its audits."""

    label: str
    error: Fraction
    rng: np.random.Generator
    samples: int
    options: dict[str, Any]


class ClaimChecker:
    """The object behind the fixture ``pdp``: every assertion spends a share of the error of ``budget``, and tells ``note`` what it found.

    Claim: the probability that any assertion refutes a true claim is at most ``budget.error``, if the outputs of a call are independent.
    Proof: the k-th assertion has the error budget.of_assertion(k), divided among its pairs, which are chosen before the mechanism is run;
    each audit refutes a true claim with at most the error that it is given (docs/audit.md, Theorems 1 to 3); the shares add up.

    ``show`` gets the evidence of a failure; without it, the evidence is a note of the exception (PEP 678). ``refuted`` is told of every
    refuted claim when it is found, so that a test which swallows the assertion can fail as well.

    In a forked process every assertion is refused: it would spend the share of one of the process that made this object, which does not
    see what becomes of it there. ``used_elsewhere`` says in that process that this was tried.
    """

    def __init__(
        self,
        budget: Budget,
        settings: AuditSettings | None = None,
        *,
        note: Callable[[ClaimEntry], None] | None = None,
        show: Callable[[str], None] | None = None,
        refuted: Callable[[str], None] | None = None,
    ) -> None:
        self._budget, self._settings = budget, settings or AuditSettings()
        self._note, self._show, self._refuted = note or (lambda _: None), show, refuted or (lambda _: None)
        self._expected: int | None = None  # inside of expects_refutation, the number of refutations so far
        self._process = mark_process()
        self._elsewhere = mmap.mmap(-1, 1)  # shared with forked processes
        self._numbers = itertools.count(1)  # next() is atomic: two threads never get the share of the same assertion

    @property
    def used_elsewhere(self) -> bool:
        """Whether an assertion was tried in a process that was forked from the one that made this object."""
        return self._elsewhere[0] != 0

    def assert_satisfies(
        self,
        mechanism: Any,
        profile: Profile | None = None,
        *,
        target_epsilon: ExactLike | None = None,
        conditions: Sequence[str] | None = None,
        statistic: Any = None,
        dimension: int | None = None,
        weighted: bool = True,
        one_sided: bool = False,
        min_size: int = 0,
        records: Sequence[Any] | None = None,
        pairs: int | None = None,
        samples: int | None = None,
        **options: Any,
    ) -> Satisfaction:
        """Assert that nothing refutes the PDP profile of a mechanism (its own by default).

        First the profile: ε is real, finite and not negative on the whole domain (proved, or refuted with a witness); with
        ``target_epsilon`` also ``conditions`` (by default assumption-8 and assumption-9-nonzero, which Theorem 10 needs). Then the
        implementation: audits on ``pairs`` generated pairs of data sets that differ by one weighted record, each against ε(w, x) of that
        record, with ``samples`` outputs on each.

        ``mechanism(dataset, rng, size)`` is one of the catalogue or any callable; it gets data sets ``(data, weights)``, or arrays alone
        with ``weighted`` False (then w = 1). ``dimension`` None: records are numbers, data has shape (n,), else (n, d). ``statistic`` maps
        records, shape (n, d), to the statistics (or ``"l1"``, ``"l2"``, ``"linf"``); by default the mechanism's own method, else |x|.
        ``one_sided``: add-DP. ``min_size``: data sets are no smaller. ``records``: those that may differ. ``options`` go to the audit.

        Raises :class:`ClaimRefuted`, :class:`NotAudited`, :class:`InvalidArgument`.
        """
        __tracebackhide__ = True
        promised = _profile_of(mechanism, profile)
        count = to_integer(self._settings.pairs if pairs is None else pairs, "the number of pairs", 1, 1_000)
        assertion = self._begin(name_profile(promised), count, samples, options)
        source = Candidates.of(
            mechanism, promised, statistic, dimension, weighted=weighted, one_sided=one_sided, min_size=min_size, records=records
        )
        decisions = self._verify(promised, target_epsilon, conditions)
        made = source.make(assertion.rng.spawn(1)[0], count)
        return Satisfaction(decisions, tuple(self._audit_all(mechanism, made, assertion)))

    def assert_epsilon(
        self,
        mechanism: Any,
        epsilon: ExactLike | Claim,
        dataset: Any,
        neighbor: Any,
        *,
        delta: ExactLike = 0,
        samples: int | None = None,
        neighboring: Relation | str = Relation.ADD_REMOVE,
        **options: Any,
    ) -> AuditResult:
        """Assert that nothing refutes (ε, δ)-indistinguishability of the outputs on one pair, in both directions.

        ``epsilon`` is an exact number of nats, or a :class:`~proofs_check.audit.Claim`. The data sets are whatever the mechanism takes.
        ``neighboring``: what the claim calls neighbors, one record more or less, ``"replace-one"``, or ``"stated"`` on your word; the same
        data sets, and others than the claim is about, are :class:`NotAudited`.
        ``options`` go to :func:`proofs_check.audit.audit`. Raises :class:`ClaimRefuted`, :class:`NotAudited`, :class:`InvalidArgument`.
        """
        __tracebackhide__ = True
        if isinstance(epsilon, Claim):
            if delta:
                raise InvalidArgument("a claim and a delta were both given, but a claim has its own; give it there")
            claim = epsilon
        else:
            claim = Claim(epsilon, delta)
        _require_signature(mechanism)
        pair = Pair(dataset, neighbor, claim, describe_difference(dataset, neighbor), neighboring)
        ((_, result),) = self._audit_all(mechanism, [pair], self._begin(name_claim(claim), 1, samples, options))
        return result

    def assert_add_dp(
        self,
        mechanism: Any,
        epsilon: ExactLike,
        larger: Any,
        smaller: Any,
        *,
        delta: ExactLike = 0,
        samples: int | None = None,
        **options: Any,
    ) -> AuditResult:
        """Assert that nothing refutes the one-sided claim P(M(larger) ∈ S) ≤ e^ε P(M(smaller) ∈ S) + δ for all S (add-DP).

        Source: Ghazi et al. 2024, Definition 1.7. Raises as :meth:`assert_epsilon`; :class:`InvalidArgument` also where the data sets can
        be counted and the first is not the larger one.
        """
        __tracebackhide__ = True
        sizes = _size(larger), _size(smaller)
        if None not in sizes and sizes[0] != (sizes[1] or 0) + 1:
            raise InvalidArgument(
                f"a one-sided claim needs the data set with the record first, but data sets of {sizes[0]} and {sizes[1]} records were "
                "found; give the larger one first, with exactly one record more"
            )
        return self.assert_epsilon(mechanism, Claim(epsilon, delta, one_sided=True), larger, smaller, samples=samples, **options)

    @contextmanager
    def expects_refutation(self) -> Iterator[None]:
        """Expect that an assertion inside refutes a claim: for an implementation that is known to be wrong. That is then no failure.

        Without this a refuted claim fails the test, also where the assertion is caught. Raises :class:`NotRefuted` where none is refuted.
        """
        __tracebackhide__ = True
        outer, self._expected = self._expected, 0
        try:
            with suppress(ClaimRefuted):
                yield
            seen = self._expected
        finally:
            self._expected = outer
        if not seen:
            raise NotRefuted("a claim was expected to be refuted, but none was; give more samples or another pair, or expect nothing")

    def _begin(self, label: str, pairs: int, samples: int | None, options: dict[str, Any]) -> _Assertion:
        """Return the next assertion with its share of the error; it is spent whatever comes of it."""
        __tracebackhide__ = True
        if mark_process() != self._process:
            self._elsewhere[0] = 1
            self._fail(NotAudited, f"nothing can be said about the claim {label}: {ELSEWHERE}")
        checked = self._settings.of_audit(options)
        number = next(self._numbers)
        count = self._settings.samples if samples is None else samples
        rng = np.random.default_rng(self._budget.entropy(number, count, pairs))
        return _Assertion(label, self._budget.of_assertion(number), rng, count, checked)

    def _verify(self, profile: Profile, target: ExactLike | None, conditions: Sequence[str] | None) -> tuple[Decision, ...]:
        __tracebackhide__ = True
        if conditions is not None and (isinstance(conditions, str) or not isinstance(conditions, Collection) or not conditions):
            raise InvalidArgument(
                f"conditions must be a list of names, at least one, but {str(conditions)[:60]!r} was found; name some, or leave them out "
                "for the default"
            )
        if target is None and conditions:
            raise InvalidArgument("conditions were named, but no target epsilon; give target_epsilon=")
        try:
            admit(profile)
            decided = () if target is None else tuple(verify(profile, target, conditions or CONDITIONS).decisions.values())
        except InvalidProfile as refusal:
            self._tell(profile.text, "REFUTED")
            self._fail(ClaimRefuted, f"the profile {profile.name!r} is not valid: {refusal}")
        except Undecided as reason:
            self._tell("well-defined", "unknown")
            self._undecided(profile, "well-defined", str(reason))
            return ()
        for decision in decided:
            verdict = decision.verdict.value
            self._tell(decision.condition, "REFUTED" if verdict == "refuted" else verdict)
        for decision in decided:
            if decision.verdict is Verdict.REFUTED:
                witness = decision.to_json()["witness"] or {}
                point = ", ".join(f"{name} = {value}" for name, value in witness.items()) or "no single point"
                self._fail(
                    ClaimRefuted,
                    f"{decision.condition} is refuted for the profile {profile.name!r}, epsilon(w, x) = {profile.text}, and the target "
                    f"{target}: the witness is {point} ({decision.method})",
                )
        for decision in decided:
            if decision.verdict is Verdict.UNKNOWN:
                self._undecided(profile, decision.condition, decision.reason or "no reason is known")
        return decided

    def _undecided(self, profile: Profile, condition: str, reason: str) -> None:
        __tracebackhide__ = True
        if self._settings.unknown == "fail":
            self._fail(NotAudited, f"{condition} could be neither proved nor refuted for the profile {profile.name!r}: {reason}")

    def _audit_all(self, mechanism: Any, pairs: list[Pair], assertion: _Assertion) -> list[tuple[Pair, AuditResult]]:
        """Return the audits of all pairs, the error of the assertion divided among them; the first refutation is raised."""
        __tracebackhide__ = True
        audits: list[tuple[Pair, AuditResult]] = []
        constant: ConstantOutputs | None = None
        for pair, own in zip(pairs, assertion.rng.spawn(len(pairs)), strict=True):
            try:
                result = audit(
                    mechanism, pair.dataset, pair.neighbor, pair.claim, rng=own, confidence=1 - assertion.error, tests=len(pairs),
                    samples=assertion.samples, neighboring=pair.neighboring, **assertion.options,
                )  # fmt: skip
            except ConstantOutputs as nothing:
                if isinstance(nothing, DifferentConstants) and pair.claim.epsilon <= math.log(assertion.samples):
                    self._not_audited(assertion.label, str(nothing), pair)  # that other pairs have noise does not excuse this one
                constant = nothing
                continue
            except _UNUSABLE as failure:
                self._not_audited(assertion.label, reveal(failure), pair)
            except NotNeighbors as wrong:
                self._not_audited(assertion.label, reveal(wrong), pair, "not neighbors")
            except InvalidArgument as misuse:
                raise InvalidArgument(reveal(misuse)) from None  # from here: what lies below is of no use to the reader
            except PDPError as failure:
                self._not_audited(assertion.label, f"the mechanism refused: {reveal(failure)}", pair)
            result = replace(result, seed=self._budget.seed)
            audits.append((pair, result))
            if result.finding is Finding.VIOLATED:
                self._tell_audits(assertion.label, audits, "REFUTED")
                self._refute(mechanism, pair, result, assertion)
        if not audits:
            self._not_audited(assertion.label, str(constant), pairs[0])
        self._judge_size(assertion, [pair for pair, _ in audits], audits, assertion.error / len(pairs))
        return audits

    def _judge_size(self, assertion: _Assertion, pairs: list[Pair], audits: list[tuple[Pair, AuditResult]], error: Fraction) -> None:
        """Tell what was found; warn, or fail, where the outputs could have refuted no claim. A claim of 0 does not excuse the others."""
        __tracebackhide__ = True
        claims = [pair.claim for pair in pairs if pair.claim.epsilon] or [pair.claim for pair in pairs]
        outputs = max(result.samples for _, result in audits)
        if any(is_visible(outputs, claim, error) for claim in claims):
            self._tell_audits(assertion.label, audits, "consistent")
            return
        self._tell_audits(assertion.label, audits, "too large")
        least = min(claims, key=lambda claim: claim.epsilon)
        needed = samples_needed(least, error)
        advice = "no number of outputs that can be drawn is enough: prove it" if needed is None else f"give samples={needed} or more"
        claimed = f"{decimal_text(least.epsilon, 6, round_up=True)} nats{' or more' if len(claims) > 1 else ''}"
        shown = decimal_text(Fraction(largest_bound(outputs, least, error)), 3, round_up=True)
        text = (
            f"the claim {assertion.label} ({claimed}) could not have been refuted: {outputs} outputs on each data set show {shown} nats at "
            f"most; {advice}, or test a pair with a smaller claim"
        )
        if self._settings.too_large == "fail":
            self._fail(NotAudited, text)
        warnings.warn(text, ClaimTooLarge, stacklevel=_level_of_caller())

    def _refute(self, mechanism: Any, pair: Pair, result: AuditResult, assertion: _Assertion) -> NoReturn:
        __tracebackhide__ = True
        notes = f"D = {shorten_data(pair.dataset)}", f"D' = {shorten_data(pair.neighbor)}"
        bits, own = bool(assertion.options.get("bits")), bool(assertion.options.get("own_randomness"))
        circumstances = Circumstances(name_mechanism(mechanism), pair.name, self._settings.repeat, notes, bits, own)
        bound, claimed = bound_texts(result)
        self._fail(
            ClaimRefuted,
            f"epsilon is at least {bound}, but at most {claimed} was claimed; pair: {pair.name}{describe_event(result)}",
            render(result, circumstances),
        )

    def _not_audited(self, label: str, why: str, pair: Pair, verdict: str = "not audited") -> NoReturn:
        __tracebackhide__ = True
        self._tell(label, verdict)
        data = f"D    {shorten_data(pair.dataset)}\nD'   {shorten_data(pair.neighbor)}"
        self._fail(NotAudited, f"nothing can be said about the claim {label}: {why}; pair: {pair.name}", data)

    def _fail(self, kind: type[AssertionError], text: str, evidence: str = "") -> NoReturn:
        """Raise one line with the command that repeats it; the evidence is shown beside it, so that summaries stay short."""
        __tracebackhide__ = True
        repeat = self._settings.repeat
        failure = kind(" ".join(text.split()) + (f"; to repeat: {' '.join(repeat)}" if repeat else ""))
        if kind is ClaimRefuted and self._expected is None:
            self._refuted(str(failure))
        elif kind is ClaimRefuted and self._expected is not None:
            self._expected += 1
        if evidence and self._show is None:
            failure.add_note(evidence)
        elif evidence and self._show is not None:
            self._show(evidence)
        raise failure from None

    def _tell_audits(self, label: str, audits: list[tuple[Pair, AuditResult]], verdict: str) -> None:
        _, worst = max(audits, key=lambda one: (one[1].finding is Finding.VIOLATED, _closeness(one[1])))
        bound, claimed = bound_texts(worst)
        results = [result for _, result in audits]
        unchecked = {
            "neighboring: not checked": any(result.neighboring.status == "not checked" for result in results),
            "memory: not checked": any(result.memory for result in results),
            "same outputs on both data sets": all(result.same_on_both for result in results) and any(r.claim.epsilon for r in results),
        }
        names = tuple(name for name, is_so in unchecked.items() if is_so)
        self._note(ClaimEntry(label, self._name(verdict), bound, claimed, len(audits), self._budget.tests, names))

    def _tell(self, label: str, verdict: str) -> None:
        self._note(ClaimEntry(label, self._name(verdict), tests=self._budget.tests))

    def _name(self, verdict: str) -> str:
        return "as expected" if verdict == "REFUTED" and self._expected is not None else verdict


def _level_of_caller() -> int:
    """Return the level, for a warning of the function that calls this, of the nearest caller outside of this file."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename == __file__:
        frame, level = frame.f_back, level + 1
    return level


def _closeness(result: AuditResult) -> float:
    return float(Fraction(result.epsilon_lower) / max(result.claim.epsilon, _LEAST)) if result.claim.epsilon else 0.0


def _profile_of(mechanism: Any, profile: Profile | None) -> Profile:
    profile_ = getattr(mechanism, "profile", None) if profile is None else profile
    if not isinstance(profile_, Profile):
        raise InvalidArgument(
            f"a profile was expected, but an object of type {type(profile_).__name__} was found; give a mechanism of the catalogue, or a "
            "profile from profiles.declare as the second argument"
        )
    return profile_


def _require_signature(mechanism: Any) -> None:
    """Refuse a function that cannot be called as mechanisms are, before it is. Raises :class:`InvalidArgument`."""
    if not inspect.isroutine(mechanism):
        return  # mechanisms of the catalogue, and others that are asked in other ways
    try:
        inspect.signature(mechanism).bind(None, None, 0)
    except TypeError:
        raise InvalidArgument(
            "a mechanism is called as mechanism(dataset, rng, size), and returns size outputs, but this one does not take these three; "
            "a function of (dataset, rng) with one output becomes one by one_at_a_time(function), from proofs_check.audit"
        ) from None
    except ValueError:
        return  # nothing is known of how it is called


def _size(dataset: Any) -> int | None:
    data = dataset[0] if isinstance(dataset, tuple) and len(dataset) == 2 else dataset
    try:
        return len(data)
    except TypeError:
        return None
