"""``pdp weights``, ``sample`` and ``epsilon`` for a target delta: files, certificates, refusals in one sentence."""

from __future__ import annotations

import csv
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import accountant
from accountant.cli.main import invoke
from accountant.data import parse_statistic
from accountant.engines import arrow_pairs
from accountant.guarantees.derive_gaussian import derive_delta
from accountant.onesided import compose
from accountant.samples import check_certificate
from accountant.selection.select import METHODS, ROUNDED, TABULATED
from profiles import InvalidArgument, SampleUsed, declare
from profiles.mechanisms import GaussianSum

FILE, DATA = "examples/gaussian.toml", "examples/points.csv"
NARROW = 'name = "noisy sum"\nnotion = "gaussian"\nmu = "w*z/sigma"\n[record]\nz = [3.9, 4]\n[parameters]\nsigma = 30\n'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "narrow.toml").write_text(NARROW)
    (tmp_path / "records.csv").write_text("z\n" + "3.95\n3.9\n4\n3.99\n" * 30)
    return {"profile": tmp_path / "narrow.toml", "data": tmp_path / "records.csv", "out": tmp_path / "out.csv", "c": tmp_path / "c.json"}


def run(words, files):
    return invoke([word.format(**files) for word in words.split()])


WEIGHTS = "weights {profile} -e 1 --target-delta 1e-5 --data {data} --out {out}"
SAMPLE = "sample {profile} -e 1 --target-delta 1e-5 --data {data} --out {out}"


@pytest.mark.thorough
def test_weights_of_a_file_are_those_of_the_map_and_their_table_is_checked(files, capsys):
    assert run(WEIGHTS + " --certificate {c} --json", files) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["target_delta"], told["steps"], told["private"]["records"]) == ("0.00001", 1, 120)
    plan = accountant.plan_sample(str(files["profile"]), target_epsilon=1, target_delta="1e-5")
    rows = list(csv.DictReader(files["out"].open()))
    zs = np.array([float(row["z"]) for row in rows])
    mapped = arrow_pairs(plan.selector)(pa.record_batch({"z": [row["z"] for row in rows]}))
    assert [float(row["weight"]) for row in rows] == mapped.column("weight").to_pylist()
    assert [float(row["q"]) for row in rows] == mapped.column("q").to_pylist()
    assert all(float(row["weight"]) * z / 30 <= plan.derived.weights.table.rows[-1].mu for row, z in zip(rows, zs, strict=True))
    assert run("check {c} --json", files) == 0
    checked = json.loads(capsys.readouterr().out)
    assert checked["claims"][-1]["claim"] == "weight-table"
    assert any("delta(1) <= 0.00001" in line for line in checked["about"]["weights"])


@pytest.mark.thorough
def test_a_sample_has_a_certificate_that_is_checked_and_keeps_its_delta(files, capsys):
    assert run(SAMPLE, files) == 0
    printed = capsys.readouterr().out
    assert "delta                 0.00001, for one sample and its analysis" in printed
    path = files["out"].with_name("out.csv.certificate.json")
    found = json.loads(path.read_text())
    assert check_certificate(found).accepted
    assert found["epsilon"] == {"upper": "1", "remove": "1", "add": "1", "delta": "0.00001"}
    earlier = {**found, "epsilon": {"upper": "1", "plus": "1", "minus": "1", "delta": "0.00001"}}
    assert check_certificate(earlier).accepted
    assert not check_certificate({**earlier, "epsilon": {**earlier["epsilon"], "plus": "0.9"}}).accepted
    assert run(f"compose {path} --json", files) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"]["delta"] == "0.00001"
    changes = {
        "epsilon": lambda v: v["epsilon"].update(upper="0.9"),
        "delta": lambda v: v["epsilon"].update(delta="1e-6"),
        "no delta": lambda v: v["epsilon"].pop("delta"),
        "target": lambda v: v["rule"].update(target_epsilon="0.5"),
        "target delta": lambda v: v["rule"]["constants"].update(target_delta="1e-6"),
        "steps": lambda v: v["rule"]["constants"].update(steps="2"),
        "scale": lambda v: v["rule"]["constants"].update(scale="3"),
        "constant": lambda v: v["rule"]["constants"].update(m="3"),
        "version": lambda v: v.update(version=2),
        "profile": lambda v: v["profile"].update(mu="w*z/(2*sigma)"),
        "notion": lambda v: v.update(notion="add-remove-dp"),
        "premise": lambda v: (v["hypotheses"].pop(0), v["premises"].pop(0)),
        "pairs": lambda v: v["sampler"].update(pairs="as one likes"),
        "rows": lambda v: v["proof"]["rows"].pop(0),
        "proof": lambda v: v.update(proof=None),
    }
    for name, change in changes.items():
        value = json.loads(json.dumps(found))
        change(value)
        assert not check_certificate(value).accepted, name


