"""Exact draws from uniform random digits: nothing here is rounded without a side, so that no guarantee has to suppose exact arithmetic.

The primitives are a uniform integer, an event of probability e^−x, geometric noise, and the choice of the exponential mechanism; the proofs
are in docs/one-sided.md, section 13.
"""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
