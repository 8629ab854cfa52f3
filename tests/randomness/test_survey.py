"""Whoever draws a random number somewhere new has to say which theorem covers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.randomness.drawing import find_places
from tests.randomness.survey import BEGIN, END, INNOCENT, PAGE, SURVEY, Kind, render

LISTED = [(line.file, name) for line in SURVEY for name in line.names]


@pytest.mark.thorough
def test_every_place_that_draws_has_one_line_and_every_line_its_place() -> None:
    found = set(find_places())
    assert sorted(found - set(LISTED) - set(INNOCENT)) == []
    assert sorted(set(LISTED) - found) == []
    assert sorted(set(INNOCENT) - found) == []
    assert len(set(LISTED)) == len(LISTED)


def test_the_page_has_the_survey() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == render()


@pytest.mark.thorough
def test_what_is_exact_draws_no_floats() -> None:
    """A function that is listed as exact takes a float from a generator only where its line says that it does so on request."""
    places = find_places()
    floats = {
        "beta", "binomial", "chisquare", "dirichlet", "exponential", "gamma", "gumbel", "laplace", "logistic", "lognormal", "normal",
        "random", "standard_exponential", "standard_gamma", "standard_normal", "weibull",
    }  # fmt: skip
    for line in SURVEY:
        drawn = {name for name in line.names if floats.intersection(places[line.file, name].uses)}
        if line.kind is Kind.EXACT:
            assert not drawn or "in binary64 on request" in line.decides, (line.file, drawn)


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("def f(rng):\n    return rng.normal(size=3)", {"normal"}),
        ("def f(generator):\n    g = generator.laplace\n    return g()", {"laplace"}),
        ("import os\ndef f():\n    read = os.urandom\n    return read(8)", {"urandom"}),
        ("from os import urandom\ndef f():\n    return urandom(8)", {"urandom"}),
        ("import secrets\ndef f():\n    return secrets.SystemRandom().gauss()", {"SystemRandom"}),
        ("from secrets import randbits\ndef f():\n    return 1", {"secrets"}),
        ("import random\nx = random.random()", {"random"}),
        ("def f(source):\n    take = source.words\n    return take(9)", {"words"}),
        ("class A:\n    def f(self):\n        return [self.bits.digit() for _ in range(3)]", {"digit"}),
        ("def f(x, s):\n    return norm.rvs(size=3, random_state=s)", {"rvs", "random_state"}),
        ("def f():\n    return np.random.Generator(np.random.PCG64(1)).random()", {"Generator", "PCG64", "random"}),
        ("def f():\n    return np.random.laplace()", {"laplace"}),
        ("def f(rng: np.random.Generator) -> bool:\n    return isinstance(rng, np.random.Generator)", set()),
        ("def f(x):\n    return scipy_fit(x, random_state=None) + np.power(x, 2)", set()),
    ],
)
def test_the_finder_sees(text: str, uses: set[str], tmp_path: Path) -> None:
    for package in ("profiles", "proofs_check", "accountant"):
        (tmp_path / package).mkdir()
    (tmp_path / "profiles" / "new.py").write_text(text, encoding="utf-8")
    found = {use for place in find_places(tmp_path).values() for use in place.uses}
    assert uses <= found if uses else not found


def test_callers_of_functions_that_draw_are_places(tmp_path: Path) -> None:
    for package in ("profiles", "proofs_check", "accountant"):
        (tmp_path / package).mkdir()
    (tmp_path / "profiles" / "new.py").write_text("def draw_it(rng):\n    return rng.random()\n\ndef draw_line(x):\n    return x\n")
    (tmp_path / "accountant" / "new.py").write_text("def run(rng):\n    return draw_it(rng)\n\ndef show(x):\n    return draw_line(x)\n")
    assert list(find_places(tmp_path)) == [("accountant/new.py", "run"), ("profiles/new.py", "draw_it")]
