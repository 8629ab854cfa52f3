"""Private k-means from records to centres as a scikit-learn estimator, without an open hypothesis about the code or about statistics."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from accountant.applications.budget.rows import ArrayRows
from accountant.applications.kmeans.bounds import ColumnBounds
from accountant.applications.kmeans.charging import ReleasedFit, charge_fit
from accountant.applications.kmeans.composed_guarantee import describe_path
from accountant.applications.kmeans.fitting import FitDraws, FitPlan, FitSettings, fit_rows, name_fit
from accountant.applications.kmeans.methods import ROUNDS, find_method
from accountant.applications.kmeans.predicting import PrivateCentres
from accountant.applications.sklearn_guards import describe_parameters, make_generator, release_of
from accountant.guarantees import ships
from profiles import InvalidArgument
from profiles.arrays import Floats
from profiles.numbers import ExactLike
from profiles.randomness.bits import open_bits

if TYPE_CHECKING:
    from accountant.ledger import Analysis


class UtilityWarning(UserWarning):
    """The released numbers themselves say that the centres may be of little use. Nothing else is told by it."""


class DPKMeans(PrivateCentres):
    """Claim: all that a fit releases is ε-differentially private (add/remove of one record), or (ε, δ)-differentially private.

    Nothing about the records has to be public but a ball that they are moved into: their number, mean and spread are estimated with noise
    that is paid for out of the same ε. No hypothesis about this code is open in ``guarantee_``; three about the data are, which no run
    sees: ``radius``, ``center`` and all other arguments are not made of these records; each row is made of one record alone (nobody scaled
    or centred the rows by one another); and nobody has several. So ``guarantee_.is_unconditional`` is False.
    Statement and proof: docs/private-kmeans.md. Where the constants are public, :class:`DPLloyd` runs plain DP-Lloyd.
    ``predict`` and ``transform`` give labels of records and their distances from the centres; these answers are not released.

    Parameters
    ----------
    n_clusters : int
        Number of centres, k.
    epsilon : exact number
        The ε to keep, in nats. Text such as ``"0.1"`` is one tenth.
    radius : exact number
        Radius of a ball that is known without looking at the data, in their unit. Records outside are moved onto it, each by itself. It may
        be generous: a tighter ball is found privately.
    center : array of shape (d,) or None
        The center of that ball, likewise; None is 0.
    bounds : dict of names to pairs, sequence of pairs, or None
        In place of a ball: the least and the largest value of each column, public, such as ``{"age": (0, 110), "income": (0, 200_000)}``
        for a data frame, or pairs in the order of the columns. Rows outside are moved inside, each by itself; all columns are scaled to
        [−1, 1] before anything else (docs/private-kmeans.md, Lemma 2), and centres are in the columns' own units and inside the bounds.
        ``predict`` and ``transform`` compare records in the scaled units.
    delta : exact number or None
        With a δ in (0, 1), such as ``"1e-6"``, noise is normal, and (ε, δ) is kept.
    public : tuple of names
        Which of "n", "mean", "rms" (root of the mean squared distance from the mean) and "radius" (the largest norm, in place of
        ``radius``) are public already: they are taken from the records as they are, cost nothing, and that they are public is an open
        hypothesis of the guarantee.
    method : "auto" or "lloyd"
        How centres are found: by what suits the released numbers best (docs/private-kmeans.md, section 3), or by DP-Lloyd.
    iterations : int
        Rounds of ``method="lloyd"``.
    sample : None, "uniform", "coreset" or "privacy-constrained"
        Run the method on one Poisson sample of the records, which is drawn after the statistics were released, by a rule that is made of
        them (docs/private-kmeans.md, section 4). None uses every record. Not with a δ.
    sample_size : exact number or None
        The expected size m of the sample, a public number; None where the sample is privacy-constrained, or there is none.
    random_state : None, int, numpy.random.Generator or RandomState
        None draws from the operating system's secure source. An int is for tests: the guarantee then assumes a secret seed, and says so.

    Attributes
    ----------
    cluster_centers_ : array of shape (k, d)
        The private result.
    guarantee_ : Guarantee or Guarantee
        ε-DP or (ε, δ)-DP of all that was released; with a ledger what that promises a unit, for all that is in it.
    privacy_curve_ : Guarantee or Guarantee
        With a δ alone: the curve that ``guarantee_`` is a point of.
    profile_ : Profile
        What the releases of this run cost a record, with z = ‖y‖/radius and t the share of its ball that it has in cells; s is what all
        releases about a sample cost together.
    statistics_ : Statistics
        The released number of records (``count``), ``mean`` and ``rms``.
    cluster_counts_ : array of shape (k,)
        The released counts of the clusters, noisy.
    releases_ : tuple of Charge
        Every release, with its exact cost.
    choices_ : dict
        What the method chose, from released numbers.
    charged_ : Charged
        Where the fit was charged to a ledger alone: its name, entry and cost.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    All attributes may be published. There are no ``labels_``, ``inertia_``, ``score``, ``fit_predict`` and ``fit_transform``: they are
    functions of the training records. Each fit is a release; releases about the same records add up.

    Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`InvalidData`, :class:`Infeasible`, :class:`NotPrivate` (searches,
    cross-validation, pipelines that learn from the records before it), and ValueError where scikit-learn's own checks fail.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(5000, 2))
    >>> model = DPKMeans(3, epsilon=2, radius=4).fit(X)
    >>> model.cluster_centers_.shape, float(model.guarantee_.bound.upper), model.guarantee_.is_unconditional
    ((3, 2), 2.0, False)

    """

    _bounds: ColumnBounds | None = None
    #: A parameter that came later: what was stored without it is still served.
    _later = ("bounds",)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: ExactLike = 1,
        radius: ExactLike | None = None,
        center: ArrayLike | None = None,
        bounds: Mapping[str, Sequence[ExactLike]] | Sequence[Sequence[ExactLike]] | None = None,
        delta: ExactLike | None = None,
        public: tuple[str, ...] = (),
        method: str = "auto",
        iterations: int = ROUNDS,
        sample: str | None = None,
        sample_size: ExactLike | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.radius = radius
        self.center = center
        self.bounds = bounds
        self.delta = delta
        self.public = public
        self.method = method
        self.iterations = iterations
        self.sample = sample
        self.sample_size = sample_size
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: object = None,  # noqa: ARG002
        sample_weight: object = None,
        *,
        ledger: Analysis | None = None,
    ) -> DPKMeans:
        """Compute private centres of the records ``X``, shape (n, d); n may be 0. ``y`` is ignored.

        ``ledger``: an analysis with the unit of each record, ``ledger.analysis(name, ids)``. The fit is charged, run on the records of the
        units that have room, and stored; ``guarantee_`` is then that of the ledger, for a unit with all of its records, and ``charged_``
        says under which entry. A fit that was published under this name with these parameters is served, whatever ``X`` is.
        """
        with release_of(self):
            if sample_weight is not None:
                raise InvalidArgument(
                    "sample_weight was given, but DPKMeans takes every record once; weights of records are taken by DPLloyd"
                )
            settings = FitSettings.of(
                self.n_clusters,
                self.epsilon,
                delta=self.delta,
                radius=self.radius,
                center=self.center,
                public=self.public,
                sample=self.sample,
                sample_size=self.sample_size,
                bounds=self.bounds,
            )
            method = find_method(self.method, self.iterations)
            points = self._read(X, reset=True)
            settings = settings.for_columns(list(getattr(self, "feature_names_in_", ())), points.shape[1])
            generator, source = make_generator(self.random_state)
            # what need not be secret has random numbers of its own, which tell nothing of the state that the noise comes from
            seed = None if self.random_state is None else generator.integers(0, 2**32, size=8, dtype=np.uint32)
            bits = open_bits(None if self.random_state is None else generator)
            rows, rng = ArrayRows(points), np.random.default_rng(seed)
            plan = FitPlan(settings, method, FitDraws(bits, source, rng, known=ships(self)))
            for name in ("privacy_curve_", "charged_"):  # of an earlier fit
                self.__dict__.pop(name, None)
            if ledger is None:
                fit = fit_rows(rows, plan)
                released, self.guarantee_, self.profile_ = ReleasedFit.of(fit), fit.certified.guarantee, fit.certified.profile
                if fit.certified.curve is not None:
                    self.privacy_curve_ = fit.certified.curve
            else:
                arguments = (self, describe_parameters(self), rows.dimension)
                stored, charged = charge_fit(rows, plan, ledger, arguments=arguments, size=len(points))
                released, self.charged_, self.guarantee_ = ReleasedFit.restore(stored["fit"]), charged, charged.guarantee
                sampled = settings.sample is not None
                self.profile_ = describe_path(released.charges, settings.law, name_fit(settings), sampled=sampled)
            self.cluster_centers_, self._bounds = released.centres, settings.bounds
            self.statistics_ = released.statistics
            self.cluster_counts_ = released.counts
            self.releases_ = released.charges + released.sampled
            self.choices_ = dict(released.choices)
            if released.expected is not None:
                self.choices_["expected size of the sample"] = released.expected
        for text in released.warnings:
            warnings.warn(text, UtilityWarning, stacklevel=2)
        return self

    def _place(self, points: Floats) -> Floats:
        """Return points in the units in which records are compared: scaled where there were bounds."""
        return points if self._bounds is None else self._bounds.enter(points)
