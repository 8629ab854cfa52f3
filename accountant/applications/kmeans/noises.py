"""What differs between the kinds of noise of the estimator: the constants that are refused, the mechanism, its guarantee, its samples.

Everything here is decided before the data are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from accountant.applications.budget.shares import MARGIN
from accountant.applications.kmeans.certifying import certify_all_records, certify_sample
from accountant.applications.kmeans.planning import NoiseScales, choose_scales
from accountant.guarantees import Guarantee, Run
from accountant.rules import make_rule
from accountant.rules.named import SamplingRule
from accountant.selection.select import prepare_selection
from profiles import InvalidArgument, Profile, to_exact
from profiles.arrays import Floats
from profiles.mechanisms import Arithmetic, Mechanism, WeightedLloyd
from profiles.mechanisms.interface import to_arithmetic
from profiles.numbers import ExactLike, to_number
from profiles.randomness.rounded import k_norm_law

PRIVACY_CONSTRAINED = "privacy-constrained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """The constants of one fit, all of them public; ``epsilon`` and ``scales`` as they were given, one of the two.

    ``radius`` is the one that the noise is made for, ``largest`` the public bound of the weights that records have by themselves.
    """

    epsilon: ExactLike | None
    delta: ExactLike | None
    scales: tuple[ExactLike, ExactLike] | None
    radius: Fraction
    norm: float
    iterations: int
    dimension: int
    largest: Fraction
    min_count: ExactLike | None
    arithmetic: str

    def read_epsilon(self) -> Fraction | None:
        """Return ε as an exact number, None where scales are given. Raises :class:`InvalidArgument` for neither or both."""
        if (self.epsilon is None) == (self.scales is None):
            raise InvalidArgument("either epsilon or noise_scales is needed, and not both; give one of the two")
        if self.epsilon is None:
            return None
        return to_number(self.epsilon, "epsilon", "(0, inf)", "give a positive number")

    def read_scales(self, names: tuple[str, str]) -> tuple[Fraction, Fraction]:
        """Return the given pair of scales, which messages call ``names``, as exact numbers. Raises :class:`InvalidArgument`."""
        if not isinstance(self.scales, tuple) or len(self.scales) != 2:
            raise InvalidArgument(f"noise_scales must be a pair ({', '.join(names)}); give two numbers in a tuple")
        count, total = (to_exact(value, f"the noise scale {name}") for value, name in zip(self.scales, names, strict=True))
        return count, total


@dataclass(frozen=True, slots=True)
class CertifiedRun:
    """The guarantee of a run, and where there is one the privacy curve that it is a point of."""

    guarantee: Guarantee
    curve: Guarantee | None = None


@dataclass(frozen=True, slots=True)
class SampledRun:
    """``select``: from norms, shape (n,), to probabilities and weights; ``certify``: the guarantee of a run on the sample."""

    select: Callable[[Floats], tuple[Floats, Floats]]
    certify: Callable[[Run], Guarantee]


class NoiseKind(Protocol):
    """A law of noise with its accounting. Every method raises :class:`InvalidArgument` or :class:`profiles.InvalidNumber`."""

    def check(self, norm: float, delta: object, arithmetic: str) -> None:
        """Refuse what is refused for all data."""

    def make(self, constants: Constants, centres: Floats) -> tuple[Mechanism, Fraction]:
        """Return what will run, and by how many scales of noise the heaviest record moves an output at most."""

    def certify(self, constants: Constants, mechanism: Any, profile: Profile, run: Run) -> CertifiedRun:
        """Return the guarantee for all records, used as they are. Raises :class:`profiles.InvalidTarget`."""

    def plan(self, constants: Constants, mechanism: Any, rule: object, given: Mapping[str, object] | None, target: object) -> SampledRun:
        """Return how a sample is drawn. Raises :class:`profiles.Infeasible`, :class:`profiles.InvalidSampling`."""


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Laplace noise on counts and K-norm noise on sums, for a pure ε."""

    def check(self, norm: float, delta: object, arithmetic: str) -> None:
        """Refuse a δ, and in exact arithmetic a norm without exact noise."""
        if delta is not None:
            raise InvalidArgument('delta was given, but Laplace noise keeps a pure epsilon; leave it out, or take noise="gaussian"')
        if to_arithmetic(arithmetic) is Arithmetic.EXACT:
            k_norm_law(norm)

    def make(self, constants: Constants, centres: Floats) -> tuple[Mechanism, Fraction]:
        """Return :class:`WeightedLloyd` with the scales that are given, or the best ones for ε (docs/private-kmeans.md, section 12)."""
        epsilon = constants.read_epsilon()
        if epsilon is None:
            scales = NoiseScales(*constants.read_scales(("beta_count", "beta_sum")))
        else:
            scales = choose_scales(
                epsilon / constants.largest,
                radius=constants.radius,
                iterations=constants.iterations,
                dimension=constants.dimension,
                p=constants.norm,
            )
        made = WeightedLloyd(
            initial_centres=centres,
            iterations=constants.iterations,
            beta_count=scales.beta_count,
            beta_sum=scales.beta_sum,
            p=constants.norm,
            radius=constants.radius,
            min_count=constants.min_count,
            confine=True,
            arithmetic=constants.arithmetic,
        )
        return made, constants.largest * max(1 / scales.beta_count, constants.radius / scales.beta_sum)

    def certify(self, constants: Constants, mechanism: WeightedLloyd, profile: Profile, run: Run) -> CertifiedRun:
        """Return the ε-DP guarantee, with a certified worst case of at most the ε that was asked for."""
        return CertifiedRun(certify_all_records(mechanism, profile, run, self._promise(constants, mechanism)))

    def plan(
        self, constants: Constants, mechanism: WeightedLloyd, rule: object, given: Mapping[str, object] | None, target: object
    ) -> SampledRun:
        """Return a sample by any named rule, prepared before the number of records is looked at."""
        asked: object = None
        if rule == PRIVACY_CONSTRAINED:
            asked = self._promise(constants, mechanism) if target is None else target
        made: SamplingRule = make_rule(rule, mechanism.profile, given, asked)  # type: ignore[arg-type]
        selector = prepare_selection(mechanism.profile, made)

        def select(norms: Floats) -> tuple[Floats, Floats]:
            chosen = selector.select({"z": norms})
            return chosen.probabilities, chosen.weights

        return SampledRun(select, lambda run: certify_sample(mechanism, run, made, selector.method))

    def _promise(self, constants: Constants, mechanism: WeightedLloyd) -> Fraction:
        """Return the ε that the certified bound must keep: the one asked for, or that of the given scales and a margin."""
        epsilon = constants.read_epsilon()
        if epsilon is not None:
            return epsilon
        count, total = to_exact(mechanism.beta_count), to_exact(mechanism.beta_sum)
        return constants.iterations * constants.largest * (1 / count + constants.radius / total) * (1 + MARGIN)
