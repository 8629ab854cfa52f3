"""What an explanation is: steps of prose and formulas, as data. Text and LaTeX are two renderings of it (:mod:`text`, :mod:`latex`).

A formula asserts what it says over a box of variables, so that a test can evaluate every displayed line at points of that box. Names of
the theory, such as epsilon(w, x), are terms too; none is an identifier, so none is mistaken for a statistic or a parameter of a profile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from profiles.presenting.mathml import THEORY
from profiles.terms import Term
from profiles.variables import Variable


@dataclass(frozen=True, slots=True)
class Formula:
    """Terms with relation signs between them: ``parts`` in reading order, such as (a, "=", b, ">=", c).

    ``over`` is the box on which it is asserted, None for a definition. Where the sentence around it says that its first term is another
    form of something else, such as of a goal after a substitution, that expression stands in ``equals``.
    """

    parts: tuple[Term | str, ...]
    over: tuple[Variable, ...] | None = None
    equals: Term | None = None


#: A piece of a sentence: words, or a formula.
Piece: TypeAlias = str | Formula
Prose: TypeAlias = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an argument, and the steps that it rests on."""

    said: Prose
    children: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The argument for one verdict: the condition's statement, the verdict, the steps, and what the condition means in a few words."""

    condition: str
    verdict: str
    statement: Prose
    steps: tuple[Step, ...]
    meaning: str = ""

    @property
    def head(self) -> str:
        """The condition, the verdict, and what the condition means."""
        return f"{self.condition} ({self.verdict}):{f' {self.meaning}, that is,' if self.meaning else ''}"


def notation(text: str) -> Term:
    """Return a name of the theory as a term. Raises :class:`KeyError` for one that is not in :data:`THEORY`."""
    if text not in THEORY:
        raise KeyError(text)
    return ("sym", text)


EPSILON, EPSILON_AT_ONE = notation("epsilon(w, x)"), notation("epsilon(1, x)")
SLOPE, SLOPE_AT_ONE, SECOND = notation("epsilon'(w, x)"), notation("epsilon'(1, x)"), notation("epsilon''(w, x)")
TARGET, MU, THRESHOLD, DOTS = notation("epsilon*"), notation("mu(x)"), notation("v(x)"), notation("...")
RATE, SAMPLED, WEIGHTED, PSI = notation("q(x)"), notation("e(x)"), notation("epsilon(1/q(x), x)"), notation("psi(x)")
