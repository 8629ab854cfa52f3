"""``python docs/_site/checking.py RUNTIME OUT``: write the page of the documentation site that checks what is dropped on it."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

from accountant.files import write_whole
from accountant.report.checking.page import make_panel, make_policy, make_scripts, make_stop, read_style
from accountant.report.checking.runtime import load_runtime
from profiles.presenting.elements import Element, make, serialise

_FIELDS = (
    ("typed-epsilon", "epsilon(w, x) =", "w*z/3"),
    ("typed-record", "ranges of the record's statistics", "z = [0, 4]"),
    ("typed-parameters", "parameters", ""),
    ("typed-q", "q(x) =", "1/10 + z/10"),
    ("typed-bound", "claimed: after sampling, epsilon is at most", "2.1"),
)


def render(runtime: dict[str, bytes]) -> str:
    """Return the page as the text of one HTML file that loads nothing."""
    style = resources.files("accountant.report").joinpath("report.css").read_text(encoding="utf-8") + read_style()
    policy = make("meta", content=make_policy(style))
    policy.set("http-equiv", "Content-Security-Policy")
    head = make(
        "head",
        make("meta", charset="utf-8"),
        policy,
        make("meta", name="viewport", content="width=device-width, initial-scale=1"),
        make("title", "Check a certificate"),
        make("style", style),
    )
    body = make("body", make("main", make("h1", "Check a certificate"), make_panel(_dropped(), _typed())), make_scripts(runtime))
    return "<!DOCTYPE html>\n" + serialise(make("html", head, body, lang="en")) + "\n"


def _dropped() -> list[Element]:
    field = make("textarea", id="dropped-text", aria_label="text of the certificate", rows="10", spellcheck="false")
    return [
        make(
            "div",
            make("p", make("label", "Drop a certificate here, or choose it: ", make("input", id="dropped-file", type="file", data_run=""))),
            field,
            make("p", make("button", "check this text", id="dropped-check", type="button", data_run=""), " ", make_stop()),
            make("p", "not checked yet", id="dropped-answer", class_="answer"),
            id="drop",
        )
    ]


def _typed() -> list[Element]:
    rows = [
        make("p", make("label", f"{label} ", make("input", id=name, value=value, spellcheck="false"))) for name, label, value in _FIELDS
    ]
    button = make("p", make("button", "try the kernel's own rules", type="submit", data_run=""))
    note = "The kernel tries its own rules (manifest signs and boxes), without a prover: not accepted does not mean false."
    return [
        make("h3", "Or type a profile, a sampling rule and a claim"),
        make("p", note, class_="note"),
        make("form", rows, button, id="typed"),
        make("p", "not tried yet", id="typed-answer", class_="answer"),
    ]


if __name__ == "__main__":
    write_whole(Path(sys.argv[2]), render(load_runtime(sys.argv[1])))
