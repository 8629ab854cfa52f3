"""Scores of outputs: how an audit learns where two data sets differ."""

from proofs_check.audit.scores.interface import Score
from proofs_check.audit.scores.library import learn_quick_scores, learn_scores

__all__ = ["Score", "learn_quick_scores", "learn_scores"]
