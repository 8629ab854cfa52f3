"""The abstract types of guarantees. Only the rules of this package make them, as in an LCF-style prover only rules make theorems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accountant.guarantees.statements import RULES, Basis
from accountant.rules import SamplingRule
from profiles import InvalidArgument, Profile
from profiles.hypotheses import ONE_RECORD_EACH, ONE_USER, ONLY_RELEASE, PHYSICS, Hypothesis, as_hypothesis
from profiles.mechanisms.catalogue import resembles_exact
from proofs_check.suprema.bound import EpsilonBound

if TYPE_CHECKING:
    from accountant.curves.events import Composition

#: Known to the rules alone. Whoever digs it out proves nothing to anybody else: a derivation can be replayed by calling the rules again.
_SEAL = object()


class Notion(Enum):
    """What a bound is a bound of. Neighboring data sets differ in one added or removed record in both."""

    PDP = "personalized differential privacy (PDP), add/remove of one weighted record"
    ADD_REMOVE_DP = "epsilon-differential privacy, add/remove of one record"
    ADD_DP = "epsilon-add-DP (one-sided): P[M(D) in S] <= e^epsilon P[M(D') in S] where D is D' with one record more; nothing the other way"
    APPROXIMATE_DP = "(epsilon, delta)-differential privacy, add/remove of one record"
    APPROXIMATE_ADD_DP = (
        "(epsilon, delta)-add-DP (one-sided): P[M(D) in S] <= e^epsilon P[M(D') in S] + delta where D is D' with one record more"
    )
    PRIVACY_CURVE = "privacy curve: (epsilon, delta(epsilon))-differential privacy at every epsilon, add/remove of one record"


class Unit(Enum):
    """Whom a bound protects: what is added or removed. Bounds about different units are never added up."""

    RECORD = "one record (a row)"
    USER = "one user, with all records of that id"
    EVENT = "one event"

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What has to hold so that a bound for the unit is one for a person."""
        return (ONE_USER,) if self is Unit.USER else (ONE_RECORD_EACH,)


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


@dataclass(frozen=True, slots=True)
class CurveBound:
    """At every ε, δ(ε) is at most that of the pair of laws which ``composition`` stands for, in each direction.

    Source: docs/composition-bounds.md. What is read off it at one ε or δ is a :class:`TwoSidedDP`.
    """

    composition: Composition


Bound = ProfileBound | SampledBound | EpsilonDP | TwoSidedDP | CurveBound


@dataclass(frozen=True, slots=True)
class Discharged:
    """A hypothesis that is no longer open, what discharged it, and for which mechanism."""

    hypothesis: Hypothesis
    evidence: str
    subject: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """One application of a rule: its name, the statement it rests on, what it concluded, the certificate claims, and its premises.

    ``profile``: the whole profile that a promise is about, where a rule made it here; of what a file states it is not known.
    ``says``: the hypotheses of the step that name what is declared, likewise.
    """

    rule: str
    statement: str
    conclusion: str
    claims: tuple[str, ...] = ()
    children: tuple[Derivation, ...] = ()
    profile: Profile | None = field(default=None, compare=False, repr=False)
    says: tuple[Hypothesis, ...] = field(default=(), compare=False, repr=False)

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

    def mark(self, hypotheses: Iterable[Hypothesis], discharged: Iterable[Discharged]) -> str:
        """Return how the step is proved, in words: the mark of its rule; where it is a declaration, what discharged that, if anything did.

        ``hypotheses`` and ``discharged`` are those of the guarantee. What is open anywhere in it is said to be open.
        """
        basis, left = self.basis, frozenset(hypotheses)
        if basis.theorems or basis.page or left.intersection(self.says):
            return basis.mark
        found = dict.fromkeys(item.evidence for item in discharged if item.hypothesis in self.says)
        return f"a hypothesis says it, which is discharged: {'; '.join(found)}" if found else basis.mark


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a rule, with all that is needed to call it again: what a file stores so that a guarantee can be replayed.

    ``name`` is that of the function, ``arguments`` its arguments besides the guarantees in ``premises``. None in ``premises``: that
    one was made by a rule whose calls are not recorded.
    """

    name: str
    arguments: tuple[tuple[str, Any], ...] = ()
    premises: tuple[Call | None, ...] = ()


def _check(seal: object) -> None:
    if seal is not _SEAL:
        raise InvalidArgument("guarantees are made by the rules of accountant.guarantees only; start with base_profile")


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A bound without open hypotheses: a theorem about ``subject``. ``call``: the one that made it, where rules record their calls."""

    subject: str
    notion: Notion
    bound: Bound
    discharged: tuple[Discharged, ...]
    derivation: Derivation
    seal: InitVar[object]
    unit: Unit = Unit.RECORD
    call: Call | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        from accountant.guarantees.render import guarantee_text  # noqa: PLC0415 - for people only

        return f"{type(self).__name__}({guarantee_text(self)})"

    def _repr_html_(self) -> str:
        from accountant.guarantees.render import guarantee_html  # noqa: PLC0415

        return guarantee_html(self)

    def __post_init__(self, seal: object) -> None:
        _check(seal)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """No hypothesis is open."""
        return ()

    @property
    def is_unconditional(self) -> bool:
        """A theorem has no condition."""
        return True


