"""Guarantees in files and in other libraries: JSON and back, OpenDP, dp_accounting. See docs/interoperability.md."""

from accountant.interop.reading import ReadGuarantee, Statement, read_guarantee, suppose
from accountant.interop.replaying import replay
from accountant.interop.writing import write_guarantee

__all__ = ["ReadGuarantee", "Statement", "read_guarantee", "replay", "suppose", "write_guarantee"]
