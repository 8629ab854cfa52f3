"""An accountant for Flower's strategies with fixed clipping, whose numbers the kernel computes. Needs Flower 1.42 or later.

Flower averages the clipped updates of exactly n clients, with noise of ``noise_multiplier`` C/n. If a client is added or removed, another
one changes places with it in a sample of n, and the mean moves by up to 2 C/n, not by C/n. So only half of ``noise_multiplier`` counts if
clients are added, removed or replaced; if a client is compared with one that sends nothing (zero-out), all of it counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from accountant.compositions.queries import to_delta, to_epsilon, to_gap
from accountant.curves import Composition, Event, PrivacyCurve, curve_of, draw_batches, make_event
from accountant.guarantees import Guarantee
from profiles import Infeasible, InvalidArgument, MissingExtra, Undecided, to_exact
from profiles.hypotheses import HYPOTHESES_UNKNOWN, Hypothesis
from profiles.numbers import round_up_finite, to_integer
from profiles.protection import Neighbors, Unit, read_protection

try:
    from flwr.supercore.privacy_accounting import GaussianPrivacyEvent, PrivacyConfig, PrivacySpent, SamplingMethod
except ImportError as error:
    raise MissingExtra("Flower 1.42 or later is needed for its strategies, but it is not installed; pip install flwr") from error

_NAME = "federated training with Flower"
_KEYS = ("noise_multiplier", "sample_size", "population_size", "count")


class FlowerAccountant:
    """Counts the private releases of a strategy, and bounds ε for one client with all of its records: Flower's ``PrivacyAccountant``.

    ``config``: Flower's own. Without amplification (what its strategies ask for) neighbors are those of ``neighbors``: "add-remove" and
    "replace-one" with half of the noise, "zero-out" with all of it (see the module). Poisson samples are accounted for with their rate,
    and samples without replacement are refused. ``hypotheses``: further assumptions; None leaves open that nobody stated it.

    Raises :class:`profiles.InvalidArgument` for other configurations.
    """

    def __init__(
        self,
        config: PrivacyConfig,
        *,
        neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
        hypotheses: Iterable[Hypothesis | str] | None = None,
        gap: object = "1e-3",
    ) -> None:
        if not isinstance(config, PrivacyConfig):
            raise InvalidArgument(f"a PrivacyConfig of Flower was expected, but a {type(config).__name__} was found; give one")
        self._neighbors = read_protection(Unit.USER, neighbors, "an accountant").neighbors
        if config.sampling_method not in (SamplingMethod.NO_AMPLIFICATION, SamplingMethod.POISSON):
            raise InvalidArgument(
                f"sampling {config.sampling_method.value!r} was to be accounted for, but no bound of it is known here; use "
                "'no-amplification', whose number holds for it as well"
            )
        if config.sampling_method is SamplingMethod.POISSON and self._neighbors is not Neighbors.ADD_REMOVE:
            raise InvalidArgument("Poisson samples are accounted for where a client is added or removed; leave out neighbors")
        self._config, self._gap = config, to_gap(gap)
        self._given = None if hypotheses is None else tuple(hypotheses)
        self._counts: dict[GaussianPrivacyEvent, int] = {}

    @property
    def config(self) -> PrivacyConfig:
        """The configuration, as it was given."""
        return self._config

    @property
    def num_releases(self) -> int:
        """The number of private releases so far."""
        return sum(self._counts.values())

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        """Count a release, or several equal ones. Raises :class:`profiles.InvalidArgument` for another event, and counts nothing then."""
        self._counts = self._add(event, count)

    def _add(self, event: GaussianPrivacyEvent, count: int) -> dict[GaussianPrivacyEvent, int]:
        if not isinstance(event, GaussianPrivacyEvent):
            raise InvalidArgument(f"a GaussianPrivacyEvent was expected, but a {type(event).__name__} was found; give a release of Flower")
        if event.population_size != self._config.population_size:
            raise InvalidArgument(
                f"the releases are for {self._config.population_size} clients, but one for {event.population_size} was found; use another "
                "accountant"
            )
        releases = to_integer(count, "the number of releases", 1, hint="count each release once")
        counts = self._counts | {event: self._counts.get(event, 0) + releases}
        self._curve(counts)
        return counts

    def _read(self, event: GaussianPrivacyEvent, count: int) -> Event:
        noise, sampled = to_exact(event.noise_multiplier, "the noise multiplier"), self._config.sampling_method is SamplingMethod.POISSON
        if not sampled and self._neighbors is Neighbors.ADD_REMOVE:
            noise /= 2
        batches = draw_batches("none", Neighbors.REPLACE_ONE) if self._neighbors is Neighbors.REPLACE_ONE else None  # twice the norm
        rate = Fraction(event.sample_size, event.population_size) if sampled else Fraction(1)
        return make_event("gaussian", {"noise_multiplier": noise}, sampling_probability=rate, count=count, batches=batches)

    def _curve(self, counts: Mapping[GaussianPrivacyEvent, int]) -> PrivacyCurve:
        if not counts:
            raise InvalidArgument("a training run with releases was expected, but none was counted; account after the first round")
        unknown = HYPOTHESES_UNKNOWN.about(name=_NAME, carrier="a strategy of Flower")
        return curve_of(
            Composition(_NAME, tuple(self._read(event, count) for event, count in counts.items())),
            hypotheses=(unknown,) if self._given is None else self._given,
            unit=Unit.USER,
            neighbors=self._neighbors,
        )

    @property
    def curve(self) -> PrivacyCurve:
        """The privacy curve of all releases, with its hypotheses. Raises :class:`profiles.InvalidArgument` where there are none."""
        return self._curve(self._counts)

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """The unverified assumptions of every number of this accountant; none before the first release."""
        return tuple(item.sentence for item in self.curve.hypotheses) if self._counts else ()

    def guarantee(self, delta: float | None = None) -> Guarantee:
        """Return the (ε, δ) guarantee of all releases, to be rendered, composed, written to a file and checked."""
        return self.curve.at_delta(self._config.target_delta if delta is None else delta, gap=self._gap)

    def get_epsilon(self, delta: float) -> float:
        """Return an ε for which all releases are (ε, delta)-differentially private, rounded up; infinite where none was found."""
        return self._bound(self._counts, to_delta(delta))

    def _bound(self, counts: Mapping[GaussianPrivacyEvent, int], delta: Fraction) -> float:
        if not counts:
            return 0.0
        try:
            return round_up_finite(self._curve(counts).epsilon_above(delta, gap=self._gap))
        except (Infeasible, Undecided):
            return math.inf

    def get_delta(self, epsilon: float) -> float:
        """Return a δ for which all releases are (epsilon, δ)-differentially private, rounded up."""
        exact = to_epsilon(epsilon)
        if not self._counts:
            return 0.0
        end = self.curve.delta(exact, gap=self._gap).upper
        return 1.0 if end is None else round_up_finite(end)

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        """Return what was spent so far, at the δ of the configuration where none is given."""
        at = self._config.target_delta if delta is None else delta
        return PrivacySpent(epsilon=self.get_epsilon(at), delta=at, num_releases=self.num_releases, accounting_method="pdp")

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Return whether ε with another release is above a limit, or not proved to be at most that. Counts nothing."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise InvalidArgument("a limit of epsilon was expected, but there is none; give max_epsilon here or to PrivacyConfig")
        return self._bound(self._add(event, count), to_delta(self._config.target_delta)) > to_epsilon(limit)

    def state_dict(self) -> dict[str, object]:
        """Return the releases so far, for a checkpoint, as JSON types."""
        releases = [
            dict(zip(_KEYS, (event.noise_multiplier, event.sample_size, event.population_size, count), strict=True))
            for event, count in self._counts.items()
        ]
        return {"backend": "pdp", "neighbors": self._neighbors.value, "releases": releases}

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Take the releases of a checkpoint in place of those so far. Raises :class:`profiles.InvalidArgument`; nothing is changed then."""
        releases = state.get("releases") if isinstance(state, dict) else None
        if not isinstance(releases, list) or state.get("backend") != "pdp" or state.get("neighbors") != self._neighbors.value:
            raise InvalidArgument("the state of an accountant with these neighbors was expected, but another was found; give what it wrote")
        before, self._counts = self._counts, {}
        try:
            for item in releases:
                if not isinstance(item, dict) or set(item) != set(_KEYS):
                    raise InvalidArgument(f"a release has {', '.join(_KEYS)}, but others were found; give what state_dict gave")
                given: dict[str, Any] = dict(item)
                count = given.pop("count")
                self.compose(_make_release(given), count)
        except BaseException:
            self._counts = before
            raise


def _make_release(given: dict[str, Any]) -> GaussianPrivacyEvent:
    try:
        return GaussianPrivacyEvent(**given)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"a release of Flower was expected, but it refuses this one ({error}); give what state_dict gave") from None


__all__ = ["FlowerAccountant"]
