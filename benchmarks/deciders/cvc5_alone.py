"""cvc5 on a statement: QF_NRAT, with its own exp, sin and cos."""

from __future__ import annotations

import time

import cvc5

from benchmarks.deciders.smtlib import Encoder
from benchmarks.deciders.statements import Question, Statement


def version() -> str:
    """The version of cvc5."""
    return str(cvc5.__version__)


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
    text = Encoder(native=True).question(question)
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(seconds * 1000)))
    # Without exp, sin and cos the decision procedure for polynomials is complete.
    logic = "QF_NRAT" if any(f"({name} " in text for name in ("exp", "sin", "cos")) else "QF_NRA"
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"(set-logic {logic})\n{text}(check-sat)\n", "question")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer = str(command.invoke(solver, symbols)).strip()
    return answer
