"""Guarantees to JSON and back (the format ``pdp-guarantee``, version 3). What a file states is not a theorem: no rule accepts its type."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accountant.guarantees.budgets import KEPT
from accountant.guarantees.measures import Bound, Losses
from accountant.guarantees.recording import read_call, write_call
from accountant.guarantees.render import render
from accountant.guarantees.statements import RULES, SAID_BY_FILE
from accountant.guarantees.stored import (
    Proofs,
    read_bound,
    read_derivation,
    read_evidence,
    read_hypotheses,
    read_stated_protection,
    reopen,
    write_bound,
    write_carried,
    write_derivation,
    write_evidence,
    write_name,
)
from accountant.guarantees.theorem import Call, Derivation, Guarantee, Inference, Statement, conclude, require_guarantee
from profiles import InvalidArgument, UnreadableFile
from profiles.citations import cite_now
from profiles.hypotheses import FILE_IS_RIGHT, ONE_USER, Hypothesis, fill_in
from profiles.mechanisms.catalogue import resembles_exact
from profiles.mechanisms.interface import EXACT_MODE
from profiles.protection import Protection, Unit
from profiles.strict_json import read_document, read_fields, read_list, read_string, write_document
from proofs_check.suprema.bound import EpsilonBound

FORMAT = "pdp-guarantee"
VERSION = 3


@dataclass(frozen=True, slots=True)
class ReadGuarantee:
    """A guarantee as a file claims it: ``stated``, and the recorded calls (``call``) that are said to make it. Nothing of it is checked.

    No rule and no other library takes it. :func:`accountant.interop.replay` makes a guarantee of it by calling the rules again;
    :func:`suppose` makes one that has the file's word as an open hypothesis. ``digest`` is the SHA-256 of the text.
    """

    stated: Statement
    call: Call | None
    digest: str
    version: int = VERSION

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The open hypotheses: that the file is right, those that it states, and those of its rules that it says nothing of."""
        stated = self.stated
        told = {item.id for item in (*stated.hypotheses, *(closed.hypothesis for closed in stated.discharged))}
        rounded = EXACT_MODE if any(resembles_exact(closed.evidence) for closed in stated.discharged) else ()
        of_rules = (stated.protection.state(item) for rule in _rules(stated.derivation) for item in RULES[rule].hypotheses)
        needed = (*rounded, *of_rules, *stated.unit.hypotheses)
        more = (fill_in(item, stated.subject) for item in dict.fromkeys(needed) if item.id not in told)
        return (FILE_IS_RIGHT.about(digest=self.digest), *stated.hypotheses, *more)

    def render(self) -> str:
        """Return the statement as text for people, with a first line that says what it is."""
        stated = self.stated
        shown = replace(stated, bound=_unchecked(stated.bound), hypotheses=self.hypotheses)
        return "STATED BY A FILE, NOT REPLAYED\n" + render(shown)


def read_guarantee(text: str) -> ReadGuarantee:
    """Return what the text of a file (of any version) of :func:`accountant.interop.write_guarantee` states, exactly.

    Raises :class:`UnreadableFile` (not that format or version, malformed, contradictory) and what reading a profile raises.
    """
    whole = read_document(cite_now(text) if isinstance(text, str) else text, FORMAT, *range(1, VERSION + 1))
    keys = {"format", "version", "subject", "bound", "hypotheses", "discharged", "derivation", "calls", "proofs"}
    later = {1: {"notion"}, 2: {"notion", "unit"}, 3: {"protection"}}[whole["version"]]
    fields = read_fields(whole, f"a {FORMAT}", keys | later)
    try:
        proofs = Proofs([read_evidence(item) for item in read_list(fields["proofs"], "the proofs")])
        hypotheses = read_hypotheses(fields["hypotheses"], "the hypotheses")
        told = reopen(_read_protection(fields, hypotheses), hypotheses, fields["discharged"])
        stated = Statement(
            read_string(fields["subject"], "the subject"),
            read_bound(fields["bound"], proofs),
            told.protection,
            told.hypotheses,
            told.discharged,
            read_derivation(fields["derivation"]),
        )
        call = read_call(fields["calls"], proofs)
    except RecursionError:
        raise UnreadableFile(f"a {FORMAT} was expected, but it is nested too deeply; check the file") from None
    _refuse_contradictions(stated, fields.get("notion"))
    return ReadGuarantee(stated, call, hashlib.sha256(text.encode("utf-8")).hexdigest(), whole["version"])


