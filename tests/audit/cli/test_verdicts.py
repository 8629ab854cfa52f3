"""The command end to end: verdicts, exit codes, the stable JSON, repeatability, and the report for people."""

from __future__ import annotations

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from accountant.cli.main import invoke

OWN = str(Path(__file__).parent / "mechanisms_to_audit.py") + ":"
LAPLACE = "profiles.mechanisms.laplace_sum:default"
STABLE = {"epsilon_lower", "claimed", "confidence", "verdict", "samples"}
NOT_NEIGHBORS = 3
LINEAR = "\n[record]\nz = [0, 4]\n[parameters]\nb = 1\n"


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "profile.toml"
    path.write_text('name = "a sum"\nepsilon = "w*z/b"' + LINEAR)
    return path


@pytest.mark.thorough
def test_a_true_claim_is_consistent(audit):
    result = audit("laplace", "--json")
    found = result.json()
    assert result.code == 0
    assert found.keys() >= STABLE
    assert (found["verdict"], found["claimed"], found["confidence"], found["seed"]) == ("consistent", 1.0, 0.99, 1)
    assert 0.3 < found["epsilon_lower"] <= 1
    assert (found["samples"], found["outputs"]) == (2_000, 4_000)
    assert not result.err


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("mode", ["both", "fixed", "sequential"])
def test_a_false_claim_is_violated(audit, mode):
    result = audit("leaky", "--json", "--mode", mode)
    found = result.json()
    assert result.code == 1
    assert found["verdict"] == "violated"
    assert 1 < found["epsilon_lower"] <= 4


@pytest.mark.thorough
def test_the_claim_of_a_catalogue_mechanism_is_its_own(audit):
    found = audit(LAPLACE, "--json", "--seed", "2", d="[2.5, 1]", d2="[1]").json()
    assert found["claimed"] == 2.5
    assert "Laplace weighted sum" in found["source"]
    for reference, d, d2, claimed in (
        ("profiles.mechanisms.weighted_count:default", '{"data": [1, 2], "weights": [1, 3]}', "[1]", 3),
        ("profiles.mechanisms.k_norm_sum:default", "[[3, 4]]", "[]", None),
        ("profiles.mechanisms.k_norm_sum:default", "[[0.6, 0.8], [1, 0]]", "[[1, 0]]", 1),
        ("profiles.mechanisms.lloyd:default", "[[1, 0], [0, 0]]", "[[1, 0]]", float(Fraction(10) / Fraction("20.5"))),
    ):
        result = audit(reference, "--json", "--effort", "fast", "--seed", "2", d=d, d2=d2)
        if claimed is None:
            assert result.refused()  # outside the declared radius
        else:
            assert result.code == 0
            assert abs(result.json()["claimed"] - claimed) < 1e-12


@pytest.mark.thorough
def test_the_claim_of_a_profile(audit, profile):
    claim = ("--json", "--profile", profile)
    assert audit("laplace", *claim, "--at", "z=1").json()["claimed"] == 1
    assert audit("laplace", *claim, "--at", "z=l1").json()["claimed"] == 1
    assert audit("laplace", *claim, "--at", "z=0.5").code == 1
    assert audit(LAPLACE, *claim).json()["claimed"] == 1
    weighted = audit("laplace", *claim, "--at", "z=l2", d='{"data": [1, 0.5], "weights": [1, 2.5]}', d2='{"data": [1]}')
    assert weighted.json()["claimed"] == 1.25
    assert audit("laplace", "--json", "--profile", LAPLACE, "--at", "z=1").json()["claimed"] == 1


@pytest.mark.thorough
def test_one_sided_claims_look_at_the_larger_data_set(audit):
    one_sided = audit("one_sided", "--json", "--one-sided", "--claimed", "0.9", "--mode", "fixed")
    assert one_sided.json()["verdict"] == "violated"
    swapped = audit("one_sided", "--json", "--one-sided", "--claimed", "0.9", "--mode", "fixed", d="[1]", d2="[1, 1]")
    assert (swapped.json()["swapped"], one_sided.json()["swapped"]) == (True, False)
    assert swapped.json()["epsilon_lower"] == one_sided.json()["epsilon_lower"]
    assert "swapped" in audit("one_sided", "--one-sided", "--claimed", "3", d="[1]", d2="[1, 1]").out
    assert audit("one_sided", "--one-sided", "--claimed", "3", d="[2]", d2="[1]").code == NOT_NEIGHBORS


