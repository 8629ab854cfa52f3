"""Exact real arithmetic is discharged for the catalogue in exact mode, on every road to a guarantee, and never for anything else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import DPLloyd, amplify_once, compose, derive_epsilon, draw_sample, plan_sample, sample_file
from accountant.applications.repeated import declare_repeated, subsampled_exponential
from accountant.guarantees import (
    EXACT_REALS,
    Guarantee,
    assume,
    base_profile,
    derive_mechanism,
    derive_profile,
    discharge,
    post_processing,
    prove_run,
    update_hypotheses,
    worst_case,
)
from accountant.guarantees.combining import compose_parts
from accountant.guarantees.rules import amplify_by_importance_sampling
from accountant.interop import read_guarantee, replay, suppose, write_guarantee
from accountant.interop.carriers import read_release
from accountant.onesided import both_directions
from accountant.rules import make_rule
from profiles import Declaration, InvalidArgument, NotReplayed, compose_adaptively
from profiles.mechanisms import Arithmetic, KNormSum, LaplaceSum, WeightedCount, WeightedLloyd
from profiles.mechanisms.catalogue import describe_exactness
from profiles.mechanisms.interface import EXACT_MODE, suppose_noise
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold

POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, (30, 2))
TABLE = pa.table({"z": np.linspace(0, 1, 30)})
LLOYD = WeightedLloyd(initial_centres=[[-1.0], [1.0]], iterations=1, beta_count=10, beta_sum=10, radius=1)
EXACT: dict[str, Any] = {
    "sum": LaplaceSum(b=20, radius=1),
    "count": WeightedCount(beta_count=50),
    "K-norm sum": KNormSum(beta_sum=5, p=2, radius=1, dimension=1),
    "Lloyd": LLOYD,
}


class Subclass(LaplaceSum):
    """What it runs is not known."""

    __slots__ = ()


class Wrapper:
    """Runs a mechanism of the catalogue, or says so."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


#: Everything that draws its noise in binary64, or of which nobody knows how it does.
OPEN: dict[str, Any] = {
    **{f"{name} in binary64": replace(item, arithmetic="binary64") for name, item in EXACT.items()},
    "a subclass": Subclass(b=20, radius=1),
    "a wrapper": Wrapper(EXACT["sum"]),
    "a norm that has no exact sampler": replace(EXACT["K-norm sum"], p=3),
}
ALL = {**EXACT, **OPEN}
RUN_HERE = [name for name in ALL if name != "a norm that has no exact sampler"]


def sampled(guarantee: Guarantee) -> Guarantee:
    declared = guarantee.bound.profile  # type: ignore[union-attr]
    return worst_case(amplify_by_importance_sampling(guarantee, make_rule("uniform", declared, {"rate": "1/10"})))


def declared(mechanism: Any) -> Declaration:
    return Declaration(mechanism.profile, hypotheses=tuple(mechanism.hypotheses), mechanism=mechanism)


def named(mechanism: Any) -> str:
    """A reference as the command line has it."""
    globals()["MECHANISM"] = mechanism
    return f"{__name__}:MECHANISM"


def of_file(guarantee: Guarantee, make: Callable[..., Guarantee], **options: Any) -> Guarantee:
    return make(read_guarantee(write_guarantee(guarantee)), **options)


#: Roads that see the mechanism itself and promise something of its run.
SEEING: dict[str, Callable[[Any], Guarantee]] = {
    "derive_mechanism": derive_mechanism,
    "derive_mechanism, no hypotheses given": lambda mechanism: derive_mechanism(mechanism, ()),
    "prove_run": lambda mechanism: prove_run(derive_profile(mechanism.profile), mechanism),
    "prove_run of a worst case": lambda mechanism: prove_run(sampled(derive_profile(mechanism.profile)), mechanism),
    "worst case": lambda mechanism: sampled(derive_mechanism(mechanism)),
    "post-processing": lambda mechanism: post_processing(derive_mechanism(mechanism), "rounding"),
    "both directions": lambda mechanism: both_directions(sampled(derive_mechanism(mechanism))),
    "derive_epsilon": lambda mechanism: derive_epsilon(declared(mechanism), q="1/10").guarantee,
    "derive_epsilon of a reference": lambda mechanism: derive_epsilon(named(mechanism), q="1/10").guarantee,
    "a file that is supposed": lambda mechanism: of_file(derive_mechanism(mechanism), suppose),
    "a file whose words are accepted": lambda mechanism: of_file(derive_mechanism(mechanism), replay, accept_evidence=True),
    "a file of a worst case": lambda mechanism: of_file(sampled(derive_mechanism(mechanism)), replay, accept_evidence=True),
}


