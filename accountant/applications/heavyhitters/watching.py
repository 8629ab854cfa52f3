"""One pass over a stream: THRESHMONITOR on the Poisson sample, time step by time step (docs/heavy-hitters.md, Algorithm A)."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from accountant.applications.heavyhitters.domain import OUTSIDE, Item, PublicDomain, to_integers
from accountant.applications.heavyhitters.draws import LONGEST_RUN, TailDraws
from accountant.applications.heavyhitters.streams import choose_rows
from accountant.applications.heavyhitters.users import NOBODY, Membership, UserTable, open_decision
from accountant.guarantees import Guarantee
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Integers
from profiles.private import list_values
from profiles.randomness.bits import BitSource, Uncopied
from profiles.randomness.forks import mark_process

_ONE_KEY = 2**62
_NONE: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class StepReport:
    """The items reported for one public time step, in the order of the domain. Released as it is: nothing else belongs beside it."""

    time: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PassState:
    """What a pass knows between two batches: ``step`` that is being collected, ``last`` one to report, users on record, their slots and
    what is left to each slot, and the pairs (slot, place of the item) of the step so far. All but the steps is private.
    """

    step: int
    last: int
    users: Integers | list[str] = field(repr=False)
    slots: Integers = field(repr=False)
    left: np.ndarray[Any, Any] = field(repr=False)
    pending_slots: Integers = field(repr=False)
    pending_places: Integers = field(repr=False)


@dataclass(frozen=True, slots=True)
class PassConstants:
    """The public constants that a pass runs with: ``rate`` is λ = ε₀/k, ``p`` the sampling probability."""

    k: int
    threshold: int
    rate: Fraction
    p: float
    domain: PublicDomain
    times: PublicDomain
    membership: Membership
    refuses: bool


class Watch(Uncopied):
    """Claim: everything that :meth:`push` and :meth:`finish` return, together, has the guarantee ``guarantee``, also if later records
    depend on earlier reports. Its state is secret, and is used by one thread. Made by ``HeavyHitterMonitor.start``.
    """

    __slots__ = (
        "_closed",
        "_draws",
        "_endless",
        "_last",
        "_lock",
        "_pending",
        "_process",
        "_run",
        "_setting",
        "_step",
        "_users",
        "guarantee",
    )

    def __init__(self, setting: PassConstants, source: BitSource, guarantee: Guarantee) -> None:
        self.guarantee = guarantee
        self._setting = setting
        self._users = UserTable(setting.k, open_decision(setting.membership, setting.p, source))
        self._draws = TailDraws(setting.rate, source)
        self._pending: list[tuple[Integers, Integers]] = []
        self._step = 0  # the time step that is being collected: an index into setting.times
        self._run, self._endless = 0, True  # failures to come among the items without a record; endless: then draw again
        self._closed, self._last = False, len(setting.times)  # nothing comes after the last time step
        self._process, self._lock = mark_process(), threading.Lock()

    @property
    def step(self) -> int:
        """The index of the time step that is being collected: public, where the reports so far are."""
        return self._step

    def export(self) -> PassState:
        """Return what the pass knows, to go on from it later: :mod:`~accountant.applications.heavyhitters.state`. Private.

        Digits that were read ahead and the run of failures to come are left out: others of the same law take their place.
        """
        users, slots, left = self._users.export()
        empty = [_NONE], [_NONE]
        held = tuple(np.concatenate([*none, *parts]) for none, parts in zip(empty, zip(*self._pending, strict=True), strict=False))
        pending = held if self._pending else (_NONE, _NONE)
        return PassState(self._step, self._last, users, slots, left, *pending)

    def restore(self, state: PassState) -> None:
        """Take up an exported state; for a new pass. Raises :class:`InvalidArgument` where its time steps are over."""
        self._users.restore(state.users, state.slots, state.left)
        self._step, self._last = state.step, state.last
        self._pending = [(state.pending_slots, state.pending_places)] if state.pending_slots.size else []
        self._closed = self._step > self._last

    def push(self, times: Any, users: Any, items: Any) -> tuple[StepReport, ...]:
        """Take records in the order of their times; return the reports of the time steps that are complete, because a later time has come.

        ``times``: one time for all records (also for none: the clock), or as many as there are records; ``users``, ``items``: sequences
        of one length. A user may have any number of items at a time, none, or one item several times (which counts once).
        Raises :class:`InvalidData` (lengths, types, missing values, times out of order; records outside the public domain or times where
        the monitor refuses them), :class:`InvalidArgument` after the end. An error closes the pass.
        """
        return tuple(self.iterate(times, users, items))

    def finish(self, until: int | None = None) -> tuple[StepReport, ...]:
        """Return the reports of the remaining time steps, up to ``until`` (public; the last one if not given), and close the pass."""
        return tuple(self.iterate_rest(until))

    def iterate(self, times: Any, users: Any, items: Any) -> Iterator[StepReport]:
        """Yield what :meth:`push` returns, one time step after the other."""
        with self._turn():
            steps, clock = self._read_times(times, len(users))
            if len(items) != len(users):
                raise InvalidData(
                    "as many items as users were expected, but their numbers differ; pass pairs",
                    private=f"{len(users)} users and {len(items)} items",
                )
            places = self._setting.domain.places(items)
            if self._setting.refuses and (places == OUTSIDE).any():
                raise InvalidData(
                    "a record has an item outside the public domain; have such records ignored (outside='ignore'), or declare a domain "
                    "that was chosen without looking at this data"
                )
            inside = (places != OUTSIDE) & (steps != OUTSIDE)
            if not inside.all():
                rows = np.flatnonzero(inside)
                users, places, steps = choose_rows(users, rows), places[rows], steps[rows]
            self._forget()
            slots = self._users.slots(users)
            starts = np.flatnonzero(np.diff(steps, prepend=OUTSIDE))
            for start, stop in itertools.pairwise([*starts, steps.size]):
                yield from self._close_until(int(steps[start]))
                self._collect(slots[start:stop], places[start:stop])
            yield from self._close_until(clock)

    def iterate_rest(self, until: int | None = None) -> Iterator[StepReport]:
        """Yield what :meth:`finish` returns, one time step after the other."""
        with self._turn():
            last = len(self._setting.times) - 1 if until is None else self._place(until, self._step - 1)
            yield from self._close_until(last + 1)
            self._last = last

    def iterate_until(self, time: int) -> Iterator[StepReport]:
        """Yield the reports of the time steps up to ``time``, because a public clock says that they are over; the pass continues."""
        with self._turn():
            yield from self._close_until(self._place(time, self._step - 1) + 1)

    def require_to_come(self, time: int) -> None:
        """Refuse what is not a public time step whose report is still to come. Raises :class:`InvalidArgument`."""
        self._place(time, self._step)

    def _place(self, time: int, least: int) -> int:
        """Return the index of a public time step, at least ``least``. Raises :class:`InvalidArgument`."""
        place = OUTSIDE
        if isinstance(time, (int, np.integer)) and not isinstance(time, bool):
            place = int(self._setting.times.places(np.array([time]))[0])
        if place == OUTSIDE or place < least:
            raise InvalidArgument(f"the time step {str(time)[:40]} is not a public one, or is over already; name a later one")
        return place

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        if self._process != mark_process():
            raise InvalidArgument("a pass was used in a forked process, where its noise would be that of its parent; start one there")
        if not self._lock.acquire(blocking=False):
            raise InvalidArgument("a pass was used while it was at work; exhaust its reports first, and use it from one thread")
        try:
            if self._closed:
                raise InvalidArgument("a pass was used after its end (or after an error); start another one, which spends epsilon again")
            self._closed = True  # until all went well
            yield
            self._closed = self._step > self._last
        finally:
            self._lock.release()

    def _read_times(self, times: Any, count: int) -> tuple[Integers, int]:
        """Return the time step of every record (``OUTSIDE`` where its time is no public one), and the step that has begun."""
        clock = isinstance(times, (int, np.integer))
        numbers = to_integers(np.array([times]) if clock else times, "a time")
        places = self._setting.times.places(numbers)
        if not clock and numbers.size != count:
            raise InvalidData(
                "as many times as users were expected, but their numbers differ; pass triples",
                private=f"{count} users and {numbers.size} times",
            )
        public = places[places != OUTSIDE]
        if (np.diff(numbers) < 0).any() or (public.size and int(public[0]) < self._step):
            row = int(np.argmax(np.diff(numbers) < 0)) + 1 if (np.diff(numbers) < 0).any() else 0
            raise InvalidData(
                f"records must be sorted by time, but row {row} of this batch (from 0) comes after a later one; sort the stream",
                private=list_values([(row, numbers[row])]),
            )
        if self._setting.refuses and public.size != places.size:
            raise InvalidData(
                "a record has a time that is not a public time step; have such records ignored (outside='ignore'), or declare times that "
                "were chosen without looking at this data"
            )
        return (np.full(count, places[0]), int(places[0])) if clock else (places, 0)

    def _collect(self, slots: Integers, places: Integers) -> None:
        """Hold the records of active users until their time step is complete."""
        known = slots != NOBODY
        slots, places = slots[known], places[known]
        active = self._users.left[slots] > 0
        if active.any():
            self._pending.append((slots[active], places[active]))

    def _forget(self) -> None:
        if self._users.has_doubled:
            new = self._users.forget(np.concatenate([_NONE, *(slots for slots, _ in self._pending)]))
            self._pending = [(new[slots], places) for slots, places in self._pending]

    def _close_until(self, step: int) -> Iterator[StepReport]:
        """Yield the reports of the time steps before ``step`` that are not over yet."""
        while self._step < step:
            time, self._step = self._setting.times[self._step], self._step + 1
            reports = self._decide() if self._pending else self._decide_absent(_NONE)
            yield StepReport(int(time), tuple(self._setting.domain[place] for place in reports))

    def _decide(self) -> list[int]:
        """Decide about every item of the domain for one time step; return the indices of those reported, in ascending order."""
        slots, places = self._gather()
        first = np.flatnonzero(np.diff(places, prepend=-1))
        present, counts = places[first], np.diff(first, append=places.size)
        gaps = np.maximum(self._setting.threshold - counts, 0)
        reported = [  # one item after the other: a report drops users
            int(present[at])
            for at in np.flatnonzero(self._draws.passes(gaps))
            if self._confirm(slots[first[at] : first[at] + counts[at]], int(gaps[at]))
        ]
        return sorted(reported + self._decide_absent(present))

    def _gather(self) -> tuple[Integers, Integers]:
        """Return the pairs (user, item) of the step, each once, sorted by item, as two arrays."""
        slots, places = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending = []
        width = int(slots.max()) + 1
        if int(places.max()) < _ONE_KEY // width:
            keys = np.sort(places * width + slots)
            keys = keys[np.diff(keys, prepend=-1) != 0]
            places = keys // width
            return keys - places * width, places
        order = np.lexsort((slots, places))
        slots, places = slots[order], places[order]
        new = (np.diff(slots, prepend=-1) != 0) | (np.diff(places, prepend=-1) != 0)
        return slots[new], places[new]

    def _confirm(self, slots: Integers, gap: int) -> bool:
        """Go on with an item whose draw succeeded with the count at the start of the step: P[success] = e^(−λ·gap).

        Users who were dropped at an earlier item of the same step no longer count. With them gone the gap is wider, and that the noise
        exceeds it, given that it exceeded ``gap``, has probability e^(−λ·(wider − gap)), because the tail has no memory.
        """
        active = slots[self._users.left[slots] > 0]
        wider = max(self._setting.threshold - active.size, 0)
        if wider > gap and not self._draws.passes_one(wider - gap):
            return False
        self._users.left[active] -= 1
        return True

    def _decide_absent(self, present: Integers) -> list[int]:
        """Return which of the items without an active user are reported, each independently with probability e^(−λ·threshold).

        The draws run through these items one after the other, over all time steps, as the lengths of runs of failures; a run that is not
        over at the end of a step goes on in the next one, because each trial has the same probability whatever happened before.
        """
        absent = len(self._setting.domain) - present.size
        shifted = present - np.arange(present.size)
        at, reported = 0, []
        while self._run < absent - at:
            at += self._run
            if not self._endless:
                reported.append(at + int(np.searchsorted(shifted, at, side="right")))
                at += 1
            self._run = min(self._draws.failures(self._setting.threshold), LONGEST_RUN)
            self._endless = self._run == LONGEST_RUN
        self._run -= absent - at
        return reported

    def _refuse_copy(self) -> NoReturn:
        raise InvalidArgument("a pass cannot be copied or pickled, because both would use the same random bits; start another one")
