"""The trusted kernel: decides whether a certificate proves its claims. Standard library only; see docs/certificates.md."""

from .checker import CheckedClaim, Protection, Report
from .untrusted.upgrade import check

__all__ = ["CheckedClaim", "Protection", "Report", "check"]
