"""The entry point: ``check`` reads a certificate and accepts it, or rejects it with the step that failed."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .claims import check_claim
from .compositions import check_composition, read_events
from .rules import Session
from .statements import read_statement
from .syntax import read_fields, read_integer, read_json, read_list
from .terms import Rejected, forget, require

_MOST_DIGITS = 4300  # of an integer that is read or written, whatever this interpreter was told
_MOST_COMPOSED = 8  # claims about one composition, each of which is computed anew


class CheckedClaim(NamedTuple):
    """One accepted claim: name, verdict, the bound that it states if any, and the rules and kinds of side conditions it rests on."""

    claim: str
    verdict: str
    bound: str | None
    rules: tuple[str, ...]
    side_conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Accepted with the claims that are now known to hold, or rejected at a step for a reason."""

    accepted: bool
    claims: tuple[CheckedClaim, ...] = ()
    step: str | None = None
    reason: str | None = None


def _check(session: Session, document: str) -> tuple[CheckedClaim, ...]:
    with session.at("certificate"):
        value = read_json(document)
        composed = isinstance(value, dict) and "composition" in value
        required, optional = {"format", "version", "profile", "claims"}, frozenset({"target_epsilon", "sampling"})
        whole = read_fields(value, {"format", "version", "composition", "claims"}) if composed else read_fields(value, required, optional)
        require(whole["format"] == "pdp-certificate" and read_integer(whole["version"], 1, 1), "not a pdp-certificate of version 1")
    if composed:
        return _check_composition(session, whole)
    statement, accepted = read_statement(session, whole), list[CheckedClaim]()
    for i, claim in enumerate(read_list(whole["claims"])):
        with session.at(f"claims[{i}]"):
            session.rules, session.relied = {}, {}
            accepted.append(CheckedClaim(*check_claim(session, statement, claim), tuple(session.rules), tuple(session.relied)))
            require(accepted[0].claim == "well-defined", "the first claim must be well-defined")
    require(accepted, "there are no claims")
    return tuple(accepted)


def _check_composition(session: Session, whole: Mapping[str, object]) -> tuple[CheckedClaim, ...]:
    accepted = list[CheckedClaim]()
    with session.at("composition"):
        about = read_fields(whole["composition"], {"name", "events"})
        require(isinstance(about["name"], str) and len(about["name"]) <= 1000, "the name must be a string of moderate length")
        events = read_events(about["events"])
    for i, claim in enumerate(read_list(whole["claims"])):
        with session.at(f"claims[{i}]"):
            require(i < _MOST_COMPOSED, "there are more claims than one certificate may have")
            accepted.append(CheckedClaim(*check_composition(events, claim, session.meter), (), ()))
    require(accepted, "there are no claims")
    return tuple(accepted)


def _judge(session: Session, document: str) -> Report:
    try:
        return Report(accepted=True, claims=_check(session, document))
    except Exception as problem:
        reason = str(problem) if isinstance(problem, Rejected) else f"{type(problem).__name__} while checking"
        return Report(accepted=False, step="".join(session.path) or "certificate", reason=reason)


def check(document: str, session: Session | None = None) -> Report:
    """Check the text of a certificate. Whatever goes wrong on the way, of whatever kind, is a rejection. A new session notes its goals."""
    digits = sys.get_int_max_str_digits()
    forget()
    sys.set_int_max_str_digits(_MOST_DIGITS)
    try:
        return _judge(session or Session(), document)
    finally:
        sys.set_int_max_str_digits(digits)
        forget()
