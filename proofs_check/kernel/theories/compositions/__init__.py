"""Claims about the composition of events."""
