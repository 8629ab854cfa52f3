"""On every way to a printed guarantee, each hypothesis of each rule is open or was discharged, and every print and file says so."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from accountant import (
    DPLloyd,
    amplify_once,
    calibrate_noise,
    calibrate_noise_for_size,
    compose,
    derive_epsilon,
    draw_sample,
    plan_sample,
    sample_file,
)
from accountant.applications.clustering import PrivateMetricClustering, read_distances
from accountant.applications.heavyhitters import HeavyHitterMonitor
from accountant.applications.repeated import declare_repeated, subsampled_exponential, subsampled_threshold
from accountant.applications.setcover import FreshSampleScaling, NoisyGreedy, OneSampleScaling, PrivateSetCover
from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, PrivateGreedy
from accountant.applications.submodular.matroids import PrivateMatroidGreedy, UniformMatroid
from accountant.calibration import constrained_rule_for_size
from accountant.curves import Composition, make_event
from accountant.guarantees import (
    EXACT_REALS,
    Derivation,
    Guarantee,
    Losses,
    Unit,
    adaptive_composition,
    amplify_by_importance_sampling,
    assume,
    base_profile,
    bound_by_cover,
    bound_by_table,
    curve_of_guarantee,
    curve_of_profile,
    declare_events,
    derive_mechanism,
    derive_profile,
    discharge,
    point_of_curve,
    point_of_weights,
    post_processing,
    realise_draws,
    render,
    to_json,
    worst_case,
)
from accountant.guarantees.budgets import keep_within_budget
from accountant.guarantees.combining import change_neighbors, compose_parts, group
from accountant.guarantees.filters import filter_releases
from accountant.guarantees.statements import RULES, WORLD, may_close
from accountant.guarantees.theorem import Inference, conclude
from accountant.interop import read_guarantee, replay, suppose, write_guarantee
from accountant.interop.carriers import read_release
from accountant.onesided import (
    both_directions,
    declare_add_dp,
    declare_directions,
    subsample,
    worst_case_directions,
)
from accountant.rules import RULES as SAMPLING
from accountant.rules import make_rule, rule_from_expression
from accountant.rules.gaussian import make_gaussian_rule
from accountant.samples import check_certificate
from profiles import InvalidArgument, NotReplayed, UnreadableFile, compose_adaptively, declare
from profiles.hypotheses import PROBABILITY, REGISTRY, SECURE_BITS, Hypothesis, fill_in, name_declaration
from profiles.mechanisms import GaussianSum, LaplaceSum, WeightedCount, WeightedLloyd
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from profiles.protection import RECORDS, USERS

SUM = declare("noisy sum", "w*z/3", record={"z": ["0.5", 2]}, source="Dwork et al. 2006")
COUNT = declare("noisy count", "w/2")
BOTH = compose_adaptively("both", [COUNT, SUM], times=2)
SCALED = declare("scaled", "w*z/b", record={"z": [0, 2]}, parameters={"b": "positive"})
SUMS = Composition("sums", (make_event("gaussian", {"noise_multiplier": 6}, count=4),))
STEPS = Composition("steps", (make_event("gaussian", {"noise_multiplier": 1}, sampling_probability="1/100", count=10),))
WHOLE = Composition("counts", (make_event("discrete-laplace", {"scale": 3}), make_event("zcdp", {"rho": "0.1"})))
POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2))
TABLE = pa.table({"z": np.linspace(0, 4, 50)})
SETS = CoverageInstance.from_sets([[x % 3] for x in range(30)], candidates=4)
OURS = (LaplaceSum(b=20, radius=4), WeightedCount(beta_count=50))
LLOYD = WeightedLloyd(initial_centres=[[-1.0], [1.0]], iterations=1, beta_count=10, beta_sum=10, p=2, radius=4)
IN_BINARY64 = LaplaceSum(b=20, radius=4, arithmetic="binary64")
CORESET: dict[str, object] = {"m": 10, "n": 100, "lam": "1/2", "mean": 1}


class Own:
    """A mechanism of the user's, with a profile that is only declared."""

    profile = declare("own", "w*z/3", record={"z": [0, 4]})

    def run(self, points: Any, weights: Any, rng: Any) -> Any:
        return (weights.sum(), points.sum(), rng.random())


