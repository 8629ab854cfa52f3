"""The catalogue: one mechanism per module, its declared profile beside the sampler that runs it."""

from profiles.lazy import offer_names
from profiles.mechanisms.catalogue import catalogue as catalogue  # at once: the function, not the module of its name

__getattr__, __dir__, __all__ = offer_names(__name__)
