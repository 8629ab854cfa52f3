"""Privacy curves as values: δ as a function of ε and ε of δ, per direction, from both sides; what is composed, and how it is read."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
