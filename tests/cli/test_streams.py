"""Standard streams that are closed, full, or left by their reader: the verdict's exit code, no traceback, and no lie about success."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from accountant.cli import streams
from profiles import UnwritableOutput

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
FULL = "pdp: the result could not be written to standard output (No space left on device); check space and rights where it goes\n"


def run(arguments: str, folder: Path, redirections: str = "", script: str = "{}") -> subprocess.CompletedProcess[str]:
    command = f"'{sys.executable}' -m accountant.cli {arguments} {redirections}"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(["bash", "-c", script.format(command)], cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def descriptor(request):
    """A descriptor that nothing can be written to: a pipe whose reader is gone, or a full disk."""
    if request.param == "full":
        number = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, number = os.pipe()
        os.close(reader)
    yield number
    os.close(number)


@pytest.mark.parametrize("descriptor", ["left"], indirect=True)
def test_a_reader_that_went_away_is_no_failure(descriptor):
    stream = streams._Descriptor(descriptor, "wb", closefd=False)
    assert [stream.write(b"ab"), stream.write(b"abc")] == [2, 3]


@pytest.mark.parametrize("descriptor", ["full"], indirect=True)
def test_a_full_disk_is_told_once(descriptor):
    stream = streams._Descriptor(descriptor, "wb", closefd=False)
    with pytest.raises(UnwritableOutput, match="No space left on device"):
        stream.write(b"ab")
    assert stream.write(b"ab") == 2


@pytest.mark.thorough
def test_a_result_that_cannot_be_written_is_no_success(tmp_path):
    found = run("--version", tmp_path, ">/dev/full")
    assert (found.returncode, found.stderr) == (2, FULL)


@pytest.mark.thorough
def test_closed_streams_are_no_failure_and_no_place_for_files(tmp_path):
    found = run("--version", tmp_path, "<&- >&- 2>&-")
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


@pytest.mark.thorough
def test_a_reader_that_goes_away_early_changes_no_exit_code(tmp_path):
    found = run("--help", tmp_path, script="{} | true; exit ${{PIPESTATUS[0]}}")
    assert (found.returncode, found.stderr) == (0, "")
