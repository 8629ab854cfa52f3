"""The first screen of a command: the number, whom it protects, whether the kernel checked it, and what it rests on, on 80 x 30."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from accountant.guarantees import render_hypotheses
from profiles.hypotheses import (
    DECLARED_PROFILE,
    EXACT_REALS,
    INDEPENDENT,
    ONLY_OUTPUT,
    PHYSICS,
    RANDOMNESS,
    REGISTRY,
    SEEDED_BITS,
    Head,
    as_hypothesis,
    fill_in,
    restore,
)

ROOT = Path(__file__).parents[2]
LLOYD = ("examples/lloyd.toml", "-e", "1.1", "--data", "examples/points.csv", "-s", "z=l2")
KMEANS = ("kmeans", "examples/petals.csv", "--columns", "length,width", "-k", "8", "-e", "1", "--out", "c.csv")
COMMANDS = {
    "account": ("account", "examples/release.toml", "--delta", "1e-6", "--certificate", "a.json"),
    "account of a sample": ("account", "--gaussian", "2", "--sampling", "0.01", "--count", "100", "--delta", "1e-6"),
    "epsilon": ("epsilon", "examples/lloyd.toml", "--certificate", "e.json", "--guarantee", "g.json"),
    "epsilon of a rule": ("epsilon", "examples/lloyd.toml", "--rule", "privacy-constrained", "--target-epsilon", "20"),
    "weights": ("weights", *LLOYD, "--out", "w.parquet"),
    "kmeans": (*KMEANS, "--radius", "8", "--certificate", "k.json"),
    "release": (
        *("release", "examples/people.csv", "-e", "1", "--count", "--sum", "income", "--mean", "income", "--clip", "income=0:100"),
        *("--histogram", "id=ada,ben,cleo", "--out", "r.json", "--certificate", "r.certificate.json", "--guarantee", "r.guarantee.json"),
    ),
    "sample": ("sample", *LLOYD, "--out", "s.csv", "--force"),
}
FILES = ("a.json", "e.json", "g.json", "k.json", "r.certificate.json", "r.guarantee.json", "s.csv.certificate.json")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def fits(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= 30 and max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_screen_has_room_on_a_terminal(pdp, folder, name):
    words = COMMANDS[name]
    result = pdp(*words)
    if name == "sample":  # with a certificate in a file of its own it says more: two lines
        assert len(result.out.splitlines()) <= 32
    else:
        assert fits(result.out), result.out
    first = " ".join(" ".join(result.out.splitlines()[:10]).split())
    for said in ("<= ", "one record", "checked by kernel"):
        assert said in first
    assert "derivation:" not in result.out
    assert "--all" in result.out
    if name != "weights":
        assert "derivation:" in pdp(*words, "--explain").out
        assert "derivation:" in pdp(*words, "--all").out


def test_what_is_folded_stands_in_json_and_with_all(pdp, folder):
    for words in COMMANDS.values():
        premises = pdp(*words, "--json").json()["premises"]
        whole = " ".join(pdp(*words, "--all").out.split())
        assert len(premises) > 4
        for item in premises:
            assert item["sentence"] in whole


def test_what_is_checked_fits_as_well(pdp, folder):
    for words in COMMANDS.values():
        assert pdp(*words).code == 0
    for file in FILES:
        result = pdp("check", file)
        assert result.code == 0
        assert result.out.startswith(f"accepted: {file}")
        assert fits(result.out), result.out
        whole = " ".join(pdp("check", file, "--all").out.split())
        stated = json.loads(pdp("check", file, "--json").out)["about"].get("hypotheses")
        for sentence in stated:
            assert sentence in whole


def test_ordinary_are_those_about_sampler_machine_and_random_bits_and_no_others():
    found = {item.id for item in REGISTRY.values() if item.ordinary}
    machine = {"ieee-rounding", "balls-enclose", "ieee-arithmetic", "computed-statistics", "randomness", "durable-ledger", "secure-bits"}
    assert found == {INDEPENDENT.id, *machine}
    assert all(item.ordinary for item in PHYSICS if item != ONLY_OUTPUT)
    assert not EXACT_REALS.ordinary  # false for most of what computes in floating point
    assert not SEEDED_BITS.ordinary


@pytest.mark.parametrize("item", REGISTRY.values(), ids=lambda item: item.id)
def test_no_assumption_that_is_not_ordinary_is_folded(item):
    stated = fill_in(item, "a mechanism")
    text = " ".join(" ".join(render_hypotheses([stated], everything=False)).split())
    if item.ordinary:
        assert "1 standard one" in text
    else:
        assert stated.line in text
        assert "ordinary" not in text
    assert item.sentence in " ".join(" ".join(render_hypotheses([item])).split())
    assert len(item.brief) <= 62
    assert "{" not in stated.line


def test_what_was_read_says_all_that_it_said():
    """A sentence that fits into a gap of ours, and says more there, is shown with it."""
    made = DECLARED_PROFILE.about(name="a sum", source=" (its source: a paper; not checked here)")
    read = restore(made.id, made.sentence, made.head.value)
    assert read == made
    assert read.brief == made.brief == "the mechanism 'a sum' has its declared profile"
    more = restore(made.id, made.sentence + " if the moon is full", made.head.value)
    assert "moon" in more.line
    other = restore(made.id, made.sentence.replace("sum'", "sum' has no bug, and the mechanism 'b'"), made.head.value)
    assert "has no bug" in other.line
    units = as_hypothesis("each row; the seed is 1; is selected by a coin of its own, with all of its records or none, independently and "
                          "with probability exactly q")  # fmt: skip
    assert not units.ordinary
    own = as_hypothesis(RANDOMNESS.sentence + ".", Head.MACHINE)
    assert own.id == "stated"
    assert "and nobody else knows" in " ".join(" ".join(render_hypotheses([own], everything=False)).split())
