"""The expected error of a weighted sum: what sampling adds to what the noise adds (docs/howto-epsilon.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.calibration.lloyd import noise_energy
from accountant.columns.values import Column
from accountant.data import StatisticSpec, complete_specs, open_dataset
from accountant.rules import SamplingRule
from accountant.selection.select import Selector, prepare_selection
from profiles import InvalidArgument, Profile, decimal_text
from profiles.balls import working_precision
from profiles.evaluation import exact_value
from profiles.numbers import decimal_above, round_up
from profiles.terms import number, symbol
from profiles.variables import Statistic
from proofs_check.branch_and_bound import SearchedTerm, enclose_supremum

#: The norms whose densities ∝ exp(−‖ζ‖_p/s) are meant by a noise of scale s, with p.
NOISE_NORMS: Mapping[str, float] = {"l1": 1.0, "l2": 2.0, "linf": math.inf}
DATA = "this data set"
_L2 = "l2 norm of the record"
_BITS, _BUDGET, _DIGITS = 128, 4_000, 6
#: What the two bounds of a supremum are to differ by, relatively, and may at most.
_GAP, _WIDEST = Fraction(1, 10**6), Fraction(1, 1000)


@dataclass(frozen=True, slots=True)
class SumError:
    """E‖Ŝ − S‖₂² = ``sampling`` + ``noise`` for one noisy weighted sum Ŝ = Σ w x + ζ over the sample, S = Σ x over all records.

    ``basis``: "this data set", where ``sampling`` is its value there (a figure of the data: private); else the data sets for
    which it is an upper bound.
    """

    sampling: float
    noise: float
    basis: str

    @property
    def private(self) -> bool:
        """Whether the number was computed from the data."""
        return self.basis == DATA

    @property
    def root_mean_square(self) -> float:
        """√(sampling + noise), rounded up."""
        return math.nextafter(math.sqrt(math.nextafter(self.sampling + self.noise, math.inf)), math.inf)

    def to_json(self) -> dict[str, Any]:
        """Return decimal strings, rounded up."""
        return {
            "root_mean_square": shown(self.root_mean_square),
            "sampling_variance": shown(self.sampling),
            "noise_variance": shown(self.noise),
            "for": self.basis,
        }


def shown(value: float) -> str:
    """Return a number with six digits, rounded up."""
    return decimal_text(Fraction(value), _DIGITS, round_up=True) if math.isfinite(value) else "inf"


@dataclass(frozen=True, slots=True)
class SumNoise:
    """Noise on a sum in ``dimension`` coordinates with density ∝ exp(−‖ζ‖_p/s), p = ``NOISE_NORMS[norm]``: Laplace noise for l1."""

    norm: str = "l1"
    dimension: int = 1

    def variance(self, scale: Fraction) -> float:
        """Return E‖ζ‖₂² (:func:`accountant.calibration.lloyd.noise_energy` times s²)."""
        try:
            return noise_energy(self.dimension, NOISE_NORMS[self.norm]) * float(scale) ** 2
        except OverflowError:
            return math.inf


@dataclass(frozen=True, slots=True)
class SumRecords:
    """The records whose sum it is: a data set, read anew for each rule, and how the statistics and the l2 norm are read.

    ``of_sum``: the statistic that is summed, or the norm of what is; None: all of them are columns, the coordinates of the sum.
    """

    data: Any = field(repr=False)
    specs: tuple[StatisticSpec, ...]
    of_sum: StatisticSpec | None

    def batches(self) -> Any:
        """Yield the statistics of all records in batches, with the l2 norm of each."""
        norm = self.of_sum
        if norm is None:
            for batch in open_dataset(self.data).batches(self.specs):
                columns = (np.asarray(batch.statistics[spec.name], dtype=np.float64) for spec in self.specs)
                yield dict(batch.statistics), np.sqrt(sum(column * column for column in columns))
            return
        wanted = norm if norm.norm is None else StatisticSpec(_L2, norm="l2", only=norm.only, without=norm.without)
        extra = () if norm.norm is None else (wanted,)
        for batch in open_dataset(self.data).batches((*self.specs, *extra)):
            chosen = batch.statistics[_L2 if extra else norm.name]
            yield dict(batch.statistics), np.abs(np.asarray(chosen, dtype=np.float64))

    def statistics(self) -> Any:
        """Yield the declared statistics of each batch, without the norms of what is added up."""
        for statistics, _ in self.batches():
            yield {spec.name: statistics[spec.name] for spec in self.specs}


def read_records(profile: Profile, data: Any, specs: tuple[StatisticSpec, ...]) -> SumRecords:
    """Return the records. Raises :class:`InvalidArgument` where it is not clear what is summed."""
    chosen = complete_specs(profile, specs)
    if not chosen:
        raise InvalidArgument(f"a data set was given, but {profile.name!r} has no statistic that could be read from it; leave --data out")
    norms = [spec for spec in chosen if spec.norm is not None]
    if len(norms) > 1:
        raise InvalidArgument(
            f"the error of a sum was to be computed from data, but {len(norms)} statistics of {profile.name!r} are norms, and it is not "
            "clear which one is of what is summed; read the others from columns, or leave --data out"
        )
    return SumRecords(data, chosen, norms[0] if norms else chosen[0] if len(chosen) == 1 else None)


def choose_noise(records: SumRecords | None, norm: str | None, dimension: int | None) -> SumNoise:
    """Return the noise that is meant: as given, else by the norm that the statistic is, in as many coordinates as it has columns.

    Raises :class:`InvalidArgument`.
    """
    if norm is not None and norm not in NOISE_NORMS:
        raise InvalidArgument(f"the norm of the noise must be l1, l2 or linf, but {norm[:40]!r} was found; choose one")
    if dimension is not None and dimension < 1:
        raise InvalidArgument(f"the dimension must be at least 1, but {dimension} was found; give the number of coordinates of the sum")
    spec = None if records is None else records.of_sum
    if records is not None and spec is None:
        return SumNoise(norm or "l1", dimension or len(records.specs))
    if spec is None or spec.norm is None:
        return SumNoise(norm or "l1", dimension or 1)
    if dimension is None and not spec.only:
        raise InvalidArgument(
            "the error of a sum needs its number of coordinates, but the statistic is a norm of all numeric columns; name the columns, or "
            "give --dimension"
        )
    return SumNoise(norm or (spec.norm if spec.norm in NOISE_NORMS else "l2"), dimension or len(spec.only))


def error_on_data(profile: Profile, rule: SamplingRule, bound: Fraction, scale: Fraction, records: SumRecords, noise: SumNoise) -> SumError:
    """Return the expected error on a data set, with the numbers q that a sampler uses: Σ (1/q − 1) a², a the l2 norms. Private.

    Raises what reading and :meth:`Selector.select` raise.
    """
    selector: Selector = prepare_selection(profile, rule, bound=bound)
    sums, rows = list[float](), 0
    for statistics, norms in records.batches():
        given: dict[str, Column] = {spec.name: statistics[spec.name] for spec in records.specs}
        q = selector.select(given, first_row=rows).probabilities
        rows += q.size
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            sums.append(float(np.sum(np.where(norms > 0, (1.0 / q - 1.0) * norms * norms, 0.0))))
    return SumError(math.fsum(sums) if all(map(math.isfinite, sums)) else math.inf, noise.variance(scale), DATA)


def error_of_any(profile: Profile, rule: SamplingRule, count: Fraction, scale: Fraction, noise: SumNoise) -> SumError | None:
    """Return a bound of the expected error for all data sets of ``count`` records in the declared range of the only statistic z, which is
    the norm that the noise belongs to: n · sup (1/q(z) − 1) c z² with ‖x‖₂² ≤ c z² (c = d for linf, else 1). Without a statistic
    it is records that are counted: n (1/q − 1). None where there is none.
    """
    if rule.q is None or profile.free_parameters or len(profile.record) > 1:
        return None
    if not profile.record:
        rate = exact_value(rule.q, {})
        if not rate:
            return None
        return SumError(round_up(count * (1 / rate - 1)), noise.variance(scale), "any data set of n records, each counted once")
    statistic = profile.record[0]
    factor = number(Fraction(noise.dimension if noise.norm == "linf" else 1))
    z = symbol(statistic.name)
    square = ("mul", z, z)
    worst = _supremum(("mul", ("mul", factor, square), ("add", ("div", number(Fraction(1)), rule.q), number(Fraction(-1)))), statistic)
    if worst is None:
        return None
    total = round_up(worst * count)
    basis = f"any data set of n records in the declared range, {statistic.name} being the norm |x|"
    return None if total == math.inf else SumError(total, noise.variance(scale), basis)


def _supremum(term: Any, statistic: Statistic) -> Fraction | None:
    """Return an upper bound of a term that is at least 0 somewhere, near its supremum, None where none was found."""
    box = {statistic.name: (statistic.lo, statistic.hi)}
    with working_precision(_BITS):
        supremum = enclose_supremum(SearchedTerm(term, (statistic.name,)), box, _GAP, _BUDGET, least=Fraction(1, 10**6)).exact()
    return None if supremum is None or supremum[1] > max(supremum[0], _GAP) * (1 + _WIDEST) else decimal_above(supremum[1], 12)
