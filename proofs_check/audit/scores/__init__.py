"""Scores of outputs: how an audit learns where two data sets differ."""

from proofs_check.audit.scores.interface import Score
from proofs_check.audit.scores.library import Effort, Learner, learn_quick_scores, learn_scores

__all__ = ["Effort", "Learner", "Score", "learn_quick_scores", "learn_scores"]
