"""Samples and weights by statistics of the data that are released with noise, within one budget: docs/sampling.md."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
