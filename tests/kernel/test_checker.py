"""The file as a whole: its fields, its limits, the command, and that the kernel stands on the standard library alone."""

import ast
import json
import shutil
import subprocess
import sys
import tokenize
from dataclasses import replace
from pathlib import Path

import pytest

import proofs_check.kernel
from proofs_check.kernel import Report, check
from proofs_check.kernel.core import terms
from proofs_check.kernel.core.theorems import Goal, Identity, Proof
from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.theories.profiles.claims import CLAIMS, beside, by_statistic, in_cases, restated
from proofs_check.kernel.theories.profiles.statements import Claim
from proofs_check.kernel.untrusted.proofs import Session
from proofs_check.kernel.untrusted.showing import show
from proofs_check.kernel.untrusted.upgrade import UPGRADED
from tests.mutants.corpus import texts

KERNEL = Path(proofs_check.kernel.__file__).parent
M, B = {"rule": "manifest"}, {"rule": "boxes", "budget": 100}
TREE = Proof(M)
ALLOWED = {
    "bisect",
    "decimal",
    "fractions",
    "json",
    "sys",
    "math",
    "dataclasses",
    "typing",
    "collections",
    "functools",
    "itertools",
    "enum",
    "re",
    "inspect",
    "contextlib",
    "struct",
    "threading",
}


def test_report_is_frozen(run):
    report = run()
    assert report == Report(accepted=True, claims=(("well-defined", "proved", None, ("manifest",), (), None),), upgraded=True)
    with pytest.raises(AttributeError):
        report.accepted = False


def changed(value, path, new):
    *parents, last = path
    for key in parents:
        value = value[key]
    if new is KeyError:
        del value[last]
    else:
        value[last] = new


CHANGES = [
    (["format"], "pdp", "certificate"),
    (["format"], KeyError, "certificate"),
    (["version"], 3, "certificate"),
    (["version"], True, "certificate"),
    (["version"], "1", "certificate"),
    (["extra"], 1, "certificate"),
    (["claims"], [], "certificate"),
    (["claims"], {}, "certificate"),
    (["claims"], KeyError, "certificate"),
    (["claims", 0], [], "claims[0]"),
    (["claims", 0, "claim"], "well", "claims[0]"),
    (["claims", 0, "claim"], "assumption-8", "claims[0].proof"),
    (["claims", 0, "verdict"], "refuted", "claims[0]"),
    (["claims", 0, "verdict"], ["proved"], "claims[0]"),
    (["claims", 0, "claim"], None, "claims[0]"),
    (["claims", 0, "note"], "", "claims[0]"),
    (["claims", 0, "bound"], "1", "claims[0]"),
    (["claims", 0, "proof"], KeyError, "claims[0]"),
    (["claims", 0, "proof"], {}, "claims[0].proof"),
    (["claims", 0, "proof", "x"], M, "claims[0].proof"),
    (["claims", 0, "proof"], [], "claims[0].proof"),
    (["claims", 0, "proof", "nonnegative"], None, "claims[0].proof.nonnegative"),  # no proof is not that of a side condition
    (["profile"], [], "profile"),
    (["profile", "x"], 1, "profile"),
    (["profile", "name"], 1, "profile"),
    (["profile", "name"], KeyError, "profile"),
    (["profile", "epsilon"], "w*y", "profile"),
    (["profile", "epsilon"], 3, "profile"),
    (["profile", "record"], [], "profile"),
    (["profile", "record"], {"w": ["0", "1"]}, "profile"),
    (["profile", "record"], {"z": ["1", "0"]}, "profile"),
    (["profile", "record"], {"z": ["0"]}, "profile"),
    (["profile", "record"], {"z": ["0", "1", "2"]}, "profile"),
    (["profile", "record"], {"z": "positive"}, "profile"),
    (["profile", "record"], {"z": ["0", 1]}, "profile"),
    (["profile", "record"], {"z": ["0", "inf"]}, "profile"),
    (["profile", "record"], {"z": "04"}, "profile"),
    (["profile", "record"], {"pi": ["0", "1"]}, "profile"),
    (["profile", "record"], {"exp": ["0", "1"]}, "profile"),
    (["profile", "parameters", "z"], "1", "profile"),
    (["profile", "parameters", "w"], "1", "profile"),
    (["profile", "parameters", "pi"], "3", "profile"),
    (["profile", "parameters", "T"], "negative", "profile"),
    (["profile", "parameters", "T"], ["0", "1"], "profile"),
    (["profile", "parameters", "T"], ["-1", "1"], "profile"),
    (["profile", "parameters", "T"], ["2", "1"], "profile"),
    (["profile", "parameters", "T"], 10, "profile"),
    (["profile", "parameters", "T"], KeyError, "profile"),
    (["profile", "parameters"], None, "profile"),
    (["target_epsilon"], 3, "target_epsilon"),
    (["target_epsilon"], "0", "target_epsilon"),
    (["sampling"], "1/2", "sampling"),
    (["sampling"], {"q": "1/2", "p": "1"}, "sampling"),
    (["sampling"], {}, "sampling"),
    (["sampling"], {"q": "1/w"}, "sampling"),
]


