"""The entry points cost nothing until they are used, and then give our types our strategies."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import accountant.testing as package
from accountant.testing.hypothesis_hook import TYPES, _deferred

#: The package ``profiles`` itself loads nothing but the function that loads its names.
HEAVY = (
    *("numpy", "sympy", "scipy", "mpmath", "flint", "hypothesis", "proofs_check", "accountant.testing.checking"),
    *("profiles.errors", "profiles.numbers", "profiles.terms", "profiles.profile"),
)


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_plugin_imports_pytest_and_nothing_else():
    out = run(f"import sys, accountant.testing.plugin; print([name for name in {HEAVY} if name in sys.modules])")
    assert out == "[]\n"


@pytest.mark.thorough
def test_types_are_registered_when_their_modules_are_imported():
    program = f"""
import sys
before = list(sys.meta_path)
from accountant.testing.hypothesis_hook import TYPES, register
assert not [name for name in {HEAVY} if name in sys.modules]
import hypothesis
from hypothesis import Phase, find as find_any, settings, strategies as st
def find(strategy, wanted):
    return find_any(strategy, wanted, settings=settings(phases=[Phase.generate], database=None))
watchers = [type(finder).__name__ for finder in sys.meta_path if "hypothesis_hook" in type(finder).__module__]
if not watchers:  # where the package is installed, Hypothesis has called it already
    register()
assert not [name for name in {HEAVY} if name in sys.modules and name != "hypothesis"]
from profiles import Parameter, Profile, Statistic
import profiles.profile
assert "Reporting" not in type(profiles.profile.__spec__.loader).__name__
assert "Reporting" not in type(profiles.profile.__loader__).__name__
from profiles.terms import free_symbols
assert "w" in free_symbols(find(st.from_type(Profile), lambda _: True).epsilon)
find(st.from_type(Parameter), lambda _: True).value
from accountant.testing import NeighboringPair, RecordBall
from accountant.rules.named import SamplingRule
from profiles.mechanisms.datasets import WeightedData
assert sys.meta_path == before, sys.meta_path
assert find(st.from_type(NeighboringPair), lambda _: True).weight >= 1
assert find(st.from_type(RecordBall), lambda _: True).dimension >= 1
assert find(st.from_type(SamplingRule), lambda _: True).q
assert (find(st.from_type(WeightedData), lambda _: True).weights >= 1).all()
assert find(st.from_type(Statistic), lambda _: True).hi > 0
"""
    run(program)


def test_every_registered_type_is_where_it_is_looked_for():
    for module, types in TYPES.items():
        for name, maker in types.items():
            assert hasattr(import_module(module), name)
            assert _deferred(maker)(object) is not None


def test_names_of_the_package_are_there():
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        package.nonsense  # noqa: B018


@pytest.mark.parametrize(("library", "module"), [("hypothesis", "strategies"), ("pytest", "plugin")])
def test_a_missing_library_is_named_with_its_extra(library, module):
    program = f"""
import sys
sys.modules[{library!r}] = None
import accountant.testing
try:
    import accountant.testing.{module}
except ImportError as error:
    print(error)
"""
    assert run(program).endswith("is not installed; install pdp-accountant[testing]\n")
