"""``pdp account``: both sides in each direction, certificates that the kernel accepts, and one sentence for what cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUMS = ("--gaussian", "100", "--count", "10000")
TRUTH = Fraction("7.56019846308")  # the closed form at delta = 1e-13
EVENT = 'name = "n"\n[[event]]\n'


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_epsilon_at_a_delta_from_both_sides_in_each_direction(pdp):
    result = pdp("account", *SUMS, "--delta", "1e-13", "--json")
    found = result.json()
    assert result.code == 0
    assert found["delta"] == "1e-13"
    assert found["checked_by_kernel"] is True
    assert found["gap_reached"] is True
    ends = [found["epsilon"], *found["directions"].values()]
    assert list(found["directions"]) == ["remove", "add"]
    for end in ends:
        assert Fraction(end["lower"]) <= TRUTH <= Fraction(end["upper"])
    assert all(item["checked_by_kernel"] for item in found["directions"].values())
    assert {"declared-events", "sensitivity-one", "exact-reals"} <= {item["id"] for item in found["premises"]}
    assert found["composition"]["events"][0]["count"] == 10000
    assert found["notion"] == "approximate-dp"


def test_delta_at_an_epsilon(pdp):
    found = pdp("account", *SUMS, "--epsilon", "7.56019846308", "--json").json()
    assert found["epsilon"] == "7.56019846308"
    assert Fraction(found["delta"]["lower"]) <= Fraction(1, 10**13) * Fraction("1.0000000001")
    assert Fraction(found["delta"]["upper"]) >= Fraction(1, 10**13) * Fraction("0.9999999999")


def test_people_read_both_ends_the_hypotheses_and_the_derivation(pdp):
    words = ("account", "--gaussian", "2", "--sampling", "0.1", "--delta", "1e-3")
    screen = pdp(*words).out
    for said in ("epsilon <= ", "one record is added or removed", "checked by kernel: yes", "Valid only under these unverified"):
        assert said in screen
    assert "+- declared events" not in screen
    assert "+- declared events" in pdp(*words, "--explain").out
    text = pdp(*words, "--all").out
    assert "epsilon <= " in text
    assert "remove (a record goes): " in text
    assert "add (a record comes): " in text
    assert "checked by kernel: yes" in text
    assert "Valid only under these unverified assumptions:" in text
    assert "the sampler selects each record independently with probability exactly q(x)" in " ".join(text.split())
    assert "Poisson sampling with q = 0.1" in " ".join(text.split())
    assert "point of a privacy curve" in text
    assert "+- declared events" in text


def test_a_certificate_is_accepted_by_a_kernel_alone_and_a_forged_one_is_not(pdp, place):
    assert pdp("account", *SUMS, "--delta", "1e-13", "--certificate", "c.json").code == 0
    shown = pdp("check", "c.json")
    assert shown.code == 0
    assert "gaussian (noise_multiplier 100), 10000 times" in " ".join(shown.out.split())
    assert "remove: delta(" in shown.out
    told = pdp("check", "c.json", "--json").json()
    assert told["accepted"] is True
    assert {item["direction"] for item in told["about"]["bounds"]} == {"remove", "add"}
    assert "sensitivity-one" in {item["id"] for item in told["about"]["premises"]}
    whole = json.loads((place / "c.json").read_text())
    for claim in whole["claims"]:
        if claim["claim"] == "delta-upper":
            claim["epsilon"] = "7.56"
    (place / "forged.json").write_text(json.dumps(whole))
    assert pdp("check", "forged.json").code == 1
    run = "import sys; sys.path.insert(0, sys.argv[1]); from proofs_check.kernel.__main__ import main; sys.exit(main(sys.argv[2:]))"
    for name, code in (("c.json", 0), ("forged.json", 1)):
        done = subprocess.run([sys.executable, "-I", "-O", "-c", run, str(ROOT), name], capture_output=True, check=False)
        assert done.returncode == code


def test_a_guarantee_is_composed_with_others(pdp, place):
    assert pdp("account", "--gaussian", "4", "--count", "16", "--delta", "1e-6", "--guarantee", "g.json").code == 0
    one = json.loads((place / "g.json").read_text())["bound"]
    both = pdp("compose", "g.json", "g.json", "--json").json()["epsilon"]
    assert Fraction(both["upper"]) >= 2 * Fraction(one["remove"])
    assert Fraction(both["delta"]) == Fraction(2, 10**6)


def test_a_file_with_several_events(pdp, place):
    text = EVENT + 'mechanism = "gaussian"\nnoise_multiplier = 8\ncount = 4\n[[event]]\nmechanism = "pure"\nepsilon = "1/10"\n'
    (place / "c.toml").write_text(text)
    found = pdp("account", "c.toml", "--delta", "1e-6", "--json").json()
    alone = pdp("account", "--gaussian", "8", "--count", "4", "--delta", "1e-6", "--json").json()
    assert Fraction(alone["epsilon"]["upper"]) < Fraction(found["epsilon"]["lower"])
    assert Fraction(found["epsilon"]["upper"]) < Fraction(alone["epsilon"]["lower"]) + Fraction("0.11")
    assert found["subject"] == "n"


def test_whom_it_protects_is_said_and_printed(pdp, place):
    words = ("account", "--gaussian", "4", "--delta", "1e-6", "--unit", "user", "--neighbors", "replace-one")
    found = pdp(*words, "--json").json()
    assert (found["unit"], found["neighbors"]) == ("user", "replace-one")
    assert any(item.startswith("each user adds to the sum of a step a vector of norm at most 1") for item in found["hypotheses"])
    assert "up to twice that norm" in " ".join(pdp(*words).out.split())
    assert "one user is replaced by another" in " ".join(pdp(*words).out.split())
    (place / "c.toml").write_text(EVENT + 'mechanism = "pure"\nepsilon = 1\nsampling_probability = 0.01\n')
    assert "which nothing says" in " ".join(pdp("account", "c.toml", "--delta", "0").out.split())
    (place / "d.toml").write_text('neighbors = "replace-one"\n' + (place / "c.toml").read_text())
    refused = (("c.toml", "--unit", "user"), ("c.toml", "--neighbors", "add-remove"), ("d.toml",), ("--gaussian", "4", "--neighbors", "x"))
    for words in (*refused, ("--gaussian", "4", "--unit", "")):
        assert pdp("account", *words, "--delta", "1e-6").refused(), words


@pytest.mark.thorough
def test_calibration_meets_the_target_and_the_value_beyond_does_not(pdp):
    found = pdp("account", "--count", "16", "--calibrate", "noise", "--epsilon", "1", "--delta", "1e-6", "--json").json()
    value, beyond = (found["calibrated"][name] for name in ("value", "beyond"))
    assert found["calibrated"]["name"] == "noise_multiplier"
    assert Fraction(beyond) < Fraction(value) < Fraction(beyond) * Fraction("1.002")
    assert Fraction(found["delta"]["upper"]) <= Fraction(1, 10**6)
    for noise, meets in ((value, True), (beyond, False)):
        again = pdp("account", "--gaussian", noise, "--count", "16", "--epsilon", "1", "--json").json()
        assert (Fraction(again["delta"]["upper"]) <= Fraction(1, 10**6)) is meets
        assert (Fraction(again["delta"]["lower"]) > Fraction(1, 10**6)) is not meets
    said = pdp("account", "--gaussian", "20", "--calibrate", "count", "--epsilon", "1", "--delta", "1e-6").out
    assert said.startswith("count = 22 meets the target (1, 0.000001), and 23 does not")


def test_a_picture_is_written_whole(pdp, place):
    pytest.importorskip("matplotlib")
    assert pdp("account", "--gaussian", "4", "--count", "16", "--delta", "1e-6", "--plot", "c.svg").code == 0
    assert "<svg" in (place / "c.svg").read_text()
    assert pdp("account", "--gaussian", "4", "--delta", "1e-6", "--plot", "c.txt").refused()
    assert not (place / "c.txt").exists()


def test_epsilon_over_steps_is_drawn(pdp, place):
    pytest.importorskip("matplotlib")
    assert pdp("account", "--gaussian", "4", "--sampling", "0.1", "--count", "40", "--delta", "1e-6", "--plot-steps", "s.svg").code == 0
    text = (place / "s.svg").read_text()
    assert "<svg" in text
    for words in (("--epsilon", "1", "--plot-steps", "t.svg"), ("--delta", "1e-6", "--plot-steps", "t.txt")):
        assert pdp("account", "--gaussian", "4", *words).refused(), words
    assert pdp("account", "--gaussian", "4", "--delta", "1e-6", "--plot-steps", "s.svg", "--plot", "s.svg").refused()
    assert pdp("account", "--gaussian", "4", "--delta", "0", "--plot-steps", "t.svg").code == 1
    assert (place / "s.svg").read_text() == text
    assert not list(place.glob("t.*"))


@pytest.mark.thorough
def test_the_upper_side_alone_is_printed_and_certified(pdp, place):
    words = ("account", "--gaussian", "2", "--sampling", "0.1", "--count", "20", "--delta", "1e-6")
    both, upper = (pdp(*words, *more, "--json").json() for more in ((), ("--side", "upper", "--certificate", "c.json")))
    found = Fraction(upper["epsilon"]["upper"])
    assert Fraction(both["epsilon"]["lower"]) <= found <= Fraction(both["epsilon"]["upper"]) * Fraction("1.01")
    assert "lower" not in upper["epsilon"]
    assert upper["side"] == "upper"
    assert upper["checked_by_kernel"] is True
    assert {claim["claim"] for claim in json.loads((place / "c.json").read_text())["claims"]} == {"delta-upper"}
    assert pdp("check", "c.json").code == 0
    said = pdp(*words, "--side", "upper").out
    assert " <= epsilon" not in said
    assert "at delta = 0.000001: epsilon <= " in said
    at = pdp("account", "--gaussian", "2", "--sampling", "0.1", "--count", "20", "--epsilon", "2", "--side", "upper", "--json").json()
    assert "lower" not in at["delta"]
    assert pdp(*words, "--side", "lower").refused()
    assert pdp("account", "--count", "4", "--calibrate", "noise", "--epsilon", "1", "--delta", "1e-6", "--side", "upper").refused()


def test_an_account_loads_no_symbolic_algebra_and_no_mechanisms():
    run = "import sys; from accountant.cli.main import invoke; invoke(sys.argv[1:]); print(*sorted(sys.modules), file=sys.stderr)"
    words = ("account", "--gaussian", "4", "--sampling", "0.1", "--count", "4", "--delta", "1e-5")
    done = subprocess.run([sys.executable, "-c", run, *words], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {"sympy", "scipy", "matplotlib", "pyarrow", "profiles.mechanisms.catalogue"}
    assert "accountant.curves.accounting" in loaded


def test_no_epsilon_at_this_delta(pdp, place):
    (place / "c.toml").write_text(EVENT + 'mechanism = "approximate"\nepsilon = 1\ndelta = 1e-3\n')
    for words in (("c.toml", "--delta", "1e-4"), ("c.toml", "--delta", "0"), ("--gaussian", "9", "--delta", "0")):
        result = pdp("account", *words, "--json")
        assert result.code == 1
        assert result.json()["verdict"] == "refuted"
        assert "it is infinite" in result.err


def test_delta_zero_has_the_sum_of_the_losses(pdp, place):
    (place / "c.toml").write_text(EVENT + 'mechanism = "pure"\nepsilon = 0.1\ncount = 7\n[[event]]\nmechanism = "laplace"\nscale = 3\n')
    result = pdp("account", "c.toml", "--delta", "0", "--json", "--certificate", "c.json", "--guarantee", "g.json")
    found = result.json()
    assert (result.code, found["checked_by_kernel"], found["gap_reached"]) == (0, True, True)
    for ends in (found["epsilon"], *found["directions"].values()):
        assert Fraction(ends["lower"]) < Fraction(31, 30) < Fraction(ends["upper"]) < Fraction(31, 30) + Fraction(1, 10**10)
    checked = pdp("check", "c.json")
    assert checked.code == 0
    assert "remove: delta(31/30) <= 0" in checked.out
    assert "add: delta(e) > 0 for every e < 31/30" in checked.out
    assert pdp("compose", "g.json", "g.json").code == 0
    at = pdp("account", "c.toml", "--epsilon", "31/30", "--json").json()
    assert at["delta"] == {"lower": "0", "upper": "0"}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--delta", "1e-5"),
        ("--gaussian", "1"),
        ("--gaussian", "1", "--delta", "1e-5", "--epsilon", "1"),
        ("--count", "3", "--delta", "1e-5"),
        ("--gaussian", "0", "--delta", "1e-5"),
        ("--gaussian", "-1", "--delta", "1e-5"),
        ("--gaussian", "nan", "--delta", "1e-5"),
        ("--gaussian", "inf", "--delta", "1e-5"),
        ("--gaussian", "1e400", "--delta", "1e-5"),
        ("--gaussian", "1", "--sampling", "0", "--delta", "1e-5"),
        ("--gaussian", "1", "--sampling", "1.5", "--delta", "1e-5"),
        ("--gaussian", "1", "--sampling", "1/0", "--delta", "1e-5"),
        ("--gaussian", "1", "--count", "1.5", "--delta", "1e-5"),
        ("--gaussian", "1", "--count", "0", "--delta", "1e-5"),
        ("--gaussian", "1", "--count", "1e10", "--delta", "1e-5"),
        ("--gaussian", "1", "--delta", "1"),
        ("--gaussian", "1", "--delta", "-1e-5"),
        ("--gaussian", "1", "--delta", "nan"),
        ("--gaussian", "1", "--delta", "small"),
        ("--gaussian", "1", "--epsilon", "-1"),
        ("--gaussian", "1", "--epsilon", "inf"),
        ("--gaussian", "1", "--delta", "1e-5", "--gap", "0"),
        ("--gaussian", "1", "--delta", "1e-5", "--gap", "2"),
        ("--gaussian", "1", "--calibrate", "noise", "--delta", "1e-5"),
        ("--gaussian", "1", "--calibrate", "luck", "--delta", "1e-5", "--epsilon", "1"),
        ("missing.toml", "--delta", "1e-5"),
        ("c.toml", "--delta", "1e-5", "--gaussian", "1"),
        ("c.toml", "--delta", "1e-5", "--certificate", "c.toml"),
        ("c.toml", "--delta", "1e-5", "--certificate", "a", "--guarantee", "a"),
        ("several.toml", "--calibrate", "count", "--delta", "1e-5", "--epsilon", "1"),
        ("pure.toml", "--calibrate", "noise", "--delta", "1e-5", "--epsilon", "1"),
        ("different.toml", "--delta", "1e-5"),
        ("unknown.toml", "--delta", "1e-5"),
    ],
)
def test_bad_input_is_one_sentence(pdp, place, words):
    gaussian = 'mechanism = "gaussian"\nnoise_multiplier = 4\n'
    (place / "c.toml").write_text(EVENT + gaussian)
    (place / "pure.toml").write_text(EVENT + 'mechanism = "pure"\nepsilon = 1\n')
    (place / "several.toml").write_text(EVENT + gaussian + '[[event]]\nmechanism = "pure"\nepsilon = 1\n')
    (place / "unknown.toml").write_text(EVENT + gaussian + "steps = 3\n")
    many = "".join(f'[[event]]\nmechanism = "gaussian"\nnoise_multiplier = {k}\ncount = 10000000\n' for k in range(1, 101))
    (place / "different.toml").write_text(f'name = "n"\n{many}')
    result = pdp("account", *words)
    assert result.refused(), result
    assert (place / "c.toml").read_text() == EVENT + gaussian


STUDY = (
    'name = "a study"\nunit = "user"\nneighbors = "replace-one"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 8\n'
    'sampling = "none"\ncount = 4\n[[hypothesis]]\nid = "stated"\nsentence = "the table is that of May"\nhead = "your data"\n'
)


def test_a_certificate_knows_whom_it_protects_and_what_it_rests_on(pdp, place):
    """It said nothing of either: checked alone, a bound for users who are replaced was one for a record more or less."""
    (place / "c.toml").write_text(STUDY)
    told = pdp("account", "c.toml", "--delta", "1e-5", "--certificate", "c.json", "--json").json()
    whole = json.loads((place / "c.json").read_text())
    assert whole["protection"] == {"unit": "user", "neighbors": "replace-one"}
    assert {item["sentence"] for item in whole["hypotheses"]} == {item["sentence"] for item in told["premises"]}
    shown = pdp("check", "c.json")
    assert shown.code == 0
    assert "one user is replaced by another" in shown.out
    about = pdp("check", "c.json", "--json").json()["about"]
    assert about["protection"] == whole["protection"]
    assert {item["sentence"] for item in about["premises"]} == {item["sentence"] for item in told["premises"]}
    assert "the table is that of May" in about["hypotheses"]


def test_a_certificate_that_leaves_out_what_its_events_suppose_is_told_so(pdp, place):
    assert pdp("account", *SUMS, "--delta", "1e-13", "--certificate", "c.json").code == 0
    whole = json.loads((place / "c.json").read_text())
    (place / "silent.json").write_text(json.dumps({**whole, "hypotheses": []}))
    told = [pdp("check", name, "--json").json()["about"]["premises"] for name in ("c.json", "silent.json")]
    assert {item["id"] for item in told[0]} == {item["id"] for item in told[1]} >= {"sensitivity-one", "declared-events"}
    for protection in ({"unit": "users", "neighbors": "add-remove"}, {"unit": "record"}, "record", {}):
        (place / "odd.json").write_text(json.dumps({**whole, "protection": protection}))
        assert pdp("check", "odd.json").code == 1
