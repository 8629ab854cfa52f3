"""A report with an audit: the same seed gives the same bytes, and a mechanism that breaks its promise is told."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import numpy as np
import pytest

from profiles.mechanisms import LaplaceSum


class _Leaky:
    """A noisy sum with a fifth of the noise that its profile needs."""

    dimension, radius = 1, 2

    def __init__(self) -> None:
        self._promised, self._kept = LaplaceSum(b=2, radius=2), LaplaceSum(b="0.4", radius=2)
        self.profile, self.statistic, self.hypotheses = self._promised.profile, self._promised.statistic, ("it is honest <b>",)

    def __call__(self, dataset, rng: np.random.Generator, size: int):
        return self._kept.sample(dataset, rng, size)


@pytest.fixture
def leaky(monkeypatch):
    module = ModuleType("leaky_mechanism")
    module.default = _Leaky()
    monkeypatch.setitem(sys.modules, "leaky_mechanism", module)
    return "leaky_mechanism:default"


@pytest.mark.thorough
def test_a_violated_promise_is_told(report, leaky):
    page = report(leaky, "-e", 2, "--audit-samples", 500, "--seed", 5, code=1)
    assert "violated" in page.text
    assert "The claim is refuted for this pair." in page.text
    assert "it is honest <b>" in page.text
    assert "5, for the audit alone" in page.text
    assert "--audit-samples 500 --seed 5" in page.text
    assert "D has one record more: x = (2), w = 1" in page.text
    assert report(leaky, "-e", 2, "--audit-samples", 500, "--seed", 5, code=1).html == page.html


@pytest.mark.thorough
def test_a_pair_can_be_given(report):
    options = ("--audit-samples", 200, "--seed", 1, "--dataset", "[3, 1]", "--neighbor", "[1]")
    page = report("profiles.mechanisms.laplace_sum:default", "-e", 8, *options)
    assert "D has one record more" in page.text
    assert "x = 3" not in page.text
    assert "That does not mean that the claim is true" in page.text


def test_half_a_pair_is_refused(pdp, tmp_path):
    options = ("--audit-samples", 200, "--dataset", "[3, 1]", "--out", tmp_path / "r.html")
    assert pdp("report", "profiles.mechanisms.laplace_sum:default", "-e", 8, *options).refused()
    assert pdp("report", "profiles.mechanisms.laplace_sum:general", "-e", 8, "--audit-samples", 200, "--out", tmp_path / "r.html").refused()
    assert not (tmp_path / "r.html").exists()


@pytest.mark.thorough
def test_the_report_tells_how_bad_it_is_and_its_counts_add_up(report, leaky):
    page = report(leaky, "-e", 2, "--audit-samples", 500, "--seed", 5, code=1)
    assert re.search(r"refuted after \d+ outputs; ε\(D, D′\) is at least [\d.]+ nats with 99% confidence", page.text)
    told = re.search(r"(\d+) on both data sets together \((\d+) learned from, (\d+) used to choose events, (\d+) counted\)", page.text)
    drawn, *parts = map(int, told.groups())
    assert drawn == sum(parts) == 1_000
    assert "add-remove, checked" in page.text


def test_a_pair_that_is_none_makes_no_report(pdp, tmp_path):
    options = ("--audit-samples", 200, "--dataset", "[3, 1]", "--neighbor", "[1, 3]", "--out", tmp_path / "r.html")
    found = pdp("report", "profiles.mechanisms.laplace_sum:default", "-e", 8, *options, "--json")
    assert (found.code, found.json()["verdict"]) == (3, "not neighbors")
    assert not (tmp_path / "r.html").exists()
