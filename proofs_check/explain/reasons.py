"""What a rule of the certificate contributes to an explanation, and the type of the functions that say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from profiles.symbolic import from_sympy
from proofs_check.explain.document import Formula, Prose, Step
from proofs_check.explain.setting import ZERO, Setting
from proofs_check.results import Tree


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a goal holds: the sentences, and the steps that they rest on."""

    said: Prose
    children: tuple[Step, ...] = ()


#: Explains why a tree proves the goal of a setting. The third argument explains the trees below it.
Explain = Callable[[Setting, Tree], Reason]
Explainer = Callable[[Setting, Tree, Explain], Reason]


def step(lead: Prose, setting: Setting, tree: Tree, explain: Explain, *, shown: Formula | None = None, behind: Prose = ()) -> Step:
    """Return the step "lead goal behind." that goes on with the reason why the tree proves the goal; ``shown`` is the goal as a formula."""
    reason = explain(setting, tree)
    return Step((*lead, shown or goal_of(setting, tree), *behind, ". ", *reason.said), reason.children)


def goal_of(setting: Setting, tree: Tree) -> Formula:
    """Return the goal as a formula; as it is, and as an equation, where the rule says that it is an identity."""
    if tree.get("rule") == "zero":
        return Formula((from_sympy(setting.goal.expression), "=", ZERO), setting.goal.box)
    return setting.claim
