"""Differentially private k-means as a scikit-learn estimator, with the guarantee that the accountant derives for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from accountant.applications.charging import Promise, release_once
from accountant.applications.kmeans.certifying import OWN_WEIGHT, bound_weights, let_records_weigh, to_largest
from accountant.applications.kmeans.gaussian import GaussianNoise
from accountant.applications.kmeans.noises import PRIVACY_CONSTRAINED, CertifiedRun, Constants, LaplaceNoise, NoiseKind
from accountant.applications.kmeans.planning import pack_centres
from accountant.applications.kmeans.predicting import PrivateCentres
from accountant.applications.sklearn_guards import describe_parameters, make_generator, release_of, without_quotes
from accountant.guarantees import Run, ships
from profiles import InvalidArgument, InvalidData, Profile, to_exact
from profiles.arrays import Booleans, Floats
from profiles.hypotheses import PUBLIC_CENTRES, Hypothesis, name_range
from profiles.mechanisms import Mechanism
from profiles.mechanisms.ball import SLACK, project_records, record_norms, widen
from profiles.mechanisms.datasets import LEAST_RADIUS, check_radius, require_norms
from profiles.mechanisms.interface import is_exact, require_norm
from profiles.mechanisms.lloyd_runs import MOST_ROUNDS, require_feasible_run
from profiles.mechanisms.quantised import MOST_RATIO
from profiles.numbers import ExactLike, round_down, to_integer
from profiles.randomness.bernoulli import PoissonSampler

if TYPE_CHECKING:
    from accountant.ledger import Analysis
    from accountant.ledger.analysis import Personal

#: Selects row i with probability exactly q[i], independently of all else: (q, generator) → a boolean array of the same length.
Selector = Callable[[Floats, np.random.Generator], Booleans]
#: The kinds of noise by name.
_KINDS: Mapping[str, NoiseKind] = {"laplace": LaplaceNoise(), "gaussian": GaussianNoise()}


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """What will run, the constants that it was made of, and which of its hypotheses hold by construction."""

    constants: Constants
    mechanism: Mechanism
    evidence: dict[Hypothesis, str]


class DPLloyd(PrivateCentres):
    """Claim: ``cluster_centers_`` are ε-differentially private (add/remove of one record) under the hypotheses of ``guarantee_``, or
    (ε, δ)-differentially private with ``noise="gaussian"``.

    Runs DP-Lloyd (Fay et al. 2024, Algorithm 2): T iterations, each with noise on the counts and on the sums of the clusters: Laplace and
    K-norm noise, or normal noise. ``guarantee_`` is derived and certified before the data are used. Proofs and the choice of the noise:
    docs/private-kmeans.md and docs/gaussian-weights.md. ``predict`` and ``transform`` give labels of records and their distances from the
    centres; these answers are not released.

    Parameters
    ----------
    n_clusters : int
        Number of centres, k.
    epsilon : exact number or None
        The ε to keep, in nats, for records of weight 1; None where ``noise_scales`` is given. Text such as ``"0.1"`` is one tenth.
    radius : exact number
        Public bound of the l_p norm of a record, in the unit of the data. It must not be computed from the data.
    iterations : int
        Number of iterations, T; fixed in advance, because stopping when the centres settle would look at the data.
    norm : float
        The p ≥ 1 of the norm (``math.inf`` is allowed) that bounds records and shapes the noise. Nearest is always Euclidean. Exact
        arithmetic is available for 1, 2 and ``math.inf``.
    init : "packing" or array of shape (k, d)
        Initial centres: drawn without the data, or given; given ones must be public.
    outside : "error" or "project"
        Records outside the ball: refuse the data (an error tells that there is one), or move each such record onto the ball, and lower
        each ``sample_weight`` above ``largest_weight`` to it.
    min_count : exact number or None
        A cluster whose noisy count is below it keeps its centre; None divides always, as the paper does. Centres that noise throws out
        of the ball are moved back onto it in every iteration.
    noise_scales : pair of exact numbers or None
        (β_count, β_sum) in place of ``epsilon``, or the standard deviations (σ_count, σ_sum) of normal noise.
    largest_weight : exact number or None
        Public bound, at least 1, of every ``sample_weight`` of ``fit``; ε is then that of records of this weight. None: none are taken.
    arithmetic : "exact" or "binary64"
        Exact noise: counts and sums are released as the correctly rounded values of the mechanism in real arithmetic
        (docs/exact-noise.md). Noise in binary64 is for studies; its guarantee keeps the hypothesis of exact real arithmetic.
    noise : "laplace" or "gaussian"
        The law of the noise. Normal noise keeps ``epsilon`` together with ``delta``, and needs ``norm=2``.
    delta : exact number or None
        The δ in (0, 1) to keep with normal noise, such as ``"1e-6"``: far below one in the number of people. None with Laplace noise.
    random_state : None, int, numpy.random.Generator or RandomState
        None draws from the operating system's secure source. An int is for tests: a guarantee rests on a secret seed, and says so.

    Attributes
    ----------
    cluster_centers_ : array of shape (k, d)
        The private result.
    guarantee_ : Guarantee or Guarantee
        ε-DP, or (ε, δ)-DP: for all records of weight 1, or up to ``largest_weight`` after ``fit``, and for all records of ``X`` after
        ``fit_sampled``.
    privacy_curve_ : Guarantee or Guarantee
        After ``fit`` with normal noise alone: the curve that ``guarantee_`` is a point of. ``accountant.curves.curve_of(...)`` of it
        reads ε at any other δ, from both sides.
    profile_ : Profile
        ε(w, x) = T (w/β_count + w z/β_sum), z = ‖x‖_p in [0, radius (1 + 2⁻³⁰)]; with w s for w where records have a weight s of their own.
        With normal noise μ(w, x) = w √(T (1/σ_count² + z²/σ_sum²)).
    mechanism_ : WeightedLloyd or GaussianLloyd
        What ran, with its noise scales and initial centres; all of it public.
    charged_ : Charged
        Where the fit was charged to a ledger alone: its name, entry and cost.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    There are no ``labels_``, ``inertia_``, ``score``, ``fit_predict`` and ``fit_transform``: the label of a training record is a function
    of that record, so that labels published for the training data are not private. ``predict`` labels records that you hold; its output
    is as private as those records are. Each fit is a release; releases about the same records add up.

    Source: Fay et al. 2024, Proposition 13 and Algorithm 2. Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`InvalidData`,
    :class:`NotPrivate` (searches, cross-validation, pipelines that learn from the records before it; :class:`NotOffered` for what is not
    there), and ValueError where scikit-learn's own checks fail.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    >>> model = DPLloyd(3, epsilon=2, radius="1.5", iterations=5, random_state=0).fit(X)
    >>> model.cluster_centers_.shape, float(model.guarantee_.bound.upper) <= 2
    ((3, 2), True)

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: ExactLike | None,
        radius: ExactLike,
        iterations: int = 10,
        norm: float = 2,
        init: str | ArrayLike = "packing",
        outside: str = "error",
        min_count: ExactLike | None = 1.0,
        noise_scales: tuple[ExactLike, ExactLike] | None = None,
        largest_weight: ExactLike | None = None,
        arithmetic: str = "exact",
        noise: str = "laplace",
        delta: ExactLike | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.radius = radius
        self.iterations = iterations
        self.norm = norm
        self.init = init
        self.outside = outside
        self.min_count = min_count
        self.noise_scales = noise_scales
        self.largest_weight = largest_weight
        self.arithmetic = arithmetic
        self.noise = noise
        self.delta = delta
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: object = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
        *,
        ledger: Analysis | None = None,
    ) -> DPLloyd:
        """Compute private centres of the records ``X``, shape (n, d); n may be 0. ``y`` is ignored.

        ``sample_weight``: a weight that each record has by itself, such as a survey weight, in [1, ``largest_weight``]; None is 1 for each.
        It is not the 1/q of a sample, for which :meth:`fit_sampled` is there.

        ``ledger``: an analysis with the unit of each record, ``ledger.analysis(name, ids)``. Each record is charged the cost of its own
        norm (and weight); the fit is run on the records of the units that have room, and stored. ``guarantee_`` is then that of the ledger,
        for a unit with all of its records, and ``charged_`` says under which entry. Asked for again with these parameters, it is served.
        """
        with release_of(self):
            if sample_weight is not None and self.largest_weight is None:
                raise InvalidArgument(
                    "sample_weight was given without largest_weight, but the epsilon is that of the heaviest record; declare a bound that "
                    "is known without looking at these weights, or, for weights 1/q of a sample, have it drawn by fit_sampled(X, rule=...)"
                )
            largest = Fraction(1) if self.largest_weight is None else to_largest(self.largest_weight)
            kind = self._check_geometry()
            points = self._read(X, reset=True)
            weights: Floats | None = None
            if sample_weight is not None:  # a data set may be empty, which scikit-learn's check would refuse
                empty = not len(points) and np.size(sample_weight) == 0
                with without_quotes():
                    weights = np.ones(0) if empty else _check_sample_weight(sample_weight, points, dtype=np.float64)
                weights = bound_weights(weights, largest, lower=self.outside == "project")
            points = self._bound(points)
            generator, source = make_generator(self.random_state)
            made = self._prepare(kind, points.shape[1], generator, largest)
            profile = made.mechanism.profile if self.largest_weight is None else let_records_weigh(made.mechanism.profile, largest)
            run = Run(noise=source, known=ships(self), proved=made.evidence | self._range_evidence(profile))
            certified = kind.certify(made.constants, made.mechanism, profile, run)
            personal = None if ledger is None else _charge_by_norm(profile, points, weights, self.norm)
            self._run(_CertifiedFit(made.mechanism, profile, certified), _Records(points, weights), generator, ledger, personal=personal)
        return self

    def fit_sampled(
        self,
        X: ArrayLike,  # noqa: N803
        *,
        rule: str = PRIVACY_CONSTRAINED,
        constants: Mapping[str, object] | None = None,
        target_epsilon: ExactLike | None = None,
        select: Selector | None = None,
        ledger: Analysis | None = None,
    ) -> DPLloyd:
        """Compute private centres of a fresh importance sample of ``X``, with an ε-DP guarantee for all of ``X``.

        With ``rule`` "privacy-constrained" every record gets the largest weight w with ψ ≤ ε* (Problem 7 of Fay et al. 2024) and is
        selected with a probability q just below 1/w; ε* = ``target_epsilon``, by default ``epsilon``: then sampling is free. Any other
        named rule of :func:`accountant.rules.make_rule` selects with its q(x), made of public ``constants``, and ε is its certified
        worst case. The selected records are clustered with the weights 1/q, which nobody hands in. With normal noise there is the first
        rule alone, for the target (ε*, ``delta``): all T iterations are run on the one sample (docs/gaussian-weights.md, section 17).

        Draws are exact, with bits of the operating system, or of ``random_state`` where one is given. A ``select`` of your own must select
        row i with probability exactly q[i], independently; that it does is then a hypothesis of the guarantee.

        ``ledger``: as for :meth:`fit`; each record is charged the worst case of the sampled run, whether or not it is drawn.
        Raises :class:`Infeasible` where ε* is below the ε of all records with weight 1, :class:`InvalidSampling` for an unusable rule.
        """
        with release_of(self):
            if self.largest_weight is not None:
                raise InvalidArgument("fit_sampled makes all weights itself, but largest_weight was given; leave it out, or use fit")
            if rule != PRIVACY_CONSTRAINED and target_epsilon is not None:
                raise InvalidArgument(f"target_epsilon is for the rule {PRIVACY_CONSTRAINED!r}, but {str(rule)[:40]!r} was given; omit one")
            kind = self._check_geometry()
            points = self._bound(self._read(X, reset=True))
            generator, source = make_generator(self.random_state)
            made = self._prepare(kind, points.shape[1], generator, Fraction(1))
            profile = made.mechanism.profile
            # prepared before the number of records is looked at: what it refuses, it refuses for every data set
            plan = kind.plan(made.constants, made.mechanism, rule, constants, target_epsilon)
            sampler = PoissonSampler(None if self.random_state is None else generator)
            draws = None if select is not None else sampler.source.hypothesis
            evidence = made.evidence | self._range_evidence(profile)
            guarantee = plan.certify(Run(source, draws, selector=select is not None, known=ships(self), proved=evidence))

            def pick(points: Floats) -> tuple[Floats, Floats]:
                if not len(points):
                    return points, np.ones(0)
                q, weights = plan.select(_norms_above(points, self.norm))
                selected = sampler.select(q) if select is None else np.asarray(select(q, generator))
                if selected.dtype != np.bool_ or selected.shape != weights.shape:
                    raise InvalidArgument(
                        "the selector must return one boolean per record, but another type or length was found; correct it",
                        private=f"{selected.dtype} of shape {selected.shape}",
                    )
                return points[selected], weights[selected]

            said = {"rule": rule, "constants": constants, "target_epsilon": target_epsilon, "select": select}
            fit = _CertifiedFit(made.mechanism, profile, CertifiedRun(guarantee))
            self._run(fit, _Records(points), generator, ledger, sample=_Sample(pick, said))
        return self

    def _check_geometry(self) -> NoiseKind:
        """Return the kind of noise, refusing before the data are looked at what would be refused for all of them."""
        require_norm(self.norm)
        check_radius(self.radius)
        if not isinstance(self.noise, str) or self.noise not in _KINDS:
            raise InvalidArgument(f"noise must be 'laplace' or 'gaussian', but {str(self.noise)[:40]!r} was found; give one of the two")
        kind = _KINDS[self.noise]
        kind.check(self.norm, self.delta, self.arithmetic)
        return kind

    def _bound(self, points: Floats) -> Floats:
        radius = to_exact(self.radius, "the radius")
        if self.outside == "project":
            return project_records(points, self.norm, radius)
        if self.outside != "error":
            raise InvalidArgument(f"outside must be 'error' or 'project', but {str(self.outside)[:40]!r} was found; give one of the two")
        require_norms(points, self.norm, radius)
        return points

    def _prepare(self, kind: NoiseKind, dimension: int, generator: np.random.Generator, largest: Fraction) -> PreparedRun:
        """Return what will run, with noise for weights up to ``largest``."""
        for name, value in (("n_clusters", self.n_clusters), ("iterations", self.iterations)):
            to_integer(value, name, 1, MOST_ROUNDS)
        require_feasible_run(int(self.iterations), int(self.n_clusters) * dimension)  # before centres are drawn
        radius = widen(to_exact(self.radius, "the radius"))
        evidence: dict[Hypothesis, str] = {}
        if isinstance(self.init, str):
            if self.init != "packing":
                raise InvalidArgument(f"init must be 'packing' or an array, but {self.init[:40]!r} was found; give one of the two")
            # not with the numbers that the noise is made of: these centres are public, and would tell the generator's state
            seed = None if self.random_state is None else generator.integers(0, 2**32, size=8, dtype=np.uint32)
            centres = pack_centres(int(self.n_clusters), dimension, self.norm, round_down(radius), np.random.default_rng(seed))
            evidence[PUBLIC_CENTRES] = "they are drawn in the declared ball, without the data"
        else:
            centres = np.asarray(self.init)
            if centres.shape != (self.n_clusters, dimension):
                raise InvalidData(
                    f"init must have shape ({self.n_clusters}, {dimension}), but {centres.shape} was found; give one row per cluster"
                )
        constants = Constants(
            epsilon=self.epsilon,
            delta=self.delta,
            scales=self.noise_scales,
            radius=radius,
            norm=self.norm,
            iterations=int(self.iterations),
            dimension=dimension,
            largest=largest,
            min_count=self.min_count,
            arithmetic=self.arithmetic,
        )
        mechanism, heaviest = kind.make(constants, centres)
        if is_exact(mechanism) and heaviest > MOST_RATIO:  # the run would tell whether there is such a record
            raise InvalidArgument(
                f"exact noise was asked for that one record may exceed {MOST_RATIO} times, which protects nobody; ask for a smaller "
                'epsilon or larger noise scales, or take arithmetic="binary64" for a study'
            )
        return PreparedRun(constants, mechanism, evidence)

    def _range_evidence(self, profile: Profile) -> dict[Hypothesis, str]:
        """Return why every record, as it is used, lies in the declared ranges of ``profile``, where that holds by construction."""
        return {name_range(profile): "each record is moved onto the declared domain by itself"} if self.outside == "project" else {}

    def _run(
        self,
        certified: _CertifiedFit,
        records: _Records,
        generator: np.random.Generator,
        ledger: Analysis | None,
        *,
        personal: Personal | None = None,
        sample: _Sample | None = None,
    ) -> None:
        mechanism, curve = certified.mechanism, certified.run.curve

        def compute(active: Booleans | None) -> dict[str, Floats]:
            part = records.keep(active)
            if sample is not None:
                part = _Records(*sample.pick(part.points))
            return {"centres": mechanism.run(part.points, part.weights, generator), "start": np.asarray(mechanism.initial_centres)}  # type: ignore[attr-defined]

        said = None if sample is None else sample.said
        arguments = (self, describe_parameters(self), said, records.points.shape[1], records.weights is None)
        fit, guarantee, charged = release_once(
            ledger, Promise(certified.run.guarantee, curve, personal), len(records.points), compute, arguments=arguments
        )
        for name in ("privacy_curve_", "charged_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if charged is not None:
            self.charged_ = charged
        elif curve is not None:
            self.privacy_curve_ = curve
        self.mechanism_ = mechanism if charged is None else replace(mechanism, initial_centres=fit["start"])  # type: ignore[type-var]
        self.profile_ = certified.profile
        self.guarantee_ = guarantee
        self.cluster_centers_ = fit["centres"]


@dataclass(frozen=True, slots=True)
class _CertifiedFit:
    """A mechanism that is about to run, the profile that its guarantee is about, and the guarantee."""

    mechanism: Mechanism
    profile: Profile
    run: CertifiedRun


@dataclass(frozen=True, slots=True)
class _Records:
    """Records with a weight each, 1 where there are none."""

    points: Floats
    weights: Floats | None = None

    def keep(self, active: Booleans | None) -> _Records:
        """Return those that take part, all without a mask."""
        if active is None:
            return self
        return _Records(self.points[active], None if self.weights is None else self.weights[active])


@dataclass(frozen=True, slots=True)
class _Sample:
    """What a fit on a sample runs on: records that are picked of all, with their weights; and what was ``said`` of it by its options."""

    pick: Callable[[Floats], tuple[Floats, Floats]]
    said: Mapping[str, object]


def _charge_by_norm(profile: Profile, points: Floats, weights: Floats | None, norm: float) -> Personal:
    """Return what each record costs by itself: its profile at an upper bound of its norm, and at its weight where it has one."""
    from accountant.ledger.analysis import Personal  # noqa: PLC0415 - Arrow and SQLite are for those who keep a ledger

    statistics = {"z": _norms_above(points, norm)}
    if len(profile.record) > 1:
        statistics[OWN_WEIGHT] = np.ones(len(points)) if weights is None else weights
    return Personal(profile, statistics)


def _norms_above(points: Floats, p: float) -> Floats:
    """Return upper bounds of the norms over the reals, so that the weights are feasible for these as well: ε grows with the norm.

    They are in the declared range: relative roundings are below half of its slack, and subnormal numbers, where these do not hold, are
    taken for the least radius.
    """
    norms = record_norms(points, p) * (1 + float(SLACK) / 2)
    return np.where(norms > 0, np.maximum(norms, LEAST_RADIUS), 0.0)
