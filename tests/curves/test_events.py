"""Reading of compositions: numbers as they are written, and one sentence for whatever is no composition."""

from __future__ import annotations

from fractions import Fraction

import pytest

from accountant.curves import account, curve_of_file
from accountant.curves.events import MOST_EVENTS, Composition, Event, MechanismKind, make_event
from accountant.curves.reading import read_composition, read_composition_file
from accountant.guarantees import Unit
from profiles import InvalidArgument, InvalidNumber, PDPError, UnreadableFile

HEAD = 'name = "n"\n[[event]]\n'


def test_decimals_and_fractions_are_the_numbers_that_are_written():
    text = HEAD + 'mechanism = "gaussian"\nnoise_multiplier = 1.1\nsampling_probability = "256/60000"\ncount = 14_000\n'
    (event,) = read_composition(text).events
    assert event == Event(MechanismKind.GAUSSIAN, (("noise_multiplier", Fraction(11, 10)),), Fraction(256, 60000), 14000)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("gaussian", {"noise_multiplier": "2"}),
        ("laplace", {"scale": "1/3"}),
        ("discrete-gaussian", {"noise_multiplier": "0.5"}),
        ("discrete-laplace", {"scale": "7"}),
        ("randomized-response", {"epsilon": "1"}),
        ("pure", {"epsilon": "0"}),
        ("approximate", {"epsilon": "1", "delta": "1e-6"}),
        ("zcdp", {"rho": "0.125"}),
    ],
)
def test_every_mechanism_of_the_issue_is_read(kind, numbers):
    text = HEAD + f'mechanism = "{kind}"\n' + "".join(f'{name} = "{value}"\n' for name, value in numbers.items())
    (event,) = read_composition(text).events
    assert (event.mechanism.value, event.count, event.sampling_probability) == (kind, 1, 1)
    assert {name: Fraction(value) for name, value in numbers.items()} == dict(event.parameters)


@pytest.mark.parametrize(
    ("lines", "error", "said"),
    [
        ("mechanism = 'gaussian'\nnoise_multiplier = 0", InvalidArgument, "above 0"),
        ("mechanism = 'gaussian'\nnoise_multiplier = -1", InvalidArgument, "above 0"),
        ("mechanism = 'gaussian'\nnoise_multiplier = nan", InvalidNumber, "finite"),
        ("mechanism = 'gaussian'\nnoise_multiplier = inf", InvalidNumber, "finite"),
        ("mechanism = 'gaussian'\nnoise_multiplier = true", InvalidNumber, "boolean"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1979-05-27", InvalidNumber, "number"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1e400", InvalidArgument, "1e12"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1e99999", InvalidNumber, "shorter"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1." + "1" * 200, InvalidArgument, "digits"),
        ("mechanism = 'gaussian'", InvalidArgument, "needs noise_multiplier"),
        ("mechanism = 'gaussian'\nnoise_multiplyer = 1", UnreadableFile, "did you mean 'noise_multiplier'?"),
        ("mechanism = 'gaussian'\nscale = 1", UnreadableFile, "unknown key 'scale'"),
        ("mechanism = 'gausian'\nnoise_multiplier = 1", InvalidArgument, "did you mean 'gaussian'?"),
        ("mechanism = 3\nnoise_multiplier = 1", InvalidArgument, "type int"),
        ("noise_multiplier = 1", UnreadableFile, "needs mechanism"),
        ("mechanism = 'two-sided'", UnreadableFile, "guarantees only"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\nsampling_probability = 0", InvalidArgument, "(0, 1]"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\nsampling_probability = 1.0000001", InvalidArgument, "(0, 1]"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\nsampling_probability = '1/0'", InvalidNumber, "p/q"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = 0", InvalidArgument, "integer"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = 1.5", InvalidArgument, "integer"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = -3", InvalidArgument, "integer"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = 10000000000", InvalidArgument, "integer"),
        ("mechanism = 'approximate'\nepsilon = 1\ndelta = 1", InvalidArgument, "[0, 1)"),
        ("mechanism = 'approximate'\nepsilon = 1\ndelta = -0.1", InvalidArgument, "[0, 1)"),
        ("mechanism = 'pure'\nepsilon = -1", InvalidArgument, "0 to 10000"),
        ("mechanism = 'zcdp'\nrho = 1\nsampling_probability = 0.5", InvalidArgument, "rho alone"),
    ],
)
def test_what_is_no_event_is_refused_in_one_sentence(lines, error, said):
    with pytest.raises(error) as found:
        read_composition(HEAD + lines + "\n", "here.toml")
    assert said in str(found.value)
    assert "event 1 of here.toml" in str(found.value) or isinstance(found.value, UnreadableFile)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name"),
        ('name = "n"\n', "[[event]]"),
        ('name = "n"\nevent = []\n', "[[event]]"),
        ('name = "n"\n[event]\nmechanism = "gaussian"\n', "[[event]]"),
        ('name = "n"\nevents = 3\n', "did you mean 'event'?"),
        ("name = 3\n", "as text"),
        ('name = "n"\nunit = "event"\n[[event]]\nmechanism = "pure"\nepsilon = 1\n', "for whom"),
        ('name = "n"\nunit = "user"\n[[event]]\nmechanism = "pure"\nepsilon = 1\n', "curve_of_file"),
        ("name = ", "TOML"),
        ("x" * 200_000, "shorten"),
    ],
)
def test_what_is_no_composition_is_refused(text, said):
    with pytest.raises(UnreadableFile) as found:
        read_composition(text)
    assert said in str(found.value)


