"""Guarantees in files and in other libraries: JSON and back, OpenDP, dp_accounting. See docs/interoperability.md."""

from accountant.guarantees.theorem import Statement
from accountant.interop.files import ReadGuarantee, read_guarantee, suppose, write_guarantee
from accountant.interop.replaying import replay

__all__ = ["ReadGuarantee", "Statement", "read_guarantee", "replay", "suppose", "write_guarantee"]
