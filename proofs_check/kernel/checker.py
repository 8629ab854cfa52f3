"""The entry point: ``check`` reads a certificate and accepts it, or rejects it with the step that failed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from .core.terms import Rejected, forget, require
from .core.theorems import Goal, Identity, Prover, Theorem, behind, within
from .reading import read_fields, read_integer, read_json, read_list
from .theories.compositions.bounds import Bound, check_composition, read_composition
from .theories.profiles.claims import check_claim
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


@dataclass(frozen=True, slots=True)
class Report:
    """Accepted with the claims that are now known to hold, or rejected at a step for a reason."""

    accepted: bool
    claims: tuple[CheckedClaim, ...] = ()
    step: str | None = None
    reason: str | None = None


def check(document: str, prover: Prover) -> Report:
    """Check the text of a certificate. Whatever goes wrong rejects it."""
    forget(prover.meter)
    try:
        return Report(accepted=True, claims=tuple(_accept(document, prover)))
    except Exception as problem:
        reason = str(problem) if isinstance(problem, Rejected) else f"{type(problem).__name__} while checking"
        return Report(accepted=False, step="".join(prover.path) or "certificate", reason=reason)
    finally:
        forget()


def _accept(document: str, prover: Prover) -> Iterator[CheckedClaim]:
    with within(prover.path, "certificate"):
        value = read_json(document)
        composed = isinstance(value, dict) and "composition" in value
        required = {"format", "version", "composition" if composed else "profile", "claims"}
        whole = read_fields(value, required, _BESIDE if composed else _BESIDE | _OF_PROFILES)
        require(whole["format"] == "pdp-certificate" and read_integer(whole["version"], 1, 2), "not a pdp-certificate of version 1 or 2")
    check_one: Callable[[object], tuple[Theorem, str | None, str | None]]
    if composed:
        with within(prover.path, "composition"):
            check_one = partial(check_composition, prover, read_composition(whole["composition"]))
    else:
        check_one = partial(check_claim, prover, read_claim(prover.path, whole))
    claims = read_list(whole["claims"])
    require(claims, "there are no claims")
    for i, claim in enumerate(claims):
        with within(prover.path, f"claims[{i}]"):
            require(i < _MOST_COMPOSED or not composed, "there are more claims than one certificate may have")
            require(whole["version"] == 2 or "choices" not in read_fields(claim), "a claim of version 1 has no choices")
            theorem, bound, said = check_one(claim)
            stated = theorem.statement
            if not isinstance(stated, Claim | Bound):
                raise Rejected("a claim is not a theorem")
            require(composed or i or stated.name == "well-defined", "the first claim must be well-defined")
            prover.theorems.append(theorem)
            rules, kinds = behind(theorem, Bound if composed else Goal | Identity)
            yield CheckedClaim(stated.name, stated.verdict, bound, rules, kinds, said)