@pytest.mark.parametrize(("path", "new", "step"), CHANGES, ids=range(len(CHANGES)))
def test_every_field_is_checked(make, path, new, step):
    value = make()
    changed(value, path, new)
    report = check(json.dumps(value))
    assert not report.accepted
    assert report.step == step
    assert report.reason
    assert "while checking" not in report.reason


def test_the_first_claim_is_the_premise_of_the_others(make):
    value = make({"claim": "assumption-8", "verdict": "proved", "proof": {"bound": B}})
    assert check(json.dumps(value)).accepted
    value["claims"].reverse()
    assert not check(json.dumps(value)).accepted
    del value["claims"][1]
    assert not check(json.dumps(value)).accepted


BROKEN = [
    "",
    "{",
    "[]",
    "null",
    "1",
    '"x"',
    "nan",
    "[" * 100_000,
    '{"a":' * 50_000,
    "x" * 1_000_001,
    '{"format": 1, "format": 1}',
    "[NaN]",
    "[Infinity]",
    "[-Infinity]",
    "[1.5]",
    "[1e5]",
    "[" + "9" * 5000 + "]",
    "\ud800",
    "\x00",
]


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_broken_documents_are_rejected(text):
    report = check(text)
    assert not report.accepted
    assert report.step == "certificate"


def test_duplicate_keys_are_rejected(make):
    text = json.dumps(make()).replace('"version": 1', '"version": 1, "version": 1')
    assert "twice" in check(text).reason


@pytest.mark.thorough
def test_work_is_bounded_over_the_whole_certificate(make):
    goal = {"rule": "boxes", "budget": 50_000, "precision": 128}
    value = make(
        {"claim": "assumption-8", "verdict": "proved", "proof": {"bound": goal}}, epsilon="2 + sin(9*z)**2 + cos(9*z)**2", target="3.2"
    )
    assert check(json.dumps(value)).accepted
    value["claims"] += value["claims"][1:] * 200
    report = check(json.dumps(value))
    assert not report.accepted
    assert "work" in report.reason


def script(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60, cwd="/")


@pytest.fixture
def standalone(tmp_path):
    """A copy of the kernel folder with nothing of ours around it."""
    shutil.copytree(KERNEL, tmp_path / "kernel", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "kernel" / "__main__.py"


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("flags", [(), ("-I",), ("-I", "-O"), ("-I", "-OO", "-S")])
def test_the_command_stands_alone(make, standalone, tmp_path, flags):
    value = make({"claim": "assumption-8", "verdict": "proved", "proof": {"bound": B}})
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(value))
    done = script(*flags, standalone, file)
    assert (done.returncode, done.stderr) == (0, "")
    lines = ["accepted", UPGRADED, "well-defined proved [manifest]", "assumption-8 proved [boxes]"]
    assert done.stdout.splitlines() == lines
    value["target_epsilon"] = "1"
    file.write_text(json.dumps(value))
    done = script(*flags, standalone, file)
    assert done.returncode == 1
    assert done.stdout.startswith("rejected at claims[1].proof.bound: ")


def test_unusable_files_end_with_two(standalone, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for arguments in ((), (tmp_path / "missing",), (tmp_path,), (tmp_path / "binary",), ("a", "b")):
        done = script("-I", standalone, *arguments)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1


def sources():
    return sorted(KERNEL.rglob("*.py"))


def test_only_the_standard_library_is_imported():
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= ALLOWED, path
            if isinstance(node, ast.ImportFrom):
                assert node.level > 0 or node.module == "__future__" or (node.level == 0 and node.module.split(".")[0] in ALLOWED), path


def test_no_guard_can_be_switched_off_and_nothing_is_evaluated():
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Assert), path
            if isinstance(node, ast.Name):
                assert node.id not in ("eval", "exec", "compile", "__import__", "float", "__debug__"), path
            if isinstance(node, ast.Constant):
                assert not isinstance(node.value, float), path


