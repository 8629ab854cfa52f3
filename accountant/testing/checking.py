"""What a test calls: assertions that verify a profile and audit an implementation, and spend the error of the test."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from accountant.testing.candidates import Candidates
from accountant.testing.entries import Entry
from accountant.testing.errors import ClaimRefuted, NotAudited
from accountant.testing.spending import Budget
from profiles.errors import InvalidArgument, InvalidProfile, PDPError, Undecided
from profiles.numbers import ExactLike, decimal_text
from profiles.profile import Profile
from proofs_check.admission import admit
from proofs_check.audit.api import audit
from proofs_check.audit.claims import Claim
from proofs_check.audit.differences import find_difference
from proofs_check.audit.errors import ConstantOutputs, DifferentConstants, MechanismHangs, MechanismRaised, SharedGenerator, UnusableOutputs
from proofs_check.audit.pairs import Pair
from proofs_check.audit.report import Setting, bound_texts, render
from proofs_check.audit.results import AuditResult, Finding
from proofs_check.results import Decision, Verdict
from proofs_check.verify import verify

#: The hypotheses of Theorem 10 and Proposition 12 (Fay et al. 2024): what is verified where a target is given and nothing is named.
CONDITIONS = ("assumption-8", "assumption-9", "assumption-11")
_UNUSABLE = (MechanismRaised, MechanismHangs, UnusableOutputs, SharedGenerator, ConstantOutputs)


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """What an assertion that passed rests on: the decided conditions, and the audits. It never means that the claim is true."""

    decisions: tuple[Decision, ...] = ()
    audits: tuple[tuple[Pair, AuditResult], ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """How a test audits: outputs for each data set of a pair, pairs for a profile, seconds for one call of the mechanism.

    ``unknown`` is what an undecided condition does: ``"report"`` or ``"fail"``. ``options`` go to :func:`proofs_check.audit.audit`;
    ``repeat`` are the shell words that repeat the test.
    """

    samples: int = 10_000
    pairs: int = 8
    unknown: str = "report"
    time_limit: float | None = 60.0
    effort: str = "fast"
    repeat: tuple[str, ...] = ()


class ClaimChecker:
    """The object behind the fixture ``pdp``: every assertion spends a share of the error of ``budget``, and tells ``note`` what it found.

    Claim: the probability that any assertion refutes a true claim is at most ``budget.error``, if the outputs of a call are independent.
    Proof: the k-th assertion has the error budget.of_assertion(k), divided among its pairs, which are chosen before the mechanism is run;
    each audit refutes a true claim with at most the error that it is given (docs/audit.md, Theorems 1 to 3); the shares add up.
    """

    def __init__(self, budget: Budget, settings: Settings | None = None, *, note: Callable[[Entry], None] | None = None) -> None:
        self._budget, self._settings = budget, settings or Settings()
        self._note = note or (lambda _: None)
        self._made = 0

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
        ``target_epsilon`` also ``conditions`` (assumption-8, -9 and -11 by default). Then the implementation: audits on ``pairs`` generated
        pairs of data sets that differ by one weighted record, each against ε(w, x) of that record, with ``samples`` outputs on each.

        ``mechanism(dataset, rng, size)`` is one of the catalogue or any callable; it gets data sets ``(data, weights)``, or arrays alone
        with ``weighted`` False (then w = 1). ``dimension`` None: records are numbers, data has shape (n,), else (n, d). ``statistic`` maps
        records, shape (n, d), to the statistics (or ``"l1"``, ``"l2"``, ``"linf"``); by default the mechanism's own method, else |x|.
        ``one_sided``: add-DP. ``min_size``: data sets are no smaller. ``records``: those that may differ. ``options`` go to the audit.

        Raises :class:`ClaimRefuted`, :class:`NotAudited`, :class:`InvalidArgument`.
        """
        __tracebackhide__ = True
        promised = _profile_of(mechanism, profile)
        count = self._settings.pairs if pairs is None else pairs
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 1_000:
            raise InvalidArgument(f"the number of pairs must be an integer from 1 to 1000, but {count} was found; give one")
        decisions = self._verify(promised, target_epsilon, conditions)
        number, rng = self._next()
        source = Candidates.of(
            mechanism, promised, statistic, dimension, weighted=weighted, one_sided=one_sided, min_size=min_size, records=records
        )
        made = source.make(rng.spawn(1)[0], count)
        label = promised.text if len(promised.text) <= 200 else promised.name
        found = self._audit_all(mechanism, made, number, rng, label, samples, options)
        return Satisfaction(decisions, tuple(found))

    def assert_epsilon(
        self,
        mechanism: Any,
        epsilon: ExactLike | Claim,
        dataset: Any,
        neighbor: Any,
        *,
        delta: ExactLike = 0,
        samples: int | None = None,
        **options: Any,
    ) -> AuditResult:
        """Assert that nothing refutes (ε, δ)-indistinguishability of the outputs on one pair, in both directions.

        ``epsilon`` is an exact number of nats, or a :class:`~proofs_check.audit.Claim`. The data sets are whatever the mechanism takes.
        ``options`` go to :func:`proofs_check.audit.audit`. Raises :class:`ClaimRefuted`, :class:`NotAudited`, :class:`InvalidArgument`.
        """
        __tracebackhide__ = True
        if isinstance(epsilon, Claim):
            if delta:
                raise InvalidArgument("a claim and a delta were both given, but a claim has its own; give it there")
            claim = epsilon
        else:
            claim = Claim(epsilon, delta)
        pair = Pair(dataset, neighbor, claim, _describe(dataset, neighbor))
        number, rng = self._next()
        ((_, result),) = self._audit_all(mechanism, [pair], number, rng, _claim_label(claim), samples, options)
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

    def _next(self) -> tuple[int, np.random.Generator]:
        self._made += 1
        return self._made, np.random.default_rng(self._budget.entropy(self._made))

    def _verify(self, profile: Profile, target: ExactLike | None, conditions: Sequence[str] | None) -> tuple[Decision, ...]:
        __tracebackhide__ = True
        if target is None and conditions:
            raise InvalidArgument("conditions were named, but no target epsilon; give target_epsilon=")
        try:
            admit(profile)
            decided = () if target is None else tuple(verify(profile, target, conditions or CONDITIONS).decisions.values())
        except InvalidProfile as refusal:
            self._tell(Entry(profile.text, "REFUTED", tests=self._budget.tests))
            raise ClaimRefuted(f"the profile {profile.name!r} is no profile: {refusal}{self._again()}") from None
        except Undecided as reason:
            self._tell(Entry("well-defined", "unknown", tests=self._budget.tests))
            self._undecided(profile, "well-defined", str(reason))
            return ()
        for decision in decided:
            verdict = decision.verdict.value
            self._tell(Entry(decision.condition, "REFUTED" if verdict == "refuted" else verdict, tests=self._budget.tests))
        for decision in decided:
            if decision.verdict is Verdict.REFUTED:
                witness = decision.to_json()["witness"] or {}
                point = ", ".join(f"{name} = {value}" for name, value in witness.items()) or "no single point"
                raise ClaimRefuted(
                    f"{decision.condition} is refuted for the profile {profile.name!r}, epsilon(w, x) = {profile.text}, and the target "
                    f"{target}: the witness is {point} ({decision.method}).{self._again()}"
                )
        for decision in decided:
            if decision.verdict is Verdict.UNKNOWN:
                self._undecided(profile, decision.condition, decision.reason or "no reason is known")
        return decided

    def _undecided(self, profile: Profile, condition: str, reason: str) -> None:
        __tracebackhide__ = True
        if self._settings.unknown == "fail":
            raise NotAudited(f"{condition} could be neither proved nor refuted for the profile {profile.name!r}: {reason}{self._again()}")

    def _audit_all(
        self, mechanism: Any, pairs: list[Pair], number: int, rng: np.random.Generator, label: str, samples: int | None, options: Any
    ) -> list[tuple[Pair, AuditResult]]:
        """Return the audits of all pairs, the error of the assertion divided among them; the first refutation is raised."""
        __tracebackhide__ = True
        error = self._budget.of_assertion(number)
        settings = {"mode": "fixed", "effort": self._settings.effort, "time_limit": self._settings.time_limit, **options}
        for name in ("confidence", "tests", "rng"):
            if name in options:
                raise InvalidArgument(
                    f"{name} was given to an assertion, but it belongs to the session; use the marker or an option of pytest"
                )
        found: list[tuple[Pair, AuditResult]] = []
        constant: ConstantOutputs | None = None
        for pair, own in zip(pairs, rng.spawn(len(pairs)), strict=True):
            try:
                result = audit(
                    mechanism, pair.dataset, pair.neighbor, pair.claim, rng=own, confidence=1 - error, tests=len(pairs),
                    samples=self._samples(samples), **settings,
                )  # fmt: skip
            except ConstantOutputs as nothing:
                if isinstance(nothing, DifferentConstants) and pair.claim.epsilon <= math.log(self._samples(samples)):
                    self._not_audited(label, str(nothing), pair)  # that other pairs have noise does not excuse this one
                constant = nothing
                continue
            except _UNUSABLE as failure:
                self._not_audited(label, f"{failure}{_place(failure.__cause__)}", pair)
            except InvalidArgument:
                raise
            except PDPError as failure:
                self._not_audited(label, f"the mechanism refused: {failure}", pair)
            result = replace(result, seed=self._budget.seed)
            found.append((pair, result))
            if result.finding is Finding.VIOLATED:
                self._tell_audits(label, found, "REFUTED")
                raise ClaimRefuted(self._words(mechanism, pair, result, settings))
        if not found:
            self._not_audited(label, str(constant), pairs[0])
        spent = math.log(len(pairs) / error)  # n right guesses of n show no more than about log(n / log(1 / error))
        visible = math.log(max(result.samples for _, result in found) / spent)
        seen = any(pair.claim.epsilon <= visible for pair, _ in found if pair.claim.epsilon)
        trivial = all(not pair.claim.epsilon for pair, _ in found)
        self._tell_audits(label, found, "consistent" if seen or trivial else "too large")
        return found

    def _samples(self, given: int | None) -> int:
        return self._settings.samples if given is None else given

    def _words(self, mechanism: Any, pair: Pair, result: AuditResult, options: Any) -> str:
        notes = f"D = {_short(pair.dataset)}", f"D' = {_short(pair.neighbor)}"
        setting = Setting(
            _name(mechanism), pair.name, self._settings.repeat, notes, bool(options.get("bits")), bool(options.get("own_randomness"))
        )
        bound, claimed = bound_texts(result)
        return f"epsilon is at least {bound}, but at most {claimed} was claimed.\n\n{render(result, setting)}"

    def _not_audited(self, label: str, why: str, pair: Pair) -> NoReturn:
        __tracebackhide__ = True
        self._tell(Entry(label, "not audited", tests=self._budget.tests))
        raise NotAudited(
            f"nothing can be said about the claim {label}: {why}\n  pair: {pair.name}\n  D = {_short(pair.dataset)}\n"
            f"  D' = {_short(pair.neighbor)}{self._again()}"
        ) from None

    def _tell_audits(self, label: str, found: list[tuple[Pair, AuditResult]], verdict: str) -> None:
        _, worst = max(found, key=lambda one: (one[1].finding is Finding.VIOLATED, _closeness(one[1])))
        bound, claimed = bound_texts(worst)
        self._tell(Entry(label, verdict, bound, claimed, len(found), self._budget.tests))

    def _tell(self, entry: Entry) -> None:
        self._note(entry)

    def _again(self) -> str:
        return f"\n  to repeat: {' '.join(self._settings.repeat)}" if self._settings.repeat else ""


