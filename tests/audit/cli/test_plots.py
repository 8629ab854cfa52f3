"""Plots: a file of the right kind, written atomically; every kind of output, with and without a rule."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

from accountant.progress import with_progress
from profiles.errors import InvalidArgument
from profiles.presenting.pictures import find_format
from proofs_check.audit import Claim
from proofs_check.audit import audit as run_audit
from proofs_check.audit.guesses import GuessingRule
from proofs_check.audit.outputs import Reader
from proofs_check.audit.plots import FreshOutputs, plot_audit, plot_outputs, to_bytes
from proofs_check.audit.scores.interface import Score

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MAGIC)
def test_the_file_is_written(audit, tmp_path, kind):
    path = tmp_path / f"plot.{kind}"
    path.write_text("old")
    result = audit("laplace", "--plot", path, "--json", "--samples", "200")
    assert result.code == 0
    assert result.json()["verdict"] == "consistent"
    assert path.read_bytes().startswith(MAGIC[kind])
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_a_plot_that_cannot_be_drawn_does_not_lose_the_result(audit, tmp_path, monkeypatch):
    path = tmp_path / "plot.png"
    path.write_text("old")
    monkeypatch.setattr("proofs_check.audit.plots.to_bytes", lambda *_: 1 / 0)
    result = audit("laplace", "--plot", path, "--json", "--samples", "200")
    assert result.code == 2
    assert result.json()["verdict"] == "consistent"
    assert result.err.startswith("pdp: the plot could not be drawn (ZeroDivisionError")
    assert path.read_text() == "old"


def test_without_matplotlib_nothing_is_run(audit, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = audit("raises", "--plot", tmp_path / "plot.png")
    assert result.refused()
    assert "pip install 'pdp-accountant[plots]'" in result.err


def test_formats():
    assert find_format("A.PNG") == "png"
    with pytest.raises(InvalidArgument):
        find_format("plot")


def rule(evaluate=lambda outputs: outputs.values[:, 0], name="output", high=1.0, low=-1.0, width=1):
    return GuessingRule(Score(name, evaluate, lambda threshold, above: f"output {threshold}"), high, low, width, 1.0, Fraction(1))


def returned(kind, size=3_000):
    rng = np.random.default_rng(len(kind))
    return {
        "numbers": rng.laplace(0, 1, size),
        "long tails": rng.standard_cauchy(size) * np.exp(rng.normal(0, 100, size)),
        "one value": np.zeros(size),
        "atoms": np.clip(rng.laplace(0, 1, size), -0.5, 0.5),
        "infinite": np.where(rng.random(size) < 0.1, math.inf, rng.laplace(0, 1, size)),
        "few": rng.integers(0, 5, size),
        "vectors": rng.normal(0, 1, (size, 5)),
        "words": [("yes", "no")[: int(k)] for k in rng.integers(1, 3, size)],
        "many words": [("w" + str(k),) for k in rng.integers(0, 10**6, size)],
        "mixed": [None if k < 0.1 else float(k) for k in rng.random(size)],
    }[kind]


KINDS = ["numbers", "long tails", "one value", "atoms", "infinite", "few", "vectors", "words", "many words", "mixed"]


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_rule", [False, True])
def test_every_kind_of_output_is_drawn(kind, with_rule):
    reader = Reader()
    outputs = [reader.read(returned(kind), 3_000) for _ in range(2)]
    figure = Figure()
    axes = figure.subplots()
    used = rule(width=outputs[0].width) if with_rule else None
    plot_outputs(axes, FreshOutputs(outputs[0], outputs[1], reader), used)
    assert to_bytes(figure, "svg")
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.get_legend() is not None


def test_bits_are_shown_by_their_score():
    reader = Reader()
    outputs = reader.read(returned("numbers"), 3_000)
    axes = Figure().subplots()
    plot_outputs(axes, FreshOutputs(outputs, outputs, reader), rule(name="bins of exponent of the lowest bit"))
    assert "lowest bit" in axes.get_xlabel()


def test_the_shaded_set_is_the_event():
    reader = Reader()
    outputs = reader.read(returned("numbers"), 3_000)
    axes = Figure().subplots()
    plot_outputs(axes, FreshOutputs(outputs, outputs, reader), rule())
    spans = sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches if hasattr(patch, "get_width"))
    assert [round(end, 2) for end in (spans[0][1], spans[-1][0])] == [-1.0, 1.0]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("mode", ["both", "fixed", "sequential"])
@pytest.mark.parametrize("claimed", ["0.5", "2", "9"])
def test_the_bound_is_drawn(mode, claimed):
    def laplace(dataset, rng, size):
        return len(dataset) + rng.laplace(0, 1, size)

    result = run_audit(laplace, [1.0], [], Claim(claimed), rng=np.random.default_rng(1), samples=500, mode=mode)
    reader = Reader()
    outputs = reader.read(returned("numbers"), 3_000)
    figure = plot_audit(result, FreshOutputs(outputs, outputs, reader))
    assert to_bytes(figure, "png").startswith(MAGIC["png"])
    assert ("VIOLATED" in figure.get_suptitle()) == (result.finding.value == "violated")


def test_progress_is_for_terminals_and_long_runs(monkeypatch, capsys):
    with with_progress(10) as progress:
        assert progress is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with with_progress(10) as progress:
        progress(3)
    assert not capsys.readouterr().err
