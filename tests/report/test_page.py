"""A report says what was computed, on the safe side, carries its certificates, and loads and runs nothing."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import sys
from fractions import Fraction

import pytest

from accountant.guarantees.derive import derive_epsilon
from accountant.report import evidence as evidence_module
from profiles import load
from proofs_check.kernel import Report, check
from tests.report.conftest import HOSTILE, LLOYD

_SAFE = {"html", "head", "meta", "title", "style", "body", "a", "header", "p", "h1", "h2", "h3", "h4", "nav", "ol", "ul", "li", "main",
         "section", "article", "bdi", "dl", "dt", "dd", "span", "strong", "code", "pre", "div", "table", "caption", "thead", "tbody", "tr",
         "th", "td", "details", "summary", "figure", "figcaption", "svg", "desc", "g", "path", "line", "circle", "text", "math", "mi", "mn",
         "mo", "mrow", "mfrac", "msub", "msup", "msqrt", "mspace", "mtext", "mtable", "mtr", "mtd"}  # fmt: skip


def _files(page):
    """The files that a page carries: name → text."""
    carried = {}
    for link in page.all("a"):
        if "download" in link:
            head, data = link["href"].split(",", 1)
            assert head.endswith(";base64")
            carried[link["download"]] = base64.b64decode(data).decode()
    return carried


def _harmless(page):
    assert {tag for tag, _ in page.tags} <= _SAFE
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") or name in ("src", "style", "srcdoc", "action") for name in attributes), (tag, attributes)
        target = attributes.get("href")
        assert target is None or target.startswith(("#", "data:application/json;base64,", "data:text/plain;base64,")), target
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    style = re.search(r"<style>(.*?)</style>", page.html, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.thorough
def test_a_report_of_a_profile_file(report, tmp_path, monkeypatch):
    page = report(LLOYD, "--target-epsilon", 20)
    _harmless(page)
    derived = derive_epsilon(load(str(tmp_path / "profile.toml")))
    upper = derived.bound.evidence.upper_text()
    assert Fraction(upper) >= derived.bound.upper
    assert f"{upper} nats" in page.text
    assert derived.bound.evidence.lower_text() in page.text
    for hypothesis in derived.guarantee.hypotheses:
        assert hypothesis.sentence in page.text
    count = len(derived.guarantee.hypotheses)
    assert count > 10
    assert f"{count} unverified assumptions, which are part of the result" in page.text
    first = page.html.split("Contents</h2>")[0]
    assert all(hypothesis.sentence in first for hypothesis in derived.guarantee.hypotheses)
    assert '<span class="badge bad">not met</span>' in first
    assert '<span class="badge good">accepted</span>' in first
    assert "rounded up" in first
    carried = _files(page)
    assert carried.pop("profile.toml") == LLOYD
    assert set(carried) == {"weighted-dp-lloyd-bounds.json", "weighted-dp-lloyd-conditions.json"}
    for text in carried.values():
        assert check(text).accepted
        assert hashlib.sha256(text.encode()).hexdigest() in page.text
    for claim in ("fay-2024-theorem-6-upper-inequality", "epsilon-upper", "epsilon-lower", "well-defined"):
        assert claim in page.text
    assert f"pdp report {tmp_path}/profile.toml --target-epsilon 20 --out report.html --date 2026-01-31" in page.text
    assert "<td>–</td>" not in page.html.split('<section id="plots"')[1]  # all curves of a plot have their points at the same records
    levels = [level for level, _ in page.headings]
    assert levels[:2] == [1, 2]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    identifiers = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    assert all(link["href"][1:] in identifiers for link in page.all("a") if link["href"].startswith("#"))
    assert all(cell.get("scope") in ("row", "col") for cell in page.all("th"))
    assert len(page.all("figure")) == 3


@pytest.mark.thorough
def test_hostile_text_stays_text(report):
    page = report(HOSTILE, "--target-epsilon", "0.3", "--title", "<script>window.pwned = 1</script>\"'", name="x.toml")
    _harmless(page)
    assert "<script" not in page.html
    assert "<script>window.pwned = 1</script>\"'" in page.text
    assert "\\u202eevil \\u0000 javascript:alert(1) &lt;b&gt; &amp; {{7*7}} </math><iframe" in page.text
    assert "\u202e" not in page.html
    assert _files(page)["x.toml"] == HOSTILE


def test_what_is_infeasible_is_told(report):
    page = report("profiles.mechanisms.laplace_sum:default", "--target-epsilon", 3, code=1)
    assert "No ε is certified" in page.text
    assert "assumption-8 is refuted for the target 3" in page.text
    assert "z = 4" in page.text
    assert "nats" not in page.text.split("Unverified assumptions")[1].split("Plots")[0]


@pytest.mark.thorough
def test_parameters_without_numbers_have_no_plots(report):
    page = report('name = "p"\nepsilon = "w*z/b"\n[record]\nz = [0, 1]\n[parameters]\nb = [1, 2]\n', "-e", 2)
    assert "any number from 1 to 2" in page.text
    assert "Plots need numbers for all parameters, but b has none" in page.text
    assert "Its source, as declared\nnone is named" in page.text


def test_the_guarantee_of_no_record_statistics(report):
    page = report("profiles.mechanisms.weighted_count:default", "-e", 3)
    assert "The loss does not depend on the record" in page.text
    assert not page.all("figure")


def test_what_the_kernel_rejects_is_told(report, monkeypatch):
    monkeypatch.setattr(evidence_module, "check", lambda text: Report(accepted=False, step="claims[0]", reason="<it> does not follow"))
    page = report("profiles.mechanisms.weighted_count:default", "-e", 3, code=1)
    assert "rejected at claims[0]: <it> does not follow" in page.text


@pytest.mark.thorough
def test_a_bound_that_the_kernel_rejects_is_nowhere_called_accepted(report, monkeypatch):
    monkeypatch.setattr(evidence_module, "check", lambda text: Report(accepted=False, step="budget", reason="time is over"))
    page = report(LLOYD, "-e", 20, code=1)
    assert "accepted" not in page.text
    assert "rejected by the kernel when this report was made" in page.text
    assert "<td>yes</td>" not in page.html.split('<section id="conditions"')[1].split('id="well-defined"')[0]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("profile", "statement"),
    [
        ("profiles.mechanisms.laplace_sum:default", "The optimal weight is the largest root in a derived bracket"),
        ('name = "p"\nepsilon = "z*Min(w, 2)"\n[record]\nz = [1, 2]\n', "Privacy-constrained sampling has a unique"),
    ],
    ids=["proposition-12", "theorem-10"],
)
def test_a_theorem_whose_condition_is_refuted_is_not_stated_as_a_fact(report, profile, statement):
    page = report(profile, "-e", 8, "--q", "1/2")
    assert f"Not concluded, because a condition of it is refuted: {statement}" in page.text
    assert f" {statement}" not in page.text.replace(f"because a condition of it is refuted: {statement}", "")
    assert "Discharged by: proved" not in page.text


@pytest.mark.thorough
def test_a_range_with_parameters_is_shown_as_it_was_written(report):
    page = report('name = "p"\nepsilon = "w*z"\n[record]\nz = [0, "2*R"]\n[parameters]\nR = [1, 2]\n', "-e", 8, "--q", "1/2")
    promise = page.html.split('id="profile"')[1].split("</section>")[0]
    assert "<code>epsilon = w*z</code>" in promise
    assert "<code>2*R</code>" in promise
    assert "In proofs and witnesses z stands as 2*R*z_share, with z_share in [0, 1]." in promise
    assert promise.count("share") == 2


@pytest.mark.thorough
def test_the_loss_without_sampling_is_drawn_where_the_one_after_it_cannot_be(report):
    page = report('name = "p"\nepsilon = "z*log(1 + w)"\n[record]\nz = ["0.25", "0.5"]\n', "-e", 3)
    assert "without sampling: ε(1, x)" in page.text
    assert "The loss after sampling could not be drawn: " in page.text


@pytest.mark.thorough
def test_several_statistics(report):
    page = report('name = "p"\nepsilon = "w*a + 0*b"\n[record]\na = [0.25, 1]\nb = [0, 1]\n', "-e", 2, "--q", "1/2")
    assert "The loss of a record against a (others held at b = " in page.text
    assert "= ≈" not in page.text
    assert len(page.all("figure")) == 5


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize(
    "options",
    [
        ("-e", "0"),
        ("-e", "three"),
        ("-e", "2", "--seed", "1"),
        ("-e", "2", "--audit-samples", "1000"),
        ("-e", "2", "--date", "yesterday"),
        ("-e", "2", "--title", " "),
        ("-e", "2", "--rule", "uniform", "--constant", "m=2,n=1"),
        ("-e", "2", "--rule", "uniform", "--q", "1/2"),
        ("-e", "2", "--q", "2"),
    ],
)
def test_unusable_options_leave_no_file(pdp, tmp_path, options):
    profile, out = tmp_path / "p.toml", tmp_path / "r.html"
    profile.write_text('name = "p"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
    assert pdp("report", profile, "--out", out, *options).refused()
    assert not out.exists()


@pytest.mark.thorough
def test_a_range_without_a_binary_number_has_no_plots(report):
    page = report('name = "p"\nepsilon = "w*(a + b)"\n[record]\na = [0, 1]\nb = ["0.1", "0.1"]\n', "-e", 2)
    assert "could not be drawn" in page.text


def test_the_profile_is_not_overwritten(pdp, tmp_path):
    profile = tmp_path / "p.toml"
    profile.write_text('name = "p"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
    assert pdp("report", profile, "-e", 2, "--out", profile).refused()
    assert profile.read_text().startswith("name")


@pytest.mark.thorough
def test_huge_numbers_have_a_report(report):
    page = report('name = "p"\nepsilon = "w*z"\n[record]\nz = [0, 1e300]\n', "-e", "1e6", "--q", "1/2", code=3)
    assert "No ε is certified" in page.text
    assert "could not be drawn" in page.text


def test_unwritable_places_are_refused_before_the_work(pdp, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["accountant.report"], "gather", lambda *_, **__: pytest.fail("it worked first"))
    assert pdp("report", "nothing.toml", "-e", "2", "--out", tmp_path / "no" / "r.html").refused()


def test_the_date_of_the_sources(pdp, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    result = pdp("report", "profiles.mechanisms.weighted_count:default", "-e", "3", "--out", tmp_path / "r.html", "--json")
    told = result.json()
    text = (tmp_path / "r.html").read_bytes()
    assert result.code == 0
    assert "Made on 1970-01-01" in text.decode()
    assert told["sha256"] == hashlib.sha256(text).hexdigest()
    assert told["epsilon"] == {"lower": "3", "upper": "3"}
    assert told["certificates"]["conditions"]["accepted"] is True
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    assert pdp("report", "profiles.mechanisms.weighted_count:default", "-e", "3", "--out", tmp_path / "r.html").refused()
