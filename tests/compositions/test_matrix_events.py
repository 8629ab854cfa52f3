"""Matrix mechanisms as events: against closed forms, adaptive adversaries by quadrature, files, the command line, and what is refused."""

from __future__ import annotations

import hashlib
import itertools
import json
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from accountant.checking import check_document
from accountant.cli.main import invoke
from accountant.compositions.events import Event
from accountant.compositions.matrices import make_matrix
from accountant.compositions.matrix_events import release_bands, release_matrix
from accountant.compositions.sensitivity import Participation, bound_sensitivity
from accountant.curves import (
    DeclaredEvents,
    account,
    curve_of,
    curve_of_file,
    declare_matrix,
    draw_batches,
    make_event,
    read_composition,
    write_composition,
)
from accountant.interop import replay
from accountant.interop.files import read_guarantee, write_guarantee
from profiles import InvalidArgument, PDPError, UnreadableFile
from profiles.protection import Neighbors, Protection, Unit

ZEROED, ADDED, REPLACED = (Protection(Unit.RECORD, item) for item in (Neighbors.ZERO_OUT, Neighbors.ADD_REMOVE, Neighbors.REPLACE_ONE))
TWO = [[3.0, 0.0], [4.0, 2.0]]


def event(*args: object) -> Event:
    return release_matrix(*args).event  # type: ignore[arg-type]


def test_independent_steps_are_the_uses_of_a_plain_event() -> None:
    """C = I and k participations: k steps of noise sigma, of which 16 are one of sigma/4."""
    made = curve_of(declare_matrix(make_matrix([1], 100), 8, Participation(1, 16), neighbors="add-remove"))
    plain = curve_of(make_event("gaussian", {"noise_multiplier": 8}, count=16))
    assert made.composition.events == (make_event("gaussian", {"noise_multiplier": 2}),)
    assert made.epsilon("1e-6", gap="1e-9").upper == plain.epsilon("1e-6", gap="1e-9").upper


def test_noise_is_the_deviation_over_the_sensitivity_and_rounded_down() -> None:
    assert event(make_matrix(TWO), 10, Participation(2), ZEROED)["noise_multiplier"] == 2
    odd = make_matrix([1, 1, 1], 3)
    ratio = event(odd, "1.7", Participation(3), ZEROED)["noise_multiplier"]
    assert ratio**2 < Fraction("1.7") ** 2 / 3 < (ratio + Fraction(1, 10**18)) ** 2
    for scale in ("1e-9", "1e11"):
        far = event(odd, scale, Participation(3), ZEROED)["noise_multiplier"]
        assert 0 < Fraction(scale) ** 2 / 3 - far**2 < Fraction(scale) ** 2 / 10**17


def test_a_replaced_record_moves_the_release_twice_as_far() -> None:
    gone, other = (event(make_matrix(TWO), 10, Participation(2), whose) for whose in (ADDED, REPLACED))
    assert (gone.square, other.square) == (Fraction(1, 4), 1)
    declared = declare_matrix(TWO, 10, Participation(2), neighbors="replace-one")
    plain = curve_of(make_event("gaussian", {"noise_multiplier": 2}, batches=draw_batches("none", "replace-one")))
    assert curve_of(declared).epsilon("1e-5").upper == plain.epsilon("1e-5").upper


def test_the_turns_of_groups_are_sampled_steps() -> None:
    made = release_bands(make_matrix([1, "0.75"], 31), 5, 2, "0.1", ADDED)
    assert made.event == make_event("gaussian", {"noise_multiplier": 4}, sampling_probability="0.1", count=16)
    wider = release_bands(make_matrix([1, "0.75"], 31), 5, 10, "0.1", ADDED)
    assert wider.event.count == 4
    assert wider.sensitivity.upper == Fraction(25, 16)


def hockey_stick(alpha: float, shift: float) -> float:
    return float(ndtr(shift / 2 - np.log(alpha) / shift) - alpha * ndtr(-shift / 2 - np.log(alpha) / shift))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5])