#: Roads to a guarantee of what a mechanism would do, before it runs, or on somebody's word.
BLIND: dict[str, Callable[[Any], Guarantee]] = {
    "declared": lambda mechanism: derive_profile(mechanism.profile),
    "amplify_once": lambda mechanism: amplify_once(mechanism, q="1/10").guarantee,
    "a file that is replayed": lambda mechanism: of_file(derive_mechanism(mechanism), replay),
    "prove_run of nothing": lambda mechanism: prove_run(derive_profile(mechanism.profile)),
    "prove_run with another one": lambda mechanism: prove_run(derive_profile(mechanism.profile), mechanism, Wrapper(mechanism)),
    "prove_run twice": lambda mechanism: prove_run(derive_profile(mechanism.profile), mechanism, mechanism),
}


@cache
def made(road: str, name: str) -> Guarantee:
    return {**SEEING, **BLIND}[road](ALL[name])


def require_sound(guarantee: Guarantee, *, exact: bool) -> None:
    """Exact real arithmetic is open, or stands discharged beside what the theorem supposes instead; for the others it is open."""
    closed = EXACT_REALS in [item.hypothesis for item in guarantee.discharged]
    if EXACT_REALS not in guarantee.hypotheses:
        assert exact
        assert closed
    if closed:
        assert set(EXACT_MODE) <= set(guarantee.hypotheses)


@pytest.mark.thorough(quick=24)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("road", SEEING)
def test_a_guarantee_of_a_mechanism_that_is_seen(road: str, name: str) -> None:
    guarantee = made(road, name)
    require_sound(guarantee, exact=name in EXACT)
    assert (EXACT_REALS in guarantee.hypotheses) == (name in OPEN)


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("road", BLIND)
def test_a_guarantee_of_a_mechanism_that_is_not_seen(road: str, name: str) -> None:
    guarantee = made(road, name)
    require_sound(guarantee, exact=False)


def test_every_arithmetic_is_on_a_road() -> None:
    for name, mechanism in ALL.items():
        assert (describe_exactness(mechanism) is None) == (name in OPEN)
    assert {item.arithmetic for item in EXACT.values()} == {Arithmetic.EXACT}
    assert {item.arithmetic for item in OPEN.values()} == set(Arithmetic)


# --- samples --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("name", [name for name in RUN_HERE if "count" not in name])
def test_the_release_of_a_sample(name: str, tmp_path: Path) -> None:
    mechanism = ALL[name]
    plan = plan_sample(mechanism, q="1/10")
    sample = draw_sample(mechanism, TABLE, q="1/10")
    for guarantee in (plan.guarantee(), sample.guarantee):
        assert EXACT_REALS in guarantee.hypotheses  # nobody has seen what will run
    released = sample.release(mechanism, np.random.default_rng(1)).guarantee
    require_sound(released, exact=name in EXACT)
    assert (EXACT_REALS in released.hypotheses) == (name in OPEN)
    written = sample_file(mechanism, TABLE, tmp_path / "out.parquet", q="1/10")
    assert EXACT_REALS in read_release(written.certificate.read_text()).hypotheses


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("second", ["count", "count in binary64"])
@pytest.mark.parametrize("first", ["sum", "sum in binary64", "a subclass"])
def test_several_mechanisms_on_one_sample(first: str, second: str) -> None:
    mechanisms = (ALL[first], ALL[second])
    found = draw_sample(mechanisms, TABLE, q="1/10").release(mechanisms, np.random.default_rng(1)).guarantee
    exact = first in EXACT and second in EXACT
    require_sound(found, exact=exact)
    assert (EXACT_REALS in found.hypotheses) == (not exact)


