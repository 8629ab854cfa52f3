"""A forger who makes the profile and the proof anew, so that everything fits but what was done: ``pdp check`` rejects it all the same."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from accountant import check
from accountant.applications.budget.rows import ArrayRows
from accountant.applications.budget.spending import Payment, PureNoise, Purpose
from accountant.applications.kmeans.certificate import to_certificate
from accountant.applications.kmeans.composed_guarantee import describe_path
from accountant.applications.kmeans.fitting import FitDraws, FitPlan, FitSettings, fit_rows
from accountant.applications.kmeans.method import find_centres
from accountant.guarantees.derive import derive_epsilon
from profiles.randomness.bits import open_bits
from profiles.strict_json import write_exact
from proofs_check.certificates import profile_json

Forge = Callable[[Any], None]


def make_certificate(**chosen: Any) -> dict[str, Any]:
    points = np.random.default_rng(0).normal(size=(4000, 2)) / 4
    settings, bits = FitSettings.of(3, 1, **{"radius": 4, **chosen}), open_bits(None)
    fit = fit_rows(ArrayRows(points), FitPlan(settings, find_centres, FitDraws(bits, bits.hypothesis, np.random.default_rng())))
    return json.loads(json.dumps(to_certificate(fit, settings, columns=["a", "b"], method="auto")))  # type: ignore[no-any-return]


def prove_again(found: Any) -> None:
    """Make profile and proof for the releases that are stated now."""
    law = PureNoise(Fraction(found["arguments"]["epsilon"]))
    charges = [Payment(Purpose(item["what"]), Fraction(item["cost"]), Fraction(item["reach"])) for item in found["releases"]]
    profile = describe_path(charges, law, found["profile"]["name"], sampled="sample" in found)
    found["profile"] = profile_json(profile)
    derived = derive_epsilon(profile, rule="uniform", constants={"rate": 1})
    found["proof"] = json.loads(json.dumps(derived.bound.evidence.certificate))


def leave_out(*names: str) -> Forge:
    return lambda found: found.update(releases=[item for item in found["releases"] if item["what"] not in names])


def shorten(name: str) -> Forge:
    """A record is said to add less, so that the noise is too small for the ball."""

    def change(found: Any) -> None:
        for item in found["releases"]:
            if item["what"] == name:
                item.update({key: write_exact(Fraction(item[key]) / 1000) for key in ("reach", "scale")})

    return change


def put(*path: str, to: object) -> Forge:
    def change(found: Any) -> None:
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = to

    return change


RELEASES: Mapping[str, Forge] = {
    "a number of records that nobody paid for": leave_out("number of records"),
    "a mean that nobody paid for": leave_out("sum of the records"),
    "a spread that nobody paid for": leave_out("sum of their squared norms"),
    "centres that nobody paid for": leave_out("counts of cells", "sums of cells"),
    "a mean with the noise of a smaller ball": shorten("sum of the records"),
    "a spread with the noise of a smaller ball": shorten("sum of their squared norms"),
    "centres with the noise of a smaller clip": shorten("sums of cells"),
    "a larger clip": put("released", "choices", "clipped to", to="4.0"),
    "a larger ball": put("arguments", "radius", to="400"),
    "no ball": put("arguments", "radius", to=None),
    "a ball in words": put("arguments", "radius", to="small"),
    "another name": put("profile", "name", to="an exact count"),
    "another unit": put("unit", to="one user, with all records of that id"),
    "other clusters": put("arguments", "clusters", to=5),
    "clusters as a text": put("arguments", "clusters", to="3"),
    "a center": put("arguments", "center", to=["7", "7"]),
    "a column less": put("arguments", "columns", to=["a"]),
    "a column twice": put("arguments", "columns", to=["a", "a"]),
    "columns that are no list": put("arguments", "columns", to="ab"),
    "a method that is none": put("arguments", "method", to="by hand"),
    "no released numbers": put("released", to=None),
    "a number of records in words": put("released", "records", to="many"),
    "a spread that is none": put("released", "rms", to="nan"),
    "a mean of one number": put("released", "mean", to=["0.0"]),
    "a centre less": lambda found: found["released"]["centres"].pop(),
    "a centre that is none": put("released", "centres", to=[["inf", "0.0"]] * 3),
    "a count less": lambda found: found["released"]["counts"].pop(),
    "choices that are no texts": put("released", "choices", to={"cells": 3}),
}


@pytest.mark.thorough
def test_what_is_proved_anew_is_rejected_where_it_is_about_another_run() -> None:
    made = make_certificate()
    again = copy.deepcopy(made)
    prove_again(again)
    assert again == made
    assert check(made).accepted
    for name, forge in RELEASES.items():
        forged = copy.deepcopy(made)
        forge(forged)
        assert forged != made, name
        prove_again(forged)
        assert not check(forged).accepted, name


@pytest.mark.thorough
@pytest.mark.parametrize("sample", [{}, {"sample": "coreset", "sample_size": 100}])
def test_what_is_taken_to_be_public_is_told_in_full(sample: Mapping[str, Any]) -> None:
    made = make_certificate(public=("n", "rms"), **sample)
    assert check(made).accepted
    told = next(item for item in made["premises"] if item["id"] == "public-constants")
    for forge in (
        put("arguments", "public", to=["n"]),
        put("arguments", "public", to=["n", "n", "rms"]),
        put("arguments", "public", to=["mean", "n", "rms"]),
        put("arguments", "public", to="n"),
        lambda found: _say(found, told["sentence"].replace("the number of records, ", "")),
    ):
        forged = copy.deepcopy(made)
        forge(forged)
        assert forged != made
        assert not check(forged).accepted


def _say(found: Any, sentence: str) -> None:
    for place, item in enumerate(found["premises"]):
        if item["id"] == "public-constants":
            item["sentence"] = found["hypotheses"][place] = sentence


@pytest.mark.thorough
def test_honest_certificates_are_accepted() -> None:
    for chosen in (
        {"radius": None, "public": ("radius",)},
        {"public": ("n", "mean", "rms")},
        {"center": [0.5, 0.5]},
        {"delta": "1e-6", "public": ("mean",)},
        {"sample": "uniform", "sample_size": 10, "public": ("n",)},
    ):
        report = check(make_certificate(**chosen))
        assert report.accepted, (chosen, report)


def test_one_mean_for_all_needs_no_cells() -> None:
    points = np.random.default_rng(0).normal(size=(30, 20)) / 9
    settings, bits = FitSettings.of(3, "0.1", radius=4), open_bits(None)
    fit = fit_rows(ArrayRows(points), FitPlan(settings, find_centres, FitDraws(bits, bits.hypothesis, np.random.default_rng())))
    assert not [item for item in fit.charges if item.part in {Purpose.CELL_COUNTS, Purpose.CELL_SUMS}]
    made = json.loads(json.dumps(to_certificate(fit, settings, columns=[f"c{place}" for place in range(20)], method="auto")))
    assert check(made).accepted
    made["released"]["centres"][0][0] = "0.125"
    assert not check(made).accepted
