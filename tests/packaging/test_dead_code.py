"""Nothing stays in the packages that only tests use; and what finds it does find it."""

from __future__ import annotations

import re

import pytest

from tests.packaging import dead_code

#: What the script finds and what stays, by path and name as it prints them, each with the reason.
ALLOWED = {
    r"accountant/report/checking/harness\.py: (TREES|MOST|judge|describe|attempt|round_up)": "what the script of the page calls (page.js)",
    r"accountant/guarantees/execution\.py: realise_draws": "the rule for a sample that users draw themselves",
    r"accountant/interop/carriers\.py: list_lost": "the law of carriers, for whoever writes one",
    r"profiles/protection\.py: USERS": "the protection of users, beside RECORDS, for declarations",
    r"proofs_check/kernel/procedures/normal\.py: IDENTITIES": "the table of identities that the page of trust prints",
    r"accountant/interop/flower\.py: FlowerAccountant\.(get_privacy_spent|num_releases|state_dict|would_exceed)": "what Flower calls",
    r"accountant/weights/gaussian/table\.py: WeightTable\.shift_at": "for users who weigh records of their own by a table",
}

LIVING = """
from proofs_check.planted import Shape, used

LIMIT = 3
print(Shape(used(LIMIT)).area)
shape = Shape()
print(shape.corner.real)
"""
PLANTED = '''
import math as m
from functools import cache

TABLE = {"a": 1}
_FORGOTTEN = {"b": 2}

def used(x):
    return m.exp(x) + TABLE["a"]

@cache
def alone(x):
    """A dead one: it calls itself, and what it calls is dead as well."""
    return alone(x - 1) + _helper(x) if x else 0

def _helper(x):
    return x

def by_reference():
    return 1

def public():
    return 2

class Shape:
    @property
    def area(self):
        return 1

    @property
    def corner(self):
        return 1j

    @property
    def perimeter(self):
        return self.perimeter

    def __len__(self):
        return 0

class Unused(Shape):
    def draw(self):
        return 0
'''


def _read(text: str, module: str) -> dead_code.Source:
    return dead_code.read_module(text, module, f"{module}.py")


@pytest.mark.parametrize(
    "user", ["from proofs_check.planted import by_reference\nby_reference()", "x = 'proofs_check.planted:by_reference'"]
)
def test_a_planted_dead_definition_is_found(user):
    modules = [_read(PLANTED, "proofs_check.planted"), _read(LIVING, "accountant.living")]
    found = dead_code.find_dead(modules, [_read(user, "user")], ["proofs_check.planted.public"])
    planted = {name for module, name in found if module == "proofs_check.planted"}
    assert planted == {"_FORGOTTEN", "alone", "_helper", "Shape.perimeter", "Unused", "Unused.draw"}
    assert found["proofs_check.planted", "alone"] == ("proofs_check.planted.py", 12)


def test_a_name_is_followed_through_the_packages_that_hand_it_on():
    package = dead_code.Source(
        "profiles.boxes", "profiles.boxes", aliases={"pack": "profiles.boxes.packing.pack", "seal": "profiles.boxes.packing.seal"}
    )
    packing = _read("def pack(): pass\ndef seal(): pass\n", "profiles.boxes.packing")
    user = _read("from profiles.boxes import pack, seal\npack()\n", "user")
    assert list(dead_code.find_dead([package, packing], [user], [])) == [("profiles.boxes.packing", "seal")]


def test_a_package_that_has_all_names_of_a_module_passes_their_uses_on():
    package = _read("from profiles.boxes.packing import *\n", "profiles.boxes")
    packing = _read("def pack(): ...\ndef seal(): ...\n", "profiles.boxes.packing")
    user = _read("from profiles.boxes import pack\npack()\n", "user")
    assert list(dead_code.find_dead([package, packing], [user], [])) == [("profiles.boxes.packing", "seal")]


@pytest.mark.thorough
def test_nothing_in_the_packages_is_there_for_tests_alone():
    found = [f"{path}: {name}" for (_, name), (path, _) in dead_code.find_dead(*dead_code.read_project()).items()]
    kept = {item: pattern for item in found for pattern in ALLOWED if re.fullmatch(pattern, item)}
    assert [item for item in found if item not in kept] == []
    assert set(kept.values()) == set(ALLOWED), "an exception that nothing needs any more"