def _letters(chosen: tuple[str, ...]) -> Any:
    left = [letter for letter in "ab" if letter not in chosen]
    return left, lambda data: np.array([sum(letter in row and not set(row) & set(chosen) for row in data) for letter in left])


def _watch(answers: tuple[bool, ...]) -> Any:
    return (lambda data: sum("ab"[len(answers)] in row for row in data)), 2


def _select(q: Any, rng: np.random.Generator) -> Any:
    return rng.random(len(q)) < q


NOISY = declare("noisy", notion="gaussian", mu="w*z/9", record={"z": [0, 1]})
NORMAL = {"noise": "gaussian", "delta": "1e-6"}


def _kmeans(**options: Any) -> DPLloyd:
    return DPLloyd(2, epsilon=2, radius=1, iterations=2, **options)


def _halves() -> Iterator[dict[str, Any]]:
    yield {"z": TABLE["z"].to_numpy() / 2}


def _sampled(kind: Any, **options: Any) -> Any:
    return kind(**{"rounds": 2, "sensitivity": 2, "epsilon": 1, **options})


def _monitor(**options: Any) -> HeavyHitterMonitor:
    return HeavyHitterMonitor(k=2, epsilon="0.5", threshold=10, domain=["a"], times=range(3), **options)


def _cover(algorithm: Any) -> Callable[[], Guarantee]:
    return lambda: PrivateSetCover(2, 4, algorithm).run(SETS).guarantee


def _constants(name: str) -> dict[str, object]:
    if name == "uniform":
        return {"rate": "1/10"}
    return {**CORESET, "exponent": "3/2"} if name == "coreset" else CORESET


def _by_rule(name: str) -> Guarantee:
    if name == "privacy-constrained":
        return derive_epsilon(SUM, rule=name, target_epsilon="3/2").guarantee
    return derive_epsilon(SUM, rule=name, constants=_constants(name)).guarantee


def _repeated(kind: Any, select: Any) -> Guarantee:
    return declare_repeated(kind(select=select, rounds=2, epsilon0=1, sensitivity=1))


def _directions() -> Guarantee:
    return declare_directions("svt", "1.5", 2, source="me", delta_remove="1e-9")


