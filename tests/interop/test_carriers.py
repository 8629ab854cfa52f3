"""Nothing that a guarantee rests on is lost on its way into a carrier and out of it again, nor on the way through two of them."""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accountant
from accountant import compose
from accountant.cli.main import invoke
from accountant.guarantees import CurveBound, Guarantee, Losses
from accountant.guarantees.curves import curve_of_guarantee, point_of_curve
from accountant.interop.carriers import CARRIERS, carry, list_lost, take
from accountant.ledger import Ledger
from profiles import InvalidArgument, OtherNotion, UnreadableFile, decimal_text
from profiles.hypotheses import HYPOTHESES_UNKNOWN
from profiles.protection import Neighbors, Unit
from proofs_check.kernel.untrusted.formats import FORMATS
from tests.interop.kinds import KINDS, OWN, losses, make

#: A carrier of another library, with what has to be installed; make test-interop runs these.
EXTRAS = {"dp_accounting event": "dp_accounting", "opendp measurement": "opendp"}
WRITABLE = [name for name, carrier in CARRIERS.items() if carrier.put is not None]
#: Formats of files that hold no guarantee, each with the reason.
HOLDS_NONE = {
    "pdp-profile": "a profile is a promise: whoever derives a bound from it gets its hypotheses from the rules",
    "profile file": "the same, as it is written by hand",
    "pdp-weight-table": "weights, without a bound; the certificate of the sample that is drawn with them has it",
    **dict.fromkeys(("data", "picture", "checker", "Coq file", "ledger secret"), "no bound of anything"),
    "pdp-ledger-log": "a backup: the ledger that is restored from it is the carrier",
    "pdp-ledger-anchor": "hashes",
    "pdp-ledger-public": "entries and hashes: whoever wants what they promise together asks the ledger for its guarantee",
    "pdp-ledger-statement": "what one unit spent, for its eyes",
    "pdp-ledger-table": "the mark of a folder",
    "pass state": "the state of a run, which goes on to an answer",
}


class Holder:
    """What a run gives: something with a guarantee."""

    def __init__(self, guarantee: Guarantee) -> None:
        self.guarantee_ = guarantee


@pytest.fixture
def into(tmp_path: Path) -> Iterator[Callable[[Guarantee, str], Any]]:
    """Carry a guarantee into a carrier, with whatever that needs besides."""
    numbers, opened = count(), list[Ledger]()

    def put(guarantee: Guarantee, name: str) -> Any:
        if name in EXTRAS and importlib.util.find_spec(EXTRAS[name]) is None:
            pytest.skip(f"{EXTRAS[name]} is not installed")
        if name == "ledger":
            notion, place = ("zcdp" if isinstance(guarantee.bound, CurveBound) else "pure"), tmp_path / f"ledger {next(numbers)}"
            ids = np.arange(3)
            ledger = Ledger.create(place, np.ones((3, 1)), ids=ids, budget=50, anchor=f"{place}.anchor", notion=notion)
            opened.append(ledger)
            return carry(guarantee, name, ledger=ledger, name="a release", data=np.ones((3, 1)), ids=ids)
        if name == "opendp measurement":
            dp = importlib.import_module("opendp.prelude")
            dp.enable_features("contrib", "honest-but-curious")
            return carry(guarantee, name, function="math:sqrt", input_domain=dp.vector_domain(dp.atom_domain(T=int)))
        return carry(guarantee, name)

    yield put
    for ledger in opened:
        ledger.close()


def require_law(before: Guarantee, after: Guarantee, rule: str = "") -> None:
    """What the table of carriers promises of one that was taken out."""
    lost = list_lost(before, after)
    assert not lost, f"lost: {'; '.join(item.sentence for item in lost)}"
    if before.protection != after.protection:
        assert rule, (before.protection, after.protection)
        assert after.derivation.rule == rule
        assert after.protection.neighbors is before.protection.neighbors
    require_no_less(before, after)


