"""The public names of proofs_check.explain, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from proofs_check.explain.document import Explanation as Explanation
from proofs_check.explain.document import Formula as Formula
from proofs_check.explain.document import Step as Step
from proofs_check.explain.explaining import explain as explain
from proofs_check.explain.explaining import explain_all as explain_all
from proofs_check.explain.explaining import explain_claim as explain_claim
from proofs_check.explain.latex import to_latex as to_latex
from proofs_check.explain.latex import to_latex_lines as to_latex_lines
from proofs_check.explain.text import to_lines as to_lines
from proofs_check.explain.text import to_paragraphs as to_paragraphs