def test_what_was_planned_is_not_what_runs() -> None:
    """The profile is that of the plan, the arithmetic that of the mechanism that ran."""
    exact, other = EXACT["sum"], OPEN["sum in binary64"]
    assert EXACT_REALS in draw_sample(exact, TABLE, q="1/10").release(other, np.random.default_rng(1)).guarantee.hypotheses
    kept = draw_sample(other, TABLE, q="1/10").release(exact, np.random.default_rng(1)).guarantee
    require_sound(kept, exact=True)


@pytest.mark.thorough
@pytest.mark.parametrize("arithmetic", ["exact", "binary64"])
def test_the_command_line(pdp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arithmetic: str) -> None:
    """pdp epsilon and pdp report see the mechanism; pdp compose reads files, which show none."""
    module = f"noise_in_{arithmetic}"
    (tmp_path / f"{module}.py").write_text(
        f"from profiles.mechanisms import LaplaceSum\nmechanism = LaplaceSum(b=2, arithmetic={arithmetic!r})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    told = pdp("epsilon", f"{module}:mechanism", "--q", "1/2", "--guarantee", tmp_path / "one.json", "--json").json()["hypotheses"]
    reported = pdp("report", f"{module}:mechanism", "--target-epsilon", "20", "--q", "1/2", "--out", tmp_path / "r.html", "--json")
    composed = pdp("compose", tmp_path / "one.json", tmp_path / "one.json", "--json").json()["hypotheses"]
    for said in (told, reported.json()["hypotheses"]):
        assert (EXACT_REALS.sentence in said) == (arithmetic == "binary64")
        assert all((item.sentence in said) == (arithmetic == "exact") for item in EXACT_MODE)
    assert EXACT_REALS.sentence in composed


# --- estimators and applications ------------------------------------------------------------------------------------------------------


def fits(arithmetic: str) -> Iterator[DPLloyd]:
    def model(**options: Any) -> DPLloyd:
        return DPLloyd(2, epsilon=2, radius=1, iterations=2, arithmetic=arithmetic, random_state=3, **options)

    yield model().fit(POINTS)
    yield model(outside="project", init=np.eye(2)).fit(POINTS)
    yield model(largest_weight=2).fit(POINTS, sample_weight=np.full(30, 2.0))
    yield model().fit_sampled(POINTS)
    yield model().fit_sampled(POINTS, select=lambda q, rng: rng.random(len(q)) < q)


def test_the_estimator() -> None:
    for arithmetic in ("exact", "binary64"):
        for model in fits(arithmetic):
            require_sound(model.guarantee_, exact=arithmetic == "exact")
            assert (EXACT_REALS in model.guarantee_.hypotheses) == (arithmetic == "binary64")
            assert model.mechanism_.arithmetic is Arithmetic(arithmetic)


def test_an_estimator_of_ones_own_keeps_it() -> None:
    own = type("Own", (DPLloyd,), {"__init__": DPLloyd.__init__})
    model = own(2, epsilon=2, radius=1, iterations=2, random_state=3).fit(POINTS)
    assert EXACT_REALS in model.guarantee_.hypotheses


def test_the_estimator_refuses_norms_without_an_exact_sampler_before_it_looks() -> None:
    with pytest.raises(InvalidArgument, match="binary64"):
        DPLloyd(2, epsilon=2, radius=1, norm=3).fit(object())
    model = DPLloyd(2, epsilon=2, radius=1, norm=3, arithmetic="binary64", random_state=0).fit(POINTS)
    assert EXACT_REALS in model.guarantee_.hypotheses
    with pytest.raises(InvalidArgument, match="'exact' or 'binary64'"):
        DPLloyd(2, epsilon=2, radius=1, arithmetic="floating-point").fit(POINTS)


@pytest.mark.parametrize("arithmetic", ["exact", "binary64"])
def test_the_repeated_mechanisms(arithmetic: str) -> None:
    options: dict[str, Any] = {"rounds": 1, "epsilon0": 1, "sensitivity": 1, "arithmetic": arithmetic}
    choosing = RepeatedExponential(select=lambda _: (2, lambda data: [len(data), 0]), **options)
    watching = RepeatedThreshold(select=lambda _: (len, 2), **options)
    ran = subsampled_exponential(
        select=lambda _: (2, lambda data: [len(data), 0]), rounds=1, sensitivity=1, epsilon=1, arithmetic=arithmetic
    ).run(["a"], np.random.default_rng(1))
    rounding, balls = EXACT_MODE
    for guarantee, machine in ((declare_repeated(choosing), {rounding}), (declare_repeated(watching), set()), (ran.guarantee, {rounding})):
        used = machine if arithmetic == "exact" else {EXACT_REALS}
        assert used == {EXACT_REALS, rounding, balls} & set(guarantee.hypotheses)


# --- one discharge closes nothing of another mechanism --------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(sorted(SEEING)), st.sampled_from(sorted(ALL))), min_size=1, max_size=4), st.data())
def test_a_composition_keeps_what_one_part_keeps(chosen: list[tuple[str, str]], data: st.DataObject) -> None:
    """Whatever is composed in whatever order, exact arithmetic is open where one part has it open; no prove_run closes it afterwards."""
    parts = [made(road, name) for road, name in chosen if road != "a file of a worst case"]
    parts = [both_directions(sampled(part)) if hasattr(part.bound, "profile") else part for part in parts]
    if not parts:
        return
    whole = compose_parts("whole", [part if hasattr(part.bound, "remove") else both_directions(part) for part in parts])
    still = any(name in OPEN for road, name in chosen if road != "a file of a worst case")
    assert (EXACT_REALS in whole.hypotheses) == still
    require_sound(whole, exact=not still)
    claimed = data.draw(st.lists(st.sampled_from(sorted(EXACT)), max_size=3))
    again = prove_run(whole, *(EXACT[name] for name in claimed))
    assert (EXACT_REALS in again.hypotheses) == still


def test_a_release_in_each_arithmetic() -> None:
    exact, other = (sampled(derive_mechanism(mechanism)) for mechanism in (EXACT["sum"], OPEN["sum in binary64"]))
    for pair in ((exact, other), (other, exact)):
        both = compose(*pair)
        assert EXACT_REALS in both.hypotheses
        assert set(EXACT_MODE) <= set(both.hypotheses)
        assert EXACT_REALS in [item.hypothesis for item in both.discharged]  # that of one of the two
    assert EXACT_REALS not in compose(exact, exact).hypotheses


def test_an_exact_mechanism_proves_nothing_of_one_with_its_profile() -> None:
    exact, other = EXACT["sum"], OPEN["sum in binary64"]
    assert exact.profile == other.profile
    assert EXACT_REALS in prove_run(derive_mechanism(other), exact).hypotheses  # that one was proved before
    assert EXACT_REALS in prove_run(derive_profile(exact.profile), exact, other).hypotheses
    assert EXACT_REALS in prove_run(derive_profile(exact.profile), other, exact).hypotheses
    declared_twice = sampled(base_profile(exact.profile))
    assert EXACT_REALS in prove_run(compose(declared_twice, declared_twice), exact).hypotheses  # two promises, one mechanism
    mixed = compose(declared_twice, sampled(derive_mechanism(exact)))
    assert EXACT_REALS in prove_run(mixed, exact).hypotheses
    larger = replace(exact, b=40)
    assert EXACT_REALS in prove_run(derive_profile(exact.profile), larger).hypotheses  # another profile


def test_a_part_that_nobody_has_seen_keeps_it() -> None:
    exact = EXACT["sum"]
    user = replace(exact.profile, name="my sum")
    both = compose_adaptively("both", [exact.profile, user])
    assert EXACT_REALS in prove_run(derive_profile(both), exact).hypotheses
    assert EXACT_REALS in prove_run(derive_profile(both), exact, exact).hypotheses


# --- files ----------------------------------------------------------------------------------------------------------------------------


def tampered(guarantee: Guarantee, change: Callable[[dict[str, Any]], None]) -> Any:
    found = json.loads(write_guarantee(guarantee))
    change(found)
    return read_guarantee(json.dumps(found))


def forget(found: dict[str, Any]) -> None:
    found["hypotheses"] = [item for item in found["hypotheses"] if item["id"] not in {item.id for item in EXACT_MODE}]


def forget_the_call(found: dict[str, Any]) -> None:
    """As if the rule were two calls, the second of which can be left out."""
    forget(found)
    outer = found["calls"]
    assert outer["call"] == "round_noise"
    found["calls"] = {
        "call": "discharge",
        "arguments": {"hypothesis": {"id": EXACT_REALS.id, "sentence": EXACT_REALS.sentence, "head": "the machine"}, **outer["arguments"]},
        "premises": outer["premises"],
    }


def other_words(found: dict[str, Any]) -> None:
    text = json.dumps(found).replace("LaplaceSum releases", "MySum releases")
    found.clear()
    found.update(json.loads(text))


@pytest.mark.parametrize("change", [forget, forget_the_call, other_words])
def test_a_file_cannot_leave_out_what_the_theorem_supposes(change: Callable[[dict[str, Any]], None]) -> None:
    guarantee = prove_run(derive_profile(EXACT["sum"].profile), EXACT["sum"])
    assert EXACT_REALS not in of_file(guarantee, replay, accept_evidence=True).hypotheses
    read = tampered(guarantee, change)
    for accept in (True, False):
        with pytest.raises(NotReplayed):
            replay(read, accept_evidence=accept)
    if change is not other_words:
        assert set(EXACT_MODE) <= set(suppose(read).hypotheses)
        assert all(item.sentence in " ".join(read.render().split()) for item in EXACT_MODE)


def test_the_word_of_a_file_discharges_nothing() -> None:
    guarantee = derive_mechanism(EXACT["Lloyd"])
    found = of_file(guarantee, replay)
    assert EXACT_REALS in found.hypotheses
    assert set(guarantee.hypotheses) <= set(found.hypotheses)


def test_nobody_discharges_it_with_the_words_of_the_catalogue() -> None:
    guarantee = derive_profile(EXACT["sum"].profile)
    words = str(describe_exactness(EXACT["sum"]))
    with pytest.raises(InvalidArgument, match="prove_run"):
        discharge(guarantee, EXACT_REALS, words)
    with pytest.raises(InvalidArgument, match="prove_run"):
        update_hypotheses(guarantee, {EXACT_REALS: f" {words}"})
    nbsp, zero_width, cyrillic_a, braille = chr(0xA0), chr(0x200B), chr(0x430), chr(0x2800)
    alike = (
        words.replace(" ", nbsp, 1),
        words.replace(" ", "  "),
        words.replace("Sum", f"Sum{zero_width}"),
        words.replace("a", cyrillic_a),
    )
    for text in (*alike, words.upper(), words.replace(" ", "\n", 1), f"{words};{words}", f"{braille}{words}", f"{words}; and I checked it"):
        with pytest.raises(InvalidArgument, match="prove_run"):
            discharge(guarantee, EXACT_REALS, text)
    assert EXACT_REALS not in discharge(guarantee, EXACT_REALS, "integers: checked by me").hypotheses
    assert EXACT_REALS in assume(discharge(guarantee, EXACT_REALS, "integers: checked by me"), [EXACT_REALS]).hypotheses


def test_each_arithmetic_has_hypotheses() -> None:
    assert {kind: suppose_noise(kind) for kind in Arithmetic} == {Arithmetic.EXACT: EXACT_MODE, Arithmetic.BINARY64: (EXACT_REALS,)}
