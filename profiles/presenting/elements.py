r"""HTML as a tree of elements: what is text is escaped by the serialiser, so that no profile can add markup to a page.

Statement: :func:`make` is the only way in which strings enter a page. It makes characters that cannot be seen (control and format
characters, lone surrogates) visible as ``\u202e``, and :func:`serialise` escapes ``&``, ``<`` and ``>`` in text and ``&`` and ``"`` in
attributes. Names of elements and attributes come from this package alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias
from xml.etree import ElementTree

from profiles.errors import InvalidArgument

Element: TypeAlias = ElementTree.Element
Child: TypeAlias = "str | Element | Iterable[Child] | None"

#: A line break behind these keeps the source readable and changes nothing on the page.
_BLOCKS = {
    "article", "dd", "details", "div", "dl", "dt", "figure", "footer", "h1", "h2", "h3", "h4", "header", "li", "link", "main", "meta",
    "nav", "ol", "p", "pre", "section", "style", "summary", "table", "tbody", "thead", "title", "tr", "ul",
}  # fmt: skip
_NAME = re.compile(r"[a-z][a-zA-Z0-9-]*\Z")


def make(tag: str, *children: Child, **attributes: object) -> Element:
    """Return an element. Attributes that are None are left out; ``class_`` is class, and ``aria_label`` is aria-label.

    Raises :class:`InvalidArgument` for names that are not plain ones.

    >>> serialise(make("p", "a < b", class_="x"))
    '<p class="x">a &lt; b</p>'
    """
    made = ElementTree.Element(_checked(tag))
    for name, value in attributes.items():
        if value is not None:
            made.set(_checked(name.rstrip("_").replace("_", "-")), visible(str(value)))
    add(made, *children)
    return made


def add(parent: Element, *children: Child) -> None:
    """Append text, elements and lists of them to an element."""
    for child in children:
        if child is None:
            continue
        if isinstance(child, str):
            _add_text(parent, visible(child))
        elif isinstance(child, ElementTree.Element):
            parent.append(child)
            if child.tag in _BLOCKS:
                child.tail = "\n"
        else:
            add(parent, *child)


def _add_text(parent: Element, text: str) -> None:
    last = parent[-1] if len(parent) else None
    if last is None:
        parent.text = (parent.text or "") + text
    else:
        last.tail = (last.tail or "") + text


def _checked(name: str) -> str:
    if not _NAME.match(name):
        raise InvalidArgument(f"a plain name of an element or attribute was expected, but {name[:40]!r} was found; correct the caller")
    return name


def visible(text: str) -> str:
    r"""Return text in which every character can be seen: others than printable ones, line breaks and tabs are written as escapes.

    >>> print(visible("a\u202eb\x00"))
    a\u202eb\u0000
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{ord(c):04x}" for c in text)


def serialise(element: Element) -> str:
    """Return the HTML of an element, without what follows it."""
    text = ElementTree.tostring(element, encoding="unicode", method="html")
    return text[: -len(element.tail)] if element.tail else text
