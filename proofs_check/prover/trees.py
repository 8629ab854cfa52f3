"""Proof trees: construction and a one-line description of what a tree rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from profiles.numbers import exact_text
from profiles.terms import to_text
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

ZERO: Tree = {"rule": "zero"}
MANIFEST: Tree = {"rule": "manifest"}

_WORDS = {
    "zero": "identity",
    "manifest": "sign of a normal form",
    "boxes": "interval subdivision",
    "split": "splitting a range",
    "monotone": "monotonicity",
    "scale": "positive multiplier",
    "sum": "sum of non-negative parts",
    "generalise": "a subterm replaced by a variable",
    "turn": "angles within one turn",
    "ceiling": "what a whole number above is",
    "branches": "a case for each branch",
    "exp-tangent": "tangent of exp",
    "log-tangent": "tangent of log",
}


def boxes(budget: int, *, centred: bool = False, precision: int | None = None) -> Tree:
    """Return a subdivision proof with a budget."""
    tree: Tree = {"rule": "boxes", "budget": budget}
    if centred:
        tree["form"] = "centred"
    if precision is not None:
        tree["precision"] = precision
    return tree


def monotone(variable: str, slope: Tree, end: Tree, *, increasing: bool) -> Tree:
    """Return a reduction to an end point by monotonicity."""
    direction = "increasing" if increasing else "decreasing"
    return {"rule": "monotone", "variable": variable, "direction": direction, "slope": slope, "end": end}


def split(variable: str, at: Fraction, below: Tree, above: Tree) -> Tree:
    """Return a proof by splitting a range."""
    return {"rule": "split", "variable": variable, "at": exact_text(at), "below": below, "above": above}


def restated(goal: Goal, tree: Tree) -> Tree:
    """Return a proof of a goal that the kernel writes in its own way: it is equal to this one, which the tree proves."""
    stated: Tree = {"rule": "sum", "parts": [to_text(goal.term)], "proofs": [tree]}
    return {**stated, "strict": 0} if goal.strict else stated


def renamed(tree: Any, old: str, new: str) -> Any:
    """Return a tree with a variable renamed in every term and field that names it."""
    if isinstance(tree, dict):
        return {key: value if key in ("rule", "direction", "form") else renamed(value, old, new) for key, value in tree.items()}
    if isinstance(tree, list):
        return [renamed(value, old, new) for value in tree]
    return re.sub(rf"\b{re.escape(old)}\b", new, tree) if isinstance(tree, str) else tree


def rules_used(tree: Any) -> Iterator[str]:
    """Yield the names of the rules in a tree, in the order of the proof."""
    if isinstance(tree, dict):
        if isinstance(tree.get("rule"), str):
            yield tree["rule"]
        for value in tree.values():
            yield from rules_used(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from rules_used(value)


def describe(tree: Any) -> str:
    """Return the distinct rules of a tree in words, for a person."""
    return ", then ".join(dict.fromkeys(_WORDS.get(rule, rule) for rule in rules_used(tree))) or "evaluation at a point"
