"""The Poisson importance sampler: exact draws, weights that make the certificate true for the numbers used, samples for one analysis."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
