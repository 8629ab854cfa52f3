"""Privacy curves as values: what is declared and what rules proved, composed, subsampled, and read at a δ or at an ε."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