def require_no_less(before: Guarantee, after: Guarantee) -> None:
    """The bound is never smaller, in either direction."""
    if not isinstance(before.bound, (Losses, CurveBound)):
        assert after.bound == before.bound
        return
    if isinstance(before.bound, Losses) and isinstance(after.bound, Losses):
        for name in ("remove", "add", "delta_remove", "delta_add"):
            one, other = getattr(before.bound, name), getattr(after.bound, name)
            assert other is None or (one is not None and other >= one), name
        return
    one, other = (curve_of_guarantee(item) for item in (before, after))
    if one.bound == other.bound:
        return
    for epsilon in ("0", "1/10", "1"):
        smaller, larger = (point_of_curve(item, at_epsilon=epsilon, gap="1/100").bound for item in (one, other))
        assert larger.delta_remove >= smaller.delta_remove * Fraction(98, 100)  # type: ignore[union-attr]
        assert larger.delta_add >= smaller.delta_add * Fraction(98, 100)  # type: ignore[union-attr]


def carried(put: Callable[[Guarantee, str], Any], guarantee: Guarantee, name: str) -> Guarantee | None:
    """A guarantee after its way through a carrier; None where it is refused in one sentence that says what to do instead."""
    try:
        body = put(guarantee, name)
    except (InvalidArgument, OtherNotion) as error:
        refusal = str(error)
    else:
        return take(body, out_of=name)
    assert guarantee.subject[:30] in refusal or "a delta" in refusal, refusal
    assert ";" in refusal
    return None


@pytest.mark.thorough(quick=60)
@pytest.mark.parametrize("name", WRITABLE)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_in_a_carrier(kind: str, name: str, into: Callable[[Guarantee, str], Any]) -> None:
    before = make(kind)
    after = carried(into, before, name)
    if after is not None:
        require_law(before, after, CARRIERS[name].rule)


#: Which kinds each carrier has room for: one that refuses everything would obey every law.
HELD = {
    "pdp-guarantee": set(KINDS),
    "pdp-certificate": {"worst case with a proof", "worst case with own hypotheses", "mechanism of the catalogue"},
    "pdp-weight-cover": {"worst case under Gaussian noise"},
}


@pytest.mark.parametrize("name", HELD)
def test_a_carrier_holds_what_it_has_room_for(name: str, into: Callable[[Guarantee, str], Any]) -> None:
    assert {kind for kind in KINDS if carried(into, make(kind), name) is not None} == HELD[name]


@pytest.mark.thorough(quick=15)
@pytest.mark.parametrize("second", WRITABLE)
@pytest.mark.parametrize("first", WRITABLE)
def test_nothing_is_lost_in_two_carriers_in_a_row(first: str, second: str, into: Callable[[Guarantee, str], Any]) -> None:
    for kind in ("worst case with own hypotheses", "losses in each direction", "equal losses", "losses of users", "privacy curve"):
        before = make(kind)
        between = carried(into, before, first)
        after = None if between is None else carried(into, between, second)
        if between is not None and after is not None:
            require_law(before, between, CARRIERS[first].rule)
            require_law(between, after, CARRIERS[second].rule)
            closed = {item.hypothesis for item in between.discharged}  # by a step that the first carrier names
            assert set(list_lost(before, after)) <= closed
            require_no_less(before, after)


@pytest.mark.parametrize("kind", KINDS)
def test_results_pickles_and_copies_hold_a_guarantee_as_it_is(kind: str) -> None:
    before = make(kind)
    assert take(Holder(before), out_of="result") is before
    for again in (pickle.loads(pickle.dumps(before)), copy.deepcopy(before)):
        assert again.statement == before.statement


@pytest.mark.parametrize("name", WRITABLE)
def test_no_part_of_a_sum_is_dropped(name: str, into: Callable[[Guarantee, str], Any]) -> None:
    parts = [losses("0.5", "0.5"), losses("1", "1"), losses("2", "2")]
    whole = compose(*parts)
    after = carried(into, whole, name)
    if after is not None:
        epsilon = after.bound.epsilon if isinstance(after.bound, Losses) else None
        assert epsilon is None or epsilon >= Fraction("3.5")
        require_no_less(whole, after)
    taken = [carried(into, part, name) for part in parts]
    if None not in taken:
        again = compose(*[item for item in taken if item is not None])
        if isinstance(again.bound, CurveBound):  # the curve of the parts is below the sum of their losses, by a theorem of its own
            assert sum(event.count for event in again.bound.composition.events) == len(parts)
        else:
            require_no_less(whole, again)


