"""One registry of documents: every format that the code writes has an entry, and every entry knows a genuine file when it sees one."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from accountant import check
from accountant.checking import load_document
from profiles import NothingToCheck
from proofs_check.kernel.untrusted import formats
from proofs_check.kernel.untrusted.formats import FORMATS, read_heading
from tests.documentation.pages import site_module
from tests.documents.genuine import CLAIMING, COMMANDS, READ, SIGNED, UNMADE

ROOT = Path(__file__).parents[2]
#: What each module that opens files for writing writes. ``files.py`` writes what others give it, locks and scratch are no documents.
PROOF, GUARANTEE = "pdp-certificate", "pdp-guarantee"
WRITERS = {
    "accountant/applications/heavyhitters/state.py": {"pass state"},
    "accountant/cli/account.py": {PROOF, GUARANTEE, "picture"},
    "accountant/cli/answers.py": {"data", GUARANTEE},
    "accountant/cli/audit.py": {"picture"},
    "accountant/cli/calibrate.py": {PROOF, "profile file"},
    "accountant/cli/check.py": {"checker"},
    "accountant/cli/compose.py": {GUARANTEE},
    "accountant/cli/epsilon.py": {PROOF, "pdp-weight-cover", GUARANTEE},
    "accountant/cli/kmeans.py": {"data", "pdp-kmeans-certificate", "report", GUARANTEE},
    "accountant/cli/ledger_verbs/charging.py": {"data"},
    "accountant/cli/ledger_verbs/outsiders.py": {"pdp-ledger-public", "pdp-ledger-statement"},
    "accountant/cli/ledger_verbs/reporting.py": {GUARANTEE, "composition file"},
    "accountant/cli/release.py": {"data", PROOF, GUARANTEE, "report"},
    "accountant/cli/pictures.py": {"picture"},
    "accountant/cli/report.py": {"report"},
    "accountant/cli/second_opinion.py": {"Coq file"},
    "accountant/cli/verify.py": {PROOF},
    "accountant/cli/weight.py": {PROOF},
    "accountant/cli/weights.py": {"pdp-weight-table"},
    "accountant/data/writers.py": {"data"},
    "accountant/files.py": set(),
    "accountant/interop/loops.py": {PROOF, GUARANTEE},
    "accountant/ledger/anchor.py": {"pdp-ledger-anchor"},
    "accountant/ledger/backup.py": {"pdp-ledger-log"},
    "accountant/ledger/journal.py": {"ledger secret"},
    "accountant/ledger/sqlite.py": {"ledger"},
    "accountant/ledger/tables/versions.py": {"pdp-ledger-table", "data"},
    "accountant/ledger/writing.py": {"data"},
    "accountant/report/writing.py": {"report"},
    "accountant/samples/drawing.py": {"data", "pdp-sample-certificate", "pdp-statistics-certificate"},
    "profiles/presenting/pictures.py": {"picture"},
    "proofs_check/audit/plots.py": {"picture"},
    "proofs_check/coq/session.py": set(),
}
_WRITING = {"write_whole", "write_files", "replace_file", "replace_files", "write_text", "write_bytes", "savefig"}


def parse_modules(*words):
    """The syntax trees of the modules of the three packages in whose text one of the words occurs, by path."""
    for package in ("profiles", "proofs_check", "accountant"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if any(word in text for word in words):
                yield str(path.relative_to(ROOT)), ast.parse(text)


def writes(node):
    """Whether a call writes a file."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    modes = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    opened = name == "open" and (any(mode[:1] in ("w", "x", "a") and len(mode) <= 3 for mode in modes) or "O_CREAT" in ast.unparse(node))
    return opened or name in _WRITING


def resolve(value, values):
    """What a name stands for, as far as the module says it."""
    name = ast.unparse(value)
    return resolve(values[name], values) if name in values else value


def named_formats(tree):
    """Every name that a module writes under the key ``format``: of objects, and of :func:`write_document`."""
    values = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = (
                    zip(target.elts, node.value.elts, strict=False)
                    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                    else [(target, node.value)]
                )
                values |= {ast.unparse(left): right for left, right in pairs}
        if isinstance(node, ast.ImportFrom) and node.module == "proofs_check.kernel.untrusted.formats":
            values |= {alias.asname or alias.name: ast.Constant(PROOF) for alias in node.names if alias.name == "OWN"}
    for node in ast.walk(tree):
        found = []
        if isinstance(node, ast.Dict):
            found = [
                value for key, value in zip(node.keys, node.values, strict=True) if isinstance(key, ast.Constant) and key.value == "format"
            ]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "write_document":
            found = node.args[:1]
        for value in found:
            known = resolve(value, values)
            yield known.value if isinstance(known, ast.Constant) else ast.unparse(known)


def test_every_format_has_an_entry_of_its_name_and_a_genuine_file():
    for name in FORMATS:
        entry = load_document(name)
        assert entry.name == name
        assert entry.told
        assert entry.told[0].islower()
    assert {COMMANDS[name][0] for name in READ} == {name for name in FORMATS if load_document(name).read is not None}
    assert {kind for kind, _ in COMMANDS.values()} == FORMATS.keys() - UNMADE


