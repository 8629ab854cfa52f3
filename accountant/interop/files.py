"""Guarantees to JSON and back (the format ``pdp-guarantee``, version 2). What a file states is no theorem: no rule accepts its type."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from accountant.guarantees.budgets import KEPT
from accountant.guarantees.calls import read_call, write_call
from accountant.guarantees.render import premises_json, render
from accountant.guarantees.statements import RULES
from accountant.guarantees.stored import (
    Proofs,
    read_bound,
    read_derivation,
    read_discharged,
    read_evidence,
    read_hypotheses,
    read_name,
    write_bound,
    write_derivation,
    write_discharged,
    write_evidence,
    write_name,
)
from accountant.guarantees.theorem import (
    AnyGuarantee,
    Bound,
    Call,
    CurveBound,
    Derivation,
    Discharged,
    EpsilonDP,
    Notion,
    TwoSidedDP,
    Unit,
    conclude,
    require_guarantee,
)
from profiles import InvalidArgument, UnreadableFile
from profiles.hypotheses import FILE_IS_RIGHT, ONE_USER, Hypothesis, fill_in
from profiles.mechanisms.catalogue import resembles_exact
from profiles.mechanisms.interface import EXACT_MODE
from profiles.strict_json import read_document, read_fields, read_list, read_string, write_document
from proofs_check.suprema.bound import EpsilonBound

FORMAT = "pdp-guarantee"
VERSION = 2


@dataclass(frozen=True, slots=True)
class StatedGuarantee:
    """The content of a guarantee, without the word of any rule for it."""

    subject: str
    notion: Notion
    bound: Bound
    hypotheses: tuple[Hypothesis, ...]
    discharged: tuple[Discharged, ...]
    derivation: Derivation
    unit: Unit = Unit.RECORD

    @classmethod
    def of(cls, guarantee: AnyGuarantee) -> StatedGuarantee:
        """Return what a guarantee states."""
        return cls(
            guarantee.subject,
            guarantee.notion,
            guarantee.bound,
            guarantee.hypotheses,
            guarantee.discharged,
            guarantee.derivation,
            guarantee.unit,
        )


@dataclass(frozen=True, slots=True)
class ReadGuarantee:
    """A guarantee as a file claims it: ``stated``, and the recorded calls (``call``) that are said to make it. Nothing of it is checked.

    No rule and no other library takes it. :func:`accountant.interop.replay` makes a guarantee of it by calling the rules again;
    :func:`suppose` makes one that has the file's word as an open hypothesis. ``digest`` is the SHA-256 of the text.
    """

    stated: StatedGuarantee
    call: Call | None
    digest: str
    version: int = VERSION

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The open hypotheses: that the file is right, those that it states, and premises of the rules it names that it says nothing of."""
        stated = self.stated
        told = {item.id for item in (*stated.hypotheses, *(closed.hypothesis for closed in stated.discharged))}
        rounded = EXACT_MODE if any(resembles_exact(closed.evidence) for closed in stated.discharged) else ()
        needed = (*rounded, *(item for rule in _rules(stated.derivation) for item in RULES[rule].premises), *stated.unit.hypotheses)
        more = (fill_in(item, stated.subject) for item in dict.fromkeys(needed) if item.id not in told)
        return (FILE_IS_RIGHT.about(digest=self.digest), *stated.hypotheses, *more)

    def render(self) -> str:
        """Return the statement as text for people, with a first line that says what it is."""
        stated = self.stated
        shown = replace(stated, bound=_unchecked(stated.bound), hypotheses=self.hypotheses)
        return "STATED BY A FILE, NOT REPLAYED\n" + render(shown)


def read_guarantee(text: str) -> ReadGuarantee:
    """Return what the text of a file (of version 1 or 2) of :func:`accountant.interop.write_guarantee` states, exactly.

    Raises :class:`UnreadableFile` (not that format or version, malformed, contradictory) and what reading a profile raises.
    """
    whole = read_document(text, FORMAT, 1, VERSION)
    keys = {"format", "version", "subject", "notion", "bound", "hypotheses", "discharged", "derivation", "calls", "proofs"}
    found = read_fields(whole, f"a {FORMAT}", keys if whole["version"] == 1 else keys | {"unit"})
    try:
        proofs = Proofs([read_evidence(item) for item in read_list(found["proofs"], "the proofs")])
        stated = StatedGuarantee(
            read_string(found["subject"], "the subject"),
            read_name(found["notion"], "notion", Notion),
            read_bound(found["bound"], proofs),
            read_hypotheses(found["hypotheses"], "the hypotheses"),
            tuple(read_discharged(item) for item in read_list(found["discharged"], "the discharged hypotheses")),
            read_derivation(found["derivation"]),
            read_name(found["unit"], "unit", Unit) if "unit" in found else Unit.RECORD,
        )
        if whole["version"] == 1 and ONE_USER in stated.hypotheses:  # what version 1 said of the unit
            stated = replace(stated, unit=Unit.USER)
        call = read_call(found["calls"], proofs)
    except RecursionError:
        raise UnreadableFile(f"a {FORMAT} was expected, but it is nested too deeply; check the file") from None
    _refuse_contradictions(stated)
    return ReadGuarantee(stated, call, hashlib.sha256(text.encode("utf-8")).hexdigest(), whole["version"])


