"""The entry point: ``check`` reads a certificate and accepts it, or rejects it with the step that failed."""

from __future__ import annotations

from dataclasses import dataclass

from .claims import check_claim, read_statement
from .errors import Meter, Rejected
from .rules import prove
from .session import Session
from .syntax import read_fields, read_json, read_list
from .terms import forget

_WORK = 10_000_000


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One accepted claim: its name and verdict, the bound that it states if it states one, and the rules it rests on."""

    claim: str
    verdict: str
    bound: str | None
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Accepted with the claims that are now known to hold, or rejected at a step for a reason."""

    accepted: bool
    claims: tuple[CheckedClaim, ...] = ()
    step: str | None = None
    reason: str | None = None


def _check(session: Session, document: str) -> tuple[CheckedClaim, ...]:
    with session.at("certificate"):
        required, optional = {"format", "version", "profile", "claims"}, frozenset({"target_epsilon", "sampling"})
        whole = read_fields(read_json(document), required, optional)
        if whole["format"] != "pdp-certificate" or whole["version"] != 1 or isinstance(whole["version"], bool):
            raise Rejected("not a pdp-certificate of version 1")
    statement, accepted = read_statement(session, whole), list[CheckedClaim]()
    for i, value in enumerate(read_list(whole["claims"])):
        with session.at(f"claims[{i}]"):
            claim = read_fields(value, {"claim", "verdict", "proof"}, frozenset({"bound", "at"}))
            if i == 0 and (claim["claim"], claim["verdict"]) != ("well-defined", "proved"):
                raise Rejected("the first claim must be well-defined, proved")
            session.rules = {}
            bound = check_claim(session, statement, claim)
            accepted.append(CheckedClaim(str(claim["claim"]), str(claim["verdict"]), bound, tuple(session.rules)))
    if not accepted:
        raise Rejected("there are no claims")
    return tuple(accepted)


def check(document: str) -> Report:
    """Check the text of a certificate. Whatever goes wrong on the way, of whatever kind, is a rejection."""
    session = Session(Meter(_WORK), prove)
    forget()
    try:
        return Report(accepted=True, claims=_check(session, document))
    except Exception as problem:
        reason = str(problem) if isinstance(problem, Rejected) else f"{type(problem).__name__} while checking"
        return Report(accepted=False, step="".join(session.path) or "certificate", reason=reason)
    finally:
        forget()
