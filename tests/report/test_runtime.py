"""What a page that checks itself is made of: a runtime by its hashes, what runs around the kernel, and no change without the flag."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from fractions import Fraction

import pytest

import proofs_check
from accountant import report
from accountant.checking import check_document
from accountant.cli.main import invoke
from accountant.report.checking import page, runtime
from profiles import declare
from profiles.errors import UnreadableFile
from profiles.presenting.elements import make, serialise
from proofs_check.kernel.untrusted import formats
from tests.mutants.corpus import texts

PARTS = {
    "pyodide.asm.mjs": b"async function _createPyodideModule() { import.meta.url }\nexport default _createPyodideModule;",
    "pyodide.mjs": b"async function dt() {}\nexport{dt as loadPyodide,U as version};\n//# sourceMappingURL=x",
    "pyodide.asm.wasm": b"wasm",
    "python_stdlib.zip": b"zip",
}


@pytest.fixture
def harness(monkeypatch):
    """The functions that run in the browser, with the kernel that is imported here."""
    monkeypatch.setitem(sys.modules, "kernel", proofs_check.kernel)
    monkeypatch.setitem(sys.modules, "kernel.untrusted.formats", formats)
    space: dict[str, object] = {}
    exec(compile(page._text("harness.py"), "harness.py", "exec"), space)
    return space


@pytest.mark.parametrize("packed", [False, True])
def test_a_runtime_with_other_bytes_is_refused(tmp_path, packed):
    if packed:
        with tarfile.open(tmp_path / "p.tgz", "w:gz") as archive:
            for name, data in PARTS.items():
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    for name, data in PARTS.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UnreadableFile, match="SHA-256 differs"):
        runtime.load_runtime(tmp_path / "p.tgz" if packed else tmp_path)


def test_a_missing_runtime_says_where_it_comes_from(tmp_path, capsys):
    for path in (tmp_path, tmp_path / "none", tmp_path / "file"):
        (tmp_path / "file").write_text("no archive")
        with pytest.raises(UnreadableFile, match="npm pack pyodide@"):
            runtime.load_runtime(path)
    options = ["report", "profiles.mechanisms.laplace_sum:default", "-e", "8", "--out", str(tmp_path / "r.html")]
    assert invoke([*options, "--self-checking", "--runtime", str(tmp_path)]) == 2
    assert invoke([*options, "--runtime", str(tmp_path)]) == 2
    assert not (tmp_path / "r.html").exists()
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.thorough
def test_a_report_from_python_checks_itself_where_a_runtime_is_given(tmp_path, monkeypatch):
    profile, out = declare("sum", "w*z", record={"z": [0, 4]}), tmp_path / "report.html"
    for name, data in PARTS.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UnreadableFile, match="SHA-256 differs"):
        report(profile, 5, out, q="1/2", runtime=tmp_path)
    assert not out.exists()
    monkeypatch.setattr(runtime, "FILES", {name: hashlib.sha256(data).hexdigest() for name, data in PARTS.items()})
    report(profile, 5, out, q="1/2", runtime=tmp_path)
    text = out.read_text(encoding="utf-8")
    assert 'id="worker-source"' in text
    assert len(check_document(text).inside) == 2  # an editor has the very text that is offered for download
    changed = text.replace("epsilon-upper", "epsilon-lower")
    assert not check_document(changed).outcome.report.accepted  # not the download, which is as it was
    report(profile, 5, out, q="1/2")
    assert 'id="worker-source"' not in out.read_text(encoding="utf-8")


def test_the_worker_is_one_script(tmp_path):
    scripts = page.make_scripts(PARTS)
    worker = next(part.text for part in scripts if part.get("id") == "worker-source")
    assert "export" not in worker
    assert "import.meta" not in worker
    assert "await dt({" in worker
    with pytest.raises(Exception, match="cannot carry"):
        page._raw("var x = '</Script>'")


def test_texts_in_the_page_are_text():
    shown = serialise(page.make_editor("x", '{"a": "</textarea><script>alert(1)</script>"}'))
    assert "<script" not in shown
    assert "data-certificate" in shown
    assert "sha256-" in page.make_policy("p {}")
    assert "unsafe-inline" not in page.make_policy("p {}") + serialise(make("div", page.make_panel()))


@pytest.mark.parametrize(
    ("bound", "claimed", "same", "shown"),
    [
        ("23.10545083871", "23.1054508388", True, "23.1054508388"),
        ("23.1054508388", "23.1054508388", True, "23.1054508388"),
        ("23.10545083881", "23.1054508388", False, "23.1054508389"),
        ("23.1", "24.1", False, "23.1"),
        ("1/3", "0.34", True, "0.34"),
        ("1/300", "0.01", True, "0.01"),
        ("5/2", "3", True, "3"),
        ("1/7", "x", False, "1/7"),
        ("1/7", "1e99999", False, "1/7"),
        ("1/7", "nan", False, "1/7"),
    ],
)
def test_the_bound_is_rounded_up_to_the_places_of_the_claim(harness, bound, claimed, same, shown):
    found = json.loads(harness["round_up"](bound, claimed))
    assert found == {"same": same, "bound": shown}
    assert Fraction(shown) >= Fraction(bound)


def test_the_harness_says_what_the_kernel_says(harness):
    found = json.loads(harness["judge"](texts()["worst-sum"]))
    assert found["accepted"]
    assert ["epsilon-upper", "proved"] in [claim[:2] for claim in found["claims"]]
    assert "q(x) = 1/10 + z/5" in found["about"]
    assert not json.loads(harness["judge"](texts()["worst-sum"].replace("z/5", "z/6")))["accepted"]
    assert "run pdp check" in json.loads(harness["judge"]('{"format": "pdp-guarantee"}'))["reason"]
    assert "this is a pdp-kmeans-certificate" in json.loads(harness["judge"]('{"format": "pdp-kmeans-certificate"}'))["reason"]
    assert "too long" in json.loads(harness["judge"](" " * 1_000_001))["reason"]


@pytest.mark.thorough
def test_a_typed_claim_is_tried_by_the_kernel(harness):
    asked = {"epsilon": "w*z/3", "record": {"z": ["0", "4"]}, "parameters": {}, "q": "1/10 + z/10", "bound": "2.1"}
    found = json.loads(harness["attempt"](json.dumps(asked)))
    assert found["accepted"]
    assert json.loads(harness["judge"](found["certificate"]))["accepted"]
    for changed in ({"bound": "1"}, {"epsilon": "("}, {"record": {"z": ["4", "0"]}}):
        assert not json.loads(harness["attempt"](json.dumps(asked | changed)))["accepted"]
