"""Profiles and guarantees to JSON and back; what a file states is no theorem before the rules have made it again."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import accountant
from accountant import derive_epsilon
from accountant.applications.setcover.program import CoverProgram, GreedyStage, cover_once, make_group
from accountant.curves import Composition, make_event
from accountant.guarantees import (
    EXACT_REALS,
    Guarantee,
    amplify_by_importance_sampling,
    assume,
    base_profile,
    bound_by_cover,
    bound_by_table,
    curve_of_guarantee,
    curve_of_profile,
    declare_events,
    derive_profile,
    discharge,
    hypotheses_json,
    point_of_curve,
    point_of_weights,
    post_processing,
    realise_sampling,
    render,
    worst_case,
)
from accountant.guarantees.bounds import bound_epsilon, recheck_epsilon
from accountant.guarantees.budgets import keep_within_budget
from accountant.guarantees.calls import Signature
from accountant.guarantees.combining import change_neighbors, compose_parts, group
from accountant.guarantees.filters import filter_releases
from accountant.guarantees.recording import CALLS
from accountant.guarantees.statements import RULES
from accountant.guarantees.theorem import Call
from accountant.interop import ReadGuarantee, read_guarantee, replay, suppose, write_guarantee
from accountant.interop.replaying import _MADE_AGAIN
from accountant.onesided import (
    both_directions,
    declare_add_dp,
    declare_directions,
    subsample,
    worst_case_directions,
)
from accountant.rules import make_rule, rule_from_expression
from accountant.rules.gaussian import make_gaussian_rule
from accountant.rules.named import PUBLIC_RATE
from profiles import (
    InvalidArgument,
    InvalidProfile,
    NotReplayed,
    Parameter,
    PDPError,
    Profile,
    UnreadableFile,
    compose_adaptively,
    declare,
    load,
    read_profile,
    write_profile,
)
from profiles.hypotheses import DEFINED, IN_RANGE, WORD_OF_FILE
from profiles.mechanisms.catalogue import catalogue
from profiles.protection import USERS
from proofs_check.suprema.certify import Checked

SUM = declare("noisy sum", "w*z/3", record={"z": ["0.5", 2]}, source="Dwork et al. 2006")
NOISY = declare("noisy vector", notion="gaussian", mu="w*z/10", record={"z": [0, 2]}, source="Dong et al. 2022")
SUPPOSED = "on the word of the file, "


NOISY = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": ["3.9", 4]})


@cache
def guarantee(name: str) -> Guarantee:
    uniform = make_rule("uniform", SUM, {"m": 1, "n": 10})
    made: dict[str, Callable[[], Guarantee]] = {
        "profile": lambda: derive_profile(load("profiles.mechanisms.lloyd:default").profile),
        "sampled": lambda: amplify_by_importance_sampling(base_profile(SUM), uniform),
        "epsilon": lambda: derive_epsilon(SUM, rule=uniform).guarantee,
        "constrained": lambda: derive_epsilon(SUM, rule="privacy-constrained", target_epsilon="3/2").guarantee,
        "file": lambda: (
            derive_epsilon(
                declare("two norms", "T*w*(z + y/7)", record={"y": [0, 1], "z": [0, 4]}, parameters={"T": 10}),
                rule="coreset-l2",
                constants={"n": 100, "m": 10, "lam": "1/2", "mean": 8, "statistic": "z"},
            ).guarantee
        ),
        "expression": lambda: derive_epsilon(SUM, q="rate*(1 + z)/3", constants={"rate": "1/4"}).guarantee,
        "directions": lambda: worst_case_directions(declare("exponential noise", "w*z", record={"z": [0, 1]}), None, "1/4 + z/4"),
        "composed": lambda: compose_parts(
            "both",
            [
                both_directions(guarantee("epsilon")),
                subsample(declare_directions("svt", "1.5", 2, source="me", delta_remove="1e-9"), "0.3"),
            ],
        ),
        "curves": lambda: point_of_curve(
            compose_parts(
                "both",
                [
                    subsample(declare_events(Composition("one", (make_event("gaussian", {"noise_multiplier": 2}),))), "1/2"),
                    curve_of_guarantee(declare_directions("svt", "1/10", "1/20", source="me")),
                ],
            ),
            at_delta="1e-3",
        ),
        "tabulated": lambda: bound_by_table(NOISY, rule=make_gaussian_rule(Fraction(1), Fraction(1, 10**5), 1)),
        "covered": lambda: bound_by_cover(NOISY, rule=rule_from_expression("1/4 + z/40", NOISY), at_delta="1e-5", gap="0.05"),
        "gaussian": lambda: point_of_curve(curve_of_profile(NOISY), at_delta="1e-6"),
        "weighed": lambda: point_of_weights(
            NOISY, at_epsilon=1, at_delta="1e-5", weight_pairs=[(Fraction(201, 1000), Fraction(19, 10)), (Fraction(1, 10), Fraction(5))]
        ),
        "one-sided": lambda: declare_add_dp("svt", "1.5", source=""),
        "discharged": lambda: post_processing(discharge(guarantee("epsilon"), EXACT_REALS, "noise on the integers"), "rounding"),
        "assumed": lambda: assume(guarantee("epsilon"), ["the clock is right"]),
    }
    return made[name]()


NAMES = [
    "profile", "sampled", "epsilon", "constrained", "file", "expression", "directions", "composed", "curves", "gaussian", "weighed",
    "one-sided", "discharged", "assumed", "tabulated", "covered",
]  # fmt: skip


@cache
def text(name: str) -> str:
    return write_guarantee(guarantee(name))


def _change(name: str, change: Callable[[dict[str, Any]], None]) -> str:
    whole = json.loads(text(name))
    change(whole)
    return json.dumps(whole)


# --- profiles ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_profiles_of_the_catalogue_come_back_with_their_parts(entry: Any) -> None:
    for profile in (entry.profile, load(entry.reference).profile):
        found = read_profile(write_profile(profile))
        assert found == profile
        assert found.parts == profile.parts


_NUMBERS = st.one_of(st.fractions(max_denominator=1000), st.integers(-5, 5).map(Fraction))
_LEAVES = st.one_of(_NUMBERS.map(lambda value: ("num", value)), st.sampled_from([("sym", "w"), ("sym", "z"), ("sym", "b"), ("pi",)]))


def _grow(inner: Any) -> Any:
    one = st.tuples(st.sampled_from(["neg", "exp", "log", "sqrt", "sin", "cos", "tan", "abs"]), inner)
    two = st.tuples(st.sampled_from(["div", "add", "mul"]), inner, inner)
    power = st.tuples(st.just("pow"), inner, st.integers(-3, 3).map(lambda n: ("num", Fraction(n))))
    several = st.tuples(st.sampled_from(["add", "mul", "min", "max"]), inner, inner, inner)
    branch = st.tuples(inner, st.tuples(st.sampled_from(["<", "<=", ">", ">="]), inner, inner))
    piecewise = st.tuples(st.just("piecewise"), branch, st.tuples(inner, st.just(("true",))))
    return st.one_of(one, two, power, several, piecewise)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(st.recursive(_LEAVES, _grow, max_leaves=8), st.fractions(), st.fractions(min_value=0, max_value=9), st.text(max_size=20))
def test_random_profiles_come_back(term: Any, lo: Fraction, width: Fraction, source: str) -> None:
    base = declare("random", "w", record={"z": [lo, lo + width]}, parameters={"b": "positive"})
    shown = "".join(character for character in source if character.isprintable())
    profile = Profile(base.name, term, base.record, (Parameter("b", None, (Fraction(1, 3), Fraction(2))),), shown)
    try:
        written = write_profile(profile)
    except PDPError:  # a term that the grammar refuses cannot be declared either
        return
    assert read_profile(written) == profile


def test_terms_that_the_grammar_reads_otherwise_keep_their_form() -> None:
    w, z = sympy.symbols("w z")
    profile = declare("from SymPy", w * z * sympy.Rational(-1, 3) ** 2 + w * sympy.Min(z, 1), record={"z": [0, 1]})
    assert read_profile(write_profile(profile)) == profile
    whole = json.loads(write_profile(profile))
    assert "epsilon" in whole
    plain = Profile("text", ("num", Fraction(-1, 2)), (), ())
    written = json.loads(write_profile(plain))
    assert written["epsilon_term"] == ["num", "-0.5"]
    written["epsilon"] = "-0.25"
    with pytest.raises(UnreadableFile, match="different expressions"):
        read_profile(json.dumps(written))


def test_parts_are_read_back_into_a_derivation() -> None:
    parts = [declare("a", "w", source="A"), declare("b", "w*z", record={"z": [0, 1]}, source="B")]
    found = read_profile(write_profile(compose_adaptively("both", parts, times="T", times_value=3)))
    assert render(derive_profile(found)) == render(derive_profile(compose_adaptively("both", parts, times="T", times_value=3)))


def _broken_profiles() -> dict[str, tuple[str, type[PDPError]]]:
    whole = json.loads(write_profile(SUM))

    def changed(**values: Any) -> str:
        return json.dumps({**whole, **values})

    twice = json.dumps(whole).replace('"source": ', '"source": "proved", "source": ')
    return {
        "no JSON": ("{", UnreadableFile),
        "a list": ("[]", UnreadableFile),
        "twice": (twice, UnreadableFile),
        "another format": (changed(format="pdp-guarantee"), UnreadableFile),
        "version 2": (changed(version=2), UnreadableFile),
        "version true": (changed(version=True), UnreadableFile),
        "version text": (changed(version="1"), UnreadableFile),
        "a float": (changed(record=[{"name": "z", "range": [0.5, 2]}]), UnreadableFile),
        "NaN": (changed(source=float("nan")), UnreadableFile),
        "unknown key": (changed(mu=1), UnreadableFile),
        "missing key": (json.dumps({key: value for key, value in whole.items() if key != "source"}), UnreadableFile),
        "no number": (changed(record=[{"name": "z", "range": ["0.5", "two"]}]), UnreadableFile),
        "an empty range": (changed(record=[{"name": "z", "range": ["3", "2"]}]), InvalidProfile),
        "one end": (changed(record=[{"name": "z", "range": ["3"]}]), InvalidProfile),
        "a name twice": (changed(record=whole["record"] * 2), UnreadableFile),
        "an undeclared symbol": (changed(epsilon="w*y"), InvalidProfile),
        "a reserved name": (changed(record=[{"name": "pi", "range": ["0", "1"]}], epsilon="w"), InvalidProfile),
        "a call": (changed(epsilon="__import__('os')"), PDPError),
        "a line break": (changed(source="proved\nchecked by kernel: yes"), UnreadableFile),
        "deep": ("[" * 100_000, UnreadableFile),
        "deep term": (changed(epsilon_term=json.loads("[" + '["neg",' * 500 + '["sym","w"]' + "]" * 500 + "]")[0]), UnreadableFile),
        "parts of parts": (_nested(30), UnreadableFile),
    }


def _nested(depth: int) -> str:
    part = json.loads(write_profile(SUM))
    del part["format"], part["version"]
    for _ in range(depth):
        part = {**part, "parts": [{"times": "1", "profile": part}]}
    return json.dumps({"format": "pdp-profile", "version": 1, **part})


@pytest.mark.parametrize("name", sorted(_broken_profiles()))
def test_broken_profile_files_are_refused_in_one_sentence(name: str) -> None:
    document, error = _broken_profiles()[name]
    with pytest.raises(error) as caught:
        read_profile(document)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


# --- guarantees: the round trip ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("name", NAMES)
def test_what_a_file_states_is_what_was_written(name: str) -> None:
    made, read = guarantee(name), read_guarantee(text(name))
    stated = read.stated
    assert (stated.subject, stated.notion, stated.bound) == (made.subject, made.notion, made.bound)
    assert (stated.hypotheses, stated.discharged, stated.derivation) == (made.hypotheses, made.discharged, made.derivation)
    assert read.call == made.call
    assert write_guarantee(read) == text(name)


@pytest.mark.thorough
def test_guarantees_of_every_rule_come_back() -> None:
    """No rule of the table is forgotten: a derivation with it is written and read, and stated as it was."""
    ran = realise_sampling(guarantee("epsilon"), pairs="because", claims=(), bits="the bits are uniform")
    once = cover_once(CoverProgram("set cover", (make_group(0.5, Fraction(1), (GreedyStage(),)),)))
    rules: set[str] = set()
    ledger = filter_releases("people", Fraction(2), (), protection=USERS, key="id", one_number=True, raised=False, releases=["counts"])
    within = keep_within_budget(guarantee("epsilon"), Fraction(1000))
    replaced = change_neighbors(declare_directions("svt", 1, 2, source="me"), "replace-one")
    changed = (group(guarantee("epsilon"), 3), replaced, change_neighbors(replaced, "add-remove"), change_neighbors(replaced, "zero-out"))
    for made in (*map(guarantee, NAMES), ran, once, ledger, within, *changed, suppose(read_guarantee(text("epsilon")))):
        stated = read_guarantee(write_guarantee(made)).stated
        assert (stated.bound, stated.hypotheses, stated.derivation) == (made.bound, made.hypotheses, made.derivation)
        open_ = [stated.derivation]
        while open_:
            rules.add(open_[-1].rule)
            open_.extend(open_.pop().children)
    assert rules == set(RULES)


@pytest.mark.parametrize("name", NAMES)
def test_replaying_makes_the_same_but_for_the_word_of_the_file(name: str) -> None:
    made, found = guarantee(name), replay(read_guarantee(text(name)))
    assert isinstance(found, Guarantee)
    added = [item for item in found.hypotheses if item.id == WORD_OF_FILE.id]
    assert added
    assert all(item.sentence.startswith(SUPPOSED) for item in added)
    assert set(found.hypotheses) - set(added) == {*made.hypotheses, *({EXACT_REALS} if name == "discharged" else ())}
    assert write_guarantee(found) != text(name)
    assert found.notion is made.notion


@pytest.mark.parametrize("name", ["epsilon", "constrained", "expression", "file"])
def test_a_known_leaf_gives_back_the_very_guarantee(name: str) -> None:
    made = guarantee(name)
    call = made.call
    while call is not None and call.name != "base_profile":
        (call,) = call.premises
    assert call is not None
    given = dict(call.arguments)
    found = replay(read_guarantee(text(name)), known=[base_profile(given["profile"], given["hypotheses"])])
    assert render(found) == render(made)
    assert found.hypotheses == made.hypotheses


def test_words_are_accepted_only_on_demand() -> None:
    read = read_guarantee(text("discharged"))
    assert EXACT_REALS in replay(read, known=[base_profile(SUM)]).hypotheses
    found = replay(read, known=[base_profile(SUM)], accept_evidence=True)
    assert render(found) == render(guarantee("discharged"))


def test_a_file_cannot_discharge_its_own_word() -> None:
    """It names, as a hypothesis, what replaying is going to add, and says that it was discharged."""
    (word,) = set(replay(read_guarantee(write_guarantee(base_profile(SUM)))).hypotheses) - set(base_profile(SUM).hypotheses)
    forged = discharge(base_profile(SUM, (EXACT_REALS, word)), word, "trust me")
    assert word in replay(read_guarantee(write_guarantee(forged)), accept_evidence=True).hypotheses


def test_a_known_leaf_must_be_the_same_call() -> None:
    for other in (base_profile(SUM, ()), base_profile(declare("noisy sum", "w*z/3", record={"z": ["0.5", 2]}, source="another"))):
        assert any(item.sentence.startswith(SUPPOSED) for item in replay(read_guarantee(text("epsilon")), known=[other]).hypotheses)


def test_a_sampler_that_ran_is_not_replayed() -> None:
    ran = realise_sampling(guarantee("epsilon"), pairs="because", claims=(), bits="the bits are uniform")
    read = read_guarantee(write_guarantee(ran))
    with pytest.raises(NotReplayed, match="cannot be repeated"):
        replay(read)
    assert read.hypotheses[0] in suppose(read).hypotheses


# --- what a file states is no theorem ---------------------------------------------------------------------------------------------


def test_no_rule_takes_what_was_read() -> None:
    read = read_guarantee(text("epsilon"))
    for rule in (both_directions, lambda item: compose_parts("x", [item]), lambda item: post_processing(item, "x"), worst_case):
        for item in (read, read.stated):
            with pytest.raises(InvalidArgument, match="replay or suppose"):
                rule(item)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        assume(read, ["x"])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        discharge(read, read.hypotheses[0], "trust me")  # type: ignore[arg-type]
    base = read_guarantee(text("profile"))
    with pytest.raises(InvalidArgument):
        amplify_by_importance_sampling(base.stated, make_rule("uniform", SUM, {"rate": 1}))  # type: ignore[arg-type]


def test_supposing_keeps_the_word_of_the_file_open() -> None:
    read = read_guarantee(text("discharged"))
    found = suppose(read)
    assert isinstance(found, Guarantee)
    assert found.hypotheses == read.hypotheses
    assert read.digest in found.hypotheses[0].sentence
    assert {item.hypothesis: item.evidence for item in found.discharged} == {
        item.hypothesis: f"the file says: {item.evidence}" for item in read.stated.discharged
    }
    assert "not replayed" in render(found)
    assert read.render().startswith("STATED BY A FILE, NOT REPLAYED\n")
    both = compose_parts("twice", [both_directions(found), both_directions(found)])
    assert read.hypotheses[0] in both.hypotheses
    with pytest.raises(NotReplayed):
        replay(read_guarantee(write_guarantee(found)))


@pytest.mark.parametrize("name", ["epsilon", "composed", "directions"])
def test_nothing_is_checked_on_the_word_of_a_file(name: str) -> None:
    read = read_guarantee(text(name))
    found = suppose(read)
    proofs = found.bound.proofs  # type: ignore[union-attr]
    assert proofs
    assert not any(proof.checked_by_kernel or proof.proved_by_balls for proof in proofs)
    assert "checked by kernel: yes" not in read.render() + render(found)


def test_a_text_that_is_not_unicode_is_refused() -> None:
    cut = text("epsilon").replace('"format": "pdp-certificate"', '"format": "\ud800"')
    assert cut != text("epsilon")
    for document in (cut, "\ufeff" + text("epsilon"), text("epsilon")[:-3], text("epsilon").encode()):
        with pytest.raises(UnreadableFile):
            read_guarantee(document)  # type: ignore[arg-type]


def test_what_no_file_can_hold_is_refused_when_it_is_written() -> None:
    """Else the file is found to be unreadable when the guarantee itself is gone."""
    deep = short = declare_directions("m", 1, 2, source="s", hypotheses=("a",))
    for _ in range(110):
        deep = compose_parts("c", [deep])
    lines = discharge(short, "a", "first,\nsecond")
    for unstorable in (deep, lines, post_processing(short, "x" * 4_000_000)):
        with pytest.raises(InvalidArgument, match="none can hold it"):
            write_guarantee(unstorable)
    for profile in (declare("p", "w", source="a\nb"), declare("p", "w*z", record={"z": [0, 2**12_000]})):
        with pytest.raises(InvalidProfile, match="none can hold it"):
            write_profile(profile)


def test_subjects_and_hypotheses_are_lines_of_text() -> None:
    for wrong in (("a\nwithout open hypotheses",), ("",), (3,), "proved"):
        with pytest.raises(InvalidArgument, match=r"text|sentence"):
            declare_directions("m", 1, 2, source="s", hypotheses=wrong)  # type: ignore[arg-type]
    for make in (lambda: assume(guarantee("one-sided"), "abc"), lambda: base_profile(SUM, "abc"), lambda: compose_parts(" ", [])):
        with pytest.raises(InvalidArgument):
            make()


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from _leaves(value[key], (*path, key))


_FORGED = (None, True, -1, "-1", "", "\u0660", "\ud800", "9" * 2000, "a\nb", [[]], {"": 1}, "0*log(0)", "1e9999", 10**30)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["epsilon", "composed"])
def test_every_place_of_a_file_may_be_forged(name: str) -> None:
    """Each is refused in one sentence that can be printed, or read as data; what is read has only the file's word and prints cleanly."""
    for index, path in enumerate(list(_leaves(json.loads(text(name))))[1:]):
        for value in (_FORGED[index % len(_FORGED)], _FORGED[(5 * index + 3) % len(_FORGED)]):
            shown = "".join(_show(_change(name, _set(*path, to=value))))
            assert shown.replace("\n", "").isprintable(), path


