"""The abstract type of guarantees. Only the rules of this package make them, as in an LCF-style prover only rules make theorems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

from accountant.guarantees.measures import Bound, Losses, Notion, name_notion
from accountant.guarantees.statements import RULES, Basis, may_close
from profiles import InvalidArgument, Profile
from profiles.hypotheses import FIXED_IN_ADVANCE, ONE_RECORD_EACH, ONLY_RELEASE, PHYSICS, RECORD_STATISTICS, Hypothesis, as_hypothesis
from profiles.protection import Protection, Unit
from profiles.views import show_html, show_text

#: What an unconditional bound must have accounted for by steps of code.
_ACCOUNTED = frozenset(item.id for item in (FIXED_IN_ADVANCE, ONE_RECORD_EACH, RECORD_STATISTICS))
#: The rule that adds releases up, and the one that believes a file.
_ADDS_UP = ("filter of a ledger", "as a file states")
#: Known to the rules alone. Whoever digs it out proves nothing to anybody else: a derivation can be replayed by calling the rules again.
_SEAL = object()
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Discharged:
    """A closed hypothesis, what closed it, and for which mechanism."""

    hypothesis: Hypothesis
    evidence: str
    subject: str


@dataclass(frozen=True, slots=True)
class Carried:
    """What a carrier that is not a guarantee, such as an entry of a ledger, knows of the one that it was made from: all but the bound.

    A rule that concludes from it inherits what is open in it and what was discharged, as from a guarantee.
    """

    protection: Protection
    hypotheses: tuple[Hypothesis, ...]
    discharged: tuple[Discharged, ...] = ()

    @classmethod
    def of(cls, guarantee: Guarantee | Statement) -> Carried:
        """Return all but the bound of a guarantee, or of what a file states."""
        return cls(guarantee.protection, guarantee.hypotheses, guarantee.discharged)

    def update_hypotheses(self, discharges: Mapping[Hypothesis, str], supposes: Iterable[Hypothesis | str], subject: str) -> Carried:
        """Return it with some hypotheses discharged for ``subject``, each with the reason, and others added; what is not open is passed by.

        Raises :class:`InvalidArgument` for words in place of a step of code.
        """
        shut = {item: reason for item, reason in discharges.items() if item in self.hypotheses}
        _require_steps(shut)
        left = (item for item in self.hypotheses if item not in shut)
        closed = (*self.discharged, *(Discharged(item, reason, subject) for item, reason in shut.items()))
        return Carried(self.protection, _once((*left, *map(as_hypothesis, supposes))), _once(closed))

    def restate(self, said: Sequence[Hypothesis]) -> Carried:
        """Return it with ``said`` in place of the open hypotheses of the same ids: what was open is said of what it comes down to."""
        left = (item for item in self.hypotheses if item.id not in {other.id for other in said})
        return Carried(self.protection, _once((*left, *said)), self.discharged)


@dataclass(frozen=True, slots=True)
class Derivation:
    """One application of a rule: its name, its statement, its conclusion, the certificate claims, and the derivations that it uses.

    ``profile``: the complete profile of a promise, if a rule made it here; it is not known for a derivation that a file states. ``says``:
    the hypotheses of the step that name what is declared, likewise.
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
        """Return how the step is proved, in words: the mark of its rule or, for a declaration, what closed it, if anything did.

        ``hypotheses`` and ``discharged`` are those of the guarantee. A hypothesis that is open anywhere in it counts as open.
        """
        basis, left = self.basis, frozenset(hypotheses)
        if basis.theorems or basis.page or left.intersection(self.says):
            return basis.mark
        evidences = dict.fromkeys(item.evidence for item in discharged if item.hypothesis in self.says)
        return f"an assumption says it, which is settled: {'; '.join(evidences)}" if evidences else basis.mark


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a rule, with all that is needed to call it again: what a file stores so that a guarantee can be replayed.

    ``name`` is that of the function, ``arguments`` its arguments besides the guarantees in ``premises``. None in ``premises``: that
    one was made by a rule whose calls are not recorded.
    """

    name: str
    arguments: tuple[tuple[str, Any], ...] = ()
    premises: tuple[Call | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """The content of a guarantee, which no rule has proved: what a file states, and what is printed."""

    subject: str
    bound: Bound
    protection: Protection
    hypotheses: tuple[Hypothesis, ...]
    discharged: tuple[Discharged, ...]
    derivation: Derivation

    @property
    def notion(self) -> Notion:
        """Which notion the bound is one of."""
        return name_notion(self.bound, self.protection)

    @property
    def unit(self) -> Unit:
        """Whom it protects."""
        return self.protection.unit

    @property
    def statement(self) -> Statement:
        """Itself: whatever prints a guarantee prints a statement."""
        return self


@dataclass(frozen=True, slots=True, repr=False)
class Guarantee:
    """A statement that the rules of this package have made: a theorem under its ``hypotheses``, the assumptions that nothing has verified.

    ``call``: the one that made it, where rules record their calls.
    """

    statement: Statement
    seal: InitVar[object]
    call: Call | None = field(default=None, compare=False)

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise InvalidArgument("guarantees are made by the rules of accountant.guarantees only; start with base_profile")

    @property
    def subject(self) -> str:
        """The mechanism that it is about."""
        return self.statement.subject

    @property
    def bound(self) -> Bound:
        """The measure: a profile, losses in each direction, or a privacy curve."""
        return self.statement.bound

    @property
    def protection(self) -> Protection:
        """Whom it protects, and against what change."""
        return self.statement.protection

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Its unverified assumptions."""
        return self.statement.hypotheses

    @property
    def discharged(self) -> tuple[Discharged, ...]:
        """Its closed hypotheses, each with what closed it."""
        return self.statement.discharged

    @property
    def derivation(self) -> Derivation:
        """The rules that made it."""
        return self.statement.derivation

    @property
    def notion(self) -> Notion:
        """Which notion the bound is one of."""
        return self.statement.notion

    @property
    def unit(self) -> Unit:
        """Whom it protects."""
        return self.statement.unit

    @property
    def is_unconditional(self) -> bool:
        """Whether no hypothesis is open except physics (:data:`profiles.hypotheses.PHYSICS`), and that this is the only release about the
        data.

        Hypotheses about the world (parameters fixed in advance, one record each, statistics of the record alone) must have been closed by
        steps of code: it is not enough that no rule mentioned them.
        """
        accounted = {item.hypothesis.id for item in self.discharged}
        return accounted >= _ACCOUNTED and all(item in PHYSICS or item == ONLY_RELEASE for item in self.hypotheses)

    def __repr__(self) -> str:
        return show_text(self)

    def _repr_html_(self) -> str:
        return show_html(self)


