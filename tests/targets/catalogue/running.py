"""Running a mechanism as the accountant's theorems assume it: after Poisson importance sampling, and several times on one data set.

Nothing here draws a random number or computes a probability: q and w come from the selector that samples are drawn with, the draws from
the sampler, the outputs from the mechanism. So an audit runs what ships.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

from accountant.rules import SamplingRule
from accountant.selection.select import Selection, Selector, prepare_selection
from profiles.arrays import Floats
from profiles.errors import InvalidArgument, InvalidSampling
from profiles.evaluation import exact_value
from profiles.mechanisms import GaussianLloyd, Mechanism, WeightedLloyd
from profiles.mechanisms.datasets import to_points
from profiles.mechanisms.interface import whole_number
from profiles.mechanisms.lloyd_runs import PostProcessing
from profiles.profile import Profile
from profiles.randomness.bernoulli import PoissonSampler
from tests.targets.suite import Sampler
from tests.targets.suite.noise import Blocks

#: Largest data set that is sampled: outputs are grouped by the records that were selected.
MOST_RECORDS = 12

#: A public map from records, shape (n, d), to their selection; it must look at each record by itself.
SelectionMap = Callable[[Floats], Selection]


def exact_probability(rule: SamplingRule, statistics: dict[str, Fraction]) -> Fraction:
    """Return q(x) of an explicit rule as an exact number. Raises :class:`InvalidSampling` where q is implicit or not rational."""
    q = None if rule.q is None else exact_value(rule.q, statistics)
    if q is None:
        raise InvalidSampling(f"the rule {rule.name!r} gives no rational probability at this record; use a polynomial rule")
    return q


def exact_statistics(mechanism: Mechanism, points: Floats) -> list[dict[str, Fraction]]:
    """Return the record statistics of each row as the exact values of the binary64 numbers that the mechanism computes."""
    columns = {name: values.tolist() for name, values in mechanism.statistic(points).items()}
    return [{name: Fraction(values[row]) for name, values in columns.items()} for row in range(len(points))]


@cache
def prepare(profile: Profile, rule: SamplingRule) -> Selector:
    """Return the selector of a rule, once: that ε does not fall in w is proved for it."""
    return prepare_selection(profile, rule)


@dataclass(frozen=True, slots=True, eq=False)
class ShippedSelection:
    """The numbers q̂ and ŵ that a sample for ``mechanism`` is drawn with, by the selector of ``rule`` (docs/sampling.md, section 4)."""

    mechanism: Mechanism
    rule: SamplingRule
    selector: Selector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "selector", prepare(self.mechanism.profile, self.rule))

    def __call__(self, points: Floats) -> Selection:
        """Return the selection of each row."""
        return self.selector.select(self.mechanism.statistic(points) or {"number": np.zeros(len(points))})


@dataclass(frozen=True, slots=True)
class PoissonSampled:
    """Claim: M after Poisson importance sampling, where M is ε-PDP, has the PDP profile ψ(x) = log(1 + q(x)(e^ε(1/q(x), x) − 1)).

    For every output each record is selected afresh, independently, by :class:`accountant.samples.PoissonSampler`, with probability
    q̂ ≤ q(x), and gets the weight ŵ ≤ 1/q̂, for which the claim is an upper bound; ``mechanism`` runs on the weighted subsample.

    A data set is an array of records without weights, shape (n, d), n ≤ 12. Outputs that selected the same records are drawn together, by
    one call of ``mechanism``. Source: Fay et al. 2024, Theorem 6. Raises :class:`InvalidArgument` for more records, and what
    ``selection`` and ``mechanism`` raise.
    """

    mechanism: Sampler
    selection: SelectionMap

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` independent outputs, each of a subsample of its own."""
        points = to_points(dataset, None)
        if len(points) > MOST_RECORDS:
            raise InvalidArgument(
                f"at most {MOST_RECORDS} records can be sampled in an audit, but {len(points)} were found; use a small data set"
            )
        chosen = self.selection(points)
        kept = PoissonSampler(rng).select(np.tile(chosen.probabilities, size)).reshape(size, len(points))
        weights = np.where(np.isfinite(chosen.weights), chosen.weights, 1.0)  # a record without any cost is never selected
        codes = kept @ (1 << np.arange(len(points), dtype=np.int64))
        outputs: Floats | None = None
        for code in np.unique(codes):
            rows = np.flatnonzero(codes == code)
            present = kept[rows[0]]
            drawn = self.mechanism((points[present], weights[present]), rng, len(rows))
            if outputs is None:
                outputs = np.empty((size, *drawn.shape[1:]))
            outputs[rows] = drawn
        if outputs is None:
            raise InvalidArgument("at least one output must be asked for, but none was; give a positive size")
        return outputs


