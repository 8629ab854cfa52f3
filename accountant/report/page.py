"""The page: head with a strict policy, contents, sections, and what is needed to make it again."""

from __future__ import annotations

import base64
import hashlib
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata, resources

from accountant.report.checking import page as checking
from accountant.report.evidence import Evidence
from accountant.report.findings import audit, conditions
from accountant.report.plots import plots
from accountant.report.sections import certificates, derivation, hypotheses, promise, result, sampling
from accountant.report.wording import facts, section, up
from profiles.presenting.elements import Child, Element, make, serialise

_LIBRARIES = ("numpy", "scipy", "sympy", "mpmath", "python-flint")
_PACKAGE = "pdp-accountant"


def render_page(evidence: Evidence, *, title: str, date: str, command: Sequence[str], runtime: Mapping[str, bytes] | None = None) -> str:
    """Return the report as the text of one HTML file that loads nothing; with a Python runtime, one that checks itself where it is read."""
    parts = [
        result(evidence),
        hypotheses(evidence),
        promise(evidence),
        sampling(evidence),
        derivation(evidence),
        certificates(evidence),
        conditions(evidence),
        plots(evidence),
        audit(evidence),
        _again(evidence, date, command),
    ]
    shown = [part for part in parts if part is not None]
    if runtime is not None:
        shown[0] = make("div", _await_check(shown[0]), _panel(evidence))
    return lay_out(shown, title=title, date=date, runtime=runtime)


def lay_out(parts: Sequence[Element], *, title: str, date: str, runtime: Mapping[str, bytes] | None = None) -> str:
    """Return the text of one HTML file that loads nothing: the first section, the contents, and all others."""
    first, *others = parts
    style = resources.files("accountant.report").joinpath("report.css").read_text(encoding="utf-8")
    scripts: Sequence[Element] = ()
    policy = None
    if runtime is not None:
        style += checking.read_style()
        policy, scripts = checking.make_policy(style), checking.make_scripts(runtime)
    body = make(
        "body",
        make("a", "Skip to the result", href="#main", class_="skip"),
        make(
            "header",
            make("p", "Privacy report", class_="kind"),
            make("h1", title),
            make("p", f"Made on {date} by {_PACKAGE} {version(_PACKAGE)}", class_="note"),
        ),
        make("main", first, _contents(others), others, id="main", tabindex="-1"),
        scripts,
    )
    return "<!DOCTYPE html>\n" + serialise(make("html", _head(title, style, policy), body, lang="en")) + "\n"


def _await_check(first: Element) -> Element:
    """Say beside the number at the top that it is the author's until the kernel accepts it on the reader's machine."""
    side = first.find(".//span[@class='side']")
    if side is not None:
        side.set("id", "check-side")
        side.text = f"{side.text}; claimed by the author until it is checked below"
    return first


def _panel(evidence: Evidence) -> Element:
    """Return what checks the certificates of the report again, and what may be changed in it."""
    derived = evidence.derived
    claim: Child = None
    if derived is not None:
        field = make("input", id="check-claim", value=up(derived.bound.upper), autocomplete="off", spellcheck="false")
        claim = make("p", make("label", "The claim: epsilon is at most ", field))
    return checking.make_panel(
        make(
            "p",
            "The kernel that checked the certificates while this report was written is inside this file. It can check them again, here.",
        ),
        checking.make_buttons("check again here"),
        claim,
        [checking.make_editor(item.name, item.text) for item in evidence.certificates],
    )


def _head(title: str, style: str, policy: str | None) -> Element:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = policy or f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return make(
        "head",
        make("meta", charset="utf-8"),
        _meta_equiv("Content-Security-Policy", policy),
        make("meta", name="referrer", content="no-referrer"),
        make("meta", name="viewport", content="width=device-width, initial-scale=1"),
        make("meta", name="color-scheme", content="light dark"),
        make("meta", name="generator", content=f"{_PACKAGE} {version(_PACKAGE)}"),
        make("title", f"{title} – privacy report"),
        make("style", style),
    )


def _meta_equiv(name: str, content: str) -> Element:
    made = make("meta", content=content)
    made.set("http-equiv", name)
    return made


def _contents(parts: Sequence[Element]) -> Element:
    heading = make("h2", "Contents", id="contents-title")
    return make("nav", heading, make("ol", [_entry(part) for part in parts]), aria_labelledby="contents-title")


def _entry(part: Element) -> Element:
    heading = part.find("h2")
    return make("li", make("a", "" if heading is None else heading.text or "", href=f"#{part.get('id')}"))


def _again(evidence: Evidence, date: str, command: Sequence[str]) -> Element:
    seed: Child = "none: no random number enters a report without an audit"
    if evidence.audit is not None:
        seed = f"{evidence.audit.result.seed}, for the audit alone; no random number enters the bounds"
    return section(
        "again",
        "To make this report again",
        make("p", "The same command with the same versions gives the same file."),
        make("pre", "\n" + (shlex.join(command) if len(command) > 1 else command[0]), tabindex="0", role="group", aria_label="command"),
        facts(
            [
                ("Date", date),
                ("Seed", seed),
                (_PACKAGE, version(_PACKAGE)),
                (platform.python_implementation(), platform.python_version()),
                *((name, version(name)) for name in _LIBRARIES),
                ("Platform", f"{sys.platform}, {platform.machine()}"),
            ]
        ),
    )


def version(name: str) -> str:
    """Return the installed version of a distribution."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "of unknown version"
