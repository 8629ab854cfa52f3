"""Files that are damaged, forged, huge or somebody else's: one sentence and the right exit code, never a traceback."""

from __future__ import annotations

import base64
import json
import re

import pytest

from accountant import check
from profiles import InvalidArgument, UnreadableFile
from tests.documents.genuine import CLAIMING

DEEP = "[" * 100_000
#: Texts without a claim of ours.
STRANGE = {
    "empty": b"",
    "blank": b" \n",
    "binary": bytes(range(256)),
    "half a character": b'{"format": "\\ud800"}',
    "another encoding": "{}".encode("utf-16"),
    "JSON of another tool": b'{"format": "spdx", "version": 2, "name": "pdp-certificate"}',
    "a list": b'["pdp-certificate"]',
    "a format that is no text": b'{"format": {"pdp-certificate": 1}}',
    "a list of formats": b'{"format": ["pdp-certificate", "pdp-guarantee"]}',
    "an object": b"{}",
    "nothing": b"null",
    "no number": b"NaN",
    "a number": b"1" * 5_000,
    "nesting": DEEP.encode(),
    "nesting of objects": b'{"a":' * 100_000,
    "another page": b"<!DOCTYPE html>\n<html><head><title>pdp-certificate</title></head></html>",
    "another database": b"SQLite format 3\0" + bytes(84),
    "another archive": b"PK\3\4" + bytes(96),
    "another TOML": b'[tool]\nname = "pdp"\n',
    "a long list": b"[" + b"0," * 2_500_000 + b"0]",
}


@pytest.mark.parametrize("data", STRANGE.values(), ids=STRANGE.keys())
def test_what_is_not_ours_is_refused_and_not_rejected(pdp, tmp_path, data):
    path = tmp_path / "given"
    path.write_bytes(data)
    said = pdp("check", path)
    assert said.refused(), said.out + said.err
    assert pdp("check", path, "--json").refused()
    with pytest.raises(UnreadableFile):
        check(path)


def test_a_huge_file_is_not_read(pdp, tmp_path):
    with (tmp_path / "huge.json").open("wb") as stream:
        stream.truncate(10**11)
    assert pdp("check", tmp_path / "huge.json").refused()


