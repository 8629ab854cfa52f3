"""The entry point: ``check`` reads a certificate and accepts it, or rejects it with the step that failed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from .core.documents import Rejected, read_fields, read_integer, read_json, read_list, require
from .core.terms import forget
from .core.theorems import Prover, Theorem, within
from .theories.compositions.bounds import Bound, read_composition, state_bound
from .theories.profiles.claims import state_claim
from .theories.profiles.statements import Claim, read_claim

_BESIDE, _OF_PROFILES = frozenset({"protection", "hypotheses"}), frozenset({"target_epsilon", "sampling"})  # on the former nothing rests
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
    """Whom a document says that it protects, and against what change: it is repeated, and nothing is judged about it."""

    unit: str
    neighbors: str


@dataclass(frozen=True, slots=True)
class Report:
    """Accepted, or rejected at a step for a reason; with the theorems that the claims of the text are, as they stand in it.

    Not checked are the claims in their own words, the protection that the text states, and whether it was upgraded from version 1 by a step
    that is not trusted.
    """

    accepted: bool
    claims: tuple[CheckedClaim, ...] = ()
    step: str | None = None
    reason: str | None = None
    protection: Protection | None = None
    upgraded: bool = False
    theorems: tuple[Theorem, ...] = ()


def check(document: str, prover: Prover) -> Report:
    """Check the text of a certificate. Whatever goes wrong rejects it."""
    forget(prover.meter)
    try:
        return Report(accepted=True, theorems=tuple(_accept(document, prover)))
    except Exception as problem:
        reason = str(problem) if isinstance(problem, Rejected) else f"{type(problem).__name__} while checking"
        return Report(accepted=False, step="".join(prover.path) or "certificate", reason=reason)
    finally:
        forget()


def _accept(document: str, prover: Prover) -> Iterator[Theorem]:
    with within(prover.path, "certificate"):
        value = read_json(document)
        composed = isinstance(value, dict) and "composition" in value
        required = {"format", "version", "composition" if composed else "profile", "claims"}
        whole = read_fields(value, required, _BESIDE if composed else _BESIDE | _OF_PROFILES)
        require(whole["format"] == "pdp-certificate" and read_integer(whole["version"], 1, 2), "not a pdp-certificate of version 1 or 2")
    state: Callable[[object], tuple[Claim | Bound, Mapping[str, object]]]
    if composed:
        with within(prover.path, "composition"):
            state = partial(state_bound, read_composition(whole["composition"]))
    else:
        state = partial(state_claim, prover.path, read_claim(prover.path, whole))
    claims = read_list(whole["claims"])
    require(claims, "there are no claims")
    for i, claim in enumerate(claims):
        with within(prover.path, f"claims[{i}]"):
            require(i < _MOST_COMPOSED or not composed, "there are more claims than one certificate may have")
            require(whole["version"] == 2 or "choices" not in read_fields(claim), "a claim of version 1 has no choices")
            statement, fields = state(claim)
            with within(prover.path, "" if composed else ".proof"):
                theorem = prover.begin(statement, fields)
                require(type(theorem) is Theorem and theorem.statement is statement, "a claim is not a theorem")
            require(composed or i or statement.name == "well-defined", "the first claim must be well-defined")
            yield theorem
