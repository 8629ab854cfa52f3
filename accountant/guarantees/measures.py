"""What a guarantee measures: a profile, losses in each direction, or a privacy curve; and the few operations on them.

Numbers only: whom a measure protects and what it rests on is the guarantee's (``theorem.py``), and the operations are those of its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from accountant.amplification import amplify_add, amplify_remove
from accountant.compositions.events import Composition, Event, MechanismKind, make_event
from accountant.rules import SamplingRule
from profiles import InvalidArgument, Profile, decimal_text, exact_text
from profiles.balls import ball, upper_fraction, working_precision
from profiles.numbers import decimal_above, exact_root, to_number
from profiles.protection import Neighbors, Protection
from proofs_check.suprema.bound import EpsilonBound

#: Digits of losses when they become those of an event: rounded up, which is the safe side.
_DIGITS = 40
#: The least loss above 0 that the kernel computes with.
_LEAST_LOSS = Fraction(1, 10**12)
_BITS = 320
_ONE = Fraction(1)


class Notion(Enum):
    """The quantity that is bounded, under adding or removing one record; :func:`describe_notion` states other units and neighbors."""

    PDP = "personalized differential privacy (PDP), add/remove of one weighted record"
    ADD_REMOVE_DP = "epsilon-differential privacy, add/remove of one record"
    PURE_DP = "epsilon-differential privacy"
    ADD_DP = "epsilon-add-DP (one-sided): P[M(D) in S] <= e^epsilon P[M(D') in S] where D is D' with one record more; nothing the other way"
    APPROXIMATE_DP = "(epsilon, delta)-differential privacy, add/remove of one record"
    APPROXIMATE_ADD_DP = (
        "(epsilon, delta)-add-DP (one-sided): P[M(D) in S] <= e^epsilon P[M(D') in S] + delta where D is D' with one record more"
    )
    PRIVACY_CURVE = "privacy curve: (epsilon, delta(epsilon))-differential privacy at every epsilon, add/remove of one record"


@dataclass(frozen=True, slots=True)
class ProfileBound:
    """Adding or removing (w, x) gives ε(w, x)-indistinguishable outputs, for the ε of ``profile``, which must be a pure one."""

    profile: Profile

    def __post_init__(self) -> None:
        self.profile.require_pure()


@dataclass(frozen=True, slots=True)
class SampledBound:
    """Adding or removing x gives ψ(x)-indistinguishable outputs: the pure profile after Poisson importance sampling with ``rule``."""

    profile: Profile
    rule: SamplingRule

    def __post_init__(self) -> None:
        self.profile.require_pure()


@dataclass(frozen=True, slots=True)
class Losses:
    """ε and δ in each direction, for D = D' with one unit more: upper bounds in nats; ``add`` None is unbounded.

        remove (the unit goes):  P[M(D) ∈ S]  ≤ e^remove P[M(D') ∈ S] + delta_remove,
        add    (the unit comes): P[M(D') ∈ S] ≤ e^add P[M(D) ∈ S]    + delta_add.

    ``proofs``: those of worst cases over records, if any; ``lower``: this derivation cannot give less, if that is known. Neighbors that
    have no direction (one unit in place of another) have the same numbers in both. Source: docs/one-sided.md, section 1.
    """

    remove: Fraction
    add: Fraction | None
    delta_remove: Fraction = Fraction(0)
    delta_add: Fraction = Fraction(0)
    proofs: tuple[EpsilonBound, ...] = ()
    lower: Fraction | None = None

    @classmethod
    def proved(cls, evidence: EpsilonBound) -> Losses:
        """Return the worst case that ``evidence`` proves, in both directions."""
        return cls(evidence.upper, evidence.upper, proofs=(evidence,), lower=evidence.lower)

    @property
    def epsilon(self) -> Fraction | None:
        """The larger of the two directions: ε of differential privacy, None where one is unbounded."""
        return None if self.add is None else max(self.remove, self.add)

    @property
    def upper(self) -> Fraction:
        """ε as a number. Raises :class:`InvalidArgument` where a direction is unbounded."""
        if self.add is None:
            raise InvalidArgument("an epsilon for both directions was asked for, but the loss if a unit comes is unbounded; sample first")
        return max(self.remove, self.add)

    @property
    def delta(self) -> Fraction:
        """The larger of the two deltas."""
        return max(self.delta_remove, self.delta_add)

    @property
    def evidence(self) -> EpsilonBound:
        """The proof of a worst case. Raises :class:`InvalidArgument` where there is none, or more than one."""
        if len(self.proofs) != 1:
            raise InvalidArgument(
                f"one proof of a worst case was asked for, but the bound has {len(self.proofs)}; derive it from a profile"
            )
        return self.proofs[0]

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions have the same numbers."""
        return (self.remove, self.delta_remove) == (self.add, self.delta_add)

    def to_event(self) -> Event:
        """Return the event that has these losses; numbers with more than 40 digits, and losses below 10⁻¹², are rounded up.

        Raises :class:`InvalidArgument`.
        """
        remove, add = _round_loss(self.remove), None if self.add is None else _round_loss(self.add)
        delta_remove, delta_add = decimal_above(self.delta_remove, _DIGITS), decimal_above(self.delta_add, _DIGITS)
        if max(delta_remove, delta_add) >= 1:
            raise InvalidArgument(
                "a privacy curve was asked for, but the delta of the guarantee is 1, which promises nothing; take a smaller one"
            )
        if (remove, delta_remove) == (add, delta_add):
            if delta_remove == 0:
                return make_event(MechanismKind.PURE, {"epsilon": remove})
            return make_event(MechanismKind.APPROXIMATE, {"epsilon": remove, "delta": delta_remove})
        ends = {} if add is None else {"epsilon_add": add}
        return make_event(MechanismKind.TWO_SIDED, {"epsilon_remove": remove, "delta_remove": delta_remove, **ends, "delta_add": delta_add})


@dataclass(frozen=True, slots=True)
class CurveBound:
    """At every ε, δ(ε) is at most that of the dominating pair of ``composition``, in each direction.

    Source: docs/composition-bounds.md. Its value at one ε or δ is a :class:`Losses`.
    """

    composition: Composition


Bound = ProfileBound | SampledBound | Losses | CurveBound


def name_notion(bound: Bound, protection: Protection) -> Notion:
    """Return the narrowest notion that a bound is one of, for this protection."""
    if isinstance(bound, (ProfileBound, SampledBound)):
        return Notion.PDP
    if isinstance(bound, CurveBound):
        return Notion.PRIVACY_CURVE
    if bound.add is None:
        return Notion.APPROXIMATE_ADD_DP if bound.delta else Notion.ADD_DP
    if bound.delta:
        return Notion.APPROXIMATE_DP
    return Notion.ADD_REMOVE_DP if protection.neighbors is Neighbors.ADD_REMOVE else Notion.PURE_DP


def describe_notion(bound: Bound, protection: Protection) -> str:
    """Return the notion in words, for the unit and the neighbors of ``protection``."""
    notion = name_notion(bound, protection).value
    if protection.neighbors is not Neighbors.ADD_REMOVE:
        return f"{notion.removesuffix(', add/remove of one record')}, {protection.describe()}"
    return notion.replace("record", protection.unit.word)


def compose_losses(parts: Sequence[Losses]) -> Losses:
    """Return the sums, in each direction; one that is unbounded in a part is unbounded in all, and a delta is at most 1."""
    add = [item.add for item in parts if item.add is not None]
    return Losses(
        sum((item.remove for item in parts), Fraction(0)),
        None if len(add) < len(parts) else sum(add, Fraction(0)),
        min(_ONE, sum((item.delta_remove for item in parts), Fraction(0))),
        min(_ONE, sum((item.delta_add for item in parts), Fraction(0))),
        tuple(proof for item in parts for proof in item.proofs),
    )


def sample_losses(bound: Losses, rate: Fraction) -> Losses:
    """Return log(1 + p (e^remove − 1)) and −log(1 − p (1 − e^−add)), both rounded up, and p times each delta."""
    return Losses(amplify_remove(bound.remove, rate), amplify_add(bound.add, rate), rate * bound.delta_remove, rate * bound.delta_add)


def group_losses(bound: Losses, size: int) -> Losses:
    """Return the losses of ``size`` units that go, or come, one after the other: kε, and δ (1 + e^ε + … + e^((k−1)ε)), rounded up."""

    def deltas(epsilon: Fraction | None, delta: Fraction) -> Fraction:
        if not delta or epsilon is None:
            return delta
        return _rounded(delta, [step * epsilon for step in range(size)])

    return Losses(
        size * bound.remove,
        None if bound.add is None else size * bound.add,
        deltas(bound.remove, bound.delta_remove),
        deltas(bound.add, bound.delta_add),
        bound.proofs,
    )


def replace_losses(bound: Losses, neighbors: Neighbors) -> Losses:
    """Return the losses where one unit goes and another comes: remove + add, and the smaller of δ_remove + e^remove δ_add and
    δ_add + e^add δ_remove, rounded up.

    P_D ≤ e^remove P_D° + δ_remove ≤ e^remove (e^add P_D' + δ_add) + δ_remove, where D° has neither of the two units; the other order goes
    through the data with both, which there are only where units are added and removed (``neighbors`` of ``bound``): between empty units the
    first δ alone holds. Both orders hold for the exchange and for its reverse.
    Raises :class:`InvalidArgument` where the loss if a unit comes is unbounded.
    """
    if bound.add is None:
        raise InvalidArgument(
            "replacing a unit removes one and adds another, but the loss of adding one is unbounded; sample the mechanism first"
        )
    first = bound.delta_remove + _rounded(bound.delta_add, [bound.remove])
    second = bound.delta_add + _rounded(bound.delta_remove, [bound.add])
    epsilon, delta = bound.remove + bound.add, min(_ONE, first, second if neighbors is Neighbors.ADD_REMOVE else first)
    return Losses(epsilon, epsilon, delta, delta, bound.proofs)


def sample_composition(composition: Composition, rate: Fraction) -> Composition:
    """Return one use on a Poisson sample; two samples after one another are one of the product of their rates.

    Raises :class:`InvalidArgument` for a rate outside (0, 1], and where the composition is not known to be one use.
    """
    to_number(rate, "a sampling probability", "(0, 1]")
    before = as_one_use(composition)
    return Composition(composition.name, (replace(before, sampling_probability=before.sampling_probability * rate),))


def require_no_batches(composition: Composition, what: str) -> None:
    """Refuse events that say how their batches are drawn, and for which neighbors. Raises :class:`InvalidArgument`."""
    for event in composition.events:
        if event.batches is not None:
            raise InvalidArgument(
                f"{what} was asked for, but {composition.name[:60]!r} has batches of a law of their own ({event.batches.describe()}); "
                "declare it by batches for these neighbors, or take a point of the curve first"
            )


def as_one_use(composition: Composition) -> Event:
    """Return one use of one mechanism that is as private as the composition. Raises :class:`InvalidArgument` where none is known."""
    events = composition.events
    require_no_batches(composition, "a Poisson sample of it")
    if len(events) == 1 and events[0].count == 1:
        return events[0]
    if all(event.mechanism is MechanismKind.GAUSSIAN and event.sampling_probability == 1 for event in events):
        noise = exact_root(1 / sum((event.count / event["noise_multiplier"] ** 2 for event in events), Fraction(0)))
        if noise is not None:
            return make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": noise})
    raise InvalidArgument(
        f"a Poisson sample of the composition {composition.name[:80]!r} was asked for, but only one use of a mechanism is sampled "
        "here; sample before composing, where each use has a sample of its own; the same sample used several times costs more"
    )


def group_composition(composition: Composition, size: int) -> Composition:
    """Return what dominates the laws of two data sets that are ``size`` neighbors apart, from the pair of one step alone.

    Unsampled normal noise, also several times, is μ-Gaussian differentially private, and ``size`` steps make that of size·μ (Dong, Roth,
    Su 2022, Theorem 2.14). For one use of Laplace noise the best tests are half-lines, which follow one another, so that the scale is
    divided. From δ(Σε) = 0 of mechanisms without δ follows size·Σε. Raises :class:`InvalidArgument` for others, and for samples.
    """
    events = composition.events
    require_no_batches(composition, f"a curve for {size} steps between neighbors")
    if all(event.sampling_probability == 1 for event in events):
        if all(event.mechanism is MechanismKind.GAUSSIAN for event in events):
            noises = [(event["noise_multiplier"] / size, event.count) for event in events]
            made = [make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": noise}, count=count) for noise, count in noises]
            return Composition(composition.name, tuple(made))
        (first, *more) = events
        if not more and first.count == 1 and first.mechanism is MechanismKind.LAPLACE:
            return Composition(composition.name, (make_event(MechanismKind.LAPLACE, {"scale": first["scale"] / size}),))
        if all(event.mechanism in _PURE for event in events):
            whole = sum((event.count * _PURE[event.mechanism](event) for event in events), Fraction(0))
            return Composition(composition.name, (make_event(MechanismKind.PURE, {"epsilon": decimal_above(size * whole, _DIGITS)}),))
    raise InvalidArgument(
        f"a curve for {size} steps between neighbors was asked for, but for {describe_events(composition)[:100]} none is known; take a "
        "point of the curve first"
    )


#: ε of the mechanisms without δ.
_PURE: Mapping[MechanismKind, Callable[[Event], Fraction]] = {
    MechanismKind.LAPLACE: lambda event: 1 / event["scale"],
    MechanismKind.DISCRETE_LAPLACE: lambda event: 1 / event["scale"],
    MechanismKind.PURE: lambda event: event["epsilon"],
    MechanismKind.RANDOMIZED_RESPONSE: lambda event: event["epsilon"],
}


def describe_losses(bound: Losses) -> str:
    """Return the losses in words, each rounded up.

    >>> describe_losses(Losses(Fraction(1), None, Fraction(1, 10**6)))
    'epsilon_remove <= 1, epsilon_add unbounded, delta_remove <= 0.000001'
    """
    ends = {"epsilon_remove": bound.remove, "epsilon_add": bound.add}
    shown = [f"{name} {'unbounded' if value is None else '<= ' + decimal_text(value, 12, round_up=True)}" for name, value in ends.items()]
    deltas = {"delta_remove": bound.delta_remove, "delta_add": bound.delta_add}
    return ", ".join([*shown, *(f"{name} <= {decimal_text(value, 12, round_up=True)}" for name, value in deltas.items() if value)])


def describe_events(composition: Composition) -> str:
    """Return the events of a composition in one line."""
    return "; ".join(event.describe() for event in composition.events)


def describe_measure(bound: Losses | CurveBound) -> str:
    """Return the losses or the events of a measure in words."""
    return describe_losses(bound) if isinstance(bound, Losses) else describe_events(bound.composition)


def describe_rate(rate: Fraction, bound: Losses | CurveBound) -> str:
    """Return what a sample of this rate leaves, in words."""
    shown = decimal_text(rate, 17, round_up=True) if isinstance(bound, Losses) else exact_text(rate)
    return f"p = {shown}: {describe_measure(bound)}"


def _rounded(delta: Fraction, exponents: Sequence[Fraction]) -> Fraction:
    """Return an upper bound of δ Σ e^x, at most 1."""
    if not delta:
        return Fraction(0)
    with working_precision(_BITS):
        total = sum((ball(item).exp() for item in exponents), ball(Fraction(0)))
        end = upper_fraction(total * ball(delta))
    return _ONE if end is None else min(_ONE, end)


def _round_loss(value: Fraction) -> Fraction:
    return max(decimal_above(value, _DIGITS), _LEAST_LOSS) if value else value
