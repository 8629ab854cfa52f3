"""Completion in bash, which takes ``:`` and ``=`` for ends of words: words are put together again, and answers cut where bash needs it."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator

_BREAKS = (":", "=")


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
