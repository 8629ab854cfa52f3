"""docs/what-can-go-wrong.md, made from the matrix of misuse: ``python docs/_site/misuse.py > docs/what-can-go-wrong.md``."""

from __future__ import annotations

import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path

MATRIX = Path(__file__).parents[2] / "tests" / "misuse" / "mistakes.toml"
_LEADS = {
    "With scikit-learn": "What is refused here, and what adds up: "
    "[private-kmeans.md](private-kmeans.md#16-with-scikit-learn-what-adds-up-what-is-refused)."
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What a kind of entry point says of a mistake: it names ``hypotheses``, refuses, or (``because``) it cannot happen.

    ``test``: what shows it where running the entry points of the kind does not.
    """

    hypotheses: tuple[str, ...] = ()
    test: str = ""
    because: str = ""

    @classmethod
    def read(cls, text: str) -> Cell:
        """Return the cell of a text. Raises :class:`ValueError` for another form."""
        word, _, rest = text.partition(": ")
        if word == "named":
            listed, _, test = rest.partition(" by ")
            return cls(tuple(listed.split(", ")), test)
        if word == "refused":
            return cls(test=rest)
        if word == "never" and len(rest.split()) >= 4:
            return cls(because=rest)
        raise ValueError(f"a cell says named: IDS, refused: TEST or never: BECAUSE, but {text!r} was found")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A way in which somebody who means well ends with a number that does not hold; ``says``: the cell of each kind."""

    section: str
    name: str
    text: str
    says: dict[str, Cell]


def read_matrix() -> tuple[dict[str, str], list[Mistake]]:
    """Return the kinds of entry points with their descriptions, and all mistakes."""
    whole = tomllib.loads(MATRIX.read_text(encoding="utf-8"))
    found = []
    for item in whole["mistake"]:
        cells = {**whole["always"], **whole["pattern"][item["pattern"]], **item.get("says", {})}
        found.append(Mistake(item["section"], item["name"], item["text"].strip(), {kind: Cell.read(text) for kind, text in cells.items()}))
    return whole["kinds"], found


def page_text() -> str:
    """Return docs/what-can-go-wrong.md."""
    kinds, mistakes = read_matrix()
    lines = [
        "# What can go wrong",
        "",
        "A certified ε is a theorem with assumptions. Each paragraph describes how somebody who means well gets an ε that does not hold,",
        "what it cost where that was measured, and what the tool says now. Below each paragraph are the entry points that name the broken",
        "assumption, and those that refuse; with the other entry points the mistake cannot be made. Each is run as a test (`tests/misuse`",
        "in the repository), as a user would write it. All assumptions with their ids: [the hypotheses](hypotheses.md).",
        "",
        "The entry points:",
        "",
        *(f"- *{kind}*: {what}" for kind, what in kinds.items()),
    ]
    section = ""
    for item in mistakes:
        if item.section != section:
            section = item.section
            lines += ["", f"## {section}", *(["", _LEADS[section]] if section in _LEADS else [])]
        lines += ["", f"### {item.name}", "", _fill(item.text), "", _say(item)]
    return "\n".join(lines) + "\n"


def _fill(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 140, break_long_words=False, break_on_hyphens=False)


def _say(mistake: Mistake) -> str:
    named: dict[str, list[str]] = {}
    for kind, cell in mistake.says.items():
        for name in cell.hypotheses:
            named.setdefault(name, []).append(kind)
    refused = [kind for kind, cell in mistake.says.items() if not cell.hypotheses and not cell.because]
    own = [f"{kind}: {cell.because}" for kind, cell in mistake.says.items() if cell.because.endswith("which is tested")]
    parts = [f"`{name}` by {', '.join(found)}" for name, found in named.items()]
    said = [f"Named: {'; '.join(parts)}."] if parts else []
    said += [f"Refused by {', '.join(refused)}."] if refused else []
    said += [f"Cannot happen: {'; '.join(own)}."] if own and not said else []
    return f"*{' '.join(said) or 'Cannot happen.'}*"


if __name__ == "__main__":
    print(page_text(), end="")  # noqa: T201
