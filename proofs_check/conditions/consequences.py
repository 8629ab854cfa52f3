"""What follows from the conditions: Theorem 10 and Proposition 12 (Fay et al. 2024), with discharged and open hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from profiles.hypotheses import (
    EXACT_REALS,
    IN_RANGE,
    OF_MECHANISMS,
    OF_WEIGHTED_SAMPLES,
    ONE_RECORD_EACH,
    RECORD_STATISTICS,
    TARGET_FIXED,
    Hypothesis,
    name_declaration,
    name_range,
    name_statistics,
)
from proofs_check.conditions.context import Context
from proofs_check.results import Decision, Verdict

NOT_ASKED = "not asked"
THEOREM_10, PROPOSITION_12 = "theorem-10", "proposition-12"

#: What each consequence needs beside continuity of ε in w.
NEEDS: dict[str, tuple[str, ...]] = {
    THEOREM_10: ("assumption-8", "assumption-9-nonzero"),
    PROPOSITION_12: ("assumption-8", "assumption-11"),
}
#: A condition from which another one follows, and a condition that needs a derivative, hence continuity.
_STRONGER = {"assumption-9-nonzero": "assumption-9"}
_SMOOTH = ("assumption-11", "proposition-17")


@dataclass(frozen=True, slots=True)
class Consequence:
    """A theorem applied to the profile: it holds when all ``conditions`` are proved; ``open_hypotheses`` are about the world."""

    statement: str
    text: str
    conditions: Sequence[tuple[str, str]]
    open_hypotheses: Sequence[Hypothesis]

    @property
    def verdict(self) -> str:
        """``proved`` if every condition is proved, ``not applicable`` if one is refuted, else ``unknown``."""
        verdicts = {verdict for _, verdict in self.conditions}
        if verdicts <= {"proved"}:
            return "proved"
        return "not applicable" if "refuted" in verdicts else "unknown"

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "statement": self.text,
            "discharged": [name for name, verdict in self.conditions if verdict == "proved"],
            "not_discharged": [f"{name} ({verdict})" for name, verdict in self.conditions if verdict != "proved"],
            "open_hypotheses": [item.sentence for item in self.open_hypotheses],
        }


def derive_consequences(context: Context, decisions: Mapping[str, Decision]) -> tuple[Consequence, ...]:
    """Return Theorem 10 and Proposition 12 for a profile, as far as their conditions were decided."""
    continuity = (
        "continuity of epsilon in w (the published Theorem 10 omits it)",
        "proved" if _continuous(context, decisions) else "unknown",
    )

    def verdict(name: str) -> tuple[str, str]:
        decision = decisions.get(name)
        if decision is None and _proved(decisions, _STRONGER.get(name, "")):
            return name, "proved"
        return name, NOT_ASKED if decision is None else decision.verdict.value

    profile = context.profile
    filled = {IN_RANGE.id: name_range(profile), RECORD_STATISTICS.id: name_statistics(profile)}
    needed = (name_declaration(profile), TARGET_FIXED, *OF_MECHANISMS, ONE_RECORD_EACH, EXACT_REALS, *OF_WEIGHTED_SAMPLES)
    open_ = tuple(filled.get(item.id, item) for item in needed)
    theorem_10 = Consequence(
        THEOREM_10,
        "privacy-constrained sampling has a unique optimal weight w(x) for each record, infinite where epsilon is 0 for all weights, "
        "and the sampled mechanism is target-DP",
        (*map(verdict, NEEDS[THEOREM_10]), continuity),
        open_,
    )
    proposition_12 = Consequence(
        PROPOSITION_12,
        "the optimal weight is the largest root in a derived bracket and bisection finds it",
        (*map(verdict, NEEDS[PROPOSITION_12]), continuity),
        open_,
    )
    return theorem_10, proposition_12


def _proved(decisions: Mapping[str, Decision], name: str) -> bool:
    decision = decisions.get(name)
    return decision is not None and decision.verdict is Verdict.PROVED


def _continuous(context: Context, decisions: Mapping[str, Decision]) -> bool:
    """Tell whether ε is proved differentiable in w, or built from operations that are continuous where defined.

    All but Piecewise, floor and ceiling are.
    """
    if any(_proved(decisions, name) for name in _SMOOTH):
        return True
    jumping = context.epsilon.atoms(sympy.Piecewise, sympy.floor, sympy.ceiling)
    return not any(context.weight in node.free_symbols for node in jumping)
