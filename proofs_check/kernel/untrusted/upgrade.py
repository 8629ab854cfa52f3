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
from ..checker import Protection, Report
from ..core.documents import Rejected, read_fields, read_json, read_list, require
from ..core.theorems import Goal, Theorem
from ..theories.compositions.bounds import Bound
from ..theories.profiles.statements import Claim
from .proofs import FIRST_WAY, OWN, TREES, Session
from .showing import describe, show

#: What is said of a certificate of version 1 that is accepted.
UPGRADED = "upgraded from version 1 by a step that is not trusted, then checked"


_UNITS, _NEIGHBORS = ("record", "user", "event", "user-period"), ("add-remove", "replace-one", "zero-out")


@dataclass(slots=True)
class Searcher(Session):
    """A session that tries the alternatives in their order instead of reading the choice; ``noted`` has its choices for each claim."""

    noted: list[list[str]] = field(default_factory=lambda: [[]])

    def begin(self, claim: Claim | Bound, fields: Mapping[str, object]) -> Theorem:
        """Return a theorem of a claim."""
        self.noted.append([])
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
        noted, mark, nested = self.noted[-1], len(self.path), self.nested
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


def find_choices(document: str, session: Session) -> tuple[list[str], Report] | None:
    """Return the choices of each claim of a certificate of version 1, and the report without theorems, at the cost of a meter.

    None for a text that leaves nothing open.
    """
    if not leaves_open(document):
        return None
    searcher = Searcher(session.meter)
    report = checker.check(document, searcher)
    return ["".join(noted) for noted in searcher.noted[1:]], replace(report, theorems=())


def write_choices(document: str, choices: Sequence[str]) -> str:
    """Return the text of a certificate of version 1, with its choices, as one of version 2."""
    whole = json.loads(document)
    claims = [claim | ({"choices": chosen} if chosen else {}) for claim, chosen in zip(whole["claims"], choices, strict=True)]
    return json.dumps(whole | {"version": 2, "claims": claims})


def upgrade(document: str) -> str:
    """Return the text of a certificate of version 1 as one of version 2; other texts, and those that prove nothing, as they are."""
    found = find_choices(document, Session())
    return document if found is None or not found[1].accepted else write_choices(document, found[0])


def leaves_open(document: str) -> bool:
    """Whether a text seems to be a certificate of version 1 of a profile: those of compositions have nothing to choose."""
    try:
        whole = read_json(document)
    except (ValueError, Rejected):
        return False
    return isinstance(whole, dict) and whole.get("version") == 1 and "profile" in whole


class Examined(NamedTuple):
    """The report on a certificate; with what its claims choose, if it left that open and ways were found."""

    report: Report
    choices: tuple[str, ...] | None = None


def check(document: str, session: Session | None = None) -> Report:
    """Check the text of a certificate of any version; one of version 1 is upgraded first, and then checked by the kernel alone."""
    session = session or Session()
    return examine(document, session, session).report


def examine(document: str, search: Session, session: Session) -> Examined:
    """Check the same by ``session``, and return what was found on the way; the meter of ``search`` pays for finding it."""
    found = find_choices(document, search)
    if found is not None:
        choices, searched = found
        if not searched.accepted:
            return Examined(searched)
        session.given = iter(choices)
    report = replace(checker.check(document, session), upgraded=found is not None)
    return Examined(_tell(document, report), None if found is None else tuple(found[0]))


def _tell(document: str, report: Report) -> Report:
    # the report of the kernel, with what stands beside the claims, which must be well-formed
    if not report.accepted:
        return replace(report, upgraded=False)
    whole = json.loads(document)
    try:
        for hypothesis in read_list(whole.get("hypotheses", [])):
            fields = read_fields(hypothesis, {"id", "sentence"})
            sizes = ((fields["id"], 200), (fields["sentence"], 2000))
            require(all(isinstance(text, str) and 0 < len(text) <= most for text, most in sizes), "a hypothesis is an id and one sentence")
        protection = _read_protection(whole["protection"]) if "protection" in whole else None
        named = {event["neighbors"] for event in whole.get("composition", {"events": ()})["events"] if "neighbors" in event}
        require(protection is None or named <= {protection.neighbors}, "a protection is of other neighbors than the events")
    except Rejected as problem:
        return Report(accepted=False, step="document", reason=str(problem))
    claims = tuple(map(describe, whole["claims"], report.theorems))
    return replace(report, claims=claims, protection=protection, theorems=())


def _read_protection(value: object) -> Protection:
    unit, neighbors = map(read_fields(value, {"unit", "neighbors"}).get, ("unit", "neighbors"))
    require(unit in _UNITS and neighbors in _NEIGHBORS, f"a protection is of one of {_UNITS}, by one of {_NEIGHBORS}")
    return Protection(str(unit), str(neighbors))
