"""Faulty and sound data with markers through every command that reads data: what came from them is shown where that is marked, only."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import shlex
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import accountant.data
from accountant.cli import audit, calibrate, report, sample, weights
from tests.private_output.markers import NAME, ROWS, VALUE, traces_in

PROFILE = 'name = "p"\nepsilon = "w*z/4"\n[record]\nz = [0, 4]\n[sampling]\nq = "1/2"\n'
MECHANISM = '''
"""Mechanisms for the survey; one of them quotes its data in an error."""

import sys

import numpy as np

from profiles import declare
from profiles.mechanisms import LaplaceSum

honest = LaplaceSum(b=4000, radius=2000000)


def noisy(dataset, rng, size):
    return rng.laplace(np.sum(dataset), 4.0, size)


class Quoting:
    profile = declare("quoting", "w*z", record={"z": [0, 4]}, source="its author")

    def statistic(self, records):
        raise ValueError(f"cannot use {records.tolist()}")

    def __call__(self, dataset, rng, size):
        raise ValueError(f"cannot use {np.asarray(dataset).tolist()}")


quoting = Quoting()


def ending(dataset, rng, size):
    sys.exit(f"cannot use {np.asarray(dataset).tolist()}")


def exact(first, second):
    raise KeyError(f"cannot use {np.asarray(first).tolist()}")
'''


def _csv(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _parquet(**columns) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


def _npy(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


FAULTY = {
    "text.csv": _csv("z,other", "1,2", f"{NAME},3"),
    "above.csv": _csv("z,other", "1,2", f"{VALUE},3"),
    "below.csv": _csv("z,other", "1,2", f"-{VALUE},3"),
    "many.csv": _csv("z", *[str(VALUE)] * ROWS),
    "missing.csv": _csv("z,other", "1,2", f",{NAME}"),
    "ragged.csv": _csv("z,other", "1,2", f"1,2,{NAME}"),
    "headless-text.csv": _csv(f"{NAME},{VALUE}", f"{NAME},1"),
    "headless-numbers.csv": _csv(f"{VALUE},1", "1,word"),
    "headless-norm.csv": _csv(f"{VALUE},1", "1,2", "nan,2"),
    "doubled.csv": _csv(f"{NAME},{NAME}", "1,2"),
    "open-quote.csv": _csv("z,other", f'1,"{NAME}'),
    "latin.csv": _csv("z,other", "1,2") + f"{NAME} \xe9,3\n".encode("latin-1"),
    "names-latin.csv": f"{NAME} \xe9,z\n1,2\n".encode("latin-1"),
    "damaged.csv.gz": gzip.compress(_csv("z", NAME))[:-9],
    "not-gzip.csv.gz": _csv("z", NAME),
    "text.parquet": _parquet(z=["1", NAME]),
    "above.parquet": _parquet(z=[1.0, VALUE]),
    "nan.parquet": _parquet(z=[1.0, float("nan")], **{NAME: [VALUE, 1.0]}),
    "null.parquet": _parquet(z=[1.0, None]),
    "nested.parquet": _parquet(z=[{NAME: 1.0}]),
    "other-names.parquet": _parquet(**{NAME: [1.0]}),
    "other-nan.parquet": _parquet(**{NAME: [float("nan")], str(VALUE): [2.0]}),
    "large.parquet": _parquet(z=[2**60], **{NAME: [2**60]}),
    "damaged.parquet": _parquet(z=[NAME])[:-20] + NAME.encode(),
    "text.npy": _npy(np.array([[NAME]])),
    "objects.npy": _npy(np.array([[NAME]], dtype=object)),
    "above.npy": _npy(np.array([[1.0], [VALUE]])),
    "infinite.npy": _npy(np.array([[1.0, VALUE], [np.inf, 2.0]])),
    "deep.npy": _npy(np.full((ROWS, 1, 2), VALUE)),
    "fields.npy": _npy(np.array([("x",)], dtype=[(NAME, "U9")])),
    "damaged.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '" + NAME.encode(),
    "text.svm": f"1 1:2\n1 1:{NAME}\n".encode(),
    "label.svm": f"1 1:2\n{NAME} 1:2\n".encode(),
    "order.svm": f"1 2:1 1:{VALUE}\n".encode(),
    "above.svm": f"1 1:{VALUE}\n".encode(),
    "damaged.svm.gz": gzip.compress(f"{NAME} 1:2".encode())[:-9],
    "text.json": json.dumps([1, NAME]).encode(),
    "nan.json": f"[{VALUE}, NaN]".encode(),
    "key.json": json.dumps({"data": [1], NAME: 2}).encode(),
    "ragged.json": json.dumps([[VALUE], [1, 2]]).encode(),
    "open.json": f'["{NAME}"'.encode(),
    "weights.json": json.dumps({"data": [1], "weights": [VALUE, 1]}).encode(),
    "small-weight.json": json.dumps({"data": [1, 2], "weights": [1, -VALUE]}).encode(),
}
#: Faulty for the commands that read statistics, where a value or a name of the data was found.
WITH_VALUE = {"text.csv", "above.csv", "below.csv", "headless-text.csv", "above.parquet", "doubled.csv", "other-names.parquet"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a profile, mechanisms, a sound data set and all faulty ones."""
    (tmp_path / "p.toml").write_text(PROFILE)
    (tmp_path / "mine.py").write_text(MECHANISM)
    (tmp_path / "mine_survey.py").write_text(MECHANISM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine_survey", raising=False)
    (tmp_path / "sound.json").write_text(json.dumps([1, 2]))
    for name, content in FAULTY.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _new_files(place, before) -> list:
    return [path for path in place.rglob("*") if path not in before and path.is_file()]


def _refuses(pdp, place, *arguments) -> None:
    """Run a command that refuses data: nothing of them is shown, and no file is left."""
    before = set(place.rglob("*"))
    for more in ((), ("--json",)):
        result = pdp(*arguments, *more)
        assert result.code != 0, arguments
        assert not traces_in(result.out + result.err), (arguments, result.out, result.err)
        assert "internal error" not in result.err, result.err
    assert not [path for path in _new_files(place, before) if "__pycache__" not in str(path)]
    shown = pdp(*arguments, "--show-values")
    assert shown.code == result.code
    assert not traces_in(shown.out.split("for your eyes only")[0] + shown.err.split("for your eyes only")[0]), shown.err


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("command", ["weights", "sample"])
@pytest.mark.parametrize("statistic", ["z=z", "z=l2", "z=linf"])
@pytest.mark.parametrize("name", sorted(name for name in FAULTY if not name.endswith(".json")))
def test_faulty_files_are_refused_without_what_is_in_them(pdp, place, command, statistic, name):
    out = place / "out.csv"
    arguments = (command, "p.toml", "-e", "3", "--data", name, "--out", out, "--statistic", statistic)
    if pdp(*arguments).code == 0:  # not faulty for this statistic
        pytest.skip("the data can be used so")
    _refuses(pdp, place, *arguments)
    if name in WITH_VALUE and statistic == "z=z" and (command, name) != ("sample", "doubled.csv"):
        shown = pdp(*arguments, "--show-values")
        assert "for your eyes only: " in shown.err
        assert traces_in(shown.err), shown.err


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", sorted(FAULTY))
def test_faulty_data_sets_of_an_audit_are_refused_without_what_is_in_them(pdp, place, name):
    common = ("--claimed", "1", "--samples", "20")
    for pair in ((name, "sound.json"), ("sound.json", name)):
        arguments = ("audit", "mine.py:noisy", "--dataset", pair[0], "--neighbor", pair[1], *common)
        result = pdp(*arguments)
        before_mark = result.out.split("For your eyes only")[0]
        assert not traces_in(before_mark + result.err), (result.out, result.err)
        if result.code == 2:
            _refuses(pdp, place, *arguments)
    inline = FAULTY[name]
    if name.endswith(".json"):
        text = inline.decode()
        _refuses(pdp, place, "audit", "mine.py:noisy", "--dataset", text, "--neighbor", "[1]", *common)
        _refuses(
            pdp, place, "report", "mine_survey:honest", "-e", "999999", "--audit-samples", "20", "--out", "r.html", "--dataset", text,
            "--neighbor", "[1]",
        )  # fmt: skip


@pytest.mark.parametrize("size", ["100000", "1237.5"])
@pytest.mark.parametrize("command", ["weights", "sample"])
def test_a_size_that_the_data_cannot_have_does_not_tell_theirs(pdp, place, command, size):
    (place / "many.csv").write_text("z\n" + "2\n" * ROWS)
    result = pdp(command, "p.toml", "--target-size", size, "--data", "many.csv", "--out", "o.csv", "--statistic", "z=z")
    assert result.code == 2
    assert not traces_in(result.err.replace(size, ""))
    shown = pdp(command, "p.toml", "--target-size", size, "--data", "many.csv", "--out", "o.csv", "--show-values").err
    assert f"for your eyes only: there are {ROWS} records" in shown


@pytest.mark.parametrize("target", [("-e", "3"), ("--target-size", "100")])
def test_weights_mark_what_depends_on_the_data(pdp, place, target):
    (place / "many.csv").write_text("z\n" + "2\n" * ROWS)
    arguments = ("weights", "p.toml", *target, "--data", "many.csv", "--out", "o.csv")
    found = pdp(*arguments, "--json").json()
    private = found.pop("private")
    assert (private["records"], private["weights"]["infinite"]) == (ROWS, 0)
    assert not traces_in(json.dumps(found))
    numbers = {str(private["expected_sample_size"]), str(private["weights"]["smallest"]), str(private["weights"]["largest"])}
    assert not [number for number in numbers if number in json.dumps(found)]
    assert (found["target_epsilon"] is None) == ("target_epsilon" in private) == (target[0] == "--target-size")
    text = pdp(*arguments).out
    public, marked, told = text.partition("for your eyes only")
    assert marked
    assert not traces_in(public)
    assert str(ROWS) in told
    assert private["expected_sample_size"] in told
    assert private["expected_sample_size"] not in public


def test_a_sample_marks_what_depends_on_the_data(pdp, place):
    (place / "many.csv").write_text("z\n" + "2\n" * ROWS)
    arguments = ("sample", "p.toml", "-e", "3", "--data", "many.csv", "--out", "o.csv", "--seed", "5", "--force")
    found = pdp(*arguments, "--json").json()
    private = found.pop("private")
    assert private["records"] == ROWS
    assert not traces_in(json.dumps(found))
    assert not traces_in((place / "o.csv.certificate.json").read_text())
    public, _, told = pdp(*arguments).out.partition("for your eyes only")
    assert not traces_in(public)
    assert str(ROWS) in told


PAIRS = {"inline": (f"[{VALUE}, 1]", "[1]"), "weighted": (f'{{"data": [1, {VALUE}], "weights": [1, 1]}}', '{"data": [1]}')}


@pytest.mark.thorough
@pytest.mark.parametrize("pair", PAIRS)
def test_an_audit_marks_the_record_the_events_and_the_command(pdp, place, pair):
    first, second = PAIRS[pair]
    arguments = ("audit", "mine.py:honest", "--dataset", first, "--neighbor", second, "--samples", "400", "--seed", "1", "--plot", "p.svg")
    result = pdp(*arguments, "--json")
    found = result.json()
    private = found.pop("private")
    assert not traces_in(json.dumps(found))
    assert not {"events", "repeat", "bets_on"} & set(found)
    assert found["pair"] == "D has one record more"
    assert traces_in(private["record"])
    assert traces_in(private["claim_at"])
    words = shlex.split(private["repeat"])
    assert words[words.index("--dataset") + 1] == first
    assert {"epsilon_lower", "claimed", "confidence", "verdict", "samples"} <= set(found)
    public, marked, told = pdp(*arguments).out.partition("For your eyes only")
    assert marked
    assert not traces_in(public)
    assert "event A" not in public
    assert traces_in(told)
    assert "for your eyes only" in (place / "p.svg").read_text() or "<use" in (place / "p.svg").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", ["mine.py:quoting", "mine.py:ending"])
@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_a_mechanism_says_of_its_data_is_kept_back(pdp, place, mechanism, processes):
    claim = ("--claimed", "1") if mechanism.endswith("ending") else ("--claimed", "2")
    arguments = ("audit", mechanism, "--dataset", f"[{VALUE}, 1]", "--neighbor", "[1]", *claim, "--samples", "20", "--processes", processes)
    _refuses(pdp, place, *arguments)
    result = pdp(*arguments)
    assert "mine.py" in result.err  # where it was raised, which is no data
    assert traces_in(pdp(*arguments, "--show-values").err)


def test_what_helpers_of_an_audit_say_of_the_data_is_kept_back(pdp, place):
    pair = ("--dataset", f"[{VALUE}, 1]", "--neighbor", "[1]", "--samples", "20")
    _refuses(pdp, place, "audit", "mine.py:quoting", *pair)  # statistic() raises
    _refuses(pdp, place, "audit", "mine.py:noisy", *pair, "--claimed", "1", "--exact", "mine.py:exact")
    _refuses(pdp, place, "audit", "mine.py:noisy", *pair, "--profile", "p.toml", "--at", "z=l2")  # outside the range
    assert traces_in(pdp("audit", "mine.py:noisy", *pair, "--profile", "p.toml", "--at", "z=l2", "--show-values").err)


@pytest.mark.thorough
@pytest.mark.parametrize("pair", PAIRS)
def test_a_report_has_no_record(pdp, place, pair):
    first, second = PAIRS[pair]
    arguments = ("report", "mine_survey:honest", "-e", "999999", "--audit-samples", "400", "--seed", "1", "--out", "r.html")
    result = pdp(*arguments, "--dataset", first, "--neighbor", second)
    page = (place / "r.html").read_text()
    assert result.code in (0, 3), result.err
    assert not traces_in(page.replace(NAME, "") if pair == "never" else page)
    assert not traces_in(result.out + result.err)
    assert "D has one record more" in page
    assert "not shown" in page
    assert "output at" not in page  # nor an event, whose border tells where the outputs lie


@pytest.mark.thorough
def test_the_pair_of_a_report_that_is_nobodys_is_shown(pdp, place):
    arguments = ("report", "profiles.mechanisms.laplace_sum:default", "-e", "8", "--audit-samples", "400", "--seed", "1", "--out", "r.html")
    assert pdp(*arguments).code == 0
    page = (place / "r.html").read_text()
    assert "D has one record more: x = (" in page
    assert "Events that tell D and D′ apart" in page


def test_an_unforeseen_error_does_not_quote_the_data(pdp, place, monkeypatch):
    def fail(*_arguments, **_options):
        raise RuntimeError(f"could not digest {NAME}")

    monkeypatch.setattr(accountant.data, "compute_weights_file", fail)
    arguments = ("weights", "p.toml", "-e", "3", "--data", "above.csv", "--out", "o.csv")
    result = pdp(*arguments)
    assert result.code == 2
    assert "RuntimeError" in result.err
    assert not traces_in(result.err)
    assert traces_in(pdp(*arguments, "--show-values").err)


def test_every_command_that_reads_data_has_the_one_option():
    for command in (weights, sample, audit, report, calibrate):
        assert "show_values" in {item.name for item in dataclasses.fields(command.Options)}
