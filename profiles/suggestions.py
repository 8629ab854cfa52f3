"""What an error suggests instead of a name that is not known: ``(did you mean 'beta_count'?)``."""

from __future__ import annotations

import difflib
import pkgutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

_LONGEST = 100
_CUTOFF = 0.6


def suggest(name: object, known: Iterable[str]) -> str:
    """Return a hint in brackets, with a space before it, or nothing where no known name is near.

    >>> suggest("beta_cont", ["beta_count", "beta_sum"])
    " (did you mean 'beta_count'?)"
    >>> suggest("beta", ["beta_count", "w", "z"])
    " (did you mean 'beta_count'?)"
    >>> suggest("Z", ["w", "z"]), suggest("nothing", ["w", "z"])
    (" (did you mean 'z'?)", '')
    """
    nearest = find_nearest(name, known)
    return "" if nearest is None else f" (did you mean {nearest!r}?)"


def find_nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to ``name``, by spelling, or that it is the beginning of; None where there is none."""
    wanted = str(name)[:_LONGEST].lower()
    names = {item.lower(): item for item in sorted(known, reverse=True)}
    close = difflib.get_close_matches(wanted, sorted(names), n=1, cutoff=_CUTOFF)
    if not close and len(wanted) > 1:
        close = sorted(item for item in names if item.startswith(wanted))[:1]
    return names[close[0]] if close and names[close[0]] != str(name) else None


def suggest_file(path: Path) -> str:
    """Return a hint at a file of a similar name in the same folder."""
    try:
        return suggest(path.name, (entry.name for entry in path.parent.iterdir() if entry.is_file() and not entry.name.startswith(".")))
    except (OSError, ValueError):
        return ""


def suggest_reference(module: str, attributes: Sequence[str]) -> str:
    """Return a hint at the first part of ``module:attributes`` that does not exist, by what is already imported; nothing is imported."""
    object_: object | None = None
    parts = module.split(".")
    for index, part in enumerate(parts):
        parent, object_ = object_, sys.modules.get(".".join(parts[: index + 1]))
        if object_ is None:
            inside = [item.name for item in pkgutil.iter_modules(getattr(parent, "__path__", []))] if parent is not None else []
            return suggest(part, inside)
    for attribute in attributes:
        if not hasattr(object_, attribute):
            return suggest(attribute, (name for name in dir(object_) if not name.startswith("_")))
        object_ = getattr(object_, attribute)
    return ""


def describe_unknown(value: object, known: Iterable[str], longest: int = 40) -> tuple[str, str]:
    """Return how a sentence shows what is none of the ``known`` names, and the hint that ends it.

    >>> describe_unknown("publik", ["public"]), describe_unknown(3, ["public"])
    (("'publik'", " (did you mean 'public'?)"), ('a value of type int', ''))
    """
    if isinstance(value, str):
        return repr(value[:longest]), suggest(value, known)
    return f"a value of type {type(value).__name__}", ""
