"""Noisy answers from a table, each with its error and one guarantee for all of them: docs/release.md."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