def test_no_choice_of_a_vector_by_earlier_outputs_loses_more(alpha: float) -> None:
    """Theorem 10: u_2 = f(y_1) in [-1, 1] for C of two steps, by quadrature; u_2 = 1 attains the curve of s."""
    matrix = np.array([[0.8, 0.0], [0.5, 0.6]])
    square = float(bound_sensitivity(make_matrix(matrix), Participation(1, 2)).upper)
    assert square == pytest.approx(0.8**2 + 1.1**2)
    grid = np.linspace(-8, 9, 1701)
    first, second = np.meshgrid(grid, grid, indexing="ij")

    def density(x: np.ndarray) -> np.ndarray:
        return np.exp(-(x**2) / 2) / sqrt(2 * np.pi)

    bound = hockey_stick(alpha, sqrt(square))
    for choose in (np.ones_like, np.sign, lambda y: -np.sign(y - 0.4), np.sin, lambda y: np.where(y > 0.8, 1.0, -0.2), np.zeros_like):
        with_it = density(first - 0.8) * density(second - 0.5 - 0.6 * choose(first))
        without = density(first) * density(second)
        step = grid[1] - grid[0]
        lost = np.maximum(with_it - alpha * without, 0).sum() * step**2
        assert lost <= bound + 1e-6
        gained = np.maximum(without - alpha * with_it, 0).sum() * step**2
        assert gained <= bound + 1e-6
        if choose is np.ones_like:
            assert lost == pytest.approx(bound, abs=1e-6)


@pytest.mark.parametrize(
    ("noise", "when", "rate", "neighbors", "said"),
    [
        (0, Participation(2), None, "zero-out", "must lie in"),
        ("nan", Participation(2), None, "zero-out", "finite"),
        ("1e13", Participation(2), None, "zero-out", "must lie in"),
        (f"1.{'3' * 200}", Participation(2), None, "zero-out", "more digits"),
        (1, 2, None, "zero-out", "by a Participation"),
        (1, Participation(2, 1), "0.1", "zero-out", "leave it out"),
        (1, Participation(1), "0.1", "zero-out", "2 bands was found for 1 groups"),
        (1, Participation(2), "0.1", "replace-one", "no bound is proved"),
        (1, Participation(2), 0, "zero-out", "must lie in"),
        (1, Participation(2), 2, "zero-out", "must lie in"),
        (1, Participation(2), None, "other", "neighbors"),
        ("1e-12", Participation(2), None, "zero-out", "times the sensitivity"),
    ],
)
def test_what_is_no_matrix_mechanism_is_refused(noise: object, when: Participation, rate: object, neighbors: str, said: str) -> None:
    with pytest.raises(PDPError) as caught:
        declare_matrix([[1, 0], [2, 1]], noise, when, neighbors=neighbors, sampling_probability=rate)
    assert said in str(caught.value)


def test_what_it_rests_on_names_the_matrix_and_survives_files(tmp_path: Path) -> None:
    matrix = make_matrix([1, "0.5"], 20)
    declared = declare_matrix(matrix, 5, Participation(4, 3), neighbors="zero-out", unit="user")
    curve = curve_of(declared)
    said = {item.id: item.sentence for item in curve.hypotheses}
    assert {"matrix-mechanism", "steps-apart", "record-norm", "public-divisor", "exact-reals", "one-user"} <= said.keys()
    assert "s^2 = 3.75" in said["matrix-mechanism"]
    assert "the 20 x 20 Toeplitz matrix with the coefficients 1, 0.5" in said["matrix-mechanism"]
    assert said["steps-apart"].startswith("each user takes part in at most 3 of 20 steps, any two of them at least 4 apart")
    assert read_composition(write_composition(curve.declared)) == curve.declared
    guarantee = curve.at_delta("1e-5")
    assert set(guarantee.hypotheses) < set(replay(read_guarantee(write_guarantee(guarantee))).hypotheses)
    assert set(guarantee.hypotheses) < set(read_guarantee(write_guarantee(guarantee)).hypotheses)
    assert check_document(write_guarantee(guarantee)).outcome.report.accepted
    sampled = curve_of(declare_matrix(matrix, 5, Participation(4), neighbors="add-remove", sampling_probability="0.1"))
    assert {"bands-grouped", "independent-draws", "fresh-samples"} <= {item.id for item in sampled.hypotheses}
    assert "steps-apart" not in {item.id for item in sampled.hypotheses}
    ordered = curve_of(declare_matrix(matrix, 5, Participation(4, fixed_order=True), neighbors="zero-out"))
    (said_of_order,) = [item.sentence for item in ordered.hypotheses if item.id == "fixed-order"]
    assert "whole multiples of 4 steps apart, of 20 in all" in said_of_order
    assert "steps-apart" not in {item.id for item in ordered.hypotheses}
    assert read_composition(write_composition(ordered.declared)) == ordered.declared


