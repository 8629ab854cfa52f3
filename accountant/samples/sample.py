"""A sample that one analysis can use, once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from accountant.data.frames import missing_column
from accountant.guarantees import Guarantee, Run, assume, conclude_run, prove_run
from accountant.samples.once import to_hypotheses
from accountant.samples.plan import SamplingPlan
from accountant.samples.writing import to_matrix
from accountant.weights.fast.compiled import CompiledTerm
from profiles import InvalidArgument, InvalidData, Profile, SampleUsed
from profiles.arrays import Floats, ignore_flags
from profiles.mechanisms.catalogue import describe_proof
from profiles.randomness.bits import BitSource, Uncopied, repeats
from profiles.randomness.forks import mark_process
from profiles.randomness.system import open_generator
from profiles.terms import to_text
from profiles.variables import WEIGHT

#: Statistics are sums of squares or sizes over at most some hundred thousand columns, in any order.
_ROOM = 1e-10


@dataclass(frozen=True, slots=True)
class Records:
    """The selected rows (an Arrow table of the input columns), their weights and probabilities, shape (k,). As secret as the data."""

    table: Any = field(repr=False)
    weights: Floats = field(repr=False)
    q: Floats = field(repr=False)

    def points(self, columns: Sequence[str] | None = None) -> Floats:
        """Return ``columns`` (all numeric ones by default) as a float64 matrix of shape (k, d). Raises :class:`InvalidData`."""
        names = self.table.schema.names if columns is None else list(columns)
        for name in names:
            if name not in self.table.schema.names:
                raise missing_column(name, "the sample", self.table.schema.names)
        return to_matrix(self.table, names)


@dataclass(frozen=True, slots=True)
class Release:
    """What one analysis gave (a tuple, where several mechanisms were planned together), and its guarantee."""

    output: Any
    guarantee: Guarantee


class Sample(Uncopied):
    """A Poisson importance sample in memory. Made by :func:`accountant.draw_sample`.

    Claim: it gives its records away once. The guarantee is one of drawing *and* of one run of the planned mechanisms; a second run on the
    same records is not covered, and adding up the ε of two amplified releases would be false (docs/sampling.md, section 14).

    ``plan`` is public. ``guarantee`` is that of one analysis. The number of rows, the weights and which rows were selected are not public.
    """

    __slots__ = ("_bits", "_lock", "_process", "_records", "_statistics", "guarantee", "plan")

    def __init__(self, plan: SamplingPlan, records: Records, statistics: dict[str, Floats], bits: BitSource) -> None:
        self.plan, self.guarantee, self._bits = plan, plan.drawn_guarantee(bits), bits
        self._records: Records | None = records
        self._statistics = statistics
        self._lock, self._process = threading.Lock(), mark_process()

    @property
    def used(self) -> bool:
        """Whether the one analysis has been made."""
        return self._records is None

    def consume(self) -> Records:
        """Return the records for one analysis of one's own, which must have the planned profile. Raises :class:`SampleUsed` afterwards."""
        if self._process != mark_process():
            self._refuse_copy()
        with self._lock:
            records, self._records, self._statistics = self._records, None, {}
        if records is None:
            raise SampleUsed(
                "this sample has been used by its one analysis already, and its guarantee does not cover a second one; plan the mechanisms "
                "together, plan_sample([first, second], ...), so that they are composed and then amplified once, or draw a fresh sample "
                "for each and add up their epsilons"
            )
        return records

    @ignore_flags
    def release(self, mechanism: object, rng: np.random.Generator | None = None, *, columns: Sequence[str] | None = None) -> Release:
        """Run the planned mechanism (or list of mechanisms, in order) on the sample, once, and return its output with the guarantee.

        ``rng``: None for the secure source of the operating system; a generator of one's own is for tests and studies, and the guarantee
        says that its seed must be secret. ``columns`` are those that the mechanism gets (all by default; they must be numeric).
        Nothing is used up where the mechanism is not
        the planned one, reads other statistics than the weights were computed from, or ``rng`` has the seed that the sample was drawn with.
        Raises :class:`SampleUsed`, :class:`InvalidArgument`, :class:`InvalidData`, and what the mechanism raises (the sample is used then).
        """
        mechanisms = tuple(mechanism) if isinstance(mechanism, (list, tuple)) else (mechanism,)
        self._require_planned(mechanisms)
        if isinstance(rng, np.random.Generator) and repeats(self._bits, rng):
            raise InvalidArgument(
                "the noise would be made of the bits that selected the records, because both have the same seed; give another generator"
            )
        rng, hypothesis = open_generator(rng)
        records = self._records
        if records is not None:
            points = records.points(columns)
            for item in mechanisms:
                self._require_statistics(item, points)
        weights = self.consume().weights
        several = len(mechanisms) > 1  # what one does to its arrays must not change the records of the next
        outputs = tuple(item.run(points.copy(), weights.copy(), rng) if several else item.run(points, weights, rng) for item in mechanisms)
        guarantee = assume(self.guarantee, to_hypotheses(mechanism))
        known = all(describe_proof(item) is not None for item in mechanisms)
        guarantee = conclude_run(
            prove_run(guarantee, *mechanisms), Run(noise=hypothesis, draws=self._bits.hypothesis, earlier=True, known=known)
        )
        return Release(outputs if isinstance(mechanism, (list, tuple)) else outputs[0], guarantee)

    def _require_planned(self, mechanisms: tuple[Any, ...]) -> None:
        planned = self.plan.profiles
        if len(mechanisms) != len(planned):
            raise InvalidArgument(
                f"the sample was planned for {len(planned)} mechanism{'s' if len(planned) != 1 else ''}, but {len(mechanisms)} were given; "
                "plan it for what is run on it"
            )
        for item, profile in zip(mechanisms, planned, strict=True):
            own = getattr(item, "profile", None)
            if not isinstance(own, Profile) or not callable(getattr(item, "run", None)):
                raise InvalidArgument(
                    f"a mechanism with a profile and a run method was expected, but {type(item).__name__} was found; give one"
                )
            mine, its = ((item.promise, item.notion, item.record, item.parameters) for item in (own, profile))
            if mine != its:
                raise InvalidArgument(
                    f"the sample was planned for {profile.notion.number}(w, x) = {to_text(profile.promise)} of {profile.name!r}, but "
                    f"{own.name!r} has {to_text(own.promise)} or other ranges or parameters; plan and draw a sample for it"
                )

    def _require_statistics(self, mechanism: Any, points: Floats) -> None:
        """Refuse columns whose statistics, as the mechanism computes them, cost more than those that the weights were computed from."""
        statistics, records = self._statistics, self._records  # in this order: another thread may use the sample up meanwhile
        if records is None or not callable(getattr(mechanism, "statistic", None)):
            return
        given = {name: np.asarray(values, dtype=np.float64) for name, values in mechanism.statistic(points).items()}
        given = {name: values for name, values in given.items() if name in statistics}
        for name, values in given.items():
            if values.shape != records.weights.shape:
                raise InvalidData(
                    f"the mechanism must have one value of {name!r} a record, but an array of another shape was found; correct it",
                    private=f"{values.shape} for {records.weights.size} records",
                )
        cost = CompiledTerm(mechanism.profile.stand_in().numeric_epsilon())
        free = {parameter.name: np.ones(1) for parameter in mechanism.profile.free_parameters}
        with np.errstate(all="ignore"):
            assumed, real = (
                np.asarray(cost.values({**free, **statistics, **more, WEIGHT: records.weights})) for more in (dict[str, Floats](), given)
            )
        if not np.all(real <= assumed * (1.0 + _ROOM) + _ROOM * _ROOM):  # also where there is a NaN
            raise InvalidData(
                f"the statistics of the mechanism ({', '.join(given)}) cost more than the one that the weights were computed from; name "
                "the mechanism's columns, and give draw_sample the statistic that they have"
            )

    def _refuse_copy(self) -> NoReturn:
        raise SampleUsed(
            "a sample cannot be copied, pickled or taken into a forked process, because each copy could be used once; draw a fresh "
            "sample where one is needed"
        )

    def __repr__(self) -> str:
        return f"<Sample for {self.plan.profile.name!r}, {'used' if self.used else 'not used yet'}>"
