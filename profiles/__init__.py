"""What a mechanism promises: exact, symbolic PDP profiles and the mechanisms that make the promise. Decides nothing.

The names below are loaded when first used: SymPy takes most of a second, which help, completion and checking a file do not need.
"""

from profiles.lazy import offer_names

#: What shows the values of this package (profiles/views.py).
__presenting__ = "profiles.presenting.describing"
__getattr__, __dir__, __all__ = offer_names(__name__)