def test_every_format_that_the_code_writes_is_registered():
    written = {name: set(named_formats(tree)) for name, tree in parse_modules('"format"', "write_document")}
    strange = {name: sorted(map(str, found - FORMATS.keys())) for name, found in written.items() if found - FORMATS.keys()}
    # numbers of a ledger's own first entry, what strict_json is asked for, and what pdp check found
    assert strange.pop("accountant/ledger/settings.py") == ["TABLE_FORMAT if self.table else FORMAT"]
    assert strange.pop("accountant/cli/check.py") == ["checked.document.name"]
    assert strange.pop("profiles/strict_json.py") == ["kind"]
    assert strange == {}, (
        "a new format needs an entry: a name in proofs_check/kernel/untrusted/formats.py, and a line of accountant.checking.load_document"
    )
    assert {name for found in written.values() for name in found} >= {name for name in FORMATS if load_document(name).versions}


def test_every_module_that_writes_files_says_which():
    found = {name for name, tree in parse_modules(*_WRITING, "open(") if any(map(writes, ast.walk(tree)))}
    assert found == WRITERS.keys(), "say in WRITERS what the module writes, and register a new format"
    assert set().union(*WRITERS.values()) <= FORMATS.keys()
    assert FORMATS.keys() - set().union(*WRITERS.values()) == {"pdp-profile"}  # people write that text themselves


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_genuine_file_is_known_and_never_called_forged(genuine, pdp, name):
    path, kind = genuine.make(name), COMMANDS[name][0]
    document = load_document(kind)
    result = pdp("check", path)
    judged = name in (*CLAIMING, *SIGNED) or kind == "report"
    assert judged or name == "ledger-guarantee.json" or document.check is None
    assert result.code == (0 if judged else 2), result.out + result.err
    if judged:
        said = " ".join(result.out.split()) + " "  # where lines break depends on the length of the path
        assert said.startswith("accepted: ")
        assert f" {document.meaning}: {document.told} " in said
        found = pdp("check", path, "--json").json()
        assert (found["format"], found["checked"]) == (kind, document.told)
        assert found["claims"] or all(inner["claims"] for inner in found["inside"].values())
        assert check(path).accepted
        return
    assert result.refused()
    assert f"is {document.meaning}, which " in result.err
    with pytest.raises(NothingToCheck):
        check(path)


@pytest.mark.parametrize("name", READ)
def test_a_genuine_file_comes_back_and_states_what_its_entry_says(genuine, name):
    text = genuine.make(name).read_text(encoding="utf-8")
    document = load_document(COMMANDS[name][0])
    assert read_heading(text)[0] == document.name
    again = document.read(text)
    if document.write is not None:
        written = document.write(again)
        assert document.write(document.read(written)) == written
        assert not document.versions or json.loads(written) == json.loads(text)
    if document.versions:
        whole = json.loads(text)
        assert (whole["format"], whole["version"] in document.versions) == (document.name, True)
    for key in filter(str.isidentifier, (document.protection, document.hypotheses)):
        assert key in text or name == "c.toml"


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_a_heading_is_read_of_a_text_however_deep(opening, monkeypatch):
    """JSON of Python recurses: in a browser the whole page's Python ended."""
    monkeypatch.setattr(formats.json, "loads", lambda *_, **__: pytest.fail("a deep text was parsed"))
    assert read_heading(opening * 100_000) == (None, None)
    assert read_heading('{"format": "pdp-guarantee", "a": ' + opening * 300) == ("pdp-guarantee", None)


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "earlier").iterdir()), ids=lambda path: path.name)
def test_files_of_earlier_releases_are_as_genuine_as_they_were(pdp, path):
    """Written by the commands of ``genuine.py`` before guarantees had a protection (their version 2), and words of hypotheses changed."""
    said = pdp("check", path)
    assert said.code == (2 if path.name in ("ledger-guarantee.json", "c.toml") else 0), said.out + said.err
    assert COMMANDS[path.name][0] == read_heading(path.read_text(encoding="utf-8"))[0]


def test_the_page_of_all_formats_is_current():
    made = site_module("documents").list_formats()
    page = (ROOT / "docs" / "interoperability.md").read_text(encoding="utf-8")
    assert made in page, "python docs/_site/documents.py prints what belongs into docs/interoperability.md"
    assert all(f"| {load_document(name).meaning} |" in made for name in FORMATS)


def test_a_guarantee_that_cannot_be_made_again_says_why(genuine, pdp):
    said = pdp("check", genuine.make("ledger-guarantee.json"))
    assert said.refused()
    assert "on its own word, because the call of" in said.err


def test_what_is_inside_is_told_and_its_axioms_as_well(genuine, pdp):
    told = pdp("check", genuine.make("report.html"), "--json").json()
    assert len(told["inside"]) == 2
    assert {part["format"] for part in told["inside"].values()} == {PROOF}
    assert "boxes" in told["axioms"]
    assert "boxes: " in pdp("check", genuine.make("report.html"), "--axioms").out
    (fit,) = pdp("check", genuine.make("page.html"), "--json").json()["inside"].values()
    assert (fit["format"], fit["accepted"]) == ("pdp-kmeans-certificate", True)
    guarantee = pdp("check", genuine.make("guarantee.json"), "--json").json()
    assert guarantee["about"]["unit"] == "record"
    assert any(item["id"] == "declared-profile" for item in guarantee["about"]["premises"])