def require_guarantee(*values: object) -> None:
    """Refuse what only looks like a guarantee: a rule concludes from guarantees that rules made. Raises :class:`InvalidArgument`."""
    for item in values:
        if not isinstance(item, Guarantee):
            raise InvalidArgument(
                f"a guarantee made by the accountant's rules was expected, but {type(item).__name__} was found; what a file states becomes "
                "one by accountant.interop.replay or suppose"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """One use of a rule, as :func:`conclude` gets it: the ``rule``, the ``subject`` of what it concludes, ``source``, where the
    statement of the rule is proved, the ``conclusion`` in words, and the ``claims`` of a certificate.

    ``call``: the call, without its premises; ``profile``: the one that the rule's promise is about; ``below``: the derivations below it
    where they are not those of parents (a file's). ``protection``: that of a leaf, or of a rule that changes it; all others keep that of
    their parents, which must be one. ``carried``: what is known of releases that the rule concludes from besides its parents (a ledger's).
    """

    rule: str
    subject: str
    source: str
    conclusion: str
    claims: Sequence[str] = ()
    call: Call | None = None
    profile: Profile | None = None
    below: Sequence[Derivation] | None = None
    protection: Protection | None = None
    carried: Sequence[Carried] = ()


def conclude(
    made_by: Inference,
    bound: Bound,
    *,
    parents: Sequence[Guarantee] = (),
    supposes: Iterable[Hypothesis | str] = (),
    discharges: Mapping[Hypothesis, str] | None = None,
    closes: Mapping[Hypothesis, str] | None = None,
) -> Guarantee:
    """Return what a rule concludes from ``parents``. For the rules of this package; not exported.

    Its hypotheses are those of the rule (:data:`accountant.guarantees.statements.RULES`), ``supposes``, and those of all parents;
    each is open, or discharged: none can be lost. ``discharges`` gives the reasons for the rule's own hypotheses and for ``supposes``,
    ``closes`` for what parents left open, too: what is open for a parent stays open where the rule discharges the same of itself, or
    another parent discharged it. Where a hypothesis of the rule is a family, ``supposes`` has a member of it.

    Raises :class:`InvalidArgument` for a subject or hypothesis that is not a line of text, for parents with different protections, for a
    protection that the rule does not hold for, for words in place of a step of code (:data:`statements.WORLD`), and where the caller left
    out a hypothesis of the rule.
    """
    require_guarantee(*parents)
    rule, subject = made_by.rule, made_by.subject
    _require_line(subject)
    whole = _find_protection(rule, bound, [parent.protection for parent in parents], made_by.protection)
    RULES[rule].require(rule, *(item.protection for item in made_by.carried))
    shut = dict(closes or {})
    discharged = {**(discharges or {}), **shut}
    _require_steps(discharged, rule)
    added = tuple(map(as_hypothesis, supposes))  # as they are: what a part of a user's guarantee says of records stays about records
    known = {item.id for item in (*added, *discharged)}
    needed = []
    for item in RULES[rule].hypotheses:
        if not item.is_family:
            needed.append(whole.state(item))
        elif item.id not in known:
            raise InvalidArgument(f"the rule {rule!r} needs the hypothesis {item.id!r}, but the call states none; state it")
    protects = () if parents else whole.unit.hypotheses
    below_it = (*map(Carried.of, parents), *made_by.carried)
    inherited = dict.fromkeys(item for parent in below_it for item in parent.hypotheses if item not in shut)
    own = dict.fromkeys(item for item in (*needed, *added, *protects) if item not in discharged)
    remaining = tuple({**own, **inherited})
    closed = [item for parent in below_it for item in parent.discharged]
    closed += [Discharged(item, reason, subject) for item, reason in discharged.items() if item not in inherited]
    below = tuple(parent.derivation for parent in parents) if made_by.below is None else tuple(made_by.below)
    declared = {item.id for item in RULES[rule].hypotheses if item.is_family}
    says = tuple(dict.fromkeys(item for item in added if item.id in declared))
    derivation = Derivation(rule, made_by.source, made_by.conclusion, tuple(made_by.claims), below, made_by.profile, says)
    call = None if made_by.call is None else replace(made_by.call, premises=tuple(parent.call for parent in parents))
    return Guarantee(Statement(subject, bound, whole, remaining, _once(closed), derivation), _SEAL, call)


def update_hypotheses(
    guarantee: Guarantee,
    discharges: Mapping[Hypothesis, str] | None = None,
    supposes: Iterable[Hypothesis | str] = (),
    *,
    by: Call | None = None,
) -> Guarantee:
    """Return a guarantee with some hypotheses closed, each with its evidence, and others added. Hypotheses that are not open are ignored.

    For rules and for code that runs: users call :func:`discharge` and :func:`assume`. Every closing is recorded, in prints and in the
    recorded calls. ``by``: the call, without its guarantee, of the rule that does all of this; else it is recorded as ``discharge`` and
    ``assume``. Raises :class:`InvalidArgument` for evidence without words, and for that of :func:`prove_run`.
    """
    require_guarantee(guarantee)
    closed = {item: reason.strip() for item, reason in (discharges or {}).items() if item in guarantee.hypotheses}
    if not all(closed.values()):
        raise InvalidArgument("discharging a hypothesis needs evidence in words; say why it holds")
    if by is None and any(map(_resembles_exact, closed.values())):  # the words of a theorem with hypotheses of its own, left out here
        raise InvalidArgument("what is said of the catalogue in exact mode was given as evidence; pass the mechanism to prove_run instead")
    left = Carried.of(guarantee).update_hypotheses(closed, (), guarantee.subject)
    call = guarantee.call
    for item, reason in closed.items():
        call = Call("discharge", (("hypothesis", item), ("evidence_text", reason)), (call,))
    added = _once(item for item in map(as_hypothesis, supposes) if item not in left.hypotheses)
    if added:
        call = Call("assume", (("hypotheses", added),), (call,))
    elif not closed:
        return guarantee
    if by is not None:
        call = replace(by, premises=(guarantee.call,))
    made = replace(guarantee.statement, hypotheses=(*left.hypotheses, *added), discharged=left.discharged)
    return Guarantee(made, _SEAL, call)


def restate(guarantee: Guarantee, said: Sequence[Hypothesis], call: Call) -> Guarantee:
    """Return a guarantee whose open hypotheses are restated (:meth:`Carried.restate`) by the rule of ``call``. Not exported."""
    require_guarantee(guarantee)
    made = replace(guarantee.statement, hypotheses=Carried.of(guarantee).restate(said).hypotheses)
    return Guarantee(made, _SEAL, replace(call, premises=(guarantee.call,)))


def _once(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))


