"""The papers' statements as data, judged by the prover and confirmed by the kernel's rules: ``pdp claims``.

A verdict is never written down: :func:`judge` computes it from the claim's goals. See ``docs/errata.md`` for what turned out wrong.
"""

from proofs_check.papers.registry import PAPERS, all_claims, find_claim, judge
from proofs_check.statements.judge import GoalFinding, Judgement
from proofs_check.statements.sentences import Goals, Impact, Paper, PaperClaim, Status

__all__ = ["PAPERS", "GoalFinding", "Goals", "Impact", "Judgement", "Paper", "PaperClaim", "Status", "all_claims", "find_claim", "judge"]
