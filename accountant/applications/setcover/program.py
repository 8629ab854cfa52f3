"""What an algorithm for set cover does, as public data: groups of stages, one Poisson sample a group; and what it guarantees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.guarantees import Guarantee, Hypothesis, Losses
from accountant.guarantees.theorem import Inference, conclude
from accountant.onesided import amplify_add, amplify_remove, compose, prove_losses, subsample
from profiles import InvalidArgument, InvalidData, Undecided, decimal_text
from profiles.balls import ball, upper_fraction, working_precision
from profiles.hypotheses import FRESH_SAMPLES, OWN_ENTRY, PUBLIC_CONSTANTS
from profiles.numbers import round_up_finite

PAGE = "docs/submodular.md"
PUBLIC = PUBLIC_CONSTANTS.about(names="the number of sets, their names and order, epsilon and the options of the algorithm are")


@dataclass(frozen=True, slots=True)
class ThresholdPass:
    """One pass over the remaining sets in a public order: a set is taken if its count plus fresh noise reaches ``threshold``."""

    threshold: int


@dataclass(frozen=True, slots=True)
class GreedyStage:
    """Noise is drawn once for each remaining set; the largest count plus noise is taken again and again, while it is at least ``floor``."""

    floor: int = 0


Stage = ThresholdPass | GreedyStage


@dataclass(frozen=True, slots=True)
class Group:
    """Stages on one Poisson sample of rate ``p``, with integer noise P[G ≥ j] = decay^j: a binary64 number, decay ≥ e^−epsilon0."""

    p: float
    epsilon0: Fraction
    stages: tuple[Stage, ...]
    decay: float

    def __post_init__(self) -> None:
        with working_precision(256):
            enough = bool(ball(Fraction(self.decay)) >= (-ball(self.epsilon0)).exp())
        if not (enough and self.decay < 1):
            raise InvalidArgument("the decay of a group must lie in [e^-epsilon0, 1), but another was found; make it with make_group")


def require_sets(system: object, sets: int) -> None:
    """Refuse what is not an instance with this public number of sets. Raises :class:`InvalidData`."""
    if type(system) is not CoverageInstance or system.candidates != sets:
        raise InvalidData(f"a CoverageInstance with {sets} sets is needed, but another object or number was found; make one with from_sets")


def make_group(p: float, epsilon0: Fraction, stages: tuple[Stage, ...]) -> Group:
    """Return a group whose noise costs at most ``epsilon0`` (nats) where a record goes. Raises :class:`InvalidArgument`."""
    with working_precision(256):
        end = upper_fraction((-ball(epsilon0)).exp())
    if end is None or not stages or not 0 < p < 1 or epsilon0 <= 0:
        raise InvalidArgument("a group needs stages, a probability in (0, 1) and a budget above 0, but others were found; correct them")
    decay = round_up_finite(end)
    if not decay < 1.0:
        raise InvalidArgument("the budget of a group is too small for noise in binary64; raise epsilon")
    return Group(p, epsilon0, stages, decay)


@dataclass(frozen=True, slots=True)
class CoverProgram:
    """Groups that run one after the other, each on a fresh sample of all elements; sets that none takes follow in the public order.

    ``adds_up``: the guarantee adds the losses of the groups up, as the paper does, though Theorem 2 would give less.
    """

    name: str
    groups: tuple[Group, ...]
    adds_up: bool = False

    @property
    def guarantee(self) -> Guarantee:
        """What a run guarantees, before the sources of its random numbers are known."""
        return add_groups(self) if self.adds_up else cover_once(self)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the guarantees take for granted about the implementation and its use, beside the hypotheses of every rule."""
        return (PUBLIC, OWN_ENTRY)


def cover_once(program: CoverProgram) -> Guarantee:
    """If a record is charged in one group only, the losses of its going do not add up: the whole has the losses

        remove = max_g log(1 + p_g (e^epsilon0_g − 1)),    add = Σ_g −log(1 − p_g).

    Every output covers an element for the first time in at most one group g*: before g* a larger sample makes the group's output less
    likely, after g* the element does not matter. Source: docs/submodular.md, Theorem 16.
    """
    parts = [_sample_group(group, program, index) for index, group in enumerate(program.groups)]
    remove = max(amplify_remove(group.epsilon0, group.p) for group in program.groups)
    add = [amplify_add(None, group.p) for group in program.groups]
    bound = Losses(remove, sum((value for value in add if value is not None), Fraction(0)))
    if None in add or bound.add is None:
        raise Undecided("a sample that keeps every element has no finite loss; use a smaller probability")
    shown = f"epsilon_remove <= {decimal_text(remove, 12, round_up=True)}, epsilon_add <= {decimal_text(bound.add, 12, round_up=True)}"
    return conclude(
        Inference("an element is covered once", program.name, source=f"{PAGE}, Theorem 2", conclusion=shown),
        bound,
        parents=parts,
        supposes=(FRESH_SAMPLES,),
    )


def add_groups(program: CoverProgram) -> Guarantee:
    """The losses of the groups, each a mechanism on a sample, add up in each direction (basic composition)."""
    return compose(*(_sample_group(group, program, index) for index, group in enumerate(program.groups)), subject=program.name)


def _sample_group(group: Group, program: CoverProgram, index: int) -> Guarantee:
    names = {
        ThresholdPass: "threshold pass",
        GreedyStage: "greedy with noise drawn once",
    }
    kinds = list(dict.fromkeys(names[type(stage)] for stage in group.stages))
    subject = f"{program.name}, group {index + 1} of {len(program.groups)} ({', then '.join(kinds)})"
    alone = prove_losses(
        subject, Losses(group.epsilon0, None), theorem=f"{PAGE}, Theorem 1", algorithm=program, hypotheses=program.hypotheses
    )
    return subsample(alone, group.p)
