"""The entry point: ``check`` reads a certificate and accepts it, or rejects it with the step that failed."""

from dataclasses import dataclass
from typing import NamedTuple

from .claims import check_claim, read_statement
from .rules import Session
from .syntax import read_fields, read_integer, read_json, read_list
from .terms import Rejected, forget, require


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
        required, optional = {"format", "version", "profile", "claims"}, frozenset({"target_epsilon", "sampling"})
        whole = read_fields(read_json(document), required, optional)
        require(whole["format"] == "pdp-certificate" and read_integer(whole["version"], 1, 1), "not a pdp-certificate of version 1")
    statement, accepted = read_statement(session, whole), list[CheckedClaim]()
    for i, claim in enumerate(read_list(whole["claims"])):
        with session.at(f"claims[{i}]"):
            session.rules, session.relied = {}, {}
            accepted.append(CheckedClaim(*check_claim(session, statement, claim), tuple(session.rules), tuple(session.relied)))
            require(accepted[0].claim == "well-defined", "the first claim must be well-defined")
    require(accepted, "there are no claims")
    return tuple(accepted)


def check(document: str) -> Report:
    """Check the text of a certificate. Whatever goes wrong on the way, of whatever kind, is a rejection."""
    session = Session()
    try:
        return Report(accepted=True, claims=_check(session, document))
    except Exception as problem:
        reason = str(problem) if isinstance(problem, Rejected) else f"{type(problem).__name__} while checking"
        return Report(accepted=False, step="".join(session.path) or "certificate", reason=reason)
    finally:
        forget()
