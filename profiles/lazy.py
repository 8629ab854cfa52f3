"""Names of a package that are loaded when they are first used (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load_from(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``: it imports the module that a name is at home in (``homes``: name → module) and looks it up there.

    The function raises :class:`AttributeError` for other names.

    >>> load_from("circle", {"tau": "math"})("tau")
    6.283185307179586
    """

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return load


__all__ = ["load_from"]
