"""Docstrings are reStructuredText with formulas in plain characters: |x| is a norm there, and names may end in an underscore."""

from __future__ import annotations

import re
from typing import Any

_KEPT = re.compile(r"(``.+?``|:\w+:`[^`]+`)")
_ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
_PAGE = re.compile(r"\bdocs/([\w-]+)\.md\b")
_FORMULA = ".. code-block:: text"
_MARKS = re.compile(r"\||(?<=\w)_(?=\W|$)|\*")


def escape(_app: Any, what: str, _name: str, found: object, _options: object, lines: list[str]) -> None:
    """Escape the characters of formulas, except in code, roles and examples; a constant does not get the docstring of its type."""
    if what == "data" and found.__doc__ == type(found).__doc__:
        lines[:] = [""]
    _flatten_headings(lines)
    _display_formulas(lines)
    example = formula = False
    for index, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        formula = line == _FORMULA or (formula and line[:1] in ("", " "))
        if not (example or formula):
            parts = _KEPT.split(line)
            lines[index] = "".join(part if place % 2 else _escape_marks(part) for place, part in enumerate(parts))


def shorten_types(_app: Any, _what: str, _name: str, _object: object, _options: object, signature: str, returned: str) -> tuple[str, str]:
    """Show the names of type aliases as they are written."""
    return tuple(_ALIAS.sub(r"\g<1>", text) if text else text for text in (signature, returned))  # type: ignore[return-value]


def _display_formulas(lines: list[str]) -> None:
    """Show the formulas that stand by themselves, indented by four spaces below an empty line, as they are: they are no quotes."""
    for index in range(len(lines) - 1, 1, -1):
        above = next((line for line in lines[index - 1 :: -1] if line.strip()), "")
        if re.match(r" {4}\S", lines[index]) and not lines[index - 1].strip() and re.match(r"(?![*:-] |\.\. )\S(?!.*::$)", above):
            lines[index:index] = [_FORMULA, ""]


def _flatten_headings(lines: list[str]) -> None:
    """Turn the underlined headings of an estimator's docstring into plain lines: they are no sections of a page."""
    for index in range(len(lines) - 1, 0, -1):
        if lines[index] and set(lines[index]) == {"-"}:
            lines[index - 1 : index + 1] = [f".. rubric:: {lines[index - 1].strip()}", ""]


def _escape_marks(text: str) -> str:
    text = _PAGE.sub(r":doc:`docs/\g<1>.md </\g<1>>`", text)
    bullet = re.match(r"\s*\* ", text)
    start = bullet.end() if bullet else 0
    return text[:start] + _MARKS.sub(r"\\\g<0>", text[start:])


def find_target(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve :class:`Name` by the last part of a name, where one public object has it."""
    from sphinx.util.nodes import make_refnode  # noqa: PLC0415 - the module is imported by tests without Sphinx

    if node.get("refdomain") != "py":
        return None
    last = node["reftarget"].rpartition(".")[2]
    found = [(name, entry) for name, entry in env.domaindata["py"]["objects"].items() if name.rpartition(".")[2] == last]
    if len(found) != 1:
        return None
    name, entry = found[0]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)
