"""Ranges whose ends are expressions in parameters: numbers where the parameters have them, shares of [0, 1] elsewhere."""

from fractions import Fraction

import pytest
import sympy

from accountant import derive_epsilon, optimal_weight
from profiles import InvalidNumber, InvalidProfile, Undecided, compose_adaptively, declare
from profiles.hypotheses import name_range, name_statistics
from profiles.stored import read_profile, write_profile
from proofs_check.admission import admit
from proofs_check.verify import verify


def of(record, epsilon="w*z/b", **parameters):
    return declare("p", epsilon, record=record, parameters={"b": 3, **parameters})


def test_numbers_of_the_parameters_are_put_in():
    profile = of({"z": [0, "2*R"]}, R=2)
    assert (profile.record[0].lo, profile.record[0].hi) == (0, 4)
    assert profile.epsilon == of({"z": [0, 4]}).epsilon
    assert profile.with_parameters(R=5).record[0].hi == 10
    assert profile.with_record(z=(0, 1)).with_parameters(R=5).record[0].hi == 1


def test_without_a_number_the_statistic_is_a_share_of_its_range():
    profile = of({"z": ["a", "R"]}, a=[1, 2], R="positive")
    assert [(s.name, s.lo, s.hi) for s in profile.record] == [("z_share", 0, 1)]
    assert profile.text == "w*(a + (R - a)*z_share)/b"
    assert profile.with_parameters(a=1, R=4).record[0] == of({"z": [1, 4]}).record[0]
    assert profile.with_parameters(a=1, R=4).epsilon == of({"z": [1, 4]}).epsilon
    assert profile.declared_record({"z_share": Fraction(1, 2), "a": Fraction(1), "R": Fraction(4)}) == {"z": Fraction(5, 2)}


def test_people_read_the_declared_statistic():
    profile = of({"z": [0, "R"]}, R="positive")
    assert name_range(profile).sentence.endswith("z in [0, R]")
    assert "z_share" not in name_statistics(profile).sentence


@pytest.mark.parametrize(
    "range_", [[0, "S"], [0, "w"], [0, "z"], ["R", "R", "R"], [0, "R +"], [0, "oops(R)"], [0, "1/0"], [0, "sqrt(2)"], ["nan", "R"]]
)
def test_other_ends_are_refused_in_one_sentence(range_):
    with pytest.raises((InvalidProfile, InvalidNumber)) as caught:
        of({"z": range_}, R=2)
    assert "\n" not in str(caught.value)


def test_an_end_must_be_rational_once_its_parameters_are_numbers():
    with pytest.raises(InvalidProfile, match="rational"):
        of({"z": [0, "sqrt(R)"]}, R=2)


@pytest.mark.parametrize(
    ("range_", "parameters"),
    [(["R", 1], {"R": 2}), (["R", 1], {"R": "positive"}), ([0, "1 - R"], {"R": "positive"}), (["R", "S"], {"R": [1, 2], "S": ["1.9", 3]})],
)
def test_backward_ends_are_refused_for_any_value_of_the_parameters(range_, parameters):
    with pytest.raises((InvalidProfile, Undecided)) as caught:
        admit(of({"z": range_}, **parameters))
    assert "range of z" in str(caught.value)


def test_verdicts_are_for_all_values_of_the_parameters():
    profile = declare("p", "w*z/R", record={"z": [0, "R"]}, parameters={"R": "positive"})
    assert verify(profile, 1, ["assumption-8"]).proved("assumption-8")
    refuted = verify(profile, "0.9", ["assumption-8"])
    assert refuted.decisions["assumption-8"].verdict.value == "refuted"
    shown = refuted.to_json()["conditions"]["assumption-8"]
    assert set(shown["declared_statistics"]) == {"z"}


def test_bounds_and_weights_with_numbers_are_those_of_the_numeric_range():
    numeric, written = of({"z": [0, 2]}), of({"z": [0, "R"]}, R=2)
    assert derive_epsilon(written, q="1/2").bound.upper == derive_epsilon(numeric, q="1/2").bound.upper
    assert optimal_weight(written, 2, {"z": 1}).lower == optimal_weight(numeric, 2, {"z": 1}).lower


def test_weights_without_numbers_are_refused_for_the_parameter():
    with pytest.raises(InvalidProfile, match="R has none"):
        optimal_weight(of({"z": [0, "R"]}, R="positive"), 2, {"z": 1})


def test_a_bounded_parameter_gives_a_bound():
    free, worst = of({"z": [0, "R"]}, R=[1, 2]), of({"z": [0, 2]})
    assert derive_epsilon(free, q="1/2").bound.upper == derive_epsilon(worst, q="1/2").bound.upper


def test_a_composition_keeps_the_ranges():
    parts = [of({"z": [0, "R"]}, R="positive"), declare("q", "w*z", record={"z": [0, "R"]}, parameters={"R": "positive"})]
    both = compose_adaptively("both", parts)
    assert [s.name for s in both.record] == ["z_share"]
    assert both.with_parameters(R=2).epsilon == compose_adaptively("both", [part.with_parameters(R=2) for part in parts]).epsilon
    with pytest.raises(InvalidProfile, match="different ranges"):
        compose_adaptively("both", [parts[0], declare("q", "w*z", record={"z": [0, 1]})])


@pytest.mark.parametrize("radius", [2, "positive", [1, 2]])
def test_files_keep_how_it_was_written(radius):
    profile = of({"z": [0, "2*R"]}, R=radius)
    again = read_profile(write_profile(profile))
    assert again == profile
    assert again.with_parameters(R=7) == profile.with_parameters(R=7)


def test_sympy_ends():
    radius = sympy.Symbol("R", positive=True)
    assert of({"z": [0, 2 * radius]}, R=2) == of({"z": [0, "2*R"]}, R=2)


def test_an_end_that_divides_by_what_changes_its_sign_is_refused_by_what_it_divides_by():
    profile = declare("p", "w*z", record={"z": [0, "2 + 1/(R*R - 2) - 1/(R*R - 2)"]}, parameters={"R": "positive"})
    with pytest.raises(InvalidProfile, match=r"must not be below its lower one, but it divides by R\*R - 2, which changes its sign"):
        admit(profile)


def test_ends_that_cross_at_no_simple_parameter_are_refused_by_what_is_said_of_the_range():
    with pytest.raises(InvalidProfile, match=r"the range of z is \[0, .*\], whose upper end .* is at R = 1.618; correct it"):
        admit(declare("sum", "w*z + 1", record={"z": ["0", "(R - 1.618)**2 - 1/1000000"]}, parameters={"R": [1, 3]}))