def test_a_file_says_whom_it_protects(tmp_path):
    path = tmp_path / "c.toml"
    text = 'name = "n"\nunit = "user"\n[[event]]\nmechanism = "zcdp"\nrho = 1\n'
    path.write_text(text)
    found = account(curve_of_file(path), delta="1e-6")
    assert found.guarantee.unit is Unit.USER
    assert found.to_json()["unit"] == "user"
    shown = found.render()
    assert "add/remove of one user" in shown
    assert "remove (a user goes)" in shown
    assert "of one record" not in shown
    for event in ('mechanism = "gaussian"\nnoise_multiplier = 2', 'mechanism = "pure"\nepsilon = 1\nsampling_probability = "1/2"'):
        path.write_text(f"{text}[[event]]\n{event}\n")
        with pytest.raises(InvalidArgument, match="about single records"):
            curve_of_file(path)
    path.write_text(text.replace("user", "record"))
    assert curve_of_file(path).guarantee.unit is Unit.RECORD


def test_too_many_different_events_and_too_many_uses_are_refused():
    def event(sigma: int, count: int = 1) -> Event:
        return make_event("gaussian", {"noise_multiplier": sigma}, count=count)

    assert len(Composition("n", tuple(event(k) for k in range(1, MOST_EVENTS + 1))).events) == MOST_EVENTS
    with pytest.raises(InvalidArgument, match="different events"):
        Composition("n", tuple(event(k) for k in range(1, MOST_EVENTS + 2)))
    with pytest.raises(InvalidArgument, match="uses"):
        Composition("n", (event(1, 10**9), event(2)))
    with pytest.raises(InvalidArgument, match="uses"):
        Composition("n", (event(1, 10**9), event(1)))
    with pytest.raises(InvalidArgument, match="no event"):
        Composition("n", ())


def test_events_made_by_hand_keep_the_same_limits():
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, (("noise_multiplier", Fraction(0)),))
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, (("noise_multiplier", 1.0),))  # type: ignore[arg-type]
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, ())
    with pytest.raises(PDPError):
        Event(MechanismKind.APPROXIMATE, (("delta", Fraction(0)), ("epsilon", Fraction(1))))
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, (("noise_multiplier", Fraction(1)),), count=True)
    unbounded = Event(MechanismKind.TWO_SIDED, (("epsilon_remove", Fraction(1)), ("delta_remove", Fraction(0)), ("delta_add", Fraction(0))))
    with pytest.raises(InvalidArgument, match="epsilon_remove"):
        unbounded["epsilon_add"]


def test_a_missing_file_names_what_is_near(tmp_path):
    (tmp_path / "steps.toml").write_text(HEAD + 'mechanism = "pure"\nepsilon = 1\n')
    assert read_composition_file(tmp_path / "steps.toml").name == "n"
    with pytest.raises(UnreadableFile, match=r"steps\.toml"):
        read_composition_file(tmp_path / "step.toml")
