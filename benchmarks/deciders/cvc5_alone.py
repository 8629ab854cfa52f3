"""cvc5 on a statement: QF_NRAT, with its own exp, sin and cos, and as z3 is asked."""

from __future__ import annotations

from functools import partial

import cvc5

from benchmarks.deciders.smtlib import Encoder
from benchmarks.deciders.statements import Question, Statement
from benchmarks.deciders.turns import in_turn, limited


def version() -> str:
    """The version of cvc5."""
    return str(cvc5.__version__)


def decide(statement: Statement, seconds: float) -> str | None:
    """Ask the questions in turn."""
    share = seconds / len(statement.questions)
    return in_turn([partial(_say, question, share) for question in statement.questions], seconds)


def _say(question: Question, seconds: float) -> str | None:
    return {"unsat": question.unsat, "sat": question.sat}.get(_ask(question, seconds))


def _ask(question: Question, seconds: float) -> str:
    """Ask with z3's facts, where ``sat`` says nothing, for a third of the time, then with cvc5's own exp, sin and cos."""
    text = Encoder(native=True).question(question)
    if not any(f"({name} " in text for name in ("exp", "sin", "cos")):
        return _answer("QF_NRA", text)
    for rich in (False, True):
        if limited(seconds / 6, _answer, "QF_NRA", Encoder(native=False, rich=rich).question(question))[0] == "unsat":
            return "unsat"
    return _answer("QF_NRAT", text)


def _answer(logic: str, text: str) -> str:
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"(set-logic {logic})\n{text}(check-sat)\n", "question")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer = str(command.invoke(solver, symbols)).strip()
    return answer