PROFILE = 'name = "noisy sum"\nepsilon = "w*z/b"\n[record]\nz = [0, 4]\n[parameters]\nb = 10\n[sampling]\nq = "1/10"\n'
#: What writes each certificate of a run, with the file that it is written to.
RUNS = {
    "pdp-sample-certificate": "sample p.toml -e 2 --rule privacy-constrained --data d.csv --out s.csv --certificate c.json",
    "pdp-statistics-certificate": "sample p.toml -e 2 --rule privacy-constrained --data d.csv --out s.csv --certificate c.json "
    "--private-statistics 1/10",
    "pdp-kmeans-certificate": "kmeans x.csv --clusters 2 --epsilon 1 --radius 2 --out s.csv --certificate c.json",
    "report": "report p.toml -e 2 --out c.json",
}


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_lost_in_the_certificate_of_a_run(name: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(PROFILE, encoding="utf-8")
    Path("d.csv").write_text("z\n" + "\n".join(str(number % 40 / 10) for number in range(300)) + "\n", encoding="utf-8")
    Path("x.csv").write_text("a,b\n" + "\n".join(f"0.{number % 89 + 10},0.{number % 83 + 10}" for number in range(3000)) + "\n")
    assert invoke([*RUNS[name].split(), "--json"]) in ((0, 1) if name == "report" else (0,))
    if name == "report":
        capsys.readouterr()
        assert invoke(["epsilon", "p.toml", "--json"]) == 0  # what the report is about
    told = json.loads(capsys.readouterr().out)
    after = take(Path("c.json").read_text(encoding="utf-8"), out_of=name)
    assert {item["sentence"] for item in told["premises"]} <= {item.sentence for item in after.hypotheses}
    assert isinstance(after.bound, Losses)
    printed = decimal_text(after.bound.upper, 12, round_up=True)
    assert Fraction(printed) >= Fraction(told["epsilon"]["upper"])
    assert after.protection == accountant.guarantees.RECORDS
    assert invoke(["compose", "c.json", "c.json", "--all"]) == 0
    assert "each of the composed releases" in " ".join(capsys.readouterr().out.split()) or name == "pdp-kmeans-certificate"


def test_who_states_nothing_rests_on_what_is_unknown(into: Callable[[Guarantee, str], Any]) -> None:
    cover = into(make("worst case under Gaussian noise"), "pdp-weight-cover")
    told = json.loads(into(make("worst case with own hypotheses"), "pdp-certificate"))
    silent = json.dumps({key: value for key, value in told.items() if key not in ("hypotheses", "protection")})
    for body, name in ((cover, "pdp-weight-cover"), (silent, "pdp-certificate")):
        assert HYPOTHESES_UNKNOWN.id in {item.id for item in take(body, out_of=name).hypotheses}
    said = take(json.dumps(told), out_of="pdp-certificate").hypotheses
    assert OWN in said
    assert HYPOTHESES_UNKNOWN.id not in {item.id for item in said}
    told["protection"] = {"unit": "user", "neighbors": "add-remove"}
    with pytest.raises(UnreadableFile, match="another protection"):
        take(json.dumps(told), out_of="pdp-certificate")


def test_every_format_is_a_carrier_or_holds_no_guarantee() -> None:
    assert not CARRIERS.keys() & HOLDS_NONE.keys()
    assert FORMATS.keys() <= CARRIERS.keys() | HOLDS_NONE.keys()


#: Classes that have a guarantee, by their rooms: bodies of the table, results of runs (the carrier "result"), and what is run.
BODIES = {
    "CertifiedDpEvent",
    "CertifiedAccountant",
    "OpacusAccountant",
    "FlowerAccountant",
    "MeasurementPlan",
    "ReadGuarantee",
    "Ledger",
    "PrivacyCurve",
    "DeclaredEvents",
    "Carried",
}
RESULTS = {
    *("Account", "Answer", "BudgetedSample", "CertifiedRun", "CertifiedPath", "Charged", "ClockedWatch", "CoverProgram", "DPKMeans"),
    *("DPLloyd", "DPSGDClassifier", "DPSGDPlan", "HeavyHitterMonitor", "KeptPass", "OneSidedGreedy", "PrivateGreedy"),
    *("PrivateMatroidGreedy", "PrivateMetricClustering", "PrivatePartialCover", "PrivateSetCover", "Release", "Released", "Sample"),
    *("SampleSummary", "SamplingPlan", "SubsampledRepeated", "Watch", "TrainingAccount", "WeighedWithin", "WithinSummary"),
}
#: Classes that have hypotheses and no bound: what a guarantee is made of, and bounds of a utility.
PARTS = {
    *("Charge", "CostBound", "Calibration", "Coverage", "FacilityLocation", "GraphicMatroid", "Matroid", "Objective", "OracleMatroid"),
    *(
        "PartitionMatroid",
        "PerUser",
        "ProvedObjective",
        "ReportBound",
        "RuleEntry",
        "SamplingRule",
        "Tracked",
        "UniformMatroid",
        "Utility",
        "UtilityBound",
    ),
    *("MatrixRelease", "OpenedLedger", "Promise", "WeighedFile"),
    "ExPost",  # what holds of a ledger without a guarantee: no rule takes it
}
#: Public functions with a guarantee, by the reason why they lose nothing.
FUNCTIONS = {
    "the table of carriers, and what it calls": {
        *(
            "carry",
            "list_lost",
            "make_event",
            "plan_measurement",
            "read_cover",
            "read_epsilon",
            "read_guarantee",
            "read_kmeans",
            "read_measurement",
        ),
        *("read_release", "read_sample", "read_stated", "read_statistics", "replay", "spend", "suppose", "take", "tell_beside"),
        "write_guarantee",
        *("curve_of", "write_promise"),
    },
    "they call the rules, which lose nothing": {
        *(
            "add_groups",
            "approximate_guarantee",
            "bound_at",
            "certify_all_records",
            "certify_curve",
            "certify_fit",
            "certify_sample",
            "conclude_promise",
        ),
        *("certify_training", "certify_weights", "compose", "conclude_within", "cover_once", "declare_repeated", "declare_selection"),
        *("derive_guarantee", "promise_fit", "prove_released", "release_once", "subsample"),
    },
    "they declare events, whose rule adds what these suppose": {
        *("account", "curve_of_budget", "curve_of_dp_event", "curve_of_file", "curve_of_opacus"),
    },
    "they write or print what the guarantee states": {
        *("draw_derivation", "list_hypotheses", "tell_within", "to_certificate", "to_certificate_text", "write_open"),
    },
}
_TELLING = {"guarantee", "guarantee_", "hypotheses"}


def _modules() -> Iterator[ast.Module]:
    """Everything outside of the calculus itself."""
    root = Path(accountant.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in ("guarantees", "cli"):
            yield ast.parse(path.read_text(encoding="utf-8"))


def _names(found: ast.ClassDef) -> Iterator[str]:
    for item in ast.walk(found):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id
        elif isinstance(item, ast.FunctionDef):
            yield item.name
        elif isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store):
            yield item.attr


def _annotations(found: ast.FunctionDef) -> Iterator[str]:
    given = found.args
    for item in (*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))):
        yield "" if item.annotation is None else ast.unparse(item.annotation)
    yield "" if found.returns is None else ast.unparse(found.returns)


