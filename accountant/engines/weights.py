"""The weights of ``pdp weights`` as a map over Arrow record batches: to study them inside an engine (docs/engines.md).

Claim: the map's weight and q of a record are those of :func:`accountant.data.compute_weights_file` for the same profile, target and
specs, bit for bit. They are a function of the record alone if every process computes with the same digits, which a fingerprint guards. To
draw a sample use :func:`accountant.engines.arrow_pairs`, whose numbers need no guard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NoReturn, Self, final

from accountant.columns.values import Column
from accountant.data.specs import StatisticSpec, parse_statistic
from accountant.data.weighing import complete_specs
from accountant.engines.batch_map import BatchMap
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import ProvedConvexity, WeightSolver, prepare_solver, probabilities
from accountant.weights.fast.fingerprint import fingerprint
from profiles import InvalidArgument, Profile, exact_text, to_exact
from profiles.arrays import Floats

_BUILD = "build it with accountant.engines.arrow_weights, which proves what the weights rely on"
_key = object()


@final
class ArrowWeights(BatchMap):
    """A callable from a record batch to the same batch with the float64 columns ``weight`` and ``q``. Immutable; can be pickled.

    Made by :func:`arrow_weights` only. A pickle holds the profile, target, specs, the convexity as it was proved, and a fingerprint of the
    arithmetic; reading it proves nothing anew, and is refused where this process computes other bits than the one that made it.
    """

    __slots__ = ("_convexity", "_fingerprint", "_solver", "_specs")

    _fingerprint: str
    _convexity: ProvedConvexity
    _solver: WeightSolver
    _specs: tuple[StatisticSpec, ...]

    def __new__(cls, key: object = None, *parts: Any) -> Self:
        """Refuse every call but that of this module."""
        if key is not _key:
            raise InvalidArgument(f"a map of weights cannot be made directly; {_BUILD}")
        made = super().__new__(cls)
        for name, part in zip(("_solver", "_specs", "_convexity", "_fingerprint"), parts, strict=True):
            object.__setattr__(made, name, part)
        return made

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: a map with another profile or target would need another proof."""
        raise InvalidArgument(f"{name!r} of a map of weights was to be set, but a map cannot be changed; {_BUILD}")

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a pickle holds: no solver, but what it is made from."""
        return _restore, (self.profile, self.target_epsilon, self._specs, self._convexity, self._fingerprint)

    def __repr__(self) -> str:
        return f"<weights of {self.profile.name!r} for the target epsilon {exact_text(self.target_epsilon)}>"

    @property
    def profile(self) -> Profile:
        return self._solver.profile

    @property
    def target_epsilon(self) -> Fraction:
        """The target ε* in nats: ψ ≤ ε* for every record and its weight."""
        return self._solver.target.exact

    @property
    def evidence(self) -> str:
        """How it was proved that exp∘ε is convex in w and ε(1, x) ≤ ε*, on which the weights rest."""
        return self._convexity.evidence

    def read_specs(self) -> tuple[StatisticSpec, ...]:
        return self._specs

    def weigh(self, statistics: Mapping[str, Column]) -> tuple[Floats, Floats]:
        weights = self._solver.solve(statistics).weights
        return weights, probabilities(weights)


def arrow_weights(
    profile: Profile, target_epsilon: object, specs: Sequence[StatisticSpec | str] = (), *, convexity: ProvedConvexity | None = None
) -> ArrowWeights:
    """Return the map from record batches to record batches with the optimal weights and selection probabilities.

    Claim: for every record of every batch ψ(weight) ≤ ε* in exact arithmetic, weight ≥ w*(1 − 1e-12), q = 1/weight rounded down
    (docs/rounding.md); both are functions of the record alone.

    ``specs`` say from which columns the statistics are read, as :class:`StatisticSpec` or as text (``"z=l2(a,b)"``); by default the column
    of the statistic's name. That exp∘ε is convex in w and ε(1, x) ≤ ε* on the declared domain is proved here, once, and travels with
    the map; ``convexity`` is one that :func:`accountant.prove_convexity` returned before. To draw a sample, use
    :func:`accountant.engines.arrow_pairs`.

    Raises :class:`Infeasible` (assumption-8 is refuted), :class:`Undecided` (the convexity is not proved), :class:`InvalidTarget`,
    :class:`InvalidProfile`, :class:`InvalidArgument`.

    >>> import pyarrow as pa
    >>> from profiles import declare
    >>> weights = arrow_weights(declare("sum", "w*z", record={"z": [0, 4]}), 4)
    >>> weights(pa.record_batch({"z": [4.0]})).to_pylist()
    [{'z': 4.0, 'weight': 1.0, 'q': 1.0}]
    """
    chosen = complete_specs(profile, [parse_statistic(spec) if isinstance(spec, str) else spec for spec in specs])
    target = to_exact(target_epsilon, "the target epsilon")
    proved = prove_convexity(profile, target) if convexity is None else convexity
    solver = prepare_solver(profile, target, convexity=proved)
    return ArrowWeights(_key, solver, chosen, proved, fingerprint(solver))


def _restore(
    profile: Profile, target: Fraction, specs: tuple[StatisticSpec, ...], convexity: ProvedConvexity, expected: str
) -> ArrowWeights:
    """Return the map of a pickle. Raises :class:`InvalidArgument` where this process would compute other weights than the one before."""
    solver = prepare_solver(profile, target, convexity=convexity)
    restored = fingerprint(solver)
    if restored != expected:
        raise InvalidArgument(
            f"the weights were to be computed as in the process that made the map (fingerprint {expected[:12]}), but this one computes "
            f"other digits (fingerprint {restored[:12]}); use the same versions of this package and of NumPy everywhere, and where "
            "processors differ the same NPY_DISABLE_CPU_FEATURES (docs/engines.md)"
        )
    return ArrowWeights(_key, solver, specs, convexity, expected)
