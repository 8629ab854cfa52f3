"""Choosing the noise of a mechanism for a given ε* and a given sampling rule or sample size, with the guarantee that results."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
