"""What every way to a guarantee leaves open, and what it discharges, is what was recorded: no change of the rules loses a hypothesis.

After a change that is meant to change them: ``python -m tests.guarantees.test_recorded`` writes what is made now, to be read as a diff.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accountant.guarantees import Guarantee
from accountant.interop import read_guarantee, replay, suppose
from profiles import NotReplayed
from tests.guarantees.test_hypotheses import PATHS, made

RECORDED = Path(__file__).parent / "recorded.json"
OLD_FILES = sorted((Path(__file__).parents[1] / "interop" / "version1").glob("*.json"))


def ids(guarantee: Guarantee) -> dict[str, str]:
    """The open and the discharged hypotheses by their ids, in their order."""
    return {
        "open": " ".join(item.id for item in guarantee.hypotheses),
        "discharged": " ".join(item.hypothesis.id for item in guarantee.discharged),
    }


def of_file(path: Path) -> dict[str, dict[str, str]]:
    """What is made of a file: on its word, and by making its calls again."""
    read = read_guarantee(path.read_text(encoding="utf-8"))
    found = {"supposed": ids(suppose(read))}
    for name, accept in (("replayed", False), ("replayed with its words", True)):
        try:
            found[name] = ids(replay(read, accept_evidence=accept))
        except NotReplayed:
            continue
    return found


@pytest.mark.thorough(quick=20)
@pytest.mark.parametrize("name", PATHS)
def test_a_way_leaves_open_what_it_left_open(name: str) -> None:
    assert ids(made(name)) == json.loads(RECORDED.read_text(encoding="utf-8"))["ways"][name]


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("path", OLD_FILES, ids=lambda path: path.stem)
def test_what_is_made_of_a_file_leaves_open_what_it_left_open(path: Path) -> None:
    assert of_file(path) == json.loads(RECORDED.read_text(encoding="utf-8"))["files"][path.stem]


def test_nothing_is_recorded_that_nobody_makes() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert set(recorded["ways"]) == set(PATHS)
    assert set(recorded["files"]) == {path.stem for path in OLD_FILES}


if __name__ == "__main__":
    whole = {"ways": {name: ids(made(name)) for name in PATHS}, "files": {path.stem: of_file(path) for path in OLD_FILES}}
    RECORDED.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