def test_a_composition_file_has_matrices_beside_other_events(tmp_path: Path) -> None:
    np.save(tmp_path / "C.npy", np.array(TWO))
    (said,) = [item.sentence for item in make_file(tmp_path, 'file = "C.npy"').hypotheses if item.id == "matrix-mechanism"]
    digest = hashlib.sha256((tmp_path / "C.npy").read_bytes()).hexdigest()
    assert said.endswith(f"C is the 2 x 2 matrix whose file has the SHA-256 {digest}")
    bound = make_file(tmp_path, f'file = "C.npy"\nsha256 = "{digest}"\nparticipations = 1')
    assert bound.composition.events == (make_event("gaussian", {"noise_multiplier": 2}), make_event("laplace", {"scale": 9}))
    by_text = make_file(tmp_path, 'coefficients = [1, 0.5, "1/4"]\nsteps = 9\nparticipations = 2')
    square = 1 + Fraction(1, 4) + Fraction(5, 4) ** 2 + Fraction(1, 4) + Fraction(1, 16)  # of the first and the third column together
    assert 0 < 100 / square - by_text.composition.events[0]["noise_multiplier"] ** 2 < Fraction(1, 10**15)
    sampled = make_file(tmp_path, 'coefficients = ["1", 0.75]\nsteps = 9\nsampling_probability = 0.1', noise="5")
    assert sampled.composition.events[0] == make_event("gaussian", {"noise_multiplier": 4}, sampling_probability="0.1", count=5)


def make_file(
    folder: Path, more: str, noise: str = "10", apart: str = "min_separation = 2", neighbors: str = 'neighbors = "zero-out"'
) -> DeclaredEvents:
    text = f'name = "x"\n{neighbors}\n[[event]]\nmechanism = "matrix"\nnoise_multiplier = {noise}\n{apart}\n{more}\n'
    (folder / "x.toml").write_text(f'{text}[[event]]\nmechanism = "laplace"\nscale = 9\n', encoding="utf-8")
    return curve_of_file(folder / "x.toml").declared


@pytest.mark.parametrize(
    ("more", "changes", "said"),
    [
        ('file = "C.npy"', {"apart": ""}, "needs min_separation"),
        ('file = "C.npy"', {"neighbors": ""}, "which data sets differ"),
        ('file = "C.npy"\ncoefficients = [1]', {}, "one of the two"),
        ("", {}, "one of the two"),
        ("coefficients = [1]", {}, "not for how many steps"),
        ("coefficients = 1\nsteps = 2", {}, "list of numbers"),
        ("coefficients = [[1]]\nsteps = 2", {}, "list of numbers"),
        ('coefficients = ["x"]\nsteps = 2', {}, "finite number"),
        ("file = 3", {}, "no folder"),
        ('file = "D.npy"', {}, "nothing is there; check the path (did you mean 'C.npy'?)"),
        ('file = "C.npy"\nsha256 = "00"', {}, "another one was expected"),
        ('file = "C.npy"\ncount = 2', {}, "unknown key 'count'"),
        ('file = "C.npy"\nparticipations = 0', {}, "participations must be an integer of at least 1"),
        ('file = "C.npy"\nsteps = 3', {}, "2 steps was found"),
        ('file = "C.npy"\nsampling_probability = 0.1\nparticipations = 1', {}, "leave it out"),
        ('file = "C.npy"', {"apart": "min_separation = 1.5"}, "min_separation must be an integer"),
        ('file = "C.npy"\nfixed_order = "yes"', {}, "true or false"),
        ('file = "C.npy"\nfixed_order = true\nparticipations = 1', {}, "as many as fit"),
        ('file = "C.npy"\nfixed_order = true\nsampling_probability = 0.1', {}, "leave it out"),
    ],
)
def test_a_wrong_matrix_in_a_file_is_told_in_one_sentence(more: str, changes: dict[str, str], said: str, tmp_path: Path) -> None:
    np.save(tmp_path / "C.npy", np.array(TWO))
    with pytest.raises(PDPError) as caught:
        make_file(tmp_path, more, **changes)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_text_without_a_folder_opens_no_file() -> None:
    text = 'name = "x"\nneighbors = "zero-out"\n[[event]]\nmechanism = "matrix"\nnoise_multiplier = 1\nmin_separation = 1\nfile = "C.npy"\n'
    with pytest.raises(UnreadableFile, match="no folder"):
        read_composition(text)


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    code = invoke(["account", *args])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_the_command_line_takes_a_matrix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "C.npy", np.array(TWO))
    np.save(tmp_path / "c.npy", np.array([1.0, 0.5]))
    given = ("--matrix", str(tmp_path / "C.npy"), "--min-separation", "2", "--gaussian", "10", "--delta", "1e-5")
    certificate, guarantee = tmp_path / "c.json", tmp_path / "g.json"
    code, text = run(capsys, *given, "--certificate", str(certificate), "--guarantee", str(guarantee))
    assert code == 0
    assert "s^2 = 25: that of a unit in step 1 (one column is the longest; computed from C, not by the kernel)" in " ".join(text.split())
    assert invoke(["check", str(certificate)]) == invoke(["check", str(guarantee)]) == 0
    capsys.readouterr()
    code, text = run(capsys, *given, "--json")
    bound = json.loads(text)
    plain = account(curve_of(make_event("gaussian", {"noise_multiplier": 2})), delta="1e-5").to_json()
    assert (bound["epsilon"], bound["matrix"]["sensitivity_squared"]) == (plain["epsilon"], {"lower": "25", "upper": "25"})
    assert (bound["matrix"]["steps"], bound["matrix"]["exact"], bound["matrix"]["worst_steps"]) == (2, True, [1])
    np.save(tmp_path / "D.npy", np.array([[1.0, 0, 0], [2, 1, 0], [2, 1, 1]]))
    ordered = ("--matrix", str(tmp_path / "D.npy"), "--min-separation", "2", "--gaussian", "10", "--delta", "1e-5", "--fixed-order")
    code, text = run(capsys, *ordered)
    assert code == 0
    assert "s^2 = 14: that of a unit in steps 1, 3 (the largest of all phases" in " ".join(text.split())  # rows 1, 2 and 2 + 1
    sampled = ("--matrix", str(tmp_path / "c.npy"), "--steps", "30", "--min-separation", "2", "--sampling", "0.1")
    code, text = run(capsys, *sampled, "--gaussian", "5", "--delta", "1e-5", "--neighbors", "zero-out")
    assert code == 0
    assert "s^2 = 1.25" in text
    assert "in one of 2 groups" in text


