"""Finding what a certificate of version 1 leaves open: which tree shows each side condition, and which way is taken. Not trusted.

The kernel tries nothing: the claims of a certificate of version 2 say all of that in their ``choices``. Here the steps of a certificate of
version 1 are gone through by a session that tries one way after the other, and notes which one it took. Then the kernel checks the same
text with these choices, of which it believes nothing: a wrong one can lose a proof, but make none.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from ..checker import Report
from ..checker import check as check_alone
from ..core.terms import Rejected, Term, text
from ..core.theorems import Goal, Proof, Theorem
from ..proofs import FIRST_WAY, OWN, TREES, Session

T = TypeVar("T")
#: What is said of a certificate of version 1 that is accepted.
UPGRADED = "upgraded from version 1 by a step that is not trusted, then checked"


@dataclass(slots=True)
class Searcher(Session):
    """A session that tries the ways in their order instead of reading which one to go; ``found`` says for each claim what it chose."""

    found: list[list[str]] = field(default_factory=lambda: [[]])

    def begin(self, obligations: Mapping[Term, Proof], choices: object) -> None:
        """Start a claim."""
        Session.begin(self, obligations, choices)
        self.found.append([])

    def choose(self, ways: Sequence[Callable[[], T]], step: str = "") -> T:
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
            raise Rejected(f"{text(goal.term)} {'>' if goal.strict else '>='} 0 is needed and not shown{failure}") from problem

    def _first(self, ways: Sequence[tuple[str, Callable[[], T]]]) -> T:
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


def find_choices(document: str, session: Session) -> tuple[list[str], Report]:
    """Return the choices of each claim of a certificate of version 1, and the report on it, at the cost of a session's meter."""
    searcher = Searcher(session.meter)
    report = check_alone(document, searcher)
    return ["".join(noted) for noted in searcher.found[1:]], report


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
    if not leaves_open(document):
        return check_alone(document, session)
    return check_found(document, find_choices(document, session), session)


def check_found(document: str, found: tuple[list[str], Report], session: Session) -> Report:
    """Check the text of a certificate of version 1 with the choices that were found for it, if they were."""
    choices, report = found
    return replace(check_alone(document, session, choices), upgraded=True) if report.accepted else report