@pytest.mark.thorough
def test_a_profile_may_be_audited_one_sided(audit):
    result = audit(LAPLACE, "--one-sided", "--json", d="[1]", d2="[1, 2]")
    found = result.json()
    assert (result.code, found["one_sided"], found["swapped"], found["claimed"]) == (0, True, True, 2.0)


@pytest.mark.thorough
def test_a_seed_repeats_a_run_and_without_one_it_is_told(audit, pdp):
    first, second = audit("laplace", "--json").json(), audit("laplace", "--json").json()
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    fresh = audit("laplace", "--json", "--seed", "2").json()
    assert fresh["epsilon_lower"] != first["epsilon_lower"]
    words = shlex.split(first["private"]["repeat"])
    again = pdp(*words[1:], "--json").json()
    assert {**again, "seconds": 0} == {**first, "seconds": 0}


@pytest.mark.thorough
def test_fresh_seeds_differ(pdp, audit):
    words = shlex.split(audit("laplace", "--json").json()["private"]["repeat"])[1:]
    at = words.index("--seed")
    del words[at : at + 2]
    seeds = {pdp(*words, "--json").json()["seed"] for _ in range(2)}
    assert len(seeds) == 2
    assert all(0 <= seed < 2**53 for seed in seeds)


@pytest.mark.thorough
def test_the_number_of_processes_changes_nothing(audit):
    one, two = (audit("laplace", "--json", "--processes", n, "--time-limit", 60).json() for n in (1, 2))
    for found in (one, two):
        del found["seconds"], found["private"]["repeat"]
    assert one == two


@pytest.mark.thorough
def test_functions_of_one_output(audit):
    result = audit("one", "--one-at-a-time", "--json")
    assert (result.code, result.json()["verdict"]) == (0, "consistent")
    assert audit("laplace", "--one-at-a-time").refused()


@pytest.mark.thorough
def test_statistics_and_ratios(audit):
    assert audit("leaky", "--statistic", OWN + "sign", "--json").code == 0
    assert audit("laplace", "--log-ratio", OWN + "ratio", "--json").json()["private"]["score"] == "log-likelihood ratio"
    assert audit("laplace", "--log-ratio", OWN + "ratio", "--statistic", OWN + "sign").refused()
    assert audit("laplace", "--statistic", OWN + "constant_statistic").refused()
    failing = ("laplace", "--statistic", OWN + "failing_statistic")
    assert "raised ValueError (raised in failing_statistic, line" in audit(*failing).err
    assert "no statistic" in audit(*failing, "--show-values").err
    assert audit("laplace", "--statistic", OWN + "not_callable").refused()


@pytest.mark.thorough
def test_the_exact_epsilon_is_shown_beside_the_bound(audit):
    found = audit("laplace", "--exact", OWN + "exact", "--json").json()
    assert found["exact"] == {"lower": 1.0, "upper": 1.0}
    assert "epsilon in [1, 1]" in audit("laplace", "--exact", OWN + "exact").out
    assert "The bound is above it" in " ".join(audit("leaky", "--exact", OWN + "exact", "--mode", "fixed").out.split())
    for name in ("total", "failing_statistic", "leaves"):
        assert audit("laplace", "--exact", OWN + name).refused()


@pytest.mark.thorough
def test_delta_and_own_randomness(audit):
    assert audit("leaky", "--claimed", "1", "--delta", "0.9", "--json").code == 0
    assert audit("leaky", "--claimed", "1", "--delta", "1e-6", "--json").code == 1
    # its randomness has no seed, so the claim is far above its epsilon of 1, and not refuted by chance
    own = audit("of_numpy", "--own-randomness", "--claimed", "4", "--json")
    assert own.code == 0
    assert any("on your word" in line for line in own.json()["assumptions"])


