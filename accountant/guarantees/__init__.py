"""Guarantees: bounds with their notion, derivation and open hypotheses, made only by the rules of this package."""

from accountant.guarantees.render import render as render  # at once: the function, not the module of its name
from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