def count(path):
    """The number of lines that hold more than a comment, and how many of them are lines of docstrings."""
    lines, texts = set(), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            texts.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in (
                tokenize.COMMENT,
                tokenize.NL,
                tokenize.NEWLINE,
                tokenize.INDENT,
                tokenize.DEDENT,
                tokenize.ENCODING,
                tokenize.ENDMARKER,
            ):
                lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines), len(texts)


def test_the_kernel_does_not_grow():
    judging = [path for path in sources() if path.parent.name != "untrusted"]  # which decide nothing
    lines, texts = map(sum, zip(*map(count, judging), strict=True))
    assert lines - texts <= 2790  # neither blank, nor comments, nor docstrings; 1,131 of them for compositions, 488 of these for batches
    assert lines <= 3030


def test_every_rule_and_claim_says_what_it_rests_on():
    for table in (RULES, CLAIMS):
        for name, function in table.items():
            assert function.__doc__, name
            assert "\n" not in function.__doc__, name
    assert {key.split(" ")[1] for key in CLAIMS} == {"proved", "refuted"}


def test_the_report_names_the_side_conditions(run):
    huber = "Piecewise((w**2, w*(1 + z) <= 0), (w/(1 + z), True))"
    report = run({"claim": "proposition-17", "verdict": "proved", "proof": {"bound": {"rule": "zero"}}}, epsilon=huber, nonnegative=B)
    assert report.accepted, report
    assert report.claims[0].side_conditions == ("definedness",)
    assert report.claims[1].side_conditions == ("resolved branches", "differentiability")


@pytest.mark.parametrize("field", ["claimed", "at", "session", "s"])
def test_the_fields_of_a_claim_cannot_be_given_in_its_proof(run, field):
    value = {"claim": "epsilon-lower", "verdict": "proved", "bound": "1/10", "at": {"z": "0"}, "proof": {"bound": B}}
    assert run(value, q="1").accepted
    value["proof"][field] = {"z": "1"} if field == "at" else "0"
    assert run(value, q="1").step == "claims[1].proof"


def test_optional_fields_are_left_out_rather_than_null(run):
    value = {"claim": "proposition-17", "verdict": "proved", "proof": {"bound": {"rule": "zero"}, "cuts": None}}
    assert run(value).step == "claims[1].proof"
    value["proof"] = {"bound": {**B, "form": None}}
    assert run(value).step == "claims[1].proof.bound"


def test_the_example_of_the_contract_is_accepted():
    contract = (KERNEL.parents[1] / "docs" / "certificates.md").read_text(encoding="utf-8")
    assert check(contract.split("```json")[1].split("```")[0]).accepted


def test_a_report_does_not_depend_on_what_was_checked_before(make):
    tree = {"rule": "manifest"}
    value = make(epsilon="1/(z + w**2)", obligations={"z+w**2": tree}, record={"z": ["0", "1"]})
    assert [check(json.dumps(value)).accepted for _ in range(3)] == [True] * 3


def test_the_first_check_of_a_process_is_like_all_others(make):
    # the table of terms starts each time anew, with the same room and without what was made on import
    text = json.dumps(make({"claim": "assumption-8", "verdict": "proved", "proof": {"bound": B}}))
    code = "import sys, proofs_check.kernel as k; t = sys.stdin.read(); a = k.check(t); print(a == k.check(t), a.accepted)"
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True, cwd=KERNEL.parent.parent)
    assert done.stdout == "True True\n"
    terms.make("add", terms.num(1), terms.num(1))
    terms._table.left = 3  # as if somebody had used it up
    assert check(text).accepted


def test_settings_of_the_process_are_given_back():
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(700)
    try:
        check("{}")
        assert sys.get_int_max_str_digits() == 700
    finally:
        sys.set_int_max_str_digits(digits)


PROTECTION = {"unit": "user", "neighbors": "replace-one"}
HYPOTHESES = [{"id": "exact-reals", "sentence": "The mechanism computes with exact real numbers."}]


