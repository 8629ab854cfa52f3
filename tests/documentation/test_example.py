"""What `make run` does: the example on real data prints a guarantee that people can read, and certificates that are accepted."""

from __future__ import annotations

import inspect
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.documentation.pages import ROOT, blocks_of


def test_the_example_runs_and_prints_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["digits_kmeans.py", "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(ROOT / "examples" / "digits_kmeans.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert stopped.value.code in (0, None)
    assert "\\n" not in printed
    (shown,) = (block.text for block in blocks_of(ROOT / "README.md") if block.text.startswith("certified epsilon"))
    assert shown.strip() in "\n".join(line.rstrip() for line in printed.splitlines())
    assert "\n  epsilon <= 4.41452818644\n" in printed
    assert printed.count(": accepted") == 3
    assert (tmp_path / "out" / "conditions.json").is_file()
    public, _, private = printed.partition("\nprivate, for your eyes only")
    assert "1797" not in public  # the size of the collection, and all else that is about the records, stands below that line
    assert "n = 1797; expected sample sizes: 299.5 (uniform)" in " ".join(private.split())


def load_example() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / "digits_kmeans.py"), run_name="example")


def test_every_premise_of_every_row_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Was: a range, a centre and a size taken from the data, and the premises of one row of three."""
    example = load_example()
    bounds = example["bound_rules"](example["declare_lloyd"]())
    example["show_rules"](bounds)
    printed = " ".join(capsys.readouterr().out.split())
    assert "if the premises below hold" in printed
    for name, derived in bounds.items():
        hypotheses = derived.guarantee.hypotheses
        assert {"fixed-in-advance", "only-release", "one-analysis", "not-redrawn", "weight-as-given"} <= {item.id for item in hypotheses}
        for premise in hypotheses:
            found = re.search(
                re.escape(f"- {premise.sentence}") + r"(?: (\[[a-z][\w, -]*\]))?(?= - | your | this | the machine|$)", printed
            )
            assert found is not None, (name, premise)
            shared = all(premise in other.guarantee.hypotheses for other in bounds.values())
            assert found[1] is None if shared else name in found[1], (name, premise)


def test_the_numbers_of_the_example_do_not_look_at_the_digits() -> None:
    """The bounds take no records; the radius holds for every image that the format allows, and the guesses are no moments of these."""
    example = load_example()
    digits = example["read_digits"]()
    assert list(inspect.signature(example["bound_rules"]).parameters) == ["declared"]
    assert not inspect.signature(example["declare_lloyd"]).parameters
    assert example["PIXELS"] * example["MIDDLE"] ** 2 == example["RADIUS"] ** 2
    assert digits.min() >= -example["MIDDLE"]
    assert digits.max() <= example["MIDDLE"]
    assert np.linalg.norm(digits, axis=1).max() < example["RADIUS"]
    assert example["SIZE"] != len(digits)
    assert example["MEAN"] != round(float((digits**2).sum(axis=1).mean()))
