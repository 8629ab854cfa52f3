"""``pdp verify --explain``: text, LaTeX and JSON, and the usage error of ``--latex`` alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from profiles import load
from proofs_check.explain import explain_all, explaining
from proofs_check.verify import verify


@pytest.mark.thorough
def test_explain_prints_the_table_and_then_the_arguments(pdp, lloyd):
    result = pdp("verify", lloyd, "--target-epsilon", "20", "--explain")
    assert result.code == 0
    assert "kernel" in result.out
    assert "assumption-11 (proved): exp(epsilon) strongly convex, that is, epsilon is" in result.out
    assert "epsilon'(1, x) = 20/41" in result.out
    assert "explanation" not in pdp("verify", lloyd, "--target-epsilon", "20", "--json").out


def test_explain_latex_prints_the_fragment_only(pdp, lloyd):
    result = pdp("verify", lloyd, "-e", "20", "-c", "proposition-16", "--explain", "--latex")
    assert result.code == 1
    assert result.out.startswith("\\paragraph{well-defined (proved)}")
    assert "\n\\paragraph{proposition-16 (refuted)}" in result.out
    assert "condition  " not in result.out


def test_explain_adds_lines_to_the_json(pdp, lloyd):
    found = pdp("verify", lloyd, "-e", "20", "--explain", "--json").json()
    assert found["well_defined"]["explanation"][0].startswith("well-defined (proved): ")
    for name, decision in found["conditions"].items():
        assert decision["explanation"][0].startswith(f"{name} ({decision['verdict']}): ")
        assert all(isinstance(line, str) for line in decision["explanation"])
    latex = pdp("verify", lloyd, "-e", "20", "-c", "proposition-17", "--explain", "--latex", "--json").json()
    assert latex["conditions"]["proposition-17"]["explanation"][0].startswith("\\paragraph{")


def test_latex_without_explain_is_a_usage_error(pdp, lloyd):
    result = pdp("verify", lloyd, "-e", "20", "--latex")
    assert result.refused()
    assert "--explain" in result.err


def test_latex_without_explain_is_refused_before_anything_is_read(pdp, tmp_path):
    assert "--latex" in pdp("verify", tmp_path / "missing.toml", "-e", "20", "--latex").err


@pytest.mark.thorough
def test_a_failing_explanation_changes_neither_verdicts_nor_exit_code(pdp, lloyd, monkeypatch):
    plain = pdp("verify", lloyd, "-e", "20")

    def fail(*_, **__):
        raise ZeroDivisionError

    for name in ("explain_inequality", "explain_floor", "explain_threshold", "explain_witness", "explain_well_defined"):
        for form, explainer in explaining.EXPLAINERS.items():
            if explainer.__name__ == name:
                monkeypatch.setitem(explaining.EXPLAINERS, form, fail)
    result = pdp("verify", lloyd, "-e", "20", "--explain")
    assert result.code == plain.code == 0
    assert result.out.startswith(plain.out)
    assert (
        " ".join(result.out.split()).count("The argument could not be put into words (ZeroDivisionError); pdp check checks the claim.") == 7
    )


def test_explaining_is_fast(lloyd):
    verification = verify(load(str(lloyd)).profile, 20)
    start = time.process_time()
    explanations = explain_all(verification)
    assert time.process_time() - start < 2 * len(explanations)


def test_the_example_in_the_documentation_is_what_is_printed(pdp, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    root = Path(__file__).parents[2]
    shown = (root / "docs" / "certificates.md").read_text()
    asked = ("verify", root / "examples" / "lloyd.toml", "-e", "20", "-c", "assumption-11", "--explain")
    text, latex = pdp(*asked).out, pdp(*asked, "--latex").out
    assert text[text.index("well-defined (proved)") :].strip() in shown
    assert latex[latex.index(r"\paragraph{assumption-11") :].strip() in shown
