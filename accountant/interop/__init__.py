"""Guarantees in files and in other libraries: JSON and back, OpenDP, dp_accounting. See docs/interoperability.md."""

from accountant.interop.files import ReadGuarantee, StatedGuarantee, read_guarantee, suppose, write_guarantee
from accountant.interop.replaying import replay

__all__ = ["ReadGuarantee", "StatedGuarantee", "read_guarantee", "replay", "suppose", "write_guarantee"]
