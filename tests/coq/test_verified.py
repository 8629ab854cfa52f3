"""pdp check --verified: data are made from parsed terms, what is false is not verified whatever its proof says; the axioms are named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from proofs_check.coq import list_goals
from proofs_check.coq.encoding import ONE, ZERO, decode, encode, put, write
from proofs_check.coq.goals import ProvedGoal
from proofs_check.coq.session import CoqSession
from proofs_check.coq.syntax import NotWritable
from proofs_check.coq.verifying import FILES, library, write_theorem
from proofs_check.kernel.core.rules import equal
from proofs_check.kernel.core.theorems import Goal, Range
from proofs_check.kernel.reading import read_term, variables
from proofs_check.kernel.untrusted.proofs import Session
from tests.coq.test_second_opinion import certificate
from tests.coq.verified import FOLDER, MUTANTS, axioms_of_checker, compile_checker
from tests.formal.compile import has_coq, without_comments
from tests.formal.reals import AXIOMS

UNIT = Range(Fraction(0), Fraction(1))
POSITIVE = Range(Fraction(0), open=True)
WEIGHT = Range(Fraction(1))


@pytest.fixture(scope="module")
def checker() -> Iterator[CoqSession]:
    if not has_coq("Interval"):
        pytest.skip("Coq with libcoq-interval is missing: docs/formal.md")
    with CoqSession(library()) as session:
        yield session


def goal(text: str, *, strict: bool = False, **ranges: Range) -> Goal:
    return Goal(read_term(text, variables(ranges)), ranges, strict)


def one(item: Goal, rule: str = "manifest") -> list[ProvedGoal]:
    return [ProvedGoal("somewhere", item, rule, {})]


@pytest.mark.parametrize("text", ["z + 1", "3*z**3 - 1/2", "1/(z + 1)", "sqrt(z)", "(1 + z)**(3/2)", "exp(z)*log(1 + z)"])
def test_a_term_is_what_its_tree_says(text):
    term = read_term(text, variables({"z": UNIT}))
    back = decode(encode(term, ["z"]), ["z"])
    Session().run(equal(back, term, {"z": UNIT}, "another term"))
    assert encode(back, ["z"]) == encode(term, ["z"])


def test_a_variable_of_a_tree_is_replaced_everywhere_and_nothing_else_is():
    assert put(("Add", ("Var", 0), ("Pow", ("Var", 1), 2)), 1, ONE) == ("Add", ("Var", 0), ("Pow", ONE, 2))
    assert put(("Exp", ("Var", 0)), 0, ZERO) == ("Exp", ZERO)


def test_what_the_checker_does_not_know_is_not_written():
    for text in ("sin(z)", "Abs(z - 1/2)", "ceiling(z)"):
        with pytest.raises(NotWritable, match="not covered"):
            encode(read_term(text, variables({"z": UNIT})), ["z"])
    with pytest.raises(NotWritable, match="does not belong"):
        encode(read_term("z", variables({"z": UNIT})), ["w"])


@pytest.mark.parametrize("name", ["Admitted", "Axiom", "accepted_is_true", "Sign", "goal_1", "x0"])
def test_nothing_that_a_certificate_names_gets_into_the_file(name):
    whole = json.loads(certificate(epsilon=f"w*z/{name}", parameters={name: "positive"}))
    whole["profile"]["name"] = '*) Admitted. Axiom false : False. (* " .'
    report, goals = list_goals(json.dumps(whole))
    assert report.accepted
    for number in range(len(goals)):
        text = write_theorem("this", number, goals)
        assert "Axiom" not in text
        assert "Admitted" not in text
        assert not re.search(r'["`]|\(\*|\*\)', text)
        assert text.count("Theorem ") == 2


def test_the_checker_assumes_nothing_by_itself():
    """No axiom, parameter or admitted step; the axioms of Coq's real numbers are asked of Coq in the thorough level."""
    for name in FILES:
        text = without_comments((FOLDER / f"{name}.v").read_text(encoding="utf-8"))
        assert not re.search(r"\b(Axiom|Parameter|Conjecture|Admitted|admit|Abort|give_up|bypass_check|Unset Guard)\b", text)
    for file, old, new in MUTANTS:
        assert old in (FOLDER / f"{file}.v").read_text(encoding="utf-8")
        assert old != new


@pytest.mark.parametrize(
    "arguments", [["--verified", "--with", "coq"], ["--verified", "--export", "c.pyz"], ["--verified", "--seconds", "0"], ["--out", "x.v"]]
)
def test_what_makes_no_sense_is_refused(arguments, pdp, tmp_path):
    (tmp_path / "c.json").write_text(certificate(), encoding="utf-8")
    found = pdp("check", tmp_path / "c.json", *arguments)
    assert found.code == 2
    assert found.err.count("\n") == 1


def test_a_rejected_certificate_is_not_verified_and_coq_is_not_asked(pdp, monkeypatch, tmp_path):
    whole = json.loads(certificate())
    whole["profile"]["epsilon"] = "2*w*z/b - 1"
    (tmp_path / "c.json").write_text(json.dumps(whole), encoding="utf-8")
    monkeypatch.setenv("PATH", "/nowhere")
    found = pdp("check", tmp_path / "c.json", "--verified")
    assert found.code == 1
    assert "rejected at" in found.out
    assert "goals verified" not in found.out


