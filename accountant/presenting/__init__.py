"""What weights, bounds, accounts, samples and noise show of themselves: on one line, as a card and as a picture (profiles/views.py)."""

from accountant.presenting import accounts, bounds, noise, samples

__all__ = ["accounts", "bounds", "noise", "samples"]
