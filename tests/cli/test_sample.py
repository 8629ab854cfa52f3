"""``pdp sample``: what it writes and prints, and that unusable input leaves nothing behind."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from profiles.hypotheses import NOT_REDRAWN, ONE_ANALYSIS, ONLY_RELEASE, RANDOMNESS, SECURE_BITS, WEIGHT_AS_GIVEN
from tests.cli.test_bad_input import BAD_DATA as BAD_TABLES


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.parquet"
    rng = np.random.default_rng(1)
    pq.write_table(pa.table({"a": rng.uniform(-2, 2, 400), "b": rng.uniform(-2, 2, 400)}), path)
    return path


def files(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir())


RULES = {
    "target": ["--target-epsilon", "9"],
    "size": ["--target-size", "40"],
    "uniform": ["--rule", "uniform", "--constant", "m=40,n=400"],
    "coreset": ["--rule", "coreset-l2", "--constant", "m=40,n=400,lam=0.5", "--constant", "mean=3"],
    "named target": ["--rule", "privacy-constrained", "--target-epsilon", "9"],
    "expression": ["--q", "s*(1 + z)", "--constant", "s=0.05"],
    "own": [],
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("options", RULES.values(), ids=RULES.keys())
def test_every_rule(pdp, lloyd, data, tmp_path, options):
    out = tmp_path / "sample.parquet"
    result = pdp("sample", lloyd, *options, "--data", data, "--out", out, "--statistic", "z=l2", "--seed", "3", "--json")
    assert (result.code, result.err) == (0, "")
    found = result.json()
    table = pq.read_table(out)
    assert table.schema.names == ["a", "b", "weight", "q"]
    assert found["private"]["sample_size"] == table.num_rows
    assert (found["private"]["records"], found["private"]["seed"]) == (400, 3)
    assert found["out"] == str(out)
    assert found["publishable"] is ("--target-size" not in options)
    written = json.loads((tmp_path / "sample.parquet.certificate.json").read_text())
    assert found["certificate"] == str(tmp_path / "sample.parquet.certificate.json")
    assert {key: written[key] for key in ("epsilon", "rule", "hypotheses")} == {
        key: found[key] for key in ("epsilon", "rule", "hypotheses")
    }
    checked = pdp("check", found["certificate"], "--json")
    assert (checked.code, checked.json()["accepted"]) == (0, True)


def test_for_people(pdp, lloyd, data, tmp_path):
    out, certificate = tmp_path / "sample.csv", tmp_path / "proof.json"
    arguments = ["sample", lloyd, "-e", "9", "--data", data, "--out", out, "-s", "z=l2", "--certificate", certificate, "--force"]
    screen = " ".join(pdp(*arguments).out.split())
    for item in (ONLY_RELEASE, ONE_ANALYSIS, NOT_REDRAWN, WEIGHT_AS_GIVEN):
        assert f"- {item.brief}" in screen
    assert "standard ones about the sampler, the machine and its random bits: --all" in screen
    result = pdp(*arguments, "--all")
    text = " ".join(result.out.split())
    assert result.code == 0
    for part in (
        "sample for one analysis",
        "epsilon <= 9 nats",
        "secure source",
        "may be published",
        "Valid only under these unverified assumptions: your data - ",
        f"this release - {ONLY_RELEASE.sentence} - ",
        f"- {ONE_ANALYSIS.sentence} - {NOT_REDRAWN.sentence}",
        f"- {WEIGHT_AS_GIVEN.sentence}",
        f"- {RANDOMNESS.sentence}",
        f"- {SECURE_BITS.sentence}",
        "400 records",
    ):
        assert part in text, part
    assert "seed" not in text
    assert "private" not in json.loads(certificate.read_text())
    assert "must not be published" in " ".join(pdp(*arguments, "--include-private").out.split())
    assert json.loads(certificate.read_text())["private"]["records"] == 400
    assert files(tmp_path) == ["data.parquet", "lloyd.toml", "proof.json", "sample.csv"]
    assert "one analysis of the sample: epsilon <= 9 for all " in " ".join(pdp("check", certificate).out.split())
    checked = " ".join(pdp("check", certificate, "--all").out.split())
    assert "accepted" in checked
    assert "one analysis of the sample: epsilon <= 9 for all " in checked
    assert "not checked here, and needed for every use of this epsilon: your data - " in checked
    for hypothesis in json.loads(certificate.read_text())["hypotheses"]:
        assert f"- {hypothesis}" in checked
    assert "- the mechanism 'weighted DP-Lloyd' has the profile that is declared for it" in checked
    certificate.write_text(certificate.read_text().replace('"upper": "9"', '"upper": "8.9"'))
    result = pdp("check", certificate)
    assert (result.code, "rejected at sample-certificate.epsilon" in result.out) == (1, True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("epsilon", "smaller"), [("w*z", "without sampling"), ("1 + z + w/1000", "with sampling"), ("Min(w*z, 2)", "neither")]
)
def test_epsilon_without_sampling_stands_beside_the_bound(pdp, data, tmp_path, epsilon, smaller):
    profile, rate = tmp_path / "p.toml", "1" if smaller == "neither" else "1/10"
    profile.write_text(f'name = "p"\nepsilon = "{epsilon}"\n\n[record]\nz = [0, 3]\n')
    arguments = ["sample", profile, "--q", rate, "--data", data, "--out", tmp_path / "sample.csv", "-s", "z=l2", "--force"]
    found = pdp(*arguments, "--json").json()
    beside = pdp("epsilon", profile, "--q", rate, "--json").json()
    assert (found["without_sampling"], found["smaller"]) == (beside["without_sampling"], smaller)
    text = " ".join(pdp(*arguments).out.split())
    assert f"without sampling, every record with weight 1: epsilon <= {found['without_sampling']['epsilon']['upper']} (and" in text
    assert ("without sampling epsilon is smaller" in text) is (smaller == "without sampling")


@pytest.mark.thorough
def test_a_seed_repeats_a_sample_and_the_secure_source_does_not(pdp, lloyd, data, tmp_path):
    def rows(*options):
        out = tmp_path / "sample.parquet"
        assert pdp("sample", lloyd, "--q", "1/2", "--data", data, "--out", out, "-s", "z=l2", "--force", *options).code == 0
        return pq.read_table(out)["a"].to_pylist()

    assert rows("--seed", "1") == rows("--seed", "1") != rows("--seed", "2")
    assert rows() != rows()


BAD_DATA = {
    **BAD_TABLES,
    "missing value": "x,y\n1,1\n,1\n",
    "own weight": "x,weight\n1,1\n",
    "own q": "x,q\n1,1\n",
}


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("text", BAD_DATA.values(), ids=BAD_DATA.keys())
def test_unusable_data_leaves_the_old_files_alone(pdp, lloyd, tmp_path, text):
    data, out, certificate = tmp_path / "data.csv", tmp_path / "out.csv", tmp_path / "c.json"
    data.write_bytes(text if isinstance(text, bytes) else text.encode())
    out.write_text("old")
    certificate.write_text("old")
    result = pdp("sample", lloyd, "--q", "1/3", "--data", data, "--out", out, "-s", "z=x", "--certificate", certificate)
    assert result.refused(), result
    assert out.read_text() == certificate.read_text() == "old"
    assert files(tmp_path) == ["c.json", "data.csv", "lloyd.toml", "out.csv"]


@pytest.mark.thorough
def test_unusable_options(pdp, lloyd, data, tmp_path):
    base = ["--data", data, "--out", tmp_path / "o.csv", "-s", "z=l2"]
    before = files(tmp_path)
    for options in (
        ["--q", "2"],
        ["--q", "z"],
        ["--q", "z/4"],
        ["--q", "0*z"],
        ["--q", "unknown/2"],
        ["--q", "__import__('os')"],
        ["--q", "1/2", "--rule", "uniform"],
        ["--q", "1/2", "--target-epsilon", "3"],
        ["--q", "1/2", "--target-size", "3"],
        ["--target-epsilon", "3", "--target-size", "3"],
        ["--rule", "uniform"],
        ["--rule", "nonsense"],
        ["--rule", "privacy-constrained"],
        ["--rule", "uniform", "--constant", "m=500,n=400"],
        ["--rule", "uniform", "--constant", "m"],
        ["--target-epsilon", "0"],
        ["--target-epsilon", "nan"],
        ["--target-size", "401"],
        ["--target-size", "-1"],
        ["--target-size", "three"],
        ["--seed", "-1"],
        ["--seed", "x"],
        ["--statistic", "y=l2"],
        ["--statistic", "z"],
        ["--certificate", tmp_path / "o.csv"],
        ["--certificate", tmp_path / "no" / "c.json"],
        ["--certificate", tmp_path],
        ["--certificate", data],
        ["--certificate", "/dev/full"],
    ):
        arguments = options if set(options) & {"--q", "--rule", "--target-epsilon", "--target-size"} else ["--q", "1/2", *options]
        assert pdp("sample", lloyd, *arguments, *base).refused(), options
    for out in (tmp_path / "no" / "o.csv", tmp_path / "o.txt", tmp_path, data, "/proc/o.csv"):
        assert pdp("sample", lloyd, "--q", "1/2", "--data", data, "--out", out, "-s", "z=l2").refused(), out
    for missing in (tmp_path / "nothing.csv", tmp_path):
        assert pdp("sample", lloyd, "--q", "1/2", "--data", missing, "--out", tmp_path / "o.csv").refused()
    assert pdp("sample", lloyd, "--q", "1/2", "--out", tmp_path / "o.csv").refused()
    assert pdp("sample", tmp_path / "nothing.toml", "--q", "1/2", *base).refused()
    assert files(tmp_path) == before


def test_exit_codes_of_refuted_and_undecided(pdp, lloyd, data, profile_file, tmp_path):
    base = ["--data", data, "--out", tmp_path / "o.csv", "-s", "z=l2"]
    result = pdp("sample", lloyd, "--target-epsilon", "0.1", *base)
    assert (result.code, "assumption-8" in result.err) == (1, True)
    strange = profile_file("2 + z*cos(w)", "z = [0, 1]")
    result = pdp("sample", strange, "--target-epsilon", "4", *base)
    assert (result.code, "convex" in result.err) == (3, True)
    assert files(tmp_path) == ["data.parquet", "lloyd.toml", "profile.toml"]