@pytest.mark.thorough
def test_several_steps_name_the_number_of_samples_that_the_guarantee_is_for(files, capsys):
    assert run(SAMPLE + " --steps 3", files) == 0
    assert "for 3 fresh samples by this plan, with an analysis each, together" in " ".join(capsys.readouterr().out.split())
    found = json.loads(files["out"].with_name("out.csv.certificate.json").read_text())
    assert check_certificate(found).accepted
    assert {"fresh-samples", "most-steps"} <= {item["id"] for item in found["premises"]}
    found["premises"] = [item for item in found["premises"] if item["id"] != "most-steps"]
    found["hypotheses"] = [item["sentence"] for item in found["premises"]]
    assert check_certificate(found).step == "sample-certificate.hypotheses"


RULED = "sample {profile} --q z/5 --delta 1e-5 --data {data} --out {out}"


@pytest.mark.parametrize("steps", [1, pytest.param(3, marks=pytest.mark.thorough)])
def test_a_sample_by_any_rule_has_epsilon_at_a_delta_and_a_certificate_that_is_checked(steps, files, capsys):
    """μ = z/30 over q = z/5 is 1/6 for every record, and q is largest at z = 4: the worst pair is that of q = 4/5."""
    assert run(RULED + f" --steps {steps} --json", files) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["steps"], told["epsilon"]["delta"], told["checked_by_kernel"]) == (steps, "0.00001", True)
    worst = derive_delta(str(files["profile"]), "1e-5", q="4/5", steps=steps)
    assert float(told["epsilon"]["upper"]) == pytest.approx(float(worst.upper), rel=0.02)
    for row in csv.DictReader(files["out"].open()):
        assert Fraction(float(row["q"])) <= Fraction(row["z"]) / 5
        assert Fraction(float(row["weight"])) * Fraction(row["z"]) <= 5
    path = files["out"].with_name("out.csv.certificate.json")
    found = json.loads(path.read_text())
    assert (found["version"], found["publishable"], check_certificate(found).accepted) == (3, True, True)
    assert ("most-steps" in {item["id"] for item in found["premises"]}) is (steps > 1)
    assert run(f"compose {path} {path} --json", files) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"]["delta"] == "0.00002"
    changes = {
        "epsilon": lambda v: v["epsilon"].update(upper="0.1"),
        "delta": lambda v: v["epsilon"].update(delta="1e-6"),
        "remove": lambda v: v["epsilon"].update(remove="0.1"),
        "q": lambda v: v["rule"].update(q="z/6"),
        "rule": lambda v: v["rule"].update(name="uniform"),
        "no q": lambda v: v["rule"].update(q=None),
        "target": lambda v: v["rule"].update(target_epsilon="1"),
        "pairs": lambda v: v["sampler"].update(pairs=METHODS[ROUNDED]),
        "table": lambda v: v["sampler"].update(pairs=METHODS[TABULATED]),
        "version": lambda v: v.update(version=2),
        "profile": lambda v: v["profile"].update(mu="w*z/(2*sigma)"),
        "rows": lambda v: v["proof"]["rows"][0].update(q="1/2"),
        "steps": lambda v: v["proof"].update(steps=steps + 1),
        "proved delta": lambda v: v["proof"].update(delta="1/1000000"),
        "proof": lambda v: v.update(proof=None),
        **{
            item["id"]: lambda v, k=place: (v["hypotheses"].pop(k), v["premises"].pop(k))
            for place, item in enumerate(found["premises"])
            if item["id"] not in ("only-release", "only-output")
        },
    }
    for name, change in changes.items():
        value = json.loads(json.dumps(found))
        change(value)
        assert not check_certificate(value).accepted, name


