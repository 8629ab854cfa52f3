"""Accidents of markup: what a parser makes of a page although nobody meant it, and conflict markers in any file.

A wrapped formula whose line begins with ``>``, ``+`` or ``-`` becomes a quote or a list, one above a line of dashes a heading; four spaces
make code, a ``%`` hides the line. The pages are parsed by the parser that the site uses, and each block must look as if it was meant:

* a block begins below an empty line (a list in a list needs none, if it is one of several items);
* its lines say what they belong to: no line of a quote or an item that only follows by the parser's courtesy;
* a list that begins with a number counts 1, 2, 3; no list is marked by ``+``; a lone item marked by ``-`` begins with a word;
  a quote begins with a sentence;
* headings are marked by ``#``, code by fences, displayed formulas by ``$$``; the rows of a table have as many cells as its head;
* emphasis stands between words, not between factors; no HTML but comments; no definition of a link that is never used.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: What git writes where two changes meet; built from parts, since this file is searched as well. Seven equal signs may underline a title.
_MARKER = re.compile(rb"^[ \t]*(?:<{7}|>{7}|\|{7})(?:[ \t]|\r?$)|^={7}\r?$", re.MULTILINE)
_MATH = re.compile(r"^ *\$\$.*?\$\$(?=[.,;]?$)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(`+)(?:.|\n)*?(?<!`)\1(?!`)|(?<!\$)\$[^$\n]+\$(?!\$)")
_ROLE = re.compile(r"\{[\w:+-]+\}$")
_WORD = re.compile(r"[\"'“(*`\[]*(?:\w{2,}|[AI] )")
_SENTENCE = re.compile(r"[\"'“(*`\[]*[A-Z][\w ,']|[\"“*`\[]")
_BLOCKS = {
    "heading_open": "heading",
    "blockquote_open": "quote",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code block",
    "code_block": "code block",
    "hr": "rule",
    "html_block": "piece of HTML",
}


@dataclass(frozen=True, slots=True)
class Accident:
    """A line of a page, counted from 1, and what it becomes by accident."""

    line: int
    what: str


def find_conflict_markers(data: bytes) -> list[int]:
    """Return the lines, counted from 1, that begin like the markers of a merge conflict; a line of seven ``=`` below a title of seven
    characters underlines it.
    """
    found = []
    for marker in _MARKER.finditer(data):
        above = data[: marker.start()].rstrip(b"\r\n").rpartition(b"\n")[2].rstrip(b"\r")
        underlines = marker[0].startswith(b"=") and len(above.decode("utf-8", "replace")) == len("=" * 7) and above.strip() == above
        if not underlines:
            found.append(data.count(b"\n", 0, marker.start()) + 1)
    return found


def list_files(root: Path) -> list[Path]:
    """Return the files that git tracks or would track; where git is not there, all but those of tools and results."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        skipped = {".git", ".venv", "out", "build", "dist", "_generated", "__pycache__"}
        return [path for path in root.rglob("*") if path.is_file() and not skipped.intersection(path.relative_to(root).parts)]
    return [path for name in names if name and (path := root / name).is_file()]


def find_accidents(text: str) -> list[Accident]:
    """Return what a page shows and nobody meant, in the order of its lines."""
    text = _SPAN.sub(lambda found: "formula" if found[0].startswith("$") else found[0], _MATH.sub(_hide_formula, text))
    lines = text.splitlines()
    environment: dict[str, dict[str, object]] = {}
    tokens = MarkdownIt("commonmark").enable("table").parse(text, environment)
    found = {*_misread_blocks(tokens, lines), *_misread_lines(tokens, lines), *_misread_words(tokens)}
    for label in environment.get("references", {}):
        written = [number for number, line in enumerate(lines, 1) if re.match(rf" {{0,3}}\[{re.escape(label)}\]:", line, re.IGNORECASE)]
        if text.casefold().count(f"[{label}]".casefold()) <= len(written):
            found |= {Accident(number, "a definition of a link that is never used, and unseen") for number in written}
    return sorted(found, key=lambda accident: (accident.line, accident.what))


def _hide_formula(found: re.Match[str]) -> str:
    """Return words in place of a displayed formula, as many lines of them."""
    indent = found[0][: len(found[0]) - len(found[0].lstrip())]
    return "\n".join(f"{indent}formula" for _ in found[0].splitlines())


def _misread_blocks(tokens: list[Token], lines: list[str]) -> Iterator[Accident]:
    """Yield the blocks that begin where no block was meant to, or not as one is meant to."""
    inside: list[Token] = []
    for index, token in enumerate(tokens):
        if token.type in _BLOCKS and token.map is not None:
            kind, first = _BLOCKS[token.type], token.map[0]
            items = _items_of(tokens, index)
            if first and lines[first - 1].strip() and not _may_follow(token, tokens[index - 1], lines, items):
                yield Accident(first + 1, f"a {kind} that no empty line precedes")
            yield from _misread_block(token, tokens, index, items)
        if token.type in ("blockquote_open", "list_item_open"):
            inside.append(token)
        elif token.type in ("blockquote_close", "list_item_close"):
            inside.pop()
        elif token.type == "paragraph_open" and inside and token.map is not None:
            yield from _lazy_lines(inside, token.map, lines)


