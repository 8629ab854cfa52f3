"""Proof trees: construction and a one-line description of what a tree rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy

from profiles.numbers import exact_text
from profiles.symbolic import from_sympy
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
    "periodicity": "angles within one period",
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


def text(expression: sympy.Expr | str) -> str:
    """Return an expression as trees write it, and a text as it is."""
    return expression if isinstance(expression, str) else to_text(from_sympy(expression))


def scale(factor: sympy.Expr | str, product: Tree, positive: Tree = MANIFEST) -> Tree:
    """Return a proof from that of the product with a factor > 0."""
    return {"rule": "scale", "factor": text(factor), "positive": positive, "product": product}


def add_up(parts: Sequence[sympy.Expr], proofs: Sequence[Tree], *, strict: int | None = None) -> Tree:
    """Return a proof of a sum from those of its parts, of which one may be the ``strict`` one."""
    tree: Tree = {"rule": "sum", "parts": [text(part) for part in parts], "proofs": list(proofs)}
    return tree if strict is None else {**tree, "strict": strict}


def tangent(exponent: sympy.Expr | str, coefficient: sympy.Expr | str, rest: Tree, nonnegative: Tree = MANIFEST) -> Tree:
    """Return a proof of t ≥ 0 from t − c·(exp(m) − 1 − m) ≥ 0 and c ≥ 0."""
    return {
        "rule": "exp-tangent", "exponent": text(exponent), "coefficient": text(coefficient), "nonnegative": nonnegative, "rest": rest,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProvedRange:
    """The range of a new variable: its ends, each with the proof that it is one; without ``high`` it has no upper end."""

    low: tuple[Fraction | int, Tree]
    high: tuple[Fraction, Tree] | None = None
    open_below: bool = field(default=False, kw_only=True)


def generalise(name: str, term: sympy.Expr | str, ends: ProvedRange, general: sympy.Expr | str, proof: Tree) -> Tree:
    """Return a proof with a new variable for a term, whose range is proved, in the ``general`` expression."""
    opened = {"open": True} if ends.open_below else {}
    above = {} if ends.high is None else {"high": exact_text(ends.high[0]), "upper": ends.high[1]}
    lower = {"low": exact_text(Fraction(ends.low[0])), **opened, "lower": ends.low[1]}
    return {"rule": "generalise", "name": name, "term": text(term), **lower, **above, "general": text(general), "proof": proof}


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
