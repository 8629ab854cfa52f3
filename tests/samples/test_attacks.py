"""Ways to get a guarantee that is too good: two uses of the same bits or the same sample, another mechanism, an edited certificate."""

from __future__ import annotations

import copy
import itertools
import json
import os
import pickle
import threading
from pathlib import Path

import mpmath
import numpy as np
import pyarrow as pa
import pytest

import accountant.samples.once as once_module
import profiles.files as files_module
from accountant import draw_sample, plan_sample, sample_file
from accountant.data import parse_statistic
from accountant.samples import check_certificate, read_certificate
from accountant.samples.checking import name_unstated
from accountant.selection.select import METHODS
from profiles import InvalidArgument, InvalidData, SampleUsed, declare
from profiles.hypotheses import EXACT_REALS, FIXED_IN_ADVANCE, NOT_REDRAWN, ONLY_RELEASE, PUBLIC_CENTRES, REGISTRY, WEIGHT_AS_GIVEN, Head
from profiles.mechanisms import LaplaceSum, WeightedCount, WeightedLloyd
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BLOCK

SUM, COUNT = LaplaceSum(b=20, radius=4), WeightedCount(beta_count=50)
Z = pa.table({"z": np.linspace(0, 4, 50)})


class StoppingBits:
    """First digits that select 100 records, then nobody; the first single digit waits for a second thread to go ahead."""

    name, hypothesis, seed = "for a test", "none", None

    def __init__(self):
        self.waiting, self.go = threading.Event(), threading.Event()

    def block(self):
        digits = np.full(BLOCK, 65_535, dtype=np.uint16)
        digits[:100] = 0
        digits[0] = 32_768
        return digits

    def digit(self):
        self.waiting.set()
        self.go.wait(0.5)
        return 0

    def words(self, count):
        raise AssertionError("a sampler takes no words")


def test_two_threads_never_use_the_same_bits():
    bits = StoppingBits()
    sampler, found = PoissonSampler(bits), {}
    q = np.full(100, 0.5 + 2.0**-20)
    first = threading.Thread(target=lambda: found.update(first=sampler.select(q)))
    first.start()
    assert bits.waiting.wait(5)
    second = threading.Thread(target=lambda: found.update(second=sampler.select(q)) or bits.go.set())
    second.start()
    first.join()
    second.join()
    assert found["first"].all()
    assert not found["second"].any(), "the second thread has the bits of the first one"


@pytest.mark.parametrize("source", [None, 7])
def test_a_sampler_is_not_copied_with_its_bits(source):
    sampler = PoissonSampler(source)
    sampler.select(np.full(10, 0.5))
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(InvalidArgument, match="cannot be copied"):
            attempt(sampler)


