"""The testing kit: Hypothesis strategies, and a pytest plugin that audits implementations. See docs/testing-kit.md.

The names below are loaded when first used: neither Hypothesis nor pytest is needed to import this package, and importing it costs nothing.
"""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
