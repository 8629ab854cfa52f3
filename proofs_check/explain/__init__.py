"""Explanations: the proof of a verdict as a person would read it, as text or LaTeX. Untrusted; the kernel is what checks proofs."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
