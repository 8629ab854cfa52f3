"""The catalogue lists every mechanism, and its references load and run."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

import profiles.mechanisms
from profiles import load
from profiles.mechanisms import EXACT_ARITHMETIC, Mechanism, catalogue

HELPERS = {"__init__", "ball", "catalogue", "clusters", "datasets", "interface", "nearest", "noise"}


def test_every_mechanism_module_is_listed():
    modules = {path.stem for path in Path(profiles.mechanisms.__file__).parent.glob("*.py")} - HELPERS
    assert {entry.reference for entry in catalogue()} == {f"profiles.mechanisms.{module}:default" for module in modules}


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_entries(entry):
    assert entry.profile.name == entry.name
    assert "\n" not in entry.summary
    assert "Fay et al. 2024" in entry.source
    assert EXACT_ARITHMETIC in entry.hypotheses
    assert entry.profile.free_parameters == entry.profile.parameters
    assert all((statistic.name, statistic.lo, statistic.hi) == ("z", 0, 4) for statistic in entry.profile.record)
    loaded = load(entry.reference).profile
    assert loaded.text == entry.profile.text
    assert loaded.free_parameters == ()
    module, name = entry.reference.split(":")
    mechanism = getattr(importlib.import_module(module), name)
    assert isinstance(mechanism, Mechanism)
    assert len(mechanism([], np.random.default_rng(0), 4)) == 4


def test_general_profiles_load_too():
    for entry in catalogue():
        assert load(entry.reference.replace(":default", ":general")).profile == entry.profile