@dataclass(frozen=True, slots=True)
class ConditionalGuarantee:
    """A bound that holds under ``hypotheses`` (at least one) that nobody has discharged."""

    subject: str
    notion: Notion
    bound: Bound
    hypotheses: tuple[Hypothesis, ...]
    discharged: tuple[Discharged, ...]
    derivation: Derivation
    seal: InitVar[object]
    unit: Unit = Unit.RECORD
    call: Call | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        from accountant.guarantees.render import guarantee_text  # noqa: PLC0415 - for people only

        return f"{type(self).__name__}({guarantee_text(self)})"

    def _repr_html_(self) -> str:
        from accountant.guarantees.render import guarantee_html  # noqa: PLC0415

        return guarantee_html(self)

    def __post_init__(self, seal: object) -> None:
        _check(seal)
        if not self.hypotheses:
            raise InvalidArgument("a conditional guarantee needs an open hypothesis; without one it is a Guarantee")

    @property
    def is_unconditional(self) -> bool:
        """Whether nothing is open but physics (:data:`profiles.hypotheses.PHYSICS`), and that this is the only release about the records:
        the bound of one release by itself, under no condition on the data or on the code.
        """
        return all(item in PHYSICS or item == ONLY_RELEASE for item in self.hypotheses)


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
    rule: str,
    subject: str,
    bound: Bound,
    *,
    source: str,
    conclusion: str,
    parents: Sequence[AnyGuarantee] = (),
    claims: Sequence[str] = (),
    supposes: Iterable[Hypothesis | str] = (),
    discharges: Mapping[Hypothesis, str] | None = None,
    closes: Mapping[Hypothesis, str] | None = None,
    notion: Notion | None = None,
    unit: Unit | None = None,
    stated: Sequence[Derivation] | None = None,
    call: Call | None = None,
    profile: Profile | None = None,
) -> AnyGuarantee:
    """Return what the rule named ``rule`` concludes from ``parents``. For the rules of this package; not exported.

    Its hypotheses are the premises of the rule (:data:`accountant.guarantees.statements.RULES`), ``supposes``, and those of all parents;
    each is open, or discharged: none can be lost. ``discharges`` gives the reasons for the rule's own premises and for ``supposes``,
    ``closes`` for what parents left open, too: what is open for a parent stays open where the rule discharges the same of itself, or
    another parent discharged it. Where a premise of the rule is a family, ``supposes`` has a member of it.

    ``source``: where the statement of the rule is proved; ``unit``: of the leaves, all other rules keep that of their parents;
    ``stated``: the derivations below it where they are not those of parents (a file's); ``call``: the call, without its premises;
    ``profile``: the one that the rule's promise is about.
    Raises :class:`InvalidArgument` for a subject or hypothesis that is no line of text, for parents about different units, and where
    the caller left out a premise of the rule.
    """
    require_guarantee(*parents)
    _require_line(subject)
    shut = dict(closes or {})
    found = {**(discharges or {}), **shut}
    added = tuple(as_hypothesis(item) for item in supposes)
    known = {item.id for item in (*added, *found)}
    premises = []
    for item in RULES[rule].premises:
        if not item.is_family:
            premises.append(item)
        elif item.id not in known:
            raise InvalidArgument(f"the rule {rule!r} needs its premise {item.id!r}, but the call has none; state it")
    units = {parent.unit for parent in parents} or {unit or Unit.RECORD}
    if len(units) > 1:
        protected = " and ".join(sorted(item.value for item in units))
        raise InvalidArgument(
            f"guarantees about different units were to be combined ({protected}); bring them to one unit first: merge the records of a user"
        )
    (whole,) = units
    protects = () if parents else whole.hypotheses
    inherited = dict.fromkeys(item for parent in parents for item in parent.hypotheses if item not in shut)
    own = dict.fromkeys(item for item in (*premises, *added, *protects) if item not in found)
    remaining = tuple({**own, **inherited})
    closed = [item for parent in parents for item in parent.discharged]
    closed += [Discharged(item, reason, subject) for item, reason in found.items() if item not in inherited]
    below = tuple(parent.derivation for parent in parents) if stated is None else tuple(stated)
    declared = {item.id for item in RULES[rule].premises if item.is_family}
    says = tuple(dict.fromkeys(item for item in added if item.id in declared))
    derivation = Derivation(rule, source, conclusion, tuple(claims), below, profile, says)
    made = None if call is None else replace(call, premises=tuple(parent.call for parent in parents))
    return _make(subject, _notion_of(bound) if notion is None else notion, bound, remaining, closed, derivation, whole, made)


