"""cvc5 on a statement: QF_NRAT, with its own exp, sin and cos, and as z3 is asked."""

from __future__ import annotations

from functools import partial

import cvc5

from benchmarks.deciders.smtlib import Encoder
from benchmarks.deciders.statements import Question, Statement
from benchmarks.deciders.turns import in_turn, limited

#: What answers, mostly answers at once; there are up to 13 questions in 10 seconds.
SECONDS_FOR_ITS_OWN = 0.5


def version() -> str:
    """The version of cvc5."""
    return str(cvc5.__version__)


def decide(statement: Statement, seconds: float) -> str | None:
    """Ask the questions in turn."""
    return in_turn([partial(_say, question) for question in statement.questions], seconds)


def _say(question: Question) -> str | None:
    return {"unsat": question.unsat, "sat": question.sat}.get(_ask(question))


def _ask(question: Question) -> str:
    """Ask with cvc5's own exp, sin and cos, then with z3's facts instead, where ``sat`` says nothing."""
    text = Encoder(native=True).question(question)
    if not any(f"({name} " in text for name in ("exp", "sin", "cos")):
        return _answer("QF_NRA", text)
    answer = limited(SECONDS_FOR_ITS_OWN, _answer, "QF_NRAT", text)[0]
    if answer in ("sat", "unsat"):
        return str(answer)
    return "unsat" if _answer("QF_NRA", Encoder(native=False).question(question)) == "unsat" else "unknown"


def _answer(logic: str, text: str) -> str:
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"(set-logic {logic})\n{text}(check-sat)\n", "question")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer = str(command.invoke(solver, symbols)).strip()
    return answer