def write_guarantee(guarantee: Guarantee | ReadGuarantee) -> str:
    """Return the text of a JSON file with all that a guarantee states, exactly, and the calls of the rules that made it.

    :func:`accountant.interop.read_guarantee` reads it back, which is tried before it is returned.
    Raises :class:`InvalidArgument` for what is not a guarantee, and for one that no file can hold (too many steps, text of several lines),
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
        stated, call = guarantee.statement, guarantee.call
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


def _write(stated: Statement, call: Call | None) -> str:
    proofs = Proofs()
    made = {
        "subject": stated.subject,
        "bound": write_bound(stated.bound, proofs),
        **write_carried(stated),
        "derivation": write_derivation(stated.derivation),
        "calls": write_call(call, proofs),
    }
    return write_document(FORMAT, VERSION, {**made, "proofs": [write_evidence(item) for item in proofs.items]})


def suppose(read: ReadGuarantee) -> Guarantee:
    """If the file is right, what it states holds: the guarantee has that, and the hypotheses that the file names, as open hypotheses.

    What the file says was checked is not carried over, and what it says was discharged is on record as what the file says: both are a
    part of its word. Hypotheses of the rules in its derivation that it says nothing of (version 1 named fewer) are open as well.
    Raises :class:`InvalidArgument` for what was not read from a file.
    """
    if not isinstance(read, ReadGuarantee):
        raise InvalidArgument(f"a guarantee that was read from a file was expected, but {type(read).__name__} was found; read one first")
    stated, open_ = read.stated, read.hypotheses
    said = {item.hypothesis: SAID_BY_FILE + item.evidence for item in stated.discharged if item.hypothesis not in open_}
    return conclude(
        Inference(
            "as a file states",
            stated.subject,
            source=f"file with the SHA-256 {read.digest}",
            conclusion="not replayed",
            below=(stated.derivation,),
            protection=stated.protection,
        ),
        _unchecked(stated.bound),
        supposes=open_,
        discharges=said,
    )


def _rules(derivation: Derivation) -> Iterator[str]:
    yield derivation.rule
    for child in derivation.children:
        yield from _rules(child)


def _unchecked(bound: Bound) -> Bound:
    """Return a bound with proofs that nobody has checked here, whatever the file says about them."""
    if isinstance(bound, Losses):
        return replace(bound, proofs=tuple(map(_unchecked_proof, bound.proofs)))
    return bound


def _unchecked_proof(evidence: EpsilonBound) -> EpsilonBound:
    return replace(evidence, proved_by_balls=False, checked_by_kernel=False, kernel_reason="stated by a file, not replayed")


def _read_protection(fields: Mapping[str, Any], hypotheses: Sequence[Hypothesis]) -> Protection:
    """Return the protection of a file; version 1 said of the unit what its hypotheses do, and of neighbors that they are add-remove."""
    earlier = {"unit": fields.get("unit", "user" if ONE_USER in hypotheses else "record"), "neighbors": "add-remove"}
    return read_stated_protection(fields.get("protection", earlier), "the file")


def _refuse_contradictions(stated: Statement, notion: object) -> None:
    """Refuse numbers that no rule gives, so that not even a supposed guarantee has them. ``notion``: what earlier files name besides."""
    bound = stated.bound
    fits = notion is None or notion == write_name(stated.notion)
    if isinstance(bound, Losses):
        ends = [bound.remove, bound.remove if bound.add is None else bound.add, bound.delta_remove, bound.delta_add]
        fits = fits and min(ends) >= 0 and bound.delta <= 1 and (bound.is_symmetric or stated.protection.neighbors.is_directed)
    if isinstance(bound, Losses) and bound.lower is not None:
        kept = KEPT in _rules(stated.derivation)  # its upper bound is the budget, which the proof is within
        proof = bound.proofs[0] if len(bound.proofs) == 1 else None
        fits = fits and bound.is_symmetric and 0 <= bound.lower <= bound.remove and proof is not None
        fits = fits and proof is not None and bound.lower == proof.lower
        fits = fits and proof is not None and (proof.upper <= bound.remove if kept else proof.upper == bound.remove)
    named = {item.id for item in stated.hypotheses}  # a rule that changes the unit has discharged what the unit before supposed
    others = {item.id for unit in Unit for item in unit.hypotheses} - {item.id for item in stated.unit.hypotheses}
    if named & others:
        raise UnreadableFile(
            f"the file says of {stated.subject[:60]!r} that it protects {stated.unit.value}, and contradicts that; correct it"
        )
    if not fits or not stated.subject.strip():
        raise UnreadableFile(f"the bound of {stated.subject[:60]!r} contradicts itself, its notion or its proof; correct the file")
