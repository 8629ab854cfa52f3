"""What an algorithm for set cover does, as public data: groups of stages, one Poisson sample a group; and what it guarantees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accountant.guarantees import AnyGuarantee, Hypothesis, TwoSidedDP
from accountant.guarantees.theorem import conclude
from accountant.onesided import amplify_minus, amplify_plus, compose_directions, prove_losses, subsample
from profiles import InvalidArgument, Undecided, decimal_text
from profiles.hypotheses import FRESH_SAMPLES, OWN_ENTRY, PUBLIC_CONSTANTS
from profiles.numbers import round_up_finite
from proofs_check.enclosures import ball, upper_fraction, working_precision

PAGE = "docs/set-cover.md"
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
    def guarantee(self) -> AnyGuarantee:
        """What a run guarantees, before the sources of its random numbers are known."""
        return add_groups(self) if self.adds_up else cover_once(self)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the guarantees take for granted about the implementation and its use, beside the premises of every rule."""
        return (PUBLIC, OWN_ENTRY)


def cover_once(program: CoverProgram) -> AnyGuarantee:
    """If a record is charged in one group only, the plus losses do not add up: the whole has the losses

        plus = max_g log(1 + p_g (e^epsilon0_g − 1)),    minus = Σ_g −log(1 − p_g).

    Every output covers an element for the first time in at most one group g*: before g* a larger sample makes the group's output less
    likely, after g* the element does not matter. Source: docs/set-cover.md, Theorem 2.
    """
    parts = [_sample_group(group, program, index) for index, group in enumerate(program.groups)]
    plus = max(amplify_plus(group.epsilon0, group.p) for group in program.groups)
    minus = [amplify_minus(None, group.p) for group in program.groups]
    bound = TwoSidedDP(plus, sum((value for value in minus if value is not None), Fraction(0)))
    if None in minus or bound.minus is None:
        raise Undecided("a sample that keeps every element has no finite loss; use a smaller probability")
    shown = f"epsilon_plus <= {decimal_text(plus, 12, round_up=True)}, epsilon_minus <= {decimal_text(bound.minus, 12, round_up=True)}"
    return conclude(
        "an element is covered once",
        program.name,
        bound,
        source=f"{PAGE}, Theorem 2",
        conclusion=shown,
        parents=parts,
        supposes=(FRESH_SAMPLES,),
    )


def add_groups(program: CoverProgram) -> AnyGuarantee:
    """The losses of the groups, each a mechanism on a sample, add up in each direction (basic composition)."""
    return compose_directions(program.name, [_sample_group(group, program, index) for index, group in enumerate(program.groups)])


def _sample_group(group: Group, program: CoverProgram, index: int) -> AnyGuarantee:
    names = {
        ThresholdPass: "threshold pass",
        GreedyStage: "greedy with noise drawn once",
    }
    kinds = list(dict.fromkeys(names[type(stage)] for stage in group.stages))
    subject = f"{program.name}, group {index + 1} of {len(program.groups)} ({', then '.join(kinds)})"
    alone = prove_losses(subject, group.epsilon0, None, theorem=f"{PAGE}, Theorem 1", algorithm=program, hypotheses=program.hypotheses)
    return subsample(alone, group.p)


__all__ = [
    "PAGE",
    "PUBLIC",
    "CoverProgram",
    "GreedyStage",
    "Group",
    "Stage",
    "ThresholdPass",
    "add_groups",
    "cover_once",
    "make_group",
]
