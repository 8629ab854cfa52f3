"""The hypotheses of the theorems, read off the statements in proofs_check/formal, and the table that says what meets each in the code."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from tests.formal.compile import FORMAL, theorems, without_comments

_OPENING, _CLOSING = "([{", ")]}"


def read_table() -> Mapping[str, Any]:
    """Return proofs_check/formal/hypotheses.toml."""
    return tomllib.loads((FORMAL / "hypotheses.toml").read_text(encoding="utf-8"))


def hypotheses_of(name: str) -> list[str]:
    """Return the hypotheses of a theorem: those of the sections that it stands in, then those of its statement, in order."""
    text = " ".join(without_comments((FORMAL / f"{theorems()[name]}.v").read_text(encoding="utf-8")).split())
    found = re.search(rf"(?<!\w)Theorem {name}\b", text)
    assert found is not None
    statement = text[found.end() :].split(" Proof.")[0].rstrip(" .")
    return [*_of_sections(text[: found.start()]), *_split(_after_binders(statement), " -> ")[:-1]]


def _of_sections(text: str) -> Iterator[str]:
    # of the sections that are still open at the end of the text
    open_: list[list[str]] = []
    for sentence in re.split(r"\.(?:\s|$)", text):
        word, _, rest = sentence.strip().partition(" ")
        if word == "Section":
            open_.append([])
        elif word == "End":
            open_.pop()
        elif word == "Hypothesis":
            open_[-1].append(_after_name(rest))
        elif word == "Hypotheses":
            open_[-1] += [_after_name(item) for item in re.findall(r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)", rest)]
    for section in open_:
        yield from section


def _after_name(text: str) -> str:
    return text.split(":", 1)[1].strip()


def _after_binders(statement: str) -> str:
    # what follows the colon that is in no parentheses
    depth = 0
    for place, character in enumerate(statement):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == ":" and depth == 0 and statement[place + 1] != "=":
            return statement[place + 1 :].strip()
    raise ValueError(statement)


def _split(text: str, sign: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and text.startswith(sign, place):
            parts.append(text[start:place].strip())
            start = place + len(sign)
    return [*parts, text[start:].strip()]
