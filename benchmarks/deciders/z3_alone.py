"""z3 on a statement: nlsat over the reals, exp and log as fresh reals with true facts."""

from __future__ import annotations

import time
from typing import Any

import sympy
import z3

from benchmarks.deciders.confirm import violates
from benchmarks.deciders.smtlib import Encoder
from benchmarks.deciders.statements import Question, Statement


def version() -> str:
    """The version of z3."""
    return str(z3.get_version_string())


def decide(statement: Statement, seconds: float) -> str | None:
    """Ask the questions in turn; each may take an equal share of the remaining time."""
    end = time.monotonic() + seconds
    for index, question in enumerate(statement.questions):
        share = (end - time.monotonic()) / (len(statement.questions) - index)
        answer = _ask(question, max(share, 0.01))
        found = {"unsat": question.unsat, "sat": question.sat}.get(answer)
        if found is not None:
            return found
    return None


def _ask(question: Question, seconds: float) -> str:
    encoder = Encoder(native=False)
    solver = z3.SolverFor("QF_NRA")
    solver.set("timeout", int(seconds * 1000))
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
