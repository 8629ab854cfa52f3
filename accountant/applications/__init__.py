"""Algorithms with privacy guarantees that the accountant derives: one folder an application."""