def rejected(pdp, path, text):
    """What is said of a changed file, which is rejected."""
    path.write_text(text, encoding="utf-8")
    said = pdp("check", path)
    assert (said.code, said.err) == (1, ""), said.out + said.err
    assert said.out.startswith("rejected at ")
    assert not check(path).accepted
    assert pdp("check", path, "--json").json()["about"] is None
    return said.out


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("name", CLAIMING)
def test_a_damaged_file_of_a_known_format_is_rejected(genuine, pdp, tmp_path, name):
    text, path = genuine.make(name).read_text(encoding="utf-8"), tmp_path / "changed.json"
    whole, lost = json.loads(text), None
    rejected(pdp, path, text[: len(text) // 2])
    rejected(pdp, path, text.replace('"version":', '"version": 1, "version":', 1))
    rejected(pdp, path, json.dumps(whole | {"more": 1}))
    rejected(pdp, path, json.dumps(whole | {"version": "1"}))
    rejected(pdp, path, text.replace('"version":', f'"more": {DEEP}, "version":', 1))
    rejected(pdp, path, text.replace('"version":', '"more": NaN, "version":', 1))
    for key in whole.keys() - {"format"}:
        lost = {name: value for name, value in whole.items() if name != key}
        if key not in ("target_epsilon", "sample", "private", "protection", "hypotheses"):  # files of before have none
            rejected(pdp, path, json.dumps(lost))
    assert lost is not None


@pytest.mark.parametrize("name", CLAIMING)
def test_a_later_version_is_refused_and_not_rejected(genuine, pdp, tmp_path, name):
    whole, path = json.loads(genuine.make(name).read_text(encoding="utf-8")), tmp_path / "later.json"
    path.write_text(json.dumps(whole | {"version": 99}), encoding="utf-8")
    said = pdp("check", path)
    assert said.refused()
    assert "of version 99, but 1" in said.err


@pytest.mark.parametrize("name", CLAIMING)
def test_keys_in_another_order_and_spaces_change_nothing(genuine, pdp, tmp_path, name):
    path = tmp_path / "sorted.json"
    path.write_text("\n " + json.dumps(json.loads(genuine.make(name).read_text(encoding="utf-8")), sort_keys=True), encoding="utf-8")
    assert pdp("check", path).code == 0


def test_a_smaller_number_in_a_guarantee_is_rejected(genuine, pdp, tmp_path):
    text = genuine.make("guarantee.json").read_text(encoding="utf-8")
    (upper,) = {*re.findall(r'"upper": "([0-9.]+)"', text)}
    said = rejected(pdp, tmp_path / "g.json", text.replace(f'"upper": "{upper}"', '"upper": "4"'))
    assert "contradicts itself" in " ".join(said.split())
    whole = json.loads(text)
    said = rejected(pdp, tmp_path / "g.json", json.dumps(whole | {"hypotheses": whole["hypotheses"][1:]}))
    assert "rejected at guarantee: the file states another" in " ".join(said.split())
    whole["proofs"][0]["certificate"]["claims"][1]["bound"] = "4"
    assert "rejected at proofs[0], claims[1]" in rejected(pdp, tmp_path / "g.json", json.dumps(whole))


@pytest.mark.thorough
def test_a_certificate_changed_inside_of_a_report_is_rejected(genuine, pdp, tmp_path):
    text, path = genuine.make("report.html").read_text(encoding="utf-8"), tmp_path / "changed.html"
    packed = re.search(r"data:application/json;base64,([A-Za-z0-9+/=]+)", text)[1]
    inner = base64.b64decode(packed).decode()
    forged = inner.replace("23.105450838714", "13.105450838714")
    assert forged != inner
    said = rejected(pdp, path, text.replace(packed, base64.b64encode(forged.encode()).decode()))
    assert "weighted-dp-lloyd-bounds.json, claims[1]" in said
    rejected(pdp, path, text.replace(packed, "ÿ" + packed[1:]))
    rejected(pdp, path, text[: len(text) // 2])
    rejected(pdp, path, text.replace("</body>", f'<textarea aria-label="certificate bounds">{forged}</textarea></body>'))
    path.write_text(re.sub(r"data:application/json;base64,[A-Za-z0-9+/=]+", "", text), encoding="utf-8")
    said = pdp("check", path)
    assert said.refused()
    assert "is a report, which has no certificate inside" in said.err
    rejected(pdp, path, text.replace(packed, base64.b64encode(b"{}").decode()))


def test_a_profile_that_cannot_be_read_is_no_false_claim(pdp, tmp_path):
    for text in ('name = "x"\nepsilon = \n', 'name = "x"\nepsilon = "w*f(z)"\n[table.f]\nfile = "f.csv"\n', "[[event]]\nmechanism = 1\n"):
        (tmp_path / "p.toml").write_text(text)
        assert pdp("check", tmp_path / "p.toml").refused()
    (tmp_path / "p.json").write_text('{"format": "pdp-profile", "version": 1')
    assert pdp("check", tmp_path / "p.json").refused()


def test_what_python_is_given_is_told_apart(tmp_path):
    with pytest.raises(UnreadableFile, match="of no known format"):
        check("{}")
    with pytest.raises(UnreadableFile, match="of no known format"):
        check({"format": "spdx"})
    for wrong in (3, None, {"format": {1, 2}}):
        with pytest.raises(InvalidArgument):
            check(wrong)
    assert not check('{"format": "pdp-certificate"').accepted
    with pytest.raises(UnreadableFile, match="a file was expected"):
        check(tmp_path)