EXPLICIT = [name for name in SAMPLING if name not in ("privacy-constrained", "variance-optimal")]
PATHS: dict[str, Callable[[], Guarantee]] = {
    "declared": lambda: base_profile(SUM),
    "declared without a source": lambda: derive_profile(COUNT),
    "declared for arithmetic of one's own": lambda: base_profile(SUM, ()),
    "composed": lambda: derive_profile(BOTH),
    "composed twice": lambda: derive_profile(compose_adaptively("twice", [BOTH], times=2)),
    "composed, one part discharged": lambda: adaptive_composition(
        BOTH, [discharge(base_profile(COUNT), EXACT_REALS, "integers"), base_profile(SUM)]
    ),
    "a mechanism of ours": lambda: derive_mechanism(LLOYD),
    "a mechanism of ours in binary64": lambda: derive_mechanism(IN_BINARY64),
    "a mechanism of one's own": lambda: derive_mechanism(Own()),
    "a Gaussian mechanism of ours": lambda: derive_mechanism(GaussianSum(sigma=3, radius=1)),
    "a Gaussian mechanism of ours, at a delta": lambda: point_of_curve(derive_mechanism(GaussianSum(sigma=3, radius=1)), at_delta="1e-6"),
    "a Gaussian profile": lambda: curve_of_profile(NOISY),
    "a Gaussian profile without statistics": lambda: curve_of_profile(declare("noisy count", notion="gaussian", mu="w/9")),
    "a Gaussian profile on a sample": lambda: point_of_weights(
        NOISY, at_epsilon=1, at_delta="1e-5", weight_pairs=[(Fraction(1, 8), Fraction(3))]
    ),
    "a Gaussian profile by a table": lambda: bound_by_table(NOISY, rule=make_gaussian_rule(Fraction(1), Fraction(1, 10**5), 1)),
    "a Gaussian profile by a cover": lambda: bound_by_cover(
        NOISY, rule=rule_from_expression("1/4 + z/40", NOISY), at_delta="1e-5", gap="0.05"
    ),
    **{f"derive_epsilon {name}": (lambda name=name: _by_rule(name)) for name in (*EXPLICIT, "privacy-constrained")},  # type: ignore[misc]
    "derive_epsilon of a composition": lambda: derive_epsilon(BOTH, rule="coreset-l2", constants=CORESET).guarantee,
    "derive_epsilon without statistics": lambda: derive_epsilon(COUNT, q="1/2").guarantee,
    "derive_epsilon of an expression": lambda: derive_epsilon(SUM, q="rate*(1 + z)/3", constants={"rate": "1/4"}).guarantee,
    "derive_epsilon of a file": lambda: derive_epsilon(str(Path(__file__).parents[2] / "examples" / "lloyd.toml"), q="1/10").guarantee,
    "derive_epsilon of the catalogue": lambda: derive_epsilon("profiles.mechanisms.lloyd:default", q="1/10").guarantee,
    "amplify_once": lambda: amplify_once([SUM, COUNT], q="1/10").guarantee,
    "amplify_once of ours": lambda: amplify_once(OURS, q="1/10").guarantee,
    "calibrate_noise": lambda: calibrate_noise(SCALED, "uniform", 1, constants={"rate": "1/10"}).derived.guarantee,
    "calibrate_noise_for_size": lambda: calibrate_noise_for_size(SCALED, 1, 10, _halves).derived.guarantee,
    "a target from the data": lambda: derive_epsilon(
        SUM, rule=constrained_rule_for_size(SUM, 15, lambda: [{"z": np.linspace(0.5, 2, 50)}])
    ).guarantee,
    "declare_events": lambda: declare_events(SUMS),
    "declare_events, sampled": lambda: declare_events(STEPS),
    "declare_events, discrete": lambda: declare_events(WHOLE, ["the counts are of users"]),
    "curve_of_guarantee": lambda: curve_of_guarantee(_directions()),
    "curve_of_guarantee, worst case": lambda: curve_of_guarantee(_by_rule("uniform")),
    "compose_curves": lambda: compose_parts("all", [declare_events(STEPS), curve_of_guarantee(_by_rule("uniform"))]),
    "subsample_curve": lambda: subsample(declare_events(SUMS), "1/10"),
    "a budget that is kept": lambda: keep_within_budget(_by_rule("uniform"), Fraction(1000)),
    "a ledger": lambda: filter_releases(
        "people", Fraction(2), (), protection=USERS, key="id", one_number=False, raised=True, releases=["counts"]
    ),
    "point_of_curve": lambda: point_of_curve(declare_events(SUMS), at_delta="1e-6"),
    "point_of_curve at an epsilon": lambda: point_of_curve(declare_events(SUMS), at_epsilon=2),
    "replay of a point": lambda: replay(read_guarantee(write_guarantee(point_of_curve(declare_events(SUMS), at_delta="1e-6")))),
    "post_processing": lambda: post_processing(_by_rule("uniform"), "rounding"),
    "discharged": lambda: discharge(_by_rule("uniform"), EXACT_REALS, "integers"),
    "assumed": lambda: assume(_by_rule("uniform"), ["the clock is right"]),
    "both_directions": lambda: both_directions(_by_rule("uniform")),
    "declare_add_dp": lambda: declare_add_dp("svt", 1, source="a paper"),
    "declare_add_dp of users": lambda: declare_add_dp("svt", 1, source="", unit=Unit.USER),
    "declare_directions": _directions,
    "subsample": lambda: subsample(_directions(), "0.3"),
    "group": lambda: group(_directions(), 3),
    "one for another": lambda: change_neighbors(_directions(), "replace-one"),
    "one more or less": lambda: change_neighbors(change_neighbors(_directions(), "replace-one"), "add-remove"),
    "an empty one": lambda: change_neighbors(_directions(), "zero-out"),
    "realise_draws": lambda: realise_draws(subsample(_directions(), "0.3"), SECURE_BITS),
    "compose_directions": lambda: compose_parts("two", [both_directions(_by_rule("uniform")), subsample(_directions(), "0.3")]),
    "compose": lambda: compose(_by_rule("uniform"), _by_rule("uniform"), _kmeans().fit(POINTS).guarantee_),
    "worst_case_directions": lambda: worst_case_directions(declare("one way", "w*z", record={"z": [0, 1]}), None, "1/4 + z/4"),
    "worst_case_directions, both": lambda: worst_case_directions(SUM, SUM, "1/4 + z/9"),
    "plan_sample": lambda: plan_sample(SUM, target_epsilon=2).guarantee(),
    "plan_sample, several": lambda: plan_sample(OURS, q="1/10").guarantee(),
    "draw_sample": lambda: draw_sample(OURS[0], TABLE, target_epsilon="1/2").guarantee,
    "release": lambda: draw_sample(OURS[0], TABLE, target_epsilon="1/2").release(OURS[0]).guarantee,
    "release of several": lambda: draw_sample(OURS, TABLE, q="1/10").release(OURS).guarantee,
    "release in binary64": lambda: draw_sample(IN_BINARY64, TABLE, q="1/10").release(IN_BINARY64, np.random.default_rng(0)).guarantee,
    "release of Lloyd": lambda: draw_sample(LLOYD, TABLE, q="1/10").release(LLOYD).guarantee,
    "release of one's own": lambda: draw_sample(Own(), TABLE, q="1/10").release(Own()).guarantee,
    "release with a seed": lambda: draw_sample(OURS[0], TABLE, q="1/10").release(OURS[0], np.random.default_rng(0)).guarantee,
    "DPLloyd": lambda: _kmeans().fit(POINTS).guarantee_,
    "DPLloyd, projected": lambda: _kmeans(outside="project", init=np.eye(2)).fit(POINTS).guarantee_,
    "DPLloyd in binary64": lambda: _kmeans(arithmetic="binary64").fit(POINTS).guarantee_,
    "DPLloyd with weights": lambda: _kmeans(largest_weight=2).fit(POINTS, sample_weight=np.full(60, 2.0)).guarantee_,
    "DPLloyd with normal noise": lambda: _kmeans(**NORMAL).fit(POINTS).guarantee_,
    "DPLloyd with normal noise and weights": lambda: (
        _kmeans(largest_weight=2, **NORMAL).fit(POINTS, sample_weight=np.full(60, 2.0)).guarantee_
    ),
    "DPLloyd with normal noise in binary64": lambda: _kmeans(arithmetic="binary64", **NORMAL).fit(POINTS).privacy_curve_,
    "DPLloyd with normal noise on a sample": lambda: _kmeans(outside="project", **NORMAL).fit_sampled(POINTS).guarantee_,
    "DPLloyd with normal noise on a sample of one's own": lambda: _kmeans(**NORMAL).fit_sampled(POINTS, select=_select).guarantee_,
    "DPLloyd on a sample": lambda: _kmeans().fit_sampled(POINTS).guarantee_,
    "DPLloyd on a sample of one's own": lambda: _kmeans().fit_sampled(POINTS, select=_select).guarantee_,
    "OneSidedGreedy": lambda: OneSidedGreedy(1, "0.5").run(SETS).guarantee,
    "OneSidedGreedy, planned": lambda: OneSidedGreedy(1, "0.5").guarantee,
    "PrivateGreedy": lambda: PrivateGreedy(2, 1).run(SETS).guarantee,
    "PrivateGreedy, planned": lambda: PrivateGreedy(2, 1).guarantee,
    "PrivateMatroidGreedy": lambda: PrivateMatroidGreedy(matroid=UniformMatroid(4, 2), epsilon=1).run([[0], [1]]).guarantee,
    "PrivateMatroidGreedy, planned": lambda: PrivateMatroidGreedy(matroid=UniformMatroid(4, 2), epsilon=1).guarantee,
    "PrivateSetCover NoisyGreedy": _cover(NoisyGreedy()),
    "PrivateSetCover OneSampleScaling": _cover(OneSampleScaling(100)),
    "PrivateSetCover FreshSampleScaling": _cover(FreshSampleScaling(100)),
    "PrivateSetCover, planned": lambda: PrivateSetCover(2, 4, FreshSampleScaling(100)).guarantee,
    **{
        f"PrivateMetricClustering {histogram} {form}": (
            lambda histogram=histogram, form=form: PrivateMetricClustering(  # type: ignore[misc]
                read_distances([[0, 1], [1, 0]]), 1, 1, histogram=histogram, **dict([form])
            )
            .run([0, 1, 1])
            .guarantee
        )
        for histogram in ("sampled", "full")
        for form in (("rounds", 2), ("size_share", "0.1"))
    },
    "HeavyHitterMonitor": lambda: _monitor().run([]).guarantee,
    "HeavyHitterMonitor, keyed": lambda: _monitor(membership="keyed", outside="refuse").guarantee,
    "repeated exponential": lambda: _repeated(RepeatedExponential, _letters),
    "repeated threshold": lambda: _repeated(RepeatedThreshold, _watch),
    "SubsampledRepeated, exponential": lambda: _sampled(subsampled_exponential, select=_letters, rounds=1).run(["a"]).guarantee,
    "SubsampledRepeated, threshold": lambda: _sampled(subsampled_threshold, select=_watch).run(["a"]).guarantee,
    "SubsampledRepeated, planned": lambda: _sampled(subsampled_threshold, select=_watch).guarantee,
    "replay": lambda: replay(read_guarantee(write_guarantee(_by_rule("coreset-l2")))),
    "replay with a known leaf": lambda: replay(read_guarantee(write_guarantee(_by_rule("uniform"))), known=[base_profile(SUM)]),
    "suppose": lambda: suppose(read_guarantee(write_guarantee(_kmeans().fit(POINTS).guarantee_))),
    "read_release": lambda: read_release(write_guarantee(_by_rule("uniform"))),
}  # fmt: skip


