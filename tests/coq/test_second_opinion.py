"""pdp check --with coq: lemmas are made from parsed terms alone, a rejection stays one, and what is false is not confirmed."""

from __future__ import annotations

import json
import os
import re
import shutil
from fractions import Fraction

import pytest

from profiles import MissingProgram, declare
from proofs_check.certificates import to_file_text
from proofs_check.coq import ProvedGoal, judge_goals, list_goals
from proofs_check.coq.scripts import propose_scripts
from proofs_check.coq.session import CoqSession, read_tactics
from proofs_check.coq.syntax import NotWritable
from proofs_check.coq.writing import write_goal, write_number
from proofs_check.kernel.core.theorems import Goal, Range
from proofs_check.kernel.reading import read_term, variables
from proofs_check.verify import verify
from tests.formal.compile import has_coq
from tests.formal.reals import AXIOMS, FACTORS, RULES, axioms_of, theorems_of


@pytest.fixture(scope="module")
def coq():
    if not has_coq("Interval"):
        pytest.skip("Coq with libcoq-interval is missing: docs/formal.md")


def goal(text: str, *, strict: bool = False, **ranges: Range) -> Goal:
    return Goal(read_term(text, variables(ranges)), ranges, strict)


def certificate(epsilon="w*z/b", record=None, parameters=None, conditions=("assumption-8", "proposition-17")) -> str:
    profile = declare("sum", epsilon, record=record or {"z": ["1/2", 2]}, parameters=parameters or {"b": "3"})
    return to_file_text(verify(profile, 5, list(conditions)).certificate())


UNIT = Range(Fraction(0), Fraction(1))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("z + 1", "0 <= (x0 + 1)"),
        ("2*z", "0 <= (2 * x0)"),
        ("z**3", "0 <= (x0 ^ 3)"),
        ("1/(z + 1)", "0 <= (1 * (/ (x0 + 1)))"),
        ("sqrt(z)", "0 <= (sqrt x0)"),
        ("z**(3/2)", "0 <= ((sqrt x0) ^ 3)"),
        ("(z + 1)**(1/3)", "0 < (x0 + 1) /\\ 0 <= (exp ((1 / 3) * ln (x0 + 1)))"),
        ("sin((z + 1)**(1/3))", "0 < (x0 + 1) /\\ 0 <= (sin (exp ((1 / 3) * ln (x0 + 1))))"),
        ("exp(-z)", "0 <= (exp ((-1) * x0))"),
        ("log(z + 1)", "0 <= (ln (x0 + 1))"),
        ("Max(z, 1)", "0 <= (Rmax x0 1)"),
        ("Abs(z - 1)", "0 <= (Rabs (x0 + (-1)))"),
        ("Piecewise((z, z < 1/2), (1, True))", "0 <= (if Rlt_dec x0 (1 / 2) then x0 else 1)"),
        ("ceiling(z)", "0 <= (IZR (Zceil x0))"),
        ("cos(pi*z)", "0 <= (cos (PI * x0))"),
    ],
)
def test_each_operation_has_its_counterpart(text, written):
    assert write_goal(goal(text, z=UNIT)).text() == f"forall x0 : R, 0 <= x0 <= 1 -> {written}"


def test_ranges_open_unbounded_and_of_one_number():
    found = write_goal(
        goal("a*w*z", strict=True, a=Range(Fraction(0), open=True), w=Range(Fraction(1)), z=Range(Fraction(1, 2), Fraction(1, 2)))
    )
    assert found.text() == "forall x0 x1 : R, 0 < x0 -> 1 <= x1 -> 0 < ((x0 * x1) * (1 / 2))"


def test_a_power_that_coq_reads_otherwise_at_zero_is_stated_with_its_base():
    """Coq's exp(ln(0)/3) is 1, and 0**(1/3) is 0: 1 - (1 - z)**(1/3) would be another function at z = 1."""
    assert "0 < (1 + ((-1) * x0)) /\\" in write_goal(goal("(1 - z)**(1/3)", z=UNIT)).text()


