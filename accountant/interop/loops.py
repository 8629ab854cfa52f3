"""An account in the training loop: counts the steps, bounds ε so far from both sides, and stops before a budget would be exceeded.

    with accountant.training(noise_multiplier="1.1", batches="256/60000", delta="1e-5", budget=3, out="run") as account:
        for batch in loader:
            account.step()  # before the noise of the step is drawn
            ...
            bar.set_postfix_str(str(account))

If batches are drawn for a whole epoch (random allocation, shuffling), a begun epoch counts in full, and ``account.epoch()`` says that one
begins. The account sees only epochs and steps that are reported to it: the hypotheses of its curve list the other assumptions.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import NoReturn, Self

from accountant.compositions.batches import read_batches
from accountant.compositions.bounds import guess_epsilon
from accountant.compositions.events import MOST_USES, Composition, Event, make_event
from accountant.compositions.queries import UPPER, to_delta, to_epsilon, upper_at_delta
from accountant.compositions.toml_format import DeclaredEvents, read_composition, write_composition
from accountant.compositions.trajectories import Trajectory, bound_steps, steps_of
from accountant.curves import PrivacyCurve, account, curve_of
from accountant.curves.accounting import Account
from accountant.files import check_outputs, replace_files
from accountant.guarantees import Guarantee
from accountant.guarantees.measures import Losses
from accountant.interop.files import write_guarantee
from accountant.interop.loaders import AllocatedBatches, find_allocated, find_batches
from profiles import Infeasible, InvalidArgument, Undecided, decimal_text
from profiles.errors import OverBudget
from profiles.hypotheses import Hypothesis
from profiles.numbers import bisect, to_integer
from profiles.protection import RECORDS, Protection
from profiles.randomness.bits import Uncopied
from proofs_check.certificates import to_file_text

_NAME = "a training run"
_FIRST_HORIZON, _FARTHER = 500, 6  # steps of the first trajectory, and how many times as many the next one has
_MORE = Fraction(21, 20)  # of a budget: where a trajectory ends that is to pass it
_GAP = Fraction(1, 1000)
#: What the files of a run are called, after the ``out`` of :func:`training`.
CERTIFICATE, GUARANTEE = ".certificate.json", ".guarantee.json"


@dataclass(frozen=True, slots=True)
class _Epochs:
    """``longest``: the most steps that one may have; ``allocated``: the batches that begin them, where these say so."""

    longest: int = 1
    allocated: AllocatedBatches | None = None

    def count(self) -> int:
        """Return how many were begun so far, 0 where nobody says so."""
        return 0 if self.allocated is None else self.allocated.epochs


class TrainingAccount(Uncopied):
    """Counts the steps of one training run, which is a composition of events. Made by :func:`training`, entered once.

    A use of the event is a step, or an epoch if batches are drawn for all of its steps together. A begun epoch counts in full, because its
    outputs so far are a part of the outputs of the complete epoch.
    """

    def __init__(
        self, event: Event, protection: Protection, delta: Fraction, budget: Fraction | None, out: Path | None, epochs: _Epochs
    ) -> None:
        self._event, self._protection, self._delta, self._budget, self._out = event, protection, delta, budget, out
        self._before: DeclaredEvents | None = None
        self._each, self._epochs, self._begun = steps_of(event), epochs, epochs.count()
        self._by_epochs = event.batches is not None and event.batches.sampling.is_by_epochs
        self._uses, self._steps, self._left = 0, 0, 0  # uses that cost, the steps in them, and those that are left of the last epoch
        self._state = "new"
        self._counting = Lock()  # a step is compared with the budget and counted at once, whatever other threads count
        self._most: int | None = None
        self._way: Trajectory | None = None
        curve_of(self._declare(1))  # which refuses what no curve has

    def __enter__(self) -> Self:
        if self._state != "new":
            raise InvalidArgument("an account of a training run is entered once, but it was entered before; make another with training")
        self._state = "open"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Write the files for the steps that were counted, also where the loop was left by an exception, which goes on."""
        self._state = "closed"
        if self._out is None:
            return
        if error is None:
            self._write(self._out)
            return
        try:
            self._write(self._out)
        except Exception as problem:
            error.add_note(f"the certificate and the guarantee of {self.steps} steps were not written: {problem}")

    @property
    def steps(self) -> int:
        """The number of counted steps, with those of an earlier state, whose epochs count with all of their steps."""
        return self._steps + self._earlier

    def __len__(self) -> int:
        return self.steps

    @property
    def _earlier(self) -> int:
        return 0 if self._before is None else sum(event.count * steps_of(event) for event in self._before.composition.events)

    @property
    def _place(self) -> int:
        """Where the run is among the steps that cost."""
        return self._uses * self._each + self._earlier

    def epoch(self) -> None:
        """Say that an epoch begins; call it before its batches are drawn, also if the last epoch was left in the middle.

        Where batches are drawn for a whole epoch (random allocation, shuffling) it counts with all of its steps, which :meth:`step` then
        only numbers; it raises :class:`profiles.OverBudget` as :meth:`step` does. Epochs that ``AllocatedBatches`` begin without this call
        are counted by the next step. For other batches each step is charged, and this costs nothing. Raises :class:`InvalidArgument`
        outside of the ``with`` block.
        """
        self._require_open("an epoch")
        if self._by_epochs:
            with self._counting:
                self._charge(1)
                self._left = self._epochs.longest

    def step(self, count: object = 1) -> None:
        """Count a step, or several; call it before the noise of the step is drawn.

        Raises :class:`profiles.OverBudget` where ε at δ would be above the budget, or is not proved to be at most that: nothing is counted
        then, and the step must not be run. Raises :class:`InvalidArgument` outside of the ``with`` block, and for more steps than the epoch
        has, where batches are drawn for one.
        """
        number = to_integer(count, "the number of steps", 1, MOST_USES, hint="count steps as they are run")
        self._require_open("a step")
        with self._counting:
            unsaid = self._epochs.count() - self._begun - self._uses
            if unsaid > 0:  # epochs that the loader has begun, of which epoch() was not told
                self._charge(unsaid)
                self._left = self._epochs.longest
            if not self._by_epochs:
                self._charge(number)
            elif number > self._left:
                raise InvalidArgument(
                    f"an epoch of {self._epochs.longest} steps has {self._left} left, but {number} more were to be counted; call epoch() "
                    "before the batches of each epoch are drawn"
                )
            else:
                self._left -= number
            self._steps += number

    def _require_open(self, what: str) -> None:
        if self._state != "open":
            raise InvalidArgument(f"{what} was to be counted, but the account is not open; count inside its with block")

    def _charge(self, number: int) -> None:
        """Count so many uses, or none of them. Raises :class:`profiles.OverBudget`."""
        most, used = self._find_most(), "epoch" if self._by_epochs else "step"
        if self._uses + number <= most:
            self._uses += number
            return
        if self._budget is None:
            raise InvalidArgument(f"at most {most} {used}s are accounted for, but more were to be counted; begin another account")
        more = "another epoch after" if self._by_epochs else f"{number} more than"
        raise OverBudget(
            f"{more} the {self.steps} steps so far would cost more than the budget of {_short(self._budget, up=False)} nats at "
            f"delta = {_short(self._delta, up=False)}; stop here, or add noise from the start"
        )

    @property
    def is_spent(self) -> bool:
        """Whether the budget has no room for one more step, in the begun epoch or in another one. Without a budget there is always room."""
        return not self._left and self._uses >= self._find_most()

    @property
    def room(self) -> int | None:
        """How many more steps the budget has room for, by the proved upper ends; None without a budget. Further epochs count in full."""
        return None if self._budget is None else self._left + (self._find_most() - self._uses) * self._epochs.longest

    def resume(self, state: str | DeclaredEvents) -> None:
        """Continue after the steps of an earlier run on the same records: its :meth:`state`, or the text of a composition file.

        Its hypotheses are those of this account as well, and its steps count into ε and the budget. An epoch that was left in the middle
        counts in full; begin a new one, because the order of the old one is lost. Raises :class:`InvalidArgument` where steps were counted
        already, or where it protects others, and what reading raises.
        """
        earlier = read_composition(state, "the state of a training run") if isinstance(state, str) else state
        if not isinstance(earlier, DeclaredEvents):
            raise InvalidArgument(f"the state of a training run is a text, but {type(earlier).__name__} was found; give what state() gave")
        if self._uses or self._before is not None or self._state == "closed":
            raise InvalidArgument("an account was to be resumed, but it has steps already, or is closed; resume before the first step")
        if (earlier.unit, earlier.neighbors or self._protection.neighbors) != (self._protection.unit, self._protection.neighbors):
            raise InvalidArgument("the state of a training run is about other units or neighbors than the account; account for them apart")
        self._before = earlier
        try:
            curve_of(self._declare(1))
        except BaseException:
            self._before = None
            raise
        self._most, self._way = None, None

    def state(self) -> str:
        """Return all steps so far as the text of a composition file, for a checkpoint: ``pdp account`` takes it, and :meth:`resume`."""
        return write_composition(self._declare(self._require_uses()))

    @property
    def curve(self) -> PrivacyCurve:
        """The privacy curve of all steps so far. Raises :class:`InvalidArgument` where there are none."""
        return curve_of(self._declare(self._require_uses()))

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The unverified assumptions of every number of this account."""
        return curve_of(self._declare(max(self._uses, 1))).hypotheses

    def so_far(self) -> tuple[Fraction, Fraction | None]:
        """Return bounds of ε at δ after the steps so far, in nats; the upper one is None if none was found.

        They come from about 60 places of one composition, and from the two around this one (docs/account.md): a few seconds of work now and
        then, and none in between. :meth:`account` computes both ends for exactly this number of steps.
        """
        if not self._uses and self._before is None:
            return Fraction(0), Fraction(0)
        if self._budget is not None:
            self._find_most()  # on the way to which a trajectory is made
        if self._way is None or self._place > self._way.steps[-1]:
            horizon = min(max(self._first_horizon, _FARTHER * self._uses), self._find_most())
            self._way = bound_steps(self._declare(max(horizon, 1)).composition, self._delta)
        low, high = self._way.at(self._place)
        if self._budget is None or self._uses == 0:
            return low, high
        return min(low, self._budget), (self._budget if high is None else min(high, self._budget))  # which each step is proved to be within

    def __str__(self) -> str:
        """Return ε so far, for a progress bar: each end is rounded to its side."""
        low, high = self.so_far()
        if high is None:
            return f"{_short(low, up=False)} <= epsilon"
        return f"{_short(low, up=False)} <= epsilon <= {_short(high, up=True)}"

    def account(self) -> Account:
        """Return ε at δ for the steps so far as ``pdp account`` does, with its guarantee and certificate: both ends.

        If only the upper ends, or a finer grid, show that the budget is kept, the result has these. Raises as
        :func:`accountant.curves.account`.
        """
        declared = self._declare(self._require_uses())
        told = account(declared, delta=self._delta, gap=_GAP)
        for finer in (1, 10, 100):
            bound = told.guarantee.bound
            if self._budget is None or (isinstance(bound, Losses) and bound.upper <= self._budget):
                break
            told = account(declared, delta=self._delta, gap=_GAP / finer, side=UPPER)
        return told

    @property
    def guarantee(self) -> Guarantee:
        """The (ε, δ) guarantee of the steps so far, to be rendered, composed and written. Raises as :meth:`account`."""
        return self.account().guarantee

    @property
    def _first_horizon(self) -> int:
        return max(_FIRST_HORIZON // self._each, 1)

    def _refuse_copy(self) -> NoReturn:
        raise InvalidArgument(
            "an account of a training run cannot be copied or pickled, because both would count for themselves; keep state(), and resume"
        )

    def _require_uses(self) -> int:
        if not self._uses and self._before is None:
            raise InvalidArgument("a training run was to be accounted for, but no step was counted; call step() for each")
        return self._uses

    def _declare(self, uses: int) -> DeclaredEvents:
        """Return what was run before with so many uses of this run, and what it protects.

        Steps before that are as those of this run are counted with them, behind all others: so that what a trajectory says of its places
        from the earlier steps on is about all that was run before.
        """
        own = (replace(self._event, count=uses),) if uses else ()
        before = self._before
        earlier = () if before is None else before.composition.events
        alike = tuple(event for event in earlier if replace(event, count=1) == replace(self._event, count=1))
        events = (*(event for event in earlier if event not in alike), *alike, *own)
        supposed = () if before is None else before.hypotheses
        neighbors = self._protection.neighbors if before is None or before.neighbors is not None else None
        name = _NAME if before is None else before.composition.name
        return DeclaredEvents(Composition(name, events), self._protection.unit, neighbors, supposed)

    def _find_most(self) -> int:
        """Return how many uses in this run are within the budget: found once, and each that is allowed has a proved upper end."""
        if self._most is None:
            uses = MOST_USES - (0 if self._before is None else sum(event.count for event in self._before.composition.events))
            self._most = uses if self._budget is None else self._search(uses)
        return self._most

    def _search(self, uses: int) -> int:
        """Return a number of uses that is within the budget, and the next is not proved to be; between places of a trajectory."""
        low, high, horizon = 0, uses + 1, self._guess_most(uses)
        while (way := self._look(horizon)) is not None:
            self._way = way
            own = [((steps - self._earlier) // self._each, *way.at(steps)) for steps in way.steps if steps > self._earlier]
            low = max([low, *(number for number, _, upper in own if upper is not None and upper <= self._require_budget())])
            high = min([high, *(number for number, lower, _ in own if lower > self._require_budget())])
            if high <= uses or horizon == uses:
                break
            horizon = min(_FARTHER * horizon, uses)
        if low and not self._is_within(low):
            low = 0
        if not low and not self._is_within(1):
            return 0
        return bisect(lambda number: not self._is_within(number), max(low, 1), high)[0]

    def _guess_most(self, uses: int) -> int:
        """Return about how many uses cost a little more than the budget, by Chernoff's bound in floating point."""

        def exceeds(number: int) -> bool:
            with suppress(Undecided):
                return guess_epsilon(self._declare(number).composition, self._delta) > _MORE * self._require_budget()
            return True

        low, high = 1, min(self._first_horizon, uses)
        while high < uses and not exceeds(high):
            low, high = high, min(_FARTHER * high, uses)
        return bisect(exceeds, low, high, lambda a, b: b - a <= a // 10)[1]

    def _look(self, horizon: int) -> Trajectory | None:
        with suppress(Undecided, Infeasible):
            return bound_steps(self._declare(horizon).composition, self._delta)
        return None

    def _require_budget(self) -> Fraction:
        if self._budget is None:
            raise InvalidArgument("a budget was looked for, but the account has none; give one to training")
        return self._budget

    def _is_within(self, uses: int) -> bool:
        """Whether so many uses are proved to be within the budget, by upper ends that :meth:`account` can tell."""
        try:
            upper = upper_at_delta(self._declare(uses).composition, self._delta, _GAP).upper
        except (Undecided, Infeasible):
            return False
        return upper is not None and upper <= self._require_budget()

    def _write(self, out: Path) -> None:
        told = self.account()
        texts = (to_file_text(told.certificate()), write_guarantee(told.guarantee))
        with replace_files(*_outputs(out)) as streams:
            for stream, text in zip(streams, texts, strict=True):
                stream.write(text.encode("utf-8"))


def training(
    *,
    noise_multiplier: object,
    batches: object,
    delta: object,
    budget: object | None = None,
    protection: Protection = RECORDS,
    out: str | PathLike[str] | None = None,
) -> TrainingAccount:
    """Return an account of a training loop with Gaussian noise, to be entered with ``with``: :class:`TrainingAccount`.

    ``noise_multiplier``: standard deviation of the noise over the norm to which each unit is clipped, whatever the neighbors are: replacing
    a unit moves a sum by twice that norm, which is in the bound (docs/batches.md). ``batches``: how they are drawn: the probability with
    which each unit is in a batch, by a coin of its own in each step (Poisson samples), the fields of an ``[[event]]`` of a composition file
    (``{"sampling": "random-allocation", "steps_per_epoch": 235}``, without counts), or a loader that
    :func:`accountant.interop.loaders.find_batches` reads. If they are drawn for a whole epoch, call ``epoch()`` before each. ``delta``: in
    (0, 1). ``budget``: ε in nats that is never exceeded. ``protection``: the unit and its neighbors. ``out``: where the files
    ``out.certificate.json`` and ``out.guarantee.json`` are written when the block is left, both or none.

    Numbers are exact: a text is the decimal that is written. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber` for numbers
    outside their ranges, neighbors for which nothing is proved, loaders whose law is not known, and outputs that cannot be written.

    >>> with training(noise_multiplier=2, batches="0.1", delta="1e-5", budget=1) as account:
    ...     while not account.is_spent:
    ...         account.step()
    >>> account.steps, str(account)
    (16, '0.973 <= epsilon <= 0.976')
    """
    if not isinstance(protection, Protection):
        raise InvalidArgument("a training run protects a unit and its neighbors, but others were found; use profiles.protection")
    said = find_batches(batches)
    drawn = read_batches(said, protection.neighbors, "a training run", of_records=True)
    event = make_event("gaussian", {"noise_multiplier": noise_multiplier}, sampling_probability=drawn.rate, batches=drawn.batches)
    least = to_delta(delta)
    if not least:
        raise InvalidArgument("a training run with Gaussian noise has no epsilon at delta = 0; give a delta such as 1e-5")
    place = None if out is None else Path(out)
    if place is not None:
        check_outputs({}, *_outputs(place))
    longest = steps_of(event)
    if longest > 1 and "steps_per_epoch" not in said:  # which are rounded down, so that nothing becomes less
        longest = -(-to_integer(said["records"], "records", 1) // to_integer(said["batch_size"], "batch_size", 1))
    return TrainingAccount(
        event, protection, least, None if budget is None else to_epsilon(budget), place, _Epochs(longest, find_allocated(batches))
    )


def _outputs(out: Path) -> tuple[Path, Path]:
    return out.with_name(out.name + CERTIFICATE), out.with_name(out.name + GUARANTEE)


def _short(value: Fraction, *, up: bool) -> str:
    return decimal_text(value, 3, round_up=up)


__all__ = ["CERTIFICATE", "GUARANTEE", "TrainingAccount", "training"]
