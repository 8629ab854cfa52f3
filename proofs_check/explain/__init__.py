"""Explanations: the proof of a verdict as a person would read it, as text or LaTeX. Untrusted; the kernel is what checks proofs."""

from proofs_check.explain.document import Explanation, Formula, Step
from proofs_check.explain.explaining import explain, explain_all, explain_claim
from proofs_check.explain.latex import to_latex, to_latex_lines
from proofs_check.explain.text import to_lines, to_paragraphs

__all__ = [
    "Explanation",
    "Formula",
    "Step",
    "explain",
    "explain_all",
    "explain_claim",
    "to_latex",
    "to_latex_lines",
    "to_lines",
    "to_paragraphs",
]