def test_a_bounded_sensitivity_tells_what_some_data_lose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    matrix = np.tril(rng.uniform(-1, 1, (200, 200)))
    np.save(tmp_path / "C.npy", matrix)
    given = ("--matrix", str(tmp_path / "C.npy"), "--min-separation", "20", "--gaussian", "40", "--delta", "1e-5")
    code, text = run(capsys, *given)
    assert code == 0
    assert " <= s^2 <= " in text
    assert "<= epsilon <=" not in text
    bound = json.loads(run(capsys, *given, "--json")[1])
    low, high = (Fraction(bound["matrix"]["sensitivity_squared"][end]) for end in ("lower", "upper"))
    assert low < high
    assert "lower" not in bound["epsilon"]
    realised = bound["matrix"]["realised"]["epsilon"]["lower"]
    assert f"which some data have, is at least {realised}; the worst is between the two" in " ".join(text.split())
    least = curve_of(make_event("gaussian", {"noise_multiplier": Fraction(40) / Fraction(sqrt(low))})).epsilon("1e-5")
    assert float(least.lower) == pytest.approx(float(realised), rel=1e-6)
    assert float(realised) < float(bound["epsilon"]["upper"])
    places = [step - 1 for step in bound["matrix"]["worst_steps"]]
    assert all(right - left >= 20 for left, right in itertools.pairwise(places))
    signs = np.array(np.meshgrid(*[[1, -1]] * len(places))).reshape(len(places), -1)
    assert float(low) <= ((matrix[:, places] @ signs) ** 2).sum(axis=0).max() * (1 + 1e-9) <= float(high) * (1 + 1e-8)


def test_the_lower_end_of_a_bound_is_told_as_such() -> None:
    rng = np.random.default_rng(3)
    when = Participation(10, 12)
    bounded = declare_matrix(np.tril(rng.uniform(-1, 1, (150, 150))), 40, when, neighbors="zero-out")
    assert {item.id for item in bounded.hypotheses} >= {"matrix-bounded", "steps-apart"}
    said = "the worst data may lose less"
    assert said in " ".join(account(bounded, delta="1e-5").render().split())
    assert said not in " ".join(account(bounded, delta="1e-5", side="upper").render().split())
    known = declare_matrix(make_matrix([1, "0.5"], 150), 40, when, neighbors="zero-out")
    assert "matrix-bounded" not in {item.id for item in known.hypotheses}
    assert said not in " ".join(account(known, delta="1e-5").render().split())
    assert read_composition(write_composition(curve_of(bounded).declared)) == curve_of(bounded).declared