@pytest.mark.parametrize("options", [{"target_epsilon": 1, "target_delta": "1e-5"}, {"q": "1/4", "delta": "1e-5"}])
def test_a_gaussian_mechanism_of_the_catalogue_runs_on_its_sample_once(options):
    sum_of_two = GaussianSum(sigma=30, radius=4, dimension=2)
    data, spec = np.full((40, 2), 1.5), parse_statistic("z=l2")
    sample = accountant.draw_sample(sum_of_two, data, specs=[spec], **options)
    found = sample.release(sum_of_two)
    assert found.output.shape == (2,)
    assert found.guarantee.bound.delta == Fraction(1, 10**5)
    assert 0 < found.guarantee.bound.epsilon <= 1
    assert "exact-reals" not in [item.id for item in found.guarantee.hypotheses]
    with pytest.raises(SampleUsed):
        sample.release(sum_of_two)
    both = compose(found.guarantee, accountant.draw_sample(sum_of_two, data, specs=[spec], **options).release(sum_of_two).guarantee)
    assert both.bound.delta == Fraction(2, 10**5)


def test_a_certificate_of_epsilon_at_a_delta_is_a_release(files, capsys):
    assert run("epsilon {profile} --q 1/4 --delta 1e-5 --certificate {c} --json", files) == 0
    upper = json.loads(capsys.readouterr().out)["epsilon"]["upper"]
    assert run("compose {c} --json", files) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["epsilon"]["upper"], told["epsilon"]["delta"]) == (upper, "0.00001")
    assert any("numbers in q" in sentence for sentence in told["hypotheses"])
    changed = json.loads(files["c"].read_text()) | {"epsilon": "1/10"}
    files["c"].write_text(json.dumps(changed))
    assert run("compose {c}", files) == 2
    printed = capsys.readouterr()
    assert "rejected at weight-cover" in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.thorough
def test_a_size_lowers_the_weights_and_is_not_publishable(files, capsys):
    assert run(WEIGHTS + " --target-size 60 --json", files) == 0
    told = json.loads(capsys.readouterr().out)["private"]
    assert 59.9 < float(told["expected_sample_size"]) <= 60
    assert run(SAMPLE + " --target-size 60", files) == 0
    found = json.loads(files["out"].with_name("out.csv.certificate.json").read_text())
    assert check_certificate(found).accepted
    assert not found["publishable"]
    assert "scale-from-data" in {item["id"] for item in found["premises"]}
    found["publishable"] = True
    assert check_certificate(found).step == "sample-certificate.publishable"


@pytest.mark.thorough
def test_a_sample_in_memory_is_for_the_planned_mechanism_alone():
    class Noisy:
        profile = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": ["3.9", 4]})

        def run(self, points, weights, rng):
            return points.T @ weights + 30 * rng.standard_normal(points.shape[1])

    class Other(Noisy):
        profile = declare("noisy sum", notion="gaussian", mu="w*z/20", record={"z": ["3.9", 4]})

    data = np.full((50, 1), 3.95)
    sample = accountant.draw_sample(Noisy(), data, specs=[parse_statistic("z=l2")], target_epsilon=1, target_delta="1e-5")
    with pytest.raises(InvalidArgument, match=r"planned for mu\(w, x\)"):
        sample.release(Other())
    found = sample.release(Noisy())
    assert found.guarantee.bound.delta == found.guarantee.bound.delta_remove > 0
    assert "exact-reals" in [item.id for item in found.guarantee.hypotheses]
    with pytest.raises(SampleUsed):
        sample.consume()


@pytest.mark.thorough
def test_epsilon_at_a_delta_writes_what_is_checked_and_composed(files, capsys):
    assert run("epsilon {profile} --q 1/4 --delta 1e-5 --certificate {c} --guarantee {out} --json", files) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["checked_by_kernel"]
    assert float(told["epsilon"]["lower"]) <= float(told["epsilon"]["upper"])
    assert told["epsilon"]["delta"] == "0.00001"
    assert run("check {c}", files) == 0
    capsys.readouterr()
    assert run("compose {out} --json", files) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"]["delta"] == "0.00001"


