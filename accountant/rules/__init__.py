"""Sampling rules: public maps from a record to its selection probability q(x)."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
