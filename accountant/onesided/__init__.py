"""One-sided privacy (add-DP) and two-directional guarantees: docs/one-sided.md."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
