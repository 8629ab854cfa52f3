"""Claims as data: a sentence of a paper, the place where it stands, and the quantified inequalities that carry it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from proofs_check.results import Tree


class Impact(Enum):
    """What follows for a reader of the paper when the statement is refuted."""

    TYPO = "harmless typo"
    GAP = "proof gap, true conclusion"
    WRONG = "wrong result"


class Status(Enum):
    """What became of a claim. ``DAMAGED`` and ``OUT_OF_SCOPE`` are arguments, not verdicts; they carry the argument with them."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    DAMAGED = "damaged in extraction"
    OUT_OF_SCOPE = "out of scope"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: the key that ids begin with, how it is cited, and its title."""

    key: str
    citation: str
    title: str


@dataclass(frozen=True, slots=True)
class Goals:
    """For all points of a box: ``lhs REL rhs``, with REL one of ``>= > <= < ==`` (an equality is two goals).

    ``relation`` is text in the profile grammar; ``box`` is text such as ``"a in (0, oo); w in [1, oo); p in R; lam in [0, 1]"``.
    ``derive`` names variables: the left-hand side is differentiated in them, in this order. ``first`` is a point that a search for a
    violation looks at first; ``hint`` is a proof tree that is offered first. Neither is believed.

    >>> Goals("exp(a*w) >= 1 + a*w", "a in [0, oo); w in [1, oo)").box
    'a in [0, oo); w in [1, oo)'
    """

    relation: str
    box: str
    derive: tuple[str, ...] = ()
    first: str = ""
    hint: Tree | None = None


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """One statement of a paper (or, if ``corrects`` is not empty, our correction of one).

    The statement is proved when all ``goals`` are. It is refuted when one goal fails at a point, or when all goals of ``against``
    are proved: these state that an ``instance`` has the hypotheses and lacks the conclusion (for statements of existence).
    ``reduction`` says how the goals carry the statement where that is not evident. ``argument`` goes with ``DAMAGED`` and ``OUT_OF_SCOPE``.
    """

    id: str
    source: str
    statement: str
    goals: tuple[Goals, ...] = ()
    against: tuple[Goals, ...] = ()
    instance: Mapping[str, str] = field(default_factory=dict)
    reduction: str = ""
    consequence: Impact | None = None
    effect: str = ""
    correction: str = ""
    corrects: tuple[str, ...] = ()
    aside: Status | None = None
    argument: str = ""

    @property
    def paper(self) -> str:
        """The key of the paper, which the id begins with."""
        return "-".join(self.id.split("-")[:2])
