"""``pdp weights``, ``sample`` and ``epsilon`` for a target delta: files, certificates, refusals in one sentence."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pytest

import accountant
from accountant.cli.main import invoke
from accountant.engines import arrow_pairs
from accountant.samples import check_certificate
from profiles import InvalidArgument, SampleUsed, declare

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
    assert found["epsilon"] == {"upper": "1", "plus": "1", "minus": "1", "delta": "0.00001"}
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
    from accountant.data import parse_statistic  # noqa: PLC0415

    sample = accountant.draw_sample(Noisy(), data, specs=[parse_statistic("z=l2")], target_epsilon=1, target_delta="1e-5")
    with pytest.raises(InvalidArgument, match=r"planned for mu\(w, x\)"):
        sample.release(Other())
    found = sample.release(Noisy())
    assert found.guarantee.bound.delta == found.guarantee.bound.delta_plus > 0
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
    "delta 1": (WEIGHTS.replace("1e-5", "1"), 2, "between 0 and 1"),
    "delta 2": (SAMPLE.replace("1e-5", "2"), 2, "between 0 and 1"),
    "no epsilon": ("weights {profile} --target-delta 1e-5 --data {data} --out {out} --target-size 3", 2, "--target-epsilon"),
    "no epsilon of a sample": ("sample {profile} --target-delta 1e-5 --data {data} --out {out}", 2, "no target epsilon"),
    "too strict": (WEIGHTS.replace("-e 1", "-e 0.01").replace("1e-5", "1e-12"), 1, "at the record z = 4 of the declared domain"),
    "too strict for a sample": (SAMPLE.replace("-e 1", "-e 0.01").replace("1e-5", "1e-12"), 1, "at the record z = 4"),
    "steps": (WEIGHTS + " --steps 0", 2, "the number of steps"),
    "steps of a pure sample": ("sample examples/lloyd.toml -e 2 --steps 3 --data {data} --out {out}", 2, "belongs to a target delta"),
    "steps of pure weights": ("weights examples/lloyd.toml -e 20 --steps 3 --data {data} --out {out}", 2, "add --target-delta"),
    "a pure profile": ("weights examples/lloyd.toml -e 20 --target-delta 1e-5 --data {data} --out {out}", 2, "which needs none"),
    "a pure sample": ("sample examples/lloyd.toml -e 20 --target-delta 1e-5 --data {data} --out {out}", 2, "which needs none"),
    "a rule as well": (SAMPLE + " --q 1/2", 2, "together with a rule"),
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
