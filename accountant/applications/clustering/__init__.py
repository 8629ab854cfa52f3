"""Private metric k-median and k-means on public candidates: docs/metric-clustering.md."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