def settle(
    guarantee: AnyGuarantee,
    discharges: Mapping[Hypothesis, str] | None = None,
    supposes: Iterable[Hypothesis | str] = (),
    *,
    by: Call | None = None,
) -> AnyGuarantee:
    """Return a guarantee with some hypotheses discharged, each with its evidence, and others added. What is not open is passed over.

    For rules and for what runs: :func:`discharge` and :func:`assume` are the ways for everybody. Every discharge stays on record, in
    prints and in the recorded calls. ``by``: the call, without its premise, of the rule that does all of this; else it is recorded as
    ``discharge`` and ``assume``. Raises :class:`InvalidArgument` for evidence without words, and for that of :func:`prove_run`.
    """
    require_guarantee(guarantee)
    found = {item: reason.strip() for item, reason in (discharges or {}).items() if item in guarantee.hypotheses}
    if not all(found.values()):
        raise InvalidArgument("discharging a hypothesis needs evidence in words; say why it holds")
    if by is None and any(
        map(resembles_exact, found.values())
    ):  # the words of a theorem with premises of its own, which would be left out here
        raise InvalidArgument("what is said of the catalogue in exact mode was given as evidence; pass the mechanism to prove_run instead")
    call = guarantee.call
    for item, reason in found.items():
        call = Call("discharge", (("hypothesis", item), ("evidence_text", reason)), (call,))
    remaining = [item for item in guarantee.hypotheses if item not in found]
    added = tuple(dict.fromkeys(item for item in map(as_hypothesis, supposes) if item not in remaining))
    if added:
        call = Call("assume", (("hypotheses", added),), (call,))
    elif not found:
        return guarantee
    if by is not None:
        call = replace(by, premises=(guarantee.call,))
    closed = [*guarantee.discharged, *(Discharged(item, reason, guarantee.subject) for item, reason in found.items())]
    return _make(
        guarantee.subject, guarantee.notion, guarantee.bound, (*remaining, *added), closed, guarantee.derivation, guarantee.unit, call
    )  # fmt: skip


def _make(
    subject: str,
    notion: Notion,
    bound: Bound,
    hypotheses: Sequence[Hypothesis],
    discharged: Sequence[Discharged],
    derivation: Derivation,
    unit: Unit,
    call: Call | None,
) -> AnyGuarantee:
    closed = tuple(dict.fromkeys(discharged))
    if hypotheses:
        return ConditionalGuarantee(subject, notion, bound, tuple(hypotheses), closed, derivation, _SEAL, unit, call)
    return Guarantee(subject, notion, bound, closed, derivation, _SEAL, unit, call)


def _notion_of(bound: Bound) -> Notion:
    if isinstance(bound, TwoSidedDP):
        return bound.notion
    if isinstance(bound, CurveBound):
        return Notion.PRIVACY_CURVE
    return Notion.ADD_REMOVE_DP if isinstance(bound, EpsilonDP) else Notion.PDP


def _require_line(subject: object) -> None:
    if not isinstance(subject, str) or not subject.strip() or not subject.isprintable():
        raise InvalidArgument(f"subject and hypotheses of a guarantee are lines of text, but {str(subject)[:60]!r} was found; reword it")
