"""Explanations as LaTeX: a fragment with balanced groups, and formulas that a TeX mathematics parser reads."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from profiles.grammar import parse_expression
from profiles.presenting.latex import term_latex
from proofs_check.explain import Explanation, Formula, Step, to_latex, to_latex_lines, to_lines
from proofs_check.explain.latex import escape

#: Formulas that were read: most of them occur in the explanations of several profiles.
READ = set()


def balanced(text):
    depth = 0
    for index, character in enumerate(text):
        if character in "{}" and text[index - 1 : index] != "\\":
            depth += 1 if character == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def inline(text):
    return re.findall(r"(?<!\\)\$(.+?)(?<!\\)\$", text)


@pytest.mark.thorough
def test_groups_environments_and_delimiters_are_balanced(shown):
    for explanation in shown.explanations.values():
        lines = to_latex_lines(explanation)
        assert len(lines) == len(to_lines(explanation))
        for line in lines:
            assert balanced(line)
            assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0
            assert line.count(r"\left") == line.count(r"\right")
            assert re.findall(r"\\begin\{(\w+)\}", line) == re.findall(r"\\end\{(\w+)\}", line)
            outside = re.sub(r"(?<!\\)\$.+?(?<!\\)\$", "", line)
            assert not re.search(r"(?<!\\)[_^#&%]", outside)


@pytest.mark.thorough
def test_formulas_are_read_by_a_mathematics_parser(shown):
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("path")
    for explanation in shown.explanations.values():
        for formula in set(inline(to_latex(explanation))):
            if r"\begin" in formula or formula in READ:  # environments are beyond that parser
                continue
            plain = formula.replace(r"\left|", "|").replace(r"\right|", "|")
            parser.parse(f"${plain}$")
            READ.add(formula)


def test_names_are_escaped_and_functions_upright():
    assert term_latex(parse_expression("beta_count*w")) == r"\mathit{beta\_count}\,w"
    assert term_latex(parse_expression("exp(-w)/log(beta)")) == r"\frac{\exp\left(-w\right)}{\log\left(\beta\right)}"
    assert term_latex(parse_expression("(1 + w)**2*sqrt(w)")) == r"{\left(1 + w\right)}^{2}\,\sqrt{w}"
    assert term_latex(parse_expression("Abs(w - 1)")) == r"\left|w - 1\right|"
    assert r"\begin{cases}" in term_latex(parse_expression("Piecewise((w, w < 2), (2, True))"))
    assert escape("50% of a_b & c") == r"50\% of a\_b \& c"
    assert term_latex(parse_expression("w*3*z/4")) == r"\frac{w \cdot 3\,z}{4}"
    assert term_latex(parse_expression("2*(1/3)*w")) == r"2 \cdot \frac{1}{3}\,w"


@pytest.mark.parametrize("text", ["a & b", "50%", "x_1", "{", "}", "#1", "a^b", "~", "$", "\\alpha", "<", ">", "<=", ">="])
def test_no_special_character_reaches_the_text(text):
    outside = re.sub(r"(?<!\\)\$.+?(?<!\\)\$", "", escape(text)).replace(r"\textbackslash{}", "").replace(r"\textasciicircum{}", "")
    assert not re.search(r"(?<!\\)[_^#&%{}~$<>]", outside.replace(r"\textasciitilde{}", ""))
    assert text.isalpha() or escape(text) != text


def test_the_bracket_check_notices_what_is_broken():
    assert balanced(r"\frac{1}{2} \{")
    assert not balanced(r"\frac{1}{2")
    assert not balanced("}{")


def test_a_step_that_cannot_be_written_says_so():
    broken = Explanation("c", "proved", ("It holds.",), (Step((Formula((None,)),)), Step(("Fine.",))))
    for lines in (to_latex_lines(broken), to_lines(broken)):
        assert "could not be written out" in lines[1]
        assert "Fine." in lines[2]


@pytest.mark.thorough
def test_the_theory_is_written_in_its_symbols(explained):
    text = to_latex(explained("lloyd", "proposition-16"))
    assert r"\varepsilon'(1, x) < 1 - \exp\left(-\varepsilon(1, x)\right)" in text
    assert r"\mathit{beta\_count}" in text


@pytest.mark.thorough
def test_the_fragment_compiles(shown, tmp_path):
    engine = shutil.which("pdflatex") or shutil.which("tectonic")
    if engine is None:
        pytest.skip("there is no TeX engine on this machine")
    body = "\n".join(to_latex(explanation) for explanation in shown.explanations.values())
    document = "\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n" + body + "\n\\end{document}\n"
    (tmp_path / "d.tex").write_text(document)
    options = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in engine else []
    subprocess.run([engine, *options, "d.tex"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