REFUSED = {
    "no delta": ("weights {profile} -e 1 --data {data} --out {out}", 2, "add for example --target-delta"),
    "no delta by size": ("weights {profile} --target-size 3 --data {data} --out {out}", 2, "add for example --target-delta"),
    "delta 0": (WEIGHTS.replace("1e-5", "0"), 2, "above 0"),
    "delta 1": (WEIGHTS.replace("1e-5", "1"), 2, "must lie in [1e-100, 1)"),
    "delta 2": (SAMPLE.replace("1e-5", "2"), 2, "must lie in [1e-100, 1)"),
    "no epsilon": ("weights {profile} --target-delta 1e-5 --data {data} --out {out} --target-size 3", 2, "--target-epsilon"),
    "no epsilon of a sample": ("sample {profile} --target-delta 1e-5 --data {data} --out {out}", 2, "no target epsilon"),
    "too strict": (WEIGHTS.replace("-e 1", "-e 0.01").replace("1e-5", "1e-12"), 1, "at the record z = 4 of the declared domain"),
    "too strict for a sample": (SAMPLE.replace("-e 1", "-e 0.01").replace("1e-5", "1e-12"), 1, "at the record z = 4"),
    "steps": (WEIGHTS + " --steps 0", 2, "the number of steps"),
    "steps of a pure sample": ("sample examples/lloyd.toml -e 2 --steps 3 --data {data} --out {out}", 2, "belongs to a delta"),
    "steps of pure weights": ("weights examples/lloyd.toml -e 20 --steps 3 --data {data} --out {out}", 2, "add --target-delta"),
    "a pure profile": ("weights examples/lloyd.toml -e 20 --target-delta 1e-5 --data {data} --out {out}", 2, "which needs none"),
    "a pure sample": ("sample examples/lloyd.toml -e 20 --target-delta 1e-5 --data {data} --out {out}", 2, "which needs none"),
    "a rule as well": (SAMPLE + " --q 1/2", 2, "together with a rule"),
    "a delta as well": (SAMPLE + " --delta 1e-5", 2, "a delta belongs to a sampling rule"),
    "a delta without a rule": ("sample {profile} --delta 1e-5 --data {data} --out {out}", 2, "a sampling rule is needed"),
    "a target beside a delta": ("sample {profile} -e 1 --delta 1e-5 --data {data} --out {out}", 2, "give a target delta"),
    "a rule without a delta": ("sample {profile} --q 1/2 --data {data} --out {out}", 2, "a delta beside a rule"),
    "a target without a delta": ("sample {profile} -e 1 --data {data} --out {out}", 2, "give a target delta beside a target epsilon"),
    "a q above 1": (RULED.replace("z/5", "z/3"), 2, "q must be a probability"),
    "a rule at delta 1": (RULED.replace("1e-5", "1"), 2, "must lie in [1e-100, 1)"),
    "a size beside a rule": (RULED + " --target-size 3", 2, "together with a rule"),
    "delta of a pure rule": ("sample examples/lloyd.toml --q 1/2 --delta 1e-5 --data {data} --out {out}", 2, "which needs none"),
    "a size above": (WEIGHTS + " --target-size 1e9", 2, "above the number of records"),
    "one file for two": (WEIGHTS + " --certificate {out}", 2, "name two files"),
    "pure target of an epsilon": ("epsilon {profile} --q 1/4", 2, "add for example --delta"),
    "delta of a pure epsilon": ("epsilon examples/lloyd.toml --q 1/4 --delta 1e-5", 2, "which needs none"),
    "steps of a pure epsilon": ("epsilon examples/lloyd.toml --q 1/4 --steps 3", 2, "belongs to a delta"),
    "a rule beside a target": ("epsilon {profile} -e 1 --q 1/4 --delta 1e-5", 2, "together with a rule"),
}


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_one_sentence_and_leaves_no_file(name, files, capsys, tmp_path):
    words, code, said = REFUSED[name]
    before = sorted(tmp_path.iterdir())
    assert run(words, files) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err
    assert sorted(tmp_path.iterdir()) == before
