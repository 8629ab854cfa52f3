"""The abstract types of guarantees. Only the rules of this package make them, as in an LCF-style prover only rules make theorems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

from accountant.guarantees.statements import RULES, Basis
from accountant.sampling import SamplingRule
from accountant.worst_case import EpsilonBound
from profiles import InvalidArgument, Profile

#: Known to the rules alone. Whoever digs it out proves nothing to anybody else: a derivation can be replayed by calling the rules again.
_SEAL = object()


class Notion(Enum):
    """What a bound is a bound of. Neighbouring data sets differ in one added or removed record in both."""

    PDP = "personalized differential privacy (PDP), add/remove of one weighted record"
    ADD_REMOVE_DP = "epsilon-differential privacy, add/remove of one record"
    ADD_DP = "epsilon-add-DP (one-sided): P[M(D) in S] <= e^epsilon P[M(D') in S] where D is D' with one record more; nothing the other way"
    APPROXIMATE_DP = "(epsilon, delta)-differential privacy, add/remove of one record"
    APPROXIMATE_ADD_DP = (
        "(epsilon, delta)-add-DP (one-sided): P[M(D) in S] <= e^epsilon P[M(D') in S] + delta where D is D' with one record more"
    )


@dataclass(frozen=True, slots=True)
class ProfileBound:
    """Adding or removing (w, x) gives ε(w, x)-indistinguishable outputs, for the ε of ``profile``."""

    profile: Profile


@dataclass(frozen=True, slots=True)
class SampledBound:
    """Adding or removing x gives ψ(x)-indistinguishable outputs: the profile after Poisson importance sampling with ``rule``."""

    profile: Profile
    rule: SamplingRule


@dataclass(frozen=True, slots=True)
class EpsilonDP:
    """ε-differential privacy with ε = ``upper``; this derivation cannot give less than ``lower``; ``evidence`` has the proofs."""

    lower: Fraction
    upper: Fraction
    evidence: EpsilonBound


@dataclass(frozen=True, slots=True)
class TwoSidedDP:
    """Both directions of a guarantee, for D = D' with one record more: upper bounds in nats; ``minus`` None is unbounded.

        plus  (the record goes):   P[M(D) ∈ S]  ≤ e^plus  P[M(D') ∈ S] + delta_plus,
        minus (the record comes):  P[M(D') ∈ S] ≤ e^minus P[M(D) ∈ S]  + delta_minus.

    ``evidence``: the proofs of worst cases over records, where there were any. Source: docs/one-sided.md, section 1.
    """

    plus: Fraction
    minus: Fraction | None
    delta_plus: Fraction = Fraction(0)
    delta_minus: Fraction = Fraction(0)
    evidence: tuple[EpsilonBound, ...] = ()

    @property
    def epsilon(self) -> Fraction | None:
        """The larger of the two directions: ε of add/remove differential privacy, None where one is unbounded."""
        return None if self.minus is None else max(self.plus, self.minus)

    @property
    def delta(self) -> Fraction:
        """The larger of the two deltas."""
        return max(self.delta_plus, self.delta_minus)

    @property
    def notion(self) -> Notion:
        """Which notion these numbers are a bound of."""
        if self.minus is None:
            return Notion.APPROXIMATE_ADD_DP if self.delta else Notion.ADD_DP
        return Notion.APPROXIMATE_DP if self.delta else Notion.ADD_REMOVE_DP


Bound = ProfileBound | SampledBound | EpsilonDP | TwoSidedDP


@dataclass(frozen=True, slots=True)
class Discharged:
    """A hypothesis that is no longer open, what discharged it, and for which mechanism."""

    hypothesis: str
    evidence: str
    subject: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """One application of a rule: its name, the statement it rests on, what it concluded, the certificate claims, and its premises."""

    rule: str
    statement: str
    conclusion: str
    claims: tuple[str, ...] = ()
    children: tuple[Derivation, ...] = ()

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InvalidArgument(f"there is no rule {self.rule!r}; add it to accountant/guarantees/statements.py with what it rests on")

    @classmethod
    def stated(cls, rule: str, statement: str, conclusion: str, claims: tuple[str, ...], children: tuple[Derivation, ...]) -> Derivation:
        """Return a derivation as somebody states it, such as a file: it proves nothing, as no derivation does without its guarantee."""
        return cls(rule, statement, conclusion, claims, children)

    @property
    def basis(self) -> Basis:
        """The papers' statements that the rule rests on, as ids of ``pdp claims``."""
        return RULES[self.rule]


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a rule, with all that is needed to call it again: what a file stores so that a guarantee can be replayed.

    ``rule`` is the name of the function, ``arguments`` its arguments besides the guarantees in ``premises``. None in ``premises``: that
    one was made by a rule whose calls are not recorded.
    """

    rule: str
    arguments: tuple[tuple[str, Any], ...] = ()
    premises: tuple[Step | None, ...] = ()


def _check(seal: object) -> None:
    if seal is not _SEAL:
        raise InvalidArgument("guarantees are made by the rules of accountant.guarantees only; start with base_profile")


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A bound without open hypotheses: a theorem about ``subject``. ``step``: the call that made it, where rules record their calls."""

    subject: str
    notion: Notion
    bound: Bound
    discharged: tuple[Discharged, ...]
    derivation: Derivation
    seal: InitVar[object]
    step: Step | None = field(default=None, compare=False, repr=False)

    def __post_init__(self, seal: object) -> None:
        _check(seal)

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """No hypothesis is open."""
        return ()


@dataclass(frozen=True, slots=True)
class ConditionalGuarantee:
    """A bound that holds under ``hypotheses`` (at least one) that nobody has discharged."""

    subject: str
    notion: Notion
    bound: Bound
    hypotheses: tuple[str, ...]
    discharged: tuple[Discharged, ...]
    derivation: Derivation
    seal: InitVar[object]
    step: Step | None = field(default=None, compare=False, repr=False)

    def __post_init__(self, seal: object) -> None:
        _check(seal)
        if not self.hypotheses:
            raise InvalidArgument("a conditional guarantee needs an open hypothesis; without one it is a Guarantee")


AnyGuarantee = Guarantee | ConditionalGuarantee


def require_guarantee(*found: object) -> None:
    """Refuse what only looks like a guarantee: a rule concludes from guarantees that rules made. Raises :class:`InvalidArgument`."""
    for item in found:
        if not isinstance(item, (Guarantee, ConditionalGuarantee)):
            raise InvalidArgument(
                f"a guarantee made by the accountant's rules was expected, but {type(item).__name__} was found; what a file states becomes "
                "one by accountant.interop.replay or suppose"
            )


def conclude(
    subject: str,
    notion: Notion,
    bound: Bound,
    derivation: Derivation,
    *,
    hypotheses: Sequence[str] = (),
    discharged: Sequence[Discharged] = (),
    step: Step | None = None,
) -> AnyGuarantee:
    """Return the guarantee of the right type. For the rules of this package; not exported.

    A hypothesis stays open if ``hypotheses`` has it, even where it was discharged for another mechanism that went in. ``step`` is the call
    of the rule, from which a guarantee that was stored in a file is made again. Raises :class:`InvalidArgument` for a subject or a
    hypothesis that is no line of text, which a print would distort and no file would hold.
    """
    closed, remaining = tuple(dict.fromkeys(discharged)), tuple(dict.fromkeys(hypotheses))
    for text in (subject, *remaining):
        if not isinstance(text, str) or not text.strip() or not text.isprintable():
            raise InvalidArgument(f"subject and hypotheses of a guarantee are lines of text, but {str(text)[:60]!r} was found; reword it")
    if remaining:
        return ConditionalGuarantee(subject, notion, bound, remaining, closed, derivation, _SEAL, step)
    return Guarantee(subject, notion, bound, closed, derivation, _SEAL, step)