@cache
def made(name: str) -> Guarantee:
    return PATHS[name]()


def nodes(derivation: Derivation) -> Iterator[Derivation]:
    yield derivation
    for child in derivation.children:
        yield from nodes(child)


def needed(guarantee: Guarantee) -> set[Hypothesis]:
    """The hypotheses of all rules behind a guarantee; families stand for all their members."""
    return {item for node in nodes(guarantee.derivation) for item in RULES[node.rule].hypotheses} | set(guarantee.unit.hypotheses)


def told(guarantee: Guarantee) -> set[Hypothesis]:
    return {*guarantee.hypotheses, *(item.hypothesis for item in guarantee.discharged)}


def line(text: str) -> str:
    """A text without its line breaks and the bars of its tree."""
    return " ".join(text.split())


@pytest.mark.thorough(quick=12)
@pytest.mark.parametrize("name", PATHS)
def test_each_hypothesis_of_each_rule_is_open_or_discharged(name: str) -> None:
    guarantee = made(name)
    everything = told(guarantee)
    ids = {item.id for item in everything}
    for hypothesis in needed(guarantee):
        assert hypothesis.id in ids, hypothesis
        assert hypothesis.is_family or guarantee.protection.state(hypothesis) in everything, hypothesis
    assert not any(item.is_family for item in everything), "a gap was not filled in"
    assert {item.id for item in everything} <= set(REGISTRY)
    for closed in guarantee.discharged:
        assert closed.evidence.strip(), closed
        assert closed.subject.strip(), closed


