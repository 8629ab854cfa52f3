"""One self-contained HTML file for an auditor: what is promised, what is proved, what is still open, and how to check it."""

from accountant.report.elements import visible
from accountant.report.evidence import AuditEvidence, EmbeddedCertificate, Evidence, gather
from accountant.report.page import render_page

__all__ = ["AuditEvidence", "EmbeddedCertificate", "Evidence", "gather", "render_page", "visible"]
