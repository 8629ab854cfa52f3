"""``pdp calibrate``: a table to choose by, exit codes, files written atomically, and what came from data marked as private."""

import json
from fractions import Fraction

import numpy as np
import pytest

PROFILE = 'name = "sum"\nepsilon = "w*z/b"\n[record]\nz = [0, 4]\n[parameters]\nb = "positive"\n'
UNIFORM = ("--rule", "uniform")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(PROFILE)
    values = np.random.default_rng(0).uniform(0, 4, 237)
    (tmp_path / "d.csv").write_text("z\n" + "\n".join(f"{value:.4f}" for value in values) + "\n")
    return tmp_path


def test_one_rule_from_the_noise_to_a_certificate_that_is_accepted(pdp, place):
    arguments = ("calibrate", "p.toml", "-e", "1", *UNIFORM, "--target-size", "10", "--constant", "n=100")
    result = pdp(*arguments, "--out", "o.toml", "--certificate", "c.json", "--json")
    found = result.json()
    assert result.code == 0
    choice = found["choices"][0]
    assert choice["verdict"] == "certified"
    assert choice["least"] is True
    assert Fraction(choice["too_small"]) < Fraction(choice["noise"]["b"])
    assert Fraction(choice["epsilon"]["upper"]) <= 1
    assert choice["guarantee"]["checked_by_kernel"] is True
    assert (found["certificate"], found["out"]) == ("c.json", "o.toml")
    assert pdp("check", "c.json").code == 0
    again = pdp("epsilon", "o.toml", "--json").json()
    assert again["epsilon"] == choice["epsilon"]
    told = {item["id"] for item in choice["guarantee"]["premises"]} - {"public-constants"}
    assert {item["id"] for item in again["premises"]} == told
    less = (place / "o.toml").read_text().replace(choice["noise"]["b"], choice["too_small"])
    (place / "less.toml").write_text(less)
    assert Fraction(pdp("epsilon", "less.toml", "--json").json()["epsilon"]["lower"]) > 1


def test_the_hypotheses_are_those_of_pdp_epsilon(pdp, place):
    text = pdp("calibrate", "p.toml", "-e", "1", *UNIFORM, "--rate", "0.1").out
    scale = text.split("in place of ")[1].split()[0]
    (place / "p2.toml").write_text(PROFILE.replace('"positive"', f'"{scale}"'))
    whole = pdp("epsilon", "p2.toml", *UNIFORM, "--constant", "rate=0.1", "--explain").out
    assumptions = whole[whole.index("Valid only under") : whole.index("derivation:")].rstrip()
    assert assumptions in text
    assert "settled assumptions (--all shows them, and every sentence in full)" in text
    assert "--all" not in pdp("calibrate", "p.toml", "-e", "1", *UNIFORM, "--rate", "0.1", "--all").out


@pytest.mark.thorough
def test_several_rules_are_rows_of_one_table(pdp, place):
    options = ("--target-size", "10", "--constant", "n=100,lam=0.5,coreset-l1.mean=1.2", "--rule", "uniform", "--rule", "coreset-l1")
    found = pdp("calibrate", "p.toml", "-e", "1", *options, "--json").json()
    assert [choice["rule"] for choice in found["choices"]] == ["uniform", "coreset-l1"]
    text = pdp("calibrate", "p.toml", "-e", "1", *options).out
    assert text.index("uniform: certified") < text.index("coreset-l1: certified")
    assert "n, m and lam are public" in text
    assert max(map(len, text.splitlines())) <= 80
    for option in ("--out", "--certificate"):
        result = pdp("calibrate", "p.toml", "-e", "1", *options, option, "x.toml")
        assert result.refused()
        assert "give one rule" in result.err
    assert not (place / "x.toml").exists()


