"""What weights, bounds and accounts show of themselves: on one line, as a card and as a picture (profiles/views.py)."""

from accountant.presenting import accounts, bounds

__all__ = ["accounts", "bounds"]
