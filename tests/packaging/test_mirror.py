"""Rooms and their order: the folders of ``tests`` mirror them, and what is loaded when it is first used keeps their order as well."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Rooms whose tests are those of the room that they are a part of.
ELSEWHERE = {"accountant/columns": "data", "profiles/hypotheses": "guarantees"}
ROOMS = [
    f"{home}/{name.parent.name}"
    for home in ("profiles", "proofs_check", "accountant", "accountant/applications")
    for name in (ROOT / home).glob("*/__init__.py")
]


@pytest.mark.parametrize("room", [*sorted(ROOMS), "accountant/applications/repeated"])
def test_each_room_has_its_folder_of_tests(room: str) -> None:
    folder = ROOT / "tests" / ELSEWHERE.get(room, room.partition("/")[2])
    assert list(folder.rglob("test_*.py")), f"no tests in {folder}"


def test_names_that_are_loaded_when_first_used_come_from_rooms_below() -> None:
    """Import-linter counts imports in functions, but does not read the stubs from which names of a package are loaded."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    orders = {item["containers"][0]: item["layers"] for item in settings["contracts"] if item["type"] == "layers" and "containers" in item}
    places = {f"{package}.{room}": (-number, -place) for number, package in enumerate(("accountant", "proofs_check", "profiles"))
              for place, room in enumerate(orders[package])}  # fmt: skip
    upward, read = [], 0
    for stub in sorted(
        path for package in ("accountant", "proofs_check", "profiles") for path in (ROOT / package).glob("*/**/__init__.pyi")
    ):
        own = ".".join(stub.relative_to(ROOT).parts[:2])
        for line in re.findall(r"^from ([\w.]+) import", stub.read_text(encoding="utf-8"), re.MULTILINE):
            named = ".".join(line.split(".")[:2])
            read += 1
            if named not in places or places[named] > places[own]:
                upward.append(f"{own} -> {named}")
    assert read > 100
    assert upward == []
