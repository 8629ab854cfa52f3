"""Monotone submodular maximisation under a cardinality constraint, and set cover as its special case: docs/submodular.md."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
