"""What a shell completes beside commands and options: names that the command line knows. Each list is made when it is asked for.

bash takes ``:`` and ``=`` for ends of words: for it words are put together again, and answers cut where it needs that.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

_BREAKS = (":", "=")  # what bash ends a word at


def complete_profile(incomplete: str) -> list[str]:
    """Profile files, and the catalogue where its beginning is written."""
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    files = [str(path) for path in sorted(folder.glob("*.toml"))] if folder.is_dir() else []
    return _starting(incomplete, [*files, *(complete_mechanism(incomplete) if incomplete else [])])


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _complete(module: str, names: Callable[[Any], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes a word to the ``names`` of a module, which is loaded when a shell asks."""

    def complete(incomplete: str) -> list[str]:
        return _starting(incomplete, names(import_module(module)))

    return complete


complete_mechanism = _complete("profiles.mechanisms", lambda room: (entry.reference for entry in room.catalogue()))
complete_condition = _complete("proofs_check.verify", lambda room: room.CONDITIONS)
complete_rule = _complete("accountant.rules", lambda room: room.RULES)
complete_claim = _complete("proofs_check.papers", lambda room: (claim.id for claim in room.all_claims()))
complete_paper = _complete("proofs_check.papers", lambda room: (paper.key for paper in room.PAPERS))
complete_mode = _complete("proofs_check.audit", lambda room: (mode.value for mode in room.Mode))
complete_effort = _complete("proofs_check.audit", lambda room: (effort.value for effort in room.Effort))


@contextlib.contextmanager
def mend_words() -> Iterator[None]:
    """While a completion script of bash asks, let the command line library see whole words, and answer with the part that bash replaces.

    bash hands over ``pdp verify lloyd:de`` as ``pdp``, ``verify``, ``lloyd``, ``:``, ``de``, and replaces ``de`` alone. Does nothing else.
    """
    words = os.environ.get("COMP_WORDS", "").split("\n")
    if os.environ.get("_PDP_COMPLETE") != "complete_bash" or len(words) < 2:
        yield
        return
    cursor = int(os.environ["COMP_CWORD"]) if os.environ.get("COMP_CWORD", "").isdecimal() else len(words)
    whole, current = join_words(words[: cursor + 1])
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(whole), str(len(whole) - 1)
    kept = whole[-1].removesuffix(current)
    answer = io.StringIO()
    try:
        with contextlib.redirect_stdout(answer):
            yield
    finally:
        sys.stdout.write("".join(line.removeprefix(kept) for line in answer.getvalue().splitlines(keepends=True)))


def join_words(words: list[str]) -> tuple[list[str], str]:
    """Return the words as they were typed, and the part of the last one that bash replaces.

    >>> join_words(["pdp", "verify", "lloyd", ":", "de"])
    (['pdp', 'verify', 'lloyd:de'], 'de')
    >>> join_words(["pdp", "epsilon", "--rule", "="])
    (['pdp', 'epsilon', '--rule='], '')
    """
    whole: list[str] = []
    joined = False
    for word in words:
        if whole and len(whole) > 1 and (word in _BREAKS or joined):
            whole[-1] += word
        else:
            whole.append(word)
        joined = word in _BREAKS
    last = words[-1]
    return whole, "" if last in _BREAKS else last