def test_every_class_with_a_guarantee_is_a_carrier() -> None:
    found = {
        item.name
        for tree in _modules()
        for item in ast.walk(tree)
        if isinstance(item, ast.ClassDef) and not item.name.startswith("_") and _TELLING & set(_names(item))
    }
    assert found <= BODIES | RESULTS | PARTS, "give each of them a row in accountant.interop.carriers, or say why it holds none"


def test_every_public_function_with_a_guarantee_is_known() -> None:
    found = {
        item.name
        for tree in _modules()
        for item in tree.body
        if isinstance(item, ast.FunctionDef)
        and not item.name.startswith("_")
        and any("Guarantee" in text or "PrivacyCurve" in text for text in _annotations(item))
    }
    known = set[str]().union(*FUNCTIONS.values())
    assert found <= known, "say why it loses nothing of what is open in a guarantee"


def test_a_carrier_refuses_by_name_what_it_has_no_room_for() -> None:
    with pytest.raises(InvalidArgument, match="a ledger holds a bound for neighbors add-remove"):
        carry(losses("1", "1", neighbors=Neighbors.REPLACE_ONE), "ledger")
    with pytest.raises(InvalidArgument, match=r"a certificate of an epsilon holds a bound for one record, but .* is for one user"):
        carry(losses(unit=Unit.USER), "pdp-certificate")
    with pytest.raises(InvalidArgument, match="is written by the run"):
        carry(losses(), "pdp-sample-certificate")
    with pytest.raises(InvalidArgument, match="did you mean"):
        carry(losses(), "pdp-guarantees")
