"""The least noise of a matrix mechanism: enough by the way forward, and less is too little."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from accountant.calibration.events import find_largest_rate, find_least_noise, find_most_uses
from accountant.calibration.matrices import find_least_matrix_noise
from accountant.cli.main import invoke
from accountant.compositions.events import Composition
from accountant.compositions.matrices import make_matrix
from accountant.compositions.matrix_events import MatrixRelease, release
from accountant.compositions.sensitivity import Participation
from accountant.curves import DeclaredEvents, curve_of, declare_matrix, read_composition_file
from profiles import Infeasible, InvalidArgument
from profiles.protection import Neighbors, Protection, Unit

TWO = [[3.0, 0.0], [4.0, 2.0]]


def declared(made: MatrixRelease, neighbors: Neighbors = Neighbors.ZERO_OUT) -> DeclaredEvents:
    return DeclaredEvents(Composition("matrix mechanism", (made.event,)), Unit.RECORD, neighbors, made.hypotheses)


@pytest.mark.parametrize("neighbors", [Neighbors.ZERO_OUT, Neighbors.REPLACE_ONE])
@pytest.mark.parametrize("given", [TWO, [[1, 0, 0], [1, 1, 0], [1, 1, 1]]])
def test_noise_that_is_found_is_enough_and_a_little_less_is_not(given: object, neighbors: Neighbors) -> None:
    when = Participation(1)
    made = release(make_matrix(given), 7, when, Protection(Unit.RECORD, neighbors), None)
    calibrated, best = find_least_matrix_noise(made, declared(made, neighbors), 1, "1e-5")
    assert best.noise == calibrated.value
    assert calibrated.beyond is not None
    assert Fraction(9, 10) * calibrated.value < calibrated.beyond < calibrated.value
    enough, less = (
        curve_of(declare_matrix(given, noise, when, neighbors=neighbors)).delta(1, gap="1e-6")
        for noise in (calibrated.value, calibrated.beyond)
    )
    assert enough.upper is not None
    assert less.lower is not None
    assert enough.upper <= Fraction("1e-5") < less.lower
    assert calibrated.account.curve.hypotheses == curve_of(declare_matrix(given, calibrated.value, when, neighbors=neighbors)).hypotheses


def test_another_noise_is_the_same_as_from_the_start() -> None:
    rng = np.random.default_rng(1)
    whose = Protection(Unit.USER, Neighbors.ADD_REMOVE)
    for matrix, when, rate in (
        (make_matrix(TWO), Participation(1, 2), None),
        (make_matrix([1, "0.5"], 9), Participation(2), "0.1"),
        (make_matrix(np.tril(rng.uniform(-1, 1, (60, 60)))), Participation(3), None),
    ):
        assert release(matrix, 2, when, whose, rate).with_noise("1.5") == release(matrix, "1.5", when, whose, rate)
        again, first = release(matrix, 2, when, whose, rate).with_noise("1.5"), release(matrix, "1.5", when, whose, rate)
        assert (again.hypotheses, again.realised) == (first.hypotheses, first.realised)


def test_of_a_bounded_sensitivity_nothing_is_said_of_less_noise() -> None:
    rng = np.random.default_rng(1)
    matrix = make_matrix(np.tril(rng.uniform(-1, 1, (200, 200))))
    made = release(matrix, 1, Participation(20), Protection(Unit.RECORD, Neighbors.ZERO_OUT), None)
    assert made.realised is not None
    calibrated, _ = find_least_matrix_noise(made, declared(made), 1, "1e-5")
    assert calibrated.beyond is None
    assert calibrated.account.side == "upper"


def test_targets_that_nothing_meets_are_refused() -> None:
    made = release(make_matrix(TWO), 1, Participation(2), Protection(Unit.RECORD, Neighbors.ZERO_OUT), None)
    for epsilon, delta in ((0, 0), (1, 0), (1, 2), (-1, "1e-5")):
        with pytest.raises((Infeasible, InvalidArgument)):
            find_least_matrix_noise(made, declared(made), epsilon, delta)


def test_the_command_line_finds_the_noise_of_a_matrix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "C.npy", np.array(TWO))
    given = ["account", "--matrix", str(tmp_path / "C.npy"), "--min-separation", "2"]
    assert invoke([*given, "--calibrate", "noise", "--epsilon", "1", "--delta", "1e-5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    noise = told["calibrated"]["value"]
    assert told["calibrated"]["name"] == "noise"
    assert invoke([*given, "--gaussian", noise, "--delta", "1e-5", "--json"]) == 0
    assert Fraction("0.99") < Fraction(json.loads(capsys.readouterr().out)["epsilon"]["upper"]) <= 1
    assert invoke([*given, "--calibrate", "noise", "--epsilon", "1"]) == 2
    assert "give --epsilon E and --delta D" in capsys.readouterr().err
    assert invoke([*given, "--calibrate", "noise", "--epsilon", "1", "--delta", "1e-5"]) == 0
    assert f"noise = {noise} meets the target (1, 0.00001), and " in capsys.readouterr().out


def test_the_event_of_a_matrix_is_not_calibrated_as_noise_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its noise is counted in units of s = sqrt(394): 3.7323 of them meet (1, 1e-5), but sigma = 3.7323 has an epsilon above 30."""
    file = tmp_path / "ftrl.toml"
    file.write_text(
        'name = "ftrl"\nneighbors = "add-remove"\n[[event]]\nmechanism = "matrix"\nnoise_multiplier = 10\n'
        "coefficients = [1, 1, 1, 1]\nsteps = 100\nmin_separation = 2\n"
    )
    read = read_composition_file(file)
    bounded = declare_matrix(np.tril(np.cos(np.arange(900.0)).reshape(30, 30)), 50, Participation(2), neighbors="add-remove")
    assert [bounded.hypotheses[0].id, read.hypotheses[0].id] == ["matrix-bounded", "matrix-mechanism"]
    for declared in (read, bounded):
        for find in (find_least_noise, find_most_uses, find_largest_rate):
            with pytest.raises(InvalidArgument, match="in units of the sensitivity of the matrix"):
                find(declared, 1, "1e-5")
    for what in ("noise", "count", "sampling"):
        assert invoke(["account", str(file), "--calibrate", what, "--epsilon", "1", "--delta", "1e-5"]) != 0
        assert "noise_multiplier" not in capsys.readouterr().out
