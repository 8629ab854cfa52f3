"""The kernel tries nothing: a certificate of version 2 says which tree shows each side condition, and which way is taken."""

from __future__ import annotations

import ast
import json
import random
import sys
from pathlib import Path

import pytest

from proofs_check import kernel
from proofs_check.certificates import complete
from proofs_check.kernel import check
from proofs_check.kernel.core.documents import Meter
from proofs_check.kernel.untrusted.formats import read_heading
from proofs_check.kernel.untrusted.proofs import OWN, TREES, UNSAID, Session
from proofs_check.kernel.untrusted.upgrade import find_choices, leaves_open, upgrade
from tests.kernel.conftest import check_alone, document
from tests.mutants.corpus import texts, write

FOLDER = Path(kernel.__file__).parent
UPGRADED = {name: upgrade(text) for name, text in texts().items()}
OPEN = {name: text for name, text in UPGRADED.items() if any("choices" in claim for claim in json.loads(text)["claims"])}


def claims(report):
    """The names, verdicts and bounds that were accepted."""
    return [(claim.claim, claim.verdict, claim.bound) for claim in report.claims]


@pytest.mark.parametrize("name", texts())
def test_an_upgraded_certificate_is_accepted_by_the_kernel_alone(name):
    before, after, alone = check(texts()[name]), check(UPGRADED[name]), check_alone(UPGRADED[name])
    assert (before.accepted, before.upgraded, after.accepted, after.upgraded, alone.accepted) == (True, True, True, False, True)
    assert claims(before) == claims(after)
    stated = [theorem.statement for theorem in alone.theorems]
    assert [(each.name, each.verdict) for each in stated] == [found[:2] for found in claims(after)]


def test_rules_of_earlier_certificates_are_read_by_their_names_of_today():
    """The rule ``periodicity`` was called ``turn``, in certificates of both versions."""
    for text in (texts()["turning"], UPGRADED["turning"]):
        earlier = text.replace('"periodicity"', '"turn"')
        assert earlier != text
        assert check(earlier) == check(text)
        assert "periodicity" in {rule for claim in check(earlier).claims for rule in claim.rules}


def test_an_upgrade_adds_choices_and_changes_nothing_else():
    for name, text in UPGRADED.items():
        whole = json.loads(text)
        assert whole["version"] == 2
        bare = {**whole, "version": 1, "claims": [{k: v for k, v in claim.items() if k != "choices"} for claim in whole["claims"]]}
        assert bare == json.loads(texts()[name])
        assert upgrade(text) == text
        assert complete(whole) == whole


def test_certificates_grow_by_little():
    sizes = [(len(write(json.loads(text))), len(texts()[name])) for name, text in UPGRADED.items()]
    assert sum(new for new, _ in sizes) < 1.06 * sum(old for _, old in sizes)
    assert all(new < 1.2 * old + 50 for new, old in sizes)


@pytest.mark.thorough
def test_the_kernel_does_less_where_it_is_told():
    spent = {}
    for version, found in ((1, texts()), (2, UPGRADED)):
        for name, text in found.items():
            meter = Meter()
            assert check_alone(text, Session(meter), find_choices(text, Session())[0] if version == 1 else ()).accepted
            spent[version, name] = Meter().left - meter.left
    assert all(spent[2, name] <= spent[1, name] + 1 for name in UPGRADED)
    assert sum(spent[2, name] for name in UPGRADED) < 600_000  # 896,414 when it had to try


@pytest.mark.parametrize("name", OPEN)
def test_no_choice_can_be_left_out_or_added(name):
    whole = json.loads(UPGRADED[name])
    for place, claim in enumerate(whole["claims"]):
        found = claim.get("choices", "")
        for other in dict.fromkeys((found[:-1], "", f"{found}m", f"{found}0", f"{found} ")):
            if other != found:
                changed = [*whole["claims"][:place], {**claim, "choices": other}, *whole["claims"][place + 1 :]]
                report = check_alone(json.dumps({**whole, "claims": changed}))
                assert not report.accepted, (claim, other)
                assert str(report.step).startswith(f"claims[{place}].proof")


@pytest.mark.thorough
def test_wrong_choices_prove_nothing_else():
    source = random.Random(5)
    for name, text in OPEN.items():
        whole = json.loads(text)
        for _ in range(3):
            known = [*TREES, *"0123", OWN]
            changed = [{**claim, "choices": mix(claim.get("choices", ""), known, source)} for claim in whole["claims"]]
            wrong = json.dumps({**whole, "claims": changed})
            report = check_alone(wrong)
            assert not report.accepted or claims(check(wrong)) == claims(check(texts()[name]))
            assert report.accepted or "while checking" not in str(report.reason)


def mix(found: str, known: list[str], source: random.Random) -> str:
    """Return choices with a few others among them."""
    return "".join(source.choice(known) if source.random() < 0.2 else each for each in found)


@pytest.mark.parametrize("wrong", [None, 0, ["m"], {"a": "m"}, True])
def test_choices_are_text(wrong):
    whole = {**document(), "version": 2}
    assert check_alone(json.dumps(whole)).accepted
    whole["claims"][0]["choices"] = wrong
    assert check_alone(json.dumps(whole)).step.startswith("claims[0]")


def test_the_first_version_has_no_choices_of_its_own():
    whole = document()
    whole["claims"][0]["choices"] = ""
    assert check(json.dumps(whole)).step == "claims[0]"


