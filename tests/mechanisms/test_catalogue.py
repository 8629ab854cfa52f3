"""The catalogue lists every mechanism, and its references load and run."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path

import numpy as np
import pytest

import profiles.mechanisms
from profiles import InvalidArgument, load
from profiles.hypotheses import EXACT_REALS
from profiles.mechanisms import Arithmetic, Mechanism, WeightedLloyd, catalogue
from profiles.mechanisms.interface import EXACT_MODE
from profiles.notions import ProfileNotion
from profiles.terms import to_text

HELPERS = {
    "__init__", "ball", "catalogue", "clusters", "datasets", "exact", "interface", "lloyd_runs", "nearest", "quantised", "weighted_sum",
}  # fmt: skip


def test_every_mechanism_module_is_listed():
    modules = {path.stem for path in Path(profiles.mechanisms.__file__).parent.glob("*.py")} - HELPERS
    assert {entry.reference for entry in catalogue()} == {f"profiles.mechanisms.{module}:default" for module in modules}


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_entries(entry):
    assert entry.profile.name == entry.name
    assert "\n" not in entry.summary
    assert "Fay et al. 2024" in entry.source or entry.profile.notion is ProfileNotion.GAUSSIAN
    assert entry.hypotheses[:2] == EXACT_MODE
    assert entry.profile.free_parameters == entry.profile.parameters
    assert all((statistic.name, statistic.lo, statistic.hi) == ("z", 0, 4) for statistic in entry.profile.record)
    loaded = load(entry.reference).profile
    assert to_text(loaded.promise) == to_text(entry.profile.promise)
    assert loaded.notion is entry.profile.notion
    assert loaded.free_parameters == ()
    module, name = entry.reference.split(":")
    mechanism = getattr(importlib.import_module(module), name)
    assert isinstance(mechanism, Mechanism)
    assert len(mechanism([], np.random.default_rng(0), 4)) == 4


def test_general_profiles_load_too():
    for entry in catalogue():
        assert load(entry.reference.replace(":default", ":general")).profile == entry.profile


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_each_arithmetic_supposes_its_own(entry):
    module, name = entry.reference.split(":")
    reference = getattr(importlib.import_module(module), name)
    others = tuple(item for item in reference.hypotheses if item not in EXACT_MODE)
    exact = dataclasses.replace(reference, arithmetic="exact")
    binary64 = dataclasses.replace(reference, arithmetic=Arithmetic.BINARY64)
    assert exact == reference
    assert exact.arithmetic is Arithmetic.EXACT
    assert exact.hypotheses == (*EXACT_MODE, *others)
    assert binary64.hypotheses == (EXACT_REALS, *others)
    for wrong in ("floating-point", "float", None, 64, ["exact"]):
        with pytest.raises(InvalidArgument, match="'exact' or 'binary64'"):
            dataclasses.replace(reference, arithmetic=wrong)


def test_the_parts_of_an_iteration_compute_as_it_does():
    for arithmetic in Arithmetic:
        lloyd = WeightedLloyd(initial_centres=[0.0], iterations=1, beta_count=1, beta_sum=1, arithmetic=arithmetic)
        assert (lloyd.count.arithmetic, lloyd.sum.arithmetic) == (arithmetic, arithmetic)
