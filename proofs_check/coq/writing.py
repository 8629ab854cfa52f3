"""The kernel's goals as lemmas of Coq over its real numbers. Text is made from parsed terms only: no character of a certificate gets there.

Coq's functions are total: 1/0, ln(-1) and the square root of -1 have values there, which no statement should rest on. The kernel shows of
every goal that its term is defined, and these side conditions are goals as well. One difference remains, and is stated with a lemma: a
power with an exponent such as 1/3 is exp(ln(a)/3), which is not a power at a = 0. So the lemma says a > 0 besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proofs_check.coq.goals import fix
from proofs_check.coq.syntax import NotWritable, Syntax
from proofs_check.kernel.core.terms import Term, postorder
from proofs_check.kernel.core.theorems import Goal, Range

#: Characters of a lemma: shared parts of a term are written out wherever they occur.
LONGEST = 20_000
_NATURAL = 200


@dataclass(frozen=True, slots=True)
class Lemma:
    """For all values of ``names`` in their ranges: every one of ``statements``. ``term`` is what the last of them is about."""

    names: tuple[str, ...]
    ranges: tuple[str, ...]
    statements: tuple[str, ...]

    def text(self) -> str:
        """Return the statement as Coq reads it."""
        quantified = f"forall {' '.join(self.names)} : R, " if self.names else ""
        return quantified + "".join(f"{item} -> " for item in self.ranges) + " /\\ ".join(self.statements)


def write_number(q: Fraction) -> str:
    """Return a rational number as a Coq expression of type R.

    >>> write_number(Fraction(-3, 2)), write_number(Fraction(7))
    ('(-3 / 2)', '7')
    """
    whole = f"({q.numerator})" if q.numerator < 0 else str(q.numerator)
    return whole if q.denominator == 1 else f"({q.numerator} / {q.denominator})"


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise NotWritable("it is too long when its shared parts are written out")


def _choose(signs: Sequence[str], args: Sequence[str]) -> str:
    chosen = args[-1]
    for i, sign in reversed(list(enumerate(signs))):
        value, left, right = args[3 * i : 3 * i + 3]
        if sign[0] == ">":
            left, right = right, left
        decided = "Rle_dec" if sign[-1] == "=" else "Rlt_dec"
        chosen = f"(if {decided} {left} {right} then {value} else {chosen})"
    return chosen


_REALS: Syntax[str] = Syntax(
    number=write_number,
    operations={
        "pi": lambda _, __: "PI",
        "add": lambda _, args: f"({args[0]} + {args[1]})",
        "mul": lambda _, args: f"({args[0]} * {args[1]})",
        "exp": lambda _, args: f"(exp {args[0]})",
        "log": lambda _, args: f"(ln {args[0]})",
        "sin": lambda _, args: f"(sin {args[0]})",
        "cos": lambda _, args: f"(cos {args[0]})",
        "abs": lambda _, args: f"(Rabs {args[0]})",
        "max": lambda _, args: f"(Rmax {args[0]} {args[1]})",
        "piecewise": _choose,
        "ceiling": lambda _, args: f"(IZR (Zceil {args[0]}))",
    },
    root=lambda base: f"(sqrt {base})",
    natural=lambda base, size: f"({base} ^ {size})" if size <= _NATURAL else f"(powerRZ {base} {size}%Z)",
    inverse=lambda raised: f"(/ {raised})",
    rational=lambda base, q: f"(exp ({write_number(q)} * ln {base}))",
    unknown="the operation {} has no counterpart in the lemmas",
    check=_check_length,
)


def write_term(term: Term, names: Mapping[str, str]) -> str:
    """Return a term as a Coq expression; ``names``: what its variables are called there. Raises :class:`NotWritable`."""
    return _REALS.translate(term, names)


def _range(name: str, values: Range) -> str:
    below = f"{write_number(values.lo)} {'<' if values.open else '<='} {name}"
    return below if values.hi is None else f"{below} <= {write_number(values.hi)}"


def name_variables(goal: Goal) -> dict[str, str]:
    """Return what the variables of a goal's term are called in its lemma; those with one value only are not in it."""
    return {v: f"x{i}" for i, v in enumerate(v for v in sorted(goal.term.free) if goal.box[v].lo != goal.box[v].hi)}


def write_goal(goal: Goal, variables: Sequence[str] | None = None) -> Lemma:
    """Return the lemma of a goal, with numbers in place of variables that have one value only. Raises :class:`NotWritable`.

    ``variables``: those that it is about, where it is about more than occur in the goal.
    """
    term = fix(goal.term, goal.box)
    names = name_variables(goal) if variables is None else {v: f"x{i}" for i, v in enumerate(variables)}
    bases = {node.args[0]: None for node in postorder(term) if node.op == "pow" and node.args[1].value.denominator > 2}
    statements = [f"0 < {write_term(base, names)}" for base in bases if base.free or base.op != "num" or base.value <= 0]
    statements.append(f"0 {'<' if goal.strict else '<='} {write_term(term, names)}")
    lemma = Lemma(tuple(names.values()), tuple(_range(name, goal.box[v]) for v, name in names.items()), tuple(statements))
    _check_length(lemma.text())
    return lemma
