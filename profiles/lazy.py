"""Names of a package that are loaded when they are first used (PEP 562), and listed once: in the package's ``__init__.pyi``.

The stub is what type checkers and editors read; here it is read, too, so that ``__all__``, completion and the first use of a name can not
say something else. SciPy's packages do the same (SPEC 1).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def offer_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its stub: lines ``from MODULE import NAME as NAME``.

    ``__getattr__`` imports the module that a name is at home in and raises :class:`AttributeError` for names that the stub does not have.

    >>> load, listed, names = offer_names("profiles")
    >>> load("declare").__module__, "declare" in listed(), "declare" in names
    ('profiles.declaring', True, True)
    """
    made: Any = sys.modules[package]
    stub = made.__loader__.get_data(f"{made.__path__[0]}/__init__.pyi")  # from a zip file as well
    homes: dict[str, str] = {
        alias.asname or alias.name: node.module or package
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names = sorted(homes)

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    def complete() -> list[str]:
        return sorted({*(name for name in vars(import_module(package)) if name.startswith("__")), *names})

    return load, complete, names


class _Later:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


def load_later(name: str) -> Any:
    """Return what stands for a module that is slow to load, until one of its names is used.

    >>> load_later("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """
    return _Later(name)
