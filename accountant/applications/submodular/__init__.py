"""Monotone submodular maximisation."""