@pytest.mark.parametrize("alpha", [0.7, 1.3])
def test_no_choice_by_earlier_turns_loses_more_than_sampled_steps(alpha: float) -> None:
    """Theorem 13 for three steps of two bands: the turns are rows 1 and 2, and row 3, by quadrature; u = 1 attains it."""
    rate, column, last = 0.3, (1.2, 0.9), 1.5
    axis = np.linspace(-6.0, 7.5, 136)
    step = axis[1] - axis[0]

    def density(x: np.ndarray) -> np.ndarray:
        return np.exp(-(x**2) / 2) / sqrt(2 * np.pi)

    one, two, three = np.meshgrid(axis, axis, axis, indexing="ij", sparse=True)
    none = density(one) * density(two)
    first = (1 - rate) * none + rate * density(one - column[0]) * density(two - column[1])
    flat = (1 - rate) * density(axis) + rate * density(axis - last)  # both turns have the shift 1.5
    pair, base = np.multiply.outer(flat, flat), np.multiply.outer(density(axis), density(axis))
    bounds = [np.maximum(pair - alpha * base, 0).sum() * step**2, np.maximum(base - alpha * pair, 0).sum() * step**2]
    for choose in (
        lambda x, y: np.ones_like(x + y),
        lambda x, y: np.sign(x + y),
        lambda x, y: np.where(x > 1, 1.0, -0.5),
        lambda x, y: np.sin(x * y),
    ):
        moved = last * choose(one, two)
        with_it = first * ((1 - rate) * density(three) + rate * density(three - moved))
        without = none * density(three)
        lost = [np.maximum(with_it - alpha * without, 0).sum() * step**3, np.maximum(without - alpha * with_it, 0).sum() * step**3]
        assert all(value <= bound + 5e-5 for value, bound in zip(lost, bounds, strict=True))
        if choose(0.0, 0.0) == 1 and choose(-9.0, 0.0) == 1:
            assert lost == pytest.approx(bounds, abs=5e-5)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--count", "3"), "--matrix and --count were given"),
        (("--batches", "shuffle"), "--matrix and --batches were given"),
        (("--calibrate", "count", "--epsilon", "1"), "--matrix and --calibrate count were given"),
        (("--plot-steps", "x.png"), "--matrix and --plot-steps were given"),
        (("--min-separation", "0"), "--min-separation must be an integer of at least 1"),
        (("--min-separation", "two"), "--min-separation must be"),
        (("--participations", "1.5"), "--participations must be"),
        (("--sampling", "0.1", "--participations", "1"), "leave it out"),
        (("--sampling", "0.1", "--neighbors", "replace-one"), "no bound is proved"),
        (("--sampling", "0.1", "--fixed-order"), "leave it out"),
        (("--participations", "1", "--fixed-order"), "leave it out"),
        (("--steps", "5"), "2 steps was found"),
        (("--epsilon", "1"), "but both was given"),
        (("--gaussian", "0"), "must lie in"),
    ],
)
def test_the_command_line_refuses_what_goes_with_no_matrix(
    args: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "C.npy", np.array(TWO))
    code, text = run(capsys, "--matrix", str(tmp_path / "C.npy"), "--min-separation", "2", "--gaussian", "10", "--delta", "1e-5", *args)
    assert code == 2
    assert said in " ".join(text.split())


def test_the_command_line_says_what_a_matrix_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "C.npy", np.array(TWO))
    for args, said in (
        (("--matrix", str(tmp_path / "C.npy"), "--gaussian", "1"), "--min-separation B is missing"),
        (("--matrix", str(tmp_path / "C.npy"), "--min-separation", "1"), "--gaussian S is missing"),
        (("--gaussian", "1", "--participations", "2"), "which 'random-allocation' batches have"),
        (("--gaussian", "1", "--fixed-order"), "give --matrix C.npy as well"),
        (("--matrix", str(tmp_path), "--min-separation", "1", "--gaussian", "1"), "a directory is there"),
    ):
        code, text = run(capsys, *args, "--delta", "1e-5")
        assert code == 2
        assert said in " ".join(text.split())


def test_a_matrix_is_declared_by_whatever_holds_it() -> None:
    assert curve_of(declare_matrix(TWO, 10, Participation(2), neighbors="zero-out")).composition.events[0]["noise_multiplier"] == 2
    with pytest.raises(InvalidArgument, match="rows of different lengths"):
        declare_matrix([[1], [1, 2]], 10, Participation(2), neighbors="zero-out")
