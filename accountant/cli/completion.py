"""What a shell completes beside commands and options: names that the command line knows. Each list is made when it is asked for.

bash takes ``:`` and ``=`` for ends of words: for it words are put together again, and answers cut where it needs that.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_BREAKS = (":", "=")  # what bash ends a word at


def complete_profile(incomplete: str) -> list[str]:
    """Profile files, and the catalogue where its beginning is written."""
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    files = [str(path) for path in sorted(folder.glob("*.toml"))] if folder.is_dir() else []
    return _starting(incomplete, [*files, *(complete_mechanism(incomplete) if incomplete else [])])


def complete_mechanism(incomplete: str) -> list[str]:
    """The mechanisms of the catalogue that can be run."""
    from profiles.mechanisms import catalogue

    return _starting(incomplete, (entry.reference for entry in catalogue()))


def complete_condition(incomplete: str) -> list[str]:
    """The conditions."""
    from proofs_check.verify import CONDITIONS

    return _starting(incomplete, CONDITIONS)


def complete_rule(incomplete: str) -> list[str]:
    """The sampling rules."""
    from accountant.rules import RULES

    return _starting(incomplete, RULES)


def complete_claim(incomplete: str) -> list[str]:
    """The ids of the papers' statements."""
    from proofs_check.papers import all_claims

    return _starting(incomplete, (claim.id for claim in all_claims()))


def complete_paper(incomplete: str) -> list[str]:
    """The keys of the papers."""
    from proofs_check.papers import PAPERS

    return _starting(incomplete, (paper.key for paper in PAPERS))


def complete_mode(incomplete: str) -> list[str]:
    """The modes of an audit."""
    from proofs_check.audit import Mode

    return _starting(incomplete, (mode.value for mode in Mode))


def complete_effort(incomplete: str) -> list[str]:
    """The efforts of an audit."""
    from proofs_check.audit import Effort

    return _starting(incomplete, (effort.value for effort in Effort))


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


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