def test_what_a_mechanism_prints_is_not_in_the_result(capfd):
    small = ["--dataset", "[1, 1]", "--neighbor", "[1]", "--claimed", "1", "--samples", "100", "--seed", "1", "--json"]
    code = invoke(["audit", OWN + "speaks", *small])
    captured = capfd.readouterr()
    assert code == 0
    assert json.loads(captured.out)["verdict"] == "consistent"
    assert "a word\n" in captured.err
    assert "a byte\n" in captured.err


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["laplace", "leaky", "vector", "sparse"])
@pytest.mark.parametrize("mode", ["both", "fixed"])
def test_the_report_for_people(audit, name, mode):
    result = audit(name, "--mode", mode, "--claimed", "3.5")
    assert result.code == 0 if name != "leaky" else result.code in (0, 1)
    lines = result.out.splitlines()
    assert all(len(line) <= 80 for line in lines[: lines.index("To repeat")])
    assert not any(line != line.rstrip() for line in lines if not line.endswith("\\"))
    text = " ".join(result.out.split())
    for part in (
        "99% confidence",
        "pair D has one record more neighbors add-remove, checked claim",
        "For your eyes only from here on",
        "record x = 1, w = 1",
        "seed 1",
        "4000 on both",
        "independent draws",
        "exact arithmetic",
    ):
        assert part in text, part
    assert ("Consistent does not mean that the claim is true" in text) == (result.code == 0)


@pytest.mark.thorough
def test_printed_numbers_have_a_side(audit):
    for name, claimed in (("laplace", "1/3"), ("laplace", "1.00000001"), ("leaky", "2/3")):
        options = ("--claimed", claimed, "--mode", "fixed")
        found, report = audit(name, *options, "--json").json(), audit(name, *options).out
        bound, claim = re.search(r"at least ([\d.]+) nats .* at most ([\d.]+) was claimed", " ".join(report.split())).groups()
        assert Fraction(bound) <= Fraction(found["epsilon_lower"])
        assert Fraction(claim) >= Fraction(claimed)
        assert (Fraction(bound) > Fraction(claim)) == (found["verdict"] == "violated")
        for event in found["private"]["events"]:
            assert event["probability"][0] <= event["seen"][0] / event["seen"][1] <= event["probability"][1]


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize(
    ("d", "d2", "words"),
    [
        ("[1]", "[1]", "D and D' are the same"),
        ("[]", "[]", "D and D' are the same"),
        ("[1, 2]", "[2, 1]", "the same records in another order"),
        ("[[1, 0], [0, 1]]", "[[0, 1], [1, 0]]", "the same records in another order"),
        ("[1, 2]", "[1, 3]", "one record (or its weight) is replaced"),
        ('{"data": [1], "weights": [2]}', '{"data": [1], "weights": [3]}', "one record (or its weight) is replaced"),
        ('{"data": [1, 2], "weights": [2, 1]}', "[1, 2]", "one record (or its weight) is replaced"),
        ("[1, 1, 1]", "[1]", "several of the records are in D alone or in D' alone"),
        ("[1]", "[2, 3]", "several of the records are in D alone or in D' alone"),
    ],
)
@pytest.mark.parametrize("claim", [("--claimed", "0.5"), ("--claimed", "100"), ("--profile", LAPLACE, "--at", "z=1")])
def test_no_neighbors_are_a_verdict_of_their_own(audit, d, d2, words, claim):
    for options in ((), ("--one-sided",), ("--mode", "fixed")):
        result = audit("leaky", *claim, *options, d=d, d2=d2)
        assert (result.code, result.out) == (NOT_NEIGHBORS, "")
        assert result.err.startswith("pdp: not neighbors: ")
        assert words in result.err
        assert result.err.count("\n") == 1
    found = audit("leaky", *claim, "--json", d=d, d2=d2)
    assert found.code == NOT_NEIGHBORS
    assert found.json().keys() == {"verdict", "error", "reason"}
    assert (found.json()["verdict"], found.json()["error"]) == ("not neighbors", "NotNeighbors")


@pytest.mark.parametrize(
    ("d", "d2", "told"),
    [("[1, 1, 1]", "[1]", "2 records are in D alone, 0 in D' alone"), ("[1]", "[2, 3]", "1 record is in D alone, 2 in D' alone")],
)
def test_how_many_records_differ_is_shown_on_request(audit, d, d2, told):
    hidden, shown = audit("leaky", d=d, d2=d2), audit("leaky", "--show-values", d=d, d2=d2)
    assert (hidden.code, shown.code) == (NOT_NEIGHBORS, NOT_NEIGHBORS)
    assert told not in hidden.err
    assert f"(for your eyes only: {told})" in shown.err