def _find_protection(rule: str, bound: Bound, parents: Sequence[Protection], given: Protection | None) -> Protection:
    """Return the protection of what a rule concludes. Raises :class:`InvalidArgument` where there is none, or not one."""
    for left, right in pairwise(parents):
        if left.unit is not right.unit:
            protected = " and ".join(sorted({left.unit.value, right.unit.value}))
            raise InvalidArgument(
                f"guarantees about different units were to be combined ({protected}); bring them to one unit first: merge the records of a "
                "user, or use group"
            )
        if left != right:
            raise InvalidArgument(
                f"guarantees with different neighbors were to be combined ({left.describe()}; {right.describe()}); bring them to one first "
                "with change_neighbors"
            )
    whole = given if given is not None else parents[0] if parents else None
    if whole is None:
        raise InvalidArgument(f"the rule {rule!r} concludes from no guarantee, and does not say whom it protects; give its protection")
    RULES[rule].require(rule, *parents, *(() if given is None else (given,)))
    if not whole.neighbors.is_directed and isinstance(bound, Losses) and not bound.is_symmetric:
        raise InvalidArgument(
            f"a loss for each direction was given for {whole.describe()}, which has no direction; give the larger one for both"
        )
    return whole


def _require_steps(reasons: Mapping[Hypothesis, str], rule: str = "") -> None:
    """Refuse words where only a step of code, or one ``rule``, makes a hypothesis about the world true. Raises :class:`InvalidArgument`."""
    for item, reason in reasons.items():
        if not may_close(item, reason) or (item == ONLY_RELEASE and rule not in _ADDS_UP):
            raise InvalidArgument(
                f"the hypothesis {item.id!r} is about the world and was to be discharged by words ({reason[:60]!r}), which make nothing "
                "true; leave it open, or let a step of code see to it"
            )


def _require_line(subject: object) -> None:
    if not isinstance(subject, str) or not subject.strip() or not subject.isprintable():
        raise InvalidArgument(f"subject and hypotheses of a guarantee are lines of text, but {str(subject)[:60]!r} was found; reword it")


def _resembles_exact(evidence: str) -> bool:
    from profiles.mechanisms.catalogue import resembles_exact  # noqa: PLC0415 - all mechanisms, which a guarantee mostly does without

    return resembles_exact(evidence)
