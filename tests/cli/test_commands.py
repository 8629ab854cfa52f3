"""Each command end to end: the stable JSON, the exit codes, files that the kernel accepts, output for people."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

CONDITIONS = ["assumption-8", "assumption-9", "assumption-9-nonzero", "assumption-11", "proposition-16", "proposition-17"]
MEANINGS = {
    "assumption-8": "some feasible weight exists",
    "assumption-9": "weights are bounded",
    "assumption-11": "exp(ε) strongly convex",
    "proposition-16": "sampling a little more rarely helps at this record",
}


def psi(w, z):
    """ψ of the DP-Lloyd fixture at 60 digits, from exact inputs."""
    with mpmath.workdps(80):
        weight, norm = (mpmath.mpf(Fraction(value).numerator) / Fraction(value).denominator for value in (w, z))
        return mpmath.log1p(mpmath.expm1(10 * weight * (1 / mpmath.mpf("20.5") + norm / 30)) / weight)


def test_verify_has_the_stable_json_and_what_only_informs_does_not_count(pdp, lloyd):
    result = pdp("verify", lloyd, "--target-epsilon", "20", "--json")
    found = result.json()
    assert (result.code, found["asked"], found["verdict"]) == (0, ["theorem-10"], "proved")
    assert found["profile"] == "weighted DP-Lloyd"
    assert found["target_epsilon"] == "20"
    assert list(found["conditions"]) == CONDITIONS
    for name, decision in found["conditions"].items():
        assert {"verdict", "method", "witness", "reason", "checked_by_kernel"} <= set(decision)
        assert decision["meaning"] == MEANINGS.get(name, decision["meaning"]) != ""
        assert decision["checked_by_kernel"] is True
    assert found["conditions"]["proposition-16"]["verdict"] == "refuted"
    assert found["conditions"]["proposition-16"]["witness"] == {"z": "0"}
    assert found["consequences"]["theorem-10"]["verdict"] == "proved"
    assert "T**2" in found["strong_convexity"]["formula"]


def test_verify_exits_with_zero_when_all_that_was_asked_is_proved(pdp, lloyd):
    result = pdp("verify", lloyd, "--target-epsilon", "20", "-c", "assumption-8", "-c", "proposition-17", "--json")
    assert result.code == 0
    assert list(result.json()["conditions"]) == ["assumption-8", "proposition-17"]


def test_verify_prints_a_table_for_people(pdp, lloyd):
    result = pdp("verify", lloyd, "--target-epsilon", "20")
    assert "kernel" in result.out
    assert "mu_x" in result.out


def test_certificate_of_verify_is_accepted_and_a_changed_one_rejected(pdp, lloyd, tmp_path):
    path = tmp_path / "c.json"
    pdp("verify", lloyd, "--target-epsilon", "20", "--certificate", path)
    accepted = pdp("check", path, "--json")
    assert accepted.code == 0
    assert accepted.json()["accepted"] is True
    claims = {claim["claim"] for claim in accepted.json()["claims"]}
    assert {"well-defined", *CONDITIONS} <= claims
    path.write_text(path.read_text().replace('"target_epsilon": "20"', '"target_epsilon": "1"'))
    rejected = pdp("check", path, "--json")
    assert rejected.code == 1
    assert rejected.json()["step"].startswith("claims[")


def test_weight_is_feasible_and_encloses_the_root(pdp, lloyd):
    found = pdp("weight", lloyd, "--target-epsilon", "20", "--at", "z=1.5", "--digits", "40", "--json").json()
    lower, upper = (Fraction(end) for end in found["enclosure"])
    assert found["weight"] == found["enclosure"][0]
    assert psi(lower, "1.5") <= 20 < psi(upper, "1.5")
    assert (upper - lower) / lower <= Fraction(1, 10**38)
    assert found["bracket"][0] == "1"
    assert Fraction(found["bracket"][1]) > upper
    with mpmath.workdps(60):
        a = 10 * (1 / mpmath.mpf("20.5") + mpmath.mpf("1.5") / 30)
        mu = a**2 * mpmath.exp(a)
        claimed = mpmath.mpf(found["strong_convexity"])
        assert claimed <= mu <= claimed * (1 + mpmath.mpf("1e-9"))


def test_the_hypotheses_of_a_mechanism_are_carried(pdp):
    found = pdp("epsilon", "profiles.mechanisms.lloyd:default", "--rule", "uniform", "--constant", "rate=0.1", "--json").json()
    assert "The initial centres are public: they do not depend on the data set" in found["hypotheses"]
    assert {"ieee-rounding", "balls-enclose"} <= {item["id"] for item in found["premises"]}
    assert "exact-reals" not in {item["id"] for item in found["premises"]}
    assert any(item["id"] == "exact-reals" and "docs/exact-noise.md" in item["evidence"] for item in found["discharged"])


def test_epsilon_bounds_enclose_the_supremum_and_carry_hypotheses(pdp, lloyd, tmp_path):
    path = tmp_path / "e.json"
    result = pdp("epsilon", lloyd, "--certificate", path, "--json")
    found = result.json()
    lower, upper = Fraction(found["epsilon"]["lower"]), Fraction(found["epsilon"]["upper"])
    assert 0 < lower <= upper <= lower * (1 + Fraction(1, 10**8))
    for index in range(401):
        z = Fraction(index, 100)
        q = Fraction(1, 20) + Fraction(50, 4000) * z**2
        assert psi(1 / q, z) <= mpmath.mpf(upper.numerator) / upper.denominator
    assert any("independently" in hypothesis for hypothesis in found["hypotheses"])
    assert pdp("check", path).code == 0


@pytest.mark.thorough
def test_epsilon_of_named_rules(pdp, lloyd):
    uniform = pdp("epsilon", lloyd, "--rule", "uniform", "--constant", "m=100,n=1000", "--json")
    assert uniform.code == 0
    coreset = pdp("epsilon", lloyd, "--rule", "coreset-l2", "--constant", "m=100,n=1000,lam=0.5,mean=4", "--json")
    assert coreset.json()["epsilon"] == pdp("epsilon", lloyd, "--json").json()["epsilon"]
    constrained = pdp("epsilon", lloyd, "--rule", "privacy-constrained", "--target-epsilon", "3", "--json").json()
    assert Fraction(constrained["epsilon"]["upper"]) == 3


def test_epsilon_text_shows_the_derivation(pdp):
    constants = ("--constant", "m=100,n=1000,lam=0.5,mean=4")
    text = pdp("epsilon", "profiles.mechanisms.lloyd:default", "--rule", "coreset-l2", *constants, "--explain").out
    words = (
        "Theorem 6",
        "Proposition 13",
        "adaptive composition",
        "mean squared norm is public",
        "n, m and lam are public",
        "centre",
        "settled",
    )
    for word in words:
        assert word in " ".join(text.split())


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_weights_of_a_data_set_are_feasible(pdp, lloyd, tmp_path, suffix):
    rng = np.random.default_rng(1)
    points = rng.uniform(-1, 1, (200, 3))
    data, out = tmp_path / f"data.{suffix}", tmp_path / f"weights.{suffix}"
    table = pa.table({f"x{j}": points[:, j] for j in range(3)})
    if suffix == "csv":
        pyarrow.csv.write_csv(table, data)
    elif suffix == "parquet":
        pyarrow.parquet.write_table(table, data)
    else:
        np.save(data, points)
    result = pdp("weights", lloyd, "--target-epsilon", "3", "--data", data, "--out", out, "--statistic", "z=l2", "--json")
    assert result.code == 0, result.err
    assert result.json()["private"]["records"] == 200
    reader = {"csv": lambda: pyarrow.csv.read_csv(out), "parquet": lambda: pyarrow.parquet.read_table(out)}
    weights = np.load(out) if suffix == "npy" else reader[suffix]()["weight"].to_numpy()
    norms = [float(np.sqrt(sum(float(x) * float(x) for x in row))) for row in points]
    for weight, norm in zip(weights[:20], norms[:20], strict=True):
        assert psi(float(weight), norm) <= 3
        assert psi(float(weight) * (1 + 1e-9), norm) > 3


def test_weights_are_shown_on_the_feasible_side(pdp, profile_file, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("z\n0.7\n1.9\n")
    found = pdp("weights", profile_file("w*z", "z = [0, 2]"), "-e", "3", "--data", data, "--out", tmp_path / "out.csv")
    least, most = re.search(r"weights +(\S+) to (\S+) \(rounded down\)", found.out).groups()
    rows = [float(line.split(",")[1]) for line in (tmp_path / "out.csv").read_text().split()[1:]]
    assert Fraction(least) <= Fraction(min(rows))
    assert Fraction(most) <= Fraction(max(rows))
    assert all(float(shown) > exact * (1 - 1e-5) for shown, exact in ((least, min(rows)), (most, max(rows))))


@pytest.mark.thorough
def test_mechanisms_lists_the_catalogue_and_references_that_verify_accepts(pdp):
    entries = pdp("mechanisms", "--json").json()
    assert len(entries) >= 4
    for entry in entries:
        assert entry["arithmetic"] == {"exact": ["ieee-rounding", "balls-enclose"], "binary64": ["exact-reals"]}
        words = ["-c", "homogeneous"] if entry["notion"] == "gaussian" else ["--target-epsilon", "3", "-c", "assumption-8"]
        assert pdp("verify", entry["reference"], *words, "--json").code in (0, 1)


@pytest.mark.thorough
def test_profiles_from_a_module(pdp):
    found = pdp("verify", "profiles.mechanisms.lloyd:general", "--target-epsilon", "3", "--json").json()
    assert found["conditions"]["assumption-11"]["verdict"] == "proved"


@pytest.mark.thorough
def test_python_minus_o_gives_the_same_verdicts(pdp, lloyd):
    words = ["verify", str(lloyd), "--target-epsilon", "20", "--json"]
    optimised = subprocess.run([sys.executable, "-O", "-m", "accountant.cli", *words], capture_output=True, text=True, check=False)
    here = pdp(*words)
    assert (optimised.stdout, optimised.stderr) == (here.out, "")
    assert optimised.returncode == here.code == 0


@pytest.mark.thorough
def test_check_prints_the_rules_the_side_conditions_and_on_request_their_axioms(pdp, profile_file, tmp_path):
    file = tmp_path / "certificate.json"
    pdp("verify", profile_file("sqrt(1 + z*w)", record="z = [9, 16]"), "--target-epsilon", "5", "--certificate", file)
    plain = pdp("check", file, "--all")
    assert plain.code == 0
    assert "side conditions: definedness" in plain.out
    assert "is >= 0 if" not in plain.out
    explained = " ".join(pdp("check", file, "--axioms").out.split())
    assert "manifest: A sum of products of non-negative factors is >= 0" in explained
    found = pdp("check", file, "--json").json()
    used = {rule for claim in found["claims"] for rule in (*claim["rules"], *claim["side_conditions"])}
    assert used == set(found["axioms"])


def test_a_condition_that_was_not_asked_is_not_called_unknown(pdp, lloyd):
    found = pdp("verify", lloyd, "--target-epsilon", "9", "--condition", "assumption-8", "--json").json()["consequences"]["theorem-10"]
    assert (found["verdict"], found["not_discharged"]) == ("unknown", ["assumption-9-nonzero (not asked)"])


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize(
    ("epsilon", "target", "asked", "code"),
    [
        ("w*z/2", "2", [], 0),  # a record without any loss is no exception to Theorem 10
        ("w*z/2", "2", ["-c", "assumption-9"], 1),
        ("w*z/2", "2", ["-c", "assumption-9-nonzero"], 0),
        ("w*z/2", "2", ["-c", "proposition-16"], 1),
        ("w*z/2", "2", ["--consequence", "proposition-12"], 1),
        ("w*z/2", "2", ["--consequence", "theorem-10"], 0),
        ("w*z/2", "2", ["-c", "proposition-17", "--consequence", "theorem-10"], 0),
        ("w*z/2", "1/2", [], 1),  # assumption-8 fails
        ("z + 0*w", "3", [], 1),  # bounded, but not where z = 0
        ("w*z/2 + w/9", "2", [], 0),
        ("w*z/2 + w/9", "2", ["--consequence", "proposition-12"], 0),
    ],
)
def test_the_exit_code_answers_what_is_asked(pdp, profile_file, epsilon, target, asked, code):
    result = pdp("verify", profile_file(epsilon, record="z = [0, 2]"), "-e", target, *asked, "--json")
    assert result.code == code, result.json()["conditions"]
    assert result.json()["verdict"] == {0: "proved", 1: "refuted"}[code]


def test_an_unknown_condition_of_what_is_asked_is_three_and_another_one_is_not(pdp, profile_file):
    kinked = profile_file("Piecewise((w*z, w < 1 + z), (w*z + 1, True))", record="z = [1, 2]")
    found = pdp("verify", kinked, "-e", "5", "--json")  # a jump that moves with the record: continuity is not shown
    assert (found.code, found.json()["verdict"]) == (3, "unknown")
    assert pdp("verify", kinked, "-e", "5", "-c", "assumption-8").code == 0


def test_an_unknown_consequence_is_refused_with_the_known_ones(pdp, lloyd):
    result = pdp("verify", lloyd, "-e", "3", "--consequence", "theorem-11")
    assert result.refused()
    assert "theorem-10, proposition-12" in result.err


def test_verify_prints_the_meanings_and_the_answer(pdp, profile_file):
    shown = " ".join(pdp("verify", profile_file("w*z/2", record="z = [0, 2]"), "-e", "2").out.split())
    assert "answer for theorem-10: proved; for information only: assumption-9, assumption-11, proposition-16, proposition-17" in shown
    explained = " ".join(pdp("verify", profile_file("w*z/2", record="z = [0, 2]"), "-e", "2", "--explain").out.split())
    assert "assumption-9 (refuted): weights are bounded, that is, for all records" in explained
    assert "these records lose nothing" in explained


@pytest.mark.parametrize(
    ("record", "parameters", "epsilon", "top"),
    [
        ("z = [0, 2]", "delta = 1", "w*z/delta", ""),
        ("delta = [0, 2]", "", "w*delta", ""),
        ("z = [0, 2]", "", "w*z + delta", ""),
        ("z = [0, 2]", "", "w*z", 'delta = "1e-6"'),
    ],
)
def test_a_delta_is_refused_in_words(pdp, tmp_path, record, parameters, epsilon, top):
    path = tmp_path / "p.toml"
    path.write_text(f'name = "x"\nepsilon = "{epsilon}"\n{top}\n[record]\n{record}\n[parameters]\n{parameters}\n')
    result = pdp("verify", path, "-e", "3")
    assert result.refused()
    said = result.err
    assert "no notion of a profile has a delta" in said
    assert "leave it out" in said
    assert ("rename it" in said) is not bool(top)


def test_help_says_what_it_is_about(pdp):
    assert "pure epsilon-differential privacy, or Gaussian noise with a target delta" in " ".join(pdp("--help").out.split())
    assert "for a profile in another notion" in " ".join(pdp("verify", "--help").out.split())
    assert "pure epsilon-differential privacy, which has no delta" in pdp("verify", "x.toml", "--delta", "1e-6").err


@pytest.mark.thorough
def test_check_says_which_function_the_claims_are_about(pdp, profile_file, tmp_path):
    file = tmp_path / "certificate.json"
    profile = profile_file("w*(1/a + z/b)/c", record="z = [0, 1.5]", parameters='a = 7\nb = "positive"\nc = [2, 3]')
    pdp("verify", profile, "--target-epsilon", "5", "--certificate", file)
    shown = pdp("check", file, "--all").out
    for line in ("epsilon(w, x) = w*(1/a + z/b)/c", "for all z in [0, 1.5], w >= 1", "a = 7", "b > 0", "c in [2, 3]", "target epsilon = 5"):
        assert line in shown
    about = pdp("check", file, "--json").json()["about"]
    assert (about["profile"]["epsilon"], about["sampling"], about["target_epsilon"]) == ("w*(1/a + z/b)/c", None, "5")
    pdp("epsilon", profile_file("w*z", record="z = [0, 1.5]"), "--q", "1/2 + z/9", "--certificate", file)
    assert "q(x) = 1/2 + z/9" in pdp("check", file, "--all").out
    file.write_text(file.read_text().replace("1/2 + z/9", "1/2 + z"))
    rejected = pdp("check", file)
    assert (rejected.code, "about" in rejected.out) == (1, False)
    assert pdp("check", file, "--json").json()["about"] is None


@pytest.mark.thorough
def test_a_certificate_that_the_kernel_rejects_is_not_written(pdp, profile_file, tmp_path):
    file = tmp_path / "certificate.json"
    profile = profile_file("Abs(sin(z))*w + 0.1*w", record="z = [-4, 4]")
    result = pdp("epsilon", profile, "--q", "(1 + z**2)/(20 + z**2)", "--certificate", file)
    if result.code == 0:
        assert pdp("check", file).code == 0
    else:
        assert result.refused()
        assert not file.exists()


@pytest.mark.thorough
def test_epsilon_of_a_coreset_rule_with_an_exponent(pdp, lloyd):
    constants = "m=100,n=1000,lam=0.5,mean=4,exponent"
    found = pdp("epsilon", lloyd, "--rule", "coreset", "--constant", f"{constants}=2", "--json").json()
    assert found["epsilon"] == pdp("epsilon", lloyd, "--json").json()["epsilon"]
    fraction = pdp("epsilon", lloyd, "--rule", "coreset", "--constant", f"{constants}=3/2", "--json").json()
    assert fraction["checked_by_kernel"]
    assert fraction["rule"] == "coreset"
    assert pdp("epsilon", lloyd, "--rule", "coreset-l2", "--constant", "m=900,n=1000,lam=0.5,mean=4").refused()


def test_epsilon_of_an_oracle_is_refused(pdp, lloyd):
    result = pdp("epsilon", lloyd, "--rule", "variance-optimal")
    assert result.refused()
    assert "depend on the whole data set" in result.err


def test_weights_of_records_that_lose_nothing_are_infinite_in_text_and_json(pdp, tmp_path):
    (tmp_path / "sum.toml").write_text('name = "sum"\nepsilon = "w*z/3"\n[record]\nz = [0, "0.1"]\n')
    (tmp_path / "zero.csv").write_text("z\n0\n0\n")
    asked = ["weights", tmp_path / "sum.toml", "-e", "1", "--data", tmp_path / "zero.csv", "-s", "z=z", "--out"]
    said = pdp(*asked, tmp_path / "a.csv")
    assert (said.code, "weights inf to inf" in said.out) == (0, True)
    found = pdp(*asked, tmp_path / "b.csv", "--json")
    assert found.code == 0
    assert json.loads(found.out, parse_constant=pytest.fail)["private"]["weights"] == {"smallest": "inf", "largest": "inf", "infinite": 2}