@pytest.mark.thorough
def test_every_rule_is_on_one_of_the_paths() -> None:
    assert {node.rule for name in PATHS for node in nodes(made(name).derivation)} == set(RULES)


@pytest.mark.thorough(quick=20)
@pytest.mark.parametrize("name", PATHS)
def test_the_print_says_each(name: str) -> None:
    guarantee = made(name)
    whole, short = line(render(guarantee, everything=True)), line(render(guarantee, everything=False))
    for item in guarantee.hypotheses:
        assert f"- {item.sentence}" in whole
        assert item.ordinary or f"- {line(item.line)}" in short
        assert item.ordinary or f" {item.head.value} - " in short
    ordinary = sum(item.ordinary for item in guarantee.hypotheses)
    assert (f"{ordinary} standard one" in short) == bool(ordinary)
    for closed in guarantee.discharged:
        assert line(f"- {closed.hypothesis.sentence} [{closed.evidence}]") in whole
    assert (f"{len(guarantee.discharged)} settled assumption" in short) == bool(guarantee.discharged)


@pytest.mark.thorough(quick=20)
@pytest.mark.parametrize("name", PATHS)
def test_the_json_says_each(name: str) -> None:
    guarantee = made(name)
    found = json.loads(json.dumps(to_json(guarantee)))
    assert [(item["id"], item["sentence"], item["head"]) for item in found["premises"]] == [
        (item.id, item.sentence, item.head.value) for item in guarantee.hypotheses
    ]
    assert found["hypotheses"] == [item["sentence"] for item in found["premises"]]
    ids = {item["id"] for item in (*found["premises"], *found["discharged"])}
    assert {hypothesis.id for hypothesis in needed(guarantee)} <= ids
    assert found["conditional"] == bool(guarantee.hypotheses)
    assert found["unit"] == guarantee.unit.name.lower()


