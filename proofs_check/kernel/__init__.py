"""The trusted kernel: decides whether a certificate proves its claims. Standard library only; see docs/certificates.md."""

from .untrusted.showing import CheckedClaim
from .untrusted.upgrade import Protection, Report, check

__all__ = ["CheckedClaim", "Protection", "Report", "check"]
