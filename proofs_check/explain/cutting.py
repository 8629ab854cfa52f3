"""Long formulas are cut: a sum after its first summands, anything else at a depth. The reader is told how long the formula is."""

from __future__ import annotations

from profiles.terms import Term, rebuild
from proofs_check.explain.document import DOTS, Formula

#: The most characters' worth of operations and digits that are shown of one term.
LIMIT = 600


def weigh(term: Term) -> int:
    """Return roughly how many characters a term takes."""
    total, stack = 0, [term]
    while stack:
        current = stack.pop()
        if current[0] == "num":
            total += 1 + current[1].numerator.bit_length() // 4 + (current[1].denominator.bit_length() - 1) // 4
        elif current[0] == "sym":
            total += len(current[1])
        else:
            total += 2 + (len(current[0]) if current[0] not in ("add", "mul", "neg", "div", "pow") else 1)
            stack.extend(part for part in _parts(current) if part)
    return total


def _parts(term: Term) -> list[Term]:
    if term[0] == "piecewise":
        return [part for value, condition in term[1:] for part in (value, *condition[1:])]
    if term[0] == "table":
        return [("sym", term[1].name), term[2]]
    return [] if term[0] == "pi" else list(term[1:])


def cut(term: Term, limit: int = LIMIT) -> Term:
    """Return ``term`` itself if it is short, else its first summands, or the term with everything below some depth replaced by dots.

    >>> cut(("sym", "w"))
    ('sym', 'w')
    """
    if weigh(term) <= limit:
        return term
    if term[0] == "add":
        return _first_summands(term, limit)
    shown = DOTS
    for depth in range(1, 40):
        deeper = _to_depth(term, depth)
        if weigh(deeper) > limit:
            break
        shown = deeper
    return shown


def cut_formula(formula: Formula) -> tuple[list[Term | str], str]:
    """Return the parts of a formula, each cut, and the words that say so behind it, empty where nothing was cut away."""
    shown: list[Term | str] = []
    away = 0
    for part in formula.parts:
        short = part if isinstance(part, str) else cut(part)
        if short is not part and not isinstance(part, str):
            away += weigh(part)
        shown.append(short)
    return shown, f" [cut: about {away} characters in full]" if away else ""


def _first_summands(term: Term, limit: int) -> Term:
    summands, rest = [], term
    while rest[0] == "add" and len(rest) == 3:
        summands.append(rest[2])
        rest = rest[1]
    summands.append(rest)
    shown = cut(summands.pop(), limit // 2) if summands[-1][0] != "add" else _to_depth(summands.pop(), 2)
    for summand in reversed(summands):
        if weigh(shown) + weigh(summand) > limit:
            return ("add", shown, DOTS)
        shown = ("add", shown, summand)
    return shown


def _to_depth(term: Term, depth: int) -> Term:
    if weigh(term) <= 12:
        return term
    if depth == 0:
        return DOTS
    if term[0] in ("num", "sym", "pi"):
        return DOTS if weigh(term) > LIMIT // 2 else term
    return rebuild(term, lambda part: _to_depth(part, depth - 1))