def write_guarantee(guarantee: AnyGuarantee | ReadGuarantee) -> str:
    """Return the text of a JSON file with all that a guarantee states, exactly, and the calls of the rules that made it.

    :func:`accountant.interop.read_guarantee` reads it back, which is tried before it is returned.
    Raises :class:`InvalidArgument` for what is no guarantee, and for one that no file can hold (too many steps, text of several lines),
    :class:`InvalidNumber` for a number that is too long.

    >>> from accountant import derive_epsilon
    >>> from accountant.interop import read_guarantee
    >>> from profiles import declare
    >>> made = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}), rule="uniform", constants={"rate": "1/2"}).guarantee
    >>> read_guarantee(write_guarantee(made)).stated.bound == made.bound
    True
    """
    if isinstance(guarantee, ReadGuarantee):
        stated, call = guarantee.stated, guarantee.call
    else:
        require_guarantee(guarantee)
        stated, call = StatedGuarantee.of(guarantee), guarantee.call
    try:
        text = _write(stated, call)
        read_guarantee(text)
    except RecursionError:
        said = "it was derived in too many steps"
    except UnreadableFile as error:
        said = str(error)
    else:
        return text
    raise InvalidArgument(f"the guarantee of {str(stated.subject)[:60]!r} was to be written to a file, but none can hold it: {said}")


def _write(stated: StatedGuarantee, call: Call | None) -> str:
    proofs = Proofs()
    made = {
        "subject": stated.subject,
        "notion": write_name(stated.notion),
        "bound": write_bound(stated.bound, proofs),
        "unit": write_name(stated.unit),
        "hypotheses": premises_json(stated.hypotheses),
        "discharged": [write_discharged(item) for item in stated.discharged],
        "derivation": write_derivation(stated.derivation),
        "calls": write_call(call, proofs),
    }
    return write_document(FORMAT, VERSION, {**made, "proofs": [write_evidence(item) for item in proofs.items]})


def suppose(read: ReadGuarantee) -> AnyGuarantee:
    """If the file is right, what it states holds: the guarantee has that, and the hypotheses that the file names, as open hypotheses.

    What the file says was checked is not carried over, and what it says was discharged is on record as what the file says: both are a
    part of its word. Premises of the rules in its derivation that it says nothing of (version 1 named fewer) are open as well.
    Raises :class:`InvalidArgument` for what was not read from a file.
    """
    if not isinstance(read, ReadGuarantee):
        raise InvalidArgument(f"a guarantee that was read from a file was expected, but {type(read).__name__} was found; read one first")
    stated, open_ = read.stated, read.hypotheses
    said = {item.hypothesis: f"the file says: {item.evidence}" for item in stated.discharged if item.hypothesis not in open_}
    return conclude(
        "as a file states",
        stated.subject,
        _unchecked(stated.bound),
        source=f"file with the SHA-256 {read.digest}",
        conclusion="not replayed",
        supposes=open_,
        discharges=said,
        notion=stated.notion,
        unit=stated.unit,
        stated=(stated.derivation,),
    )


def _rules(derivation: Derivation) -> Iterator[str]:
    yield derivation.rule
    for child in derivation.children:
        yield from _rules(child)


def _unchecked(bound: Bound) -> Bound:
    """Return a bound with proofs that nobody has checked here, whatever the file says about them."""
    if isinstance(bound, EpsilonDP):
        return replace(bound, evidence=_unchecked_proof(bound.evidence))
    if isinstance(bound, TwoSidedDP):
        return replace(bound, evidence=tuple(map(_unchecked_proof, bound.evidence)))
    return bound


def _unchecked_proof(evidence: EpsilonBound) -> EpsilonBound:
    return replace(evidence, proved_by_balls=False, checked_by_kernel=False, kernel_reason="stated by a file, not replayed")


def _refuse_contradictions(stated: StatedGuarantee) -> None:
    """Refuse numbers that no rule gives, so that not even a supposed guarantee has them."""
    bound = stated.bound
    fits = stated.notion is Notion.PDP
    if isinstance(bound, EpsilonDP):
        fits = stated.notion is Notion.ADD_REMOVE_DP and 0 <= bound.lower <= bound.upper
        kept = KEPT in _rules(stated.derivation)  # its upper bound is the budget, which the proof is within
        proved = bound.evidence.upper <= bound.upper if kept else bound.evidence.upper == bound.upper
        fits = fits and bound.lower == bound.evidence.lower and proved
    elif isinstance(bound, CurveBound):
        fits = stated.notion is Notion.PRIVACY_CURVE
    elif isinstance(bound, TwoSidedDP):
        ends = [bound.plus, bound.plus if bound.minus is None else bound.minus, bound.delta_plus, bound.delta_minus]
        fits = stated.notion is bound.notion and min(ends) >= 0 and bound.delta <= 1
    named = {item.id for item in (*stated.hypotheses, *(entry.hypothesis for entry in stated.discharged))}
    others = {item.id for unit in Unit for item in unit.hypotheses} - {item.id for item in stated.unit.hypotheses}
    if named & others:
        raise UnreadableFile(
            f"the file says of {stated.subject[:60]!r} that it protects {stated.unit.value}, and contradicts that; correct it"
        )
    if not fits or not stated.subject.strip():
        raise UnreadableFile(f"the bound of {stated.subject[:60]!r} contradicts itself, its notion or its proof; correct the file")
