"""Cards: what a result shows of itself in a notebook. HTML that is escaped, loads nothing and runs nothing.

A card inherits the colours of the page that it stands on, so that it is readable on light and dark ones. What colours a badge is
translucent, and its word says what it means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from profiles.presenting.elements import Child, Element, make, serialise

_STYLE = """
.pdp-card { border: 1px solid rgba(128,128,128,.45); border-radius: .5em; padding: .6em .9em; margin: .3em 0; max-width: 60em; }
.pdp-card { line-height: 1.5; text-align: left; overflow-wrap: anywhere; }
.pdp-card p { margin: .35em 0; }
.pdp-card ul { margin: .2em 0; padding-left: 1.3em; }
.pdp-card summary { cursor: pointer; }
.pdp-card .pdp-name { font-weight: 600; }
.pdp-card .pdp-headline { font-size: 1.15em; font-weight: 600; }
.pdp-card .pdp-scroll { overflow-x: auto; }
.pdp-card table { border-collapse: collapse; margin: .4em 0; color: inherit; background: transparent; }
.pdp-card th { white-space: nowrap; }
.pdp-card th, .pdp-card td { text-align: left; vertical-align: top; padding: .2em .9em .2em 0; background: transparent; }
.pdp-card th, .pdp-card td { border: 0; border-bottom: 1px solid rgba(128,128,128,.3); }
.pdp-badge { border: 1px solid currentColor; border-radius: 1em; padding: 0 .55em; font-size: .85em; font-weight: 600; }
.pdp-badge { white-space: nowrap; }
.pdp-good { background: rgba(46,160,67,.22); }
.pdp-bad { background: rgba(218,54,51,.24); }
.pdp-open { background: rgba(210,153,34,.26); }
"""
#: How a verdict is coloured, here and in reports; its word says what it means.
TONES = {
    "proved": "good", "accepted": "good", "met": "good", "refuted": "bad", "rejected": "bad", "violated": "bad", "none": "bad",
    "not met": "bad", "unknown": "open", "not applicable": "open", "unchecked": "open", "open": "open",
}  # fmt: skip


def card(*children: Child) -> str:
    """Return the HTML of a card with its style."""
    return serialise(make("div", make("style", _STYLE), make("div", *children, class_="pdp-card")))


def badge(word: str) -> Element:
    """Return a verdict as a label, coloured where the word is a verdict of ours (``TONES``)."""
    return make("span", word, class_=" ".join(["pdp-badge", *([f"pdp-{TONES[word]}"] if word in TONES else [])]))


def name(text: str) -> Element:
    """Return the name of what a card is about, for its first line."""
    return make("span", text, class_="pdp-name")


def headline(*children: Child) -> Element:
    """Return the result as the first paragraph of a card."""
    return make("p", *children, class_="pdp-headline")


def line(*children: Child) -> Element:
    """Return a paragraph of a card, of texts and elements."""
    return make("p", *children)


def listed(items: Iterable[Child]) -> Element:
    """Return an unnumbered list with an entry for each item."""
    return make("ul", [make("li", item) for item in items])


def fold(summary: Child, *children: Child) -> Element:
    """Return a part that is closed until its ``summary`` is clicked."""
    return make("details", make("summary", summary), *children)


def head_and_body(columns: Sequence[Child], rows: Iterable[Sequence[Child]]) -> tuple[Element, Element]:
    """Return both parts of a table, with a heading for each column and row (its first cell)."""
    head = make("thead", make("tr", [make("th", column, scope="col") for column in columns]))
    body = make("tbody", [make("tr", make("th", first, scope="row"), [make("td", cell) for cell in rest]) for first, *rest in rows])
    return head, body


def table(columns: Sequence[Child], rows: Iterable[Sequence[Child]]) -> Element:
    """Return a table with a heading for each column and row (its first cell)."""
    return make("div", make("table", *head_and_body(columns, rows)), class_="pdp-scroll", tabindex="0", role="group", aria_label="table")
