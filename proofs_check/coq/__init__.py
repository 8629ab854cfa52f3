"""Coq on the goals of certificates: a second opinion, and a checker that is proved right (docs/formal.md, docs/formal.md)."""

from .goals import ProvedGoal, list_goals
from .opinions import SECONDS, Opinion, judge_goals, write_file
from .verifying import verify_goals, write_verified

__all__ = ["SECONDS", "Opinion", "ProvedGoal", "judge_goals", "list_goals", "verify_goals", "write_file", "write_verified"]
