"""docs/hypotheses.md, made from the hypotheses: ``python docs/_site/hypotheses.py > docs/hypotheses.md``."""

from __future__ import annotations

import re

from profiles.hypotheses import REGISTRY, Head

#: A bar within a cell, which would end the cell otherwise.
ESCAPED_BAR = r"\|"


def page_text() -> str:
    """Return docs/hypotheses.md: every hypothesis with its id, its sentence, what it means and what closes it."""
    lines = [
        "# The hypotheses",
        "",
        "Every hypothesis of every guarantee, by its id, as in `premises` of the JSON output and in files. Each is open, or closed by a",
        "step that the print names (`--all`). None is ever dropped. `…` is filled in for the case at hand. What breaks them:",
        "[what can go wrong](what-can-go-wrong.md).",
    ]
    for head in Head:
        lines += [
            "",
            f"## {head.value.capitalize()}",
            "",
            "| id | it says | what it means | what can close it |",
            "| --- | --- | --- | --- |",
        ]
        for item in REGISTRY.values():
            if item.head is head:
                sentence = re.sub(r"\{\w+(?:![rs])?\}", "…", item.sentence)
                cells = (f"`{item.id}`", sentence, item.meaning, item.discharged_by)
                lines.append(f"| {' | '.join(cell.replace('|', ESCAPED_BAR) for cell in cells)} |".replace("  ", " "))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page_text(), end="")  # noqa: T201
