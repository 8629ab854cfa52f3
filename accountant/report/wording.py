"""Small pieces that several sections share: numbers with their side, verdicts, tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from profiles import decimal_text, exact_text
from profiles.presenting.cards import TONES, head_and_body
from profiles.presenting.elements import Child, Element, make

DIGITS = 12
#: Tables of at most so many rows are printed on one page.
_SHORT = 14


def up(value: Fraction, digits: int = DIGITS) -> str:
    """Return a number with ``digits`` digits, rounded up: for upper bounds."""
    return decimal_text(value, digits, round_up=True)


def down(value: Fraction, digits: int = DIGITS) -> str:
    """Return a number with ``digits`` digits, rounded down: for lower bounds."""
    return decimal_text(value, digits, round_up=False)


def exactly(value: Fraction) -> str:
    """Return a number exactly where that is short, else as an enclosure."""
    text = exact_text(value)
    return text if len(text) <= 40 else f"between {down(value)} and {up(value)}"


def factor(epsilon: Fraction) -> Element | None:
    """Return a number that is at least e^ε, of three digits; None where it would not mean anything to anybody."""
    if epsilon > 60:
        return None
    text = up(Fraction(math.exp(float(epsilon))) * (1 + Fraction(1, 10**9)), 3)
    if len(text) <= 6:
        return make("math", make("mn", text))
    if "e" in text:
        shown, exponent = text.split("e")
    else:
        digits, exponent = text.rstrip("0"), str(len(text) - 1)
        shown = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return make("math", make("mn", shown), make("mo", "·"), make("msup", make("mn", "10"), make("mn", exponent)))


def badge(verdict: str, *, informs: bool = False) -> Element:
    """Return a verdict as a label; its word says it, the colour only helps. What only ``informs`` is neither good nor bad."""
    return make("span", verdict, class_=f"badge {'plain' if informs else TONES.get(verdict, 'plain')}")


def section(id_: str, title: str, *children: Child) -> Element:
    """Return a section that its heading labels, for screen readers and for links."""
    return make("section", make("h2", title, id=f"{id_}-title"), *children, id=id_, aria_labelledby=f"{id_}-title")


def fold(summary: Child, *children: Child, class_: str | None = None) -> Element:
    """Return a part that is closed until its ``summary`` is clicked."""
    return make("details", make("summary", summary), make("div", *children, class_="inside"), class_=class_)


def facts(items: Iterable[tuple[Child, Child]], class_: str | None = None) -> Element:
    """Return a list of names with their values."""
    return make("dl", [[make("dt", name), make("dd", value)] for name, value in items], class_=class_)


def table(caption: str, columns: Sequence[Child], rows: Iterable[Sequence[Child]], *, numeric: bool = False) -> Element:
    """Return a table with a heading for each row (its first cell) and column, in a part of the page that scrolls by itself."""
    head, body = head_and_body(columns, rows)
    kinds = [kind for kind, given in (("numeric", numeric), ("short", len(body) <= _SHORT)) if given]
    made = make("table", make("caption", make("span", caption)), head, body, class_=" ".join(kinds) or None)
    return make("div", made, class_="scroll", tabindex="0", role="group", aria_label=caption)


def point(values: Mapping[str, Fraction]) -> list[Child]:
    """Return a point, such as a witness, exactly."""
    made: list[Child] = []
    for name, value in values.items():
        made += [", " if made else None, make("code", f"{name} = {exact_text(value)}")]
    return made or ["at every record"]