def test_numbers_are_exact():
    assert write_number(Fraction("0.1")) == "(1 / 10)"
    assert write_number(Fraction(-7)) == "(-7)"


def test_what_is_too_long_when_written_out_is_not_written():
    text = "z"
    for _ in range(20):
        text = f"({text})**2 + 1" if len(text) < 200 else text
    term = read_term("z", variables({"z": 0}))
    for _ in range(20):
        term = term * (term + term)
    with pytest.raises(NotWritable, match="too long"):
        write_goal(Goal(term, {"z": UNIT}))


NAMES = ["Admitted", "Axiom", "forall", "R", "x0", "exp_tangent", "goal_1", "IZR", "Qed", "Print", "_", "answered_1"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_a_certificate_names_gets_into_the_text_for_coq(name):
    """Names are letters, digits and underscores for the kernel already; here every one of them is replaced by x0, x1, ..."""
    whole = json.loads(certificate(epsilon=f"w*z/{name}", parameters={name: "positive"}))
    whole["profile"]["name"] = '*) Admitted. Axiom false : False. (* " .'
    report, goals = list_goals(json.dumps(whole))
    assert report.accepted
    allowed = {
        "forall",
        "R",
        "exp",
        "ln",
        "sqrt",
        "PI",
        "sin",
        "cos",
        "Rabs",
        "Rmax",
        "if",
        "then",
        "else",
        "Rle_dec",
        "Rlt_dec",
        "IZR",
        "Zceil",
    }
    for found in goals:
        words = set(re.findall(r"[A-Za-z_]\w*", write_goal(found.goal).text()))
        assert all(word in allowed or re.fullmatch(r"x\d+", word) for word in words), words
        scripts = " ".join(propose_scripts(goals.index(found), goals, {}))
        assert not re.search(r'["\n]|\.\s|\(\*|\*\)', scripts)


def test_a_rejected_certificate_has_no_goals_and_coq_is_not_asked(pdp, monkeypatch, tmp_path):
    whole = json.loads(certificate())
    whole["profile"]["epsilon"] = "2*w*z/b - 1"
    (tmp_path / "c.json").write_text(json.dumps(whole), encoding="utf-8")
    monkeypatch.setenv("PATH", "/nowhere")
    assert list_goals(json.dumps(whole))[1] == ()
    found = pdp("check", tmp_path / "c.json", "--with", "coq")
    assert found.code == 1
    assert "rejected at" in found.out


def test_every_goal_that_a_rule_proved_is_listed_once():
    _, goals = list_goals(certificate())
    assert [found.step for found in goals][:1] == ["claims[0].proof.nonnegative"]
    assert len({(found.goal.term, found.goal.strict, found.rule) for found in goals}) == len(goals)
    assert all(place < number for number, found in enumerate(goals) for place in found.parts.values())


def test_without_coq_one_sentence_says_what_to_install(pdp, monkeypatch, tmp_path):
    (tmp_path / "c.json").write_text(certificate(), encoding="utf-8")
    monkeypatch.setenv("PATH", "/nowhere")
    found = pdp("check", tmp_path / "c.json", "--with", "coq")
    assert found.code == 2
    assert found.err.count("\n") == 1
    assert "libcoq-interval" in found.err
    assert found.out == ""


@pytest.mark.thorough
def test_a_coq_without_its_library_for_intervals_is_refused(tmp_path, monkeypatch):
    program = shutil.which("coqtop")
    if program is None:
        pytest.skip("Coq is missing: docs/formal.md")
    deaf = tmp_path / "coqtop"
    deaf.write_text(f"#!/bin/sh\nsed -u '/^From Interval/d' | exec '{program}' \"$@\"\n", encoding="utf-8")
    deaf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(MissingProgram, match="does not load its library for intervals"):
        CoqSession()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--with", "isabelle"],
        ["--out", "goals.v"],
        ["--with", "coq", "--seconds", "0"],
        ["--with", "coq", "--seconds", "99999"],
        ["--with", "coq", "--export", "c.pyz"],
        ["--with", "coq", "--out", "c.json"],
    ],
)
def test_what_makes_no_sense_is_refused(arguments, pdp, tmp_path, monkeypatch):
    (tmp_path / "c.json").write_text(certificate(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = pdp("check", tmp_path / "c.json", *arguments)
    assert found.code == 2
    assert found.err.count("\n") == 1
    assert (tmp_path / "c.json").read_text(encoding="utf-8") == certificate()


def test_a_composition_has_no_goals(pdp, tmp_path):
    path = tmp_path / "c.json"
    asked = ("--gaussian", "2", "--sampling", "1/10", "--count", "1", "--delta", "1e-5")
    assert pdp("account", *asked, "--certificate", path).code == 0
    found = pdp("check", path, "--with", "coq")
    assert found.code == 2
    assert "no goals" in found.err or "has none" in found.err


@pytest.mark.thorough
def test_coq_confirms_the_goals_of_a_certificate(coq, pdp, tmp_path):
    (tmp_path / "c.json").write_text(certificate(), encoding="utf-8")
    said = pdp("check", tmp_path / "c.json", "--with", "coq", "--seconds", "60", "--out", tmp_path / "goals.v", "--json")
    assert said.code == 0
    found = json.loads(said.out)["second_opinion"]
    assert found["confirmed"] == len(found["goals"]) > 0
    text = (tmp_path / "goals.v").read_text(encoding="ascii")
    assert text.startswith(read_tactics())
    assert text.count("Lemma goal_") == found["confirmed"]


def judge(*goals: Goal) -> list:
    return [said for said, _ in judge_goals([ProvedGoal("somewhere", item, "boxes", {}) for item in goals], seconds=60)]


@pytest.mark.thorough
def test_coq_confirms_what_is_true_and_contradicts_what_is_false(coq):
    """The kernel would never have proved these: what is false is not confirmed, and where a point shows it, it is contradicted."""
    true = goal("z*(1 - z) + exp(-z)", strict=True, z=UNIT)
    false = goal("z - 1/2", z=UNIT)
    at_zero = goal("1 - 2*(1 - z)**(1/3)", z=Range(Fraction(1), Fraction(1)))  # true, and not what Coq's powers of 0 say
    border = goal("z*(1 - z)", strict=True, z=UNIT)  # false at the ends only, where no point is tried
    said = judge(true, false, border, at_zero)
    assert [item.confirmed for item in said] == [True, False, False, False]
    assert [item.contradicted for item in said][1] is True
    assert said[3].contradicted is False


@pytest.mark.thorough
def test_a_goal_that_takes_too_long_is_not_confirmed_and_the_next_one_is(coq):
    long = goal("sin(exp(40*z))**2 + cos(exp(40*z))**2 - 1 + z**2*(1 - z)**2*sin(1/(z + 1/1000000))**2", z=UNIT)
    said = [
        item
        for item, _ in judge_goals(
            [ProvedGoal("long", long, "boxes", {}), ProvedGoal("short", goal("z + 1", z=UNIT), "boxes", {})], seconds=2
        )
    ]
    assert [item.confirmed for item in said] == [False, True]


@pytest.mark.slow
def test_factors_are_those_of_losses_and_wrong_ones_are_not(coq):
    text, page = FACTORS.read_text(encoding="utf-8"), (FACTORS.parents[2] / "docs" / "formal.md").read_text(encoding="utf-8")
    assert axioms_of(FACTORS) == AXIOMS
    assert all(f"`{name}`" in page for name in theorems_of(FACTORS))
    for old, new in (
        ("exp (ln (1 + q * (exp a - 1))) = 1 + q", "exp (ln (1 + q * (exp a - 1))) = 1 + q * q"),
        ("E0' ^ k <= E0 ^ m ->", ""),
    ):
        assert old in text
        with pytest.raises(RuntimeError):
            axioms_of(FACTORS, text.replace(old, new))


@pytest.mark.slow
def test_the_rules_of_the_kernel_rest_on_the_axioms_of_the_real_numbers_alone(coq):
    assert axioms_of(RULES) == AXIOMS
