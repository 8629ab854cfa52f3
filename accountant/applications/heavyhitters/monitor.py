"""Heavy hitters that shift over time, reported with pure differential privacy for whole users (docs/heavy-hitters.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from accountant.applications.charging import Promise, release_once, require_analysis
from accountant.applications.heavyhitters.clock import Clock, ClockedWatch, follow_clock
from accountant.applications.heavyhitters.domain import PublicDomain, read_domain
from accountant.applications.heavyhitters.planning import ThresholdPlan, share_budget, state_reports
from accountant.applications.heavyhitters.state import KeptPass
from accountant.applications.heavyhitters.streams import WholeStream, cut_records, keep_users
from accountant.applications.heavyhitters.users import MEMBERSHIPS, Membership
from accountant.applications.heavyhitters.watching import PassConstants, StepReport, Watch
from accountant.applications.quality import ReportBound
from accountant.applications.running import Answer, Choice
from accountant.guarantees import Guarantee, Hypothesis, Losses, Run, Unit, assume, conclude_run, discharge, ships
from accountant.onesided import OneSidedCalibration, calibrate_one_sided, prove_losses, subsample
from profiles import InvalidArgument
from profiles.arrays import Booleans
from profiles.balls import ball, upper_fraction, working_precision
from profiles.hypotheses import (
    ARRIVAL,
    BALLS_ENCLOSE,
    IN_TIME,
    KEPT_STATE,
    OWN_ENTRY,
    PSEUDORANDOM,
    PUBLIC_CONSTANTS,
    SECURE_BITS,
    UNSEEN_MOMENT,
    WELL_FORMED,
)
from profiles.numbers import to_integer
from profiles.randomness.bits import open_bits

if TYPE_CHECKING:
    from accountant.ledger import Analysis

PUBLIC = PUBLIC_CONSTANTS.about(names="k, the threshold, the domain of the items and the time steps are")
SORTED = WELL_FORMED.about(what="the stream is well-formed (records sorted by time, one id for all records of a user, no missing values)")
REFUSED = WELL_FORMED.about(what="no record has an item outside the domain or a time that is no time step (outside='refuse')")
_SOURCE = "docs/heavy-hitters.md, Theorem 1; Ghazi et al. 2024, Theorem 5.3"
_MOST = 2**31

Outside = Literal["ignore", "refuse"]


class HeavyHitterAnswer(Answer[tuple[StepReport, ...]]):
    """The reports of every public time step, and the guarantee of all of them together."""

    __slots__ = ()

    @property
    def reports(self) -> tuple[StepReport, ...]:
        """The report of each public time step, in order."""
        return self.output


@dataclass(frozen=True, slots=True)
class HeavyHitterMonitor:
    """Claim: the reports of one pass are ``epsilon``-differentially private for adding or removing a user with all records.

    An item is reported at a time step if the number of its users in the Poisson sample, users with k contributions to earlier reports
    left out, plus noise of the law Exp(λ), λ = ε₀/min(k, T·|Y|), exceeds ``threshold``. An item that is counted ``threshold`` times is
    surely reported; one that nobody has, with probability e^(−λ·threshold).

    ``k`` contributions a user, at least 1 (T·|Y| at most matter); ``epsilon`` target in nats, exact; ``threshold`` a count of users *in
    the sample* (an integer of at least 1), or the plan of :func:`plan_threshold` for these very numbers, which is checked
    (:meth:`from_plan`); ``domain`` all items, a range or list, public; ``times`` all time steps, a range or an increasing list of
    integers, public; ``calibration`` optimal or corollary (:func:`calibrate_one_sided`);
    ``membership`` stored (exact; keeps every user seen) or keyed (keeps users of reports only; assumes a pseudorandom function);
    ``outside``: records outside the domain or times are ignored, which the guarantee covers, or refused, which it does not.

    Source: Ghazi et al. 2024, Algorithm 3 and Theorem 5.6, repaired. Raises :class:`InvalidArgument`, :class:`InvalidTarget`.

    >>> monitor = HeavyHitterMonitor(k=1, epsilon=1, threshold=8, domain=["a", "b"], times=range(2))
    >>> stream = [(user, 0, "a") for user in range(40)] + [(user, 1, "b") for user in range(40, 80)]
    >>> [report.items for report in monitor.run(stream, bits=7).reports]
    [('a',), ('b',)]
    """

    k: int
    epsilon: object
    threshold: int | ThresholdPlan
    domain: Any
    times: Any
    calibration: str = "optimal"
    membership: Membership = "stored"
    outside: Outside = "ignore"
    plan: OneSidedCalibration = field(init=False, repr=False, compare=False)
    utility: ReportBound = field(init=False, repr=False, compare=False)
    _threshold: int = field(init=False, repr=False, compare=False)
    _domain: PublicDomain = field(init=False, repr=False, compare=False)
    _times: PublicDomain = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        to_integer(self.k, "k", 1, _MOST)
        planned = self.threshold if isinstance(self.threshold, ThresholdPlan) else None
        threshold = to_integer(self.threshold if planned is None else planned.threshold, "the threshold", 1, _MOST)
        if self.membership not in MEMBERSHIPS:
            raise InvalidArgument(
                f"membership must be one of {', '.join(MEMBERSHIPS)}, but {str(self.membership)[:40]!r} was found; choose one"
            )
        if self.outside not in ("ignore", "refuse"):
            raise InvalidArgument(f"outside must be ignore or refuse, but {str(self.outside)[:40]!r} was found; choose one")
        object.__setattr__(self, "plan", calibrate_one_sided(self.epsilon, choice=self.calibration))
        object.__setattr__(self, "_domain", read_domain(self.domain))
        object.__setattr__(self, "_times", to_times(self.times))
        if planned is not None:
            sizes = {"steps": len(self._times), "domain_size": len(self._domain)}
            planned.require(k=self.k, epsilon=self.epsilon, calibration=self.calibration, **sizes)
        object.__setattr__(self, "utility", state_reports(planned, int(self.k)))
        object.__setattr__(self, "threshold", threshold)
        object.__setattr__(self, "_threshold", threshold)

    @classmethod
    def from_plan(
        cls, plan: ThresholdPlan, *, domain: Any, times: Any, membership: Membership = "stored", outside: Outside = "ignore"
    ) -> Self:
        """Return the monitor that ``plan`` was made for. Raises :class:`InvalidArgument` where there are more items or times than planned.

        >>> from accountant.applications.heavyhitters import plan_threshold
        >>> plan = plan_threshold(2, 1, "0.01", steps=24, domain_size=3)
        >>> HeavyHitterMonitor.from_plan(plan, domain=["a", "b", "c"], times=range(24)).threshold == plan.threshold
        True
        """
        if not isinstance(plan, ThresholdPlan):
            raise InvalidArgument(f"a plan of plan_threshold was expected, but {type(plan).__name__} was found; make one")
        return cls(plan.k, plan.epsilon, plan, domain, times, plan.calibration, membership, outside)

    @property
    def choice(self) -> Choice:
        """Where the threshold is from."""
        planned = "as asked" if self.utility.void else "about the least one for which the error is proved"
        return Choice(
            f"threshold {self._threshold}",
            f"{planned}; noise of rate {float(self.rate):.6g} per user; who is in the sample is {self.membership}",
        )

    @property
    def rate(self) -> Fraction:
        """The rate λ = ε₀/min(k, T·|Y|) of the noise, for each user."""
        return share_budget(self.plan.epsilon0, self.k, len(self._domain) * len(self._times))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one pass with the secure source of random bits, which gives reports as records come. It does not depend on the
        data; :meth:`run` and passes with a clock close the hypotheses about the moments of reports.
        """
        return self._derive(SECURE_BITS)

    @property
    def expected_noise_reports(self) -> Fraction:
        """An upper bound of the expected number of reported pairs (time, item) among those that nobody has: T·|Y|·e^(−λ·threshold)."""
        with working_precision(128):
            tail = upper_fraction((-ball(self.rate * self._threshold)).exp())
        return len(self._domain) * len(self._times) * (Fraction(1) if tail is None else tail)

    def start(self, *, bits: object = None) -> Watch:
        """Return a new pass, which takes records by ``push`` and gives reports; every pass spends epsilon anew.

        ``bits`` is the source of all randomness, of the sample and of the noise: None (secure), a seed or Generator for tests.
        """
        source = open_bits(bits)
        setting = PassConstants(
            self.k, self._threshold, self.rate, self.plan.p, self._domain, self._times, self.membership, self.outside == "refuse"
        )
        return Watch(setting, source, self._derive(source.hypothesis))

    def start_kept(self, path: Path) -> KeptPass:
        """Return a pass whose state is in the file ``path``: a new one, or the one that continues there after a restart.

        The state is written atomically before a report leaves, and belongs to this monitor and this path. All randomness is secure.
        Raises :class:`InvalidArgument` for the state of another pass, one in use, or one that is over.
        """
        watch = self.start()
        kept = assume(watch.guarantee, (KEPT_STATE,))
        return KeptPass(path, watch, kept, self._describe(), self._times)

    def _describe(self) -> str:
        """Return the public constants in one text: what a state belongs to."""
        parts = (self.k, self.plan.target, self.calibration, self._threshold, self._domain, self._times, self.outside)
        return hashlib.sha256("|".join(map(repr, parts)).encode("utf-8", "surrogatepass")).hexdigest()

    def start_clocked(self, *, bits: object = None) -> ClockedWatch:
        """Return a new pass that reports when its ``tick`` is called, at public moments, and never because a record came."""
        watch = self.start(bits=bits)
        evidence = "reports leave when the public clock says so, one for each time step, whether records come or not"
        return ClockedWatch(watch, assume(discharge(watch.guarantee, UNSEEN_MOMENT, evidence), (ARRIVAL, IN_TIME)))

    def watch(
        self, stream: Iterable[Any], *, clock: Clock | None = None, bits: object = None, ledger: Analysis | None = None
    ) -> Iterator[StepReport]:
        """Yield the report of each public time step, in order.

        ``stream``: triples (user, time, item), or batches (:func:`open_stream`). Without a ``clock`` it must be sorted by time, and a
        report appears as soon as a record of a later time shows that its step is complete: **the moment reveals that such a record came**,
        and the guarantee assumes that nobody sees it. With a clock (:class:`PublicClock`) reports appear at its moments, one for each time
        step, whatever comes; the stream is read by a thread, in any order, and may block. Raises like ``Watch.push``.

        ``ledger``: an analysis with the ids of all users who may take part, ``ledger.analysis(name, ids)``: they are charged ahead, before
        the stream begins, whether or not they come. Records of all others are left out. The reports are stored when the last one was given.
        """
        if ledger is not None:
            yield from self._watch_charged(stream, clock, bits, require_analysis(ledger))
            return
        if clock is not None:
            if not isinstance(clock, Clock):
                raise InvalidArgument(
                    f"a clock with close and release was expected, but {type(clock).__name__} was found; make a PublicClock"
                )
            yield from follow_clock(self.start_clocked(bits=bits), stream, clock, (int(self._times[i]) for i in range(len(self._times))))
            return
        yield from _iterate(self.start(bits=bits), stream)

    def _watch_charged(self, stream: Iterable[Any], clock: Clock | None, bits: object, ledger: Analysis) -> Iterator[StepReport]:
        promised = self.start(bits=bits).guarantee if clock is None else self.start_clocked(bits=bits).guarantee

        def report(users: Sequence[str]) -> Iterator[list[Any]]:
            for step in self.watch(keep_users(stream, users), clock=clock, bits=bits):
                yield [step.time, list(step.items)]

        for time, items in ledger.follow(promised, report, arguments=(self,), known=ships(self)):
            yield StepReport(time, tuple(items))

    def run(self, stream: Iterable[Any], *, bits: object = None, ledger: Analysis | None = None) -> HeavyHitterAnswer:
        """Return all reports of one pass with their guarantee. Raises like ``Watch.push``.

        ``ledger``: an analysis without ids, ``ledger.analysis(name)``: the users of the stream are its units. The stream, which is then
        kept in memory, has to be over: who takes part is decided before the first report.
        """
        watch = self.start(bits=bits)
        promised = discharge(watch.guarantee, UNSEEN_MOMENT, "run returns all reports together, after the last of them")
        whole = None if ledger is None else WholeStream.read(stream)

        def report(active: Booleans | None) -> list[list[Any]]:
            part = stream if whole is None or active is None else whole.keep(active)
            return [[step.time, list(step.items)] for step in _iterate(watch, part)]

        users = None if whole is None else whole.users
        released, guarantee, charged = release_once(
            ledger, Promise(promised), None if users is None else len(users), report, arguments=(self,), ids=users
        )
        reports = tuple(StepReport(time, tuple(items)) for time, items in released)
        return HeavyHitterAnswer(reports, guarantee, utility=self.utility, choice=self.choice, charged=charged)

    def _derive(self, bits: Hypothesis | str) -> Guarantee:
        refused = (REFUSED,) if self.outside == "refuse" else ()
        keyed = (PSEUDORANDOM,) if self.membership == "keyed" else ()
        one_sided = prove_losses(
            f"THRESHMONITOR with k = {self.k}, threshold {self._threshold} (a record is a user with the whole stream)",
            Losses(self.plan.epsilon0, None),
            theorem=_SOURCE,
            algorithm=self,
            hypotheses=(PUBLIC, SORTED, OWN_ENTRY, *refused, *keyed, UNSEEN_MOMENT, BALLS_ENCLOSE),
            unit=Unit.USER,
        )
        return conclude_run(subsample(one_sided, self.plan.p), Run(noise=bits, draws=bits, known=ships(self)))


def _iterate(watch: Watch, stream: Iterable[Any]) -> Iterator[StepReport]:
    """Yield the reports of a pass over a stream, to its end."""
    for batch in cut_records(stream):
        yield from watch.iterate(batch.times, batch.users, batch.items)
    yield from watch.iterate_rest()


def to_times(times: object) -> PublicDomain:
    """Return the public time steps: a range, or a list of increasing integers. Raises :class:`InvalidArgument`."""
    domain = read_domain(times if not isinstance(times, range) or times.step == 1 else list(times))
    if domain.span is None and not (domain.integers and (np.diff(np.array(domain.items, dtype=np.int64)) > 0).all()):
        raise InvalidArgument("time steps must be increasing integers, but others were found; number the time steps in their order")
    return domain
