"""One self-contained HTML file for an auditor: what is promised, what is proved, what is still open, and how to check it."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
