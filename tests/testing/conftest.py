"""How a session inside a test loads the plugin: by its entry point where the package is installed with it, else by its name."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

import accountant.testing.checking
import accountant.testing.strategies  # noqa: F401 - a session inside a test forgets what it imported, and NumPy cannot be imported twice

_INSTALLED = any(entry.value == "accountant.testing.plugin" for entry in entry_points(group="pytest11"))
_QUIET = ["-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


@pytest.fixture
def plugin_arguments():
    return [*_QUIET, *([] if _INSTALLED else ["-p", "accountant.testing.plugin"])]
