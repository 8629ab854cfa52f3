"""What Hypothesis runs when it is imported (entry point ``hypothesis``): our types get our strategies, so that ``from_type`` works.

Nothing heavy is imported for it: a type is registered when the module that defines it is imported, by whoever uses it. As with every
such plugin, the environment variable ``HYPOTHESIS_NO_PLUGINS=1`` switches it off.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Module → its types, each with the function that makes its strategy, which is not loaded before it is used.
TYPES: dict[str, dict[str, str]] = {
    "profiles.profile": {"Profile": "accountant.testing.strategies:profiles"},
    "profiles.variables": {
        "Parameter": "accountant.testing.strategies:parameters",
        "Statistic": "accountant.testing.strategies:statistics",
    },
    "profiles.mechanisms.datasets": {"WeightedData": "accountant.testing.strategies.typed:weighted_data"},
    "accountant.rules.named": {"SamplingRule": "accountant.testing.strategies.typed:any_rule"},
    "accountant.testing.domains": {"RecordBall": "accountant.testing.strategies.typed:balls"},
    "accountant.testing.neighbors": {"NeighboringPair": "accountant.testing.strategies:neighboring_pairs"},
}


def register() -> None:
    """Register the types of modules that are imported already, and see to it that the others are registered when they are."""
    waiting = [name for name in TYPES if name not in sys.modules]
    for name in TYPES.keys() - waiting:
        _register_types(sys.modules[name])
    if waiting:
        sys.meta_path.insert(0, _Watcher(set(waiting)))


def _register_types(module: ModuleType) -> None:
    from hypothesis import strategies as st  # noqa: PLC0415 - imported already by whoever calls

    for name, maker in TYPES[module.__name__].items():
        st.register_type_strategy(getattr(module, name), _deferred(maker))


def _deferred(maker: str) -> Callable[[Any], Any]:
    """Return a function that makes the strategy when the type is first resolved."""

    def make(_: Any) -> Any:
        module, _, name = maker.partition(":")
        return getattr(import_module(module), name)()

    return make


class _Watcher(MetaPathFinder):
    """Finds nothing itself: it lets the other finders find a module, and registers its types after it was loaded."""

    def __init__(self, waiting: set[str]) -> None:
        self._waiting = waiting

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec that another finder gives, with a loader that reports back."""
        if fullname not in self._waiting:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Reporting(spec.loader, self)
                return spec
        return None

    def loaded(self, module: ModuleType) -> None:
        """Register the types of a module; when it was the last one, nothing of us stays in the import system."""
        self._waiting.discard(module.__name__)
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        _register_types(module)


class _Reporting(Loader):
    """The loader of another finder, which takes its place again before the module is run."""

    def __init__(self, loader: Any, watcher: _Watcher) -> None:
        self._loader, self._watcher = loader, watcher

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what the loader creates."""
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with its own loader, then report it."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._watcher.loaded(module)
