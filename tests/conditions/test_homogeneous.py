"""Homogeneous in the weight: verdicts derived by hand, checked by the kernel, on the command line."""

from __future__ import annotations

import json

import pytest

from accountant.cli.main import invoke
from profiles import InvalidArgument, InvalidProfile, declare
from proofs_check.kernel import check
from proofs_check.verify_notion import verify_notion

NUMBERS = {"gaussian": "mu", "renyi": "rdp", "zcdp": "rho"}
CASES = [
    ("gaussian", "w*z/sigma", "proved"),
    ("gaussian", "sqrt(w**2*z**2)/sigma", "proved"),
    ("gaussian", "Max(w*z, w)/sigma", "proved"),
    ("gaussian", "w*(z + z**2)", "proved"),
    ("gaussian", "sqrt(w**2*z**2 + w)", "refuted"),
    ("gaussian", "w*z + 1/1000000", "refuted"),
    ("gaussian", "w**2*z", "refuted"),
    ("renyi", "alpha*w**2*z**2/(2*sigma**2)", "proved"),
    ("renyi", "alpha*w*z", "refuted"),
    ("renyi", "log(1 + w**2*z)/alpha", "refuted"),
    ("zcdp", "w**2*z**2/(2*sigma**2)", "proved"),
    ("zcdp", "w*z", "refuted"),
]


def make(notion, expression):
    return declare("sum", record={"z": [0, 4]}, parameters={"sigma": "positive"}, notion=notion, **{NUMBERS[notion]: expression})


@pytest.mark.parametrize(("notion", "expression", "verdict"), CASES)
def test_verdicts_are_those_derived_by_hand(notion, expression, verdict):
    found = verify_notion(make(notion, expression))
    decision = found.decisions["homogeneous"]
    assert (decision.verdict.value, decision.checked) == (verdict, True)
    report = check(json.dumps(found.certificate()))
    assert report.accepted
    assert [(claim.claim, claim.verdict) for claim in report.claims] == [("well-defined", "proved"), ("homogeneous", verdict)]


def test_undefined_or_negative_numbers_are_refused_in_the_words_of_their_notion():
    with pytest.raises(InvalidProfile, match="mu must not be negative"):
        verify_notion(make("gaussian", "w*(z - 1)"))
    with pytest.raises(InvalidProfile, match=r"rdp must not be negative, but it is at .*alpha = "):
        verify_notion(make("renyi", "w*(3 - alpha)"))
    with pytest.raises(InvalidProfile, match="w/z divides by zero at z = 0"):
        verify_notion(make("zcdp", "w/z"))


def test_conditions_of_other_notions_are_refused():
    with pytest.raises(InvalidArgument, match="not one of the notion"):
        verify_notion(make("gaussian", "w*z"), ["assumption-8"])
    with pytest.raises(InvalidArgument, match="pure profile"):
        verify_notion(declare("pure", "w"))


@pytest.fixture
def file(tmp_path):
    def write(expression):
        path = tmp_path / "sum.toml"
        path.write_text(f'name = "sum"\nnotion = "gaussian"\nmu = "{expression}"\n[record]\nz = [0, 4]\n')
        return str(path)

    return write


def test_the_command_answers_with_verdict_and_certificate(file, tmp_path, capsys):
    out = tmp_path / "sum.json"
    assert invoke(["verify", file("w*z/3"), "--json", "--certificate", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["notion"], found["verdict"], found["conditions"]["homogeneous"]["verdict"]) == ("gaussian", "proved", "proved")
    assert invoke(["check", str(out)]) == 0
    assert "mu(w, z) = w*z/3" in capsys.readouterr().out.replace("(w, x)", "(w, z)")
    assert invoke(["verify", file("w*z + 1")]) == 1
    assert "refuted" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--explain"], ["--consequence", "theorem-10"], ["--condition", "assumption-8"]])
def test_the_command_refuses_what_is_for_pure_profiles(file, words, capsys):
    assert invoke(["verify", file("w*z/3"), *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_pure_profiles_need_a_target(capsys):
    assert invoke(["verify", "profiles.mechanisms.laplace_sum:default"]) == 2
    assert "need --target-epsilon" in capsys.readouterr().err
