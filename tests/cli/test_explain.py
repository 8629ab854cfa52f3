"""``pdp verify --explain``: text, LaTeX and JSON, and the usage error of ``--latex`` alone."""

from __future__ import annotations


def test_explain_prints_the_table_and_then_the_arguments(pdp, lloyd):
    result = pdp("verify", lloyd, "--target-epsilon", "20", "--explain")
    assert result.code == 1
    assert "checked by kernel" in result.out
    assert "assumption-11 (proved): epsilon is differentiable in w" in result.out
    assert "epsilon'(1, x) = 20/41" in result.out
    assert "explanation" not in pdp("verify", lloyd, "--target-epsilon", "20", "--json").out


def test_explain_latex_prints_the_fragment_only(pdp, lloyd):
    result = pdp("verify", lloyd, "-e", "20", "-c", "proposition-16", "--explain", "--latex")
    assert result.code == 1
    assert result.out.startswith("\\paragraph{proposition-16 (refuted)}")
    assert "checked by kernel" not in result.out


def test_explain_adds_lines_to_the_json(pdp, lloyd):
    found = pdp("verify", lloyd, "-e", "20", "--explain", "--json").json()
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