def _may_follow(token: Token, before: Token, lines: list[str], items: list[int]) -> bool:
    """Tell whether a block may begin without an empty line: below a comment, first in an item or quote, or a list in a list."""
    if token.map is None:
        return False
    above = lines[token.map[0] - 1].strip()
    if above.startswith("<!--") and above.endswith("-->"):
        return True
    if before.type in ("list_item_open", "blockquote_open"):
        return True
    return token.type.endswith("list_open") and token.level > 0 and len(items) > 1


def _misread_block(token: Token, tokens: list[Token], index: int, items: list[int]) -> Iterator[Accident]:
    """Yield what is wrong with one block by itself."""
    line = token.map[0] + 1 if token.map is not None else 0
    if token.type == "heading_open" and not token.markup.startswith("#"):
        yield Accident(line, "a heading by the line below it")
    elif token.type == "code_block":
        yield Accident(line, "code by four spaces: write a fence, or $$ for a formula")
    elif token.type == "html_block" and not token.content.lstrip().startswith("<!--"):
        yield Accident(line, "a piece of HTML")
    elif token.type == "blockquote_open" and not _begins_with_a_sentence(tokens, index):
        yield Accident(line, "a quote that begins with no sentence")
    elif token.type == "bullet_list_open" and token.markup == "+":
        yield Accident(line, "a list by a plus sign")
    elif token.type == "bullet_list_open" and token.markup == "-" and len(items) == 1 and not _begins_with_a_word(tokens, items[0]):
        yield Accident(line, "a lone item that begins with no word")
    elif token.type == "ordered_list_open":
        numbers = [int(tokens[item].info) for item in items]
        if len(items) == 1 or numbers != list(range(1, len(items) + 1)):
            yield Accident(line, f"a list that counts {', '.join(map(str, numbers))}")


def _items_of(tokens: list[Token], index: int) -> list[int]:
    """Return the places of the items of the list that begins at ``index``, or nothing."""
    if not tokens[index].type.endswith("list_open"):
        return []
    level, found = tokens[index].level, []
    for place in range(index + 1, len(tokens)):
        if tokens[place].level == level:
            break
        if tokens[place].type == "list_item_open" and tokens[place].level == level + 1:
            found.append(place)
    return found


def _begins_with_a_word(tokens: list[Token], index: int) -> bool:
    for token in tokens[index:]:
        if token.type == "inline":
            return _WORD.match(token.content) is not None
    return False


def _begins_with_a_sentence(tokens: list[Token], index: int) -> bool:
    return any(_SENTENCE.match(token.content) is not None for token in tokens[index:][:4] if token.type == "inline")


def _lazy_lines(inside: list[Token], where: list[int], lines: list[str]) -> Iterator[Accident]:
    """Yield the lines of a paragraph that belong to a quote or an item although they do not look so."""
    holder = inside[-1]
    for number in range(where[0] + 1, where[1]):
        line = lines[number]
        if holder.type == "blockquote_open":
            if not line.lstrip().startswith(">"):
                yield Accident(number + 1, "a line that becomes part of the quote above")
        elif not line.startswith((" ", ">", "\t")):
            yield Accident(number + 1, "a line that becomes part of the item above")


def _misread_lines(tokens: list[Token], lines: list[str]) -> Iterator[Accident]:
    """Yield rows that are no rows, and lines that the site's parser takes as comments or directives."""
    fenced = {number for token in tokens if token.type in ("fence", "code_block") and token.map for number in range(*token.map)}
    for token in tokens:
        if token.type == "table_open" and token.map is not None:
            cells = [_count_cells(lines[number]) for number in range(*token.map)]
            for place, count in enumerate(cells):
                if count != cells[0]:
                    yield Accident(token.map[0] + place + 1, "a row with another number of cells than the head of its table")
    for number, line in enumerate(lines):
        if number not in fenced and re.match(r" {0,3}(%|\+\+\+|\([\w-]+\)=)", line):
            yield Accident(number + 1, "a line that the site does not show")


def _count_cells(row: str) -> int:
    """Return the number of cells of a row of a table, 0 where it does not begin and end with a bar."""
    row = row.strip()
    return len(re.findall(r"(?<!\\)\|", row)) - 1 if re.fullmatch(r"\|.*(?<!\\)\|", row) else 0


def _misread_words(tokens: list[Token]) -> Iterator[Accident]:
    """Yield emphasis, HTML and roles within a line that nobody meant."""
    for token in tokens:
        if token.type != "inline" or token.map is None or token.children is None:
            continue
        line = token.map[0] + 1
        before = ""
        for place, child in enumerate(token.children):
            if child.type == "softbreak":
                line += 1
            elif child.type == "html_inline" and not child.content.startswith("<!--"):
                yield Accident(line, f"HTML: {child.content}")
            elif child.type == "code_inline" and _ROLE.search(before):
                yield Accident(line, "code that becomes a role of the site: put a space before it")
            elif child.type == "em_open" and before[-1:].isalnum():
                yield Accident(line, "emphasis that begins within a word or a product")
            elif child.type == "em_close":
                after = token.children[place + 1].content if place + 1 < len(token.children) else ""
                if after[:1].isalnum():
                    yield Accident(line, "emphasis that ends within a word or a product")
            before = child.content if child.type in ("text", "code_inline") else ""
