"""Finding what a certificate of version 1 leaves open: which tree shows each side condition, and which way is taken. Not trusted.

The kernel tries nothing: the claims of a certificate of version 2 say all of that in their ``choices``. Here the steps of a certificate of
version 1 are gone through by a session that tries one way after the other, and notes which one it took. Then the kernel checks the same
text with these choices, of which it believes nothing: a wrong one can lose a proof, but make none.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from .. import checker
from ..core.terms import Rejected, require
from ..core.theorems import Goal, Theorem
from ..reading import read_fields, read_list
from ..theories.compositions.bounds import Bound
from ..theories.profiles.statements import Claim
from .proofs import FIRST_WAY, OWN, TREES, Session
from .showing import CheckedClaim, describe, show

#: What is said of a certificate of version 1 that is accepted.
UPGRADED = "upgraded from version 1 by a step that is not trusted, then checked"


_UNITS, _NEIGHBORS = ("record", "user", "event", "user-period"), ("add-remove", "replace-one", "zero-out")


class Protection(NamedTuple):
    """Whom a document says that it protects, and against what change: it is repeated, and nothing is judged about it."""

    unit: str
    neighbors: str


@dataclass(frozen=True, slots=True)
class Report:
    """What the kernel says of a certificate, with the claims that it accepts in their own words; and what stands beside them."""

    accepted: bool
    claims: tuple[CheckedClaim, ...] = ()
    step: str | None = None
    reason: str | None = None
    protection: Protection | None = None
    upgraded: bool = False  # from version 1 by a step that is not trusted, and then checked


@dataclass(slots=True)
class Searcher(Session):
    """A session that tries the ways in their order instead of reading which one to go; ``found`` says for each claim what it chose."""

    found: list[list[str]] = field(default_factory=lambda: [[]])

    def begin(self, claim: Claim | Bound, fields: Mapping[str, object]) -> Theorem:
        """Return a theorem of a claim."""
        self.found.append([])
        return Session.begin(self, claim, fields)

    def choose(self, ways: Sequence[Callable[[], Theorem]], step: str) -> Theorem:
        """Go the first way that is one."""
        with self.at(step):
            if len(ways) == 1:
                return ways[0]()
            return self._first([(chr(ord(FIRST_WAY) + place), way) for place, way in enumerate(ways)])

    def discharge(self, goal: Goal, _: str | None = None) -> Theorem:
        """Return a theorem of a side condition, by the certificate's own tree if it has one, else by the first that does."""
        mark, names = len(self.path), [OWN] if goal.term in self.obligations else [*TREES]
        try:
            return self._first([(name, partial(Session.discharge, self, goal, name)) for name in names])
        except Rejected as problem:
            failure = "".join([*self.path[mark:], ": ", str(problem)])
            del self.path[mark:]
            raise Rejected(f"{show(goal.term)} {'>' if goal.strict else '>='} 0 is needed and not shown{failure}") from problem

    def _first(self, ways: Sequence[tuple[str, Callable[[], Theorem]]]) -> Theorem:
        # what the first way that is one returns; where there is none, what is wrong with the last one
        noted, mark, nested = self.found[-1], len(self.path), self.nested
        length = len(noted)
        for place, (name, way) in enumerate(ways, 1):
            noted.append(name)
            try:
                return way()
            except Rejected:
                del noted[length:]
                self.nested = nested
                if place == len(ways):
                    raise
                del self.path[mark:]
        raise Rejected("there is no way to go on")


def find_choices(document: str, session: Session) -> tuple[list[str], checker.Report]:
    """Return the choices of each claim of a certificate of version 1, and the report without theorems, at the cost of a meter."""
    searcher = Searcher(session.meter)
    report = checker.check(document, searcher)
    return ["".join(noted) for noted in searcher.found[1:]], replace(report, theorems=())


def write_choices(document: str, choices: list[str]) -> str:
    """Return the text of a certificate of version 1, with its choices, as one of version 2."""
    whole = json.loads(document)
    claims = [claim | ({"choices": chosen} if chosen else {}) for claim, chosen in zip(whole["claims"], choices, strict=True)]
    return json.dumps(whole | {"version": 2, "claims": claims})


def upgrade(document: str) -> str:
    """Return the text of a certificate of version 1 as one of version 2; other texts, and those that prove nothing, as they are."""
    if not leaves_open(document):
        return document
    choices, report = find_choices(document, Session())
    return write_choices(document, choices) if report.accepted else document


def leaves_open(document: str) -> bool:
    """Whether a text seems to be a certificate of version 1 of a profile: those of compositions have nothing to choose."""
    try:
        whole = json.loads(document)
    except (ValueError, RecursionError):
        return False
    return isinstance(whole, dict) and whole.get("version") == 1 and "profile" in whole


def check(document: str, session: Session | None = None) -> Report:
    """Check the text of a certificate of any version; one of version 1 is upgraded first, and then checked by the kernel alone."""
    session = session or Session()
    if leaves_open(document):
        return check_found(document, find_choices(document, session), session)
    return _with_protection(document, checker.check(document, session))


def check_found(document: str, found: tuple[list[str], checker.Report], session: Session) -> Report:
    """Check the text of a certificate of version 1 with the choices that were found for it, if they were."""
    choices, report = found
    if report.accepted:
        session.given = iter(choices)
        report = checker.check(document, session)
    return _with_protection(document, report, upgraded=report.accepted)


def _with_protection(document: str, report: checker.Report, *, upgraded: bool = False) -> Report:
    # what stands beside the claims must be well-formed
    whole = json.loads(document) if report.accepted else {}
    try:
        for hypothesis in read_list(whole.get("hypotheses", [])):
            fields = read_fields(hypothesis, {"id", "sentence"})
            sizes = ((fields["id"], 200), (fields["sentence"], 2000))
            require(all(isinstance(text, str) and 0 < len(text) <= most for text, most in sizes), "a hypothesis is an id and one sentence")
        protection = _read_protection(whole["protection"]) if "protection" in whole else None
    except Rejected as problem:
        return Report(accepted=False, step="document", reason=str(problem))
    claims = tuple(map(describe, whole.get("claims", []), report.theorems))
    return Report(report.accepted, claims, report.step, report.reason, protection, upgraded)


def _read_protection(value: object) -> Protection:
    unit, neighbors = map(read_fields(value, {"unit", "neighbors"}).get, ("unit", "neighbors"))
    require(unit in _UNITS and neighbors in _NEIGHBORS, f"a protection is of one of {_UNITS}, by one of {_NEIGHBORS}")
    return Protection(str(unit), str(neighbors))
