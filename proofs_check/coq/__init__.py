"""A second opinion of Coq on the goals of certificates; see docs/second-opinion.md."""

from .goals import ProvedGoal, list_goals
from .opinions import SECONDS, Opinion, judge_goals, write_file

__all__ = ["SECONDS", "Opinion", "ProvedGoal", "judge_goals", "list_goals", "write_file"]
