"""z3 on a statement: nlsat over the reals, exp and log as fresh reals with true facts."""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy
import z3

from benchmarks.deciders.confirm import violates
from benchmarks.deciders.smtlib import Encoder
from benchmarks.deciders.statements import Question, Statement
from benchmarks.deciders.turns import in_turn, limited


def version() -> str:
    """The version of z3."""
    return str(z3.get_version_string())


def decide(statement: Statement, seconds: float) -> str | None:
    """Ask the questions in turn."""
    share = seconds / len(statement.questions)
    return in_turn([partial(_say, question, share) for question in statement.questions], seconds)


def _say(question: Question, seconds: float) -> str | None:
    """Ask with few facts for a third of the time, then with more."""
    answer = limited(seconds / 3, _ask, question)[0]
    if answer not in ("sat", "unsat"):
        answer = _ask(question, rich=True)
    return {"unsat": question.unsat, "sat": question.sat}.get(answer)


def _ask(question: Question, *, rich: bool = False) -> str:
    encoder = Encoder(native=False, rich=rich)
    solver = z3.SolverFor("QF_NRA")
    solver.from_string(encoder.question(question))
    answer = str(solver.check())
    if answer == "sat" and not encoder.exact and not violates(question, _point(question, solver.model())):
        return "unknown"
    return answer


def _point(question: Question, model: Any) -> dict[sympy.Symbol, sympy.Expr]:
    point = {}
    for symbol in question.box:
        value = model.eval(z3.Real(symbol.name), model_completion=True)
        if z3.is_algebraic_value(value):
            value = value.approx(30)
        point[symbol] = sympy.Rational(value.numerator_as_long(), value.denominator_as_long())
    return point