@pytest.mark.thorough(quick=20)
@pytest.mark.parametrize("name", PATHS)
def test_the_file_says_each_and_so_does_what_is_made_of_it(name: str) -> None:
    guarantee = made(name)
    read = read_guarantee(write_guarantee(guarantee))
    assert read.stated.hypotheses == guarantee.hypotheses
    assert read.stated.discharged == guarantee.discharged
    assert read.stated.unit is guarantee.unit
    supposed = suppose(read)
    assert set(guarantee.hypotheses) < set(supposed.hypotheses)
    assert supposed.unit is guarantee.unit
    for hypothesis in supposed.hypotheses:
        assert f"- {hypothesis.sentence}" in line(read.render())
    try:
        replayed = replay(read)
    except NotReplayed:
        return
    assert {item.id for item in needed(guarantee)} <= {item.id for item in told(replayed)}
    assert set(guarantee.hypotheses) <= set(replayed.hypotheses)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    "mechanisms", [SUM.with_record(z=(0, 4)), LLOYD, [*OURS], BOTH.with_record(z=(0, 4))], ids=["declared", "ours", "several", "composed"]
)
@pytest.mark.parametrize(
    "options", [{"target_epsilon": 9}, {"q": "1/9 + c*z", "constants": {"c": "1/10"}}], ids=["constrained", "expression"]
)
def test_the_certificate_of_a_sample_says_each(mechanisms: Any, options: dict[str, Any], tmp_path: Path) -> None:
    summary = sample_file(mechanisms, TABLE, tmp_path / "out.parquet", **options)
    found = json.loads(summary.certificate.read_text())
    assert check_certificate(found).accepted
    assert (
        [item["sentence"] for item in found["premises"]] == found["hypotheses"] == [item.sentence for item in summary.guarantee.hypotheses]
    )
    ids = {item["id"] for item in (*found["premises"], *found["discharged"])}
    assert {hypothesis.id for hypothesis in needed(summary.guarantee)} <= ids
    assert {hypothesis.id for hypothesis in needed(read_release(summary.certificate.read_text()))} <= {
        item.id for item in told(read_release(summary.certificate.read_text()))
    }
    leaves = [
        part for profile in summary.plan.profiles for part in (profile.parts or (None,)) for part in ([part.profile] if part else [profile])
    ]
    assert {name_declaration(profile).sentence for profile in leaves} <= set(found["hypotheses"])


# --- a rule cannot be called without its hypotheses ------------------------------------------------------------------------------------


BOUND = Losses(Fraction(1), Fraction(1))
FAMILIES = [(rule, hypothesis) for rule, basis in RULES.items() for hypothesis in basis.hypotheses if hypothesis.is_family]


def members(rule: str) -> list[Hypothesis]:
    """A member of each family among the hypotheses of a rule."""
    gaps = dict.fromkeys(("name", "names", "ranges", "source", "what", "digest", "most", "unit"), "it")
    return [item.about(**gaps) for item in RULES[rule].hypotheses if item.is_family]


def infer(rule: str, supposes: list[Hypothesis], **options: Any) -> Guarantee:
    return conclude(Inference(rule, "it", source="nowhere", conclusion="it holds", protection=RECORDS), BOUND, supposes=supposes, **options)


@pytest.mark.parametrize(("rule", "hypothesis"), FAMILIES, ids=lambda item: getattr(item, "id", item))
def test_a_rule_without_a_member_of_a_family_is_refused(rule: str, hypothesis: Hypothesis) -> None:
    rest = [item for item in members(rule) if item.id != hypothesis.id]
    with pytest.raises(InvalidArgument, match=f"needs the hypothesis '{hypothesis.id}'"):
        infer(rule, rest)
    parent = assume(base_profile(SUM), [item for item in members(rule) if item.id == hypothesis.id])
    with pytest.raises(InvalidArgument, match="needs the hypothesis"):  # that a parent has one says nothing of this step
        infer(rule, rest, parents=(parent,))