def test_the_kernel_alone_does_not_look_for_what_is_left_open():
    text = json.dumps(document(epsilon="w/(z**2 + 1)", target=None))
    assert check(text).accepted
    assert check_alone(text).reason == UNSAID
    assert check_alone(json.dumps({**json.loads(text), "version": 2})).reason == UNSAID
    choices, report = find_choices(text, Session())
    assert report.accepted
    assert choices == ["0m"]
    assert check_alone(text, None, choices).accepted
    for other in (["1m"], ["0z"], ["m"], ["00m"], [], ["", "0m"]):
        assert not check_alone(text, None, other).accepted


def test_branches_are_resolved_as_the_certificate_says():
    proof = {"bound": {"rule": "manifest"}}
    text = json.dumps(document({"claim": "proposition-17", "verdict": "proved", "proof": proof}, epsilon="Max(w**2, w)", target=None))
    choices, report = find_choices(text, Session())
    assert report.accepted
    assert choices[1] == "00m"  # on all of the domain, the first one, by its normal form
    assert check_alone(text, None, choices).accepted
    assert not check_alone(text, None, [choices[0], "01m"]).accepted
    assert not check_alone(text, None, [choices[0], "1"]).accepted


def test_an_own_tree_is_named():
    tree = {"rule": "sum", "parts": ["(z - 2)**2", "1"], "proofs": [{"rule": "boxes", "budget": 100}, {"rule": "manifest"}], "strict": 1}
    text = json.dumps(
        document(epsilon="w/(z**2 - 4*z + 5)", nonnegative={"rule": "boxes", "budget": 2000}, obligations={"z**2 - 4*z + 5": tree})
    )
    choices, report = find_choices(text, Session())
    assert report.accepted
    assert choices == ["0o"]
    assert check_alone(text, None, ["0b"]).reason == "an obligation is given twice, or one that the claim does not have"


def test_one_meter_pays_for_the_upgrade_and_the_check():
    text = texts()["huber"]
    meter = Meter()
    assert check_alone(UPGRADED["huber"], Session(meter)).accepted
    alone = Meter().left - meter.left
    meter = Meter()
    assert check(text, Session(meter)).accepted
    both = Meter().left - meter.left
    assert both > alone
    assert not check(text, Session(Meter(both - 100))).accepted
    assert not check(text, Session(Meter(both - alone - 100))).accepted


def test_what_is_rejected_is_searched_once_and_no_more():
    text = json.dumps(document(epsilon="w/(z - 2)", target=None))
    meter = Meter()
    searched = find_choices(text, Session(meter))[1]
    report = check(text, Session(again := Meter()))
    assert (report.accepted, report.upgraded) == (False, False)
    assert (report.step, report.reason) == (searched.step, searched.reason)
    assert again.left == meter.left


def test_texts_that_are_no_certificate_of_the_first_version_are_left_as_they_are():
    for text in ("", "{", "[]", "1", '{"version": 2, "profile": {}}', '{"version": 1}', "[" * 100_000, '{"version": true}'):
        assert not leaves_open(text)
        assert upgrade(text) == text
    long = '{"format": "pdp-certificate", "version": 1, "profile": 0, "more": ' + "9" * 5_000 + "}"
    assert read_heading(long) == ("pdp-certificate", 1)  # whatever a process allows, no long number is converted, which takes seconds
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(0)
        assert not leaves_open(long)
        assert read_heading(long) == ("pdp-certificate", 1)
    finally:
        sys.set_int_max_str_digits(before)
    for text in ('{"version": 1, "profile": 0}', json.dumps(document(epsilon="-w")), json.dumps({**document(), "claims": 3})):
        assert leaves_open(text)
        assert upgrade(text) == text
        assert not check(text).accepted


def handlers(path: Path) -> list[str]:
    """Return the functions of a module in which an exception is caught, by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path.stem}.{function.name}"
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler)
    ]


def test_nothing_that_failed_is_tried_in_another_way():
    # rejected is rejected: the checker catches it for its report; a term without a normal form has one form only
    places = [path for path in sorted(FOLDER.rglob("*.py")) if path.parent.name != "untrusted"]
    found = {name for path in places for name in handlers(path)}
    assert found == {"checker.check", "theorems.settle", "rules._forms", "__main__.main"}


def test_what_has_not_to_be_believed_forges_nothing():
    # it takes what modules offer: no name that starts with an underscore, and it changes no attribute but those of a session of its own
    for path in (FOLDER / "untrusted").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not any(alias.name.startswith("_") for alias in node.names), path
            if isinstance(node, ast.Attribute) and (isinstance(node.ctx, ast.Store) or node.attr.startswith("_")):
                assert isinstance(node.value, ast.Name), path
                assert node.value.id in ("self", "session"), path
            assert not isinstance(node, ast.Name) or node.id not in ("setattr", "vars", "globals"), path


def test_what_has_not_to_be_believed_writes_no_verdict_but_rejections():
    # it hands on the report of the kernel, beside which it puts words
    found = []
    for path in (FOLDER / "untrusted").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                named = {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert None not in named or "replace" not in ast.unparse(node.func), path
                found += [named["accepted"]] if "accepted" in named else []
                assert not ast.unparse(node.func).endswith("Report") or (not node.args and named["accepted"] == "False"), path
    assert found == ["False"]


def test_nothing_that_has_to_be_believed_uses_what_has_not():
    for path in FOLDER.rglob("*.py"):
        if path.parent.name == "untrusted" or path.name in ("__init__.py", "__main__.py"):
            continue  # these two only name what is called first
        assert "untrusted" not in path.read_text(encoding="utf-8"), path
