"""Pages that check certificates themselves: the kernel and a Python runtime inside, nothing loaded. See docs/report.md."""