def in_a_fork(work):
    """What ``work`` says in a forked process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except Exception as error:
            said = type(error).__name__
        os.write(writer, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    said = os.read(reader, 1000).decode()
    os.close(reader)
    os.close(writer)
    return said


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_share_neither_bits_nor_samples():
    seeded, secure = PoissonSampler(7), PoissonSampler()
    q = np.full(2_000, 0.5)
    seeded.select(q)
    secure.select(q)
    assert in_a_fork(lambda: seeded.select(q)) == "InvalidArgument", "the child would draw what the parent draws"
    assert in_a_fork(lambda: secure.select(q).size) == "2000"
    sample = draw_sample(SUM, Z, target_epsilon="1/2")
    assert in_a_fork(sample.consume) == "SampleUsed"
    sample.consume()


class Falling:
    """A mechanism that costs more for smaller statistics."""

    profile = declare("falling", "w*(5 - z)/20", record={"z": [0, 4]})

    def statistic(self, points):
        return {"z": np.abs(points[:, 0])}

    def run(self, points, weights, rng):
        return points.shape


def test_columns_for_which_epsilon_is_larger_are_refused_also_where_it_falls_with_the_statistic():
    table = pa.table({"large": np.full(50, 4.0), "small": np.zeros(50), "bad": np.full(50, np.nan)})
    sample = draw_sample(Falling(), table, q="1/2", specs=[parse_statistic("z=large")], source=1)
    for column in ("small", "bad"):
        with pytest.raises(InvalidData, match="than the one that the weights were computed from"):
            sample.release(Falling(), np.random.default_rng(99), columns=[column])
    assert not sample.used
    sample.release(Falling(), np.random.default_rng(99), columns=["large"])
    other = draw_sample(Falling(), table, q="1/2", specs=[parse_statistic("z=small")], source=1)
    other.release(Falling(), np.random.default_rng(99), columns=["large"])


@pytest.mark.parametrize("options", [{"q": "1/2"}, {"target_epsilon": 2}, {"target_size": 1}])
def test_a_profile_file_is_read_once_so_that_no_change_can_come_between(tmp_path, monkeypatch, options):
    path, readings, read = tmp_path / "p.toml", [], files_module.load
    path.write_text('name = "p"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')

    def load(reference):
        readings.append(reference)
        declaration = read(reference)
        path.write_text('name = "p"\nepsilon = "w*z/100"\n[record]\nz = [0, 1]\n')
        return declaration

    for module in (once_module, files_module):
        monkeypatch.setattr(module, "load", load)
    sample = draw_sample(str(path), pa.table({"z": [0.5, 1.0]}), source=1, **options)
    assert readings == [str(path)]
    assert sample.plan.profile.text == "w*z"


PLANS = {
    "constrained": (SUM, {"target_epsilon": "1/2"}),
    "two runs": ([SUM, COUNT], {"target_epsilon": "1/2"}),
    "uniform": (SUM, {"rule": "uniform", "constants": {"m": 10, "n": 100}}),
    "coreset": (SUM, {"rule": "coreset", "constants": {"m": 10, "n": 100, "lam": "0.5", "mean": 2, "exponent": "3/2"}}),
    "expression": (SUM, {"q": "1/9 + c*z", "constants": {"c": "1/10"}}),
    "checked": (declare("concave", "log(1 + w*z)", record={"z": [0, 4]}, source="by hand"), {"q": "1/9 + z/10"}),
}


@pytest.fixture(scope="module", params=PLANS, ids=list(PLANS))
def certificate(request, tmp_path_factory):
    profiles, options = PLANS[request.param]
    out = tmp_path_factory.mktemp("certificate") / "out.parquet"
    return json.loads(sample_file(profiles, Z, out, source=3, **options).certificate.read_text())


def _put(certificate, index, **changes):
    """The certificate with other words for one of its hypotheses, or without it."""
    hypotheses = [dict(item) for item in certificate.get("premises", ({"sentence": text} for text in certificate["hypotheses"]))]
    hypotheses[index : index + 1] = [{**hypotheses[index], **changes}] if changes else []
    found = {**certificate, "hypotheses": [item["sentence"] for item in hypotheses]}
    return {**found, "premises": hypotheses} if "premises" in certificate else found


def edited_hypotheses(found):
    """The same, of what the second version of certificates has."""
    hypotheses, discharged, parts = found["premises"], found["discharged"], found["parts"]
    for index, item in enumerate(hypotheses):
        text = item["sentence"]
        yield f"premises without: {text}", {**found, "premises": hypotheses[:index] + hypotheses[index + 1 :]}
        heads = {head.value for head in Head} - {item["head"]}
        for name, values in {
            "head": {*heads, "", "none"},
            "id": {*REGISTRY, "", "unknown"} - {item["id"]},
            "sentence": {"", f"{text} or not", f"it may be that {text}", text[:-1], EXACT_REALS.sentence} - {text},
        }.items():
            for value in values:
                yield f"{name} {value!r} for: {text}", _put(found, index, **{name: value})
        family = REGISTRY[item["id"]]
        if family.is_family and not text.startswith("the statistic"):  # about something else
            gaps = dict.fromkeys(("name", "names", "ranges", "source", "norm"), "something else")
            yield f"another one for: {text}", _put(found, index, sentence=family.about(**gaps).sentence)
        yield f"stated by nobody: {text}", _put(found, index, id="stated")
        yield f"with a field: {text}", _put(found, index, discharged=True)
        yield f"a number for: {text}", _put(found, index, sentence=1)
    own = {"id": "stated", "head": "your code", "sentence": "the moon is full"}
    yield "a premise too many", {**found, "premises": [*hypotheses, own]}
    yield "no list of premises", {**found, "premises": {item["id"]: item for item in hypotheses}}
    yield "in another order", {**found, "premises": hypotheses[::-1]}
    for index, item in enumerate(discharged):
        rest = discharged[:index] + discharged[index + 1 :]
        yield f"not discharged: {item['hypothesis']}", {**found, "discharged": rest}
        yield f"discharged as another: {item['hypothesis']}", {**found, "discharged": [*rest, {**item, "id": "stated"}]}
        without = {key: value for key, value in item.items() if key != "id"}
        yield f"discharged without its id: {item['hypothesis']}", {**found, "discharged": [*rest, without]}
    for index, item in enumerate(hypotheses):
        claim = {"id": item["id"], "hypothesis": item["sentence"], "evidence": "trust me", "subject": found["profile"]["name"]}
        yield f"said to be discharged: {item['sentence']}", {**_put(found, index), "discharged": [*discharged, claim]}
    for unit in ("user", "event", "", None):
        yield f"unit {unit}", {**found, "unit": unit}
    inner = parts[0]
    other = {"name": "x", "source": ""}
    for changed in (
        {**inner, "name": "x"}, {"name": inner["name"], "source": "proved by me"}, {"name": inner["name"], "parts": [other]}, other,
        {"name": inner["name"], "parts": 1}, {"name": inner["name"], "parts": []}, {**inner, "more": 1}, {}, None, "x",
    ):  # fmt: skip
        yield f"part {changed}", {**found, "parts": [changed, *parts[1:]]}
    for whole in ([], parts[1:], [*parts, inner], inner, None, "x"):
        yield f"parts {whole}", {**found, "parts": whole}


def edited(certificate):
    """(what was done, the edited certificate)."""
    found = certificate
    for index, text in enumerate(found["hypotheses"]):
        yield f"without: {text}", _put(found, index)
        yield f"without, out of step: {text}", {**found, "hypotheses": _put(found, index)["hypotheses"]}
    sampler, rule, epsilon = found["sampler"], found["rule"], found["epsilon"]
    for change in (
        {"notion": "local-dp"}, {"conditional": False}, {"uses": "Good for any number of analyses."}, {"runs": [*found["runs"], "x"]},
        {"runs": ["x"]}, {"runs": []}, {"not_covered": []}, {"checked_by_kernel": False}, {"checked_by_kernel": 1}, {"extra": 1},
        {"epsilon": {**epsilon, "lower": "99"}}, {"epsilon": {**epsilon, "lower": "-1"}}, {"epsilon": {**epsilon, "delta": "0"}},
        {"epsilon": {**epsilon, "upper": "0.0001", "lower": "0"}}, {"epsilon": {**epsilon, "upper": float("inf")}},
        {"sampler": {**sampler, "draws": "rng.random() < q"}}, {"sampler": {**sampler, "pairs": "w = 1/q"}},
        {"sampler": {**sampler, "randomness": "dice"}}, {"sampler": {**sampler, "randomness": "secure source of the operating system"}},
        {"rule": {**rule, "name": "variance-optimal"}}, {"rule": {**rule, "constants": {"m": "1", "n": "7"}}},
        {"rule": {**rule, "target_epsilon": "7"}}, {"rule": {**rule, "q": "1/7"}}, {"rule": {**rule, "more": "1"}},
        {"private": {"records": 3}}, {"publishable": "no"}, {"hypotheses": None}, {"hypotheses": "; ".join(found["hypotheses"])},
        {"hypotheses": dict.fromkeys(found["hypotheses"], "refuted")}, {"discharged": [{"hypothesis": "x", "evidence": "y"}]},
        {"discharged": 3}, {"profile": {**found["profile"], "name": "x"}}, {"proof": {**found["proof"], "extra": 1}},
    ):  # fmt: skip
        if {**found, **change} != found:
            yield str(change), {**found, **change}
    for version in (True, 1.0, 2.0, 0, 3, "2", None, []):
        yield f"version {version!r}", {**found, "version": version}
    for text in ("certified", "directed", "checked"):
        pairs = next(value for key, value in METHODS.items() if key.startswith(text))
        if pairs != sampler["pairs"] and not (text == "checked" and rule["q"] is not None):
            yield f"pairs {text}", {**found, "sampler": {**sampler, "pairs": pairs}}
    for key in found:
        yield f"no {key}", {name: value for name, value in found.items() if name != key}


@pytest.mark.thorough
@pytest.mark.parametrize("edit", [edited, edited_hypotheses])
def test_no_edit_of_a_certificate_is_accepted(certificate, edit):
    """Nor one of its hypotheses: removed, reworded, renamed, put under another head, or said to be discharged."""
    assert check_certificate(certificate).accepted
    for what, changed in edit(certificate):
        report = check_certificate(changed)
        assert not report.accepted, what
        assert report.reason


@pytest.mark.thorough(quick=2)
def test_what_is_weaker_is_accepted(certificate):
    moon = {"id": "stated", "head": "your code", "sentence": "the moon is full"}
    weaker = {**certificate, "hypotheses": [*certificate["hypotheses"], "the moon is full"], "publishable": False}
    assert not check_certificate(weaker).accepted, "the two lists are out of step"
    weaker["premises"] = [*certificate["premises"], moon]
    assert check_certificate({**weaker, "epsilon": {"lower": "0", "upper": "900"}}).accepted


FIRST = sorted((Path(__file__).parent / "version1").glob("*.json"))


@pytest.mark.thorough
@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.stem)
def test_certificates_of_the_first_version_are_still_checked(path):
    """They were written by the last release before hypotheses had ids: accepted, told what they leave out, and no easier to edit."""
    found = read_certificate(path.read_text())
    assert (found["version"], "premises" in found) == (1, False)
    assert check_certificate(found).accepted
    unstated = name_unstated(found)
    assert {FIXED_IN_ADVANCE.sentence, ONLY_RELEASE.sentence, NOT_REDRAWN.sentence, WEIGHT_AS_GIVEN.sentence} <= set(unstated)
    assert not set(unstated) & set(found["hypotheses"])
    declared = "has the profile that is declared for it"
    assert sum(declared in text for text in (*unstated, *found["hypotheses"])) == 1
    free = (PUBLIC_CENTRES.sentence, "would be the same for every neighbouring data set", declared, "no private")
    for what, changed in edited(found):
        if not any(words in what for words in free):
            assert not check_certificate(changed).accepted, what
    for key in ("premises", "unit", "parts"):
        assert not check_certificate({**found, key: []}).accepted, "it is of the second version"


def test_private_figures_are_not_publishable(certificate):
    figures = {"warning": "", "records": 1, "sample_size": 1, "expected_sample_size": 1.0, "seed": None}
    assert not check_certificate({**certificate, "private": figures}).accepted
    assert check_certificate({**certificate, "private": figures, "publishable": False}).accepted


def test_a_key_that_is_given_twice_is_read_by_nobody(certificate):
    text = json.dumps(certificate)
    assert read_certificate(text) is not None
    twice = '{"epsilon": {"lower": "0", "upper": "9"}, ' + text[1:]
    assert not check_certificate(read_certificate(twice)).accepted
    nested = text.replace('"upper": ', '"upper": "9", "upper": ', 1)
    assert not check_certificate(read_certificate(nested)).accepted


def largest_loss(q, weights, costs, without, base):
    """|log| of the largest ratio of probabilities of a mechanism that says yes with probability 1/(1 + e^-S), S = base + sum of w ε."""

    def yes(rows):
        total = mpmath.mpf(0)
        for chosen in itertools.product((False, True), repeat=len(rows)):
            chance, exponent = mpmath.mpf(1), mpmath.mpf(base)
            for row, taken in zip(rows, chosen, strict=True):
                chance *= mpmath.mpf(float(q[row])) if taken else 1 - mpmath.mpf(float(q[row]))
                exponent += mpmath.mpf(float(weights[row])) * mpmath.mpf(float(costs[row])) if taken else 0
            total += chance / (1 + mpmath.exp(-exponent))
        return total

    rows = list(range(q.size))
    more, less = yes(rows), yes([row for row in rows if row != without])
    return max(abs(mpmath.log(more / less)), abs(mpmath.log((1 - more) / (1 - less))))


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    "options",
    [
        {"target_epsilon": 1}, {"target_epsilon": "3/2"}, {"q": "1/9 + z/3"}, {"q": "1/9 + z**(4/3)/3"},
        {"rule": "uniform", "constants": {"rate": 1}},
        {"rule": "coreset-l1", "constants": {"m": 10, "n": 40, "lam": 1, "mean": "1/2"}},
        {"rule": "coreset-l2", "constants": {"m": 20, "n": 40, "lam": "1/2", "mean": 1}},
    ],
)  # fmt: skip
def test_every_outcome_of_small_data_sets(options):
    """All samples of four records, at the ends of the range and beside them; the mechanism is tight, so the loss is near epsilon."""
    plan = plan_sample(declare("yes or no", "w*z", record={"z": [0, 1]}), **options)
    z = np.array([1.0, float(np.nextafter(1, 0)), 0.0, 0.37])
    chosen = plan.selector.select({"z": z})
    weights = np.where(np.isfinite(chosen.weights), chosen.weights, 0)
    with mpmath.workdps(60):
        limit = mpmath.mpf(plan.epsilon.numerator) / plan.epsilon.denominator
        losses = [largest_loss(chosen.probabilities, weights, z, row, base) for row in range(z.size) for base in (0, -80)]
        assert max(losses) <= limit
        assert max(losses) > limit * (1 - mpmath.mpf(10) ** -8)


def test_a_sample_is_used_up_by_a_mechanism_that_fails():
    class Broken(Falling):
        def run(self, points, weights, rng):
            raise ZeroDivisionError

    sample = draw_sample(Broken(), Z, q="1/2", source=1)
    with pytest.raises(ZeroDivisionError):
        sample.release(Broken(), np.random.default_rng(99))
    with pytest.raises(SampleUsed):
        sample.consume()


@pytest.mark.parametrize("source", [7, np.random.default_rng(7)], ids=["seed", "generator"])
def test_noise_is_not_made_of_the_bits_that_selected(source):
    """With one seed for both, the words that decide who is selected are those of the noise: the two are not independent."""
    sample = draw_sample(SUM, Z, q="1/2", source=source)
    with pytest.raises(InvalidArgument, match="the bits that selected"):
        sample.release(SUM, np.random.default_rng(7))
    assert not sample.used
    sample.release(SUM, np.random.default_rng(8))


def test_one_generator_may_go_on():
    rng = np.random.default_rng(7)
    draw_sample(SUM, Z, q="1/2", source=rng).release(SUM, rng)
    draw_sample(SUM, Z, q="1/2", source=rng).release(SUM, rng.spawn(1)[0])
    draw_sample(SUM, Z, q="1/2").release(SUM, np.random.default_rng())


def test_a_profile_file_is_no_output(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('name = "p"\nepsilon = "w*z"\n[record]\nz = [0, 4]\n')
    (tmp_path / "sub").mkdir()
    for certificate in (path, tmp_path / "sub" / ".." / "p.toml"):
        with pytest.raises(InvalidArgument, match="is the profile"):
            sample_file(str(path), Z, tmp_path / "out.csv", q="1/2", certificate=certificate)
    assert path.read_text().startswith("name")


TWO = declare("two", "w*z/20 + w*y/10", record={"z": [0, 4], "y": [0, 4]})
RANGED = declare("ranged", "w*z/b", record={"z": [0, 4]}, parameters={"b": [2, 3]})
LONG = [declare(letter * 150, "w*z/20", record={"z": [0, 4]}) for letter in "ab"]
BOTH = Z.append_column("y", Z["z"])
WIDE = {"relative_gap": "1e-3"}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("profiles", "options"),
    [
        (TWO, {"rule": "coreset", "constants": {"m": 3, "n": 40, "lam": "0.5", "mean": 2, "exponent": 1, "statistic": "y"}, **WIDE}),
        (RANGED, {"q": "1/3 + z/9"}), (LONG, {"q": "1/2"}), (SUM, {"target_size": 5}), (SUM, {"q": "1/b/3", "include_private": True}),
    ],
    ids=["a named statistic", "a range", "long names", "a target size", "private figures"],
)  # fmt: skip
def test_what_is_written_is_accepted(profiles, options, tmp_path):
    summary = sample_file(profiles, BOTH, tmp_path / "out.parquet", **options)
    assert check_certificate(read_certificate(summary.certificate.read_text())).accepted


@pytest.mark.thorough
def test_the_hypotheses_of_a_mechanism_are_in_the_certificate(tmp_path):
    lloyd = WeightedLloyd(initial_centres=[[-1.0], [1.0]], iterations=1, beta_count=10, beta_sum=10, p=2, radius=4)
    found = json.loads(sample_file(lloyd, Z, tmp_path / "out.parquet", q="1/2").certificate.read_text())
    assert found["hypotheses"].count(PUBLIC_CENTRES.sentence) == 1
    (run,) = found["parts"]
    assert [part["name"] for part in run["parts"]] == [part.profile.name for part in lloyd.profile.parts]
    for what, changed in edited_hypotheses(found):
        if PUBLIC_CENTRES.sentence not in what:  # what a mechanism of one's own supposes besides is its own to say
            assert not check_certificate(changed).accepted, what
