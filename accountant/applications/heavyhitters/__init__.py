"""Shifting heavy hitters in a stream, with pure differential privacy for whole users: docs/heavy-hitters.md."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
