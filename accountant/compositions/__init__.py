"""Compositions of events, their files, and certified bounds of δ at ε and of ε at δ, per direction and from both sides."""
