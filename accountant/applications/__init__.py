"""Private algorithms made of the accountant's rules: each returns an answer together with its guarantee (docs/one-sided.md, section 7).

The names below are loaded when first used.
"""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
