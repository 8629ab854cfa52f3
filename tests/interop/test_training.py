"""Settings of Opacus become curves with the hypotheses that they rest on; Opacus itself is not needed."""

from __future__ import annotations

from collections import OrderedDict
from fractions import Fraction
from types import SimpleNamespace

import pytest

from accountant.interop.training import curve_of_opacus
from profiles import InvalidArgument, InvalidNumber

HISTORY = [(1.5, 0.25, 10), (1.5, 0.25, 5), (2.0, 0.25, 1)]


@pytest.mark.parametrize(
    "source", [HISTORY, SimpleNamespace(history=HISTORY), OrderedDict(history=HISTORY, mechanism="prv"), map(list, HISTORY)]
)
def test_history_accountant_and_state_are_read(source):
    curve = curve_of_opacus(source, hypotheses=["the loss is a sum over records"])
    assert [(event["noise_multiplier"], event.sampling_probability, event.count) for event in curve.composition.events] == [
        (Fraction(3, 2), Fraction(1, 4), 15), (Fraction(2), Fraction(1, 4), 1),
    ]  # fmt: skip
    ids = {item.id for item in curve.hypotheses}
    assert {"independent-draws", "fresh-samples", "sensitivity-one", "exact-reals", "stated"} <= ids
    assert "hypotheses-unknown" not in ids


def test_what_the_numbers_rest_on_besides_is_unknown_unless_it_is_stated():
    assert "hypotheses-unknown" in {item.id for item in curve_of_opacus(HISTORY).hypotheses}


def test_a_float_is_its_binary_value_and_a_text_the_decimal():
    floats, texts = (curve_of_opacus([(1, rate, 1)]).composition.events[0].sampling_probability for rate in (0.1, "0.1"))
    assert (floats, texts) == (Fraction(0.1), Fraction(1, 10))


@pytest.mark.parametrize(
    "bad", [[], [(1, 2)], ["abc"], "abc", 3, None, [(0, 0.1, 1)], [(1, 1.5, 1)], [(1, 0.1, 1.5)], {"mechanism": "prv"}]
)
def test_what_is_no_history_is_refused(bad):
    with pytest.raises((InvalidArgument, InvalidNumber)):
        curve_of_opacus(bad)
