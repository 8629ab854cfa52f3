"""The folders of ``tests`` mirror the rooms of the packages: whoever changes a room finds its tests under the room's name."""

from __future__ import annotations

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