def release(mechanism: Sampler) -> Sampler:
    """Return the mechanism with outputs rounded to multiples of 2⁻³⁰: what quotients and mistakes in floating point give away is not what
    is audited here. Exact sums and counts of these scales are multiples of a larger power of two, and stay what they are.
    """
    return Blocks(mechanism, rounded=True)


@dataclass(frozen=True, slots=True)
class Together:
    """Claim: if M_i has the PDP profile ε_i, releasing the outputs of all of them on one data set has Σ ε_i.

    Every part draws its own randomness, subsamples included. Outputs are flattened and concatenated, shape (size, Σ d_i).
    Source: Ebadi et al. 2015 (adaptive composition); Fay et al. 2024, proof of Proposition 13.
    """

    parts: tuple[Sampler, ...]

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` independent releases."""
        return np.concatenate([np.reshape(part(dataset, rng, size), (size, -1)) for part in self.parts], axis=1)


def repeat(mechanism: Sampler, times: int) -> Together:
    """Return the mechanism that releases ``times`` independent runs: ``times``·ε for an ε-PDP one. Raises :class:`InvalidArgument`."""
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise InvalidArgument(f"the number of runs must be a positive integer, but {times} was found; give one")
    return Together((mechanism,) * times)


@dataclass(frozen=True, slots=True)
class OneColumn:
    """One column of a mechanism's outputs, which is post-processing: shape (size,)."""

    mechanism: Sampler
    column: int

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return the column of ``size`` outputs."""
        return self.mechanism(dataset, rng, size)[:, self.column]


@dataclass(frozen=True, slots=True)
class BeforeQuotients:
    """The noisy counts and sums of all T iterations of DP-Lloyd, as ``mechanism`` hands them to its post-processing, shape
    (size, T·k·(d + 1)): for each iteration the counts and then the sums.

    Its profile covers them; centres are quotients of them, in which low bits do not show.
    """

    mechanism: WeightedLloyd | GaussianLloyd

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return the counts and the sums of ``size`` runs."""
        found: list[Floats] = []
        move = PostProcessing.move

        def keep(own: PostProcessing, previous: Floats, counts: Floats, sums: Floats) -> Floats:
            found.append(np.concatenate((counts, sums.reshape(len(sums), -1)), axis=1))
            return move(own, previous, counts, sums)

        with mock.patch.object(PostProcessing, "move", keep):
            self.mechanism.sample(dataset, rng, size)
        rounds = whole_number(self.mechanism.iterations, "the number of iterations")  # of a block of runs, one after the other
        return np.concatenate([np.concatenate(found[start : start + rounds], axis=1) for start in range(0, len(found), rounds)])


_SHIPPED = ("profiles.mechanisms", "accountant.applications.repeated", "accountant.selection")
_DRAWS = f"{PoissonSampler.__module__}:{PoissonSampler.__qualname__}.select"


def find_shipped(runner: Any) -> tuple[str, ...]:
    """Return the functions of what ships that a runner goes through, as ``module:class.function``, in no particular order.

    Looks through the fields of dataclasses, so that a runner which computes something itself has no name for it.
    """
    found: dict[str, None] = {}
    waiting = [runner]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if isinstance(item, PoissonSampled):
            found[_DRAWS] = None
        if kind.__module__.startswith(_SHIPPED) and (name := next((name for name in ("sample", "select") if hasattr(item, name)), None)):
            found[f"{kind.__module__}:{kind.__qualname__}.{name}"] = None
            if not hasattr(item, "plan"):  # a mechanism that runs another one on a sample goes on
                continue
            found[_DRAWS] = None
        if isinstance(item, tuple):
            waiting += item
        elif isinstance(item, ShippedSelection):
            waiting.append(item.selector)
        elif is_dataclass(item):
            waiting += [getattr(item, part.name) for part in fields(item)]
    return tuple(found)