def _place(cause: BaseException | None) -> str:
    """Return where an exception of the mechanism was raised."""
    frames = traceback.extract_tb(cause.__traceback__) if cause is not None else []
    return f" (raised in {frames[-1].name}, line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""


def _closeness(result: AuditResult) -> float:
    return result.epsilon_lower / float(result.claim.epsilon) if result.claim.epsilon else 0.0


def _profile_of(mechanism: Any, profile: Profile | None) -> Profile:
    found = getattr(mechanism, "profile", None) if profile is None else profile
    if not isinstance(found, Profile):
        raise InvalidArgument(
            f"a profile was expected, but an object of type {type(found).__name__} was found; give a mechanism of the catalogue, or a "
            "profile from profiles.declare as the second argument"
        )
    return found


def _claim_label(claim: Claim) -> str:
    text = f"{decimal_text(claim.epsilon, 6, round_up=True)}-{'add-DP' if claim.one_sided else 'DP'}"
    return text + (f", delta {decimal_text(claim.delta, 3, round_up=True)}" if claim.delta else "")


def _describe(dataset: Any, neighbor: Any) -> str:
    try:
        return find_difference(dataset, neighbor).text()
    except (PDPError, TypeError, ValueError):
        return "as given to the assertion"


def _size(dataset: Any) -> int | None:
    data = dataset[0] if isinstance(dataset, tuple) and len(dataset) == 2 else dataset
    try:
        return len(data)
    except TypeError:
        return None


def _short(dataset: Any) -> str:
    shown = tuple(part.tolist() if isinstance(part, np.ndarray) else part for part in dataset) if isinstance(dataset, tuple) else dataset
    text = " ".join(repr(shown.tolist() if isinstance(shown, np.ndarray) else shown).split())
    return text if len(text) <= 400 else text[:397] + "..."


def _name(mechanism: Any) -> str:
    told = getattr(mechanism, "name", None) or getattr(mechanism, "__qualname__", None)
    return told if isinstance(told, str) else type(mechanism).__name__
