"""Exact ε and δ: of mechanisms with finitely many outputs over a small universe, and of continuous ones between certified bounds.

See docs/audit.md; audits are judged by these truths.
"""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