@pytest.mark.thorough
def test_neighbors_in_data_files(audit, tmp_path):
    (tmp_path / "d.csv").write_text("x,w\n1,2\n5,3\n1,2\n")
    (tmp_path / "less.csv").write_text("x,w\n5,3\n1,2\n")
    (tmp_path / "weight.csv").write_text("x,w\n5,3\n1,2\n1,4\n")
    np.save(tmp_path / "d.npy", [1.0, 5.0])
    (tmp_path / "shorter.json").write_text("[5]")
    options = ("--claimed", "100", "--weight-column", "w", "--columns", "x", "--json", "--samples", "100")
    assert audit("laplace", *options, d=tmp_path / "d.csv", d2=tmp_path / "less.csv").json()["neighboring"]["status"] == "checked"
    for other in ("d.csv", "weight.csv"):
        assert audit("laplace", *options, d=tmp_path / "d.csv", d2=tmp_path / other).code == NOT_NEIGHBORS
    short = ("--claimed", "100", "--json", "--samples", "100")
    assert audit("laplace", *short, d=tmp_path / "d.npy", d2=tmp_path / "shorter.json").code == 0
    assert audit("laplace", *short, d=tmp_path / "d.npy", d2=tmp_path / "d.npy").code == NOT_NEIGHBORS


@pytest.mark.thorough
def test_other_neighbors_can_be_stated(audit):
    replaced = audit("leaky", "--neighboring", "replace-one", "--json", d="[1, 2]", d2="[1, 3]").json()
    assert (replaced["verdict"], replaced["neighboring"]) == ("violated", {"relation": "replace-one", "status": "checked"})
    assert "--neighboring replace-one" in replaced["private"]["repeat"]
    stated = audit("leaky", "--neighboring", "stated", "--json", d="[1, 0]", d2="[0, 3]").json()
    assert any("on your word (neighboring: stated)" in line for line in stated["assumptions"])
    assert audit("leaky", "--neighboring", "stated", d="[1, 0]", d2="[1, 0]").code == NOT_NEIGHBORS
    assert audit("leaky", "--neighboring", "replace-one").code == NOT_NEIGHBORS
    assert audit("leaky", "--neighboring", "near").refused()
    assert audit("leaky", "--neighboring", "replace-one", "--one-sided").code in (2, NOT_NEIGHBORS)
    assert audit("leaky", "--neighboring", "stated", "--profile", LAPLACE, "--at", "z=1").refused()


@pytest.mark.thorough
def test_a_statistic_that_is_not_the_records_is_refused(audit, profile):
    claim = ("--json", "--profile", profile, "--samples", "100")
    pair = {"d": "[1, 0.5]", "d2": "[1]"}
    for at in ("z=3", "z=0.6", "z=0.500001", "z=0", "z=l2^2"):
        result = audit(LAPLACE, *claim, "--at", at, **pair)
        assert result.refused(), at
        assert f"--at gives {at.replace('=', ' = ')}, but the mechanism tells another statistic" in result.err
    for at in ("z=0.5", "z=1/2", "z=l1", "z=l2"):
        found = audit(LAPLACE, *claim, "--at", at, **pair).json()
        assert found["claimed"] == 0.5
        assert not any("--at" in line for line in found["assumptions"])
    known = audit("profiles.mechanisms.k_norm_sum:default", "--json", "--at", "z=1", "--samples", "100", d="[[0.6, 0.8]]", d2="[]")
    assert known.json()["claimed"] == 1  # the norm is 1 up to rounding
    word = audit("laplace", *claim, "--at", "z=3", **pair).json()
    assert word["claimed"] == 3
    assert any(line.startswith("z = 3 is the statistic of the record") and "not checked" in line for line in word["assumptions"])
    assert "given by --at, and not checked" in " ".join(audit("laplace", *claim[1:], "--at", "z=3", **pair).out.split())


@pytest.mark.thorough
def test_how_bad_it_is_is_told_after_the_refutation(audit):
    found, stopped = audit("leaky", "--json").json(), audit("leaky", "--json", "--stop-when-refuted").json()
    assert found["refuted_after"] == stopped["refuted_after"] < 1_000
    assert found["outputs"] == found["asked"] == stopped["asked"] == 4_000 > stopped["outputs"]
    assert found["epsilon_lower"] > stopped["epsilon_lower"] > 1
    assert "--stop-when-refuted" in stopped["private"]["repeat"]
    text = " ".join(audit("leaky").out.split())
    assert f"VIOLATED refuted after {found['refuted_after']} outputs; epsilon(D, D') is at least" in text
    assert sum(found["parts"].values()) == found["outputs"]


@pytest.mark.thorough
def test_json_is_json(audit):
    for result in (audit("laplace", "--json", "--claimed", "1/3"), audit("leaky", "--json", "--claimed", "1e-300")):
        json.loads(result.out, parse_constant=pytest.fail)