def test_a_document_says_whom_it_protects_and_on_what_it_rests(make):
    for value in (make(), {**make(), "protection": PROTECTION}, {**make(), "protection": PROTECTION, "hypotheses": HYPOTHESES}):
        report = check(json.dumps(value))
        assert report.accepted
        assert report.protection == (tuple(PROTECTION.values()) if "protection" in value else None)
    assert not check(json.dumps({**make(), "more": PROTECTION})).accepted


@pytest.mark.parametrize(
    "beside",
    [
        {"protection": {**PROTECTION, "unit": "row"}},
        {"protection": {**PROTECTION, "unit": ["user"]}},
        {"protection": {**PROTECTION, "neighbors": "add"}},
        {"protection": {**PROTECTION, "more": "x"}},
        {"protection": {"unit": "user"}},
        {"protection": []},
        {"hypotheses": {}},
        {"hypotheses": [{"id": "a"}]},
        {"hypotheses": [{"id": "a", "sentence": 1}]},
        {"hypotheses": [{"id": "", "sentence": "b"}]},
        {"hypotheses": [{"id": "a" * 201, "sentence": "b"}]},
        {"hypotheses": [{"id": "a", "sentence": "b" * 2001}]},
        {"hypotheses": HYPOTHESES * 1001},
        {"hypotheses": [*HYPOTHESES, "b"]},
    ],
)
def test_what_stands_beside_the_claims_is_well_formed(make, beside):
    report = check(json.dumps({**make(), **beside}))
    assert (report.accepted, report.step, report.claims, report.protection) == (False, "document", (), None)


def test_nothing_of_the_process_is_changed(run, monkeypatch):
    monkeypatch.setattr(sys, "set_int_max_str_digits", None)
    assert run(target="9" * 2000).accepted


def test_no_line_has_empty_brackets(run):
    assert [claim.line() for claim in run().claims] == ["well-defined proved [manifest]"]
    assert proofs_check.kernel.CheckedClaim("weight-table", "proved", "9 rows", (), ()).line() == "weight-table proved 9 rows"


def test_every_accepted_claim_rests_on_goals_that_are_listed_and_each_of_them_is_a_theorem(make):
    ends = {"low": "0", "lower": M, "high": "2", "upper": M}
    statistic = {"name": "y", "term": "a + b", **ends, "epsilon": "w*y", "proof": {"bound": M}}
    claim, shown = {"claim": "assumption-8", "verdict": "proved", "proof": {"statistic": statistic}}, set()
    total = json.dumps(make(claim, epsilon="w*(a + b)", record={"a": ["0", "1"], "b": ["0", "1"]}, target="3"))
    for name, text in {**texts(), "total": total}.items():
        session, value = Session(), json.loads(text)
        report = check(text, session)
        assert report.accepted, name
        assert len(report.claims) == len(value["claims"]) == len(session.theorems)
        listed = {said(goal) for _, goal, _ in session.proved}
        for claim, found in zip(report.claims, session.theorems, strict=True):
            assert (found.statement.name, found.statement.verdict) == claim[:2]
            same = {"name": "well-defined", "verdict": "proved", "bound": None}
            assert replace(found.statement, **same) == session.theorems[0].statement
            assert (found.statement.bound is None) is (claim.bound is None)
            shown |= {theorem.rule for theorem in below(found) if isinstance(theorem.statement, Claim)}
            goals = [theorem.statement for theorem in below(found) if isinstance(theorem.statement, Goal)]
            assert any(isinstance(theorem.statement, Goal | Identity) for theorem in below(found)), (name, claim)
            zeros = [theorem.statement for theorem in below(found) if isinstance(theorem.statement, Identity)]
            both = [Goal(sign * zero.difference, zero.box) for zero in zeros for sign in (terms.num(1), terms.num(-1))]
            assert {said(goal) for goal in goals + both} <= listed, (name, claim)
    assert shown == {way.__name__ for way in (*CLAIMS.values(), restated, in_cases, by_statistic, beside)}  # of every kind


def said(goal):
    """A goal, whenever its term was made."""
    return show(goal.term), tuple(goal.box.items()), goal.strict


def below(theorem):
    """The theorem and all that it rests on."""
    return [theorem, *(other for part in theorem.parts for other in below(part))]
