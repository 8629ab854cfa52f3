"""One private fit from rows to centres: statistics, method, guarantee, in one place for the estimator and for the command.

Everything is refused before a row is read that would be refused for all data. docs/private-kmeans.md has the statement and the proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from accountant.applications.budget.concluding import bound_costs, prove_released
from accountant.applications.budget.protocols import Statistics
from accountant.applications.budget.records import Domain, PrivateRecords, as_vector
from accountant.applications.budget.rows import SelectableRows
from accountant.applications.budget.spending import NormalNoise, Payment, PricedNoise, PureNoise, Spending, open_law
from accountant.applications.kmeans.bounds import BoundedRows, ColumnBounds
from accountant.applications.kmeans.composed_guarantee import CertifiedPath, describe_path
from accountant.applications.kmeans.method import find_centres
from accountant.applications.kmeans.protocols import Clustering, Method
from accountant.applications.kmeans.sampling import SampleChoice, SampledRecords, certify_sample
from accountant.applications.kmeans.statistics import Public, find_largest_norm, release_statistics
from accountant.deltas import warn_of_delta
from accountant.guarantees import (
    Guarantee,
    Losses,
    Run,
    assume,
    compose,
    conclude_run,
    curve_of_profile,
    keep_within_budget,
    point_of_curve,
    update_hypotheses,
)
from accountant.guarantees.gaussian import bound_mu
from accountant.guarantees.rules import GIVEN_ROW, name_readings
from accountant.rules.named import PUBLIC_RATE
from profiles import InvalidArgument, InvalidData, InvalidTarget, Undecided, exact_text, to_exact
from profiles.arrays import Floats, ignore_flags
from profiles.hypotheses import EXACT_REALS, IN_RANGE, PUBLIC_CONSTANTS, WITHIN_BUDGET, Hypothesis
from profiles.mechanisms import GaussianSum, KNormSum
from profiles.mechanisms.ball import project_records
from profiles.mechanisms.datasets import check_radius
from profiles.numbers import ExactLike, to_integer
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BitSource

_PAGE = "docs/private-kmeans.md"
_MOST_CLUSTERS = 10**5
#: Squared norms, and the squares of their noise, are numbers of binary64 in such balls, however small ε is.
_LEAST_RADIUS, _LARGEST_RADIUS = Fraction(1, 10**60), Fraction(10**60)
#: Above this part of all records in one cluster the centres say little.
_NEARLY_ALL = 0.95
#: Where columns differ that much in size they seldom have one unit.
_OTHER_UNITS = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class FitSettings:
    """The arguments of a fit, checked: they are part of the mechanism, and the bound holds for each value of them."""

    clusters: int
    epsilon: Fraction
    delta: Fraction | None
    radius: Fraction | None
    center: object
    public: Public
    law: PricedNoise
    sample: SampleChoice | None = None
    #: A field that came later: what was stored without it is still served.
    bounds: ColumnBounds | None = field(default=None, metadata={"later": True})

    @classmethod
    def of(
        cls,
        clusters: object,
        epsilon: ExactLike,
        *,
        delta: ExactLike | None = None,
        radius: ExactLike | None = None,
        center: object = None,
        public: object = (),
        sample: object = None,
        sample_size: ExactLike | None = None,
        bounds: object = None,
    ) -> FitSettings:
        """Return checked arguments. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`, :class:`profiles.Infeasible`."""
        named = Public.of(public)
        box = None if bounds is None else ColumnBounds.of(bounds)
        if box is not None:
            if radius is not None or "radius" in named:
                raise InvalidArgument("bounds and a radius were given, but the radius follows from bounds; leave out one of the two")
            radius = box.radius
        if (radius is None) != ("radius" in named):
            raise InvalidArgument(
                "public bounds of the records are needed, which are never computed from the data: give bounds of each column that are "
                "known without looking (--bounds age=0:110; best where columns have units of their own), or the radius of a ball about "
                "0 (--radius), or, where the largest norm of these records is public, public=('radius',) without one"
            )
        if radius is not None:
            check_radius(radius)
        count = to_integer(clusters, "n_clusters", 1, _MOST_CLUSTERS)
        law = open_law(epsilon, delta)
        exact = None if delta is None else to_exact(delta, "delta")
        chosen = None if sample is None and sample_size is None else SampleChoice.of(sample, sample_size)
        if chosen is not None and delta is not None:
            raise InvalidArgument(
                "a sample was asked for together with a delta, but samples of private k-means keep a pure epsilon (docs/private-kmeans.md, "
                "section 4, says why); leave out delta, or leave out sample and use every record with normal noise"
            )
        ball = None if radius is None else to_exact(radius, "the radius")
        if ball is not None and not _LEAST_RADIUS <= ball <= _LARGEST_RADIUS:
            raise InvalidArgument(
                "the radius of the ball must lie between 1e-60 and 1e60, where its square and the noise of that are numbers of binary64, "
                "but another one was found; rescale the data by a public constant"
            )
        return cls(count, to_exact(epsilon, "epsilon"), exact, ball, None, named, law, chosen, box).around(center)

    def around(self, center: object) -> FitSettings:
        """Return the same arguments with another public center. Raises :class:`InvalidArgument` beside bounds, which have a middle."""
        if center is not None and self.bounds is not None:
            raise InvalidArgument("bounds were given, and a center as well, but the center follows from bounds; leave out one of the two")
        return replace(self, center=center)

    def for_columns(self, columns: Sequence[str] | None, dimension: int) -> FitSettings:
        """Return the same arguments with bounds in the order of the columns. Raises :class:`InvalidArgument`."""
        return self if self.bounds is None else replace(self, bounds=self.bounds.arrange(columns, dimension))


@dataclass(frozen=True, slots=True, eq=False)
class FitDraws:
    """What a fit draws from: ``bits`` for noise and samples, ``rng`` for what need not be secret.

    ``source`` is what has to be true of the bits; ``known``: the estimator is one of this project.
    """

    bits: BitSource
    source: Hypothesis | str
    rng: np.random.Generator
    known: bool = True

    def run(self, *, sampled: bool = False) -> Run:
        """Return what is known of the run that uses these numbers, for noise, or for a sample as well."""
        return Run(noise=self.source, draws=self.source if sampled else None, known=self.known)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fit: ``centres`` in the coordinates of the records, shape (k, d), ``clustering`` in centred ones, and what was released for it."""

    centres: Floats
    statistics: Statistics
    clustering: Clustering
    charges: tuple[Payment, ...]
    certified: CertifiedPath
    sample: SampledRecords | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FitPlan:
    """What a fit is before it sees a row: its arguments, the method that looks for centres, and what it draws from."""

    settings: FitSettings
    method: Method
    draws: FitDraws


@ignore_flags
def fit_rows(rows: SelectableRows, plan: FitPlan) -> Fit:
    """Return the private fit of ``rows``: one release, whose guarantee is its own.

    Raises :class:`InvalidArgument`, :class:`profiles.InvalidData`.
    """
    settings, method, draws = plan.settings, plan.method, plan.draws
    bounds = settings.bounds
    if bounds is not None:
        rows = BoundedRows(rows, bounds.arrange(bounds.names, rows.dimension))
    center = as_vector(settings.center, rows.dimension, "the center")
    radius = settings.radius
    if radius is None:
        largest = find_largest_norm(rows, center)
        if largest > _LARGEST_RADIUS:
            raise InvalidData(
                "the largest norm of the records was to be the radius, but it is above 1e60; rescale the data by a public constant"
            )
        radius = max(Fraction(largest), _LEAST_RADIUS)
    spending = Spending(settings.law)
    records = PrivateRecords(rows, Domain(center, radius), spending, draws.bits)
    alone = method is find_centres and settings.sample is None
    statistics = release_statistics(records, rows, settings.clusters, settings.public, alone=alone)
    sampled, part = None, None
    if settings.sample is not None:
        sampled = SampledRecords(records, settings.sample, draws.bits, PoissonSampler(draws.bits))
    clustering = method(records if sampled is None else sampled, settings.clusters, draws.rng)
    if sampled is not None:
        part = certify_sample(sampled.plan, draws.run(sampled=True))
    doubt = () if settings.delta is None else warn_of_delta(settings.delta, statistics.count)
    inside = project_records(clustering.centres + (statistics.mean - center), 2, radius) + center
    certified = certify_fit(records.charges, settings, dimension=rows.dimension, run=draws.run(), sample=part)
    if bounds is not None:
        inside = bounds.leave(inside)
        statistics = replace(statistics, mean=bounds.leave(statistics.mean), center=bounds.middle)
    units = () if bounds is not None else _warn_of_units(np.vstack([inside, statistics.mean, center]))
    return Fit(
        inside, statistics, clustering, records.charges, certified, sampled, (*_warn(clustering), *units, *clustering.warnings, *doubt)
    )


def certify_fit(
    charges: tuple[Payment, ...], settings: FitSettings, *, dimension: int, run: Run, sample: Guarantee | None = None
) -> CertifiedPath:
    """Return the guarantee of a fit with these arguments that released at these costs, by a run that keeps its budget.

    ``sample``: the guarantee of what was released besides about one sample, whose worst case is added. Raises :class:`InvalidTarget`
    where the costs are not proved to be within the budget, :class:`profiles.Undecided` where the kernel does not accept the proof.
    """
    law, name, public = settings.law, name_fit(settings), settings.public.sentence
    profile = describe_path(charges, law, name)
    curve: Guarantee | None = None
    if isinstance(law, NormalNoise):
        worst = bound_mu(profile)
        guarantee = curve_of_profile(profile, (EXACT_REALS,))
        proxy: GaussianSum | KNormSum = GaussianSum(sigma=1, dimension=dimension)
        budget = law.mu
    else:
        derived = bound_costs(profile)
        guarantee, worst = derived.guarantee, derived.bound.evidence
        proxy, budget = KNormSum(beta_sum=1, dimension=dimension), settings.epsilon
        if not worst.checked_by_kernel:
            raise Undecided("the costs of a private fit were to be proved, but the kernel does not accept the proof; please report it")
    guarantee = prove_released(guarantee, f"{_PAGE}, Theorem 2, of the run of {name}", proxy)
    if sample is not None:
        profile = describe_path(charges, law, name, sampled=True)
        worst = bound_costs(profile).bound.evidence
        guarantee = compose(guarantee, sample, subject=name)
    elif isinstance(law, PureNoise):
        guarantee = compose(guarantee, subject=name)  # nothing is sampled: the rule of rate 1 stands for that
    guarantee = keep_within_budget(guarantee, budget)
    # norms are computed of the row, of arguments and of released numbers; what a row was made of before is not seen
    guarantee = name_readings(update_hypotheses(guarantee, _reasons(guarantee) | {PUBLIC_RATE: "the rate is the constant 1"}), (GIVEN_ROW,))
    if public:
        guarantee = assume(guarantee, (PUBLIC_CONSTANTS.about(names=public),))
    guarantee = conclude_run(guarantee, run)
    if isinstance(law, NormalNoise):
        curve, guarantee = guarantee, point_of_curve(guarantee, at_epsilon=settings.epsilon)
        if not isinstance(guarantee.bound, Losses) or settings.delta is None or guarantee.bound.delta > settings.delta:
            raise InvalidTarget("a delta was asked for at this epsilon, but the certified bound is larger; ask for another number")
    elif not isinstance(guarantee.bound, Losses):
        raise InvalidTarget("an epsilon was asked for, but the costs are not proved to be within it; ask for another number")
    return CertifiedPath(guarantee, profile, worst, curve)


def _reasons(guarantee: Guarantee) -> dict[Hypothesis, str]:
    """Return what discharges the hypotheses of a fit that hold by construction, with reasons (docs/private-kmeans.md, section 5)."""
    said = {
        WITHIN_BUDGET.id: f"the account of the run refuses a release that its budget does not have ({_PAGE}, Theorem 1)",
        IN_RANGE.id: f"each row is moved into the ball by itself ({_PAGE}, Lemma 1)",
    }
    return {item: said[item.id] for item in guarantee.hypotheses if item.id in said}


def name_fit(settings: FitSettings) -> str:
    """Return the mechanism with its arguments, which are public and no part of the data."""
    if settings.bounds is not None:
        return f"private k-means with {settings.clusters} clusters in {settings.bounds.describe()}"
    ball = "the ball of their largest norm" if settings.radius is None else f"the public ball of radius {exact_text(settings.radius)[:40]}"
    about = "about 0" if settings.center is None else "about the given center"
    return f"private k-means with {settings.clusters} clusters in {ball} {about}"


def _warn(clustering: Clustering) -> tuple[str, ...]:
    """Return what released counts say against the centres."""
    share = float(clustering.counts.max()) / max(float(np.maximum(clustering.counts, 0).sum()), 1.0)
    if len(clustering.counts) < 2 or share <= _NEARLY_ALL:
        return ()
    sentence = (
        f"one cluster holds about {share:.0%} of all records, so that the centres say little more than their mean does; choose fewer "
        "clusters, a smaller ball, or a larger epsilon"
    )
    return (sentence,)


def _warn_of_units(points: Floats) -> tuple[str, ...]:
    """Return what public points say against one ball for all columns: centres, the released mean and the center of the ball."""
    sizes = np.abs(points).max(axis=0)
    least, largest = float(sizes.min(initial=np.inf)), float(sizes.max(initial=0.0))
    if len(sizes) < 2 or least <= 0 or largest < _OTHER_UNITS * least:
        return ()
    times = f"{largest / least:.0f}" if largest < 1e6 * least else "more than a million"
    sentence = (
        f"the released centres are about {times} times as large in one column as in another, but a ball has one noise for all columns: "
        "the small ones may be nothing but noise; where columns have different units give bounds of each in place of a radius"
    )
    return (sentence,)


def to_plain(choices: Mapping[str, object]) -> dict[str, object]:
    """Return the choices of a method as JSON types."""
    return {name: value if isinstance(value, (str, int, bool)) or value is None else float(value) for name, value in choices.items()}  # type: ignore[arg-type]
