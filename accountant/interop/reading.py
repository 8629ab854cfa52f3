"""Guarantees from JSON. What a file states is no theorem: it has a type of its own, which no rule accepts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from accountant.guarantees.render import render
from accountant.guarantees.statements import RULES
from accountant.guarantees.theorem import AnyGuarantee, Bound, Derivation, Discharged, EpsilonDP, Notion, Step, TwoSidedDP, Unit, conclude
from accountant.interop.values import (
    Evidence,
    read_bound,
    read_derivation,
    read_discharged,
    read_evidence,
    read_hypotheses,
    read_notion,
    read_step,
    read_unit,
)
from profiles import InvalidArgument, UnreadableFile
from profiles.hypotheses import FILE_IS_RIGHT, ONE_USER, Hypothesis, fill_in
from profiles.strict_json import read_document, read_fields, read_list, read_string
from proofs_check.suprema.bound import EpsilonBound

FORMAT = "pdp-guarantee"
VERSION = 2


@dataclass(frozen=True, slots=True)
class Statement:
    """The content of a guarantee, without the word of any rule for it."""

    subject: str
    notion: Notion
    bound: Bound
    hypotheses: tuple[Hypothesis, ...]
    discharged: tuple[Discharged, ...]
    derivation: Derivation
    unit: Unit = Unit.RECORD

    @classmethod
    def of(cls, guarantee: AnyGuarantee) -> Statement:
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
    """A guarantee as a file claims it: ``stated``, and the recorded calls (``step``) that are said to make it. Nothing of it is checked.

    No rule and no other library takes it. :func:`accountant.interop.replay` makes a guarantee of it by calling the rules again;
    :func:`suppose` makes one that has the file's word as an open hypothesis. ``digest`` is the SHA-256 of the text.
    """

    stated: Statement
    step: Step | None
    digest: str
    version: int = VERSION

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The open hypotheses: that the file is right, those that it states, and premises of the rules it names that it says nothing of."""
        stated = self.stated
        told = {item.id for item in (*stated.hypotheses, *(closed.hypothesis for closed in stated.discharged))}
        needed = (*(item for rule in _rules(stated.derivation) for item in RULES[rule].premises), *stated.unit.hypotheses)
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
        evidence = Evidence([read_evidence(item) for item in read_list(found["proofs"], "the proofs")])
        stated = Statement(
            read_string(found["subject"], "the subject"),
            read_notion(found["notion"]),
            read_bound(found["bound"], evidence),
            read_hypotheses(found["hypotheses"], "the hypotheses"),
            tuple(read_discharged(item) for item in read_list(found["discharged"], "the discharged hypotheses")),
            read_derivation(found["derivation"]),
            read_unit(found["unit"]) if "unit" in found else Unit.RECORD,
        )
        if whole["version"] == 1 and ONE_USER in stated.hypotheses:  # what version 1 said of the unit
            stated = replace(stated, unit=Unit.USER)
        step = read_step(found["calls"], evidence)
    except RecursionError:
        raise UnreadableFile(f"a {FORMAT} was expected, but it is nested too deeply; check the file") from None
    _refuse_contradictions(stated)
    return ReadGuarantee(stated, step, hashlib.sha256(text.encode("utf-8")).hexdigest(), whole["version"])


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


def _refuse_contradictions(stated: Statement) -> None:
    """Refuse numbers that no rule gives, so that not even a supposed guarantee has them."""
    bound = stated.bound
    fits = stated.notion is Notion.PDP
    if isinstance(bound, EpsilonDP):
        fits = stated.notion is Notion.ADD_REMOVE_DP and 0 <= bound.lower <= bound.upper
        fits = fits and (bound.lower, bound.upper) == (bound.evidence.lower, bound.evidence.upper)
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