@pytest.mark.thorough
def test_the_goals_of_a_certificate_are_verified_and_the_theorem_is_the_goal(checker, pdp, tmp_path):
    (tmp_path / "c.json").write_text(certificate(), encoding="utf-8")
    said = pdp("check", tmp_path / "c.json", "--verified", "--seconds", "120", "--out", tmp_path / "goals.v", "--json")
    assert said.code == 0
    found = json.loads(said.out)["verified"]
    assert found["confirmed"] == len(found["goals"]) == 3
    text = (tmp_path / "goals.v").read_text(encoding="ascii")
    assert "Theorem goal_1 : forall x0 x1 : R, 1 <= x0 -> (1 / 2) <= x1 <= 2 -> 0 <= ((x0 * x1) * (1 / 3)).\n" in text


@pytest.mark.thorough
def test_what_is_true_is_verified(checker):
    goals = {
        "structure": (goal("w*exp(-z) + 1/(1 + w)", strict=True, z=UNIT, w=WEIGHT), "manifest"),
        "parameters": (goal("log(1 + 1/b)", z=UNIT, b=POSITIVE), "manifest"),
        "fraction": (goal("1/(1 + z) - 1 + z/(1 + z)", z=UNIT), "zero"),
        "exponents": (goal("exp(z + log(1 + z)) - (1 + z)*exp(z/2)**2", z=UNIT), "zero"),
        "roots": (goal("sqrt(4*z)*sqrt(z) - 2*z", z=UNIT), "zero"),
        "bisection": (goal("z*(1 - z) + exp(-3*z) - 1/21", strict=True, z=UNIT), "boxes"),
    }
    for name, (item, rule) in goals.items():
        assert checker.proves(name, write_theorem(name, 0, one(item, rule)), 120), name


FALSE = [
    ("z - 1/2", False, "Sign"),
    ("z - 1/2", False, "(Enclose 60 8)"),
    ("z - 1/2", False, "(Split 0 ((1)%Z, 2%positive) Sign Sign)"),
    ("z - 1/2", False, "(Split 0 (2%Z, 1%positive) Sign Sign)"),
    ("z - 1/2", False, "(Rewrite (Num 1 1) Sign)"),
    (
        "z - 1/2",
        False,
        "(Scale (Add (Var 0) (Mul (Num (-1) 1) (Num 1 2))) Sign (Rewrite (Pow (Add (Var 0) (Mul (Num (-1) 1) (Num 1 2))) 2) Sign))",
    ),
    ("z - 1/2", False, "(Positive (Add (Var 0) (Num (-1) 2)) Sign Sign)"),
    ("z - 1/2", False, "(Monotone 0 true (Num 1 1) Sign Sign)"),
    ("z - 1/2", False, "(Monotone 0 false (Num 1 1) Sign Sign)"),
    ("z - 1/2", False, "(Sum false false Sign Sign)"),
    ("z - 1/2", False, "(Times Sign Sign)"),
    ("z - 1/2", False, "(General (Var 0) (Range ((1)%Z, 2%positive) false None) Sign Sign (Add (Var 1) (Num (-1) 2)) Sign)"),
    ("z - 1/2", False, "(Equal (Var 0) (Num 1 1) ByField (Rewrite (Num 1 2) Sign))"),
    ("z - 1/2", False, "(First Sign (First (LnTangent (Var 0)) (ExpTangent (Var 0))))"),
    ("z*(1 - z)", True, "Sign"),
    ("z", True, "Sign"),
    ("0*log(z)", False, "Sign"),  # not defined at 0
    ("0*(1/z)", False, "(Rewrite (Num 0 1) Sign)"),
    ("0*(1/(z - 1/2))", False, "(Rewrite (Num 0 1) Sign)"),
    ("sqrt(z)**2 - z", True, "(Rewrite (Num 0 1) Sign)"),
    ("z + sqrt(z**2)", True, "(Equal (Sqrt (Pow (Var 0) 2)) (Mul (Num (-1) 1) (Var 0)) ByRoot (Rewrite (Num 0 1) Sign))"),
    ("exp(z) - 1 - z", True, "(ExpTangent (Var 0))"),
    ("z - 1 - log(z)", True, "(LnTangent (Var 0))"),
    ("-exp(z)", False, "(Equal (Exp (Var 0)) (Num (-1) 1) ByExponents Sign)"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "strict", "proof"), FALSE)
def test_what_is_false_or_not_defined_is_not_verified_whatever_the_proof_says(checker, text, strict, proof):
    """The data of a true goal's proof are replaced by a forged proof of a false one: none of the rules takes it."""
    sentences = write_theorem("forged", 0, one(goal(text, strict=strict, z=UNIT)))
    changed = re.sub(r"_proof : proof := .*\.\n", f"_proof : proof := {proof}.\n", sentences)
    assert changed.count("Definition forged_proof : proof :=") == 1
    assert checker.proves("forged", changed, 120) is False


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new"), [("0 <= (x0 + 1).", "0 <= (x0 - 1)."), ("0 <= x0 <= 1 ->", "-3 <= x0 <= 1 ->"), ("0 <= (x0", "0 < (x0")]
)
def test_the_proof_of_one_goal_is_none_of_another(checker, old, new):
    name = f"this_{len(new)}_{new.count('=')}"
    sentences = write_theorem(name, 0, one(goal("z + 1", z=UNIT)))
    assert old in sentences
    assert checker.proves(name, sentences.replace(old, new), 120) is False


@pytest.mark.slow
def test_the_checker_rests_on_the_axioms_of_the_real_numbers_alone(checker, tmp_path: Path):
    assert compile_checker(tmp_path) is None
    assert axioms_of_checker(tmp_path) == AXIOMS


def test_trees_are_written_with_negative_numbers_in_parentheses():
    assert write(("Num", -3, 2)) == "(Num (-3) 2)"