@pytest.mark.parametrize("rule", RULES)
def test_no_call_of_a_rule_can_leave_out_its_hypotheses(rule: str) -> None:
    found = infer(rule, members(rule))
    fixed = {item for item in RULES[rule].hypotheses if not item.is_family}
    assert fixed | set(members(rule)) | set(Unit.RECORD.hypotheses) == set(found.hypotheses)
    closable = {item: "it is so" for item in found.hypotheses if may_close(item, "it is so")}
    closed = infer(rule, members(rule), discharges=closable)
    assert {item.hypothesis: item.evidence for item in closed.discharged} == closable
    assert set(closed.hypotheses) == set(found.hypotheses) - set(closable)


@pytest.mark.parametrize("identifier", WORLD)
def test_words_close_nothing_about_the_world(identifier: str) -> None:
    hypothesis = fill_in(REGISTRY[identifier], "it")
    found = assume(base_profile(SUM), [hypothesis])
    for words in ("it is so", "said in the data sheet", "the table has one row a person"):
        with pytest.raises(InvalidArgument, match="about the world"):
            discharge(found, hypothesis, words)


def test_an_unknown_rule_and_none_at_all_are_refused() -> None:
    with pytest.raises((InvalidArgument, KeyError)):
        infer("wishful thinking", [])
    for function, name in ((conclude, "made_by"), (Inference, "rule")):
        assert inspect.signature(function).parameters[name].default is inspect.Parameter.empty


def test_what_is_open_for_one_parent_stays_open() -> None:
    """Discharged for one part, it is not discharged for the other."""
    closed, open_ = (declare_directions(name, 1, 1, source="s") for name in "ab")
    for hypothesis in closed.hypotheses:
        if may_close(hypothesis, "said in the data sheet"):
            closed = discharge(closed, hypothesis, "said in the data sheet")
    both = compose_parts("both", [closed, open_])
    assert set(open_.hypotheses) <= set(both.hypotheses)
    assert set(closed.discharged) <= set(both.discharged)


def test_guarantees_about_different_units_are_not_combined() -> None:
    users = declare_directions("users", 1, 1, source="s", unit=Unit.USER)
    for other in (_by_rule("uniform"), declare_directions("events", 1, 1, source="s", unit=Unit.EVENT)):
        with pytest.raises(InvalidArgument, match="different units"):
            compose(users, other)
    assert compose(users, users).unit is Unit.USER


def test_every_sampling_rule_has_a_path() -> None:
    assert {f"derive_epsilon {name}" for name in (*EXPLICIT, "privacy-constrained")} <= set(PATHS)
    for name in EXPLICIT:
        rule = make_rule(name, SUM, _constants(name))
        assert {item.id for item in rule.hypotheses} <= {item.id for item in told(made(f"derive_epsilon {name}"))}


# --- the probability of a record that is never selected -------------------------------------------------------------------------------


def test_what_is_said_of_probabilities_holds_for_a_record_without_loss() -> None:
    """Its weight is infinite and its probability 0: no print may say that the probability of every record is above 0."""
    found = derive_epsilon(declare("p", "w*z/2", record={"z": [0, 2]}), rule="privacy-constrained", target_epsilon=3)
    (told_of_it,) = [item.hypothesis for item in found.guarantee.discharged if item.hypothesis.id == PROBABILITY.id]
    assert told_of_it.sentence == "0 < q(x) <= 1 for every record, or q(x) = 0 and it is never selected"


def test_files_with_the_earlier_sentence_about_probabilities_are_read() -> None:
    earlier = "0 < q(x) <= 1 for every record"
    profile = declare("p", "w*z/2", record={"z": [0, 2]})
    closed = derive_epsilon(profile, rule="privacy-constrained", target_epsilon=3).guarantee
    left = worst_case(
        amplify_by_importance_sampling(derive_profile(profile), make_rule("privacy-constrained", profile, target_epsilon=3)), premises={}
    )
    for guarantee, place in ((closed, "discharged"), (left, "hypotheses")):
        text = write_guarantee(guarantee)
        assert text.count(PROBABILITY.sentence) > 0
        old = text.replace(PROBABILITY.sentence, earlier)
        assert old != text
        stated = read_guarantee(old).stated
        assert (stated.hypotheses, stated.discharged) == (guarantee.hypotheses, guarantee.discharged), place
        assert replay(read_guarantee(old)).hypotheses == replay(read_guarantee(text)).hypotheses
    other = write_guarantee(left).replace(f'"{PROBABILITY.sentence}"', '"0 < q(x) <= 1/2 for every record"')
    with pytest.raises(UnreadableFile, match="probability"):
        read_guarantee(other)
