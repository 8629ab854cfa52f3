"""The entry point: ``check`` reads a certificate and accepts it, or rejects it with the step that failed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from .core.terms import Rejected, forget, require
from .core.theorems import Theorem
from .proofs import Session, behind
from .reading import read_fields, read_integer, read_json, read_list
from .theories.compositions.bounds import Bound, check_composition, read_composition
from .theories.profiles.claims import Claim, check_claim
from .theories.profiles.statements import read_statement

_BESIDE, _OF_PROFILES = frozenset({"protection", "hypotheses"}), frozenset({"target_epsilon", "sampling"})
_UNITS, _NEIGHBORS = ("record", "user", "event", "user-period"), ("add-remove", "replace-one", "zero-out")
_MOST_COMPOSED = 8  # claims about one composition, each of which is computed anew


class CheckedClaim(NamedTuple):
    """One accepted claim: what it states, and the rules and kinds of side conditions it rests on; in words, if about a composition."""

    claim: str
    verdict: str
    bound: str | None
    rules: tuple[str, ...]
    side_conditions: tuple[str, ...]
    said: str | None = None

    def line(self) -> str:
        """Return the claim in one line."""
        behind = "; ".join(filter(None, (", ".join(self.rules), ", ".join(self.side_conditions))))
        bound = f", {self.said}" if self.said is not None else "" if self.bound is None else f" {self.bound}"
        return f"{self.claim} {self.verdict}{bound}" + (f" [{behind}]" if behind else "")


class Protection(NamedTuple):
    """Whom a document says that it protects, and against what change: the kernel repeats it, and judges nothing about it."""

    unit: str
    neighbors: str


@dataclass(frozen=True, slots=True)
class Report:
    """Accepted with the claims that are now known to hold, or rejected at a step for a reason."""

    accepted: bool
    claims: tuple[CheckedClaim, ...] = ()
    step: str | None = None
    reason: str | None = None
    protection: Protection | None = None
    upgraded: bool = False  # from version 1 by a step that is not trusted, and then checked


def _read(session: Session, document: str) -> Mapping[str, object]:
    with session.at("certificate"):
        value = read_json(document)
        about = "composition" if isinstance(value, dict) and "composition" in value else "profile"
        whole = read_fields(value, {"format", "version", about, "claims"}, _BESIDE | (_OF_PROFILES if about == "profile" else frozenset()))
        require(whole["format"] == "pdp-certificate" and read_integer(whole["version"], 1, 2), "not a pdp-certificate of version 1 or 2")
    return whole


def _read_protection(session: Session, whole: Mapping[str, object]) -> Protection | None:
    # what stands beside the claims must be well-formed
    with session.at("document"):
        for hypothesis in read_list(whole.get("hypotheses", [])):
            fields = read_fields(hypothesis, {"id", "sentence"})
            sizes = ((fields["id"], 200), (fields["sentence"], 2000))
            require(all(isinstance(text, str) and 0 < len(text) <= most for text, most in sizes), "a hypothesis is an id and one sentence")
        if "protection" not in whole:
            return None
        unit, neighbors = map(read_fields(whole["protection"], {"unit", "neighbors"}).get, ("unit", "neighbors"))
        require(unit in _UNITS and neighbors in _NEIGHBORS, f"a protection is of one of {_UNITS}, by one of {_NEIGHBORS}")
        return Protection(str(unit), str(neighbors))


def _check(session: Session, whole: Mapping[str, object], choices: Sequence[str]) -> tuple[CheckedClaim, ...]:
    composed, accepted = "composition" in whole, list[CheckedClaim]()
    check_one: Callable[[object], tuple[Theorem, str | None, str | None]]
    if composed:
        with session.at("composition"):
            check_one = partial(check_composition, session, read_composition(whole["composition"]))
    else:
        check_one = partial(check_claim, session, read_statement(session, whole))
    for i, claim in enumerate(read_list(whole["claims"])):
        with session.at(f"claims[{i}]"):
            require(i < _MOST_COMPOSED or not composed, "there are more claims than one certificate may have")
            require(whole["version"] == 2 or "choices" not in read_fields(claim), "a claim of version 1 has no choices")
            theorem, bound, said = check_one({**read_fields(claim), **({"choices": choices[i]} if i < len(choices) else {})})
            if not isinstance(theorem.statement, Claim | Bound):
                raise Rejected("a claim is not a theorem")
            session.theorems.append(theorem)
            rules, kinds = behind(theorem) if not composed else ((theorem.rule,), ())
            accepted.append(CheckedClaim(theorem.statement.name, theorem.statement.verdict, bound, rules, kinds, said))
            require(composed or accepted[0].claim == "well-defined", "the first claim must be well-defined")
    require(accepted, "there are no claims")
    return tuple(accepted)


def _judge(session: Session, document: str, choices: Sequence[str]) -> Report:
    try:
        whole = _read(session, document)
        protection = _read_protection(session, whole)
        return Report(accepted=True, claims=_check(session, whole, choices), protection=protection)
    except Exception as problem:
        reason = str(problem) if isinstance(problem, Rejected) else f"{type(problem).__name__} while checking"
        return Report(accepted=False, step="".join(session.path) or "certificate", reason=reason)


def check(document: str, session: Session | None = None, choices: Sequence[str] = ()) -> Report:
    """Check the text of a certificate, one of version 1 with ``choices`` that were found for its claims. Whatever goes wrong rejects it."""
    session = session or Session()
    forget(session.meter)
    try:
        return _judge(session, document, choices)
    finally:
        forget()