def _show(document: str) -> Iterator[str]:
    """What a person sees of a file: one sentence, or the statement."""
    try:
        read = read_guarantee(document)
    except PDPError as error:
        yield str(error)[:500].replace("\n", "\0")
        return
    yield read.render()
    yield render(suppose(read))


def _lower_all(value: Any) -> Any:
    """Every number of the certified bound, wherever it stands, replaced by a smaller one."""
    bound = json.loads(text("epsilon"))["bound"]
    return json.loads(json.dumps(value).replace(bound["remove"], "4.37").replace(bound["lower"], "4.36"))


def _set(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(whole: dict[str, Any]) -> None:
        place: Any = whole
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to(copy.deepcopy(place[path[-1]])) if callable(to) else to

    return change


def _all(*changes: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def change(whole: dict[str, Any]) -> None:
        for one in changes:
            one(whole)

    return change


def _replace_everything(whole: dict[str, Any]) -> None:
    changed = _lower_all(whole)
    whole.clear()
    whole.update(changed)


_FIRST, _LEAF = ("calls", "premises", 0), ("calls", "premises", 0, "premises", 0)
MUTANTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "epsilon lowered in the bound": _all(_set("bound", "remove", to="4.375470182"), _set("bound", "add", to="4.375470182")),
    "epsilon lowered in bound and proof": _all(
        _set("bound", "remove", to="4.375470182"), _set("bound", "add", to="4.375470182"), _set("proofs", 0, "upper", to="4.375470182")
    ),
    "epsilon lowered everywhere": _replace_everything,
    "lower end raised": _all(_set("bound", "lower", to="4.375470184"), _set("proofs", 0, "lower", to="4.375470184")),
    "hypothesis removed": _set("hypotheses", to=lambda items: items[1:]),
    "every hypothesis removed": _set("hypotheses", to=[]),
    "hypothesis of the arithmetic removed": _set("hypotheses", to=lambda items: [item for item in items if item["id"] != EXACT_REALS.id]),
    "hypothesis reworded": _set("hypotheses", 0, "sentence", to="n and m are integers"),
    "hypothesis of another id": _set("hypotheses", 0, "id", to="stated"),
    "hypothesis under another head": _set("hypotheses", 0, "head", to="the machine"),
    "another unit": _set("protection", "unit", to="user"),
    "other neighbors": _set("protection", "neighbors", to="replace-one"),
    "hypothesis discharged": _all(
        _set("hypotheses", to=lambda items: items[1:]),
        _set(
            "discharged",
            to=lambda items: [*items, {"hypothesis": {**hypotheses_json([PUBLIC_RATE])[0]}, "evidence": "trust me", "subject": "x"}],
        ),
    ),
    "evidence reworded": _set("discharged", 0, "evidence", to="claim well-defined, checked by everybody"),
    "discharged for another mechanism": _set("discharged", 0, "subject", to="every mechanism"),
    "discharged hypothesis removed": _set("discharged", to=lambda items: items[:1]),
    "rule without its hypotheses": _all(
        _set(*_FIRST, "arguments", "rule", "hypotheses", to=[]),
        _set("hypotheses", to=lambda items: [item for item in items if item["id"] not in (PUBLIC_RATE.id, IN_RANGE.id)]),
    ),
    "rule of a smaller rate": _set(*_FIRST, "arguments", "rule", "q", to="0.05"),
    "rule of another name": _set(*_FIRST, "arguments", "rule", "name", to="fair"),
    "claims changed": _set("derivation", "claims", to=["well-defined", "epsilon-upper", "strong-convexity"]),
    "claims removed": _set("derivation", "claims", to=[]),
    "conclusion changed": _set("derivation", "conclusion", to="psi(x) <= 1 at every record"),
    "derivation cut": _set("derivation", "premises", to=[]),
    "another subject": _set("subject", to="another mechanism"),
    "another profile in the calls": _set(*_LEAF, "arguments", "profile", "epsilon", to="w*z/4"),
    "another range in the calls": _set(*_LEAF, "arguments", "profile", "record", 0, "range", to=["0.5", "1"]),
    "another profile in the certificate": _set("proofs", 0, "certificate", "profile", "epsilon", to="w*z/4"),
    "another q in the certificate": _set("proofs", 0, "certificate", "sampling", "q", to="0.05"),
    "no certificate, but checked": _set("proofs", 0, "certificate", to=None),
    "a certificate without claims": _set("proofs", 0, "certificate", "claims", to=[]),
    "a certificate without its lower bound": _set("proofs", 0, "certificate", "claims", to=lambda claims: claims[:2]),
    "a certificate with a key that cannot be printed": _set("proofs", 0, "certificate", "claims", 1, "proof", to={"x\n\x1b[2J": 1}),
    "a certificate with a proof less": _set("proofs", 0, "certificate", "claims", 1, "proof", to=lambda proof: {"form": proof["form"]}),
    "a call missing": _set("calls", to=lambda call: call["premises"][0]),
    "no calls": _set("calls", to=None),
    "an unknown call": _set("calls", "call", to="conclude"),
    "a call of the sampler": _set("calls", "call", to="realise_sampling"),
    "a premise too many": _set("calls", "premises", to=lambda items: items * 2),
    "a leaf with a premise": _set(*_LEAF, "premises", to=[{"call": "both_directions", "arguments": {}, "premises": []}]),
    "a call without its argument": _set(*_LEAF, "arguments", to={}),
    "a discharge in the calls only": _set(
        "calls",
        to=lambda call: {
            "call": "discharge",
            "arguments": {"hypothesis": hypotheses_json([EXACT_REALS])[0], "evidence_text": "trust me"},
            "premises": [call],
        },
    ),
}


@pytest.mark.parametrize("name", sorted(MUTANTS))
def test_a_changed_file_is_never_replayed(name: str) -> None:
    """Epsilon lowered, a hypothesis removed, claims changed: read as data at most, and never made a guarantee."""
    try:
        read = read_guarantee(_change("epsilon", MUTANTS[name]))
    except UnreadableFile:
        return
    for accept in (False, True):
        with pytest.raises(NotReplayed) as caught:
            replay(read, known=[base_profile(SUM)], accept_evidence=accept)
        assert str(caught.value).isprintable()
    assert isinstance(suppose(read), Guarantee)


def test_a_consistent_lie_about_the_mechanism_stays_a_hypothesis() -> None:
    """Somebody makes a true guarantee of a better profile, of the same name: replaying shows that the profile is the file's word."""
    better = declare("noisy sum", "w*z/300", record={"z": ["0.5", 2]}, source="Dwork et al. 2006")
    forged = derive_epsilon(better, rule="uniform", constants={"m": 1, "n": 10}).guarantee
    found = replay(read_guarantee(write_guarantee(forged)), known=[base_profile(SUM)], accept_evidence=True)
    assert any(item.sentence.startswith(SUPPOSED) and "w*z/300" in item.sentence for item in found.hypotheses)


def test_a_narrower_range_is_in_the_hypothesis() -> None:
    """Privacy-constrained sampling prints the same for any range: the word of the file says for which records it was meant."""
    narrow = SUM.with_record(z=(1, "3/2"))
    read = read_guarantee(write_guarantee(derive_epsilon(narrow, rule="privacy-constrained", target_epsilon="3/2").guarantee))
    found = replay(read, known=[base_profile(SUM)])
    assert any(item.sentence.startswith(SUPPOSED) and "w*z/3 with z in [1, 1.5]" in item.sentence for item in found.hypotheses)
    parameters = declare("p", "w*z/b + c*d*w", record={"z": [0, 1]}, parameters={"b": "positive", "c": [1, 2], "d": "1/3"})
    stated = replay(read_guarantee(write_guarantee(base_profile(parameters)))).hypotheses[-1]
    assert "with z in [0, 1], b > 0, c in [1, 2], d = 1/3, under" in stated


def test_a_leaf_that_forgets_exact_reals_stays_a_hypothesis() -> None:
    made = worst_case(amplify_by_importance_sampling(base_profile(SUM, ()), make_rule("uniform", SUM, {"m": 1, "n": 10})))
    found = replay(read_guarantee(write_guarantee(made)), known=[base_profile(SUM)])
    assert any("no more hypotheses than it names" in item.sentence for item in found.hypotheses)


def test_verdicts_about_conditions_are_found_again() -> None:
    """Privacy-constrained sampling rests on conditions: a file that says they hold is not believed."""
    profile = declare("bounded", "w*z/(1 + w) + 0*w", record={"z": [1, 2]}, source="nowhere")  # no growth: assumption 9 is refuted
    rule = make_rule("privacy-constrained", profile, {}, 3)
    lie = worst_case(
        amplify_by_importance_sampling(base_profile(profile), rule),
        premises={"assumption-8": True, "assumption-9": True, "feasibility": True},
    )
    with pytest.raises(NotReplayed):
        replay(read_guarantee(write_guarantee(lie)), known=[base_profile(profile)])


def test_bounds_without_a_certificate_are_computed_again() -> None:
    made = guarantee("epsilon")
    whole = json.loads(text("epsilon"))
    whole["proofs"][0].update(checked_by_kernel=False, kernel_reason="not tried", certificate=None)
    with pytest.raises(NotReplayed):
        replay(read_guarantee(json.dumps(whole)))  # the numbers are true, but the file no longer says how they were found
    assert made.bound == read_guarantee(text("epsilon")).stated.bound


def test_a_bound_of_ball_arithmetic_alone_is_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs_check.suprema.bound.certify", lambda *_: Checked(None, accepted=False, reason="no kernel today"))
    made = derive_epsilon(SUM, rule="uniform", constants={"rate": "1/5"}).guarantee
    assert DEFINED in made.hypotheses
    found = replay(read_guarantee(write_guarantee(made)), known=[base_profile(SUM)])
    assert render(found) == render(made)
    lowered = write_guarantee(made).replace(str(json.loads(write_guarantee(made))["bound"]["remove"]), "1.9")
    with pytest.raises((NotReplayed, UnreadableFile)):
        replay(read_guarantee(lowered))


@pytest.mark.parametrize("name", ["composed", "directions", "one-sided"])
def test_two_sided_numbers_cannot_be_lowered(name: str) -> None:
    for key in ("remove", "add", "delta_remove"):
        value = json.loads(text(name))["bound"][key]
        lower = "0" if value != "0" and value is not None else "1"
        try:
            read = read_guarantee(_change(name, _set("bound", key, to=lower)))
        except UnreadableFile:
            continue
        with pytest.raises(NotReplayed):
            replay(read, accept_evidence=True)


def _two_directions(whole: dict[str, Any]) -> None:
    whole["protection"]["neighbors"] = "replace-one"
    whole["bound"].update(add="9", lower=None)


BROKEN: dict[str, Callable[[dict[str, Any]], None]] = {
    "version 4": _set("version", to=4),
    "version 1 with a unit": _set("version", to=1),
    "version 1.0": _set("version", to=1.0),
    "another format": _set("format", to="pdp-certificate"),
    "an unknown key": _set("proved", to=True),
    "no hypotheses": lambda whole: whole.pop("hypotheses"),
    "hypotheses as text": _set("hypotheses", to="none"),
    "a number": _set("bound", "remove", to=4),
    "a notion": _set("notion", to="pdp"),
    "an unknown unit": _set("protection", "unit", to="household"),
    "unknown neighbors": _set("protection", "neighbors", to="close ones"),
    "no neighbors": _set("protection", to={"unit": "record"}),
    "no protection": lambda whole: whole.pop("protection"),
    "a direction for neighbors without one": _two_directions,
    "an unknown bound": _set("bound", "type", to="delta"),
    "a bound as a list": _set("bound", to=[]),
    "a negative lower end": _set("bound", "lower", to="-1"),
    "a proof that is not there": _set("bound", "evidence", to=[7]),
    "a proof before the first": _set("bound", "evidence", to=[-1]),
    "an unknown rule": _set("derivation", "rule", to="divine insight"),
    "an unknown argument": _set("calls", "arguments", to={"seal": "mine"}),
    "an empty subject": _set("subject", to=" "),
    "a subject of two lines": _set("subject", to="sum\nwithout open hypotheses"),
    "a hidden direction mark": _set("subject", to="sum\u202e"),
    "a flag as text": _set("proofs", 0, "checked_by_kernel", to="yes"),
    "a record with a name that cannot be printed": _set("proofs", 0, "at", to={"z\x1b[2K": "1"}),
    "a certificate as text": _set("proofs", 0, "certificate", to="{}"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_broken_guarantee_files_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read_guarantee(_change("epsilon", BROKEN[name]))
    assert re.fullmatch(r"[^\n]{10,400}", str(caught.value))


def test_a_loss_without_a_bound_when_a_record_goes_is_refused_in_words() -> None:
    with pytest.raises(UnreadableFile, match="a loss if a unit goes, and two deltas, were expected as numbers"):
        read_guarantee(_change("composed", _set("bound", "remove", to=None)))


@pytest.mark.parametrize("key", ["derivation", "calls"])
def test_a_deep_file_is_refused(key: str) -> None:
    def nest(deep: dict[str, Any]) -> dict[str, Any]:
        for _ in range(200):
            deep = {**deep, "premises": [deep]}
        return deep

    leaf = {**json.loads(text("epsilon"))[key], "premises": []}
    with pytest.raises(UnreadableFile):
        read_guarantee(_change("epsilon", _set(key, to=nest(leaf))))
    with pytest.raises(UnreadableFile):
        read_guarantee('{"a":' * 100_000)


# --- the seal ---------------------------------------------------------------------------------------------------------------------


def test_what_only_looks_like_a_guarantee_is_refused() -> None:
    class Fake:
        subject, hypotheses, discharged, step = "fake", (), (), None
        notion, bound = guarantee("epsilon").notion, guarantee("epsilon").bound
        derivation = guarantee("epsilon").derivation

    with pytest.raises(InvalidArgument, match="Fake was found"):
        both_directions(Fake())  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        write_guarantee(Fake())  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        replay(read_guarantee(text("epsilon")), known=[Fake()])  # type: ignore[list-item]
    for wrong in (guarantee("epsilon"), "text"):
        for function in (replay, suppose):
            with pytest.raises(InvalidArgument):
                function(wrong)  # type: ignore[arg-type]


def test_calls_are_no_part_of_equality() -> None:
    one, other = assume(base_profile(SUM), ["a", "b"]), assume(assume(base_profile(SUM), ["a"]), ["b"])
    assert one == other
    assert one.call != other.call
    assert isinstance(other.call, Call)
    assert isinstance(read_guarantee(text("epsilon")), ReadGuarantee)


def test_a_certificate_is_for_its_own_profile_and_rule_only() -> None:
    rule = make_rule("uniform", SUM, {"m": 1, "n": 10})
    found = bound_epsilon(SUM, rule)
    assert found.certificate is not None
    again = recheck_epsilon(SUM, rule, found.certificate)
    assert (again.lower, again.upper, again.at, again.checked_by_kernel) == (found.lower, found.upper, found.at, True)
    with pytest.raises(NotReplayed):
        recheck_epsilon(SUM, rule_from_expression("1/5", SUM), found.certificate)
    with pytest.raises(NotReplayed):
        recheck_epsilon(SUM.with_record(z=("0.5", 3)), rule, found.certificate)
    with pytest.raises(NotReplayed):
        recheck_epsilon(SUM, make_rule("privacy-constrained", SUM, {}, 1), found.certificate)


@pytest.mark.thorough
def test_every_recorded_call_can_be_repeated_or_is_known_not_to_be() -> None:
    declared = {
        node.args[0].value
        for path in Path(accountant.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Signature", "Call")
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    # what was drawn, and a ledger, which goes on while its guarantee is in a file, are not made again
    earlier = {name for signature, _ in CALLS.values() for name in signature.earlier}
    assert declared == {*CALLS, "realise_sampling", "filter_releases"} - earlier


def test_an_argument_has_one_kind_in_all_calls() -> None:
    """So that a call of a rule that this release does not know is read, too."""
    kinds: dict[str, set[int]] = {}
    for signature, _ in CALLS.values():
        for name, kind in signature.arguments.items():
            kinds.setdefault(name, set()).add(id(kind))
    assert all(len(found) == 1 for found in kinds.values())


@pytest.mark.parametrize("call", sorted(CALLS))
def test_the_function_of_a_call_takes_what_is_recorded(call: str) -> None:
    """By name, or it is one of those whose arguments a file is not believed."""
    signature, rule = CALLS[call]
    names = set(inspect.signature(rule).parameters)
    assert set(signature.arguments) <= names or call in _MADE_AGAIN
    assert ("parts" in names) == (signature.premises is None)


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_call_has_the_arguments_of_its_signature(name: str) -> None:
    """Also those that are recorded where hypotheses are settled, below the rules."""
    left: list[Call | None] = [guarantee(name).call]
    while left:
        call = left.pop()
        assert call is not None
        assert [argument for argument, _ in call.arguments] == list(CALLS[call.name][0].arguments)
        left.extend(call.premises)


def test_a_rule_that_concludes_from_nothing_says_what_a_file_asks_to_be_believed() -> None:
    with pytest.raises(InvalidArgument, match="concludes from no guarantee"):
        Signature("trust_me", premises=0)
    assert {call for call, (signature, _) in CALLS.items() if signature.word} == {
        "base_profile", "bound_by_cover", "bound_by_table", "curve_of_profile", "declare_directions", "declare_events",
        "point_of_weights", "worst_case_directions",
    }  # fmt: skip


def test_other_arguments_than_declared_are_not_recorded() -> None:
    with pytest.raises(InvalidArgument, match="records p, in this order"):
        CALLS["subsample"][0].record(q=1)


@pytest.mark.parametrize("name", ["profile", "sampled", "one-sided", "discharged"])
def test_a_call_without_one_of_its_arguments_is_not_replayed(name: str) -> None:
    """An argument that is left out is not taken to be what the rule takes by itself."""

    def drop(call: dict[str, Any], lost: str) -> bool:
        found = call["arguments"].pop(lost, None) is not None
        return any([found, *(drop(item, lost) for item in call["premises"])])

    own = CALLS[json.loads(text(name))["calls"]["call"]][0].later
    lost_ones = {
        argument for signature, _ in CALLS.values() for argument in signature.arguments if argument not in (*signature.later, *own)
    }
    for lost in sorted(lost_ones):
        whole = json.loads(text(name))
        if drop(whole["calls"], lost):
            with pytest.raises((NotReplayed, UnreadableFile)):
                replay(read_guarantee(json.dumps(whole)))