EXITS = {
    "infeasible": ("w*(1 + z/b)", "0.5", 1),
    "infeasible in the limit": ("w*(1 + z/b)", "1", 1),
    "certified": ("w*(1 + z/b)", "1.1", 0),
    "rises": ("w*z*b", "1", 2),
    "not in it": ("w*z + 0*w", "1", 2),
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", EXITS)
def test_exit_codes(pdp, place, name):
    epsilon, target, code = EXITS[name]
    (place / "p.toml").write_text(PROFILE.replace("w*z/b", epsilon))
    result = pdp("calibrate", "p.toml", "-e", target, *UNIFORM, "--rate", "1", "--out", "o.toml", "--json")
    assert result.code == code, result.err
    assert (place / "o.toml").exists() == (code == 0)
    if code == 2:
        assert result.refused()
    else:
        assert result.json()["choices"][0]["verdict"] == name.split()[0]
        assert result.json()["out"] == ("o.toml" if code == 0 else None)
    assert pdp("calibrate", "p.toml", "-e", target, *UNIFORM, "--rate", "1").code == code


REFUSED = [
    ("-e", "nan", *UNIFORM, "--rate", "0.1"),
    ("-e", "0", *UNIFORM, "--rate", "0.1"),
    ("-e", "1", *UNIFORM, "--rate", "nan"),
    ("-e", "1", *UNIFORM, "--target-size", "20", "--constant", "n=10"),
    ("-e", "1", *UNIFORM, "--target-size", "20"),
    ("-e", "1"),
    ("-e", "1", "--rule", "uniforn", "--rate", "0.1"),
    ("-e", "1", "--rule", "variance-optimal"),
    ("-e", "1", "--rule", "privacy-constrained", "--target-size", "3"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--parameter", "bb"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--parameter", "b=0"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--parameter", "b=x"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--out", "o.json"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--out", "p.toml"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--out", "no/o.toml"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--out", "o.toml", "--certificate", "o.toml"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--data", "d.csv", "--certificate", "d.csv"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--data", "none.csv"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--statistic", "z=l2"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--data", "d.csv", "--statistic", "z=l2"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--noise-norm", "l7"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--dimension", "0"),
    ("-e", "1", *UNIFORM, "--rate", "0.1", "--tolerance", "2"),
    ("-e", "1", "--q", "2", "--out", "o.toml"),
    ("-e", "1", "--q", "1/2", "--target-size", "3"),
]


@pytest.mark.thorough(quick=18)
@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_cannot_be_used_is_one_line_and_leaves_no_file(pdp, place, arguments):
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    result = pdp("calibrate", "p.toml", *arguments)
    assert result.refused()
    assert len(result.err.strip().splitlines()) == 1
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.thorough
def test_what_depends_on_the_data_is_private_and_in_no_file(pdp, place):
    both = ("--rule", "uniform", "--rule", "privacy-constrained", "--target-size", "40", "--constant", "n=237", "--data", "d.csv")
    found = pdp("calibrate", "p.toml", "-e", "2", *both, "--json").json()
    private = found.pop("private")
    assert set(private) == {"uniform", "privacy-constrained"}
    assert set(private["uniform"]) == {"error"}
    assert {"noise", "expected_sample_size", "error"} <= set(private["privacy-constrained"])
    numbers = [*private["privacy-constrained"]["noise"].values(), *(item["error"]["root_mean_square"] for item in private.values())]
    assert not [number for number in numbers if number in json.dumps(found)]
    text = pdp("calibrate", "p.toml", "-e", "2", *both).out
    public, marked, told = text.partition("for your eyes only")
    assert marked
    assert not [number for number in numbers if number in public]
    assert all(number in told for number in numbers)
    result = pdp("calibrate", "p.toml", "-e", "2", *both[2:], "--out", "o.toml")
    assert result.refused()
    assert "computed from the data" in result.err
    one = pdp("calibrate", "p.toml", "-e", "2", *UNIFORM, "--rate", "0.2", "--data", "d.csv", "--out", "o.toml", "--certificate", "c.json")
    assert one.code == 0
    written = (place / "o.toml").read_text() + (place / "c.json").read_text()
    assert private["uniform"]["error"]["root_mean_square"] not in written


@pytest.mark.parametrize("text", ["z\n1\nAlice\n", "z\n1\n123456.5\n", "z,y\n1,2\n,3\n", "y\n1\n", "z\n"])
def test_faulty_data_are_refused_before_the_search_and_not_shown(pdp, place, text):
    (place / "d.csv").write_text(text)
    arguments = ("calibrate", "p.toml", "-e", "2", *UNIFORM, "--rate", "0.2", "--data", "d.csv")
    result = pdp(*arguments)
    assert result.refused()
    assert "Alice" not in result.err
    assert "123456" not in result.err
    if "Alice" in text or "123456" in text:
        assert "for your eyes only" in pdp(*arguments, "--show-values").err


def test_catalogue_and_examples(pdp, place):
    found = pdp("calibrate", "profiles.mechanisms.lloyd:default", "-e", "5", "--parameter", "beta_sum=1,beta_count=2", *UNIFORM, "--rate", "0.1", "--json")  # fmt: skip # noqa: E501
    assert found.code == 0
    noise = found.json()["choices"][0]["noise"]
    assert Fraction(noise["beta_count"]) == 2 * Fraction(noise["beta_sum"])


def test_several_statistics_are_the_coordinates_of_the_sum(pdp, place):
    (place / "two.toml").write_text(
        'name = "two"\nepsilon = "w*(z + t)/b"\n[record]\nz = [0, 3]\nt = [0, 4]\n[parameters]\nb = "positive"\n'
    )
    (place / "two.csv").write_text("z,t\n" + "3,4\n" * 10)
    words = ("calibrate", "two.toml", "-e", "1", *UNIFORM, "--rate", "0.1", "--data", "two.csv", "--statistic", "z=z", "--statistic", "t=t")
    found = pdp(*words)
    assert found.code == 0
    assert "variance 2250.01 from sampling, 2329.8" in found.out  # 10 records of norm 5: 10 (1/0.1 - 1) 25; two coordinates of 2 b^2
    both = ("--statistic", "z=l1", "--statistic", "t=l2")
    refused = pdp(*words[:-4], *both)
    assert refused.refused()
    assert "are norms" in refused.err
