"""The public names of accountant.report, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.report.evidence import AuditEvidence as AuditEvidence
from accountant.report.evidence import EmbeddedCertificate as EmbeddedCertificate
from accountant.report.evidence import Evidence as Evidence
from accountant.report.evidence import gather as gather
from accountant.report.page import render_page as render_page
from profiles.presenting.elements import visible as visible
